#include "layer/shader/pipeline_remember.h"

#include "layer/generate/create_info.h"
#include "layer/generate/descriptor_heap.h"
#include <inttypes.h>
#include <stdlib.h>

/* Flags with which a pipeline can be built again. Left out, so that such a pipeline gets no
 * variants: those of ray tracing, protected access and the older device-generated commands, and
 * whatever this code has not heard of. */
#define KNOWN_FLAGS                                                                                     \
    ((VkPipelineCreateFlags2)(VK_PIPELINE_CREATE_2_DISABLE_OPTIMIZATION_BIT |                           \
                              VK_PIPELINE_CREATE_2_ALLOW_DERIVATIVES_BIT |                              \
                              VK_PIPELINE_CREATE_2_DERIVATIVE_BIT |                                     \
                              VK_PIPELINE_CREATE_2_VIEW_INDEX_FROM_DEVICE_INDEX_BIT |                   \
                              VK_PIPELINE_CREATE_2_DISPATCH_BASE_BIT |                                  \
                              VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT |              \
                              VK_PIPELINE_CREATE_2_EARLY_RETURN_ON_FAILURE_BIT |                        \
                              VK_PIPELINE_CREATE_2_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR | \
                              VK_PIPELINE_CREATE_2_RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_BIT_EXT |  \
                              VK_PIPELINE_CREATE_2_CAPTURE_STATISTICS_BIT_KHR |                         \
                              VK_PIPELINE_CREATE_2_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR |           \
                              VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR |                               \
                              VK_PIPELINE_CREATE_2_LIBRARY_BIT_KHR |                                    \
                              VK_PIPELINE_CREATE_2_DESCRIPTOR_BUFFER_BIT_EXT |                          \
                              VK_PIPELINE_CREATE_2_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT |         \
                              VK_PIPELINE_CREATE_2_LINK_TIME_OPTIMIZATION_BIT_EXT |                     \
                              VK_PIPELINE_CREATE_2_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT |             \
                              VK_PIPELINE_CREATE_2_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT |     \
                              VK_PIPELINE_CREATE_2_NO_PROTECTED_ACCESS_BIT |                            \
                              VK_PIPELINE_CREATE_2_ENABLE_LEGACY_DITHERING_BIT_EXT |                    \
                              VK_PIPELINE_CREATE_2_INDIRECT_BINDABLE_BIT_EXT |                          \
                              VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT))

#define SHADER_STATE                                                                                      \
    ((VkGraphicsPipelineLibraryFlagsEXT)(VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT | \
                                         VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT))

/* ---- stages ---- */

/* What a stage of ours must not have: the SPIR-V itself (it gets a module of ours) and what is for
 * its validation, handles that belong to the game, and the game's name for its module. And what a
 * pipeline of ours must not have: it links our own twins of the libraries, and its flags stand
 * where they always did. */
static bool is_dropped(VkStructureType type)
{
    return type == VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO ||
           type == VK_STRUCTURE_TYPE_SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT ||
           type == VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT ||
           type == VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT ||
           type == VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT ||
           type == VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR ||
           type == VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO ||
           type == VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR;
}

/* What is the same of several pipelines lies once for all. */
static struct pm_copy_sharing sharing(const struct pm_pipeline *pipeline)
{
    return (struct pm_copy_sharing){.states = pipeline->device->pipelines->states,
                                    .left_out = is_dropped};
}

/* The words of a stage; referenced. */
static struct pm_object *stage_module(struct pm_device *device,
                                      const VkPipelineShaderStageCreateInfo *stage,
                                      struct pm_error *error)
{
    if (stage->module) {
        struct pm_object *module =
            pm_objects_find(device->objects, PM_OBJECT_SHADER_MODULE, PM_BITS(stage->module));
        if (!module)
            pm_fail(error, PM_ERROR_UNSUPPORTED, "one of its shader modules is not remembered");
        return module;
    }
    const VkShaderModuleCreateInfo *inlined =
        pm_find_in_chain(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (inlined)
        return pm_objects_module(device->objects, inlined, error);
    pm_fail(error, PM_ERROR_UNSUPPORTED, "a stage has only a module identifier, no SPIR-V");
    return NULL;
}

static bool remember_stages(struct pm_pipeline *pipeline,
                            const VkPipelineShaderStageCreateInfo *stages, uint32_t count,
                            struct pm_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        pipeline->modules[i] = stage_module(pipeline->device, &stages[i], error);
        if (!pipeline->modules[i])
            return false;
        pipeline->module_count = i + 1;
    }
    return true;
}

/* ---- both kinds ---- */

/* What any pipeline's info must be like. */
static bool remember_flags(struct pm_pipeline *pipeline, VkPipelineCreateFlags flags,
                           const void *chain, struct pm_error *error)
{
    const VkPipelineBinaryInfoKHR *binaries =
        pm_find_in_chain(chain, VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR);
    if (binaries && binaries->binaryCount > 0)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "it is made of binaries, not of its shaders");
    pipeline->flags = pm_pipeline_flags(flags, chain);
    const VkPipelineCreateFlags2 unknown = pipeline->flags & ~KNOWN_FLAGS;
    return unknown == 0 ||
           pm_fail(error, PM_ERROR_UNSUPPORTED,
                   "its create flags 0x%" PRIx64 " are not among those that can be built again",
                   unknown);
}

