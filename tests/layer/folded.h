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

/* Pushes the words from first on, so many. */
void folded_push(struct pm_harness *harness, VkCommandBuffer buffer, VkPipelineLayout layout,
                 const struct folded_push *push, uint32_t first, uint32_t count);
