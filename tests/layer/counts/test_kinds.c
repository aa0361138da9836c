/* Kinds of profiles: which one a sampled call is for, what the device must be able to do, and that
 * each reaches the spool as what it is. */
#include "aggregator_client/disk/spool.h"
#include "tests/layer/known.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"

#include "edges.frag.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS = PM_KIND_LAST + 1, POINTS_MOST = 4096 };

static struct pm_harness h;

static void open_with(const char *batch)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_BATCH", batch, 1);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    pm_harness_open(&h, NULL);
}

static VkCommandBuffer begin(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    return buffer;
}

/* How many of so many dispatches were sampled. */
static uint32_t dispatch(uint32_t calls)
{
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    const uint64_t position = h.driver->position();
    for (uint32_t i = 0; i < calls; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    pm_harness_run(&h, buffer);
    return binds / 2;
}

/* What the sessions of the test have in the spool. */
struct found {
    char game[256];
    struct pm_shader_key key; /* of the last shader */
    struct pm_environment environment;
    uint32_t space[KINDS], candidates[KINDS], flags[KINDS];
    uint32_t calls[KINDS][POINTS_MOST]; /* by point */
};

static bool add_checkpoint(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    struct found *found = user;
    (void)error;
    snprintf(found->game, sizeof found->game, "%s", profile->game);
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        found->key = shader->key;
        found->environment = shader->environment;
        found->space[shader->kind] = shader->space;
        found->candidates[shader->kind] = shader->candidates;
        found->flags[shader->kind] = shader->flags;
        assert_true(shader->space <= POINTS_MOST);
        for (size_t j = 0; j < shader->point_count; j++)
            found->calls[shader->kind][shader->points[j].point] += shader->points[j].calls;
    }
    return true;
}

/* Reads the spool and empties it. */
static struct found *take_spool(void)
{
    static struct found found;
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    memset(&found, 0, sizeof found);
    if (!pm_spool_list(NULL, &sessions, &count, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged = 0;
        if (!pm_spool_read(sessions[i].path, add_checkpoint, &found, &damaged, &error))
            fail_msg("%s", error.message);
        assert_true(damaged == UINT64_MAX);
        assert_int_equal(remove(sessions[i].path), 0);
    }
    pm_spool_list_free(sessions, count);
    return &found;
}

static struct found *session(const char *batch, uint32_t calls, uint32_t sampled)
{
    open_with(batch);
    assert_int_equal(dispatch(calls), sampled);
    pm_harness_close(&h);
    return take_spool();
}

/* Shaders with two kinds of points. */
static void without_turns(void)
{
    setenv("PIECEMEAL_SAMPLER_KINDS", "block,zero,timing,constant", 1);
}

/* Every point of all kinds is measured as often. */
static void every_batch_comes_as_often(void **state)
{
    (void)state;
    struct found *found = session("all", 15, 15);
    const uint32_t blocks = found->space[PM_KIND_BLOCK], zeros = found->space[PM_KIND_ZERO];
    const uint32_t turns = found->space[PM_KIND_TURNS];
    assert_true(blocks > 1 && zeros > 1 && turns > 1);
    assert_int_equal(found->calls[PM_KIND_BLOCK][0], 5);
    assert_int_equal(found->calls[PM_KIND_ZERO][0], 5);
    assert_int_equal(found->calls[PM_KIND_TURNS][0], 5);
    const uint32_t batches = (blocks + 1) / 2 + (zeros + 1) / 2 + (turns + 1) / 2;
    found = session("2", batches * 6, batches * 6);
    for (uint32_t i = 0; i < turns; i++)
        assert_int_equal(found->calls[PM_KIND_TURNS][i], 6);
    for (uint32_t i = 0; i < blocks; i++)
        assert_int_equal(found->calls[PM_KIND_BLOCK][i], 6);
    for (uint32_t i = 0; i < zeros; i++)
        assert_int_equal(found->calls[PM_KIND_ZERO][i], 6);
    assert_int_equal(found->flags[PM_KIND_ZERO], 0);
}

/* As the layer's log has it. */
static void a_profile_says_what_is_left_out(void **state)
{
    (void)state;
    const struct found *found = session("all", 10, 10);
    const uint32_t zeros = found->space[PM_KIND_ZERO];
    char said[96];
    assert_true(found->candidates[PM_KIND_ZERO] > zeros);
    snprintf(said, sizeof said, "zeros: %u values are measured, %u are left out as not worth it",
             zeros, found->candidates[PM_KIND_ZERO] - zeros);
    assert_true(pm_layered_logged(said) > 0);
    assert_int_equal(found->candidates[PM_KIND_BLOCK], 0);
}

static void only_what_is_asked_for(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    struct found *found = session("all", 4, 4);
    assert_int_equal(found->calls[PM_KIND_BLOCK][0], 4);
    assert_int_equal(found->space[PM_KIND_ZERO], 0);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing,zero", 1);
    found = session("all", 4, 4);
    assert_int_equal(found->calls[PM_KIND_ZERO][0], 4);
    assert_int_equal(found->space[PM_KIND_BLOCK], 0);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    found = session("all", 4, 0);
    assert_int_equal(found->space[PM_KIND_BLOCK] + found->space[PM_KIND_ZERO], 0);
}

/* VK_SUBGROUP_FEATURE_BASIC_BIT and _BALLOT_BIT; the zero check votes. */
static void without_votes_only_blocks(void **state)
{
    (void)state;
    without_turns();
    setenv("PM_NULL_SUBGROUP_OPERATIONS", "9", 1);
    struct found *found = session("all", 4, 4);
    unsetenv("PM_NULL_SUBGROUP_OPERATIONS");
    assert_int_equal(found->calls[PM_KIND_BLOCK][0], 4);
    assert_int_equal(found->space[PM_KIND_ZERO], 0);
}

static struct found *draw_edges(void)
{
    open_with("all");
    struct parts parts;
    parts_make(&parts, &h);
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = sizeof edges_frag,
                                           .pCode = edges_frag};
    h.vk.DestroyShaderModule(h.device, parts.fragment, NULL);
    PM_CHECK(h.vk.CreateShaderModule(h.device, &info, NULL, &parts.fragment));
    const struct graphics_options options = {.parts = &parts};
    VkPipeline pipeline = make_graphics(&h, &options);
    VkCommandBuffer buffer = begin();
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    for (int i = 0; i < 6; i++)
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    pm_harness_run(&h, buffer);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    parts_destroy(&parts, &h);
    pm_harness_close(&h);
    return take_spool();
}

