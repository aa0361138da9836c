/* Recordings that name variants (HAZARDS 12): recorded once and submitted often, reset in every
 * way, executed inside others, made by many threads. */
#include "tests/layer/layered.h"
#include "tests/patience.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct pm_harness h;

static void open_sampling(const char *probability, const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    pm_harness_open(&h, options);
}

static void record(VkCommandBuffer buffer, VkPipeline pipeline, VkCommandBufferUsageFlags flags)
{
    pm_harness_begin(&h, buffer, flags);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

/* Whether the driver was given a variant for what was recorded since. */
static bool was_sampled(uint64_t since)
{
    return pm_calls_of(h.driver, since, "vkCmdBindPipeline") == 3;
}

static void recorded_once_submitted_often(void **state)
{
    (void)state;
    open_sampling("1", NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = h.driver->position(), draws = h.driver->executed_draws();
    record(buffer, h.dispatch, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    assert_true(was_sampled(position));
    position = h.driver->position();
    for (int i = 0; i < 100; i++)
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_int_equal(h.driver->executed_draws(), draws + 100);
    /* Submitting records nothing into it again. */
    char *calls = pm_calls_on(h.driver, position, buffer);
    assert_string_equal(calls, "");
    free(calls);
    pm_harness_close(&h);
}

/* Opens by heartbeats: submissions here, since nothing is presented. */
static void pass_heartbeats(int count)
{
    for (int i = 0; i < count; i++)
        PM_CHECK(h.vk.QueueSubmit(h.queue, 0, NULL, VK_NULL_HANDLE));
}

/* Waits until there are `expected` pipelines: what was counted is copied out first, at a
 * checkpoint. */
static void wait_for_pipelines(uint64_t expected, int way)
{
    uint64_t until = 0;
    while (h.driver->live(VK_OBJECT_TYPE_PIPELINE) != expected && patience(&until))
        pass_heartbeats(1);
    if (h.driver->live(VK_OBJECT_TYPE_PIPELINE) != expected)
        fail_msg("way %d: %lu pipelines, not %lu", way,
                 (unsigned long)h.driver->live(VK_OBJECT_TYPE_PIPELINE), (unsigned long)expected);
}

/* The game destroys its pipeline while recordings that name its variant exist; a variant is
 * destroyed when the last of them is gone, in every way that a recording can go. */
static void variants_live_as_long_as_their_recordings(void **state)
{
    (void)state;
    enum way { BEGIN, RESET, RESET_POOL, FREE, DESTROY_POOL, WAYS };
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    open_sampling("1", NULL);
    VkCommandPool keep = h.pool;
    for (int way = 0; way < WAYS; way++) {
        uint64_t before = h.driver->live(VK_OBJECT_TYPE_PIPELINE);
        const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .flags =
                                                  VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
        PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &h.pool));
        VkPipeline doomed = pm_harness_make_compute(&h);
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        uint64_t position = h.driver->position();
        record(buffer, doomed, 0);
        assert_true(was_sampled(position));
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
        h.vk.DestroyPipeline(h.device, doomed, NULL);
        assert_true(h.driver->live(VK_OBJECT_TYPE_PIPELINE) > before);
        if (way == BEGIN)
            record(buffer, h.dispatch, 0);
        else if (way == RESET)
            PM_CHECK(h.vk.ResetCommandBuffer(buffer, 0));
        else if (way == RESET_POOL)
            PM_CHECK(h.vk.ResetCommandPool(h.device, h.pool, 0));
        else if (way == FREE)
            h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
        if (way != DESTROY_POOL)
            wait_for_pipelines(before, way);
        h.vk.DestroyCommandPool(h.device, h.pool, NULL);
        wait_for_pipelines(before, way);
    }
    h.pool = keep;
    pm_harness_close(&h);
}

/* A secondary that is reset takes nothing from the primary that ran it and is submitted again; the
 * driver would notice a destroyed pipeline. */
static void secondaries(void **state)
{
    (void)state;
    open_sampling("1", NULL);
    VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer secondaries[2];
    uint64_t draws = h.driver->executed_draws(), position = h.driver->position();
    for (int i = 0; i < 2; i++) {
        secondaries[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        record(secondaries[i], h.dispatch, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    }
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 6);
    pm_harness_begin(&h, primary, 0);
    h.vk.CmdExecuteCommands(primary, 2, secondaries);
    h.vk.CmdExecuteCommands(primary, 1, secondaries);
    PM_CHECK(h.vk.EndCommandBuffer(primary));
    for (int i = 0; i < 3; i++) {
        pm_harness_submit(&h, h.queue, primary, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    assert_int_equal(h.driver->executed_draws(), draws + 9);
    h.vk.FreeCommandBuffers(h.device, h.pool, 2, secondaries);
    PM_CHECK(h.vk.ResetCommandBuffer(primary, 0));
    pm_harness_close(&h);
}

static bool window_is_open(VkCommandBuffer probe)
{
    uint64_t position = h.driver->position();
    record(probe, h.dispatch, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    return was_sampled(position);
}

/* Recordings enough that nothing more is learned of how the game records: from then on a begin
 * takes the short way. */
static void record_many(VkCommandBuffer buffer)
{
    for (int i = 0; i < 1100; i++)
        record(buffer, h.dispatch, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
}

/* A buffer that began before the window is left alone to its end, one that began inside is sampled
 * to its end. */
static void windows_do_not_cut_recordings(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "4", 1);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.2", 1);
    pm_harness_open(&h, NULL);
    VkCommandBuffer probe = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int cycle = 0; cycle < 20; cycle++) {
        if (cycle == 10)
            record_many(probe);
        assert_false(window_is_open(probe));
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        int beats = 0;
        while (!window_is_open(probe)) {
            pass_heartbeats(1);
            assert_true(++beats < 1000);
        }
        uint64_t position = h.driver->position();
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        assert_int_equal(h.driver->position(), position + 1);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));

        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        pass_heartbeats(4);
        assert_false(window_is_open(probe));
        position = h.driver->position();
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        assert_int_equal(h.driver->position(), position + 3);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
    }
    pm_harness_close(&h);
}

/* Buffers that may be submitted often are chosen outside windows too, at the rate of windows; those
 * that are submitted once are not. */
static void reusable_buffers_are_chosen_outside_windows(void **state)
{
    (void)state;
    enum { BUFFERS = 2000 };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.000976", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "1024", 1);
    pm_harness_open(&h, NULL);
    int chosen[2] = {0, 0};
    VkCommandBuffer many = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record_many(many);
    for (int i = 0; i < BUFFERS; i++) {
        for (int once = 0; once < 2; once++) {
            VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
            uint64_t position = h.driver->position();
            record(buffer, h.dispatch, once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0);
            chosen[once] += was_sampled(position);
            h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
        }
    }
    /* A half, five standard deviations. */
    assert_in_range(chosen[0], BUFFERS / 2 - 112, BUFFERS / 2 + 112);
    assert_int_equal(chosen[1], 0);
    pm_harness_close(&h);
}

/* The same of one buffer that is begun again and again: once it was seen to be submitted more than
 * once from one recording. */
static void kept_buffers_are_chosen_outside_windows(void **state)
{
    (void)state;
    enum { RECORDINGS = 2000 };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.000000976", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "1024000", 1);
    /* With it they all are, and each submission chooses (test_predicated). */
    setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_conditional_rendering", 1);
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record_many(buffer);
    for (int times = 1; times < 3; times++) {
        int chosen = 0;
        for (int i = 0; i < RECORDINGS; i++) {
            uint64_t position = h.driver->position();
            record(buffer, h.dispatch, 0);
            chosen += was_sampled(position);
            for (int j = 0; j < times; j++)
                pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
        }
        if (times == 1)
            assert_in_range(chosen, 0, 1); /* the first, of which nothing was known */
        else
            assert_in_range(chosen, RECORDINGS / 2 - 112, RECORDINGS / 2 + 112);
    }
    pm_harness_close(&h);
    unsetenv("PM_NULL_WITHOUT_EXTENSIONS");
}

enum run { ONE, EXECUTED_TWICE, SUBMITTED_AGAIN, EXECUTED_AGAIN, NESTED };

static void execute(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags,
                    VkCommandBuffer secondary, bool twice)
{
    pm_harness_begin(&h, buffer, flags);
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    if (twice)
        h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

static void run_secondary(VkCommandBuffer primary, VkCommandBuffer between,
                          VkCommandBuffer secondary, enum run run)
{
    const VkCommandBufferUsageFlags once = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    const bool one = run == ONE || run == EXECUTED_TWICE;
    if (run == NESTED)
        execute(between, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, secondary, false);
    for (int i = 0; i < 2; i++) {
        if (i == 0 || run == EXECUTED_AGAIN)
            execute(primary, run == EXECUTED_AGAIN || one ? once : 0,
                    run == NESTED ? between : secondary, run == EXECUTED_TWICE);
        if (i == 0 || !one)
            pm_harness_submit(&h, h.queue, primary, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
}

/* So is a secondary one, whose submissions are those of what executes it. */
static void so_are_secondary_ones(void **state)
{
    (void)state;
    enum { RECORDINGS = 500 };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.000000976", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "1024000", 1);
    setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_conditional_rendering", 1);
    for (enum run run = ONE; run <= NESTED; run++) {
        pm_harness_open(&h, NULL);
        VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        VkCommandBuffer between = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        int chosen = 0;
        for (int i = 0; i < RECORDINGS; i++) {
            const uint64_t position = h.driver->position();
            record(secondary, h.dispatch, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
            chosen += was_sampled(position);
            run_secondary(primary, between, secondary, run);
        }
        /* All but the first, of which nothing was known: none, or a half, five standard deviations.
         */
        if (run == ONE || run == EXECUTED_TWICE)
            assert_in_range(chosen, 0, 1);
        else
            assert_in_range(chosen, RECORDINGS / 2 - 57, RECORDINGS / 2 + 57);
        pm_harness_close(&h);
    }
    unsetenv("PM_NULL_WITHOUT_EXTENSIONS");
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 150, DRAWS = 20 };

struct recorder {
    VkQueue queue;
    int number;
    uint64_t draws;
};

static void *record_and_submit(void *argument)
{
    struct recorder *recorder = argument;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .flags =
                                                   VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandPool pool;
    PM_CHECK(h.vk.CreateCommandPool(h.device, &pool_info, NULL, &pool));
    VkCommandBuffer buffers[2];
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 2};
    PM_CHECK(h.vk.AllocateCommandBuffers(h.device, &allocate, buffers));
    for (int round = 0; round < ROUNDS; round++) {
        VkCommandBuffer buffer = buffers[round % 2];
        VkPipeline own = round % 10 == 0 ? pm_harness_make_compute(&h) : VK_NULL_HANDLE;
        pm_harness_begin(&h, buffer, round % 3 ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, own ? own : h.dispatch);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
        for (int draw = 0; draw < DRAWS; draw++) {
            h.vk.CmdDispatch(buffer, 1, 1, 1);
            h.vk.CmdDraw(buffer, 3, 1, 0, 0);
        }
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        pm_harness_submit(&h, recorder->queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(recorder->queue));
        recorder->draws += 2 * DRAWS;
        if (own) {
            PM_CHECK(h.vk.ResetCommandBuffer(buffer, 0));
            h.vk.DestroyPipeline(h.device, own, NULL);
        }
        if (round % 25 == 24)
            PM_CHECK(h.vk.ResetCommandPool(h.device, pool, 0));
    }
    h.vk.DestroyCommandPool(h.device, pool, NULL);
    return NULL;
}

/* Windows open and close by the threads' submissions, while all of them record. */
static void many_threads(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.1", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "8", 1);
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "0.2", 1);
    const struct pm_harness_options options = {.queues = THREADS};
    pm_harness_open(&h, &options);
    struct recorder recorders[THREADS];
    pthread_t threads[THREADS];
    uint64_t before = h.driver->executed_draws(), expected = 0;
    for (int i = 0; i < THREADS; i++) {
        recorders[i] = (struct recorder){.queue = h.queues[i], .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, record_and_submit, &recorders[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        expected += recorders[i].draws;
    }
    assert_int_equal(expected, THREADS * ROUNDS * 2 * DRAWS);
    assert_int_equal(h.driver->executed_draws(), before + expected);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(recorded_once_submitted_often),
        PM_LAYERED_TEST(variants_live_as_long_as_their_recordings),
        PM_LAYERED_TEST(secondaries),
        PM_LAYERED_TEST(windows_do_not_cut_recordings),
        PM_LAYERED_TEST(reusable_buffers_are_chosen_outside_windows),
        PM_LAYERED_TEST(kept_buffers_are_chosen_outside_windows),
        PM_LAYERED_TEST(so_are_secondary_ones),
        PM_LAYERED_TEST(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
