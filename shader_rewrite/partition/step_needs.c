#include "shader_rewrite/partition/step_needs.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/partition/spilled_value.h"

#include <stdlib.h>

enum { KINDS = 32 }; /* of memory, bits of pm_memory_access */

struct finding {
    const struct pm_steps *steps;
    struct pm_step_needs *out;
    struct pm_arena *arena;
    struct pm_error *error;
    struct pm_memory memory;
    bool fragment;
    const struct pm_own_memory *own_memory;
    uint32_t *seen;            /* by step: the last step that was found to need it, and 1 */
    uint32_t *seen_own;        /* by id: likewise */
    uint32_t step;             /* whose needs are looked for */
    uint32_t *variable_step;   /* by id of a variable: a step that touches it, and 1 */
    uint32_t subgroup, shared; /* steps that do; PM_NO_STEP: none yet */
    uint32_t last_write[KINDS], last_stop;
    uint32_t *readers[KINDS]; /* since then */
    uint32_t reader_count[KINDS];
    bool failed;
};

/* Adds an element at the end of a malloc'ed array. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 256;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static void add_need(struct finding *f, uint32_t needs, bool value)
{
    struct pm_step_needs *out = f->out;
    void *array = out->needs;
    f->failed |= !grow(&array, out->need_count, &out->need_capacity, sizeof(*out->needs));
    out->needs = array;
    if (!f->failed)
        out->needs[out->need_count++] =
            (struct pm_step_need){.step = f->step, .needs = needs, .value = value};
}

static void add_input(struct finding *f, uint32_t variable)
{
    struct pm_step_needs *out = f->out;
    void *array = out->inputs;
    f->failed |= !grow(&array, out->input_count, &out->input_capacity, sizeof(*out->inputs));
    out->inputs = array;
    if (!f->failed)
        out->inputs[out->input_count++] =
            (struct pm_step_input){.step = f->step, .variable = variable};
}

uint32_t pm_step_needs_root(struct pm_step_needs *needs, uint32_t step)
{
    while (needs->with[step] != step) {
        needs->with[step] = needs->with[needs->with[step]];
        step = needs->with[step];
    }
    return step;
}

/* Two steps belong together. known: one of them, and 1; 0: the other is the first. */
static void together(struct finding *f, uint32_t *known)
{
    if (*known)
        f->out->with[pm_step_needs_root(f->out, f->step)] = pm_step_needs_root(f->out, *known - 1);
    *known = f->step + 1;
}

/* ---- what every pass computes for itself ---- */

static bool is_subgroup_builtin(const struct pm_ir_instr *variable)
{
    for (const struct pm_ir_operand *use = variable->result->first_use; use; use = use->next_use) {
        if (use->user->opcode != SpvOpDecorate ||
            pm_ir_operand_word(&use->user->operands[1]) != SpvDecorationBuiltIn)
            continue;
        return pm_builtin_is_of_subgroup(pm_ir_operand_word(&use->user->operands[2]));
    }
    return false;
}

const struct pm_ir_instr *pm_stored_output(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *variable =
        instr->opcode == SpvOpStore ? pm_ir_variable_of(pm_ir_operand_instr(instr, 0)) : NULL;
    return variable && pm_ir_operand_word(&variable->operands[0]) == SpvStorageClassOutput
               ? variable
               : NULL;
}

/* Whether all operands are globals, or what every pass computes too. */
static bool rests_on_own(const struct finding *f, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        if (!instr->operands[o].def)
            continue;
        const struct pm_ir_def *def = instr->operands[o].def;
        if (pm_step_of(f->steps, def) != PM_NO_STEP && !f->out->own[def->id])
            return false;
    }
    return true;
}

/* Whether a pointer is made of other values, without a load. */
static bool is_made_pointer(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpPtrAccessChain:
    case SpvOpRawAccessChainNV:
        return true;
    case SpvOpCopyObject:
    case SpvOpBitcast:
    case SpvOpConvertUToPtr:
        return pm_is_handle(pm_ir_type_of(instr));
    default:
        return false;
    }
}

/* Whether an OpPhi behind the selection that the step is in, which is cut open, names a value of
 * the step, or a pointer made of it. Both of the OpPhi's values are asked for, whichever way was
 * taken: what the other way must not load would be. */
static bool leaves_selection(const struct finding *f, const struct pm_ir_instr *instr)
{
    const struct pm_steps *steps = f->steps;
    const uint32_t guard = steps->steps[f->step].guard;
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (is_made_pointer(user) && leaves_selection(f, user))
            return true;
        const uint32_t by = user->opcode == SpvOpPhi ? pm_step_of(steps, user->result) : PM_NO_STEP;
        if (by != PM_NO_STEP && !pm_guard_is_around(steps, guard, steps->steps[by].guard))
            return true;
    }
    return false;
}

