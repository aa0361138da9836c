#include "tests/null_driver/internal.h"

#include <stdio.h>

const VkQueueFamilyProperties pm_null_families[PM_NULL_FAMILIES] = {
    {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT |
         VK_QUEUE_SPARSE_BINDING_BIT,
     4,
     64,
     {1, 1, 1}},
    {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 2, 64, {1, 1, 1}},
    {VK_QUEUE_TRANSFER_BIT, 1, 64, {1, 1, 1}},
    /* As some drivers have for binding sparse memory or decoding video. */
    {VK_QUEUE_SPARSE_BINDING_BIT, 1, 0, {0, 0, 0}},
};

void *pm_null_find_in_chain(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != type)
        item = item->pNext;
    return (void *)item;
}

/* ---- features ---- */

/* The features of one structure of a chain: all but those that are configured away. */
static void fill_features(VkBaseOutStructure *item)
{
    const struct pm_null_feature_structure *structure = pm_null_feature_structures;
    size_t count = 0;
    if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
        count = sizeof(VkPhysicalDeviceFeatures) / sizeof(VkBool32);
    } else if (item->sType == PM_NULL_FUTURE_FEATURES) {
        count = 3;
    } else if (item->sType == PM_NULL_MAINTENANCE_9_FEATURES) {
        count = 1;
    } else {
        while (structure->type && structure->type != item->sType)
            structure++;
        count = structure->count;
    }
    VkBool32 *values = (VkBool32 *)(item + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = VK_TRUE;
    for (const struct pm_null_feature *feature = pm_null_features; feature->type; feature++) {
        if (feature->type == item->sType &&
            pm_null_listed(pm_null_config.without_features, feature->name))
            *(VkBool32 *)((char *)item + feature->offset) = VK_FALSE;
    }
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceFeatures2(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceFeatures2 *pFeatures)
{
    (void)physicalDevice;
    for (VkBaseOutStructure *item = (VkBaseOutStructure *)pFeatures; item; item = item->pNext)
        fill_features(item);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceFeatures(VkPhysicalDevice physicalDevice,
                                                               VkPhysicalDeviceFeatures *pFeatures)
{
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    pm_null_vkGetPhysicalDeviceFeatures2(physicalDevice, &features);
    *pFeatures = features.features;
}

static bool is_supported(const VkBaseInStructure *item)
{
    for (const struct pm_null_feature *feature = pm_null_features; feature->type; feature++) {
        if (feature->type == item->sType &&
            pm_null_listed(pm_null_config.without_features, feature->name) &&
            *(const VkBool32 *)((const char *)item + feature->offset))
            return false;
    }
    return true;
}

VkResult pm_null_check_features(const VkDeviceCreateInfo *info)
{
    bool has_features2 = false;
    for (const VkBaseInStructure *item = info->pNext; item; item = item->pNext) {
        has_features2 |= item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        if (!is_supported(item))
            return VK_ERROR_FEATURE_NOT_PRESENT;
        for (const VkBaseInStructure *other = item->pNext; other; other = other->pNext) {
            if (other->sType == item->sType &&
                item->sType != VK_STRUCTURE_TYPE_DEVICE_PRIVATE_DATA_CREATE_INFO &&
                item->sType != (VkStructureType)48 /* the loader's, twice */) {
                pm_null_error("vkCreateDevice: a structure is twice in the pNext chain");
                return VK_ERROR_INITIALIZATION_FAILED;
            }
        }
    }
    if (!info->pEnabledFeatures)
        return VK_SUCCESS;
    if (has_features2) {
        pm_null_error("vkCreateDevice: pEnabledFeatures beside VkPhysicalDeviceFeatures2");
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .features = *info->pEnabledFeatures};
    return is_supported((const VkBaseInStructure *)&features) ? VK_SUCCESS
                                                              : VK_ERROR_FEATURE_NOT_PRESENT;
}

/* ---- properties ---- */

static void fill_limits(VkPhysicalDeviceLimits *limits)
{
    /* Most limits are counts and sizes for which a large number is right, and floats, for which its
     * bits are a small positive one. */
    uint32_t *words = (uint32_t *)limits;
    for (size_t i = 0; i < sizeof(*limits) / sizeof(*words); i++)
        words[i] = 1u << 14;
    const VkSampleCountFlags samples = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
    limits->maxUniformBufferRange = limits->maxStorageBufferRange = UINT32_MAX;
    limits->maxPushConstantsSize = 256;
    limits->maxMemoryAllocationCount = limits->maxSamplerAllocationCount = 1u << 20;
    limits->bufferImageGranularity = 1;
    limits->sparseAddressSpaceSize = 1ull << 40;
    limits->maxBoundDescriptorSets = 32;
    limits->maxVertexInputAttributes = limits->maxVertexInputBindings = 32;
    limits->maxComputeSharedMemorySize = 1u << 16;
    limits->maxComputeWorkGroupInvocations = 1024;
    limits->maxSamplerLodBias = limits->maxSamplerAnisotropy = 16.0f;
    limits->maxViewports = limits->maxColorAttachments = limits->maxClipDistances = 8;
    limits->maxFragmentOutputAttachments = limits->maxCullDistances = 8;
    limits->maxCombinedClipAndCullDistances = 8;
    limits->viewportBoundsRange[0] = -32768.0f;
    limits->viewportBoundsRange[1] = 32767.0f;
    limits->minMemoryMapAlignment = 64;
    limits->minTexelBufferOffsetAlignment = limits->minUniformBufferOffsetAlignment = 64;
    limits->minStorageBufferOffsetAlignment = 16;
    limits->minTexelOffset = limits->minTexelGatherOffset = -8;
    limits->maxTexelOffset = limits->maxTexelGatherOffset = 7;
    limits->minInterpolationOffset = -0.5f;
    limits->maxInterpolationOffset = 0.5f;
    limits->framebufferColorSampleCounts = limits->framebufferDepthSampleCounts = samples;
    limits->framebufferStencilSampleCounts = limits->framebufferNoAttachmentsSampleCounts = samples;
    limits->sampledImageColorSampleCounts = limits->sampledImageIntegerSampleCounts = samples;
    limits->sampledImageDepthSampleCounts = limits->sampledImageStencilSampleCounts = samples;
    limits->storageImageSampleCounts = samples;
    limits->maxSampleMaskWords = 1;
    limits->timestampComputeAndGraphics = pm_null_config.timestamp_bits != 0;
    limits->timestampPeriod = 1.0f;
    limits->pointSizeRange[0] = limits->lineWidthRange[0] = 1.0f;
    limits->pointSizeRange[1] = limits->lineWidthRange[1] = 64.0f;
    limits->pointSizeGranularity = limits->lineWidthGranularity = 0.125f;
    limits->strictLines = limits->standardSampleLocations = VK_TRUE;
    limits->optimalBufferCopyOffsetAlignment = limits->optimalBufferCopyRowPitchAlignment = 1;
    limits->nonCoherentAtomSize = 64;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceProperties(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceProperties *pProperties)
{
    (void)physicalDevice;
    *pProperties = (VkPhysicalDeviceProperties){
        .apiVersion = pm_null_config.api_version,
        .driverVersion = 1,
        .vendorID = 0x10ff,
        .deviceID = 1,
        .deviceType = (VkPhysicalDeviceType)pm_null_config.device_type,
        .deviceName = "Piecemeal null driver",
        .pipelineCacheUUID = "null driver 01\0",
    };
    fill_limits(&pProperties->limits);
}

static void fill_subgroup(VkPhysicalDeviceSubgroupProperties *subgroup)
{
    subgroup->subgroupSize = pm_null_config.subgroup_size;
    subgroup->supportedStages = pm_null_config.subgroup_stages;
    subgroup->supportedOperations = pm_null_config.subgroup_operations;
    subgroup->quadOperationsInAllStages = VK_FALSE;
}

#define FILL_UPDATE_AFTER_BIND(properties)                                                         \
    do {                                                                                           \
        (properties)->maxUpdateAfterBindDescriptorsInAllPools = 1u << 20;                          \
        (properties)->maxPerStageDescriptorUpdateAfterBindSamplers = 1u << 20;                     \
        (properties)->maxPerStageDescriptorUpdateAfterBindUniformBuffers = 1u << 20;               \
        (properties)->maxPerStageDescriptorUpdateAfterBindStorageBuffers = 1u << 20;               \
        (properties)->maxPerStageDescriptorUpdateAfterBindSampledImages = 1u << 20;                \
        (properties)->maxPerStageDescriptorUpdateAfterBindStorageImages = 1u << 20;                \
        (properties)->maxPerStageDescriptorUpdateAfterBindInputAttachments = 1u << 20;             \
        (properties)->maxPerStageUpdateAfterBindResources = 1u << 20;                              \
        (properties)->maxDescriptorSetUpdateAfterBindSamplers = 1u << 20;                          \
        (properties)->maxDescriptorSetUpdateAfterBindUniformBuffers = 1u << 20;                    \
        (properties)->maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = 1u << 10;             \
        (properties)->maxDescriptorSetUpdateAfterBindStorageBuffers = 1u << 20;                    \
        (properties)->maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = 1u << 10;             \
        (properties)->maxDescriptorSetUpdateAfterBindSampledImages = 1u << 20;                     \
        (properties)->maxDescriptorSetUpdateAfterBindStorageImages = 1u << 20;                     \
        (properties)->maxDescriptorSetUpdateAfterBindInputAttachments = 1u << 20;                  \
    } while (0)

#define FILL_SUBGROUP_SIZES(properties)                                                            \
    do {                                                                                           \
        (properties)->minSubgroupSize = pm_null_config.least_subgroup_size;                        \
        (properties)->maxSubgroupSize = pm_null_config.most_subgroup_size;                         \
        (properties)->maxComputeWorkgroupSubgroups = 1024;                                         \
        (properties)->requiredSubgroupSizeStages = pm_null_config.subgroup_stages;                 \
    } while (0)

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceProperties2(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceProperties2 *pProperties)
{
    pm_null_clear(pProperties, sizeof(*pProperties));
    pm_null_vkGetPhysicalDeviceProperties(physicalDevice, &pProperties->properties);
    void *chain = pProperties->pNext, *item;
    if ((item =
             pm_null_find_in_chain(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)))
        fill_subgroup(item);
    if ((item = pm_null_find_in_chain(chain,
                                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES))) {
        VkPhysicalDeviceVulkan11Properties *properties = item;
        VkPhysicalDeviceSubgroupProperties subgroup;
        fill_subgroup(&subgroup);
        properties->subgroupSize = subgroup.subgroupSize;
        properties->subgroupSupportedStages = subgroup.supportedStages;
        properties->subgroupSupportedOperations = subgroup.supportedOperations;
        properties->maxMultiviewViewCount = 6;
        properties->maxMultiviewInstanceIndex = UINT32_MAX;
        properties->maxPerSetDescriptors = 1u << 20;
        properties->maxMemoryAllocationSize = 1ull << 32;
    }
    if ((item = pm_null_find_in_chain(chain,
                                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES))) {
        VkPhysicalDeviceVulkan12Properties *properties = item;
        FILL_UPDATE_AFTER_BIND(properties);
        snprintf(properties->driverName, sizeof(properties->driverName), "null");
        properties->conformanceVersion = (VkConformanceVersion){1, 3, 0, 0};
        properties->maxTimelineSemaphoreValueDifference = UINT64_MAX;
    }
    if ((item = pm_null_find_in_chain(
             chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES))) {
        VkPhysicalDeviceDescriptorIndexingProperties *properties = item;
        FILL_UPDATE_AFTER_BIND(properties);
    }
    if ((item =
             pm_null_find_in_chain(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES))) {
        VkPhysicalDeviceDriverProperties *properties = item;
        properties->driverID = (VkDriverId)pm_null_config.driver_id;
        snprintf(properties->driverName, sizeof(properties->driverName), "null");
        snprintf(properties->driverInfo, sizeof(properties->driverInfo), "%s",
                 pm_null_config.driver_info);
        properties->conformanceVersion = (VkConformanceVersion){1, 3, 0, 0};
    }
    if ((item = pm_null_find_in_chain(
             chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES))) {
        VkPhysicalDeviceTimelineSemaphoreProperties *properties = item;
        properties->maxTimelineSemaphoreValueDifference = UINT64_MAX;
    }
    if ((item = pm_null_find_in_chain(
             chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES))) {
        VkPhysicalDeviceMaintenance3Properties *properties = item;
        properties->maxPerSetDescriptors = 1u << 20;
        properties->maxMemoryAllocationSize = 1ull << 32;
    }
    if ((item = pm_null_find_in_chain(chain,
                                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES))) {
        VkPhysicalDeviceVulkan13Properties *properties = item;
        FILL_SUBGROUP_SIZES(properties);
    }
    if ((item = pm_null_find_in_chain(
             chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES))) {
        VkPhysicalDeviceSubgroupSizeControlProperties *properties = item;
        FILL_SUBGROUP_SIZES(properties);
    }
}

/* ---- queues and memory ---- */

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice physicalDevice, uint32_t *pQueueFamilyPropertyCount,
    VkQueueFamilyProperties *pQueueFamilyProperties)
{
    (void)physicalDevice;
    pm_null_enumerate(pm_null_families, PM_NULL_FAMILIES, sizeof(pm_null_families[0]),
                      pQueueFamilyPropertyCount, pQueueFamilyProperties);
    for (uint32_t i = 0; pQueueFamilyProperties && i < *pQueueFamilyPropertyCount; i++)
        pQueueFamilyProperties[i].timestampValidBits = pm_null_config.timestamp_bits;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceQueueFamilyProperties2(
    VkPhysicalDevice physicalDevice, uint32_t *pQueueFamilyPropertyCount,
    VkQueueFamilyProperties2 *pQueueFamilyProperties)
{
    VkQueueFamilyProperties families[PM_NULL_FAMILIES];
    uint32_t available = PM_NULL_FAMILIES;
    if (!pQueueFamilyProperties) {
        *pQueueFamilyPropertyCount = available;
        return;
    }
    pm_null_vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice, &available, families);
    if (*pQueueFamilyPropertyCount > available)
        *pQueueFamilyPropertyCount = available;
    for (uint32_t i = 0; i < *pQueueFamilyPropertyCount; i++) {
        pm_null_clear(&pQueueFamilyProperties[i], sizeof(pQueueFamilyProperties[i]));
        pQueueFamilyProperties[i].queueFamilyProperties = families[i];
    }
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceMemoryProperties(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceMemoryProperties *pMemoryProperties)
{
    (void)physicalDevice;
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    *pMemoryProperties = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 3,
        .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
                        {host, 1},
                        {host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1}},
        .memoryHeapCount = 2,
        .memoryHeaps = {{8ull << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {8ull << 30, 0}},
    };
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceMemoryProperties2(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceMemoryProperties2 *pMemoryProperties)
{
    pm_null_clear(pMemoryProperties, sizeof(*pMemoryProperties));
    pm_null_vkGetPhysicalDeviceMemoryProperties(physicalDevice,
                                                &pMemoryProperties->memoryProperties);
}

/* ---- formats ---- */

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceFormatProperties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkFormatProperties *pFormatProperties)
{
    (void)physicalDevice;
    VkFormatFeatureFlags all = format == VK_FORMAT_UNDEFINED ? 0 : 0x7fffff;
    *pFormatProperties = (VkFormatProperties){all, all, all};
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetPhysicalDeviceFormatProperties2(
    VkPhysicalDevice physicalDevice, VkFormat format, VkFormatProperties2 *pFormatProperties)
{
    pm_null_clear(pFormatProperties, sizeof(*pFormatProperties));
    pm_null_vkGetPhysicalDeviceFormatProperties(physicalDevice, format,
                                                &pFormatProperties->formatProperties);
    VkFormatProperties3 *more =
        pm_null_find_in_chain(pFormatProperties->pNext, VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3);
    if (more) {
        more->linearTilingFeatures = pFormatProperties->formatProperties.linearTilingFeatures;
        more->optimalTilingFeatures = more->bufferFeatures = more->linearTilingFeatures;
    }
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceImageFormatProperties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type, VkImageTiling tiling,
    VkImageUsageFlags usage, VkImageCreateFlags flags,
    VkImageFormatProperties *pImageFormatProperties)
{
    (void)physicalDevice;
    (void)format;
    (void)type;
    (void)tiling;
    (void)usage;
    (void)flags;
    *pImageFormatProperties = (VkImageFormatProperties){
        .maxExtent = {16384, 16384, 2048},
        .maxMipLevels = 15,
        .maxArrayLayers = 2048,
        .sampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .maxResourceSize = 1ull << 32,
    };
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceImageFormatProperties2(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceImageFormatInfo2 *pImageFormatInfo,
    VkImageFormatProperties2 *pImageFormatProperties)
{
    pm_null_clear(pImageFormatProperties, sizeof(*pImageFormatProperties));
    return pm_null_vkGetPhysicalDeviceImageFormatProperties(
        physicalDevice, pImageFormatInfo->format, pImageFormatInfo->type, pImageFormatInfo->tiling,
        pImageFormatInfo->usage, pImageFormatInfo->flags,
        &pImageFormatProperties->imageFormatProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR(
    VkPhysicalDevice physicalDevice, uint32_t *pTimeDomainCount, VkTimeDomainEXT *pTimeDomains)
{
    (void)physicalDevice;
    const VkTimeDomainEXT domains[] = {VK_TIME_DOMAIN_DEVICE_EXT,
                                       VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT};
    return pm_null_enumerate(domains, 2, sizeof(domains[0]), pTimeDomainCount, pTimeDomains);
}
