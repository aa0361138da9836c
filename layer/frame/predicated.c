#include "layer/frame/predicated.h"

#include "layer/frame/binding.h"
#include "layer/memory/predicates.h"
#include "layer/shader/variant_make.h"
#include <stdlib.h>
#include <string.h>

static bool grow(void *array, uint32_t count, size_t size)
{
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, count * size);
    if (grown != NULL)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

/* Room for one more call, and a word for it. false: out of memory, or of words. */
static bool reserve(struct pm_command *command)
{
    struct pm_predicated *predicated = command->predicated;
    if (predicated->count == predicated->capacity) {
        const uint32_t capacity =
            predicated->capacity > 0 ? predicated->capacity * 2 : 2 * PM_PREDICATE_BLOCK;
        if (!grow(&predicated->calls, capacity, sizeof *predicated->calls) ||
            !grow(&predicated->blocks, capacity / PM_PREDICATE_BLOCK, sizeof *predicated->blocks) ||
            !grow(&predicated->picked.calls, capacity, sizeof *predicated->picked.calls) ||
            !grow(&predicated->next.calls, capacity, sizeof *predicated->next.calls))
            return false;
        predicated->capacity = capacity;
    }
    return predicated->count % PM_PREDICATE_BLOCK != 0 ||
           pm_predicates_allocate(command->device->predicates,
                                  &predicated->blocks[predicated->count / PM_PREDICATE_BLOCK]);
}

/* The word is not needed after all. */
static void unreserve(struct pm_command *command)
{
    const struct pm_predicated *predicated = command->predicated;
    if (predicated->count % PM_PREDICATE_BLOCK == 0)
        pm_predicates_free(command->device->predicates,
                           predicated->blocks[predicated->count / PM_PREDICATE_BLOCK]);
}

static uint32_t word_of(const struct pm_predicated *predicated, uint32_t call)
{
    return predicated->blocks[call / PM_PREDICATE_BLOCK] +
           call % PM_PREDICATE_BLOCK * (uint32_t)sizeof(uint32_t);
}

/* The variant's calls run where the word is not 0, the game's where it is. */
static void begin_predicate(const struct pm_command *command, uint32_t offset, bool game)
{
    const VkConditionalRenderingBeginInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
        .buffer = pm_predicates_buffer(command->device->predicates),
        .offset = offset,
        .flags = game ? VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT : 0,
    };
    command->device->dispatch.CmdBeginConditionalRenderingEXT(command->handle, &info);
}

/* How many calls are recorded twice for each that is sampled: fewer the fewer words there are, so
 * that they last. */
static double times(const struct pm_device *device)
{
    const double used = pm_predicates_used(device->predicates);
    return used < 0.5 ? PM_PREDICATED_TIMES : used < 0.75 ? PM_PREDICATED_TIMES / 2 : 1;
}

/* What the first call of a shader or pipeline is chosen with, if that is more than others are. */
static double sure_chance(const struct pm_sampling *sampling, const struct pm_pipeline *pipeline)
{
    const double left = pm_sampling_sure_left(sampling);
    if (!atomic_load(&pm_predicated_shader(pipeline)->told))
        return 4 * left;
    return atomic_load(&pipeline->told) ? 0 : 4 * left - 1;
}

/* What a call at the bind point is chosen with. The first of a shader, a pipeline or a recording is
 * worth more than further ones, which tell what it does. Where there is no variant, it can but ask
 * for one, and does so as often as calls are sampled; not where its pipeline has lost: others stand
 * for it, whatever it was given since for what is recorded anew. */
struct choice {
    bool can;      /* there is a variant */
    double chance; /* that it is chosen */
    double lot;    /* of its pipeline */
};

static struct choice choice_at(const struct pm_command *command, int point)
{
    const struct pm_device *device = command->device;
    const double probability = device->sampling->probability;
    struct pm_pipeline *pipeline = command->bound[point].pipeline;
    struct choice choice = {.chance = probability, .lot = pipeline != NULL ? pipeline->lot : 1};
    if (choice.lot <= 0 || pipeline == NULL || atomic_load(&pipeline->variants) == 0)
        return choice;
    choice.can = true;
    /* The less its chance was, the fewer beyond those that are needed: what is lucky does not pay
     * for all others. */
    double more = probability / choice.lot * (1 + (times(device) - 1) * choice.lot);
    if (command->predicated->sure > 0)
        more = 1;
    const double sure = sure_chance(device->sampling, pipeline);
    more = sure > more ? sure : more;
    choice.chance = more < 1 ? more : 1;
    return choice;
}

/* The call is chosen, as one of the recording's first or the first of its shader or pipeline: it is
 * one of the device's sure ones, if any are left. */
static bool take_sure(struct pm_command *command, const struct pm_pipeline *pipeline)
{
    struct pm_predicated *predicated = command->predicated;
    if (predicated->sure > 0) {
        predicated->sure--;
        return true;
    }
    return sure_chance(command->device->sampling, pipeline) > 0 &&
           pm_command_reserve_sure(command, 1) > 0;
}

_Static_assert(PM_BIND_POINTS == 2, "predicated_calls.h has a chance for each");

/* The most of any bind point's, of which one has another now. What the other's has become since it
 * was found (a variant was made, words are free again) counts from its next bind on: a call is
 * never chosen with more than what the countdown was drawn with, and what it is chosen with is
 * known. */
static double most_chance(struct pm_command *command, int point)
{
    struct pm_predicated *predicated = command->predicated;
    double *chances = predicated->chances;
    chances[point] = choice_at(command, point).chance;
    predicated->alike[point] = pm_predicated_alike(predicated, command->bound[point].pipeline);
    return chances[0] > chances[1] ? chances[0] : chances[1];
}

