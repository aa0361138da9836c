/*
 * Redundancy elimination uses behind a loop what was made in it, where both are the same: right,
 * and no front end writes it. Mesa's NIR makes a cast of such a pointer and no longer knows what it
 * may be an alias of (seen: lavapipe 25.0, which takes a store in the loop for none), and
 * lavapipe 25.0 may crash on a length or what a constant buffer holds (docs/results/drivers.md). So
 * a pointer that is made in a loop, and what is read there and can be read anywhere, is made again
 * in each block outside that uses it.
 */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"

struct nearing {
    struct pm_ir_module *module;
    const struct pm_loops *loops;
    struct pm_ir_def *
        *near; /* by id: what stands for it in the block; a definition of that block */
    struct pm_memory memory;
    bool changed;
};

/* Whether it loads what no invocation writes: constant buffers, push constants, handles of images.
 */
static bool loads_constant(const struct nearing *n, const struct pm_ir_instr *load)
{
    const struct pm_ir_instr *pointer = pm_ir_type_of(pm_ir_operand_instr(load, 0));
    const uint32_t class = pm_ir_operand_word(&pointer->operands[0]);
    if (class == SpvStorageClassUniformConstant)
        return true;
    if (pm_memory_access_of(&n->memory, load).writes) /* it is volatile */
        return false;
    return class == SpvStorageClassPushConstant ||
           (class == SpvStorageClassUniform && !n->memory.writable_uniforms);
}

/* Whether it is the same wherever it is made. */
static bool can_be_made_again(const struct nearing *n, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpPtrAccessChain:
    case SpvOpArrayLength:
        return true;
    case SpvOpLoad:
        return loads_constant(n, instr);
    default:
        return false;
    }
}

/* Before an instruction, and before what must stand directly before it. */
static struct pm_ir_instr *place_before(struct pm_ir_instr *instr)
{
    struct pm_ir_instr *place =
        instr == pm_ir_terminator(instr->block) ? pm_ir_block_end(instr->block) : instr;
    while (place->prev && (place->prev->opcode == SpvOpLine || place->prev->opcode == SpvOpNoLine))
        place = place->prev;
    return place;
}

static struct pm_ir_instr *make_again(struct nearing *n, const struct pm_ir_instr *instr,
                                      struct pm_ir_instr *before)
{
    struct pm_ir_instr *again = pm_ir_instr_like(n->module, instr, pm_ir_type_of(instr)->result);
    if (!again)
        return NULL;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        if (instr->operands[o].def)
            pm_ir_operand_set(&again->operands[o], instr->operands[o].def);
        else
            pm_ir_operand_copy_literal(&again->operands[o], &instr->operands[o]);
    }
    pm_ir_insert(&before->block->body, before->block, before, again);
    pm_ir_copy_decorations(n->module, instr->result, again->result, false);
    n->near[instr->result->id] = again->result;
    return again;
}

/* Returns what to go on with: what was made for the instruction, which may need the same, and which
 * leads here again; the instruction itself when all is near. */
static struct pm_ir_instr *visit(struct nearing *n, struct pm_ir_instr *instr)
{
    const uint32_t here = n->loops->loop_of[instr->block->index];
    for (uint32_t o = 0; instr->opcode != SpvOpPhi && o < instr->operand_count; o++) {
        struct pm_ir_def *def = instr->operands[o].def;
        const struct pm_ir_instr *made = def ? def->instr : NULL;
        if (!made || !made->block || !can_be_made_again(n, made) ||
            pm_loop_is_around(n->loops, n->loops->loop_of[made->block->index], here))
            continue;
        struct pm_ir_def *near = n->near[def->id];
        const bool is_near = near && near->instr->block == instr->block;
        struct pm_ir_instr *again =
            is_near ? near->instr : make_again(n, made, place_before(instr));
        if (!again)
            return instr; /* the module has failed */
        pm_ir_operand_set(&instr->operands[o], again->result);
        n->changed = true;
        if (!is_near)
            return again;
    }
    return instr;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    const uint32_t bound = module->bound;
    struct nearing n = {.module = module,
                        .memory = pm_memory_of(module),
                        .near = pm_arena_zalloc(module->arena, bound, sizeof(*n.near))};
    if (!n.near)
        return pm_pass_result_of(pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", bound),
                                 false);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
        n.loops = f->first_block ? pm_loops(f) : NULL;
        if (!n.loops || !n.loops->count)
            continue;
        for (struct pm_ir_block *b = f->first_block; b; b = b->next) {
            for (struct pm_ir_instr *i = b->body.first; i;) {
                struct pm_ir_instr *from = visit(&n, i);
                i = from != i ? from : i->next;
            }
        }
    }
    return pm_pass_result_of(true, n.changed);
}

const struct pm_pass pm_pass_near_pointers = {"near pointers", PM_ANALYSIS_LOOPS, PM_ANALYSIS_ALL,
                                              run};
