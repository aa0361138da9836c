#include "profile/shader_key.h"
#include "tests/cmocka_includes.h"
#include <string.h>

static const uint32_t module_words[] = {0x07230203, 0x00010300, 0, 42, 0};

/* The expected digests come from Python's hashlib.blake2b over the documented bytes. */
static void keys_are_the_documented_digest(void **state)
{
    (void)state;
    char text[PM_SHADER_KEY_TEXT];
    struct pm_shader_key key = pm_shader_key_compute("recipe 1; v2023.1", module_words, 5);
    pm_shader_key_format(&key, text);
    assert_string_equal(text, "9a9adc68985828031951876afadc00f7ad7a10949b1490b4");

    uint32_t many[1000];
    for (uint32_t i = 0; i < 1000; i++)
        many[i] = i;
    key = pm_shader_key_compute("", many, 1000);
    pm_shader_key_format(&key, text);
    assert_string_equal(text, "f3cdcf5aaf1891ad7a030a9d6c601ad4f7dfdab55177a63f");

    const struct pm_spec_value values[] = {{3, 4, 0x3f800000}, {7, 8, 0x1122334455667788}};
    key = pm_raw_digest_compute(module_words, 5, 4, "main", values, 2);
    pm_shader_key_format(&key, text);
    assert_string_equal(text, "5d4d41c96a8eb1d4d6993633a57aa6895e8029d9f06bf521");
}

static void every_input_matters(void **state)
{
    (void)state;
    const struct pm_spec_value values[] = {{3, 4, 1}, {7, 8, 2}};
    const struct pm_spec_value other[] = {{3, 4, 1}, {7, 8, 3}};
    struct pm_shader_key keys[] = {
        pm_shader_key_compute("a", module_words, 5),
        pm_shader_key_compute("b", module_words, 5),
        pm_shader_key_compute("a", module_words, 4),
        pm_raw_digest_compute(module_words, 5, 0, "a", NULL, 0),
        pm_raw_digest_compute(module_words, 5, 1, "a", NULL, 0),
        pm_raw_digest_compute(module_words, 5, 0, "b", NULL, 0),
        pm_raw_digest_compute(module_words, 5, 0, "a", values, 2),
        pm_raw_digest_compute(module_words, 5, 0, "a", values, 1),
        pm_raw_digest_compute(module_words, 5, 0, "a", other, 2),
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        for (size_t j = 0; j < i; j++)
            assert_false(pm_shader_key_equal(&keys[i], &keys[j]));
    }
}

static void text_goes_both_ways(void **state)
{
    (void)state;
    char text[PM_SHADER_KEY_TEXT];
    struct pm_shader_key key = pm_shader_key_compute("x", module_words, 5), back;
    pm_shader_key_format(&key, text);
    assert_int_equal(strlen(text), 48);
    assert_true(pm_shader_key_parse(text, &back));
    assert_true(pm_shader_key_equal(&key, &back));
    for (char *c = text; *c; c++)
        *c = *c >= 'a' ? (char)(*c - 32) : *c;
    assert_true(pm_shader_key_parse(text, &back));
    assert_true(pm_shader_key_equal(&key, &back));
    memset(&back, 7, sizeof(back));
    text[47] = 'g';
    assert_false(pm_shader_key_parse(text, &back));
    text[47] = '\0';
    assert_false(pm_shader_key_parse(text, &back));
    assert_false(pm_shader_key_parse("", &back));
    assert_int_equal(back.bytes[0], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_the_documented_digest),
        cmocka_unit_test(every_input_matters),
        cmocka_unit_test(text_goes_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
