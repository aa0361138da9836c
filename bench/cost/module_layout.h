/*
 * The layouts that are made up for what a module wants, and formats for its inputs and outputs.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "bench/cost/module_interface.h"
#include "examples/common/gpu.h"

enum { PM_MODULE_PUSH_BYTES = 128 }; /* of push constants, for all stages */

struct pm_module_layout {
    VkDescriptorSetLayout sets[PM_INTERFACE_SETS];
    uint32_t set_count;
    VkPipelineLayout pipeline;
};

/* *layout must be zero before; pm_module_layout_finish also after a failure. */
bool pm_module_layout_init(struct pm_module_layout *layout, const struct pm_gpu *gpu,
                           const struct pm_interface *interface, struct pm_error *error);
void pm_module_layout_finish(struct pm_module_layout *layout, const struct pm_gpu *gpu);

/* components: 1 to 4, 32 bits each. */
VkFormat pm_module_format(enum pm_interface_scalar scalar, uint32_t components);
