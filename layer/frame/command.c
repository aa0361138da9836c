#include "layer/frame/command.h"

#include "layer/frame/predicated_calls.h"
#include "layer/memory/predicates.h"
#include "layer/shader/shader_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- pools and their buffers ---- */

struct pm_command_pool *pm_command_pool_of(struct pm_sampling *sampling, VkCommandPool handle)
{
    return sampling != NULL && handle != VK_NULL_HANDLE
               ? pm_lookup_find(&sampling->pools, PM_KEY(handle))
               : NULL;
}

void pm_command_pool_add(struct pm_device *device, VkCommandPool handle,
                         const VkCommandPoolCreateInfo *info)
{
    struct pm_command_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return;
    pool->handle = handle;
    pool->family = info->queueFamilyIndex;
    pool->is_protected = (info->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT) != 0;
    if (!pm_lookup_put(&device->sampling->pools, PM_KEY(handle), pool))
        free(pool);
}

void pm_command_pool_forget(struct pm_sampling *sampling, struct pm_command_pool *pool)
{
    pm_lookup_remove(&sampling->pools, PM_KEY(pool->handle));
    for (struct pm_command *command = pool->first; command != NULL; command = command->next)
        pm_lookup_remove(&sampling->commands, PM_KEY(command->handle));
}

void pm_command_pool_destroy(struct pm_command_pool *pool)
{
    for (struct pm_command *command = pool->first, *next; command != NULL; command = next) {
        next = command->next;
        pm_command_destroy(command);
    }
    free(pool);
}

void pm_command_add(struct pm_device *device, struct pm_command_pool *pool, VkCommandBuffer handle,
                    bool secondary)
{
    struct pm_command *command = aligned_alloc(PM_CACHE_LINE, sizeof *command);
    if (command == NULL)
        return;
    memset(command, 0, sizeof *command);
    command->countdown = PM_NEVER;
    command->recording = PM_RECORDING_TRACKED;
    command->touched = true;
    command->again = PM_BEGINS_LONG;
    command->timings = PM_TIMING_NONE;
    command->device = device;
    command->handle = handle;
    command->pool = pool;
    command->secondary = secondary;
    if (!pm_lookup_put(&device->sampling->commands, PM_KEY(handle), command)) {
        free(command);
        return;
    }
    command->next = pool->first;
    if (pool->first != NULL)
        pool->first->previous = command;
    pool->first = command;
}

struct pm_command *pm_command_forget(struct pm_sampling *sampling, VkCommandBuffer handle)
{
    struct pm_command *command = pm_lookup_remove(&sampling->commands, PM_KEY(handle));
    if (command == NULL)
        return NULL;
    if (command->previous != NULL)
        command->previous->next = command->next;
    else
        command->pool->first = command->next;
    if (command->next != NULL)
        command->next->previous = command->previous;
    return command;
}

/* What the recording that was says of whether the game keeps them. */
static void learn(struct pm_command *command, bool once)
{
    if (once || atomic_load_explicit(&command->submits, memory_order_relaxed) == 1)
        pm_sampling_learn_anew(command->device->sampling);
}

void pm_command_destroy(struct pm_command *command)
{
    if (!command->once)
        learn(command, false);
    pm_command_drop(command);
    free(command->uses);
    free(command->holds);
    free(command->executed);
    free(command->noted);
    free(command);
}

static void destroy_pool(void *user, void *value)
{
    (void)user;
    pm_command_pool_destroy(value);
}

void pm_commands_destroy(struct pm_sampling *sampling)
{
    pm_lookup_each(&sampling->pools, destroy_pool, NULL);
}

/* ---- a recording ---- */

static inline void clear_bound(struct pm_command *command)
{
    command->plain_points = 0;
    command->lately = (struct pm_lately){.game = {0}};
    for (int i = 0; i < PM_BIND_POINTS; i++)
        command->bound[i] = (struct pm_bound){.kind = PM_BINDING_GAME};
    command->watched = 0;
}

/* Whether the recording before was submitted more than once. Where nobody saw a secondary one being
 * executed, it is what it was before that. */
static bool was_kept(const struct pm_command *command, uint32_t submits)
{
    if (command->secondary && submits == 0)
        return command->repeats && !pm_sampling_keeps_nothing(command->device->sampling);
    return submits > 1;
}

