/* Specialized variants in the place of the game's pipelines: when, where, and how long. */
#include "tests/layer/optimized.h"

#include "passes.comp.h"
#include "sunk.comp.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

static struct pm_harness h;

static bool is_replaced(VkPipeline pipeline, VkPipelineBindPoint point)
{
    return optimized_effective(&h, pipeline, point) != pipeline;
}

static void a_proven_variant_is_bound(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h), graphics = optimized_graphics(&h);
    assert_true(is_replaced(compute, COMPUTE));
    assert_true(is_replaced(graphics, GRAPHICS));
    const VkPipeline best = optimized_effective(&h, compute, COMPUTE);
    assert_ptr_equal(best, optimized_effective(&h, compute, COMPUTE));
    /* A handle that the layer does not know is passed on. */
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, h.dispatch);
    assert_ptr_equal(optimized_bound(&h, position, 0), h.dispatch);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* No queue has timestamps here, so there is no trial. */
static void an_untried_one_is_not(void **state)
{
    (void)state;
    setenv("PM_NULL_TIMESTAMP_BITS", "0", 1);
    optimized_learn();
    optimized_enable(false);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    assert_int_equal(watch_counts().variants, 1);
    assert_false(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

static void it_lives_as_long_as_the_pipeline(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    const VkPipeline best = optimized_effective(&h, compute, COMPUTE);
    const uint64_t live = h.driver->live(VK_OBJECT_TYPE_PIPELINE);
    const uint64_t position = h.driver->position();
    h.vk.DestroyPipeline(h.device, compute, NULL);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_PIPELINE), live - 2);
    assert_int_equal(pm_call(h.driver, position, "vkDestroyPipeline", 0).arguments[1],
                     PM_NULL_NUMBER(best));
    assert_int_equal(pm_call(h.driver, position, "vkDestroyPipeline", 1).arguments[1],
                     PM_NULL_NUMBER(compute));
    /* One that the game leaves behind goes with the device. */
    const VkPipeline left = optimized_compute(&h);
    assert_true(is_replaced(left, COMPUTE));
    h.vk.DestroyPipeline(h.device, left, NULL);
    pm_harness_close(&h);
}

static void two_pipelines_share_a_module(void **state)
{
    (void)state;
    struct pm_shader_key keys[4];
    optimized_open(&h);
    const VkPipeline first = optimized_compute(&h), second = optimized_compute(&h);
    const VkPipeline best = optimized_effective(&h, first, COMPUTE);
    assert_true(best != first);
    assert_true(is_replaced(second, COMPUTE));
    assert_true(optimized_effective(&h, second, COMPUTE) != best);
    assert_int_equal(optimized_journal(keys, 4), 1);
    optimized_assert_logged("is specialized: ", 1);
    h.vk.DestroyPipeline(h.device, first, NULL);
    assert_true(is_replaced(second, COMPUTE));
    h.vk.DestroyPipeline(h.device, second, NULL);
    pm_harness_close(&h);
}

/* Pipelines that are used once. */
static void make_bound(VkPipeline *pipelines, int count)
{
    for (int i = 0; i < count; i++) {
        pipelines[i] = optimized_compute(&h);
        (void)is_replaced(pipelines[i], COMPUTE);
    }
}

