/* The hooks of what is bound and active in a recording (binding.h): pipelines, shader objects,
 * transform feedback; queries are in query_hooks.c. */
#include "layer/core/trace.h"
#include "layer/frame/binding.h"
#include "layer/frame/passes_run.h"
#include "layer/frame/predicated.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/optimize.h"
#include "layer/trial/ab.h"
#include "layer/trial/trial.h"

static inline __attribute__((always_inline)) void learn(struct pm_pipeline *known)
{
    if (known != NULL)
        pm_optimize_learn(known);
}

/* What to bind when the game binds something, NULL where it has no variants. command NULL: its
 * recording is not tracked. */
static uint64_t stand_tracked(struct pm_device *device, struct pm_command *command, int index,
                              uint64_t game, struct pm_pipeline *known)
{
    const uint64_t standing = pm_binding_stand(device, command, index, game, known);
    learn(known);
    if (command != NULL && command->predicated != NULL)
        pm_predicated_bound(command, index);
    if (standing != game) {
        pm_ab_bound(device->ab);
        pm_trace_count(device->trace, PM_TRACE_SPECIALIZED);
    }
    if (command != NULL && index == PM_COMPUTE)
        pm_passes_count_down(command);
    if (command == NULL || command->recording != PM_RECORDING_TIMED)
        return standing;
    pm_trial_bind(command, index);
    return command->bound[index].now;
}

/* What to bind where nobody knows the recording, and nobody has found out. */
static __attribute__((noinline)) uint64_t find_best(struct pm_device *device,
                                                    struct pm_pipeline *known)
{
    pm_optimize_notice(known);
    const uint64_t best = pm_optimize_best(known);
    learn(known);
    if (best == 0)
        return known->handle;
    pm_ab_bound(device->ab);
    pm_trace_count(device->trace, PM_TRACE_SPECIALIZED);
    return best;
}

/* Apart, so that a bind that stands alone saves no registers. */
static __attribute__((noinline)) void
bind_standing(struct pm_device *device, VkCommandBuffer handle, VkPipelineBindPoint point,
              VkPipeline pipeline, struct pm_command *command, struct pm_pipeline *known)
{
    const uint64_t bound =
        stand_tracked(device, command, pm_bind_point_index(point), PM_BITS(pipeline), known);
    device->dispatch.CmdBindPipeline(handle, point, PM_TO_HANDLE(VkPipeline, bound));
}

/* The best of what may stand anywhere. */
static inline void bind_best_of(struct pm_device *device, VkCommandBuffer handle,
                                VkPipelineBindPoint point, VkPipeline pipeline,
                                struct pm_pipeline *known, uint32_t binds)
{
    uint64_t bound = PM_BITS(pipeline);
    if (known != NULL && (binds & PM_BINDS_STAND) == PM_BINDS_STAND) {
        const uint64_t stands = atomic_load_explicit(&known->stands.now, memory_order_acquire);
        bound = stands != 0 ? stands : find_best(device, known);
        if (stands != 0)
            learn(known); /* another table has come (standing.h) */
    } else if (known != NULL && (binds & PM_BINDS_NOTICED) != 0)
        pm_optimize_notice(known);
    device->dispatch.CmdBindPipeline(handle, point, PM_TO_HANDLE(VkPipeline, bound));
}

/* While recordings may be tracked. */
static __attribute__((noinline)) void bind_tracked(struct pm_device *device, VkCommandBuffer handle,
                                                   VkPipelineBindPoint point, VkPipeline pipeline,
                                                   uint32_t binds)
{
    struct pm_command *command = pm_command_tracked_by(device, handle, binds);
    const int index = pm_bind_point_index(point);
    if (index < PM_BIND_POINTS) {
        struct pm_pipeline *known = pm_pipeline_find(device, pipeline);
        learn(known);
        if (command == NULL && (binds & PM_BINDS_CAREFUL) == 0) {
            bind_best_of(device, handle, point, pipeline, known, binds);
            return;
        }
        if (command == NULL ||
            !pm_binding_stand_alone(binds, command, index, PM_BITS(pipeline), known)) {
            bind_standing(device, handle, point, pipeline, command, known);
            return;
        }
        if (PM_UNLIKELY(command->predicated != NULL))
            pm_predicated_bound(command, index);
        pipeline = PM_TO_HANDLE(VkPipeline, command->bound[index].now);
    }
    device->dispatch.CmdBindPipeline(handle, point, pipeline);
}

