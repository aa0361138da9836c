/*
 * A pipeline's instrumented variants, by batch: published, taken for a call, and taken out of the
 * table again when the pipeline goes or another variant needs the room more. What a recording names
 * stays alive all the same (variant.h).
 *
 * A thread that takes a variant for a call holds its place in the table for the few instructions
 * until it has a reference, so nobody can take it out in between, and no lock is taken on a call.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/pipeline.h"
#include "layer/shader/variant_budget.h"

/* Sampled calls after which a batch has told what it can in a session: it may make room. */
#define PM_ENOUGH_CALLS 64
/* Nanoseconds without a sampled call after which a variant may make room: its level is over. */
#define PM_IDLE (10 * PM_SECOND)
/* The same of one that was made ahead and that no recording has bound yet of those that the game
 * keeps, if any: its level may still be loaded. */
#define PM_LOADING (120 * PM_SECOND)

/* Puts a variant that is complete into the table, which takes over the reference to it. */
void pm_variant_publish(struct pm_pipeline *pipeline, uint32_t batch, struct pm_variant *variant);

/* The batch's variant, referenced for the caller; NULL: there is none. */
struct pm_variant *pm_variant_take(struct pm_pipeline_batch *batch);

/* Takes one out that has told enough or is not used any more, and that no recording names: of those
 * the one that was used least lately. record: it is for a further batch of this shader, for which
 * no other shader that is used gives its last one, as none of its calls could be sampled then;
 * NULL: for one that has none. */
enum pm_retired {
    PM_RETIRED_NONE, /* there is none */
    PM_RETIRED_OWN,  /* the record's, whose place and a token are taken for its next one */
    PM_RETIRED_OTHER,
};
enum pm_retired pm_variants_retire(struct pm_pipelines *pipelines,
                                   const struct pm_shader_record *record, int64_t now);

/* How many variants there are, and are being made, that pm_variants_retire could not take out;
 * while they are less than half of what may live, those that it could, too. */
uint32_t pm_variants_staying(struct pm_pipelines *pipelines, int64_t now);

/* The pipeline goes: takes all out. */
void pm_variants_drop(struct pm_pipeline *pipeline);
