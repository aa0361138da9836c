/* Queues that the driver synchronizes: several threads may submit to one at once, and so may we. */
#include "tests/layer/hooks/every_call.h"

#include <pthread.h>

static struct pm_harness h;

/* VK_DEVICE_QUEUE_CREATE_INTERNALLY_SYNCHRONIZED_BIT_KHR, newer than the headers. The null driver
 * locks every queue. */
enum { SYNCHRONIZED = 4, THREADS = 4, SUBMISSIONS = 500, CALLS = 40 };

/* Opens all, on a device with a queue of family 0 and one of family 1, which it returns. */
static VkQueue open_queues(VkDeviceQueueCreateFlags first, VkDeviceQueueCreateFlags second)
{
    static const struct pm_harness_options options;
    static const float priority = 1;
    const VkDeviceQueueCreateInfo queues[] = {
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .flags = first,
         .queueCount = 1,
         .pQueuePriorities = &priority},
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .flags = second,
         .queueFamilyIndex = 1,
         .queueCount = 1,
         .pQueuePriorities = &priority},
    };
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 2,
                                     .pQueueCreateInfos = queues};
    pm_harness_open_instance(&h, &options);
    PM_CHECK(h.vki.CreateDevice(h.physical, &info, NULL, &h.device));
    pm_device_dispatch_load(&h.vk, h.device, vkGetDeviceProcAddr);
    VkQueue got[2];
    for (uint32_t i = 0; i < 2; i++) {
        const VkDeviceQueueInfo2 which = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
                                          .flags = queues[i].flags,
                                          .queueFamilyIndex = i};
        h.vk.GetDeviceQueue2(h.device, &which, &got[i]);
    }
    h.queue = got[0];
    pm_harness_open_rest(&h);
    return got[1];
}

struct submitter {
    VkQueue queue;
    VkCommandBuffer buffer;
    pthread_t thread;
};

static void *submit_often(void *user)
{
    const struct submitter *submitter = user;
    for (int i = 0; i < SUBMISSIONS; i++) {
        pm_harness_submit(&h, submitter->queue, submitter->buffer, VK_NULL_HANDLE);
        if (i % 100 == 0)
            PM_CHECK(h.vk.QueueWaitIdle(submitter->queue));
    }
    return NULL;
}

/* A kept recording of dispatches. */
static VkCommandBuffer record_kept(VkCommandPool pool)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    VkCommandBuffer buffer;
    PM_CHECK(h.vk.AllocateCommandBuffers(h.device, &info, &buffer));
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    for (int i = 0; i < CALLS; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    return buffer;
}

/* Several threads submit to one queue at once, and nobody but the driver keeps them apart. */
static void many_threads_submit_to_one_queue(void **state)
{
    (void)state;
    every_call_enable();
    pm_layered_sample_all("0.5");
    const VkQueue queue = open_queues(0, SYNCHRONIZED);
    VkCommandPool pools[THREADS];
    struct submitter submitters[THREADS];
    for (int i = 0; i < THREADS; i++) {
        const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = 1};
        PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &pools[i]));
        submitters[i] = (struct submitter){.queue = queue, .buffer = record_kept(pools[i])};
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_often, &submitters[i]),
                         0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(submitters[i].thread, NULL);
    /* What is sampled changes with each submission. */
    const uint64_t position = h.driver->position();
    pm_harness_submit(&h, queue, submitters[0].buffer, VK_NULL_HANDLE);
    assert_true(pm_calls_of(h.driver, position, "vkCmdUpdateBuffer") > 0);
    PM_CHECK(h.vk.DeviceWaitIdle(h.device));
    for (int i = 0; i < THREADS; i++)
        h.vk.DestroyCommandPool(h.device, pools[i], NULL);
    pm_harness_close(&h);
}

/* A program that hands its device to others may have no other queues. */
static void queues_that_all_are_synchronized(void **state)
{
    (void)state;
    every_call_enable();
    open_queues(SYNCHRONIZED, SYNCHRONIZED);
    assert_int_equal(every_call_sampled(&h, h.graphics, h.dispatch), 2);
    pm_harness_close(&h);
    every_call_enable();
    open_queues(VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
    assert_int_equal(every_call_sampled(&h, h.graphics, h.dispatch), 0);
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("it has no unprotected queue that can copy"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(queues_that_all_are_synchronized),
        /* The last: a validation layer that does not know such queues may abort in it. */
        PM_LAYERED_TEST(many_threads_submit_to_one_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
