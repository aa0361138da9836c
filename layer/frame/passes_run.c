#include "layer/frame/passes_run.h"

#include "layer/frame/binding.h"
#include "layer/memory/scratch_memory.h"

/* Whether any dispatch of the recording may. */
static bool recording_may(const struct pm_command *command)
{
    return !command->secondary && !command->simultaneous &&
           (pm_binding_allowed(command, PM_COMPUTE) & PM_BINDING_PASSES) != 0 &&
           pm_scratch_memory_is_for(command->device->scratch, command->pool->family);
}

bool pm_passes_may_run(const struct pm_command *command, const struct pm_passes *passes,
                       const uint32_t *groups)
{
    if (groups == NULL || !recording_may(command))
        return false;
    const uint64_t layer = (uint64_t)groups[0] * groups[1];
    return layer == 0 || groups[2] == 0 ||
           (layer <= passes->most_groups && groups[2] <= passes->most_groups / layer);
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
    if (command->recording == PM_RECORDING_TRACKED)
        command->countdown = pm_passes_are_wanted(command) ? 1 : PM_NEVER;
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
    const struct pm_bound *bound = &command->bound[PM_COMPUTE];
    for (uint32_t i = 0; i < passes->count; i++) {
        dispatch->CmdPipelineBarrier(command->handle, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL,
                                     0, NULL);
        dispatch->CmdBindPipeline(command->handle, VK_PIPELINE_BIND_POINT_COMPUTE,
                                  PM_TO_HANDLE(VkPipeline, passes->built[i].handle));
        dispatch->CmdDispatch(command->handle, groups[0], groups[1], groups[2]);
    }
    if (bound->passes == NULL) /* else pm_binding_put_back does */
        dispatch->CmdBindPipeline(command->handle, VK_PIPELINE_BIND_POINT_COMPUTE,
                                  PM_TO_HANDLE(VkPipeline, bound->standing));
}
