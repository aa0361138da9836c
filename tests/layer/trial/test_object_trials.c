/* Specialized shader objects are tried as pipelines are, and share their shader's verdict. */
#include "tests/layer/shader_objects.h"
#include "tests/layer/trial/prove.h"
#include "tests/patience.h"

#include <stdlib.h>

#define COMPUTE VK_SHADER_STAGE_COMPUTE_BIT
#define FRAGMENT VK_SHADER_STAGE_FRAGMENT_BIT

static const char *const extensions[] = {"VK_EXT_shader_object", NULL};
static const struct pm_harness_options with_objects = {.device_extensions = extensions};

static VkShaderEXT vertex;

static void open_objects(uint64_t variant_cost, VkShaderStageFlagBits stage)
{
    const struct object_options of = {.stage = stage, .weighted = true};
    trying_open(variant_cost, &with_objects);
    objects_make(&trying.h, &of, 1, &trying.object);
    vertex = object_make(&trying.h, VK_SHADER_STAGE_VERTEX_BIT);
}

static void close_objects(void)
{
    trying.h.vk.DestroyShaderEXT(trying.h.device, trying.object, NULL);
    trying.h.vk.DestroyShaderEXT(trying.h.device, vertex, NULL);
    trying_close();
}

static void dispatch(VkCommandBuffer buffer)
{
    object_bind(&trying.h, buffer, COMPUTE, trying.object);
    trying.h.vk.CmdDispatch(buffer, 1, 1, 1);
}

static void draw(VkCommandBuffer buffer)
{
    pm_harness_begin_pass(&trying.h, buffer);
    objects_bind(&trying.h, buffer, vertex, trying.object);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRenderPass(buffer);
}

/* What a call runs with, by its cost. */
static uint64_t seen;

static uint64_t look(void *user, VkPipeline pipeline)
{
    (void)user;
    seen = (uintptr_t)pipeline;
    return 1;
}

static bool is_replaced(trying_recorder record)
{
    trying.h.driver->set_cost(look, NULL);
    trying_run_frames(record, TRYING_ONCE, 1);
    return seen != (uintptr_t)trying.object;
}

static void a_faster_dispatch_is_used(void **state)
{
    (void)state;
    open_objects(80000, COMPUTE);
    assert_true(trying_run_until(dispatch, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged("tried a specialized shader", 1);
    assert_true(is_replaced(dispatch));
    /* The pipeline of the same shader has the verdict, too. */
    assert_true(optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE) !=
                trying.compute);
    close_objects();
    trying_assert_timing(0.8, 0.01);
}

static void a_slower_one_is_dropped(void **state)
{
    (void)state;
    open_objects(130000, COMPUTE);
    assert_true(trying_run_until(dispatch, TRYING_ONCE, "dropped"));
    assert_false(is_replaced(dispatch));
    close_objects();
    trying_assert_timing(1.3, 0.01);
}

/* Held for whole render pass instances, and put back at their end. */
static void a_faster_draw_is_used(void **state)
{
    (void)state;
    open_objects(80000, FRAGMENT);
    assert_true(trying_run_until(draw, TRYING_ONCE, "is used from now on"));
    assert_true(is_replaced(draw));
    close_objects();
    trying_assert_timing(0.8, 0.01);
}

/* Where draws are timed one by one. */
static void a_slower_draw_is_dropped(void **state)
{
    (void)state;
    trying.additive = true;
    open_objects(130000, FRAGMENT);
    assert_true(trying_run_until(draw, TRYING_ONCE, "dropped"));
    assert_false(is_replaced(draw));
    close_objects();
    trying_assert_timing(1.3, 0.01);
}

/* ---- recorded once ---- */

enum { SUBMISSIONS = 100 };

/* A new object, and the recording of a dispatch or of draws with it. */
static VkCommandBuffer record_object(VkShaderStageFlagBits stage)
{
    const struct object_options of = {.stage = stage, .weighted = true};
    objects_make(&trying.h, &of, 1, &trying.object);
    vertex = object_make(&trying.h, VK_SHADER_STAGE_VERTEX_BIT);
    trying_costs(); /* only what is recorded from now on has any */
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, 0);
    if (stage == COMPUTE)
        dispatch(buffer);
    else
        draw(buffer);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    return buffer;
}

