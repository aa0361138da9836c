/* How often one may upload, and which field an answer names. */
#include "aggregator/service/service_field.h"
#include "aggregator/service/service_rates.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static void test_a_minute_at_once_then_evenly(void **state)
{
    struct pm_rates rates;
    int64_t now = 1234 * SECOND;
    (void)state;
    assert_true(pm_rates_init(&rates, 60, 0, 0));
    for (int i = 0; i < 60; i++)
        assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now), 0);
    assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now), 1);
    /* Others have buckets of their own, and what has no limit none. */
    assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "b", 1, 1, now), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(pm_rates_take(&rates, PM_RATE_ADDRESS, "a", 1, 1, now), 0);
    /* One a second comes back. Who is refused is not punished for it. */
    for (int i = 0; i < 10; i++)
        assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now + SECOND / 2), 1);
    now += SECOND;
    assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now), 0);
    assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now), 1);
    now += 3600 * SECOND;
    for (int i = 0; i < 60; i++)
        assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now), 0);
    assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, "a", 1, 1, now), 1);
    pm_rates_finish(&rates);
}

static void test_slow_rate_tells_how_long(void **state)
{
    struct pm_rates rates;
    (void)state;
    assert_true(pm_rates_init(&rates, 0, 2, 0));
    assert_int_equal(pm_rates_take(&rates, PM_RATE_ADDRESS, "a", 1, 1, 0), 0);
    assert_int_equal(pm_rates_take(&rates, PM_RATE_ADDRESS, "a", 1, 1, 0), 0);
    assert_int_equal(pm_rates_take(&rates, PM_RATE_ADDRESS, "a", 1, 1, 0), 30);
    assert_int_equal(pm_rates_take(&rates, PM_RATE_ADDRESS, "a", 1, 1, 29 * SECOND), 1);
    pm_rates_finish(&rates);
}

/* Many names, more than the table has room for, do not make anybody wait who need not. */
static void test_many_names(void **state)
{
    struct pm_rates rates;
    (void)state;
    assert_true(pm_rates_init(&rates, 10, 0, 0));
    for (uint32_t i = 0; i < 1000000; i++)
        assert_int_equal(pm_rates_take(&rates, PM_RATE_TOKEN, &i, sizeof(i), 1, SECOND), 0);
    pm_rates_finish(&rates);
}

static void test_fields(void **state)
{
    static const char *const cases[][2] = {
        {"profile: shader 3: field key has 3 bytes, not 24", "shaders[3].key"},
        {"profile: shader 0: field original is there, which only timing profiles may have",
         "shaders[0].original"},
        {"profile: shader 4: field candidates is far above space", "shaders[4].candidates"},
        {"profile: shader 0: point 7: lanes: 9 is above entry_lanes, 8",
         "shaders[0].points[7].lanes"},
        {"shader 00ff: point 7: uniform_lanes: 9 is above lanes, 8",
         "shaders[00ff].points[7].uniform_lanes"},
        {"shader 00ff: space: 3 does not agree with the 4 known before", "shaders[00ff].space"},
        {"profile: shader 2: point 5 is repeated", "shaders[2].points[5]"},
        {"profile: field version is 9; this program knows 1", "version"},
        {"profile: field game is empty", "game"},
        {"game: is empty", "game"},
        {"compressed byte 0: no zstd frame begins here", "body"},
        {"profile: 12 bytes that are no piecemeal profile", "body"},
        {"", "body"},
    };
    char field[PM_FIELD_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pm_field_of(cases[i][0], field);
        assert_string_equal(field, cases[i][1]);
    }
    /* However long. */
    char text[600] = "shader ";
    memset(text + strlen(text), 'f', 500);
    pm_field_of(text, field);
    assert_true(strlen(field) < PM_FIELD_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_minute_at_once_then_evenly),
        cmocka_unit_test(test_slow_rate_tells_how_long),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
