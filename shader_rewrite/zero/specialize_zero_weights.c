#include "shader_rewrite/zero/specialize_zero_weights.h"

#include "shader_rewrite/analysis/analysis_weights.h"
#include <math.h>
#include <stdlib.h>

static bool reserve(struct pm_zero_weights *w, const struct pm_ir_module *module,
                    struct pm_error *error)
{
    uint32_t count = module->bound;
    double *weights = realloc(w->by_label, (count + 1u) * sizeof(double));
    if (!weights)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = w->count; i < count; i++)
        weights[i] = (double)NAN;
    w->by_label = weights;
    if (count > w->count)
        w->count = count;
    return true;
}

bool pm_zero_weights_init(struct pm_zero_weights *w, const struct pm_ir_module *module,
                          const struct pm_zero_profile *profile,
                          const struct pm_zero_points *points, const struct pm_block_points *blocks,
                          struct pm_error *error)
{
    *w = (struct pm_zero_weights){0};
    if (!reserve(w, module, error))
        return false;
    for (uint32_t i = 0; profile->writes && i < points->count; i++) {
        uint32_t block = points->candidates[i].block;
        double writes = profile->writes[i];
        if (block >= blocks->count || !isfinite(writes))
            continue;
        double *weight = &w->by_label[blocks->points[block].label];
        if (isnan(*weight) || *weight < writes)
            *weight = writes;
    }
    for (uint32_t i = 0; profile->blocks && i < blocks->count && i < profile->block_count; i++)
        if (isfinite(profile->blocks[i]))
            w->by_label[blocks->points[i].label] = profile->blocks[i];
    return true;
}

void pm_zero_weights_finish(struct pm_zero_weights *w)
{
    free(w->by_label);
    *w = (struct pm_zero_weights){0};
}

static void set(struct pm_zero_weights *w, const struct pm_ir_block *block, double weight)
{
    if (block && block->label->result->id < w->count)
        w->by_label[block->label->result->id] = weight;
}

bool pm_zero_weights_of_round(struct pm_zero_weights *w, struct pm_zero_round *round,
                              struct pm_error *error)
{
    uint32_t blocks = round->cfg->count;
    double *known = pm_arena_zalloc(round->arena, blocks, sizeof(double));
    double *weights = pm_arena_zalloc(round->arena, blocks, sizeof(double));
    if (!known || !weights)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t id = round->cfg->blocks[b]->label->result->id;
        known[b] = id < w->count ? w->by_label[id] : (double)NAN;
    }
    pm_block_weights(round->function, known, weights);
    for (uint32_t b = 0; b < blocks; b++)
        set(w, round->cfg->blocks[b], weights[b]);
    round->weights = weights;
    return true;
}

bool pm_zero_weights_split(struct pm_zero_weights *w, const struct pm_zero_round *round,
                           const struct pm_zero_region *region,
                           const struct pm_zero_transformed *made, double probability,
                           struct pm_error *error)
{
    if (!reserve(w, round->module, error))
        return false;
    for (uint32_t i = 0; i < region->count; i++) {
        const struct pm_zero_part *part = &region->parts[i];
        double weight = round->weights[part->block];
        set(w, part->copy, weight * probability);
        if (i > 0)
            set(w, round->cfg->blocks[part->block], weight * (1 - probability));
    }
    double first = round->weights[region->parts[0].block];
    set(w, made->check, first);
    set(w, made->rest, first * (1 - probability));
    set(w, made->merge, round->weights[region->parts[region->count - 1].block]);
    return true;
}
