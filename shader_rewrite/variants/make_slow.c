/* A shader that does its work twice: for tests of what finds that out. variants.h. */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_loops.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variants.h"

/* Whether the operand points to a variable of the invocation's own. */
static bool is_own(const struct pm_ir_instr *instr, uint32_t operand)
{
    const struct pm_ir_instr *pointer = pm_ir_operand_instr(instr, operand);
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    return type && type->opcode == SpvOpTypePointer &&
           pm_ir_operand_word(&type->operands[0]) == SpvStorageClassFunction;
}

/* What guards have. Where all of a subgroup goes round once more together it says the same. */
static bool is_of_guards(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpGroupNonUniformAll || instr->opcode == SpvOpGroupNonUniformAny ||
           instr->opcode == SpvOpGroupNonUniformQuadSwap;
}

static bool is_control(const struct pm_ir_instr *instr)
{
    return pm_ir_opcode_is(instr->opcode, PM_IR_OP_TERMINATOR) ||
           instr->opcode == SpvOpSelectionMerge || instr->opcode == SpvOpLoopMerge ||
           instr->opcode == SpvOpVariable || instr->opcode == SpvOpLine ||
           instr->opcode == SpvOpNoLine;
}

/* The variable that a pointer leads to, or that an image was loaded from; NULL: not known. */
static const struct pm_ir_instr *root_of(const struct pm_ir_instr *instr)
{
    while (instr) {
        switch (instr->opcode) {
        case SpvOpVariable:
            return instr;
        case SpvOpAccessChain:
        case SpvOpInBoundsAccessChain:
        case SpvOpRawAccessChainNV:
        case SpvOpCopyObject:
        case SpvOpSampledImage:
        case SpvOpImage:
            break;
        case SpvOpLoad: /* of an image; any other is a pointer to buffers */
            if (pm_ir_type_of(instr)->opcode != SpvOpTypeImage &&
                pm_ir_type_of(instr)->opcode != SpvOpTypeSampledImage)
                return NULL;
            break;
        default:
            return NULL;
        }
        instr = pm_ir_operand_instr(instr, 0);
    }
    return NULL;
}

/* The memory that it writes; NULL: not known. */
static const struct pm_ir_instr *written_by(const struct pm_ir_instr *instr)
{
    const bool known = instr->opcode == SpvOpStore || instr->opcode == SpvOpCopyMemory ||
                       instr->opcode == SpvOpImageWrite;
    return known ? root_of(pm_ir_operand_instr(instr, 0)) : NULL;
}

/* Of what reads: which operand it reads. */
static uint32_t read_operand(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpCopyMemory ? 1 : 0;
}

enum { WRITTEN = 16 /* variables */ };

struct written {
    const struct pm_ir_instr *variables[WRITTEN];
    uint32_t count;
};

static bool is_written(const struct written *written, const struct pm_ir_instr *variable)
{
    for (uint32_t i = 0; i < written->count; i++)
        if (written->variables[i] == variable)
            return true;
    return false;
}

/* Notes it. false: it is not known, or one too many. */
static bool note_written(struct written *written, const struct pm_ir_instr *variable)
{
    if (!variable || (written->count == WRITTEN && !is_written(written, variable)))
        return false;
    if (!is_written(written, variable))
        written->variables[written->count++] = variable;
    return true;
}

static bool note_writes(const struct pm_memory *memory, const struct pm_ir_function *function,
                        struct written *written)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            if (i->opcode == SpvOpVariable && i->operand_count > 1)
                return false; /* initialized once */
            if (is_own(i, 0) || is_control(i) || is_of_guards(i))
                continue;
            const struct pm_memory_access access = pm_memory_access_of(memory, i);
            if (access.stops || (access.writes && !note_written(written, written_by(i))))
                return false;
        }
    return true;
}

/* Whether it writes the same when it is run once more behind itself: nothing that it reads. What is
 * bound to two variables is taken for two. */
