/*
 * Where a shader's time goes, as far as it can be told without a clock: estimated cycles of a
 * subgroup (analysis_costs.h) by how often subgroups run them, or lanes in a shader of which that
 * is not known. What report and `db show` call hot is this and nothing else.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/database.h"
#include "shader_rewrite/points/points.h"

/* Of whose devices the costs are: those that all timings of the database are of; 0: a GPU in
 * general. */
uint32_t pm_heat_vendor(const struct pm_database *database);

/* Calls visit for each instruction of a block that is a point, with its place (ir_module.h) in the
 * words and its cycles. points: of these words. */
bool pm_heat_each(const uint32_t *words, size_t count, const struct pm_block_points *points,
                  uint32_t vendor,
                  void (*visit)(void *user, uint32_t block, uint32_t place, double cycles),
                  void *user, struct pm_error *error);

/* How often a block runs, for each subgroup or lane that enters the shader; 0: it has no sample.
 * by: pm_blocks_weighed_by. */
double pm_heat_weight(const struct pm_point_estimate *block, unsigned by);

/* How many subgroups entered the shader in the calls that were sampled. */
double pm_heat_subgroups(const struct pm_shader_estimates *estimates);

/* Cycles that the sampled calls took in a stored shader: what shaders compare by. false: the words
 * are no module, or not those that the estimates are of. */
bool pm_heat_of(const uint32_t *canonical, size_t count,
                const struct pm_shader_estimates *estimates, uint32_t vendor, double *cycles,
                struct pm_error *error);
