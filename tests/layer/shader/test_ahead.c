/* Recordings that are made once and kept: a pipeline has a variant by the time it is recorded
 * (HAZARDS 12). */
#include "base/clock.h"
#include "tests/layer/levels.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUBMISSIONS = 50 };

static struct pm_harness h;

static const char *window = "1"; /* sampler.window_probability */

static void open_with_seed(const char *probability, const char *creation_ms, const char *seed)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", window, 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "16", 1);
    setenv("PIECEMEAL_SAMPLER_SEED", seed, 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", creation_ms, 1);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
}

static void open_with(const char *probability, const char *creation_ms)
{
    open_with_seed(probability, creation_ms, "1");
}

static void submit(VkCommandBuffer buffer, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
}

/* A session of three pipelines that are recorded at once, and never again. */
static void play_kept(void)
{
    struct level level;
    level_make(&level, &h, 0, 3, 1);
    submit(level_keep(&level, &h), SUBMISSIONS);
    level_destroy(&level, &h);
    pm_harness_close(&h);
}

/* A program like vkcube: it makes its pipelines, records them at once and never again. */
static void a_recording_that_is_kept_is_sampled(void **state)
{
    (void)state;
    open_with("1", "1000");
    play_kept();
    /* Every submission counts. */
    assert_int_equal(spooled_shaders(), 3);
    assert_int_equal(all_calls(), 3 * SUBMISSIONS);
}

/* How many shaders of three are sampled that are recorded at once, by a driver that takes longer
 * for a pipeline than limits.creation_ms. */
static size_t slow_ones_sampled(const char *loading_ms)
{
    setenv("PIECEMEAL_LIMITS_LOADING_MS", loading_ms, 1);
    setenv("PM_NULL_COMPILE_US", "30000", 1);
    open_with("1", "1");
    play_kept();
    unsetenv("PM_NULL_COMPILE_US");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
    return spooled_shaders();
}

static void loading_waits_for_what_takes_longer(void **state)
{
    (void)state;
    assert_int_equal(slow_ones_sampled("10000"), 3);
}

/* No longer than it may: after this much the others are not waited for. */
static void nor_longer_than_it_may(void **state)
{
    (void)state;
    assert_in_range(slow_ones_sampled("0"), 0, 1);
}

/* Nor for what may not begin, since background threads have used more than they may: the first
 * compiles take a hundred times of it. */
static void nor_for_what_may_not_begin(void **state)
{
    (void)state;
    enum { LEVELS = 8 };
    struct level levels[LEVELS];
    setenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE", "0.001", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "10000", 1);
    open_with("1", "1000");
    const int64_t start = pm_now();
    for (uint32_t i = 0; i < LEVELS; i++)
        level_make(&levels[i], &h, 8 * i, 8, 1);
    const int64_t took = pm_now() - start;
    print_message("%u variants in %.3f s\n", watch_counts().variants, (double)took * 1e-9);
    assert_true(took < 4 * PM_SECOND);
    for (uint32_t i = 0; i < LEVELS; i++)
        level_destroy(&levels[i], &h);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
}

/* Where a level is recorded before all is made that won: each shader has one before any has two. */
static void first_one_of_each_shader(void **state)
{
    (void)state;
    enum { SHADERS = 40, STATES = 5 };
    struct level level;
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "0", 1);
    setenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE", "1", 1);
    open_with("1", "1");
    level_make(&level, &h, 0, SHADERS, STATES);
    while (watch_counts().variants < SHADERS)
        nanosleep(&(struct timespec){.tv_nsec = PM_MILLISECOND / 10}, NULL);
    VkCommandBuffer buffer = level_keep(&level, &h);
    submit(buffer, SUBMISSIONS);
    level_destroy(&level, &h);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
    print_message("%zu of %u shaders were sampled\n", spooled_shaders(), (unsigned)SHADERS);
    /* At first the thread has nothing else to make, and the last is counted before it is bound. */
    assert_in_range(spooled_shaders(), SHADERS - 4, SHADERS);
}

/* Shaders `first` … of a level of five pipelines each, that are made before any frame and waited
 * for, as long as background threads may use this share of a core; recorded, they are drawn. How
 * much processor time making them took, in nanoseconds. */
static int64_t play_loaded(uint32_t first, uint32_t shaders, double share)
{
    struct level level;
    struct timespec before, after;
    char text[32];
    snprintf(text, sizeof text, "%.6f", share);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "10000", 1);
    setenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE", text, 1);
    open_with("1", "1");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    level_make(&level, &h, first, shaders, 5);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    submit(level_keep(&level, &h), SUBMISSIONS);
    level_destroy(&level, &h);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
    return (after.tv_sec - before.tv_sec) * PM_SECOND + after.tv_nsec - before.tv_nsec;
}

/* A level is recorded when it is loaded: what it needs is made by then, though that takes more than
 * background threads may use in ten seconds. */
