#include "aggregator/statistics/race.h"
#include "base/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants these before it. */
#include <cmocka.h>

enum { ARMS = 6 };

/* `clusters` of each arm in each half, around its truth. */
static void fill(struct pm_race_arm *arms, const double *truth, int clusters)
{
    struct pm_random random;
    pm_random_init(&random, 5);
    for (int i = 0; i < ARMS * clusters; i++)
        for (int half = 0; half < 2; half++)
            pm_race_add(&arms[i % ARMS], truth[i % ARMS] + 0.03 * (pm_random_unit(&random) - 0.5),
                        half);
}

static void shares_go_to_what_is_fast(void **state)
{
    (void)state;
    struct pm_race_arm arms[ARMS] = {0};
    struct pm_race_result result;
    double all = 0;
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    for (int i = 0; i < ARMS; i++)
        assert_true(fabs(arms[i].share - 1.0 / ARMS) < 1e-6);
    fill(arms, (double[ARMS]){0, 0.05, -0.05, 0.02, 0, -0.01}, 12);
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    for (int i = 0; i < ARMS; i++) {
        all += arms[i].share;
        assert_true(arms[i].share >= 0.05 / ARMS - 1e-9);
        assert_true(i == 2 || arms[i].share < arms[2].share);
    }
    assert_true(fabs(all - 1) < 1e-9);
    assert_true(arms[2].share > 0.4);
}

static void the_winner_is_known_by_what_did_not_choose_it(void **state)
{
    (void)state;
    const double truth[ARMS] = {0, 0.05, -0.05, 0.02, 0, -0.01};
    struct pm_race_arm arms[ARMS] = {0};
    struct pm_race_result result;
    fill(arms, truth, 40);
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    assert_int_equal(result.winner, 2);
    assert_true(result.gain.low <= -0.05 && -0.05 <= result.gain.high);
    assert_true(fabs(result.mean - pm_anytime_mean(&arms[2].held_out)) < 1e-12);
    /* Fast by luck alone: what was held out says otherwise. */
    const struct pm_anytime chosen = arms[2].choosing;
    arms[2].held_out = arms[0].held_out;
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
    assert_true(chosen.count == arms[2].choosing.count);
}

static void too_little_and_too_few(void **state)
{
    (void)state;
    struct pm_race_arm arms[ARMS] = {0};
    struct pm_race_result result;
    fill(arms, (double[ARMS]){0, 0, -0.004, 0, 0, 0}, 400); /* less than the margin */
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
    struct pm_race_arm few[ARMS] = {0};
    fill(few, (double[ARMS]){0, 0, -0.1, 0, 0, 0}, 3);
    assert_true(pm_race_judge(few, ARMS, PM_RACE_NONE, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
    assert_true(pm_race_judge(NULL, 0, PM_RACE_NONE, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
}

/* Of those that are alike the first, whatever the luck, and one cluster says no more than the clip.
 */
static void ties_and_clips(void **state)
{
    (void)state;
    struct pm_race_arm arms[ARMS] = {0};
    struct pm_race_result result;
    fill(arms, (double[ARMS]){0, 0, -0.05, 0, -0.05, 0}, 200);
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    assert_int_equal(result.winner, 2);
    struct pm_race_arm one = {0};
    pm_race_add(&one, -INFINITY, true);
    assert_true(fabs(pm_anytime_mean(&one.held_out) + PM_RACE_CLIP) < 1e-12);
}

/* What has won stays so beside what is about as fast, and beside what nobody has shown yet; not
 * beside what is faster by more, and not where it gains too little itself. */
static void what_has_won_stays(void **state)
{
    (void)state;
    struct pm_race_arm arms[ARMS] = {0};
    struct pm_race_result result;
    fill(arms, (double[ARMS]){0, 0, -0.05, 0, -0.062, 0}, 200);
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    assert_int_equal(result.winner, 4);
    assert_true(pm_race_judge(arms, ARMS, 2, &result, NULL));
    assert_int_equal(result.winner, 2);
    assert_true(result.gain.low <= -0.05 && -0.05 <= result.gain.high);
    /* Nobody has measured the faster one where it was held out. */
    arms[4].held_out = (struct pm_anytime){0};
    assert_true(pm_race_judge(arms, ARMS, PM_RACE_NONE, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
    assert_true(pm_race_judge(arms, ARMS, 2, &result, NULL));
    assert_int_equal(result.winner, 2);

    struct pm_race_arm faster[ARMS] = {0};
    fill(faster, (double[ARMS]){0, 0, -0.05, 0, -0.09, 0}, 200);
    assert_true(pm_race_judge(faster, ARMS, 2, &result, NULL));
    assert_int_equal(result.winner, 4);
    struct pm_race_arm slower[ARMS] = {0};
    fill(slower, (double[ARMS]){0, 0, 0.02, 0, 0, 0}, 200);
    assert_true(pm_race_judge(slower, ARMS, 2, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
    struct pm_race_arm little[ARMS] = {0};
    fill(little, (double[ARMS]){0, 0, -0.002, 0, 0, 0}, 4000);
    assert_true(pm_race_judge(little, ARMS, 2, &result, NULL));
    assert_true(result.winner == PM_RACE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_go_to_what_is_fast),
        cmocka_unit_test(the_winner_is_known_by_what_did_not_choose_it),
        cmocka_unit_test(too_little_and_too_few),
        cmocka_unit_test(ties_and_clips),
        cmocka_unit_test(what_has_won_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
