/*
 * One order for what has none of its own: types, constants and global variables come as functions
 * use them first, and capabilities, execution modes, interfaces and decorations sorted. So the key
 * is not of the order in which a compiler happened to declare things (seen: glslang, which declares
 * other constants first where it writes debug information).
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_walk.h"

#include <stdlib.h>
#include <string.h>

struct step {
    struct pm_ir_instr *global;
    uint32_t next; /* 0: its type, then its operands */
};

struct ordering {
    struct pm_ir_list *globals;
    /* Room for all globals each. */
    struct pm_ir_instr **ordered, **later;
    struct step *path; /* of what is being visited: from what is used to what that needs first */
    uint32_t ordered_count, later_count, depth;
};

/* ---- globals ---- */

/* Its OpTypeForwardPointer; NULL: none. */
static struct pm_ir_instr *forward_of(const struct pm_ir_instr *type)
{
    if (type->opcode != SpvOpTypePointer)
        return NULL;
    for (const struct pm_ir_operand *use = type->result->first_use; use; use = use->next_use)
        if (use->user->opcode == SpvOpTypeForwardPointer)
            return use->user;
    return NULL;
}

static void append(struct ordering *o, struct pm_ir_instr *global)
{
    global->mark = true;
    o->ordered[o->ordered_count++] = global;
}

static bool is_new(const struct ordering *o, const struct pm_ir_instr *instr)
{
    return instr && instr->list == o->globals && !instr->mark;
}

static void enter(struct ordering *o, struct pm_ir_instr *instr)
{
    if (!is_new(o, instr))
        return;
    struct pm_ir_instr *forward = forward_of(instr);
    if (forward && is_new(o, forward))
        append(o, forward);
    instr->mark = true;
    o->path[o->depth++] = (struct step){instr, 0};
}

/* A structure or array may name a pointer that is declared behind it. */
static bool may_wait(struct ordering *o, const struct pm_ir_instr *user, struct pm_ir_instr *needed)
{
    struct pm_ir_instr *forward;
    const bool holds = user->opcode == SpvOpTypeStruct || user->opcode == SpvOpTypeArray ||
                       user->opcode == SpvOpTypeRuntimeArray;
    if (!holds || !is_new(o, needed) || !(forward = forward_of(needed)))
        return false;
    if (is_new(o, forward)) {
        append(o, forward);
        o->later[o->later_count++] = needed;
    }
    return true;
}

static void follow(struct ordering *o)
{
    while (o->depth) {
        struct step *step = &o->path[o->depth - 1];
        const uint32_t next = step->next++;
        struct pm_ir_instr *needed =
            next == 0 ? pm_ir_type_of(step->global) : pm_ir_operand_instr(step->global, next - 1);
        if (next > step->global->operand_count) {
            o->ordered[o->ordered_count++] = step->global;
            o->depth--;
        } else if (!may_wait(o, step->global, needed)) {
            enter(o, needed);
        }
    }
}

/* An OpTypeForwardPointer comes with what it declares. */
static void use(struct ordering *o, struct pm_ir_instr *global)
{
    if (global && global->opcode == SpvOpTypeForwardPointer)
        return;
    enter(o, global);
    follow(o);
    while (o->later_count) {
        enter(o, o->later[--o->later_count]);
        follow(o);
    }
}

static bool has_global_use(const struct ordering *o, const struct pm_ir_instr *global)
{
    const struct pm_ir_operand *use = global->result ? global->result->first_use : NULL;
    while (use && use->user->list != o->globals)
        use = use->next_use;
    return use;
}

/* What no function needs, unused inputs or the size of a workgroup, keeps its order, behind the
 * rest. */
static bool order_globals(struct pm_ir_module *module, bool *small, struct pm_error *error)
{
    struct ordering o = {.globals = &module->sections[PM_IR_SECTION_GLOBAL]};
    uint32_t count = 0;
    if (!pm_canonical_forward(module, small, error))
        return false;
    for (struct pm_ir_instr *i = o.globals->first; i; i = i->next, count++)
        i->mark = false;
    o.ordered = pm_arena_zalloc(module->arena, count, sizeof(struct pm_ir_instr *));
    o.later = pm_arena_zalloc(module->arena, count, sizeof(struct pm_ir_instr *));
    o.path = pm_arena_zalloc(module->arena, count, sizeof(struct step));
    if (count && (!o.ordered || !o.later || !o.path))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u globals", count);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        if (!walk.function)
            continue;
        use(&o, pm_ir_type_of(walk.instr));
        for (uint32_t i = 0; i < walk.instr->operand_count; i++)
            use(&o, pm_ir_operand_instr(walk.instr, i));
    }
    for (struct pm_ir_instr *i = o.globals->first; i; i = i->next)
        if (!has_global_use(&o, i))
            use(&o, i);
    for (struct pm_ir_instr *i = o.globals->first; i; i = i->next)
        use(&o, i);
    for (uint32_t i = 0; i < o.ordered_count; i++) {
        pm_ir_detach(o.ordered[i]);
        pm_ir_insert(o.globals, NULL, NULL, o.ordered[i]);
    }
    return true;
}

