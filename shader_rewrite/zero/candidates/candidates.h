/*
 * The candidates for zero-value specialization: the values of a canonical module that may be zero
 * (AZP: Stephenson and Rangan, CGO 2021, 3.1). Which of them are points, so that it is counted how
 * often they are zero, is points.h.
 *
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_ZERO_ELEMENTS = 4 }; /* at most, of a vector candidate */

/* One versioning variable: a value, the leading components of one, or several scalars together. */
struct pm_zero_candidate {
    uint32_t values[PM_ZERO_ELEMENTS]; /* result ids in the canonical module, in module order */
    uint32_t value_count; /* 1; more: scalars that belong together (packs; analysis_packs.h) */
    uint32_t components; /* of the one value: 1 for a scalar, its width for a whole vector, less for
                            a prefix (2: .xy, 3: .xyz); 1 when there are several values */
    uint32_t block;    /* block point (points_blocks) in which the last of the values is written */
    bool at_most_once; /* as of that block */
    bool is_float;     /* it is zero where, as a float, it equals 0; its type may be an integer's
                          (analysis_casts.h) */
    bool plus;         /* a 32-bit float that is zero where it is +0 alone: the module keeps the
                          signs of zeroes (analysis_permission.h), and of +0 more follows */
    /* A derivative or implicit-LOD read may follow (HAZARDS 2), so that the check is ANDed over the
     * quad first; a device without quad operations neither counts nor uses it. */
    bool quad;
};
struct pm_zero_points {
    struct pm_zero_candidate *candidates;
    uint32_t count;
    uint32_t left_out; /* candidates that are none of these: not worth measuring (points.h) */
};
/* All candidates in a stable order: scalars and vectors by the module's order of their last value,
 * a value before its prefixes and these before packs. Canonical words in. */
bool pm_zero_candidates(const uint32_t *words, size_t count, struct pm_zero_points *out,
                        struct pm_error *error);
void pm_zero_points_finish(struct pm_zero_points *points);

struct pm_pass;
/* Context: the struct pm_zero_points that it fills as pm_zero_candidates does, of the function that
 * pm_entry_function finds; to be finished, also on failure. Nothing of the module may have been
 * changed since it was read. Changes nothing. */
extern const struct pm_pass pm_pass_candidates;
