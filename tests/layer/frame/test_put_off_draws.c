/* A query of statistics runs with the game's own pipeline also where that may not be put back when
 * the query begins (layer/frame/put_off.h): the first draw in the query does, and what the game has
 * set for the pipeline that it binds next stays. */
#include "tests/layer/pipelines.h"
#include "tests/layer/trial/trying.h"

#include <stdio.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define ONCE VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT

static struct pm_harness h;

/* A game that may ask for statistics at any time, as all over DXVK may, and has two pipelines, of
 * which one leaves a state to commands that the other does not. */
static struct game {
    VkPipeline graphics, leaving;
    VkQueryPool pool;
    VkCommandBuffer buffer;
    uint64_t begun; /* the recording, as a position of the driver's */
} game;

static const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
static const struct graphics_options leaving = {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS};

/* ---- what each draw ran with ---- */

enum { MOST_RAN = 16 };

static struct {
    VkPipeline pipelines[MOST_RAN];
    uint32_t count;
} ran;

static uint64_t run_with(void *user, VkPipeline pipeline)
{
    (void)user;
    assert_true(ran.count < MOST_RAN);
    ran.pipelines[ran.count++] = pipeline;
    return 1;
}

/* Submits the recording; its draws and dispatches are in `ran`. */
static void run(void)
{
    ran.count = 0;
    pm_harness_run(&h, game.buffer);
}

/* ---- the game ---- */

/* Its first pipeline only. sampled: the probability of a call, while a window is open; NULL: none
 * is. */
static void open_first(const char *sampled, const char *const *extensions)
{
    const struct pm_harness_options options = {.features = &features,
                                               .device_extensions = extensions};
    optimized_learn();
    optimized_enable(true);
    if (sampled != NULL)
        pm_layered_sample_all(sampled);
    pm_harness_open(&h, &options);
    game = (struct game){.graphics = optimized_graphics(&h)};
    h.driver->set_cost(run_with, NULL);
}

static void open_game(const char *sampled, const char *const *extensions)
{
    open_first(sampled, extensions);
    game.leaving = make_graphics(&h, &leaving);
}

static void close_game(void)
{
    h.driver->set_cost(NULL, NULL);
    h.vk.DestroyQueryPool(h.device, game.pool, NULL);
    h.vk.DestroyPipeline(h.device, game.leaving, NULL);
    h.vk.DestroyPipeline(h.device, game.graphics, NULL);
    pm_harness_close(&h);
}

/* Another session in a home of its own, within a test. */
static void next_case(void **state)
{
    close_game();
    pm_layered_tear_down(state);
    pm_layered_set_up(state);
}

/* A recording binds the pipeline, of which a variant stands. */
static void bind_variant(VkCommandBufferLevel level, VkCommandBufferUsageFlags flags)
{
    game.buffer = pm_harness_allocate(&h, level);
    pm_harness_begin(&h, game.buffer, flags);
    pm_harness_bind_set(&h, game.buffer);
    game.begun = h.driver->position();
    h.vk.CmdBindPipeline(game.buffer, GRAPHICS, game.graphics);
    assert_true(optimized_bound(&h, game.begun, 0) != game.graphics);
}

/* And behind that the game makes its first pool. */
static void begin_recording(VkCommandBufferUsageFlags flags)
{
    bind_variant(VK_COMMAND_BUFFER_LEVEL_PRIMARY, flags);
    game.pool = pm_harness_make_statistics(&h);
    h.vk.CmdResetQueryPool(game.buffer, game.pool, 0, 1);
    pm_harness_begin_pass(&h, game.buffer);
}

static void begin_query(void)
{
    h.vk.CmdBeginQuery(game.buffer, game.pool, 0, 0);
}

static void end_query(void)
{
    h.vk.CmdEndQuery(game.buffer, game.pool, 0);
}

static void draw(void)
{
    h.vk.CmdDraw(game.buffer, 3, 1, 0, 0);
}

/* What the driver saw of the recording, from its bind on. */
static void assert_recorded(const char *expected)
{
    optimized_assert_calls(&h, game.begun, game.buffer, expected);
}

#define BEGUN "vkCmdBindPipeline vkCmdResetQueryPool vkCmdBeginRenderPass "

/* ---- tests ---- */

