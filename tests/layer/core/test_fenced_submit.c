/* Where the fences of submissions arrive: behind those that use timeline semaphores, on lavapipe;
 * elsewhere, and on queues that we have no record of, as they are. */
#include "tests/layer/layered.h"

#include <stdio.h>
#include <stdlib.h>

static struct pm_harness h;
static VkFence fence;
static VkSemaphore timeline;
static uint64_t value; /* that the timeline was given last */

static void open_on(VkDriverId driver)
{
    static const VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE};
    static const VkPhysicalDeviceTimelineSemaphoreFeatures features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = (void *)(uintptr_t)&features13,
        .timelineSemaphore = VK_TRUE};
    static const char *const extensions[] = {"VK_KHR_synchronization2", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions,
                                               .device_next = &features,
                                               .protected_queue = true,
                                               .bare = true};
    char id[16];
    snprintf(id, sizeof id, "%d", (int)driver);
    setenv("PM_NULL_DRIVER_ID", id, 1);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1e-15", 1);
    pm_harness_open(&h, &options);
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    PM_CHECK(h.vk.CreateFence(h.device, &fence_info, NULL, &fence));
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    PM_CHECK(h.vk.CreateSemaphore(h.device, &info, NULL, &timeline));
    value = 0;
}

static void close_all(void)
{
    h.vk.DestroySemaphore(h.device, timeline, NULL);
    h.vk.DestroyFence(h.device, fence, NULL);
    pm_harness_close(&h);
}

/* ---- submissions, each with the fence ---- */

/* What a batch has to do with the timeline. */
enum use {
    NOTHING,
    SIGNALS,
    SIGNALS_BEHIND_ANOTHER, /* another structure is first in the chain */
    WAITS,                  /* for what was signaled last */
};

#define BATCHES 2 /* at most */

struct chain {
    uint64_t at;
    VkTimelineSemaphoreSubmitInfo values;
};

static uint64_t point_of(enum use use)
{
    return use == WAITS ? value : ++value;
}

/* other: the other structure, which has the values next. */
static const void *chain_of(enum use use, struct chain *chain, const void *other)
{
    if (use == NOTHING)
        return NULL;
    chain->at = point_of(use);
    chain->values =
        (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .waitSemaphoreValueCount = use == WAITS,
                                        .pWaitSemaphoreValues = &chain->at,
                                        .signalSemaphoreValueCount = use != WAITS,
                                        .pSignalSemaphoreValues = &chain->at};
    return use == SIGNALS_BEHIND_ANOTHER ? other : &chain->values;
}

static VkResult submit(uint32_t count, const enum use *uses)
{
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo infos[BATCHES];
    VkProtectedSubmitInfo others[BATCHES];
    struct chain chains[BATCHES];
    for (uint32_t i = 0; i < count; i++) {
        others[i] = (VkProtectedSubmitInfo){.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO,
                                            .pNext = &chains[i].values};
        infos[i] = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .pNext = chain_of(uses[i], &chains[i], &others[i]),
                                  .waitSemaphoreCount = uses[i] == WAITS,
                                  .pWaitSemaphores = &timeline,
                                  .pWaitDstStageMask = &stage,
                                  .signalSemaphoreCount = uses[i] != WAITS && uses[i] != NOTHING,
                                  .pSignalSemaphores = &timeline};
    }
    return h.vk.QueueSubmit(h.queue, count, infos, fence);
}

static VkResult bind_sparse(uint32_t count, const enum use *uses)
{
    VkBindSparseInfo infos[BATCHES];
    VkDeviceGroupBindSparseInfo others[BATCHES];
    struct chain chains[BATCHES];
    for (uint32_t i = 0; i < count; i++) {
        others[i] = (VkDeviceGroupBindSparseInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO, .pNext = &chains[i].values};
        infos[i] =
            (VkBindSparseInfo){.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                               .pNext = chain_of(uses[i], &chains[i], &others[i]),
                               .waitSemaphoreCount = uses[i] == WAITS,
                               .pWaitSemaphores = &timeline,
                               .signalSemaphoreCount = uses[i] != WAITS && uses[i] != NOTHING,
                               .pSignalSemaphores = &timeline};
    }
    return h.vk.QueueBindSparse(h.queue, count, infos, fence);
}

static VkResult submit2_by(PFN_vkQueueSubmit2 next, uint32_t count, const enum use *uses)
{
    VkSubmitInfo2 infos[BATCHES];
    VkSemaphoreSubmitInfo points[BATCHES];
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                            .semaphore = timeline,
                                            .value = uses[i] != NOTHING ? point_of(uses[i]) : 0,
                                            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        infos[i] =
            (VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                            .waitSemaphoreInfoCount = uses[i] == WAITS,
                            .pWaitSemaphoreInfos = &points[i],
                            .signalSemaphoreInfoCount = uses[i] != WAITS && uses[i] != NOTHING,
                            .pSignalSemaphoreInfos = &points[i]};
    }
    return next(h.queue, count, infos, fence);
}

static VkResult submit2(uint32_t count, const enum use *uses)
{
    return submit2_by(h.vk.QueueSubmit2, count, uses);
}

