#include "layer/shader/pipeline_build.h"

#include "base/stop.h"
#include "layer/core/object_name.h"
#include "layer/core/trace.h"
#include "layer/generate/create_info.h"
#include "layer/shader/shader_object.h"
#include <stdlib.h>

/* What does not change what a pipeline does: bases that may be gone, refusals to compile (it is
 * compiled in the background), what is only there to be queried or captured, and use by generated
 * commands, which name the game's own pipelines. */
#define DROPPED_FLAGS                                                                              \
    ((VkPipelineCreateFlags2)(VK_PIPELINE_CREATE_2_ALLOW_DERIVATIVES_BIT |                         \
                              VK_PIPELINE_CREATE_2_DERIVATIVE_BIT |                                \
                              VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT |         \
                              VK_PIPELINE_CREATE_2_EARLY_RETURN_ON_FAILURE_BIT |                   \
                              VK_PIPELINE_CREATE_2_CAPTURE_STATISTICS_BIT_KHR |                    \
                              VK_PIPELINE_CREATE_2_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR |      \
                              VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR |                          \
                              VK_PIPELINE_CREATE_2_INDIRECT_BINDABLE_BIT_EXT))

/* What one build holds until the driver has built. */
struct build {
    struct pm_pipeline *pipeline;
    const struct pm_replacement *replacement; /* NULL: an identical twin */
    VkPipelineShaderStageCreateInfo *stages;
    uint32_t stage_count;   /* stages whose module is made */
    struct pm_built *built; /* keeps the libraries with the replaced shader; NULL for a twin */
    VkPipeline *libraries;
    VkPipelineLayout layout;
    VkRenderPass render_pass;
    VkPipelineCache cache;
    VkPipelineCreateFlags2CreateInfo flags; /* in the pipeline's chain, where it is needed */
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size; /* likewise in its stage's */
};

static bool no_memory(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_MEMORY, "no memory to build a pipeline");
}

static bool refused(struct pm_error *error, const char *what, VkResult result)
{
    if (result == VK_PIPELINE_COMPILE_REQUIRED)
        return pm_fail(error, PM_ERROR_STATE, "%s is not compiled yet", what);
    return pm_fail(error, PM_ERROR_DEVICE, "the driver refused %s (VkResult %d)", what, result);
}

/* ---- parts ---- */

static bool make_module(struct build *build, const uint32_t *words, size_t count,
                        VkShaderModule *module, struct pm_error *error)
{
    struct pm_device *device = build->pipeline->device;
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = count * sizeof *words,
        .pCode = words,
    };
    const VkResult result =
        device->dispatch.CreateShaderModule(device->handle, &info, NULL, module);
    if (result != VK_SUCCESS)
        return refused(error, "a shader module", result);
    pm_name_object(device, VK_OBJECT_TYPE_SHADER_MODULE, PM_BITS(*module), "piecemeal shader");
    return true;
}

static bool make_stages(struct build *build, const VkPipelineShaderStageCreateInfo *stages,
                        uint32_t count, struct pm_error *error)
{
    struct pm_pipeline *pipeline = build->pipeline;
    build->stages = calloc(count ? count : 1, sizeof *build->stages);
    if (!build->stages)
        return no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        VkPipelineShaderStageCreateInfo *stage = &build->stages[i];
        *stage = stages[i];
        struct pm_words own = {0};
        const struct pm_words *words = &own;
        if (build->replacement && pipeline->shader_owner == pipeline &&
            pipeline->shader_stage == i) {
            words = build->replacement->words;
            stage->pName = build->replacement->entry_point;
            stage->pSpecializationInfo = build->replacement->specialization;
        } else if (!pm_object_words(pipeline->modules[i], &own, error)) {
            return false;
        }
        const bool made = make_module(build, words->data, words->count, &stage->module, error);
        pm_words_finish(&own);
        if (!made)
            return false;
        build->stage_count = i + 1;
    }
    return true;
}

static bool build_one(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                      struct pm_built *built, VkPipeline *handle, struct pm_error *error);

/* A library's identical twin, made once and kept with it. at_once: pipeline_build.h; a thread of
 * the lowest priority may be making it, under the lock. */
static bool twin(struct pm_pipeline *library, bool at_once, VkPipeline *handle,
                 struct pm_error *error)
{
    bool made;
    if (!at_once)
        pthread_mutex_lock(&library->copying);
    else if (pthread_mutex_trylock(&library->copying) != 0)
        return pm_fail(error, PM_ERROR_STATE, "a library's twin is being made");
    if (at_once && !library->copy)
        made = pm_fail(error, PM_ERROR_STATE, "a library's twin is not made yet");
    else
        made = library->copy || build_one(library, NULL, NULL, &library->copy, error);
    *handle = library->copy;
    pthread_mutex_unlock(&library->copying);
    return made;
}

