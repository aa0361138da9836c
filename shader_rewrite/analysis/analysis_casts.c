#include "shader_rewrite/analysis/analysis_casts.h"

#include "shader_rewrite/ir/ir_opcodes.h"

static bool is_number(const struct pm_ir_instr *scalar)
{
    return scalar && (scalar->opcode == SpvOpTypeInt || scalar->opcode == SpvOpTypeFloat);
}

bool pm_is_component_cast(const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpBitcast)
        return false;
    const struct pm_ir_instr *from = pm_ir_operand_instr(instr, 0), *to_type = pm_ir_type_of(instr);
    const struct pm_ir_instr *from_type = from ? pm_ir_type_of(from) : NULL;
    const struct pm_ir_instr *a = pm_ir_component_type(from_type),
                             *b = pm_ir_component_type(to_type);
    return is_number(a) && is_number(b) &&
           pm_ir_operand_word(&a->operands[0]) == pm_ir_operand_word(&b->operands[0]) &&
           pm_ir_components(from_type) == pm_ir_components(to_type);
}

bool pm_is_constant_cast(const struct pm_ir_instr *instr)
{
    return pm_is_component_cast(instr) &&
           pm_ir_opcode_is(pm_ir_operand_instr(instr, 0)->opcode, PM_IR_OP_CONSTANT);
}

/* ---- disguised floats ---- */

struct finding {
    bool *disguised;
    struct pm_ir_instr **work; /* each value once at most */
    uint32_t count;
};

static bool is_integer(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *scalar = pm_ir_component_type(pm_ir_type_of(value));
    return scalar && scalar->opcode == SpvOpTypeInt &&
           pm_ir_operand_word(&scalar->operands[0]) == 32;
}

/* Whether an instruction moves components of an operand into its result. */
static bool moves(const struct pm_ir_instr *instr, const struct pm_ir_operand *operand)
{
    switch (instr->opcode) {
    case SpvOpPhi:
    case SpvOpCompositeConstruct:
    case SpvOpCopyObject:
        return true;
    case SpvOpSelect:
        return operand != &instr->operands[0];
    case SpvOpCompositeExtract:
    case SpvOpVectorExtractDynamic:
        return operand == &instr->operands[0];
    case SpvOpVectorShuffle:
    case SpvOpCompositeInsert:
        return operand == &instr->operands[0] || operand == &instr->operands[1];
    default:
        return false;
    }
}

/* Whether this use keeps a disguise, as far as is known. */
static bool keeps_disguise(const struct finding *f, const struct pm_ir_operand *use)
{
    const struct pm_ir_instr *user = use->user;
    if (pm_is_component_cast(user))
        return pm_ir_component_type(pm_ir_type_of(user))->opcode == SpvOpTypeFloat;
    return moves(user, use) && f->disguised[user->result->id];
}

static bool is_disguised(const struct finding *f, const struct pm_ir_instr *value)
{
    bool used = false;
    for (const struct pm_ir_operand *use = value->result->first_use; use; use = use->next_use) {
        if (!use->user->block)
            continue;
        used = true;
        if (!keeps_disguise(f, use))
            return false;
    }
    return used;
}

static void undo(struct finding *f, struct pm_ir_instr *value)
{
    f->disguised[value->result->id] = false;
    f->work[f->count++] = value;
}

/* What a move moves is used as its result is. */
static void undo_operands(struct finding *f)
{
    while (f->count) {
        const struct pm_ir_instr *user = f->work[--f->count];
        for (uint32_t o = 0; o < user->operand_count; o++) {
            struct pm_ir_instr *from = pm_ir_operand_instr(user, o);
            if (from && moves(user, &user->operands[o]) && f->disguised[from->result->id])
                undo(f, from);
        }
    }
}

bool *pm_disguised_floats_find(const struct pm_ir_function *function, struct pm_arena *arena)
{
    const struct pm_ir_module *module = function->module;
    struct finding f = {
        .disguised = pm_arena_zalloc(arena, module->bound, sizeof(bool)),
        .work = pm_arena_zalloc(arena, module->bound, sizeof(struct pm_ir_instr *)),
    };
    if (!f.disguised || !f.work)
        return NULL;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->result)
                f.disguised[i->result->id] = is_integer(i);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->result && f.disguised[i->result->id] && !is_disguised(&f, i)) {
                undo(&f, i);
                undo_operands(&f);
            }
    return f.disguised;
}
