/*
 * The model's invocations of one subgroup together, up to 64, with the operations between them that
 * our passes emit: so that what counts, and what is specialized, runs in subgroups of sizes that no
 * driver at hand has. Any other operation between lanes fails the test.
 *
 * Lanes run together from block to block and meet again where SPIR-V's structure says: of the
 * blocks where lanes are, always the one runs that comes first in the structured order, for all
 * lanes that are there. In this order a construct's blocks come before its merge block, and a
 * loop's body before what leads back.
 */
#pragma once

#include "tests/shader_rewrite/instrument/model.h"

#define LOCKSTEP_LANES 64

struct lockstep;

/* How lanes run together. */
struct lockstep_ways {
    bool helpers_vote; /* helpers take part in operations between lanes; drivers differ in that
                          (HAZARDS 2) */
    bool apart; /* lanes that went different ways never go on together, which SPIR-V allows */
    /* Four lanes each are a quad, from the first on: derivatives are what its lanes have, of one
     * that is over what the lane itself has, and so is an implicit level of detail. Of a lane that
     * is elsewhere they are undefined, which fails the test. Else they are made up. */
    bool quads;
};

/* The model stays the caller's, must outlive it, and watches nothing (model_watch). */
struct lockstep *lockstep_create(struct model *model, const struct lockstep_ways *ways);
void lockstep_destroy(struct lockstep *lockstep);

/* Runs one subgroup. present: a bit for each lane that it has; invocations are theirs, in order. */
void lockstep_run(struct lockstep *lockstep, const struct model_invocation *invocations,
                  uint64_t present);
