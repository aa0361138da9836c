#include "layer/shader/passes_cut.h"

#include "layer/memory/scratch_memory.h"
#include "layer/shader/passes.h"

/* What a pass may take. false: debug.partition_limits is neither a preset nor a number. */
static bool find_limits(const struct pm_device *device, struct pm_pass_limits *limits)
{
    const char *name = device->instance->config.debug.partition_limits;
    return pm_pass_limits_named(name != NULL ? name : "registers", limits);
}

bool pm_passes_cut(const struct pm_device *device, const struct pm_shader_record *record,
                   struct pm_partitioned *out, struct pm_error *error)
{
    struct pm_pass_limits limits;
    const struct pm_partition_info info = {
        .limits = &limits,
        .method = PM_PARTITION_BEYOND,
        .target = device->abilities.target,
        .regions = pm_scratch_memory_unit(device->scratch) > 0,
    };
    *out = (struct pm_partitioned){0};
    if (!find_limits(device, &limits))
        return pm_fail(error, PM_ERROR_INPUT,
                       "stays whole: debug.partition_limits is neither a preset nor a number");
    if (!pm_partition(record->canonical.data, record->canonical.count, &info, out, error))
        return false;
    if (out->count > 1 && out->count <= PM_PASSES_MOST && out->workgroup_invocations > 0)
        return true;
    const uint32_t count = out->count;
    pm_partitioned_finish(out);
    return count > PM_PASSES_MOST &&
           pm_fail(error, PM_ERROR_LIMIT, "stays whole: it would take %u passes", count);
}