static bool remember_layout(struct pm_pipeline *pipeline, VkPipelineLayout layout, bool needed,
                            struct pm_error *error)
{
    /* Where it is not needed it may be anything. */
    pipeline->layout = layout ? pm_objects_find(pipeline->device->objects,
                                                PM_OBJECT_PIPELINE_LAYOUT, PM_BITS(layout))
                              : NULL;
    pipeline->push_ranges =
        pm_push_layouts_find(&pipeline->device->pipelines->push_layouts, layout);
    /* With descriptor heaps there is none. */
    return pipeline->layout || !needed ||
           (pipeline->flags & VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT) != 0 ||
           pm_fail(error, PM_ERROR_UNSUPPORTED, "its pipeline layout is not remembered");
}

/* ---- compute ---- */

static bool copy_compute(struct pm_pipeline *pipeline, const VkComputePipelineCreateInfo *info,
                         struct pm_error *error)
{
    if (pm_find_in_chain(info->pNext,
                         VK_STRUCTURE_TYPE_SUBPASS_SHADING_PIPELINE_CREATE_INFO_HUAWEI))
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "it shades subpasses");
    if (!remember_flags(pipeline, info->flags, info->pNext, error) ||
        !remember_layout(pipeline, info->layout, true, error) ||
        !remember_stages(pipeline, &info->stage, 1, error))
        return false;
    const struct pm_copy_sharing with = sharing(pipeline);
    pipeline->compute = pm_copy_ComputePipelineCreateInfo(pipeline->arena, info, &with, error);
    pipeline->shader_owner = pipeline;
    return pipeline->compute != NULL;
}

struct pm_pipeline *pm_pipeline_remember_compute(struct pm_device *device,
                                                 const VkComputePipelineCreateInfo *info,
                                                 struct pm_error *error)
{
    struct pm_pipeline *pipeline = pm_pipeline_create(device, 1, error);
    if (pipeline && copy_compute(pipeline, info, error)) {
        pm_pipeline_trim(pipeline);
        return pipeline;
    }
    pm_pipeline_destroy(pipeline);
    return NULL;
}

/* ---- graphics ---- */

static bool remember_libraries(struct pm_pipeline *pipeline,
                               const VkGraphicsPipelineCreateInfo *info, struct pm_error *error)
{
    const VkPipelineLibraryCreateInfoKHR *linked =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    if (!linked || linked->libraryCount == 0)
        return true;
    pipeline->libraries =
        pm_arena_zalloc(pipeline->arena, linked->libraryCount, sizeof(*pipeline->libraries));
    if (!pipeline->libraries)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory");
    for (uint32_t i = 0; i < linked->libraryCount; i++) {
        struct pm_pipeline *library =
            pm_pipeline_find_library(pipeline->device, linked->pLibraries[i]);
        if (!library)
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "one of its libraries is not remembered");
        pipeline->libraries[pipeline->library_count++] = library;
        pipeline->discards |= library->discards;
        if (library->shader_owner) {
            pipeline->shader_owner = library->shader_owner;
            pipeline->shader_stage = library->shader_stage;
        }
    }
    return true;
}

/* Whether this part of a pipeline's state allows early tests (HAZARDS 4). They must not be forced
 * where alpha-to-coverage may be on; nor where the shader may read the depth that its own fragment
 * would by then have written. */
static bool allows_early_tests(const struct pm_pipeline *pipeline,
                               VkGraphicsPipelineLibraryFlagsEXT own)
{
    const VkGraphicsPipelineCreateInfo *info = pipeline->graphics;
    const VkPipelineMultisampleStateCreateInfo *multisample = info->pMultisampleState;
    const VkPipelineDepthStencilStateCreateInfo *depth_stencil = info->pDepthStencilState;
    const VkPipelineDepthStencilStateCreateFlags reads_own_depth =
        VK_PIPELINE_DEPTH_STENCIL_STATE_CREATE_RASTERIZATION_ORDER_ATTACHMENT_DEPTH_ACCESS_BIT_EXT |
        VK_PIPELINE_DEPTH_STENCIL_STATE_CREATE_RASTERIZATION_ORDER_ATTACHMENT_STENCIL_ACCESS_BIT_EXT;
    if ((own & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT) &&
        (!multisample || multisample->alphaToCoverageEnable))
        return false;
    return !pm_is_dynamic(info->pDynamicState, VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT) &&
           !pm_is_dynamic(info->pDynamicState,
                          VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT) &&
           !(pipeline->flags &
             VK_PIPELINE_CREATE_2_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT) &&
           !(depth_stencil && (depth_stencil->flags & reads_own_depth));
}

