/* Trials over sessions (layer/trial/sessions.h), of programs that record once: nothing can
 * alternate within a session, so sessions have the one side or the other. */
#include "tests/layer/trial/steady_sessions.h"

#include "base/file.h"
#include "profile/pairs_store.h"
#include "profile/session_status.h"
#include "profile/values_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void try_over_sessions(bool draws, uint64_t variant_cost, const char *outcome)
{
    int sides[2] = {0, 0};
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    /* The first session finds out that nothing can alternate. */
    assert_int_equal(steady_session(variant_cost, draws, "timed in turn: sessions are"), 0);
    for (int i = 0; optimized_logged(outcome) == 0; i++) {
        assert_true(i < 40);
        steady_set_seed(i);
        sides[steady_session(variant_cost, draws, SESSION_TIMED)]++;
    }
    /* Either side as often: 8 pairs. Where the variant came first the original was timed before. */
    assert_in_range(optimized_logged(OF_NO_PAIR), 0, 1);
    assert_int_equal(sides[0], 8 + optimized_logged(OF_NO_PAIR));
    assert_int_equal(sides[1], 8);
}

/* Sessions that sample what the program keeps, by their lots: nothing is timed in them. How many
 * draw with the variant. */
static int sampling_sessions(uint64_t variant_cost)
{
    enum { SEEDS = 3 };
    static const char used[] = "is used in this session, to be timed";
    const uint32_t timed = optimized_logged(SESSION_TIMED), before = optimized_logged(used);
    unsetenv("PIECEMEAL_SAMPLER_KINDS");
    pm_layered_sample_all("0.01");
    for (int i = 1; i <= SEEDS; i++) {
        steady_set_seed(i);
        (void)steady_session(variant_cost, false, "");
    }
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "1", 1);
    (void)steady_session(variant_cost, false, "");
    optimized_assert_logged(SESSION_TIMED, timed);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    unsetenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY");
    unsetenv("PIECEMEAL_SAMPLER_API_PROBABILITY");
    return (int)(optimized_logged(used) - before);
}

/* Some shader's, so that there may be something to make in the background of any. */
static void know_values(void)
{
    static const struct pm_shader_key key = {{1}};
    struct pm_values_store *values = pm_values_store_open(NULL, "game", pm_canonicalize_recipe());
    struct pm_word_values word = {0};
    struct pm_error error = {0};
    pm_word_values_add(&word, 7, 100000);
    assert_true(pm_values_store_put(values, &key, 1, &word) &&
                pm_values_store_save(values, &error));
    pm_values_store_close(values);
}

static void sessions_alternate(void **state)
{
    (void)state;
    know_values();
    try_over_sessions(false, 80000, "8 pairs of sessions: faster");
    /* From now on it is used, and nothing is timed. */
    const uint64_t position = pm_harness_driver()->position();
    assert_int_equal(steady_session(80000, false, ""), 1);
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkCmdWriteTimestamp"), 0);
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "1", 1);
    assert_int_equal(sampling_sessions(80000), 4);
    /* But for a share of the sessions, of which each has a partner with the other side: what has
     * become slower since goes. */
    for (int i = 0; i < 2; i++) {
        setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "1", 1);
        const int first = steady_session(130000, false, SESSION_TIMED);
        setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
        assert_int_equal(steady_session(130000, false, SESSION_TIMED), !first);
    }
    optimized_assert_logged("2 pairs of sessions: dropped", 1);
    assert_int_equal(steady_session(130000, false, ""), 0);
}

/* A session that times nothing of it would not know how much slower it is. */
static void no_untried_one_where_nothing_is_timed(void **state)
{
    (void)state;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "0.005", 1);
    assert_int_equal(steady_session(120000, false, "timed in turn: sessions are"), 0);
    /* So the variant is the one that is missing. */
    steady_set_seed(1);
    assert_int_equal(steady_session(120000, false, SESSION_TIMED), 0);
    assert_int_equal(sampling_sessions(120000), 0);
    assert_int_equal(steady_session(120000, false, SESSION_TIMED), 1);
}

