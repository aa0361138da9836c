#include "tests/layer/hooks/recorded_world.h"

#include "layer/memory/predicates.h"

#include <string.h>

static struct dispatchable places[BUFFERS];

struct recording recordings[BUFFERS];
struct found found;
void (*world_fails)(const char *wrong, int point);

struct recording *recording_of(VkCommandBuffer handle)
{
    return &recordings[(struct dispatchable *)handle - places];
}

bool is_sampled(const struct recording *recording)
{
    return recording->command->recording == PM_RECORDING_SAMPLED;
}

/* ---- what a call may find ---- */

/* Whether the words of a folded variant were pushed with the values that it was made for. */
static bool fits(const struct recording *recording, const struct pm_watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        const uint32_t word = watch->words[i].word;
        if ((recording->pushed >> word & 1) == 0 || recording->words[word] != watch->words[i].value)
            return false;
    }
    return watch->count > 0;
}

/* What is wrong with a variant that is bound for the pipeline where a call comes; NULL: nothing. */
static const char *find_variant(const struct recording *recording, int pipeline, uint64_t variant)
{
    if (variant == INSTRUMENTED && recording->calls && is_sampled(recording)) {
        found.instrumented++;
        return world_has(pipeline, INSTRUMENTED) ? NULL
                                                 : "an instrumented variant that there is not";
    }
    if (variant == BEST && world_has(pipeline, BEST)) {
        found.best++;
        return NULL;
    }
    if (variant != FOLDED)
        return "something else is bound";
    found.folded++;
    return fits(recording, world_watch(pipeline)) ? NULL
                                                  : "a variant for words that were not pushed";
}

/* A draw or dispatch comes, or would come. What is wrong with what is bound; NULL: nothing. */
static const char *call(const struct recording *recording, int point)
{
    const uint64_t game = recording->game[point], bound = recording->bound[point];
    if (game == 0)
        return NULL;
    if (bound == game) {
        found.game++;
        found.queried += recording->queries > 0;
        return NULL;
    }
    if (game == handle_of(UNKNOWN))
        return "something in the place of a pipeline that is not known";
    if (recording->queries > 0)
        return "a query sees a variant";
    return find_variant(recording, (int)(game / HANDLES) - 1, bound - game);
}

/* What is wrong with what the record says of the bind point; NULL: nothing. */
static const char *find_record(const struct recording *recording, int point)
{
    const struct pm_command *command = recording->command;
    const struct pm_bound *bound = &command->bound[point];
    uint64_t game = command->lately.game[point], now = command->lately.now[point];
    if (game != 0) {
        if (command->plain_points == 0)
            return "something was bound lately where the record is not plain";
        if (is_sampled(recording))
            found.lately_sampled++;
        else
            found.lately_tracked++;
    } else if (bound->pipeline != NULL) {
        game = bound->game;
        now = bound->now;
    } else {
        const uint64_t is = recording->game[point];
        return is_sampled(recording) && is != 0 && is != handle_of(UNKNOWN)
                   ? "the record of a recording that is sampled does not say what is bound"
                   : NULL;
    }
    return game == recording->game[point] && now == recording->bound[point]
               ? NULL
               : "the record says that something else is bound";
}

static void check(const char *wrong, int point)
{
    if (wrong != NULL)
        world_fails(wrong, point);
}

void world_check(const struct recording *recording)
{
    for (int point = 0; point < PM_BIND_POINTS; point++) {
        check(call(recording, point), point);
        if (recording->open)
            check(find_record(recording, point), point);
    }
}

/* ---- the driver ---- */

