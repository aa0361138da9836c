/* The confidence sequence holds its promise when it is looked at after each observation, of tails
 * as heavy as any; and it tells small gains. */
#include "base/anytime.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>

#include "tests/cmocka_includes.h"

enum { RUNS = 1000, LENGTH = 500 };
#define ALPHA 0.05

/* Student's with two degrees of freedom: no variance. */
static double heavy(struct pm_random *random, double scale)
{
    const double u = pm_random_unit(random) - 0.5;
    return scale * u * sqrt(2 / (0.25 - u * u + 1e-12));
}

/* How many of the runs are wrong at least once. */
static int count_wrong(double centre, double scale, double drift)
{
    struct pm_random random;
    pm_random_init(&random, 7);
    int wrong = 0;
    for (int run = 0; run < RUNS; run++) {
        struct pm_anytime seen = {0};
        bool held = true;
        for (int i = 0; held && i < LENGTH; i++) {
            const double lot = pm_random_below(&random, 2) ? 1 : -1;
            pm_anytime_add(&seen, centre + lot * (heavy(&random, scale) + drift));
            held = !pm_anytime_excludes(&seen, centre, ALPHA);
        }
        wrong += !held;
    }
    return wrong;
}

static void test_holds_always(void **state)
{
    (void)state;
    static const double scales[] = {0.001, 0.01, 0.05, 0.3};
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        const int wrong = count_wrong(0, scales[s], 0);
        printf("scale %.3f: wrong at least once in %d of %d runs\n", scales[s], wrong, RUNS);
        assert_true(wrong <= ALPHA * RUNS);
        /* The first of two calls always takes 5 % longer: the lot takes care of it. */
        assert_true(count_wrong(0, scales[s], 0.05) <= ALPHA * RUNS);
    }
    assert_true(count_wrong(-0.03, 0.01, 0) <= ALPHA * RUNS);
}

/* Ordinary intervals do not: that is what it is for. */
static void test_others_do_not_hold(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 7);
    int wrong = 0;
    for (int run = 0; run < RUNS; run++) {
        double sum = 0, squares = 0;
        bool held = true;
        for (int i = 1; held && i < LENGTH; i++) {
            const double x = heavy(&random, 0.01);
            sum += x;
            squares += x * x;
            held = i < 8 || fabs(sum / i) < 1.96 * sqrt(squares) / i;
        }
        wrong += !held;
    }
    assert_true(wrong > 4 * ALPHA * RUNS);
}

/* After how many observations a gain is told, in the median. */
static int told_after(double centre, double scale)
{
    struct pm_random random;
    pm_random_init(&random, 9);
    int most = 0;
    for (int run = 0; run < 101; run++) {
        struct pm_anytime seen = {0};
        int i = 0;
        do {
            pm_anytime_add(&seen, centre + heavy(&random, scale));
            i++;
        } while (!pm_anytime_excludes(&seen, 0, ALPHA) && i < 4 * LENGTH);
        most += i;
    }
    return most / 101;
}

static void test_tells_gains(void **state)
{
    (void)state;
    assert_true(told_after(-0.10, 0.01) <= 24);
    assert_true(told_after(-0.03, 0.01) <= 64);
    assert_true(told_after(-0.01, 0.01) <= 512);
}

static void test_sums(void **state)
{
    (void)state;
    struct pm_anytime all = {0}, first = {0}, second = {0};
    for (int i = 0; i < 40; i++) {
        const double x = (i % 7 - 3) * 0.05;
        pm_anytime_add(&all, x);
        pm_anytime_add(i < 13 ? &first : &second, x);
    }
    pm_anytime_merge(&first, &second);
    assert_true(fabs(all.sum - first.sum) < 1e-12 && fabs(all.squares - first.squares) < 1e-12);
    assert_true(all.count == first.count);
    assert_true(fabs(pm_anytime_mean(&all) - all.sum / 40) < 1e-12);
    /* The two ways to ask agree. */
    const struct pm_anytime_interval of_all = pm_anytime_interval(&all, ALPHA);
    assert_true(of_all.high < PM_ANYTIME_CLIP);
    assert_true(pm_anytime_excludes(&all, of_all.high + 1e-9, ALPHA));
    assert_false(pm_anytime_excludes(&all, of_all.high - 1e-9, ALPHA));
    const struct pm_anytime nothing = {0};
    const struct pm_anytime_interval at = pm_anytime_interval(&nothing, ALPHA);
    assert_true(at.low == -PM_ANYTIME_CLIP && at.high == PM_ANYTIME_CLIP);
    assert_true(pm_anytime_mean(&nothing) == 0);
    struct pm_anytime far = {0};
    pm_anytime_add(&far, 100);
    pm_anytime_add(&far, -INFINITY);
    assert_true(far.sum == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds_always),
        cmocka_unit_test(test_others_do_not_hold),
        cmocka_unit_test(test_tells_gains),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