static void submit_recorded(VkCommandBuffer buffer, int times)
{
    for (int i = 0; i < times; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
}

/* Whether the recording has a variant in the object's place. */
static bool has_variant(VkCommandBuffer buffer)
{
    trying.h.driver->set_cost(look, NULL);
    submit_recorded(buffer, 1);
    return seen != (uintptr_t)trying.object;
}

static void close_recorded(void)
{
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.vk.DestroyShaderEXT(trying.h.device, trying.object, NULL);
    trying.h.vk.DestroyShaderEXT(trying.h.device, vertex, NULL);
    pm_harness_close(&trying.h);
    trying = (struct trying){0};
}

/* A session that submits its recording again and again, until the log says something once more.
 * Whether that has the variant. */
static bool keep_recording(VkShaderStageFlagBits stage, const char *until_logged)
{
    const uint32_t logged = optimized_logged(until_logged);
    uint64_t until = 0;
    trying.variant_cost = 80000;
    pm_harness_open(&trying.h, &with_objects);
    trying.h.driver->set_binned(true);
    VkCommandBuffer buffer = record_object(stage);
    const bool variant = has_variant(buffer);
    trying_costs();
    do
        submit_recorded(buffer, SUBMISSIONS);
    while (optimized_logged(until_logged) == logged && patience(&until));
    trying.h.driver->set_binned(false);
    close_recorded();
    return variant;
}

static void try_over_sessions(VkShaderStageFlagBits stage, const char *original,
                              const char *with_variant)
{
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    assert_false(keep_recording(stage, "timed in turn: sessions are"));
    optimized_assert_logged("timed a session", 0);
    for (int i = 0; i < 3 && optimized_logged("1 pairs of sessions") == 0; i++)
        (void)keep_recording(stage, "timed a session");
    optimized_assert_logged(original, 1 + optimized_logged("this one is of none"));
    optimized_assert_logged(with_variant, 1);
    optimized_assert_logged("1 pairs of sessions", 1);
}

/* Nothing can alternate within a session, so two of them have the one side and the other. */
static void dispatches_are_tried_over_sessions(void **state)
{
    (void)state;
    try_over_sessions(COMPUTE, "(100000 ns,", "(80000 ns,");
}

static void draws_are_tried_over_sessions(void **state)
{
    (void)state;
    try_over_sessions(FRAGMENT, "(200000 ns,", "(160000 ns,");
}

/* What is proven is made with the object, so that what is recorded a moment later has it; nothing
 * is made in the background meanwhile. */
static void a_proven_one_is_made_at_once(void **state)
{
    (void)state;
    prove();
    for (int i = 0; i < 2; i++) {
        setenv("PIECEMEAL_OPTIMIZE_ZERO", i == 0 ? "true" : "false", 1);
        pm_harness_open(&trying.h, &with_objects);
        trying.h.driver->hold_compiles(true);
        VkCommandBuffer buffer = record_object(COMPUTE);
        trying.h.driver->hold_compiles(false);
        assert_int_equal(has_variant(buffer), i == 0);
        close_recorded();
    }
    unsetenv("PIECEMEAL_OPTIMIZE_ZERO");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_faster_dispatch_is_used),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(a_faster_draw_is_used),
        PM_LAYERED_TEST(a_slower_draw_is_dropped),
        PM_LAYERED_TEST(dispatches_are_tried_over_sessions),
        PM_LAYERED_TEST(draws_are_tried_over_sessions),
        PM_LAYERED_TEST(a_proven_one_is_made_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