static void a_draw_in_the_query(void **state)
{
    (void)state;
    open_game(NULL, NULL);
    begin_recording(ONCE);
    begin_query();
    draw();
    draw();
    end_query();
    draw();
    h.vk.CmdEndRenderPass(game.buffer);
    assert_recorded(BEGUN "vkCmdBeginQuery vkCmdBindPipeline vkCmdDraw vkCmdDraw vkCmdEndQuery "
                          "vkCmdDraw vkCmdEndRenderPass ");
    assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
    run();
    assert_int_equal(ran.count, 3);
    for (uint32_t i = 0; i < ran.count; i++)
        assert_ptr_equal(ran.pipelines[i], game.graphics);
    /* Nothing is left of it in the next recording. */
    pm_harness_begin(&h, game.buffer, ONCE);
    game.begun = h.driver->position();
    draw();
    assert_recorded("vkCmdDraw ");
    PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
    close_game();
}

/* Some of the commands that draw, with what they read. */
static void draw_by(int command)
{
    const VkCommandBuffer buffer = game.buffer;
    switch (command) {
    case 0:
        h.vk.CmdDrawIndexed(buffer, 3, 1, 0, 0, 0);
        break;
    case 1:
        h.vk.CmdDrawIndirect(buffer, h.buffer, 0, 1, 16);
        break;
    case 2:
        h.vk.CmdDrawIndexedIndirect(buffer, h.buffer, 0, 1, 20);
        break;
    case 3:
        h.vk.CmdDrawIndirectCount(buffer, h.buffer, 0, h.buffer, 64, 1, 16);
        break;
    default:
        h.vk.CmdDrawMeshTasksEXT(buffer, 1, 1, 1);
    }
}

/* Draws that the headers do not have (VK_KHR_device_address_commands), by their names. */
static void newer_draws(void **state)
{
    typedef void(VKAPI_PTR * draw_info)(VkCommandBuffer, const void *);
    typedef void(VKAPI_PTR * draw_bytes)(VkCommandBuffer, uint32_t, uint32_t, const void *,
                                         uint32_t, uint32_t);
    static const char *const names[] = {
        "vkCmdDrawIndirect2KHR",          "vkCmdDrawIndexedIndirect2KHR",
        "vkCmdDrawIndirectCount2KHR",     "vkCmdDrawIndexedIndirectCount2KHR",
        "vkCmdDrawMeshTasksIndirect2EXT", "vkCmdDrawMeshTasksIndirectCount2EXT",
        "vkCmdDrawIndirectByteCount2EXT"};
    static const uint64_t info[16];
    for (int i = 0; i < 7; i++) {
        open_game(NULL, NULL);
        begin_recording(ONCE);
        begin_query();
        const PFN_vkVoidFunction function = vkGetDeviceProcAddr(h.device, names[i]);
        assert_non_null(function);
        for (int j = 0; j < 2; j++) {
            if (i < 6)
                ((draw_info)function)(game.buffer, info);
            else
                ((draw_bytes)function)(game.buffer, 1, 0, info, 0, 4);
        }
        assert_recorded(i < 6 ? BEGUN "vkCmdBeginQuery vkCmdBindPipeline vkCmdDrawIndirect "
                                      "vkCmdDrawIndirect "
                              : BEGUN "vkCmdBeginQuery vkCmdBindPipeline "
                                      "vkCmdDrawIndirectByteCountEXT "
                                      "vkCmdDrawIndirectByteCountEXT ");
        assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
        end_query();
        h.vk.CmdEndRenderPass(game.buffer);
        PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
        next_case(state);
    }
}

static void draws_of_all_kinds(void **state)
{
    static const char *const names[] = {"vkCmdDrawIndexed", "vkCmdDrawIndirect",
                                        "vkCmdDrawIndexedIndirect", "vkCmdDrawIndirectCount",
                                        "vkCmdDrawMeshTasksEXT"};
    const char *const extensions[] = {"VK_EXT_mesh_shader", NULL};
    for (int i = 0; i < 5; i++) {
        char expected[256];
        open_game(NULL, extensions);
        begin_recording(ONCE);
        begin_query();
        draw_by(i);
        snprintf(expected, sizeof expected, BEGUN "vkCmdBeginQuery vkCmdBindPipeline %s ",
                 names[i]);
        assert_recorded(expected);
        assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
        end_query();
        h.vk.CmdEndRenderPass(game.buffer);
        PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
        next_case(state);
    }
}

/* The game sets a state for the pipeline that it binds next, before it does: whatever is bound
 * behind that and is not that pipeline may unset it. */
