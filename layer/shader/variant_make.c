#include "layer/shader/variant_make.h"

#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/trace.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/pipeline_keep.h"
#include "layer/shader/uniform_reads.h"
#include "layer/shader/variant_table.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- limits ---- */

/* Of the compile queue: what is needed first goes first, and of what is needed alike what more
 * sampled calls asked for. */
static const uint32_t urgency[PM_NEEDS] = {
    [PM_NEED_SHADER] = UINT32_C(1) << 30, [PM_NEED_BATCH] = UINT32_C(1) << 29};

/* Nanoseconds until it is looked again for a variant that may make room. */
#define RETIRE_AGAIN (PM_SECOND / 10)

/* What a variant of the batch would be made for. Pipelines that share a shader share its points:
 * what one of them tells is not asked of the next while anything else is lacking, if there is one:
 * else none of the shader's calls can be sampled any more. */
static enum pm_need need_of(const struct pm_shader_record *record, uint32_t batch)
{
    const struct pm_batch_use *use = &record->use[batch], *whole = &record->whole;
    const bool has_any = atomic_load(&whole->variants) > 0, told = atomic_load(&use->calls) > 0;
    if (!record->lacks || atomic_load(&use->variants) > 0 || (told && has_any))
        return PM_NEED_MORE;
    return has_any || atomic_load(&whole->calls) > 0 ? PM_NEED_BATCH : PM_NEED_SHADER;
}

/* Whether a compile for the need may be queued: it finds a token, and room to live or something
 * that may make room. */
static bool may_want(struct pm_variant_budget *budget, enum pm_need need)
{
    const int64_t now = pm_now();
    const enum pm_budget_answer answer = pm_variant_budget_ask(budget, need, now);
    return answer == PM_BUDGET_YES || (answer == PM_BUDGET_FULL && need != PM_NEED_MORE &&
                                       now - atomic_load(&budget->retired_at) >= RETIRE_AGAIN);
}

/* most: so many may make room for it, one after the other; record: pm_variants_retire. */
static bool reserve(struct pm_pipelines *pipelines, enum pm_need need,
                    const struct pm_shader_record *record, uint32_t most)
{
    struct pm_variant_budget *budget = &pipelines->budget;
    const int64_t now = pm_now();
    enum pm_budget_answer answer = pm_variant_budget_take(budget, need, now);
    while (answer == PM_BUDGET_FULL && need != PM_NEED_MORE && most-- > 0) {
        const enum pm_retired retired = pm_variants_retire(pipelines, record, now);
        if (retired == PM_RETIRED_NONE)
            break;
        /* What a shader gives up for itself leaves no less to others. */
        answer =
            retired == PM_RETIRED_OWN ? PM_BUDGET_YES : pm_variant_budget_take(budget, need, now);
    }
    if (answer != PM_BUDGET_YES && !atomic_exchange(&pipelines->was_full, true))
        pm_log_info(pipelines->device->instance->log,
                    "limits.variants is reached: others are made as time passes and some go");
    return answer == PM_BUDGET_YES;
}

/* ---- making ---- */

