#include "layer/shader/variant_make.h"

#include "base/clock.h"
#include "base/random.h"
#include "layer/core/trace.h"
#include "layer/shader/variant_table.h"

/* Shaders that also count occluded fragments lose the early depth test while they are sampled, so
 * only this share of their sampled calls is taken (HAZARDS 4), beside the first of each batch of
 * which the session has nothing, if the database lacks something of the shader: in a window of
 * some seconds many have few calls that are sampled at all. */
#define OCCLUDED_SHARE 4

/* A splitmix64 sequence shared by all threads, without a lock. */
static uint64_t next_random(struct pm_pipelines *pipelines)
{
    return pm_random_mix(atomic_fetch_add(&pipelines->thinning, UINT64_C(0x9e3779b97f4a7c15)));
}

/* Whether each sampled call is taken. Of shaders that count occluded fragments it is when every
 * call is to be sampled. */
static bool takes_all(const struct pm_variant *variant)
{
    return (variant->flags & PM_PROFILE_OCCLUDED) == 0 ||
           variant->device->instance->config.sampler.api_probability >= 1;
}

double pm_variant_share(const struct pm_variant *variant)
{
    return takes_all(variant) ? 1 : 1.0 / OCCLUDED_SHARE;
}

/* The next of the variants that the pipeline has, in turn, so that none stands in for more than
 * another and the next one is found at once. Each pass over them starts at a random place, as one
 * over batches does (sampler/shader_sampler.c). Of a pipeline that has any all batches are looked
 * at: those of a large shader lie far apart, and a call that goes by is owed to the shader, which
 * its other pipelines would pay. */
static struct pm_variant *take_any(struct pm_pipeline *pipeline,
                                   const struct pm_shader_record *record)
{
    const uint32_t there = atomic_load_explicit(&pipeline->variants, memory_order_relaxed);
    if (there == 0)
        return NULL;
    const uint32_t turn = atomic_fetch_add_explicit(&pipeline->stand_ins, 1, memory_order_relaxed);
    uint32_t index =
        turn % there == 0
            ? (uint32_t)(next_random(pipeline->device->pipelines) % record->batch_count)
            : atomic_load_explicit(&pipeline->stand_in, memory_order_relaxed);
    struct pm_variant *variant = NULL;
    for (uint32_t i = 0; !variant && i < record->batch_count; i++) {
        if (index >= record->batch_count)
            index = 0;
        variant = pm_variant_take(&pipeline->batches[index++]);
    }
    atomic_store_explicit(&pipeline->stand_in, index, memory_order_relaxed);
    return variant;
}

/* What a call may go to. */
struct choice {
    struct pm_variant *variant; /* NULL: nothing */
    uint32_t fresh;             /* 1 + its batch, where it stands in as one that no call has used */
    bool comes;                 /* that of the batch that was due is being made */
};

/* The variant of a batch that is due, or one that this call goes to instead. */
static struct choice choose(struct pm_pipeline *pipeline, struct pm_shader_record *record)
{
    const uint32_t index = pm_shader_sampler_next(record->sampler);
    struct choice choice = {.variant = pm_variant_take(&pipeline->batches[index])};
    if (choice.variant)
        return choice;
    choice.comes = pm_pipeline_want(pipeline, record, index);
    /* Not a call lost for every batch: this one goes to a batch that lost one before. */
    choice.fresh = atomic_exchange(&pipeline->fresh, 0);
    if (choice.fresh != 0)
        choice.variant = pm_variant_take(&pipeline->batches[choice.fresh - 1]);
    else if (!choice.comes) /* Nor where none is coming: then to another that the pipeline has. */
        choice.variant = take_any(pipeline, record);
    return choice;
}

/* Nothing was drawn with a variant that no call has used, so that one has its turn yet, unless
 * another was made since. */
static void give_back(struct pm_pipeline *pipeline, const struct choice *choice)
{
    uint32_t none = 0;
    if (choice->variant != NULL && choice->fresh != 0)
        atomic_compare_exchange_strong(&pipeline->fresh, &none, choice->fresh);
}

/* The call goes on unchanged, and another one is sampled for it. */
static void go_by(struct pm_shader_record *record, const struct choice *choice)
{
    pm_gone_call(&record->gone,
                 choice->variant != NULL ? PM_BY_FIRST_DRAW
                 : choice->comes         ? PM_BY_BEING_MADE
                                         : PM_BY_NONE,
                 1);
}

/* The same of what is recorded twice, and perhaps never again: any of the variants that the
 * pipeline has. It asks for others as often as one of what is recorded anew. */
static struct pm_variant *choose_kept(struct pm_pipeline *pipeline, struct pm_shader_record *record)
{
    const uint32_t index = pm_shader_sampler_next(record->sampler);
    struct pm_variant *variant = pm_variant_take(&pipeline->batches[index]);
    if (variant)
        return variant;
    if (atomic_load(&pipeline->variants) == 0 || next_random(pipeline->device->pipelines) % 4 == 0)
        pm_pipeline_want(pipeline, record, index);
    return take_any(pipeline, record);
}

