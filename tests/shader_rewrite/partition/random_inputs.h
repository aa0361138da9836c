/*
 * All that a fragment shader reads and its module tells of, with random contents: descriptors by
 * their sets and bindings, push constants, and which locations it writes. Buffers of uniforms,
 * storage buffers and combined image samplers of two dimensions, with layers or without; anything
 * else ends the test through cmocka, as any other failure does.
 *
 * Floats of buffers are from 0 to `most`, integers from 0 to 7: they count and index. Of the bytes
 * of textures half are 0 to 3 or 255, since some shaders look for classes and for what is full.
 *
 * Thread safety: as the gpu.
 */
#pragma once

#include "shader_rewrite/ir/words.h"
#include "tests/gpu/gpu_private.h"
#include "tests/shader_rewrite/partition/pass_drawing.h"

enum { PM_RANDOM_INPUTS_MOST = 24 };

struct pm_random_input {
    uint32_t set;
    VkDescriptorSetLayoutBinding binding;
    struct pm_gpu_buffer buffer; /* of a buffer */
    struct gpu_image image;      /* of a texture */
};

struct pm_random_inputs {
    struct pm_gpu *gpu;
    struct pm_random_input inputs[PM_RANDOM_INPUTS_MOST];
    uint32_t count, set_count;
    uint32_t push[PM_GPU_PUSH_BYTES / 4];
    uint32_t outputs; /* by bit */
    VkSampler sampler;
    VkDescriptorPool pool;
    VkDescriptorSetLayout layouts[PM_PASS_DRAWING_SETS];
    VkDescriptorSet sets[PM_PASS_DRAWING_SETS];
};

void pm_random_inputs_create(struct pm_random_inputs *inputs, struct pm_gpu *gpu,
                             const struct pm_words *words, uint64_t seed, float most);
void pm_random_inputs_destroy(struct pm_random_inputs *inputs);
