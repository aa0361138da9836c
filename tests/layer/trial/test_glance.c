/* Glances at what is used (glance.h): how many frames pass until a variant that has turned slower
 * is tried again, that noise does not make it so, and that what they cost becomes little. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <stdlib.h>

enum { EVERY = 256, NOTICED = EVERY + 2 * TRIAL_LOOK, LONG = 1 << 16, RETRY = 1 << 14, CALLS = 4 };

static struct pm_sampling sampling;
static struct pm_instance instance;
static struct pm_device device;
static struct pm_trials *trials;
static struct pm_candidate candidate;
static struct pm_random noise;

static struct {
    double original, variant; /* nanoseconds */
    double others;            /* of the variant in a frame's calls behind the first; 0: none */
    double spread;            /* of a time, to either side */
    bool drawn;
    bool lost;       /* no time comes */
    uint32_t awake;  /* frames in which recordings were tracked */
    uint32_t paired; /* pairs */
} game;

static void arm(struct pm_device *of, bool armed)
{
    (void)of;
    (void)armed;
}

static const char *verdict(struct pm_candidate *of, bool faster)
{
    (void)of;
    (void)faster;
    return NULL;
}

static void hear(struct pm_candidate *of)
{
    assert_ptr_equal(of, &candidate);
}

static int set_up(void **state)
{
    (void)state;
    game.original = 100;
    game.variant = 90;
    game.spread = 0;
    game.drawn = true;
    game.lost = false;
    game.others = 0;
    game.awake = game.paired = 0;
    pm_random_init(&noise, 5);
    sampling = (struct pm_sampling){.device = &device, .arm = arm};
    pm_random_init(&sampling.random, 5);
    pthread_mutex_init(&sampling.lock, NULL);
    instance.log = pm_log_create("/dev/null", -1, PM_LOG_DEBUG, NULL);
    device = (struct pm_device){.sampling = &sampling, .instance = &instance};
    trials = calloc(1, sizeof *trials);
    trials->device = &device;
    pthread_mutex_init(&trials->lock, NULL);
    pm_budget_init(&trials->budget, 1, (int64_t[PM_OWED_BY]){0}, 0);
    candidate = (struct pm_candidate){.key = pm_shader_key_compute("glance", (uint32_t[]){1}, 1),
                                      .verdict = verdict,
                                      .again = hear,
                                      .glanced = hear};
    pm_trials_watch(trials, &candidate, true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (struct pm_trial *trial = trials->first, *next; trial != NULL; trial = next) {
        next = trial->next;
        pm_pair_list_finish(&trial->pairs_seen);
        free(trial);
    }
    pm_budget_finish(&trials->budget);
    pthread_mutex_destroy(&trials->lock);
    pthread_mutex_destroy(&sampling.lock);
    free(trials);
    pm_log_destroy(instance.log);
    return 0;
}

static double vary(double time)
{
    return time * (1 + game.spread * (2 * pm_random_unit(&noise) - 1));
}

/* Calls that are timed, where it is their turn, and their times once the frame is over. */
static void draw(void)
{
    struct pm_timed timed[CALLS];
    bool is[CALLS] = {false};
    for (int i = 0; i < (game.others > 0 ? CALLS : 1); i++)
        is[i] = pm_trial_is_awake(candidate.trial) && pm_trial_next_call(&candidate, 1, &timed[i]);
    for (int i = 0; i < CALLS; i++) {
        if (!is[i])
            continue;
        game.paired += timed[i].variant;
        const double variant = i > 0 ? game.others : game.variant;
        if (!game.lost)
            pm_trials_take(trials, &timed[i], vary(timed[i].variant ? variant : game.original));
    }
}

/* Frames until it is tried again, as glances said so: how many; or `most`. */
static uint32_t run_frames(uint32_t most)
{
    uint32_t frame = 0;
    while (frame < most && !candidate.trial->glance.alarmed) {
        pm_trials_heartbeat(trials, atomic_fetch_add(&sampling.heartbeats, 1) + 1);
        game.awake += pm_trial_is_awake(candidate.trial);
        if (game.drawn)
            draw();
        frame++;
    }
    return frame;
}

/* The trial that a glance was followed by cannot tell it from the original. */
static void try_in_vain(void)
{
    struct pm_trial_said said = {0};
    pthread_mutex_lock(&trials->lock);
    pm_trial_leave(candidate.trial, &said);
    pthread_mutex_unlock(&trials->lock);
}

static void assert_is_tried(bool is)
{
    assert_int_equal(candidate.trial->outcome, is ? PM_GOES_ON : PM_FASTER);
    assert_int_equal(candidate.trial->again, is);
    assert_int_equal(atomic_load(&candidate.trial->over), !is);
    assert_false(pm_glance_is_on(&candidate.trial->glance));
}

static void slower_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(run_frames(LONG / 8), LONG / 8);
    assert_is_tried(false);
    game.variant = 200;
    assert_true(run_frames(LONG) <= NOTICED);
    assert_is_tried(true);
}

