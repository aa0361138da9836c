/* Copies that are through: what each counter grew by since it was read last becomes counts of a
 * profile. */
#include "layer/counts/readback_private.h"

#include "layer/core/device_lost.h"
#include "layer/counts/count_state.h"
#include "layer/counts/report.h"
#include "layer/memory/counters.h"
#include "layer/shader/constant_values.h"
#include "layer/shader/shader_record.h"
#include <stdlib.h>
#include <string.h>

/* What a copy holds of a variant's counters, and what was seen of them last: two 32-bit words, low
 * first, are a 64-bit one on the little-endian hosts that Vulkan runs on. */
static const uint64_t *found_in(const struct pm_copy *copy, const struct pm_copy_entry *entry)
{
    return (const uint64_t *)(const void *)(copy->host.map + entry->offset);
}

static uint64_t *seen_of(const struct pm_variant *variant)
{
    return pm_counters_seen(variant->device->counters, variant->block.offset);
}

/* How much each of the first counters of the variant's slots grew since it was last read, summed
 * over the slots, into totals. */
static void sum_differences(const struct pm_copy *copy, const struct pm_copy_entry *entry,
                            uint64_t *totals, uint32_t count)
{
    const struct pm_variant *variant = entry->variant;
    const uint64_t *found = found_in(copy, entry), *seen = seen_of(variant);
    for (uint32_t i = 0; i < count; i++)
        totals[i] = 0;
    for (uint32_t slot = 0; slot < variant->slot_count; slot++) {
        const size_t first = (size_t)slot * variant->slot_stride;
        for (uint32_t i = 0; i < count; i++)
            totals[i] += found[first + i] - seen[first + i];
    }
}

/* What is in the copy was seen from now on. */
static void see(const struct pm_copy *copy, const struct pm_copy_entry *entry)
{
    const struct pm_variant *variant = entry->variant;
    memcpy(seen_of(variant), found_in(copy, entry),
           (size_t)variant->slot_count * variant->slot_stride * sizeof(uint64_t));
}

/* How often the shader and its points were entered since that was read last: entry lanes and
 * subgroups, then PM_COUNTS of each point. malloc'ed; NULL: out of memory. */
static uint64_t *sum_totals(const struct pm_copy *copy, const struct pm_copy_entry *entry)
{
    const struct pm_variant *variant = entry->variant;
    const uint32_t units = pm_variant_units(variant);
    uint64_t *totals = calloc(2 + PM_COUNTS * (size_t)variant->point_count, sizeof *totals);
    uint64_t *sums = calloc(units, sizeof *sums);
    if (totals != NULL && sums != NULL) {
        sum_differences(copy, entry, sums, units);
        pm_variant_totals(variant, sums, totals);
    } else {
        free(totals);
        totals = NULL;
    }
    free(sums);
    return totals;
}

static bool add_counts(struct pm_report *report, const struct pm_copy *copy,
                       const struct pm_copy_entry *entry, struct pm_error *error)
{
    const struct pm_variant *variant = entry->variant;
    uint64_t *totals = sum_totals(copy, entry);
    struct pm_point_counts *points = calloc(variant->point_count + 1, sizeof *points);
    bool ok = totals != NULL && points != NULL;
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    if (ok) {
        see(copy, entry);
        for (uint32_t i = 0; i < variant->point_count; i++) {
            points[i].point = variant->points[i];
            points[i].calls = entry->calls < UINT32_MAX ? (uint32_t)entry->calls : UINT32_MAX;
            points[i].entry_lanes = totals[0];
            points[i].entry_subgroups = totals[1];
            for (uint32_t j = 0; j < PM_COUNTS; j++)
                points[i].counts[j] = totals[2 + PM_COUNTS * i + j];
        }
        const struct pm_shader_profile shader = {
            .key = variant->key,
            .environment = variant->environment,
            .kind = variant->kind,
            .flags = variant->flags,
            .space = variant->space,
            .candidates = variant->candidates,
            .at_most_once = variant->at_most_once,
            .points = points,
            .point_count = variant->point_count,
        };
        atomic_fetch_add_explicit(&variant->use->read, entry->calls, memory_order_relaxed);
        ok = pm_variant_follow_lanes(variant, points, error);
        if (ok && variant->point_count > 0)
            ok = pm_report_add(report, entry->scene, &shader, error);
    }
    free(totals);
    free(points);
    return ok;
}

/* What words were goes to what this machine knows of them, which says what the spool gets of it
 * (constant_source.h). */
static void add_words(const struct pm_copy *copy, const struct pm_copy_entry *entry)
{
    const struct pm_variant *variant = entry->variant;
    struct pm_constants_due *due = &variant->device->constants;
    uint64_t entries[2];
    sum_differences(copy, entry, entries, 2);
    pm_constant_values_count(variant->values, &(struct pm_constant_loads){
                                                  .calls = entry->calls,
                                                  .entry_lanes = entries[0],
                                                  .entry_subgroups = entries[1],
                                                  .points = variant->points,
                                                  .point_count = variant->point_count,
                                                  .now = found_in(copy, entry),
                                                  .before = seen_of(variant),
                                                  .slot_count = variant->slot_count,
                                                  .stride = variant->slot_stride,
                                              });
    see(copy, entry);
    atomic_store(&due->any, true);
    atomic_store(&due->due, true);
}

