/*
 * Of VK_EXT_descriptor_heap what pipelines are made with, since DXVK 3 makes all of its own so
 * where the driver has it, and the headers of this build (1.4.309) are older: the flag, and the
 * structure of a stage that says where each binding of its shader is found. Source: Vulkan 1.4.359,
 * VkShaderDescriptorSetAndBindingMappingInfoEXT.
 *
 * The names are the extension's: with headers that have it this compiles as it is. Their vk.xml
 * needs more, since a mapping's union has pointers: the generator stops (deep_copy.py, "needs a
 * rule of its own") until a rule of copy_rules.h does what descriptor_heap.c does, which may go
 * then.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stddef.h>
#include <vulkan/vulkan.h>

#ifndef VK_EXT_descriptor_heap

#define VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT UINT64_C(0x1000000000)
#define VK_STRUCTURE_TYPE_DESCRIPTOR_SET_AND_BINDING_MAPPING_EXT ((VkStructureType)1000135005)
#define VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT                       \
    ((VkStructureType)1000135006)

typedef VkFlags VkSpirvResourceTypeFlagsEXT;

typedef enum VkDescriptorMappingSourceEXT {
    VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_CONSTANT_OFFSET_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_PUSH_INDEX_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_ARRAY_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_RESOURCE_HEAP_DATA_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_DATA_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_ADDRESS_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_INDIRECT_ADDRESS_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_SHADER_RECORD_INDEX_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_DATA_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_ADDRESS_EXT,
    VK_DESCRIPTOR_MAPPING_SOURCE_MAX_ENUM_EXT = 0x7fffffff
} VkDescriptorMappingSourceEXT;

typedef struct VkDescriptorMappingSourceConstantOffsetEXT {
    uint32_t heapOffset, heapArrayStride;
    const VkSamplerCreateInfo *pEmbeddedSampler;
    uint32_t samplerHeapOffset, samplerHeapArrayStride;
} VkDescriptorMappingSourceConstantOffsetEXT;

typedef struct VkDescriptorMappingSourcePushIndexEXT {
    uint32_t heapOffset, pushOffset, heapIndexStride, heapArrayStride;
    const VkSamplerCreateInfo *pEmbeddedSampler;
    VkBool32 useCombinedImageSamplerIndex;
    uint32_t samplerHeapOffset, samplerPushOffset, samplerHeapIndexStride, samplerHeapArrayStride;
} VkDescriptorMappingSourcePushIndexEXT;

typedef struct VkDescriptorMappingSourceIndirectIndexEXT {
    uint32_t heapOffset, pushOffset, addressOffset, heapIndexStride, heapArrayStride;
    const VkSamplerCreateInfo *pEmbeddedSampler;
    VkBool32 useCombinedImageSamplerIndex;
    uint32_t samplerHeapOffset, samplerPushOffset, samplerAddressOffset, samplerHeapIndexStride,
        samplerHeapArrayStride;
} VkDescriptorMappingSourceIndirectIndexEXT;

typedef struct VkDescriptorMappingSourceIndirectIndexArrayEXT {
    uint32_t heapOffset, pushOffset, addressOffset, heapIndexStride;
    const VkSamplerCreateInfo *pEmbeddedSampler;
    VkBool32 useCombinedImageSamplerIndex;
    uint32_t samplerHeapOffset, samplerPushOffset, samplerAddressOffset, samplerHeapIndexStride;
} VkDescriptorMappingSourceIndirectIndexArrayEXT;

typedef struct VkDescriptorMappingSourceHeapDataEXT {
    uint32_t heapOffset, pushOffset;
} VkDescriptorMappingSourceHeapDataEXT;

typedef struct VkDescriptorMappingSourceIndirectAddressEXT {
    uint32_t pushOffset, addressOffset;
} VkDescriptorMappingSourceIndirectAddressEXT;

typedef struct VkDescriptorMappingSourceShaderRecordIndexEXT {
    uint32_t heapOffset, shaderRecordOffset, heapIndexStride, heapArrayStride;
    const VkSamplerCreateInfo *pEmbeddedSampler;
    VkBool32 useCombinedImageSamplerIndex;
    uint32_t samplerHeapOffset, samplerShaderRecordOffset, samplerHeapIndexStride,
        samplerHeapArrayStride;
} VkDescriptorMappingSourceShaderRecordIndexEXT;

typedef union VkDescriptorMappingSourceDataEXT {
    VkDescriptorMappingSourceConstantOffsetEXT constantOffset;
    VkDescriptorMappingSourcePushIndexEXT pushIndex;
    VkDescriptorMappingSourceIndirectIndexEXT indirectIndex;
    VkDescriptorMappingSourceIndirectIndexArrayEXT indirectIndexArray;
    VkDescriptorMappingSourceHeapDataEXT heapData;
    uint32_t pushDataOffset, pushAddressOffset;
    VkDescriptorMappingSourceIndirectAddressEXT indirectAddress;
    VkDescriptorMappingSourceShaderRecordIndexEXT shaderRecordIndex;
    uint32_t shaderRecordDataOffset, shaderRecordAddressOffset;
} VkDescriptorMappingSourceDataEXT;

typedef struct VkDescriptorSetAndBindingMappingEXT {
    VkStructureType sType;
    const void *pNext;
    uint32_t descriptorSet, firstBinding, bindingCount;
    VkSpirvResourceTypeFlagsEXT resourceMask;
    VkDescriptorMappingSourceEXT source;
    VkDescriptorMappingSourceDataEXT sourceData;
} VkDescriptorSetAndBindingMappingEXT;

typedef struct VkShaderDescriptorSetAndBindingMappingInfoEXT {
    VkStructureType sType;
    const void *pNext;
    uint32_t mappingCount;
    const VkDescriptorSetAndBindingMappingEXT *pMappings;
} VkShaderDescriptorSetAndBindingMappingInfoEXT;

#endif

struct pm_copy; /* copy_rules.h */

/* The size in bytes of a structure of the extension's that a create info's chain may have; 0: it is
 * none. */
size_t pm_heap_structure_size(VkStructureType type);

/* Copies such a structure to a zeroed one, all but its sType and pNext, and makes everything the
 * copy's own. Of any other: nothing. */
void pm_heap_structure_copy(struct pm_copy *copy, const VkBaseInStructure *from,
                            VkBaseOutStructure *item);
