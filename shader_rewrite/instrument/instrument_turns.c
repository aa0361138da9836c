/*
 * Counting turns: a loop's number is 0 where the loop is come to from outside, and one more at the
 * block that leads back. A block of its own, which those enter whose number is a point's, is
 * counted as any other (block_counts.h).
 *
 *     before the loop:  turn = 0; count that the loop is come to
 *     latch:            turn++; if (turn == 1) count the first turn; if (turn == 2) …
 *
 * Where several ways lead to the header from outside, or one that leads elsewhere too, the header
 * counts that it is come to: if (turn == 0). Elsewhere that would only take longer. After 2^32
 * turns a number begins anew.
 */
#include "base/stop.h"
#include "shader_rewrite/instrument/block_counts.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points_turns.h"
#include <stdlib.h>

struct pass {
    struct pm_instrument instrument;
    struct pm_instrumented *out;
};

static struct pm_ir_def *load(struct pm_instrument *p, struct pm_ir_def *variable)
{
    return pm_ir_build(&p->builder, SpvOpLoad, p->counting.uint, PM_IR_ARGS(pm_ir_id(variable)));
}

static void store(struct pm_instrument *p, struct pm_ir_def *variable, struct pm_ir_def *value)
{
    pm_ir_build_instr(&p->builder, SpvOpStore, NULL,
                      PM_IR_ARGS(pm_ir_id(variable), pm_ir_id(value)));
}

/* Where the builder is, counts a point for lanes with so many turns. rest: what comes then, NULL: a
 * new block, at whose end the builder is. */
static void count_at(struct pm_block_counts *counts, uint32_t index, struct pm_ir_def *turn,
                     uint32_t number, struct pm_ir_block *rest)
{
    struct pm_instrument *p = counts->instrument;
    struct pm_ir_def *wanted = pm_ir_constant_uint(p->module, number);
    struct pm_ir_def *is_it = pm_ir_build(&p->builder, SpvOpIEqual, p->counting.boolean,
                                          PM_IR_ARGS(pm_ir_id(load(p, turn)), pm_ir_id(wanted)));
    struct pm_ir_block *merge = pm_ir_build_if(&p->builder, is_it, true, rest);
    struct pm_ir_block *inside = p->builder.block;
    pm_ir_build_end_if(&p->builder, merge);
    if (!p->module->failed)
        pm_block_counts_add(counts, index, inside);
    p->builder = (struct pm_ir_builder){p->module, merge, NULL};
}

/* One of the loops with points: `first` up to but not `end` of the info's. */
struct turning {
    struct pm_ir_block *header, *latch;
    struct pm_ir_instr
        *before;            /* where whoever comes to it from outside passes; NULL: the header */
    struct pm_ir_def *turn; /* variable */
    uint32_t first, end;
};

/* Sets the loop's number, and finds where it is come to. */
static void begin_at_zero(struct pm_instrument *p, struct turning *loop)
{
    const struct pm_cfg *cfg = pm_cfg(p->function);
    const uint32_t *start = cfg->flow.predecessor_start, header = loop->header->index;
    uint32_t ways = 0;
    for (uint32_t i = start[header]; i < start[header + 1]; i++) {
        struct pm_ir_block *from = cfg->blocks[cfg->flow.predecessors[i]];
        if (from == loop->latch)
            continue;
        struct pm_ir_instr *end = pm_ir_terminator(from), *merge = pm_ir_merge(from);
        const bool first = ways++ == 0;
        loop->before = first && end->opcode == SpvOpBranch ? (merge ? merge : end) : NULL;
        p->builder = (struct pm_ir_builder){p->module, from, merge ? merge : end};
        store(p, loop->turn, pm_ir_constant_uint(p->module, 0));
    }
}