static VKAPI_ATTR VkResult VKAPI_CALL driver_begin(VkCommandBuffer handle,
                                                   const VkCommandBufferBeginInfo *info)
{
    (void)handle, (void)info;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_end(VkCommandBuffer handle)
{
    (void)handle;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_reset(VkCommandBuffer handle,
                                                   VkCommandBufferResetFlags flags)
{
    (void)handle, (void)flags;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL driver_execute(VkCommandBuffer handle, uint32_t count,
                                                 const VkCommandBuffer *secondaries)
{
    (void)count, (void)secondaries;
    struct recording *recording = recording_of(handle);
    memset(recording->bound, 0, sizeof recording->bound);
}

static VKAPI_ATTR void VKAPI_CALL driver_bind(VkCommandBuffer handle, VkPipelineBindPoint point,
                                              VkPipeline pipeline)
{
    recording_of(handle)->bound[point] = PM_BITS(pipeline);
}

static VKAPI_ATTR void VKAPI_CALL driver_push(VkCommandBuffer handle, VkPipelineLayout used,
                                              VkShaderStageFlags stages, uint32_t offset,
                                              uint32_t size, const void *values)
{
    (void)handle, (void)used, (void)stages, (void)offset, (void)size, (void)values;
}

static VKAPI_ATTR void VKAPI_CALL driver_begin_query(VkCommandBuffer handle, VkQueryPool pool,
                                                     uint32_t query, VkQueryControlFlags flags)
{
    (void)handle, (void)pool, (void)query, (void)flags;
}

static VKAPI_ATTR void VKAPI_CALL driver_end_query(VkCommandBuffer handle, VkQueryPool pool,
                                                   uint32_t query)
{
    (void)handle, (void)pool, (void)query;
}

/* A call of the game's, or the second one that stands in for it. */
static void called(VkCommandBuffer handle, int point)
{
    struct recording *recording = recording_of(handle);
    const bool instrumented = recording->bound[point] == recording->game[point] + INSTRUMENTED;
    check(call(recording, point), point);
    if (recording->predicate != NO_PREDICATE &&
        instrumented != (recording->predicate == OF_VARIANT))
        check("the other one of two calls", point);
    if (recording->predicate == OF_VARIANT)
        found.twice++;
    else
        recording->called++;
}

static VKAPI_ATTR void VKAPI_CALL driver_draw(VkCommandBuffer handle, uint32_t vertices,
                                              uint32_t instances, uint32_t first,
                                              uint32_t first_instance)
{
    (void)vertices, (void)instances, (void)first, (void)first_instance;
    called(handle, PM_GRAPHICS);
}

static VKAPI_ATTR void VKAPI_CALL driver_dispatch(VkCommandBuffer handle, uint32_t x, uint32_t y,
                                                  uint32_t z)
{
    (void)x, (void)y, (void)z;
    called(handle, PM_COMPUTE);
}

static VKAPI_ATTR void VKAPI_CALL driver_newer_draw(VkCommandBuffer handle, const void *info)
{
    (void)info;
    called(handle, PM_GRAPHICS);
}

static VKAPI_ATTR void VKAPI_CALL driver_newer_dispatch(VkCommandBuffer handle, const void *info)
{
    (void)info;
    called(handle, PM_COMPUTE);
}

static VKAPI_ATTR void VKAPI_CALL
driver_begin_predicate(VkCommandBuffer handle, const VkConditionalRenderingBeginInfoEXT *info)
{
    assert_int_equal(recording_of(handle)->predicate, NO_PREDICATE);
    recording_of(handle)->predicate =
        (info->flags & VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT) != 0 ? OF_GAME : OF_VARIANT;
}

static VKAPI_ATTR void VKAPI_CALL driver_end_predicate(VkCommandBuffer handle)
{
    assert_int_not_equal(recording_of(handle)->predicate, NO_PREDICATE);
    recording_of(handle)->predicate = NO_PREDICATE;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_create_pool(VkDevice handle,
                                                         const VkCommandPoolCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkCommandPool *out)
{
    (void)handle, (void)info, (void)allocator;
    *out = (VkCommandPool)(uintptr_t)1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_allocate(VkDevice handle,
                                                      const VkCommandBufferAllocateInfo *info,
                                                      VkCommandBuffer *out)
{
    (void)handle;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        places[i].key = *(const void *const *)handle;
        out[i] = (VkCommandBuffer)&places[i];
    }
    return VK_SUCCESS;
}

/* Memory for predicates. */
static uint32_t predicate_words[PREDICATES + PM_PREDICATE_BLOCK];

static VKAPI_ATTR VkResult VKAPI_CALL driver_create_buffer(VkDevice handle,
                                                           const VkBufferCreateInfo *info,
                                                           const VkAllocationCallbacks *allocator,
                                                           VkBuffer *out)
{
    (void)handle, (void)allocator;
    assert_true(info->size <= sizeof predicate_words);
    *out = (VkBuffer)(uintptr_t)1;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL driver_needs(VkDevice handle, VkBuffer buffer,
                                               VkMemoryRequirements *out)
{
    (void)handle, (void)buffer;
    *out = (VkMemoryRequirements){.size = sizeof predicate_words, .memoryTypeBits = 1};
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_allocate_memory(VkDevice handle,
                                                             const VkMemoryAllocateInfo *info,
                                                             const VkAllocationCallbacks *allocator,
                                                             VkDeviceMemory *out)
{
    (void)handle, (void)info, (void)allocator;
    *out = (VkDeviceMemory)(uintptr_t)1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_bind_memory(VkDevice handle, VkBuffer buffer,
                                                         VkDeviceMemory memory, VkDeviceSize offset)
{
    (void)handle, (void)buffer, (void)memory, (void)offset;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_map(VkDevice handle, VkDeviceMemory memory,
                                                 VkDeviceSize offset, VkDeviceSize size,
                                                 VkMemoryMapFlags flags, void **out)
{
    (void)handle, (void)memory, (void)offset, (void)size, (void)flags;
    *out = predicate_words;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL driver_destroy_buffer(VkDevice handle, VkBuffer buffer,
                                                        const VkAllocationCallbacks *allocator)
{
    (void)handle, (void)buffer, (void)allocator;
}

static VKAPI_ATTR void VKAPI_CALL driver_free_memory(VkDevice handle, VkDeviceMemory memory,
                                                     const VkAllocationCallbacks *allocator)
{
    (void)handle, (void)memory, (void)allocator;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL driver_find(VkDevice handle, const char *name)
{
    (void)handle;
    return strcmp(name, "vkCmdDrawIndirect2KHR") == 0 ? (PFN_vkVoidFunction)driver_newer_draw
           : strcmp(name, "vkCmdDispatchIndirect2KHR") == 0
               ? (PFN_vkVoidFunction)driver_newer_dispatch
               : NULL;
}

const struct pm_device_dispatch world_driver = {
    .GetDeviceProcAddr = driver_find,
    .BeginCommandBuffer = driver_begin,
    .EndCommandBuffer = driver_end,
    .ResetCommandBuffer = driver_reset,
    .CmdExecuteCommands = driver_execute,
    .CmdBindPipeline = driver_bind,
    .CmdPushConstants = driver_push,
    .CmdBeginQuery = driver_begin_query,
    .CmdEndQuery = driver_end_query,
    .CmdDraw = driver_draw,
    .CmdDispatch = driver_dispatch,
    .CmdBeginConditionalRenderingEXT = driver_begin_predicate,
    .CmdEndConditionalRenderingEXT = driver_end_predicate,
    .CreateCommandPool = driver_create_pool,
    .AllocateCommandBuffers = driver_allocate,
    .CreateBuffer = driver_create_buffer,
    .DestroyBuffer = driver_destroy_buffer,
    .GetBufferMemoryRequirements = driver_needs,
    .AllocateMemory = driver_allocate_memory,
    .FreeMemory = driver_free_memory,
    .BindBufferMemory = driver_bind_memory,
    .MapMemory = driver_map,
};
