#include "base/error.h"
#include "base/utf8.h"
#include "tests/cmocka_includes.h"
#include <errno.h>
#include <string.h>

static void a_failure_says_what_and_why(void **state)
{
    (void)state;
    struct pm_error error = {0};
    assert_false(pm_fail(&error, PM_ERROR_INPUT, "%s: byte %d", "file", 7));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_string_equal(error.message, "file: byte 7");
    assert_false(pm_fail_prefix(&error, "spool %d", 3));
    assert_string_equal(error.message, "spool 3: file: byte 7");
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_false(pm_fail_errno(&error, ENOSPC, "%s", "/x"));
    assert_int_equal(error.code, PM_ERROR_IO);
    assert_string_equal(error.message, "/x: No space left on device");
    pm_fail_errno(&error, 99999, "x");
    assert_string_equal(error.message, "x: unknown error");
    assert_false(pm_fail(NULL, PM_ERROR_IO, "nobody listens"));
    assert_false(pm_fail_errno(NULL, EIO, "nobody listens"));
    assert_false(pm_fail_prefix(NULL, "nobody listens"));
}

static void a_message_is_one_line(void **state)
{
    (void)state;
    struct pm_error error;
    pm_fail(&error, PM_ERROR_INPUT, "a\nb\r\n\tc \n");
    assert_string_equal(error.message, "a b   c");
    pm_fail(&error, PM_ERROR_INPUT, "%s", "");
    assert_string_equal(error.message, "");
}

/* Cut at each possible byte of characters of one to four bytes, the rest is whole characters. */
static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t c = 0; c < 4; c++) {
        for (size_t shift = 0; shift < 5; shift++) {
            char text[1024] = "";
            memset(text, 'x', shift);
            text[shift] = '\0';
            while (strlen(text) < 600)
                strcat(text, characters[c]);
            struct pm_error error;
            pm_fail(&error, PM_ERROR_INPUT, "%s", text);
            size_t length = strlen(error.message), width = strlen(characters[c]);
            assert_true(length < sizeof(error.message) && length + width >= sizeof(error.message));
            assert_int_equal((length - shift) % width, 0);
            assert_int_equal(pm_utf8_check(error.message, length), length);
            pm_fail_prefix(&error, "%s", characters[c]);
            assert_int_equal(pm_utf8_check(error.message, strlen(error.message)),
                             strlen(error.message));
            pm_fail_errno(&error, EIO, "%s", text);
            assert_int_equal(pm_utf8_check(error.message, strlen(error.message)),
                             strlen(error.message));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_says_what_and_why),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
