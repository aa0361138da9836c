#include "base/random.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <string.h>

/* Computed with an independent implementation of splitmix64 and xoshiro256** in Python. */
static void the_sequence_is_xoshiro256(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0x15780B2E0C2EC716u, 0x6104D9866D113A7Eu,
                                        0xAE17533239E499A1u, 0xECB8AD4703B360A1u,
                                        0xFDE6DC7FE2EC5E64u, 0xC50DA53101795238u};
    struct pm_random random;
    pm_random_init(&random, 42);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_true(pm_random_next(&random) == expected[i]);
}

static void units_are_uniform(void **state)
{
    (void)state;
    enum { BINS = 64, DRAWS = 640000 };
    static uint32_t bins[BINS];
    struct pm_random random;
    pm_random_init(&random, 1);
    for (int i = 0; i < DRAWS; i++) {
        double value = pm_random_unit(&random);
        assert_true(value >= 0 && value < 1);
        bins[(int)(value * BINS)]++;
    }
    double chi = 0, want = (double)DRAWS / BINS;
    for (int i = 0; i < BINS; i++)
        chi += (bins[i] - want) * (bins[i] - want) / want;
    assert_true(chi < 113); /* 63 degrees of freedom: exceeded once in 10,000 */
}

static void below_has_no_bias(void **state)
{
    (void)state;
    /* With a bound of 3/4 of the range, taking the remainder would hit the lower third twice as
     * often. */
    const uint32_t bound = 0xC0000000u;
    struct pm_random random;
    pm_random_init(&random, 2);
    uint32_t thirds[3] = {0};
    for (int i = 0; i < 300000; i++) {
        uint32_t value = pm_random_below(&random, bound);
        assert_true(value < bound);
        thirds[value / (bound / 3)]++;
    }
    for (int i = 0; i < 3; i++)
        assert_true(fabs(thirds[i] - 100000.0) < 1100); /* over 4 standard deviations */
    for (int i = 0; i < 100; i++)
        assert_int_equal(pm_random_below(&random, 1), 0);
    bool seen[5] = {false};
    for (int i = 0; i < 200; i++)
        seen[pm_random_below(&random, 5)] = true;
    assert_true(seen[0] && seen[1] && seen[2] && seen[3] && seen[4]);
}

static void the_system_gives_different_bytes(void **state)
{
    (void)state;
    uint8_t a[600] = {0}, b[600] = {0};
    assert_true(pm_random_system(a, sizeof(a)));
    assert_true(pm_random_system(b, sizeof(b)));
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a + 584, b + 584, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_xoshiro256),
        cmocka_unit_test(units_are_uniform),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(the_system_gives_different_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
