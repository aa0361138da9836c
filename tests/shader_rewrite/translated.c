#include "tests/shader_rewrite/translated.h"

#include "shader_rewrite/ir/ir_builder.h"

#include "tests/cmocka_includes.h"

static bool is_single(const struct pm_ir_instr *scalar)
{
    return scalar && scalar->opcode == SpvOpTypeFloat &&
           pm_ir_operand_word(&scalar->operands[0]) == 32;
}

/* The type of integers for a scalar or vector of floats; NULL: it is none. */
static struct pm_ir_def *integers(struct pm_ir_module *module, const struct pm_ir_instr *type)
{
    bool vector = type && type->opcode == SpvOpTypeVector;
    if (!is_single(vector ? pm_ir_operand_instr(type, 0) : type))
        return NULL;
    struct pm_ir_def *integer = pm_ir_type_int(module, 32, false);
    return vector ? pm_ir_type_vector(module, integer, pm_ir_operand_word(&type->operands[1]))
                  : integer;
}

static struct pm_ir_def *cast(struct pm_ir_module *module, struct pm_ir_instr *before,
                              struct pm_ir_def *type, struct pm_ir_def *value)
{
    struct pm_ir_builder b = {module, before->block, before};
    return pm_ir_build(&b, SpvOpBitcast, type, PM_IR_ARGS(pm_ir_id(value)));
}

/* ---- variables ---- */

static bool is_only_loaded_and_stored(const struct pm_ir_def *variable)
{
    for (const struct pm_ir_operand *use = variable->first_use; use; use = use->next_use)
        if (use->user->block &&
            (use != &use->user->operands[0] ||
             (use->user->opcode != SpvOpLoad && use->user->opcode != SpvOpStore)))
            return false;
    return true;
}

static void translate_variable(struct pm_ir_module *module, struct pm_ir_instr *variable)
{
    const struct pm_ir_instr *pointer = pm_ir_type_of(variable);
    struct pm_ir_def *floats = pointer->operands[1].def, *type = integers(module, floats->instr);
    if (!type || variable->operand_count > 1 || !is_only_loaded_and_stored(variable->result))
        return;
    struct pm_ir_def *to = pm_ir_type_pointer(module, SpvStorageClassFunction, type);
    pm_ir_operand_set(&variable->type, to);
    for (struct pm_ir_operand *use = variable->result->first_use; use; use = use->next_use) {
        struct pm_ir_instr *user = use->user;
        if (user->opcode == SpvOpStore) {
            pm_ir_operand_set(&user->operands[1], cast(module, user, type, user->operands[1].def));
        } else if (user->opcode == SpvOpLoad) {
            struct pm_ir_def *value = cast(module, user->next, floats, user->result);
            for (struct pm_ir_operand *u = user->result->first_use, *next; u; u = next) {
                next = u->next_use;
                if (u->user->block && u->user != value->instr)
                    pm_ir_operand_set(u, value);
            }
            pm_ir_operand_set(&user->type, type);
        }
    }
}

/* ---- values ---- */

static bool is_moved(const struct pm_ir_instr *instr, uint32_t operand)
{
    switch (instr->opcode) {
    case SpvOpPhi:
        return operand % 2 == 0;
    case SpvOpSelect:
        return operand > 0;
    case SpvOpCompositeExtract:
        return operand == 0;
    case SpvOpVectorShuffle:
    case SpvOpCompositeInsert:
        return operand < 2;
    default:
        return true;
    }
}

/* Moves components of vectors or scalars of floats, and nothing else. */
static bool is_move(struct pm_ir_module *module, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpPhi:
    case SpvOpSelect:
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpCompositeConstruct:
    case SpvOpVectorShuffle:
        break;
    default:
        return false;
    }
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && is_moved(instr, o) &&
            !integers(module, pm_ir_type_of(instr->operands[o].def->instr)))
            return false;
    return true;
}

static void translate_move(struct pm_ir_module *module, struct pm_ir_instr *move)
{
    for (uint32_t o = 0; o < move->operand_count; o++) {
        struct pm_ir_operand *operand = &move->operands[o];
        if (!operand->def || !is_moved(move, o))
            continue;
        struct pm_ir_instr *before = move;
        if (move->opcode == SpvOpPhi)
            before = pm_ir_block_end(pm_ir_block_of(move->operands[o + 1].def));
        struct pm_ir_def *type = integers(module, pm_ir_type_of(operand->def->instr));
        pm_ir_operand_set(operand, cast(module, before, type, operand->def));
    }
}

/* Every use of a value gets a cast of its own. */
static void translate_uses(struct pm_ir_module *module, struct pm_ir_instr *instr,
                           struct pm_ir_def *floats, struct pm_ir_def *type)
{
    struct pm_ir_instr *behind =
        instr->opcode == SpvOpPhi ? pm_ir_block_start(instr->block) : instr->next;
    struct pm_ir_def *value = instr->result, *as_integers = NULL;
    struct pm_ir_operand *uses[256], *use = value->first_use;
    uint32_t count = 0;
    for (; use && count < 256; use = use->next_use)
        if (use->user->block && use->user != instr)
            uses[count++] = use;
    if (is_move(module, instr)) {
        translate_move(module, instr);
        pm_ir_operand_set(&instr->type, type);
        as_integers = value;
    } else {
        as_integers = cast(module, behind, type, value);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct pm_ir_instr *before = uses[i]->user;
        if (before->opcode == SpvOpPhi)
            before = pm_ir_block_end(pm_ir_block_of((uses[i] + 1)->def));
        pm_ir_operand_set(uses[i], cast(module, before, floats, as_integers));
    }
}

static void translate_constants(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpPhi)
        return;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *constant = pm_ir_operand_instr(instr, o);
        if (!constant || constant->opcode != SpvOpConstant || !is_single(pm_ir_type_of(constant)))
            continue;
        struct pm_ir_def *bits =
            pm_ir_global(module, SpvOpConstant, pm_ir_type_int(module, 32, false)->instr->result,
                         PM_IR_ARGS(pm_ir_word(pm_ir_operand_word(&constant->operands[0]))));
        pm_ir_operand_set(&instr->operands[o], cast(module, instr, constant->type.def, bits));
    }
}

static void translate(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    struct pm_ir_def *floats = instr->type.def;
    struct pm_ir_def *type = instr->result ? integers(module, pm_ir_type_of(instr)) : NULL;
    translate_constants(module, instr);
    if (type && instr->opcode != SpvOpUndef)
        translate_uses(module, instr, floats, type);
}

struct pm_words pm_test_translated(const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_words out;
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
        struct pm_ir_instr *first = f->first_block ? f->first_block->body.first : NULL;
        for (struct pm_ir_instr *i = first; i; i = i->next)
            if (i->opcode == SpvOpVariable)
                translate_variable(module, i);
        /* Casts that come up on the way stay as they are. */
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first, *next; i; i = next) {
                next = i->next;
                if (i->opcode != SpvOpBitcast)
                    translate(module, i);
            }
    }
    if (!pm_ir_emit(module, &out, &error))
        fail_msg("%s", error.message);
    pm_ir_module_destroy(module);
    return out;
}
