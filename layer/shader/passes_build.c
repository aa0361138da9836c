#include "layer/shader/passes_build.h"

#include "layer/memory/scratch_memory.h"
#include "layer/shader/pipeline_build.h"
#include "profile/trace_events.h"
#include <stdlib.h>

bool pm_passes_possible(const struct pm_pipeline *pipeline)
{
    return pipeline->shader_owner == pipeline && pm_pipeline_computes(pipeline) &&
           pipeline->device->scratch != NULL;
}

static bool build_pass(struct pm_pipeline *pipeline, const struct pm_specialized_shader *shader,
                       uint32_t pass, VkDeviceAddress address, struct pm_built *built,
                       struct pm_error *error)
{
    const struct pm_partition_pass *made = &shader->partitioned.passes[pass];
    const uint64_t unit = pm_scratch_memory_unit(pipeline->device->scratch);
    const uint32_t values[3] = {(uint32_t)address, (uint32_t)(address >> 32), (uint32_t)(unit / 4)};
    const VkSpecializationMapEntry entries[3] = {
        {made->spec_id_low, 0, sizeof(uint32_t)},
        {made->spec_id_high, sizeof(uint32_t), sizeof(uint32_t)},
        {made->spec_id_region, 2 * sizeof(uint32_t), sizeof(uint32_t)},
    };
    const VkSpecializationInfo specialization = {
        .mapEntryCount = unit > 0 ? 3 : 2,
        .pMapEntries = entries,
        .dataSize = sizeof values,
        .pData = values,
    };
    const struct pm_replacement replacement = {
        .words = &made->words,
        .entry_point = shader->entry_point,
        .specialization = &specialization,
        .cache = pm_pipelines_variant_cache(pipeline->device->pipelines),
        .dispatch_base = unit > 0,
        .name = PM_TRACE_BUILDS "passes",
        .original = &shader->original,
    };
    return pm_pipeline_build(pipeline, &replacement, built, error);
}

bool pm_passes_build(struct pm_pipeline *pipeline, const struct pm_specialized_shader *shader,
                     struct pm_passes *passes, struct pm_error *error)
{
    const struct pm_partitioned *partitioned = &shader->partitioned;
    VkDeviceAddress address;
    uint64_t bytes;
    *passes = (struct pm_passes){0};
    if (!pm_scratch_memory_get(pipeline->device->scratch, &address, &bytes, error))
        return false;
    passes->group_bytes =
        4 * (uint64_t)partitioned->scratch_words * partitioned->workgroup_invocations;
    passes->built = calloc(partitioned->count, sizeof *passes->built);
    if (passes->built == NULL)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for passes");
    while (passes->count < partitioned->count) {
        /* Also one that was built in part is destroyed. */
        const uint32_t pass = passes->count++;
        if (!build_pass(pipeline, shader, pass, address, &passes->built[pass], error))
            return false;
    }
    return true;
}
