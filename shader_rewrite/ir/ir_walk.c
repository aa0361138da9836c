#include "shader_rewrite/ir/ir_walk.h"

#include <stdlib.h>

/* The list that `next` is in; below LEADING the number of a section. */
enum {
    LEADING = PM_IR_SECTIONS,
    FUNCTION,
    PARAMETERS,
    BLOCK_LEADING,
    LABEL,
    BODY,
    TRAILING,
    FUNCTION_END,
    MODULE_TRAILING
};

struct pm_ir_walk pm_ir_walk_begin(const struct pm_ir_module *module)
{
    return (struct pm_ir_walk){.module = module, .next = module->sections[0].first};
}

static bool enter(struct pm_ir_walk *w, unsigned list, struct pm_ir_instr *first)
{
    w->list = list;
    w->next = first;
    return true;
}

static bool enter_function(struct pm_ir_walk *w, struct pm_ir_function *function)
{
    w->function = function;
    return function ? enter(w, LEADING, function->leading.first)
                    : enter(w, MODULE_TRAILING, w->module->trailing.first);
}

static bool enter_block(struct pm_ir_walk *w, struct pm_ir_block *block)
{
    w->block = block;
    return block ? enter(w, BLOCK_LEADING, block->leading.first)
                 : enter(w, TRAILING, w->function->trailing.first);
}

/* Goes on to the next list, which may be empty. */
static bool next_list(struct pm_ir_walk *w)
{
    switch (w->list) {
    case LEADING:
        return enter(w, FUNCTION, w->function->function);
    case FUNCTION:
        return enter(w, PARAMETERS, w->function->parameters.first);
    case PARAMETERS:
        return enter_block(w, w->function->first_block);
    case BLOCK_LEADING:
        return enter(w, LABEL, w->block->label);
    case LABEL:
        return enter(w, BODY, w->block->body.first);
    case BODY:
        return enter_block(w, w->block->next);
    case TRAILING:
        return enter(w, FUNCTION_END, w->function->end);
    case FUNCTION_END:
        return enter_function(w, w->function->next);
    case MODULE_TRAILING:
        return false;
    default:
        return w->list + 1 < PM_IR_SECTIONS
                   ? enter(w, w->list + 1, w->module->sections[w->list + 1].first)
                   : enter_function(w, w->module->first_function);
    }
}

bool pm_ir_walk_next(struct pm_ir_walk *walk)
{
    while (!walk->next)
        if (!next_list(walk))
            return false;
    walk->instr = walk->next;
    walk->next = walk->instr->next;
    return true;
}

size_t pm_ir_instr_words(const struct pm_ir_instr *instr)
{
    size_t words = 1u + (instr->type.def != NULL) + (instr->result != NULL);
    for (uint32_t i = 0; i < instr->operand_count; i++)
        words += instr->operands[i].word_count;
    return words;
}

static void number(struct pm_ir_module *module, struct pm_ir_def **defs, struct pm_ir_def *def)
{
    def->id = module->bound++;
    defs[def->id] = def;
}

void pm_ir_renumber(struct pm_ir_module *module)
{
    struct pm_ir_def **old = module->defs, **defs = calloc(module->defs_capacity, sizeof(*defs));
    if (!defs) {
        module->failed = true;
        return;
    }
    const uint32_t bound = module->bound;
    module->bound = 1;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        if (walk.instr->result)
            number(module, defs, walk.instr->result);
    for (uint32_t id = 0; id < bound && id < module->defs_capacity; id++)
        if (old[id] && !old[id]->instr && old[id]->first_use)
            number(module, defs, old[id]);
    module->defs = defs;
    free(old);
}
