/* Specialization constants become constants. */
#include "shader_rewrite/canonical_words.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

struct scalar_type {
    uint8_t width; /* bits; 0: not a number */
    bool sign_extends;
};

struct freeze {
    uint32_t bound;
    uint32_t *spec_id;         /* by id: the SpecId + 1, 0 none */
    struct scalar_type *types; /* by id */
};

static void collect(const struct pm_words *module, struct freeze *freeze)
{
    for (struct pm_walk walk = pm_walk_begin(module);
         pm_walk_next(&walk) && walk.opcode != SpvOpFunction;) {
        const uint32_t *operands = module->data + walk.at + 1;
        if (walk.opcode == SpvOpDecorate && operands[1] == SpvDecorationSpecId)
            freeze->spec_id[operands[0]] = operands[2] + 1;
        else if (walk.opcode == SpvOpTypeInt)
            freeze->types[operands[0]] =
                (struct scalar_type){(uint8_t)operands[1], operands[2] != 0};
        else if (walk.opcode == SpvOpTypeFloat)
            freeze->types[operands[0]] = (struct scalar_type){(uint8_t)operands[1], false};
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
    if (opcode == SpvOpSpecConstantComposite) {
        set_opcode(instruction, SpvOpConstantComposite);
        return;
    }
    const struct pm_spec_value *value = value_of(freeze, instruction[2], values, count);
    if (opcode == SpvOpSpecConstant) {
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
    if (!freeze.spec_id || !freeze.types) {
        free(freeze.spec_id);
        free(freeze.types);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", freeze.bound);
    }
    collect(module, &freeze);
    size_t kept = PM_SPIRV_HEADER_WORDS;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        uint32_t *instruction = module->data + walk.at;
        if (walk.opcode == SpvOpDecorate && instruction[2] == SpvDecorationSpecId)
            continue;
        if (is_spec_constant(walk.opcode))
            freeze_instruction(&freeze, instruction, values, count);
        memmove(module->data + kept, instruction, walk.length * sizeof(uint32_t));
        kept += walk.length;
    }
    module->count = kept;
    free(freeze.spec_id);
    free(freeze.types);
    return true;
}