/* Some of a frame's calls may be slower and others faster. */
static void any_call_of_a_frame_is_glanced_at(void **state)
{
    (void)state;
    game.spread = 0.02;
    game.others = 200;
    assert_true(run_frames(1 << 13) < 1 << 13);
    assert_is_tried(true);
}

static void one_call_of_four_raises_no_alarm(void **state)
{
    (void)state;
    game.spread = 0.02;
    game.variant = 110;
    game.others = 50;
    assert_int_equal(run_frames(RETRY - 2 * TRIAL_LOOK), RETRY - 2 * TRIAL_LOOK);
    assert_int_equal(candidate.trial->outcome, PM_FASTER);
}

/* Pairs of which no more is known are given back. */
static void what_is_lost_costs_nothing(void **state)
{
    (void)state;
    game.lost = true;
    assert_int_equal(run_frames(RETRY / 2), RETRY / 2);
    while (pm_glance_is_on(&candidate.trial->glance))
        run_frames(1);
    assert_in_range(game.paired, 2, 16);
    assert_true(pm_budget_spent(&trials->budget, 0) == 0);
    game.lost = false;
    game.variant = 200;
    assert_true(run_frames(LONG) <= (1 << 11) + NOTICED);
    assert_is_tried(true);
}

/* Frames in which recordings are tracked though no second half comes. */
static void half_a_pair_is_not_waited_for(void **state)
{
    (void)state;
    uint32_t frames = 0;
    while (!pm_glance_is_on(&candidate.trial->glance) && frames++ < LONG)
        run_frames(1);
    game.drawn = false;
    game.awake = 0;
    run_frames(1 << 10);
    assert_in_range(game.awake, 1, 3 * TRIAL_LOOK);
}

static void noise_is_no_scene(void **state)
{
    (void)state;
    game.spread = 0.1; /* one of eight pairs says that it is slower */
    assert_int_equal(run_frames(LONG / 8), LONG / 8);
    assert_is_tried(false);
    assert_in_range(game.paired, LONG / 8 / (EVERY + TRIAL_LOOK) - 1, 2 * LONG / 8 / EVERY);
    assert_true(game.awake < LONG / 8 / 50);
    game.variant = 200;
    assert_true(run_frames(LONG) <= NOTICED);
}

static void somewhat_slower_is_noticed_later(void **state)
{
    (void)state;
    game.spread = 0.1;
    game.variant = 103;
    assert_true(run_frames(LONG) < 1 << 13);
}

static void trials_in_vain_make_glances_rare(void **state)
{
    (void)state;
    game.variant = 101;
    uint32_t every = 0;
    for (int times = 0; times < 6; times++) {
        const uint32_t frames = run_frames(LONG);
        assert_true(candidate.trial->glance.alarmed);
        assert_true(frames > every);
        every = frames;
        try_in_vain();
        assert_is_tried(false);
    }
    /* No more often than trials come by themselves. */
    game.variant = 90;
    game.paired = 0;
    assert_int_equal(run_frames(RETRY - 2 * TRIAL_LOOK), RETRY - 2 * TRIAL_LOOK);
    assert_int_equal(game.paired, 0);
    assert_is_tried(false);
    /* Those come as soon as before; and behind others glances come more often again. */
    run_frames(3 * TRIAL_LOOK);
    assert_int_equal(candidate.trial->outcome, PM_GOES_ON);
    try_in_vain();
    assert_int_equal(candidate.trial->glance.every, RETRY / 2);
}

