/* Every way to use a pipeline. All draw every triangle once on what was cleared, or dispatch every
 * group once, so that all write the same. */
#include "tests/cts/ways.h"

#include <string.h>

enum { TRIANGLES = CTS_VERTICES / 3, GROUPS = CTS_WORDS / 32, SUBMISSIONS = 3 };

/* A recording under way. */
struct recording {
    struct cts *cts;
    const struct cts_case *of;
    VkPipeline pipeline, other;
    VkCommandBuffer commands;
    VkQueryPool queries[2];
};

static VkPipelineBindPoint point(const struct recording *r)
{
    return r->of->compute ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS;
}

static void set_dynamic(const struct recording *r)
{
    VkCommandBuffer c = r->commands;
    const VkViewport viewport = {0, 0, CTS_SIDE, CTS_SIDE, 0, 1};
    const VkRect2D scissor = {{0, 0}, {CTS_SIDE, CTS_SIDE}};
    vkCmdSetViewport(c, 0, 1, &viewport);
    vkCmdSetScissor(c, 0, 1, &scissor);
    vkCmdSetCullMode(c, VK_CULL_MODE_NONE);
    vkCmdSetFrontFace(c, VK_FRONT_FACE_COUNTER_CLOCKWISE);
    vkCmdSetDepthTestEnable(c, r->cts->target.has_depth);
    vkCmdSetDepthWriteEnable(c, r->cts->target.has_depth);
    vkCmdSetDepthCompareOp(c, VK_COMPARE_OP_LESS_OR_EQUAL);
    vkCmdSetPrimitiveTopology(c, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
    vkCmdSetRasterizerDiscardEnable(c, VK_FALSE);
    PFN_vkCmdSetColorWriteEnableEXT set_writes =
        (PFN_vkCmdSetColorWriteEnableEXT)vkGetDeviceProcAddr(r->cts->gpu.device,
                                                             "vkCmdSetColorWriteEnableEXT");
    const VkBool32 enables[2] = {VK_TRUE, VK_TRUE};
    if ((r->cts->gpu.extensions & CTS_COLOR_WRITES) && set_writes)
        set_writes(c, r->cts->target.colors, enables);
}

static void push(const struct recording *r, uint32_t added)
{
    vkCmdPushConstants(r->commands, r->cts->gpu.layout, VK_SHADER_STAGE_ALL, 0, sizeof added,
                       &added);
}

static void bind(const struct recording *r, VkPipeline pipeline)
{
    if (pipeline)
        vkCmdBindPipeline(r->commands, point(r), pipeline);
    else
        cts_objects_bind(r->cts, r->of, r->commands);
}

/* What has to be bound beside the pipeline. */
static void prepare(const struct recording *r)
{
    const VkDeviceSize zero = 0;
    const struct cts_way_of *way = cts_way(r->of);
    if (way->bind)
        way->bind(r->cts, r->commands, point(r));
    else
        vkCmdBindDescriptorSets(r->commands, point(r), r->cts->gpu.layout, 0, 1, &r->cts->set, 0,
                                NULL);
    push(r, 1);
    bind(r, r->pipeline);
    if (r->of->compute)
        return;
    vkCmdBindVertexBuffers(r->commands, 0, 1, &r->cts->vertices.buffer, &zero);
    vkCmdBindIndexBuffer(r->commands, r->cts->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
    if (r->of->make == CTS_DYNAMIC)
        set_dynamic(r);
}

/* Triangles or groups from one to another. */
static void part(const struct recording *r, uint32_t from, uint32_t to)
{
    VkCommandBuffer c = r->commands;
    const bool whole = from == 0;
    const struct cts_way_of *way = cts_way(r->of);
    if (way->call) { /* whole in all its uses */
        way->call(r->cts, r->of, r->pipeline, c);
        return;
    }
    if (r->of->compute) {
        if (from > 0)
            return; /* groups are not split: all at once, with the first part */
        if (r->of->use == CTS_INDEXED) {
            vkCmdDispatchBase(c, 0, 0, 0, GROUPS / 2, 1, 1);
            vkCmdDispatchBase(c, GROUPS / 2, 0, 0, GROUPS / 2, 1, 1);
        } else if (r->of->use == CTS_INDIRECT) {
            vkCmdDispatchIndirect(c, r->cts->indirect.buffer, 64);
        } else {
            vkCmdDispatch(c, GROUPS, 1, 1);
        }
        return;
    }
    const uint32_t first = from * 3, count = (to - from) * 3;
    if (r->of->use == CTS_INDEXED)
        vkCmdDrawIndexed(c, count, 1, first, 0, 0);
    else if (r->of->use == CTS_INDIRECT && whole)
        vkCmdDrawIndirect(c, r->cts->indirect.buffer, 0, 1, 16);
    else if (r->of->use == CTS_INSTANCED)
        vkCmdDraw(c, count, 1, first, 3);
    else
        vkCmdDraw(c, count, 1, first, 0);
}

static uint32_t all(const struct recording *r)
{
    return r->of->compute ? GROUPS : TRIANGLES;
}

/* Inside a render pass, or in a recording of dispatches. */
static void record_calls(const struct recording *r)
{
    prepare(r);
    const uint32_t end = all(r);
    switch (r->of->use) {
    case CTS_REBOUND:
        bind(r, r->other);
        bind(r, r->pipeline);
        part(r, 0, end / 2);
        bind(r, r->other);
        bind(r, r->pipeline);
        part(r, end / 2, end);
        break;
    case CTS_PUSHED:
        part(r, 0, end / 2);
        push(r, 9);
        push(r, 1);
        part(r, end / 2, end);
        break;
    case CTS_QUERIED:
        for (int i = 0; i < 2; i++) {
            if (r->queries[i])
                vkCmdBeginQuery(r->commands, r->queries[i], 0, 0);
        }
        part(r, 0, end);
        for (int i = 0; i < 2; i++) {
            if (r->queries[i])
                vkCmdEndQuery(r->commands, r->queries[i], 0);
        }
        break;
    default:
        part(r, 0, end);
        break;
    }
}

/* ---- command buffers ---- */

VkCommandBuffer cts_allocate(const struct cts *cts, VkCommandPool pool, VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .level = level,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(cts->gpu.device, &info, &commands));
    return commands;
}

static void begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = flags};
    CHECK(vkBeginCommandBuffer(commands, &info));
}

