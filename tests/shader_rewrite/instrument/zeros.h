/*
 * Runs shaders of zeros/ with all their zeros counted and compares with the truth, which the same
 * run writes down lane by lane: what every visit of a place had there, and with which lanes it was
 * there together (zeros/log.glsl). For tests on drivers; a failure ends the test.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/gpu/gpu.h"

struct zeros_shader {
    const char *name;
    enum pm_stage stage;
    struct pm_words canonical;
    struct pm_ir_module *module; /* of it */
    struct pm_zero_points points;
    bool preserves; /* -0 is no zero */
};
/* NAME.spv of zeros/, canonicalized; preserves: as one that keeps the signs of zeroes. */
void zeros_load(const char *name, enum pm_stage stage, bool preserves, struct zeros_shader *shader);
void zeros_finish(struct zeros_shader *shader);

/* Where a shader writes a value down: in a binding's records, the member's element. */
struct zeros_logged {
    uint32_t binding, member, index;
    uint32_t record, offset;  /* bytes: of a record, and of the value in it */
    uint32_t elements, width; /* width of an element in bytes */
    bool is_float;
};
#define ZEROS_F(i)                                                                                 \
    {                                                                                              \
        2, 0, i, 64, 4 * (i), 1, 4, true                                                           \
    }
#define ZEROS_U(i)                                                                                 \
    {                                                                                              \
        2, 1, i, 64, 32 + 4 * (i), 1, 4, false                                                     \
    }
#define ZEROS_V4(i)                                                                                \
    {                                                                                              \
        3, 0, i, 112, 16 * (i), 4, 4, true                                                         \
    }
#define ZEROS_V3(i)                                                                                \
    {                                                                                              \
        3, 1, i, 112, 32 + 16 * (i), 3, 4, true                                                    \
    }
#define ZEROS_V2(i)                                                                                \
    {                                                                                              \
        3, 2, i, 112, 64 + 8 * (i), 2, 4, true                                                     \
    }
#define ZEROS_U3(i)                                                                                \
    {                                                                                              \
        3, 3, i, 112, 80 + 16 * (i), 3, 4, false                                                   \
    }

/* A candidate and the place where it is written down. */
struct zeros_expected {
    uint32_t place;
    uint32_t components; /* 0: all of the one value, or of the several */
    uint32_t count;
    struct zeros_logged values[PM_ZERO_ELEMENTS];
    bool quad; /* as of the candidate */
};

enum { ZEROS_VISITS = 32768, ZEROS_SCALAR_BYTES = 64, ZEROS_VECTOR_BYTES = 112 /* log.glsl */ };

/* What one run wrote down and drew. */
struct zeros_run {
    uint32_t visits;
    uint32_t (*entries)[4]; /* leader, place, who, unused */
    uint8_t *scalars, *vectors;
    void *texels; /* of a draw, and how many bytes */
    size_t texel_bytes;
};

struct zeros_test {
    struct pm_gpu *gpu;
    struct zeros_shader shader;
    const struct zeros_expected *expected;
    uint32_t expected_count;
    bool flushes_denormals; /* they compare equal to zero */
    /* Runs the shader once with these buffers: 0 the input, 1 to 3 the log. Sets run->texels. */
    void (*call)(const struct zeros_test *test, struct pm_gpu_shader *shader,
                 struct zeros_run *run);
    /* Whether the logged values are zero in all lanes of the quad of `who`, that are not written
     * down where they are helpers; for candidates with quad. */
    bool (*quad_is_zero)(const struct zeros_test *test, const struct zeros_expected *expected,
                         uint32_t who);
    const uint32_t *input;
    size_t input_words;
    uint32_t visit_bytes[2]; /* of a visit in buffers 2 and 3 */
};

/* Each way of counting; and without counting the same log and texels. */
void zeros_check(const struct zeros_test *test);

/* Runs it without counting; the caller finishes the run. */
void zeros_run_plain(const struct zeros_test *test, struct zeros_run *run);
void zeros_run_finish(struct zeros_run *run);