static void what_is_set_for_the_next_pipeline_stays(void **state)
{
    static const float constants[4] = {1, 2, 3, 4};
    for (int inside = 0; inside < 2; inside++) {
        open_game(NULL, NULL);
        begin_recording(ONCE);
        if (inside)
            begin_query();
        h.vk.CmdSetBlendConstants(game.buffer, constants);
        if (!inside) {
            begin_query();
            end_query();
        }
        h.vk.CmdBindPipeline(game.buffer, GRAPHICS, game.leaving);
        draw();
        if (inside)
            end_query();
        draw();
        h.vk.CmdEndRenderPass(game.buffer);
        assert_recorded(inside ? BEGUN "vkCmdBeginQuery vkCmdSetBlendConstants vkCmdBindPipeline "
                                       "vkCmdDraw vkCmdEndQuery vkCmdDraw vkCmdEndRenderPass "
                               : BEGUN "vkCmdSetBlendConstants vkCmdBeginQuery vkCmdEndQuery "
                                       "vkCmdBindPipeline vkCmdDraw vkCmdDraw vkCmdEndRenderPass ");
        assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.leaving);
        run();
        assert_int_equal(ran.count, 2);
        assert_true(ran.pipelines[0] == game.leaving && ran.pipelines[1] == game.leaving);
        next_case(state);
    }
}

/* The query is over before anything is drawn: the draw has what was bound. */
static void a_draw_behind_the_query(void **state)
{
    (void)state;
    open_game(NULL, NULL);
    begin_recording(ONCE);
    begin_query();
    end_query();
    draw();
    h.vk.CmdEndRenderPass(game.buffer);
    assert_recorded(BEGUN "vkCmdBeginQuery vkCmdEndQuery vkCmdDraw vkCmdEndRenderPass ");
    run();
    assert_int_equal(ran.count, 1);
    assert_ptr_equal(ran.pipelines[0], optimized_bound(&h, game.begun, 0));
    close_game();
}

/* Nothing is drawn, and what becomes of the recording takes what was put off with it. */
static void no_draw_at_all(void **state)
{
    enum { ENDED, RESET, POOL_RESET, BEGUN_ANEW, FREED, WAYS };
    for (int way = 0; way < WAYS; way++) {
        open_game(NULL, NULL);
        begin_recording(ONCE);
        begin_query();
        if (way == ENDED) {
            end_query();
            h.vk.CmdEndRenderPass(game.buffer);
            run();
            assert_int_equal(ran.count, 0);
        } else if (way == RESET) {
            PM_CHECK(h.vk.ResetCommandBuffer(game.buffer, 0));
        } else if (way == POOL_RESET) {
            PM_CHECK(h.vk.ResetCommandPool(h.device, h.pool, 0));
        } else if (way == FREED) {
            h.vk.FreeCommandBuffers(h.device, h.pool, 1, &game.buffer);
            game.buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        }
        pm_harness_begin(&h, game.buffer, ONCE);
        game.begun = h.driver->position();
        pm_harness_begin_pass(&h, game.buffer);
        draw();
        h.vk.CmdBindPipeline(game.buffer, GRAPHICS, game.graphics);
        begin_query();
        draw();
        assert_recorded("vkCmdBeginRenderPass vkCmdDraw vkCmdBindPipeline vkCmdBeginQuery "
                        "vkCmdDraw ");
        assert_ptr_equal(optimized_bound(&h, game.begun, 0), game.graphics);
        end_query();
        h.vk.CmdEndRenderPass(game.buffer);
        PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
        next_case(state);
    }
}

/* A dispatch is no draw, and leaves it to the one behind it; of a pipeline that computes nothing is
 * put off. */
static void a_dispatch_before_the_draw(void **state)
{
    (void)state;
    open_game(NULL, NULL);
    const VkPipeline compute = optimized_compute(&h);
    bind_variant(VK_COMMAND_BUFFER_LEVEL_PRIMARY, ONCE);
    h.vk.CmdBindPipeline(game.buffer, COMPUTE, compute);
    game.pool = pm_harness_make_statistics(&h);
    h.vk.CmdResetQueryPool(game.buffer, game.pool, 0, 1);
    begin_query();
    h.vk.CmdDispatch(game.buffer, 1, 1, 1);
    h.vk.CmdBindPipeline(game.buffer, COMPUTE, compute);
    h.vk.CmdDispatch(game.buffer, 1, 1, 1);
    pm_harness_begin_pass(&h, game.buffer);
    draw();
    h.vk.CmdEndRenderPass(game.buffer);
    end_query();
    assert_recorded("vkCmdBindPipeline vkCmdBindPipeline vkCmdResetQueryPool vkCmdBindPipeline "
                    "vkCmdBeginQuery vkCmdDispatch vkCmdBindPipeline vkCmdDispatch "
                    "vkCmdBeginRenderPass vkCmdBindPipeline vkCmdDraw vkCmdEndRenderPass "
                    "vkCmdEndQuery ");
    run();
    assert_int_equal(ran.count, 3);
    assert_true(ran.pipelines[0] == compute && ran.pipelines[1] == compute &&
                ran.pipelines[2] == game.graphics);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    close_game();
}