static void submit_both(struct cts *cts, const VkCommandBuffer commands[2])
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 2,
                               .pCommandBuffers = commands};
    CHECK(vkQueueSubmit(cts->gpu.queue, 1, &info, VK_NULL_HANDLE));
}

static void submit(struct cts *cts, const struct cts_case *of, VkCommandBuffer commands)
{
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info2 = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                 .commandBufferInfoCount = 1,
                                 .pCommandBufferInfos = &buffer};
    if (of->way == CTS_SUBMIT2) {
        CHECK(vkQueueSubmit2(cts->gpu.queue, 1, &info2, VK_NULL_HANDLE));
        return;
    }
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(cts->gpu.queue, 1, &info, VK_NULL_HANDLE));
}

/* inner: what it executes; NULL: the calls themselves. */
static void record_secondary(struct recording *r, VkCommandBuffer secondary, VkCommandBuffer inner)
{
    const struct cts_target *target = &r->cts->target;
    static const VkFormat formats[2] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM};
    const VkCommandBufferInheritanceRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
        .viewMask = target->view_mask,
        .colorAttachmentCount = target->colors,
        .pColorAttachmentFormats = formats,
        .depthAttachmentFormat = target->has_depth ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED,
        .rasterizationSamples = (VkSampleCountFlagBits)target->samples};
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .pNext = r->of->compute || target->pass ? NULL : &rendering,
        .renderPass = r->of->compute ? VK_NULL_HANDLE : target->pass,
        .subpass = target->subpass,
        .framebuffer = r->of->compute ? VK_NULL_HANDLE : target->framebuffer};
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = (r->of->compute ? 0u : VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) |
                 (r->of->way == CTS_SHARED ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0u),
        .pInheritanceInfo = &inheritance};
    CHECK(vkBeginCommandBuffer(secondary, &info));
    const VkCommandBuffer primary = r->commands;
    r->commands = secondary;
    if (inner)
        vkCmdExecuteCommands(secondary, 1, &inner);
    else
        record_calls(r);
    r->commands = primary;
    CHECK(vkEndCommandBuffer(secondary));
}

