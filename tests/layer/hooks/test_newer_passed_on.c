/* What hooks pass on as it is reaches the driver with all that is chained to it: each structure of
 * the headers that may be there, alone and with one of the far future in front of it or behind it.
 * The draws and dispatches beside it are sampled, and counted, all the same (HAZARDS 10). */
#include "profile/session_status.h"
#include "tests/layer/hooks/every_call.h"
#include "tests/layer/hooks/extending_table.h"
#include "tests/layer/hooks/passed_on.h"
#include "tests/layer/spooled.h"
#include "tests/null_driver/newer.h"

#include <stdlib.h>
#include <string.h>

static struct pm_harness h;
static VkSurfaceKHR surface;

static const struct passed_on {
    const char *base, *command;
    uint32_t argument;
} passed_on[] = {
#define X(structure, command, argument) {#structure, #command, argument},
    PASSED_ON(X)
#undef X
};
enum { PASSED_ON_COUNT = sizeof passed_on / sizeof *passed_on };

/* ---- what reaches the driver ---- */

static struct {
    const struct passed_on *what;
    const void *chain; /* the program's */
    uint32_t times;
} seen;

/* The structure that the argument is, or that is in it. */
static const VkBaseInStructure *find_base(const char *base, const void *argument)
{
    if (strcmp(base, "VkCommandBufferInheritanceInfo") == 0)
        argument = ((const VkCommandBufferBeginInfo *)argument)->pInheritanceInfo;
    else if (strcmp(base, "VkCommandBufferSubmitInfo") == 0)
        argument = ((const VkSubmitInfo2 *)argument)->pCommandBufferInfos;
    return argument;
}

static void see(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, seen.what->command) != 0)
        return;
    const void *argument = (const void *)(uintptr_t)call->arguments[seen.what->argument];
    const VkBaseInStructure *item = argument != NULL ? find_base(seen.what->base, argument) : NULL;
    for (item = item != NULL ? item->pNext : NULL; item != NULL; item = item->pNext) {
        if (item == seen.chain) {
            seen.times++;
            return;
        }
    }
}

/* ---- a program that has them all ---- */

struct infos {
    VkBindSparseInfo bind;
    VkCommandBufferBeginInfo begin, begin_secondary;
    VkCommandBufferInheritanceInfo inheritance;
    VkCommandBufferSubmitInfo buffer;
    VkPresentInfoKHR present;
    VkQueryPoolCreateInfo pool;
    VkRenderPassBeginInfo pass;
    VkRenderingInfo rendering;
    VkSubmitInfo submit;
    VkSubmitInfo2 submit2;
    VkSubpassEndInfo end;
    VkSwapchainCreateInfoKHR swapchain;
};

static void describe(struct infos *of)
{
    const VkCommandBufferUsageFlags once = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    *of = (struct infos){
        .bind = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO},
        .begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = once},
        .begin_secondary = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                            .flags = once,
                            .pInheritanceInfo = &of->inheritance},
        .inheritance = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO},
        .buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO},
        .present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, .swapchainCount = 1},
        .pool = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                 .queryType = VK_QUERY_TYPE_OCCLUSION,
                 .queryCount = 1},
        .pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                 .renderPass = h.render_pass,
                 .framebuffer = h.framebuffer,
                 .renderArea = {{0, 0}, {64, 64}}},
        .rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO, .layerCount = 1},
        .submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1},
        .submit2 = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                    .commandBufferInfoCount = 1,
                    .pCommandBufferInfos = &of->buffer},
        .end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO},
        .swapchain = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                      .surface = surface,
                      .minImageCount = 3},
    };
}

static void hang(struct infos *of, const char *base, const void *chain)
{
    const struct {
        const char *base;
        const void **chain;
    } places[] = {
        {"VkBindSparseInfo", &of->bind.pNext},
        {"VkCommandBufferBeginInfo", &of->begin.pNext},
        {"VkCommandBufferInheritanceInfo", &of->inheritance.pNext},
        {"VkCommandBufferSubmitInfo", &of->buffer.pNext},
        {"VkPresentInfoKHR", &of->present.pNext},
        {"VkQueryPoolCreateInfo", &of->pool.pNext},
        {"VkRenderPassBeginInfo", &of->pass.pNext},
        {"VkRenderingInfo", &of->rendering.pNext},
        {"VkSubmitInfo", &of->submit.pNext},
        {"VkSubmitInfo2", &of->submit2.pNext},
        {"VkSubpassEndInfo", &of->end.pNext},
        {"VkSwapchainCreateInfoKHR", &of->swapchain.pNext},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(base, places[i].base) == 0) {
            *places[i].chain = chain;
            return;
        }
    }
    fail_msg("the program has no %s", base);
}

