#include "shader_rewrite/zero/candidates/candidates.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_packs.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/analysis/pass.h"
#include <stdlib.h>

enum { CANDIDATES_MOST = 65535 };

struct finder {
    struct pm_ir_function *function;
    struct pm_arena *arena; /* for the time of the search */
    struct pm_values values;
    struct pm_packs packs;
    uint32_t *pack_at;  /* by id of the last value of a pack: its number + 1; 0: none ends there */
    bool *quad;         /* by id of a value: as struct pm_zero_candidate */
    uint32_t *point_of; /* by block: its block point */
    bool plus;          /* a 32-bit float is zero where it is +0 alone */
    struct pm_zero_candidate *candidates; /* NULL: only counted */
    uint32_t count;
};

static void add(struct finder *f, const struct pm_zero_candidate *candidate)
{
    if (f->candidates)
        f->candidates[f->count] = *candidate;
    f->count++;
}

static bool is_single(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(value));
    return scalar && pm_ir_operand_word(&scalar->operands[0]) == 32;
}

/* A value, its prefixes, and the pack that it ends. */
static void add_value(struct finder *f, const struct pm_ir_instr *value)
{
    uint32_t id = value->result->id, block = value->block->index;
    uint32_t components = pm_values_components(&f->values, value);
    struct pm_zero_candidate candidate = {
        .values = {id},
        .value_count = 1,
        .components = components,
        .block = f->point_of[block],
        .at_most_once = pm_loops(f->function)->loop_of[block] == PM_NO_LOOP,
        .is_float = pm_values_is_float_value(&f->values, value),
        .quad = f->quad[id],
    };
    candidate.plus = candidate.is_float && f->plus && is_single(value);
    add(f, &candidate);
    for (uint32_t prefix = 2; prefix < components; prefix++) {
        candidate.components = prefix;
        add(f, &candidate);
    }
    if (!f->pack_at[id])
        return;
    const struct pm_pack *pack = &f->packs.packs[f->pack_at[id] - 1];
    candidate.components = 1;
    candidate.value_count = pack->count;
    for (uint32_t i = 0; i < pack->count; i++)
        candidate.values[i] = pack->lanes[i]->result->id;
    add(f, &candidate);
}

static void add_all(struct finder *f)
{
    const struct pm_cfg *cfg = pm_cfg(f->function);
    f->count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (pm_values_components(&f->values, i))
                add_value(f, i);
}

/* Block points are the reachable blocks in order (points/points_blocks.c). */
static bool find_points_of_blocks(struct finder *f)
{
    const struct pm_cfg *cfg = pm_cfg(f->function);
    uint32_t points = 0;
    f->point_of = pm_arena_zalloc(f->arena, cfg->count, sizeof(uint32_t));
    for (uint32_t b = 0; f->point_of && b < cfg->count; b++)
        f->point_of[b] = pm_cfg_reachable(cfg, b) ? points++ : 0;
    return f->point_of != NULL;
}

static bool find_quads(struct finder *f, enum pm_stage stage)
{
    const struct pm_cfg *cfg = pm_cfg(f->function);
    f->quad = pm_arena_zalloc(f->arena, f->values.bound, sizeof(bool));
    if (!f->quad || stage != PM_STAGE_FRAGMENT)
        return f->quad != NULL;
    const bool *after = pm_other_lanes_read_behind(f->function, f->arena);
    if (!after)
        return false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        bool reads = after[b];
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.last; i; i = i->prev) {
            if (i->result)
                f->quad[i->result->id] = reads;
            reads = reads || pm_reads_other_lanes(i);
        }
    }
    return true;
}

static bool find_packs(struct finder *f)
{
    f->pack_at = pm_arena_zalloc(f->arena, f->values.bound, sizeof(uint32_t));
    if (!f->pack_at || !pm_packs_find(f->function, &f->values, f->arena, &f->packs))
        return false;
    for (uint32_t p = 0; p < f->packs.count; p++) {
        const struct pm_pack *pack = &f->packs.packs[p];
        f->pack_at[pack->lanes[pack->count - 1]->result->id] = p + 1;
    }
    return true;
}

static bool find(struct finder *f, enum pm_stage stage, struct pm_error *error)
{
    if (!pm_values_find(f->function, f->arena, &f->values) || !find_points_of_blocks(f) ||
        !find_quads(f, stage) || !find_packs(f))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    add_all(f);
    if (f->count > CANDIDATES_MOST)
        return pm_fail(error, PM_ERROR_LIMIT, "%u values may be zero; at most %d are looked at",
                       f->count, CANDIDATES_MOST);
    f->candidates = malloc((f->count + 1u) * sizeof(*f->candidates));
    if (!f->candidates)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    add_all(f);
    return true;
}

static bool find_of(struct pm_ir_function *function, enum pm_stage stage,
                    struct pm_zero_points *out, struct pm_error *error)
{
    struct finder finder = {.function = function,
                            .arena = pm_arena_create(0),
                            .plus = pm_float_keeps_signs(function->module, 32)};
    bool ok = finder.arena ? find(&finder, stage, error)
                           : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_arena_destroy(finder.arena);
    if (ok)
        *out = (struct pm_zero_points){.candidates = finder.candidates, .count = finder.count};
    return ok;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_zero_points *out = context;
    enum pm_stage stage;
    *out = (struct pm_zero_points){0};
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    return pm_pass_result_of(function && find_of(function, stage, out, error), false);
}

const struct pm_pass pm_pass_candidates = {
    "candidates", PM_ANALYSIS_CFG | PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, PM_ANALYSIS_ALL,
    run};

bool pm_zero_candidates(const uint32_t *words, size_t count, struct pm_zero_points *out,
                        struct pm_error *error)
{
    *out = (struct pm_zero_points){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    bool ok = pm_pass_run(&passes, &pm_pass_candidates, out, error) != PM_PASS_FAILED;
    pm_ir_module_destroy(module);
    return ok;
}

void pm_zero_points_finish(struct pm_zero_points *points)
{
    if (!points)
        return;
    free(points->candidates);
    *points = (struct pm_zero_points){0};
}