static uint32_t subgroup_size(const struct pm_pipeline *pipeline, const void *chain)
{
    for (const VkBaseInStructure *item = chain; item; item = item->pNext) {
        if (item->sType ==
            VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
            return ((const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)item)
                ->requiredSubgroupSize;
    }
    return pipeline->device->abilities.subgroup_size;
}

static bool stage_is_able(const struct pm_pipeline *pipeline)
{
    const struct pm_device_abilities *abilities = &pipeline->device->abilities;
    return pm_pipeline_computes(pipeline) ? abilities->full_subgroup_compute
                                          : abilities->full_subgroup_fragment;
}

bool pm_pipeline_shader_request(const struct pm_pipeline *pipeline,
                                struct pm_shader_request *request)
{
    const struct pm_pipeline *owner = pipeline->shader_owner;
    *request = (struct pm_shader_request){
        .stage = pm_pipeline_computes(pipeline) ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT,
        .module = owner->modules[pipeline->shader_stage],
    };
    const void *chain;
    if (owner->object) {
        chain = owner->object->pNext;
        request->entry_point = owner->object->pName;
        request->specialization = owner->object->pSpecializationInfo;
    } else {
        const VkPipelineShaderStageCreateInfo *stage =
            owner->compute ? &owner->compute->stage
                           : &owner->graphics->pStages[pipeline->shader_stage];
        chain = stage->pNext;
        request->entry_point = stage->pName;
        request->specialization = stage->pSpecializationInfo;
    }
    request->subgroup_size = subgroup_size(pipeline, chain);
    request->reads = pm_pipeline_reads(owner, chain);
    return stage_is_able(pipeline);
}

bool pm_pipeline_prepare(struct pm_pipeline *pipeline)
{
    struct pm_device *device = pipeline->device;
    struct pm_shader_request request;
    bool first = true;
    struct pm_error error = {0};
    struct pm_shader_record *record = NULL;
    if (pm_pipeline_shader_request(pipeline, &request))
        record = pm_shader_records_get(device->pipelines->records, &request, &first, &error);
    else
        pm_fail(&error, PM_ERROR_UNSUPPORTED,
                "the device has no subgroup ballots in its kind of shader");
    if (record) {
        pipeline->batches = calloc(record->batch_count + 1u, sizeof *pipeline->batches);
        if (!pipeline->batches)
            return false;
        atomic_store(&pipeline->record, record);
        pm_pipeline_owe_missed(pipeline, record);
        pm_pipeline_keep(pipeline, record);
        return true;
    }
    if (first)
        pm_log_info(device->instance->log, "a shader gets no variants: %s", error.message);
    return false;
}

static struct pm_variant *new_variant(const struct pm_pipeline *pipeline,
                                      const struct pm_shader_record *record, uint32_t batch,
                                      const struct pm_instrumented *shader)
{
    struct pm_variant *variant = calloc(1, sizeof *variant);
    if (!variant)
        return NULL;
    uint32_t count;
    const uint32_t *points = pm_shader_sampler_batch(record->sampler, batch, &count);
    const struct pm_record_points *of_kind = pm_shader_record_points(record, batch);
    variant->device = pipeline->device;
    atomic_init(&variant->references, 1);
    variant->key = record->key;
    variant->environment = record->environment;
    variant->kind = of_kind->kind;
    variant->flags = of_kind->flags | (shader->counts_occluded ? PM_PROFILE_OCCLUDED : 0);
    variant->space = of_kind->space;
    variant->candidates = of_kind->candidates;
    variant->at_most_once = of_kind->at_most_once;
    variant->values = of_kind->kind == PM_KIND_CONSTANT ? record->values : NULL;
    variant->slot_stride = shader->slot_stride;
    variant->blocks = shader->blocks;
    variant->zeros = shader->zeros;
    variant->slot_count = (uint32_t)(shader->counter_bytes / 8 / shader->slot_stride);
    variant->point_count = count;
    variant->flow = pm_record_points_flow(of_kind, count);
    variant->points = malloc((count ? count : 1) * sizeof *points);
    if (!variant->points) {
        pm_variant_release(variant);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        variant->points[i] = of_kind->first + points[i];
    return variant;
}

/* The canonical module's constants are frozen: the address of its counters is all there is to
 * specialize. Nothing instrumented enters a cache that outlives the process (HAZARDS 17). */
static bool build(struct pm_pipeline *pipeline, const struct pm_shader_record *record,
                  const struct pm_instrumented *shader, const struct pm_words *words,
                  struct pm_variant *variant, struct pm_error *error)
{
    const uint32_t address[2] = {(uint32_t)variant->block.address,
                                 (uint32_t)(variant->block.address >> 32)};
    const VkSpecializationMapEntry entries[2] = {
        {shader->spec_id_low, 0, sizeof(uint32_t)},
        {shader->spec_id_high, sizeof(uint32_t), sizeof(uint32_t)},
    };
    const VkSpecializationInfo specialization = {
        .mapEntryCount = 2,
        .pMapEntries = entries,
        .dataSize = sizeof address,
        .pData = address,
    };
    const struct pm_replacement replacement = {
        .words = words,
        .entry_point = record->entry_point,
        .specialization = &specialization,
        .cache = pm_pipelines_variant_cache(pipeline->device->pipelines),
        .name = "piecemeal variant",
        .original = &record->key,
    };
    return pm_pipeline_build(pipeline, &replacement, &variant->built, error);
}

/* Lanes that an early test hides are no helpers there, though their atomics are dropped: where a
 * quad is partly hidden the counters would be off (seen). */
#define VENDOR_SWIFTSHADER 0x1ae0

/* A variant's instrumented module, counters and pipeline. */
static struct pm_variant *make(struct pm_pipeline *pipeline, struct pm_shader_record *record,
                               uint32_t batch, bool *first, struct pm_error *error)
{
    struct pm_device *device = pipeline->device;
    const bool may_force =
        pipeline->may_force_early_tests && device->properties.vendorID != VENDOR_SWIFTSHADER;
    pm_trace_begin(device->trace, NULL, "instrument", &record->key);
    struct pm_words words;
    const struct pm_instrumented *shader =
        pm_shader_record_instrument(device, record, batch, may_force, first, &words, error);
    pm_trace_end(device->trace, NULL, NULL);
    if (!shader)
        return NULL;
    *first = true;
    struct pm_variant *variant = new_variant(pipeline, record, batch, shader);
    if (!variant) {
        pm_words_finish(&words);
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a variant");
        return NULL;
    }
    variant->words = (uint32_t)words.count;
    /* Values claim their places in a table by comparing with zero (pm_instrument_constants). */
    const bool zero = variant->kind == PM_KIND_CONSTANT;
    bool built = false;
    if (pm_counters_allocate(device->counters, shader->counter_bytes, zero, &variant->block, error))
        built = build(pipeline, record, shader, &words, variant, error);
    else
        variant->block.bytes = 0;
    if (built) {
        atomic_fetch_add(&record->made, 1);
        atomic_fetch_add(&record->made_words, words.count);
        if (pm_shader_record_is_large(record))
            atomic_fetch_add(&device->pipelines->large_words, words.count);
    }
    pm_words_finish(&words);
    if (built)
        return variant;
    pm_variant_release(variant);
    return NULL;
}

struct made_text {
    char text[128];
};

static struct made_text say_made(const struct pm_variant *variant)
{
    char key[PM_SHADER_KEY_TEXT];
    struct made_text made;
    pm_shader_key_format(&variant->key, key);
    snprintf(made.text, sizeof made.text,
             "made a variant of shader %.12s that counts %" PRIu32 " of %" PRIu32 " %s", key,
             variant->point_count, variant->space,
             variant->kind == PM_KIND_ZERO       ? "zero candidates"
             : variant->kind == PM_KIND_CONSTANT ? "words"
             : variant->kind == PM_KIND_TURNS    ? "turns of loops"
                                                 : "blocks");
    return made;
}

/* Makes a batch's variant, which the budget allows. */
static struct pm_variant *make_counted(struct pm_pipeline *pipeline,
                                       struct pm_shader_record *record, uint32_t index, bool *first,
                                       struct pm_error *error)
{
    struct pm_variant_budget *budget = &pipeline->device->pipelines->budget;
    struct pm_batch_use *use = &record->use[index];
    atomic_fetch_add(&use->variants, 1);
    atomic_fetch_add(&record->whole.variants, 1);
    struct pm_variant *variant = make(pipeline, record, index, first, error);
    if (variant) {
        variant->budget = budget;
        variant->use = use;
        return variant;
    }
    atomic_fetch_sub(&use->variants, 1);
    atomic_fetch_sub(&record->whole.variants, 1);
    pm_variant_budget_refund(budget);
    return NULL;
}

void pm_pipeline_make_batch(struct pm_pipeline *pipeline, struct pm_shader_record *record,
                            uint32_t index, bool is_wanted, bool reserved)
{
    struct pm_pipelines *pipelines = pipeline->device->pipelines;
    struct pm_pipeline_batch *batch = &pipeline->batches[index];
    /* What the database knows well can wait for a time when there is more. */
    if (reserved && !record->lacks) {
        pm_variant_budget_refund(&pipelines->budget);
        reserved = false;
    }
    const enum pm_need need = need_of(record, index);
    if (!reserved && !reserve(pipelines, need, need == PM_NEED_SHADER ? NULL : record, 1)) {
        /* A later sample asks again; not where all is made when the pipeline is
         * (debug.synchronous). */
        atomic_store(&batch->making, pipelines->budget.first_come ? PM_FAILED : PM_UNMADE);
        return;
    }
    bool first = true;
    struct pm_error error = {0};
    struct pm_variant *variant = make_counted(pipeline, record, index, &first, &error);
    if (variant) {
        /* Once others see it, it may be retired. */
        const struct made_text made = say_made(variant);
        pm_variant_publish(pipeline, index, variant);
        atomic_store(&batch->making, PM_MADE);
        if (is_wanted)
            atomic_store(&pipeline->fresh, index + 1);
        pm_log_debug(pipeline->device->instance->log, "%s", made.text);
        return;
    }
    /* The counters are not ready yet, or others have them. */
    const bool later =
        error.code == PM_ERROR_STATE ||
        (error.code == PM_ERROR_LIMIT && pm_variant_budget_no_counters(&pipelines->budget));
    atomic_store(&batch->making, later ? PM_UNMADE : PM_FAILED);
    if (error.code == PM_ERROR_LIMIT && !atomic_exchange(&pipelines->was_full, true))
        pm_log_info(pipeline->device->instance->log, "no further variants until some go: %s",
                    error.message);
    else if (!later && first)
        pm_log_info(pipeline->device->instance->log, "a shader gets no variant: %s", error.message);
}

/* ---- jobs ---- */

#define PREPARE UINT32_MAX

struct compile {
    struct pm_job job;
    struct pm_pipeline *pipeline; /* referenced */
    uint32_t batch;               /* PREPARE: find the shader, then make the batch that is next */
    bool reserved;                /* of the budget, for the batch */
};

/* It is over, and was not made where `reserved` is still set. */
static void finish_compile(struct compile *compile)
{
    struct pm_pipeline *pipeline = compile->pipeline;
    struct pm_pipelines *pipelines = pipeline->device->pipelines;
    if (compile->reserved)
        pm_variant_budget_refund(&pipelines->budget);
    free(compile);
    pm_ahead_done(&pipelines->ahead, &pipeline->awaited);
    pm_pipeline_release(pipeline);
}

static struct pm_pipeline_batch *batch_of(struct pm_pipeline *pipeline, uint32_t index)
{
    return index == PREPARE ? &pipeline->prepare : &pipeline->batches[index];
}

static void drop_compile(struct pm_job *job)
{
    struct compile *compile = (struct compile *)job;
    atomic_store(&batch_of(compile->pipeline, compile->batch)->making, PM_UNMADE);
    finish_compile(compile);
}

static bool want(struct pm_pipeline *pipeline, uint32_t index, enum pm_need need);

/* The pipeline's shader is known now: the sample that found that it was not has a batch coming to
 * it. It is made at once where nothing of the shader can be sampled yet, or it is reserved; else it
 * waits with all that is needed as much, since others may lack more than a further pipeline of a
 * shader that has variants. The batch that is to be made at once; PREPARE: none is. */
static uint32_t next_batch(struct compile *compile, const struct pm_shader_record *record)
{
    struct pm_pipeline *pipeline = compile->pipeline;
    const uint32_t batch = pm_shader_sampler_next(record->sampler);
    const enum pm_need need = need_of(record, batch);
    uint32_t unmade = PM_UNMADE;
    if (!compile->reserved && need != PM_NEED_SHADER) {
        want(pipeline, batch, need);
        return PREPARE;
    }
    return atomic_compare_exchange_strong(&pipeline->batches[batch].making, &unmade, PM_QUEUED)
               ? batch
               : PREPARE;
}

static void run_compile(struct pm_job *job)
{
    struct compile *compile = (struct compile *)job;
    struct pm_pipeline *pipeline = compile->pipeline;
    uint32_t batch = compile->batch;
    const bool wanted = !atomic_load(&pipeline->gone) && !atomic_load(&pipeline->device->lost);
    if (wanted && batch == PREPARE) {
        const bool prepared = pm_pipeline_prepare(pipeline);
        atomic_store(&pipeline->prepare.making, prepared ? PM_MADE : PM_FAILED);
        const struct pm_shader_record *record = atomic_load(&pipeline->record);
        if (prepared && record->batch_count > 0)
            batch = next_batch(compile, record);
    }
    if (wanted && batch != PREPARE) {
        pm_pipeline_make_batch(pipeline, atomic_load(&pipeline->record), batch, true,
                               compile->reserved);
        compile->reserved = false;
    }
    finish_compile(compile);
}

/* Queues the compile of a batch, or of the record, that nobody makes yet. reserved: of the budget,
 * which it takes over; such a one is worth waiting for who has the queue. advance_s: the job's.
 * false: it could not be, or somebody does. */
static bool queue(struct pm_pipeline *pipeline, uint32_t index, enum pm_need need, bool reserved,
                  uint32_t advance_s)
{
    struct pm_pipeline_batch *batch = batch_of(pipeline, index);
    uint32_t unmade = PM_UNMADE;
    if (!atomic_compare_exchange_strong(&batch->making, &unmade, PM_QUEUED))
        return false;
    atomic_store(&batch->wanted,
                 urgency[need] + atomic_load(&batch->wanted) % urgency[PM_NEED_BATCH]);
    struct compile *compile = calloc(1, sizeof *compile);
    if (compile) {
        *compile = (struct compile){
            .job = {.run = run_compile,
                    .drop = drop_compile,
                    .owner = pipeline,
                    .name = "counting variant",
                    .urgency = &batch->wanted,
                    .advance_s = advance_s,
                    .impatient = !reserved},
            .pipeline = pipeline,
            .batch = index,
            .reserved = reserved,
        };
        pm_pipeline_reference(pipeline);
        if (pm_compiler_queue(pipeline->device->compiler, &compile->job))
            return true;
        free(compile);
        pm_pipeline_release(pipeline);
    }
    atomic_store(&batch->making, PM_UNMADE);
    return false;
}

/* A sampled call asks for a batch's variant, or for the record: queues the compile unless it is
 * queued, running, made or failed already, or there is no budget for it. false: for lack of that,
 * or because it failed. */
static bool want(struct pm_pipeline *pipeline, uint32_t index, enum pm_need need)
{
    struct pm_pipeline_batch *batch = batch_of(pipeline, index);
    atomic_fetch_add(&batch->wanted, 1);
    const uint32_t making = atomic_load(&batch->making);
    if (making != PM_UNMADE)
        return making != PM_FAILED;
    if (!may_want(&pipeline->device->pipelines->budget, need))
        return false;
    (void)queue(pipeline, index, need, false, 0);
    return true;
}

bool pm_pipeline_want(struct pm_pipeline *pipeline, const struct pm_shader_record *record,
                      uint32_t batch)
{
    return want(pipeline, batch, need_of(record, batch));
}

void pm_pipeline_want_record(struct pm_pipeline *pipeline)
{
    want(pipeline, PREPARE, PM_NEED_SHADER);
}

/* ---- ahead ---- */

/* Of pipelines whose shader has one that was made ahead, so few get another: they add less. */
#define FURTHER_SHARE (1 / 16.0)

/* What is made while the game loads may have so many seconds of the compile threads' time in
 * advance: a level's shaders come all at once, and are recorded when it is loaded. What they have
 * in half a minute makes a level of 120 shaders (layer/session); the half of it is kept for shaders
 * that have nothing. */
static const uint8_t may_have_advance_s[PM_NEEDS] = {[PM_NEED_SHADER] = 20, [PM_NEED_BATCH] = 10};

/* The least chance where there is any, for each that calls are sampled with: what has less cannot
 * stand for what it should, and just as much had all of its calls recorded twice. */
#define LEAST_SHARE 4

/* NULL: the shader is in none. */
static struct pm_object *module_of(const struct pm_pipeline *pipeline)
{
    const struct pm_pipeline *owner = pipeline->shader_owner;
    return owner && pipeline->shader_stage < owner->module_count
               ? owner->modules[pipeline->shader_stage]
               : NULL;
}

static double lot_of(const struct pm_pipeline *pipeline, enum pm_need need, double chance)
{
    struct pm_pipelines *pipelines = pipeline->device->pipelines;
    const double least = LEAST_SHARE * pipeline->device->instance->config.sampler.api_probability;
    const int64_t now = pm_now();
    const uint32_t staying = pm_variants_staying(pipelines, now);
    chance *= pm_variant_budget_chance(&pipelines->budget, need, staying, now);
    if (need != PM_NEED_SHADER)
        chance *= FURTHER_SHARE;
    if (chance <= 0 || chance >= least)
        return chance;
    return least < 1 ? least : 1;
}

void pm_pipeline_make_ahead(struct pm_pipeline *pipeline, double chance, bool loads)
{
    struct pm_device *device = pipeline->device;
    struct pm_pipelines *pipelines = device->pipelines;
    struct pm_object *module = module_of(pipeline);
    if (!module || chance <= 0 || pipeline->is_library || atomic_load(&device->lost) ||
        device->instance->config.debug.synchronous ||
        device->instance->config.limits.creation_ms == 0 ||
        !(device->instance->config.sampler.kinds & PM_SAMPLED_KINDS))
        return;
    const enum pm_need need = pm_object_is_ahead(module) ? PM_NEED_BATCH : PM_NEED_SHADER;
    const double lot = lot_of(pipeline, need, chance);
    if (lot <= 0)
        return;
    const bool won = pm_ahead_draw(&pipelines->ahead, lot, need != PM_NEED_SHADER);
    pipeline->lot = won ? lot : 0;
    if (!won || !reserve(pipelines, need, NULL, pipelines->budget.limit))
        return;
    pipeline->won = true;
    atomic_store(&pipeline->awaited, true);
    const uint32_t advance = loads ? may_have_advance_s[need] : 0;
    if (!queue(pipeline, PREPARE, need, true, advance)) {
        atomic_store(&pipeline->awaited, false);
        pm_variant_budget_refund(&pipelines->budget);
        return;
    }
    pm_object_set_ahead(module);
    pm_ahead_wait(&pipelines->ahead, device->compiler, advance, &pipeline->awaited, loads);
}
