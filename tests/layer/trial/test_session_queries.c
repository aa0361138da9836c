/* Trials over sessions (layer/trial/sessions.h) where queries of statistics see the game's own
 * shaders: what they keep from being replaced is not timed. */
#include "tests/layer/pipelines.h"
#include "tests/layer/trial/steady_sessions.h"

#include <stdlib.h>
#include <unistd.h>

/* A session whose device gets a pool of statistics after a draw was recorded, with a pipeline that
 * leaves fewer states than another and stands for itself from then on. Returns how the first ran.
 */
static int session_with_a_pool(void)
{
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    const struct pm_harness_options options = {.features = &features};
    const struct graphics_options leaving = {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    VkCommandBuffer before, after;
    trying.background = true;
    trying.variant_cost = 80000;
    pm_harness_open(&trying.h, &options);
    trying.graphics = optimized_graphics(&trying.h);
    const VkPipeline other = make_graphics(&trying.h, &leaving);
    trying_costs();
    const int variant = steady_record(true, &before);
    const VkQueryPool pool = pm_harness_make_statistics(&trying.h);
    assert_int_equal(steady_record(true, &after), 0);
    for (int i = 0; i < 10; i++) {
        steady_submit(after);
        usleep(10000);
    }
    trying.h.vk.DestroyQueryPool(trying.h.device, pool, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, other, NULL);
    trying_close();
    return variant;
}

/* The game's own is not timed for the variant, nor for itself: either side times as much. */
static void what_stands_for_itself_is_not_timed(void **state)
{
    (void)state;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, true, "timed in turn: sessions are"), 0);
    const int side = session_with_a_pool();
    optimized_assert_logged(SESSION_TIMED, 0);
    assert_int_equal(steady_session(80000, true, SESSION_TIMED), side);
    assert_int_equal(session_with_a_pool(), !side);
    optimized_assert_logged(SESSION_TIMED, 1);
}

enum where {
    IN_QUERY,
    BEFORE_QUERY,
    QUERY_AROUND,
    PASS_BEHIND_QUERY,
    DISPATCH_IN_QUERY, /* these dispatch */
    DISPATCH_BEHIND_QUERY,
    DISPATCH_BOUND_IN_QUERY,
    WHERE
};

static void dispatch_in_query(VkCommandBuffer buffer, VkQueryPool pool, enum where where)
{
    const struct pm_device_dispatch *vk = &trying.h.vk;
    if (where == DISPATCH_BEHIND_QUERY)
        vk->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, trying.compute);
    vk->CmdBeginQuery(buffer, pool, 0, 0);
    if (where != DISPATCH_BEHIND_QUERY)
        vk->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, trying.compute);
    if (where != DISPATCH_IN_QUERY)
        vk->CmdEndQuery(buffer, pool, 0);
    vk->CmdDispatch(buffer, 1, 1, 1);
    if (where == DISPATCH_IN_QUERY)
        vk->CmdEndQuery(buffer, pool, 0);
}

/* A recording in which a query of statistics makes the call run with the game's own, or has it
 * bound when it ends. */
static void record_in_query(VkCommandBuffer buffer, VkQueryPool pool, enum where where)
{
    const struct pm_device_dispatch *vk = &trying.h.vk;
    const bool around = where == QUERY_AROUND, before = where == PASS_BEHIND_QUERY;
    vk->CmdResetQueryPool(buffer, pool, 0, 1);
    if (where >= DISPATCH_IN_QUERY) {
        dispatch_in_query(buffer, pool, where);
        return;
    }
    if (before)
        vk->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    if (around || before)
        vk->CmdBeginQuery(buffer, pool, 0, 0);
    if (before)
        vk->CmdEndQuery(buffer, pool, 0);
    pm_harness_begin_pass(&trying.h, buffer);
    if (where == IN_QUERY)
        vk->CmdBeginQuery(buffer, pool, 0, 0);
    if (!before)
        vk->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    if (where == BEFORE_QUERY)
        vk->CmdBeginQuery(buffer, pool, 0, 0);
    vk->CmdDraw(buffer, 3, 1, 0, 0);
    if (!around && !before)
        vk->CmdEndQuery(buffer, pool, 0);
    vk->CmdEndRenderPass(buffer);
    if (around)
        vk->CmdEndQuery(buffer, pool, 0);
}

static void session_in_query(enum where where)
{
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    trying.dispatches = true;
    trying.background = true;
    trying.variant_cost = 80000;
    pm_harness_open(&trying.h, &(struct pm_harness_options){.features = &features});
    if (where >= DISPATCH_IN_QUERY)
        trying.compute = optimized_compute(&trying.h);
    else
        trying.graphics = optimized_graphics(&trying.h);
    trying_costs();
    const VkQueryPool pool = pm_harness_make_statistics(&trying.h);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, 0);
    record_in_query(buffer, pool, where);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    for (int i = 0; i < 10; i++) {
        steady_submit(buffer);
        usleep(10000);
    }
    trying.h.vk.DestroyQueryPool(trying.h.device, pool, NULL);
    trying_close();
}

/* Its times would be taken for those of the session's side. */
static void nor_is_what_a_query_sees(void **state)
{
    for (int where = 0; where < WHERE; where++) {
        trying_prepare_sessions();
        setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
        const bool draws = where < DISPATCH_IN_QUERY;
        assert_int_equal(steady_session(80000, draws, "timed in turn: sessions are"), 0);
        session_in_query((enum where)where);
        optimized_assert_logged(SESSION_TIMED, 0);
        (void)steady_session(80000, draws, SESSION_TIMED);
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_stands_for_itself_is_not_timed),
        PM_LAYERED_TEST(nor_is_what_a_query_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
