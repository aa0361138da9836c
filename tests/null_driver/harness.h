/*
 * A small Vulkan program for tests and benchmarks on the null driver: an instance, a device, a
 * queue, a command pool, a graphics and a compute pipeline. Goes through the Vulkan loader, and
 * calls the device by the addresses that vkGetDeviceProcAddr gives, as games do; so whatever layers
 * the environment asks for are there.
 *
 * Every failure ends the program with a line on stderr.
 *
 * Thread safety: a struct pm_harness belongs to one thread; its handles follow Vulkan's rules.
 */
#pragma once

#include "dispatch.h"
#include "tests/null_driver/null_driver.h"

/* The device extensions that have commands that draw or dispatch; ends with NULL. */
extern const char *const pm_harness_draw_extensions[];

struct pm_harness_options {
    uint32_t api_version;                   /* 0: 1.3 */
    const char *application;                /* NULL: none */
    const char *engine;                     /* NULL: none */
    const char *const *layers;              /* NULL-terminated; NULL: none */
    const char *const *instance_extensions; /* likewise */
    const char *const *device_extensions;
    const void *device_next;                  /* VkDeviceCreateInfo's pNext */
    const void *instance_next;                /* VkInstanceCreateInfo's */
    const void *application_next;             /* VkApplicationInfo's */
    const void *queue_next;                   /* the first VkDeviceQueueCreateInfo's */
    const VkPhysicalDeviceFeatures *features; /* NULL: none */
    uint32_t queues;                          /* of family 0; 0: one */
    bool protected_queue;                     /* and one of it that is protected */
    const VkAllocationCallbacks *allocator;   /* for everything that the program makes */
    bool bare;                                /* neither pool nor pipelines */
};

struct pm_harness {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue, queues[4];
    VkCommandPool pool;
    struct pm_instance_dispatch vki;
    struct pm_device_dispatch vk;

    VkShaderModule vertex, fragment, compute;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkBuffer buffer; /* what the compute shader writes; 4 KiB */
    VkDeviceMemory buffer_memory;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkRenderPass render_pass;
    VkImage image;
    VkDeviceMemory image_memory;
    VkImageView view;
    VkFramebuffer framebuffer;
    VkPipeline graphics, dispatch;

    const VkAllocationCallbacks *allocator;
    const struct pm_null_api *driver;
};

/* The environment for everything below: only the null driver, no layers of the system's. Call it
 * first, and change the environment after. */
void pm_harness_environment(void);
/* Asks for a layer, as VK_INSTANCE_LAYERS does; NULL: for none. PM_TEST_VALIDATION_LAYER in the
 * environment, the folder of a validation layer's manifest, puts that one below it, or above with
 * PM_TEST_VALIDATION_ORDER=above. */
void pm_harness_layer(const char *layer);
bool pm_harness_is_validated(void);

/* The null driver's functions; its library stays loaded from then on. */
const struct pm_null_api *pm_harness_driver(void);

/* options NULL: all defaults. */
void pm_harness_open(struct pm_harness *harness, const struct pm_harness_options *options);
/* Only the instance and the physical device; pm_harness_open_device makes the rest. */
void pm_harness_open_instance(struct pm_harness *harness, const struct pm_harness_options *options);
VkResult pm_harness_create_device(struct pm_harness *harness,
                                  const struct pm_harness_options *options);
void pm_harness_open_rest(struct pm_harness *harness);
void pm_harness_close_device(struct pm_harness *harness);
void pm_harness_close(struct pm_harness *harness);

VkShaderModule pm_harness_make_module(struct pm_harness *harness, const uint32_t *words,
                                      size_t size);
/* With one attachment as the harness's image. */
VkRenderPass pm_harness_make_render_pass(struct pm_harness *harness, VkAttachmentLoadOp load);

/* The harness's graphics pipeline, described: info points to what is beside it, so it is changed
 * where it is and not copied. */
struct pm_harness_pipeline {
    VkPipelineShaderStageCreateInfo stages[2]; /* vertex, fragment */
    VkPipelineVertexInputStateCreateInfo input;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkPipelineViewportStateCreateInfo viewport;
    VkPipelineRasterizationStateCreateInfo rasterization;
    VkPipelineMultisampleStateCreateInfo multisample;
    VkPipelineColorBlendStateCreateInfo blend;
    VkGraphicsPipelineCreateInfo info;
};
void pm_harness_describe(const struct pm_harness *harness, struct pm_harness_pipeline *of);

/* The create info of the harness's compute pipeline. */
VkComputePipelineCreateInfo pm_harness_describe_compute(const struct pm_harness *harness);

VkPipeline pm_harness_make_graphics(struct pm_harness *harness);
VkPipeline pm_harness_make_compute(struct pm_harness *harness);
/* The words of the harness's compute shader, and their size in bytes. */
const uint32_t *pm_harness_compute_words(size_t *size);
/* Of a module that is gone when it returns. */
VkPipeline pm_harness_compute_of(struct pm_harness *harness, const uint32_t *words, size_t size,
                                 VkPipelineLayout layout);

/* A shader object (VK_EXT_shader_object) of the vertex, fragment or compute stage, with the flags.
 */
VkShaderEXT pm_harness_make_object(struct pm_harness *harness, VkShaderStageFlagBits stage);

VkCommandBuffer pm_harness_allocate(struct pm_harness *harness, VkCommandBufferLevel level);
void pm_harness_begin(struct pm_harness *harness, VkCommandBuffer buffer,
                      VkCommandBufferUsageFlags flags);
/* What a draw and a dispatch need, pipelines apart: the descriptor set at both bind points. */
void pm_harness_bind_set(struct pm_harness *harness, VkCommandBuffer buffer);
void pm_harness_begin_pass(struct pm_harness *harness, VkCommandBuffer buffer);
/* A pool of one query of statistics, which sees draws and dispatches. */
VkQueryPool pm_harness_make_statistics(struct pm_harness *harness);
void pm_harness_submit(struct pm_harness *harness, VkQueue queue, VkCommandBuffer buffer,
                       VkFence fence);
/* Ends its recording, submits it to `queue`, and waits for that. */
void pm_harness_run(struct pm_harness *harness, VkCommandBuffer buffer);

/* Ends the program when a result is not VK_SUCCESS. */
void pm_harness_check(VkResult result, const char *what);
#define PM_CHECK(call) pm_harness_check(call, #call)
