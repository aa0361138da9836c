/*
 * Vector arithmetic component by component: each component is computed as it was, with the
 * vector's decorations, so its bits stay. What needs the vector as a whole (dot products, samples,
 * stores) gets it put together again.
 */
#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

enum { MOST_COMPONENTS = 4, MOST_OPERANDS = 4 };

/* The components of a vector type; 0: it is none. */
static uint32_t components_of(const struct pm_ir_instr *type)
{
    return type && type->opcode == SpvOpTypeVector ? pm_ir_operand_word(&type->operands[1]) : 0;
}

static bool is_by_component(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpFNegate:
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpVectorTimesScalar:
    case SpvOpSNegate:
    case SpvOpIAdd:
    case SpvOpISub:
    case SpvOpIMul:
    case SpvOpConvertFToS:
    case SpvOpConvertFToU:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
    case SpvOpBitwiseAnd:
    case SpvOpBitwiseOr:
    case SpvOpBitwiseXor:
    case SpvOpNot:
        return instr->operand_count <= MOST_OPERANDS;
    default:
        return false;
    }
}

static bool is_folded(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    return type->operands[0].def->instr->opcode == SpvOpTypeFloat &&
           !pm_exact_is_asked(instr->result);
}

/* keep_floats: but those that a driver would not fold as scalars either. */
static bool is_split(const struct pm_ir_instr *instr, bool keep_floats)
{
    const uint32_t count = components_of(pm_ir_type_of(instr));
    return count > 1 && count <= MOST_COMPONENTS && is_by_component(instr) &&
           !(keep_floats && is_folded(instr));
}

/* A vector that was put together of its components, as all that is taken apart is. */
static bool is_put_together(const struct pm_ir_instr *instr)
{
    return instr && instr->opcode == SpvOpCompositeConstruct &&
           instr->operand_count == components_of(pm_ir_type_of(instr));
}

/* A component of an operand, for the instruction at the builder. */
static struct pm_ir_def *component(struct pm_ir_builder *builder, struct pm_ir_def *def,
                                   uint32_t index)
{
    const struct pm_ir_instr *type = pm_ir_type_of(def->instr);
    if (components_of(type) == 0)
        return def;
    if (is_put_together(def->instr) || def->instr->opcode == SpvOpConstantComposite)
        return def->instr->operands[index].def;
    return pm_ir_build(builder, SpvOpCompositeExtract, type->operands[0].def,
                       PM_IR_ARGS(pm_ir_id(def), pm_ir_word(index)));
}

/* In the place of an instruction; false: the module failed. */
static bool split(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    const uint32_t count = components_of(type), operands = instr->operand_count;
    const uint16_t opcode = instr->opcode == SpvOpVectorTimesScalar ? SpvOpFMul : instr->opcode;
    struct pm_ir_builder builder = {module, instr->block, instr};
    struct pm_ir_arg parts[MOST_COMPONENTS], args[MOST_OPERANDS];
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t o = 0; o < operands; o++)
            args[o] = pm_ir_id(component(&builder, instr->operands[o].def, c));
        struct pm_ir_def *part =
            pm_ir_build(&builder, opcode, type->operands[0].def, args, operands);
        if (!part)
            return false;
        pm_ir_copy_decorations(module, instr->result, part, false);
        parts[c] = pm_ir_id(part);
    }
    struct pm_ir_def *whole =
        pm_ir_build(&builder, SpvOpCompositeConstruct, instr->type.def, parts, count);
    for (struct pm_ir_operand *use = instr->result->first_use, *next; whole && use; use = next) {
        next = use->next_use;
        if (use->user->block)
            pm_ir_operand_set(use, whole);
    }
    if (whole)
        pm_ir_remove(instr);
    return whole != NULL;
}

/* A component that is there by itself is taken from there. */
static bool skip_vector(struct pm_ir_instr *extract)
{
    const struct pm_ir_instr *from =
        extract->opcode == SpvOpCompositeExtract ? pm_ir_operand_instr(extract, 0) : NULL;
    if (!is_put_together(from) || extract->operand_count != 2 || extract->result->decorated)
        return false;
    pm_ir_replace_uses(extract->result,
                       from->operands[pm_ir_operand_word(&extract->operands[1])].def);
    pm_ir_remove(extract);
    return true;
}

/* Vectors that nothing asks for as a whole any more. */
static void sweep(const struct pm_ir_function *function)
{
    for (struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.last, *previous; i; i = previous) {
            previous = i->prev;
            if (is_put_together(i) && !i->result->first_use)
                pm_ir_remove(i);
        }
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const bool keep_floats = *(const uint32_t *)context;
    const struct pm_ir_function *function = pm_variant_function(module);
    bool changed = false, ok = true;
    for (struct pm_ir_block *b = function ? function->first_block : NULL; ok && b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first, *next; ok && i; i = next) {
            next = i->next;
            if (is_split(i, keep_floats)) {
                ok = split(module, i);
                changed = true;
            } else {
                changed |= skip_vector(i);
            }
        }
    if (changed)
        sweep(function);
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_scalarize = {"scalarize", 0, PM_ANALYSIS_ALL, run};
