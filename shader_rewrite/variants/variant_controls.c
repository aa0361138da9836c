/*
 * Hints of SPIR-V to the driver's compiler: Flatten and DontFlatten of selections, Unroll and
 * DontUnroll of loops. They change no value.
 */
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/analysis_turns.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

/* Instructions inside a selection up to which it is small. */
enum { SMALL = 12 };

struct inside {
    uint32_t instructions;
    bool has_effects, has_loop;
};

static struct inside inside_of(const struct pm_ir_function *function, uint32_t construct,
                               const struct pm_memory *memory)
{
    const struct pm_structure *structure = pm_structure(function);
    const uint32_t header = structure->constructs[construct].header;
    struct inside inside = {0};
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (b->index == header || !pm_structure_contains(structure, construct, b->index))
            continue;
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const struct pm_memory_access access = pm_memory_access_of(memory, i);
            const bool flow = i->opcode == SpvOpSelectionMerge || i->opcode == SpvOpLoopMerge ||
                              i->opcode == SpvOpBranch || i->opcode == SpvOpBranchConditional;
            inside.has_loop |= i->opcode == SpvOpLoopMerge;
            inside.has_effects |= !flow && (access.writes || access.stops);
            inside.instructions += !flow;
        }
    }
    return inside;
}

/* What a selection is to say; how it is, where the recipe has nothing to say of it. */
static uint32_t selection_says(enum pm_controls how, const struct inside *inside, uint32_t says)
{
    const bool plain = !inside->has_effects && !inside->has_loop;
    const bool small = inside->instructions <= SMALL;
    switch (how) {
    case PM_CONTROLS_FLATTEN:
        return plain ? SpvSelectionControlFlattenMask : says;
    case PM_CONTROLS_FLATTEN_SMALL:
        return plain && small ? SpvSelectionControlFlattenMask : says;
    case PM_CONTROLS_DONT_FLATTEN:
        return SpvSelectionControlDontFlattenMask;
    case PM_CONTROLS_DONT_FLATTEN_LARGE:
        return small ? says : SpvSelectionControlDontFlattenMask;
    default:
        return says;
    }
}

/* An operand's word; whether it was another. */
static bool say(struct pm_ir_operand *operand, uint32_t word)
{
    if (pm_ir_operand_word(operand) == word)
        return false;
    pm_ir_operand_set_word(operand, word);
    return true;
}

static bool tell_selections(struct pm_ir_function *function, enum pm_controls how,
                            const struct pm_memory *memory)
{
    const struct pm_structure *structure = pm_structure(function);
    const struct pm_cfg *cfg = pm_cfg(function);
    bool changed = false;
    for (uint32_t c = 0; c < structure->count; c++) {
        const struct pm_construct *construct = &structure->constructs[c];
        if (construct->kind != PM_CONSTRUCT_SELECTION)
            continue;
        struct pm_ir_operand *control = &pm_ir_merge(cfg->blocks[construct->header])->operands[1];
        const struct inside inside = inside_of(function, c, memory);
        changed |= say(control, selection_says(how, &inside, pm_ir_operand_word(control)));
    }
    return changed;
}

/* Loops that say more than whether to unroll are left alone, and those that a driver may compute
 * otherwise if it does unroll, of which nobody knows whether it does so by itself. */
static bool tell_loops(const struct pm_ir_function *function, bool unroll)
{
    const struct pm_loops *loops = pm_loops(function);
    bool changed = false;
    for (uint32_t l = 0; l < loops->count; l++) {
        struct pm_ir_operand *control =
            &pm_ir_merge(pm_cfg(function)->blocks[loops->loops[l].header])->operands[2];
        const uint32_t known = SpvLoopControlUnrollMask | SpvLoopControlDontUnrollMask;
        if ((pm_ir_operand_word(control) & ~known) || (unroll && pm_loop_turns(function, l) == 0) ||
            pm_loop_is_risky(function, l))
            continue;
        changed |= say(control, unroll ? SpvLoopControlUnrollMask : SpvLoopControlDontUnrollMask);
    }
    return changed;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const enum pm_controls how = *(const uint32_t *)context;
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_ir_function *function = pm_variant_function(module);
    if (!function)
        return PM_PASS_UNCHANGED;
    const bool changed = how == PM_CONTROLS_UNROLL || how == PM_CONTROLS_DONT_UNROLL
                             ? tell_loops(function, how == PM_CONTROLS_UNROLL)
                             : tell_selections(function, how, &memory);
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_controls = {"controls", PM_ANALYSIS_STRUCTURE | PM_ANALYSIS_LOOPS,
                                         PM_ANALYSIS_ALL, run};
