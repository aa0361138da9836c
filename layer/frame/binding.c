#include "layer/frame/binding.h"

#include "layer/frame/put_off.h"
#include "layer/shader/variant_make.h"

/* What may be bound in the recording at the place, but for what is bound there. */
static uint32_t allowed_at(const struct pm_command *command, enum pm_condition place)
{
    uint32_t active = command->active;
    if (command->active_queries > 0)
        active |= PM_CONDITION(PM_ACTIVE_QUERY);
    if (atomic_load_explicit(&command->device->lost, memory_order_relaxed))
        active |= PM_CONDITION(PM_ACTIVE_LOST);
    return pm_may_bind_table[command->recording] & pm_may_bind_table[place] & pm_may_bind(active);
}

void pm_binding_catch_up(struct pm_command *command)
{
    struct pm_lately *lately = &command->lately;
    for (int point = 0; point < PM_BIND_POINTS; point++) {
        const uint64_t game = lately->game[point], now = lately->now[point];
        if (game != 0)
            pm_binding_set(&command->bound[point],
                           pm_pipeline_find(command->device, PM_TO_HANDLE(VkPipeline, game)), game,
                           now, 0);
        lately->game[point] = 0;
    }
    command->plain_points = 0;
    /* Where it is begun again what is bound is to be forgotten. */
    command->touched = true;
}

uint32_t pm_binding_allowed(const struct pm_command *command, int point)
{
    const uint32_t allowed =
        allowed_at(command, point == PM_COMPUTE ? PM_PLACE_DISPATCH : command->pass.place);
    return command->bound[point].pipeline != NULL
               ? allowed
               : allowed & pm_may_bind_table[PM_ACTIVE_OTHER_SHADERS];
}

bool pm_binding_may_try(const struct pm_command *command, enum pm_condition place)
{
    return (allowed_at(command, place) & (PM_BINDING_TRIAL_CALL | PM_BINDING_TRIAL_PASS)) != 0;
}

uint64_t pm_binding_proven(const struct pm_device *device, const struct pm_command *command,
                           int point, struct pm_pipeline *pipeline)
{
    const bool careful = pm_binds_any(device, PM_BINDS_CAREFUL);
    const uint32_t allowed =
        command == NULL
            ? pm_may_bind(PM_CONDITION(careful ? PM_RECORDING_UNKNOWN : PM_RECORDING_UNTRACKED))
            : allowed_at(command, point == PM_COMPUTE ? PM_PLACE_DISPATCH : command->pass.place);
    /* What could see a variant may begin anywhere, and then it must go. */
    if ((allowed & PM_BINDING_PROVEN) == 0 || (careful && pm_pipeline_stands_itself(pipeline)))
        return 0;
    struct pm_optimized *folded = command != NULL ? pm_optimize_folded(pipeline) : NULL;
    if (folded != NULL && pm_binding_fits(command, point, &folded->watch))
        return pm_optimize_use(folded);
    return pm_optimize_best(pipeline);
}

/* What stands is bound. */
static void uncover(struct pm_command *command, int point)
{
    struct pm_bound *bound = &command->bound[point];
    pm_pushed_disarm(&command->pushed);
    bound->now = bound->standing;
    bound->kind = bound->now != bound->game ? PM_BINDING_PROVEN : PM_BINDING_GAME;
    bound->cover = NULL;
    bound->passes = NULL;
    pm_binding_bind(command, point);
}

/* Whether another is to be bound by what was pushed. */
static bool is_outdated(const struct pm_command *command, int point)
{
    const struct pm_bound *bound = &command->bound[point];
    if (bound->pipeline == NULL)
        return false;
    return (bound->kind & (PM_BINDING_PROVEN | PM_BINDING_GAME)) != 0
               ? bound->now != bound->standing
               : bound->cover != NULL && !pm_binding_fits(command, point, bound->cover);
}

static void stand_again(struct pm_command *command, int point)
{
    struct pm_bound *bound = &command->bound[point];
    if (bound->pipeline == NULL || bound->watch == 0)
        return;
    const uint32_t binds = atomic_load_explicit(&command->device->binds, memory_order_relaxed);
    const uint64_t best = (binds & PM_BINDS_PROVEN) != 0
                              ? pm_binding_proven(command->device, command, point, bound->pipeline)
                              : 0;
    bound->standing = best != 0 ? best : bound->game;
    if (!is_outdated(command, point))
        return;
    if (pm_binding_may_be_again(command, point))
        uncover(command, point);
    else
        pm_put_off_begin(command);
}