static void a_level_has_time_in_advance(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    enum { SHADERS = 8 }; /* ten seconds make no more with it */
#else
    enum { SHADERS = 40 };
#endif
    const double all = (double)play_loaded(SHADERS, SHADERS, 1);
    assert_int_equal(spooled_shaders(), SHADERS);
    /* Half as much again as there is at once. */
    const double share = all / 1.5 / (10.0 * PM_SECOND);
    play_loaded(0, SHADERS, share);
    print_message("%zu of %d shaders were sampled, at a share of %.4f\n",
                  spooled_shaders() - SHADERS, SHADERS, share);
    assert_int_equal(spooled_shaders(), 2 * SHADERS);
}

static void nothing_is_made_ahead_without_time_for_it(void **state)
{
    (void)state;
    struct level level;
    open_with("1", "0");
    level_make(&level, &h, 0, 3, 1);
    assert_int_equal(watch_counts().variants, 0);
    level_destroy(&level, &h);
    pm_harness_close(&h);
}

/* A game that records everything anew needs none ahead: a sampled call asks for what it needs. */
static void nor_for_a_game_that_keeps_nothing(void **state)
{
    (void)state;
    struct level first, second;
    open_with("0.000001", "1000");
    level_make(&first, &h, 0, 1, 1);
    const uint32_t before = watch_counts().variants;
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 100; i++)
        level_frame(&first, &h, buffer);
    level_make(&second, &h, 1, 3, 1);
    assert_true(before > 0);
    assert_int_equal(watch_counts().variants, before);
    level_destroy(&first, &h);
    level_destroy(&second, &h);
    pm_harness_close(&h);
}

enum { BUFFERS = 40, ROUNDS = 10, DRAWS = 1000 };

static VkCommandBuffer buffers[BUFFERS];

static void record(const struct level *level, VkCommandBuffer buffer, VkFlags flags)
{
    pm_harness_begin(&h, buffer, flags);
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, level->pipelines[0]);
    for (int i = 0; i < DRAWS; i++)
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

/* A session of BUFFERS * ROUNDS submissions; how many calls were sampled. */
static uint64_t calls_when(bool kept)
{
    struct level level;
    const uint64_t before = all_calls();
    setenv("PM_NULL_RECORD", "0", 1);
    open_with("0.1", "1000");
    level_make(&level, &h, 0, 1, 1);
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BUFFERS; i++) {
            if (round == 0 || !kept)
                record(&level, buffers[i], kept ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
            submit(buffers[i], 1);
        }
    }
    level_destroy(&level, &h);
    pm_harness_close(&h);
    return all_calls() - before;
}

/* HAZARDS 12: the same overall rate. */
static void what_is_kept_is_sampled_as_often(void **state)
{
    (void)state;
    const double kept = (double)calls_when(true), anew = (double)calls_when(false);
    const double expected = 0.1 * BUFFERS * ROUNDS * DRAWS;
    print_message("sampled calls: %.0f kept, %.0f anew, %.0f expected\n", kept, anew, expected);
    assert_true(kept > 0.95 * anew && kept < 1.05 * anew);
    assert_true(anew > 0.95 * expected && anew < 1.05 * expected);
}

/* One shader after the other has its pipeline made, and what is late is recorded once. */
static uint64_t calls_of_what_is_late(uint32_t early, uint32_t late, int session, uint32_t *made)
{
    struct level first, second;
    const uint64_t before = all_calls();
    char seed[16];
    snprintf(seed, sizeof seed, "%d", session + 1);
    open_with_seed("0.05", "1000", seed);
    level_make(&first, &h, 0, early, 1);
    level_make(&second, &h, early, late, 1);
    VkCommandBuffer buffer = level_keep(&second, &h);
    *made += watch_counts().variants - early;
    submit(buffer, 10 * SUBMISSIONS);
    level_destroy(&first, &h);
    level_destroy(&second, &h);
    pm_harness_close(&h);
    return all_calls() - before;
}

/* Where there is not room for all, some are made by lot, and stand for the others: a pipeline that
 * had little chance is sampled as often over sessions as one that is made for sure. */
