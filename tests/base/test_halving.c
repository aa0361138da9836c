/* Successive halving finds the fastest of many, spends little on the slow ones, and promises no
 * more than it knows. */
#include "base/halving.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>

#include "tests/cmocka_includes.h"

enum { VARIANTS = 30 };

struct run {
    uint64_t measured[VARIANTS];
    uint64_t all;
    bool won;
    uint32_t winner;
};

/* truth: log ratios; noise: of one measurement. */
static struct run simulate(const double *truth, double noise, uint64_t seed)
{
    struct run run = {0};
    struct pm_halving halving;
    struct pm_random random;
    uint32_t variant, times;
    pm_random_init(&random, seed);
    pm_halving_init(&halving, VARIANTS);
    while (pm_halving_next(&halving, &random, &variant, &times)) {
        struct pm_anytime seen = halving.seen[variant];
        for (uint32_t i = 0; i < times; i++) {
            double sum = 0;
            for (int k = 0; k < 12; k++)
                sum += pm_random_unit(&random) - 0.5;
            pm_anytime_add(&seen, truth[variant] + noise * sum);
            run.measured[variant]++;
            run.all++;
            if (pm_halving_is_hopeless(&seen))
                break;
        }
        pm_halving_take(&halving, variant, &seen);
    }
    run.won = pm_halving_winner(&halving, &run.winner);
    return run;
}

static void test_finds_the_fastest(void **state)
{
    (void)state;
    double truth[VARIANTS];
    for (uint32_t i = 0; i < VARIANTS; i++)
        truth[i] = i % 3 == 0 ? 0.05 : 0;
    truth[17] = -0.05;
    truth[4] = log(2);
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct run run = simulate(truth, 0.03, seed);
        found += run.won && run.winner == 17;
        assert_true(run.measured[4] <= 4); /* twice as slow: seen at once */
        assert_true(run.all < 1600);
        assert_true(run.measured[17] > 4 * run.measured[3]);
    }
    printf("found in %u of 100 runs\n", found);
    assert_true(found >= 97);
}

/* Of 24 variants one gains 5 %, and a pair of times differs by 14 %, as where a call's differs by
 * 10: the first round is as long as that asks for. Where it differs by 3 % it is no longer than it
 * must be. */
static void test_noise(void **state)
{
    (void)state;
    enum { COUNT = 24 };
    double truth[VARIANTS] = {0};
    uint32_t found = 0;
    for (uint32_t i = COUNT; i < VARIANTS; i++)
        truth[i] = log(2); /* left after three */
    truth[17] = -0.05;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct run run = simulate(truth, 0.14, seed);
        found += run.won && run.winner == 17;
        assert_true(run.all < 8000);
    }
    printf("found in %u of 100 runs, in which pairs differ by 14 %%\n", found);
    assert_true(found >= 88);
    const struct run quiet = simulate(truth, 0.03, 1);
    assert_true(quiet.measured[3] >= PM_HALVING_FIRST);
    assert_true(quiet.all < 1600);
}

/* Of those that are alike the same one each time, by rank, whatever the luck; and it gives up no
 * more than what is alike. */
static void test_alike(void **state)
{
    (void)state;
    double truth[VARIANTS];
    uint32_t first = 0, much = 0;
    for (uint32_t i = 0; i < VARIANTS; i++)
        truth[i] = i % 3 == 0 ? 0.05 : 0;
    truth[8] = truth[23] = -0.05;
    truth[11] = -0.048;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct run run = simulate(truth, 0.03, seed);
        first += run.won && run.winner == 8;
    }
    truth[8] = -0.02;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct run run = simulate(truth, 0.03, seed);
        much += run.won && run.winner == 8;
    }
    printf("the first of three that are alike in %u of 100 runs; one that is not in %u\n", first,
           much);
    assert_true(first >= 95);
    assert_true(much <= 5);
}