/* In a window too, whether its calls are sampled or hardly one is, and whether the recording is for
 * one submission or may be kept. */
static void in_a_window(void **state)
{
    static const char *const probabilities[] = {"1", "1e-9"};
    for (int i = 0; i < 4; i++) {
        open_game(probabilities[i & 1], NULL);
        begin_recording((i & 2) != 0 ? 0 : ONCE);
        const VkPipeline variant = optimized_bound(&h, game.begun, 0);
        const bool samples = (i & 1) == 0;
        draw();
        begin_query();
        draw();
        draw();
        end_query();
        draw();
        h.vk.CmdEndRenderPass(game.buffer);
        run();
        assert_int_equal(ran.count, 4);
        /* What is sampled runs with neither. */
        assert_int_equal(samples, ran.pipelines[0] != variant);
        assert_true(ran.pipelines[0] != game.graphics);
        assert_ptr_equal(ran.pipelines[1], game.graphics);
        assert_ptr_equal(ran.pipelines[2], game.graphics);
        assert_int_equal(samples, ran.pipelines[3] != game.graphics);
        assert_true(ran.pipelines[3] != variant);
        next_case(state);
    }
}

/* There is a pool, and the variant might be put back, until a pipeline is made that leaves more. */
static void a_pipeline_that_leaves_more_comes_late(void **state)
{
    (void)state;
    open_first(NULL, NULL);
    game.pool = pm_harness_make_statistics(&h);
    bind_variant(VK_COMMAND_BUFFER_LEVEL_PRIMARY, ONCE);
    game.leaving = make_graphics(&h, &leaving);
    h.vk.CmdResetQueryPool(game.buffer, game.pool, 0, 1);
    pm_harness_begin_pass(&h, game.buffer);
    begin_query();
    draw();
    assert_recorded(BEGUN "vkCmdBeginQuery vkCmdBindPipeline vkCmdDraw ");
    assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
    end_query();
    h.vk.CmdEndRenderPass(game.buffer);
    PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
    close_game();
}

