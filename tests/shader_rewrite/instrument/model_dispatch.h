/*
 * Dispatches in the model: one invocation after the other, or the lanes of each
 * subgroup together (lockstep.h).
 */
#pragma once

#include "tests/shader_rewrite/instrument/lockstep.h"

struct model_dispatch {
    uint32_t groups[3], size[3]; /* workgroups; invocations of one */
    /* The lanes that a subgroup may have, a bit each. Neighbouring invocations fill them in order,
     * as on all software drivers; the last subgroup of a workgroup has what is left. */
    uint64_t lanes;
    /* Of a fragment shader: invocations are pixels at their global ids, in one workgroup. About so
     * many of each 256 are helpers. */
    uint32_t helpers;
    bool in_quads;             /* four that follow one another are two by two pixels */
    struct lockstep_ways ways; /* of lanes that run together */
};

/* Subgroups of a size, with all their lanes. */
uint64_t model_lanes(uint32_t subgroup_size);

/* What each subgroup would do together is counted (model.h). */
void model_dispatch(struct model *model, const struct model_dispatch *dispatch);
/* Nothing is counted but by the module itself. */
void model_dispatch_together(struct model *model, const struct model_dispatch *dispatch);
