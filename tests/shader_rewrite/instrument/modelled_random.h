/*
 * Random shaders (random_shader.h) as the model calls them: compute shaders in some workgroups, and
 * fragment shaders over a small picture, with lanes that are helpers from the beginning, are
 * killed, or demoted. One in three is as a translation layer has it (translated.h). What the model
 * does not know of their operations stands in (model_use_stand_ins).
 */
#pragma once

#include "tests/shader_rewrite/differential/random_shader.h"
#include "tests/shader_rewrite/instrument/modelled.h"

/* options->stage and the like are the caller's; name and seed say which shader. The buffers are one
 * call's at a time. */
void modelled_random_begin(uint64_t seed, const struct random_shader_options *options,
                           struct modelled *call);

/* By the seed: whole subgroups of some size from 4 to 64 lanes, and such that lack lanes; of
 * fragments whole quads. */
uint64_t modelled_random_lanes(uint64_t seed, enum pm_stage stage);

/* By the seed: words that a uniform buffer of such a shader may have, RANDOM_SHADER_PUSH of them.
 */
void modelled_random_words(uint64_t seed, uint32_t *words);
