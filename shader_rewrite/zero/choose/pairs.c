#include "shader_rewrite/zero/choose/pairs.h"

/* Whether it has no prefix: all components of each value must be zero. */
static bool is_whole(const struct pm_zero_round *round, const struct pm_zero_candidate *c)
{
    const struct pm_ir_instr *instr = pm_ir_find(round->module, c->values[0]);
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    if (c->value_count > 1 || !type || type->opcode != SpvOpTypeVector)
        return type != NULL;
    return pm_ir_operand_word(&type->operands[1]) == c->components;
}

static bool has_value(const struct pm_zero_candidate *c, uint32_t value)
{
    for (uint32_t i = 0; i < c->value_count; i++)
        if (c->values[i] == value)
            return true;
    return false;
}

/* The candidate that two are together. false: they share a value, are of different kinds or too
 * many. */
static bool join(const struct pm_zero_round *round, const struct pm_zero_candidate *a,
                 const struct pm_zero_candidate *b, struct pm_zero_candidate *joint)
{
    if (a->is_float != b->is_float || a->plus != b->plus ||
        a->value_count + b->value_count > PM_ZERO_ELEMENTS || !is_whole(round, a) ||
        !is_whole(round, b))
        return false;
    *joint = *a;
    joint->components = 1;
    joint->quad = a->quad || b->quad;
    for (uint32_t i = 0; i < b->value_count; i++) {
        if (has_value(a, b->values[i]))
            return false;
        joint->values[joint->value_count++] = b->values[i];
    }
    return true;
}

bool pm_zero_pair_find(struct pm_zero_round *round, const struct pm_zero_single *singles,
                       uint32_t count, double threshold, double least,
                       const struct pm_zero_bars *bars, const struct pm_zero_beyond *beyond,
                       struct pm_zero_pair *best)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count && !round->failed; k++) {
            struct pm_zero_pair pair = {.first = singles[i].index,
                                        .second = singles[k].index,
                                        .probability =
                                            singles[i].probability + singles[k].probability - 1};
            if (!(pair.probability >= threshold) ||
                !join(round, singles[i].candidate, singles[k].candidate, &pair.joint))
                continue;
            pair.opportunity =
                pm_zero_opportunity_find(round, &pair.joint, pair.probability, bars, beyond);
            if (pair.opportunity.reason || !(pair.opportunity.estimate.saved > least))
                continue;
            least = pair.opportunity.estimate.saved;
            *best = pair;
            found = true;
        }
    return found && !round->failed;
}
