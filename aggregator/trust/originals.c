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
