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
    uint32_t timestamp_bits; /* of the queue; 0: it has no timestamps */
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

/* An image to be sampled, filled as above; usage is set here. */
bool pm_gpu_texture_init(struct pm_gpu_image *image, const struct pm_gpu *gpu,
                         const struct pm_gpu_image_info *info, const void *data,
                         uint32_t texel_bytes, struct pm_error *error);

/* All levels and layers. */
void pm_gpu_image_barrier(VkCommandBuffer commands, const struct pm_gpu_image *image,
                          VkImageLayout from, VkImageLayout to, VkPipelineStageFlags after,
                          VkAccessFlags wrote, VkPipelineStageFlags before, VkAccessFlags will);

void pm_gpu_memory_barrier(VkCommandBuffer commands, VkPipelineStageFlags after,
                           VkAccessFlags wrote, VkPipelineStageFlags before, VkAccessFlags will);
/* What compute shaders wrote is there for the compute shaders that follow. */
void pm_gpu_between_dispatches(VkCommandBuffer commands);

/* The caller destroys it. Linear filtering reads all mip levels, nearest the nearest one. */
bool pm_gpu_sampler_create(const struct pm_gpu *gpu, VkFilter filter, VkSamplerAddressMode mode,
                           VkSampler *sampler, struct pm_error *error);

/* Images in the general layout, which only shaders touch. Waits. */
bool pm_gpu_image_prepare_storage(const struct pm_gpu *gpu,
                                  const struct pm_gpu_image *const *images, uint32_t count,
                                  struct pm_error *error);

/* ---- render passes ---- */

struct pm_gpu_attachment {
    const struct pm_gpu_image *image; /* depth where its format is D32_SFLOAT */
    VkAttachmentLoadOp load;          /* LOAD: from the layout that passes leave it in */
};

enum { PM_GPU_MAX_ATTACHMENTS = 4 };

/* A render pass of one subpass and its framebuffer. It leaves its attachments ready to be read by
 * fragment and compute shaders; what those still read is read before it writes them. The caller
 * destroys both, also after a failure. */
bool pm_gpu_pass_create(const struct pm_gpu *gpu, const struct pm_gpu_attachment *attachments,
                        uint32_t count, VkRenderPass *pass, VkFramebuffer *target,
                        struct pm_error *error);

/* Begins it on all of its width x height pixels, cleared to 0 and to depth 1 where it clears, with
 * viewport and scissor set. colors: colour attachments, before the depth attachment. */
void pm_gpu_pass_begin(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                       uint32_t width, uint32_t height, uint32_t colors);
/* The same where its calls are in secondary command buffers, which set viewport and scissor. */
void pm_gpu_pass_begin_secondary(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                                 uint32_t width, uint32_t height, uint32_t colors);

/* ---- descriptors ---- */

enum { PM_GPU_MAX_BINDINGS = 16 };

/* The bindings of a set, numbered from 0, one descriptor each, all for the same stages. */
bool pm_gpu_set_layout_create(const struct pm_gpu *gpu, const VkDescriptorType *types,
                              uint32_t count, VkShaderStageFlags stages,
                              VkDescriptorSetLayout *layout, struct pm_error *error);

/* push_bytes 0: no push constants. */
bool pm_gpu_pipeline_layout_create(const struct pm_gpu *gpu, const VkDescriptorSetLayout *sets,
                                   uint32_t count, VkShaderStageFlags stages, uint32_t push_bytes,
                                   VkPipelineLayout *layout, struct pm_error *error);

/* A pool for so many sets; the caller destroys it, and with it the sets. */
bool pm_gpu_pool_create(const struct pm_gpu *gpu, const VkDescriptorPoolSize *sizes, uint32_t count,
                        uint32_t sets, VkDescriptorPool *pool, struct pm_error *error);
bool pm_gpu_set_allocate(const struct pm_gpu *gpu, VkDescriptorPool pool,
                         VkDescriptorSetLayout layout, VkDescriptorSet *set,
                         struct pm_error *error);

void pm_gpu_set_buffer(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                       VkDescriptorType type, const struct pm_gpu_buffer *buffer);
/* sampler NULL: a storage image, in the general layout. */
void pm_gpu_set_image(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                      const struct pm_gpu_image *image, VkSampler sampler);

/* One that shaders also write: sampled in the general layout. */
void pm_gpu_set_storage_texture(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                                const struct pm_gpu_image *image, VkSampler sampler);

/* ---- pipelines ---- */

/* SPIR-V as the build embeds it. */
struct pm_gpu_spirv {
    const uint32_t *words;
    size_t size;
};
#define PM_GPU_SPIRV(array) ((struct pm_gpu_spirv){(array), sizeof(array)})
/* Of a fragment or compute shader: as it is, or scalarized (scalarize.h). */
#define PM_GPU_SPIRV_OR(scalar, array)                                                             \
    ((scalar) ? PM_GPU_SPIRV(array##_scalar) : PM_GPU_SPIRV(array))

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
    bool read_only;   /* with depth: test, but leave it as it is */
    bool additive;    /* colour is added to what is there */
};

/* Viewport and scissor are dynamic. The caller destroys the pipeline. */
bool pm_gpu_graphics_create(const struct pm_gpu *gpu, const struct pm_gpu_graphics_info *info,
                            VkPipeline *pipeline, struct pm_error *error);
bool pm_gpu_compute_create(const struct pm_gpu *gpu, struct pm_gpu_spirv spirv,
                           VkPipelineLayout layout, VkPipeline *pipeline, struct pm_error *error);

/* Whole-picture viewport and scissor. */
void pm_gpu_viewport(VkCommandBuffer commands, uint32_t width, uint32_t height);
