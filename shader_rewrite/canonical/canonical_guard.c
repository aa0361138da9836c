/*
 * The float guard (HAZARDS 3): spirv-opt folds and reassociates float arithmetic unless it is
 * NoContraction. While it runs, every instruction that computes or consumes a float is decorated;
 * decorations that were there before are told apart by a marker, which passes copy along as they
 * copy the decoration. Some rules make new instructions, which carry no decoration; a
 * float-controls capability stops SPIRV-Tools from folding any float, so one is declared for the
 * time too.
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_walk.h"

/* pm_pass_select drops this decoration from the input, so whatever has it is ours. */
#define MARKER_DECORATION SpvDecorationUserSemantic
static const uint32_t marker_text = 0x00006d70; /* "pm" */

/* What is told of an id, in the mark of its instruction. */
enum { FLOAT_TYPE = 1, FLOAT_VALUE = 2, CONTRACTION = 4 };

/* A type with a float in it. */
static bool is_float_type(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpTypeFloat:
        return true;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeArray:
        return pm_ir_operand_instr(instr, 0)->mark & FLOAT_TYPE;
    case SpvOpTypeStruct:
        for (uint32_t i = 0; i < instr->operand_count; i++)
            if (pm_ir_operand_instr(instr, i)->mark & FLOAT_TYPE)
                return true;
        return false;
    default:
        return false;
    }
}

/* Moves, loads and phis compute nothing. */
static bool computes(uint16_t opcode)
{
    return opcode == SpvOpExtInst ||
           pm_ir_opcode_is_core(opcode, PM_IR_OP_CONVERSION | PM_IR_OP_ARITHMETIC |
                                            PM_IR_OP_RELATIONAL | PM_IR_OP_DERIVATIVE);
}

static bool is_float_value(const struct pm_ir_instr *instr)
{
    return instr && (instr->mark & FLOAT_VALUE);
}

/* Literals among the operands are taken for ids: at worst something is decorated in vain. */
static bool touches_float(const struct pm_ir_module *module, const struct pm_ir_instr *instr)
{
    for (uint32_t i = 0; i < instr->operand_count; i++)
        if (is_float_value(pm_ir_find(module, pm_ir_operand_word(&instr->operands[i]))))
            return true;
    return is_float_value(instr);
}

static bool is_no_contraction(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpDecorate &&
           pm_ir_operand_word(&instr->operands[1]) == SpvDecorationNoContraction;
}

static bool is_float_controls(const struct pm_ir_instr *capability)
{
    const uint32_t word = pm_ir_operand_word(&capability->operands[0]);
    return word >= SpvCapabilityDenormPreserve && word <= SpvCapabilityRoundingModeRTZ;
}

static bool is_marker(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpDecorateString && instr->operand_count == 3 &&
           pm_ir_operand_word(&instr->operands[1]) == MARKER_DECORATION &&
           instr->operands[2].word_count == 1 &&
           pm_ir_operand_word(&instr->operands[2]) == marker_text;
}

static void mark_floats(struct pm_ir_module *module)
{
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct pm_ir_instr *type = pm_ir_type_of(walk.instr);
        walk.instr->mark = (is_float_type(walk.instr) ? FLOAT_TYPE : 0) |
                           (type && type->mark & FLOAT_TYPE ? FLOAT_VALUE : 0);
    }
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (is_no_contraction(i))
            pm_ir_operand_instr(i, 0)->mark |= CONTRACTION;
}

static void put(struct pm_ir_module *module, enum pm_ir_section section, struct pm_ir_instr *before,
                struct pm_ir_instr *instr)
{
    if (instr)
        pm_ir_insert(&module->sections[section], NULL, before, instr);
}

static void put_marker(struct pm_ir_module *module, struct pm_ir_def *id)
{
    put(module, PM_IR_SECTION_ANNOTATION, NULL,
        pm_ir_instr_with(
            module, SpvOpDecorateString, NULL,
            PM_IR_ARGS(pm_ir_id(id), pm_ir_word(MARKER_DECORATION), pm_ir_word(marker_text))));
}

static bool add_capability(struct pm_ir_module *module)
{
    struct pm_ir_instr *first = module->sections[PM_IR_SECTION_CAPABILITY].first;
    for (const struct pm_ir_instr *i = first; i; i = i->next)
        if (is_float_controls(i))
            return false;
    put(module, PM_IR_SECTION_CAPABILITY, first,
        pm_ir_instr_with(module, SpvOpCapability, NULL,
                         PM_IR_ARGS(pm_ir_word(SpvCapabilitySignedZeroInfNanPreserve))));
    return true;
}

static enum pm_pass_result guard(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    struct pm_float_guard *state = context;
    state->added_capability = add_capability(module);
    bool changed = state->added_capability;
    mark_floats(module);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct pm_ir_instr *i = walk.instr;
        if (is_no_contraction(i))
            put_marker(module, i->operands[0].def);
        else if (computes(i->opcode) && !(i->mark & CONTRACTION) && touches_float(module, i))
            pm_ir_decorate(module, i->result, SpvDecorationNoContraction, NULL, 0);
        else
            continue;
        changed = true;
    }
    return pm_pass_result_of(true, changed);
}

/* The mark of what was decorated before. */
enum { WAS_THERE = 1 };

static void mark_marked(const struct pm_ir_module *module)
{
    const struct pm_ir_instr *first = module->sections[PM_IR_SECTION_ANNOTATION].first;
    for (const struct pm_ir_instr *i = first; i; i = i->next)
        if (is_no_contraction(i))
            pm_ir_operand_instr(i, 0)->mark = 0;
    for (const struct pm_ir_instr *i = first; i; i = i->next)
        if (is_marker(i))
            pm_ir_operand_instr(i, 0)->mark = WAS_THERE;
}

static bool is_ours(const struct pm_float_guard *state, const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpCapability)
        return state->added_capability &&
               pm_ir_operand_word(&instr->operands[0]) == SpvCapabilitySignedZeroInfNanPreserve;
    return is_marker(instr) ||
           (is_no_contraction(instr) && pm_ir_operand_instr(instr, 0)->mark != WAS_THERE);
}

static enum pm_pass_result unguard(struct pm_ir_module *module, void *context,
                                   struct pm_error *error)
{
    (void)error;
    static const enum pm_ir_section sections[] = {PM_IR_SECTION_CAPABILITY,
                                                  PM_IR_SECTION_ANNOTATION};
    bool changed = false;
    mark_marked(module);
    for (size_t s = 0; s < sizeof(sections) / sizeof(*sections); s++) {
        for (struct pm_ir_instr *i = module->sections[sections[s]].first, *next; i; i = next) {
            next = i->next;
            if (!is_ours(context, i))
                continue;
            pm_ir_remove(i);
            changed = true;
        }
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_guard_floats = {"guard floats", 0, PM_ANALYSIS_ALL, guard};
const struct pm_pass pm_pass_unguard_floats = {"unguard floats", 0, PM_ANALYSIS_ALL, unguard};
