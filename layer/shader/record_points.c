#include "layer/shader/record_points.h"

#include "layer/core/session.h"
#include "layer/shader/published.h"
#include "shader_rewrite/shader_rewrite.h"
#include <math.h>
#include <stdlib.h>

static bool allocate(struct pm_record_points *points, uint32_t space)
{
    points->at_most_once = calloc(1, (space + 7u) / 8u + 1u);
    if (points->at_most_once)
        points->space = points->counted = space;
    return points->at_most_once;
}

static void set(struct pm_record_points *points, uint32_t point, bool at_most_once)
{
    if (at_most_once)
        points->at_most_once[point / 8] |= (uint8_t)(1u << (point % 8));
}

static bool no_memory(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader's points");
}

static bool find_blocks(const struct pm_words *canonical, bool lanes_only,
                        struct pm_record_points *points, struct pm_error *error)
{
    struct pm_block_points blocks;
    if (!pm_points_blocks(canonical->data, canonical->count, &blocks, error))
        return false;
    const bool allocated = allocate(points, blocks.count);
    points->lanes_only = lanes_only;
    for (uint32_t i = 0; allocated && i < blocks.count; i++)
        set(points, i, blocks.points[i].at_most_once);
    pm_block_points_finish(&blocks);
    return allocated || no_memory(error);
}

static bool find_turns(const struct pm_words *canonical, struct pm_record_points *points,
                       struct pm_error *error)
{
    struct pm_turn_points *turns = &points->turns;
    if (!pm_points_turns(canonical->data, canonical->count, turns, error))
        return false;
    const bool allocated = allocate(points, turns->count);
    for (uint32_t i = 0; allocated && i < turns->count; i++)
        set(points, i, pm_turn_at_most_once(turns, i));
    return allocated || no_memory(error);
}

/* What counting its lanes takes, in atomics a subgroup: of lanes alone one wherever any enter, NAN
 * where that is not known. by: pm_blocks_weighed_by. Beside the subgroups, where a part of one
 * enters; who enters whole is counted along, and of who is not known to enter in parts nothing is
 * known to be saved. */
static double published_weight(const struct pm_point_estimate *block, unsigned by, bool lanes_only)
{
    const struct pm_ratio *of = block->measures;
    if (lanes_only)
        return of[by].clusters == 0 ? (double)NAN : of[by].ratio;
    return by == PM_MEASURE_SUBGROUPS && of[by].clusters > 0 && pm_block_uniformity_is_known(block)
               ? pm_flow_parts(of[PM_MEASURE_SUBGROUPS].ratio, of[PM_MEASURE_FREQUENCY].ratio,
                               of[PM_MEASURE_UNIFORM].ratio)
               : 0;
}

/* By point; to be freed. NULL: nothing is known. */
static double *published_weights(const struct pm_device *device, const struct pm_shader_key *key,
                                 const struct pm_environment *environment,
                                 const struct pm_record_points *points)
{
    const uint32_t space = points->space;
    struct pm_shader_estimates found;
    if (!pm_find_published(device, key, environment, PM_KIND_BLOCK, &found))
        return NULL;
    double *weights = found.space == space ? malloc(space * sizeof *weights) : NULL;
    const unsigned by = pm_blocks_weighed_by(&found);
    for (uint32_t i = 0; weights && i < space; i++)
        weights[i] = published_weight(&found.points[i], by, points->lanes_only);
    pm_shader_estimates_finish(&found);
    return weights;
}

/* Of lanes alone by the structure only: what the code says of whole subgroups saves nothing. */
static double *unknown_weights(uint32_t space)
{
    double *weights = malloc((space + 1u) * sizeof *weights);
    for (uint32_t i = 0; weights && i < space; i++)
        weights[i] = (double)NAN;
    return weights;
}

static void say_flow(const struct pm_device *device, const struct pm_record_points *points,
                     bool published)
{
    const struct pm_flow_points *flow = &points->flow;
    const char *lanes = points->lanes_only ? "lanes alone" : "lanes";
    if (!pm_flow_is_worth(flow))
        pm_log_info(device->instance->log,
                    "a shader's blocks: %s are counted in all %u, since %s following "
                    "saves but %.2g atomics a subgroup",
                    lanes, flow->space, published ? "by its profile" : "by its code", flow->saved);
    else
        pm_log_info(device->instance->log,
                    "a shader's blocks: %s are counted in %u of %u, the others' follow, which "
                    "saves %u counters, %s %.2g atomics a subgroup",
                    lanes, flow->count, flow->space, flow->space - 1 - flow->count,
                    published ? "by its profile" : "by its code up to", flow->saved);
}