/* A device without quad operations says so of shaders that would need them. */
static void without_quads_it_is_said(void **state)
{
    (void)state;
    without_turns();
    struct found *found = draw_edges();
    assert_int_equal(found->calls[PM_KIND_ZERO][0], 3);
    assert_int_equal(found->flags[PM_KIND_ZERO], 0);
    setenv("PM_NULL_SUBGROUP_OPERATIONS", "11", 1);
    found = draw_edges();
    assert_int_equal(found->calls[PM_KIND_ZERO][0], 3);
    assert_int_equal(found->flags[PM_KIND_ZERO], PM_PROFILE_NO_QUADS);
    assert_int_equal(found->flags[PM_KIND_BLOCK], 0);
    found = session("all", 4, 4); /* no quads in a compute shader */
    unsetenv("PM_NULL_SUBGROUP_OPERATIONS");
    assert_int_equal(found->flags[PM_KIND_ZERO], 0);
}

/* Nine calls in ten go to the kind that lacks samples, and half of the tenth. */
static void what_lacks_samples_comes_first(void **state)
{
    (void)state;
    enum { CALLS = 1000 };
    without_turns();
    const struct found first = *session("all", 10, 10);
    for (int i = 0; i < 2; i++) {
        const enum pm_kind known = i ? PM_KIND_ZERO : PM_KIND_BLOCK;
        const enum pm_kind lacking = i ? PM_KIND_BLOCK : PM_KIND_ZERO;
        known_place(first.game,
                    &(struct known_shader){first.key, first.environment, known, first.space[known]},
                    1);
        const struct found *found = session("all", CALLS, CALLS);
        assert_int_equal(found->calls[known][0] + found->calls[lacking][0], CALLS);
        /* Five standard deviations of a binomial count. */
        assert_in_range(found->calls[lacking][0], 950 - 35, 950 + 35);
    }
}

static void wait_for_variants(uint32_t count)
{
    uint64_t until = 0;
    while (pm_layered_logged("made a variant") < count && patience(&until))
        ;
    assert_int_equal(pm_layered_logged("made a variant"), count);
}

/* Variants are made when a call first wants them, and such a call goes to one that was wanted
 * before: so that a shader of more batches than a session has calls for is measured all the same.
 */
static void no_batch_costs_a_call(void **state)
{
    (void)state;
    enum { CALLS = 6 };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "1", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1);
    pm_harness_open(&h, NULL);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(dispatch(1), i > 0);
        wait_for_variants((uint32_t)i + 1);
    }
    pm_harness_close(&h);
    const struct found *found = take_spool();
    assert_true(found->space[PM_KIND_BLOCK] + found->space[PM_KIND_ZERO] +
                    found->space[PM_KIND_TURNS] >
                CALLS);
    uint32_t calls = 0;
    for (int kind = PM_KIND_BLOCK; kind <= PM_KIND_LAST; kind++) {
        for (uint32_t i = 0; i < found->space[kind]; i++) {
            assert_true(found->calls[kind][i] <= 1);
            calls += found->calls[kind][i];
        }
    }
    assert_int_equal(calls, CALLS - 1);
}

/* limits.variants holds for all kinds together, and calls go to what fits. */
static void limits_hold_for_all(void **state)
{
    (void)state;
    without_turns();
    setenv("PIECEMEAL_LIMITS_VARIANTS", "3", 1);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    open_with("all");
    /* The harness's two pipelines take two each, the second only one of them. */
    const uint64_t position = h.driver->position();
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    for (int i = 0; i < 10; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    for (int i = 0; i < 10; i++)
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    pm_harness_run(&h, buffer);
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("made a variant of shader"), 3);
    assert_int_equal((binds - 2) / 2, 10 + 10);
}

/* Many points in one batch stay within the counter memory. */
static void counters_are_bounded(void **state)
{
    (void)state;
    without_turns();
    setenv("PIECEMEAL_LIMITS_COUNTER_MEMORY_MIB", "1", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "4096", 1);
    const struct found *found = session("all", 10, 10);
    assert_int_equal(found->calls[PM_KIND_BLOCK][0], 5);
    assert_int_equal(found->calls[PM_KIND_ZERO][0], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(every_batch_comes_as_often),
        PM_LAYERED_TEST(a_profile_says_what_is_left_out),
        PM_LAYERED_TEST(only_what_is_asked_for),
        PM_LAYERED_TEST(without_votes_only_blocks),
        PM_LAYERED_TEST(without_quads_it_is_said),
        PM_LAYERED_TEST(what_lacks_samples_comes_first),
        PM_LAYERED_TEST(no_batch_costs_a_call),
        PM_LAYERED_TEST(limits_hold_for_all),
        PM_LAYERED_TEST(counters_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