static void it_is_built_in_the_background(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    pm_harness_open(&h, NULL);
    h.driver->hold_compiles(true);
    const VkPipeline compute = optimized_compute(&h);
    assert_false(is_replaced(compute, COMPUTE));
    h.driver->hold_compiles(false);
    uint64_t until = 0;
    while (!is_replaced(compute, COMPUTE) && patience(&until))
        ;
    assert_true(is_replaced(compute, COMPUTE));
    /* Destroyed while more are being built. */
    VkPipeline more[20];
    make_bound(more, 20);
    for (int i = 0; i < 20; i++)
        h.vk.DestroyPipeline(h.device, more[i], NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    /* And the device with some that wait. */
    make_bound(more, 20);
    for (int i = 0; i < 20; i++)
        h.vk.DestroyPipeline(h.device, more[i], NULL);
    pm_harness_close(&h);
}

/* What was recorded before runs as it was recorded; the driver notices when something it names is
 * gone. */
static void recordings_from_before_stay_as_they_are(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    pm_harness_open(&h, NULL);
    h.driver->hold_compiles(true);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_bind_set(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    assert_ptr_equal(optimized_bound(&h, position, 0), compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.driver->hold_compiles(false);
    uint64_t until = 0;
    while (!is_replaced(compute, COMPUTE) && patience(&until))
        ;
    assert_true(is_replaced(compute, COMPUTE));
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    for (int i = 0; i < 2; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* A session in which the shader is stored. */
static void store(const uint32_t *words, size_t size)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    pm_harness_open(&h, NULL);
    h.vk.DestroyPipeline(h.device, pm_harness_compute_of(&h, words, size, h.layout), NULL);
    pm_harness_close(&h);
}

enum { PASSES = 6 };
static const char *const passes[PASSES] = {"flatten", "sink", "version",
                                           "unroll",  "peel", "layout"};

/* A session with passes.comp: whether anything stands in its place, and which passes changed it, in
 * bits. */
static bool changed_by(uint32_t *by)
{
    uint32_t before[PASSES];
    char text[PASSES][40];
    for (int p = 0; p < PASSES; p++) {
        snprintf(text[p], sizeof text[p], " %s", passes[p]);
        before[p] = optimized_logged(text[p]);
    }
    pm_harness_open(&h, NULL);
    const VkPipeline compute = pm_harness_compute_of(&h, passes_comp, sizeof passes_comp, h.layout);
    const bool replaced = is_replaced(compute, COMPUTE);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    *by = 0;
    for (int p = 0; p < PASSES; p++)
        *by |= (uint32_t)(optimized_logged(text[p]) > before[p]) << p;
    return replaced;
}

/* All but one, or that one alone. */
static void set_passes(int one, bool alone)
{
    char text[80] = "";
    for (int p = 0; p < PASSES; p++)
        if ((p == one) == alone)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "",
                     passes[p]);
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", text, 1);
}

/* optimize.blocks and each pass of optimize.block_passes. */
static void each_pass_is_a_switch(void **state)
{
    (void)state;
    const uint32_t all = (1u << PASSES) - 1;
    uint32_t by;
    setenv("PM_NULL_DRIVER_ID", "1", 1); /* which peels and unrolls rightly, as far as is known */
    store(passes_comp, sizeof passes_comp);
    optimized_learn_rare_block_and_loop_of(passes_comp, sizeof passes_comp, 3);
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SPECIALIZE", "all", 1);
    assert_true(changed_by(&by));
    assert_int_equal(by, all);
    for (int p = 0; p < PASSES; p++) {
        set_passes(p, false);
        assert_true(changed_by(&by));
        assert_int_equal(by, all & ~(1u << p));
        set_passes(p, true);
        assert_true(changed_by(&by));
        assert_int_equal(by, 1u << p);
    }
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "", 1);
    assert_false(changed_by(&by));
    assert_int_equal(by, 0);
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");
    setenv("PIECEMEAL_OPTIMIZE_BLOCKS", "false", 1);
    assert_false(changed_by(&by));
    assert_int_equal(by, 0);
    /* Nor where there is something else to optimize. */
    setenv("PIECEMEAL_OPTIMIZE_PARTITION", "true", 1);
    assert_false(changed_by(&by));
    assert_int_equal(by, 0);
    unsetenv("PIECEMEAL_OPTIMIZE_PARTITION");
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCKS");
    assert_true(changed_by(&by));
    assert_int_equal(by, all);
    unsetenv("PIECEMEAL_DEBUG_SPECIALIZE");
    unsetenv("PM_NULL_DRIVER_ID");
}

/* What only a rare block needs is computed there if that is uniform, which is what the config calls
 * so: a share of 0.9, where it says nothing. */
static void what_counts_as_uniform_is_configured(void **state)
{
    static const struct {
        const char *uniform_share;
        bool made;
    } cases[] = {{"0.5", true}, {"0.99", false}, {NULL, false}, {"0.69", true}};
    (void)state;
    store(sunk_comp, sizeof sunk_comp);
    optimized_learn_rare_block_of(sunk_comp, sizeof sunk_comp, 0.7);
    optimized_enable(true);
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "sink", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].uniform_share)
            setenv("PIECEMEAL_OPTIMIZE_UNIFORM_SHARE", cases[i].uniform_share, 1);
        else
            unsetenv("PIECEMEAL_OPTIMIZE_UNIFORM_SHARE");
        pm_harness_open(&h, NULL);
        const VkPipeline compute = pm_harness_compute_of(&h, sunk_comp, sizeof sunk_comp, h.layout);
        assert_int_equal(is_replaced(compute, COMPUTE), cases[i].made);
        h.vk.DestroyPipeline(h.device, compute, NULL);
        pm_harness_close(&h);
    }
    unsetenv("PIECEMEAL_OPTIMIZE_UNIFORM_SHARE");
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");
}

