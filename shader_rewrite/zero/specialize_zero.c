/* AZP's estimate-transform loop (3.3, Figure 2b): filter, estimate each candidate without changing
 * the module, transform the best, and again. */
#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_folded.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points_blocks.h"
#include "shader_rewrite/quirks/quirks.h"
#include "shader_rewrite/zero/choose/filter.h"
#include "shader_rewrite/zero/choose/pairs.h"
#include "shader_rewrite/zero/clone/transform.h"
#include "shader_rewrite/zero/region/continue_targets.h"
#include "shader_rewrite/zero/specialize_zero_list.h"
#include "shader_rewrite/zero/specialize_zero_weights.h"

#include <math.h>
#include <stdlib.h>

/* The paper's constants (3.3.1, 3.3.2, Figure 2). */
static const double paper_threshold = 0.32, paper_least_saving = 25;
enum { PAPER_TRANSFORMS = 3 };

/* A straight-line shader of 200,000 words with 30,000 candidates takes less than half of it. */
static const uint64_t usual_work = 30000000;

/* Beyond the paper: a shader of which less is saved gains nothing that a trial could tell, and
 * still has to be compiled (docs/results/gain.md, "The least share"). */
static const double usual_least_share = 0.05;

/* Each transform has code twice, and what is nested in it too. No module gets more than so many
 * times its ids: drivers' compilers take long over it (minutes for 34,000 words, seen), or end the
 * process. */
enum { MOST_GROWTH = 4, SMALL_MODULE = 512 /* ids: smaller ones may grow as this one */ };

/* So many of a round's best candidates are tried in pairs, when told to. */
enum { MOST_PAIRED = 6 };

struct pass {
    struct pm_pass_runner passes;
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    enum pm_stage stage;
    const struct pm_specialize_zero_info *info;
    const struct pm_costs *costs;
    double threshold;
    struct pm_zero_bars bars;
    uint32_t most_transforms;
    double least_share;
    struct pm_zero_list list;
    struct pm_zero_weights weights;
    uint32_t transforms;
    uint64_t work, most_work;
    uint32_t most_ids;
    bool full;            /* the best transform would have more */
    double cycles, saved; /* what the shader costs as it was, and what the transforms save */
    struct pm_candidate_check check;
    bool check_ready;
};

/* ---- a round ---- */

static bool begin_round(struct pass *p, struct pm_zero_round *round, struct pm_arena *arena,
                        struct pm_error *error)
{
    if (!pm_zero_round_init(round, p->module, p->function, p->stage, p->info->float_zero, arena,
                            error))
        return false;
    round->costs = p->costs;
    round->subgroup_quad = p->info->subgroup_quad;
    round->quirks = pm_quirks_of(p->info->driver) & ~p->info->unguarded;
    round->exact_ones = pm_has_exact_ones(p->info->driver);
    if (!pm_zero_weights_of_round(&p->weights, round, error))
        return false;
    if (p->transforms == 0)
        p->cycles = pm_zero_estimate_shader(round);
    return true;
}

/* What a round does: a candidate, or a pair of them. */
struct choice {
    struct pm_zero_candidate candidate;
    double probability;
    struct pm_zero_opportunity opportunity;
    uint32_t first, second; /* in the points; PM_ZERO_NO_OTHER: none */
};

/* Says of those that no estimate was made of why. */
static void give_up(const struct pass *p)
{
    for (uint32_t i = 0; i < p->list.points.count; i++)
        if (!p->list.verdicts[i].reason)
            p->list.verdicts[i].reason = "the shader is too large for the time it may take";
}

static double saved(const struct pass *p, uint32_t candidate)
{
    return p->list.verdicts[candidate].opportunity.estimate.saved;
}

/* Keeps the best so far in order. */
static void rank(const struct pass *p, uint32_t *list, uint32_t *count, uint32_t candidate)
{
    uint32_t at = *count;
    if (*count < MOST_PAIRED)
        (*count)++;
    else if (saved(p, list[--at]) >= saved(p, candidate))
        return;
    for (; at > 0 && saved(p, list[at - 1]) < saved(p, candidate); at--)
        list[at] = list[at - 1];
    list[at] = candidate;
}