void pm_binding_pushed(struct pm_command *command)
{
    for (int point = 0; point < PM_BIND_POINTS; point++)
        stand_again(command, point);
}

/* The bind point at which alone a variant watches what is pushed; NULL: none does, or *more. */
static struct pm_bound *find_watching(struct pm_command *command, bool *more)
{
    struct pm_bound *found = NULL;
    *more = false;
    for (int point = 0; point < PM_BIND_POINTS; point++) {
        struct pm_bound *bound = &command->bound[point];
        if (bound->pipeline == NULL || bound->watch == 0)
            continue;
        *more = found != NULL;
        found = bound;
    }
    return *more ? NULL : found;
}

void pm_binding_arm(struct pm_command *command)
{
    bool more;
    pm_pushed_disarm(&command->pushed);
    const struct pm_bound *bound = find_watching(command, &more);
    if (command->recording != PM_RECORDING_TRACKED || more)
        return;
    const struct pm_optimized *folded = bound != NULL ? pm_optimize_folded(bound->pipeline) : NULL;
    const bool fits = pm_pushed_arm(&command->pushed, folded != NULL ? &folded->watch : NULL);
    /* What is bound must stand by nothing but what is pushed. */
    if (folded != NULL &&
        (bound->now != bound->standing || (bound->now == folded->built.handle) != fits))
        pm_pushed_disarm(&command->pushed);
}

/* A push has turned what fits (pm_pushed_turns). */
static void turn(struct pm_command *command)
{
    bool more;
    struct pm_bound *bound = find_watching(command, &more);
    const int point = bound == &command->bound[PM_COMPUTE] ? PM_COMPUTE : PM_GRAPHICS;
    struct pm_pushed *pushed = &command->pushed;
    struct pm_optimized *folded = bound != NULL ? pm_optimize_folded(bound->pipeline) : NULL;
    const bool fitted = folded != NULL && bound->now == folded->built.handle;
    const uint32_t binds = atomic_load_explicit(&command->device->binds, memory_order_relaxed);
    if (folded == NULL || (binds & PM_BINDS_PROVEN) == 0 ||
        (pm_binding_allowed(command, point) & PM_BINDING_PROVEN) == 0 ||
        !pm_binding_may_be_again(command, point)) {
        pm_pushed_disarm(pushed);
        pm_binding_pushed(command);
        return;
    }
    uint64_t standing = fitted ? pm_optimize_best(bound->pipeline) : pm_optimize_use(folded);
    if (standing == 0)
        standing = bound->game;
    bound->standing = bound->now = standing;
    bound->kind = standing != bound->game ? PM_BINDING_PROVEN : PM_BINDING_GAME;
    pushed->stays ^= 0xffff;
    pm_binding_bind(command, point);
}

/* Takes the words of a push the long way; whether any that are watched may have changed. */
static bool take(struct pm_command *command, const struct pm_push *push)
{
    struct pm_pushed *pushed = &command->pushed;
    const bool other = pm_push_is_other(pushed, push);
    if (other)
        pm_pushed_change(pushed, &command->device->pipelines->push_layouts, push);
    const uint64_t mask = pm_push_mask(push->offset, push->size) & pushed->wanted;
    if (mask != 0)
        pm_pushed_put(pushed, push, mask);
    return (mask & command->watched) != 0 || (other && command->watched != 0);
}

bool pm_binding_push(struct pm_command *command, const struct pm_push *push)
{
    struct pm_pushed *pushed = &command->pushed;
    if (pushed->wanted == 0 || pm_pushed_quick(pushed, push) || pm_pushed_beside(pushed, push))
        return false;
    if (pm_pushed_turns(pushed, push)) {
        turn(command);
        return true;
    }
    const bool watched = take(command, push);
    if (watched)
        pm_binding_pushed(command);
    if (pushed->stays == 0)
        pm_binding_arm(command);
    return watched;
}

void pm_binding_cover(struct pm_command *command, int point, enum pm_binding kind, uint64_t variant,
                      const struct pm_watch *watch)
{
    pm_pushed_disarm(&command->pushed);
    command->bound[point].now = variant;
    command->bound[point].kind = kind;
    command->bound[point].cover = watch;
    command->bound[point].passes = NULL;
}

