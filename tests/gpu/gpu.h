/*
 * A small headless Vulkan for tests: one device of the driver that the environment names
 * (VK_DRIVER_FILES, set by ctest, see pm_gpu_test in tests/gpu/CMakeLists.txt), compute dispatches
 * and draws of given triangles, results read back. Every call waits until the device is idle. A
 * failure ends the test through cmocka.
 *
 * Descriptors, the same for all shaders: set 0, bindings 0 to 3 are storage buffers, binding 8 is a
 * combined image sampler with a 64 x 64 mipmapped texture of fixed contents, binding 9 a uniform
 * buffer. Push constants: 128 bytes. Addresses of counters reach a shader as specialization
 * constants.
 *
 * Thread safety: a gpu belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define PM_GPU_BUFFERS 4
#define PM_GPU_TEXTURE_BINDING 8
#define PM_GPU_UNIFORM_BINDING 9
#define PM_GPU_TEXTURE_SIZE 64
#define PM_GPU_PUSH_BYTES 128

struct pm_gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    VkCommandPool pool;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool descriptors;
    VkImage texture;
    VkDeviceMemory texture_memory;
    VkImageView texture_view;
    VkSampler sampler;
    VkShaderModule vertex;
    VkPhysicalDeviceMemoryProperties memory;

    /* What the device can do; all of it is enabled. */
    char name[256];
    uint32_t driver_id, driver_version;
    char driver_info[VK_MAX_DRIVER_INFO_SIZE];
    bool swiftshader, lavapipe_22;      /* for what is known to be different there */
    uint32_t subgroup_size, most_lanes; /* of a subgroup, where nothing else is asked for; ever */
    bool arithmetic;                    /* subgroup arithmetic in both stages */
    bool ballot_in_fragment;            /* subgroup basic and ballot in fragment shaders */
    bool vote_and_quad_in_fragment;
    bool quad;          /* subgroup vote and quad operations in both stages */
    bool int64;         /* shaderInt64 */
    bool int64_atomics; /* and shaderBufferInt64Atomics */
    bool memory_model, memory_model_device_scope;
    bool demote, terminate;
    bool float64;
    bool small_types; /* 8- and 16-bit integers and 16-bit floats, also in buffers */
    VkSampleCountFlags sample_counts; /* of color and depth attachments */
    uint32_t validation_errors;
    uint32_t extensions; /* a bit for each of pm_gpu_options' that is enabled */
    PFN_vkSetDebugUtilsObjectNameEXT set_name; /* NULL: pm_gpu_name does nothing */
};

/* PM_TEST_VALIDATION=1 in the environment runs it under the validation layer; whatever that says is
 * counted in validation_errors and printed. Destroying asserts that there were none. */
void pm_gpu_create(struct pm_gpu *gpu);
/* With extensions (NULL-terminated, at most 32) where the device has them, and structures of
 * features that are chained on, filled by the driver and enabled. */
struct pm_gpu_options {
    const char *const *extensions;
    VkBaseOutStructure *features; /* one for each extension from first_feature on, in their order */
    uint32_t first_feature;
    bool two_queues;     /* the second is not in struct pm_gpu */
    bool names;          /* VK_EXT_debug_utils, for pm_gpu_name; with an instance that is made */
    VkInstance instance; /* whose device it is; NULL: one is made */
};
void pm_gpu_create_with(struct pm_gpu *gpu, const struct pm_gpu_options *options);
void pm_gpu_destroy(struct pm_gpu *gpu);

/* Gives an object a name. */
void pm_gpu_name(const struct pm_gpu *gpu, VkObjectType type, uint64_t handle, const char *name);

/* Host-visible, coherent and mapped; zeroed; usable as storage buffer and by its address. */
struct pm_gpu_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    size_t size; /* bytes */
    void *data;
};
void pm_gpu_buffer_create(struct pm_gpu *gpu, size_t size, struct pm_gpu_buffer *buffer);
/* The usage of all of them; and likewise, for more than that. */
#define PM_GPU_BUFFER_USAGE                                                                        \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |                     \
     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |                        \
     VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                      \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)
void pm_gpu_buffer_create_for(struct pm_gpu *gpu, size_t size, VkBufferUsageFlags2KHR more,
                              struct pm_gpu_buffer *buffer);
void pm_gpu_buffer_destroy(struct pm_gpu *gpu, struct pm_gpu_buffer *buffer);

/* A shader with what it is given. */
struct pm_gpu_shader {
    const uint32_t *words;
    size_t count;
    const VkSpecializationInfo *specialization;          /* NULL: defaults */
    const struct pm_gpu_buffer *buffers[PM_GPU_BUFFERS]; /* NULL: none */
    const struct pm_gpu_buffer *uniform; /* at most 16 KiB; NULL: none, and no descriptor either */
    const void *push;                    /* NULL: none */
    uint32_t push_size;                  /* bytes */
    uint32_t base;                       /* of a dispatch: the workgroup in z that it begins at */
    void (*again)(void); /* NULL: none. A dispatch is made twice, and this is called between: a
                            driver that compiles when something first runs has done so then */
};

void pm_gpu_dispatch(struct pm_gpu *gpu, const struct pm_gpu_shader *shader, uint32_t groups_x,
                     uint32_t groups_y, uint32_t groups_z);

/* The vertex shader passes position on, location 0 as a smooth vec4, and location 1 as a flat uint:
 * the number of the triangle. */
struct pm_gpu_vertex {
    float position[4];
    float color[4];
};

struct pm_gpu_draw {
    struct pm_gpu_shader fragment;
    const struct pm_gpu_vertex *vertices;
    uint32_t vertex_count;
    uint32_t width, height; /* pixels */
    VkFormat format;        /* 0: VK_FORMAT_R32G32B32A32_SFLOAT; 4 to 16 bytes a texel */
    uint32_t samples;       /* 0: 1 */
    bool depth_test;        /* D32, cleared to 1, less, written */
    bool alpha_to_coverage;
    bool sample_shading;
    bool double_viewport; /* the viewport is twice as wide and high as the target */
    bool blend_add;       /* color and alpha are added to what is there */
};

/* Draws into a target cleared to zeroes and returns its texels (malloc'ed, tightly packed, resolved
 * where there are several samples); *size in bytes. */
void *pm_gpu_draw(struct pm_gpu *gpu, const struct pm_gpu_draw *draw, size_t *size);

/* Reads NAME.spv from the folder that the build compiled shaders into. *words is malloc'ed. */
void pm_gpu_load(const char *folder, const char *name, uint32_t **words, size_t *count);

/* The device of a group of tests, between these two: cmocka_run_group_tests' set-up and tear-down.
 */
extern struct pm_gpu pm_test_gpu;
int pm_gpu_set_up(void **state);
int pm_gpu_tear_down(void **state);
