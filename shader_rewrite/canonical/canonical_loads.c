/*
 * Redundancy elimination uses a value behind a loop that was loaded in it, where both loads are the
 * same: right, but drivers that run lanes in step may have another value there for lanes that left
 * the loop before others (seen: lavapipe 22.3, which loads zeroes for such lanes from then on). So
 * loads of a buffer that is loaded in a loop before it may be left are told apart by the loop that
 * they are in, with a decoration, which the optimizer compares; it is taken away afterwards.
 *
 * So are reads of images with an implicit level of detail, which the lanes of a quad tell one
 * another: in the loop some of these may have gone, and behind it they are together again.
 *
 * What is volatile, or has another name by which it may be written, is another thing at each load,
 * whatever else is said of it; to the optimizer inputs and what is NonWritable is never written.
 *
 * What waits in a loop for another invocation's write does nothing that the optimizer knows of, so
 * that it would take the loop away: a shader with volatile memory in a loop is refused.
 *
 * Left alone are loads through OpPtrAccessChain and of images, which the optimizer may use behind a
 * loop too; that any driver then has another value was not seen, and that none has is not known.
 * Loads of uniform buffers (where the module has no BufferBlock, as from SPIR-V 1.3 on) are made
 * again behind loops (canonical_pointers.c).
 */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/analysis_volatile.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_walk.h"

/* As the float guard's: none is left of the input's. The text is a letter and a number: the loop,
 * or the id of a load that no other is like. */
#define MARKER_DECORATION SpvDecorationUserSemantic
#define MARKER_LETTER 'l'
#define TEXT_WORDS 3 /* ten bytes */
#define ALONE 0x80000000u

/* Of a pointer's uses, when the same load is looked for. */
enum { MOST_SEEN = 64 };

struct marking {
    struct pm_ir_module *module;
    struct pm_memory memory;
    bool *left_behind; /* by id of a variable */
    bool *has_aliases; /* likewise */
    bool any_alone, changed;
};

static bool is_buffer(const struct marking *m, const struct pm_ir_instr *variable)
{
    uint32_t class = pm_ir_operand_word(&variable->operands[0]);
    return class == SpvStorageClassStorageBuffer ||
           (class == SpvStorageClassUniform && m->memory.writable_uniforms);
}

/* The variable that is loaded from; NULL: none, or not known. */
static const struct pm_ir_instr *variable_of(const struct pm_ir_instr *load)
{
    return load->opcode == SpvOpLoad ? pm_ir_variable_of(pm_ir_operand_instr(load, 0)) : NULL;
}

/* The buffer that is loaded from; NULL: none, or not known. */
static const struct pm_ir_instr *buffer_of(const struct marking *m, const struct pm_ir_instr *load)
{
    const struct pm_ir_instr *from = variable_of(load);
    return from && is_buffer(m, from) ? from : NULL;
}

/* Whether no other load is like it: it is volatile, or of a variable with aliases. */
static bool is_alone(const struct marking *m, const struct pm_ir_instr *load)
{
    if (load->opcode != SpvOpLoad)
        return false;
    const struct pm_ir_instr *from = variable_of(load);
    return pm_memory_access_of(&m->memory, load).writes ||
           (from && m->has_aliases[from->result->id]);
}

/* What a loop does that the optimizer keeps it for, or what it may wait for. */
enum { WAITS = 1, WRITES = 2 };

/* Whether what is written there is the invocation's own, or gone where nobody in its workgroup
 * reads it. */
static bool is_local(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pm_ir_type_of(pointer);
    switch (pm_ir_operand_word(&type->operands[0])) {
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassWorkgroup:
        return true;
    default:
        return false;
    }
}

static uint8_t does(const struct marking *m, const struct pm_ir_instr *instr)
{
    const struct pm_memory_access access = pm_memory_access_of(&m->memory, instr);
    switch (instr->opcode) {
    case SpvOpLoad:
    case SpvOpImageRead:
    case SpvOpImageSparseRead:
        return access.reads && access.writes ? WAITS : 0;
    case SpvOpStore:
        return is_local(pm_ir_operand_instr(instr, 0)) ? 0 : WRITES;
    case SpvOpCopyMemory:
        if (!is_local(pm_ir_operand_instr(instr, 0)))
            return WRITES;
        return pm_volatile_is(pm_ir_operand_instr(instr, 1)) ? WAITS : 0;
    case SpvOpRawAccessChainNV: /* the optimizer keeps it, not knowing that it does nothing */
        return WRITES;
    default:
        return access.writes || access.stops ? WRITES : 0;
    }
}

/* Whether a loop reads what others write meanwhile, and does nothing else. */
static bool waits(const struct marking *m, const struct pm_ir_function *function, uint8_t *done)
{
    const struct pm_loops *loops = pm_loops(function);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (uint32_t l = loops->loop_of[b->index]; l != PM_NO_LOOP; l = loops->loops[l].parent)
            for (const struct pm_ir_instr *i = b->body.first, *end = pm_ir_block_end(b);
                 i && i != end; i = i->next)
                done[l] |= does(m, i);
    for (uint32_t l = 0; l < loops->count; l++)
        if (done[l] == WAITS)
            return true;
    return false;
}

