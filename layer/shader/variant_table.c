#include "layer/shader/variant_table.h"

#include "base/clock.h"
#include <sched.h>

/* In the place of a variant while somebody takes a reference to it. */
static struct pm_variant held;

struct pm_variant *pm_variant_take(struct pm_pipeline_batch *batch)
{
    if (!atomic_load_explicit(&batch->variant, memory_order_relaxed))
        return NULL;
    struct pm_variant *variant;
    while ((variant = atomic_exchange(&batch->variant, &held)) == &held)
        sched_yield();
    if (variant)
        pm_variant_reference(variant);
    atomic_store(&batch->variant, variant);
    return variant;
}

/* A place that somebody holds is not empty yet. */
static void put(struct pm_pipeline_batch *batch, struct pm_variant *variant)
{
    for (struct pm_variant *none = NULL;
         !atomic_compare_exchange_weak(&batch->variant, &none, variant); none = NULL)
        sched_yield();
}

/* Under the lock. */
static void unlink_one(struct pm_variant_budget *budget, struct pm_variant *variant)
{
    if (variant->previous)
        variant->previous->next = variant->next;
    else
        budget->first = variant->next;
    if (variant->next)
        variant->next->previous = variant->previous;
}

void pm_variant_publish(struct pm_pipeline *pipeline, uint32_t batch, struct pm_variant *variant)
{
    struct pm_variant_budget *budget = &pipeline->device->pipelines->budget;
    struct pm_shader_record *record = atomic_load(&pipeline->record);
    variant->pipeline = pipeline;
    variant->batch = batch;
    atomic_store(&variant->used_at, pm_now());
    pthread_mutex_lock(&budget->lock);
    variant->previous = NULL;
    variant->next = budget->first;
    if (budget->first)
        budget->first->previous = variant;
    budget->first = variant;
    put(&pipeline->batches[batch], variant);
    record->in_table++;
    atomic_fetch_add(&pipeline->variants, 1);
    pthread_mutex_unlock(&budget->lock);
}

/* Under the lock. */
static void count_out(struct pm_variant *variant)
{
    atomic_fetch_sub(&variant->pipeline->variants, 1);
    struct pm_shader_record *record = atomic_load(&variant->pipeline->record);
    atomic_fetch_sub(&variant->use->variants, 1);
    atomic_fetch_sub(&record->whole.variants, 1);
    record->in_table--;
}

/* Under the lock. */
static int64_t idle_time(struct pm_variant *variant)
{
    const struct pm_pipeline *pipeline = variant->pipeline;
    return pipeline->won && !atomic_load(&pipeline->seen) && atomic_load(&variant->taken) == 0 &&
                   !atomic_load(&pipeline->device->pipelines->keeps_nothing)
               ? PM_LOADING
               : PM_IDLE;
}

/* For a further batch of the record's shader; NULL: for any. Under the lock. */
static bool may_retire(struct pm_variant *variant, const struct pm_shader_record *record,
                       int64_t now)
{
    if (atomic_load(&variant->references) != 1)
        return false;
    if (now - atomic_load(&variant->used_at) >= idle_time(variant))
        return true;
    const struct pm_shader_record *own = atomic_load(&variant->pipeline->record);
    return atomic_load(&variant->taken) >= PM_ENOUGH_CALLS &&
           (!record || record == own || own->in_table > 1);
}

/* Under the lock. false: somebody just takes it, or just has. */
static bool take_out(struct pm_variant_budget *budget, struct pm_variant *variant)
{
    struct pm_pipeline_batch *batch = &variant->pipeline->batches[variant->batch];
    struct pm_variant *expected = variant;
    if (!atomic_compare_exchange_strong(&batch->variant, &expected, NULL))
        return false;
    if (atomic_load(&variant->references) != 1) {
        put(batch, variant);
        return false;
    }
    unlink_one(budget, variant);
    count_out(variant);
    atomic_store(&batch->wanted, 0);
    atomic_store(&batch->making, PM_UNMADE);
    return true;
}

enum pm_retired pm_variants_retire(struct pm_pipelines *pipelines,
                                   const struct pm_shader_record *record, int64_t now)
{
    struct pm_variant_budget *budget = &pipelines->budget;
    struct pm_variant *oldest = NULL;
    pthread_mutex_lock(&budget->lock);
    atomic_store(&budget->retired_at, now);
    for (struct pm_variant *variant = budget->first; variant; variant = variant->next) {
        if (may_retire(variant, record, now) &&
            (!oldest || atomic_load(&variant->used_at) < atomic_load(&oldest->used_at)))
            oldest = variant;
    }
    enum pm_retired retired = PM_RETIRED_NONE;
    const bool own = oldest && atomic_load(&oldest->pipeline->record) == record;
    if (oldest && (!own || pm_variant_budget_may_replace(budget)) && take_out(budget, oldest))
        retired = own ? PM_RETIRED_OWN : PM_RETIRED_OTHER;
    /* It may be the shader's last: nobody else gets its place. */
    if (retired == PM_RETIRED_OWN)
        pm_variant_budget_replace(budget);
    pthread_mutex_unlock(&budget->lock);
    if (retired != PM_RETIRED_NONE)
        pm_variant_release(oldest);
    return retired;
}

uint32_t pm_variants_staying(struct pm_pipelines *pipelines, int64_t now)
{
    struct pm_variant_budget *budget = &pipelines->budget;
    pthread_mutex_lock(&budget->lock);
    uint32_t staying = budget->living;
    const bool few = staying <= budget->limit / 2;
    for (struct pm_variant *variant = budget->first; !few && variant; variant = variant->next)
        staying -= staying > 0 && may_retire(variant, NULL, now);
    pthread_mutex_unlock(&budget->lock);
    return staying;
}

void pm_variants_drop(struct pm_pipeline *pipeline)
{
    const struct pm_shader_record *record = atomic_load(&pipeline->record);
    if (!record)
        return;
    struct pm_variant_budget *budget = &pipeline->device->pipelines->budget;
    for (uint32_t i = 0; i < record->batch_count; i++) {
        pthread_mutex_lock(&budget->lock);
        struct pm_variant *variant = atomic_exchange(&pipeline->batches[i].variant, NULL);
        if (variant) {
            unlink_one(budget, variant);
            count_out(variant);
        }
        pthread_mutex_unlock(&budget->lock);
        pm_variant_release(variant);
    }
}
