/* What the files of the harness share. */
#pragma once

#include "tests/gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        VkResult check_result = (call);                                                            \
        if (check_result != VK_SUCCESS)                                                            \
            fail_msg("%s: VkResult %d", #call, check_result);                                      \
    } while (0)

VkDeviceMemory gpu_allocate(struct pm_gpu *gpu, const VkMemoryRequirements *needs,
                            VkMemoryPropertyFlags flags, VkMemoryAllocateFlags allocate_flags);

VkShaderModule gpu_module(struct pm_gpu *gpu, const uint32_t *words, size_t count);

/* The bindings of all shaders; their number. */
uint32_t gpu_bindings(VkDescriptorSetLayoutBinding bindings[static PM_GPU_BUFFERS + 2]);

/* What is written to them. Points into itself: not to be copied. */
struct gpu_writes {
    VkDescriptorBufferInfo buffers[PM_GPU_BUFFERS], uniform;
    VkDescriptorImageInfo image;
    VkWriteDescriptorSet writes[3];
    uint32_t count;
};
/* As gpu_descriptors has it. */
void gpu_writes_fill(const struct pm_gpu *gpu, const struct pm_gpu_shader *shader,
                     const struct pm_gpu_buffer *dummy, VkDescriptorSet set,
                     struct gpu_writes *out);

/* A descriptor set with the shader's buffers and the texture; buffers it was not given are backed
 * by dummy. */
VkDescriptorSet gpu_descriptors(struct pm_gpu *gpu, const struct pm_gpu_shader *shader,
                                const struct pm_gpu_buffer *dummy);

/* Records between the two, then submits and waits. */
VkCommandBuffer gpu_begin(struct pm_gpu *gpu);
void gpu_finish(struct pm_gpu *gpu, VkCommandBuffer commands);

/* Submits alone; the commands are to be freed once the queue is idle. */
void gpu_submit(struct pm_gpu *gpu, VkCommandBuffer commands);

void gpu_bind(struct pm_gpu *gpu, VkCommandBuffer commands, VkPipelineBindPoint point,
              const struct pm_gpu_shader *shader, VkDescriptorSet set);

void gpu_barrier(VkCommandBuffer commands);
void gpu_image_layout(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect,
                      VkImageLayout from, VkImageLayout to);

struct gpu_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
};
void gpu_image_create(struct pm_gpu *gpu, VkFormat format, uint32_t width, uint32_t height,
                      uint32_t levels, uint32_t samples, VkImageUsageFlags usage,
                      VkImageAspectFlags aspect, struct gpu_image *image);
/* With layers > 1 the view is of an array of them. */
void gpu_image_create_layers(struct pm_gpu *gpu, VkFormat format, uint32_t width, uint32_t height,
                             uint32_t levels, uint32_t samples, uint32_t layers,
                             VkImageUsageFlags usage, VkImageAspectFlags aspect,
                             struct gpu_image *image);
void gpu_image_destroy(struct pm_gpu *gpu, struct gpu_image *image);

void gpu_texture_create(struct pm_gpu *gpu);

/* The state that is the same for all draws but for the target's size. Points into itself: not to be
 * copied. */
struct gpu_fixed_state {
    VkVertexInputBindingDescription binding;
    VkVertexInputAttributeDescription attributes[2];
    VkPipelineVertexInputStateCreateInfo input;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkViewport viewport;
    VkRect2D scissor;
    VkPipelineViewportStateCreateInfo viewports;
    VkPipelineRasterizationStateCreateInfo rasterization;
};
/* scale: of the viewport, to the target. */
void gpu_fixed_state_fill(struct gpu_fixed_state *state, uint32_t width, uint32_t height,
                          float scale);

/* The pipeline of a draw, with this module as its fragment shader. */
VkPipeline gpu_draw_pipeline(struct pm_gpu *gpu, const struct pm_gpu_draw *draw,
                             VkShaderModule fragment);
