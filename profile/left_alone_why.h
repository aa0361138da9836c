/*
 * Why shaders are left alone, as it may leave the machine: a reason's text can quote a shader, so
 * an upload says only how many there are of each of these (piecemeal.proto, Profile).
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdint.h>

/* On the wire the index of a column: never renumbered, new ones go to the end. */
enum pm_left_alone_why {
    PM_LEFT_ALONE_INSTRUCTION, /* SPIRV-Tools does not know an opcode */
    PM_LEFT_ALONE_EXTENSION,   /* or an extension, or a set of extended instructions */
    PM_LEFT_ALONE_OPERAND,     /* or a capability, a decoration or another operand */
    PM_LEFT_ALONE_INVALID,     /* it is no valid module of its stage */
    PM_LEFT_ALONE_LARGE,       /* it has more than is read or optimized */
    PM_LEFT_ALONE_OPTIMIZER,   /* the optimizer gave up, or is known to crash on such modules */
    PM_LEFT_ALONE_BINARY,      /* it came as a driver's binary, without SPIR-V */
    PM_LEFT_ALONE_DRIVER,      /* the driver computes otherwise as soon as it is changed */
    PM_LEFT_ALONE_OTHER,
    PM_LEFT_ALONE_WHYS,
};

/* Of one reason, what an upload may say; a machine notes some thousands (left_alone.c). */
#define PM_LEFT_ALONE_MOST (1u << 16)

/* Of a reason with the place in the shader, as it is noted. */
enum pm_left_alone_why pm_left_alone_classify(const char *reason);
/* "instruction", …: one word, for programs. */
const char *pm_left_alone_name(enum pm_left_alone_why why);
/* For people: what such a shader has or is. */
const char *pm_left_alone_text(enum pm_left_alone_why why);
