#include "shader_rewrite/constants/constant_layout.h"

static bool read_decoration(const struct pm_ir_def *def, uint16_t opcode, uint32_t member,
                            SpvDecoration decoration, uint32_t *word)
{
    const uint32_t at = opcode == SpvOpMemberDecorate ? 2 : 1;
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->opcode != opcode || use != &user->operands[0] || user->operand_count <= at ||
            pm_ir_operand_word(&user->operands[at]) != decoration ||
            (at == 2 && pm_ir_operand_word(&user->operands[1]) != member))
            continue;
        *word = user->operand_count > at + 1 ? pm_ir_operand_word(&user->operands[at + 1]) : 0;
        return true;
    }
    return false;
}

bool pm_constant_decoration(const struct pm_ir_def *def, SpvDecoration decoration, uint32_t *word)
{
    return read_decoration(def, SpvOpDecorate, 0, decoration, word);
}

bool pm_constant_member_decoration(const struct pm_ir_def *def, uint32_t member,
                                   SpvDecoration decoration, uint32_t *word)
{
    return read_decoration(def, SpvOpMemberDecorate, member, decoration, word);
}

struct pm_constant_place pm_constant_place_of(const struct pm_ir_instr *type)
{
    return (struct pm_constant_place){.type = type, .component_stride = 4};
}

static bool add(uint32_t *offset, uint64_t more)
{
    const uint64_t sum = *offset + more;
    *offset = (uint32_t)sum;
    return sum <= INT32_MAX;
}

static bool step_member(struct pm_constant_place *place, uint32_t member)
{
    const struct pm_ir_def *type = place->type->result;
    uint32_t offset, word;
    if (member >= place->type->operand_count ||
        !pm_constant_member_decoration(type, member, SpvDecorationOffset, &offset))
        return false;
    if (!pm_constant_member_decoration(type, member, SpvDecorationMatrixStride,
                                       &place->matrix_stride))
        place->matrix_stride = 0;
    place->row_major = pm_constant_member_decoration(type, member, SpvDecorationRowMajor, &word);
    place->type = pm_ir_operand_instr(place->type, member);
    return place->type && add(&place->offset, offset);
}

static bool step_array(struct pm_constant_place *place, uint32_t index)
{
    const struct pm_ir_instr *length = pm_ir_operand_instr(place->type, 1);
    uint32_t stride;
    if (!length || length->opcode != SpvOpConstant ||
        index >= pm_ir_operand_word(&length->operands[0]) ||
        !pm_constant_decoration(place->type->result, SpvDecorationArrayStride, &stride))
        return false;
    place->type = pm_ir_operand_instr(place->type, 0);
    return place->type && add(&place->offset, (uint64_t)index * stride);
}

bool pm_constant_place_step(struct pm_constant_place *place, uint32_t index)
{
    switch (place->type->opcode) {
    case SpvOpTypeStruct:
        return step_member(place, index);
    case SpvOpTypeArray:
        return step_array(place, index);
    case SpvOpTypeMatrix:
        if (index >= pm_ir_operand_word(&place->type->operands[1]) || !place->matrix_stride)
            return false;
        place->type = pm_ir_operand_instr(place->type, 0);
        place->component_stride = place->row_major ? place->matrix_stride : 4;
        return add(&place->offset, (uint64_t)index * (place->row_major ? 4 : place->matrix_stride));
    case SpvOpTypeVector:
        if (index >= pm_ir_operand_word(&place->type->operands[1]))
            return false;
        place->type = pm_ir_operand_instr(place->type, 0);
        return add(&place->offset, (uint64_t)index * place->component_stride);
    default:
        return false;
    }
}

/* A constant index of an access chain; it may be of any width and signed, but not so large. */
static bool read_index(const struct pm_ir_instr *index, uint32_t *value)
{
    if (!index || (index->opcode != SpvOpConstant && index->opcode != SpvOpConstantNull))
        return false;
    *value = index->opcode == SpvOpConstant ? pm_ir_operand_word(&index->operands[0]) : 0;
    return *value <= INT32_MAX &&
           (index->opcode != SpvOpConstant || index->operands[0].word_count == 1);
}

