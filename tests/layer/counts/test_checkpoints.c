/* From submitted calls to the spool (HAZARDS 13 and 19): every call is in it once, whatever happens
 * to the program. The null driver runs no shader, so its counters stay 0 and the calls are what
 * counts. */
#include "tests/layer/spooled.h"
#include "tests/patience.h"

#include "aggregator_client/disk/spool.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct pm_harness h;

static void open_with(struct pm_harness *harness, const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1); /* one variant, so that point 0 is in every call */
    pm_harness_open(harness, options);
}

static void pause_for(long milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

static void destroying_the_device_writes_the_rest(void **state)
{
    (void)state;
    open_with(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 10; i++)
        spooled_dispatch(&h, h.queue, buffer);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 10);
}

static void an_idle_queue_is_a_checkpoint(void **state)
{
    (void)state;
    open_with(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queue, buffer);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_true(wait_for_calls(1));
    assert_int_equal(all_calls(), 1);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 1);
}

/* Two queues use one variant; nothing is lost and nothing is counted twice. */
static void several_queues_share_a_variant(void **state)
{
    (void)state;
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "3", 1);
    setenv("PM_NULL_DELAY_US", "200", 1);
    const struct pm_harness_options options = {.queues = 2};
    open_with(&h, &options);
    VkCommandBuffer buffers[2];
    for (int i = 0; i < 2; i++)
        buffers[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 60; i++) {
        spooled_dispatch(&h, h.queues[i % 2], buffers[i % 2]);
        PM_CHECK(h.vk.QueueWaitIdle(h.queues[i % 2]));
    }
    PM_CHECK(h.vk.DeviceWaitIdle(h.device));
    pm_harness_close(&h);
    unsetenv("PM_NULL_DELAY_US");
    assert_int_equal(all_calls(), 60);
}

/* A queue that was used and then never again keeps nobody from reading what the others count: the
 * layer itself may submit nothing to it. */
static void a_queue_falls_silent(void **state)
{
    (void)state;
    size_t sessions, live;
    const struct pm_harness_options options = {.queues = 2};
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1000000", 1);
    open_with(&h, &options);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queues[1], buffer);
    spooled_dispatch(&h, h.queues[1], buffer);
    uint64_t calls = 2, spooled = 0;
    for (; calls < 1200 && spooled < 10; calls++) {
        spooled_dispatch(&h, h.queues[0], buffer);
        pause_for(50);
        spooled = spooled_calls(NULL, &sessions, &live); /* as it would be after kill -9 */
    }
    assert_true(spooled >= 10);
    pm_harness_close(&h);
    assert_int_equal(spooled_calls(NULL, &sessions, &live), calls);
}

static void failed_submissions_do_not_count(void **state)
{
    (void)state;
    open_with(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queue, buffer);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &buffer,
    };
    assert_true(h.driver->inject("vkQueueSubmit:1=-2"));
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    PM_CHECK(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE));
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 2);
}

static void count_calls_at_exit(void)
{
    uint64_t position = h.driver->position();
    h.vk.QueueWaitIdle(h.queue);
    h.vk.DeviceWaitIdle(h.device);
    _exit(pm_calls_of(h.driver, position, "vkQueueSubmit") == 0 &&
                  pm_calls_of(h.driver, position, "vkBeginCommandBuffer") == 0
              ? 0
              : 1);
}

/* late: the handler is registered when the device is there already. */
static void exit_with_handler(bool late)
{
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "3", 1);
    pid_t child = fork();
    if (child == 0) {
        if (!late && atexit(count_calls_at_exit) != 0)
            _exit(2);
        open_with(&h, NULL);
        if (late && atexit(count_calls_at_exit) != 0)
            _exit(2);
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        for (int i = 0; i < 3; i++)
            spooled_dispatch(&h, h.queue, buffer);
        if (!wait_for_calls(1))
            _exit(4);
        spooled_dispatch(&h, h.queue, buffer); /* not checkpointed yet */
        pause_for(400);                        /* so that waiting for an idle queue would be one */
        exit(3);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    unsetenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS");
    /* On a slow machine a second is over before the third call, or at the last one, and that is a
     * checkpoint too. */
    assert_in_range(all_calls(), 1, 4);
}

/* A program that tears its Vulkan down in an exit handler: other layers' static objects are gone by
 * then, so the layer makes no calls that the game does not make. What was checkpointed before is
 * kept. */
static void an_exit_handler_meets_no_calls_of_ours(void **state)
{
    (void)state;
    exit_with_handler(false);
}

static void a_late_exit_handler_meets_none_either(void **state)
{
    (void)state;
    exit_with_handler(true);
}