static __attribute__((noinline)) void bind_best(struct pm_device *device, VkCommandBuffer handle,
                                                VkPipelineBindPoint point, VkPipeline pipeline,
                                                uint32_t binds)
{
    bind_best_of(device, handle, point, pipeline, pm_pipeline_find(device, pipeline), binds);
}

/* While there are variants for what is pushed, and nothing else to track recordings for: the record
 * says what is bound at a bind point as long as the one or the other has such a variant. */
static __attribute__((noinline)) void bind_watched(struct pm_device *device, VkCommandBuffer handle,
                                                   VkPipelineBindPoint point, VkPipeline pipeline,
                                                   uint32_t binds)
{
    const int index = pm_bind_point_index(point);
    struct pm_command *command = pm_command_of(device->sampling, handle);
    struct pm_pipeline *known = pm_pipeline_find(device, pipeline);
    const bool watched = known != NULL && pm_optimize_watched(known) != 0;
    if (command == NULL || index == PM_BIND_POINTS ||
        (!watched && command->bound[index].pipeline == NULL)) {
        bind_best_of(device, handle, point, pipeline, known, binds);
        return;
    }
    command->touched = true;
    bind_standing(device, handle, point, pipeline, command, known);
    if (!watched)
        command->bound[index].pipeline = NULL;
}

/* When there are several devices. */
static __attribute__((noinline)) void bind_any(VkCommandBuffer handle, VkPipelineBindPoint point,
                                               VkPipeline pipeline)
{
    struct pm_device *device = pm_device_of(handle);
    bind_tracked(device, handle, point, pipeline,
                 atomic_load_explicit(&device->binds, memory_order_relaxed));
}

/* What makes binds go where records say what is bound. Both come while recordings are open, and a
 * recording must not say what is bound by one bind and miss the next: a bind, however long its way
 * becomes, has the bits of the way that it has found, and each that follows in the recording finds
 * the same way or a later one. */
enum { SAID = PM_BINDS_CAREFUL | PM_BINDS_WATCHED };

/* Of the one device, in a window or where it is not known what stands. said: bits of SAID. */
static __attribute__((noinline)) void
bind_looking(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline, uint32_t said)
{
    struct pm_device *device = pm_one.device;
    const uint32_t binds =
        (atomic_load_explicit(&device->binds, memory_order_relaxed) & ~(uint32_t)SAID) | said;
    if ((binds & (PM_BINDS_ARMED | PM_BINDS_CAREFUL)) != 0)
        bind_tracked(device, handle, point, pipeline, binds);
    else if ((binds & PM_BINDS_WATCHED) != 0)
        bind_watched(device, handle, point, pipeline, binds);
    else
        bind_best(device, handle, point, pipeline, binds);
}

/* Where there is no shorter way. */
#define LOOKING(name, said)                                                                        \
    static VKAPI_ATTR void VKAPI_CALL bind_looking##name(                                          \
        VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline)                    \
    {                                                                                              \
        bind_looking(handle, point, pipeline, said);                                               \
    }
LOOKING(_plainly, 0)
LOOKING(_carefully, PM_BINDS_CAREFUL)
LOOKING(_watched, PM_BINDS_WATCHED)
LOOKING(_at_all, SAID)

/* What the device's table says of the pipeline; NULL: nothing. */
static PM_FAST inline __attribute__((always_inline)) const struct pm_standing_slot *
find_standing(const struct pm_device *device, VkPipeline pipeline)
{
    return pm_standing_find(PM_READ(const struct pm_standing_table *, device->stands),
                            PM_BITS(pipeline));
}

/* The same as bind_watched in fewer instructions, behind pushes that go the short way. */
static __attribute__((noinline)) void bind_pushed(VkCommandBuffer handle, VkPipelineBindPoint point,
                                                  VkPipeline pipeline, struct pm_command *command)
{
    struct pm_device *device = pm_one.device;
    struct pm_pipeline *known = pm_pipeline_find(device, pipeline);
    const int index = pm_bind_point_index(point);
    if (command == NULL)
        command = pm_lookup_find(pm_one.commands, PM_KEY(handle));
    if (known == NULL || command == NULL || index == PM_BIND_POINTS ||
        !pm_binding_stand_watched(command, index, PM_BITS(pipeline), known)) {
        bind_looking(handle, point, pipeline, PM_BINDS_WATCHED);
        return;
    }
    device->dispatch.CmdBindPipeline(handle, point,
                                     PM_TO_HANDLE(VkPipeline, command->bound[index].now));
}

