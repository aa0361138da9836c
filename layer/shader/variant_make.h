/*
 * Makes variants (variant.h) of the game's pipelines, and picks one for a sampled call.
 *
 * Thread safety: any thread; making one takes as long as the driver's compiler does.
 */
#pragma once

#include "layer/shader/pipeline.h"

/* The kinds that sampled calls are for; timing is not. */
#define PM_SAMPLED_KINDS                                                                           \
    (PM_KIND_BIT_BLOCK | PM_KIND_BIT_ZERO | PM_KIND_BIT_CONSTANT | PM_KIND_BIT_TURNS)

/* A sampled draw or dispatch with this pipeline bound: the variant to bind for it, referenced for
 * the recording, or NULL when there is none yet or may be none. Where the batch whose turn it is
 * has none yet, its compile is queued and a batch stands in that had none when it was its turn;
 * where none is coming, any that the pipeline has. Where nothing does, its shader is owed a call
 * (owed.h), unless owing is NULL. Never blocks (with debug.synchronous the variant was built when
 * the pipeline was created). */
struct pm_variant *pm_pipeline_sample(struct pm_pipeline *pipeline, struct pm_owing *owing);

/* The same for a call that was not chosen and may be taken for what its shader is owed: any variant
 * that the pipeline has. random: of 64 bits. */
struct pm_variant *pm_pipeline_sample_owed(struct pm_pipeline *pipeline, struct pm_owing *owing,
                                           uint64_t random);

/* The pipeline's record is there: it is owed what was chosen before. */
void pm_pipeline_owe_missed(struct pm_pipeline *pipeline, struct pm_shader_record *record);

/* The same for a call that a recording holds twice (predicated.h): any variant that the pipeline
 * has; of calls that would be sampled only pm_variant_share is to be. */
struct pm_variant *pm_pipeline_sample_kept(struct pm_pipeline *pipeline);
double pm_variant_share(const struct pm_variant *variant);

/* A sampled call asks for a batch's variant: its compile is queued, unless it was. false: there is
 * no budget for it, or it cannot be made. And for the record, if there is none. */
bool pm_pipeline_want(struct pm_pipeline *pipeline, const struct pm_shader_record *record,
                      uint32_t batch);
void pm_pipeline_want_record(struct pm_pipeline *pipeline);

/* The game has made a pipeline: with the chance given, times what the budget allows and less where
 * its shader has a variant, it gets one now, or soon, so that what records it next finds one
 * (ahead.h). loads: nobody sees that it takes longer. Called before the game has the handle. */
void pm_pipeline_make_ahead(struct pm_pipeline *pipeline, double chance, bool loads);

/* Finds the pipeline's shader: canonical, with its points and batches. false: it gets no variants,
 * and why was logged. Called by one thread at a time for a pipeline. */
bool pm_pipeline_prepare(struct pm_pipeline *pipeline);

/* Makes a batch's variant and publishes it, where there is one. Called by one thread at a time for
 * a batch. is_wanted: a call waited for it, and the next one binds it. reserved: what it takes of
 * the budget was taken, and goes back if nothing is made. */
void pm_pipeline_make_batch(struct pm_pipeline *pipeline, struct pm_shader_record *record,
                            uint32_t index, bool is_wanted, bool reserved);

/* What the pipeline says of the shader that variants replace. false: the device can make none for
 * its stage. */
bool pm_pipeline_shader_request(const struct pm_pipeline *pipeline,
                                struct pm_shader_request *request);

/* A sampled call, of whose push constants these words are known (bits): what they are is counted.
 * true: it is the first of the shader since it was taken last. */
bool pm_pipeline_sample_pushed(const struct pm_pipeline *pipeline, const uint32_t *words,
                               uint64_t known);
