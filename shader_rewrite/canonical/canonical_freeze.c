/*
 * Specialization constants take the pipeline's values. Integers and booleans, which decide control
 * flow, become constants. Floats get the value as their default and stay specialization constants:
 * the optimizer may not fold them anyway (HAZARDS 3), and a driver's own optimizer that folds
 * constants but not specialization constants (seen: SwiftShader) must see in the canonical module
 * what it saw in the original.
 */
#include "shader_rewrite/canonical/canonical_words.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

struct scalar_type {
    uint8_t width; /* bits; 0: not a number */
    bool sign_extends;
    bool is_float;
};

struct freeze {
    uint32_t bound;
    uint32_t *spec_id;         /* by id: the SpecId + 1, 0 none */
    struct scalar_type *types; /* by id */
    bool *stays;               /* by id: stays a specialization constant */
};

/* What is made of a specialization constant that stays, stays too. */
static bool has_spec_constituent(const struct freeze *freeze, const struct pm_walk *walk)
{
    for (uint32_t i = 3; i < walk->length; i++) {
        if (freeze->stays[walk->words[walk->at + i]])
            return true;
    }
    return false;
}

static void collect(const struct pm_words *module, struct freeze *freeze)
{
    for (struct pm_walk walk = pm_walk_begin(module);
         pm_walk_next(&walk) && walk.opcode != SpvOpFunction;) {
        const uint32_t *operands = module->data + walk.at + 1;
        switch (walk.opcode) {
        case SpvOpDecorate:
            if (operands[1] == SpvDecorationSpecId)
                freeze->spec_id[operands[0]] = operands[2] + 1;
            break;
        case SpvOpTypeInt:
            freeze->types[operands[0]] =
                (struct scalar_type){(uint8_t)operands[1], operands[2] != 0, false};
            break;
        case SpvOpTypeFloat:
            freeze->types[operands[0]] = (struct scalar_type){(uint8_t)operands[1], false, true};
            break;
        case SpvOpSpecConstant:
            freeze->stays[operands[1]] = freeze->types[operands[0]].is_float;
            break;
        case SpvOpSpecConstantOp:
            freeze->stays[operands[1]] = true;
            break;
        case SpvOpSpecConstantComposite:
            freeze->stays[operands[1]] = has_spec_constituent(freeze, &walk);
            break;
        default:
            break;
        }
    }
}

static const struct pm_spec_value *value_of(const struct freeze *freeze, uint32_t id,
                                            const struct pm_spec_value *values, size_t count)
{
    for (size_t i = 0; i < count && freeze->spec_id[id]; i++) {
        if (values[i].spec_id == freeze->spec_id[id] - 1)
            return &values[i];
    }
    return NULL;
}

/* Narrow literals fill their word: sign-extended when signed, else zero (SPIR-V 2.2.1). */
static void put_scalar(uint32_t *literal, struct scalar_type type, uint64_t bits)
{
    if (type.width == 64) {
        literal[0] = (uint32_t)bits;
        literal[1] = (uint32_t)(bits >> 32);
        return;
    }
    uint32_t low = (uint32_t)bits;
    if (type.width < 32) {
        uint32_t unused = 32u - type.width;
        low = type.sign_extends ? (uint32_t)((int32_t)(low << unused) >> unused)
                                : low << unused >> unused;
    }
    literal[0] = low;
}

static void set_opcode(uint32_t *instruction, uint32_t opcode)
{
    instruction[0] = (instruction[0] & ~SpvOpCodeMask) | opcode;
}

static void freeze_instruction(const struct freeze *freeze, uint32_t *instruction,
                               const struct pm_spec_value *values, size_t count)
{
    uint32_t opcode = instruction[0] & SpvOpCodeMask;
    bool stays = freeze->stays[instruction[2]];
    const struct pm_spec_value *value = value_of(freeze, instruction[2], values, count);
    if (opcode == SpvOpSpecConstantComposite) {
        if (!stays)
            set_opcode(instruction, SpvOpConstantComposite);
    } else if (opcode == SpvOpSpecConstant) {
        if (!stays)
            set_opcode(instruction, SpvOpConstant);
        if (value)
            put_scalar(instruction + 3, freeze->types[instruction[1]], value->bits);
    } else {
        bool set = value ? value->bits != 0 : opcode == SpvOpSpecConstantTrue;
        set_opcode(instruction, set ? SpvOpConstantTrue : SpvOpConstantFalse);
    }
}

static bool is_spec_constant(uint32_t opcode)
{
    return opcode == SpvOpSpecConstantTrue || opcode == SpvOpSpecConstantFalse ||
           opcode == SpvOpSpecConstant || opcode == SpvOpSpecConstantComposite;
}

bool pm_words_freeze(struct pm_words *module, const struct pm_spec_value *values, size_t count,
                     struct pm_error *error)
{
    struct freeze freeze = {.bound = module->data[3]};
    freeze.spec_id = calloc(freeze.bound, sizeof *freeze.spec_id);
    freeze.types = calloc(freeze.bound, sizeof *freeze.types);
    freeze.stays = calloc(freeze.bound, sizeof *freeze.stays);
    if (!freeze.spec_id || !freeze.types || !freeze.stays) {
        free(freeze.spec_id);
        free(freeze.types);
        free(freeze.stays);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", freeze.bound);
    }
    collect(module, &freeze);
    size_t kept = PM_SPIRV_HEADER_WORDS;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        uint32_t *instruction = module->data + walk.at;
        if (walk.opcode == SpvOpDecorate && instruction[2] == SpvDecorationSpecId &&
            !freeze.stays[instruction[1]])
            continue;
        if (is_spec_constant(walk.opcode))
            freeze_instruction(&freeze, instruction, values, count);
        memmove(module->data + kept, instruction, walk.length * sizeof(uint32_t));
        kept += walk.length;
    }
    module->count = kept;
    free(freeze.spec_id);
    free(freeze.types);
    free(freeze.stays);
    return true;
}
