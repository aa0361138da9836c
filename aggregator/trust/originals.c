#include "aggregator/trust/originals.h"

#include <stdlib.h>
#include <string.h>

static bool visit(void *user, const struct pm_shader_key *key, const struct pm_shader_key *original,
                  uint32_t day, struct pm_error *error)
{
    struct pm_originals *originals = user;
    if (!key) {
        originals->damaged++;
        return true;
    }
    if (day < originals->first_day)
        return true;
    if (originals->count == originals->allocated) {
        const size_t allocated = originals->allocated ? 2 * originals->allocated : 64;
        struct pm_original *items = reallocarray(originals->items, allocated, sizeof(*items));
        if (!items)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu originals", allocated);
        originals->items = items;
        originals->allocated = allocated;
    }
    originals->items[originals->count++] = (struct pm_original){*key, *original};
    return true;
}

bool pm_originals_read(struct pm_originals *originals, struct pm_storage *storage, const char *game,
                       struct pm_error *error)
{
    return storage->operations->read_originals(storage, game, visit, originals, error);
}

void pm_originals_finish(struct pm_originals *originals)
{
    free(originals->items);
    *originals = (struct pm_originals){0};
}

static int compare(const void *a, const void *b)
{
    const struct pm_original *left = a, *right = b;
    return memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
}

struct pm_shader_key pm_originals_find(const struct pm_originals *originals,
                                       const struct pm_shader_key *key)
{
    const struct pm_original wanted = {.key = *key};
    const struct pm_original *found =
        originals->count > 0
            ? bsearch(&wanted, originals->items, originals->count, sizeof(wanted), compare)
            : NULL;
    return found ? found->original : (struct pm_shader_key){0};
}

bool pm_originals_note(struct pm_claims *claims, struct pm_storage *storage, const char *game,
                       const struct pm_shader_profile *shader,
                       const struct pm_ingest_source *source, uint32_t today,
                       struct pm_error *error)
{
    bool stands;
    uint32_t day; /* the last of which it stands */
    if (pm_shader_key_is_none(&shader->original))
        return true;
    if (!pm_claims_note_original(claims, game, shader, source, today, &stands, &day, error))
        return false;
    return !stands || storage->operations->put_original(storage, game, &shader->key,
                                                        &shader->original, day, error);
}