static void render_passes_too(void **state)
{
    (void)state;
    try_over_sessions(true, 80000, "8 pairs of sessions: faster");
    assert_int_equal(steady_session(80000, true, ""), 1);
}

/* On neither side: else the game's own would be timed again and again. */
static void no_side_where_there_is_no_time_for_the_variant(void **state)
{
    (void)state;
    enum { SESSIONS = 8 };
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    steady_session(80000, false, "timed in turn: sessions are");
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "10", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "0", 1);
    const struct pm_null_api *driver = pm_harness_driver();
    for (int i = 0; i < SESSIONS; i++) {
        const uint64_t position = driver->position();
        assert_int_equal(steady_session(80000, false, ""), 0);
        assert_int_equal(pm_calls_of(driver, position, "vkCmdWriteTimestamp"), 0);
    }
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
    unsetenv("PM_NULL_COMPILE_US");
}

static void a_slower_one_is_dropped(void **state)
{
    (void)state;
    try_over_sessions(false, 110000, "8 pairs of sessions: dropped");
    assert_int_equal(steady_session(110000, false, ""), 0);
}

/* Sessions until one is dropped. How many drew with it. */
static int drop(uint64_t variant_cost, const char *dropped)
{
    int slower = 0;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(variant_cost, false, "timed in turn: sessions are"), 0);
    for (int i = 0; i < 6 && optimized_logged(dropped) == 0; i++)
        slower += steady_session(variant_cost, false, SESSION_TIMED);
    optimized_assert_logged(dropped, 1);
    assert_int_equal(steady_session(variant_cost, false, ""), 0);
    return slower;
}

/* It need not slow down eight sessions. */
static void a_slower_one_is_dropped_early(void **state)
{
    (void)state;
    assert_int_equal(drop(130000, "2 pairs of sessions: dropped"), 2);
    optimized_assert_logged(WITHDRAWN, 0);
}

/* Nor two, and not the rest of one where anything is recorded later. One pair alone does not drop
 * it. */
static void a_much_slower_one_is_left_at_once(void **state)
{
    (void)state;
    assert_int_equal(drop(200000, "1 pairs of sessions: undecided"), 1);
    optimized_assert_logged(WITHDRAWN, 1);
}

/* What the game's trials owe. */
static int64_t owed(void)
{
    struct pm_pairs_store *store = pm_pairs_store_open(NULL, "game", "any build");
    const int64_t nanoseconds = pm_pairs_store_owed(store, PM_OWED_OVER_SESSIONS, time(NULL));
    pm_pairs_store_close(store);
    return nanoseconds;
}

static void forget(void *user, const char *path)
{
    (void)user;
    unlink(path);
}

/* By its submissions alone: while there are none nothing takes longer. */
static void what_is_submitted_is_charged(void **state)
{
    (void)state;
    enum { MICROSECONDS = 500000, LONGER = 20000 };
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "0.0001", 1);
    assert_int_equal(steady_session(120000, false, "timed in turn: sessions are"), 0);
    steady_set_seed(1);
    assert_int_equal(steady_session(120000, false, SESSION_TIMED), 0);
    assert_int_equal(owed(), 0);
    trying.linger = MICROSECONDS;
    steady.until_enough = true;
    steady.submissions = 0;
    assert_int_equal(steady_session(120000, false, SESSION_TIMED), 1);
    steady.until_enough = false;
    const int64_t charged = steady.submissions * LONGER;
    assert_true(charged > 0);
    assert_in_range(owed(), charged * 9 / 10, charged * 11 / 10);
}

