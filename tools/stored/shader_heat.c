#include "tools/stored/shader_heat.h"
#include "base/config.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include <stdlib.h>
#include <string.h>

uint32_t pm_heat_vendor(const struct pm_database *database)
{
    uint32_t vendor = 0;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *timing = &database->shaders[i];
        if (timing->kind != PM_KIND_TIMING)
            continue;
        if (vendor != 0 && vendor != timing->environment.vendor_id)
            return 0;
        vendor = timing->environment.vendor_id;
    }
    return vendor;
}

struct visiting {
    const struct pm_costs *costs;
    struct pm_float_permission permission;
    void (*visit)(void *user, uint32_t block, uint32_t place, double cycles);
    void *user;
};

static void visit_block(const struct visiting *v, const struct pm_ir_block *block, uint32_t number)
{
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        v->visit(v->user, number, i->place, pm_costs_instr(v->costs, &v->permission, i));
}

bool pm_heat_each(const uint32_t *words, size_t count, const struct pm_block_points *points,
                  uint32_t vendor,
                  void (*visit)(void *user, uint32_t block, uint32_t place, double cycles),
                  void *user, struct pm_error *error)
{
    struct visiting v = {.costs = pm_costs_of(vendor), .visit = visit, .user = user};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    const struct pm_ir_instr *first =
        points->count > 0 ? pm_ir_find(module, points->points[0].label) : NULL;
    bool ok = first && first->block &&
              pm_float_permission_compute(&v.permission, module, first->block->function,
                                          PM_FLOAT_ZERO_NEVER, module->arena);
    for (uint32_t i = 0; ok && i < points->count; i++) {
        const struct pm_ir_instr *label = pm_ir_find(module, points->points[i].label);
        if (label && label->block)
            visit_block(&v, label->block, i);
    }
    pm_ir_module_destroy(module);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "no blocks, or out of memory");
}

double pm_heat_weight(const struct pm_point_estimate *block, unsigned by)
{
    return block->measures[by].clusters > 0 ? block->measures[by].ratio : 0;
}

double pm_heat_subgroups(const struct pm_shader_estimates *estimates)
{
    const uint32_t size = estimates->environment.subgroup_size;
    return (double)estimates->entry_lanes / (size > 0 ? size : 1);
}

struct adding {
    const struct pm_shader_estimates *estimates;
    unsigned by; /* pm_blocks_weighed_by */
    double cycles;
};

static void add(void *user, uint32_t block, uint32_t place, double cycles)
{
    struct adding *adding = user;
    (void)place;
    adding->cycles += cycles * pm_heat_weight(&adding->estimates->points[block], adding->by);
}

bool pm_heat_of(const uint32_t *canonical, size_t count,
                const struct pm_shader_estimates *estimates, uint32_t vendor, double *cycles,
                struct pm_error *error)
{
    struct pm_block_points points = {0};
    struct adding adding = {.estimates = estimates};
    *cycles = 0;
    if (!estimates->points)
        return true;
    adding.by = pm_blocks_weighed_by(estimates);
    bool ok = pm_points_blocks(canonical, count, &points, error);
    ok = ok && (points.count == estimates->space ||
                pm_fail(error, PM_ERROR_INPUT, "the stored shader has %u blocks, its profile %u",
                        points.count, estimates->space));
    ok = ok && pm_heat_each(canonical, count, &points, vendor, add, &adding, error);
    pm_block_points_finish(&points);
    *cycles = adding.cycles * pm_heat_subgroups(estimates);
    return ok;
}
