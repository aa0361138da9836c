#include "tests/layer/trial/trying.h"

#include "aggregator_client/disk/spool.h"
#include "base/random.h"
#include "layer/public/piecemeal.h"
#include "profile/session_status.h"
#include "tests/patience.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_A_LOOK = 4, LOOKS_A_FRAME = 16 };

struct trying trying;
static struct pm_random randoms;

/* ---- sessions ---- */

static uint64_t cost(void *user, VkPipeline pipeline)
{
    (void)user;
    double time = pipeline == trying.graphics || pipeline == trying.compute ||
                          (pipeline && (uintptr_t)pipeline == (uintptr_t)trying.object)
                      ? TRYING_ORIGINAL
                      : (double)trying.variant_cost;
    if (trying.longer > 0)
        time *= trying.longer;
    time *= 1 + trying.noise * (2 * pm_random_unit(&randoms) - 1);
    /* Now and then something else ran on the device. */
    if (trying.noise > 0 && pm_random_below(&randoms, 20) == 0)
        time += 20 * TRYING_ORIGINAL;
    return (uint64_t)time;
}

void trying_costs(void)
{
    trying.h.driver->set_cost(cost, NULL);
}

/* A database that says of all variants how fast they are, whatever is true. */
static void publish(double low, double high)
{
    struct pm_shader_key keys[8];
    optimized_enable(true);
    pm_harness_open(&trying.h, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, optimized_compute(&trying.h), NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, optimized_graphics(&trying.h), NULL);
    pm_harness_close(&trying.h);
    const size_t count = optimized_journal(keys, 8);
    assert_true(count >= 2);
    for (size_t i = 0; i < count; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again = again || pm_shader_key_equal(&keys[i], &keys[j]);
        if (!again)
            optimized_add_timing(&keys[i], low, high);
    }
    /* This session used them without a trial. */
    char log[200];
    snprintf(log, sizeof log, "%s/log", pm_layered_home());
    unlink(log);
}

void trying_open_early(uint64_t variant_cost, const struct pm_harness_options *options)
{
    trying.variant_cost = variant_cost;
    pm_random_init(&randoms, 3);
    optimized_learn();
    if (trying.provisional != PM_PROVISIONAL_UNKNOWN)
        optimized_make_provisional(trying.provisional);
    if (trying.published[0] > 0)
        publish(trying.published[0], trying.published[1]);
    if (trying.signed_verdict != 0)
        optimized_sign(trying.signed_verdict > 0, !trying.has_no_key);
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", trying.kinds ? trying.kinds : "timing", 1);
    if (trying.sampled)
        pm_layered_sample_all(trying.sampled);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", trying.background ? "false" : "true", 1);
    /* A frame of the null driver takes less than what timing a pair is said to cost. */
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", trying.share ? trying.share : "1", 1);
    pm_harness_open(&trying.h, options);
    trying.h.driver->set_binned(!trying.additive);
    trying.compute = optimized_compute(&trying.h);
    trying.h.driver->inject(trying.faults ? trying.faults : "");
    trying.graphics = trying.dispatches ? VK_NULL_HANDLE : optimized_graphics(&trying.h);
    trying.h.driver->inject("");
    trying_costs();
    if (!trying.background)
        return;
    /* What is never bound is never made. */
    (void)optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE);
    if (!trying.dispatches)
        (void)optimized_effective(&trying.h, trying.graphics, VK_PIPELINE_BIND_POINT_GRAPHICS);
}

void trying_open(uint64_t variant_cost, const struct pm_harness_options *options)
{
    trying_open_early(variant_cost, options);
    if (!trying.kinds && !trying.dispatches && optimized_logged("cannot be tried") == 0)
        assert_true(trying_wait_for("timestamps around single draws"));
}

void trying_close(void)
{
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.driver->set_binned(false);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.graphics, NULL);
    pm_harness_close(&trying.h);
    trying = (struct trying){0};
}

void trying_open_contests(const struct pm_harness_options *options)
{
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_OPTIMIZE_ZERO", trying.known ? "true" : "false", 1);
    setenv("PIECEMEAL_OPTIMIZE_VARIANTS", "true", 1);
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    pm_harness_open(&trying.h, options);
}

void trying_close_contests(void)
{
    pm_harness_close(&trying.h);
    unsetenv("PIECEMEAL_OPTIMIZE_VARIANTS");
    unsetenv("PIECEMEAL_OPTIMIZE_ZERO");
    trying = (struct trying){0};
}

void trying_learn_blocks_of(const uint32_t *words, size_t size)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    pm_harness_open(&trying.h, NULL);
    const VkPipeline pipeline = pm_harness_compute_of(&trying.h, words, size, trying.h.layout);
    trying.h.vk.DestroyPipeline(trying.h.device, pipeline, NULL);
    pm_harness_close(&trying.h);
    optimized_learn_blocks_of(words, size);
}

void trying_nothing(VkCommandBuffer buffer)
{
    (void)buffer;
}

void trying_set_scene(const char *name)
{
    PFN_vkSetScenePIECEMEAL set =
        (PFN_vkSetScenePIECEMEAL)vkGetDeviceProcAddr(trying.h.device, PIECEMEAL_SET_SCENE_NAME);
    assert_non_null(set);
    set(trying.h.device, name);
}

bool trying_wait_for(const char *text)
{
    /* A frame is a heartbeat, and trials that nobody uses fall asleep after 512. */
    uint64_t until = 0;
    for (int i = 0; optimized_logged(text) == 0 && patience(&until); i++) {
        if (i % LOOKS_A_FRAME == 0)
            trying_run_frames(trying_nothing, TRYING_ONCE, 1);
    }
    return optimized_logged(text) > 0;
}

