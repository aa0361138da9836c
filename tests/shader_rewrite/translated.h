/*
 * Shaders as translation layers write them: every float is kept as an integer, and cast to a float
 * and back around what computes with it. What only moves values, and variables, know integers
 * alone; float constants are casts of integers. It computes the same.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/* Of a module with floats of 32 bits; others stay. The caller frees it with pm_words_finish; a
 * failure ends the test. */
struct pm_words pm_test_translated(const struct pm_words *words);
