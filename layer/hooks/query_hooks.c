/*
 * The hooks of queries, whose results what is bound could change (HAZARDS 11): those of pipeline
 * statistics, performance, and what is not known. Until the device has a pool of these, a query is
 * passed on in a few instructions.
 */
#include "layer/frame/binding.h"
#include "layer/frame/passes_run.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"

/* Whether a query is of the one device, and changes by nothing that is bound; needs PM_FAST. */
#define IS_PLAIN(handle)                                                                           \
    (PM_IS_OF_ONE(handle) && !PM_READ(bool, pm_one.device->sampling->queries_see))

/* Most queries change nothing, and what a recording has bound is left as short as it is. */
static bool changes_query(const struct pm_device *device, VkQueryPool pool)
{
    return device->sampling != NULL &&
           pm_lookup_find(&device->sampling->queries, PM_KEY(pool)) == NULL;
}

static void query_begins(struct pm_device *device, VkCommandBuffer handle, VkQueryPool pool)
{
    struct pm_command *command =
        changes_query(device, pool) ? pm_command_tracked(device, handle) : NULL;
    if (command != NULL)
        pm_binding_obstacle_begins(command, PM_ACTIVE_QUERY);
}

static void query_ends(struct pm_device *device, VkCommandBuffer handle, VkQueryPool pool)
{
    struct pm_command *command =
        changes_query(device, pool) ? pm_command_tracked(device, handle) : NULL;
    if (command == NULL)
        return;
    pm_binding_obstacle_ends(command, PM_ACTIVE_QUERY);
    pm_passes_count_down(command);
}

/* X(name, (parameters), (arguments)) */
#define BEGIN_COMMANDS(X)                                                                          \
    X(CmdBeginQuery,                                                                               \
      (VkCommandBuffer handle, VkQueryPool pool, uint32_t query, VkQueryControlFlags flags),       \
      (handle, pool, query, flags))                                                                \
    X(CmdBeginQueryIndexedEXT,                                                                     \
      (VkCommandBuffer handle, VkQueryPool pool, uint32_t query, VkQueryControlFlags flags,        \
       uint32_t index),                                                                            \
      (handle, pool, query, flags, index))
#define END_COMMANDS(X)                                                                            \
    X(CmdEndQuery, (VkCommandBuffer handle, VkQueryPool pool, uint32_t query),                     \
      (handle, pool, query))                                                                       \
    X(CmdEndQueryIndexedEXT,                                                                       \
      (VkCommandBuffer handle, VkQueryPool pool, uint32_t query, uint32_t index),                  \
      (handle, pool, query, index))

/* What stood in the query's way is put back before it begins, and binds again after it ended. */
#define BEGIN(name, parameters, arguments)                                                         \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL long_##name parameters                               \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        query_begins(device, handle, pool);                                                        \
        device->dispatch.name arguments;                                                           \
    }                                                                                              \
    PM_HOOK_UNLESS_PLAIN(name, parameters, arguments, IS_PLAIN)
#define END(name, parameters, arguments)                                                           \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL long_##name parameters                               \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        device->dispatch.name arguments;                                                           \
        query_ends(device, handle, pool);                                                          \
    }                                                                                              \
    PM_HOOK_UNLESS_PLAIN(name, parameters, arguments, IS_PLAIN)

BEGIN_COMMANDS(BEGIN)
END_COMMANDS(END)

/* Whether its queries count the same whatever is bound. Those of sizes and pointers never begin:
 * they are written by commands of their own (vkd3d-proton makes such pools for each game with ray
 * tracing). */
static bool is_blind(VkQueryType type)
{
    switch ((int)type) {
    case VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR:
    case VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR:
    case VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SERIALIZATION_BOTTOM_LEVEL_POINTERS_KHR:
    case VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SIZE_KHR:
    case VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_NV:
    case VK_QUERY_TYPE_MICROMAP_SERIALIZATION_SIZE_EXT:
    case VK_QUERY_TYPE_MICROMAP_COMPACTED_SIZE_EXT:
    case VK_QUERY_TYPE_OCCLUSION:
    case VK_QUERY_TYPE_TIMESTAMP:
    case VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT:
    case VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT:
    case VK_QUERY_TYPE_MESH_PRIMITIVES_GENERATED_EXT:
        return true;
    default:
        return false;
    }
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateQueryPool(VkDevice handle,
                                                  const VkQueryPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkQueryPool *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.CreateQueryPool(handle, info, allocator, out);
    struct pm_sampling *sampling = device->sampling;
    if (result != VK_SUCCESS || sampling == NULL)
        return result;
    /* Pipeline statistics, performance, and what is not known count what a variant does. */
    if (!is_blind(info->queryType)) {
        pm_registry_be_careful(device);
        if (device->pipelines != NULL)
            pm_pipelines_are_seen(device->pipelines);
    } else if (pm_lookup_put(&sampling->queries, PM_KEY(*out), device))
        return result;
    atomic_store(&sampling->queries_see, true);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyQueryPool(VkDevice handle, VkQueryPool pool,
                                               const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    if (device->sampling != NULL && pool != VK_NULL_HANDLE)
        pm_lookup_remove(&device->sampling->queries, PM_KEY(pool));
    device->dispatch.DestroyQueryPool(handle, pool, allocator);
}
