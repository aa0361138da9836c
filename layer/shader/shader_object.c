#include "layer/shader/shader_object.h"

#include "base/stop.h"
#include "layer/core/object_name.h"
#include "profile/left_alone.h"
#include "shader_rewrite/shader_rewrite.h"
#include <inttypes.h>

/* Flags with which a shader object can be built again. */
#define KNOWN_FLAGS                                                                                \
    ((VkShaderCreateFlagsEXT)(VK_SHADER_CREATE_LINK_STAGE_BIT_EXT |                                \
                              VK_SHADER_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT_EXT |               \
                              VK_SHADER_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT |                    \
                              VK_SHADER_CREATE_NO_TASK_SHADER_BIT_EXT |                            \
                              VK_SHADER_CREATE_DISPATCH_BASE_BIT_EXT |                             \
                              VK_SHADER_CREATE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_EXT |          \
                              VK_SHADER_CREATE_FRAGMENT_DENSITY_MAP_ATTACHMENT_BIT_EXT |           \
                              VK_SHADER_CREATE_INDIRECT_BINDABLE_BIT_EXT))

/* Generated commands name the game's own. */
#define DROPPED_FLAGS ((VkShaderCreateFlagsEXT)VK_SHADER_CREATE_INDIRECT_BINDABLE_BIT_EXT)

/* ---- remembering ---- */

static bool remember_set_layouts(struct pm_pipeline *pipeline, const VkShaderCreateInfoEXT *info,
                                 struct pm_error *error)
{
    pipeline->set_layouts =
        pm_arena_zalloc(pipeline->arena, info->setLayoutCount ? info->setLayoutCount : 1,
                        sizeof(struct pm_object *));
    if (!pipeline->set_layouts)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory");
    for (uint32_t i = 0; i < info->setLayoutCount; i++) {
        struct pm_object *layout = pm_objects_find(pipeline->device->objects, PM_OBJECT_SET_LAYOUT,
                                                   PM_BITS(info->pSetLayouts[i]));
        if (!layout)
            return pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "one of its descriptor set layouts is not remembered");
        pipeline->set_layouts[pipeline->set_layout_count++] = layout;
    }
    return true;
}

static bool remember_words(struct pm_pipeline *pipeline, const VkShaderCreateInfoEXT *info,
                           struct pm_error *error)
{
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = info->codeSize,
        .pCode = info->pCode,
    };
    pipeline->modules[0] = pm_objects_module(pipeline->device->objects, &module, error);
    pipeline->module_count = pipeline->modules[0] != NULL;
    return pipeline->modules[0] != NULL;
}

static bool copy_object(struct pm_pipeline *pipeline, const VkShaderCreateInfoEXT *info,
                        struct pm_error *error)
{
    if (info->codeType != VK_SHADER_CODE_TYPE_SPIRV_EXT)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "a shader object is a binary, not SPIR-V");
    const VkShaderCreateFlagsEXT unknown = info->flags & ~KNOWN_FLAGS;
    if (unknown != 0)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "a shader object's create flags 0x%" PRIx32
                       " are not among those that can be built again",
                       unknown);
    if (!remember_set_layouts(pipeline, info, error) || !remember_words(pipeline, info, error))
        return false;
    pipeline->push_ranges =
        pm_push_layouts_ranges(&pipeline->device->pipelines->push_layouts,
                               info->pushConstantRangeCount, info->pPushConstantRanges);
    VkShaderCreateInfoEXT shallow = *info;
    shallow.codeSize = 0;
    shallow.pCode = NULL;
    pipeline->object = pm_copy_ShaderCreateInfoEXT(pipeline->arena, &shallow, error);
    return pipeline->object != NULL;
}

static struct pm_pipeline *remember_one(struct pm_device *device, const VkShaderCreateInfoEXT *info,
                                        VkShaderEXT object, struct pm_error *error)
{
    struct pm_pipeline *pipeline = pm_pipeline_create(device, 1, error);
    if (pipeline && copy_object(pipeline, info, error)) {
        pipeline->handle = PM_BITS(object);
        return pipeline;
    }
    pm_pipeline_destroy(pipeline);
    return NULL;
}

static bool is_linked(const VkShaderCreateInfoEXT *info)
{
    return (info->flags & VK_SHADER_CREATE_LINK_STAGE_BIT_EXT) != 0;
}

/* All others of the call that are linked, whatever their stage. */
static bool remember_set(struct pm_pipeline *pipeline, uint32_t count,
                         const VkShaderCreateInfoEXT *infos, const VkShaderEXT *objects,
                         uint32_t index, struct pm_error *error)
{
    pipeline->libraries =
        pm_arena_zalloc(pipeline->arena, PM_LIBRARY_DEPTH, sizeof(*pipeline->libraries));
    if (!pipeline->libraries)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        if (i == index || !is_linked(&infos[i]))
            continue;
        if (pipeline->library_count == PM_LIBRARY_DEPTH || !objects[i])
            return pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "a shader object is linked to more than there are stages");
        struct pm_pipeline *other = remember_one(pipeline->device, &infos[i], objects[i], error);
        if (!other)
            return false;
        pipeline->libraries[pipeline->library_count++] = other;
    }
    return true;
}

