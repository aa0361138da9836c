/*
 * The model's invocations of one subgroup together, up to 64, with the operations between them that
 * instrument_blocks and instrument_turns emit: so that an
 * instrumented module runs in subgroups of sizes that no driver at hand has. Any other operation
 * between lanes fails the test.
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

/* The model stays the caller's, must outlive it, and watches nothing (model_watch). helpers_vote:
 * helper lanes take part in operations between lanes; drivers differ in that (HAZARDS 2). apart:
 * lanes that went different ways never go on together, which SPIR-V allows. */
struct lockstep *lockstep_create(struct model *model, bool helpers_vote, bool apart);
void lockstep_destroy(struct lockstep *lockstep);

/* Runs one subgroup. present: a bit for each lane that it has; invocations are theirs, in order. */
void lockstep_run(struct lockstep *lockstep, const struct model_invocation *invocations,
                  uint64_t present);