const struct pm_ir_instr *pm_constant_block_of(const struct pm_ir_instr *variable,
                                               uint32_t *indices)
{
    const struct pm_ir_instr *pointer = pm_ir_type_of(variable);
    const struct pm_ir_instr *type =
        pointer && pointer->opcode == SpvOpTypePointer ? pm_ir_operand_instr(pointer, 1) : NULL;
    *indices = 0;
    if (type && type->opcode == SpvOpTypeArray) {
        const struct pm_ir_instr *length = pm_ir_operand_instr(type, 1);
        if (!length || length->opcode != SpvOpConstant ||
            pm_ir_operand_word(&length->operands[0]) != 1)
            return NULL;
        type = pm_ir_operand_instr(type, 0);
        *indices = 1;
    }
    return type && type->opcode == SpvOpTypeStruct ? type : NULL;
}

const struct pm_ir_instr *pm_constant_place_of_pointer(const struct pm_ir_instr *pointer,
                                                       struct pm_constant_place *place)
{
    const struct pm_ir_instr *chains[PM_CONSTANT_DEEPEST];
    uint32_t count = 0;
    while (pointer &&
           (pointer->opcode == SpvOpAccessChain || pointer->opcode == SpvOpInBoundsAccessChain)) {
        if (count == PM_CONSTANT_DEEPEST)
            return NULL;
        chains[count++] = pointer;
        pointer = pm_ir_operand_instr(pointer, 0);
    }
    uint32_t before, index;
    const struct pm_ir_instr *block =
        pointer && pointer->opcode == SpvOpVariable ? pm_constant_block_of(pointer, &before) : NULL;
    if (!block)
        return NULL;
    *place = pm_constant_place_of(block);
    while (count-- > 0)
        for (uint32_t o = 1; o < chains[count]->operand_count; o++) {
            if (!read_index(pm_ir_operand_instr(chains[count], o), &index))
                return NULL;
            if (before > 0 ? index != 0 : !pm_constant_place_step(place, index))
                return NULL;
            before = 0;
        }
    return before == 0 ? pointer : NULL;
}

/* ---- the way back ---- */

static uint32_t parts_of(const struct pm_ir_instr *type)
{
    switch (type->opcode) {
    case SpvOpTypeStruct:
        return type->operand_count;
    case SpvOpTypeArray: {
        const struct pm_ir_instr *length = pm_ir_operand_instr(type, 1);
        return length->opcode == SpvOpConstant ? pm_ir_operand_word(&length->operands[0]) : 0;
    }
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return pm_ir_operand_word(&type->operands[1]);
    default:
        return 0;
    }
}

static bool find_in(struct pm_constant_place place, uint32_t offset, struct pm_constant_path *path)
{
    const struct pm_ir_instr *type = place.type;
    if (type->opcode == SpvOpTypeInt || type->opcode == SpvOpTypeFloat) {
        path->type = type;
        return place.offset == offset && pm_ir_operand_word(&type->operands[0]) == 32;
    }
    if (path->count == PM_CONSTANT_DEEPEST)
        return false;
    uint32_t part = 0, parts = parts_of(type), stride;
    if (type->opcode == SpvOpTypeArray) {
        if (offset < place.offset ||
            !pm_constant_decoration(type->result, SpvDecorationArrayStride, &stride) || !stride)
            return false;
        part = (offset - place.offset) / stride; /* elements do not overlap */
        parts = part < parts ? part + 1 : 0;
    }
    const uint32_t at = path->count++;
    for (; part < parts; part++) {
        struct pm_constant_place inside = place;
        path->indices[at] = part;
        path->count = at + 1;
        if (pm_constant_place_step(&inside, part) && inside.offset <= offset &&
            find_in(inside, offset, path))
            return true;
    }
    path->count = at;
    return false;
}

bool pm_constant_path_find(const struct pm_ir_instr *block, uint32_t offset,
                           struct pm_constant_path *path)
{
    *path = (struct pm_constant_path){0};
    return find_in(pm_constant_place_of(block), offset, path);
}
