#include "layer/frame/command.h"

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
    if (pool->is_protected)
        atomic_store_explicit(&device->sampling->careful, true, memory_order_relaxed);
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

void pm_command_destroy(struct pm_command *command)
{
    pm_command_drop(command);
    free(command->uses);
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

bool pm_command_begin(struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    const bool once = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
    const uint32_t submits = atomic_load_explicit(&command->submits, memory_order_relaxed);
    const bool may_repeat = !once && (!command->begun || submits > 1);
    if (once || submits == 1)
        pm_sampling_learn_anew(command->device->sampling);
    atomic_store_explicit(&command->submits, 0, memory_order_relaxed);
    command->begun = true;
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
    if (!command->touched)
        return may_repeat;
    for (int i = 0; i < PM_BIND_POINTS; i++)
        command->bound[i] = (struct pm_bound){.kind = PM_BINDING_GAME};
    command->watched = 0;
    command->pass =
        (struct pm_pass_instance){.place = PM_PLACE_OUTSIDE, .measurement = PM_TIMING_NONE};
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

static void choose(struct pm_command *command, bool may_repeat, bool may_be_timed)
{
    struct pm_sampling *sampling = command->device->sampling;
    const bool sampled = pm_sampling_begin(sampling, may_repeat);
    const bool timed = may_be_timed && (sampled || pm_sampling_begin_timed(sampling));
    if (!sampled && !timed)
        return;
    command->touched = true;
    if (command->random.state[0] == 0 && command->random.state[1] == 0)
        pm_random_init(&command->random, pm_sampling_seed(sampling));
    /* One thing at a time: what is sampled takes longer. */
    if (timed && (!sampled || (pm_random_next(&command->random) & 1) != 0)) {
        command->recording = PM_RECORDING_TIMED;
        command->countdown = PM_NEVER;
    } else {
        command->recording = PM_RECORDING_SAMPLED;
        command->countdown = pm_geometric(&command->random, sampling->probability);
    }
}

void pm_command_choose(struct pm_command *command, bool may_repeat, bool may_be_timed)
{
    choose(command, may_repeat, may_be_timed);
    pm_pushed_begin(&command->pushed, wanted_words(command));
    /* What it follows must not be taken for what the next recording pushes. */
    command->touched |= command->pushed.wanted != 0;
}

void pm_command_end(struct pm_command *command)
{
    command->countdown = PM_NEVER;
    if (!pm_command_takes_part(command))
        return;
    command->recording = PM_RECORDING_TRACKED;
    pm_sampling_end(command->device->sampling);
}

void pm_command_drop(struct pm_command *command)
{
    pm_command_end(command);
    if (command->use_count == 0)
        return;
    for (uint32_t i = 0; i < command->use_count; i++)
        pm_variant_release(command->uses[i].variant);
    command->use_count = 0;
    atomic_fetch_sub(&command->device->sampling->holding, 1);
}

/* false: out of memory. */
static bool reserve_use(struct pm_command *command)
{
    if (command->use_count < command->use_capacity)
        return true;
    uint32_t capacity = command->use_capacity > 0 ? command->use_capacity * 2 : 8;
    struct pm_use *uses = realloc(command->uses, capacity * sizeof *uses);
    if (uses == NULL)
        return false;
    command->uses = uses;
    command->use_capacity = capacity;
    return true;
}

bool pm_command_use(struct pm_command *command, struct pm_variant *variant, uint32_t calls)
{
    /* The latest first: the same pipeline is often drawn with many times in a row. */
    for (uint32_t i = command->use_count; i-- > 0;) {
        if (command->uses[i].variant == variant) {
            command->uses[i].calls += calls;
            pm_variant_release(variant);
            return true;
        }
    }
    if (!reserve_use(command))
        return false;
    if (command->use_count == 0)
        atomic_fetch_add(&command->device->sampling->holding, 1);
    command->uses[command->use_count++] = (struct pm_use){variant, calls};
    return true;
}

/* The primary counts and holds what its secondaries name, so that a submission looks at primaries
 * only, and a secondary that is reset first takes nothing away from a primary that the GPU still
 * runs. */
static void take_uses(struct pm_command *primary, const struct pm_command *secondary)
{
    for (uint32_t i = 0; i < secondary->use_count; i++) {
        const struct pm_use use = secondary->uses[i];
        pm_variant_reference(use.variant);
        /* Out of memory: the reference is never given back, which is safe; only these calls go
         * uncounted. */
        pm_command_use(primary, use.variant, use.calls);
    }
}

void pm_command_execute(struct pm_command *primary, uint32_t count, const VkCommandBuffer *buffers)
{
    primary->touched = true;
    /* What was bound is undefined from here on, and what ran is not known. */
    if (primary->pass.place != PM_PLACE_OUTSIDE)
        primary->pass.place = PM_PLACE_PASS;
    primary->pass.executed = true;
    for (int i = 0; i < PM_BIND_POINTS; i++)
        primary->bound[i].pipeline = NULL;
    pm_pushed_forget(&primary->pushed);
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(primary->device->sampling, buffers[i]);
        if (secondary == NULL)
            continue;
        if (secondary->scene != PM_SCENE_NONE)
            primary->scene = secondary->scene;
        take_uses(primary, secondary);
    }
}
