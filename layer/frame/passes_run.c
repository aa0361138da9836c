#include "layer/frame/passes_run.h"

#include "layer/frame/binding.h"

/* How many workgroups there are. false: more than there can be memory for. */
static bool count_groups(const uint32_t *groups, uint64_t *count)
{
    const uint64_t layer = (uint64_t)groups[0] * groups[1];
    *count = layer * groups[2];
    return layer == 0 || groups[2] <= UINT32_MAX / layer;
}

/* Scratch memory for the dispatch that follows. The first that a recording of its own has is to be
 * given back with it. */
static bool take_scratch(struct pm_command *command, const struct pm_passes *passes,
                         uint64_t groups)
{
    struct pm_device *device = command->device;
    const bool had = command->scratch.held != 0;
    const bool taken =
        (passes->group_bytes == 0 || groups <= UINT64_MAX / passes->group_bytes) &&
        pm_scratch_memory_take(device->scratch, command->pool->family, &command->scratch,
                               groups * passes->group_bytes, &command->scratch_unit);
    if (!had && command->scratch.held != 0) {
        atomic_fetch_add(&device->sampling->holding, 1);
        pm_log_debug(device->instance->log, "a recording has scratch memory from unit %u on",
                     command->scratch_unit);
    }
    return taken;
}

bool pm_passes_may_run(struct pm_command *command, const struct pm_passes *passes,
                       const uint32_t *groups)
{
    uint64_t count;
    if (groups == NULL || command->secondary || command->simultaneous ||
        (pm_binding_allowed(command, PM_COMPUTE) & PM_BINDING_PASSES) == 0 ||
        !count_groups(groups, &count) || !take_scratch(command, passes, count))
        return false;
    /* Where the memory begins is told by workgroups in z. */
    const uint64_t most = command->device->properties.limits.maxComputeWorkGroupCount[2];
    return command->scratch_unit == 0 || (command->scratch_unit + UINT64_C(1)) * groups[2] <= most;
}

static struct pm_optimized *proven(const struct pm_command *command)
{
    const struct pm_pipeline *pipeline = command->bound[PM_COMPUTE].pipeline;
    const uint32_t binds = atomic_load_explicit(&command->device->binds, memory_order_relaxed);
    return pipeline != NULL && (binds & PM_BINDS_PROVEN) != 0 ? pm_optimize_passes(pipeline) : NULL;
}

bool pm_passes_are_wanted(const struct pm_command *command)
{
    return proven(command) != NULL;
}

const struct pm_passes *pm_passes_proven(struct pm_command *command, const uint32_t *groups)
{
    struct pm_optimized *optimized = proven(command);
    if (optimized == NULL || !pm_passes_may_run(command, &optimized->passes, groups))
        return NULL;
    if (!atomic_load_explicit(&optimized->bound, memory_order_relaxed)) {
        pm_optimize_bound(optimized);
        pm_log_debug(command->device->instance->log, "a dispatch runs in %u passes",
                     optimized->passes.count);
    }
    return &optimized->passes;
}

void pm_passes_count_down(struct pm_command *command)
{
    const bool each = command->put_off || pm_passes_are_wanted(command);
    if (command->recording == PM_RECORDING_TRACKED)
        command->countdown = each ? 1 : PM_NEVER;
    else if (command->recording == PM_RECORDING_SAMPLED)
        pm_command_look_at_each(command, each);
}

static void bind(const struct pm_command *command, const struct pm_built *built)
{
    static const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
    const struct pm_device_dispatch *dispatch = &command->device->dispatch;
    if (built->shader != VK_NULL_HANDLE)
        dispatch->CmdBindShadersEXT(command->handle, 1, &stage, &built->shader);
    else
        dispatch->CmdBindPipeline(command->handle, VK_PIPELINE_BIND_POINT_COMPUTE,
                                  PM_TO_HANDLE(VkPipeline, built->handle));
}

/* In the part of the scratch memory that the recording has. */
static void dispatch_one(const struct pm_command *command, const uint32_t *groups)
{
    const struct pm_device_dispatch *dispatch = &command->device->dispatch;
    const uint32_t base = command->scratch_unit * groups[2];
    if (base == 0)
        dispatch->CmdDispatch(command->handle, groups[0], groups[1], groups[2]);
    else if (dispatch->CmdDispatchBase != NULL)
        dispatch->CmdDispatchBase(command->handle, 0, 0, base, groups[0], groups[1], groups[2]);
    else
        dispatch->CmdDispatchBaseKHR(command->handle, 0, 0, base, groups[0], groups[1], groups[2]);
}

void pm_passes_run(const struct pm_command *command, const struct pm_passes *passes,
                   const uint32_t *groups)
{
    /* Before the first one, for those that ran before and left their values where these leave
     * theirs. */
    static const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    };
    const struct pm_device_dispatch *dispatch = &command->device->dispatch;
    for (uint32_t i = 0; i < passes->count; i++) {
        dispatch->CmdPipelineBarrier(command->handle, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL,
                                     0, NULL);
        bind(command, &passes->built[i]);
        dispatch_one(command, groups);
    }
    if (command->bound[PM_COMPUTE].passes == NULL) /* else pm_binding_put_back does */
        pm_binding_bind(command, PM_COMPUTE);
}