static void a_lost_device_ends_sampling(void **state)
{
    (void)state;
    open_with(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queue, buffer);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_true(wait_for_calls(1));
    assert_true(h.driver->inject("vkQueueSubmit:1=-4"));
    assert_int_equal(h.vk.QueueSubmit(h.queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_close(&h); /* neither hangs nor leaks */
    assert_int_equal(all_calls(), 1);
}

/* What a checkpoint took comes to disk without anybody asking again, and stays there whatever
 * becomes of the process (and its session is then known to have ended). */
static void a_killed_program_keeps_its_checkpoints(void **state)
{
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "10", 1);
    pid_t child = fork();
    if (child == 0) {
        open_with(&h, NULL);
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        for (int i = 0; i < 25; i++)
            spooled_dispatch(&h, h.queue, buffer);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(wait_for_calls(20));
    size_t sessions, live;
    spooled_calls(NULL, &sessions, &live);
    assert_int_equal(live, 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
    assert_true(spooled_calls(NULL, &sessions, &live) >= 20);
    assert_int_equal(sessions, 1);
    assert_int_equal(live, 0);
}

/* A child that a game forks has no writer: it must not wait for one, and must not keep the session
 * alive. */
static void a_fork_is_survived(void **state)
{
    (void)state;
    open_with(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queue, buffer);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_true(wait_for_calls(1));
    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        alarm(PATIENCE_SECONDS); /* a hang fails the test */
        spooled_dispatch(&h, h.queue, buffer);
        h.vk.QueueWaitIdle(h.queue);
        pm_harness_close(&h);
        close(go[1]);
        _exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(go[0]);
    spooled_dispatch(&h, h.queue, buffer);
    pm_harness_close(&h);
    size_t sessions, live;
    assert_int_equal(spooled_calls(NULL, &sessions, &live), 2);
    /* The session has ended though the child is still there, once the child ran and let go of the
     * file. */
    uint64_t until = 0;
    while (live != 0 && patience(&until))
        spooled_calls(NULL, &sessions, &live);
    assert_int_equal(live, 0);
    close(go[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void two_devices_at_a_time(void **state)
{
    (void)state;
    static struct pm_harness other;
    open_with(&h, NULL);
    open_with(&other, NULL);
    struct pm_harness *both[] = {&h, &other};
    for (int i = 0; i < 2; i++) {
        VkCommandBuffer buffer = pm_harness_allocate(both[i], VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        for (int j = 0; j < 5; j++)
            spooled_dispatch(both[i], both[i]->queue, buffer);
    }
    pm_harness_close(&other);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queue, buffer);
    pm_harness_close(&h);
    size_t sessions, live;
    assert_int_equal(spooled_calls(NULL, &sessions, &live), 11);
    assert_int_equal(sessions, 2);
    assert_int_equal(live, 0);
}

/* The loader unloads the layer with the last instance, and loads it again. */
static void loads_again_and_again(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        open_with(&h, NULL);
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        spooled_dispatch(&h, h.queue, buffer);
        pm_harness_close(&h);
    }
    assert_int_equal(all_calls(), 5);
}

/* Another session that still runs has filled the spool: that is said once, not every second of a
 * long evening, and what is recorded once there is room again is kept. */
static void a_full_spool(void **state)
{
    (void)state;
    size_t sessions, live;
    char path[256];
    setenv("PIECEMEAL_LIMITS_SPOOL_MIB", "1", 1);
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    snprintf(path, sizeof path, "%s/piecemeal", pm_layered_home());
    mkdir(path, 0700);
    strcat(path, "/spool");
    mkdir(path, 0700);
    strcat(path, "/00000000000000000000000000000000.pmspool");
    int other = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(other >= 0);
    assert_int_equal(ftruncate(other, 2 << 20), 0);
    assert_int_equal(flock(other, LOCK_EX), 0);
    open_with(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0, since = 0; i < 1000 && since < 5; i++) {
        spooled_dispatch(&h, h.queue, buffer);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
        pause_for(60);
        since += pm_layered_logged("the spool is full") > 0;
    }
    assert_int_equal(pm_layered_logged("the spool is full"), 1);
    unlink(path);
    close(other);
    spooled_dispatch(&h, h.queue, buffer);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    pm_harness_close(&h);
    assert_true(spooled_calls(NULL, &sessions, &live) >= 1);
    assert_int_equal(pm_layered_logged("the spool is full"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(destroying_the_device_writes_the_rest),
        PM_LAYERED_TEST(an_idle_queue_is_a_checkpoint),
        PM_LAYERED_TEST(several_queues_share_a_variant),
        PM_LAYERED_TEST(a_queue_falls_silent),
        PM_LAYERED_TEST(failed_submissions_do_not_count),
        PM_LAYERED_TEST(an_exit_handler_meets_no_calls_of_ours),
        PM_LAYERED_TEST(a_late_exit_handler_meets_none_either),
        PM_LAYERED_TEST(a_lost_device_ends_sampling),
        PM_LAYERED_TEST(a_killed_program_keeps_its_checkpoints),
        PM_LAYERED_TEST(a_fork_is_survived),
        PM_LAYERED_TEST(two_devices_at_a_time),
        PM_LAYERED_TEST(loads_again_and_again),
        PM_LAYERED_TEST(a_full_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