/* Whole batches alone have all that lanes follow from. Without it they are counted everywhere, and
 * beside the subgroups where it is not known to save anything. */
static void find_flow(const struct pm_device *device, const struct pm_shader_key *key,
                      const struct pm_environment *environment, const struct pm_words *canonical,
                      struct pm_record_points *points)
{
    struct pm_error error;
    struct pm_flow_points *flow = &points->flow;
    if (device->instance->config.sampler.batch != PM_BATCH_ALL ||
        !device->instance->config.sampler.follow)
        return;
    double *weights = published_weights(device, key, environment, points);
    const bool published = weights != NULL;
    if (!published && points->lanes_only)
        weights = unknown_weights(points->space);
    if (!weights) {
        pm_log_info(device->instance->log,
                    "a shader's blocks: lanes are counted in all %u, since no profile says how "
                    "often parts of subgroups enter them",
                    points->space);
        return;
    }
    if (!pm_points_flow(canonical->data, canonical->count, weights, flow, &error)) {
        pm_log_info(device->instance->log, "lanes are counted in every block of a shader: %s",
                    error.message);
    } else {
        say_flow(device, points, published);
        if (!pm_flow_is_worth(flow))
            pm_flow_points_finish(flow);
    }
    free(weights);
}

/* Whoever has all specialized that can be. */
static bool measures_all(const struct pm_device *device)
{
    return device->instance->config.debug.specialize == PM_SPECIALIZE_ALL;
}

static bool find_zero(const struct pm_device *device, const struct pm_words *canonical,
                      struct pm_record_points *points, struct pm_error *error)
{
    struct pm_zero_points *zeros = &points->zeros;
    const bool all = measures_all(device);
    if (!pm_points_zero_given(canonical->data, canonical->count, NULL, all, zeros, error))
        return false;
    const bool allocated = allocate(points, zeros->count);
    for (uint32_t i = 0; allocated && i < zeros->count; i++) {
        set(points, i, zeros->candidates[i].at_most_once);
        if (zeros->candidates[i].quad && !device->abilities.subgroup_quad)
            points->flags |= PM_PROFILE_NO_QUADS;
    }
    if (zeros->left_out >> PM_LEFT_OUT_BITS == 0)
        points->candidates = zeros->count + zeros->left_out;
    pm_log_debug(device->instance->log,
                 "a shader's zeros: %u values are measured, %u are left out as not worth it",
                 zeros->count, zeros->left_out);
    return allocated || no_memory(error);
}

/* Push constants are read on the CPU; they come before uniforms. */
static void count_uniforms(struct pm_record_points *points)
{
    const struct pm_constant_points *constants = &points->constants;
    while (points->first < constants->count &&
           constants->points[points->first].source == PM_CONSTANT_PUSH)
        points->first++;
    points->counted = constants->count - points->first;
}

static bool find_constants(const struct pm_device *device, const struct pm_words *canonical,
                           struct pm_record_points *points, struct pm_error *error)
{
    struct pm_constant_points *constants = &points->constants;
    if (!pm_points_constant(canonical->data, canonical->count, measures_all(device), constants,
                            error))
        return false;
    points->space = constants->count;
    if (device->instance->config.sampler.kinds & PM_KIND_BIT_CONSTANT)
        count_uniforms(points);
    pm_log_debug(device->instance->log,
                 "a shader's constants: of %u words that it loads %u are watched",
                 constants->candidates, constants->count);
    return true;
}

static bool find(const struct pm_device *device, const struct pm_shader_key *key,
                 const struct pm_environment *environment, const struct pm_words *canonical,
                 struct pm_record_points *points, struct pm_error *error)
{
    const uint32_t kinds = device->instance->config.sampler.kinds;
    const struct pm_device_abilities *abilities = &device->abilities;
    if (points->kind == PM_KIND_BLOCK)
        return !(kinds & PM_KIND_BIT_BLOCK) ||
               (find_blocks(canonical, !device->instance->config.sampler.uniformity, points,
                            error) &&
                (find_flow(device, key, environment, canonical, points), true));
    if (points->kind == PM_KIND_TURNS)
        return !(kinds & PM_KIND_BIT_TURNS) || find_turns(canonical, points, error);
    if (points->kind == PM_KIND_CONSTANT)
        return (!(kinds & PM_KIND_BIT_CONSTANT) && !pm_session_knows_values(device->instance)) ||
               find_constants(device, canonical, points, error);
    return !(kinds & PM_KIND_BIT_ZERO) || !abilities->subgroup_vote ||
           find_zero(device, canonical, points, error);
}

