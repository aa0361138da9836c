/*
 * Values of a word that could matter: 0, 1, and what the shader compares it with, and chooses by.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/constants/constant_words.h"

enum { PM_CONSTANT_TRIALS = 12 };

struct pm_constant_trials {
    uint32_t bits[PM_CONSTANT_TRIALS]; /* distinct; the first is 0 */
    uint32_t count;
};

struct pm_constant_trials pm_constant_trials_of(const struct pm_constant_word *word);