bool pm_command_begin(struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    const bool once = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
    const uint32_t submits = atomic_load_explicit(&command->submits, memory_order_relaxed);
    const bool may_repeat = !once && (!command->begun || was_kept(command, submits));
    learn(command, once);
    atomic_store_explicit(&command->submits, 0, memory_order_relaxed);
    command->executed_count = command->noted_count = 0;
    command->carries = false;
    command->begun = true;
    command->recordings++;
    command->once = once;
    command->repeats = may_repeat;
    command->simultaneous = (info->flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT) != 0;
    command->spare = PM_TIMING_NONE;
    command->active = command->pool->is_protected ? PM_CONDITION(PM_ACTIVE_PROTECTED) : 0;
    if (command->secondary && info->pInheritanceInfo != NULL &&
        info->pInheritanceInfo->pipelineStatistics != 0)
        command->active |= PM_CONDITION(PM_ACTIVE_INHERITED_QUERY);
    command->active_queries = 0;
    command->scene = PM_SCENE_NONE;
    command->again = may_repeat || command->active != 0 ? PM_BEGINS_LONG : info->flags;
    if (!command->touched && command->plain_points == 0)
        return may_repeat;
    clear_bound(command);
    command->pass =
        (struct pm_pass_instance){.place = PM_PLACE_OUTSIDE, .measurement = PM_TIMING_NONE};
    command->area = 0;
    command->touched = command->pool->is_protected;
    return may_repeat;
}

/* Words of push constants that the recording is to follow. */
static uint64_t wanted_words(const struct pm_command *command)
{
    const struct pm_device *device = command->device;
    return command->recording == PM_RECORDING_SAMPLED &&
                   (device->instance->config.sampler.kinds & PM_KIND_BIT_CONSTANT) != 0
               ? UINT64_MAX
               : atomic_load_explicit(&device->watched, memory_order_acquire);
}

bool pm_command_begin_followed(struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    const struct pm_device *device = command->device;
    /* One that was chosen begins the long way again; others hold nothing else. */
    const bool holds = (command->use_count | command->hold_count | command->scratch.held) != 0;
    if (holds || !pm_command_begins_alike(command, info) ||
        (!atomic_load_explicit(&device->sampling->learned, memory_order_relaxed) &&
         !pm_command_learn_again(command, device->sampling)))
        return false;
    pm_command_begins_anew(command);
    if (command->touched || command->plain_points != 0) {
        command->carries = false;
        command->active = 0;
        command->active_queries = 0;
        command->scene = PM_SCENE_NONE;
        clear_bound(command);
        command->area = 0;
        /* From here on each begin looks at what this one follows. */
        command->touched = false;
    }
    pm_pushed_begin(&command->pushed, atomic_load_explicit(&device->watched, memory_order_acquire));
    command->plain_points =
        command->pushed.wanted == 0 && pm_binds_any(device, PM_BINDS_CAREFUL) ? PM_BIND_POINTS : 0;
    return true;
}

/* ---- calls that the recording holds twice ---- */

double pm_sampling_sure_left(const struct pm_sampling *sampling)
{
    const uint32_t taken = atomic_load_explicit(&sampling->sure, memory_order_relaxed);
    return 1 - (double)taken / PM_PREDICATED_SURE;
}

uint32_t pm_command_reserve_sure(struct pm_command *command, uint32_t wanted)
{
    struct pm_sampling *sampling = command->device->sampling;
    uint32_t taken = atomic_load(&sampling->sure), most;
    do {
        most = PM_PREDICATED_SURE - taken < wanted ? PM_PREDICATED_SURE - taken : wanted;
    } while (!atomic_compare_exchange_weak(&sampling->sure, &taken, taken + most));
    command->predicated->reserved += most;
    return most;
}

void pm_command_give_back_sure(struct pm_command *command, uint32_t count)
{
    command->predicated->reserved -= count;
    atomic_fetch_sub(&command->device->sampling->sure, count);
}

/* Whether all submissions of the recording that begins are in one order, and all of them seen. */
static bool is_in_order(const struct pm_command *command)
{
    const struct pm_device *device = command->device;
    const uint32_t family = command->pool->family;
    return (!command->simultaneous && !device->has_other_queues) ||
           (family < 64 && (device->lone_families >> family & 1) != 0);
}

/* Whether the recording that begins could hold calls twice. */
static bool may_hold_twice(const struct pm_command *command)
{
    const struct pm_device *device = command->device;
    const struct pm_sampling *sampling = device->sampling;
    /* Where every call is sampled for ever there is nothing to choose. */
    const bool always = sampling->share >= 1 && sampling->probability >= 1;
    return device->predicates != NULL && !always && !pm_sampling_keeps_nothing(sampling) &&
           sampling->probability > 0 && !command->pool->is_protected && is_in_order(command);
}

void pm_command_count_twice(struct pm_command *command, double chance)
{
    struct pm_predicated *predicated = command->predicated;
    uint64_t *countdown = command->behind != 0 ? &command->behind : &command->countdown;
    predicated->drawn -= *countdown;
    predicated->chance = chance;
    *countdown = pm_geometric(&command->random, chance);
    predicated->drawn += *countdown;
}

