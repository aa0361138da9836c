/*
 * What a shader is for: its stage, and the environment that its module is validated for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum pm_stage { PM_STAGE_FRAGMENT, PM_STAGE_COMPUTE };

/* The environment a module is validated for: what the device was created with. */
struct pm_target {
    uint32_t vulkan_minor; /* 0 to 3: Vulkan 1.0 to 1.3, the device's as used by the game */
    bool spirv_1_4;        /* VK_KHR_spirv_1_4 on 1.1 */
    bool scalar_block_layout, relaxed_block_layout, uniform_buffer_standard_layout;
    bool workgroup_explicit_layout;
};

/* All of it in a number, for what is kept on disk; and back. Bits that are not known are left out.
 */
uint32_t pm_target_bits(const struct pm_target *target);
struct pm_target pm_target_of_bits(uint32_t bits);