static void record(struct recording *r, VkCommandBufferUsageFlags flags, VkCommandBuffer secondary)
{
    begin(r->commands, flags);
    for (int i = 0; i < 2; i++) {
        if (r->queries[i])
            vkCmdResetQueryPool(r->commands, r->queries[i], 0, 1);
    }
    if (!r->of->compute)
        cts_target_begin(r->cts, r->commands, true, secondary != NULL);
    if (secondary)
        vkCmdExecuteCommands(r->commands, 1, &secondary);
    else
        record_calls(r);
    if (!r->of->compute)
        cts_target_end(r->cts, r->commands);
    CHECK(vkEndCommandBuffer(r->commands));
}

/* In parts, each in a submission of its own, with nothing between them but what the target needs.
 */
static void submit_split(struct recording *r, VkCommandPool pool)
{
    const uint32_t end = all(r);
    for (uint32_t from = 0; from < end; from += end / 4) {
        r->commands = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        begin(r->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        if (!r->of->compute)
            cts_target_begin(r->cts, r->commands, from == 0, false);
        prepare(r);
        part(r, from, from + end / 4);
        if (!r->of->compute)
            cts_target_end(r->cts, r->commands);
        CHECK(vkEndCommandBuffer(r->commands));
        submit(r->cts, r->of, r->commands);
    }
}

static void submit_repeatedly(struct recording *r, VkCommandPool pool)
{
    VkDevice device = r->cts->gpu.device;
    r->commands = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < SUBMISSIONS; i++) {
        if (r->of->use != CTS_REPEATED || i == 0)
            record(r, r->of->use == CTS_REPEATED ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                   NULL);
        submit(r->cts, r->of, r->commands);
        CHECK(vkQueueWaitIdle(r->cts->gpu.queue));
        if (r->of->use == CTS_POOL_RESET)
            CHECK(vkResetCommandPool(device, pool, 0));
        else if (r->of->use == CTS_RESET)
            CHECK(vkResetCommandBuffer(r->commands, 0));
    }
}

/* Recorded once, and submitted again while it is pending. */
static void submit_pending(struct recording *r, VkCommandPool pool)
{
    r->commands = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record(r, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, NULL);
    for (int i = 0; i < SUBMISSIONS; i++)
        submit(r->cts, r->of, r->commands);
}

/* One secondary in several primaries, all pending at once. */
static void submit_shared(struct recording *r, VkCommandPool pool)
{
    const VkCommandBuffer secondary = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer primaries[SUBMISSIONS];
    record_secondary(r, secondary, NULL);
    for (int i = 0; i < SUBMISSIONS; i++) {
        primaries[i] = r->commands = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        record(r, i ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0, secondary);
    }
    for (int i = 0; i < SUBMISSIONS; i++)
        submit(r->cts, r->of, primaries[i]);
}

static void draw_resumed(struct recording *r, VkRenderingFlags flags, uint32_t from, uint32_t to)
{
    r->cts->target.flags = flags;
    cts_target_begin(r->cts, r->commands, true, false);
    prepare(r);
    part(r, from, to);
    cts_target_end(r->cts, r->commands);
    r->cts->target.flags = 0;
}

