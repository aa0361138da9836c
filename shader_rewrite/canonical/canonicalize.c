#include "base/clock.h"
#include "base/stop.h"
#include "shader_rewrite/canonical/canonical_names.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/canonical/optimizer.h"
#include "shader_rewrite/ir/spirv_tools.h"

#include <pthread.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 5 };
#define NEWEST_VERSION 0x00010600

/* 1 MiB: more than twice the largest shaders of games, and some ten seconds of work. */
#define MAX_WORDS (1u << 18)

/* One step uncovers work for the next; shaders of games are stable after two or three. */
#define MAX_ROUNDS 8

static char recipe_text[64];
static pthread_once_t recipe_once = PTHREAD_ONCE_INIT;

static void make_recipe(void)
{
    snprintf(recipe_text, sizeof recipe_text, "%d %.48s", PM_RECIPE_VERSION,
             spvSoftwareVersionString());
}

const char *pm_canonicalize_recipe(void)
{
    pthread_once(&recipe_once, make_recipe); /* ThreadSanitizer knows it, and not call_once */
    return recipe_text;
}

/* The module between the optimizer's steps. */
struct work {
    struct pm_pass_runner passes;
    const struct pm_canonicalize_info *info;
    bool keeps_ids;         /* of what the optimizer removes none is given to anything else */
    struct pm_error broken; /* the rule that the original breaks; code PM_OK: none */
};

static bool run_pass(struct work *w, const struct pm_pass *pass, void *context,
                     struct pm_error *error)
{
    return pm_pass_apply(&w->passes, pass, context, error);
}

static void add_time(const struct work *w, const char *name, int64_t start, bool changed)
{
    pm_pass_times_add(w->passes.times, name, (uint64_t)(pm_now() - start), changed);
}

/* Goes on with the module that these words are. */
static bool take_words(struct work *w, const uint32_t *words, size_t count, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    if (w->keeps_ids && w->passes.module && module->bound < w->passes.module->bound)
        module->bound = w->passes.module->bound;
    pm_ir_module_destroy(w->passes.module);
    w->passes.module = module;
    return true;
}

static bool run_optimizer(enum pm_optimizer_step step, const struct pm_words *in,
                          struct pm_words *out, struct pm_error *error)
{
    char message[300];
    switch (pm_optimizer_run(step, in->data, in->count, &out->data, &out->count, message,
                             sizeof message)) {
    case PM_OPTIMIZER_DONE:
        return true;
    case PM_OPTIMIZER_GAVE_UP:
        return pm_stop_check(error) &&
               pm_fail(error, PM_ERROR_UNSUPPORTED, "SPIRV-Tools' optimizer gave up: %s", message);
    default:
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory in SPIRV-Tools' optimizer");
    }
}

static bool same_words(const struct pm_words *a, const struct pm_words *b)
{
    return a->count == b->count && memcmp(a->data, b->data, a->count * sizeof(uint32_t)) == 0;
}

static const char *const step_names[] = {
    [PM_STEP_PREPARE] = "optimizer: prepare",
    [PM_STEP_MERGE_RETURN] = "optimizer: merge returns",
    [PM_STEP_INLINE] = "optimizer: inline",
    [PM_STEP_SIMPLIFY] = "optimizer: simplify",
    [PM_STEP_SIMPLIFY_KEEPING_COPIES] = "optimizer: simplify",
    [PM_STEP_SIMPLIFY_WITH_CALLS] = "optimizer: simplify",
    [PM_STEP_MERGE_BLOCKS] = "optimizer: merge blocks",
};

/* Most steps of a last round change nothing; then the module is at hand already. */
static bool run_step(struct work *w, enum pm_optimizer_step step, struct pm_error *error)
{
    struct pm_words in, out = {0};
    const int64_t start = pm_now();
    if (!pm_stop_check(error) || !pm_ir_emit(w->passes.module, &in, error))
        return false;
    bool ok = run_optimizer(step, &in, &out, error);
    const bool changed = ok && !same_words(&in, &out);
    ok = ok && (!changed || take_words(w, out.data, out.count, error));
    add_time(w, step_names[step], start, changed);
    pm_words_finish(&in);
    pm_words_finish(&out);
    return ok;
}

static bool run_transposed(struct work *w, enum pm_optimizer_step step, struct pm_error *error)
{
    bool hidden;
    return run_pass(w, &pm_pass_hide_transposes, &hidden, error) && run_step(w, step, error) &&
           run_pass(w, &pm_pass_show_transposes, &hidden, error);
}

static bool run_guarded(struct work *w, enum pm_optimizer_step step, struct pm_error *error)
{
    struct pm_float_guard guard;
    return run_pass(w, &pm_pass_guard_floats, &guard, error) &&
           run_pass(w, &pm_pass_hide_integers, NULL, error) && run_transposed(w, step, error) &&
           run_pass(w, &pm_pass_show_integers, NULL, error) &&
           run_pass(w, &pm_pass_unguard_floats, &guard, error);
}

