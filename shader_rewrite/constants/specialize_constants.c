/* The shader for some of its words being known: what follows from them is put in, and what became
 * needless taken out. */
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/constants/constant_estimate.h"
#include "shader_rewrite/constants/constant_guard.h"
#include "shader_rewrite/constants/constant_values.h"
#include "shader_rewrite/constants/constant_zeroes.h"
#include "shader_rewrite/constants/substitute.h"
#include "shader_rewrite/quirks/quirks.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 4 };

static const double usual_least_saving = 25, usual_least_share = 0.05;

struct specializing {
    const struct pm_specialize_constants_info *info;
    struct pm_pass_runner passes;
    struct pm_ir_function *function;
    enum pm_stage stage;
    struct pm_arena *arena;
    struct pm_constant_values values;
    struct pm_constant_estimate estimate;
    struct pm_constant_known_word first; /* one of those that are known */
    struct pm_constant_found found;      /* what is to be hidden besides */
    uint32_t guarded;
};

/* ---- what is known ---- */

static bool is_twice(const struct pm_specialize_constants_info *info, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (pm_constant_same_word(&info->known[i].point, &info->known[index].point))
            return true;
    return false;
}

static bool refuse(const struct pm_constant_point *point, const char *why, struct pm_error *error)
{
    if (point->source == PM_CONSTANT_PUSH)
        return pm_fail(error, PM_ERROR_INPUT, "the word at byte %u of the push constants %s",
                       point->offset, why);
    return pm_fail(error, PM_ERROR_INPUT, "the word at byte %u of uniform buffer %u.%u %s",
                   point->offset, point->set, point->binding, why);
}

static bool take_known(struct specializing *s, struct pm_error *error)
{
    if (s->info->known_count == 0)
        return pm_fail(error, PM_ERROR_INPUT, "no word is known");
    struct pm_constant_words words;
    if (!pm_constant_words_find(s->passes.module, s->function, s->arena, &words, error))
        return false;
    if (!pm_constant_values_init(&s->values, s->passes.module, s->arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < s->info->known_count; i++) {
        const struct pm_constant_known *known = &s->info->known[i];
        const struct pm_constant_word *word = pm_constant_words_of(&words, &known->point);
        if (!word)
            return refuse(&known->point, "is none that the shader loads", error);
        if (is_twice(s->info, i))
            return refuse(&known->point, "is there twice", error);
        if (word->point.source == PM_CONSTANT_UNIFORM) {
            if (!word->point.every_path && !known->anywhere)
                return refuse(&known->point, "is not loaded on every path", error);
            s->guarded++;
        }
        s->first = (struct pm_constant_known_word){word, known->value};
        pm_constant_values_add(&s->values, &s->first);
    }
    return true;
}

/* ---- folding ---- */

static bool is_worth_it(const struct specializing *s)
{
    const struct pm_specialize_constants_info *info = s->info;
    const double saving = info->least_saving > 0 ? info->least_saving : usual_least_saving;
    const double share = info->least_share > 0 ? info->least_share : usual_least_share;
    const double saved = s->estimate.before - s->estimate.after;
    return info->take_all || (saved > saving && saved > share * s->estimate.before);
}

static bool fold(struct specializing *s, bool *changed, struct pm_error *error)
{
    struct pm_zero_round round;
    struct pm_zero_region region;
    struct pm_ir_module *module = s->passes.module;
    *changed = false;
    if (!take_known(s, error) || !pm_zero_round_init(&round, module, s->function, s->stage,
                                                     s->info->float_zero, s->arena, error))
        return false;
    round.costs = s->info->costs ? s->info->costs : pm_costs_of(0);
    round.exact_ones = pm_has_exact_ones(s->info->driver);
    pm_zero_region_whole(&round, s->values.known, &region);
    pm_zero_propagate(&round, &region);
    pm_zero_find_dead(&round, &region);
    s->estimate = pm_constant_estimate_of(&round, &region);
    s->estimate.after += pm_constant_estimate_guard(&round, s->guarded);
    *changed = !round.failed && !s->info->estimate_only && is_worth_it(s) &&
               pm_constant_substitute(&round, &region, &s->first, &s->found);
    return !round.failed || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)module;
    bool changed;
    const bool ok = fold(context, &changed, error);
    return pm_pass_result_of(ok, changed);
}

static const struct pm_pass put_constants = {
    "specialize_constants", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
    PM_ANALYSIS_ALL, run};

/* ---- from words to words ---- */

