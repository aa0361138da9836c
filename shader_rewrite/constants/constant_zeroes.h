/*
 * Zeroes on top of constants: what is left of a shader once words of it are known, specialized for
 * its values that are often zero, by a profile of the original.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/constants/constants.h"

/* Specializes *folded, which was made of these words, as info->zero says, and puts the result in
 * its place where there is one. Sets out->transforms and out->zero_report. */
bool pm_constant_zeroes(const uint32_t *words, size_t count,
                        const struct pm_specialize_constants_info *info, struct pm_words *folded,
                        struct pm_specialized_constants *out, struct pm_error *error);