/* Of all that a pipeline is linked from, the libraries' own libraries included. */
static bool may_force_early_tests(const struct pm_pipeline *pipeline,
                                  VkGraphicsPipelineLibraryFlagsEXT own)
{
    for (uint32_t i = 0; i < pipeline->library_count; i++) {
        if (!pipeline->libraries[i]->may_force_early_tests)
            return false;
    }
    return allows_early_tests(pipeline, own);
}

/* The copy has rasterization state only where it is the info's own. */
static bool discards(const VkGraphicsPipelineCreateInfo *copy)
{
    const VkPipelineRasterizationStateCreateInfo *rasterization = copy->pRasterizationState;
    return rasterization && rasterization->rasterizerDiscardEnable &&
           !pm_is_dynamic(copy->pDynamicState, VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE);
}

static bool find_fragment_stage(struct pm_pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->graphics->stageCount; i++) {
        if (pipeline->graphics->pStages[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT) {
            pipeline->shader_owner = pipeline;
            pipeline->shader_stage = i;
        }
    }
    return pipeline->shader_owner != NULL;
}

static bool copy_graphics_info(struct pm_pipeline *pipeline,
                               const VkGraphicsPipelineCreateInfo *info, bool has_stages,
                               struct pm_error *error)
{
    struct pm_copy_subpass subpass = {0};
    if (pipeline->render_pass && !pm_object_subpass(pipeline->render_pass, info->subpass, &subpass))
        return pm_fail(error, PM_ERROR_INPUT, "its render pass has no subpass %u", info->subpass);
    VkGraphicsPipelineCreateInfo shallow = *info;
    if (!has_stages)
        shallow.stageCount = 0;
    const struct pm_copy_sharing with = sharing(pipeline);
    pipeline->graphics = pm_copy_GraphicsPipelineCreateInfo(
        pipeline->arena, &shallow, pipeline->render_pass ? &subpass : NULL, &with, error);
    return pipeline->graphics != NULL;
}

static void remember_dynamic(struct pm_pipeline *pipeline,
                             const VkPipelineDynamicStateCreateInfo *info,
                             VkGraphicsPipelineLibraryFlagsEXT own)
{
    pm_pipelines_leave(pipeline->device->pipelines, info, own, pipeline->dynamic);
    for (uint32_t i = 0; i < pipeline->library_count; i++)
        for (int word = 0; word < PM_DYNAMIC_WORDS; word++)
            pipeline->dynamic[word] |= pipeline->libraries[i]->dynamic[word];
}

static bool copy_graphics(struct pm_pipeline *pipeline, const VkGraphicsPipelineCreateInfo *info,
                          VkGraphicsPipelineLibraryFlagsEXT own, struct pm_error *error)
{
    const bool has_stages = (own & SHADER_STATE) != 0;
    const bool has_vertex_input_only =
        own == VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT;
    if (!remember_flags(pipeline, info->flags, info->pNext, error) ||
        !remember_libraries(pipeline, info, error) ||
        !remember_layout(pipeline, info->layout, has_stages, error) ||
        (has_stages && !remember_stages(pipeline, info->pStages, info->stageCount, error)))
        return false;
    remember_dynamic(pipeline, info->pDynamicState, own);
    VkGraphicsPipelineCreateInfo used = *info;
    if (own == 0 || has_vertex_input_only)
        used.renderPass = VK_NULL_HANDLE; /* not read, and may be anything */
    if (used.renderPass) {
        pipeline->render_pass = pm_objects_find(pipeline->device->objects, PM_OBJECT_RENDER_PASS,
                                                PM_BITS(used.renderPass));
        if (!pipeline->render_pass)
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "its render pass is not remembered");
    }
    if (!copy_graphics_info(pipeline, &used, has_stages, error))
        return false;
    pipeline->is_library = (pipeline->flags & VK_PIPELINE_CREATE_2_LIBRARY_BIT_KHR) != 0;
    pipeline->discards |= discards(pipeline->graphics);
    if (pipeline->discards && !pipeline->is_library)
        return pm_fail(error, PM_ERROR_STATE, "it never rasterizes");
    if (!find_fragment_stage(pipeline) && !pipeline->is_library)
        return pm_fail(error, PM_ERROR_STATE, "it has no fragment shader");
    pipeline->may_force_early_tests = may_force_early_tests(pipeline, own);
    return true;
}

struct pm_pipeline *pm_pipeline_remember_graphics(struct pm_device *device,
                                                  const VkGraphicsPipelineCreateInfo *info,
                                                  struct pm_error *error)
{
    const VkGraphicsPipelineLibraryFlagsEXT own = pm_own_state(info);
    struct pm_pipeline *pipeline =
        pm_pipeline_create(device, (own & SHADER_STATE) != 0 ? info->stageCount : 0, error);
    if (pipeline && copy_graphics(pipeline, info, own, error)) {
        pm_pipeline_trim(pipeline);
        return pipeline;
    }
    pm_pipeline_destroy(pipeline);
    return NULL;
}