static void choose_pair(const struct pass *p, struct pm_zero_round *round, const uint32_t *list,
                        uint32_t count, struct choice *choice)
{
    struct pm_zero_single singles[MOST_PAIRED];
    struct pm_zero_pair pair;
    for (uint32_t i = 0; i < count; i++)
        singles[i] = (struct pm_zero_single){list[i], &p->list.points.candidates[list[i]],
                                             p->list.verdicts[list[i]].now};
    double least = choice->first == PM_ZERO_NO_OTHER ? -INFINITY : saved(p, choice->first);
    if (pm_zero_pair_find(round, singles, count, p->threshold, least, &p->bars, &p->info->beyond,
                          &pair))
        *choice = (struct choice){pair.joint, pair.probability, pair.opportunity, pair.first,
                                  pair.second};
}

/* Estimates every candidate that is left, and finds the best that may be taken; false: none. */
static bool choose(struct pass *p, struct pm_zero_round *round, struct choice *choice)
{
    uint32_t best = PM_ZERO_NO_OTHER, list[MOST_PAIRED], count = 0;
    for (uint32_t i = 0; i < p->list.points.count && !round->failed && !pm_stop_asked(); i++) {
        struct pm_zero_verdict *v = &p->list.verdicts[i];
        if (p->work + round->work > p->most_work) {
            give_up(p);
            return false;
        }
        if (v->follows != PM_ZERO_FOLLOWS_NONE || v->round || isnan(v->now))
            continue;
        if (v->now < p->threshold) {
            if (p->list.zero[i] >= p->threshold)
                v->reason = "it is zero too rarely where an earlier check fails";
            continue;
        }
        v->opportunity = pm_zero_opportunity_find(round, &p->list.points.candidates[i], v->now,
                                                  &p->bars, &p->info->beyond);
        v->reason = v->opportunity.reason;
        if (v->opportunity.estimated)
            rank(p, list, &count, i);
        if (v->reason)
            continue;
        v->reason = "others were better, until there were enough";
        if (best == PM_ZERO_NO_OTHER || saved(p, i) > saved(p, best))
            best = i;
    }
    *choice = (struct choice){.first = best, .second = PM_ZERO_NO_OTHER};
    if (best != PM_ZERO_NO_OTHER) {
        choice->candidate = p->list.points.candidates[best];
        choice->probability = p->list.verdicts[best].now;
        choice->opportunity = p->list.verdicts[best].opportunity;
    }
    if (p->info->beyond.pairs)
        choose_pair(p, round, list, count, choice);
    return choice->first != PM_ZERO_NO_OTHER;
}

static void say_taken(struct pass *p, uint32_t candidate, uint32_t with,
                      const struct pm_zero_opportunity *opportunity)
{
    struct pm_zero_verdict *v = &p->list.verdicts[candidate];
    v->reason = "taken";
    v->round = p->transforms;
    v->with = with;
    v->opportunity = *opportunity;
}

/* Whether S would be too much for the module. */
static bool grows_too_large(const struct pass *p, const struct pm_zero_round *round,
                            const struct pm_zero_region *region)
{
    uint32_t ids = p->module->bound;
    for (uint32_t i = 0; i < region->count; i++) {
        const struct pm_zero_part *part = &region->parts[i];
        ids++;
        for (uint32_t k = 0; k < part->count; k++)
            ids += !pm_zero_is_not_in_copy(round, region, part->instrs[k]);
    }
    return ids > p->most_ids;
}

/* The module stays as it is where it would grow too large. */
static bool transform(struct pass *p, struct pm_zero_round *round, const struct choice *choice,
                      struct pm_error *error)
{
    struct pm_zero_region region;
    struct pm_zero_transformed made;
    uint32_t chosen = choice->first;
    struct pm_zero_parting parting = {
        .first = chosen,
        .second = choice->second,
        .probability = choice->probability,
        .threshold = p->threshold,
        .last = p->transforms + 1 == p->most_transforms,
    };
    if (!pm_zero_list_relate(&p->list, round, &parting))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_zero_opportunity_region(round, &choice->candidate, &choice->opportunity, parting.wanted,
                                    &region))
        return round->failed ? pm_fail(error, PM_ERROR_MEMORY, "out of memory")
                             : pm_fail(error, PM_ERROR_STATE, "candidate %u: %s", chosen,
                                       region.reason ? region.reason : "no region");
    if (grows_too_large(p, round, &region)) {
        p->list.verdicts[chosen].reason = "the module would grow too large";
        p->full = true;
        return true;
    }
    if (!p->check_ready)
        pm_candidate_check_init(&p->check, p->module, p->stage);
    p->check_ready = true;
    if (!pm_zero_transform(round, &region, &p->check, &made))
        return round->broken
                   ? pm_fail(error, PM_ERROR_STATE, "candidate %u: S lacks a value", chosen)
                   : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_zero_weights_split(&p->weights, round, &region, &made, choice->probability, error))
        return false;
    p->transforms++;
    p->saved += choice->opportunity.estimate.saved;
    say_taken(p, chosen, choice->second, &choice->opportunity);
    if (choice->second != PM_ZERO_NO_OTHER)
        say_taken(p, choice->second, chosen, &choice->opportunity);
    return pm_zero_list_part(&p->list, round, &region, &parting) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