static bool replaces(const struct build *build, const struct pm_pipeline *library)
{
    return build->replacement && library->shader_owner &&
           library->shader_owner == build->pipeline->shader_owner;
}

/* Before anything is compiled, which would be in vain where one is not there at once. */
static bool make_twins(struct build *build, struct pm_error *error)
{
    const struct pm_pipeline *pipeline = build->pipeline;
    const bool at_once = build->replacement && build->replacement->at_once;
    for (uint32_t i = 0; i < pipeline->library_count; i++) {
        struct pm_pipeline *library = pipeline->libraries[i];
        if (!replaces(build, library) && !twin(library, at_once, &build->libraries[i], error))
            return false;
    }
    return true;
}

static bool make_libraries(struct build *build, struct pm_error *error)
{
    struct pm_pipeline *pipeline = build->pipeline;
    build->libraries = calloc(pipeline->library_count, sizeof *build->libraries);
    if (!build->libraries)
        return no_memory(error);
    if (!make_twins(build, error))
        return false;
    for (uint32_t i = 0; i < pipeline->library_count; i++) {
        struct pm_pipeline *library = pipeline->libraries[i];
        if (!replaces(build, library))
            continue;
        if (!build_one(library, build->replacement, build->built, &build->libraries[i], error))
            return false;
        struct pm_built *built = build->built;
        if (built->library_count == PM_LIBRARY_DEPTH) {
            struct pm_device *device = pipeline->device;
            device->dispatch.DestroyPipeline(device->handle, build->libraries[i], NULL);
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "libraries are nested too deeply");
        }
        built->libraries[built->library_count++] = build->libraries[i];
    }
    return true;
}

static bool make_objects(struct build *build, struct pm_error *error)
{
    const struct pm_pipeline *pipeline = build->pipeline;
    uint64_t own;
    if (pipeline->layout) {
        own = pm_object_own(pipeline->layout, error);
        if (!own)
            return false;
        build->layout = PM_TO_HANDLE(VkPipelineLayout, own);
    }
    if (pipeline->render_pass) {
        own = pm_object_own(pipeline->render_pass, error);
        if (!own)
            return false;
        build->render_pass = PM_TO_HANDLE(VkRenderPass, own);
    }
    return true;
}

/* All that pipelines need only while they are created. */
static void finish(struct build *build)
{
    struct pm_device *device = build->pipeline->device;
    for (uint32_t i = 0; i < build->stage_count; i++)
        device->dispatch.DestroyShaderModule(device->handle, build->stages[i].module, NULL);
    free(build->libraries);
    free(build->stages);
}