/* A handle that the driver gives once more is another pipeline's: what stood for the first does not
 * stand for it. */
static void a_handle_comes_again(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    for (int i = 0; i < 3; i++)
        assert_true(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.driver->give_again(compute);
    const VkPipeline other = pm_harness_make_compute(&h);
    assert_ptr_equal(other, compute);
    assert_false(is_replaced(other, COMPUTE));
    h.vk.DestroyPipeline(h.device, other, NULL);
    pm_harness_close(&h);
}

/* Without timestamps nothing is tried: what others say is faster is not bound either, and what they
 * say is slower is not made, whatever the lot. */
static void a_timing_profile_binds_nothing(void **state)
{
    (void)state;
    struct pm_shader_key keys[2];
    setenv("PM_NULL_TIMESTAMP_BITS", "0", 1);
    setenv("PIECEMEAL_OPTIMIZE_DOUBT_SHARE", "1", 1);
    const struct {
        double low, high;
        uint32_t made;
    } cases[] = {{0.1, 0.2, 1}, {0.9, 1.1, 1}, {1.1, 1.2, 0}};
    for (size_t i = 0; i < 3; i++) {
        optimized_learn();
        optimized_enable(true);
        pm_harness_open(&h, NULL);
        h.vk.DestroyPipeline(h.device, optimized_compute(&h), NULL);
        pm_harness_close(&h);
        assert_true(optimized_journal(keys, 2) >= 1);
        optimized_add_timing(&keys[0], cases[i].low, cases[i].high);
        optimized_enable(false);
        watch_start(pm_harness_driver());
        pm_harness_open(&h, NULL);
        const VkPipeline compute = optimized_compute(&h);
        assert_int_equal(watch_counts().variants, cases[i].made);
        assert_false(is_replaced(compute, COMPUTE));
        h.vk.DestroyPipeline(h.device, compute, NULL);
        pm_harness_close(&h);
    }
}

static void without_a_profile_nothing_happens(void **state)
{
    (void)state;
    char path[200];
    const char *const off[] = {"no database", "PIECEMEAL_OPTIMIZE_ZERO",
                               "PIECEMEAL_LIMITS_VARIANTS"};
    for (size_t i = 0; i < 3; i++) {
        optimized_learn();
        optimized_enable(true);
        if (i > 0)
            setenv(off[i], i == 1 ? "false" : "0", 1);
        else
            setenv("PIECEMEAL_DATABASES", "/nonexistent", 1);
        watch_start(pm_harness_driver());
        pm_harness_open(&h, NULL);
        const VkPipeline compute = optimized_compute(&h);
        assert_int_equal(watch_counts().variants, 0);
        assert_false(is_replaced(compute, COMPUTE));
        h.vk.DestroyPipeline(h.device, compute, NULL);
        pm_harness_close(&h);
        if (i > 0)
            unsetenv(off[i]);
        snprintf(path, sizeof path, "%s/piecemeal/journal", pm_layered_home());
        assert_int_equal(access(path, F_OK), i == 2 ? 0 : -1);
    }
}

static void refusals_leave_the_pipeline_as_it_is(void **state)
{
    (void)state;
    const char *const faults[] = {"vkCreateComputePipelines:2", "vkCreateShaderModule:2"};
    optimized_learn();
    optimized_enable(true);
    for (size_t i = 0; i < 2; i++) {
        pm_harness_open(&h, NULL);
        assert_true(h.driver->inject(faults[i]));
        const VkPipeline compute = optimized_compute(&h);
        assert_false(is_replaced(compute, COMPUTE));
        optimized_assert_logged("a pipeline is not specialized: the driver refused",
                                (uint32_t)i + 1);
        /* The next one is built. */
        const VkPipeline next = optimized_compute(&h);
        assert_true(is_replaced(next, COMPUTE));
        h.vk.DestroyPipeline(h.device, compute, NULL);
        h.vk.DestroyPipeline(h.device, next, NULL);
        pm_harness_close(&h);
    }
    /* Without a cache it is built all the same. */
    pm_harness_open(&h, NULL);
    assert_true(h.driver->inject("vkCreatePipelineCache:1"));
    const VkPipeline compute = optimized_compute(&h);
    assert_true(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* As many as live at a time, however many are instrumented. */
static void they_have_their_own_limit(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "1", 1);
    pm_layered_sample_all("1");
    pm_harness_open(&h, NULL);
    const VkPipeline first = optimized_compute(&h), second = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, first);
    h.vk.CmdBindPipeline(buffer, COMPUTE, second);
    assert_true(optimized_bound(&h, position, 0) != first);
    assert_ptr_equal(optimized_bound(&h, position, 1), second);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    /* The one that waits goes first: else it may take the room, in the background. */
    h.vk.DestroyPipeline(h.device, second, NULL);
    h.vk.DestroyPipeline(h.device, first, NULL);
    const VkPipeline third = optimized_compute(&h);
    buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    const uint64_t later = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, third);
    assert_true(optimized_bound(&h, later, 0) != third);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    h.vk.DestroyPipeline(h.device, third, NULL);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
}