/* ---- what is sorted ---- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_operands(const struct pm_ir_operand *a, const struct pm_ir_operand *b)
{
    const uint32_t *left = a->words, *right = b->words;
    if (a->def || b->def || !left || !right)
        return compare_numbers(pm_ir_operand_word(a), pm_ir_operand_word(b));
    for (uint32_t i = 0; i < a->word_count && i < b->word_count; i++)
        if (left[i] != right[i])
            return compare_numbers(left[i], right[i]);
    return compare_numbers(a->word_count, b->word_count);
}

/* By the first operand, what is decorated for instance, then by opcode and the others. */
static int compare(const void *left, const void *right)
{
    const struct pm_ir_instr *a = *(struct pm_ir_instr *const *)left;
    const struct pm_ir_instr *b = *(struct pm_ir_instr *const *)right;
    int order = 0;
    if (a->operand_count && b->operand_count)
        order = compare_operands(&a->operands[0], &b->operands[0]);
    if (order == 0)
        order = compare_numbers(a->opcode, b->opcode);
    for (uint32_t i = 1; order == 0 && i < a->operand_count && i < b->operand_count; i++)
        order = compare_operands(&a->operands[i], &b->operands[i]);
    return order ? order : compare_numbers(a->operand_count, b->operand_count);
}

static bool sort_section(struct pm_ir_module *module, enum pm_ir_section section,
                         struct pm_error *error)
{
    struct pm_ir_list *list = &module->sections[section];
    uint32_t count = 0;
    for (struct pm_ir_instr *i = list->first; i; i = i->next)
        count++;
    if (count < 2)
        return true;
    struct pm_ir_instr **sorted = pm_arena_zalloc(module->arena, count, sizeof(*sorted));
    if (!sorted)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u instructions", count);
    count = 0;
    for (struct pm_ir_instr *i = list->first; i; i = i->next)
        sorted[count++] = i;
    qsort(sorted, count, sizeof(*sorted), compare);
    for (uint32_t i = 0; i < count; i++) {
        pm_ir_detach(sorted[i]);
        pm_ir_insert(list, NULL, NULL, sorted[i]);
    }
    return true;
}

static int compare_defs(const void *left, const void *right)
{
    const struct pm_ir_def *a = *(struct pm_ir_def *const *)left;
    const struct pm_ir_def *b = *(struct pm_ir_def *const *)right;
    return compare_numbers(a->id, b->id);
}

/* An OpEntryPoint's model, function and name come first. */
static bool sort_interface(struct pm_ir_module *module, struct pm_ir_instr *entry,
                           struct pm_error *error)
{
    enum { FIRST = 3 };
    const uint32_t count = entry->operand_count > FIRST ? entry->operand_count - FIRST : 0;
    struct pm_ir_def **sorted = pm_arena_zalloc(module->arena, count, sizeof(*sorted));
    if (count && !sorted)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u variables", count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = entry->operands[FIRST + i].def;
    if (count)
        qsort(sorted, count, sizeof(*sorted), compare_defs);
    for (uint32_t i = 0; i < count; i++)
        pm_ir_operand_set(&entry->operands[FIRST + i], sorted[i]);
    return true;
}

/* Sorted by ids that are given in the new order, but for imports, which are given theirs. */
static bool order(struct pm_ir_module *module, bool *small, struct pm_error *error)
{
    if (!sort_section(module, PM_IR_SECTION_IMPORT, error) || !order_globals(module, small, error))
        return false;
    pm_ir_renumber(module);
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ENTRY_POINT].first; i; i = i->next)
        if (!sort_interface(module, i, error))
            return false;
    return sort_section(module, PM_IR_SECTION_CAPABILITY, error) &&
           sort_section(module, PM_IR_SECTION_EXTENSION, error) &&
           sort_section(module, PM_IR_SECTION_EXECUTION_MODE, error) &&
           sort_section(module, PM_IR_SECTION_ANNOTATION, error);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    return pm_pass_result_of(order(module, context, error), true);
}

const struct pm_pass pm_pass_order = {"order", 0, 0, run};
