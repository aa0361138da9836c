/* What people and editors read of the configuration, its schema, its document and its example, say
 * what the program does. */
#include "base/config.h"
#include "base/config_keys.h"
#include "base/file.h"
#include "tests/cmocka_includes.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *read_json(const char *relative)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", getenv("PM_SOURCE_DIR"), relative);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char text[1 << 16];
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    return root;
}

static void check_property(const cJSON *property, const struct pm_config_entry *entry)
{
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(property, "type"));
    const cJSON *number = property;
    switch (entry->type) {
    case PM_CONFIG_STRING:
        assert_string_equal(type, "string");
        return;
    case PM_CONFIG_GAME:
    case PM_CONFIG_NAME:
        assert_int_equal(cJSON_GetObjectItem(property, "maxLength")->valueint, 255);
        assert_string_equal(type, "string");
        return;
    case PM_CONFIG_BOOLEAN:
    case PM_CONFIG_CONSENT:
        assert_string_equal(type, "boolean");
        return;
    case PM_CONFIG_PROBABILITY:
        assert_string_equal(type, "number");
        break;
    case PM_CONFIG_SEED:
        assert_string_equal(type, "integer");
        assert_true(cJSON_GetObjectItem(property, "minimum")->valuedouble == 0);
        assert_true(cJSON_GetObjectItem(property, "maximum")->valuedouble ==
                    18446744073709551615.0);
        return;
    case PM_CONFIG_COUNT:
        assert_string_equal(type, "integer");
        break;
    case PM_CONFIG_BATCH:
        number = cJSON_GetArrayItem(cJSON_GetObjectItem(property, "oneOf"), 0);
        assert_string_equal(
            cJSON_GetStringValue(cJSON_GetObjectItem(
                cJSON_GetArrayItem(cJSON_GetObjectItem(property, "oneOf"), 1), "const")),
            "all");
        break;
    case PM_CONFIG_LIST: {
        const uint32_t bits = entry->choices == pm_config_kind_names ? (uint32_t)PM_KIND_BITS_ALL
                                                                     : PM_BLOCK_PASS_BITS_ALL;
        assert_string_equal(type, "array");
        number = cJSON_GetObjectItem(cJSON_GetObjectItem(property, "items"), "enum");
        for (int k = 0; entry->choices[k]; k++) {
            assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(number, k)),
                                entry->choices[k]);
            assert_true(1u << k & bits);
        }
        assert_int_equal(cJSON_GetArraySize(number), __builtin_popcount(bits));
        return;
    }
    case PM_CONFIG_CHOICE:
        number = cJSON_GetObjectItem(property, "enum");
        for (int k = 0; entry->choices[k]; k++) {
            assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(number, k)),
                                entry->choices[k]);
            assert_true(k < cJSON_GetArraySize(number));
        }
        return;
    }
    assert_true(cJSON_GetObjectItem(number, "minimum")->valuedouble == entry->minimum);
    assert_true(cJSON_GetObjectItem(number, "maximum")->valuedouble == entry->maximum);
}

/* The schema that editors use and the table that the program uses must not drift apart, either way.
 */
static void schema_agrees_with_the_table(void **state)
{
    (void)state;
    cJSON *schema = read_json("manifest/config.schema.json");
    size_t in_schema = 0, in_table = 0;
    const cJSON *section, *property;
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(schema, "additionalProperties")));
    cJSON_ArrayForEach(section, cJSON_GetObjectItem(schema, "properties"))
    {
        if (strcmp(section->string, "$schema") == 0)
            continue;
        assert_true(cJSON_IsFalse(cJSON_GetObjectItem(section, "additionalProperties")));
        cJSON_ArrayForEach(property, cJSON_GetObjectItem(section, "properties"))
        {
            char key[128];
            snprintf(key, sizeof(key), "%s.%s", section->string, property->string);
            const struct pm_config_entry *entry = pm_config_find(key);
            if (!entry)
                fail_msg("%s is in the schema only", key);
            assert_non_null(cJSON_GetObjectItem(property, "description"));
            check_property(property, entry);
            in_schema++;
        }
    }
    while (pm_config_key(in_table))
        in_table++;
    assert_int_equal(in_schema, in_table);
    cJSON_Delete(schema);
}

/* Every default that the schema states is what pm_config_init gives, shown by applying it. */
static void schema_states_the_true_defaults(void **state)
{
    (void)state;
    cJSON *schema = read_json("manifest/config.schema.json");
    const cJSON *section, *property;
    size_t seen = 0;
    cJSON_ArrayForEach(section, cJSON_GetObjectItem(schema, "properties"))
    {
        cJSON_ArrayForEach(property, cJSON_GetObjectItem(section, "properties"))
        {
            const cJSON *value = cJSON_GetObjectItem(property, "default");
            if (!value)
                continue;
            struct pm_config plain, changed;
            struct pm_error error = {0};
            memset(&plain, 0, sizeof(plain));
            memset(&changed, 0, sizeof(changed));
            pm_config_init(&plain);
            pm_config_init(&changed);
            char *printed = cJSON_PrintUnformatted(value), text[512];
            snprintf(text, sizeof(text), "{\"%s\": {\"%s\": %s}}", section->string,
                     property->string, printed);
            free(printed);
            if (!pm_config_parse(&changed, "schema", text, strlen(text), &error))
                fail_msg("%s: %s", text, error.message);
            const struct pm_config_entry *entry = NULL;
            for (size_t i = 0; pm_config_key(i); i++) {
                entry = pm_config_find(pm_config_key(i));
                size_t size = pm_config_is_string(entry) || entry->type == PM_CONFIG_PROBABILITY ? 8
                              : entry->type == PM_CONFIG_BOOLEAN || entry->type == PM_CONFIG_CONSENT
                                  ? 1
                              : entry->type == PM_CONFIG_SEED ? 8
                                                              : 4;
                if (memcmp((char *)&plain + entry->offset, (char *)&changed + entry->offset,
                           size) != 0)
                    fail_msg("%s is not the default (%s differs)", text, entry->key);
            }
            pm_config_finish(&plain);
            pm_config_finish(&changed);
            seen++;
        }
    }
    assert_true(seen >= 16);
    cJSON_Delete(schema);
}

static void the_document_names_every_key(void **state)
{
    (void)state;
    char path[4096];
    struct pm_buffer text;
    struct pm_error error = {0};
    snprintf(path, sizeof(path), "%s/docs/config.md", getenv("PM_SOURCE_DIR"));
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(path, &text, &error));
    for (size_t i = 0; pm_config_key(i); i++) {
        char row[128];
        snprintf(row, sizeof(row), "\n| `%s` | ", pm_config_key(i));
        if (!strstr((char *)text.data, row))
            fail_msg("%s is not in docs/config.md", pm_config_key(i));
    }
    pm_buffer_finish(&text);
}

static void example_is_accepted(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof(path), "%s/manifest/config.example.json", getenv("PM_SOURCE_DIR"));
    struct pm_config config;
    struct pm_error error = {0};
    pm_config_init(&config);
    if (!pm_config_load_file(&config, path, &error))
        fail_msg("%s", error.message);
    pm_config_finish(&config);
    assert_false(pm_config_load_file(&config, "/nonexistent/config.json", &error));
    assert_int_equal(error.code, PM_ERROR_IO);
    assert_non_null(strstr(error.message, "No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_agrees_with_the_table),
        cmocka_unit_test(schema_states_the_true_defaults),
        cmocka_unit_test(the_document_names_every_key),
        cmocka_unit_test(example_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
