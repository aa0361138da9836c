/* Which words are points: those of which some value could be worth it, by the bars of
 * specialize_zero (AZP 3.3.2) with the most favourable of all that is not in the module
 * (zero/choose/worth.h). */
#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/constants/constant_trials.h"
#include "shader_rewrite/constants/constant_values.h"
#include "shader_rewrite/zero/choose/worth.h"
#include "shader_rewrite/zero/region/continue_targets.h"

#include <stdlib.h>

/* As of points_zero.c: what one must be able to save, and together with the best others. */
static const double least_saving = 25 * 0.9, least_share = 0.05 * 0.9;
enum { TOGETHER = 4 };

/* Instructions that are looked at for one shader, each time anew; words that are left then are no
 * points. */
static const uint64_t most_work = 20000000;

enum {
    MOST_IN_VALUE = 16, /* what a matrix of 4 by 4 has */
    SLOT_BYTES = 16,    /* where a vector begins in std140 */
};

struct choosing {
    struct pm_ir_function *function;
    enum pm_stage stage;
    struct pm_arena *arena;
    struct pm_constant_words words;
    struct pm_constant_values values;
    struct pm_zero_round round;
    struct pm_zero_best_case best;
    struct pm_zero_worth *worth; /* by word: the best of what was tried */
    bool *keep;                  /* by word */
    bool all;                    /* every word is a point */
};

/* ---- what each could save ---- */

static bool may_go_on(const struct choosing *c)
{
    return c->round.work < most_work && !c->round.failed && !pm_stop_asked();
}

static struct pm_zero_worth worth_of_known(struct choosing *c)
{
    struct pm_zero_region region;
    pm_zero_region_whole(&c->round, c->values.known, &region);
    pm_zero_propagate(&c->round, &region);
    if (!region.changes)
        return (struct pm_zero_worth){0};
    pm_zero_find_dead(&c->round, &region);
    return pm_zero_worth_unchecked(&c->best, &region);
}

static void take_better(struct pm_zero_worth *worth, const struct pm_zero_worth *other)
{
    for (uint32_t t = 0; t < PM_COST_TABLES; t++)
        if (other->saved[t] > worth->saved[t]) {
            worth->saved[t] = other->saved[t];
            worth->share[t] = other->share[t];
        }
}

/* What it is worth that this is known of some words. */
static struct pm_zero_worth worth_of(struct choosing *c, const struct pm_constant_known_word *known,
                                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pm_constant_values_add(&c->values, &known[i]);
    const struct pm_zero_worth worth = worth_of_known(c);
    for (uint32_t i = 0; i < count; i++)
        pm_constant_values_remove(&c->values, &known[i]);
    return worth;
}

static struct pm_zero_worth *worth_at(const struct choosing *c,
                                      const struct pm_constant_known_word *known)
{
    return &c->worth[known->word - c->words.words];
}

static void try_known(struct choosing *c, const struct pm_constant_known_word *known,
                      uint32_t count)
{
    const struct pm_zero_worth worth = worth_of(c, known, count);
    for (uint32_t i = 0; i < count; i++)
        take_better(worth_at(c, &known[i]), &worth);
}

static void try_word(struct choosing *c, const struct pm_constant_word *word)
{
    const struct pm_constant_trials trials = pm_constant_trials_of(word);
    for (uint32_t i = 0; i < trials.count && may_go_on(c); i++)
        try_known(c, &(struct pm_constant_known_word){word, trials.bits[i]}, 1);
}

/* All words that a value has, zero together. Words of one value are near one another. */
static void try_value(struct choosing *c, const struct pm_ir_instr *value, uint32_t first)
{
    struct pm_constant_known_word known[MOST_IN_VALUE];
    uint32_t count = 0, words = pm_constant_value_words(value);
    for (uint32_t w = first; w < c->words.count && w < first + 4 * MOST_IN_VALUE &&
                             count < MOST_IN_VALUE && count < words;
         w++)
        for (uint32_t r = 0; r < c->words.words[w].read_count; r++)
            if (c->words.words[w].reads[r].value == value) {
                known[count++] = (struct pm_constant_known_word){&c->words.words[w], 0};
                break;
            }
    if (count > 1)
        try_known(c, known, count);
}

static bool in_one_slot(const struct pm_constant_point *a, const struct pm_constant_point *b)
{
    return a->source == b->source && a->set == b->set && a->binding == b->binding &&
           a->offset / SLOT_BYTES == b->offset / SLOT_BYTES;
}

/* All words of a slot, zero together: a vector, wherever the shader loads it in parts, as what was
 * made by a translation layer does. Other words may be in the slot, so only those count without
 * which it is worth less. */
