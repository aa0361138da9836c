#include "shader_rewrite/ir/target.h"

/* On disk: a bit keeps its place. The lowest byte is vulkan_minor. */
enum {
    MINOR = 0xff,
    SPIRV_1_4 = 1 << 8,
    SCALAR_BLOCK = 1 << 9,
    RELAXED_BLOCK = 1 << 10,
    UNIFORM_BUFFER_STANDARD = 1 << 11,
    WORKGROUP_EXPLICIT = 1 << 12,
};

uint32_t pm_target_bits(const struct pm_target *target)
{
    return (target->vulkan_minor & MINOR) | (target->spirv_1_4 ? SPIRV_1_4 : 0u) |
           (target->scalar_block_layout ? SCALAR_BLOCK : 0u) |
           (target->relaxed_block_layout ? RELAXED_BLOCK : 0u) |
           (target->uniform_buffer_standard_layout ? UNIFORM_BUFFER_STANDARD : 0u) |
           (target->workgroup_explicit_layout ? WORKGROUP_EXPLICIT : 0u);
}

struct pm_target pm_target_of_bits(uint32_t bits)
{
    return (struct pm_target){
        .vulkan_minor = bits & MINOR,
        .spirv_1_4 = (bits & SPIRV_1_4) != 0,
        .scalar_block_layout = (bits & SCALAR_BLOCK) != 0,
        .relaxed_block_layout = (bits & RELAXED_BLOCK) != 0,
        .uniform_buffer_standard_layout = (bits & UNIFORM_BUFFER_STANDARD) != 0,
        .workgroup_explicit_layout = (bits & WORKGROUP_EXPLICIT) != 0,
    };
}
