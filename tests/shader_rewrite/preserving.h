/*
 * Shaders that keep the signs of zeroes, infinities and NaN of 32-bit floats, as translation layers
 * for Direct3D declare it of nearly all.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/* The module with that declared. The caller frees it with pm_words_finish; a failure ends the
 * test. */
struct pm_words pm_test_preserving(const struct pm_words *words);

/* The module with no more than that declared, whatever it said by SPV_KHR_float_controls2.
 * Likewise. */
struct pm_words pm_test_without_controls2(const struct pm_words *words);