static void what_is_not_drawn_with_costs_little(void **state)
{
    (void)state;
    game.drawn = false;
    assert_int_equal(run_frames(LONG / 16), LONG / 16);
    game.awake = 0;
    assert_int_equal(run_frames(LONG / 8), LONG / 8);
    assert_true(game.awake < LONG / 8 / 25);
    /* And is noticed where it is again. */
    game.drawn = true;
    game.variant = 200;
    assert_true(run_frames(LONG) <= (1 << 11) + NOTICED);
    assert_is_tried(true);
}

static void without_a_budget_there_is_none(void **state)
{
    (void)state;
    pm_budget_finish(&trials->budget);
    pm_budget_init(&trials->budget, 1e-9, (int64_t[PM_OWED_BY]){INT64_C(1) << 40}, pm_now());
    game.variant = 200;
    assert_int_equal(run_frames(1 << 13), 1 << 13);
    assert_int_equal(game.paired, 0);
    assert_int_equal(game.awake, 0);
    assert_is_tried(false);
}

static void not_while_it_is_compared(void **state)
{
    (void)state;
    int ab;
    device.ab = (struct pm_ab *)&ab;
    game.variant = 200;
    assert_int_equal(run_frames(1 << 13), 1 << 13);
    assert_int_equal(game.awake, 0);
}

static void hear_any(struct pm_candidate *of)
{
    (void)of;
}

/* What is drawn with in one render pass is timed by that: another's lots would be noise. */
static void what_shares_a_pass_takes_turns(void **state)
{
    (void)state;
    enum { SHARE = 4, FRAMES = 16 * EVERY };
    struct pm_candidate shares[SHARE];
    uint32_t pairs[SHARE] = {0};
    game.drawn = false;
    for (uint32_t i = 0; i < SHARE; i++) {
        shares[i] = (struct pm_candidate){
            .key = pm_shader_key_compute("shares", (uint32_t[]){i}, 1),
            .verdict = verdict,
            .again = hear_any,
            .glanced = hear_any,
        };
        pm_trials_watch(trials, &shares[i], false);
    }
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        struct pm_timed timed[SHARE];
        uint32_t count = 0;
        run_frames(1);
        for (uint32_t i = 0; i < SHARE; i++)
            if (pm_trial_is_awake(shares[i].trial) &&
                pm_trial_next_pass(&shares[i], 0, &timed[count])) {
                pairs[i] += timed[count].charged > 0;
                count++;
            }
        assert_in_range(count, 0, 1);
        for (uint32_t i = 0; i < count; i++)
            pm_trials_take(trials, &timed[i], timed[i].variant ? 90 : 100);
    }
    for (uint32_t i = 0; i < SHARE; i++)
        assert_in_range(pairs[i], FRAMES / (EVERY + TRIAL_LOOK) - 1, FRAMES / EVERY);
}

/* Many that are drawn with in another scene have their recordings tracked in the same frames, once
 * they were found not to be in this one. */
static void many_that_are_not_drawn_with_cost_little(void **state)
{
    (void)state;
    enum { MOST = 200, FRAMES = 12000 };
    static const uint32_t counts[] = {4, 50, MOST};
    static struct pm_candidate many[MOST];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tear_down(NULL);
        set_up(NULL);
        game.drawn = false;
        const uint32_t count = counts[i];
        for (uint32_t k = 0; k < count; k++) {
            many[k] = (struct pm_candidate){
                .key = pm_shader_key_compute("many", (uint32_t[]){k}, 1),
                .verdict = verdict,
                .again = hear_any,
                .glanced = hear_any,
            };
            pm_trials_watch(trials, &many[k], false);
        }
        uint32_t awake = 0;
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            bool any = false;
            run_frames(1);
            for (uint32_t k = 0; k < count; k++)
                any |= pm_trial_is_awake(many[k].trial);
            awake += any;
        }
        printf("%u variants that are not drawn with: %.1f %% of %u frames\n", count,
               100.0 * awake / FRAMES, FRAMES);
        assert_in_range(awake, 4 * TRIAL_LOOK, FRAMES * 8 / 100);
    }
}

