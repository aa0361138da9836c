#include "layer/shader/uniform_reads.h"

#include "layer/generate/create_info.h"
#include "layer/shader/object_private.h"

static bool is_uniform_buffer(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER ||
           type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
           type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK ||
           type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT;
}

/* Whether all uniform buffers of a set are valid wherever a shader names them. */
static bool are_valid(const struct pm_object *layout)
{
    const VkDescriptorSetLayoutCreateInfo *info = layout->info.set_layout;
    const VkDescriptorSetLayoutBindingFlagsCreateInfo *flags = pm_find_in_chain(
        info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
    const VkDescriptorBindingFlags not_all = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
                                             VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
    if (info->flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT)
        return false;
    for (uint32_t i = 0; flags && i < flags->bindingCount && i < info->bindingCount; i++)
        if (is_uniform_buffer(info->pBindings[i].descriptorType) &&
            (flags->pBindingFlags[i] & not_all))
            return false;
    return true;
}

static bool all_are_valid(struct pm_object *const *layouts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!are_valid(layouts[i]))
            return false;
    return true;
}

/* Whether reading beyond the end of a uniform buffer is harmless. */
static bool is_robust(const struct pm_pipeline *owner, const void *stage)
{
    const void *pipeline = owner->graphics  ? owner->graphics->pNext
                           : owner->compute ? owner->compute->pNext
                                            : NULL;
    const void *const chains[] = {stage, pipeline};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const VkPipelineRobustnessCreateInfo *own =
            pm_find_in_chain(chains[i], VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO);
        if (own && own->uniformBuffers != VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DEVICE_DEFAULT)
            return own->uniformBuffers != VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED;
        if (own) /* a stage's own comes before its pipeline's, also where that is the default */
            break;
    }
    return owner->device->abilities.robust_buffers;
}

enum pm_uniform_reads pm_pipeline_reads(const struct pm_pipeline *owner, const void *chain)
{
    struct pm_object *const *layouts = owner->object   ? owner->set_layouts
                                       : owner->layout ? owner->layout->parts
                                                       : NULL;
    const uint32_t count = owner->object   ? owner->set_layout_count
                           : owner->layout ? owner->layout->part_count
                                           : 0;
    if ((!owner->object && !owner->layout) ||
        (owner->flags & VK_PIPELINE_CREATE_2_DESCRIPTOR_BUFFER_BIT_EXT) ||
        !all_are_valid(layouts, count))
        return PM_READS_LOADED;
    return is_robust(owner, chain) ? PM_READS_ANY : PM_READS_WITHIN;
}
