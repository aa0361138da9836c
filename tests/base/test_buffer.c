#include "base/buffer.h"
#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <string.h>

static void it_grows_and_ends_in_a_zero_byte(void **state)
{
    (void)state;
    struct pm_buffer buffer;
    char want[4096] = "";
    pm_buffer_init(&buffer, 4000);
    assert_null(buffer.data);
    for (int i = 0; buffer.size < 3900; i++) {
        char word[32];
        int n = snprintf(word, sizeof(word), "%d,", i * i);
        strcat(want, word);
        if (i % 3 == 0)
            assert_true(pm_buffer_append(&buffer, word, (size_t)n));
        else if (i % 3 == 1)
            assert_true(pm_buffer_append_string(&buffer, word));
        else
            assert_true(pm_buffer_printf(&buffer, "%d,", i * i));
        assert_int_equal(buffer.data[buffer.size], 0);
        assert_true(buffer.allocated <= buffer.cap + 1);
    }
    assert_string_equal((char *)buffer.data, want);
    pm_buffer_finish(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.cap, 4000);
    assert_true(pm_buffer_append(&buffer, "again", 5));
    pm_buffer_finish(&buffer);
}

static void the_cap_refuses_and_changes_nothing(void **state)
{
    (void)state;
    struct pm_buffer buffer;
    pm_buffer_init(&buffer, 5);
    assert_false(pm_buffer_append(&buffer, "123456", 6));
    assert_null(buffer.data);
    assert_true(pm_buffer_append(&buffer, "123", 3));
    assert_false(pm_buffer_append_string(&buffer, "456"));
    assert_false(pm_buffer_printf(&buffer, "%d", 456));
    assert_false(pm_buffer_append(&buffer, "x", SIZE_MAX));
    assert_string_equal((char *)buffer.data, "123");
    assert_true(pm_buffer_append(&buffer, "45", 2));
    assert_true(pm_buffer_append(&buffer, NULL, 0));
    assert_string_equal((char *)buffer.data, "12345");
    pm_buffer_finish(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_and_ends_in_a_zero_byte),
        cmocka_unit_test(the_cap_refuses_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