/* Changes nothing where no candidate may be taken. */
static enum pm_pass_result run_round(struct pm_ir_module *module, void *context,
                                     struct pm_error *error)
{
    (void)module;
    struct pass *p = context;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_zero_round round;
    bool chosen = false, ok = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && begin_round(p, &round, arena, error);
    if (ok) {
        struct choice choice;
        chosen = choose(p, &round, &choice);
        p->work += round.work;
        if (round.failed)
            ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        else if (chosen)
            ok = transform(p, &round, &choice, error);
    }
    pm_arena_destroy(arena);
    return pm_pass_result_of(ok, chosen && !p->full);
}

static const struct pm_pass zero_round = {
    "estimate and transform",
    PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, 0, run_round};

/* Takes all of them back where they save too little of the shader. */
static void weigh(struct pass *p)
{
    if (p->info->take_all || p->saved > p->least_share * p->cycles)
        return;
    p->transforms = 0;
    for (uint32_t i = 0; i < p->list.points.count; i++)
        if (p->list.verdicts[i].round) {
            p->list.verdicts[i].reason = "all that is taken saves too little of the shader";
            p->list.verdicts[i].round = 0;
        }
}

static enum pm_pass_result run_filter(struct pm_ir_module *module, void *context,
                                      struct pm_error *error)
{
    struct pass *p = context;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_float_permission permission;
    uint32_t count = p->list.points.count;
    enum pm_zero_filtered *results = calloc(count + 1u, sizeof(*results));
    uint32_t *follows = calloc(count + 1u, sizeof(*follows));
    static const char *const reasons[] = {
        [PM_ZERO_KEPT] = NULL,
        [PM_ZERO_NOT_KNOWN] = "its P(zero) is not known",
        [PM_ZERO_RARE] = "it is zero too rarely",
        [PM_ZERO_FOLLOWS] = "it follows from another candidate",
    };
    bool ok =
        arena && results && follows &&
        pm_float_permission_compute(&permission, module, p->function, p->info->float_zero, arena) &&
        pm_zero_filter(module, &permission, &p->list.points, p->list.zero, p->threshold, results,
                       follows, arena);
    for (uint32_t i = 0; ok && i < count; i++) {
        p->list.verdicts[i].reason = reasons[results[i]];
        p->list.verdicts[i].follows = follows[i];
    }
    free(results);
    free(follows);
    pm_arena_destroy(arena);
    return pm_pass_result_of(ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory"), false);
}

static const struct pm_pass zero_filter = {"filter", 0, PM_ANALYSIS_ALL, run_filter};

static enum pm_pass_result run_mend(struct pm_ir_module *module, void *context,
                                    struct pm_error *error)
{
    (void)module;
    (void)error;
    const struct pass *p = context;
    return pm_pass_result_of(true, pm_block_mend_sampled_images(p->function));
}

static const struct pm_pass mend = {"mend sampled images", 0, PM_ANALYSIS_ALL, run_mend};

/* ---- the pass ---- */

static bool weigh_blocks(struct pass *p, struct pm_error *error)
{
    struct pm_block_points blocks = {0};
    bool ok = pm_pass_apply(&p->passes, &pm_pass_points_blocks, &blocks, error) &&
              pm_zero_weights_init(&p->weights, p->module, p->info->profile, &p->list.points,
                                   &blocks, error);
    pm_block_points_finish(&blocks);
    return ok;
}

/* Rounds until one changes nothing, or there were enough. */
static bool run_rounds(struct pass *p, struct pm_error *error)
{
    enum pm_pass_result result = PM_PASS_CHANGED;
    while (result == PM_PASS_CHANGED && p->transforms < p->most_transforms)
        result = pm_pass_run(&p->passes, &zero_round, p, error);
    return result != PM_PASS_FAILED;
}

static bool specialize(struct pass *p, struct pm_specialized *out, struct pm_error *error)
{
    if (!pm_pass_apply(&p->passes, &zero_filter, p, error) || !weigh_blocks(p, error) ||
        !pm_pass_apply(&p->passes, &pm_pass_part_continue_targets, p->function, error) ||
        !run_rounds(p, error))
        return false;
    weigh(p);
    out->transforms = p->transforms;
    out->report = pm_zero_report_write(&(struct pm_zero_account){
        .points = &p->list.points,
        .zero = p->list.zero,
        .verdicts = p->list.verdicts,
        .transforms = p->transforms,
        .work = p->work,
        .cycles = p->cycles,
        .saved = p->saved,
    });
    if (!out->report)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (p->transforms == 0)
        return true;
    return pm_pass_apply(&p->passes, &mend, p, error) && pm_ir_emit(p->module, &out->words, error);
}

static bool take_profile(struct pass *p, struct pm_error *error)
{
    const struct pm_zero_profile *profile = p->info->profile;
    if (!profile || !profile->zero || profile->candidate_count != p->list.points.count)
        return pm_fail(error, PM_ERROR_INPUT, "the profile has %u points, the shader %u",
                       profile && profile->zero ? profile->candidate_count : 0,
                       p->list.points.count);
    return pm_zero_list_init(&p->list, profile->zero, p->threshold, p->module->bound) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_specialize_zero(const uint32_t *words, size_t count,
                        const struct pm_specialize_zero_info *info, struct pm_specialized *out,
                        struct pm_error *error)
{
    *out = (struct pm_specialized){0};
    struct pass p = {
        .info = info,
        .costs = info->costs ? info->costs : pm_costs_of(0),
        .threshold = info->threshold > 0 ? info->threshold : paper_threshold,
        .bars = {info->least_saving > 0 ? info->least_saving : paper_least_saving, info->take_all},
        .most_transforms = info->most_transforms ? info->most_transforms : PAPER_TRANSFORMS,
        .most_work = info->most_work ? info->most_work : usual_work,
        .least_share = info->least_share > 0 ? info->least_share : usual_least_share,
    };
    p.module = pm_ir_parse(words, count, error);
    if (p.module)
        p.most_ids =
            MOST_GROWTH * (p.module->bound > SMALL_MODULE ? p.module->bound : SMALL_MODULE);
    p.passes = pm_pass_runner_of(p.module, info->times);
    bool ok = p.module && (p.function = pm_entry_function(p.module, &p.stage, error)) != NULL &&
              pm_points_zero_given(words, count, info->zeros, info->all_candidates, &p.list.points,
                                   error) &&
              take_profile(&p, error) && specialize(&p, out, error);
    pm_zero_weights_finish(&p.weights);
    pm_zero_list_finish(&p.list);
    pm_ir_module_destroy(p.module);
    /* Subgroup operations are of SPIR-V 1.3, so of Vulkan 1.1. */
    struct pm_target target = info->target;
    if (target.vulkan_minor < 1)
        target.vulkan_minor = 1;
    struct pm_error invalid = {0};
    ok = ok && pm_stop_check(error);
    if (ok && out->transforms && !pm_validate_made(&out->words, words, count, &target, &invalid))
        ok = pm_fail(error, invalid.code == PM_ERROR_MEMORY ? PM_ERROR_MEMORY : PM_ERROR_STATE,
                     "specialized shader is not valid: %s", invalid.message);
    bool refused = false;
    ok = ok && (!out->transforms ||
                pm_refuse_folded(words, count, &out->words, &out->report, &refused, error));
    if (refused)
        out->transforms = 0;
    if (!ok)
        pm_specialized_finish(out);
    return ok;
}

void pm_specialized_finish(struct pm_specialized *specialized)
{
    if (!specialized)
        return;
    pm_words_finish(&specialized->words);
    free(specialized->report);
    *specialized = (struct pm_specialized){0};
}