static void several_devices(void **state)
{
    (void)state;
    static struct pm_harness second;
    optimized_open(&h);
    pm_harness_open(&second, NULL);
    const VkPipeline ones = optimized_compute(&h), others = optimized_compute(&second);
    const VkPipeline best = optimized_effective(&h, ones, COMPUTE);
    assert_true(best != ones);
    assert_true(optimized_effective(&second, others, COMPUTE) != others);
    second.vk.DestroyPipeline(second.device, others, NULL);
    pm_harness_close(&second);
    assert_ptr_equal(optimized_effective(&h, ones, COMPUTE), best);
    h.vk.DestroyPipeline(h.device, ones, NULL);
    pm_harness_close(&h);
}

/* ---- safe mode (HAZARDS 22) ---- */

/* What was never bound has proven nothing. */
static void one_that_waits_for_its_trial_is_not_used(void **state)
{
    (void)state;
    char command[300], count[16] = "";
    optimized_learn();
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    snprintf(command, sizeof command,
             "cat %s/piecemeal/journal/game/*.session | grep -c -e new -e used", pm_layered_home());
    FILE *lines = popen(command, "r");
    assert_non_null(lines);
    assert_non_null(fgets(count, sizeof count, lines));
    pclose(lines);
    assert_string_equal(count, "1\n");
    unsetenv("PIECEMEAL_SAMPLER_KINDS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_proven_variant_is_bound),
        PM_LAYERED_TEST(an_untried_one_is_not),
        PM_LAYERED_TEST(it_lives_as_long_as_the_pipeline),
        PM_LAYERED_TEST(two_pipelines_share_a_module),
        PM_LAYERED_TEST(it_is_built_in_the_background),
        PM_LAYERED_TEST(recordings_from_before_stay_as_they_are),
        PM_LAYERED_TEST(what_counts_as_uniform_is_configured),
        PM_LAYERED_TEST(each_pass_is_a_switch),
        PM_LAYERED_TEST(a_handle_comes_again),
        PM_LAYERED_TEST(a_timing_profile_binds_nothing),
        PM_LAYERED_TEST(without_a_profile_nothing_happens),
        PM_LAYERED_TEST(refusals_leave_the_pipeline_as_it_is),
        PM_LAYERED_TEST(they_have_their_own_limit),
        PM_LAYERED_TEST(several_devices),
        PM_LAYERED_TEST(one_that_waits_for_its_trial_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
