#include "shader_rewrite/quirks/levels_of_detail.h"

/* What a value is made of. A driver finds equal values however they are written, so it is asked
 * what a value is made of and not whether it is that of a level. */
enum { MADE_OF_ANYTHING, MADE_OF_CONSTANTS, MADE_OF_PUSH_CONSTANTS };

struct making {
    struct pm_detail_levels *levels;
    const struct pm_memory *memory;
};

static uint8_t made_of(const struct making *m, const struct pm_ir_def *def)
{
    if (!def->instr->block) /* a constant, a variable, an import; or a parameter */
        return def->instr->opcode == SpvOpFunctionParameter ? MADE_OF_ANYTHING : MADE_OF_CONSTANTS;
    return m->levels->made[def->id];
}

static bool is_push_constant(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    return type && type->opcode == SpvOpTypePointer &&
           pm_ir_operand_word(&type->operands[0]) == SpvStorageClassPushConstant;
}

static uint8_t look_at(const struct making *m, const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpLoad)
        return is_push_constant(pm_ir_operand_instr(instr, 0)) ? MADE_OF_PUSH_CONSTANTS
                                                               : MADE_OF_ANYTHING;
    struct pm_memory_access access = pm_memory_access_of(m->memory, instr);
    if (instr->opcode == SpvOpPhi || instr->opcode == SpvOpVariable || access.reads ||
        access.writes || access.stops)
        return MADE_OF_ANYTHING;
    uint8_t made = MADE_OF_CONSTANTS;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        uint8_t of = instr->operands[o].def ? made_of(m, instr->operands[o].def) : made;
        if (of == MADE_OF_ANYTHING)
            return of;
        if (of > made)
            made = of;
    }
    return made;
}

/* Coordinates and the like count too: seldom made so, and it costs no more than a transform. */
static bool asks(const struct making *m, const struct pm_ir_instr *instr)
{
    bool samples = pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_IMAGE_READ) &&
                   instr->opcode != SpvOpImageRead && instr->opcode != SpvOpImageSparseRead;
    for (uint32_t o = 1; samples && o < instr->operand_count; o++)
        if (instr->operands[o].def && made_of(m, instr->operands[o].def) == MADE_OF_PUSH_CONSTANTS)
            return true;
    return false;
}

bool pm_detail_levels_compute(struct pm_detail_levels *levels, const struct pm_memory *memory,
                              const struct pm_ir_module *module,
                              const struct pm_ir_function *function, struct pm_arena *arena)
{
    *levels = (struct pm_detail_levels){.made = pm_arena_zalloc(arena, module->bound, 1),
                                        .id_count = module->bound};
    const struct making m = {levels, memory};
    if (!levels->made)
        return false;
    /* A block comes behind those that dominate it, so what a value is made of is known. */
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            if (i->result)
                levels->made[i->result->id] = look_at(&m, i);
            levels->asked |= asks(&m, i);
        }
    return true;
}

bool pm_detail_levels_has(const struct pm_detail_levels *levels, const struct pm_ir_def *def)
{
    return levels->asked && def->id < levels->id_count &&
           levels->made[def->id] == MADE_OF_PUSH_CONSTANTS;
}
