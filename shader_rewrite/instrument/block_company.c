#include "shader_rewrite/instrument/block_company.h"

#include "shader_rewrite/analysis/analysis_together.h"
#include <string.h>

/* Whether lanes only leave where the function ends. */
static bool leave_at_ends(const struct pm_instrument *p)
{
    if (p->module->first_function != p->module->last_function)
        return false;
    for (const struct pm_ir_block *block = p->function->first_block; block; block = block->next)
        for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
            if (i->opcode == SpvOpDemoteToHelperInvocation)
                return false;
    return true;
}

static bool find(struct pm_together *together, const struct pm_instrument *p,
                 struct pm_arena *scratch)
{
    const struct pm_memory memory = pm_memory_of(p->module);
    struct pm_uniform uniform;
    return pm_uniform_compute(&uniform, PM_UNIFORM_SUBGROUP, p->module, &memory, p->function,
                              scratch) &&
           pm_together_compute(together, &uniform, p->function, scratch);
}

/* Blocks come behind those that dominate them: in their order the others are known. */
static void fill(struct pm_block_company *company, const struct pm_together *together,
                 const struct pm_instrument *p, struct pm_ir_block *const *blocks)
{
    for (uint32_t b = 0, i = 0; b < pm_cfg(p->function)->count; b++) {
        const uint32_t with = together->with[b];
        company->of_block[b] = b == 0                ? PM_COMPANY_ENTRY
                               : with == PM_NO_BLOCK ? PM_COMPANY_NONE
                                                     : company->of_block[with];
        if (i >= p->info->point_count || blocks[i]->index != b)
            continue;
        company->of_point[i] = company->of_block[b];
        if (company->of_block[b] == PM_COMPANY_NONE)
            company->of_block[b] = i;
        i++;
    }
}

/* By block, the first of those that are entered whenever it is. */
static uint32_t first_of(const struct pm_together *together, uint32_t block)
{
    while (together->always[block])
        block = together->with[block];
    return block;
}

static void find_leaders(struct pm_block_company *company, const struct pm_together *together,
                         const struct pm_instrument *p, struct pm_ir_block *const *blocks,
                         uint32_t *last)
{
    for (uint32_t b = 0; b < pm_cfg(p->function)->count; b++)
        last[b] = b == 0 ? PM_COMPANY_ENTRY : PM_COMPANY_NONE;
    for (uint32_t i = 0; i < p->info->point_count; i++) {
        const uint32_t block = blocks[i]->index, first = first_of(together, block);
        if (block == 0)
            continue;
        if (last[first] == PM_COMPANY_NONE)
            last[first] = i;
        else
            company->leader[i] = last[first];
    }
}

/* Not known yet. */
#define UNSEEN (UINT32_MAX - 2)

static uint32_t join(uint32_t x, uint32_t y)
{
    return x == UNSEEN || x == y ? y : y == UNSEEN ? x : PM_COMPANY_NONE;
}

/* By block, the company of all places where lanes leave that have been there. PM_COMPANY_NONE: it
 * is not the same. */
static void find_exits(const struct pm_block_company *company, const struct pm_cfg *cfg,
                       uint32_t *exit)
{
    const struct pm_graph *g = &cfg->flow;
    bool changed = true;
    for (uint32_t b = 0; b < cfg->count; b++)
        exit[b] = UNSEEN;
    while (changed) {
        changed = false;
        for (uint32_t i = cfg->order_count; i-- > 0;) {
            const uint32_t b = cfg->order[i], end = g->successor_start[b + 1];
            uint32_t found = g->successor_start[b] == end ? company->of_block[b] : UNSEEN;
            for (uint32_t s = g->successor_start[b]; s < end; s++)
                found = join(found, exit[g->successors[s]]);
            changed = changed || found != exit[b];
            exit[b] = found;
        }
    }
}

static void find_gathering(struct pm_block_company *company, const struct pm_instrument *p,
                           struct pm_ir_block *const *blocks, uint32_t *exit)
{
    const uint32_t *loop_of = pm_loops(p->function)->loop_of;
    find_exits(company, pm_cfg(p->function), exit);
    for (uint32_t i = 0; i < p->info->point_count; i++) {
        const uint32_t with = exit[blocks[i]->index];
        if (with == PM_COMPANY_ENTRY ||
            (with < UNSEEN && loop_of[blocks[with]->index] == PM_NO_LOOP &&
             pm_dominates(pm_dominators(p->function), blocks[with]->index, blocks[i]->index)))
            company->gathers[i] = with;
    }
}

