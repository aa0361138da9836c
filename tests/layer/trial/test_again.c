/* What is used is tried again (trial.h): a variant that is slower in another scene is noticed there
 * and dropped, whether this session's trial proved it or an earlier one's, and one that is as fast
 * stays. */
#include "tests/layer/trial/trying.h"

#include "tests/patience.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOON = 600 /* frames, within which a new scene is noticed */ };

/* Whether the queries that a recording wrote since a position were reset, as they are once their
 * times are taken. */
static bool are_taken(VkCommandBuffer buffer, uint64_t since)
{
    const struct pm_null_api *driver = trying.h.driver;
    struct pm_null_call written, call;
    for (uint64_t at = since; driver->read(at, &written); at++) {
        /* Two each, which are reset together. */
        if (strcmp(written.command, "vkCmdWriteTimestamp") != 0 ||
            written.arguments[0] != PM_NULL_NUMBER(buffer) || written.arguments[3] % 2 != 0)
            continue;
        bool taken = false;
        for (uint64_t later = at; !taken && driver->read(later, &call); later++)
            taken = strcmp(call.command, "vkResetQueryPool") == 0 &&
                    call.arguments[1] == written.arguments[2] &&
                    call.arguments[2] == written.arguments[3];
        if (!taken)
            return false;
    }
    return true;
}

/* A frame whose times are taken before the next one, however long the thread that does so is kept
 * waiting: what it decides, and says, comes to no later frame. Else a busy machine has many frames
 * without their times, which ends glances in vain, and many between a verdict and its line in the
 * log. */
static void run_frame(trying_recorder record)
{
    const uint64_t position = trying.h.driver->position();
    uint64_t until = 0;
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    trying_frame(buffer, TRYING_ONCE, record);
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
    while (!are_taken(buffer, position) && patience(&until))
        ;
    assert_true(are_taken(buffer, position));
}

/* Frames until the log has the text so many times; false: it never had. */
static bool run_until(const char *text, uint32_t times)
{
    uint64_t until = 0;
    while (optimized_logged(text) < times && patience(&until))
        run_frame(trying_dispatch);
    return optimized_logged(text) >= times;
}

/* Of eight frames; where one is glanced at (glance.h) its pair has the original once. */
static uint32_t used_in_eight(void)
{
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    return trying_foreign_binds(position);
}

static void slower_in_another_scene(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying_set_scene("first");
    assert_true(run_until("is used from now on", 1));
    assert_int_equal(used_in_eight(), 8);
    trying.variant_cost = 200000;
    trying_set_scene("second");
    assert_true(run_until("is not faster, and is dropped", 1));
    assert_int_equal(used_in_eight(), 0);
    trying_close();

    /* The next session knows. */
    trying_open(80000, NULL);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 64);
    assert_int_equal(used_in_eight(), 0);
    trying_close();
}

static void assert_is_used(void)
{
    assert_in_range(used_in_eight(), 7, 8);
}

static void as_fast_in_another_scene(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying_set_scene("first");
    assert_true(run_until("is used from now on", 1));
    trying_set_scene("second");
    assert_true(run_until("is tried again", 1));
    assert_true(run_until("is used from now on", 2));
    assert_int_equal(used_in_eight(), 8);
    /* Both are known by now. */
    trying_set_scene("first");
    trying_run_frames(trying_dispatch, TRYING_ONCE, SOON);
    trying_set_scene("second");
    trying_run_frames(trying_dispatch, TRYING_ONCE, SOON);
    optimized_assert_logged("is tried again", 1);
    assert_is_used();
    trying_close();
}

/* Frames one after the other until the log has the text so many times, or there were so many of
 * them: how many there were. */
static uint32_t frames_until(trying_recorder record, const char *text, uint32_t times,
                             uint32_t most)
{
    uint32_t frames = 0;
    for (; frames < most && optimized_logged(text) < times; frames++) {
        run_frame(record);
        usleep(500); /* what else is to be made of them is made in the background */
    }
    return frames;
}

/* Nobody says that the scene is another one. */
static void slower_in_a_scene_without_a_name(void **state)
{
    (void)state;
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(run_until("is used from now on", 1));
    assert_int_equal(used_in_eight(), 8);
    trying.variant_cost = 200000;
    const uint32_t frames =
        frames_until(trying_dispatch, "is not faster, and is dropped", 1, 4 * SOON);
    assert_in_range(frames, 200, 2 * SOON);
    optimized_assert_logged("since it seems to be slower", 1);
    assert_int_equal(used_in_eight(), 0);
    trying_close();

    /* The next session knows. */
    trying_open(80000, NULL);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 64);
    assert_int_equal(used_in_eight(), 0);
    trying_close();
}