static void record_secondary(const struct infos *of, VkCommandBuffer buffer)
{
    PM_CHECK(h.vk.BeginCommandBuffer(buffer, &of->begin_secondary));
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

/* A dispatch in a secondary, one with a query active, a draw in a render pass and one without. */
enum { CALLS = 4, BINDS = 3 };

static void record(const struct infos *of, VkCommandBuffer buffer, VkCommandBuffer secondary,
                   VkQueryPool pool)
{
    const VkSubpassBeginInfo subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
    PM_CHECK(h.vk.BeginCommandBuffer(buffer, &of->begin));
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdResetQueryPool(buffer, pool, 0, 1);
    h.vk.CmdBeginQuery(buffer, pool, 0, 0);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdEndQuery(buffer, pool, 0);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdBeginRenderPass2(buffer, &of->pass, &subpass);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass2(buffer, &of->end);
    h.vk.CmdBeginRendering(buffer, &of->rendering);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRendering(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

static void present(struct infos *of, VkSwapchainKHR swapchain)
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    uint32_t index;
    PM_CHECK(h.vk.CreateSemaphore(h.device, &info, NULL, &semaphore));
    PM_CHECK(h.vk.AcquireNextImageKHR(h.device, swapchain, UINT64_MAX, semaphore, VK_NULL_HANDLE,
                                      &index));
    of->present.waitSemaphoreCount = 1;
    of->present.pWaitSemaphores = &semaphore;
    of->present.pSwapchains = &swapchain;
    of->present.pImageIndices = &index;
    PM_CHECK(h.vk.QueuePresentKHR(h.queue, &of->present));
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.DestroySemaphore(h.device, semaphore, NULL);
}

/* All of it with something chained to the structure, and how many calls are sampled. */
static uint32_t frame_with(const struct passed_on *what, const void *chain)
{
    static bool by_submit2;
    struct infos of;
    describe(&of);
    hang(&of, what->base, chain);
    seen.what = what;
    seen.chain = chain;
    seen.times = 0;
    h.driver->set_callback(see, NULL);
    const uint64_t position = h.driver->position();
    VkSwapchainKHR swapchain; /* first: without one submissions are heartbeats */
    VkQueryPool pool;
    PM_CHECK(h.vk.CreateSwapchainKHR(h.device, &of.swapchain, NULL, &swapchain));
    PM_CHECK(h.vk.CreateQueryPool(h.device, &of.pool, NULL, &pool));
    const VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    record_secondary(&of, secondary);
    record(&of, buffer, secondary, pool);
    const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    PM_CHECK(h.vk.QueueBindSparse(h.queue, 1, &of.bind, VK_NULL_HANDLE));
    of.buffer.commandBuffer = buffer;
    of.submit.pCommandBuffers = &buffer;
    by_submit2 = strcmp(what->command, "vkQueueSubmit2") == 0 ||
                 (strcmp(what->command, "vkQueueSubmit") != 0 && !by_submit2);
    PM_CHECK(by_submit2 ? h.vk.QueueSubmit2(h.queue, 1, &of.submit2, VK_NULL_HANDLE)
                        : h.vk.QueueSubmit(h.queue, 1, &of.submit, VK_NULL_HANDLE));
    present(&of, swapchain);
    h.driver->set_callback(NULL, NULL);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &secondary);
    h.vk.DestroyQueryPool(h.device, pool, NULL);
    h.vk.DestroySwapchainKHR(h.device, swapchain, NULL);
    return (binds - BINDS) / 2;
}

/* ---- the structures ---- */

static uint64_t frames;

static void check(const struct passed_on *what, const char *with, const void *chain)
{
    const uint32_t sampled = frame_with(what, chain);
    frames++;
    if (chain != NULL && seen.times != 1)
        fail_msg("%s with %s: the driver is given it %u times", what->base, with, seen.times);
    if (sampled != CALLS)
        fail_msg("%s with %s: %u calls are sampled", what->base, with, sampled);
}

static void open_all(void)
{
    static const char *const instance[] = {"VK_KHR_surface", "VK_EXT_headless_surface", NULL};
    static const char *const device[] = {"VK_KHR_swapchain", NULL};
    const struct pm_harness_options options = {
        .application = "chained", .instance_extensions = instance, .device_extensions = device};
    const VkHeadlessSurfaceCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    frames = 0;
    every_call_enable();
    pm_harness_open(&h, &options);
    PM_CHECK(h.vki.CreateHeadlessSurfaceEXT(h.instance, &info, NULL, &surface));
}

static void take_heartbeats(void *user, const struct pm_session_status *status)
{
    *(uint64_t *)user += status->heartbeats;
}

/* Each present is a heartbeat, and each sampled call is counted. */
static void close_all(void)
{
    uint64_t heartbeats = 0;
    h.vki.DestroySurfaceKHR(h.instance, surface, NULL);
    pm_harness_close(&h);
    pm_session_status_each("chained", take_heartbeats, &heartbeats);
    assert_int_equal(heartbeats, frames);
    assert_int_equal(all_calls(), frames * CALLS);
}

static void beside_nothing(void **state)
{
    (void)state;
    const VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    open_all();
    for (size_t i = 0; i < PASSED_ON_COUNT; i++) {
        check(&passed_on[i], "nothing", NULL);
        check(&passed_on[i], "something unknown", &future);
    }
    close_all();
}

static void beside_every_structure(void **state)
{
    (void)state;
    uint32_t checked = 0;
    open_all();
    for (size_t i = 0; i < extending_count; i++) {
        for (size_t j = 0; j < PASSED_ON_COUNT; j++) {
            if (strcmp(extending[i].base, passed_on[j].base) != 0)
                continue;
            VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
            VkBaseInStructure *known = calloc(1, extending[i].size);
            assert_non_null(known);
            known->sType = extending[i].type;
            check(&passed_on[j], extending[i].structure, known);
            known->pNext = &future;
            check(&passed_on[j], extending[i].structure, known);
            known->pNext = NULL;
            future.pNext = known;
            check(&passed_on[j], extending[i].structure, &future);
            free(known);
            checked++;
        }
    }
    close_all();
    print_message("%u structures are checked\n", checked);
    assert_true(checked >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(beside_nothing),
        PM_LAYERED_TEST(beside_every_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
