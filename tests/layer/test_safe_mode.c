/* Safe mode (HAZARDS 22): what a session that did not end properly holds back in the next one. */
#include "tests/layer/optimized.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pm_harness h;
static VkPipeline game_compute;

static bool is_replaced(VkPipeline compute)
{
    return optimized_effective(&h, compute, VK_PIPELINE_BIND_POINT_COMPUTE) != compute;
}

static bool replaced_in_a_session(void)
{
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    const bool replaced = is_replaced(compute);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    return replaced;
}

static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void hang(void)
{
    for (;;)
        pause();
}

static void leave(void)
{
    exit(0);
}

/* A game in a process of its own, which ends as told while a variant is in use. */
static void session_that_ends(void (*end)(void))
{
    int ready[2];
    char replaced = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        pm_harness_open(&h, NULL);
        game_compute = optimized_compute(&h);
        replaced = is_replaced(game_compute);
        if (write(ready[1], &replaced, 1) != 1)
            _exit(1);
        end();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &replaced, 1), 1);
    assert_int_equal(replaced, 1);
    close(ready[0]);
    if (end == hang)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void a_crash_holds_it_back(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    session_that_ends(crash);
    assert_false(replaced_in_a_session());
    optimized_assert_logged("the last session did not end properly", 1);
    assert_false(replaced_in_a_session());
    optimized_assert_logged("the last session did not end properly", 1);
}

static void a_hang_that_is_killed_holds_it_back(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    session_that_ends(hang);
    assert_false(replaced_in_a_session());
}

static void a_second_bad_end_holds_back_everything(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    assert_true(replaced_in_a_session());
    session_that_ends(crash);
    assert_true(replaced_in_a_session()); /* it was proven; this session ends well */
    session_that_ends(crash);
    session_that_ends(crash);
    assert_false(replaced_in_a_session());
    optimized_assert_logged("all are held back", 1);
}

static void a_game_that_just_exits_has_ended_properly(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    session_that_ends(leave);
    assert_true(replaced_in_a_session());
    optimized_assert_logged("did not end properly", 0);
}

static void a_lost_device_holds_it_back(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    assert_true(is_replaced(compute));
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    assert_true(h.driver->inject("vkQueueSubmit:1"));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    optimized_enable(true);
    assert_false(replaced_in_a_session());
}

/* Frames go on with nothing new in them. */
static void play_on(void)
{
    for (int i = 0; i < 4; i++)
        is_replaced(game_compute);
}

static void play_on_and_crash(void)
{
    play_on();
    crash();
}

static void play_on_and_lose_the_device(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    play_on();
    pm_harness_begin(&h, buffer, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.driver->inject("vkQueueSubmit:1");
    h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE);
    leave();
}

static void play_on_and_meet_something_new(void)
{
    play_on();
    optimized_effective(&h, optimized_graphics(&h), VK_PIPELINE_BIND_POINT_GRAPHICS);
    crash();
}

static void a_session_that_settled_may_be_killed(void **state)
{
    (void)state;
    const struct {
        void (*end)(void);
        const char *seconds;
        bool held;
    } cases[] = {
        {play_on_and_crash, "1000000", true},
        {play_on_and_crash, "0", false},
        {play_on_and_lose_the_device, "0", true},
        {play_on_and_meet_something_new, "0", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        optimized_learn();
        optimized_enable(true);
        setenv("PIECEMEAL_DEBUG_SETTLE_SECONDS", cases[i].seconds, 1);
        session_that_ends(cases[i].end);
        assert_int_equal(replaced_in_a_session(), !cases[i].held);
        optimized_assert_logged("did not end properly", cases[i].held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_crash_holds_it_back),
        PM_LAYERED_TEST(a_hang_that_is_killed_holds_it_back),
        PM_LAYERED_TEST(a_second_bad_end_holds_back_everything),
        PM_LAYERED_TEST(a_game_that_just_exits_has_ended_properly),
        PM_LAYERED_TEST(a_lost_device_holds_it_back),
        PM_LAYERED_TEST(a_session_that_settled_may_be_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
