/*
 * Generated kernels: straight-line compute shaders of as many operations as asked for, of the kinds
 * that code generators make. Each invocation reads a few floats of binding 0, computes, and writes
 * them back. All floats are NoContraction, so that a kernel in passes gives the same bits.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/words.h"
#include <stdbool.h>

enum kernel_kind {
    KERNEL_POLYNOMIAL, /* Horner's rule, for four polynomials in turn: 5 values live */
    KERNEL_MATRIX,     /* products of 4x4 matrices: up to 48 */
    KERNEL_FFT,        /* butterflies over 32 complex numbers: 64 */
    KERNEL_DOTS,       /* the paper's Figure 2: alternating DOT and ADD, on `width` 4-vectors */
    KERNEL_KINDS,
};
extern const char *const kernel_names[KERNEL_KINDS];

enum { KERNEL_LANES = 64 }; /* of a workgroup */

/* How many floats an invocation has in binding 0. */
uint32_t kernel_floats(enum kernel_kind kind, uint32_t width);

/* At least so many operations. width: KERNEL_DOTS' alone. The program ends where memory does. */
struct pm_words kernel_make(enum kernel_kind kind, uint32_t operations, uint32_t width);
