/* Runs a recipe. variants.h. */
#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_turns.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/canonical/optimizer.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/quirks/leaving_shared.h"
#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/levels_of_detail.h"
#include "shader_rewrite/quirks/quirks.h"
#include "shader_rewrite/variants/recipes.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

#include <string.h>

/* Of what goes into SPIRV-Tools' passes, some of which take time by the square of it, and of what
 * may come out of a step. Sizes alone decide, not the clock: a variant is a function of the module.
 */
enum { MOST_WORDS = 1 << 16, MOST_GROWTH = 4, LEAST_ROOM = 1 << 12 };

struct making {
    struct pm_pass_runner passes;
    struct pm_target target; /* that it is valid for as it is now */
    const struct pm_variant_info *info;
    const struct pm_words original;
    size_t most_words;
    bool too_large;
};

static bool take_words(struct making *m, const struct pm_words *words, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, error);
    if (!module)
        return false;
    pm_ir_module_destroy(m->passes.module);
    m->passes.module = module;
    m->too_large |= words->count > m->most_words;
    return true;
}

static bool run_flag(struct making *m, const char *flag, struct pm_error *error)
{
    struct pm_words in = {0}, out = {0};
    char message[300];
    if (!pm_ir_emit(m->passes.module, &in, error))
        return false;
    enum pm_optimizer_result result = pm_optimizer_run_flag(flag, in.data, in.count, &out.data,
                                                            &out.count, message, sizeof message);
    bool ok = result == PM_OPTIMIZER_DONE;
    if (!ok && pm_stop_check(error))
        pm_fail(error, result == PM_OPTIMIZER_GAVE_UP ? PM_ERROR_UNSUPPORTED : PM_ERROR_MEMORY,
                "SPIRV-Tools' %s gave up: %s", flag, message);
    struct pm_error unreadable;
    if (ok && !take_words(m, &out, &unreadable))
        ok = pm_fail(error, PM_ERROR_UNSUPPORTED, "SPIRV-Tools' %s made no valid module: %s", flag,
                     unreadable.message);
    pm_words_finish(&in);
    pm_words_finish(&out);
    return ok;
}

/* The next pass trusts what it is given: one of SPIRV-Tools' ends the process where a value is not
 * there (seen, of what its unrolling made). */
static bool is_sound(const struct making *m, const char *flag, struct pm_error *error)
{
    struct pm_error invalid;
    struct pm_words made = {0};
    if (!pm_ir_emit(m->passes.module, &made, error))
        return false;
    const bool ok =
        pm_validate_made(&made, m->original.data, m->original.count, &m->target, &invalid) ||
        pm_fail(error, PM_ERROR_UNSUPPORTED, "SPIRV-Tools' %s made no valid module: %s", flag,
                invalid.message);
    pm_words_finish(&made);
    return ok;
}

/* As canonicalization does it (HAZARDS 3): no float arithmetic is touched, and no load in a loop
 * stands for one behind it. */
static bool run_guarded(struct making *m, const char *flag, struct pm_error *error)
{
    struct pm_pass_runner *p = &m->passes;
    struct pm_float_guard guard;
    bool hidden;
    return pm_pass_apply(p, &pm_pass_avoid_crashes, NULL, error) &&
           pm_pass_apply(p, &pm_pass_mark_loads, NULL, error) &&
           pm_pass_apply(p, &pm_pass_guard_floats, &guard, error) &&
           pm_pass_apply(p, &pm_pass_hide_integers, NULL, error) &&
           pm_pass_apply(p, &pm_pass_hide_transposes, &hidden, error) && run_flag(m, flag, error) &&
           pm_pass_apply(p, &pm_pass_show_transposes, &hidden, error) &&
           pm_pass_apply(p, &pm_pass_show_integers, NULL, error) &&
           pm_pass_apply(p, &pm_pass_unguard_floats, &guard, error) &&
           pm_pass_apply(p, &pm_pass_unmark_loads, NULL, error) && is_sound(m, flag, error);
}

/* SPIRV-Tools' passes leave much behind that is not needed. */
static bool simplify(struct making *m, struct pm_error *error)
{
    struct pm_words in = {0}, out = {0};
    bool ok = pm_ir_emit(m->passes.module, &in, error) &&
              pm_simplify(in.data, in.count, m->passes.times, &out, error) &&
              take_words(m, &out, error);
    pm_words_finish(&in);
    pm_words_finish(&out);
    return ok;
}

