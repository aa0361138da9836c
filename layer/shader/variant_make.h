/*
 * Makes variants (variant.h) of the game's pipelines, and picks one for a sampled call.
 *
 * Thread safety: any thread; making one takes as long as the driver's compiler does.
 */
#pragma once

#include "layer/shader/pipeline.h"

/* A sampled draw or dispatch with this pipeline bound: the variant to bind for it, referenced for
 * the recording, or NULL when there is none yet or may be none. Where the batch whose turn it is
 * has none yet, its compile is queued and a batch stands in that had none when it was its turn.
 * Never blocks (with debug.synchronous the variant was built when the pipeline was created). */
struct pm_variant *pm_pipeline_sample(struct pm_pipeline *pipeline);

/* The game has made a pipeline: with the chance given it gets a variant now, or soon, so that what
 * records it next finds one (ahead.h). loads: before its first frames. Called before the game has
 * the handle. */
void pm_pipeline_make_ahead(struct pm_pipeline *pipeline, double chance, bool loads);

/* Builds every variant of a new pipeline now (debug.synchronous). */
void pm_pipeline_build_all(struct pm_pipeline *pipeline);

/* What the pipeline says of the shader that variants replace. false: the device can make none for
 * its stage. */
bool pm_pipeline_shader_request(const struct pm_pipeline *pipeline,
                                struct pm_shader_request *request);

/* A sampled call, of whose push constants these words are known (bits): what they are is counted.
 * true: it is the first of the shader since it was taken last. */
bool pm_pipeline_sample_pushed(const struct pm_pipeline *pipeline, const uint32_t *words,
                               uint64_t known);
