/*
 * For tests of pipelines on the null driver: making them in many ways, and watching which ones the
 * layer makes (they come with its own pipeline cache, the tests' with none).
 */
#pragma once

#include "tests/null_driver/harness.h"

/* Objects of a test's own, that it may destroy at any time. The set layout has two immutable
 * samplers, both the same. */
struct parts {
    VkShaderModule vertex, fragment;
    VkSampler sampler;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkRenderPass render_pass;
};
void parts_make(struct parts *parts, struct pm_harness *harness);
void parts_destroy(const struct parts *parts, struct pm_harness *harness);

/* The words of the shader of a stage, and their size in bytes. */
const uint32_t *parts_words(VkShaderStageFlagBits stage, size_t *size);

struct graphics_options {
    const struct parts *parts; /* NULL: the harness's */
    const void *next;          /* of the create info */
    VkPipelineCreateFlags flags;
    VkPipeline base;
    bool alpha_to_coverage;
    bool discard;           /* static: nothing is ever rasterized */
    VkDynamicState dynamic; /* 0 (viewport): none */
    VkPipelineCreateFlags2
        flags2;        /* in a structure of their own, and nonsense in `flags`; 0: not */
    bool inline_words; /* SPIR-V in the stages' pNext */
    bool identifier_only;
    VkGraphicsPipelineLibraryFlagsEXT library; /* the one part that it has; 0: all */
    const VkPipeline *link;                    /* four libraries; NULL: none */
};
VkPipeline make_graphics(struct pm_harness *harness, const struct graphics_options *options);

/* ---- what the layer makes ---- */

struct seen {
    VkPipelineCreateFlags2 flags;
    bool feedback;
    VkPipeline base;
    uint32_t stage_count;
    VkShaderModule modules[4];
    VkPipelineLayout layout;
    VkRenderPass render_pass;
    uint32_t library_count;
    VkPipeline libraries[4];
    uint32_t spec_entries; /* of the fragment stage */
    bool early_tests; /* one of the modules created since the layer's pipeline before has them */
};

struct counts {
    uint32_t variants; /* pipelines that the layer made */
    uint32_t early;    /* of which a module made for it forces early tests */
};

struct samplers {
    uint32_t layouts; /* set layouts with immutable samplers that reached the driver */
    VkSampler last[2];
};

/* From now on, until the test's tear-down. */
void watch_start(const struct pm_null_api *driver);
struct seen watch_last(void);
struct counts watch_counts(void);
struct samplers watch_samplers(void);