/* Suspended and resumed in a command buffer, and from one to the next. */
static void submit_suspended(struct recording *r, VkCommandPool pool)
{
    VkCommandBuffer both[2];
    for (int i = 0; i < 2; i++) {
        both[i] = r->commands = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        begin(r->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        if (i == 0) {
            draw_resumed(r, VK_RENDERING_SUSPENDING_BIT, 0, 1);
            draw_resumed(r, VK_RENDERING_RESUMING_BIT | VK_RENDERING_SUSPENDING_BIT, 1, 2);
        } else {
            draw_resumed(r, VK_RENDERING_RESUMING_BIT, 2, TRIANGLES);
        }
        CHECK(vkEndCommandBuffer(r->commands));
    }
    submit_both(r->cts, both);
}

static void submit_once(struct recording *r, VkCommandPool pool)
{
    VkCommandBuffer secondary = NULL;
    if (r->of->use == CTS_SECONDARY) {
        secondary = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        record_secondary(r, secondary, NULL);
        for (int level = 0; r->of->way == CTS_NESTED && level < 2; level++) {
            const VkCommandBuffer inner = secondary;
            secondary = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
            record_secondary(r, secondary, inner);
        }
    }
    r->commands = cts_allocate(r->cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record(r, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, secondary);
    submit(r->cts, r->of, r->commands);
}

/* ---- */

static void make_queries(struct recording *r)
{
    VkPhysicalDeviceFeatures features;
    vkGetPhysicalDeviceFeatures(r->cts->gpu.physical, &features);
    const VkQueryPoolCreateInfo infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
         .queryType = VK_QUERY_TYPE_OCCLUSION,
         .queryCount = 1},
        {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
         .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
         .queryCount = 1,
         .pipelineStatistics = r->of->compute
                                   ? VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT
                                   : VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT}};
    if (!r->of->compute)
        CHECK(vkCreateQueryPool(r->cts->gpu.device, &infos[0], NULL, &r->queries[0]));
    if (features.pipelineStatisticsQuery)
        CHECK(vkCreateQueryPool(r->cts->gpu.device, &infos[1], NULL, &r->queries[1]));
}

void cts_record(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                VkCommandBuffer commands)
{
    struct recording r = {
        .cts = cts, .of = of, .pipeline = pipeline, .other = pipeline, .commands = commands};
    record(&r, 0, NULL);
}

static uint64_t read_back(struct cts *cts, const struct cts_case *of)
{
    if (!of->compute)
        cts_target_read(cts);
    if (cts->layers > 1) {
        /* Each view is what is drawn plainly, to the first layer. */
        char *const second = (char *)cts->texels.data + cts->texels.size / 2;
        if (cts->target.view_mask && memcmp(cts->texels.data, second, cts->texels.size / 2) != 0)
            cts_fail("a view is not as the other");
        memset(second, 0, cts->texels.size / 2);
    }
    const uint64_t hash = cts_hash(CTS_HASH, cts->texels.data, cts->texels.size);
    return cts_hash(hash, cts->stored.data, cts->stored.size);
}

static void clear(struct cts *cts)
{
    memset(cts->stored.data, 0, cts->stored.size);
    memset(cts->texels.data, 0, cts->texels.size);
}

uint64_t cts_submit(struct cts *cts, const struct cts_case *of, VkCommandBuffer commands)
{
    clear(cts);
    submit(cts, of, commands);
    CHECK(vkQueueWaitIdle(cts->gpu.queue));
    return read_back(cts, of);
}

uint64_t cts_run(struct cts *cts, const struct cts_case *of, VkPipeline pipeline, VkPipeline other)
{
    struct pm_gpu *gpu = &cts->gpu;
    struct recording r = {.cts = cts, .of = of, .pipeline = pipeline, .other = other};
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = of->use == CTS_RESET ? VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT : 0,
        .queueFamilyIndex = gpu->queue_family};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(gpu->device, &info, NULL, &pool));
    clear(cts);
    if (of->use == CTS_QUERIED)
        make_queries(&r);
    if (of->use == CTS_SPLIT)
        submit_split(&r, pool);
    else if (of->use == CTS_REPEATED || of->use == CTS_POOL_RESET || of->use == CTS_RESET)
        submit_repeatedly(&r, pool);
    else if (of->way == CTS_PENDING)
        submit_pending(&r, pool);
    else if (of->way == CTS_SHARED)
        submit_shared(&r, pool);
    else if (of->way == CTS_SUSPENDED)
        submit_suspended(&r, pool);
    else
        submit_once(&r, pool);
    CHECK(vkQueueWaitIdle(gpu->queue));
    vkDestroyCommandPool(gpu->device, pool, NULL);
    for (int i = 0; i < 2; i++) {
        if (r.queries[i])
            CHECK(vkGetQueryPoolResults(gpu->device, r.queries[i], 0, 1, sizeof cts->queried[i],
                                        &cts->queried[i], sizeof cts->queried[i],
                                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
        vkDestroyQueryPool(gpu->device, r.queries[i], NULL);
    }
    if (cts_way(of)->finish)
        cts_way(of)->finish(cts);
    return read_back(cts, of);
}