void trying_pause(bool paused)
{
    const char *said = paused ? "the game's own shaders are used, as was asked"
                              : "specialized shaders are used again";
    const uint32_t before = optimized_logged(said);
    uint64_t until = 0;
    assert_true(pm_session_pause("game", paused, NULL));
    while (optimized_logged(said) == before && patience(&until))
        usleep(5000);
    optimized_assert_logged(said, before + 1);
}

/* ---- frames ---- */

void trying_dispatch(VkCommandBuffer buffer)
{
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, trying.compute);
    trying.h.vk.CmdDispatch(buffer, trying.groups > 0 ? trying.groups : 1, 1, 1);
}

void trying_draw(VkCommandBuffer buffer)
{
    pm_harness_begin_pass(&trying.h, buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRenderPass(buffer);
}

void trying_frame(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags, trying_recorder record)
{
    pm_harness_begin(&trying.h, buffer, flags);
    record(buffer);
    pm_harness_run(&trying.h, buffer);
}

void trying_run_frames(trying_recorder record, VkCommandBufferUsageFlags flags, int count)
{
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < count; i++)
        trying_frame(buffer, flags, record);
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
}

bool trying_run_until(trying_recorder record, VkCommandBufferUsageFlags flags, const char *text)
{
    VkCommandBuffer buffers[2];
    for (int i = 0; i < 2; i++)
        buffers[i] = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    /* Few frames between two looks: a poller that is starved must find most of their results. */
    uint64_t until = 0;
    do {
        for (int i = 0; i < FRAMES_A_LOOK; i++)
            trying_frame(buffers[i % 2], flags, record);
    } while (optimized_logged(text) == 0 && patience(&until));
    return optimized_logged(text) > 0;
}

uint64_t trying_third_frame(trying_recorder record, VkCommandBufferUsageFlags flags)
{
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = 0;
    for (int i = 0; i < 3; i++) {
        position = trying.h.driver->position();
        trying_frame(buffer, flags, record);
    }
    return position;
}

/* ---- what reached the driver ---- */

uint32_t trying_creations(uint64_t since)
{
    return pm_calls_of(pm_harness_driver(), since, "vkCreateComputePipelines");
}

uint32_t trying_foreign_binds(uint64_t since)
{
    uint32_t count = 0;
    struct pm_null_call call;
    for (uint64_t at = since; trying.h.driver->read(at, &call); at++)
        count += strcmp(call.command, "vkCmdBindPipeline") == 0 &&
                 call.arguments[2] != PM_NULL_NUMBER(trying.graphics) &&
                 call.arguments[2] != PM_NULL_NUMBER(trying.compute);
    return count;
}

bool trying_between(uint64_t from, uint64_t to, const char *command)
{
    struct pm_null_call call;
    for (uint64_t at = from; at < to && trying.h.driver->read(at, &call); at++) {
        if (strcmp(call.command, command) == 0)
            return true;
    }
    return false;
}

uint64_t trying_position_of(uint64_t since, const char *command)
{
    struct pm_null_call call;
    for (uint64_t at = since; trying.h.driver->read(at, &call); at++) {
        if (strcmp(call.command, command) == 0)
            return at;
    }
    fail_msg("no %s", command);
    return 0;
}

/* ---- the spool ---- */

struct timings {
    unsigned count;
    struct pm_environment environment;
    struct pm_point_counts point;
};

static bool add_checkpoint(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    struct timings *timings = user;
    (void)error;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        if (shader->kind != PM_KIND_TIMING)
            continue;
        assert_int_equal(shader->space, 1);
        assert_int_equal(shader->point_count, 1);
        assert_true(optimized_has_zeros(&shader->original));
        assert_false(pm_shader_key_equal(&shader->key, &shader->original));
        timings->environment = shader->environment;
        timings->point = shader->points[0];
        timings->count++;
    }
    return true;
}

static struct timings read_spool(void)
{
    struct timings timings = {0};
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    if (!pm_spool_list(NULL, &sessions, &count, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged = 0;
        if (!pm_spool_read(sessions[i].path, add_checkpoint, &timings, &damaged, &error))
            fail_msg("%s", error.message);
        assert_true(damaged == UINT64_MAX);
    }
    pm_spool_list_free(sessions, count);
    return timings;
}

void trying_assert_timing(double expected, double tolerance)
{
    const struct timings timings = read_spool();
    const struct pm_point_counts *point = &timings.point;
    assert_int_equal(timings.count, 1);
    assert_int_not_equal(timings.environment.vendor_id, 0);
    assert_int_not_equal(timings.environment.driver_version, 0);
    assert_true(point->entry_lanes == point->entry_subgroups);
    assert_in_range(point->entry_lanes, 6, 4096);
    /* All pairs, also those that were trimmed. */
    assert_in_range(point->calls, 8, 4096);
    assert_true(point->entry_lanes <= point->calls);
    const double ratio =
        (double)point->counts[PM_TIMING_VARIANT] / (double)point->counts[PM_TIMING_ORIGINAL];
    assert_true(fabs(ratio - expected) < tolerance);
    /* The trial says how sure it is: its interval ends where it can be judged. */
    const double spread =
        (double)point->counts[PM_TIMING_SPREAD] / (double)point->counts[PM_TIMING_ORIGINAL];
    assert_true(spread > 0 && spread < 0.125 * (ratio + 1));
}

void trying_assert_no_timing(void)
{
    assert_int_equal(read_spool().count, 0);
}

void trying_prepare_sessions(void)
{
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    optimized_learn();
    optimized_enable(false);
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "1", 1);
}
