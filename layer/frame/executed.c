/* Secondary command buffers in what executes them. executed.h. */
#include "layer/frame/executed.h"

/* The primary counts and holds what its secondaries name, so that a submission looks at primaries
 * only, and a secondary that is reset first takes nothing away from a primary that the GPU still
 * runs. */
static void take_uses(struct pm_command *primary, const struct pm_command *secondary)
{
    for (uint32_t i = 0; i < secondary->use_count; i++) {
        /* What is picked changes while another primary that executes it is submitted. */
        struct pm_variant *variant = secondary->uses[i].variant;
        pm_variant_reference(variant);
        /* Out of memory: the reference is never given back, which is safe; only these calls go
         * uncounted. */
        pm_command_use(primary, variant, secondary->uses[i].calls, NULL);
    }
}

/* The record of what was executed; NULL: it is gone, or was recorded anew. */
static inline struct pm_command *record_of(const struct pm_lookup *commands,
                                           const struct pm_executed *executed)
{
    struct pm_command *command = pm_lookup_find(commands, PM_KEY(executed->handle));
    return command != NULL && command->recordings == executed->recording ? command : NULL;
}

struct pm_command *pm_executed_at(const struct pm_command *primary, uint32_t i)
{
    const struct pm_executed *executed = &primary->executed[i];
    return executed->carries ? record_of(&primary->device->sampling->commands, executed) : NULL;
}

static void submit(struct pm_command *command, uint64_t submission);

/* What it executes is part of that submission, in which it may be several times. NULL: unknown. */
static inline void submit_executed(struct pm_command *secondary, uint64_t submission)
{
    if (secondary != NULL &&
        atomic_load_explicit(&secondary->submission, memory_order_relaxed) != submission &&
        atomic_exchange_explicit(&secondary->submission, submission, memory_order_relaxed) !=
            submission)
        submit(secondary, submission);
}

/* What is only noted, of which it is whichever recording the handle has (executed.h). */
static PM_FAST void submit_noted(const struct pm_command *command, uint64_t submission)
{
    const struct pm_lookup *commands = &command->device->sampling->commands;
    const struct pm_lookup_slots *slots =
        atomic_load_explicit(&commands->slots, memory_order_acquire);
    const VkCommandBuffer *end = command->noted + command->noted_count;
    for (const VkCommandBuffer *noted = command->noted; noted != end; noted++) {
        struct pm_command *secondary = pm_lookup_glance(slots, PM_KEY(*noted));
        if (__builtin_expect(secondary == NULL, 0))
            secondary = pm_lookup_find(commands, PM_KEY(*noted));
        submit_executed(secondary, submission);
    }
}

/* The recording is part of that submission; 0: it executes nothing. */
static void submit(struct pm_command *command, uint64_t submission)
{
    const uint32_t before = atomic_fetch_add_explicit(&command->submits, 1, memory_order_relaxed);
    if (before > 0)
        pm_sampling_learn(&command->device->sampling->again);
    /* Once is enough to know that what it executes is submitted again. */
    if (before > 1)
        return;
    const struct pm_lookup *commands = &command->device->sampling->commands;
    const struct pm_executed *end = command->executed + command->executed_count;
    for (const struct pm_executed *executed = command->executed; executed != end; executed++)
        submit_executed(record_of(commands, executed), submission);
    if (command->noted_count > 0)
        submit_noted(command, submission);
}

void pm_command_submit(struct pm_command *command)
{
    struct pm_sampling *sampling = command->device->sampling;
    submit(command,
           (command->executed_count | command->noted_count) != 0
               ? atomic_fetch_add_explicit(&sampling->submission, 1, memory_order_relaxed) + 1
               : 0);
}

/* Out of memory: what it carries stays as it is, and nobody learns that it is submitted. */
static void remember(struct pm_command *primary, const struct pm_command *secondary)
{
    const bool carries = secondary->predicated != NULL || secondary->timings != PM_TIMING_NONE;
    struct pm_executed *executed = pm_command_reserve(
        primary->executed, primary->executed_count, &primary->executed_capacity, sizeof *executed);
    if (executed == NULL)
        return;
    primary->executed = executed;
    primary->carries |= carries;
    executed[primary->executed_count++] = (struct pm_executed){
        .handle = secondary->handle,
        .recording = secondary->recordings,
        .carries = carries,
    };
}

void pm_command_note_all_executed(struct pm_command *primary, uint32_t count,
                                  const VkCommandBuffer *buffers)
{
    for (uint32_t i = 0; i < count; i++) {
        VkCommandBuffer *noted = pm_command_reserve(primary->noted, primary->noted_count,
                                                    &primary->noted_capacity, sizeof(*noted));
        if (noted == NULL)
            return;
        primary->noted = noted;
        noted[primary->noted_count++] = buffers[i];
    }
}

static void execute(struct pm_command *primary, const struct pm_command *secondary)
{
    remember(primary, secondary);
    /* Secondary ones may execute others (VK_EXT_nested_command_buffer). */
    for (uint32_t i = 0; i < secondary->executed_count; i++) {
        const struct pm_command *nested = pm_executed_at(secondary, i);
        if (nested != NULL)
            remember(primary, nested);
    }
}

void pm_command_execute(struct pm_command *primary, uint32_t count, const VkCommandBuffer *buffers)
{
    if (primary->pass.place != PM_PLACE_OUTSIDE)
        primary->pass.place = PM_PLACE_PASS;
    pm_command_forget_bound(primary);
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(primary->device->sampling, buffers[i]);
        if (secondary == NULL)
            continue;
        execute(primary, secondary);
        if (secondary->scene != PM_SCENE_NONE)
            primary->scene = secondary->scene;
        take_uses(primary, secondary);
    }
}