static void find_aliases(struct marking *m)
{
    for (const struct pm_ir_instr *i = m->module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorate &&
            pm_ir_operand_word(&i->operands[1]) == SpvDecorationAliased)
            m->has_aliases[i->operands[0].def->id] = true;
}

static void decorate(struct marking *m, struct pm_ir_def *result, uint32_t number)
{
    if (number == PM_NO_LOOP)
        return;
    uint32_t words[TEXT_WORDS] = {MARKER_LETTER};
    for (uint32_t digit = 0; digit < 8; digit++)
        words[(1 + digit) / 4] |= ('a' + (number >> 4 * digit & 15)) << (1 + digit) % 4 * 8;
    m->changed = true;
    pm_ir_decorate(m->module, result, MARKER_DECORATION,
                   PM_IR_ARGS(pm_ir_word(words[0]), pm_ir_word(words[1]), pm_ir_word(words[2])));
}

/* The loop that a load is told by: its own, or that of the same load before, which may stand for
 * it: in a loop around its own, or in none. */
static uint32_t told_by(const struct pm_ir_function *function, const struct pm_ir_instr *load)
{
    const struct pm_loops *loops = pm_loops(function);
    uint32_t own = loops->loop_of[load->block->index], told = own, seen = 0;
    for (const struct pm_ir_operand *use = load->operands[0].def->first_use;
         use && seen < MOST_SEEN; use = use->next_use, seen++) {
        const struct pm_ir_instr *other = use->user;
        if (other->opcode != SpvOpLoad || other->block == load->block ||
            other->block->function != function ||
            !pm_dominates(pm_dominators(function), other->block->index, load->block->index))
            continue;
        uint32_t loop = loops->loop_of[other->block->index];
        if (pm_loop_is_around(loops, loop, told))
            told = loop;
    }
    return told;
}

/* Finds the buffers, or marks their loads; what can be loaded in a loop and used behind it comes
 * before every way out of the loop, and those meet in its merge block. */
static void visit(struct marking *m, const struct pm_ir_function *function, bool mark)
{
    const struct pm_loops *loops = pm_loops(function);
    const struct pm_dominators *dominators = pm_dominators(function);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        uint32_t loop = loops->loop_of[b->index];
        for (const struct pm_ir_instr *i = b->body.first; mark && i; i = i->next)
            if (is_alone(m, i)) {
                m->any_alone = true;
                decorate(m, i->result, ALONE | i->result->id);
            }
        if (loop == PM_NO_LOOP)
            continue;
        bool before_exit = pm_dominates(dominators, b->index, loops->loops[loop].merge);
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const struct pm_ir_instr *buffer = buffer_of(m, i);
            if (is_alone(m, i))
                continue;
            if (mark && i->result && pm_ir_opcode_is(i->opcode, PM_IR_OP_IMPLICIT_LOD))
                decorate(m, i->result, loop);
            else if (buffer && mark && m->left_behind[buffer->result->id])
                decorate(m, i->result, told_by(function, i));
            else if (buffer)
                m->left_behind[buffer->result->id] |= before_exit;
        }
    }
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct marking m = {.module = module,
                        .memory = pm_memory_of(module),
                        .left_behind = pm_arena_zalloc(module->arena, module->bound, sizeof(bool)),
                        .has_aliases = pm_arena_zalloc(module->arena, module->bound, sizeof(bool))};
    if (!m.left_behind || !m.has_aliases)
        return pm_pass_result_of(
            pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", module->bound), false);
    find_aliases(&m);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
        if (!f->first_block)
            continue;
        visit(&m, f, false);
        visit(&m, f, true);
        uint8_t *done = pm_arena_zalloc(module->arena, pm_loops(f)->count + 1u, sizeof(*done));
        if (done && waits(&m, f, done))
            return pm_pass_result_of(pm_fail(error, PM_ERROR_UNSUPPORTED,
                                             "a loop waits for volatile memory, and would be gone"),
                                     false);
        if (!done)
            return pm_pass_result_of(pm_fail(error, PM_ERROR_MEMORY, "out of memory for loops"),
                                     false);
    }
    if (context)
        *(bool *)context = m.any_alone;
    return pm_pass_result_of(true, m.changed);
}

static bool is_marker(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpDecorate && pm_ir_instr_words(instr) == 3 + TEXT_WORDS &&
           pm_ir_operand_word(&instr->operands[1]) == MARKER_DECORATION &&
           *pm_ir_operand_text(&instr->operands[2]) == MARKER_LETTER;
}

static enum pm_pass_result take_back(struct pm_ir_module *module, void *context,
                                     struct pm_error *error)
{
    (void)context;
    (void)error;
    bool changed = false;
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first, *next; i;
         i = next) {
        next = i->next;
        if (!is_marker(i))
            continue;
        pm_ir_remove(i);
        changed = true;
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_mark_loads = {"mark loads", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS,
                                           PM_ANALYSIS_ALL, run};
const struct pm_pass pm_pass_unmark_loads = {"unmark loads", 0, PM_ANALYSIS_ALL, take_back};