/* By the profile, or as if every body were rare; whatever is expected of it. Where it is not known
 * how often blocks run nothing is changed. */
static bool run_blocks(struct making *m, const struct pm_recipe_step *step, struct pm_error *error)
{
    const struct pm_optimize_blocks_info *known = step->argument ? NULL : m->info->blocks;
    const struct pm_optimize_blocks_info info = {
        .profile = known ? known->profile : NULL,
        .points = known ? known->points : NULL,
        .turns = known ? known->turns : NULL,
        .passes = step->blocks & (known ? known->passes : PM_BLOCK_ALL) & ~m->info->withheld_passes,
        .uniform_share = known ? known->uniform_share : 1,
        .all_rare = step->argument != 0,
        .subgroup_vote = m->info->subgroup_vote,
        .costs = known ? known->costs : NULL,
        .target = m->target,
        .driver = m->info->driver,
        .times = m->passes.times,
    };
    struct pm_optimized_blocks made;
    struct pm_words in = {0};
    if (info.passes == 0 || (!known && !step->argument))
        return true;
    if (!pm_ir_emit(m->passes.module, &in, error))
        return false;
    bool ok = pm_optimize_blocks(in.data, in.count, &info, &made, error);
    ok = ok && (made.words.count == 0 || take_words(m, &made.words, error));
    /* Votes are of SPIR-V 1.3, so of Vulkan 1.1. */
    if (ok && m->passes.module->version >= PM_SPIRV_1_3 && m->target.vulkan_minor < 1)
        m->target.vulkan_minor = 1;
    pm_optimized_blocks_finish(&made);
    pm_words_finish(&in);
    return ok;
}

static bool run_step(struct making *m, const struct pm_recipe_step *step, struct pm_error *error)
{
    uint32_t argument = step->argument;
    if (step->blocks)
        return run_blocks(m, step, error);
    if (step->pass == &pm_pass_scalarize &&
        (pm_quirks_of(m->info->driver) & PM_QUIRK_FOLDS_SCALARS))
        argument = 1;
    return step->pass ? pm_pass_apply(&m->passes, step->pass, &argument, error)
                      : run_guarded(m, step->flag, error);
}

static bool run_steps(struct making *m, const struct pm_recipe *recipe, struct pm_error *error)
{
    const struct pm_recipe_step *step = recipe ? recipe->steps : NULL;
    bool flags = false;
    for (; step && (step->pass || step->flag || step->blocks) && !m->too_large; step++) {
        if (step->fits && !step->fits(m->passes.module))
            continue;
        if (!run_step(m, step, error))
            return false;
        flags |= step->flag != NULL;
    }
    return !flags || m->too_large || simplify(m, error);
}

/* What is shared across a loop's exit, as it may crash lavapipe 25.0; true also where memory ends.
 */
static bool shares_leaving(const struct making *m, const struct pm_driver *driver)
{
    struct pm_error error;
    bool has;
    return (pm_quirks_of(driver) & PM_QUIRK_SHARES_LEAVING) &&
           (!pm_has_leaving_shared(m->passes.module, &has, &error) || has);
}

/* A level of detail made of push constants that is a phi's operand too crashes lavapipe 25.0. */
static bool has_joined_levels(const struct making *m, const struct pm_driver *driver)
{
    struct pm_ir_module *module = m->passes.module;
    const struct pm_ir_function *function = pm_variant_function(module);
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_detail_levels levels;
    if (!(pm_quirks_of(driver) & PM_QUIRK_JOINED_LEVELS) || !function)
        return false;
    if (!pm_detail_levels_compute(&levels, &memory, module, function, module->arena))
        return true;
    for (const struct pm_ir_block *b = levels.asked ? function->first_block : NULL; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i && i->opcode == SpvOpPhi; i = i->next)
            for (uint32_t o = 0; o < i->operand_count; o += 2)
                if (pm_detail_levels_has(&levels, i->operands[o].def))
                    return true;
    return false;
}

/* What a driver chooses again behind a loop (PM_QUIRK_CHOOSES_AGAIN) it chooses otherwise where
 * the selection, its sides or the loop are written otherwise; true also where memory ends. */
static bool chooses_again(const struct making *m, const struct pm_driver *driver)
{
    struct pm_ir_module *module = m->passes.module;
    struct pm_ir_function *function = pm_variant_function(module);
    struct pm_leaving_values leaving;
    struct pm_error error;
    if (!(pm_quirks_of(driver) & PM_QUIRK_CHOOSES_AGAIN) || !function)
        return false;
    return !pm_analysis_require(function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, &error) ||
           !pm_leaving_values_compute(&leaving, module, function, module->arena) ||
           pm_leaving_values_chosen(&leaving, function);
}

