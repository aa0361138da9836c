/* The file that `piecemeal serve --config` reads. */
#include "base/file.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "tools/serve/serve_options.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_FILE = 1 << 20, /* bytes; a configuration is some hundred */
    LONGEST_KEY = 64,       /* bytes that a message shows of a key */
};

static const struct pm_serve_option *find(const char *wanted)
{
    char key[PM_SERVE_KEY_BYTES];
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        if (strcmp(wanted, pm_serve_option_key(option, key)) == 0)
            return option;
    }
    return NULL;
}

static bool unknown(const struct pm_json_text *json, size_t at, const char *key,
                    struct pm_error *error)
{
    size_t best = SIZE_MAX;
    char near[PM_SERVE_KEY_BYTES] = "";
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        char name[PM_SERVE_KEY_BYTES];
        pm_serve_option_key(option, name);
        const size_t distance = pm_nearest_distance(key, name, strlen(name));
        if (distance < best) {
            best = distance;
            memcpy(near, name, sizeof(near));
        }
    }
    if (best <= pm_nearest_most(key))
        return pm_json_fail(json, at, error, "unknown key \"%.*s\"; did you mean \"%s\"?",
                            LONGEST_KEY, key, near);
    return pm_json_fail(json, at, error, "unknown key \"%.*s\"", LONGEST_KEY, key);
}

/* The value is of the option's type, and *options has it. */
static bool store(struct pm_serve_options *options, const struct pm_serve_option *option,
                  const cJSON *node, const struct pm_json_walk *place, struct pm_error *error)
{
    struct pm_error why = {0};
    bool stored;
    if (option->type == PM_SERVE_FLAG) {
        stored = cJSON_IsBool(node) || pm_fail(&why, PM_ERROR_INPUT, "must be true or false");
        if (stored)
            *(bool *)(void *)((char *)options + option->offset) = cJSON_IsTrue(node);
    } else if (option->type == PM_SERVE_WHOLE || option->type == PM_SERVE_REAL) {
        /* The digits themselves, as on the command line: a double would round. What is no number
         * is refused with the same words. */
        char *digits = cJSON_IsNumber(node) ? strndup(place->json->text + place->value,
                                                      place->value_end - place->value)
                                            : strdup("");
        stored = digits ? pm_serve_option_set(options, option, digits, &why)
                        : pm_fail(&why, PM_ERROR_MEMORY, "out of memory");
        free(digits);
    } else {
        stored = cJSON_IsString(node)
                     ? pm_serve_option_set(options, option, node->valuestring, &why)
                     : pm_fail(&why, PM_ERROR_INPUT, "must be a string");
    }
    return stored || pm_json_fail(place->json, place->value, error, "%.*s: %s", LONGEST_KEY,
                                  node->string, why.message);
}

static bool is_duplicate(const cJSON *root, const cJSON *member)
{
    for (const cJSON *earlier = root->child; earlier != member; earlier = earlier->next) {
        if (strcmp(earlier->string, member->string) == 0)
            return true;
    }
    return false;
}

static bool parse_root(struct pm_serve_options *options, const struct pm_json_text *json,
                       const cJSON *root, struct pm_error *error)
{
    const size_t start = pm_json_root(json);
    if (!cJSON_IsObject(root))
        return pm_json_fail(json, start, error,
                            "a configuration must be an object, as in {\"port\": 8370}");
    struct pm_json_walk walk;
    pm_json_walk_begin(&walk, json, start);
    for (const cJSON *member = root->child; member; member = member->next) {
        pm_json_walk_next(&walk);
        const struct pm_serve_option *option = find(member->string);
        if (is_duplicate(root, member))
            return pm_json_fail(json, walk.name, error, "%.*s is given twice", LONGEST_KEY,
                                member->string);
        /* Editors find the schema by this name. */
        if (strcmp(member->string, "$schema") == 0 && cJSON_IsString(member))
            continue;
        if (!option)
            return unknown(json, walk.name, member->string, error);
        if (!store(options, option, member, &walk, error))
            return false;
    }
    return true;
}

bool pm_serve_options_parse(struct pm_serve_options *options, const char *name, const char *text,
                            size_t size, struct pm_error *error)
{
    const struct pm_json_text json = {name, text, size};
    if (!pm_json_check(&json, error))
        return false;
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    if (!root)
        return pm_json_fail(&json, end ? (size_t)(end - text) : 0, error, "this is not JSON");
    const bool parsed = parse_root(options, &json, root, error);
    cJSON_Delete(root);
    return parsed;
}

bool pm_serve_options_load(struct pm_serve_options *options, const char *path,
                           struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, LARGEST_FILE);
    const bool loaded =
        pm_file_read(path, &text, error) &&
        pm_serve_options_parse(options, path, text.data ? (const char *)text.data : "", text.size,
                               error);
    pm_buffer_finish(&text);
    return loaded;
}
