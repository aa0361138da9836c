#include "shader_rewrite/instrument/instrument_module.h"

#include "base/stop.h"
#include "profile/profile.h"
#include "shader_rewrite/instrument/candidate_check.h"
#include "shader_rewrite/instrument/counted_copies.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points.h"

struct pass {
    struct pm_instrument instrument;
    struct pm_candidate_check check;
    struct pm_counted_copies copies; /* zeroes: none */
    struct pm_zero_points points;
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

/* Counts one write of each of the candidates from `first` up to, not including, `end`, that are all
 * written at one place: the votes are taken by all lanes, before one is elected. */
static void count_writes(struct pass *p, uint32_t first, uint32_t end, struct pm_ir_instr *at)
{
    enum { TOGETHER = 16 };
    const struct pm_counting *c = &p->instrument.counting;
    struct pm_ir_builder *b = &p->instrument.builder;
    struct pm_ir_def *zero[TOGETHER];
    while (first < end) {
        uint32_t count = end - first < TOGETHER ? end - first : TOGETHER;
        struct pm_ir_block *rest = pm_block_open_at(b, at->block, at);
        for (uint32_t i = 0; i < count; i++)
            zero[i] = build_check(p, b, first + i);
        struct pm_instrument_place place = pm_instrument_enter(&p->instrument, rest);
        struct pm_ir_def *one = pm_ir_constant_uint(c->module, 1);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t counter = pm_instrument_counter(first + i);
            pm_counting_add(c, b, place.slot, counter + PM_ZERO_WRITES, one);
            struct pm_ir_block *merge = pm_ir_build_if(b, zero[i], true, NULL);
            pm_counting_add(c, b, place.slot, counter + PM_ZERO_ZERO_WRITES, one);
            pm_ir_build_end_if(b, merge);
        }
        pm_instrument_leave(&p->instrument, &place);
        first += count;
    }
}

/* Candidates of one place follow one another: a value's prefixes come behind it, and the OpPhi of a
 * block stand together. From the last to the first, since each place moves what stands behind it in
 * its block. */
static void rewrite(struct pass *p)
{
    const struct pm_instrument_info *info = p->instrument.info;
    pm_instrument_entry(&p->instrument);
    for (uint32_t end = info->point_count, first;
         end > 0 && !p->instrument.module->failed && !pm_stop_asked(); end = first) {
        first = end - 1;
        if (candidate_of(p, first)->quad && !info->subgroup_quad)
            continue;
        struct pm_ir_instr *at = place_of(p, first);
        while (first > 0 && place_of(p, first - 1) == at &&
               candidate_of(p, first - 1)->quad == candidate_of(p, first)->quad)
            first--;
        count_writes(p, first, end, at);
    }
    pm_block_mend_sampled_images(p->instrument.function);
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
    if (p->instrument.info->count_copies && !copy_values(p))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory"), PM_PASS_FAILED;
    rewrite(p);
    return PM_PASS_CHANGED;
}

static const struct pm_pass instrument_zero = {"instrument_zero", 0, 0, run};

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
