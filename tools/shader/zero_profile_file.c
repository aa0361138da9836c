#include "tools/shader/zero_profile_file.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/json_text.h"
#include "tools/common/estimates.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_CAP = 64 << 20 }; /* bytes */

static double *unknown(uint32_t count)
{
    double *values = malloc((count + 1u) * sizeof(*values));
    for (uint32_t i = 0; values && i < count; i++)
        values[i] = (double)NAN;
    return values;
}

/* One of the lists; *out stays NULL where there is none. */
static bool read_list(const char *path, const cJSON *root, const char *name, uint32_t count,
                      const double **out, struct pm_error *error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, name), *item;
    if (!list)
        return true;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != (int)count)
        return pm_fail(error, PM_ERROR_INPUT, "%s: \"%s\" is not a list of %u numbers", path, name,
                       count);
    double *values = unknown(count);
    *out = values;
    if (!values)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    uint32_t i = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsNumber(item))
            values[i] = item->valuedouble;
        else if (!cJSON_IsNull(item))
            return pm_fail(error, PM_ERROR_INPUT, "%s: \"%s\"[%u] is neither a number nor null",
                           path, name, i);
        i++;
    }
    return true;
}

static bool read_json(const char *path, const struct pm_buffer *text, uint32_t candidates,
                      uint32_t blocks, struct pm_zero_profile *profile, struct pm_error *error)
{
    struct pm_json_text json = {path, (const char *)text->data, text->size};
    if (!pm_json_check(&json, error))
        return false;
    cJSON *root = cJSON_ParseWithLength(json.text, json.size);
    if (!root)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool ok = read_list(path, root, "zero", candidates, &profile->zero, error) &&
              read_list(path, root, "writes", candidates, &profile->writes, error) &&
              read_list(path, root, "blocks", blocks, &profile->blocks, error);
    if (ok && !profile->zero)
        ok = pm_fail(error, PM_ERROR_INPUT, "%s: there is no \"zero\" in it", path);
    cJSON_Delete(root);
    profile->candidate_count = candidates;
    profile->block_count = profile->blocks ? blocks : 0;
    return ok;
}

/* The shader's estimates of a kind: of several environments the one most was seen of. */
static const struct pm_shader_estimates *find(const struct pm_database *database,
                                              const struct pm_shader_key *key, enum pm_kind kind)
{
    const struct pm_shader_estimates *best = NULL;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *s = &database->shaders[i];
        if (s->kind == kind && s->points && !memcmp(&s->key, key, sizeof(*key)) &&
            (!best || s->entry_lanes > best->entry_lanes))
            best = s;
    }
    return best;
}

static bool read_database(const char *path, bool sqlite, const char *game,
                          const struct pm_shader_key *key, uint32_t candidates, uint32_t blocks,
                          struct pm_zero_profile *profile, struct pm_error *error)
{
    struct pm_estimates_source source = {.game = game};
    if (sqlite)
        source.storage = path;
    else
        source.database = path;
    struct pm_estimates estimates;
    if (!pm_estimates_load(&source, &estimates, error))
        return false;
    const struct pm_shader_estimates *zero = find(&estimates.database, key, PM_KIND_ZERO);
    const struct pm_shader_estimates *block = find(&estimates.database, key, PM_KIND_BLOCK);
    bool ok = true;
    if (!zero || zero->space != candidates) {
        char text[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(key, text);
        ok = pm_fail(error, PM_ERROR_STATE, "%s has no zero profile of shader %s", estimates.origin,
                     text);
    }
    if (ok && !pm_zero_profile_init(profile, zero, block && block->space == blocks ? block : NULL))
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_estimates_finish(&estimates);
    return ok;
}

bool pm_zero_profile_load(const char *path, const char *game, const struct pm_shader_key *key,
                          uint32_t candidates, uint32_t blocks, struct pm_zero_profile *profile,
                          struct pm_error *error)
{
    static const char magic[] = "SQLite format 3";
    *profile = (struct pm_zero_profile){0};
    if (!path) {
        const bool known =
            read_database(NULL, false, game, key, candidates, blocks, profile, error);
        if (!known)
            pm_zero_profile_finish(profile);
        return known;
    }
    struct pm_buffer text;
    pm_buffer_init(&text, FILE_CAP);
    bool ok = pm_file_read(path, &text, error);
    if (ok) {
        size_t start = text.size ? strspn((const char *)text.data, " \t\r\n") : 0;
        bool sqlite = text.size >= sizeof(magic) && !memcmp(text.data, magic, sizeof(magic));
        if (start < text.size && text.data[start] == '{')
            ok = read_json(path, &text, candidates, blocks, profile, error);
        else
            ok = read_database(path, sqlite, game, key, candidates, blocks, profile, error);
    }
    pm_buffer_finish(&text);
    if (!ok)
        pm_zero_profile_finish(profile);
    return ok;
}
