#include "shader_rewrite/constants/constant_zeroes.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/points/points_blocks.h"

#include <stdlib.h>

/* What of the points is left, and what the profile says of these. */
struct left {
    struct pm_zero_points points;
    double *zero, *writes;
};

static void finish(struct left *left)
{
    pm_zero_points_finish(&left->points);
    free(left->zero);
    free(left->writes);
}

static bool begin(struct left *left, uint32_t count, struct pm_error *error)
{
    left->points.candidates = malloc((count + 1u) * sizeof(*left->points.candidates));
    left->zero = malloc((count + 1u) * sizeof(*left->zero));
    left->writes = malloc((count + 1u) * sizeof(*left->writes));
    return (left->points.candidates && left->zero && left->writes) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

/* Number of the block point that a value is in; UINT32_MAX: it is in none. */
static uint32_t block_of(const struct pm_ir_module *module, const struct pm_block_points *blocks,
                         uint32_t id)
{
    const struct pm_ir_instr *value = pm_ir_find(module, id);
    if (value && value->block && value->opcode != SpvOpLabel)
        for (uint32_t b = 0; b < blocks->count; b++)
            if (blocks->points[b].label == value->block->label->result->id)
                return b;
    return UINT32_MAX;
}

static bool is_left(const struct pm_ir_module *module, const struct pm_block_points *blocks,
                    struct pm_zero_candidate *candidate)
{
    for (uint32_t v = 0; v < candidate->value_count; v++) {
        candidate->block = block_of(module, blocks, candidate->values[v]);
        if (candidate->block == UINT32_MAX)
            return false;
        candidate->at_most_once = blocks->points[candidate->block].at_most_once;
    }
    return true;
}

static bool find_left(const struct pm_words *folded, const struct pm_zero_points *points,
                      const struct pm_zero_profile *profile, struct left *left,
                      struct pm_error *error)
{
    struct pm_block_points blocks = {0};
    struct pm_ir_module *module = pm_ir_parse(folded->data, folded->count, error);
    const bool ok = module && begin(left, points->count, error) &&
                    pm_points_blocks(folded->data, folded->count, &blocks, error);
    for (uint32_t i = 0; ok && i < points->count; i++) {
        struct pm_zero_candidate candidate = points->candidates[i];
        if (!is_left(module, &blocks, &candidate))
            continue;
        const uint32_t at = left->points.count++;
        left->points.candidates[at] = candidate;
        left->zero[at] = profile->zero[i];
        if (profile->writes)
            left->writes[at] = profile->writes[i];
    }
    pm_block_points_finish(&blocks);
    pm_ir_module_destroy(module);
    return ok;
}

static bool specialize(const struct pm_specialize_constants_info *info, const struct left *left,
                       struct pm_words *folded, struct pm_specialized_constants *out,
                       struct pm_error *error)
{
    struct pm_specialize_zero_info zero = *info->zero;
    const struct pm_zero_profile profile = {
        .zero = left->zero,
        .writes = zero.profile->writes ? left->writes : NULL,
        .candidate_count = left->points.count,
    };
    struct pm_specialized made;
    zero.profile = &profile;
    zero.zeros = &left->points;
    zero.costs = info->costs;
    zero.float_zero = info->float_zero;
    zero.target = info->target;
    zero.driver = info->driver;
    zero.times = info->times;
    if (!pm_specialize_zero(folded->data, folded->count, &zero, &made, error))
        return false;
    out->transforms = made.transforms;
    out->zero_report = made.report;
    made.report = NULL;
    if (made.transforms) {
        pm_words_finish(folded);
        *folded = made.words;
        made.words = (struct pm_words){0};
    }
    pm_specialized_finish(&made);
    return true;
}

bool pm_constant_zeroes(const uint32_t *words, size_t count,
                        const struct pm_specialize_constants_info *info, struct pm_words *folded,
                        struct pm_specialized_constants *out, struct pm_error *error)
{
    const struct pm_zero_profile *profile = info->zero->profile;
    struct pm_zero_points points;
    struct left left = {0};
    bool ok = pm_points_zero_given(words, count, info->zero->zeros, info->zero->all_candidates,
                                   &points, error);
    if (ok && (!profile || !profile->zero || profile->candidate_count != points.count))
        ok = pm_fail(error, PM_ERROR_INPUT, "the profile has %u points, the shader %u",
                     profile && profile->zero ? profile->candidate_count : 0, points.count);
    ok = ok && find_left(folded, &points, profile, &left, error) &&
         specialize(info, &left, folded, out, error);
    finish(&left);
    pm_zero_points_finish(&points);
    return ok;
}