/* The same where what was bound had such a variant, and what is bound now has none: with what is
 * then known of pushes, as long as the short way for these stays open. */
static __attribute__((noinline)) void
bind_behind_watched(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline,
                    struct pm_command *command, uint64_t stands)
{
    if (pm_binding_stand_watched(command, pm_bind_point_index(point), PM_BITS(pipeline), NULL))
        command->device->dispatch.CmdBindPipeline(handle, point, PM_TO_HANDLE(VkPipeline, stands));
    else
        bind_looking(handle, point, pipeline, PM_BINDS_WATCHED);
}

/* While there are such variants: of what has none, what stands for it. */
static PM_FAST VKAPI_ATTR void VKAPI_CALL bind_unwatched(VkCommandBuffer handle,
                                                         VkPipelineBindPoint point,
                                                         VkPipeline pipeline)
{
    const struct pm_device *device = pm_one.device;
    struct pm_command *command = pm_glance_at(handle);
    const struct pm_standing_slot *slot = find_standing(device, pipeline);
    const uint32_t index = (uint32_t)point;
    if (PM_UNLIKELY(command == NULL || index >= PM_BIND_POINTS) || PM_UNLIKELY(slot == NULL)) {
        bind_pushed(handle, point, pipeline, command);
        return;
    }
    const uint64_t stands = PM_READ(uint64_t, slot->stands);
    if (PM_UNLIKELY(command->bound[index].pipeline != NULL)) {
        bind_behind_watched(handle, point, pipeline, command, stands);
        return;
    }
    device->dispatch.CmdBindPipeline(handle, point, PM_TO_HANDLE(VkPipeline, stands));
}

/* In a recording that holds calls twice, behind what is bound with another chance. */
static __attribute__((noinline)) void bind_kept(VkCommandBuffer handle, VkPipelineBindPoint point,
                                                VkPipeline bound, struct pm_command *command)
{
    pm_predicated_bound(command, pm_bind_point_index(point));
    command->device->dispatch.CmdBindPipeline(handle, point, bound);
}

/* What stands for the pipeline. careful: pm_binding_stand_as. */
static PM_FAST inline __attribute__((always_inline)) uint64_t
stands_of(const struct pm_standing_slot *slot, bool careful)
{
    return careful ? PM_READ(uint64_t, slot->careful) : PM_READ(uint64_t, slot->stands);
}

/* The same as bind_tracked in few instructions, while nothing else is to be looked at. */
static PM_FAST inline __attribute__((always_inline)) void
bind_noted(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline,
           struct pm_command *command, bool careful)
{
    struct pm_device *device = pm_one.device;
    const struct pm_standing_slot *slot = find_standing(device, pipeline);
    const uint32_t index = (uint32_t)point;
    /* Of one that takes no part nothing is known, unless it is of all. */
    if (!careful && slot != NULL && command != NULL && command->recording == PM_RECORDING_TRACKED) {
        device->dispatch.CmdBindPipeline(handle, point,
                                         PM_TO_HANDLE(VkPipeline, stands_of(slot, false)));
        return;
    }
    if (PM_UNLIKELY(slot == NULL || command == NULL || index >= PM_BIND_POINTS) ||
        !pm_binding_stand_as(command, (int)index, PM_BITS(pipeline), stands_of(slot, careful),
                             PM_READ(struct pm_pipeline *, slot->pipeline), careful)) {
        bind_looking(handle, point, pipeline, careful ? (uint32_t)PM_BINDS_CAREFUL : 0);
        return;
    }
    pipeline = PM_TO_HANDLE(VkPipeline, command->bound[index].now);
    if (command->predicated != NULL &&
        pm_predicated_changes(command, index, command->bound[index].pipeline)) {
        bind_kept(handle, point, pipeline, command);
        return;
    }
    device->dispatch.CmdBindPipeline(handle, point, pipeline);
}

static PM_FAST __attribute__((noinline)) void bind_first(VkCommandBuffer handle,
                                                         VkPipelineBindPoint point,
                                                         VkPipeline pipeline,
                                                         struct pm_command *command)
{
    bind_noted(handle, point, pipeline, command, false);
}