static bool is_repeatable(const struct pm_ir_module *module, const struct pm_ir_function *function)
{
    const struct pm_memory memory = pm_memory_of(module);
    struct written written = {.count = 0};
    if (!note_writes(&memory, function, &written))
        return false;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const uint32_t operand = read_operand(i);
            if (is_control(i) || is_own(i, operand) || is_of_guards(i) ||
                !pm_memory_access_of(&memory, i).reads)
                continue;
            const struct pm_ir_instr *variable = root_of(pm_ir_operand_instr(i, operand));
            if (written.count > 0 && (!variable || is_written(&written, variable)))
                return false;
        }
    return true;
}

/* Whether it returns, and from no loop: a loop around all of it can have these as its turns' ends.
 */
static bool may_turn(struct pm_ir_function *function)
{
    const struct pm_loops *loops = pm_loops(function);
    bool returns = false;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (pm_ir_terminator(b)->opcode != SpvOpReturn)
            continue;
        if (loops->loop_of[b->index] != PM_NO_LOOP)
            return false;
        returns = true;
    }
    return returns;
}

/* 2, which no compiler knows: there is a workgroup, and pixels lie within 2^20. */
static struct pm_ir_def *build_two(struct pm_ir_builder *b, enum pm_stage stage)
{
    struct pm_ir_module *module = b->module;
    struct pm_ir_instr *entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false),
                     *real = pm_ir_type_float(module, 32);
    struct pm_ir_def *at, *least;
    if (stage == PM_STAGE_COMPUTE) {
        struct pm_ir_def *uvec3 = pm_ir_type_vector(module, uint, 3);
        at = pm_ir_build_load_as(
            b, pm_ir_builtin_input(module, entry, SpvBuiltInNumWorkgroups, uvec3), uvec3);
        at = pm_ir_build(b, SpvOpCompositeExtract, uint, PM_IR_ARGS(pm_ir_id(at), pm_ir_word(0)));
    } else {
        struct pm_ir_def *vec4 = pm_ir_type_vector(module, real, 4);
        at = pm_ir_build_load_as(b, pm_ir_builtin_input(module, entry, SpvBuiltInFragCoord, vec4),
                                 vec4);
        at = pm_ir_build(b, SpvOpCompositeExtract, real, PM_IR_ARGS(pm_ir_id(at), pm_ir_word(1)));
        at = pm_ir_build(b, SpvOpConvertFToU, uint, PM_IR_ARGS(pm_ir_id(at)));
    }
    least = pm_ir_build(b, SpvOpShiftRightLogical, uint,
                        PM_IR_ARGS(pm_ir_id(at), pm_ir_id(pm_ir_constant_uint(module, 20))));
    if (stage == PM_STAGE_COMPUTE)
        least = pm_ir_build(
            b, SpvOpSelect, uint,
            PM_IR_ARGS(pm_ir_id(pm_ir_build(
                           b, SpvOpINotEqual, pm_ir_type_bool(module),
                           PM_IR_ARGS(pm_ir_id(at), pm_ir_id(pm_ir_constant_uint(module, 0))))),
                       pm_ir_id(pm_ir_constant_uint(module, 0)),
                       pm_ir_id(pm_ir_constant_uint(module, 1))));
    return pm_ir_build(b, SpvOpISub, uint,
                       PM_IR_ARGS(pm_ir_id(pm_ir_constant_uint(module, 2)), pm_ir_id(least)));
}

/* ---- where a guard fails ---- */

/* What makes it slow: always, or guards of which the result's id is at least so large. */
struct slowing {
    bool where_guards_fail;
    uint32_t bound;
};

/* Whether the block ends in a guard, of those that were put into the shader. */
static bool is_guard(const struct pm_ir_block *block, uint32_t bound)
{
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    return end->opcode == SpvOpBranchConditional &&
           pm_ir_operand_instr(end, 0)->result->id >= bound;
}

/* Whether another guard was passed before it: then its block is a copy, as all that is there. */
static bool is_behind(const struct pm_dominators *dominators, struct pm_ir_function *function,
                      const struct pm_ir_block *block, uint32_t bound)
{
    for (struct pm_ir_block *b = function->first_block; b; b = b->next)
        if (b != block && is_guard(b, bound)) {
            const struct pm_ir_def *passed = pm_ir_terminator(b)->operands[1].def;
            if (pm_dominates(dominators, pm_ir_block_of(passed)->index, block->index))
                return true;
        }
    return false;
}

enum { GUARDS = 32 };

