/*
 * What is made of a shader by what is known of it: known words first, then zeros in what is left of
 * it, then blocks by how often they run. All are passes over the canonical module, one behind the
 * other in one module; what a pass leaves of values and blocks keeps its ids, and with them the
 * numbers of its profile, and of what it makes nothing is known.
 *
 * Thread safety: no state. Making takes as long as a compiler does: compile threads only.
 */
#pragma once

#include "layer/shader/specialized.h"

/* What is known that may be used, as bits (enum pm_known_of). */
uint32_t pm_known_of_shader(const struct pm_device *device, const struct pm_shader_key *key,
                            uint32_t subgroup_size);

/* Likewise, what may be known of any shader once the database is packed; 0: it is. */
uint32_t pm_known_once_packed(const struct pm_device *device);

/* Makes of the shader's canonical words, or of what was made of them, a variant of A-Z testing,
 * with what is known of its blocks, of which passes run as the config has it, and none where
 * blocks are withheld (enum pm_part). No words: there is none. */
bool pm_specialize_by_recipe(const struct pm_device *device, const struct pm_shader_record *record,
                             const struct pm_words *words, const struct pm_variant_choice *choice,
                             uint32_t withheld, struct pm_words *made, struct pm_error *error);

/* Makes shader->module by shader->made_of, with `changes` and the words that it is for in `known`.
 * No words: it is not worth it. */
bool pm_specialize_shader(const struct pm_device *device, const struct pm_shader_record *record,
                          enum pm_specialized_use use, struct pm_specialized_shader *shader,
                          struct pm_error *error);
