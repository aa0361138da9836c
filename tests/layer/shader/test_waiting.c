/* Which of many pipelines are specialized where limits.variants allows a few only: those that the
 * game binds, the most often bound first, and others when there is room again. */
#include "tests/layer/optimized.h"

#include "tests/layer/pipelines.h"
#include "tests/patience.h"
#include <stdlib.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static struct pm_harness h;

/* A session with room for so many. */
static void open_with(const char *variants)
{
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", variants, 1);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
}

static void close_it(void)
{
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
}

static bool is_replaced(VkPipeline pipeline)
{
    return optimized_effective(&h, pipeline, COMPUTE) != pipeline;
}

static bool becomes_replaced(VkPipeline pipeline)
{
    uint64_t until = 0;
    while (!is_replaced(pipeline) && patience(&until))
        ;
    return is_replaced(pipeline);
}

/* A precaching engine's pipelines come first, and nobody binds them. */
static void what_is_never_bound_takes_no_room(void **state)
{
    (void)state;
    VkPipeline unused[20];
    open_with("1");
    for (int i = 0; i < 20; i++)
        unused[i] = optimized_compute(&h);
    const VkPipeline used = optimized_compute(&h);
    assert_true(becomes_replaced(used));
    assert_int_equal(watch_counts().variants, 1);
    for (int i = 0; i < 20; i++)
        h.vk.DestroyPipeline(h.device, unused[i], NULL);
    h.vk.DestroyPipeline(h.device, used, NULL);
    close_it();
}

/* The game destroys the one that has the room: another one gets it, the most often bound, although
 * it asked last. */
static void room_goes_to_what_is_bound_most(void **state)
{
    (void)state;
    open_with("1");
    const VkPipeline first = optimized_compute(&h);
    assert_true(becomes_replaced(first));
    const VkPipeline cool = optimized_compute(&h), gone = optimized_compute(&h),
                     warm = optimized_compute(&h);
    for (int i = 0; i < 8; i++)
        assert_false(is_replaced(gone));
    assert_false(is_replaced(cool));
    for (int i = 0; i < 4; i++)
        assert_false(is_replaced(warm));
    assert_int_equal(watch_counts().variants, 1);
    h.vk.DestroyPipeline(h.device, gone, NULL);
    h.vk.DestroyPipeline(h.device, first, NULL);
    assert_true(becomes_replaced(warm));
    assert_false(is_replaced(cool));
    /* The thread may just have looked at the one that is gone, and have begun with it. */
    assert_in_range(watch_counts().variants, 2, 3);
    h.vk.DestroyPipeline(h.device, warm, NULL);
    assert_true(becomes_replaced(cool));
    h.vk.DestroyPipeline(h.device, cool, NULL);
    close_it();
}

/* The device goes while pipelines wait for room. */
static void those_that_wait_go_with_the_device(void **state)
{
    (void)state;
    VkPipeline waiting[20];
    open_with("1");
    const VkPipeline first = optimized_compute(&h);
    assert_true(becomes_replaced(first));
    for (int i = 0; i < 20; i++) {
        waiting[i] = optimized_compute(&h);
        assert_false(is_replaced(waiting[i]));
    }
    for (int i = 0; i < 20; i += 2)
        h.vk.DestroyPipeline(h.device, waiting[i], NULL);
    h.vk.DestroyPipeline(h.device, first, NULL);
    for (int i = 1; i < 20; i += 2)
        h.vk.DestroyPipeline(h.device, waiting[i], NULL);
    close_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_is_never_bound_takes_no_room),
        PM_LAYERED_TEST(room_goes_to_what_is_bound_most),
        PM_LAYERED_TEST(those_that_wait_go_with_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