/* With the set that it is linked to, which must be bound together (shader_object.h). */
static void bind_object(const struct pm_command *command, const struct pm_bound *bound)
{
    const struct pm_pipeline *pipeline = bound->pipeline;
    const struct pm_built *built = bound->kind == PM_BINDING_INSTRUMENTED ? bound->built : NULL;
    VkShaderStageFlagBits stages[1 + PM_LIBRARY_DEPTH] = {pipeline->object->stage};
    VkShaderEXT shaders[1 + PM_LIBRARY_DEPTH] = {PM_TO_HANDLE(VkShaderEXT, bound->now)};
    for (uint32_t i = 0; i < pipeline->library_count; i++) {
        const struct pm_pipeline *other = pipeline->libraries[i];
        stages[1 + i] = other->object->stage;
        shaders[1 + i] =
            built != NULL ? built->linked[i] : PM_TO_HANDLE(VkShaderEXT, other->handle);
    }
    command->device->dispatch.CmdBindShadersEXT(command->handle, 1 + pipeline->library_count,
                                                stages, shaders);
}

void pm_binding_bind(const struct pm_command *command, int point)
{
    static const VkPipelineBindPoint points[PM_BIND_POINTS] = {
        [PM_GRAPHICS] = VK_PIPELINE_BIND_POINT_GRAPHICS,
        [PM_COMPUTE] = VK_PIPELINE_BIND_POINT_COMPUTE,
    };
    const struct pm_bound *bound = &command->bound[point];
    if (bound->pipeline->object != NULL)
        bind_object(command, bound);
    else
        command->device->dispatch.CmdBindPipeline(command->handle, points[point],
                                                  PM_TO_HANDLE(VkPipeline, bound->now));
}

static void put_back_at(struct pm_command *command, int point, uint32_t ended)
{
    struct pm_bound *bound = &command->bound[point];
    if (bound->pipeline == NULL || bound->kind == PM_BINDING_GAME)
        return;
    pm_pushed_disarm(&command->pushed);
    if ((bound->kind & ended) == 0 || bound->standing != bound->game) {
        const uint32_t stays = pm_binding_allowed(command, point) & ~ended;
        if ((bound->kind & stays) != 0)
            return;
        if ((stays & PM_BINDING_PROVEN) == 0)
            bound->standing = bound->game;
    }
    uncover(command, point);
}

/* One of a kind that has not ended may not be bound again where it has outlived its render pass
 * instance (pm_trial_pass_ended), or was bound before there were queries that see it, or a pipeline
 * that leaves more states (dynamic_states.h). It waits for a bind, or where a query must not see it
 * for a draw: the game may have set states for what it binds next, which another bind would unset.
 */
void pm_binding_put_back(struct pm_command *command, uint32_t ended)
{
    for (int point = 0; point < PM_BIND_POINTS; point++)
        if ((command->bound[point].kind & ended) != 0 || pm_binding_may_be_again(command, point))
            put_back_at(command, point, ended);
}

/* Whether a query sees what is bound for draws, though it must not. */
static bool is_seen(const struct pm_command *command)
{
    const struct pm_bound *bound = &command->bound[PM_GRAPHICS];
    return command->active_queries > 0 && bound->pipeline != NULL &&
           (bound->kind & pm_binding_allowed(command, PM_GRAPHICS)) == 0;
}

void pm_binding_put_back_at_draw(struct pm_command *command)
{
    struct pm_bound *bound = &command->bound[PM_GRAPHICS];
    if ((command->active & PM_CONDITION(PM_ACTIVE_TRANSFORM_FEEDBACK)) != 0)
        return;
    const uint32_t allowed = pm_binding_allowed(command, PM_GRAPHICS);
    if ((allowed & PM_BINDING_PROVEN) == 0)
        bound->standing = bound->game;
    if (bound->pipeline != NULL &&
        ((bound->kind & allowed) == 0 || is_outdated(command, PM_GRAPHICS)))
        uncover(command, PM_GRAPHICS);
    pm_command_put_off_ends(command);
}

void pm_binding_obstacle_begins(struct pm_command *command, enum pm_condition condition)
{
    if (condition == PM_ACTIVE_QUERY)
        command->active_queries++;
    else
        command->active |= PM_CONDITION(condition);
    pm_binding_put_back(command, 0);
    /* Other values may be pushed while it is active, and draws in it are this pipeline's. */
    if (condition == PM_ACTIVE_TRANSFORM_FEEDBACK && command->bound[PM_GRAPHICS].watch != 0)
        put_back_at(command, PM_GRAPHICS, 0);
    if (is_seen(command))
        pm_put_off_begin(command);
    if (command->pass.place != PM_PLACE_OUTSIDE) {
        command->pass.place = PM_PLACE_PASS;
        command->pass.unknown = true;
    }
}

