/*
 * Fragment shaders drawn in passes, as docs/partition.md says: each pass draws the same in a render
 * pass instance of its own, and fetches what the earlier ones left in images. A failure ends the
 * test through cmocka.
 *
 * Thread safety: as the gpu.
 */
#pragma once

#include "shader_rewrite/partition/partition.h"
#include "tests/gpu/gpu.h"

enum {
    PM_PASS_DRAWING_SIDE = 48, /* pixels */
    PM_PASS_DRAWING_LOCATIONS = 8,
    PM_PASS_DRAWING_SETS = 4,
    PM_PASS_DRAWING_VERTICES = 6,
};

/* Two triangles, with edges across pixels, so that quads have helper lanes. */
extern const struct pm_gpu_vertex pm_pass_drawing_vertices[PM_PASS_DRAWING_VERTICES];

/* NAME.spv of a folder, canonical, and with every float result NoContraction, so that no driver
 * computes it otherwise in another pass (differential.h). */
struct pm_words pm_pass_drawing_load(const char *folder, const char *name);

struct pm_pass_drawing {
    struct pm_gpu *gpu;
    VkShaderModule vertex; /* takes struct pm_gpu_vertex */
    /* The shader's own descriptor sets, numbers 0 and up. */
    VkDescriptorSetLayout set_layouts[PM_PASS_DRAWING_SETS];
    VkDescriptorSet sets[PM_PASS_DRAWING_SETS];
    uint32_t set_count;
    const void *push; /* PM_GPU_PUSH_BYTES; NULL: none */
    uint32_t outputs; /* by bit: the shader's locations */
};

/* Bytes of a picture: for each output, the lowest location first, the texels, packed, each 4
 * floats.
 */
size_t pm_pass_drawing_size(const struct pm_pass_drawing *drawing);

/* Into picture. What no fragment covers is 0. */
void pm_pass_drawing_draw(const struct pm_pass_drawing *drawing,
                          const struct pm_partitioned *partitioned, void *picture);

/* As it is drawn in one pass. */
void pm_pass_drawing_draw_whole(const struct pm_pass_drawing *drawing, const struct pm_words *words,
                                void *picture);

/* Fails unless every output is written by one pass and what is read was written. */
void pm_pass_drawing_assert_whole(const struct pm_partitioned *partitioned, uint32_t outputs);
