/*
 * The check of a candidate (points.h): true on all active lanes of a subgroup that count when the
 * candidate is zero in each of them, else false on all. instrument_zero counts what it says, and
 * specialize_zero branches on it (AZP 3.2, "vote.all"; HAZARDS 2).
 *
 * With `plus` what is compared are bits: neither is -0 zero then, nor a denormal, be it flushed.
 *
 * A lane counts unless it is a helper. On a helper it is true if the others' is and the candidate
 * is zero there too: whoever takes the branch has the zero that it supposes, and a helper that has
 * not goes on as ever, so that its loops end and its indices are in bounds. With `quad` what its
 * quad's other lanes have, helpers or not, counts as its own; lanes of the quad that are not active
 * there are asked too, and what they have is undefined.
 */
#pragma once

#include "shader_rewrite/instrument/helper_lanes.h"
#include "shader_rewrite/zero/candidates/candidates.h"

struct pm_candidate_check {
    struct pm_ir_module *module;
    struct pm_ir_def *boolean, *subgroup_scope;
    bool fragment;
    struct pm_helper_lanes helpers; /* in a fragment shader */
};

/* Readies the module: version, capabilities, built-ins. */
void pm_candidate_check_init(struct pm_candidate_check *check, struct pm_ir_module *module,
                             enum pm_stage stage);

/* Builds the check of `candidate` where all its values are available; a boolean. values: what
 * stands for the candidate's values, value_count of them; NULL: those that it names. Makes no
 * blocks. With candidate->quad the device must have quad operations. */
struct pm_ir_def *pm_candidate_check_build(const struct pm_candidate_check *check,
                                           struct pm_ir_builder *builder,
                                           const struct pm_zero_candidate *candidate,
                                           struct pm_ir_def *const *values);

/* As above, of values that are the same in all lanes: asks none of the others. */
struct pm_ir_def *pm_candidate_check_build_uniform(const struct pm_candidate_check *check,
                                                   struct pm_ir_builder *builder,
                                                   const struct pm_zero_candidate *candidate,
                                                   struct pm_ir_def *const *values);
