#include "layer/shader/optimizer.h"

#include "layer/shader/pipeline.h"
#include "layer/shader/specialized_shader.h"

void pm_optimizer_set_binds(struct pm_optimizer *optimizer)
{
    optimizer->calls.set_binds(optimizer->device, PM_BINDS_OF_VARIANTS,
                               PM_BINDS_NOTICED |
                                   (optimizer->paused ? 0 : (uint32_t)PM_BINDS_PROVEN) |
                                   (optimizer->watched ? (uint32_t)PM_BINDS_WATCHED : 0));
}

void pm_candidate_say(const struct pm_device *device, const struct pm_shader_key *game,
                      const char *recipe, const char *what)
{
    char key[PM_SHADER_KEY_TEXT];
    if (!what)
        return;
    pm_shader_key_format(game, key);
    pm_log_info(device->instance->log, "shader %.12s, specialized, %s%s", key, what, recipe);
}

void pm_candidate_log(const struct pm_device *device, const struct pm_specialized_shader *shader,
                      const char *what)
{
    char recipe[PM_SPECIALIZED_OF];
    if (!what)
        return;
    pm_specialized_say_of(shader, false, recipe);
    pm_candidate_say(device, &shader->original, recipe, what);
}

void pm_optimizer_give_back(struct pm_optimizer *optimizer, enum pm_room room)
{
    atomic_fetch_sub(&optimizer->device->pipelines->specialized[room], 1);
}

bool pm_optimizer_has_room(const struct pm_optimizer *optimizer, enum pm_room room)
{
    return atomic_load(&optimizer->device->pipelines->specialized[room]) <
           optimizer->device->instance->config.limits.variants;
}

static bool take_room(struct pm_optimizer *optimizer, enum pm_room room)
{
    if (atomic_fetch_add(&optimizer->device->pipelines->specialized[room], 1) <
        optimizer->device->instance->config.limits.variants)
        return true;
    pm_optimizer_give_back(optimizer, room);
    return false;
}

/* Instrumented variants are counted by themselves: a window must not leave nothing for these, nor
 * the other way round. And so are those of contests, most of which lose. */
bool pm_optimizer_reserve(struct pm_optimizer *optimizer, enum pm_room room)
{
    if (take_room(optimizer, room))
        return true;
    if (room == PM_ROOM_OPTIMIZED && !atomic_exchange(&optimizer->was_full, true))
        pm_log_debug(optimizer->device->instance->log,
                     "limits.variants is reached: what is bound often is specialized first, the "
                     "rest when there is room");
    return false;
}

bool pm_optimizer_move(struct pm_optimized *optimized, enum pm_room room)
{
    struct pm_device *device = optimized->pipeline->device;
    if (!pm_optimizer_reserve(device->optimizer, room))
        return false;
    pm_optimizer_give_back(device->optimizer, atomic_exchange(&optimized->room, room));
    device->pipelines->released(device);
    return true;
}

/* It keeps what names it alive, but takes no room from what may be faster; up to as many as that.
 */
void pm_optimizer_drop(struct pm_optimized *optimized)
{
    atomic_store(&optimized->candidate.dropped, true);
    pm_optimizer_move(optimized, PM_ROOM_DROPPED);
}

struct pm_candidate
pm_optimizer_candidate(const struct pm_specialized_shader *shader, uint64_t handle,
                       const char *(*verdict)(struct pm_candidate *candidate, bool faster))
{
    return (struct pm_candidate){
        .handle = handle,
        .key = shader->key,
        .original = *pm_specialized_from(shader),
        .shader = shader,
        .environment = shader->environment,
        .entry = shader->entry,
        .is_private = shader->is_private,
        .promising = shader->published == PM_TIMING_FASTER,
        .verdict = verdict,
    };
}

void pm_optimizer_offer(struct pm_optimizer *optimizer, struct pm_optimized *optimized,
                        _Atomic(struct pm_candidate *) *place)
{
    optimizer->calls.built(optimizer->device, &optimized->candidate,
                           pm_pipeline_computes(optimized->pipeline));
    atomic_store(place, &optimized->candidate);
    /* The verdict may have come meanwhile: others have the shader, too. */
    if (atomic_load(&optimized->decided))
        atomic_store(place, NULL);
}