bool pm_record_points_find(const struct pm_device *device, const struct pm_shader_key *key,
                           const struct pm_environment *environment,
                           const struct pm_words *canonical,
                           struct pm_record_points points[static PM_RECORD_KINDS],
                           struct pm_error *error)
{
    static const enum pm_kind kinds[PM_RECORD_KINDS] = {PM_KIND_BLOCK, PM_KIND_ZERO,
                                                        PM_KIND_CONSTANT, PM_KIND_TURNS};
    static const char *const names[PM_RECORD_KINDS] = {"blocks", "zeros", "constants", "turns"};
    for (size_t i = 0; i < PM_RECORD_KINDS; i++)
        points[i] = (struct pm_record_points){.kind = kinds[i]};
    for (size_t i = 0; i < PM_RECORD_KINDS; i++) {
        struct pm_error why;
        if (find(device, key, environment, canonical, &points[i], &why))
            continue;
        if (why.code == PM_ERROR_MEMORY) {
            if (error)
                *error = why;
            return false;
        }
        pm_log_info(device->instance->log, "a shader is sampled without its %s: %s", names[i],
                    why.message);
    }
    return true;
}

const struct pm_zero_points *
pm_record_points_zeros(const struct pm_record_points points[static PM_RECORD_KINDS])
{
    for (size_t i = 0; i < PM_RECORD_KINDS; i++)
        if (points[i].zeros.candidates)
            return &points[i].zeros;
    return NULL;
}

const struct pm_record_points *
pm_record_points_constants(const struct pm_record_points points[static PM_RECORD_KINDS])
{
    for (size_t i = 0; i < PM_RECORD_KINDS; i++)
        if (points[i].kind == PM_KIND_CONSTANT && points[i].space > 0)
            return &points[i];
    return NULL;
}

void pm_record_points_finish(struct pm_record_points points[static PM_RECORD_KINDS])
{
    for (size_t i = 0; i < PM_RECORD_KINDS; i++) {
        free(points[i].at_most_once);
        pm_flow_points_finish(&points[i].flow);
        pm_turn_points_finish(&points[i].turns);
        pm_zero_points_finish(&points[i].zeros);
        pm_constant_points_finish(&points[i].constants);
    }
}

uint32_t pm_record_points_units(const struct pm_record_points *points, uint32_t count)
{
    if (pm_kind_counts_entries(points->kind))
        return pm_block_units(
            &(struct pm_block_layout){.unit_count = count + 1, .lanes_only = points->lanes_only});
    if (points->kind == PM_KIND_CONSTANT)
        return pm_constant_unit(count);
    const struct pm_zero_layout zeros =
        pm_zero_layout(&(struct pm_instrument_info){.point_count = count});
    return pm_zero_units(&zeros);
}

static bool instrument_constants(const struct pm_record_points *points,
                                 const struct pm_words *canonical,
                                 const struct pm_instrument_info *info, struct pm_instrumented *out,
                                 struct pm_error *error)
{
    const struct pm_constant_point *all = points->constants.points + points->first;
    struct pm_constant_point *some = malloc((info->point_count + 1u) * sizeof *some);
    if (!some)
        return no_memory(error);
    for (uint32_t i = 0; i < info->point_count; i++)
        some[i] = all[info->points[i]];
    const bool made = pm_instrument_constants(canonical->data, canonical->count, some,
                                              info->point_count, info, out, error);
    free(some);
    return made;
}

const struct pm_flow_points *pm_record_points_flow(const struct pm_record_points *points,
                                                   uint32_t point_count)
{
    const struct pm_flow_points *flow = &points->flow;
    const bool saves = flow->count + 1 < flow->space;
    return saves && point_count == flow->space ? flow : NULL;
}

bool pm_record_points_instrument(const struct pm_record_points *points,
                                 const struct pm_words *canonical,
                                 const struct pm_instrument_info *info, struct pm_instrumented *out,
                                 struct pm_error *error)
{
    struct pm_instrument_info with = *info;
    with.zeros = &points->zeros;
    with.turns = points->kind == PM_KIND_TURNS ? &points->turns : NULL;
    with.flow = pm_record_points_flow(points, info->point_count);
    with.lanes_only = points->lanes_only;
    if (with.lanes_only && with.flow) { /* the others have no counters at all */
        with.points = with.flow->points;
        with.point_count = with.flow->count;
        with.flow = NULL;
    }
    if (points->kind == PM_KIND_CONSTANT)
        return instrument_constants(points, canonical, info, out, error);
    if (points->kind == PM_KIND_TURNS)
        return pm_instrument_turns(canonical->data, canonical->count, &with, out, error);
    return points->kind == PM_KIND_BLOCK
               ? pm_instrument_blocks(canonical->data, canonical->count, &with, out, error)
               : pm_instrument_zero(canonical->data, canonical->count, &with, out, error);
}