/* The loops with points, before any block is split. NULL: out of memory. */
static struct turning *find_loops(struct pm_instrument *p, uint32_t *count)
{
    const struct pm_instrument_info *info = p->info;
    struct turning *loops = malloc((info->point_count + 1u) * sizeof(*loops));
    *count = 0;
    for (uint32_t i = 0; loops && i < info->point_count; i++) {
        const uint32_t number = info->points[i] / PM_TURN_POINTS;
        const struct pm_turn_loop *loop = &info->turns->loops[number];
        if (i > 0 && info->points[i - 1] / PM_TURN_POINTS == number) {
            loops[*count - 1].end = i + 1;
            continue;
        }
        loops[*count] = (struct turning){
            .header = pm_ir_find(p->module, loop->header)->block,
            .latch = pm_ir_find(p->module, loop->latch)->block,
            .turn = pm_instrument_variable(p),
            .first = i,
            .end = i + 1,
        };
        begin_at_zero(p, &loops[(*count)++]);
    }
    return loops;
}

/* That the loop is come to. *latch: where it then is. */
static void count_arrival(struct pm_block_counts *counts, uint32_t index,
                          const struct turning *loop, struct pm_ir_block **latch)
{
    if (loop->before) {
        pm_block_counts_add_at(counts, index, loop->before);
        return;
    }
    struct pm_ir_block *rest = pm_block_open(&counts->instrument->builder, loop->header);
    *latch = *latch == loop->header ? rest : *latch;
    if (rest)
        count_at(counts, index, loop->turn, 0, rest);
}

static void count_loop(struct pm_block_counts *counts, const struct turning *loop)
{
    struct pm_instrument *p = counts->instrument;
    const uint32_t *points = p->info->points;
    struct pm_ir_block *latch = loop->latch, *rest;
    uint32_t i = loop->first;
    if (points[i] % PM_TURN_POINTS == 0)
        count_arrival(counts, i++, loop, &latch);
    /* The number is for the turns, and for a header that counts. */
    if ((i == loop->end && loop->before) || p->module->failed ||
        !(rest = pm_block_open(&p->builder, latch)))
        return;
    struct pm_ir_def *one = pm_ir_constant_uint(p->module, 1);
    store(p, loop->turn,
          pm_ir_build(&p->builder, SpvOpIAdd, p->counting.uint,
                      PM_IR_ARGS(pm_ir_id(load(p, loop->turn)), pm_ir_id(one))));
    if (i == loop->end)
        pm_ir_build_branch(&p->builder, rest);
    for (; i < loop->end && !p->module->failed; i++)
        count_at(counts, i, loop->turn, points[i] % PM_TURN_POINTS,
                 i + 1 < loop->end ? NULL : rest);
}

/* What is counted in a loop waits as what runs more than once: also a point of a turn that is made
 * only once. */
static bool rewrite(struct pm_instrument *p, struct pm_block_layout *layout, struct pm_error *error)
{
    uint32_t count;
    struct turning *loops = find_loops(p, &count);
    bool *once = calloc(p->info->point_count + 1u, sizeof(*once));
    struct pm_block_counts counts = {0};
    const bool ok = (loops && once && pm_block_counts_begin(&counts, p, once, NULL)) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    *layout = counts.layout;
    for (uint32_t i = 0; ok && i < count && !p->module->failed && !pm_stop_asked(); i++)
        count_loop(&counts, &loops[i]);
    if (ok)
        pm_block_counts_end(&counts);
    free(loops);
    free(once);
    return ok;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pass *p = context;
    (void)module;
    return pm_pass_result_of(
        pm_instrument_ready(&p->instrument, p->instrument.info->turns->count, p->out, error) &&
            rewrite(&p->instrument, &p->out->blocks, error),
        true);
}

static const struct pm_pass instrument_turns = {"instrument_turns", PM_ANALYSIS_CFG, 0, run};

bool pm_instrument_turns(const uint32_t *words, size_t count, const struct pm_instrument_info *info,
                         struct pm_instrumented *out, struct pm_error *error)
{
    *out = (struct pm_instrumented){0};
    struct pass p = {.out = out};
    bool ok = pm_instrument_begin(&p.instrument, words, count, info, error);
    ok = ok && pm_pass_run(&p.instrument.passes, &instrument_turns, &p, error) != PM_PASS_FAILED;
    return pm_instrument_end(&p.instrument, ok, out, error);
}
