#include "shader_rewrite/zero/choose/implied.h"

bool pm_zero_index_init(struct pm_zero_index *index, const struct pm_ir_module *module,
                        const struct pm_float_permission *permission,
                        const struct pm_zero_points *points, struct pm_arena *arena)
{
    *index = (struct pm_zero_index){
        .module = module, .permission = permission, .points = points, .bound = module->bound};
    index->first = pm_arena_zalloc(arena, module->bound + 1u, sizeof(uint32_t));
    if (!index->first)
        return false;
    for (uint32_t id = 0; id < index->bound; id++)
        index->first[id] = points->count;
    for (uint32_t i = points->count; i-- > 0;) {
        const struct pm_zero_candidate *c = &points->candidates[i];
        if (c->value_count == 1 && c->values[0] < index->bound)
            index->first[c->values[0]] = i;
    }
    return true;
}

uint32_t pm_zero_index_find(const struct pm_zero_index *index, uint32_t id, uint32_t components)
{
    uint32_t count = index->points->count;
    if (id >= index->bound)
        return count;
    for (uint32_t c = index->first[id]; c < count; c++) {
        const struct pm_zero_candidate *candidate = &index->points->candidates[c];
        if (candidate->value_count != 1 || candidate->values[0] != id)
            break;
        if (candidate->components == components)
            return c;
    }
    return count;
}

uint32_t pm_zero_index_width(const struct pm_ir_instr *instr)
{
    return pm_ir_components(instr ? pm_ir_type_of(instr) : NULL);
}

bool pm_zero_propagates(const struct pm_float_permission *permission,
                        const struct pm_ir_instr *instr, uint32_t operand)
{
    switch (instr->opcode) {
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
        return operand < 2 && pm_float_permits(permission, instr);
    case SpvOpIMul:
    case SpvOpBitwiseAnd:
        return operand < 2;
    case SpvOpFNegate:
    case SpvOpSNegate:
    case SpvOpFConvert:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return operand == 0;
    default:
        return false;
    }
}

struct implying {
    const struct pm_zero_index *index;
    const struct pm_zero_candidate *candidate;
    void (*with)(void *user, uint32_t implied);
    void *user;
};

static void imply(const struct implying *m, uint32_t id, uint32_t components)
{
    uint32_t found = pm_zero_index_find(m->index, id, components);
    if (found < m->index->points->count &&
        m->index->points->candidates[found].block == m->candidate->block)
        m->with(m->user, found);
}

/* Its leading components. */
static void imply_leading(const struct implying *m, const struct pm_ir_def *def,
                          uint32_t components)
{
    for (uint32_t k = 1; k <= components; k++)
        imply(m, def->id, k);
}

static void imply_users(const struct implying *m, const struct pm_ir_def *def, uint32_t components)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (!user->block || !user->result || user->block != def->instr->block)
            continue;
        uint32_t operand = (uint32_t)(use - user->operands);
        if (user->opcode == SpvOpCompositeExtract && user->operand_count == 2 && operand == 0 &&
            pm_ir_operand_word(&user->operands[1]) < components)
            imply(m, user->result->id, 1);
        else if (pm_zero_propagates(m->index->permission, user, operand))
            imply_leading(m, user->result,
                          pm_zero_index_width(def->instr) > 1 ? components
                                                              : pm_zero_index_width(user));
    }
}

/* What is zero since the leading components of what was made of it are. */
static void imply_operands(const struct implying *m, const struct pm_ir_instr *instr,
                           uint32_t components)
{
    uint32_t at = 0;
    switch (instr->opcode) {
    case SpvOpCompositeConstruct:
        for (uint32_t o = 0; o < instr->operand_count && at < components; o++) {
            const struct pm_ir_instr *part = pm_ir_operand_instr(instr, o);
            uint32_t width = pm_zero_index_width(part);
            if (part && part->result)
                imply_leading(m, part->result, width < components - at ? width : components - at);
            at += width;
        }
        break;
    case SpvOpCompositeInsert:
        if (instr->operand_count == 3 && pm_ir_operand_word(&instr->operands[2]) < components)
            imply(m, instr->operands[0].def->id, 1);
        break;
    case SpvOpFNegate:
    case SpvOpSNegate:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
        imply_leading(m, instr->operands[0].def, components);
        break;
    default:
        break;
    }
}

/* What is made of nothing but a pack's values, or begins with some of them. */
static void imply_constructed(const struct implying *m, const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->opcode != SpvOpCompositeConstruct || use != &user->operands[0])
            continue;
        uint32_t leading = 0;
        for (bool has = true; has && leading < user->operand_count; leading += has) {
            has = false;
            for (uint32_t i = 0; i < m->candidate->value_count; i++)
                has = has || pm_ir_operand_id(&user->operands[leading]) == m->candidate->values[i];
        }
        imply_leading(m, user->result, leading);
    }
}

void pm_zero_implied(const struct pm_zero_index *index, uint32_t i,
                     void (*with)(void *user, uint32_t implied), void *user)
{
    const struct pm_zero_candidate *c = &index->points->candidates[i];
    const struct implying m = {index, c, with, user};
    for (uint32_t v = 0; v < c->value_count; v++) {
        const struct pm_ir_instr *instr = pm_ir_find(index->module, c->values[v]);
        if (!instr || !instr->block)
            continue;
        uint32_t components = c->value_count > 1 ? pm_zero_index_width(instr) : c->components;
        imply_leading(&m, instr->result, c->value_count > 1 ? components : components - 1);
        imply_users(&m, instr->result, components);
        imply_operands(&m, instr, components);
        if (c->value_count > 1)
            imply_constructed(&m, instr->result);
    }
}
