/*
 * OpTypeForwardPointer stays only where a type leads back to itself, as a list's element does.
 * Compilers write it for every buffer reference (seen: glslang), and other types in between decide
 * whether it is needed; what needs it must come behind it.
 */
#include "shader_rewrite/canonical/canonical_passes.h"

struct dropping {
    const struct pm_ir_list *globals;
    uint32_t *needs; /* by id: how many operands of a type are not known to be finite */
    struct pm_ir_def **finite;
    uint32_t count;
};

static bool has_forward(const struct pm_ir_list *globals)
{
    const struct pm_ir_instr *i = globals->first;
    while (i && i->opcode != SpvOpTypeForwardPointer)
        i = i->next;
    return i;
}

static void count_needs(struct dropping *d, const struct pm_ir_instr *global)
{
    for (uint32_t i = 0; i < global->operand_count; i++)
        if (global->operands[i].def)
            d->needs[global->result->id]++;
    if (!d->needs[global->result->id])
        d->finite[d->count++] = global->result;
}

/* Whoever uses something finite has one reason less not to be so. */
static void spread(struct dropping *d, const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->list == d->globals && user->result && use != &user->type &&
            --d->needs[user->result->id] == 0)
            d->finite[d->count++] = user->result;
    }
}

bool pm_canonical_forward(struct pm_ir_module *module, struct pm_error *error)
{
    struct pm_ir_list *globals = &module->sections[PM_IR_SECTION_GLOBAL];
    if (!has_forward(globals))
        return true;
    struct dropping d = {.globals = globals};
    d.needs = pm_arena_zalloc(module->arena, module->bound, sizeof(*d.needs));
    d.finite = pm_arena_zalloc(module->arena, module->bound, sizeof(struct pm_ir_def *));
    if (!d.needs || !d.finite)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", module->bound);
    for (struct pm_ir_instr *i = globals->first; i; i = i->next)
        if (i->result)
            count_needs(&d, i);
    for (uint32_t i = 0; i < d.count; i++)
        spread(&d, d.finite[i]);
    for (struct pm_ir_instr *i = globals->first, *next; i; i = next) {
        next = i->next;
        if (i->opcode == SpvOpTypeForwardPointer && !d.needs[pm_ir_operand_id(&i->operands[0])])
            pm_ir_remove(i);
    }
    return true;
}
