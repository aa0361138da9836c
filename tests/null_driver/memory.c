#include "tests/null_driver/internal.h"

#include <stdlib.h>
#include <time.h>

/* ---- memory ---- */

/* Pages that nothing touches cost nothing. */
static VkResult allocate(struct pm_null_memory *memory)
{
    const VkDeviceSize size = memory->size ? memory->size : 1;
    return posix_memalign((void **)&memory->bytes, 4096, (size_t)size) == 0
               ? VK_SUCCESS
               : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkAllocateMemory(VkDevice device,
                                                        const VkMemoryAllocateInfo *pAllocateInfo,
                                                        const VkAllocationCallbacks *pAllocator,
                                                        VkDeviceMemory *pMemory)
{
    (void)pAllocator;
    (void)device;
    struct pm_null_memory *memory =
        pm_null_object_create(VK_OBJECT_TYPE_DEVICE_MEMORY, sizeof(*memory));
    if (!memory)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memory->size = pAllocateInfo->allocationSize;
    const VkResult result = allocate(memory);
    if (result != VK_SUCCESS) {
        pm_null_object_destroy(memory, VK_OBJECT_TYPE_DEVICE_MEMORY);
        return result;
    }
    *pMemory = PM_NULL_HANDLE(VkDeviceMemory, memory);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                                                const VkAllocationCallbacks *pAllocator)
{
    (void)device;
    (void)pAllocator;
    struct pm_null_memory *object = (struct pm_null_memory *)PM_NULL_OBJECT(memory);
    if (!object)
        return;
    free(object->bytes);
    pm_null_object_destroy(object, VK_OBJECT_TYPE_DEVICE_MEMORY);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkMapMemory(VkDevice device, VkDeviceMemory memory,
                                                   VkDeviceSize offset, VkDeviceSize size,
                                                   VkMemoryMapFlags flags, void **ppData)
{
    (void)device;
    (void)size;
    (void)flags;
    *ppData = ((struct pm_null_memory *)PM_NULL_OBJECT(memory))->bytes + offset;
    return VK_SUCCESS;
}

/* ---- buffers ---- */

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateBuffer(VkDevice device,
                                                      const VkBufferCreateInfo *pCreateInfo,
                                                      const VkAllocationCallbacks *pAllocator,
                                                      VkBuffer *pBuffer)
{
    (void)pAllocator;
    (void)device;
    struct pm_null_buffer *buffer = pm_null_object_create(VK_OBJECT_TYPE_BUFFER, sizeof(*buffer));
    if (!buffer)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    buffer->size = pCreateInfo->size;
    *pBuffer = PM_NULL_HANDLE(VkBuffer, buffer);
    return VK_SUCCESS;
}

static VkMemoryRequirements requirements(VkDeviceSize size)
{
    return (VkMemoryRequirements){
        .size = (size + 255) & ~(VkDeviceSize)255, .alignment = 256, .memoryTypeBits = 7};
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetBufferMemoryRequirements(
    VkDevice device, VkBuffer buffer, VkMemoryRequirements *pMemoryRequirements)
{
    (void)device;
    *pMemoryRequirements = requirements(((struct pm_null_buffer *)PM_NULL_OBJECT(buffer))->size);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetBufferMemoryRequirements2(
    VkDevice device, const VkBufferMemoryRequirementsInfo2 *pInfo,
    VkMemoryRequirements2 *pMemoryRequirements)
{
    pm_null_clear(pMemoryRequirements, sizeof(*pMemoryRequirements));
    pm_null_vkGetBufferMemoryRequirements(device, pInfo->buffer,
                                          &pMemoryRequirements->memoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetDeviceBufferMemoryRequirements(
    VkDevice device, const VkDeviceBufferMemoryRequirements *pInfo,
    VkMemoryRequirements2 *pMemoryRequirements)
{
    (void)device;
    pm_null_clear(pMemoryRequirements, sizeof(*pMemoryRequirements));
    pMemoryRequirements->memoryRequirements = requirements(pInfo->pCreateInfo->size);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkBindBufferMemory(VkDevice device, VkBuffer buffer,
                                                          VkDeviceMemory memory,
                                                          VkDeviceSize memoryOffset)
{
    (void)device;
    struct pm_null_buffer *object = (struct pm_null_buffer *)PM_NULL_OBJECT(buffer);
    const struct pm_null_memory *from = (const struct pm_null_memory *)PM_NULL_OBJECT(memory);
    object->bytes = from->bytes + memoryOffset;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkBindBufferMemory2(VkDevice device, uint32_t bindInfoCount,
                                                           const VkBindBufferMemoryInfo *pBindInfos)
{
    for (uint32_t i = 0; i < bindInfoCount; i++)
        pm_null_vkBindBufferMemory(device, pBindInfos[i].buffer, pBindInfos[i].memory,
                                   pBindInfos[i].memoryOffset);
    return VK_SUCCESS;
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL
pm_null_vkGetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *pInfo)
{
    (void)device;
    return (VkDeviceAddress)(uintptr_t)((struct pm_null_buffer *)PM_NULL_OBJECT(pInfo->buffer))
        ->bytes;
}

/* ---- images ---- */

struct image {
    struct pm_null_object object;
    VkDeviceSize size;
};

static VkDeviceSize image_size(const VkImageCreateInfo *info)
{
    /* The largest texel, and twice for the levels below the first. */
    return 32ull * info->extent.width * info->extent.height * info->extent.depth *
           info->arrayLayers * info->samples;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateImage(VkDevice device,
                                                     const VkImageCreateInfo *pCreateInfo,
                                                     const VkAllocationCallbacks *pAllocator,
                                                     VkImage *pImage)
{
    (void)device;
    (void)pAllocator;
    struct image *image = pm_null_object_create(VK_OBJECT_TYPE_IMAGE, sizeof(*image));
    if (!image)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    image->size = image_size(pCreateInfo);
    *pImage = PM_NULL_HANDLE(VkImage, image);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetImageMemoryRequirements(
    VkDevice device, VkImage image, VkMemoryRequirements *pMemoryRequirements)
{
    (void)device;
    *pMemoryRequirements = requirements(((struct image *)PM_NULL_OBJECT(image))->size);
}

VKAPI_ATTR void VKAPI_CALL
pm_null_vkGetImageMemoryRequirements2(VkDevice device, const VkImageMemoryRequirementsInfo2 *pInfo,
                                      VkMemoryRequirements2 *pMemoryRequirements)
{
    pm_null_clear(pMemoryRequirements, sizeof(*pMemoryRequirements));
    pm_null_vkGetImageMemoryRequirements(device, pInfo->image,
                                         &pMemoryRequirements->memoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetDeviceImageMemoryRequirements(
    VkDevice device, const VkDeviceImageMemoryRequirements *pInfo,
    VkMemoryRequirements2 *pMemoryRequirements)
{
    (void)device;
    pm_null_clear(pMemoryRequirements, sizeof(*pMemoryRequirements));
    pMemoryRequirements->memoryRequirements = requirements(image_size(pInfo->pCreateInfo));
}

/* ---- pipelines, caches, descriptors, queries ---- */

/* Asleep, as a compiler is busy: the caller waits, the processor is free for other threads. */
void pm_null_compile(void)
{
    uint64_t us = pm_null_config.compiled ? 0 : pm_null_config.compile_us;
    struct timespec time = {.tv_sec = (time_t)(us / 1000000),
                            .tv_nsec = (long)(us % 1000000) * 1000};
    if (us)
        nanosleep(&time, NULL);
    pm_null_await_compile();
}

/* One pipeline; flags: its VkPipelineCreateFlags. */
static VkResult create_pipeline(VkPipelineCreateFlags flags, VkPipeline *pipeline)
{
    const bool compiled = pm_null_config.compiled || pm_null_config.compile_us == 0;
    *pipeline = VK_NULL_HANDLE;
    if (!compiled && (flags & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT))
        return VK_PIPELINE_COMPILE_REQUIRED;
    pm_null_compile();
    *pipeline = PM_NULL_HANDLE(VkPipeline, pm_null_object_create(VK_OBJECT_TYPE_PIPELINE, 0));
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateGraphicsPipelines(
    VkDevice device, VkPipelineCache pipelineCache, uint32_t createInfoCount,
    const VkGraphicsPipelineCreateInfo *pCreateInfos, const VkAllocationCallbacks *pAllocator,
    VkPipeline *pPipelines)
{
    (void)device;
    (void)pipelineCache;
    (void)pAllocator;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < createInfoCount; i++) {
        const VkResult one = create_pipeline(pCreateInfos[i].flags, &pPipelines[i]);
        result = one != VK_SUCCESS ? one : result;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateComputePipelines(
    VkDevice device, VkPipelineCache pipelineCache, uint32_t createInfoCount,
    const VkComputePipelineCreateInfo *pCreateInfos, const VkAllocationCallbacks *pAllocator,
    VkPipeline *pPipelines)
{
    (void)device;
    (void)pipelineCache;
    (void)pAllocator;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < createInfoCount; i++) {
        const VkResult one = create_pipeline(pCreateInfos[i].flags, &pPipelines[i]);
        result = one != VK_SUCCESS ? one : result;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPipelineCacheData(VkDevice device,
                                                              VkPipelineCache pipelineCache,
                                                              size_t *pDataSize, void *pData)
{
    (void)pipelineCache;
    VkPhysicalDeviceProperties properties;
    VkPipelineCacheHeaderVersionOne header = {
        .headerSize = sizeof(header),
        .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
    };
    pm_null_vkGetPhysicalDeviceProperties(device->physical, &properties);
    header.vendorID = properties.vendorID;
    header.deviceID = properties.deviceID;
    memcpy(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE);
    if (!pData) {
        *pDataSize = sizeof(header);
        return VK_SUCCESS;
    }
    if (*pDataSize < sizeof(header)) {
        *pDataSize = 0;
        return VK_INCOMPLETE;
    }
    *pDataSize = sizeof(header);
    memcpy(pData, &header, sizeof(header));
    return VK_SUCCESS;
}

/* Sets die with their pool unseen, so they are numbers and no memory. */
VKAPI_ATTR VkResult VKAPI_CALL
pm_null_vkAllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *pAllocateInfo,
                                 VkDescriptorSet *pDescriptorSets)
{
    static _Atomic uint64_t last = 0x1000;
    (void)device;
    for (uint32_t i = 0; i < pAllocateInfo->descriptorSetCount; i++)
        pDescriptorSets[i] = (VkDescriptorSet)(uintptr_t)(atomic_fetch_add(&last, 16) + 16);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkFreeDescriptorSets(VkDevice device,
                                                            VkDescriptorPool descriptorPool,
                                                            uint32_t descriptorSetCount,
                                                            const VkDescriptorSet *pDescriptorSets)
{
    (void)device;
    (void)descriptorPool;
    (void)descriptorSetCount;
    (void)pDescriptorSets;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetDescriptorSetLayoutSupport(
    VkDevice device, const VkDescriptorSetLayoutCreateInfo *pCreateInfo,
    VkDescriptorSetLayoutSupport *pSupport)
{
    (void)device;
    (void)pCreateInfo;
    pm_null_clear(pSupport, sizeof(*pSupport));
    pSupport->supported = VK_TRUE;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateQueryPool(VkDevice device,
                                                         const VkQueryPoolCreateInfo *pCreateInfo,
                                                         const VkAllocationCallbacks *pAllocator,
                                                         VkQueryPool *pQueryPool)
{
    (void)device;
    (void)pAllocator;
    struct pm_null_query_pool *pool = pm_null_object_create(
        VK_OBJECT_TYPE_QUERY_POOL, sizeof(*pool) + pCreateInfo->queryCount * sizeof(uint64_t));
    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pool->count = pCreateInfo->queryCount;
    pool->values = (_Atomic uint64_t *)(pool + 1);
    for (uint32_t i = 0; i < pool->count; i++)
        atomic_store(&pool->values[i], UINT64_MAX);
    *pQueryPool = PM_NULL_HANDLE(VkQueryPool, pool);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkResetQueryPool(VkDevice device, VkQueryPool queryPool,
                                                    uint32_t firstQuery, uint32_t queryCount)
{
    (void)device;
    struct pm_null_query_pool *pool = (struct pm_null_query_pool *)PM_NULL_OBJECT(queryPool);
    for (uint32_t i = 0; i < queryCount; i++)
        atomic_store(&pool->values[firstQuery + i], UINT64_MAX);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetQueryPoolResults(VkDevice device, VkQueryPool queryPool,
                                                             uint32_t firstQuery,
                                                             uint32_t queryCount, size_t dataSize,
                                                             void *pData, VkDeviceSize stride,
                                                             VkQueryResultFlags flags)
{
    (void)dataSize;
    struct pm_null_query_pool *pool = (struct pm_null_query_pool *)PM_NULL_OBJECT(queryPool);
    size_t word = flags & VK_QUERY_RESULT_64_BIT ? 8 : 4;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < queryCount; i++) {
        unsigned char *out = (unsigned char *)pData + i * stride;
        uint64_t value = atomic_load(&pool->values[firstQuery + i]);
        uint64_t available = value != UINT64_MAX;
        if (available)
            memcpy(out, &value, word);
        else if (!(flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT))
            result = VK_NOT_READY;
        /* lavapipe may crash; device NULL: a command buffer asks */
        if (!available && device && pm_null_config.driver_id == VK_DRIVER_ID_MESA_LLVMPIPE)
            pm_null_error("results of a query are asked for before they are there");
        if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
            memcpy(out + word, &available, word);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetCalibratedTimestampsKHR(
    VkDevice device, uint32_t timestampCount, const VkCalibratedTimestampInfoKHR *pTimestampInfos,
    uint64_t *pTimestamps, uint64_t *pMaxDeviation)
{
    (void)device;
    (void)pTimestampInfos;
    for (uint32_t i = 0; i < timestampCount; i++)
        pTimestamps[i] = pm_null_now();
    *pMaxDeviation = 1;
    return VK_SUCCESS;
}