/* Counted for who asks why a game has so little to show. */
static void note_binary(const struct pm_device *device, const VkShaderCreateInfoEXT *info,
                        const struct pm_error *error)
{
    const struct pm_shader_key digest =
        pm_raw_digest_compute(info->pCode, info->codeSize / sizeof(uint32_t), (uint32_t)info->stage,
                              info->pName ? info->pName : "", NULL, 0);
    pm_left_alone_note(NULL, device->instance->game, pm_canonicalize_recipe(), &digest,
                       error->message);
}

struct pm_pipeline *pm_shader_object_remember(struct pm_device *device, uint32_t count,
                                              const VkShaderCreateInfoEXT *infos,
                                              const VkShaderEXT *objects, uint32_t index,
                                              struct pm_error *error)
{
    const VkShaderCreateInfoEXT *info = &infos[index];
    if (info->stage != VK_SHADER_STAGE_FRAGMENT_BIT && info->stage != VK_SHADER_STAGE_COMPUTE_BIT) {
        pm_fail(error, PM_ERROR_STATE, "it is no fragment or compute shader");
        return NULL;
    }
    struct pm_pipeline *pipeline = remember_one(device, info, objects[index], error);
    if (!pipeline) {
        if (info->codeType == VK_SHADER_CODE_TYPE_BINARY_EXT)
            note_binary(device, info, error);
        return NULL;
    }
    pipeline->shader_owner = pipeline;
    /* Alpha-to-coverage is dynamic with shader objects, so early tests are not forced. */
    pipeline->never_stands =
        (info->flags & VK_SHADER_CREATE_INDIRECT_BINDABLE_BIT_EXT) != 0 || is_linked(info);
    if (!is_linked(info) || remember_set(pipeline, count, infos, objects, index, error))
        return pipeline;
    pm_pipeline_destroy(pipeline);
    return NULL;
}

/* ---- building ---- */

/* Everything that one create info points to. */
struct stage {
    struct pm_words words; /* its own */
    VkDescriptorSetLayout *layouts;
};

static bool fill(const struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                 struct pm_arena *arena, struct stage *stage, VkShaderCreateInfoEXT *info,
                 struct pm_error *error)
{
    *info = *pipeline->object;
    info->flags &= ~DROPPED_FLAGS;
    const struct pm_words *words = &stage->words;
    if (replacement) {
        words = replacement->words;
        info->pName = replacement->entry_point;
        info->pSpecializationInfo = replacement->specialization;
        if (replacement->dispatch_base)
            info->flags |= VK_SHADER_CREATE_DISPATCH_BASE_BIT_EXT;
    } else if (!pm_object_words(pipeline->modules[0], &stage->words, error)) {
        return false;
    }
    info->pCode = words->data;
    info->codeSize = words->count * sizeof *words->data;
    VkDescriptorSetLayout *layouts = pm_arena_zalloc(
        arena, pipeline->set_layout_count ? pipeline->set_layout_count : 1, sizeof *layouts);
    if (!layouts)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory to build a shader object");
    for (uint32_t i = 0; i < pipeline->set_layout_count; i++) {
        const uint64_t own = pm_object_own(pipeline->set_layouts[i], error);
        if (!own)
            return false;
        layouts[i] = PM_TO_HANDLE(VkDescriptorSetLayout, own);
    }
    info->pSetLayouts = layouts;
    return true;
}

static bool create(struct pm_pipeline *pipeline, const VkShaderCreateInfoEXT *infos,
                   const struct pm_replacement *replacement, struct pm_built *built,
                   struct pm_error *error)
{
    struct pm_device *device = pipeline->device;
    VkShaderEXT shaders[1 + PM_LIBRARY_DEPTH] = {VK_NULL_HANDLE};
    const VkResult result = device->dispatch.CreateShadersEXT(
        device->handle, 1 + pipeline->library_count, infos, NULL, shaders);
    built->shader = shaders[0];
    built->handle = PM_BITS(shaders[0]);
    for (uint32_t i = 0; i < pipeline->library_count; i++)
        built->linked[i] = shaders[1 + i];
    if (result != VK_SUCCESS)
        return pm_fail(error, PM_ERROR_DEVICE, "the driver refused a shader object (VkResult %d)",
                       result);
    pm_name_object(device, VK_OBJECT_TYPE_SHADER_EXT, built->handle, "%s", replacement->name);
    return true;
}

bool pm_shader_object_build(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                            struct pm_built *built, struct pm_error *error)
{
    struct stage stages[1 + PM_LIBRARY_DEPTH] = {0};
    VkShaderCreateInfoEXT infos[1 + PM_LIBRARY_DEPTH];
    struct pm_arena *arena = pm_arena_create(0);
    bool ok =
        arena != NULL || pm_fail(error, PM_ERROR_MEMORY, "no memory to build a shader object");
    ok = ok && pm_stop_check(error) &&
         fill(pipeline, replacement, arena, &stages[0], &infos[0], error);
    for (uint32_t i = 0; ok && i < pipeline->library_count; i++)
        ok = fill(pipeline->libraries[i], NULL, arena, &stages[1 + i], &infos[1 + i], error);
    ok = ok && create(pipeline, infos, replacement, built, error);
    for (uint32_t i = 0; i <= pipeline->library_count; i++)
        pm_words_finish(&stages[i].words);
    pm_arena_destroy(arena);
    return ok;
}
