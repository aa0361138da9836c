#include "layer/shader/variant_all.h"

#include "base/random.h"
#include "layer/core/session.h"
#include "layer/shader/variant_make.h"
#include <inttypes.h>
#include <string.h>

/* All large shaders together have so many times limits.synchronous_words: games make hundreds of
 * one module, by its constants. For a pipeline no more than such a part of what is left of it is
 * there, of which it takes half as of its own shader's. */
enum { SHADERS_WORTH = 4, MOST_OF_ALL = 4 };

/* A pipeline takes half of what is left to its shader of limits.synchronous_words, so that the next
 * ones have some. What made_words may come to, before the last module. */
static uint64_t may_come_to(const struct pm_pipeline *pipeline,
                            const struct pm_shader_record *record)
{
    const uint64_t most = pipeline->device->instance->config.limits.synchronous_words;
    const uint64_t made = atomic_load(&record->made_words);
    uint64_t left = made < most ? most - made : 0;
    if (pm_shader_record_is_large(record)) {
        const uint64_t of_all = atomic_load(&pipeline->device->pipelines->large_words);
        const uint64_t left_of_all =
            of_all < SHADERS_WORTH * most ? SHADERS_WORTH * most - of_all : 0;
        const uint64_t part = (left_of_all + MOST_OF_ALL - 1) / MOST_OF_ALL;
        left = left < part ? left : part;
    }
    return made + (left + 1) / 2;
}

/* Coprime to the count, so that as many steps come to each, and what comes one behind the other
 * lies far apart: batches of a kind do not. */
static uint32_t step_of(uint32_t count)
{
    uint32_t step = (uint32_t)(count * 0.618) + 1;
    for (;; step++) {
        uint32_t a = count, b = step;
        while (b != 0) {
            const uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

static void say_ran_out(const struct pm_pipeline *pipeline, struct pm_shader_record *record)
{
    char key[PM_SHADER_KEY_TEXT];
    if (atomic_exchange(&record->ran_out, true))
        return;
    uint32_t there = 0;
    for (uint32_t i = 0; i < record->batch_count; i++)
        there += atomic_load(&record->use[i].variants) > 0;
    pm_shader_key_format(&record->key, key);
    pm_log_info(pipeline->device->instance->log,
                "shader %.12s: a pipeline gets no more counting variants than "
                "limits.synchronous_words leaves: %" PRIu32 " of %" PRIu32
                " batches of its points have one by now",
                key, there, record->batch_count);
}

/* Where a pipeline begins with its shader's batches. By lot, unless there is a sampler.seed: in one
 * session a batch may be of one pipeline alone, so that more points are counted; over sessions it
 * is of each with the chance that any other batch has. */
static uint32_t first_of(const struct pm_pipeline *pipeline, const struct pm_shader_record *record)
{
    uint64_t of_key;
    memcpy(&of_key, record->key.bytes, sizeof of_key);
    return (uint32_t)(pm_random_mix(pm_session_seed(pipeline->device->instance) ^ of_key) %
                      record->batch_count);
}

/* Makes the batches' variants, while the shader has words left: first those of batches that none of
 * its pipelines has. */
static void build_batches(struct pm_pipeline *pipeline, struct pm_shader_record *record)
{
    const uint32_t count = record->batch_count;
    const uint64_t until = may_come_to(pipeline, record);
    const uint32_t first = count > 0 ? first_of(pipeline, record) : 0;
    const uint64_t step = count > 0 ? step_of(count) : 0;
    for (int others = 0; others < 2; others++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t index = (uint32_t)((first + i * step) % count);
            struct pm_pipeline_batch *batch = &pipeline->batches[index];
            if (atomic_load(&batch->making) != PM_UNMADE ||
                (!others && atomic_load(&record->use[index].variants) > 0))
                continue;
            if (atomic_load(&record->made_words) >= until) {
                atomic_store(&batch->making, PM_FAILED);
                say_ran_out(pipeline, record);
                continue;
            }
            atomic_store(&batch->making, PM_QUEUED);
            pm_pipeline_make_batch(pipeline, record, index, false, false);
        }
    }
}

void pm_pipeline_build_all(struct pm_pipeline *pipeline)
{
    if (!(pipeline->device->instance->config.sampler.kinds & PM_SAMPLED_KINDS) ||
        !pm_pipeline_prepare(pipeline)) {
        atomic_store(&pipeline->prepare.making, PM_FAILED);
        return;
    }
    atomic_store(&pipeline->prepare.making, PM_MADE);
    struct pm_shader_record *record = atomic_load(&pipeline->record);
    build_batches(pipeline, record);
}