static PM_FAST __attribute__((noinline)) void bind_first_carefully(VkCommandBuffer handle,
                                                                   VkPipelineBindPoint point,
                                                                   VkPipeline pipeline,
                                                                   struct pm_command *command)
{
    bind_noted(handle, point, pipeline, command, true);
}

/* What is bound goes to two words of the record, and is bound. The words one by one, so that the
 * second is read where the call wants it. */
static PM_FAST inline __attribute__((always_inline)) void
bind_lately(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline,
            struct pm_command *command, const struct pm_standing_slot *slot, bool careful)
{
    const struct pm_device *device = pm_one.device;
    const uint32_t index = (uint32_t)point;
    command->lately.game[index] = PM_BITS(pipeline);
    __asm__("" ::: "memory");
    pipeline = PM_TO_HANDLE(VkPipeline, stands_of(slot, careful));
    command->lately.now[index] = PM_BITS(pipeline);
    device->dispatch.CmdBindPipeline(handle, point, pipeline);
}

/* The same in a recording that holds calls twice: where their chance becomes another one, the
 * record must say what is bound. */
static PM_FAST inline __attribute__((always_inline)) void
bind_lately_twice(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline,
                  struct pm_command *command, const struct pm_standing_slot *slot, bool careful)
{
    struct pm_pipeline *known = PM_READ(struct pm_pipeline *, slot->pipeline);
    const uint32_t index = (uint32_t)point;
    if (PM_UNLIKELY(pm_predicated_changes(command, index, known))) {
        const uint64_t stands = stands_of(slot, careful);
        command->lately.game[index] = 0;
        pm_binding_set(&command->bound[index], known, PM_BITS(pipeline), stands, 0);
        bind_kept(handle, point, PM_TO_HANDLE(VkPipeline, stands), command);
        return;
    }
    bind_lately(handle, point, pipeline, command, slot, careful);
}

static PM_FAST __attribute__((noinline)) void
bind_lately_kept(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline,
                 struct pm_command *command, const struct pm_standing_slot *slot)
{
    bind_lately_twice(handle, point, pipeline, command, slot, false);
}

static PM_FAST __attribute__((noinline)) void
bind_lately_kept_carefully(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline,
                           struct pm_command *command, const struct pm_standing_slot *slot)
{
    bind_lately_twice(handle, point, pipeline, command, slot, true);
}

/* While hooks are armed, or every recording is tracked (careful), in windows or not: where nothing
 * else is done in it but to bind and to draw. */
static PM_FAST inline __attribute__((always_inline)) void bind_plain(VkCommandBuffer handle,
                                                                     VkPipelineBindPoint point,
                                                                     VkPipeline pipeline,
                                                                     bool armed, bool careful)
{
    struct pm_command *command = pm_glance_at(handle);
    const struct pm_standing_slot *slot;
    if (PM_UNLIKELY(command == NULL || (uint32_t)point >= command->plain_points) ||
        PM_UNLIKELY((slot = find_standing(pm_one.device, pipeline)) == NULL)) {
        if (careful)
            bind_first_carefully(handle, point, pipeline, command);
        else
            bind_first(handle, point, pipeline, command);
        return;
    }
    if (!armed || command->predicated == NULL)
        bind_lately(handle, point, pipeline, command, slot, careful);
    else if (careful)
        bind_lately_kept_carefully(handle, point, pipeline, command, slot);
    else
        bind_lately_kept(handle, point, pipeline, command, slot);
}

static PM_FAST VKAPI_ATTR void VKAPI_CALL bind_sampled(VkCommandBuffer handle,
                                                       VkPipelineBindPoint point,
                                                       VkPipeline pipeline)
{
    bind_plain(handle, point, pipeline, true, false);
}

static PM_FAST VKAPI_ATTR void VKAPI_CALL bind_careful(VkCommandBuffer handle,
                                                       VkPipelineBindPoint point,
                                                       VkPipeline pipeline)
{
    bind_plain(handle, point, pipeline, false, true);
}

static PM_FAST VKAPI_ATTR void VKAPI_CALL bind_sampled_carefully(VkCommandBuffer handle,
                                                                 VkPipelineBindPoint point,
                                                                 VkPipeline pipeline)
{
    bind_plain(handle, point, pipeline, true, true);
}