void pm_predicated_bound(struct pm_command *command, int point)
{
    if (command->recording != PM_RECORDING_SAMPLED)
        return;
    const double now = most_chance(command, point);
    struct pm_pipeline *pipeline = command->bound[point].pipeline;
    if (command->predicated->alike[point] == PM_ALIKE_UNTOLD && !atomic_load(&pipeline->seen))
        atomic_store(&pipeline->seen, true);
    /* The countdown has no memory. */
    if (now != command->predicated->chance)
        pm_command_count_twice(command, now);
}

/* Chooses the call, which was with the chance given. false: it stays as it is. */
static bool choose(struct pm_command *command, int point, double chosen,
                   struct pm_predicated_pair *pair)
{
    struct pm_predicated *predicated = command->predicated;
    if (!pm_binding_may_sample(command, point) || !reserve(command))
        return false;
    uint32_t use;
    pair->variant = pm_binding_take(command, point, &use);
    if (pair->variant == NULL) {
        unreserve(command);
        return false;
    }
    pair->offset = word_of(predicated, predicated->count);
    if (predicated->count == 0)
        atomic_fetch_add(&command->device->sampling->twice, 1);
    struct pm_shader_record *shader = pm_predicated_shader(command->bound[point].pipeline);
    predicated->calls[predicated->count++] = (struct pm_predicated_call){
        .use = use,
        .probability = command->device->sampling->probability / chosen *
                       pm_variant_share(command->uses[use].variant),
        .first_of = atomic_exchange(&shader->told, true) ? NULL : shader,
    };
    return true;
}

/* Push constants are known now and not when it is submitted: so, as with other recordings, with
 * probability p inside windows, and outside with the share of them. */
static void sample_pushed(struct pm_command *command, int point)
{
    const struct pm_sampling *sampling = command->device->sampling;
    const double probability = sampling->probability / command->predicated->chance *
                               (pm_sampling_is_on(sampling) ? 1 : sampling->share);
    if (pm_random_unit(&command->random) < probability)
        pm_binding_sample_pushed(command, point);
}

struct pm_predicated_pair pm_predicated_begins(struct pm_command *command, int point)
{
    struct pm_predicated *predicated = command->predicated;
    struct pm_predicated_pair pair = {.variant = NULL};
    sample_pushed(command, point);
    const struct choice choice = choice_at(command, point);
    const double most = predicated->chance;
    const double chance_of_it = choice.chance < most ? choice.chance : most;
    bool chosen = chance_of_it >= most || pm_random_unit(&command->random) < chance_of_it / most;
    struct pm_pipeline *pipeline = command->bound[point].pipeline;
    const bool sure = chosen && choice.can && take_sure(command, pipeline);
    chosen = chosen && choice.lot > 0 && choose(command, point, chance_of_it * choice.lot, &pair);
    if (sure && !chosen)
        pm_command_give_back_sure(command, 1);
    if (chosen)
        atomic_store(&pipeline->told, true);
    command->countdown = 0; /* it is through, whatever follows is looked at for */
    (void)most_chance(command, PM_GRAPHICS);
    pm_command_count_twice(command, most_chance(command, PM_COMPUTE));
    if (chosen)
        begin_predicate(command, pair.offset, true);
    return pair;
}

void pm_predicated_again(struct pm_command *command, int point,
                         const struct pm_predicated_pair *pair)
{
    pm_predicated_ends(command);
    pm_binding_instrument(command, point, pair->variant);
    begin_predicate(command, pair->offset, false);
}

void pm_predicated_ends(struct pm_command *command)
{
    command->device->dispatch.CmdEndConditionalRenderingEXT(command->handle);
}

/* ---- submissions ---- */

static struct pm_variant *variant_of(const struct pm_command *command, uint32_t call)
{
    return command->uses[command->predicated->calls[call].use].variant;
}

void pm_predicated_pick(struct pm_command *command)
{
    struct pm_predicated *predicated = command->predicated;
    predicated->next.count = 0;
    if (!pm_sampling_is_on(command->device->sampling))
        return;
    const struct pm_first_draws *first_draws = &command->device->pipelines->first_draws;
    for (uint32_t i = 0; i < predicated->count; i++) {
        if (pm_random_unit(&command->random) < predicated->calls[i].probability &&
            pm_first_draws_would_allow(first_draws, variant_of(command, i)))
            predicated->next.calls[predicated->next.count++] = i;
    }
}

void pm_predicated_allow(struct pm_command *command)
{
    struct pm_picks *next = &command->predicated->next;
    const uint32_t count = next->count;
    next->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pm_first_draws_allow(&command->device->pipelines->first_draws,
                                 variant_of(command, next->calls[i])))
            next->calls[next->count++] = next->calls[i];
    }
}

static void pick_one(struct pm_command *command, struct pm_predicated_call *call)
{
    command->uses[call->use].picked++;
    call->first_of = NULL;
}

void pm_predicated_picked(struct pm_command *command)
{
    struct pm_predicated *predicated = command->predicated;
    for (uint32_t i = 0; i < predicated->picked.count; i++)
        command->uses[predicated->calls[predicated->picked.calls[i]].use].picked = 0;
    for (uint32_t i = 0; i < predicated->next.count; i++)
        pick_one(command, &predicated->calls[predicated->next.calls[i]]);
    const struct pm_picks picked = predicated->picked;
    predicated->picked = predicated->next;
    predicated->next = (struct pm_picks){.calls = picked.calls};
}

void pm_predicated_not_picked(struct pm_command *command)
{
    const struct pm_picks *next = &command->predicated->next;
    for (uint32_t i = 0; i < next->count; i++)
        pm_first_draws_did_not(variant_of(command, next->calls[i]));
}
