/* Variants that turn slow (layer/shader/slow_later.h): from a heartbeat on the driver is told to
 * bind another pipeline for them, of which nobody else knows, and glances find it. */
#include "tests/layer/trial/trying.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

enum {
    FROM = 400,  /* heartbeat */
    MOST = 4800, /* frames until it is noticed */
    FAST = 80000,
    SLOW = 200000, /* nanoseconds, as TRYING_ORIGINAL */
};

static VkPipeline fast; /* the variant, as it is before; NULL: it is not known yet */

static uint64_t cost(void *user, VkPipeline pipeline)
{
    (void)user;
    return pipeline == trying.graphics || pipeline == trying.compute ? TRYING_ORIGINAL
           : fast == VK_NULL_HANDLE || pipeline == fast              ? FAST
                                                                     : SLOW;
}

static VkPipeline bound(void)
{
    return optimized_effective(&trying.h, trying.graphics, GRAPHICS);
}

/* Frames until the log has the text: how many. */
static uint32_t frames_until(const char *text)
{
    uint32_t frames = 0;
    for (; frames < MOST && optimized_logged(text) == 0; frames++) {
        trying_run_frames(trying_draw, TRYING_ONCE, 1);
        usleep(500); /* their times are taken in the background */
    }
    return frames;
}

/* A session in which the variant is found faster, and that it never is slow in; and another, which
 * uses it at once. */
static void open_with_proven(const char *from)
{
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PIECEMEAL_DEBUG_SLOW_FROM", "1000000", 1);
    fast = VK_NULL_HANDLE;
    trying_open(FAST, NULL);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "is used from now on"));
    trying_close();
    setenv("PIECEMEAL_DEBUG_SLOW_FROM", from, 1);
    trying_open_early(FAST, NULL);
    trying.h.driver->set_cost(cost, NULL);
}

static void close_it(void)
{
    trying_close();
    unsetenv("PIECEMEAL_DEBUG_SLOW_FROM");
    unsetenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE");
}

static void it_turns_slow_and_is_dropped(void **state)
{
    (void)state;
    open_with_proven("400");
    fast = bound();
    assert_true(fast != trying.graphics);
    const uint32_t before = frames_until("400: variants do their work twice from now on");
    assert_in_range(before, 1, FROM);
    optimized_assert_logged("is not faster, and is dropped", 0);
    const VkPipeline slow = bound();
    assert_true(slow != trying.graphics);
    assert_true(slow != fast);
    const uint32_t frames = frames_until("is not faster, and is dropped");
    assert_in_range(frames, 16, MOST - 1);
    optimized_assert_logged("since it seems to be slower", 1);
    assert_ptr_equal(bound(), trying.graphics);
    trying_run_frames(trying_draw, TRYING_ONCE, 1);
    optimized_assert_logged("that turned slow is dropped", 1);
    close_it();
    optimized_assert_logged("variants did their work twice until then", 1);
}

/* What reads what it writes cannot do so twice, and would be as fast as before. */
static void what_cannot_is_not_made(void **state)
{
    (void)state;
    setenv("PIECEMEAL_DEBUG_SLOW_FROM", "400", 1);
    optimized_open(&trying.h);
    trying.compute = optimized_compute(&trying.h);
    trying.graphics = optimized_graphics(&trying.h);
    assert_ptr_equal(optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE),
                     trying.compute);
    assert_true(bound() != trying.graphics);
    optimized_assert_logged("what it does cannot be done twice", 1);
    close_it();
}

/* One pipeline more, built ahead, and gone with the variant. */
static void it_lives_as_long_as_the_variant(void **state)
{
    (void)state;
    setenv("PIECEMEAL_DEBUG_SLOW_FROM", "1", 1);
    optimized_open(&trying.h);
    const uint64_t live = trying.h.driver->live(VK_OBJECT_TYPE_PIPELINE);
    trying.graphics = optimized_graphics(&trying.h);
    assert_int_equal(trying.h.driver->live(VK_OBJECT_TYPE_PIPELINE), live + 3);
    trying_run_frames(trying_nothing, TRYING_ONCE, 1);
    const uint64_t position = trying.h.driver->position();
    const VkPipeline slow = bound();
    assert_ptr_equal(bound(), slow);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCreateGraphicsPipelines"), 0);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.graphics, NULL);
    trying.graphics = VK_NULL_HANDLE;
    assert_int_equal(trying.h.driver->live(VK_OBJECT_TYPE_PIPELINE), live);
    close_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(it_turns_slow_and_is_dropped),
        PM_LAYERED_TEST(what_cannot_is_not_made),
        PM_LAYERED_TEST(it_lives_as_long_as_the_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