/* Outside windows, where nobody asks what is bound. */
static PM_FAST VKAPI_ATTR void VKAPI_CALL bind_what_stands(VkCommandBuffer handle,
                                                           VkPipelineBindPoint point,
                                                           VkPipeline pipeline)
{
    const struct pm_device *device = pm_one.device;
    const struct pm_standing_slot *slot = find_standing(device, pipeline);
    if (PM_UNLIKELY(slot == NULL)) {
        bind_looking(handle, point, pipeline, 0);
        return;
    }
    pipeline = PM_TO_HANDLE(VkPipeline, PM_READ(uint64_t, slot->stands));
    device->dispatch.CmdBindPipeline(handle, point, pipeline);
}

PFN_vkCmdBindPipeline pm_bind_way(const struct pm_device *device, uint32_t binds)
{
    switch (binds) {
    case 0:
        return device->dispatch.CmdBindPipeline;
    case PM_BINDS_STAND:
        return bind_what_stands;
    case PM_BINDS_CAREFUL | PM_BINDS_STAND:
        return bind_careful;
    case PM_BINDS_ARMED | PM_BINDS_CAREFUL | PM_BINDS_STAND:
        return bind_sampled_carefully;
    case PM_BINDS_ARMED:
    case PM_BINDS_ARMED | PM_BINDS_STAND:
        return bind_sampled;
    case PM_BINDS_WATCHED | PM_BINDS_STAND:
        return device->ab == NULL && device->trace == NULL ? bind_unwatched : bind_looking_watched;
    default:
        break;
    }
    switch (binds & SAID) {
    case 0:
        return bind_looking_plainly;
    case PM_BINDS_CAREFUL:
        return bind_looking_carefully;
    case PM_BINDS_WATCHED:
        return bind_looking_watched;
    default:
        return bind_looking_at_all;
    }
}

/* The bits of SAID that are of the way that the one device's binds go now. */
static PM_FAST uint32_t said_of_way(void)
{
    const PFN_vkCmdBindPipeline way = PM_READ(PFN_vkCmdBindPipeline, pm_recording_targets.bind);
    if (way == bind_careful || way == bind_sampled_carefully || way == bind_looking_carefully)
        return PM_BINDS_CAREFUL;
    if (way == bind_unwatched || way == bind_looking_watched)
        return PM_BINDS_WATCHED;
    return way == bind_looking_at_all ? SAID : 0;
}

