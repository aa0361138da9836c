#include "tools/shader/profile_source.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/json_text.h"
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

bool pm_profile_source_list(const struct pm_profile_source *source, const char *name,
                            uint32_t count, const double **out, struct pm_error *error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(source->json, name), *item;
    if (!list)
        return true;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != (int)count)
        return pm_fail(error, PM_ERROR_INPUT, "%s: \"%s\" is not a list of %u numbers",
                       source->name, name, count);
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
                           source->name, name, i);
        i++;
    }
    return true;
}

const struct pm_shader_estimates *pm_profile_source_find(const struct pm_profile_source *source,
                                                         const struct pm_shader_key *key,
                                                         enum pm_kind kind)
{
    const struct pm_database *database = &source->estimates.database;
    const struct pm_shader_estimates *best = NULL;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *s = &database->shaders[i];
        if (s->kind == kind && s->points && !memcmp(&s->key, key, sizeof(*key)) &&
            (!best || s->entry_lanes > best->entry_lanes))
            best = s;
    }
    return best;
}

bool pm_profile_source_lacks(const struct pm_profile_source *source,
                             const struct pm_shader_key *key, enum pm_kind kind,
                             struct pm_error *error)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(key, text);
    return pm_fail(error, PM_ERROR_STATE, "%s has no %s profile of shader %s",
                   source->estimates.origin, pm_kind_name(kind), text);
}

static bool read_json(const struct pm_buffer *text, struct pm_profile_source *source,
                      struct pm_error *error)
{
    struct pm_json_text json = {source->name, (const char *)text->data, text->size};
    if (!pm_json_check(&json, error))
        return false;
    source->json = cJSON_ParseWithLength(json.text, json.size);
    return source->json || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static bool read_file(const char *path, struct pm_estimates_source *from,
                      struct pm_profile_source *source, struct pm_error *error)
{
    static const char magic[] = "SQLite format 3";
    struct pm_buffer text;
    pm_buffer_init(&text, FILE_CAP);
    bool ok = pm_file_read(path, &text, error);
    const size_t start = ok && text.size ? strspn((const char *)text.data, " \t\r\n") : 0;
    if (ok && start < text.size && text.data[start] == '{')
        ok = read_json(&text, source, error);
    else if (ok && text.size >= sizeof(magic) && !memcmp(text.data, magic, sizeof(magic)))
        from->storage = path;
    else
        from->database = path;
    pm_buffer_finish(&text);
    return ok;
}

bool pm_profile_source_open(const char *path, const char *game, struct pm_profile_source *source,
                            struct pm_error *error)
{
    struct pm_estimates_source from = {.game = game};
    *source = (struct pm_profile_source){.name = path};
    if (!path && !game)
        return pm_fail(error, PM_ERROR_INPUT, "it needs --profile or --game");
    if (path && !read_file(path, &from, source, error))
        return false;
    return source->json || pm_estimates_load(&from, &source->estimates, error);
}

void pm_profile_source_finish(struct pm_profile_source *source)
{
    if (source->json)
        cJSON_Delete(source->json);
    else
        pm_estimates_finish(&source->estimates);
    *source = (struct pm_profile_source){0};
}
