/* Specialized shader objects are tried as pipelines are, and share their shader's verdict. */
#include "tests/layer/shader_objects.h"
#include "tests/layer/trial/trying.h"

#define COMPUTE VK_SHADER_STAGE_COMPUTE_BIT
#define FRAGMENT VK_SHADER_STAGE_FRAGMENT_BIT

static VkShaderEXT vertex;

static void open_objects(uint64_t variant_cost, VkShaderStageFlagBits stage)
{
    static const char *const extensions[] = {"VK_EXT_shader_object", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    const struct object_options of = {.stage = stage, .weighted = true};
    trying_open(variant_cost, &options);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_faster_dispatch_is_used),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(a_faster_draw_is_used),
        PM_LAYERED_TEST(a_slower_draw_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