/* A pointer whose indices are values of the shader still is computed wherever it is used. */
static bool is_own(const struct finding *f, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpUndef:
    case SpvOpImageTexelPointer:
    case SpvOpSampledImage:
    case SpvOpImage:
        return true;
    case SpvOpArrayLength:
        return !leaves_selection(f, instr);
    case SpvOpLoad: {
        struct pm_memory_access access = pm_memory_access_of(&f->memory, instr);
        const struct pm_ir_instr *variable = pm_ir_variable_of(pm_ir_operand_instr(instr, 0));
        if (access.reads || access.writes || (variable && is_subgroup_builtin(variable)) ||
            leaves_selection(f, instr))
            return false;
        return pm_is_handle(pm_ir_type_of(instr)) || rests_on_own(f, instr);
    }
    default:
        return is_made_pointer(instr);
    }
}

static void find_own(struct finding *f)
{
    struct pm_step_walk walk = pm_step_walk_begin(f->steps, f->step);
    while (pm_step_walk_next(&walk))
        if (walk.instr->result)
            f->out->own[walk.instr->result->id] = is_own(f, walk.instr);
    const struct pm_step *step = &f->steps->steps[f->step];
    f->out->own_step[f->step] =
        step->kind == PM_STEP_INSTR && step->instr->result && f->out->own[step->instr->result->id];
}

/* ---- needs ---- */

/* A step of the shader's own, or memory of the workgroup, that an operand names. */
static void touch_variable(struct finding *f, const struct pm_ir_instr *variable)
{
    uint32_t storage = pm_ir_operand_word(&variable->operands[0]);
    switch (storage) {
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassOutput:
        if (pm_own_memory_has(f->own_memory, variable->result))
            return; /* whoever touches it keeps the order of its memory */
        together(f, &f->variable_step[variable->result->id]);
        return;
    case SpvStorageClassWorkgroup:
        together(f, &f->shared);
        return;
    case SpvStorageClassInput:
        if (is_subgroup_builtin(variable))
            together(f, &f->subgroup);
        break;
    default:
        break;
    }
    add_input(f, variable->result->id);
}

static void need_operands(struct finding *f, const struct pm_ir_instr *instr);

static void need(struct finding *f, const struct pm_ir_def *def)
{
    uint32_t step = pm_step_of(f->steps, def);
    if (step == PM_NO_STEP) {
        if (def->instr->opcode == SpvOpVariable)
            touch_variable(f, def->instr);
        return;
    }
    if (step == f->step)
        return;
    if (f->out->own[def->id]) {
        if (f->seen_own[def->id] == f->step + 1)
            return;
        f->seen_own[def->id] = f->step + 1;
        need_operands(f, def->instr);
        return;
    }
    /* What cannot be spilled stays with those that use it. Of a construct's values that may be any.
     */
    if (!pm_can_be_spilled(f->steps->function->module, pm_ir_type_of(def->instr)))
        together(f, &(uint32_t){step + 1});
    if (f->seen[step] == f->step + 1)
        return;
    f->seen[step] = f->step + 1;
    add_need(f, step, true);
}

static void need_operands(struct finding *f, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && instr->operands[o].def->instr)
            need(f, instr->operands[o].def);
}

static void need_guards(struct finding *f, uint32_t guard)
{
    for (; guard != PM_NO_GUARD; guard = f->steps->guards[guard].parent)
        need(f, f->steps->guards[guard].condition);
}

/* ---- memory ---- */

static void add_reader(struct finding *f, uint32_t kind)
{
    uint32_t count = f->reader_count[kind];
    if ((count & (count - 1)) == 0) { /* full: 0, 1, 2, 4… */
        uint32_t *grown =
            realloc(f->readers[kind], (count ? 2 * (size_t)count : 1) * sizeof(*grown));
        f->failed |= !grown;
        if (!grown)
            return;
        f->readers[kind] = grown;
    }
    f->readers[kind][f->reader_count[kind]++] = f->step;
}

static void need_step(struct finding *f, uint32_t step)
{
    if (step == PM_NO_STEP || step == f->step || f->seen[step] == f->step + 1)
        return;
    f->seen[step] = f->step + 1;
    add_need(f, step, false);
}