/* Sets a bit of the variable where a guard fails, of each that may be the first to. Returns the
 * bits; changes no block. */
static uint32_t mark_failures(struct pm_ir_module *module, struct pm_ir_function *function,
                              struct pm_ir_def *variable, uint32_t bound)
{
    const struct pm_dominators *dominators = pm_dominators(function);
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false);
    uint32_t bits = 0;
    for (struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (!is_guard(b, bound) || is_behind(dominators, function, b, bound) ||
            bits >> (GUARDS - 1))
            continue;
        const uint32_t bit = bits + 1;
        struct pm_ir_block *failed = pm_ir_block_of(pm_ir_terminator(b)->operands[2].def);
        struct pm_ir_builder at = {module, failed, pm_ir_block_start(failed)};
        struct pm_ir_def *value = pm_ir_build(&at, SpvOpLoad, uint, PM_IR_ARGS(pm_ir_id(variable)));
        value =
            pm_ir_build(&at, SpvOpBitwiseOr, uint,
                        PM_IR_ARGS(pm_ir_id(value), pm_ir_id(pm_ir_constant_uint(module, bit))));
        pm_ir_build_instr(&at, SpvOpStore, NULL, PM_IR_ARGS(pm_ir_id(variable), pm_ir_id(value)));
        bits |= bit;
    }
    return bits;
}

/* What says which guards have failed: a variable, and the bits that it has where all have. */
struct watched {
    struct pm_ir_def *variable; /* NULL: there is no guard, or the module failed */
    uint32_t bits;
};

/* How many times, at its end: twice where all guards have failed in any of the subgroup, which so
 * stays together. Guards without a vote are uniform. */
static struct pm_ir_def *build_times(struct pm_ir_builder *b, const struct watched *watched)
{
    struct pm_ir_module *module = b->module;
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false), *boolean = pm_ir_type_bool(module);
    struct pm_ir_def *all = pm_ir_constant_uint(module, watched->bits);
    struct pm_ir_def *failed =
        pm_ir_build(b, SpvOpLoad, uint, PM_IR_ARGS(pm_ir_id(watched->variable)));
    failed = pm_ir_build(b, SpvOpIEqual, boolean, PM_IR_ARGS(pm_ir_id(failed), pm_ir_id(all)));
    if (pm_ir_has_capability(module, SpvCapabilityGroupNonUniformVote))
        failed = pm_ir_build(
            b, SpvOpGroupNonUniformAny, boolean,
            PM_IR_ARGS(pm_ir_id(pm_ir_constant_uint(module, SpvScopeSubgroup)), pm_ir_id(failed)));
    return pm_ir_build(b, SpvOpSelect, uint,
                       PM_IR_ARGS(pm_ir_id(failed), pm_ir_id(pm_ir_constant_uint(module, 2)),
                                  pm_ir_id(pm_ir_constant_uint(module, 1))));
}

static bool has_guard(const struct pm_ir_function *function, uint32_t bound)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        if (is_guard(b, bound))
            return true;
    return false;
}

static struct watched watch_guards(struct pm_ir_module *module, struct pm_ir_function *function,
                                   uint32_t bound)
{
    if (!has_guard(function, bound))
        return (struct watched){0};
    struct pm_ir_block *first = function->first_block;
    struct pm_ir_builder b = {module, first, pm_ir_block_start(first)};
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false);
    struct pm_ir_instr *variable = pm_ir_build_instr(
        &b, SpvOpVariable, pm_ir_type_pointer(module, SpvStorageClassFunction, uint),
        PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction)));
    if (!variable)
        return (struct watched){0};
    return (struct watched){variable->result,
                            mark_failures(module, function, variable->result, bound)};
}

/* ---- twice ---- */

/* What returned goes there instead. */
static void return_to(struct pm_ir_module *module, struct pm_ir_function *function,
                      struct pm_ir_block *target)
{
    for (struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (!pm_ir_terminator(b) || pm_ir_terminator(b)->opcode != SpvOpReturn)
            continue;
        pm_ir_remove(pm_ir_terminator(b));
        pm_ir_build_branch(&(struct pm_ir_builder){module, b, NULL}, target);
    }
}

