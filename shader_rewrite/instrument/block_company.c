#include "shader_rewrite/instrument/block_company.h"

#include "shader_rewrite/analysis/analysis_together.h"

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
    const struct pm_cfg *cfg = pm_cfg(p->function);
    for (uint32_t b = 0, i = 0; b < cfg->count; b++) {
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

bool pm_block_company_find(struct pm_block_company *company, const struct pm_instrument *p,
                           struct pm_ir_block *const *blocks)
{
    const uint32_t count = pm_cfg(p->function)->count, points = p->info->point_count;
    struct pm_arena *arena = p->module->arena, *scratch = pm_arena_create(0);
    company->of_point = pm_arena_zalloc(arena, points + 1u, sizeof *company->of_point);
    company->of_block = pm_arena_zalloc(arena, count, sizeof *company->of_block);
    struct pm_together together;
    const bool leave = leave_at_ends(p);
    const bool ok = scratch && company->of_point && company->of_block &&
                    (!leave || find(&together, p, scratch));
    for (uint32_t i = 0; ok && i < points; i++)
        company->of_point[i] = PM_COMPANY_NONE;
    for (uint32_t b = 0; ok && b < count; b++)
        company->of_block[b] = PM_COMPANY_NONE;
    if (ok && leave)
        fill(company, &together, p, blocks);
    pm_arena_destroy(scratch);
    return ok;
}