VKAPI_ATTR PM_FAST void VKAPI_CALL pm_CmdBindPipeline(VkCommandBuffer handle,
                                                      VkPipelineBindPoint point,
                                                      VkPipeline pipeline)
{
    if (PM_UNLIKELY(!PM_IS_OF_ONE(handle))) {
        bind_any(handle, point, pipeline);
        return;
    }
    PM_READ(PFN_vkCmdBindPipeline, pm_recording_targets.bind)(handle, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBindPipelineShaderGroupNV(VkCommandBuffer handle,
                                                           VkPipelineBindPoint point,
                                                           VkPipeline pipeline, uint32_t group)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command = pm_command_tracked(device, handle);
    const int index = pm_bind_point_index(point);
    if (command != NULL && index < PM_BIND_POINTS)
        command->bound[index].pipeline = NULL;
    device->dispatch.CmdBindPipelineShaderGroupNV(handle, point, pipeline, group);
}

/* Nobody binds more stages at once than there are. */
enum { MOST_STAGES = 16 };

/* A stage of the game's is bound: what was bound at its bind point is no pipeline any more. */
static uint64_t bind_stage(struct pm_device *device, struct pm_command *command,
                           VkShaderStageFlagBits stage, VkShaderEXT shader)
{
    const int index = stage == VK_SHADER_STAGE_COMPUTE_BIT ? PM_COMPUTE : PM_GRAPHICS;
    if (stage == VK_SHADER_STAGE_COMPUTE_BIT || stage == VK_SHADER_STAGE_FRAGMENT_BIT)
        return stand_tracked(device, command, index, PM_BITS(shader),
                             pm_pipeline_find_shader(device, shader));
    struct pm_pipeline *before = command != NULL ? command->bound[index].pipeline : NULL;
    if (before != NULL && before->object == NULL)
        command->bound[index].pipeline = NULL;
    return PM_BITS(shader);
}

/* While recordings may be tracked, or binds look for variants. */
static __attribute__((noinline)) void bind_shaders(struct pm_device *device, VkCommandBuffer handle,
                                                   uint32_t count,
                                                   const VkShaderStageFlagBits *stages,
                                                   const VkShaderEXT *shaders, uint32_t binds)
{
    struct pm_command *command = pm_command_tracked_by(device, handle, binds);
    VkShaderEXT bound[MOST_STAGES];
    for (int i = 0; count > MOST_STAGES && command != NULL && i < PM_BIND_POINTS; i++)
        command->bound[i].pipeline = NULL;
    if (count > MOST_STAGES) {
        device->dispatch.CmdBindShadersEXT(handle, count, stages, shaders);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        bound[i] =
            PM_TO_HANDLE(VkShaderEXT, bind_stage(device, command, stages[i],
                                                 shaders != NULL ? shaders[i] : VK_NULL_HANDLE));
    device->dispatch.CmdBindShadersEXT(handle, count, stages, bound);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBindShadersEXT(VkCommandBuffer handle, uint32_t count,
                                                const VkShaderStageFlagBits *stages,
                                                const VkShaderEXT *shaders)
{
    if (*(const void *const *)handle != atomic_load_explicit(&pm_one_key, memory_order_acquire)) {
        struct pm_device *device = pm_device_of(handle);
        bind_shaders(device, handle, count, stages, shaders,
                     atomic_load_explicit(&device->binds, memory_order_relaxed));
        return;
    }
    struct pm_device *device = pm_one.device;
    const uint32_t binds = atomic_load_explicit(&device->binds, memory_order_relaxed);
    if (binds != 0) /* as of binds of pipelines (SAID) */
        bind_shaders(device, handle, count, stages, shaders,
                     (binds & ~(uint32_t)SAID) | said_of_way());
    else
        device->dispatch.CmdBindShadersEXT(handle, count, stages, shaders);
}

/* While it is active nothing can be bound, so not when a query begins either. */
static void feedback_begins(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = pm_command_tracked(device, handle);
    if (command != NULL)
        pm_binding_obstacle_begins(command, PM_ACTIVE_TRANSFORM_FEEDBACK);
}

static void feedback_ends(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = pm_command_tracked(device, handle);
    if (command != NULL)
        pm_binding_obstacle_ends(command, PM_ACTIVE_TRANSFORM_FEEDBACK);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginTransformFeedbackEXT(VkCommandBuffer handle, uint32_t first,
                                                           uint32_t count, const VkBuffer *buffers,
                                                           const VkDeviceSize *offsets)
{
    struct pm_device *device = pm_device_of(handle);
    feedback_begins(device, handle);
    device->dispatch.CmdBeginTransformFeedbackEXT(handle, first, count, buffers, offsets);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdEndTransformFeedbackEXT(VkCommandBuffer handle, uint32_t first,
                                                         uint32_t count, const VkBuffer *buffers,
                                                         const VkDeviceSize *offsets)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.CmdEndTransformFeedbackEXT(handle, first, count, buffers, offsets);
    feedback_ends(device, handle);
}

/* Newer than the headers (hooks.h). known: what a device that samples knows of the next layer's. */
static void feedback2(const struct pm_device *device, PFN_vkVoidFunction known, const char *name,
                      VkCommandBuffer handle, uint32_t first, uint32_t count, const void *infos)
{
    const pm_transform_feedback2 next =
        (pm_transform_feedback2)(device->sampling != NULL
                                     ? known
                                     : device->dispatch.GetDeviceProcAddr(device->handle, name));
    if (next != NULL)
        next(handle, first, count, infos);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginTransformFeedback2EXT(VkCommandBuffer handle, uint32_t first,
                                                            uint32_t count, const void *infos)
{
    struct pm_device *device = pm_device_of(handle);
    feedback_begins(device, handle);
    feedback2(device, device->sampling != NULL ? device->sampling->begin_feedback2 : NULL,
              "vkCmdBeginTransformFeedback2EXT", handle, first, count, infos);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdEndTransformFeedback2EXT(VkCommandBuffer handle, uint32_t first,
                                                          uint32_t count, const void *infos)
{
    struct pm_device *device = pm_device_of(handle);
    feedback2(device, device->sampling != NULL ? device->sampling->end_feedback2 : NULL,
              "vkCmdEndTransformFeedback2EXT", handle, first, count, infos);
    feedback_ends(device, handle);
}