/* A driver that leaves out the last test of what it unrolls, or does not keep NoContraction, is
 * asked to unroll a loop that needs that; true also where memory ends. */
static bool is_unrolled_wrongly(const struct making *m, const struct pm_driver *driver)
{
    struct pm_ir_module *module = m->passes.module;
    struct pm_ir_function *function = pm_variant_function(module);
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_error error;
    const uint32_t quirks = pm_quirks_of(driver);
    if (!(quirks & (PM_QUIRK_UNROLLS_SHORT | PM_QUIRK_UNROLLS_INEXACT)) || !function)
        return false;
    if (!pm_analysis_require(function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, &error))
        return true;
    const struct pm_loops *loops = pm_loops(function);
    for (uint32_t l = 0; l < loops->count; l++) {
        const struct pm_ir_instr *merge =
            pm_ir_merge(pm_cfg(function)->blocks[loops->loops[l].header]);
        if ((pm_ir_operand_word(&merge->operands[2]) & SpvLoopControlUnrollMask) &&
            (((quirks & PM_QUIRK_UNROLLS_SHORT) && pm_loop_needs_last_test(function, &memory, l)) ||
             ((quirks & PM_QUIRK_UNROLLS_INEXACT) && pm_loop_needs_exactness(function, l))))
            return true;
    }
    return false;
}

/* Into the canonical order, where all ids are others. */
static bool emit(struct pm_pass_runner *passes, struct pm_words *out, struct pm_error *error)
{
    if (!pm_pass_apply(passes, &pm_pass_order, NULL, error))
        return false;
    passes->module->generator = 0;
    return pm_ir_emit(passes->module, out, error);
}

/* What comes out where no recipe changes anything: specialized modules are in no order. */
static bool make_plain(const struct pm_words *words, struct pm_pass_times *times,
                       struct pm_words *out, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, times);
    const bool ok = emit(&passes, out, error);
    pm_ir_module_destroy(module);
    return ok;
}

static bool same_words(const struct pm_words *a, const struct pm_words *b)
{
    return a->count == b->count && memcmp(a->data, b->data, a->count * sizeof *a->data) == 0;
}

static bool changes(const struct pm_recipe *recipe)
{
    return recipe && recipe->kind != PM_RECIPE_CANONICAL;
}

bool pm_make_variant(const uint32_t *words, size_t count, const struct pm_variant_info *info,
                     struct pm_words *out, struct pm_error *error)
{
    *out = (struct pm_words){0};
    struct pm_error invalid;
    struct making m = {.target = info->target,
                       .info = info,
                       .original = {(uint32_t *)(uintptr_t)words, count},
                       .most_words = MOST_GROWTH * count + LEAST_ROOM};
    if (count > MOST_WORDS)
        return true;
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    m.passes = pm_pass_runner_of(module, info->times);
    const bool canonical = !changes(info->choice.recipe) && !changes(info->choice.second);
    if (!canonical && chooses_again(&m, info->driver)) {
        pm_ir_module_destroy(module);
        return true;
    }
    struct pm_words plain = {0};
    bool ok = make_plain(&m.original, info->times, &plain, error) &&
              run_steps(&m, info->choice.recipe, error) &&
              run_steps(&m, info->choice.second, error) && emit(&m.passes, out, error);
    /* Votes of ours tell a size as the shader's own would. */
    const bool told =
        ok && info->choice.subgroup_size && pm_variant_tells_subgroups(m.passes.module);
    const bool unfit =
        told || (ok && !canonical &&
                 (shares_leaving(&m, info->driver) || has_joined_levels(&m, info->driver) ||
                  is_unrolled_wrongly(&m, info->driver)));
    pm_ir_module_destroy(m.passes.module);
    const bool none = ok && (unfit || m.too_large || (!canonical && same_words(out, &plain)));
    pm_words_finish(&plain);
    if (ok && !none && !pm_validate_made(out, words, count, &m.target, &invalid))
        ok = pm_fail(error, PM_ERROR_STATE, "the variant is not valid: %s", invalid.message);
    if (!ok || none) {
        pm_words_finish(out);
        *out = (struct pm_words){0};
    }
    return ok;
}
