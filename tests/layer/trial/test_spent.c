/* What trials take that last as long as the game does: the memory of those that are over is used
 * again, so that a game that makes and destroys pipelines has no more trials than pipelines; and
 * uses that do not come again are not waited for. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>

enum { LEVELS = 100, SHADERS = 50 };

static struct pm_sampling sampling;
static struct pm_device device;
static struct pm_trials trials;
static struct pm_candidate candidates[SHADERS];

static void arm(struct pm_device *of, bool armed)
{
    (void)of;
    (void)armed;
}

static int set_up(void **state)
{
    (void)state;
    sampling = (struct pm_sampling){.device = &device, .arm = arm};
    pthread_mutex_init(&sampling.lock, NULL);
    device = (struct pm_device){.sampling = &sampling};
    trials = (struct pm_trials){.device = &device};
    pthread_mutex_init(&trials.lock, NULL);
    pm_budget_init(&trials.budget, 1, (int64_t[PM_OWED_BY]){0}, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (struct pm_trial *lists[] = {trials.first, trials.spare}, **list = lists; list < lists + 2;
         list++)
        for (struct pm_trial *next; *list != NULL; *list = next) {
            next = (*list)->next;
            pm_pair_list_finish(&(*list)->pairs_seen);
            free(*list);
        }
    pm_budget_finish(&trials.budget);
    pthread_mutex_destroy(&trials.lock);
    pthread_mutex_destroy(&sampling.lock);
    return 0;
}

static uint32_t count_of(const struct pm_trial *trial)
{
    uint32_t count = 0;
    for (; trial != NULL; trial = trial->next)
        count++;
    return count;
}

static void begin(struct pm_candidate *candidate, uint32_t name)
{
    *candidate = (struct pm_candidate){.key = pm_shader_key_compute("spent", &name, 1)};
    pm_trials_add(&trials, candidate, true);
    assert_non_null(candidate->trial);
}

/* As the last pair does. */
static void decide(struct pm_trial *trial, enum pm_outcome outcome)
{
    pthread_mutex_lock(&trials.lock);
    atomic_store(&trial->over, true);
    trial->outcome = outcome;
    trial->ratio = 0.5;
    pm_trial_set_awake(trial, false);
    pthread_mutex_unlock(&trials.lock);
}

static void levels_use_what_was_there(void **state)
{
    (void)state;
    for (uint32_t level = 0; level < LEVELS; level++) {
        for (uint32_t i = 0; i < SHADERS; i++)
            begin(&candidates[i], level * SHADERS + i);
        for (uint32_t i = 0; i < SHADERS; i++) {
            decide(candidates[i].trial, i % 2 ? PM_FASTER : PM_SLOWER);
            candidates[i].gone(&candidates[i]);
        }
        pm_trials_report(&trials, NULL);
        assert_int_equal(count_of(trials.first), 0);
        assert_int_equal(count_of(trials.spare), SHADERS);
    }
    struct pm_trials_sum sum;
    pm_trials_sum(&trials, &sum);
    assert_int_equal(sum.dropped, LEVELS * SHADERS / 2);
    assert_true(sum.fastest > 1.99 && sum.fastest < 2.01);
    assert_int_equal(atomic_load(&sampling.trials), 0);
}

static void others_stay(void **state)
{
    (void)state;
    begin(&candidates[0], 0); /* goes on, without a pipeline */
    candidates[0].gone(&candidates[0]);
    begin(&candidates[1], 1); /* decided, its pipeline is there */
    decide(candidates[1].trial, PM_SLOWER);
    begin(&candidates[2], 2); /* decided, and not yet told */
    decide(candidates[2].trial, PM_SLOWER);
    candidates[2].trial->summed = 1;
    candidates[2].gone(&candidates[2]);
    pm_trials_spare(&trials);
    assert_int_equal(count_of(trials.first), 3);
    candidates[2].trial->reported = true;
    pm_trials_spare(&trials);
    assert_int_equal(count_of(trials.first), 2);
    candidates[1].gone(&candidates[1]);
    pm_trials_spare(&trials);
    assert_int_equal(count_of(trials.first), 1);
}

static void nothing(struct pm_candidate *candidate, const struct pm_anytime *seen)
{
    (void)candidate;
    (void)seen;
}

/* A contest's variant goes while the game records, which may have found it just before. */
static void what_is_just_looked_at_stays(void **state)
{
    (void)state;
    candidates[0] = (struct pm_candidate){
        .key = pm_shader_key_compute("spent", (uint32_t[]){0}, 1),
        .wanted = 8,
        .measured = nothing,
    };
    pm_trials_add(&trials, &candidates[0], true);
    struct pm_trial *trial = candidates[0].trial;
    atomic_store(&trial->over, true);
    candidates[0].gone(&candidates[0]);
    pm_trials_spare(&trials);
    assert_int_equal(count_of(trials.first), 1);
    trial->left_at -= PM_SECOND;
    pm_trials_spare(&trials);
    assert_int_equal(count_of(trials.first), 0);
    assert_int_equal(count_of(trials.spare), 1);
}

/* Both times of a pair, as the poller reads them. */
static void take(struct pm_timed timed)
{
    for (int side = 0; side < 2; side++) {
        timed.variant = side;
        pm_trials_take(&trials, &timed, 1000);
    }
}

static void late_times_are_of_nobody(void **state)
{
    (void)state;
    struct pm_timed timed, before;
    begin(&candidates[0], 0);
    struct pm_trial *trial = candidates[0].trial;
    assert_true(pm_trial_next_call(&candidates[0], 0, &before));
    decide(trial, PM_SLOWER);
    candidates[0].gone(&candidates[0]);
    pm_trials_spare(&trials);
    begin(&candidates[1], 1);
    assert_true(candidates[1].trial == trial);
    take(before);
    assert_int_equal(trial->pairs_seen.count, 0);
    /* Its own are. */
    assert_true(pm_trial_next_call(&candidates[1], 0, &timed));
    assert_true(timed.pair > before.pair);
    take(timed);
    assert_int_equal(trial->pairs_seen.count, 1);
}

static void what_comes_once_is_not_timed(void **state)
{
    (void)state;
    begin(&candidates[0], 0);
    struct pm_timed timed;
    uint32_t once = 0, again = 0;
    for (uint32_t frame = 1; frame <= 1000; frame++) {
        atomic_store(&sampling.heartbeats, frame);
        once += pm_trial_next_call(&candidates[0], pm_trial_work(frame, 1, 1), &timed);
        again += pm_trial_next_call(&candidates[0], pm_trial_work(1, 1, 1), &timed);
    }
    /* As many as there is room for, and all of what comes again. */
    assert_in_range(once, 1, TRIAL_TRACKS);
    assert_in_range(again, 1000 - 2 * TRIAL_TRACKS, 1000);
    /* And so it is where what comes again begins late. */
    again = 0;
    for (uint32_t frame = 2001; frame <= 3000; frame++) {
        atomic_store(&sampling.heartbeats, frame);
        once += pm_trial_next_call(&candidates[0], pm_trial_work(frame, 1, 1), &timed);
        again += pm_trial_next_call(&candidates[0], pm_trial_work(2, 1, 1), &timed);
    }
    assert_in_range(once, 1, TRIAL_TRACKS);
    assert_in_range(again, 1000 - 2 * TRIAL_TRACKS, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels_use_what_was_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_just_looked_at_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(late_times_are_of_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_comes_once_is_not_timed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
