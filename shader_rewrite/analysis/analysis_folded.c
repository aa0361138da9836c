#include "shader_rewrite/analysis/analysis_folded.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/analysis/analysis_known.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include <stdlib.h>
#include <string.h>

static struct pm_ir_function *mark(struct pm_ir_module *module, struct pm_error *error)
{
    enum pm_stage stage;
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function || !pm_analysis_require(function, PM_ANALYSIS_LOOPS, error))
        return NULL;
    pm_known_mark(function, PM_NO_LOOP);
    return function;
}

static bool is_float(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_scalar_type(pm_ir_type_of(instr));
    return type && type->opcode == SpvOpTypeFloat;
}

/* Whether a compiler may compute it otherwise for what it knows of it, be it a literal. */
static bool minds(const struct pm_ir_instr *instr)
{
    if (pm_known_is_inexact(instr))
        return true;
    if (!instr->result || !pm_exact_computes(instr) || pm_exact_in_part(instr) || !is_float(instr))
        return false;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (operand && operand->type.def && pm_known_of(operand) != PM_KNOWN_NOT)
            return true;
    }
    return false;
}

/* Constants keep their ids. */
static bool knows_as_much(const struct pm_ir_instr *before, const struct pm_ir_instr *after)
{
    if (!before || !after)
        return before == after;
    return after->block ? pm_known_of(before) >= pm_known_of(after)
                        : before->result == NULL || before->result->id == after->result->id;
}

static bool is_like(const struct pm_ir_instr *before, const struct pm_ir_instr *after)
{
    if (before->opcode != after->opcode || before->operand_count != after->operand_count ||
        (after->opcode == SpvOpExtInst &&
         pm_ir_operand_word(&before->operands[1]) != pm_ir_operand_word(&after->operands[1])))
        return false;
    for (uint32_t o = 0; o < after->operand_count; o++)
        if (!knows_as_much(pm_ir_operand_instr(before, o), pm_ir_operand_instr(after, o)))
            return false;
    return true;
}

static bool has_like(const struct pm_ir_function *original, const struct pm_ir_instr *instr)
{
    for (const struct pm_ir_block *b = original->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (is_like(i, instr))
                return true;
    return false;
}

static bool knows_more(const struct pm_ir_function *made, const struct pm_ir_function *original)
{
    for (const struct pm_ir_block *b = made->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (minds(i) && !has_like(original, i))
                return true;
    return false;
}

static bool say_refused(char **report, struct pm_error *error)
{
    static const char said[] = "{\"refused\":true,";
    const size_t size = *report ? strlen(*report) : 0;
    if (size < 2)
        return true;
    char *text = malloc(sizeof said + size);
    if (!text)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    memcpy(text, said, sizeof said - 1);
    memcpy(text + sizeof said - 1, *report + 1, size);
    free(*report);
    *report = text;
    return true;
}

bool pm_refuse_folded(const uint32_t *words, size_t count, struct pm_words *made, char **report,
                      bool *refused, struct pm_error *error)
{
    *refused = false;
    struct pm_ir_module *before = pm_ir_parse(words, count, error);
    struct pm_ir_module *after = before ? pm_ir_parse(made->data, made->count, error) : NULL;
    const struct pm_ir_function *original = after ? mark(before, error) : NULL;
    const struct pm_ir_function *function = original ? mark(after, error) : NULL;
    bool ok = function != NULL;
    if (ok && knows_more(function, original)) {
        *refused = true;
        pm_words_finish(made);
        ok = say_refused(report, error);
    }
    pm_ir_module_destroy(after);
    pm_ir_module_destroy(before);
    return ok;
}