void pm_binding_generated_begins(struct pm_command *command, int point)
{
    command->active |= PM_CONDITION(PM_ACTIVE_GENERATED_COMMANDS);
    put_back_at(command, point, 0);
    pm_binding_obstacle_begins(command, PM_ACTIVE_GENERATED_COMMANDS);
}

void pm_binding_obstacle_ends(struct pm_command *command, enum pm_condition condition)
{
    for (int point = 0; point < PM_BIND_POINTS; point++)
        command->bound[point].own = true;
    if (condition != PM_ACTIVE_QUERY)
        command->active &= ~PM_CONDITION(condition);
    else if (command->active_queries > 0 && --command->active_queries == 0 &&
             !is_outdated(command, PM_GRAPHICS))
        pm_command_put_off_ends(command);
}

void pm_binding_sample_pushed(struct pm_command *command, int point)
{
    pm_pushed_disarm(&command->pushed);
    const struct pm_pipeline *pipeline = command->bound[point].pipeline;
    if (pipeline != NULL &&
        pm_pipeline_sample_pushed(pipeline, command->pushed.words,
                                  pm_pushed_known(&command->pushed, point, pipeline->push_ranges)))
        atomic_store(&command->device->constants.any, true);
}

bool pm_binding_may_sample(const struct pm_command *command, int point)
{
    return (pm_binding_allowed(command, point) & PM_BINDING_INSTRUMENTED) != 0;
}

/* NULL is allowed for the variant. */
static const struct pm_built *name(struct pm_command *command, struct pm_variant *variant,
                                   uint32_t calls, uint32_t *use)
{
    if (variant == NULL)
        return NULL;
    /* Once it is in the list another thread cannot take it away, but the list may hold the only
     * reference. */
    if (pm_command_use(command, variant, calls, use))
        return &variant->built;
    pm_variant_release(variant);
    return NULL;
}

const struct pm_built *pm_binding_take(struct pm_command *command, int point, uint32_t *use)
{
    return name(command, pm_pipeline_sample_kept(command->bound[point].pipeline), 0, use);
}

/* A variant for the next call, of a recording that holds no calls twice: it was chosen, or is taken
 * for what its shader is owed. */
static const struct pm_built *take_one(struct pm_command *command, int point, bool chosen)
{
    struct pm_sampling *sampling = command->device->sampling;
    struct pm_pipeline *pipeline = command->bound[point].pipeline;
    struct pm_owing owing = {.when = pm_sampling_when(sampling)};
    struct pm_variant *variant =
        chosen ? pm_pipeline_sample(pipeline, command->owes ? &owing : NULL)
               : pm_pipeline_sample_owed(pipeline, &owing, pm_random_next(&command->random));
    if (owing.any)
        pm_sampling_owe(sampling, owing.when);
    return name(command, variant, 1, NULL);
}

void pm_binding_instrument(struct pm_command *command, int point, const struct pm_built *variant)
{
    command->bound[point].built = variant;
    pm_binding_cover(command, point, PM_BINDING_INSTRUMENTED, variant->handle, NULL);
    pm_binding_bind(command, point);
}

/* Whether the next call can be taken for what its shader is owed. */
static bool may_be_owed(const struct pm_command *command, int point)
{
    const struct pm_pipeline *pipeline = command->bound[point].pipeline;
    return pipeline != NULL && atomic_load_explicit(&pipeline->variants, memory_order_relaxed) != 0;
}

bool pm_binding_lets_by(struct pm_command *command, int point)
{
    if (command->recording != PM_RECORDING_SAMPLED || command->predicated != NULL ||
        command->behind != 0 || command->put_off || command->times <= 1 ||
        may_be_owed(command, point))
        return false;
    if (pm_random_unit(&command->random) * command->times < 1) {
        command->times = 1;
        return false;
    }
    pm_command_count_down(command);
    return true;
}

void pm_binding_sample(struct pm_command *command, int point)
{
    const bool chosen =
        command->times <= 1 || pm_random_unit(&command->random) * command->times < 1;
    if (chosen)
        pm_binding_sample_pushed(command, point);
    if ((chosen || may_be_owed(command, point)) && pm_binding_may_sample(command, point)) {
        const struct pm_built *variant = take_one(command, point, chosen);
        if (variant != NULL)
            pm_binding_instrument(command, point, variant);
    }
    pm_command_count_down(command);
}
