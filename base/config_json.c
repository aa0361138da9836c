#include "base/config_keys.h"
#include "base/file.h"
#include "base/json_text.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_FILE = 1 << 20, /* bytes; a configuration is some hundred */
    MOST_ELEMENTS = 16,     /* of a list */
    LONGEST_KEY = 96,       /* bytes that a message shows of a key */
};

struct parse {
    struct pm_config *config;
    const struct pm_json_text *json;
    struct pm_error *error;
};

/* Is the member's name that of an earlier one? */
static bool is_duplicate(const cJSON *parent, const cJSON *member)
{
    for (const cJSON *earlier = parent->child; earlier != member; earlier = earlier->next) {
        if (strcmp(earlier->string, member->string) == 0)
            return true;
    }
    return false;
}

/* Stores a value that must be checked against the table; errors stand at the value, or at the
 * list's element. */
static bool parse_value(const struct parse *parse, const struct pm_config_entry *entry,
                        const cJSON *node, const struct pm_json_walk *place)
{
    struct pm_config_value value = {.type = PM_VALUE_OTHER};
    const char *list[MOST_ELEMENTS];
    size_t at[MOST_ELEMENTS];
    char *number = NULL;
    if (cJSON_IsString(node)) {
        value.type = PM_VALUE_STRING;
        value.text = node->valuestring;
    } else if (cJSON_IsBool(node)) {
        value.type = PM_VALUE_BOOLEAN;
        value.boolean = cJSON_IsTrue(node);
    } else if (cJSON_IsNumber(node)) {
        /* The digits themselves: a double would round a 64-bit seed. */
        number = strndup(parse->json->text + place->value, place->value_end - place->value);
        if (!number)
            return pm_json_fail(parse->json, place->value, parse->error, "out of memory");
        value.type = PM_VALUE_NUMBER;
        value.text = number;
    } else if (cJSON_IsArray(node)) {
        struct pm_json_walk walk;
        pm_json_walk_begin(&walk, parse->json, place->value);
        value.type = PM_VALUE_LIST;
        value.list = list;
        for (const cJSON *element = node->child; element; element = element->next) {
            pm_json_walk_next(&walk);
            if (!cJSON_IsString(element) || value.list_count == MOST_ELEMENTS)
                return pm_json_fail(parse->json, walk.value, parse->error, "%s: %s", entry->key,
                                    cJSON_IsString(element) ? "the list is too long"
                                                            : "must be a list of strings");
            list[value.list_count] = element->valuestring;
            at[value.list_count++] = walk.value;
        }
    }
    size_t bad;
    struct pm_error why;
    bool stored = pm_config_store(parse->config, entry, &value, &bad, &why);
    if (!stored)
        pm_json_fail(parse->json, bad < value.list_count ? at[bad] : place->value, parse->error,
                     "%s: %s", entry->key, why.message);
    free(number);
    return stored;
}

static bool unknown(const struct parse *parse, size_t at, const char *name, bool section)
{
    char near[LONGEST_KEY];
    const char *what = section ? "section" : "key";
    if (pm_config_nearest(name, section, near, sizeof(near)))
        return pm_json_fail(parse->json, at, parse->error,
                            "unknown %s \"%.*s\"; did you mean \"%s\"?", what, LONGEST_KEY, name,
                            near);
    return pm_json_fail(parse->json, at, parse->error, "unknown %s \"%.*s\"", what, LONGEST_KEY,
                        name);
}

static bool parse_section(const struct parse *parse, const cJSON *section, size_t value)
{
    struct pm_json_walk walk;
    pm_json_walk_begin(&walk, parse->json, value);
    for (const cJSON *member = section->child; member; member = member->next) {
        pm_json_walk_next(&walk);
        char *key = NULL;
        if (asprintf(&key, "%s.%s", section->string, member->string) < 0)
            return pm_json_fail(parse->json, walk.name, parse->error, "out of memory");
        const struct pm_config_entry *entry =
            strchr(member->string, '.') ? NULL : pm_config_find(key);
        bool stored;
        if (!entry)
            stored = unknown(parse, walk.name, key, false);
        else if (is_duplicate(section, member))
            stored = pm_json_fail(parse->json, walk.name, parse->error, "%s is given twice", key);
        else
            stored = parse_value(parse, entry, member, &walk);
        free(key);
        if (!stored)
            return false;
    }
    return true;
}

static bool parse_root(const struct parse *parse, const cJSON *root)
{
    size_t start = pm_json_root(parse->json);
    if (!cJSON_IsObject(root))
        return pm_json_fail(
            parse->json, start, parse->error,
            "a configuration must be an object, as in {\"sampler\": {\"batch\": 8}}");
    struct pm_json_walk walk;
    pm_json_walk_begin(&walk, parse->json, start);
    for (const cJSON *section = root->child; section; section = section->next) {
        pm_json_walk_next(&walk);
        /* Editors find the schema by this name. */
        if (strcmp(section->string, "$schema") == 0 && cJSON_IsString(section) &&
            !is_duplicate(root, section))
            continue;
        if (!pm_config_has_section(section->string))
            return unknown(parse, walk.name, section->string, true);
        if (is_duplicate(root, section))
            return pm_json_fail(parse->json, walk.name, parse->error,
                                "section \"%s\" is given twice", section->string);
        if (!cJSON_IsObject(section))
            return pm_json_fail(parse->json, walk.value, parse->error,
                                "section \"%s\" must be an object", section->string);
        if (!parse_section(parse, section, walk.value))
            return false;
    }
    return true;
}

bool pm_config_parse(struct pm_config *config, const char *name, const char *text, size_t size,
                     struct pm_error *error)
{
    struct pm_json_text json = {name, text, size};
    if (!pm_json_check(&json, error))
        return false;
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    if (!root)
        return pm_json_fail(&json, end ? (size_t)(end - text) : 0, error, "this is not JSON");
    struct pm_config changed;
    bool parsed = pm_config_copy(&changed, config) ||
                  pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", name);
    if (parsed) {
        struct parse parse = {&changed, &json, error};
        parsed = parse_root(&parse, root);
        if (parsed) {
            struct pm_config old = *config;
            *config = changed;
            changed = old;
        }
        pm_config_finish(&changed);
    }
    cJSON_Delete(root);
    return parsed;
}

bool pm_config_load_file(struct pm_config *config, const char *path, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, LARGEST_FILE);
    bool loaded =
        pm_file_read(path, &text, error) &&
        pm_config_parse(config, path, text.data ? (const char *)text.data : "", text.size, error);
    pm_buffer_finish(&text);
    return loaded;
}