/* All of the function is the body of a loop, whose turns its returns end. */
static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    const struct slowing *slowing = context;
    enum pm_stage stage;
    struct pm_ir_function *function = pm_variant_function(module);
    if (!function || !may_turn(function) || !pm_entry_function(module, &stage, error) ||
        !is_repeatable(module, function))
        return PM_PASS_UNCHANGED;
    const struct watched watched = slowing->where_guards_fail
                                       ? watch_guards(module, function, slowing->bound)
                                       : (struct watched){0};
    if (slowing->where_guards_fail && !watched.variable)
        return module->failed ? PM_PASS_CHANGED : PM_PASS_UNCHANGED;
    struct pm_ir_block *first = function->first_block;
    struct pm_ir_block *body = pm_ir_block_split(module, first, pm_ir_block_start(first));
    struct pm_ir_builder b = {module, first, NULL};
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false), *times = NULL;
    if (watched.variable)
        pm_ir_build_instr(
            &b, SpvOpStore, NULL,
            PM_IR_ARGS(pm_ir_id(watched.variable), pm_ir_id(pm_ir_constant_uint(module, 0))));
    else
        times = build_two(&b, stage);
    struct pm_ir_block *header = pm_ir_block_create(module, first);
    struct pm_ir_block *again = pm_ir_block_create(module, function->last_block);
    struct pm_ir_block *merge = pm_ir_block_create(module, again);
    pm_ir_build_branch(&b, header);
    if (module->failed)
        return PM_PASS_CHANGED;
    b.block = header;
    struct pm_ir_instr *turn = pm_ir_build_instr(&b, SpvOpPhi, uint, NULL, 0);
    pm_ir_build_instr(&b, SpvOpLoopMerge, NULL,
                      PM_IR_ARGS(pm_ir_id(merge->label->result), pm_ir_id(again->label->result),
                                 pm_ir_word(SpvLoopControlDontUnrollMask)));
    pm_ir_build_branch(&b, body);
    return_to(module, function, again);
    b.block = again;
    if (watched.variable)
        times = build_times(&b, &watched);
    struct pm_ir_def *next =
        pm_ir_build(&b, SpvOpIAdd, uint,
                    PM_IR_ARGS(pm_ir_id(turn->result), pm_ir_id(pm_ir_constant_uint(module, 1))));
    struct pm_ir_def *more = pm_ir_build(&b, SpvOpULessThan, pm_ir_type_bool(module),
                                         PM_IR_ARGS(pm_ir_id(next), pm_ir_id(times)));
    pm_ir_build_branch_conditional(&b, more, header, merge);
    pm_ir_phi_add(module, turn, pm_ir_constant_uint(module, 0), first);
    pm_ir_phi_add(module, turn, next, again);
    b.block = merge;
    pm_ir_build_instr(&b, SpvOpReturn, NULL, NULL, 0);
    return PM_PASS_CHANGED;
}

static const struct pm_pass make_slow = {"make_slow", PM_ANALYSIS_LOOPS | PM_ANALYSIS_DOMINATORS, 0,
                                         run};

static bool make(const uint32_t *words, size_t count, struct slowing *slowing,
                 const struct pm_target *target, struct pm_words *out, struct pm_error *error)
{
    *out = (struct pm_words){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const enum pm_pass_result result = pm_pass_run(&passes, &make_slow, slowing, error);
    const bool ok = result == PM_PASS_UNCHANGED
                        ? pm_fail(error, PM_ERROR_UNSUPPORTED, "what it does cannot be done twice")
                        : result == PM_PASS_CHANGED && pm_ir_emit(module, out, error) &&
                              pm_validate_made(out, words, count, target, error);
    pm_ir_module_destroy(module);
    if (!ok) {
        pm_words_finish(out);
        *out = (struct pm_words){0};
    }
    return ok;
}

bool pm_make_slow(const uint32_t *words, size_t count, const struct pm_target *target,
                  struct pm_words *out, struct pm_error *error)
{
    return make(words, count, &(struct slowing){0}, target, out, error);
}

bool pm_make_slow_where_guards_fail(const uint32_t *words, size_t count, uint32_t bound,
                                    const struct pm_target *target, struct pm_words *out,
                                    struct pm_error *error)
{
    return make(words, count, &(struct slowing){true, bound}, target, out, error);
}
