#include "base/utf8.h"
#include "tests/cmocka_includes.h"
#include <stdbool.h>
#include <string.h>

/* By the definition: encodes a code point as RFC 3629 says. */
static size_t encode(uint32_t point, char *to)
{
    unsigned char *out = (unsigned char *)to;
    if (point < 0x80) {
        out[0] = (unsigned char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out[0] = (unsigned char)((0xFF80 >> more) | point >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (unsigned char)(0x80 | (point >> (6 * (more - i)) & 0x3F));
    return more + 1;
}

static void every_code_point_and_no_surrogate(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x200000; point += point < 0x20000 ? 1 : 7) {
        char text[4];
        size_t size = encode(point, text);
        bool valid = point < 0xD800 || (point > 0xDFFF && point <= 0x10FFFF);
        if ((pm_utf8_check(text, size) == size) != valid)
            fail_msg("U+%04X", point);
        assert_int_equal(pm_utf8_length(text, size), valid ? size : 1);
        for (size_t cut = 1; cut < size; cut++)
            assert_int_equal(pm_utf8_check(text, cut), 0);
    }
}

static void overlong_and_stray_bytes(void **state)
{
    (void)state;
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x80\x80",
                                      "\xE0\x9F\xBF",
                                      "\xF0\x80\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xC3x",
                                      "\xF8\x88\x80\x80\x80"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[16] = "ok";
        strcat(text, bad[i]);
        assert_int_equal(pm_utf8_check(text, strlen(text)), 2);
    }
    assert_int_equal(pm_utf8_check("", 0), 0);
    assert_int_equal(pm_utf8_check("a\0b", 3), 3);
}

static void lines_have_no_control_characters(void **state)
{
    (void)state;
    assert_int_equal(pm_utf8_check_line("a scene \xc3\xa4", 10), 10);
    assert_int_equal(pm_utf8_check_line("a\nb\xff", 4), 1);
    assert_int_equal(pm_utf8_check_line("a\xc2\x9b"
                                        "31m",
                                        6),
                     1);
    assert_int_equal(pm_utf8_check_line("a\xc2\xa0"
                                        "b",
                                        4),
                     4);
    assert_int_equal(pm_utf8_check_line("a\xff\n", 3), 1);
    assert_int_equal(pm_utf8_check_line("ab\x7f", 3), 2);
    assert_int_equal(pm_utf8_check_line("a\0b", 3), 1);
    assert_int_equal(pm_utf8_check_line("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_and_no_surrogate),
        cmocka_unit_test(overlong_and_stray_bytes),
        cmocka_unit_test(lines_have_no_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
