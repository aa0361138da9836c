#include "tools/shader/limits_file.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/json_text.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

enum { FILE_CAP = 1 << 16 }; /* bytes */

static uint32_t *limit_called(struct pm_pass_limits *limits, const char *name)
{
    const struct {
        const char *name;
        uint32_t *limit;
    } known[] = {
        {"alu", &limits->alu},
        {"texture", &limits->texture},
        {"temporaries", &limits->temporaries},
        {"varyings", &limits->varyings},
        {"constants", &limits->constants},
        {"textures", &limits->textures},
        {"outputs", &limits->outputs},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(name, known[i].name))
            return known[i].limit;
    return NULL;
}

/* walk: at the member that `item` is. */
static bool read_member(const struct pm_json_walk *walk, const cJSON *item,
                        struct pm_pass_limits *limits, struct pm_error *error)
{
    if (!strcmp(item->string, "textures_hold_outputs")) {
        if (!cJSON_IsBool(item))
            return pm_json_fail(walk->json, walk->value, error, "wanted true or false");
        limits->textures_hold_outputs = cJSON_IsTrue(item);
        return true;
    }
    uint32_t *limit = limit_called(limits, item->string);
    if (!limit)
        return pm_json_fail(walk->json, walk->name, error, "no limit is called \"%s\"",
                            item->string);
    double value = item->valuedouble;
    if (!cJSON_IsNumber(item) || value < 0 || value >= PM_NO_LIMIT || value != floor(value))
        return pm_json_fail(walk->json, walk->value, error,
                            "wanted a whole number from 0 to 4294967294");
    *limit = (uint32_t)value;
    return true;
}

static bool read_text(const struct pm_json_text *json, struct pm_pass_limits *limits,
                      struct pm_error *error)
{
    struct pm_json_walk walk;
    if (!pm_json_check(json, error))
        return false;
    cJSON *root = cJSON_ParseWithLength(json->text, json->size);
    if (!root)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool ok = cJSON_IsObject(root) ||
              pm_json_fail(json, pm_json_root(json), error, "wanted an object of limits");
    if (ok)
        pm_json_walk_begin(&walk, json, pm_json_root(json));
    for (const cJSON *item = root->child; item && ok && pm_json_walk_next(&walk); item = item->next)
        ok = read_member(&walk, item, limits, error);
    cJSON_Delete(root);
    return ok;
}

bool pm_limits_read(const char *name, struct pm_pass_limits *limits, struct pm_error *error)
{
    if (pm_pass_limits_named(name, limits))
        return true;
    *limits = (struct pm_pass_limits){.alu = PM_NO_LIMIT,
                                      .texture = PM_NO_LIMIT,
                                      .temporaries = PM_NO_LIMIT,
                                      .varyings = PM_NO_LIMIT,
                                      .constants = PM_NO_LIMIT,
                                      .textures = PM_NO_LIMIT,
                                      .outputs = PM_NO_LIMIT};
    struct pm_buffer text;
    pm_buffer_init(&text, FILE_CAP);
    bool ok = pm_file_read(name, &text, error);
    if (ok) {
        const struct pm_json_text json = {name, (const char *)text.data, text.size};
        ok = read_text(&json, limits, error);
    }
    pm_buffer_finish(&text);
    return ok;
}
