/* Every option of the server, from the command line's text and from a file. */
#include "base/file.h"
#include "tools/serve/serve_options.h"
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

/* The option's value, whatever its type, as text. */
static void print(const struct pm_serve_options *options, const struct pm_serve_option *option,
                  char *out, size_t size)
{
    const void *at = (const char *)options + option->offset;
    switch (option->type) {
    case PM_SERVE_TEXT:
        snprintf(out, size, "%s", *(const char *const *)at ? *(const char *const *)at : "(none)");
        break;
    case PM_SERVE_FLAG:
        snprintf(out, size, "%d", *(const bool *)at);
        break;
    case PM_SERVE_REAL:
        snprintf(out, size, "%.17g", *(const double *)at);
        break;
    case PM_SERVE_LEVEL:
        snprintf(out, size, "%d", (int)*(const enum pm_log_level *)at);
        break;
    case PM_SERVE_WHOLE:
        snprintf(out, size, "%llu",
                 option->size == 2   ? (unsigned long long)*(const uint16_t *)at
                 : option->size == 4 ? (unsigned long long)*(const uint32_t *)at
                                     : (unsigned long long)*(const uint64_t *)at);
        break;
    }
}

/* A value that may be, as a file has it; without quotes it is that of the command line. */
static void allowed(const struct pm_serve_option *option, char *out, size_t size)
{
    switch (option->type) {
    case PM_SERVE_TEXT:
        snprintf(out, size, "\"a file\"");
        break;
    case PM_SERVE_FLAG:
        snprintf(out, size, "true");
        break;
    case PM_SERVE_LEVEL:
        snprintf(out, size, "\"debug\"");
        break;
    case PM_SERVE_WHOLE:
    case PM_SERVE_REAL:
        snprintf(out, size, "%.17g", option->maximum);
        break;
    }
}

static void unquote(char *text)
{
    const size_t length = strlen(text);
    if (*text != '"')
        return;
    memmove(text, text + 1, length - 2);
    text[length - 2] = 0;
}

static bool parse(struct pm_serve_options *options, const char *text, struct pm_error *error)
{
    return pm_serve_options_parse(options, "file", text, strlen(text), error);
}

static void test_every_option(void **state)
{
    (void)state;
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        struct pm_serve_options by_text, by_file;
        struct pm_error error = {0};
        char value[64], text[200], first[64], second[64], key[PM_SERVE_KEY_BYTES];
        assert_true(pm_serve_options_init(&by_text, &error));
        assert_true(pm_serve_options_init(&by_file, &error));
        print(&by_text, option, first, sizeof(first));
        allowed(option, value, sizeof(value));
        snprintf(text, sizeof(text), "{\"%s\": %s}", pm_serve_option_key(option, key), value);
        if (!parse(&by_file, text, &error))
            fail_msg("%s: %s", text, error.message);
        unquote(value);
        if (!pm_serve_option_set(&by_text, option, value, &error))
            fail_msg("--%s %s: %s", option->name, value, error.message);
        print(&by_file, option, second, sizeof(second));
        assert_string_not_equal(first, second);
        print(&by_text, option, first, sizeof(first));
        assert_string_equal(first, second);
        assert_true(option->help && strlen(option->help) > 0);
        assert_true((option->argument == NULL) == (option->type == PM_SERVE_FLAG));
        pm_serve_options_finish(&by_file);
        pm_serve_options_finish(&by_text);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        struct pm_serve_options options;
        struct pm_error error = {0};
        char above[64], below[64];
        if (option->type != PM_SERVE_WHOLE && option->type != PM_SERVE_REAL)
            continue;
        assert_true(pm_serve_options_init(&options, &error));
        snprintf(above, sizeof(above), "%.0f", option->maximum * 2 + 1);
        snprintf(below, sizeof(below), "%.17g", option->minimum - 1);
        const char *const bad[] = {
            above, below, "", " 1", "1 ", "1x", "nan", "-0x1p3", "99999999999999999999999999"};
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            if (pm_serve_option_set(&options, option, bad[i], &error) &&
                option->type == PM_SERVE_WHOLE)
                fail_msg("--%s took '%s'", option->name, bad[i]);
        }
        assert_false(pm_serve_option_set(&options, option, above, &error));
        assert_non_null(strstr(error.message, "must be a"));
        pm_serve_options_finish(&options);
    }
}