/* Steps that touch the same memory keep their order. */
static void need_memory(struct finding *f, struct pm_memory_access access)
{
    if (access.stops) {
        need_step(f, f->last_stop);
        f->last_stop = f->step;
    }
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        uint32_t bit = 1u << kind;
        if (!((access.reads | access.writes) & bit))
            continue;
        need_step(f, f->last_write[kind]);
        for (uint32_t i = 0; i < f->reader_count[kind] && access.writes & bit; i++)
            need_step(f, f->readers[kind][i]);
        if (access.writes & bit) {
            f->last_write[kind] = f->step;
            f->reader_count[kind] = 0;
        } else {
            add_reader(f, kind);
        }
    }
}

/* In the one that a step is, or in one within a selection. */
static bool is_in_loop(const struct finding *f, const struct pm_ir_instr *instr)
{
    const struct pm_structure *structure = pm_structure(f->steps->function);
    uint32_t c = structure->innermost[instr->block->index];
    while (c != PM_NO_CONSTRUCT && structure->constructs[c].kind != PM_CONSTRUCT_LOOP &&
           structure->constructs[c].kind != PM_CONSTRUCT_CONTINUE)
        c = structure->constructs[c].parent;
    return c != PM_NO_CONSTRUCT;
}

/* Whether a loop may be waiting for what other invocations write: behind a cut they never do. */
static bool may_wait(const struct finding *f, const struct pm_ir_instr *instr,
                     struct pm_memory_access access)
{
    bool loads = instr->opcode == SpvOpLoad || instr->opcode == SpvOpImageRead ||
                 instr->opcode == SpvOpImageSparseRead;
    bool atomic = pm_ir_opcode_is(instr->opcode, PM_IR_OP_ATOMIC);
    return ((loads && (access.writes || (f->memory.coherent && access.reads))) ||
            (atomic && instr->result && instr->result->first_use)) &&
           is_in_loop(f, instr);
}

/* Whether a store is to a place that only this invocation sees. */
static bool stores_own(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *variable = pm_ir_variable_of(pm_ir_operand_instr(instr, 0));
    uint32_t storage =
        variable ? pm_ir_operand_word(&variable->operands[0]) : SpvStorageClassStorageBuffer;
    return storage == SpvStorageClassOutput || storage == SpvStorageClassPrivate ||
           storage == SpvStorageClassFunction;
}

/* What a fragment shader in passes may not do. NULL: nothing of it. */
static const char *not_in_fragments(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpDemoteToHelperInvocationEXT:
        return "it discards fragments";
    case SpvOpIsHelperInvocationEXT:
        return "it asks whether it is a helper";
    case SpvOpImageWrite:
    case SpvOpCopyMemory:
        return "it writes memory";
    case SpvOpStore:
        return stores_own(instr) ? NULL : "it writes memory";
    default:
        return pm_ir_opcode_is(instr->opcode, PM_IR_OP_ATOMIC)     ? "it writes memory"
               : pm_ir_opcode_is(instr->opcode, PM_IR_OP_SUBGROUP) ? "it asks other lanes"
                                                                   : NULL;
    }
}

static bool needs_whole_quads(const struct finding *f, uint32_t step)
{
    if (f->steps->steps[step].loop)
        return true;
    struct pm_step_walk walk = pm_step_walk_begin(f->steps, step);
    while (pm_step_walk_next(&walk))
        if (pm_ir_opcode_is(walk.instr->opcode, PM_IR_OP_DERIVATIVE | PM_IR_OP_IMPLICIT_LOD) ||
            walk.instr->opcode == SpvOpLoopMerge)
            return true;
    return false;
}

/* Steps stand behind what they need, so that one walk from the end on finds all. */
static bool keep_quads(struct finding *f)
{
    bool *whole = pm_arena_zalloc(f->arena, f->steps->count + (size_t)1, sizeof(*whole));
    if (!whole)
        return pm_fail(f->error, PM_ERROR_MEMORY, "out of memory");
    size_t need = f->out->need_count;
    for (f->step = f->steps->count; f->step-- > 0;) {
        whole[f->step] |= needs_whole_quads(f, f->step);
        while (need > 0 && f->out->needs[need - 1].step > f->step)
            need--;
        for (size_t n = need; n > 0 && f->out->needs[n - 1].step == f->step && whole[f->step]; n--)
            if (f->out->needs[n - 1].value) {
                whole[f->out->needs[n - 1].needs] = true;
                together(f, &(uint32_t){f->out->needs[n - 1].needs + 1});
            }
    }
    return true;
}

/* Whether a selection that is cut open would have to give a pointer that only its inside has. */
static bool gives_pointer(const struct finding *f, const struct pm_ir_instr *instr)
{
    return instr->result && !f->out->own[instr->result->id] && pm_is_handle(pm_ir_type_of(instr)) &&
           leaves_selection(f, instr);
}

