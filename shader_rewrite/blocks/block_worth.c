#include "shader_rewrite/blocks/block_worth.h"

#include <math.h>

/* As specialize_zero's: AZP's 25 cycles, and a share below which no trial could tell. */
static const double least_saving = 25, least_share = 0.05;
static const double most_entries = 1e6;

bool pm_blocks_cost(struct pm_blocks *blocks, struct pm_error *error)
{
    struct pm_float_permission permission;
    blocks->cycles = pm_arena_zalloc(blocks->arena, blocks->label_bound, sizeof(*blocks->cycles));
    if (!blocks->cycles ||
        !pm_float_permission_compute(&permission, blocks->module, blocks->function,
                                     PM_FLOAT_ZERO_NEVER, blocks->arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (const struct pm_ir_block *b = blocks->function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            blocks->cycles[b->label->result->id] += pm_costs_instr(blocks->costs, &permission, i);
    return true;
}

static double cost_of(const struct pm_blocks *blocks, const struct pm_ir_block *block)
{
    const uint32_t label = block->label->result->id;
    return label < blocks->label_bound ? blocks->cycles[label] : 0;
}

static double clamped(double entries)
{
    return entries > 0 ? fmin(entries, most_entries) : 0;
}

double pm_blocks_entries(const struct pm_blocks *blocks, const struct pm_ir_block *block)
{
    return clamped(pm_blocks_numbers(blocks, block).subgroups);
}

double pm_blocks_skipped(const struct pm_blocks *blocks, const struct pm_ir_block *side,
                         const struct pm_ir_block *around)
{
    const struct pm_cfg *cfg = pm_cfg(blocks->function);
    const struct pm_dominators *dominators = pm_dominators(blocks->function);
    const double entries = pm_blocks_entries(blocks, around);
    double sum = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        if (pm_dominates(dominators, side->index, b))
            sum += cost_of(blocks, cfg->blocks[b]) *
                   (entries - pm_blocks_entries(blocks, cfg->blocks[b]));
    return sum;
}

void pm_blocks_saves(struct pm_blocks *blocks, enum pm_block_pass pass, double cycles)
{
    blocks->saved[pass] += cycles > 0 ? cycles : 0;
}

double pm_blocks_turn(const struct pm_blocks *blocks)
{
    const double *cycles = blocks->costs->cycles;
    return cycles[PM_COST_BRANCH] + 2 * cycles[PM_COST_ALU];
}

double pm_blocks_cycles(const struct pm_blocks *blocks)
{
    double sum = 0;
    for (uint32_t label = 0; label < blocks->label_bound; label++)
        sum += clamped(blocks->numbers[label].subgroups) * blocks->cycles[label];
    return sum;
}

double pm_blocks_saved(const struct pm_blocks *blocks)
{
    const double *saved = blocks->saved;
    return fmax(saved[PM_BLOCK_FLATTEN], saved[PM_BLOCK_VERSION]) + saved[PM_BLOCK_SINK] +
           fmax(saved[PM_BLOCK_UNROLL], saved[PM_BLOCK_PEEL]) + saved[PM_BLOCK_LAYOUT];
}

bool pm_blocks_are_worth_it(double cycles, double saved)
{
    return saved > least_saving && saved > least_share * cycles;
}