static bool has_callees(const struct pm_ir_module *module)
{
    return module->first_function != module->last_function;
}

/* changes: memory, by what the shader does not do. */
static enum pm_optimizer_step simplifying(const struct work *w, bool changes)
{
    if (has_callees(w->passes.module))
        return PM_STEP_SIMPLIFY_WITH_CALLS;
    return changes ? PM_STEP_SIMPLIFY_KEEPING_COPIES : PM_STEP_SIMPLIFY;
}

static bool validate_words(const struct work *w, const uint32_t *words, size_t count,
                           struct pm_error *error)
{
    const int64_t start = pm_now();
    const bool ok = pm_stop_check(error) &&
                    pm_validate_as_broken(words, count, &w->info->target, &w->broken, error);
    add_time(w, "validate", start, false);
    return ok;
}

static bool validate(const struct work *w, struct pm_error *error)
{
    struct pm_words words;
    if (!pm_ir_emit(w->passes.module, &words, error))
        return false;
    const bool ok = validate_words(w, words.data, words.count, error);
    pm_words_finish(&words);
    return ok;
}

/* Whether it says nothing about the module, which may be taken another time. */
static bool is_no_reason(const struct pm_error *error)
{
    return error->code == PM_ERROR_MEMORY || error->code == PM_ERROR_STATE ||
           error->code == PM_ERROR_STOPPED;
}

/* A reference to what is only stored in 8 or 16 bits is declared ahead only where the module would
 * be refused otherwise: whether its compiler declared it so is no part of a shader. */
static bool order(struct work *w, struct pm_error *error)
{
    struct pm_words before;
    struct pm_error reason;
    if (!pm_ir_emit(w->passes.module, &before, error))
        return false;
    bool dropped = false;
    bool ok = run_pass(w, &pm_pass_order, &dropped, error);
    if (ok && dropped && !validate(w, &reason))
        ok = is_no_reason(&reason) ? pm_fail(error, reason.code, "%s", reason.message)
                                   : take_words(w, before.data, before.count, error) &&
                                         run_pass(w, &pm_pass_order, NULL, error);
    pm_words_finish(&before);
    return ok;
}

/* Inlined first, since only then it is known in which loops a callee's loads are. */
static bool simplify_once(struct work *w, struct pm_error *error)
{
    bool changes;
    return run_pass(w, &pm_pass_avoid_crashes, NULL, error) &&
           (!has_callees(w->passes.module) || run_guarded(w, PM_STEP_INLINE, error)) &&
           run_pass(w, &pm_pass_fold_bitcasts, NULL, error) &&
           run_pass(w, &pm_pass_mark_loads, &changes, error) &&
           run_guarded(w, simplifying(w, changes), error) &&
           run_pass(w, &pm_pass_unmark_loads, NULL, error) &&
           run_pass(w, &pm_pass_disguise_breaks, NULL, error) &&
           run_transposed(w, PM_STEP_MERGE_BLOCKS, error) &&
           run_pass(w, &pm_pass_undisguise_breaks, NULL, error) &&
           run_pass(w, &pm_pass_near_pointers, NULL, error);
}

static bool simplify(struct work *w, struct pm_error *error)
{
    return simplify_once(w, error) && run_pass(w, &pm_pass_merge_constants, NULL, error) &&
           order(w, error);
}

/* Only the callees' returns: the entry point's are no obstacle to inlining, and merging them would
 * put flags and branches into the shader that its author never wrote. */
static bool merge_callee_returns(struct work *w, struct pm_error *error)
{
    uint16_t mask;
    return run_pass(w, &pm_pass_mask_returns, &mask, error) &&
           run_transposed(w, PM_STEP_MERGE_RETURN, error) &&
           run_pass(w, &pm_pass_unmask_returns, &mask, error);
}

/* Canonicalizing the result again gives the same words: it runs until nothing changes. */
static bool simplify_until_stable(struct work *w, struct pm_words *out, struct pm_error *error)
{
    if (!merge_callee_returns(w, error) || !pm_ir_emit(w->passes.module, out, error))
        return false;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        struct pm_words before = *out;
        *out = (struct pm_words){0};
        bool ok = simplify(w, error) && pm_ir_emit(w->passes.module, out, error);
        bool stable = ok && same_words(&before, out);
        pm_words_finish(&before);
        if (!ok || stable)
            return ok;
    }
    return true;
}

static bool validate_original(struct work *w, struct pm_error *error)
{
    const struct pm_canonicalize_info *info = w->info;
    const int64_t start = pm_now();
    const bool ok =
        pm_validate_original(info->words, info->word_count, &info->target, &w->broken, error);
    add_time(w, "validate", start, false);
    return ok;
}

