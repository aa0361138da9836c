#include "examples/common/gpu.h"
#include <stdlib.h>
#include <string.h>

bool pm_gpu_once_begin(const struct pm_gpu *gpu, VkCommandBuffer *commands, struct pm_error *error)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    if (!pm_gpu_check(vkAllocateCommandBuffers(gpu->device, &info, commands),
                      "vkAllocateCommandBuffers", error))
        return false;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (pm_gpu_check(vkBeginCommandBuffer(*commands, &begin), "vkBeginCommandBuffer", error))
        return true;
    vkFreeCommandBuffers(gpu->device, gpu->pool, 1, commands);
    return false;
}

bool pm_gpu_once_submit(const struct pm_gpu *gpu, VkCommandBuffer commands, struct pm_error *error)
{
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    const bool done = pm_gpu_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer", error) &&
                      pm_gpu_check(vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE),
                                   "vkQueueSubmit", error) &&
                      pm_gpu_check(vkQueueWaitIdle(gpu->queue), "vkQueueWaitIdle", error);
    vkFreeCommandBuffers(gpu->device, gpu->pool, 1, &commands);
    return done;
}

bool pm_gpu_buffer_upload(struct pm_gpu_buffer *buffer, const struct pm_gpu *gpu, const void *data,
                          VkDeviceSize size, VkBufferUsageFlags usage, struct pm_error *error)
{
    struct pm_gpu_buffer staging = {0};
    VkCommandBuffer commands;
    bool done = false;
    if (!pm_gpu_buffer_init(buffer, gpu, size, usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                            PM_GPU_DEVICE, error) ||
        !pm_gpu_buffer_init(&staging, gpu, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, PM_GPU_UPLOAD,
                            error) ||
        !pm_gpu_once_begin(gpu, &commands, error))
        goto end;
    memcpy(staging.mapped, data, (size_t)size);
    vkCmdCopyBuffer(commands, staging.handle, buffer->handle, 1, &(VkBufferCopy){.size = size});
    done = pm_gpu_once_submit(gpu, commands, error);
end:
    pm_gpu_buffer_finish(&staging, gpu);
    return done;
}

void pm_gpu_image_barrier(VkCommandBuffer commands, const struct pm_gpu_image *image,
                          VkImageLayout from, VkImageLayout to, VkPipelineStageFlags after,
                          VkAccessFlags wrote, VkPipelineStageFlags before, VkAccessFlags will)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = wrote,
        .dstAccessMask = will,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->handle,
        .subresourceRange = {image->format == VK_FORMAT_D32_SFLOAT ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                   : VK_IMAGE_ASPECT_COLOR_BIT,
                             0, image->levels, 0, image->layers},
    };
    vkCmdPipelineBarrier(commands, after, before, 0, 0, NULL, 0, NULL, 1, &barrier);
}

void pm_gpu_memory_barrier(VkCommandBuffer commands, VkPipelineStageFlags after,
                           VkAccessFlags wrote, VkPipelineStageFlags before, VkAccessFlags will)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = wrote,
        .dstAccessMask = will,
    };
    vkCmdPipelineBarrier(commands, after, before, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void pm_gpu_between_dispatches(VkCommandBuffer commands)
{
    pm_gpu_memory_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                          VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

bool pm_gpu_image_prepare_storage(const struct pm_gpu *gpu,
                                  const struct pm_gpu_image *const *images, uint32_t count,
                                  struct pm_error *error)
{
    VkCommandBuffer commands;
    if (!pm_gpu_once_begin(gpu, &commands, error))
        return false;
    for (uint32_t i = 0; i < count; i++)
        pm_gpu_image_barrier(commands, images[i], VK_IMAGE_LAYOUT_UNDEFINED,
                             VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    return pm_gpu_once_submit(gpu, commands, error);
}

/* A level's side in texels. */
static uint32_t side(uint32_t largest, uint32_t level)
{
    return largest >> level ? largest >> level : 1;
}

bool pm_gpu_image_upload(const struct pm_gpu_image *image, const struct pm_gpu *gpu,
                         const void *data, uint32_t texel_bytes, struct pm_error *error)
{
    struct pm_gpu_buffer staging = {0};
    VkCommandBuffer commands;
    bool done = false;
    VkBufferImageCopy *copies = calloc((size_t)image->layers * image->levels, sizeof *copies);
    if (!copies)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    uint32_t count = 0;
    VkDeviceSize size = 0;
    for (uint32_t layer = 0; layer < image->layers; layer++) {
        for (uint32_t level = 0; level < image->levels; level++) {
            const uint32_t width = side(image->width, level), height = side(image->height, level);
            copies[count++] = (VkBufferImageCopy){
                .bufferOffset = size,
                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, layer, 1},
                .imageExtent = {width, height, 1},
            };
            size += (VkDeviceSize)width * height * texel_bytes;
        }
    }
    if (!pm_gpu_buffer_init(&staging, gpu, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, PM_GPU_UPLOAD,
                            error) ||
        !pm_gpu_once_begin(gpu, &commands, error))
        goto end;
    memcpy(staging.mapped, data, (size_t)size);
    pm_gpu_image_barrier(commands, image, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    vkCmdCopyBufferToImage(commands, staging.handle, image->handle,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, count, copies);
    pm_gpu_image_barrier(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                         VK_ACCESS_SHADER_READ_BIT);
    done = pm_gpu_once_submit(gpu, commands, error);
end:
    pm_gpu_buffer_finish(&staging, gpu);
    free(copies);
    return done;
}

bool pm_gpu_texture_init(struct pm_gpu_image *image, const struct pm_gpu *gpu,
                         const struct pm_gpu_image_info *info, const void *data,
                         uint32_t texel_bytes, struct pm_error *error)
{
    struct pm_gpu_image_info sampled = *info;
    sampled.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    return pm_gpu_image_init(image, gpu, &sampled, error) &&
           pm_gpu_image_upload(image, gpu, data, texel_bytes, error);
}
