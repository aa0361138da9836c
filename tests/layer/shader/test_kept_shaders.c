/*
 * Levels of 120 shaders with 5 pipelines each that are recorded once while a window is open: some
 * call of each shader is held twice (predicated.h), so that a session that lasts long enough has
 * samples of all. The session itself is test_session.c's.
 */
#include "tests/layer/levels.h"

#include "holes.frag.h"
#include <stdlib.h>
#include <string.h>

enum { SHADERS = 120, STATES = 5 };

static struct pm_harness h;

/* by_lot: pipelines have variants as at the defaults, but that it is waited for all of these; else
 * each has one. window: the probability that one begins. */
static void open_outside(const char *probability, bool by_lot, const char *window)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", window, 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", by_lot ? "false" : "true", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", by_lot ? "256" : "4096", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "1000", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "10000", 1);
    pm_harness_open(&h, NULL);
}

static void open_with(const char *probability, bool by_lot)
{
    open_outside(probability, by_lot, "1");
}

static void close_all(void)
{
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
    unsetenv("PIECEMEAL_LIMITS_CREATION_MS");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
}

static _Atomic uint32_t begun; /* two for each call that is held twice */

static void count_begun(void *user, const struct pm_null_call *call)
{
    (void)user;
    begun += strcmp(call->command, "vkCmdBeginConditionalRenderingEXT") == 0;
}

/* What a recording of a level holds twice. */
struct held {
    VkCommandBuffer buffer;
    uint32_t calls, shaders;
};

/* A draw with each pipeline, of one shader after the other; by_state: of all shaders with one state
 * after the other. */
static struct held record(const struct level *level, uint32_t states, bool by_state)
{
    const uint32_t shaders = level->count / states;
    uint32_t *calls = calloc(shaders, sizeof *calls);
    struct held held = {.buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY)};
    assert_non_null(calls);
    h.driver->set_callback(count_begun, NULL);
    pm_harness_begin(&h, held.buffer, 0);
    pm_harness_bind_set(&h, held.buffer);
    pm_harness_begin_pass(&h, held.buffer);
    for (uint32_t i = 0; i < level->count; i++) {
        const uint32_t shader = by_state ? i % shaders : i / states,
                       state = by_state ? i / shaders : i % states;
        begun = 0;
        h.vk.CmdBindPipeline(held.buffer, VK_PIPELINE_BIND_POINT_GRAPHICS,
                             level->pipelines[shader * states + state]);
        h.vk.CmdDraw(held.buffer, 3, 1, 0, 0);
        calls[shader] += begun / 2;
    }
    h.vk.CmdEndRenderPass(held.buffer);
    PM_CHECK(h.vk.EndCommandBuffer(held.buffer));
    h.driver->set_callback(NULL, NULL);
    for (uint32_t i = 0; i < shaders; i++) {
        held.calls += calls[i];
        held.shaders += calls[i] > 0;
    }
    free(calls);
    return held;
}

static void submit(VkCommandBuffer buffer, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
}

static void every_shader_is_held(void **state)
{
    (void)state;
    struct level level;
    open_with("0.01", true);
    level_make(&level, &h, 0, SHADERS, STATES);
    for (int by_state = 0; by_state < 2; by_state++) {
        const struct held held = record(&level, STATES, by_state != 0);
        print_message("%u shaders, in %u of %u calls\n", held.shaders, held.calls, level.count);
        assert_int_equal(held.shaders, SHADERS);
        /* And of further pipelines what stands for all of them, so that one call in four is. */
        assert_in_range(held.calls, SHADERS, SHADERS * STATES * 3 / 10);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &held.buffer);
    }
    level_destroy(&level, &h);
    close_all();
}

/* There is a bound to it, however many shaders there are. */
static void no_more_than_a_device_may_hold(void **state)
{
    (void)state;
    enum { MANY = 288 };
    struct level level;
    open_with("0.0001", false);
    level_make(&level, &h, 0, MANY, 1);
    const struct held held = record(&level, 1, false);
    print_message("%u shaders of %d, in %u calls\n", held.shaders, MANY, held.calls);
    /* Of the 256 the three quarters that are for sure, and of the rest some. */
    assert_in_range(held.calls, 192 + 16, 256);
    level_destroy(&level, &h);
    close_all();
}

/* A recording that goes before its shaders were sampled leaves them to the next one, and none that
 * were to be held for sure again. */
static void what_was_not_sampled_is_held_again(void **state)
{
    (void)state;
    enum { FEW = 20, SUBMISSIONS = 1000 };
    struct level level;
    open_with("0.02", false);
    level_make(&level, &h, 0, FEW, STATES);
    for (int i = 0; i < 3; i++) {
        const struct held held = record(&level, STATES, false);
        assert_int_equal(held.shaders, FEW);
        if (i == 2)
            submit(held.buffer, SUBMISSIONS);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &held.buffer);
    }
    const struct held held = record(&level, STATES, false);
    print_message("after they were sampled: %u shaders, in %u calls\n", held.shaders, held.calls);
    assert_in_range(held.shaders, 1, FEW / 2);
    level_destroy(&level, &h);
    close_all();
}

/* Outside windows, too, where none could be; but not for ever. */
static void nor_are_they_lost_outside_windows(void **state)
{
    (void)state;
    enum { FEW = 20, TIMES = 8, MORE = 4 };
    struct level level;
    open_outside("0.02", false, "1e-15");
    level_make(&level, &h, 0, FEW, STATES);
    for (int i = 0; i < 1 + TIMES + MORE; i++) {
        const struct held held = record(&level, STATES, false);
        print_message("%u shaders, in %u calls\n", held.shaders, held.calls);
        if (i <= TIMES)
            assert_int_equal(held.shaders, FEW);
        else
            assert_in_range(held.shaders, 1, FEW - 2);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &held.buffer);
    }
    level_destroy(&level, &h);
    close_all();
}

/* Of what would be sampled of these a share is, in each submission; all the same they are held. */
static void what_counts_occluded_fragments_is_held_too(void **state)
{
    (void)state;
    VkPipeline pipeline;
    struct pm_harness_pipeline of;
    open_with("0.01", false);
    pm_harness_describe(&h, &of);
    const VkShaderModule module = pm_harness_make_module(&h, holes_frag, sizeof holes_frag);
    of.stages[1].module = module;
    PM_CHECK(h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
    h.vk.DestroyShaderModule(h.device, module, NULL);
    const struct level level = {.pipelines = &pipeline, .count = 1};
    for (int i = 0; i < 12; i++) {
        const struct held held = record(&level, 1, false);
        assert_int_equal(held.shaders, 1);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &held.buffer);
    }
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(every_shader_is_held),
        PM_LAYERED_TEST(no_more_than_a_device_may_hold),
        PM_LAYERED_TEST(what_was_not_sampled_is_held_again),
        PM_LAYERED_TEST(nor_are_they_lost_outside_windows),
        PM_LAYERED_TEST(what_counts_occluded_fragments_is_held_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
