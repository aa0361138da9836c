#include "shader_rewrite/instrument/candidate_check.h"

void pm_candidate_check_init(struct pm_candidate_check *check, struct pm_ir_module *module,
                             enum pm_stage stage)
{
    *check = (struct pm_candidate_check){
        .module = module,
        .boolean = pm_ir_type_bool(module),
        .subgroup_scope = pm_ir_constant_uint(module, SpvScopeSubgroup),
        .fragment = stage == PM_STAGE_FRAGMENT,
    };
    pm_ir_require_version(module, PM_SPIRV_1_3);
    pm_ir_require_capability(module, SpvCapabilityGroupNonUniform);
    pm_ir_require_capability(module, SpvCapabilityGroupNonUniformVote);
    if (check->fragment)
        pm_helper_lanes_init(&check->helpers, module);
}

/* Its first `components` components. */
static struct pm_ir_def *prefix(struct pm_ir_builder *b, struct pm_ir_def *value,
                                uint32_t components)
{
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value->instr) : NULL;
    if (!type || type->opcode != SpvOpTypeVector ||
        pm_ir_operand_word(&type->operands[1]) <= components)
        return value;
    struct pm_ir_def *narrow = pm_ir_type_vector(b->module, type->operands[0].def, components);
    struct pm_ir_arg args[2 + PM_ZERO_ELEMENTS] = {pm_ir_id(value), pm_ir_id(value)};
    for (uint32_t i = 0; i < components; i++)
        args[2 + i] = pm_ir_word(i);
    return pm_ir_build(b, SpvOpVectorShuffle, narrow, args, 2 + components);
}

/* A float in disguise as one; to_bits: a float in disguise as an integer. */
static struct pm_ir_def *as_number(const struct pm_candidate_check *c, struct pm_ir_builder *b,
                                   struct pm_ir_def *value, bool to_bits)
{
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value->instr) : NULL;
    const struct pm_ir_instr *component = type ? pm_ir_component_type(type) : NULL;
    if (!component || component->opcode != (to_bits ? SpvOpTypeFloat : SpvOpTypeInt))
        return value;
    const uint32_t width = pm_ir_operand_word(&component->operands[0]);
    struct pm_ir_def *to =
        to_bits ? pm_ir_type_int(c->module, width, false) : pm_ir_type_float(c->module, width);
    if (type->opcode == SpvOpTypeVector)
        to = pm_ir_type_vector(c->module, to, pm_ir_operand_word(&type->operands[1]));
    return pm_ir_build(b, SpvOpBitcast, to, PM_IR_ARGS(pm_ir_id(value)));
}

/* Whether each element of a scalar or vector is zero, in this lane. As floats -0 equals 0, and NaN
 * does not. */
static struct pm_ir_def *is_zero(const struct pm_candidate_check *c, struct pm_ir_builder *b,
                                 struct pm_ir_def *value)
{
    struct pm_ir_module *module = c->module;
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value->instr) : NULL;
    if (!type) {
        module->failed = true;
        return NULL;
    }
    uint16_t equal =
        pm_ir_component_type(type)->opcode == SpvOpTypeFloat ? SpvOpFOrdEqual : SpvOpIEqual;
    struct pm_ir_def *zero = pm_ir_global(module, SpvOpConstantNull, type->result, NULL, 0);
    struct pm_ir_arg sides[] = {pm_ir_id(value), pm_ir_id(zero)};
    if (type->opcode != SpvOpTypeVector)
        return pm_ir_build(b, equal, c->boolean, sides, 2);
    struct pm_ir_def *booleans =
        pm_ir_type_vector(module, c->boolean, pm_ir_operand_word(&type->operands[1]));
    struct pm_ir_def *each = pm_ir_build(b, equal, booleans, sides, 2);
    return pm_ir_build(b, SpvOpAll, c->boolean, PM_IR_ARGS(pm_ir_id(each)));
}

static struct pm_ir_def *both(const struct pm_candidate_check *c, struct pm_ir_builder *b,
                              struct pm_ir_def *x, struct pm_ir_def *y)
{
    return pm_ir_build(b, SpvOpLogicalAnd, c->boolean, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

enum { ACROSS, DOWN }; /* directions of OpGroupNonUniformQuadSwap */

/* And the same of the quad's lane in that direction. */
static struct pm_ir_def *with_neighbour(const struct pm_candidate_check *c, struct pm_ir_builder *b,
                                        struct pm_ir_def *zero, uint32_t direction)
{
    struct pm_ir_def *other =
        pm_ir_build(b, SpvOpGroupNonUniformQuadSwap, c->boolean,
                    PM_IR_ARGS(pm_ir_id(c->subgroup_scope), pm_ir_id(zero),
                               pm_ir_id(pm_ir_constant_uint(c->module, direction))));
    return both(c, b, zero, other);
}

static struct pm_ir_def *vote(const struct pm_candidate_check *c, struct pm_ir_builder *b,
                              struct pm_ir_def *zero)
{
    return pm_ir_build(b, SpvOpGroupNonUniformAll, c->boolean,
                       PM_IR_ARGS(pm_ir_id(c->subgroup_scope), pm_ir_id(zero)));
}

/* Helpers vote on some drivers; they may not veto. But where it is not zero for a helper, what it
 * computed as if it were might be anything: a loop without an end, an index out of bounds. */
static struct pm_ir_def *with_helpers(const struct pm_candidate_check *c, struct pm_ir_builder *b,
                                      struct pm_ir_def *zero)
{
    struct pm_ir_def *helper = pm_helper_lanes_build(&c->helpers, b);
    struct pm_ir_def *passes =
        pm_ir_build(b, SpvOpLogicalOr, c->boolean, PM_IR_ARGS(pm_ir_id(zero), pm_ir_id(helper)));
    return both(c, b, vote(c, b, passes), zero);
}

struct pm_ir_def *pm_candidate_check_build_uniform(const struct pm_candidate_check *c,
                                                   struct pm_ir_builder *b,
                                                   const struct pm_zero_candidate *candidate,
                                                   struct pm_ir_def *const *values)
{
    struct pm_ir_def *zero = NULL;
    for (uint32_t i = 0; i < candidate->value_count; i++) {
        const struct pm_ir_instr *named =
            values ? NULL : pm_ir_find(c->module, candidate->values[i]);
        struct pm_ir_def *value = values ? values[i] : named ? named->result : NULL;
        if (candidate->value_count == 1)
            value = prefix(b, value, candidate->components);
        if (candidate->is_float)
            value = as_number(c, b, value, candidate->plus);
        struct pm_ir_def *one = is_zero(c, b, value);
        zero = i ? both(c, b, zero, one) : one;
    }
    return zero;
}

struct pm_ir_def *pm_candidate_check_build(const struct pm_candidate_check *c,
                                           struct pm_ir_builder *b,
                                           const struct pm_zero_candidate *candidate,
                                           struct pm_ir_def *const *values)
{
    struct pm_ir_def *zero = pm_candidate_check_build_uniform(c, b, candidate, values);
    if (candidate->quad) {
        pm_ir_require_capability(c->module, SpvCapabilityGroupNonUniformQuad);
        zero = with_neighbour(c, b, zero, ACROSS);
        zero = with_neighbour(c, b, zero, DOWN);
    }
    return c->fragment ? with_helpers(c, b, zero) : vote(c, b, zero);
}