/* The pipeline's record; NULL: it has none yet, and asks for it, or nothing to count. */
static struct pm_shader_record *record_of(struct pm_pipeline *pipeline)
{
    if (!(pipeline->device->instance->config.sampler.kinds & PM_SAMPLED_KINDS))
        return NULL;
    struct pm_shader_record *record = atomic_load(&pipeline->record);
    if (!record)
        pm_pipeline_want_record(pipeline);
    return record && record->batch_count > 0 ? record : NULL;
}

/* The variant is taken for a call. */
static struct pm_variant *counted(struct pm_variant *variant, struct pm_shader_record *record)
{
    atomic_fetch_add_explicit(&variant->taken, 1, memory_order_relaxed);
    atomic_store_explicit(&variant->used_at, pm_now(), memory_order_relaxed);
    pm_trace_count(variant->device->trace, PM_TRACE_SAMPLED);
    atomic_fetch_add_explicit(&variant->use->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&record->whole.calls, 1, memory_order_relaxed);
    return variant;
}

/* What became of a variant that a call of a recording that holds none twice might have. */
enum outcome {
    COUNTED,
    LET_BY, /* as its shader lets some */
    LATER,  /* it would be one first draw too many */
};

/* may_wait: another call makes up for this one. */
static enum outcome decide(struct pm_variant *variant, struct pm_shader_record *record,
                           bool may_wait)
{
    struct pm_pipelines *pipelines = variant->device->pipelines;
    const bool first = record->lacks && atomic_load(&variant->use->calls) == 0;
    if (!takes_all(variant) && !first && next_random(pipelines) % OCCLUDED_SHARE != 0) {
        pm_gone_call(&record->gone, PM_BY_OCCLUDED, 1);
        return LET_BY;
    }
    if (!may_wait)
        atomic_store_explicit(&variant->drawn, true, memory_order_relaxed);
    else if (!pm_first_draws_allow(&pipelines->first_draws, variant))
        return LATER;
    if (!atomic_load_explicit(&record->told, memory_order_relaxed))
        atomic_store_explicit(&record->told, true, memory_order_relaxed);
    counted(variant, record);
    return COUNTED;
}

/* A chosen call finds no record, which may come. */
static void miss(struct pm_pipeline *pipeline, uint64_t when)
{
    if (atomic_load(&pipeline->record) || atomic_load(&pipeline->prepare.making) == PM_FAILED)
        return;
    atomic_fetch_add_explicit(&pipeline->device->pipelines->unknown, 1, memory_order_relaxed);
    const uint64_t before = atomic_exchange(&pipeline->missed_at, when);
    if (!pm_owed_is_recent(before, when))
        atomic_store(&pipeline->missed, 0);
    if (atomic_load(&pipeline->missed) < PM_OWED_CALLS)
        atomic_fetch_add(&pipeline->missed, 1);
}

void pm_pipeline_owe_missed(struct pm_pipeline *pipeline, struct pm_shader_record *record)
{
    const uint32_t missed = atomic_exchange(&pipeline->missed, 0);
    if (missed == 0)
        return;
    pm_gone_call(&record->gone, PM_BY_NO_RECORD, missed);
    pm_owed_add(&record->owed, atomic_load(&pipeline->missed_at), missed);
}

struct pm_variant *pm_pipeline_sample(struct pm_pipeline *pipeline, struct pm_owing *owing)
{
    struct pm_shader_record *record = record_of(pipeline);
    if (!record) {
        if (owing)
            miss(pipeline, owing->when);
        return NULL;
    }
    if (atomic_load_explicit(&pipeline->missed, memory_order_relaxed) > 0)
        pm_pipeline_owe_missed(pipeline, record);
    const struct choice choice = choose(pipeline, record);
    const enum outcome outcome =
        choice.variant ? decide(choice.variant, record, owing != NULL) : LATER;
    if (outcome == COUNTED)
        return choice.variant;
    give_back(pipeline, &choice);
    if (outcome == LATER)
        go_by(record, &choice);
    pm_variant_release(choice.variant);
    if (owing && outcome == LATER) {
        pm_owed_add(&record->owed, owing->when, 1);
        owing->any = atomic_load(&record->whole.variants) > 0;
    }
    return NULL;
}

struct pm_variant *pm_pipeline_sample_owed(struct pm_pipeline *pipeline, struct pm_owing *owing,
                                           uint64_t random)
{
    struct pm_shader_record *record = atomic_load(&pipeline->record);
    if (!record || !pm_owed_any(&record->owed, owing->when))
        return NULL;
    owing->any = true;
    struct pm_variant *variant =
        pm_owed_draw(&record->owed, owing->when, random) ? take_any(pipeline, record) : NULL;
    const enum outcome outcome = variant ? decide(variant, record, true) : LATER;
    if (outcome != LATER)
        pm_owed_pay(&record->owed);
    if (outcome == COUNTED)
        return variant;
    pm_variant_release(variant);
    return NULL;
}

struct pm_variant *pm_pipeline_sample_kept(struct pm_pipeline *pipeline)
{
    struct pm_shader_record *record = record_of(pipeline);
    struct pm_variant *variant = record ? choose_kept(pipeline, record) : NULL;
    return variant ? counted(variant, record) : NULL;
}

bool pm_pipeline_sample_pushed(const struct pm_pipeline *pipeline, const uint32_t *words,
                               uint64_t known)
{
    const struct pm_shader_record *record = atomic_load(&pipeline->record);
    return record && record->values && pm_constant_values_push(record->values, words, known);
}