/* Puts what is known into the module; *folded stays empty where that is not worth it. */
static bool fold_once(struct specializing *s, const uint32_t *words, size_t count,
                      struct pm_words *folded, struct pm_error *error)
{
    struct pm_words put = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    s->passes = pm_pass_runner_of(module, s->info->times);
    s->function = pm_entry_function(module, &s->stage, error);
    const enum pm_pass_result result =
        s->function ? pm_pass_run(&s->passes, &put_constants, s, error) : PM_PASS_FAILED;
    bool ok = result != PM_PASS_FAILED;
    if (result == PM_PASS_CHANGED)
        ok = pm_ir_emit(module, &put, error) &&
             pm_simplify(put.data, put.count, s->info->times, folded, error);
    pm_words_finish(&put);
    pm_ir_module_destroy(module);
    return ok;
}

/* Likewise, with what a compiler would find out hidden; where that is not possible nothing is made.
 * What is hidden may leave something else to be found. */
static bool make_folded(struct specializing *s, const uint32_t *words, size_t count,
                        struct pm_words *folded, struct pm_error *error)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        const uint32_t before = s->found.count;
        s->guarded = 0;
        if (!fold_once(s, words, count, folded, error))
            return false;
        if (folded->count && !pm_constant_find(words, count, folded, s->arena, &s->found, error))
            return false;
        if (s->found.count == before)
            return true;
        pm_words_finish(folded);
    }
    return true;
}

/* What is left of blocks has the ids that it had. */
static bool by_blocks(const struct pm_specialize_constants_info *info, struct pm_words *folded,
                      struct pm_specialized_constants *out, struct pm_error *error)
{
    struct pm_optimize_blocks_info blocks = *info->blocks;
    struct pm_optimized_blocks made;
    blocks.costs = info->costs;
    blocks.target = info->target;
    blocks.driver = info->driver;
    blocks.times = info->times;
    if (!pm_optimize_blocks(folded->data, folded->count, &blocks, &made, error))
        return false;
    out->changes = made.changes;
    memcpy(out->changes_by, made.changes_by, sizeof out->changes_by);
    if (made.words.count) {
        pm_words_finish(folded);
        *folded = made.words;
        made.words = (struct pm_words){0};
    }
    pm_optimized_blocks_finish(&made);
    return true;
}

static bool finish_module(struct specializing *s, const uint32_t *words, size_t count,
                          struct pm_words *folded, struct pm_specialized_constants *out,
                          struct pm_error *error)
{
    if (s->info->zero && !pm_constant_zeroes(words, count, s->info, folded, out, error))
        return false;
    if (s->info->blocks && !by_blocks(s->info, folded, out, error))
        return false;
    if (s->guarded && !pm_constant_guard(words, count, s->info, folded, &out->words, error))
        return false;
    if (!s->guarded) {
        out->words = *folded;
        *folded = (struct pm_words){0};
    }
    /* Subgroup operations, which checks of zeroes and rare blocks have, are of SPIR-V 1.3, so of
     * Vulkan 1.1. */
    struct pm_target target = s->info->target;
    struct pm_error invalid = {0};
    if ((out->transforms || out->changes) && target.vulkan_minor < 1)
        target.vulkan_minor = 1;
    return pm_validate_made(&out->words, words, count, &target, &invalid) ||
           pm_fail(error, invalid.code == PM_ERROR_MEMORY ? PM_ERROR_MEMORY : PM_ERROR_STATE,
                   "specialized shader is not valid: %s", invalid.message);
}

bool pm_specialize_constants(const uint32_t *words, size_t count,
                             const struct pm_specialize_constants_info *info,
                             struct pm_specialized_constants *out, struct pm_error *error)
{
    struct pm_words folded = {0};
    struct specializing s = {.info = info, .arena = pm_arena_create(0)};
    *out = (struct pm_specialized_constants){0};
    bool ok = (s.arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
              make_folded(&s, words, count, &folded, error) &&
              (!folded.count || finish_module(&s, words, count, &folded, out, error));
    pm_words_finish(&folded);
    pm_arena_destroy(s.arena);
    out->cycles_before = s.estimate.before;
    out->cycles_after = s.estimate.after;
    out->guarded = out->words.count ? s.guarded : 0;
    if (!ok)
        pm_specialized_constants_finish(out);
    return ok;
}

void pm_specialized_constants_finish(struct pm_specialized_constants *specialized)
{
    if (!specialized)
        return;
    pm_words_finish(&specialized->words);
    free(specialized->zero_report);
    *specialized = (struct pm_specialized_constants){0};
}
