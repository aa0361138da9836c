/*
 * For tests of shader objects on the null driver: making them in many ways, and what was bound of
 * them.
 */
#pragma once

#include "tests/layer/layered.h"

/* A device with the extension, and with generated commands, and the null driver's calls watched
 * until the test's tear-down. */
void objects_open(struct pm_harness *harness);

struct object_options {
    VkShaderStageFlagBits stage;
    VkShaderCreateFlagsEXT flags;
    const void *next;                        /* of the create info */
    const VkDescriptorSetLayout *set_layout; /* NULL: the harness's */
    bool binary;
    bool weighted;         /* a fragment shader that is worth specializing, as the compute shader is
                              (optimized.h) */
    const uint32_t *words; /* other ones, so many bytes; NULL: these */
    size_t size;
};
/* count of them, by one call. */
void objects_make(struct pm_harness *harness, const struct object_options *options, uint32_t count,
                  VkShaderEXT *out);
VkShaderEXT object_make(struct pm_harness *harness, VkShaderStageFlagBits stage);

/* Binds objects at their stages, by one call. */
void objects_bind(struct pm_harness *harness, VkCommandBuffer buffer, VkShaderEXT vertex,
                  VkShaderEXT fragment);
void object_bind(struct pm_harness *harness, VkCommandBuffer buffer, VkShaderStageFlagBits stage,
                 VkShaderEXT shader);

/* A vkCmdBindShadersEXT that reached the driver. */
struct object_bind {
    uint32_t count;
    VkShaderStageFlagBits stages[8];
    VkShaderEXT shaders[8];
};
/* How many there were, and the n-th of them; since objects_open. */
uint32_t objects_binds(void);
struct object_bind objects_bound(uint32_t n);

/* A vkCreateShadersEXT's first info, as it reached the driver last. */
struct object_made {
    uint32_t calls, count; /* of such calls; of infos in the last */
    VkShaderCreateFlagsEXT flags;
    VkShaderStageFlagBits stage;
    uint32_t spec_entries, set_layouts, push_ranges;
};
struct object_made objects_made(void);
