#include "layer/shader/optimize_build.h"

#include "base/clock.h"
#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/shader/contest.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/slow_later.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_files.h"
#include "profile/variant_parts.h"
#include <stdio.h>
#include <stdlib.h>

/* It is bound in the game's place, or not any more. */
static void use(struct pm_optimized *optimized, bool used)
{
    struct pm_pipeline *pipeline = optimized->pipeline;
    if (optimized->watch.count > 0)
        atomic_store_explicit(&pipeline->folded_best, used ? optimized : NULL,
                              memory_order_release);
    else if (optimized->candidate.rival) {
        struct pm_optimized *base = atomic_load(&pipeline->optimized);
        if (base)
            atomic_store(&base->candidate.surpassed, used);
        atomic_store_explicit(&pipeline->over_best, used ? optimized : NULL, memory_order_release);
    } else
        atomic_store_explicit(&pipeline->best, used ? optimized->built.handle : 0,
                              memory_order_release);
    pm_standing_change(pipeline->device->standing, &pipeline->stands);
}

/* With what recipes made of it, which is not bound without it: their contest is over. */
static void drop(struct pm_optimized *optimized)
{
    struct pm_pipeline *pipeline = optimized->pipeline;
    struct pm_optimized *over = atomic_load(&pipeline->over);
    pm_optimizer_drop(optimized);
    if (pm_optimizer_place(optimized) != &pipeline->optimized)
        return;
    atomic_store(&pipeline->over_candidate, NULL);
    if (over)
        pm_optimizer_drop(over);
    struct pm_contest *contest = atomic_load(&pipeline->contest);
    if (contest) {
        atomic_store(&contest->due, true);
        atomic_store(&pipeline->device->optimizer->contest_due, true);
        atomic_store(&pipeline->device->optimizer->due, true);
    }
}

/* A candidate's verdict. */
const char *pm_optimizer_decide(struct pm_candidate *candidate, bool faster)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_pipeline *pipeline = optimized->pipeline;
    if (atomic_exchange(&optimized->decided, true))
        return NULL;
    atomic_store(pm_optimizer_candidate_place(optimized), NULL);
    use(optimized, faster);
    if (!faster) {
        drop(optimized);
        return "is not faster, and is dropped";
    }
    return pipeline->keeps_side ? "is used in this session, to be timed" : "is used from now on";
}

/* The same of what is known that was tried: what recipes make of it may be faster still. */
static const char *tried(struct pm_candidate *candidate, bool faster)
{
    const struct pm_optimized *optimized = (const struct pm_optimized *)candidate;
    const char *said = pm_optimizer_decide(candidate, faster);
    struct pm_pipeline *pipeline = optimized->pipeline;
    struct pm_optimizer *optimizer = pipeline->device->optimizer;
    const bool known = pm_optimizer_place(optimized) == &pipeline->optimized;
    if (said && faster && known && optimizer->contests) {
        pm_waiting_put(&optimizer->waiting, pipeline, false);
        atomic_store(&optimizer->due, true);
    }
    return said;
}

/* It is used without a trial. */
static void trust(struct pm_optimized *optimized)
{
    pm_candidate_log(optimized->pipeline->device, optimized->shader,
                     pm_optimizer_decide(&optimized->candidate, true));
}

static void try_again(struct pm_candidate *candidate)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    atomic_store(&optimized->decided, false);
    atomic_store(pm_optimizer_candidate_place(optimized), candidate);
}

static void leave(struct pm_candidate *candidate)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    atomic_store(&optimized->decided, true);
    atomic_store(pm_optimizer_candidate_place(optimized), NULL);
}

/* Nothing is decided: the next session may have it again. */
static void withdraw(struct pm_candidate *candidate)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    use(optimized, false);
    drop(optimized);
}

/* What a variant that runs only where push constants have values is to watch. */
static struct pm_watch watch_of(const struct pm_pipeline *pipeline,
                                const struct pm_known_words *known)
{
    struct pm_watch watch = {.ranges = pipeline->push_ranges, .count = known->count};
    for (uint32_t i = 0; i < known->count; i++) {
        const uint32_t word = known->words[i].point.offset / 4;
        watch.words[i].word = word;
        watch.words[i].value = known->words[i].value;
        watch.mask |= UINT64_C(1) << word;
    }
    return watch;
}

struct pm_optimized *pm_optimized_begin(struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        struct pm_error *error)
{
    struct pm_optimized *optimized = calloc(1, sizeof *optimized);
    if (!optimized) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a variant");
        return NULL;
    }
    optimized->pipeline = pipeline;
    optimized->shader = shader;
    pm_variant_files_write(pipeline, shader);
    return optimized;
}

/* What takes its place once it turns slow, where it is to (slow_later.h). It is in no hurry: what
 * is made at once is for the variant itself to find out. */
