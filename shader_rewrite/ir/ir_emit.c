#include "shader_rewrite/ir/ir_walk.h"

#include <stdlib.h>

enum { HEADER_WORDS = 5 };

uint32_t *pm_ir_instr_put(const struct pm_ir_instr *instr, uint32_t *at)
{
    uint32_t *first = at++;
    if (instr->type.def)
        *at++ = instr->type.def->id;
    if (instr->result)
        *at++ = instr->result->id;
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        const struct pm_ir_operand *operand = &instr->operands[i];
        if (operand->def || !operand->words)
            *at++ = pm_ir_operand_word(operand);
        else
            for (uint32_t k = 0; k < operand->word_count; k++)
                *at++ = operand->words[k];
    }
    *first = (uint32_t)(at - first) << SpvWordCountShift | instr->opcode;
    return at;
}

static void put_module(uint32_t *data, const struct pm_ir_module *module)
{
    const uint32_t header[HEADER_WORDS] = {SpvMagicNumber, module->version, module->generator,
                                           module->bound, module->schema};
    for (size_t i = 0; i < HEADER_WORDS; i++)
        *data++ = header[i];
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        data = pm_ir_instr_put(walk.instr, data);
}

bool pm_ir_emit(const struct pm_ir_module *module, struct pm_words *out, struct pm_error *error)
{
    *out = (struct pm_words){0};
    if (module->failed)
        return pm_fail(error, PM_ERROR_MEMORY, "SPIR-V: out of memory or ids while rewriting");
    size_t count = HEADER_WORDS;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        size_t words = pm_ir_instr_words(walk.instr);
        if (words > UINT16_MAX)
            return pm_fail(error, PM_ERROR_LIMIT,
                           "SPIR-V: an instruction of more than 65535 words");
        count += words;
    }
    uint32_t *data = malloc(count * sizeof(uint32_t));
    if (!data)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    put_module(data, module);
    if (module->swapped)
        for (size_t i = 0; i < count; i++)
            data[i] = __builtin_bswap32(data[i]);
    *out = (struct pm_words){data, count};
    return true;
}
