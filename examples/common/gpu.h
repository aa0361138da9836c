/*
 * The Vulkan that the headless workloads share: a device with one queue, buffers, images, uploads,
 * pipelines. Vulkan 1.1 and no extensions, so that it runs on every driver, and no window.
 *
 * Ownership: what *_init or *_create fills is released by its *_finish, or as said; every function
 * that fails leaves nothing behind but what the caller's finish releases. Sizes are bytes unless
 * said otherwise. Thread safety: one thread at a time.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

struct pm_gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool; /* buffers from it can be reset one by one */
};

struct pm_gpu_info {
    const char *application; /* VkApplicationInfo's name */
    const char *device;      /* a part of the device's name; NULL: the first device */
};

/* A queue that can draw and compute. *gpu must be zero before; pm_gpu_finish also after a failure.
 */
bool pm_gpu_init(struct pm_gpu *gpu, const struct pm_gpu_info *info, struct pm_error *error);
void pm_gpu_finish(struct pm_gpu *gpu);

/* true when result is VK_SUCCESS; else *error says which call was refused and with what. */
bool pm_gpu_check(VkResult result, const char *call, struct pm_error *error);

struct pm_gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceSize size;
    void *mapped; /* coherent; NULL: device-local */
};

enum pm_gpu_place {
    PM_GPU_DEVICE,   /* the GPU's own */
    PM_GPU_UPLOAD,   /* mapped, the CPU writes */
    PM_GPU_READBACK, /* mapped, the CPU reads */
};

bool pm_gpu_buffer_init(struct pm_gpu_buffer *buffer, const struct pm_gpu *gpu, VkDeviceSize size,
                        VkBufferUsageFlags usage, enum pm_gpu_place place, struct pm_error *error);
void pm_gpu_buffer_finish(struct pm_gpu_buffer *buffer, const struct pm_gpu *gpu);

struct pm_gpu_image {
    VkImage handle;
    VkDeviceMemory memory;
    VkImageView view; /* the whole image: an array where is_array, else 2D */
    VkFormat format;
    uint32_t width, height, layers, levels; /* texels */
};

struct pm_gpu_image_info {
    VkFormat format;
    uint32_t width, height;
    uint32_t layers, levels; /* 0: 1 */
    bool is_array;
    VkImageUsageFlags usage;
};

bool pm_gpu_image_init(struct pm_gpu_image *image, const struct pm_gpu *gpu,
                       const struct pm_gpu_image_info *info, struct pm_error *error);
void pm_gpu_image_finish(struct pm_gpu_image *image, const struct pm_gpu *gpu);

/* A command buffer for set-up work: begin, record, then submit, which waits and frees it. */
bool pm_gpu_once_begin(const struct pm_gpu *gpu, VkCommandBuffer *commands, struct pm_error *error);
bool pm_gpu_once_submit(const struct pm_gpu *gpu, VkCommandBuffer commands, struct pm_error *error);

/* A device-local buffer filled with data. Waits. */
bool pm_gpu_buffer_upload(struct pm_gpu_buffer *buffer, const struct pm_gpu *gpu, const void *data,
                          VkDeviceSize size, VkBufferUsageFlags usage, struct pm_error *error);

/* Fills every level of every layer and leaves the image in SHADER_READ_ONLY_OPTIMAL. data has, for
 * each layer, its levels from the largest, tightly packed. Waits. */
bool pm_gpu_image_upload(const struct pm_gpu_image *image, const struct pm_gpu *gpu,
                         const void *data, uint32_t texel_bytes, struct pm_error *error);

/* All levels and layers. */
void pm_gpu_image_barrier(VkCommandBuffer commands, const struct pm_gpu_image *image,
                          VkImageLayout from, VkImageLayout to, VkPipelineStageFlags after,
                          VkAccessFlags wrote, VkPipelineStageFlags before, VkAccessFlags will);

/* SPIR-V as the build embeds it. */
struct pm_gpu_spirv {
    const uint32_t *words;
    size_t size;
};
#define PM_GPU_SPIRV(array) ((struct pm_gpu_spirv){(array), sizeof(array)})

struct pm_gpu_graphics_info {
    struct pm_gpu_spirv vertex, fragment; /* fragment.words NULL: depth only */
    VkPipelineLayout layout;
    VkRenderPass pass;
    const VkPipelineVertexInputStateCreateInfo *input; /* NULL: no vertex buffers */
    VkPrimitiveTopology topology;
    VkCullModeFlags cull;
    uint32_t targets; /* colour attachments */
    bool depth;       /* test and write */
    float depth_bias; /* slope-scaled; 0: none */
    bool additive;    /* colour is added to what is there */
};

/* Viewport and scissor are dynamic. The caller destroys the pipeline. */
bool pm_gpu_graphics_create(const struct pm_gpu *gpu, const struct pm_gpu_graphics_info *info,
                            VkPipeline *pipeline, struct pm_error *error);
bool pm_gpu_compute_create(const struct pm_gpu *gpu, struct pm_gpu_spirv spirv,
                           VkPipelineLayout layout, VkPipeline *pipeline, struct pm_error *error);

/* Whole-picture viewport and scissor. */
void pm_gpu_viewport(VkCommandBuffer commands, uint32_t width, uint32_t height);