static void try_slot(struct choosing *c, uint32_t first)
{
    struct pm_constant_known_word known[SLOT_BYTES / 4];
    uint32_t count = 0;
    const struct pm_constant_word *words = c->words.words;
    if (first > 0 && in_one_slot(&words[first - 1].point, &words[first].point))
        return;
    for (uint32_t w = first; w < c->words.count && count < SLOT_BYTES / 4 &&
                             in_one_slot(&words[w].point, &words[first].point);
         w++)
        known[count++] = (struct pm_constant_known_word){&words[w], 0};
    const struct pm_zero_worth all =
        count > 1 ? worth_of(c, known, count) : (struct pm_zero_worth){0};
    for (uint32_t i = 0; i < count && count > 1 && may_go_on(c); i++) {
        const struct pm_constant_known_word last = known[count - 1], left_out = known[i];
        struct pm_zero_worth worth = all;
        known[i] = last;
        const struct pm_zero_worth rest = worth_of(c, known, count - 1);
        known[i] = left_out;
        for (uint32_t t = 0; t < PM_COST_TABLES; t++)
            if (all.saved[t] - rest.saved[t] <= least_saving)
                worth.saved[t] = worth.share[t] = 0;
        take_better(worth_at(c, &left_out), &worth);
    }
}

static void look_at_all(struct choosing *c)
{
    for (uint32_t w = 0; w < c->words.count && may_go_on(c); w++)
        try_slot(c, w);
    for (uint32_t w = 0; w < c->words.count && may_go_on(c); w++) {
        const struct pm_constant_word *word = &c->words.words[w];
        try_word(c, word);
        for (uint32_t r = 0; r < word->read_count && may_go_on(c); r++)
            if (word->reads[r].component == 0)
                try_value(c, word->reads[r].value, w);
    }
}

/* ---- choosing ---- */

static double share_of(const struct choosing *c, uint32_t word, uint32_t t)
{
    return c->worth[word].saved[t] > least_saving ? c->worth[word].share[t] : 0;
}

/* Keeps those that pass by one cost table, with the best others. */
static void keep_by_table(struct choosing *c, uint32_t t)
{
    double best[TOGETHER - 1] = {0}, others = 0;
    for (uint32_t w = 0; w < c->words.count; w++) {
        double share = share_of(c, w, t);
        for (uint32_t k = 0; k < TOGETHER - 1; k++)
            if (share > best[k]) {
                const double less = best[k];
                best[k] = share;
                share = less;
            }
    }
    for (uint32_t k = 0; k < TOGETHER - 1; k++)
        others += best[k];
    for (uint32_t w = 0; w < c->words.count; w++) {
        const double share = share_of(c, w, t);
        c->keep[w] = c->keep[w] || (share > 0 && share + others > least_share);
    }
}

static bool choose(struct choosing *c, struct pm_ir_module *module, struct pm_error *error)
{
    if (!pm_constant_words_find(module, c->function, c->arena, &c->words, error))
        return false;
    c->worth = pm_arena_zalloc(c->arena, c->words.count + 1u, sizeof(*c->worth));
    c->keep = pm_arena_zalloc(c->arena, c->words.count + 1u, sizeof(*c->keep));
    if (!c->worth || !c->keep || !pm_constant_values_init(&c->values, module, c->arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (c->words.count == 0)
        return true;
    if (!pm_zero_round_init(&c->round, module, c->function, c->stage, PM_FLOAT_ZERO_ALLOW, c->arena,
                            error))
        return false;
    c->round.subgroup_quad = true;
    c->round.exact_ones = true;
    if (!pm_zero_best_case_init(&c->best, &c->round))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    look_at_all(c);
    for (uint32_t t = 0; t < PM_COST_TABLES; t++)
        keep_by_table(c, t);
    return !c->round.failed || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    return pm_pass_result_of(choose(context, module, error), false);
}

static const struct pm_pass choose_points = {
    "points_constant", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
    PM_ANALYSIS_ALL, run};

static bool find(struct choosing *c, struct pm_pass_runner *passes, struct pm_error *error)
{
    c->function = pm_entry_function(passes->module, &c->stage, error);
    return c->function &&
           pm_pass_apply(passes, &pm_pass_part_continue_targets, c->function, error) &&
           pm_pass_apply(passes, &choose_points, c, error);
}

static bool put_out(const struct choosing *c, struct pm_constant_points *out,
                    struct pm_error *error)
{
    out->points = malloc((c->words.count + 1u) * sizeof(*out->points));
    if (!out->points)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    out->candidates = c->words.count;
    for (uint32_t w = 0; w < c->words.count && out->count < PM_CONSTANT_MOST_POINTS; w++)
        if (c->keep[w] || c->all)
            out->points[out->count++] = c->words.words[w].point;
    return true;
}

bool pm_points_constant(const uint32_t *words, size_t count, bool all,
                        struct pm_constant_points *out, struct pm_error *error)
{
    *out = (struct pm_constant_points){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    struct choosing c = {.arena = pm_arena_create(0), .all = all};
    bool ok = (c.arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
              find(&c, &passes, error) && put_out(&c, out, error);
    pm_arena_destroy(c.arena);
    pm_ir_module_destroy(module);
    return ok;
}

void pm_constant_points_finish(struct pm_constant_points *points)
{
    if (!points)
        return;
    free(points->points);
    *points = (struct pm_constant_points){0};
}
