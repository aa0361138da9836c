#include "shader_rewrite/instrument/instrument_module.h"

#include "base/stop.h"
#include "profile/profile.h"
#include "shader_rewrite/instrument/block_company.h"
#include "shader_rewrite/instrument/candidate_check.h"
#include "shader_rewrite/instrument/counted_copies.h"
#include "shader_rewrite/instrument/zero_counts.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points.h"

/* A point of the info's. */
struct place {
    struct pm_ir_instr *at; /* where the last of its values is available; NULL: it is not counted */
    struct pm_ir_def *zero; /* once it is looked at */
    bool entered;           /* zero_counts.h */
};

struct pass {
    struct pm_instrument instrument;
    struct pm_candidate_check check;
    struct pm_counted_copies copies; /* zeroes: none */
    struct pm_zero_points points;
    struct pm_zero_counts counts;
    struct place *places; /* by point of the info */
    struct pm_instrumented *out;
};

static const struct pm_zero_candidate *candidate_of(const struct pass *p, uint32_t index)
{
    return &p->points.candidates[p->instrument.info->points[index]];
}

/* What is looked at for one of a candidate's values. NULL: the module failed. */
static struct pm_ir_def *looked_at(const struct pass *p, const struct pm_zero_candidate *candidate,
                                   uint32_t value)
{
    const struct pm_ir_instr *instr = pm_ir_find(p->instrument.module, candidate->values[value]);
    return instr ? pm_counted_copy_of(&p->copies, instr->result) : NULL;
}

/* Where the last of a candidate's values is available. */
static struct pm_ir_instr *place_of(const struct pass *p, uint32_t index)
{
    const struct pm_zero_candidate *candidate = candidate_of(p, index);
    return pm_block_behind(looked_at(p, candidate, candidate->value_count - 1)->instr);
}

static struct pm_ir_def *build_check(struct pass *p, struct pm_ir_builder *b, uint32_t index)
{
    const struct pm_zero_candidate *candidate = candidate_of(p, index);
    struct pm_ir_def *values[PM_ZERO_ELEMENTS] = {0};
    for (uint32_t i = 0; i < candidate->value_count; i++)
        values[i] = looked_at(p, candidate, i);
    return pm_candidate_check_build(&p->check, b, candidate, values);
}

/* Counts one write of each of the points from `first` up to, not including, `end`, that are all
 * written at one place: the votes are taken by all lanes, before one is elected. */
static void count_writes(struct pass *p, uint32_t first, uint32_t end, struct pm_ir_instr *at)
{
    struct pm_ir_builder *b = &p->instrument.builder;
    struct pm_ir_def *zero[PM_ZERO_TOGETHER];
    while (first < end) {
        uint32_t count = end - first < PM_ZERO_TOGETHER ? end - first : PM_ZERO_TOGETHER;
        struct pm_ir_block *rest = pm_block_open_at(b, at->block, at);
        for (uint32_t i = 0; i < count; i++)
            zero[i] = build_check(p, b, first + i);
        pm_zero_counts_writes(&p->counts, first, count, zero, rest);
        first += count;
    }
}

/* Of two that all lanes come to, whether it is the later one. */
static bool is_behind(const struct pm_ir_instr *instr, const struct pm_ir_instr *other)
{
    if (instr->block != other->block)
        return instr->block->index > other->block->index;
    for (const struct pm_ir_instr *i = other; i; i = i->next)
        if (i == instr)
            return true;
    return false;
}