/* It does: draws its countdown. false: out of memory. */
static bool begin_twice(struct pm_command *command)
{
    command->predicated = calloc(1, sizeof *command->predicated);
    if (command->predicated == NULL)
        return false;
    /* The other half is for shaders and their further pipelines (predicated.c). */
    if (pm_sampling_sure_left(command->device->sampling) > 0.5)
        command->predicated->sure = pm_command_reserve_sure(command, PM_PREDICATED_FIRST);
    for (int point = 0; point < PM_BIND_POINTS; point++)
        command->predicated->chances[point] = command->device->sampling->probability;
    /* Nothing is bound yet. */
    command->countdown = 0;
    pm_command_count_twice(command, 0);
    return true;
}

/* Shaders of which nothing was sampled are as before. Outside windows, where nothing could be, not
 * for ever: a game that records all the time would hold a call of each for sure each time. */
static void untell(const struct pm_command *command)
{
    enum { MOST_UNTOLD = 8 };
    const struct pm_predicated *predicated = command->predicated;
    const bool is_on = pm_sampling_is_on(command->device->sampling);
    for (uint32_t i = 0; i < predicated->count; i++) {
        struct pm_shader_record *shader = predicated->calls[i].first_of;
        if (shader != NULL && (is_on || atomic_fetch_add(&shader->untold, 1) < MOST_UNTOLD))
            atomic_store(&shader->told, false);
    }
}

/* Frees all of it; the device is done with the recording. */
static void drop_twice(struct pm_command *command)
{
    struct pm_predicated *predicated = command->predicated;
    if (predicated == NULL)
        return;
    untell(command);
    for (uint32_t i = 0; i < predicated->count; i += PM_PREDICATE_BLOCK)
        pm_predicates_free(command->device->predicates, predicated->blocks[i / PM_PREDICATE_BLOCK]);
    pm_command_give_back_sure(command, predicated->reserved);
    if (predicated->count > 0)
        atomic_fetch_sub(&command->device->sampling->twice, 1);
    free(predicated->calls);
    free(predicated->blocks);
    free(predicated->picked.calls);
    free(predicated->next.calls);
    free(predicated);
    command->predicated = NULL;
}

/* The recording has ended: gives back what it does not need. */
static void end_twice(struct pm_command *command)
{
    struct pm_predicated *predicated = command->predicated;
    if (predicated == NULL)
        return;
    predicated->recorded = predicated->drawn - command->countdown;
    pm_command_give_back_sure(command, predicated->sure);
    predicated->sure = 0;
    if (predicated->count == 0) {
        drop_twice(command);
        return;
    }
    pm_log_debug(command->device->instance->log,
                 "a recording that is kept holds %" PRIu32 " of its calls twice",
                 predicated->count);
}

/* ---- what becomes of a recording ---- */

/* The probability that a call is chosen which then counts in every submission of the recording.
 * Outside windows it is drawn for the recording whether any is; inside, what may be kept would cost
 * for ever what a window does, and be sampled more often than what is recorded anew. */
static double probability_of(const struct pm_sampling *sampling, bool may_repeat)
{
    const bool kept =
        may_repeat && pm_sampling_is_on(sampling) && !pm_sampling_keeps_nothing(sampling);
    return kept ? sampling->probability * sampling->share : sampling->probability;
}

/* Of what could be sampled as well, one half is timed. An instance is timed only with all that it
 * executes, so of secondary ones all of a frame are. */
static bool is_rather_timed(struct pm_command *command)
{
    const struct pm_sampling *sampling = command->device->sampling;
    const uint64_t lot =
        command->secondary
            ? pm_random_mix(sampling->coins +
                            atomic_load_explicit(&sampling->heartbeats, memory_order_relaxed))
            : pm_random_next(&command->random);
    return (lot & 1) != 0;
}

static void choose(struct pm_command *command, bool may_repeat, bool may_be_timed)
{
    struct pm_sampling *sampling = command->device->sampling;
    const bool twice = may_repeat && may_hold_twice(command);
    const bool sampled =
        twice ? pm_sampling_begin_kept(sampling) : pm_sampling_begin(sampling, may_repeat);
    const bool timed = may_be_timed && (!may_repeat || pm_sampling_times_kept(sampling)) &&
                       (sampled || pm_sampling_begin_timed(sampling));
    if (!sampled && !timed)
        return;
    command->touched = true;
    command->again = PM_BEGINS_LONG;
    if (command->random.state[0] == 0 && command->random.state[1] == 0)
        pm_random_init(&command->random, pm_sampling_seed(sampling));
    /* One thing at a time: what is sampled takes longer. */
    const bool wins = may_repeat && sampling->times_kept;
    if (timed && (!sampled || wins || is_rather_timed(command))) {
        command->recording = PM_RECORDING_TIMED;
        command->countdown = PM_NEVER;
    } else if (twice) {
        command->recording = PM_RECORDING_SAMPLED;
        if (!begin_twice(command))
            pm_command_end(command);
    } else {
        command->recording = PM_RECORDING_SAMPLED;
        command->probability = probability_of(sampling, may_repeat);
        command->owes =
            !may_repeat || (pm_sampling_is_on(sampling) && pm_sampling_keeps_nothing(sampling));
        command->drawn = 0;
        pm_command_count_down(command);
    }
}

