/*
 * A compute shader with push constants and a uniform buffer around a body in assembly, for tests of
 * the passes about constants; it is valid, and a failure ends the test.
 *
 * Push constants: uint, uint, float, float, uint. Uniform buffer at set 0, binding 9: member 0 a
 * vec4 at 0, 1 an array of 3 structures of two vec4 with stride 32 at 64, 2 a row major mat4 with
 * stride 16 at 160, 3 to 5 uints at 224 to 232, 6 a column major mat4 at 240. Set 0, bindings 0 and
 * 1: buffers of floats to read, %v0 and %v1, and to write %result to. %at is the invocation's
 * index; %begin the label of the block that the body begins in.
 */
#pragma once

#include "tests/shader_rewrite/spirv_text.h"

/* The caller frees it with pm_words_finish. */
struct pm_words constant_subject(const char *body);

/* Likewise, with further functions: not canonical. */
struct pm_words constant_subject_with(const char *body, const char *functions);

/* All words that a canonical module loads, worth it or not; to be finished. */
struct pm_constant_points constant_subject_words(const struct pm_words *words);

#define LOAD_PUSH_UINT(name, member)                                                               \
    "%" name "_p = OpAccessChain %push_uint %push " member "\n%" name " = OpLoad %uint %" name     \
    "_p\n"
#define LOAD_PUSH_FLOAT(name, member)                                                              \
    "%" name "_p = OpAccessChain %push_float %push " member "\n%" name " = OpLoad %float %" name   \
    "_p\n"
#define LOAD_UNIFORM_UINT(name, member)                                                            \
    "%" name "_p = OpAccessChain %uniform_uint %uniform " member "\n%" name                        \
    " = OpLoad %uint %" name "_p\n"

/* Eight expensive operations, from %v1 to %x8, and again to %y8. */
#define WORK                                                                                       \
    "%x1 = OpExtInst %float %glsl Sin %v1\n%x2 = OpExtInst %float %glsl Exp2 %x1\n"                \
    "%x3 = OpExtInst %float %glsl Cos %x2\n%x4 = OpExtInst %float %glsl Sin %x3\n"                 \
    "%x5 = OpExtInst %float %glsl Sin %x4\n%x6 = OpExtInst %float %glsl Exp2 %x5\n"                \
    "%x7 = OpExtInst %float %glsl Cos %x6\n%x8 = OpExtInst %float %glsl Sin %x7\n"
#define WORK2                                                                                      \
    "%y1 = OpExtInst %float %glsl Cos %v0\n%y2 = OpExtInst %float %glsl Exp2 %y1\n"                \
    "%y3 = OpExtInst %float %glsl Cos %y2\n%y4 = OpExtInst %float %glsl Sin %y3\n"                 \
    "%y5 = OpExtInst %float %glsl Sin %y4\n%y6 = OpExtInst %float %glsl Exp2 %y5\n"                \
    "%y7 = OpExtInst %float %glsl Cos %y6\n%y8 = OpExtInst %float %glsl Sin %y7\n"
