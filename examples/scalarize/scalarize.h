/*
 * SPIR-V as a translator from Direct3D hands it to a driver: every value is a scalar. HLSL's
 * compilers split vectors before anything else, so that vectors are left only where an instruction
 * takes or gives nothing else: loads, stores, images, what the interface holds.
 *
 * Arithmetic, comparisons, conversions, derivatives, selections, OpPhi and the component-wise
 * instructions of GLSL.std.450 become one instruction a component. Dot products become
 * multiplications and additions from the first component to the last, products with matrices from
 * the last to the first; normalize divides by the length. That is how Mesa computes them, so that
 * there pictures stay the same bit by bit. SwiftShader adds a matrix' products from the first to
 * the last and normalizes by the reciprocal length: there, and only by the rounding of these two,
 * pictures may differ.
 *
 * Build time only. Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/* For Vulkan 1.1; fragment and compute shaders. The words are made canonical first (inlined, in
 * SSA form), and again in the end, which drops the components that nobody reads. */
bool pm_scalarize(const uint32_t *words, size_t count, enum pm_stage stage, struct pm_words *out,
                  struct pm_error *error);
