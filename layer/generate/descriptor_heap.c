#include "layer/generate/descriptor_heap.h"

#include "layer/generate/copy_rules.h"
#include "layer/generate/create_info.h"

size_t pm_heap_structure_size(VkStructureType type)
{
    return type == VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT
               ? sizeof(VkShaderDescriptorSetAndBindingMappingInfoEXT)
               : 0;
}

static void fail(struct pm_copy *copy, enum pm_code code, const char *message)
{
    copy->failed = true;
    pm_fail(copy->error, code, "%s", message);
}

/* Where a mapping has its sampler; NULL: from where it maps there is none. */
static const VkSamplerCreateInfo **embedded(struct pm_copy *copy,
                                            VkDescriptorSetAndBindingMappingEXT *mapping)
{
    switch (mapping->source) {
    case VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_CONSTANT_OFFSET_EXT:
        return &mapping->sourceData.constantOffset.pEmbeddedSampler;
    case VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_PUSH_INDEX_EXT:
        return &mapping->sourceData.pushIndex.pEmbeddedSampler;
    case VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_EXT:
        return &mapping->sourceData.indirectIndex.pEmbeddedSampler;
    case VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_ARRAY_EXT:
        return &mapping->sourceData.indirectIndexArray.pEmbeddedSampler;
    case VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_SHADER_RECORD_INDEX_EXT:
        return &mapping->sourceData.shaderRecordIndex.pEmbeddedSampler;
    case VK_DESCRIPTOR_MAPPING_SOURCE_RESOURCE_HEAP_DATA_EXT:
    case VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_DATA_EXT:
    case VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_ADDRESS_EXT:
    case VK_DESCRIPTOR_MAPPING_SOURCE_INDIRECT_ADDRESS_EXT:
    case VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_DATA_EXT:
    case VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_ADDRESS_EXT:
        return NULL;
    default:
        fail(copy, PM_ERROR_UNSUPPORTED, "a binding is mapped to what is not known");
        return NULL;
    }
}

static void deepen_mapping(struct pm_copy *copy, VkDescriptorSetAndBindingMappingEXT *mapping)
{
    if (mapping->pNext != NULL) {
        copy->failed = true;
        pm_fail_newer(copy->error, ((const VkBaseInStructure *)mapping->pNext)->sType);
        return;
    }
    const VkSamplerCreateInfo **sampler = embedded(copy, mapping);
    if (sampler == NULL || *sampler == NULL)
        return;
    /* A conversion is the game's, and may not live as long as the copy. */
    if (pm_find_in_chain((*sampler)->pNext, VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO)) {
        fail(copy, PM_ERROR_UNSUPPORTED, "an embedded sampler converts colors");
        return;
    }
    *sampler = pm_copy_SamplerCreateInfo(copy->arena, *sampler, copy->error);
    copy->failed |= *sampler == NULL;
}

void pm_heap_structure_copy(struct pm_copy *copy, const VkBaseInStructure *from,
                            VkBaseOutStructure *item)
{
    if (from->sType != VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT)
        return;
    const VkShaderDescriptorSetAndBindingMappingInfoEXT *theirs = (const void *)from;
    VkShaderDescriptorSetAndBindingMappingInfoEXT *info = (void *)item;
    if (theirs->mappingCount == 0 || theirs->pMappings == NULL)
        return;
    VkDescriptorSetAndBindingMappingEXT *mappings = pm_arena_dup(
        copy->arena, theirs->pMappings, (size_t)theirs->mappingCount * sizeof *mappings);
    if (mappings == NULL) {
        fail(copy, PM_ERROR_MEMORY, "no memory to copy a create info");
        return;
    }
    info->mappingCount = theirs->mappingCount;
    info->pMappings = mappings;
    for (uint32_t i = 0; i < info->mappingCount && !copy->failed; i++)
        deepen_mapping(copy, &mappings[i]);
}
