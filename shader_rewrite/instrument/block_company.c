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
        if (last[first] < PM_COMPANY_ENTRY) {
            company->next[last[first]] = i;
            company->leader[i] = company->leader[last[first]] == PM_COMPANY_NONE
                                     ? last[first]
                                     : company->leader[last[first]];
        } else if (first == 0) {
            company->leader[i] = PM_COMPANY_ENTRY;
            continue;
        }
        last[first] = i;
    }
}

/* Whether all who have entered a point and leave are of its company where they do. */
static bool stays(const struct pm_block_company *company, const struct pm_instrument *p,
                  uint32_t point, uint32_t block, uint32_t *pending, bool *seen)
{
    const struct pm_graph *g = &pm_cfg(p->function)->flow;
    uint32_t count = 1;
    memset(seen, 0, g->count * sizeof *seen);
    pending[0] = block;
    seen[block] = true;
    while (count > 0) {
        const uint32_t at = pending[--count], end = g->successor_start[at + 1];
        if (g->successor_start[at] == end && company->of_block[at] != point)
            return false;
        for (uint32_t i = g->successor_start[at]; i < end; i++)
            if (!seen[g->successors[i]]) {
                seen[g->successors[i]] = true;
                pending[count++] = g->successors[i];
            }
    }
    return true;
}

/* Only a point that is said of a block where lanes leave can be one. */
static void find_staying(struct pm_block_company *company, const struct pm_instrument *p,
                         struct pm_ir_block *const *blocks, uint32_t *pending, bool *seen)
{
    const struct pm_cfg *cfg = pm_cfg(p->function);
    const struct pm_graph *g = &cfg->flow;
    for (uint32_t b = 0; b < cfg->count; b++) {
        const uint32_t point = company->of_block[b];
        if (g->successor_start[b] != g->successor_start[b + 1] || point >= PM_COMPANY_ENTRY ||
            company->stays[point] ||
            pm_loops(p->function)->loop_of[blocks[point]->index] != PM_NO_LOOP)
            continue;
        company->stays[point] = stays(company, p, point, blocks[point]->index, pending, seen);
    }
}

static bool allocate(struct pm_block_company *company, struct pm_arena *arena, uint32_t blocks,
                     uint32_t points)
{
    company->of_point = pm_arena_zalloc(arena, points + 1u, sizeof *company->of_point);
    company->leader = pm_arena_zalloc(arena, points + 1u, sizeof *company->leader);
    company->next = pm_arena_zalloc(arena, points + 1u, sizeof *company->next);
    company->stays = pm_arena_zalloc(arena, points + 1u, sizeof *company->stays);
    company->of_block = pm_arena_zalloc(arena, blocks, sizeof *company->of_block);
    if (!company->of_point || !company->leader || !company->next || !company->stays ||
        !company->of_block)
        return false;
    for (uint32_t i = 0; i < points; i++)
        company->of_point[i] = company->leader[i] = company->next[i] = PM_COMPANY_NONE;
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
    bool *seen = pm_arena_zalloc(scratch, count, sizeof *seen);
    if (!numbers || !seen || !find(&together, p, scratch))
        return false;
    fill(company, &together, p, blocks);
    find_leaders(company, &together, p, blocks, numbers);
    find_staying(company, p, blocks, numbers, seen);
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