/* Where all are slower there is no winner. */
static void test_no_winner(void **state)
{
    (void)state;
    double truth[VARIANTS];
    for (uint32_t i = 0; i < VARIANTS; i++)
        truth[i] = 0.05;
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_false(simulate(truth, 0.01, seed).won);
}

/* What comes later is measured as if it began, against what was left; of all that were measured the
 * best are named by how long they lasted. */
static void test_added(void **state)
{
    (void)state;
    struct pm_halving halving;
    struct pm_random random;
    uint32_t variant, times, best[3], winner;
    pm_random_init(&random, 1);
    pm_halving_init(&halving, 4);
    const double truth[] = {0.05, -0.1, -0.05, -0.08, -0.2, 0.1};
    while (pm_halving_next(&halving, &random, &variant, &times)) {
        struct pm_anytime seen = halving.seen[variant];
        for (uint32_t i = 0; i < times; i++)
            pm_anytime_add(&seen, truth[variant]);
        pm_halving_take(&halving, variant, &seen);
    }
    assert_int_equal(pm_halving_best(&halving, best, 3), 3);
    assert_int_equal(best[0], 1);
    assert_int_equal(best[1], 3);
    assert_int_equal(best[2], 2);
    assert_int_equal(pm_halving_best(&halving, best, 1), 1);
    assert_int_equal(best[0], 1);

    assert_int_equal(pm_halving_add(&halving, 2), 2);
    while (pm_halving_next(&halving, &random, &variant, &times)) {
        assert_true(variant == 1 || variant > 3);
        struct pm_anytime seen = halving.seen[variant];
        for (uint32_t i = 0; i < times; i++)
            pm_anytime_add(&seen, truth[variant]);
        pm_halving_take(&halving, variant, &seen);
    }
    assert_true(pm_halving_winner(&halving, &winner));
    assert_int_equal(winner, 4);
    assert_int_equal(pm_halving_add(&halving, PM_HALVING_MOST), PM_HALVING_MOST - 6);
}

/* Each is as often the first of a round, and the last. */
static void test_order_is_drawn(void **state)
{
    (void)state;
    enum { COUNT = 6, RUNS = 6000 };
    uint32_t first[COUNT] = {0}, last[COUNT] = {0};
    struct pm_random random;
    pm_random_init(&random, 1);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct pm_halving halving;
        bool measured[COUNT] = {false};
        pm_halving_init(&halving, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            struct pm_anytime seen = {0};
            uint32_t variant, times;
            assert_true(pm_halving_next(&halving, &random, &variant, &times));
            assert_false(measured[variant]);
            measured[variant] = true;
            first[variant] += i == 0;
            last[variant] += i == COUNT - 1;
            for (uint32_t t = 0; t < times; t++)
                pm_anytime_add(&seen, -0.01);
            pm_halving_take(&halving, variant, &seen);
        }
    }
    /* 1,000 each, within five standard deviations. */
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_in_range(first[i], 850, 1150);
        assert_in_range(last[i], 850, 1150);
    }
}

static void test_none_and_one(void **state)
{
    (void)state;
    struct pm_halving halving;
    struct pm_random random;
    uint32_t variant, times;
    pm_random_init(&random, 1);
    pm_halving_init(&halving, 0);
    assert_false(pm_halving_next(&halving, &random, &variant, &times));
    assert_false(pm_halving_winner(&halving, &variant));
    pm_halving_init(&halving, 1);
    assert_true(pm_halving_next(&halving, &random, &variant, &times));
    assert_int_equal(variant, 0);
    assert_int_equal(times, PM_HALVING_FIRST);
    pm_halving_leave(&halving, 0);
    assert_false(pm_halving_next(&halving, &random, &variant, &times));
    assert_false(pm_halving_winner(&halving, &variant));
    pm_halving_init(&halving, 1000);
    assert_int_equal(halving.count, PM_HALVING_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_fastest),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_no_winner),
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_order_is_drawn),
        cmocka_unit_test(test_none_and_one),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
