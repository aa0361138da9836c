/* Sketches of the values of a word: what is counted, what is forgotten, and that the parts that are
 * reported add up to the session's. */
#include "base/random.h"
#include "profile/word_values.h"

#include <string.h>

#include "tests/cmocka_includes.h"

static void counts_are_exact_of_few_values(void **state)
{
    (void)state;
    struct pm_word_values values = {0};
    assert_null(pm_word_values_most(&values));
    for (uint32_t i = 0; i < 100; i++)
        pm_word_values_add(&values, i % 10 < 7 ? 42 : i % 10 - 7, 3);
    pm_word_values_add_others(&values, 5);
    assert_int_equal(values.loads, 305);
    assert_int_equal(values.zeros, 30);
    assert_int_equal(values.same, 210);
    assert_int_equal(pm_word_values_most(&values)->value, 42);
    assert_int_equal(pm_word_values_most(&values)->count, 210);
    pm_word_values_add(&values, 7, 0);
    assert_int_equal(values.count, 4);
}

/* A value that begins to be frequent after many others is found. */
static void many_values_are_forgotten(void **state)
{
    (void)state;
    struct pm_word_values values = {0};
    for (uint32_t i = 0; i < 1000; i++)
        pm_word_values_add(&values, 100 + i, 1);
    assert_int_equal(values.same, 1);
    for (uint32_t i = 0; i < 50; i++)
        pm_word_values_add(&values, 9, 1);
    assert_int_equal(pm_word_values_most(&values)->value, 9);
    assert_int_equal(values.same, 50);
    assert_int_equal(values.loads, 1050);
    assert_int_equal(values.count, PM_VALUES_KEPT);
}

/* Whatever value leads at the end of a part: never more than the part's loads, and in sum what the
 * whole session's most frequent value has. */
static void parts_add_up(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 5);
    for (int round = 0; round < 200; round++) {
        struct pm_word_values values = {0}, reported = {0};
        uint64_t truth[4] = {0}, sum[PM_COUNTS] = {0}, most = 0;
        for (int part = 0; part < 10; part++) {
            const uint32_t leads = pm_random_below(&random, 4);
            for (uint32_t i = pm_random_below(&random, 40); i > 0; i--) {
                const uint32_t value =
                    pm_random_below(&random, 3) ? leads : pm_random_below(&random, 4);
                truth[value]++;
                pm_word_values_add(&values, value, 1);
            }
            uint64_t counts[PM_COUNTS];
            pm_word_values_growth(&reported, &values, counts);
            reported = values;
            assert_true(counts[PM_CONSTANT_SAME] <= counts[PM_CONSTANT_LOADS]);
            assert_true(counts[PM_CONSTANT_ZERO] <= counts[PM_CONSTANT_LOADS]);
            for (int i = 0; i < PM_COUNTS; i++)
                sum[i] += counts[i];
        }
        for (int i = 0; i < 4; i++)
            most = truth[i] > most ? truth[i] : most;
        assert_int_equal(sum[PM_CONSTANT_SAME], most);
        assert_int_equal(sum[PM_CONSTANT_ZERO], truth[0]);
        assert_int_equal(sum[PM_CONSTANT_LOADS], truth[0] + truth[1] + truth[2] + truth[3]);
    }
}

static void aging_halves(void **state)
{
    (void)state;
    struct pm_word_values values = {0};
    pm_word_values_add(&values, 3, 10);
    pm_word_values_add(&values, 0, 1);
    pm_word_values_add(&values, 4, 6);
    pm_word_values_age(&values);
    assert_int_equal(values.loads, 8);
    assert_int_equal(values.count, 2);
    assert_int_equal(values.zeros, 0);
    assert_int_equal(values.same, 5);
    assert_int_equal(pm_word_values_most(&values)->count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact_of_few_values),
        cmocka_unit_test(many_values_are_forgotten),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(aging_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
