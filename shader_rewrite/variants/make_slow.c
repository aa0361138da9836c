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
            if (is_own(i, 0) || is_control(i))
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
            if (is_control(i) || is_own(i, operand) || !pm_memory_access_of(&memory, i).reads)
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
    (void)context;
    enum pm_stage stage;
    struct pm_ir_function *function = pm_variant_function(module);
    if (!function || !may_turn(function) || !pm_entry_function(module, &stage, error) ||
        !is_repeatable(module, function))
        return PM_PASS_UNCHANGED;
    struct pm_ir_block *first = function->first_block;
    struct pm_ir_block *body = pm_ir_block_split(module, first, pm_ir_block_start(first));
    struct pm_ir_builder b = {module, first, NULL};
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false), *two = build_two(&b, stage);
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
    struct pm_ir_def *next =
        pm_ir_build(&b, SpvOpIAdd, uint,
                    PM_IR_ARGS(pm_ir_id(turn->result), pm_ir_id(pm_ir_constant_uint(module, 1))));
    struct pm_ir_def *more = pm_ir_build(&b, SpvOpULessThan, pm_ir_type_bool(module),
                                         PM_IR_ARGS(pm_ir_id(next), pm_ir_id(two)));
    pm_ir_build_branch_conditional(&b, more, header, merge);
    pm_ir_phi_add(module, turn, pm_ir_constant_uint(module, 0), first);
    pm_ir_phi_add(module, turn, next, again);
    b.block = merge;
    pm_ir_build_instr(&b, SpvOpReturn, NULL, NULL, 0);
    return PM_PASS_CHANGED;
}

static const struct pm_pass make_slow = {"make_slow", PM_ANALYSIS_LOOPS, 0, run};

bool pm_make_slow(const uint32_t *words, size_t count, const struct pm_target *target,
                  struct pm_words *out, struct pm_error *error)
{
    *out = (struct pm_words){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const enum pm_pass_result result = pm_pass_run(&passes, &make_slow, NULL, error);
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
