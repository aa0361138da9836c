/*
 * OpTypeForwardPointer stays only where a type leads back to itself, as a list's element does, and
 * before a reference to what is only stored in 8 or 16 bits where the module would be refused
 * without. Compilers write it for every buffer reference (seen: glslang), and other types in
 * between decide whether it is needed; what needs it must come behind it.
 *
 * SPIRV-Tools takes a variable or conversion of a pointer for one of what is behind it, and may
 * refuse small types there without Int8, Int16 or Float16; but it does not look behind a pointer
 * that is declared ahead (vkd3d-proton's GDeflate, and push constants with a reference to bytes).
 * In a storage buffer whose bytes may be stored it allows them: there it is no part of the shader,
 * as elsewhere. Only the validator says which it is (canonicalize.c).
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"

struct dropping {
    const struct pm_ir_list *globals;
    uint32_t *needs; /* by id: how many operands of a type are not known to be finite */
    struct pm_ir_def **finite;
    uint32_t count;
    bool *is_small; /* by id */
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

/* ---- what is only stored in 8 or 16 bits ---- */

static bool is_only_stored(const struct pm_ir_module *module, const struct pm_ir_instr *type)
{
    const bool is_int = type->opcode == SpvOpTypeInt;
    if (!is_int && type->opcode != SpvOpTypeFloat)
        return false;
    switch (pm_ir_operand_word(&type->operands[0])) {
    case 8:
        return is_int && !pm_ir_has_capability(module, SpvCapabilityInt8);
    case 16:
        return !pm_ir_has_capability(module, is_int ? SpvCapabilityInt16 : SpvCapabilityFloat16);
    default:
        return false;
    }
}

/* is_small, by id: a type that is only stored, or holds one. found: room for all ids. */
static void find_small(const struct pm_ir_module *module, const struct pm_ir_list *globals,
                       bool *is_small, struct pm_ir_def **found)
{
    uint32_t count = 0;
    for (struct pm_ir_instr *i = globals->first; i; i = i->next) {
        if (i->result && is_only_stored(module, i)) {
            is_small[i->result->id] = true;
            found[count++] = i->result;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (struct pm_ir_operand *use = found[i]->first_use; use; use = use->next_use) {
            const struct pm_ir_instr *user = use->user;
            const bool holds = user->opcode == SpvOpTypeVector || user->opcode == SpvOpTypeMatrix ||
                               user->opcode == SpvOpTypeArray ||
                               user->opcode == SpvOpTypeRuntimeArray ||
                               user->opcode == SpvOpTypeStruct;
            if (holds && !is_small[user->result->id]) {
                is_small[user->result->id] = true;
                found[count++] = user->result;
            }
        }
    }
}

static bool leads_back(const struct dropping *d, const struct pm_ir_instr *forward)
{
    return d->needs[pm_ir_operand_id(&forward->operands[0])];
}

static bool is_of_small(const struct dropping *d, const struct pm_ir_instr *forward)
{
    enum { POINTEE = 1 }; /* an OpTypePointer's operand, behind its storage class */
    const struct pm_ir_instr *pointer = pm_ir_operand_instr(forward, 0);
    return pointer && pointer->opcode == SpvOpTypePointer &&
           d->is_small[pm_ir_operand_id(&pointer->operands[POINTEE])];
}

bool pm_canonical_forward(struct pm_ir_module *module, bool *small, struct pm_error *error)
{
    struct pm_ir_list *globals = &module->sections[PM_IR_SECTION_GLOBAL];
    if (!has_forward(globals))
        return true;
    struct dropping d = {.globals = globals};
    d.needs = pm_arena_zalloc(module->arena, module->bound, sizeof(*d.needs));
    d.finite = pm_arena_zalloc(module->arena, module->bound, sizeof(struct pm_ir_def *));
    d.is_small = pm_arena_zalloc(module->arena, module->bound, sizeof(*d.is_small));
    if (!d.needs || !d.finite || !d.is_small)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", module->bound);
    for (struct pm_ir_instr *i = globals->first; i; i = i->next)
        if (i->result)
            count_needs(&d, i);
    for (uint32_t i = 0; i < d.count; i++)
        spread(&d, d.finite[i]);
    find_small(module, globals, d.is_small, d.finite);
    for (struct pm_ir_instr *i = globals->first, *next; i; i = next) {
        next = i->next;
        if (i->opcode != SpvOpTypeForwardPointer || leads_back(&d, i))
            continue;
        const bool of_small = is_of_small(&d, i);
        if (of_small && !small)
            continue;
        if (of_small)
            *small = true;
        pm_ir_remove(i);
    }
    return true;
}
