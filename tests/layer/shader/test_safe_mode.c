/* Safe mode (HAZARDS 22): what a session that did not end properly holds back in the next one. */
#include "tests/layer/optimized.h"

#include "base/clock.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- exits from signal handlers ---- */

static bool held_after(void (*end)(void))
{
    optimized_learn();
    optimized_enable(true);
    session_that_ends(end);
    const bool held = !replaced_in_a_session();
    optimized_assert_logged("did not end properly", held);
    return held;
}

static void exit_in_a_handler(int number)
{
    (void)number;
    exit(3);
}

static void tidy_up_in_a_handler(int number)
{
    h.vk.DestroyPipeline(h.device, game_compute, NULL);
    pm_harness_close(&h);
    exit_in_a_handler(number);
}

static void crash_into_a_handler(void)
{
    signal(SIGSEGV, exit_in_a_handler);
    raise(SIGSEGV);
}

static void crash_and_tidy_up(void)
{
    signal(SIGABRT, tidy_up_in_a_handler);
    abort();
}

static void crash_onto_another_stack(void)
{
    static char memory[1 << 17];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    const struct sigaction action = {.sa_handler = exit_in_a_handler,
                                     .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    raise(SIGSEGV);
}

static void crash_in_the_driver(void *command, const struct pm_null_call *call)
{
    if (strcmp(call->command, command) == 0)
        crash_into_a_handler();
}

static void crash_while_the_device_is_destroyed(void)
{
    h.vk.DestroyPipeline(h.device, game_compute, NULL);
    h.driver->set_callback(crash_in_the_driver, "vkDestroyPipelineCache");
    h.vk.DestroyDevice(h.device, NULL);
}

static void a_crash_whose_handler_exits_holds_it_back(void **state)
{
    (void)state;
    assert_true(held_after(crash_into_a_handler));
}

static void a_crash_whose_handler_tidies_up_holds_it_back(void **state)
{
    (void)state;
    assert_true(held_after(crash_and_tidy_up));
}

static void a_crash_on_another_stack_holds_it_back(void **state)
{
    (void)state;
    assert_true(held_after(crash_onto_another_stack));
}

static void a_crash_in_the_end_of_the_device_holds_it_back(void **state)
{
    (void)state;
    assert_true(held_after(crash_while_the_device_is_destroyed));
}

/* Some wait for signals in a thread of its own. */
static void a_game_that_blocks_all_signals_may_exit(void **state)
{
    (void)state;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool held = held_after(leave);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_false(held);
}

/* ---- every other way to end ---- */

static void tidy_up(void)
{
    h.vk.DestroyPipeline(h.device, game_compute, NULL);
    pm_harness_close(&h);
    _exit(0);
}

static void leave_at_once(void)
{
    _exit(0);
}

static void leave_quickly(void)
{
    quick_exit(0);
}

static void abort_by_itself(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void be_ended(void)
{
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
}

static void be_ended_into_a_handler(void)
{
    signal(SIGTERM, exit_in_a_handler);
    raise(SIGTERM);
}

static void be_ended_and_tidy_up(void)
{
    signal(SIGTERM, tidy_up_in_a_handler);
    raise(SIGTERM);
}

static void be_ended_with_all_blocked(void)
{
    struct sigaction action = {.sa_handler = exit_in_a_handler};
    sigfillset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    raise(SIGTERM);
}

/* Without a handler's mask to go by. */
static void crash_into_an_open_handler(void)
{
    const struct sigaction action = {.sa_handler = exit_in_a_handler, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    raise(SIGSEGV);
}

static sigjmp_buf before_the_crash;

static void jump_out(int number)
{
    siglongjmp(before_the_crash, number);
}

static void crash_and_jump_out(void)
{
    if (sigsetjmp(before_the_crash, 1) != 0)
        exit(3);
    signal(SIGSEGV, jump_out);
    raise(SIGSEGV);
}

/* As docs/specialized.md says, what is misjudged included. */
static void ends_are_told_apart(void **state)
{
#if defined(__SANITIZE_THREAD__)
    skip(); /* it has handlers of its own for all signals, and calls the game's later */
#endif
    const struct {
        void (*end)(void);
        bool held;
    } ends[] = {
        {tidy_up, false},
        {leave_at_once, true},
        {leave_quickly, true},
        {abort_by_itself, true},
        {be_ended, true},
        {be_ended_into_a_handler, false},
        {be_ended_and_tidy_up, false},
        {be_ended_with_all_blocked, true},   /* though it is proper */
        {crash_into_an_open_handler, false}, /* though it is not */
        {crash_and_jump_out, false},         /* likewise */
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        if (held_after(ends[i].end) != ends[i].held)
            fail_msg("end %zu is misjudged", i);
    }
}

/* ---- exits with work under way ---- */

#define LONG (2 * PM_SECOND + PM_SECOND / 5) /* as a hang, for the layer */

static VkFence fence;

/* A frame that is under way for as long as the driver holds it. */
static void submit_a_frame(void)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    PM_CHECK(h.vk.CreateFence(h.device, &info, NULL, &fence));
    pm_harness_begin(&h, buffer, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.driver->hold_submissions(true);
    pm_harness_submit(&h, h.queue, buffer, fence);
}

static void *wait_for_ever(void *unused)
{
    h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX);
    return unused;
}

static void give_up_waiting(void)
{
    submit_a_frame();
    h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, LONG);
    exit(1);
}

static void give_up_short_waits(void)
{
    submit_a_frame();
    for (const int64_t end = pm_now() + LONG; pm_now() < end;)
        h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, PM_SECOND / 100);
    exit(1);
}

