#include "base/json_text.h"
#include "tests/cmocka_includes.h"
#include <string.h>

static bool check(const char *text, struct pm_error *error)
{
    struct pm_json_text json = {"t", text, strlen(text)};
    return pm_json_check(&json, error);
}

static void what_is_json(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "12.5e-3",
                                       " null ",
                                       "true",
                                       "false",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[1, [2, {\"a\": [\"b\"]}]]",
                                       "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\"",
                                       "\t\r\n{\"a\":1,\"a\":2}\n",
                                       "1E+2",
                                       "\"\x7F \xC3\xA4\""};
    static const char *const bad[] = {"",
                                      " ",
                                      "01",
                                      "-",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1e",
                                      "1e+",
                                      "0x1",
                                      "nul",
                                      "nulll",
                                      "TRUE",
                                      "'a'",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud83d\"",
                                      "\"\\ude00\"",
                                      "\"\\ud83dx\"",
                                      "\"\\ud83d\\u0041\"",
                                      "\"\t\"",
                                      "[1,]",
                                      "[1 2]",
                                      "[",
                                      "]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "1 2",
                                      "// c\n1",
                                      "\xC3",
                                      "NaN",
                                      "Infinity",
                                      "\"\\u0000\""};
    struct pm_error error;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (!check(good[i], &error))
            fail_msg("%s: %s", good[i], error.message);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (check(bad[i], &error))
            fail_msg("accepted: %s", bad[i]);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char text[200] = "";
    struct pm_error error;
    for (int i = 0; i < 64; i++)
        strcat(text, "[");
    strcat(text, "1");
    for (int i = 0; i < 64; i++)
        strcat(text, "]");
    assert_true(check(text, &error));
    memmove(text + 1, text, strlen(text) + 1);
    strcat(text, "]");
    assert_false(check(text, &error));
    assert_string_equal(error.message, "t:1:66: nested more than 64 deep");
}

static void a_walk_gives_the_places(void **state)
{
    (void)state;
    static const char text[] = " { \"a\" : 12 ,\n\"b{\":[ \"x,\" ,{}],\"\":{\"c\":1} } ";
    struct pm_json_text json = {"t", text, sizeof(text) - 1};
    struct pm_json_walk walk, inner;
    struct pm_error error;
    assert_true(pm_json_check(&json, &error));
    assert_int_equal(pm_json_root(&json), 1);
    pm_json_walk_begin(&walk, &json, 1);
    assert_true(pm_json_walk_next(&walk));
    assert_int_equal(walk.name, 3);
    assert_memory_equal(text + walk.value, "12", walk.value_end - walk.value);
    assert_true(pm_json_walk_next(&walk));
    assert_memory_equal(text + walk.name, "\"b{\"", 4);
    pm_json_walk_begin(&inner, &json, walk.value);
    assert_true(pm_json_walk_next(&inner));
    assert_memory_equal(text + inner.value, "\"x,\"", inner.value_end - inner.value);
    assert_true(pm_json_walk_next(&inner));
    assert_memory_equal(text + inner.value, "{}", inner.value_end - inner.value);
    assert_false(pm_json_walk_next(&inner));
    assert_true(pm_json_walk_next(&walk));
    assert_memory_equal(text + walk.value, "{\"c\":1}", walk.value_end - walk.value);
    assert_false(pm_json_walk_next(&walk));
    pm_json_fail(&json, walk.value, &error, "here");
    assert_string_equal(error.message, "t:2:21: here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_json),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(a_walk_gives_the_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
