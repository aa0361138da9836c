/*
 * Runs shaders with the random shaders' interface (random_shader.h) on a driver and compares what
 * they write. For tests: a failure of the driver ends the test.
 */
#pragma once

#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/differential/random_shader.h"

struct differential {
    struct pm_gpu gpu;
    struct random_shader_inputs inputs;
    bool specials, depth_test;
    struct pm_gpu_buffer floats, uints, vectors;
    struct pm_gpu_buffer uniform; /* the same as the push constants */
};

void differential_create(struct differential *d);
void differential_create_with(struct differential *d, const struct pm_gpu_options *options);
/* Fills the inputs from the seed. Three fragment shaders in four have a depth test, which changes
 * nothing: lavapipe compiles such a one once, and others twice, as pixels of whole blocks and as
 * others. */
void differential_inputs(struct differential *d, uint64_t seed, bool specials);
void differential_destroy(struct differential *d);

enum {
    DIFFERENTIAL_BUFFER = 2 * RANDOM_SHADER_PLACES,
    DIFFERENTIAL_WORDS = DIFFERENTIAL_BUFFER + RANDOM_SHADER_WIDTH * RANDOM_SHADER_HEIGHT * 4,
};

/* All that a shader wrote: its buffer, then in fragment shaders the texels. Floats are normalized:
 * all NaN are one, and unless the inputs have specials both zeroes are. */
struct differential_output {
    uint32_t words[DIFFERENTIAL_WORDS];
};

/* Into *output; what the shader does not write is 0. */
void differential_run(struct differential *d, const struct pm_words *module, enum pm_stage stage,
                      const VkSpecializationInfo *specialization,
                      struct differential_output *output);

/* The same for compute shaders that do it together, one after another. */
struct differential_pass {
    const struct pm_words *module;
    const VkSpecializationInfo *specialization;
    uint32_t base; /* the workgroup in z that it begins at */
};
void differential_run_passes(struct differential *d, const struct differential_pass *passes,
                             uint32_t count, struct differential_output *output);

/* How many words differ; *first is the first that does. */
size_t differential_compare(const struct differential_output *a,
                            const struct differential_output *b, size_t *first);

/* The same module with every float result NoContraction, so that no driver fuses, reassociates or
 * factors it out; what specialize_zero may do is decided before. */
struct pm_words differential_precise(const struct pm_words *module);

/* The same module with other memory operands of loads of buffers in a loop than outside, one of
 * three by the loop, so that drivers take no load for one of another kind. */
struct pm_words differential_reloading(const struct pm_words *module);

/* Writes FOLDER/NAME.spvasm. */
void differential_dump(const char *folder, const char *name, const struct pm_words *module);