/* Also of what was recorded when enough was timed: what is known by then is not assumed of it. */
static void what_is_recorded_later_is_charged_as_it_is(void **state)
{
    (void)state;
    enum { MICROSECONDS = 2000, LONGER = 20000, LATER = 3000 };
    VkCommandBuffer buffers[2];
    uint64_t until = 0;
    int64_t before = 0;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "0.0001", 1);
    assert_int_equal(steady_session(120000, false, "timed in turn: sessions are"), 0);
    steady_set_seed(1);
    assert_int_equal(steady_session(120000, false, SESSION_TIMED), 0);
    steady_open(120000, false);
    assert_int_equal(steady_record(false, &buffers[0]), 1);
    for (; optimized_logged(SESSION_TIMED) < 2 && patience(&until); before++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffers[0], VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
        usleep(MICROSECONDS);
    }
    optimized_assert_logged(SESSION_TIMED, 2);
    assert_int_equal(steady_record(false, &buffers[1]), 1);
    for (int i = 0; i < LATER; i += STEADY_SUBMISSIONS)
        steady_submit(buffers[1]);
    trying_close();
    const int64_t charged = (before + LATER) * LONGER;
    assert_in_range(owed(), charged * 9 / 10, charged * 11 / 10);
}

/* While trials have not paid for it no other session draws with an untried variant. */
static void what_a_slower_session_took_is_paid(void **state)
{
    (void)state;
    enum { SESSIONS = 8, FURTHER = 3000 };
    int slower = 0, number = 0;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "0.005", 1);
    assert_int_equal(steady_session(120000, false, "timed in turn: sessions are"), 0);
    steady.further = FURTHER;
    while (slower == 0 && number < 40) {
        steady_set_seed(number++);
        slower += steady_session(120000, false, SESSION_TIMED);
    }
    steady.further = 0;
    assert_int_equal(slower, 1);
    for (int i = 0; i < SESSIONS; i++) {
        steady_set_seed(number++);
        slower += steady_session(120000, false, SESSION_TIMED);
    }
    assert_int_equal(slower, 1);
    assert_true(optimized_logged("waits: trials have taken enough") > 0);
    /* Paid, or forgotten. */
    char folder[200];
    snprintf(folder, sizeof folder, "%s/piecemeal/trials", pm_layered_home());
    pm_folder_each(folder, "", forget, NULL);
    for (int i = 0; i < SESSIONS && slower == 1; i++) {
        steady_set_seed(number++);
        slower += steady_session(120000, false, SESSION_TIMED);
    }
    assert_int_equal(slower, 2);
}

/* A-Z testing has too many variants for a session each. */
static void testing_leaves_them_alone(void **state)
{
    (void)state;
    static const char *const said = "A-Z testing leaves shaders alone";
    for (int i = 0; i < 2; i++) {
        VkCommandBuffer buffer;
        uint64_t until = 0;
        trying_open_contests(NULL);
        trying.compute = optimized_compute(&trying.h);
        const uint64_t position = trying.h.driver->position();
        assert_int_equal(steady_record(false, &buffer), 0);
        while (optimized_logged(said) == (uint32_t)i && patience(&until))
            steady_submit(buffer);
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
        trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
        trying_close_contests();
        optimized_assert_logged(said, (uint32_t)i + 1);
    }
    optimized_assert_logged("timed in turn: sessions are", 0);
    optimized_assert_logged(SESSION_TIMED, 0);
}

/* A session that is paused from the start. It records the game's own, whatever its side, and
 * submits that longer than a session is recorded for. */
static void open_paused(VkCommandBuffer *buffer)
{
    static const char said[] = "the game's own shaders are used, as was asked";
    const uint32_t before = optimized_logged(said);
    uint64_t until = 0;
    trying.dispatches = true;
    trying.background = true;
    trying.variant_cost = 80000;
    assert_true(pm_session_pause("game", true, NULL));
    pm_harness_open(&trying.h, NULL);
    while (optimized_logged(said) == before && patience(&until))
        usleep(5000);
    trying.compute = optimized_compute(&trying.h);
    trying_costs();
    assert_int_equal(steady_record(false, buffer), 0);
    for (int i = 0; i < 4200; i += STEADY_SUBMISSIONS)
        steady_submit(*buffer);
}

