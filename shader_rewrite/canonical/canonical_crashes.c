/*
 * What crashes the pinned SPIRV-Tools' optimizer, and the game with it, is kept from it: null
 * arrays. When a constant is inserted into one, constant folding takes it for an array without
 * elements (FoldInsertWithConstants, GetNullCompositeConstant). So it is written out before, as a
 * composite of its elements' nulls. None comes up inside of the optimizer: the nulls that it makes
 * are of scalars and vectors, or parts of nulls.
 *
 * docs/results/fuzzing.md says what else was looked at.
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"

/* Of all arrays and structures written out in a module; beyond, it is refused. */
enum { MOST_ELEMENTS = 1 << 14 };

/* Of a type. */
struct fact {
    struct pm_ir_def *null; /* defined already; one with an array in it is written out */
    bool has_array;
};

struct writing_out {
    struct pm_ir_module *module;
    struct fact *facts; /* by the type's id */
    uint32_t elements;  /* written out so far */
    bool changed;
};

static bool has_array(const struct writing_out *w, const struct pm_ir_instr *type)
{
    switch (type->opcode) {
    case SpvOpTypeArray:
        return true;
    case SpvOpTypeStruct:
        for (uint32_t i = 0; i < type->operand_count; i++)
            if (w->facts[pm_ir_operand_id(&type->operands[i])].has_array)
                return true;
        return false;
    default:
        return false;
    }
}

/* How many constituents; false: no constant says so, or too many. */
static bool count_elements(struct writing_out *w, const struct pm_ir_instr *type, uint32_t *count,
                           struct pm_error *error)
{
    *count = type->operand_count;
    if (type->opcode == SpvOpTypeArray) {
        const struct pm_ir_instr *length = pm_ir_operand_instr(type, 1);
        const struct pm_ir_operand *number = &length->operands[0];
        if (length->opcode != SpvOpConstant || number->word_count != 1)
            return pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "a null array whose length is no 32-bit constant crashes SPIRV-Tools");
        *count = pm_ir_operand_word(number);
    }
    if (*count > MOST_ELEMENTS - w->elements)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "null arrays of more than %d elements are not written out", MOST_ELEMENTS);
    w->elements += *count;
    return true;
}

static bool write_out(struct writing_out *w, struct pm_ir_instr *null, struct pm_error *error);

/* The null of a type, made before `before` when there is none. */
static struct pm_ir_def *null_of(struct writing_out *w, struct pm_ir_def *type,
                                 struct pm_ir_instr *before, struct pm_error *error)
{
    struct fact *fact = &w->facts[type->id];
    if (fact->null)
        return fact->null;
    struct pm_ir_instr *null = pm_ir_instr_with(w->module, SpvOpConstantNull, type, NULL, 0);
    if (!null) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory or ids for a null");
        return NULL;
    }
    pm_ir_insert(&w->module->sections[PM_IR_SECTION_GLOBAL], NULL, before, null);
    fact->null = null->result;
    return !fact->has_array || write_out(w, null, error) ? null->result : NULL;
}

/* Turns an OpConstantNull into an OpConstantComposite. */
static bool write_out(struct writing_out *w, struct pm_ir_instr *null, struct pm_error *error)
{
    const struct pm_ir_instr *type = pm_ir_type_of(null);
    const bool array = type->opcode == SpvOpTypeArray;
    uint32_t count;
    if (!count_elements(w, type, &count, error))
        return false;
    if (!pm_ir_operands_insert(w->module, null, 0, count))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u operands", count);
    null->opcode = SpvOpConstantComposite;
    for (uint32_t i = 0; i < count; i++) {
        struct pm_ir_def *element = null_of(w, type->operands[array ? 0 : i].def, null, error);
        if (!element)
            return false;
        pm_ir_operand_set(&null->operands[i], element);
    }
    w->changed = true;
    return true;
}

/* Variables of a workgroup can have no other initial value than a null, and nothing folds it. */
static bool starts_workgroup_variable(const struct pm_ir_instr *user)
{
    return user->opcode == SpvOpVariable &&
           pm_ir_operand_word(&user->operands[0]) == SpvStorageClassWorkgroup;
}

/* Leaves a null of its own to those that must have one; false: nothing else uses this one. */
static bool split_off_workgroup(struct writing_out *w, struct pm_ir_instr *null)
{
    struct pm_ir_instr *split = NULL;
    bool other = false;
    for (struct pm_ir_operand *use = null->result->first_use; use; use = use->next_use)
        other |= !starts_workgroup_variable(use->user);
    for (struct pm_ir_operand *use = null->result->first_use, *next; other && use; use = next) {
        next = use->next_use;
        if (!starts_workgroup_variable(use->user))
            continue;
        if (!split) {
            split = pm_ir_instr_with(w->module, SpvOpConstantNull, null->type.def, NULL, 0);
            if (!split)
                return false; /* the module is marked as failed */
            pm_ir_insert(null->list, NULL, null, split);
        }
        pm_ir_operand_set(use, split->result);
    }
    return other;
}

static bool visit(struct writing_out *w, struct pm_ir_instr *global, struct pm_error *error)
{
    if (global->opcode != SpvOpConstantNull) {
        if (global->result && global->type.def == NULL)
            w->facts[global->result->id].has_array = has_array(w, global);
        return true;
    }
    struct fact *fact = &w->facts[pm_ir_operand_id(&global->type)];
    if (!fact->has_array) {
        fact->null = global->result;
        return true;
    }
    return !split_off_workgroup(w, global) || write_out(w, global, error);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    struct writing_out w = {.module = module,
                            .facts =
                                pm_arena_zalloc(module->arena, module->bound, sizeof(struct fact))};
    bool ok = w.facts || pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", module->bound);
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; ok && i; i = i->next)
        ok = visit(&w, i, error);
    return pm_pass_result_of(ok, w.changed);
}

const struct pm_pass pm_pass_avoid_crashes = {"avoid crashes", 0, PM_ANALYSIS_ALL, run};
