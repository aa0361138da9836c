/* A lot says which half of a pair has the variant: what nobody knows of a use, as the workgroups of
 * an indirect dispatch, makes a trial longer and decides nothing (trial.h). */
#include "base/random.h"
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdlib.h>

enum { SESSIONS = 400, MOST = TRIAL_MOST_PAIRS };

/* How much there is to do in a use, by its number. */
typedef double (*sizes)(uint64_t seed, uint32_t use);

/* Every other frame has three times as much, as what takes turns with something else. */
static double in_turn(uint64_t seed, uint32_t use)
{
    return (use + seed) % 2 != 0 ? 3 : 1;
}

static double by_chance(uint64_t seed, uint32_t use)
{
    return (double)(1 + pm_random_mix(seed ^ pm_random_mix(use)) % 4);
}

/* It grows, and begins anew. */
static double growing(uint64_t seed, uint32_t use)
{
    return 1 + (double)((use + seed) % 37) / 8;
}

/* One trial of what takes so long with the variant. */
static enum pm_outcome try_one(struct pm_trial *trial, sizes size, double ratio, bool by_lot)
{
    static double ratios[MOST];
    const struct trial_track *track = &trial->tracks[0];
    struct pm_paired paired;
    for (uint32_t pair = 0; pair < MOST; pair++) {
        double time[2];
        for (uint32_t half = 0; half < 2; half++) {
            const uint32_t use = 2 * pair + half;
            const bool variant = by_lot ? pm_trial_use_of(trial, track, use, 1).variant : half == 1;
            time[variant] = size(trial->seed, use) * (variant ? ratio : 1);
        }
        ratios[pair] = log(time[1] / time[0]);
        const enum pm_outcome outcome = pm_trial_judge(ratios, pair + 1, MOST, true, &paired);
        if (outcome != PM_GOES_ON)
            return outcome;
    }
    return PM_UNDECIDED;
}

static void try_many(sizes size, double ratio, bool by_lot, uint32_t outcomes[static 4])
{
    struct pm_trial *trial = calloc(1, sizeof *trial);
    assert_non_null(trial);
    for (uint32_t i = 0; i < 4; i++)
        outcomes[i] = 0;
    for (uint64_t session = 0; session < SESSIONS; session++) {
        trial->seed = pm_random_mix(session);
        outcomes[try_one(trial, size, ratio, by_lot)]++;
    }
    free(trial);
}

static const sizes all[] = {in_turn, by_chance, growing};
enum { ALL = sizeof all / sizeof *all };

/* About as rarely as of what there is as much to do of each time: an interval of 95 % that is
 * looked at ten times. */
static void what_makes_no_difference_is_found_to_make_none(void **state)
{
    (void)state;
    for (int i = 0; i < ALL; i++) {
        uint32_t outcomes[4];
        try_many(all[i], 1, true, outcomes);
        assert_true(outcomes[PM_FASTER] <= SESSIONS / 8);
        assert_true(outcomes[PM_SLOWER] <= SESSIONS / 8);
    }
}

static void what_is_faster_or_slower_is_found_to_be(void **state)
{
    (void)state;
    for (int i = 0; i < ALL; i++) {
        uint32_t outcomes[4];
        try_many(all[i], 0.8, true, outcomes);
        assert_true(outcomes[PM_SLOWER] <= SESSIONS / 50);
        assert_true(outcomes[PM_FASTER] >= SESSIONS * 19 / 20);
        try_many(all[i], 1.25, true, outcomes);
        assert_true(outcomes[PM_FASTER] <= SESSIONS / 50);
        assert_true(outcomes[PM_SLOWER] >= SESSIONS * 19 / 20);
    }
}

/* Why there is a lot. */
static void one_order_would_decide_by_size(void **state)
{
    (void)state;
    uint32_t outcomes[4];
    try_many(in_turn, 1, false, outcomes);
    assert_int_equal(outcomes[PM_FASTER] + outcomes[PM_SLOWER], SESSIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_no_difference_is_found_to_make_none),
        cmocka_unit_test(what_is_faster_or_slower_is_found_to_be),
        cmocka_unit_test(one_order_would_decide_by_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