/* Nothing of it is timed, and no session is thought to have been in vain. */
static void paused_sessions_are_not_timed(void **state)
{
    (void)state;
    VkCommandBuffer buffers[2];
    uint64_t until = 0;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, "timed in turn: sessions are"), 0);
    open_paused(&buffers[0]);
    trying_close();
    optimized_assert_logged(SESSION_TIMED, 0);
    /* The next one goes on in the middle. */
    open_paused(&buffers[0]);
    trying_pause(false);
    const int variant = steady_record(false, &buffers[1]);
    while (optimized_logged(SESSION_TIMED) == 0 && patience(&until))
        steady_submit(buffers[1]);
    trying_close();
    optimized_assert_logged(
        variant ? SESSION_TIMED " with the specialized" : SESSION_TIMED " with the original", 1);
    assert_int_equal(steady_session(80000, false, SESSION_TIMED), !variant);
}

/* In a menu that is recorded once, until nothing can be timed in turn. */
static void stay_in_a_menu(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t until = 0;
    pm_harness_begin(&trying.h, buffer, 0);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    while (optimized_logged("timed in turn: sessions are") == 0 && patience(&until))
        steady_submit(buffer);
    optimized_assert_logged("timed in turn: sessions are", 1);
}

/* A session of a program that records each frame. */
static void open_lively(uint64_t variant_cost)
{
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    trying.dispatches = true;
    trying.background = true;
    trying_open(variant_cost, NULL);
}

static void run_until_tried(uint32_t times)
{
    uint64_t until = 0;
    while (optimized_logged("tried a specialized shader") < times && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("tried a specialized shader", times);
}

/* What was timed in turn after all is tried again in turn, until sessions agree. */
static void a_menu_makes_no_trial_over_sessions(void **state)
{
    (void)state;
    unsetenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS");
    open_lively(80000);
    stay_in_a_menu();
    run_until_tried(1);
    trying_close();
    open_lively(80000);
    run_until_tried(2);
    trying_close();
    open_lively(80000);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    trying_close();
}

/* A session that was part of such a trial and could time nothing, since the program records
 * each frame, is the last one. */
static void nor_does_one_that_was_never_left(void **state)
{
    (void)state;
    open_lively(130000);
    stay_in_a_menu();
    trying_close();
    open_lively(130000);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    optimized_assert_logged("tried a specialized shader", 0);
    trying_close();
    open_lively(130000);
    run_until_tried(1);
    assert_true(optimized_logged("is dropped") > 0);
    trying_close();
}

/* A pipeline that comes when nothing is timed any more has no side: it is as any other that nothing
 * proves. */
static void not_what_comes_late(void **state)
{
    (void)state;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, "timed in turn: sessions are"), 0);
    /* Either side, by lot. */
    for (int i = 0; i < 6; i++) {
        VkCommandBuffer buffer;
        uint64_t until = 0;
        steady_set_seed(i);
        setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
        pm_harness_open(&trying.h, NULL);
        trying_run_frames(trying_nothing, TRYING_ONCE, 4097);
        const uint64_t position = trying.h.driver->position();
        trying.compute = optimized_compute(&trying.h);
        /* The variant is made on both. */
        assert_true(trying_creations(position) > 1);
        assert_int_equal(steady_record(false, &buffer), 0);
        while (trying_creations(position) < 2 && patience(&until))
            steady_submit(buffer);
        assert_true(trying_creations(position) >= 2);
        trying_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(sessions_alternate),
        PM_LAYERED_TEST(no_untried_one_where_nothing_is_timed),
        PM_LAYERED_TEST(render_passes_too),
        PM_LAYERED_TEST(no_side_where_there_is_no_time_for_the_variant),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(a_slower_one_is_dropped_early),
        PM_LAYERED_TEST(a_much_slower_one_is_left_at_once),
        PM_LAYERED_TEST(what_is_submitted_is_charged),
        PM_LAYERED_TEST(what_is_recorded_later_is_charged_as_it_is),
        PM_LAYERED_TEST(what_a_slower_session_took_is_paid),
        PM_LAYERED_TEST(testing_leaves_them_alone),
        PM_LAYERED_TEST(paused_sessions_are_not_timed),
        PM_LAYERED_TEST(a_menu_makes_no_trial_over_sessions),
        PM_LAYERED_TEST(nor_does_one_that_was_never_left),
        PM_LAYERED_TEST(not_what_comes_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