static bool is_each_turn(const struct pm_instrument *p, uint32_t block)
{
    const struct pm_loops *loops = pm_loops(p->function);
    const struct pm_graph *g = &pm_cfg(p->function)->flow;
    const uint32_t loop = loops->loop_of[block];
    if (loop == PM_NO_LOOP || loops->loops[loop].parent != PM_NO_LOOP)
        return false;
    const uint32_t header = loops->loops[loop].header;
    for (uint32_t i = g->predecessor_start[header]; i < g->predecessor_start[header + 1]; i++)
        if (pm_loop_is_around(loops, loop, loops->loop_of[g->predecessors[i]]) &&
            !pm_dominates(pm_dominators(p->function), block, g->predecessors[i]))
            return false;
    return true;
}

static bool allocate(struct pm_block_company *company, struct pm_arena *arena, uint32_t blocks,
                     uint32_t points)
{
    company->of_point = pm_arena_zalloc(arena, points + 1u, sizeof *company->of_point);
    company->leader = pm_arena_zalloc(arena, points + 1u, sizeof *company->leader);
    company->gathers = pm_arena_zalloc(arena, points + 1u, sizeof *company->gathers);
    company->each_turn = pm_arena_zalloc(arena, points + 1u, sizeof *company->each_turn);
    company->of_block = pm_arena_zalloc(arena, blocks, sizeof *company->of_block);
    if (!company->of_point || !company->leader || !company->gathers || !company->each_turn ||
        !company->of_block)
        return false;
    for (uint32_t i = 0; i < points; i++)
        company->of_point[i] = company->leader[i] = company->gathers[i] = PM_COMPANY_NONE;
    for (uint32_t b = 0; b < blocks; b++)
        company->of_block[b] = PM_COMPANY_NONE;
    return true;
}

static bool fill_all(struct pm_block_company *company, const struct pm_instrument *p,
                     struct pm_ir_block *const *blocks, struct pm_arena *scratch)
{
    const uint32_t count = pm_cfg(p->function)->count;
    struct pm_together together;
    uint32_t *numbers = pm_arena_zalloc(scratch, count, sizeof *numbers);
    if (!numbers || !find(&together, p, scratch))
        return false;
    fill(company, &together, p, blocks);
    find_leaders(company, &together, p, blocks, numbers);
    find_gathering(company, p, blocks, numbers);
    for (uint32_t i = 0; i < p->info->point_count; i++)
        company->each_turn[i] = is_each_turn(p, blocks[i]->index);
    return true;
}

bool pm_block_company_find(struct pm_block_company *company, const struct pm_instrument *p,
                           struct pm_ir_block *const *blocks)
{
    struct pm_arena *scratch = pm_arena_create(0);
    const bool ok =
        scratch &&
        allocate(company, p->module->arena, pm_cfg(p->function)->count, p->info->point_count) &&
        (!leave_at_ends(p) || fill_all(company, p, blocks, scratch));
    pm_arena_destroy(scratch);
    return ok;
}

/* Whether none leaves in the first block, as what is called may let them. */
static bool starts_plainly(const struct pm_instrument *p)
{
    for (const struct pm_ir_instr *i = p->function->first_block->body.first; i; i = i->next)
        if (i->opcode == SpvOpDemoteToHelperInvocation || i->opcode == SpvOpFunctionCall)
            return false;
    return true;
}

bool *pm_entry_company_find(const struct pm_instrument *p)
{
    const uint32_t count = pm_cfg(p->function)->count;
    bool *entered = pm_arena_zalloc(p->module->arena, count, sizeof *entered);
    if (!entered || !starts_plainly(p))
        return entered;
    entered[0] = true;
    if (!leave_at_ends(p))
        return entered;
    struct pm_arena *scratch = pm_arena_create(0);
    struct pm_together together;
    const bool ok = scratch && find(&together, p, scratch);
    for (uint32_t b = 1; ok && b < count; b++)
        entered[b] = first_of(&together, b) == 0;
    pm_arena_destroy(scratch);
    return ok ? entered : NULL;
}
