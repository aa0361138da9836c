#include "tests/null_driver/internal.h"

#include <stdlib.h>
#include <time.h>

struct command_pool {
    struct pm_null_object object;
    VkCommandBuffer first;
};

_Atomic uint64_t pm_null_executed_draws;

static _Atomic(pm_null_cost) cost_function;
static void *_Atomic cost_user;
static _Atomic uint64_t device_clock; /* nanoseconds; runs where draws have a cost */
static _Atomic bool binned;

/* ---- pools and buffers ---- */

VKAPI_ATTR VkResult VKAPI_CALL
pm_null_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *pCreateInfo,
                            const VkAllocationCallbacks *pAllocator, VkCommandPool *pCommandPool)
{
    (void)device;
    (void)pCreateInfo;
    (void)pAllocator;
    *pCommandPool =
        PM_NULL_HANDLE(VkCommandPool, pm_null_object_create(VK_OBJECT_TYPE_COMMAND_POOL,
                                                            sizeof(struct command_pool)));
    return *pCommandPool ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void reset(VkCommandBuffer buffer)
{
    if (atomic_load(&buffer->pending) != 0)
        pm_null_error("a command buffer is reset, begun or freed while it is pending");
    for (size_t i = 0; i < buffer->count; i++) {
        if (buffer->operations[i].kind == PM_NULL_OP_UPDATE)
            free(buffer->operations[i].other);
    }
    buffer->count = 0;
    buffer->draws = 0;
    buffer->recording = false;
    memset(buffer->shaders, 0, sizeof buffer->shaders);
    buffer->objects = false;
    buffer->conditional = false;
}

static void free_buffer(VkCommandBuffer buffer)
{
    VkCommandBuffer *link = &((struct command_pool *)PM_NULL_OBJECT(buffer->pool))->first;
    while (*link && *link != buffer)
        link = &(*link)->next;
    if (*link)
        *link = buffer->next;
    else
        pm_null_error("a command buffer is freed into a pool that is not its own");
    reset(buffer);
    free(buffer->operations);
    free(buffer);
    pm_null_object_count(VK_OBJECT_TYPE_COMMAND_BUFFER, -1);
}

VKAPI_ATTR VkResult VKAPI_CALL
pm_null_vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *pAllocateInfo,
                                 VkCommandBuffer *pCommandBuffers)
{
    struct command_pool *pool = PM_NULL_OBJECT(pAllocateInfo->commandPool);
    for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++) {
        VkCommandBuffer buffer = calloc(1, sizeof(*buffer));
        if (!buffer) {
            while (i > 0)
                free_buffer(pCommandBuffers[--i]);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        set_loader_magic_value(buffer);
        buffer->device = device;
        buffer->pool = pAllocateInfo->commandPool;
        buffer->next = pool->first;
        pool->first = buffer;
        pm_null_object_count(VK_OBJECT_TYPE_COMMAND_BUFFER, 1);
        pCommandBuffers[i] = buffer;
    }
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkFreeCommandBuffers(VkDevice device, VkCommandPool commandPool,
                                                        uint32_t commandBufferCount,
                                                        const VkCommandBuffer *pCommandBuffers)
{
    (void)device;
    (void)commandPool;
    for (uint32_t i = 0; i < commandBufferCount; i++) {
        if (pCommandBuffers[i])
            free_buffer(pCommandBuffers[i]);
    }
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkDestroyCommandPool(VkDevice device, VkCommandPool commandPool,
                                                        const VkAllocationCallbacks *pAllocator)
{
    (void)device;
    (void)pAllocator;
    struct command_pool *pool = PM_NULL_OBJECT(commandPool);
    while (pool && pool->first)
        free_buffer(pool->first);
    pm_null_object_destroy(pool, VK_OBJECT_TYPE_COMMAND_POOL);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkResetCommandPool(VkDevice device,
                                                          VkCommandPool commandPool,
                                                          VkCommandPoolResetFlags flags)
{
    (void)device;
    (void)flags;
    struct command_pool *pool = PM_NULL_OBJECT(commandPool);
    for (VkCommandBuffer buffer = pool->first; buffer; buffer = buffer->next)
        reset(buffer);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkResetCommandBuffer(VkCommandBuffer commandBuffer,
                                                            VkCommandBufferResetFlags flags)
{
    (void)flags;
    reset(commandBuffer);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkBeginCommandBuffer(
    VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo *pBeginInfo)
{
    (void)pBeginInfo;
    reset(commandBuffer);
    commandBuffer->recording = true;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkEndCommandBuffer(VkCommandBuffer commandBuffer)
{
    if (!commandBuffer->recording)
        pm_null_error("a command buffer is ended that was not begun");
    if (commandBuffer->conditional)
        pm_null_error("a command buffer is ended inside conditional rendering");
    commandBuffer->recording = false;
    return VK_SUCCESS;
}

/* ---- recording ---- */

void pm_null_command_recorded(VkCommandBuffer buffer)
{
    if (!buffer->recording)
        pm_null_error("a command is recorded into a command buffer that was not begun");
}

static void add(VkCommandBuffer buffer, struct pm_null_operation operation)
{
    pm_null_command_recorded(buffer);
    if (buffer->count == buffer->allocated) {
        size_t allocated = buffer->allocated ? 2 * buffer->allocated : 16;
        void *operations = realloc(buffer->operations, allocated * sizeof(operation));
        if (!operations) {
            pm_null_error("no memory for a command buffer");
            return;
        }
        buffer->operations = operations;
        buffer->allocated = allocated;
    }
    buffer->operations[buffer->count++] = operation;
}

#define ADD(buffer, ...) add(buffer, (struct pm_null_operation){__VA_ARGS__})

void pm_null_draw_recorded(VkCommandBuffer buffer, VkPipelineBindPoint point, uint32_t instances)
{
    pm_null_command_recorded(buffer);
    if (buffer->objects)
        pm_null_shaders_check(buffer);
    buffer->draws += !buffer->conditional;
    if (buffer->conditional || atomic_load_explicit(&cost_function, memory_order_relaxed))
        ADD(buffer, .kind = PM_NULL_OP_DRAW, .a = point, .b = instances, .c = buffer->conditional);
}

void pm_null_pass_recorded(VkCommandBuffer buffer, bool begins)
{
    pm_null_command_recorded(buffer);
    if (buffer->conditional)
        pm_null_error("a render pass instance begins or ends inside conditional rendering");
    if (atomic_load_explicit(&cost_function, memory_order_relaxed))
        ADD(buffer, .kind = PM_NULL_OP_PASS, .a = begins);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdBeginConditionalRenderingEXT(
    VkCommandBuffer commandBuffer, const VkConditionalRenderingBeginInfoEXT *info)
{
    const struct pm_null_buffer *buffer = PM_NULL_OBJECT(info->buffer);
    if (commandBuffer->conditional)
        pm_null_error("conditional rendering begins inside conditional rendering");
    if (info->offset % 4 != 0 || info->offset + 4 > buffer->size)
        pm_null_error("a predicate is not in its buffer, or not aligned");
    commandBuffer->conditional = true;
    ADD(commandBuffer, .kind = PM_NULL_OP_PREDICATE, .object = PM_NULL_OBJECT(info->buffer),
        .a = info->offset, .b = (info->flags & VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT) != 0);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdEndConditionalRenderingEXT(VkCommandBuffer commandBuffer)
{
    if (!commandBuffer->conditional)
        pm_null_error("conditional rendering ends that did not begin");
    commandBuffer->conditional = false;
    ADD(commandBuffer, .kind = PM_NULL_OP_PREDICATE);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdBindPipeline(VkCommandBuffer commandBuffer,
                                                     VkPipelineBindPoint pipelineBindPoint,
                                                     VkPipeline pipeline)
{
    if (!pm_null_object_alive(PM_NULL_OBJECT(pipeline), VK_OBJECT_TYPE_PIPELINE))
        pm_null_error("a pipeline that does not exist is bound");
    if (commandBuffer->objects)
        pm_null_shaders_disturbed(commandBuffer, pipelineBindPoint);
    ADD(commandBuffer, .kind = PM_NULL_OP_BIND, .object = PM_NULL_OBJECT(pipeline),
        .a = pipelineBindPoint);
}

void pm_null_shader_recorded(VkCommandBuffer buffer, VkShaderEXT shader, bool compute,
                             bool fragment)
{
    ADD(buffer, .kind = PM_NULL_OP_SHADER, .object = PM_NULL_OBJECT(shader), .a = compute,
        .b = compute || fragment);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdFillBuffer(VkCommandBuffer commandBuffer,
                                                   VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                   VkDeviceSize size, uint32_t data)
{
    ADD(commandBuffer, .kind = PM_NULL_OP_FILL, .object = PM_NULL_OBJECT(dstBuffer), .a = dstOffset,
        .b = size, .c = data);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdUpdateBuffer(VkCommandBuffer commandBuffer,
                                                     VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                     VkDeviceSize dataSize, const void *pData)
{
    void *bytes = malloc((size_t)dataSize);
    if (!bytes) {
        pm_null_error("no memory for an update");
        return;
    }
    memcpy(bytes, pData, (size_t)dataSize);
    ADD(commandBuffer, .kind = PM_NULL_OP_UPDATE, .object = PM_NULL_OBJECT(dstBuffer),
        .other = bytes, .a = dstOffset, .b = dataSize);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdCopyBuffer(VkCommandBuffer commandBuffer,
                                                   VkBuffer srcBuffer, VkBuffer dstBuffer,
                                                   uint32_t regionCount,
                                                   const VkBufferCopy *pRegions)
{
    for (uint32_t i = 0; i < regionCount; i++)
        ADD(commandBuffer, .kind = PM_NULL_OP_COPY, .object = PM_NULL_OBJECT(srcBuffer),
            .other = PM_NULL_OBJECT(dstBuffer), .a = pRegions[i].srcOffset,
            .b = pRegions[i].dstOffset, .c = pRegions[i].size);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdCopyBuffer2(VkCommandBuffer commandBuffer,
                                                    const VkCopyBufferInfo2 *pCopyBufferInfo)
{
    for (uint32_t i = 0; i < pCopyBufferInfo->regionCount; i++) {
        const VkBufferCopy2 *region = &pCopyBufferInfo->pRegions[i];
        ADD(commandBuffer, .kind = PM_NULL_OP_COPY,
            .object = PM_NULL_OBJECT(pCopyBufferInfo->srcBuffer),
            .other = PM_NULL_OBJECT(pCopyBufferInfo->dstBuffer), .a = region->srcOffset,
            .b = region->dstOffset, .c = region->size);
    }
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdWriteTimestamp(VkCommandBuffer commandBuffer,
                                                       VkPipelineStageFlagBits pipelineStage,
                                                       VkQueryPool queryPool, uint32_t query)
{
    (void)pipelineStage;
    ADD(commandBuffer, .kind = PM_NULL_OP_TIMESTAMP, .object = PM_NULL_OBJECT(queryPool),
        .a = query);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdWriteTimestamp2(VkCommandBuffer commandBuffer,
                                                        VkPipelineStageFlags2 stage,
                                                        VkQueryPool queryPool, uint32_t query)
{
    (void)stage;
    ADD(commandBuffer, .kind = PM_NULL_OP_TIMESTAMP, .object = PM_NULL_OBJECT(queryPool),
        .a = query);
}

/* What a query of another kind counts is 0. */
VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdEndQuery(VkCommandBuffer commandBuffer,
                                                 VkQueryPool queryPool, uint32_t query)
{
    ADD(commandBuffer, .kind = PM_NULL_OP_TIMESTAMP, .object = PM_NULL_OBJECT(queryPool),
        .a = query, .b = 1);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdResetQueryPool(VkCommandBuffer commandBuffer,
                                                       VkQueryPool queryPool, uint32_t firstQuery,
                                                       uint32_t queryCount)
{
    ADD(commandBuffer, .kind = PM_NULL_OP_RESET, .object = PM_NULL_OBJECT(queryPool),
        .a = firstQuery, .b = queryCount);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdCopyQueryPoolResults(
    VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t firstQuery, uint32_t queryCount,
    VkBuffer dstBuffer, VkDeviceSize dstOffset, VkDeviceSize stride, VkQueryResultFlags flags)
{
    ADD(commandBuffer, .kind = PM_NULL_OP_RESULTS, .object = PM_NULL_OBJECT(queryPool),
        .other = PM_NULL_OBJECT(dstBuffer), .a = firstQuery, .b = queryCount, .c = dstOffset,
        .d = stride, .e = flags);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdExecuteCommands(VkCommandBuffer commandBuffer,
                                                        uint32_t commandBufferCount,
                                                        const VkCommandBuffer *pCommandBuffers)
{
    if (commandBuffer->conditional)
        pm_null_error("secondary command buffers are executed inside conditional rendering");
    for (uint32_t i = 0; i < commandBufferCount; i++)
        ADD(commandBuffer, .kind = PM_NULL_OP_EXECUTE, .object = pCommandBuffers[i]);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdSetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                                                 VkPipelineStageFlags stageMask)
{
    (void)stageMask;
    ADD(commandBuffer, .kind = PM_NULL_OP_EVENT, .object = PM_NULL_OBJECT(event), .a = 1);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdResetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                                                   VkPipelineStageFlags stageMask)
{
    (void)stageMask;
    ADD(commandBuffer, .kind = PM_NULL_OP_EVENT, .object = PM_NULL_OBJECT(event), .a = 0);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdSetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                                                  const VkDependencyInfo *pDependencyInfo)
{
    (void)pDependencyInfo;
    ADD(commandBuffer, .kind = PM_NULL_OP_EVENT, .object = PM_NULL_OBJECT(event), .a = 1);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdResetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                                                    VkPipelineStageFlags2 stageMask)
{
    (void)stageMask;
    ADD(commandBuffer, .kind = PM_NULL_OP_EVENT, .object = PM_NULL_OBJECT(event), .a = 0);
}

/* ---- executing ---- */

uint64_t pm_null_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void pm_null_set_cost(pm_null_cost cost, void *user)
{
    atomic_store(&cost_user, user);
    atomic_store(&cost_function, cost);
}

static void write_query(struct pm_null_query_pool *pool, uint64_t query, uint64_t value)
{
    if (atomic_exchange(&pool->values[query], value) != UINT64_MAX)
        pm_null_error("a query is written that was not reset");
}

void pm_null_set_binned(bool on)
{
    atomic_store(&binned, on);
}

/* A command buffer that is being executed. */
struct execution {
    VkPipeline bound[2]; /* by bind point, of graphics and compute */
    bool pass;           /* a render pass instance is open */
    uint64_t deferred;   /* nanoseconds of its draws */
    bool discards;       /* draws, by a predicate */
};

static void draw(struct execution *execution, const struct pm_null_operation *op)
{
    if (execution->discards)
        return;
    atomic_fetch_add(&pm_null_executed_draws, op->c);
    pm_null_cost cost = atomic_load(&cost_function);
    if (!cost)
        return;
    const uint64_t time = op->b * cost(atomic_load(&cost_user), execution->bound[op->a]);
    if (execution->pass && atomic_load(&binned))
        execution->deferred += time;
    else
        atomic_fetch_add(&device_clock, time);
}

static void pass(struct execution *execution, bool begins)
{
    execution->pass = begins;
    atomic_fetch_add(&device_clock, execution->deferred);
    execution->deferred = 0;
}

void pm_null_command_pending(VkCommandBuffer buffer, int change)
{
    atomic_fetch_add(&buffer->pending, (uint32_t)change);
    for (size_t i = 0; i < buffer->count; i++) {
        if (buffer->operations[i].kind == PM_NULL_OP_EXECUTE)
            pm_null_command_pending(buffer->operations[i].object, change);
    }
}

static void fill(const struct pm_null_operation *op)
{
    struct pm_null_buffer *buffer = op->object;
    uint64_t size = op->b == VK_WHOLE_SIZE ? (buffer->size - op->a) & ~3ull : op->b;
    uint32_t data = (uint32_t)op->c;
    for (uint64_t i = 0; i + 4 <= size; i += 4)
        memcpy(buffer->bytes + op->a + i, &data, 4);
}

/* It is read once, when it begins. */
static void predicate(struct execution *execution, const struct pm_null_operation *op)
{
    const struct pm_null_buffer *buffer = op->object;
    uint32_t word = 0;
    if (buffer)
        memcpy(&word, buffer->bytes + op->a, sizeof word);
    execution->discards = buffer && (word != 0) == (op->b != 0);
}

static void run(const struct pm_null_operation *op, struct execution *execution)
{
    struct pm_null_buffer *buffer = op->object;
    struct pm_null_query_pool *pool = op->object;
    switch (op->kind) {
    case PM_NULL_OP_BIND:
        if (!pm_null_object_alive(op->object, VK_OBJECT_TYPE_PIPELINE))
            pm_null_error("a submitted command buffer binds a destroyed pipeline");
        if (op->a <= VK_PIPELINE_BIND_POINT_COMPUTE)
            execution->bound[op->a] = PM_NULL_HANDLE(VkPipeline, op->object);
        break;
    case PM_NULL_OP_SHADER:
        if (op->object && !pm_null_object_alive(op->object, VK_OBJECT_TYPE_SHADER_EXT))
            pm_null_error("a submitted command buffer binds a destroyed shader object");
        if (op->b)
            execution->bound[op->a] = PM_NULL_HANDLE(VkPipeline, op->object);
        break;
    case PM_NULL_OP_DRAW:
        draw(execution, op);
        break;
    case PM_NULL_OP_PASS:
        pass(execution, op->a != 0);
        break;
    case PM_NULL_OP_FILL:
        fill(op);
        break;
    case PM_NULL_OP_COPY:
        memmove(((struct pm_null_buffer *)op->other)->bytes + op->b, buffer->bytes + op->a,
                (size_t)op->c);
        break;
    case PM_NULL_OP_UPDATE:
        memcpy(buffer->bytes + op->a, op->other, (size_t)op->b);
        break;
    case PM_NULL_OP_TIMESTAMP:
        write_query(pool, op->a,
                    op->b                         ? 0
                    : atomic_load(&cost_function) ? atomic_load(&device_clock)
                                                  : pm_null_now());
        break;
    case PM_NULL_OP_RESET:
        pm_null_vkResetQueryPool(NULL, PM_NULL_HANDLE(VkQueryPool, op->object), (uint32_t)op->a,
                                 (uint32_t)op->b);
        break;
    case PM_NULL_OP_RESULTS:
        pm_null_vkGetQueryPoolResults(NULL, PM_NULL_HANDLE(VkQueryPool, op->object),
                                      (uint32_t)op->a, (uint32_t)op->b, SIZE_MAX,
                                      ((struct pm_null_buffer *)op->other)->bytes + op->c, op->d,
                                      (VkQueryResultFlags)op->e);
        break;
    case PM_NULL_OP_EXECUTE:
        pm_null_execute(op->object);
        break;
    case PM_NULL_OP_PREDICATE:
        predicate(execution, op);
        break;
    case PM_NULL_OP_EVENT:
        atomic_store(&((struct pm_null_event *)op->object)->set, op->a != 0);
        break;
    }
}

void pm_null_execute(VkCommandBuffer buffer)
{
    struct execution execution = {0};
    for (size_t i = 0; i < buffer->count; i++)
        run(&buffer->operations[i], &execution);
    atomic_fetch_add(&pm_null_executed_draws, buffer->draws);
}
