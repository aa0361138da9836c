#include "tests/gpu/gpu_private.h"

#define TEXTURE_LEVELS 7

void gpu_image_create(struct pm_gpu *gpu, VkFormat format, uint32_t width, uint32_t height,
                      uint32_t levels, uint32_t samples, VkImageUsageFlags usage,
                      VkImageAspectFlags aspect, struct gpu_image *image)
{
    gpu_image_create_layers(gpu, format, width, height, levels, samples, 1, usage, aspect, image);
}

void gpu_image_create_layers(struct pm_gpu *gpu, VkFormat format, uint32_t width, uint32_t height,
                             uint32_t levels, uint32_t samples, uint32_t layers,
                             VkImageUsageFlags usage, VkImageAspectFlags aspect,
                             struct gpu_image *image)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {width, height, 1},
                                    .mipLevels = levels,
                                    .arrayLayers = layers,
                                    .samples = (VkSampleCountFlagBits)samples,
                                    .tiling = VK_IMAGE_TILING_OPTIMAL,
                                    .usage = usage};
    CHECK(vkCreateImage(gpu->device, &info, NULL, &image->image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu->device, image->image, &needs);
    image->memory = gpu_allocate(gpu, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    CHECK(vkBindImageMemory(gpu->device, image->image, image->memory, 0));
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = image->image,
                                        .viewType = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                                                               : VK_IMAGE_VIEW_TYPE_2D,
                                        .format = format,
                                        .subresourceRange = {aspect, 0, levels, 0, layers}};
    CHECK(vkCreateImageView(gpu->device, &view, NULL, &image->view));
}

void gpu_image_destroy(struct pm_gpu *gpu, struct gpu_image *image)
{
    vkDestroyImageView(gpu->device, image->view, NULL);
    vkDestroyImage(gpu->device, image->image, NULL);
    vkFreeMemory(gpu->device, image->memory, NULL);
    *image = (struct gpu_image){0};
}

/* Each level has other contents, so that a wrong level of detail is seen. */
static void fill_texels(uint8_t *texels, VkBufferImageCopy *copies)
{
    VkDeviceSize offset = 0;
    for (uint32_t level = 0; level < TEXTURE_LEVELS; level++) {
        uint32_t size = PM_GPU_TEXTURE_SIZE >> level;
        copies[level] =
            (VkBufferImageCopy){.bufferOffset = offset,
                                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                                .imageExtent = {size, size, 1}};
        for (uint32_t i = 0; i < size * size; i++) {
            uint8_t *texel = texels + offset + i * 4;
            texel[0] = (uint8_t)(i * 7 + level * 40);
            texel[1] = (uint8_t)(i % size * 255 / size);
            texel[2] = (uint8_t)(level * 36);
            texel[3] = (uint8_t)(i / size % 2 ? 255 : 0);
        }
        offset += size * size * 4;
    }
}

void gpu_texture_create(struct pm_gpu *gpu)
{
    struct gpu_image image;
    gpu_image_create(gpu, VK_FORMAT_R8G8B8A8_UNORM, PM_GPU_TEXTURE_SIZE, PM_GPU_TEXTURE_SIZE,
                     TEXTURE_LEVELS, 1,
                     VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &image);
    gpu->texture = image.image;
    gpu->texture_memory = image.memory;
    gpu->texture_view = image.view;
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                         .magFilter = VK_FILTER_LINEAR,
                                         .minFilter = VK_FILTER_LINEAR,
                                         .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                         .maxLod = TEXTURE_LEVELS};
    CHECK(vkCreateSampler(gpu->device, &sampler, NULL, &gpu->sampler));

    struct pm_gpu_buffer staging;
    VkBufferImageCopy copies[TEXTURE_LEVELS];
    pm_gpu_buffer_create(gpu, PM_GPU_TEXTURE_SIZE * PM_GPU_TEXTURE_SIZE * 4 * 2, &staging);
    fill_texels(staging.data, copies);
    VkCommandBuffer commands = gpu_begin(gpu);
    gpu_image_layout(commands, gpu->texture, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands, staging.buffer, gpu->texture,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, TEXTURE_LEVELS, copies);
    gpu_image_layout(commands, gpu->texture, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                     VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    gpu_finish(gpu, commands);
    pm_gpu_buffer_destroy(gpu, &staging);
}