static void whoever_has_less_chance_counts_for_more(void **state)
{
    (void)state;
    enum { SESSIONS = 20, EARLY = 22, LATE = 16 };
    uint64_t calls = 0;
    uint32_t made = 0;
    setenv("PIECEMEAL_LIMITS_VARIANTS", "32", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS_PER_MINUTE", "1", 1);
    for (int i = 0; i < SESSIONS; i++)
        calls += calls_of_what_is_late(EARLY, LATE, i, &made);
    unsetenv("PIECEMEAL_LIMITS_VARIANTS_PER_MINUTE");
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
    const double expected = 0.05 * SESSIONS * LATE * 10 * SUBMISSIONS;
    print_message("sampled calls: %lu, %.0f expected; of %d pipelines %u had a variant\n",
                  (unsigned long)calls, expected, SESSIONS * LATE, made);
    assert_in_range(made, SESSIONS, SESSIONS * LATE * 3 / 4);
    assert_true((double)calls > 0.75 * expected && (double)calls < 1.25 * expected);
}

/* What the driver executed of a level's draws. */
static struct executed {
    const struct level *level;
    uint64_t draws, sampled;
} executed;

static uint64_t count_executed(void *user, VkPipeline pipeline)
{
    bool own = true;
    (void)user;
    for (uint32_t i = 0; i < executed.level->count; i++)
        own &= executed.level->pipelines[i] != pipeline;
    executed.draws++;
    executed.sampled += own;
    return 0;
}

/* The share of draws that is sampled of a level that was just recorded. */
static double share_of(const struct level *level)
{
    executed = (struct executed){.level = level};
    h.driver->set_cost(count_executed, NULL); /* of what is recorded from now on */
    VkCommandBuffer buffer = level_keep(level, &h);
    submit(buffer, 10 * SUBMISSIONS);
    h.driver->set_cost(NULL, NULL);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return (double)executed.sampled / (double)executed.draws;
}

/* What won stands for what lost as long as both live, also where the game draws them in what it
 * records anew, which gives others variants, and then records again what it keeps. */
static void what_is_recorded_again_is_sampled_as_often(void **state)
{
    (void)state;
    enum { SESSIONS = 20, EARLY = 22, LATE = 16, FRAMES = 60, PAUSE = 2000000 /* nanoseconds */ };
    double shares[3] = {0};
    setenv("PIECEMEAL_LIMITS_VARIANTS", "32", 1);
    for (int i = 0; i < SESSIONS; i++) {
        struct level first, second;
        char seed[16];
        snprintf(seed, sizeof seed, "%d", i + 1);
        open_with_seed("0.05", "1000", seed);
        level_make(&first, &h, 0, EARLY, 1);
        level_make(&second, &h, EARLY, LATE, 1);
        shares[0] += share_of(&second) / SESSIONS;
        shares[1] += share_of(&second) / SESSIONS;
        VkCommandBuffer anew = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        for (int frame = 0; frame < FRAMES; frame++) {
            level_frame(&second, &h, anew);
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
        }
        shares[2] += share_of(&second) / SESSIONS;
        level_destroy(&first, &h);
        level_destroy(&second, &h);
        pm_harness_close(&h);
    }
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
    print_message("sampled: %.4f; recorded again %.4f; and behind frames anew %.4f\n", shares[0],
                  shares[1], shares[2]);
    for (int i = 0; i < 3; i++)
        assert_true(shares[i] > 0.7 * 0.05 && shares[i] < 1.3 * 0.05);
}

static _Atomic uint32_t twice; /* calls that were recorded twice, times two */

static void count_twice(void *user, const struct pm_null_call *call)
{
    (void)user;
    twice += strcmp(call->command, "vkCmdBeginConditionalRenderingEXT") == 0;
}

/* The most calls of a pipeline that one recording holds twice. */
static uint32_t most_twice(const struct level *level, uint32_t draws)
{
    uint32_t most = 0;
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    h.driver->set_callback(count_twice, NULL);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_bind_set(&h, buffer);
    pm_harness_begin_pass(&h, buffer);
    for (uint32_t i = 0; i < level->count; i++) {
        twice = 0;
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, level->pipelines[i]);
        for (uint32_t j = 0; j < draws; j++)
            h.vk.CmdDraw(buffer, 3, 1, 0, 0);
        most = twice / 2 > most ? twice / 2 : most;
    }
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.driver->set_callback(NULL, NULL);
    return most;
}

/* Dozens of pipelines of a shader, outside windows: as many have a variant as can stand for all of
 * them, and none pays for the others with half of its calls and more. */
static void further_pipelines_stand_for_all(void **state)
{
    (void)state;
    enum { SESSIONS = 4, FEW = 16, STATES = FEW + 200, DRAWS_EACH = 400 };
    for (int i = 0; i < SESSIONS; i++) {
        struct level level;
        char seed[16];
        snprintf(seed, sizeof seed, "%d", i + 1);
        window = "0.0064";
        open_with_seed("0.01", "1000", seed);
        window = "1";
        level_make(&level, &h, 0, 1, STATES);
        const uint32_t made = watch_counts().variants, most = most_twice(&level, DRAWS_EACH);
        print_message("%u variants; %u of %d calls recorded twice at most\n", made, most,
                      DRAWS_EACH);
        /* The harness's two; 1, a sixteenth of 15, and 4 % of 200. */
        assert_in_range(made, 2 + 9, 2 + 11);
        assert_in_range(most, 1, DRAWS_EACH * 2 / 5);
        level_destroy(&level, &h);
        pm_harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_recording_that_is_kept_is_sampled),
        PM_LAYERED_TEST(what_is_kept_is_sampled_as_often),
        PM_LAYERED_TEST(loading_waits_for_what_takes_longer),
        PM_LAYERED_TEST(nor_longer_than_it_may),
        PM_LAYERED_TEST(nor_for_what_may_not_begin),
        PM_LAYERED_TEST(first_one_of_each_shader),
        PM_LAYERED_TEST(a_level_has_time_in_advance),
        PM_LAYERED_TEST(nothing_is_made_ahead_without_time_for_it),
        PM_LAYERED_TEST(nor_for_a_game_that_keeps_nothing),
        PM_LAYERED_TEST(whoever_has_less_chance_counts_for_more),
        PM_LAYERED_TEST(what_is_recorded_again_is_sampled_as_often),
        PM_LAYERED_TEST(further_pipelines_stand_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