VkPipelineCache pm_pipelines_variant_cache(struct pm_pipelines *pipelines)
{
    struct pm_device *device = pipelines->device;
    pthread_mutex_lock(&pipelines->cache_lock);
    if (!pipelines->cache) {
        const VkPipelineCacheCreateInfo info = {.sType =
                                                    VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
        if (device->dispatch.CreatePipelineCache(device->handle, &info, NULL, &pipelines->cache) ==
            VK_SUCCESS)
            pm_name_object(device, VK_OBJECT_TYPE_PIPELINE_CACHE, PM_BITS(pipelines->cache),
                           "piecemeal variants");
        else
            pipelines->cache = VK_NULL_HANDLE;
    }
    VkPipelineCache cache = pipelines->cache;
    pthread_mutex_unlock(&pipelines->cache_lock);
    return cache;
}

/* ---- the two kinds ---- */

VkPipelineCreateFlags2 pm_pipeline_lasting_flags(const struct pm_pipeline *pipeline)
{
    return pipeline->flags & ~DROPPED_FLAGS;
}

/* What the pipeline's flags are: where they always were, as long as they fit. */
static VkPipelineCreateFlags flags(struct build *build, const void **chain)
{
    VkPipelineCreateFlags2 kept = pm_pipeline_lasting_flags(build->pipeline);
    if (build->replacement && build->replacement->if_compiled)
        kept |= VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
    if (build->replacement && build->replacement->dispatch_base)
        kept |= VK_PIPELINE_CREATE_2_DISPATCH_BASE_BIT;
    if (kept > UINT32_MAX) {
        build->flags = (VkPipelineCreateFlags2CreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO,
            .pNext = *chain,
            .flags = kept,
        };
        *chain = &build->flags;
    }
    return (VkPipelineCreateFlags)kept;
}

bool pm_pipeline_may_require_size(const struct pm_pipeline *pipeline)
{
    return pipeline->compute && pipeline->compute->stage.flags == 0 &&
           pipeline->device->abilities.most_subgroup_size > 0 &&
           !pm_find_in_chain(
               pipeline->compute->stage.pNext,
               VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
}

static bool require_size(struct build *build, VkPipelineShaderStageCreateInfo *stage,
                         struct pm_error *error)
{
    const uint32_t size = build->replacement ? build->replacement->subgroup_size : 0;
    if (size == 0)
        return true;
    if (!pm_pipeline_may_require_size(build->pipeline))
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "the game has its own say about the pipeline's subgroups");
    build->size = (VkPipelineShaderStageRequiredSubgroupSizeCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .pNext = (void *)(uintptr_t)stage->pNext,
        .requiredSubgroupSize = size,
    };
    stage->pNext = &build->size;
    return true;
}

static bool build_compute(struct build *build, VkPipeline *handle, struct pm_error *error)
{
    struct pm_device *device = build->pipeline->device;
    VkComputePipelineCreateInfo info = *build->pipeline->compute;
    if (!make_stages(build, &info.stage, 1, error) ||
        !require_size(build, &build->stages[0], error))
        return false;
    info.flags = flags(build, &info.pNext);
    info.stage = build->stages[0];
    info.layout = build->layout;
    info.basePipelineHandle = VK_NULL_HANDLE;
    info.basePipelineIndex = -1;
    const VkResult result = device->dispatch.CreateComputePipelines(device->handle, build->cache, 1,
                                                                    &info, NULL, handle);
    return result == VK_SUCCESS || refused(error, "a compute pipeline", result);
}

static bool build_graphics(struct build *build, VkPipeline *handle, struct pm_error *error)
{
    struct pm_pipeline *pipeline = build->pipeline;
    struct pm_device *device = pipeline->device;
    VkGraphicsPipelineCreateInfo info = *pipeline->graphics;
    if (!make_stages(build, info.pStages, info.stageCount, error))
        return false;
    const VkPipelineLibraryCreateInfoKHR linked = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .pNext = info.pNext,
        .libraryCount = pipeline->library_count,
        .pLibraries = build->libraries,
    };
    if (pipeline->library_count > 0)
        info.pNext = &linked;
    info.flags = flags(build, &info.pNext);
    info.pStages = build->stages;
    info.layout = build->layout;
    info.renderPass = build->render_pass;
    info.basePipelineHandle = VK_NULL_HANDLE;
    info.basePipelineIndex = -1;
    const VkResult result = device->dispatch.CreateGraphicsPipelines(device->handle, build->cache,
                                                                     1, &info, NULL, handle);
    return result == VK_SUCCESS || refused(error, "a graphics pipeline", result);
}

static bool build_one(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                      struct pm_built *built, VkPipeline *handle, struct pm_error *error)
{
    struct build build = {
        .pipeline = pipeline,
        .replacement = replacement,
        .built = built,
        .cache = replacement ? replacement->cache
                             : pm_pipelines_variant_cache(pipeline->device->pipelines),
    };
    *handle = VK_NULL_HANDLE;
    const bool ok = pm_stop_check(error) && make_objects(&build, error) &&
                    (pipeline->library_count == 0 || make_libraries(&build, error)) &&
                    (pipeline->compute ? build_compute(&build, handle, error)
                                       : build_graphics(&build, handle, error));
    finish(&build);
    if (ok)
        pm_name_object(pipeline->device, VK_OBJECT_TYPE_PIPELINE, PM_BITS(*handle), "%s",
                       replacement ? replacement->name : "piecemeal library");
    return ok;
}

bool pm_pipeline_build(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                       struct pm_built *built, struct pm_error *error)
{
    struct pm_trace *trace = pipeline->device->trace;
    VkPipeline handle;
    bool ok;
    pm_trace_begin(trace, NULL, replacement->name, replacement->original);
    if (replacement->subgroup_size && !pipeline->compute) {
        ok =
            pm_fail(error, PM_ERROR_UNSUPPORTED, "it is no pipeline that requires a subgroup size");
    } else if (pipeline->object) {
        ok = pm_shader_object_build(pipeline, replacement, built, error);
    } else {
        ok = build_one(pipeline, replacement, built, &handle, error);
        built->handle = PM_BITS(handle);
    }
    pm_trace_end(trace, NULL, ok ? NULL : "not built");
    return ok;
}
