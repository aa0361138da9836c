#include "shader_rewrite/ir/ir_module.h"

#include <stdlib.h>

/* Runs twice: data NULL counts, else it writes. */
struct writer {
    uint32_t *data;
    size_t count;
    bool too_long; /* an instruction of more than 65,535 words */
};

static void put(struct writer *w, uint32_t word)
{
    if (w->data)
        w->data[w->count] = word;
    w->count++;
}

static void put_instr(struct writer *w, const struct pm_ir_instr *instr)
{
    size_t start = w->count;
    put(w, 0);
    if (instr->type.def)
        put(w, instr->type.def->id);
    if (instr->result)
        put(w, instr->result->id);
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        const struct pm_ir_operand *operand = &instr->operands[i];
        if (operand->def || !operand->words)
            put(w, pm_ir_operand_word(operand));
        else
            for (uint32_t k = 0; k < operand->word_count; k++)
                put(w, operand->words[k]);
    }
    size_t length = w->count - start;
    if (length > UINT16_MAX)
        w->too_long = true;
    else if (w->data)
        w->data[start] = (uint32_t)length << SpvWordCountShift | instr->opcode;
}

static void put_list(struct writer *w, const struct pm_ir_list *list)
{
    for (const struct pm_ir_instr *i = list->first; i; i = i->next)
        put_instr(w, i);
}

static void put_function(struct writer *w, const struct pm_ir_function *function)
{
    put_list(w, &function->leading);
    put_instr(w, function->function);
    put_list(w, &function->parameters);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        put_list(w, &b->leading);
        put_instr(w, b->label);
        put_list(w, &b->body);
    }
    put_list(w, &function->trailing);
    put_instr(w, function->end);
}

static void put_module(struct writer *w, const struct pm_ir_module *module)
{
    w->count = 0;
    put(w, SpvMagicNumber);
    put(w, module->version);
    put(w, module->generator);
    put(w, module->bound);
    put(w, module->schema);
    for (int s = 0; s < PM_IR_SECTIONS; s++)
        put_list(w, &module->sections[s]);
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next)
        put_function(w, f);
    put_list(w, &module->trailing);
}

bool pm_ir_emit(const struct pm_ir_module *module, struct pm_words *out, struct pm_error *error)
{
    *out = (struct pm_words){0};
    if (module->failed)
        return pm_fail(error, PM_ERROR_MEMORY, "SPIR-V: out of memory or ids while rewriting");
    struct writer w = {0};
    put_module(&w, module);
    if (w.too_long)
        return pm_fail(error, PM_ERROR_LIMIT, "SPIR-V: an instruction of more than 65535 words");
    w.data = malloc(w.count * sizeof(uint32_t));
    if (!w.data)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    put_module(&w, module);
    if (module->swapped)
        for (size_t i = 0; i < w.count; i++)
            w.data[i] = __builtin_bswap32(w.data[i]);
    *out = (struct pm_words){w.data, w.count};
    return true;
}
