/* Predication (the cooperative paper, 4.1): drivers may run both sides of a branch with lanes
 * masked off instead of branching. Around a block that hardly any subgroup enters they are asked
 * not to; where both sides are short and most subgroups take both, they are asked to. */
#include "shader_rewrite/blocks/block_worth.h"

#include "shader_rewrite/analysis/analysis_motion.h"
#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/quirks.h"

static const char pass_name[] = "optimize_flatten";

/* Cycles of both sides together that a branch may cost more than. */
static const double short_cycles = 16;
/* Both sides are taken by as large a share of the lanes, and so by most subgroups. */
static const double balanced_share = 0.25, both_share = 0.5;

struct context {
    struct pm_blocks *blocks;
    struct pm_memory memory;
    struct pm_float_permission permission;
    struct pm_leaving_values leaving; /* where there are guards */
    bool guards;                      /* the driver may choose again behind a loop */
};

/* saves: cycles of a subgroup that enters the shader. */
static void set_control(struct context *c, struct pm_ir_instr *merge, uint32_t control,
                        const char *what, const char *reason, double saves)
{
    const bool changes = pm_ir_operand_word(&merge->operands[1]) != control;
    if (changes) {
        pm_ir_operand_set_word(&merge->operands[1], control);
        pm_blocks_saves(c->blocks, PM_BLOCK_FLATTEN, saves);
    }
    pm_blocks_decide(c->blocks, pass_name, merge->block, 0, changes, what,
                     changes ? reason : "the shader says so itself");
}

/* A side that is one block of plain arithmetic, behind which the merge block comes. */
static bool is_plain_side(const struct context *c, const struct pm_ir_block *side,
                          const struct pm_ir_def *merge, double *cycles)
{
    const struct pm_ir_instr *end = pm_ir_terminator(side);
    if (end->opcode != SpvOpBranch || end->operands[0].def != merge)
        return false;
    for (const struct pm_ir_instr *i = side->body.first; i != end; i = i->next) {
        if (!pm_motion_may_be_earlier(&c->memory, &c->permission, i))
            return false;
        *cycles += pm_costs_instr(c->blocks->costs, &c->permission, i);
    }
    return true;
}

/* Whether both ways of a branch are short, and what keeps them from being flattened else. */
static const char *why_not_flat(const struct context *c, const struct pm_ir_block *header,
                                const struct pm_ir_instr *merge)
{
    const struct pm_ir_instr *branch = pm_ir_terminator(header);
    const struct pm_block_numbers around = pm_blocks_numbers(c->blocks, header);
    const struct pm_ir_def *end = merge->operands[0].def;
    double cycles = 0;
    if (branch->opcode != SpvOpBranchConditional)
        return "a switch";
    for (uint32_t way = 1; way <= 2; way++) {
        if (branch->operands[way].def == end)
            continue;
        const struct pm_ir_block *side = pm_ir_block_of(branch->operands[way].def);
        const struct pm_block_numbers numbers = pm_blocks_numbers(c->blocks, side);
        const double share = numbers.frequency / around.frequency;
        if (!is_plain_side(c, side, end, &cycles))
            return "more than arithmetic";
        if (!(share >= balanced_share && share <= 1 - balanced_share))
            return "its sides are not balanced";
        if (!(numbers.subgroups >= both_share * around.subgroups))
            return "most subgroups take one side alone";
    }
    return cycles <= short_cycles ? NULL : "its sides are long";
}

/* *saves: cycles, where sides are rare. */
static bool has_cold_side(const struct context *c, const struct pm_ir_block *header,
                          const struct pm_ir_instr *merge, double *saves)
{
    const struct pm_ir_instr *branch = pm_ir_terminator(header);
    bool cold = false;
    for (uint32_t o = 1; o < branch->operand_count; o++) {
        const struct pm_ir_block *side =
            branch->operands[o].def ? pm_ir_block_of(branch->operands[o].def) : NULL;
        if (side && side != pm_ir_block_of(merge->operands[0].def) &&
            pm_blocks_is_cold(c->blocks, side, header)) {
            *saves += pm_blocks_skipped(c->blocks, side, header);
            cold = true;
        }
    }
    return cold;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    struct context c = {.blocks = blocks, .memory = pm_memory_of(module)};
    const uint32_t before = blocks->changes;
    c.guards = pm_quirks_of(blocks->info->driver) & PM_QUIRK_CHOOSES_AGAIN;
    if (!pm_float_permission_compute(&c.permission, module, blocks->function, PM_FLOAT_ZERO_NEVER,
                                     blocks->arena) ||
        (c.guards &&
         !pm_leaving_values_compute(&c.leaving, module, blocks->function, blocks->arena))) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    for (struct pm_ir_block *b = blocks->function->first_block; b; b = b->next) {
        struct pm_ir_instr *merge = pm_ir_merge(b);
        if (!merge || merge->opcode != SpvOpSelectionMerge)
            continue;
        if (c.guards && pm_leaving_values_chosen_by(&c.leaving, pm_loops(blocks->function), b)) {
            pm_blocks_decide(blocks, pass_name, b, 0, false, "None",
                             "it chooses what is used behind a loop, which the driver does again");
            continue;
        }
        double saves = 0;
        if (has_cold_side(&c, b, merge, &saves)) {
            set_control(&c, merge, SpvSelectionControlDontFlattenMask, "DontFlatten",
                        "hardly any subgroup enters a side", saves);
            continue;
        }
        const char *why_not = why_not_flat(&c, b, merge);
        if (why_not)
            pm_blocks_decide(blocks, pass_name, b, 0, false, "None", why_not);
        else
            set_control(&c, merge, SpvSelectionControlFlattenMask, "Flatten",
                        "short, and most subgroups take both sides",
                        pm_blocks_entries(blocks, b) * blocks->costs->cycles[PM_COST_BRANCH]);
    }
    return pm_pass_result_of(true, blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_flatten = {
    pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, PM_ANALYSIS_ALL, run};