void pm_command_choose(struct pm_command *command, bool may_repeat, bool may_be_timed)
{
    choose(command, may_repeat, may_be_timed);
    pm_pushed_begin(&command->pushed, wanted_words(command));
    /* What it follows must not be taken for what the next recording pushes. */
    command->touched |= command->pushed.wanted != 0;
}

void pm_command_look_at_each(struct pm_command *command, bool each)
{
    if (each == (command->behind != 0))
        return;
    const uint64_t countdown = each ? 1 : command->behind;
    command->behind = each ? command->countdown : 0;
    command->countdown = countdown;
}

bool pm_command_is_through(struct pm_command *command)
{
    if (command->behind == 0 || --command->behind == 0)
        return true;
    command->countdown = 1;
    return false;
}

void pm_command_end(struct pm_command *command)
{
    struct pm_sampling *sampling = command->device->sampling;
    pm_command_look_at_each(command, false);
    pm_command_put_off_ends(command);
    const bool counted = command->recording == PM_RECORDING_SAMPLED && command->predicated == NULL;
    if (pm_command_takes_part(command)) {
        if (counted)
            atomic_fetch_add_explicit(&sampling->calls, command->drawn - command->countdown,
                                      memory_order_relaxed);
        command->recording = PM_RECORDING_TRACKED;
        end_twice(command);
        pm_sampling_end(sampling);
    }
    command->countdown = PM_NEVER;
}

static void drop_holds(struct pm_command *command)
{
    if (command->hold_count == 0)
        return;
    for (uint32_t i = 0; i < command->hold_count; i++)
        pm_hold_release(command->holds[i]);
    command->hold_count = 0;
    pm_sampling_let_go(command->device->sampling);
}

void pm_command_drop(struct pm_command *command)
{
    pm_command_end(command);
    drop_holds(command);
    drop_twice(command);
    if (command->scratch.held != 0) {
        pm_scratch_memory_give_back(command->device->scratch, &command->scratch);
        pm_sampling_let_go(command->device->sampling);
    }
    if (command->use_count == 0)
        return;
    for (uint32_t i = 0; i < command->use_count; i++)
        pm_variant_release(command->uses[i].variant);
    command->use_count = 0;
    command->sampled = 0;
    pm_sampling_let_go(command->device->sampling);
}

void *pm_command_reserve(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    const uint32_t more = *capacity > 0 ? *capacity * 2 : 8;
    array = realloc(array, more * size);
    if (array != NULL)
        *capacity = more;
    return array;
}

bool pm_command_use(struct pm_command *command, struct pm_variant *variant, uint32_t calls,
                    uint32_t *use)
{
    /* The latest first: the same pipeline is often drawn with many times in a row. */
    for (uint32_t i = command->use_count; i-- > 0;) {
        if (command->uses[i].variant == variant) {
            command->uses[i].calls += calls;
            command->sampled += calls;
            pm_variant_release(variant);
            if (use != NULL)
                *use = i;
            return true;
        }
    }
    struct pm_use *uses =
        pm_command_reserve(command->uses, command->use_count, &command->use_capacity, sizeof *uses);
    if (uses == NULL)
        return false;
    command->uses = uses;
    if (command->use_count == 0)
        atomic_fetch_add(&command->device->sampling->holding, 1);
    if (use != NULL)
        *use = command->use_count;
    command->uses[command->use_count++] = (struct pm_use){.variant = variant, .calls = calls};
    command->sampled += calls;
    return true;
}

bool pm_command_hold(struct pm_command *command, struct pm_hold *hold)
{
    if (hold == NULL)
        return true;
    for (uint32_t i = command->hold_count; i-- > 0;)
        if (command->holds[i] == hold)
            return true;
    struct pm_hold **holds = pm_command_reserve(command->holds, command->hold_count,
                                                &command->hold_capacity, sizeof *holds);
    if (holds == NULL)
        return false;
    command->holds = holds;
    if (!pm_hold_take(hold))
        return false;
    if (command->hold_count == 0)
        atomic_fetch_add(&command->device->sampling->holding, 1);
    holds[command->hold_count++] = hold;
    return true;
}

bool pm_command_counts(const struct pm_command *command)
{
    return command->sampled > 0 ||
           (command->predicated != NULL && command->predicated->picked.count > 0);
}