static VkResult submit2_khr(uint32_t count, const enum use *uses)
{
    return submit2_by(h.vk.QueueSubmit2KHR, count, uses);
}

static const struct way {
    const char *command;
    VkResult (*make)(uint32_t count, const enum use *uses);
} ways[] = {
    {"vkQueueSubmit", submit},
    {"vkQueueSubmit2", submit2},
    {"vkQueueSubmit2KHR", submit2_khr},
    {"vkQueueBindSparse", bind_sparse},
};
#define WAYS (sizeof ways / sizeof *ways)

/* ---- where the fence arrives ---- */

/* Of a submission since then, which the driver was given by that command. */
static void expect_fence(uint64_t since, const char *command, bool behind)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < WAYS; i++)
        all += pm_calls_of(h.driver, since, ways[i].command);
    assert_int_equal(all, behind ? 2 : 1);
    assert_int_equal(pm_call(h.driver, since, command, 0).arguments[3],
                     behind ? 0 : PM_NULL_NUMBER(fence));
    if (!behind)
        return;
    const uint32_t plain = pm_calls_of(h.driver, since, "vkQueueSubmit");
    const struct pm_null_call last = pm_call(h.driver, since, "vkQueueSubmit", plain - 1);
    assert_int_equal(last.arguments[1], 0);
    assert_int_equal(last.arguments[3], PM_NULL_NUMBER(fence));
}

static void expect(const struct way *way, uint32_t count, const enum use *uses, bool behind)
{
    const uint64_t since = h.driver->position();
    PM_CHECK(way->make(count, uses));
    expect_fence(since, way->command, behind);
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    PM_CHECK(h.vk.ResetFences(h.device, 1, &fence));
}

#define EXPECT(way, behind, ...)                                                                   \
    do {                                                                                           \
        const enum use expect_uses[] = {__VA_ARGS__};                                              \
        expect(way, sizeof expect_uses / sizeof *expect_uses, expect_uses, behind);                \
    } while (0)

static void behind_timelines_on_lavapipe(void **state)
{
    (void)state;
    open_on(VK_DRIVER_ID_MESA_LLVMPIPE);
    for (const struct way *way = ways; way < ways + WAYS; way++) {
        EXPECT(way, true, SIGNALS);
        EXPECT(way, true, SIGNALS_BEHIND_ANOTHER);
        EXPECT(way, true, WAITS);
        EXPECT(way, true, SIGNALS, NOTHING);
        EXPECT(way, true, NOTHING, WAITS);
        EXPECT(way, false, NOTHING);
        EXPECT(way, false, NOTHING, NOTHING);
    }
    close_all();
}

static void as_they_are_elsewhere(void **state)
{
    (void)state;
    open_on(VK_DRIVER_ID_MESA_RADV);
    for (const struct way *way = ways; way < ways + WAYS; way++)
        EXPECT(way, false, SIGNALS);
    close_all();
}

/* A submission that is refused has no fence behind it. */
static void of_what_is_refused(void **state)
{
    static const enum use signals = SIGNALS;
    (void)state;
    open_on(VK_DRIVER_ID_MESA_LLVMPIPE);
    const uint64_t since = h.driver->position();
    h.driver->inject("vkQueueSubmit:1=-1");
    assert_int_equal(submit(1, &signals), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(pm_calls_of(h.driver, since, "vkQueueSubmit"), 1);
    h.driver->inject("");
    EXPECT(&ways[0], true, SIGNALS);
    close_all();
}

/* What only its fence was refused of was made, and is waited for. */
static void whose_fence_alone_is_refused(void **state)
{
    static const enum use signals = SIGNALS;
    (void)state;
    for (const struct way *way = ways; way < ways + WAYS; way++) {
        open_on(VK_DRIVER_ID_MESA_LLVMPIPE);
        const uint64_t since = h.driver->position();
        h.driver->inject(way->make == submit ? "vkQueueSubmit:2=-1" : "vkQueueSubmit:1=-1");
        assert_int_equal(way->make(1, &signals), VK_ERROR_DEVICE_LOST);
        h.driver->inject("");
        assert_int_equal(pm_calls_of(h.driver, since, "vkQueueWaitIdle"), 1);
        close_all();
    }
}

/* A protected queue has no record of ours. */
static void as_they_are_on_queues_without_record(void **state)
{
    static const enum use signals = SIGNALS;
    (void)state;
    open_on(VK_DRIVER_ID_MESA_LLVMPIPE);
    const VkDeviceQueueInfo2 info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
                                     .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT};
    h.vk.GetDeviceQueue2(h.device, &info, &h.queue);
    for (const struct way *way = ways; way < ways + WAYS; way++)
        expect(way, 1, &signals, false);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(behind_timelines_on_lavapipe),
        PM_LAYERED_TEST(as_they_are_elsewhere),
        PM_LAYERED_TEST(of_what_is_refused),
        PM_LAYERED_TEST(whose_fence_alone_is_refused),
        PM_LAYERED_TEST(as_they_are_on_queues_without_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
