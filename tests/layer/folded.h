/*
 * For tests of push constants: pipelines whose shaders are worth knowing them (shaders/mode.frag,
 * mode.comp), and sessions in which the machine sees what they are.
 */
#pragma once

#include "tests/layer/layered.h"

/* The words of mode.frag and mode.comp. */
struct folded_push {
    int32_t mode, taps;
    float strength, scale;
};

struct folded {
    VkPipelineLayout layout, equal, other; /* of the pipelines; of equal ranges; of others */
    VkPipeline graphics, compute;
};

void folded_make(struct folded *folded, struct pm_harness *harness);
void folded_destroy(const struct folded *folded, struct pm_harness *harness);

/* A layout with one range of so many bytes, for all stages. */
VkPipelineLayout folded_layout(struct pm_harness *harness, uint32_t bytes);

/* The words of mode.frag or mode.comp. */
const uint32_t *folded_words(VkShaderStageFlagBits stage, size_t *size);

/* Draws and dispatches with what is pushed, often enough that a session which samples everything
 * knows it then. */
void folded_use(const struct folded *folded, struct pm_harness *harness,
                const struct folded_push *push);

/* Pushes the words from first on, so many. */
void folded_push(struct pm_harness *harness, VkCommandBuffer buffer, VkPipelineLayout layout,
                 const struct folded_push *push, uint32_t first, uint32_t count);