/* What is entered is looked at where it is written, and counted where the last of it is. */
static bool count_entered(struct pass *p)
{
    struct pm_instrument *instrument = &p->instrument;
    const uint32_t count = instrument->info->point_count;
    struct pm_ir_instr *last = NULL;
    struct pm_ir_def **zero =
        pm_arena_zalloc(instrument->module->arena, count + 1u, sizeof(struct pm_ir_def *));
    if (!zero)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = &p->places[i];
        if (!place->entered)
            continue;
        if (!last || is_behind(place->at, last))
            last = place->at;
        instrument->builder =
            (struct pm_ir_builder){instrument->module, place->at->block, place->at};
        zero[i] = build_check(p, &instrument->builder, i);
    }
    if (!last)
        last = pm_ir_block_start(instrument->function->first_block);
    pm_zero_counts_entry(&p->counts, last, zero);
    return true;
}

/* Candidates of one place follow one another: a value's prefixes come behind it, and the OpPhi of a
 * block stand together. From the last to the first, since each place moves what stands behind it in
 * its block. */
static void count_others(struct pass *p)
{
    const struct place *places = p->places;
    for (uint32_t end = p->instrument.info->point_count, first;
         end > 0 && !p->instrument.module->failed && !pm_stop_asked(); end = first) {
        first = end - 1;
        if (!places[first].at || places[first].entered)
            continue;
        while (first > 0 && places[first - 1].at == places[first].at)
            first--;
        count_writes(p, first, end, places[end - 1].at);
    }
}

/* Before anything is added. */
static bool find_places(struct pass *p)
{
    struct pm_instrument *instrument = &p->instrument;
    const struct pm_instrument_info *info = instrument->info;
    struct pm_arena *arena = instrument->module->arena;
    const bool *with_entry = pm_entry_company_find(instrument);
    bool *entered = pm_arena_zalloc(arena, info->point_count + 1u, sizeof *entered);
    p->places = pm_arena_zalloc(arena, info->point_count + 1u, sizeof *p->places);
    if (!with_entry || !entered || !p->places)
        return false;
    for (uint32_t i = 0; i < info->point_count; i++) {
        if (candidate_of(p, i)->quad && !info->subgroup_quad)
            continue;
        p->places[i].at = place_of(p, i);
        p->places[i].entered = entered[i] = with_entry[p->places[i].at->block->index];
    }
    return pm_zero_counts_begin(&p->counts, instrument, &p->out->zeros, entered);
}

static bool copy_values(struct pass *p)
{
    const struct pm_instrument *instrument = &p->instrument;
    if (!pm_counted_copies_init(&p->copies, &instrument->counting, instrument->function))
        return false;
    for (uint32_t i = 0; i < instrument->info->point_count; i++) {
        const struct pm_zero_candidate *candidate = candidate_of(p, i);
        for (uint32_t v = 0; v < candidate->value_count; v++)
            pm_counted_copies_want(&p->copies,
                                   pm_ir_find(instrument->module, candidate->values[v]));
    }
    pm_counted_copies_build(&p->copies);
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pass *p = context;
    if (!pm_instrument_ready(&p->instrument, p->points.count, p->out, error))
        return PM_PASS_FAILED;
    pm_candidate_check_init(&p->check, module, p->instrument.stage);
    if ((p->instrument.info->count_copies && !copy_values(p)) || !find_places(p) ||
        !count_entered(p))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory"), PM_PASS_FAILED;
    count_others(p);
    pm_block_mend_sampled_images(p->instrument.function);
    return PM_PASS_CHANGED;
}

static const struct pm_pass instrument_zero = {
    "instrument_zero", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, 0,
    run};

bool pm_instrument_zero(const uint32_t *words, size_t count, const struct pm_instrument_info *info,
                        struct pm_instrumented *out, struct pm_error *error)
{
    *out = (struct pm_instrumented){0};
    struct pass p = {.out = out};
    bool ok =
        pm_instrument_begin(&p.instrument, words, count, info, error) &&
        pm_points_zero_given(words, count, info->zeros, info->all_candidates, &p.points, error) &&
        pm_pass_run(&p.instrument.passes, &instrument_zero, &p, error) != PM_PASS_FAILED;
    pm_zero_points_finish(&p.points);
    return pm_instrument_end(&p.instrument, ok, out, error);
}