/* An older frame was done at once, and is asked for again and again. */
static void give_up_beside_a_frame_that_finished(void)
{
    submit_a_frame();
    h.driver->hold_submissions(false);
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    const VkFence finished = fence;
    submit_a_frame();
    for (const int64_t end = pm_now() + LONG; pm_now() < end; usleep(10000)) {
        h.vk.GetFenceStatus(h.device, fence);
        PM_CHECK(h.vk.GetFenceStatus(h.device, finished));
    }
    exit(1);
}

static void give_up_and_tidy_up(void)
{
    submit_a_frame();
    h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, LONG);
    h.driver->hold_submissions(false);
    h.vk.DestroyDevice(h.device, NULL);
    exit(1);
}

static void exit_beside_a_thread_that_waits(void)
{
    pthread_t thread;
    submit_a_frame();
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    usleep(LONG / 1000);
    exit(0);
}

static void a_hang_that_the_game_gives_up_holds_it_back(void **state)
{
    void (*const ends[])(void) = {give_up_waiting, give_up_short_waits,
                                  give_up_beside_a_frame_that_finished, give_up_and_tidy_up,
                                  exit_beside_a_thread_that_waits};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        assert_true(held_after(ends[i]));
    }
}

static void exit_with_a_frame_under_way(void)
{
    submit_a_frame();
    h.vk.GetFenceStatus(h.device, fence);
    h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, 0);
    leave();
}

/* It saves, say, and looks at no fence meanwhile. */
static void exit_long_after_the_last_frame(void)
{
    submit_a_frame();
    h.vk.GetFenceStatus(h.device, fence);
    usleep(LONG / 1000);
    leave();
}

static void *wait_for_the_next_value(void *unused)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    const uint64_t value = 1;
    VkSemaphore semaphore;
    PM_CHECK(h.vk.CreateSemaphore(h.device, &info, NULL, &semaphore));
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    h.vk.WaitSemaphores(h.device, &wait, UINT64_MAX);
    return unused;
}

/* Nothing is under way; who asks, asks for what nobody has submitted. */
static void exit_while_idle(void)
{
    pthread_t threads[2];
    submit_a_frame();
    h.driver->hold_submissions(false);
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    PM_CHECK(h.vk.ResetFences(h.device, 1, &fence));
    pthread_create(&threads[0], NULL, wait_for_ever, NULL);
    pthread_create(&threads[1], NULL, wait_for_the_next_value, NULL);
    for (const int64_t end = pm_now() + LONG; pm_now() < end;) {
        h.vk.GetFenceStatus(h.device, fence);
        h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, PM_SECOND / 100);
    }
    leave();
}

static void a_game_may_exit_with_frames_under_way(void **state)
{
    void (*const ends[])(void) = {exit_with_a_frame_under_way, exit_long_after_the_last_frame,
                                  exit_while_idle};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        assert_false(held_after(ends[i]));
    }
}

/* ---- lost devices and settled sessions ---- */

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

/* The game shows a message, say, and asks for nothing more. */
static void see_a_loss_by_the_timeline(void)
{
    uint64_t value;
    h.driver->inject("vkGetSemaphoreCounterValue:1=-4");
    h.vk.GetSemaphoreCounterValue(h.device, VK_NULL_HANDLE, &value);
    leave();
}

static void a_loss_that_only_the_timeline_reports_holds_it_back(void **state)
{
    (void)state;
    assert_true(held_after(see_a_loss_by_the_timeline));
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
        bool held, bad;
    } cases[] = {
        {play_on_and_crash, "1000000", true, true},
        {play_on_and_crash, "0", false, false},
        {play_on_and_lose_the_device, "0", true, true},
        {play_on_and_meet_something_new, "0", false, true}, /* which is held back */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        optimized_learn();
        optimized_enable(true);
        setenv("PIECEMEAL_DEBUG_SETTLE_SECONDS", cases[i].seconds, 1);
        session_that_ends(cases[i].end);
        assert_int_equal(replaced_in_a_session(), !cases[i].held);
        optimized_assert_logged("did not end properly", cases[i].bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_crash_holds_it_back),
        PM_LAYERED_TEST(a_hang_that_is_killed_holds_it_back),
        PM_LAYERED_TEST(a_second_bad_end_holds_back_everything),
        PM_LAYERED_TEST(a_game_that_just_exits_has_ended_properly),
        PM_LAYERED_TEST(a_crash_whose_handler_exits_holds_it_back),
        PM_LAYERED_TEST(a_crash_whose_handler_tidies_up_holds_it_back),
        PM_LAYERED_TEST(a_crash_on_another_stack_holds_it_back),
        PM_LAYERED_TEST(a_crash_in_the_end_of_the_device_holds_it_back),
        PM_LAYERED_TEST(a_game_that_blocks_all_signals_may_exit),
        PM_LAYERED_TEST(ends_are_told_apart),
        PM_LAYERED_TEST(a_hang_that_the_game_gives_up_holds_it_back),
        PM_LAYERED_TEST(a_game_may_exit_with_frames_under_way),
        PM_LAYERED_TEST(a_lost_device_holds_it_back),
        PM_LAYERED_TEST(a_loss_that_only_the_timeline_reports_holds_it_back),
        PM_LAYERED_TEST(a_session_that_settled_may_be_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