static bool build_slow(struct pm_optimized *optimized, const struct pm_replacement *of,
                       struct pm_error *error)
{
    struct pm_device *device = optimized->pipeline->device;
    struct pm_replacement replacement = *of;
    struct pm_built built = {0};
    struct pm_words slow;
    if (!device->slow_later)
        return true;
    if (optimized->pipeline->object)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "a shader object cannot turn slow");
    if (!pm_make_slow(of->words->data, of->words->count, &device->abilities.target, &slow, error))
        return false;
    replacement.words = &slow;
    replacement.if_compiled = false;
    if (pm_pipeline_build(optimized->pipeline, &replacement, &built, error)) {
        optimized->slow = pm_slow_later_add(device->slow_later, &optimized->candidate, &built);
        if (!optimized->slow)
            pm_fail(error, PM_ERROR_MEMORY, "no memory for a variant that turns slow");
    }
    pm_words_finish(&slow);
    pm_built_destroy(device, &built);
    return optimized->slow != NULL;
}

struct pm_optimized *pm_optimizer_build_with(struct pm_pipeline *pipeline,
                                             const struct pm_specialized_shader *shader,
                                             const struct pm_optimized_build *how,
                                             struct pm_error *error)
{
    struct pm_optimized *optimized = pm_optimized_begin(pipeline, shader, error);
    if (!optimized)
        return NULL;
    if (how->use == PM_USE_PUSHED)
        optimized->watch = watch_of(pipeline, &shader->known);
    char parts[PM_PARTS_TEXT], name[sizeof PM_TRACE_BUILDS + PM_PARTS_TEXT];
    pm_parts_format(pm_specialized_parts(shader), parts);
    snprintf(name, sizeof name, PM_TRACE_BUILDS "%s", parts);
    const struct pm_replacement replacement = {
        .words = &shader->module.words,
        .entry_point = shader->entry_point,
        .cache = how->cache,
        .name = name,
        .subgroup_size = shader->subgroup_size,
        .original = &shader->original,
        .if_compiled = how->compiling == PM_COMPILE_NOTHING,
        .at_once = how->compiling != PM_COMPILE_ALL,
    };
    if (pm_pipeline_build(pipeline, &replacement, &optimized->built, error)) {
        optimized->candidate = pm_optimizer_candidate(shader, optimized->built.handle, tried);
        optimized->candidate.again = try_again;
        optimized->candidate.glanced = leave;
        optimized->candidate.withdraw = withdraw;
        if (shader->base)
            optimized->candidate.rival = &atomic_load(&pipeline->optimized)->candidate;
        if (how->use == PM_USE_PUSHED)
            optimized->candidate.watch = &optimized->watch;
        if (build_slow(optimized, &replacement, error))
            return optimized;
    }
    pm_built_destroy(pipeline->device, &optimized->built);
    free(optimized);
    return NULL;
}

bool pm_optimizer_may_fold(const struct pm_pipeline *pipeline)
{
    return pipeline->push_ranges && pm_session_knows_values(pipeline->device->instance);
}

struct pm_optimized *pm_optimizer_build(struct pm_optimizer *optimizer,
                                        struct pm_pipeline_cache *cache,
                                        struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        enum pm_specialized_use use, struct pm_error *error)
{
    const struct pm_optimized_build how = {
        .use = use,
        .cache = pm_pipeline_cache_get(cache),
        .compiling = PM_COMPILE_ALL,
    };
    const int64_t before = pm_used_by_thread();
    struct pm_optimized *optimized = pm_optimizer_build_with(pipeline, shader, &how, error);
    if (optimized) {
        pm_pipeline_cache_grown(cache);
        pm_specialized_shaders_took(optimizer->shaders, shader, pm_used_by_thread() - before,
                                    false);
        atomic_store(&optimizer->unsaved, true);
    }
    return optimized;
}

/* Recordings follow what is pushed before there is anything that asks for it; and before any does,
 * records say what is bound, so that none that follows misses a bind. */
static void watch(struct pm_optimizer *optimizer, const struct pm_watch *of)
{
    atomic_fetch_or(&of->ranges->watched, of->mask);
    pthread_mutex_lock(&optimizer->lock);
    optimizer->watched = true;
    pm_optimizer_set_binds(optimizer);
    pthread_mutex_unlock(&optimizer->lock);
    optimizer->calls.follow(optimizer->device, of->mask);
}

void pm_optimizer_publish(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                          struct pm_optimized *optimized)
{
    struct pm_device *device = optimizer->device;
    const bool proven = optimized->shader->timing == PM_TIMING_FASTER;
    if (optimized->watch.count > 0)
        watch(optimizer, &optimized->watch);
    atomic_store(pm_optimizer_place(optimized), optimized);
    pm_standing_change(pipeline->device->standing, &pipeline->stands);
    if (proven || pipeline->keeps_side || device->instance->config.debug.trust_variants ||
        device->instance->config.debug.recipe) {
        trust(optimized);
        if (proven)
            optimizer->calls.proven(device, &optimized->candidate, pm_pipeline_computes(pipeline));
        return;
    }
    pm_optimizer_offer(optimizer, optimized, pm_optimizer_candidate_place(optimized));
}