static bool find_step(struct finding *f)
{
    const struct pm_step *step = &f->steps->steps[f->step];
    struct pm_step_walk walk = pm_step_walk_begin(f->steps, f->step);
    struct pm_memory_access all = {0};
    while (pm_step_walk_next(&walk)) {
        const struct pm_ir_instr *instr = walk.instr;
        struct pm_memory_access access = {0};
        const char *refused = f->fragment ? not_in_fragments(instr) : NULL;
        if (refused)
            return pm_fail(f->error, PM_ERROR_UNSUPPORTED, "%s", refused);
        need_operands(f, instr);
        if (instr->opcode == SpvOpFunctionCall)
            return pm_fail(f->error, PM_ERROR_UNSUPPORTED, "it calls functions");
        if (instr->opcode == SpvOpVariable)
            continue;
        if (!pm_ir_opcode_is(instr->opcode, PM_IR_OP_TERMINATOR) &&
            instr->opcode != SpvOpSelectionMerge && instr->opcode != SpvOpLoopMerge)
            access = pm_memory_access_of(&f->memory, instr);
        if (may_wait(f, instr, access))
            return pm_fail(f->error, PM_ERROR_UNSUPPORTED,
                           "a loop reads what other invocations may write meanwhile");
        if (gives_pointer(f, instr))
            return pm_fail(
                f->error, PM_ERROR_UNSUPPORTED,
                "a selection that is too large for one pass gives a pointer that it loads "
                "or chooses");
        bool subgroup = pm_ir_opcode_is(instr->opcode, PM_IR_OP_SUBGROUP);
        if (subgroup)
            together(f, &f->subgroup);
        if (instr->opcode == SpvOpControlBarrier)
            together(f, &f->shared);
        all.reads |= access.reads;
        all.writes |= access.writes;
        all.stops |= access.stops;
    }
    if (step->kind == PM_STEP_JOIN)
        need_guards(f, step->opened);
    need_guards(f, step->guard);
    need_memory(f, all);
    f->out->once[f->step] = all.reads || all.writes || all.stops;
    return true;
}

static bool init(struct finding *f)
{
    struct pm_step_needs *out = f->out;
    size_t count = f->steps->count + (size_t)1;
    out->own = pm_arena_zalloc(f->arena, f->steps->bound + (size_t)1, sizeof(*out->own));
    out->own_step = pm_arena_zalloc(f->arena, count, sizeof(*out->own_step));
    f->seen_own = pm_arena_zalloc(f->arena, f->steps->bound + (size_t)1, sizeof(*f->seen_own));
    out->once = pm_arena_zalloc(f->arena, count, sizeof(*out->once));
    out->with = pm_arena_alloc(f->arena, count * sizeof(*out->with));
    f->seen = pm_arena_zalloc(f->arena, count, sizeof(*f->seen));
    f->variable_step =
        pm_arena_zalloc(f->arena, f->steps->bound + (size_t)1, sizeof(*f->variable_step));
    if (!out->own || !out->own_step || !f->seen_own || !out->once || !out->with || !f->seen ||
        !f->variable_step)
        return false;
    for (uint32_t i = 0; i < f->steps->count; i++)
        out->with[i] = i;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        f->last_write[kind] = PM_NO_STEP;
    f->last_stop = PM_NO_STEP;
    return true;
}

bool pm_step_needs_find(const struct pm_steps *steps, bool fragment,
                        const struct pm_own_memory *own_memory, struct pm_arena *arena,
                        struct pm_step_needs *out, struct pm_error *error)
{
    *out = (struct pm_step_needs){0};
    struct finding f = {.steps = steps,
                        .out = out,
                        .arena = arena,
                        .error = error,
                        .fragment = fragment,
                        .own_memory = own_memory,
                        .memory = pm_memory_of(steps->function->module)};
    bool ok = init(&f) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (f.step = 0; f.step < steps->count && ok; f.step++)
        find_own(&f);
    for (f.step = 0; f.step < steps->count && ok; f.step++)
        ok = out->own_step[f.step] || find_step(&f);
    ok = ok && (!fragment || f.failed || keep_quads(&f));
    for (uint32_t kind = 0; kind < KINDS; kind++)
        free(f.readers[kind]);
    return (ok && !f.failed) || (ok && pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
}

void pm_step_needs_finish(struct pm_step_needs *needs)
{
    free(needs->needs);
    free(needs->inputs);
    *needs = (struct pm_step_needs){0};
}