static void in_a_secondary_one(void **state)
{
    (void)state;
    open_game(NULL, NULL);
    bind_variant(VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                 ONCE | VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
    game.pool = pm_harness_make_statistics(&h);
    begin_query();
    draw();
    end_query();
    assert_recorded("vkCmdBindPipeline vkCmdBeginQuery vkCmdBindPipeline vkCmdDraw "
                    "vkCmdEndQuery ");
    assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
    PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
    close_game();
}

/* Nothing can be bound in transform feedback: a draw in it runs with what is bound, and the next
 * one with the game's own. */
static void in_transform_feedback(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_transform_feedback", NULL};
    open_game(NULL, extensions);
    begin_recording(ONCE);
    begin_query();
    h.vk.CmdBeginTransformFeedbackEXT(game.buffer, 0, 0, NULL, NULL);
    draw();
    h.vk.CmdEndTransformFeedbackEXT(game.buffer, 0, 0, NULL, NULL);
    draw();
    end_query();
    h.vk.CmdEndRenderPass(game.buffer);
    assert_recorded(BEGUN "vkCmdBeginQuery vkCmdBeginTransformFeedbackEXT vkCmdDraw "
                          "vkCmdEndTransformFeedbackEXT vkCmdBindPipeline vkCmdDraw vkCmdEndQuery "
                          "vkCmdEndRenderPass ");
    assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
    PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
    close_game();
}

/* With several devices draws go another way, also where the other one comes or goes between the
 * query's beginning and the draw. */
static void with_several_devices(void **state)
{
    enum { THERE, COMES, GOES, WAYS };
    const struct pm_harness_options options = {.features = &features};
    for (int way = 0; way < WAYS; way++) {
        struct pm_harness other;
        open_game(NULL, NULL);
        if (way != COMES)
            pm_harness_open(&other, &options);
        begin_recording(ONCE);
        begin_query();
        if (way == GOES)
            pm_harness_close(&other);
        else if (way == COMES)
            pm_harness_open(&other, &options);
        draw();
        draw();
        assert_recorded(BEGUN "vkCmdBeginQuery vkCmdBindPipeline vkCmdDraw vkCmdDraw ");
        assert_ptr_equal(optimized_bound(&h, game.begun, 1), game.graphics);
        end_query();
        h.vk.CmdEndRenderPass(game.buffer);
        PM_CHECK(h.vk.EndCommandBuffer(game.buffer));
        if (way != GOES)
            pm_harness_close(&other);
        next_case(state);
    }
}

/* ---- a variant that is tried ---- */

static bool was_tried, around_the_pass;

/* One that was bound for a render pass instance stays behind it, until the game binds another, or a
 * query must not see it. */
static void try_and_ask(VkCommandBuffer buffer)
{
    struct pm_harness *t = &trying.h;
    uint64_t position = t->driver->position();
    pm_harness_begin_pass(t, buffer);
    t->vk.CmdBindPipeline(buffer, GRAPHICS, trying.graphics);
    t->vk.CmdDraw(buffer, 3, 1, 0, 0);
    t->vk.CmdEndRenderPass(buffer);
    if (was_tried || trying_foreign_binds(position) == 0)
        return;
    was_tried = true;
    assert_int_equal(pm_calls_of(t->driver, position, "vkCmdBindPipeline"), 1);
    game.pool = pm_harness_make_statistics(t);
    t->vk.CmdResetQueryPool(buffer, game.pool, 0, 1);
    position = t->driver->position();
    if (around_the_pass)
        t->vk.CmdBeginQuery(buffer, game.pool, 0, 0);
    pm_harness_begin_pass(t, buffer);
    if (!around_the_pass)
        t->vk.CmdBeginQuery(buffer, game.pool, 0, 0);
    assert_int_equal(pm_calls_of(t->driver, position, "vkCmdBindPipeline"), 0);
    t->vk.CmdDraw(buffer, 3, 1, 0, 0);
    t->vk.CmdDraw(buffer, 3, 1, 0, 0);
    if (!around_the_pass)
        t->vk.CmdEndQuery(buffer, game.pool, 0);
    t->vk.CmdEndRenderPass(buffer);
    if (around_the_pass)
        t->vk.CmdEndQuery(buffer, game.pool, 0);
    optimized_assert_calls(t, position, buffer,
                           around_the_pass
                               ? "vkCmdBeginQuery vkCmdBeginRenderPass vkCmdBindPipeline vkCmdDraw "
                                 "vkCmdDraw vkCmdEndRenderPass vkCmdEndQuery "
                               : "vkCmdBeginRenderPass vkCmdBeginQuery vkCmdBindPipeline vkCmdDraw "
                                 "vkCmdDraw vkCmdEndQuery vkCmdEndRenderPass ");
    assert_ptr_equal(optimized_bound(t, position, 0), trying.graphics);
}

static void where_it_is_tried(void **state)
{
    for (int i = 0; i < 2; i++) {
        around_the_pass = i != 0;
        was_tried = false;
        trying.additive = false;
        trying_open(80000, &(struct pm_harness_options){.features = &features});
        const VkPipeline other = make_graphics(&trying.h, &leaving);
        trying_run_frames(try_and_ask, TRYING_ONCE, 16);
        assert_true(was_tried);
        trying.h.vk.DestroyQueryPool(trying.h.device, game.pool, NULL);
        trying.h.vk.DestroyPipeline(trying.h.device, other, NULL);
        trying_close();
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_draw_in_the_query),
        PM_LAYERED_TEST(draws_of_all_kinds),
        PM_LAYERED_TEST(newer_draws),
        PM_LAYERED_TEST(what_is_set_for_the_next_pipeline_stays),
        PM_LAYERED_TEST(a_draw_behind_the_query),
        PM_LAYERED_TEST(no_draw_at_all),
        PM_LAYERED_TEST(a_dispatch_before_the_draw),
        PM_LAYERED_TEST(in_a_window),
        PM_LAYERED_TEST(a_pipeline_that_leaves_more_comes_late),
        PM_LAYERED_TEST(in_a_secondary_one),
        PM_LAYERED_TEST(in_transform_feedback),
        PM_LAYERED_TEST(with_several_devices),
        PM_LAYERED_TEST(where_it_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