/* Where the optimizer gives up, or makes a module that is not valid, the shader is taken as it is,
 * with only its constants frozen and put in order: also a pure function of the module. */
static bool simplify_or_keep(struct work *w, struct pm_error *error)
{
    struct pm_words frozen, simplified = {0};
    if (!pm_ir_emit(w->passes.module, &frozen, error))
        return false;
    struct pm_error reason;
    bool ok = simplify_until_stable(w, &simplified, &reason) &&
              validate_words(w, simplified.data, simplified.count, &reason);
    if (!ok && is_no_reason(&reason)) {
        pm_fail(error, reason.code, "%s", reason.message);
    } else if (!ok) {
        ok = validate_words(w, frozen.data, frozen.count, error) &&
             take_words(w, frozen.data, frozen.count, error);
        if (w->info->kept)
            *w->info->kept = reason;
    }
    pm_words_finish(&simplified);
    pm_words_finish(&frozen);
    return ok;
}

static bool check_size(const struct pm_canonicalize_info *info, struct pm_error *error)
{
    if (info->word_count < HEADER_WORDS)
        return pm_fail(error, PM_ERROR_INPUT, "%zu words are no SPIR-V module", info->word_count);
    if (info->words[0] != SpvMagicNumber)
        return pm_fail(error, PM_ERROR_INPUT, "SPIR-V word 0: the magic number is 0x%08x",
                       info->words[0]);
    if (info->words[1] > NEWEST_VERSION)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "SPIR-V word 1: version 0x%08x is newer than what SPIRV-Tools knows",
                       info->words[1]);
    if (info->word_count > MAX_WORDS)
        return pm_fail(error, PM_ERROR_LIMIT, "the module has %zu words; at most %u are optimized",
                       info->word_count, MAX_WORDS);
    return true;
}

/* Named anew where people are to read it. */
static bool simplify_with_names(struct work *w, struct pm_error *error)
{
    struct pm_value_names names = {0};
    bool ok = run_pass(w, &pm_pass_mark_names, &names, error) && simplify_or_keep(w, error) &&
              run_pass(w, &pm_pass_put_names, &names, error) && validate(w, error);
    pm_value_names_finish(&names);
    return ok;
}

static bool canonicalize(struct work *w, struct pm_error *error)
{
    const struct pm_canonicalize_info *info = w->info;
    struct pm_selection selection = {info->stage, info->entry_point, info->keep_names,
                                     info->keep_lines};
    struct pm_freezing freezing = {info->spec_values, info->spec_value_count};
    /* Validated again before the optimizer sees it, which trusts its input: the validator lets an
     * OpString be a number of LocalSizeId, which is gone with the strings. */
    return (!info->keep_lines || run_pass(w, &pm_pass_take_lines, NULL, error)) &&
           run_pass(w, &pm_pass_select, &selection, error) && validate(w, error) &&
           run_pass(w, &pm_pass_check_growth, NULL, error) &&
           run_pass(w, &pm_pass_check_spec_ops, NULL, error) &&
           run_step(w, PM_STEP_PREPARE, error) && run_pass(w, &pm_pass_freeze, &freezing, error) &&
           run_pass(w, &pm_pass_merge_constants, NULL, error) && order(w, error) &&
           validate(w, error) &&
           (info->keep_names ? simplify_with_names(w, error) : simplify_or_keep(w, error));
}

bool pm_canonicalize(const struct pm_canonicalize_info *info, struct pm_words *out,
                     struct pm_error *error)
{
    *out = (struct pm_words){0};
    if (info->kept)
        *info->kept = (struct pm_error){0};
    struct work w = {.passes = pm_pass_runner_of(NULL, info->times), .info = info};
    bool ok = check_size(info, error) && validate_original(&w, error) &&
              take_words(&w, info->words, info->word_count, error) && canonicalize(&w, error);
    if (ok) {
        w.passes.module->generator = 0;
        ok = pm_ir_emit(w.passes.module, out, error);
    }
    pm_ir_module_destroy(w.passes.module);
    return ok;
}

bool pm_simplify(const uint32_t *words, size_t count, struct pm_pass_times *times,
                 struct pm_words *out, struct pm_error *error)
{
    struct work w = {.passes = pm_pass_runner_of(NULL, times), .keeps_ids = true};
    bool ok = take_words(&w, words, count, error) && pm_ir_emit(w.passes.module, out, error);
    bool stable = !ok;
    for (int round = 0; round < MAX_ROUNDS && !stable; round++) {
        struct pm_words before = *out;
        *out = (struct pm_words){0};
        ok = simplify_once(&w, error) && pm_ir_emit(w.passes.module, out, error);
        stable = !ok || same_words(&before, out);
        pm_words_finish(&before);
    }
    pm_ir_module_destroy(w.passes.module);
    return ok;
}