/* ---- beside a trial that has what there is of the budget ---- */

static struct pm_candidate other;

static void try_another(double share)
{
    pm_budget_finish(&trials->budget);
    pm_budget_init(&trials->budget, share, (int64_t[PM_OWED_BY]){0}, pm_now());
    other = (struct pm_candidate){.key = pm_shader_key_compute("tried", (uint32_t[]){1}, 1),
                                  .verdict = verdict};
    pm_trials_add(trials, &other, true);
}

/* Of its calls in a frame one begins a pair, or none may. Either way it is in use. */
static bool begins_pair(void)
{
    bool begins = false;
    for (int i = 0; i < 2; i++) {
        struct pm_timed timed;
        begins |= pm_trial_next_call(&other, 1, &timed) && timed.charged > 0;
    }
    assert_true(pm_trials_now(trials) == atomic_load(&other.trial->used_at));
    return begins;
}

/* There is what a pair of which nothing is known is charged (budget.h). */
static void leave_one_pair(void)
{
    enum { TIMING = 10000 };
    struct pm_budget *budget = &trials->budget;
    pthread_mutex_lock(&budget->lock);
    budget->allowance.left = (double)(atomic_load(&budget->frame) + TIMING);
    pthread_mutex_unlock(&budget->lock);
    pm_budget_return(budget, 0);
}

/* Of so many frames, in each of which there is enough for one pair more and the other trial comes
 * first: those in which it began one. */
static uint32_t run_shared_frames(uint32_t frames, bool drawn)
{
    uint32_t pairs = 0;
    game.drawn = false;
    for (uint32_t frame = 0; frame < frames; frame++) {
        run_frames(1);
        leave_one_pair();
        pairs += begins_pair();
        if (drawn)
            draw();
    }
    return pairs;
}

enum { TURNS_EVERY = 16 * TRIAL_LOOK, TURN = 4 * TRIAL_LOOK, SHARED = 8 * TURNS_EVERY };

static void other_pairs_wait_for_glances(void **state)
{
    (void)state;
    try_another(1e-9);
    const uint32_t pairs = run_shared_frames(SHARED, true);
    assert_in_range(game.paired, SHARED / TURNS_EVERY - 1, SHARED / EVERY);
    assert_in_range(pairs, SHARED - SHARED / TURNS_EVERY * TURN,
                    SHARED - (SHARED / TURNS_EVERY - 1) * TRIAL_LOOK);
}

/* Once a glance has found that. */
static void none_waits_for_what_is_not_drawn_with(void **state)
{
    (void)state;
    try_another(1e-9);
    assert_in_range(run_shared_frames(SHARED, false), SHARED - TURN, SHARED - TRIAL_LOOK);
}

/* Somebody else has the budget whenever a look comes, and it is not used up. */
static void none_waits_where_the_budget_is_not_used_up(void **state)
{
    (void)state;
    try_another(1);
    game.drawn = false;
    for (uint32_t frame = 0; frame < SHARED; frame++) {
        struct pm_timed timed;
        pthread_mutex_lock(&trials->budget.lock);
        run_frames(1);
        pthread_mutex_unlock(&trials->budget.lock);
        assert_true(pm_trial_next_call(&other, 1, &timed));
    }
    assert_false(pm_glance_is_on(&candidate.trial->glance));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slower_is_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_call_of_a_frame_is_glanced_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_call_of_four_raises_no_alarm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_lost_costs_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(half_a_pair_is_not_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(noise_is_no_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(somewhat_slower_is_noticed_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_in_vain_make_glances_rare, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_drawn_with_costs_little, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_budget_there_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_while_it_is_compared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_shares_a_pass_takes_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_that_are_not_drawn_with_cost_little, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(other_pairs_wait_for_glances, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_waits_for_what_is_not_drawn_with, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_waits_where_the_budget_is_not_used_up, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