/* The copy was not read: the calls are of the next one. false: nobody else is going to read it, and
 * this queue cannot either. */
static bool count_again(struct pm_queue *queue, const struct pm_copy_entry *entry)
{
    struct pm_variant *variant = entry->variant;
    variant->counted.calls += entry->calls;
    variant->counted.scene = pm_scene_join(variant->counted.scene, entry->scene);
    return !pm_count_is_dirty(pm_count_state_of(queue, variant)) &&
           !pm_count_elsewhere(queue, variant) && pm_count_dirty(queue, variant);
}

/* An entry whose copy is through, under the lock: whether what it holds is read, and who reads what
 * it does not. */
static void finish_entry(const struct pm_copy *copy, struct pm_copy_entry *entry)
{
    struct pm_variant *variant = entry->variant;
    struct pm_queue *queue = copy->queue;
    /* Whether no other queue can have been counting while the copy was made. */
    const bool alone =
        entry->user_changes == variant->counted.user_changes && !pm_count_elsewhere(queue, variant);
    pm_count_through(queue, variant);
    entry->data = copy->usable && entry->data && alone;
    if (copy->usable && !entry->data && count_again(queue, entry))
        entry->variant = NULL; /* the reference moved back */
}

/* Reads what was copied, without the lock: what was seen last belongs to who takes copies. */
static void read_entry(const struct pm_copy *copy, const struct pm_copy_entry *entry,
                       struct pm_report *report)
{
    struct pm_error error = {0};
    if (entry->variant == NULL)
        return;
    if (entry->data && entry->variant->values != NULL)
        add_words(copy, entry);
    else if (entry->data && !add_counts(report, copy, entry, &error))
        pm_log_warning(copy->queue->device->instance->log, "counters were not kept: %s",
                       error.message);
    pm_variant_release(entry->variant);
}

/* Whether a copy is through. VK_ERROR_DEVICE_LOST counts: nothing more will come. Of other errors,
 * as where the driver lacks memory to say it, nothing is known: the GPU may still be writing. */
static bool is_done(const struct pm_readback *readback, struct pm_copy *copy)
{
    const VkResult result = pm_copy_result(copy);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(readback->device);
    copy->usable = result == VK_SUCCESS;
    return copy->usable || result == VK_ERROR_DEVICE_LOST || readback->given_up;
}

/* Takes the copies that are through from those under way, in their order. Under the lock. */
static struct pm_copy *unlink_finished(struct pm_readback *readback)
{
    struct pm_copy *previous = NULL, *finished = NULL, **end = &finished;
    /* Queues with an earlier copy that is not through: the differences need the order. */
    uint32_t behind = 0;
    for (struct pm_copy *copy = readback->first, *next; copy != NULL; copy = next) {
        next = copy->next;
        if ((behind & copy->queue->bit) != 0 || !is_done(readback, copy)) {
            behind |= copy->queue->bit;
            previous = copy;
            continue;
        }
        for (uint32_t i = 0; i < copy->entry_count; i++)
            finish_entry(copy, &copy->entries[i]);
        if (previous != NULL)
            previous->next = next;
        else
            readback->first = next;
        if (readback->last == copy)
            readback->last = previous;
        copy->next = NULL;
        *end = copy;
        end = &copy->next;
    }
    return finished;
}

/* They were read. Under the lock. */
static void reuse(struct pm_readback *readback, struct pm_copy *finished)
{
    for (struct pm_copy *copy = finished, *next; copy != NULL; copy = next) {
        next = copy->next; /* once it is reused it may be put under way again */
        /* A copy that was given up may still be running: its command buffer is not used again. */
        if (copy->usable)
            pm_copy_reuse(copy);
        atomic_fetch_sub(&readback->under_way, 1);
    }
    if (finished != NULL && atomic_load(&readback->under_way) == 0)
        pthread_cond_broadcast(&readback->done);
}

/* The lock, which submissions and presents take, is not held while copies are read: that takes as
 * long as megabytes do, on a thread of low priority. */
bool pm_readback_take(struct pm_readback *readback, struct pm_report *report)
{
    pthread_mutex_lock(&readback->lock);
    struct pm_copy *finished = unlink_finished(readback);
    pthread_mutex_unlock(&readback->lock);
    for (const struct pm_copy *copy = finished; copy != NULL; copy = copy->next) {
        for (uint32_t i = 0; i < copy->entry_count; i++)
            read_entry(copy, &copy->entries[i], report);
    }
    pthread_mutex_lock(&readback->lock);
    reuse(readback, finished);
    pthread_mutex_unlock(&readback->lock);
    return finished != NULL;
}