/* Which of the game's own pipeline reached the driver since a position. */
static uint32_t own_binds(uint64_t since)
{
    uint32_t count = 0;
    struct pm_null_call call;
    for (uint64_t at = since; trying.h.driver->read(at, &call); at++)
        count += strcmp(call.command, "vkCmdBindPipeline") == 0 &&
                 call.arguments[2] == PM_NULL_NUMBER(trying.compute);
    return count;
}

/* What is as fast as it was is glanced at: by one pair in some hundred frames, and no trial. */
static void glances_find_it_still_faster(void **state)
{
    (void)state;
    enum { FRAMES = 1000 };
    trying.dispatches = true;
    trying_open(80000, NULL);
    trying.noise = 0.2;
    assert_true(run_until("is used from now on", 1));
    const uint64_t position = trying.h.driver->position();
    assert_int_equal(frames_until(trying_dispatch, "is tried again", 1, FRAMES), FRAMES);
    assert_in_range(own_binds(position), 2, 16);
    optimized_assert_logged("is used from now on", 1);
    assert_is_used();
    trying_close();
}

static void beat(int heartbeats)
{
    for (int i = 0; i < heartbeats; i++)
        PM_CHECK(trying.h.vk.QueueSubmit(trying.h.queue, 0, NULL, VK_NULL_HANDLE));
}

/* Where no scene is named it takes so many heartbeats, and twice as many from then on. */
static void slower_without_a_scene(void **state)
{
    (void)state;
    enum { RETRY = 1 << 14, LOOK = 64 };
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(run_until("is used from now on", 1));
    beat(RETRY - 2 * LOOK);
    assert_int_equal(used_in_eight(), 8);
    optimized_assert_logged("is tried again", 0);
    beat(2 * LOOK);
    assert_true(run_until("is tried again", 1));
    assert_true(run_until("is used from now on", 2));
    trying.variant_cost = 200000;
    beat(2 * RETRY - 2 * LOOK);
    assert_int_equal(used_in_eight(), 8);
    optimized_assert_logged("is tried again", 1);
    beat(2 * LOOK);
    assert_true(run_until("is not faster, and is dropped", 1));
    assert_int_equal(used_in_eight(), 0);
    trying_close();
}

/* Draws, of which nothing was timed in this session: how they can be is found out first. */
static void proven_by_an_earlier_session_and_slower(void **state)
{
    (void)state;
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "is used from now on"));
    trying_close();
    trying_open_early(200000, NULL);
    optimized_assert_logged("timestamps around single draws", 1); /* the session's before */
    const uint32_t most = 8 * SOON;
    assert_true(frames_until(trying_draw, "is not faster, and is dropped", 1, most) < most);
    trying_close();
    unsetenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE");
}

static VkPipeline second;

static void dispatch_both(VkCommandBuffer buffer)
{
    trying_dispatch(buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, second);
    trying.h.vk.CmdDispatch(buffer, 1, 1, 1);
}

static bool second_is_replaced(void)
{
    return optimized_effective(&trying.h, second, VK_PIPELINE_BIND_POINT_COMPUTE) != second;
}

/* What is found slower again is dropped for a pipeline too that came behind the first verdict. */
static void what_came_later_is_tried_with_it(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying_set_scene("first");
    assert_true(run_until("is used from now on", 1));
    second = optimized_compute(&trying.h);
    assert_true(second_is_replaced());
    trying_run_frames(dispatch_both, TRYING_ONCE, 8);
    trying.variant_cost = 200000;
    trying_set_scene("second");
    assert_true(run_until("is not faster, and is dropped", 1));
    assert_int_equal(used_in_eight(), 0);
    assert_false(second_is_replaced());
    trying.h.vk.DestroyPipeline(trying.h.device, second, NULL);
    trying_close();
}

static void proven_by_an_earlier_session(void **state)
{
    (void)state;
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(run_until("is used from now on", 1));
    trying_close();
    trying.dispatches = true;
    trying_open(200000, NULL);
    assert_int_equal(used_in_eight(), 8);
    optimized_assert_logged("is tried again", 0);
    trying_set_scene("second");
    assert_true(run_until("is not faster, and is dropped", 1));
    assert_int_equal(used_in_eight(), 0);
    trying_close();
    unsetenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(slower_in_another_scene),
        PM_LAYERED_TEST(as_fast_in_another_scene),
        PM_LAYERED_TEST(slower_in_a_scene_without_a_name),
        PM_LAYERED_TEST(glances_find_it_still_faster),
        PM_LAYERED_TEST(slower_without_a_scene),
        PM_LAYERED_TEST(what_came_later_is_tried_with_it),
        PM_LAYERED_TEST(proven_by_an_earlier_session),
        PM_LAYERED_TEST(proven_by_an_earlier_session_and_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