static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "file:1:1: "},
        {"[]", "file:1:1: a configuration must be an object"},
        {"{\n  \"prot\": 1}", "file:2:3: unknown key \"prot\"; did you mean \"port\"?"},
        {"{\"token-file\": \"x\"}", "file:1:2: unknown key \"token-file\"; did you mean "
                                    "\"token_file\"?"},
        {"{\"entirely_else\": 1}", "file:1:2: unknown key \"entirely_else\""},
        {"{\"port\": 1,\n \"port\": 2}", "file:2:2: port is given twice"},
        {"{\"port\": 1.5}", "file:1:10: port: must be a whole number from 0 to 65535"},
        {"{\"port\": \"1\"}", "file:1:10: port: must be a whole number"},
        {"{\"port\": null}", "file:1:10: port: must be a whole number"},
        {"{\"storage\": 1}", "file:1:13: storage: must be a string"},
        {"{\"storage\": \"\"}", "file:1:13: storage: must not be empty"},
        {"{\"storage\": \"a\\nb\"}", "file:1:13: storage: must not contain a control character"},
        {"{\"dev\": 1}", "file:1:9: dev: must be true or false"},
        {"{\"log_level\": \"loud\"}", "file:1:15: log_level: must be error, warning"},
        {"{\"$schema\": 1}", "file:1:2: unknown key"},
        {"{\"port\": 1", "file:1:11: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pm_serve_options options;
        struct pm_error error = {0};
        assert_true(pm_serve_options_init(&options, &error));
        assert_false(parse(&options, cases[i].text, &error));
        if (strncmp(error.message, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("%s: %s, wanted %s", cases[i].text, error.message, cases[i].error);
        pm_serve_options_finish(&options);
    }
}

static void test_agreement(void **state)
{
    (void)state;
    struct pm_serve_options options;
    struct pm_error error = {0};
    assert_true(pm_serve_options_init(&options, &error));
    assert_false(pm_serve_options_agree(&options, &error));
    assert_true(parse(&options, "{\"storage\": \"x\"}", &error));
    assert_true(pm_serve_options_agree(&options, &error));
    assert_true(parse(&options, "{\"key\": \"x\"}", &error));
    assert_false(pm_serve_options_agree(&options, &error));
    assert_non_null(strstr(error.message, "go together"));
    assert_true(parse(&options, "{\"certificate\": \"x\", \"dev\": true}", &error));
    assert_true(pm_serve_options_agree(&options, &error));
    assert_true(parse(&options, "{\"dev\": false}", &error));
    assert_false(options.aggregator.publish_all);
    pm_serve_options_finish(&options);
}

static void test_example(void **state)
{
    (void)state;
    struct pm_serve_options options;
    struct pm_error error = {0};
    assert_true(pm_serve_options_init(&options, &error));
    if (!pm_serve_options_load(&options, SOURCE_DIR "/manifest/serve.example.json", &error) ||
        !pm_serve_options_agree(&options, &error))
        fail_msg("%s", error.message);
    pm_serve_options_finish(&options);
}

/* What editors go by has every option and no other. */
static void test_schema(void **state)
{
    (void)state;
    struct pm_buffer text;
    struct pm_error error = {0};
    pm_buffer_init(&text, 1 << 20);
    if (!pm_file_read(SERVE_SCHEMA, &text, &error))
        fail_msg("%s", error.message);
    cJSON *schema = cJSON_Parse((const char *)text.data);
    const cJSON *properties = cJSON_GetObjectItem(schema, "properties");
    assert_non_null(properties);
    int count = 1; /* "$schema" */
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        char key[PM_SERVE_KEY_BYTES];
        const cJSON *property =
            cJSON_GetObjectItemCaseSensitive(properties, pm_serve_option_key(option, key));
        assert_non_null(property);
        assert_string_equal(cJSON_GetObjectItem(property, "description")->valuestring,
                            option->help);
        count++;
    }
    assert_int_equal(cJSON_GetArraySize(properties), count);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(schema, "additionalProperties")));
    cJSON_Delete(schema);
    pm_buffer_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_places),       cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_example),      cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
