#include "layer/shader/specialize.h"

#include "layer/core/session.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/published.h"
#include "profile/values_store.h"
#include "profile/variant_parts.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/blocks/block_profile.h"
#include "shader_rewrite/zero/zero_profile.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(PM_BLOCK_PASS_BITS_ALL == PM_BLOCK_ALL, "the config names each pass");

/* ---- what is known ---- */

/* What is only provisional is tried, and where nothing is tried it is of no use. */
static bool find_zeros(const struct pm_device *device, const struct pm_shader_key *key,
                       const struct pm_environment *environment, struct pm_shader_estimates *found)
{
    if (pm_find_published(device, key, environment, PM_KIND_ZERO, found))
        return true;
    if (device->trials &&
        pm_packed_database_find(device->instance->database, key, environment, PM_KIND_ZERO,
                                found) &&
        found->provisional)
        return true;
    pm_shader_estimates_finish(found);
    return false;
}

/* What of it is to be used, if it is known. */
static bool uses_zeros(const struct pm_device *device)
{
    return device->instance->config.optimize.zero && device->abilities.subgroup_vote;
}

static bool uses_blocks(const struct pm_device *device)
{
    const struct pm_config *config = &device->instance->config;
    return config->optimize.blocks && config->optimize.block_passes;
}

uint32_t pm_known_once_packed(const struct pm_device *device)
{
    return !atomic_load(&device->instance->database_due)
               ? 0
               : (uses_zeros(device) ? (uint32_t)PM_KNOWN_ZEROS : 0) |
                     (uses_blocks(device) ? (uint32_t)PM_KNOWN_BLOCKS : 0);
}

uint32_t pm_known_of_shader(const struct pm_device *device, const struct pm_shader_key *key,
                            uint32_t subgroup_size)
{
    const struct pm_instance *instance = device->instance;
    const struct pm_packed_database *database = instance->database;
    const struct pm_environment environment = {.subgroup_size = subgroup_size};
    const bool zeros = uses_zeros(device) &&
                       (pm_packed_database_has_of(database, key, &environment, PM_KIND_ZERO) ||
                        (device->trials && pm_packed_database_is_provisional(
                                               database, key, &environment, PM_KIND_ZERO)));
    const bool blocks = uses_blocks(device) &&
                        pm_packed_database_has_of(database, key, &environment, PM_KIND_BLOCK);
    const bool values =
        pm_session_knows_values(instance) && pm_values_store_knows(instance->values, key);
    return (zeros ? (uint32_t)PM_KNOWN_ZEROS : 0) | (blocks ? (uint32_t)PM_KNOWN_BLOCKS : 0) |
           (values ? (uint32_t)PM_KNOWN_VALUES : 0);
}

/* The same as the passes want it. */
struct known {
    const struct pm_device *device;
    const struct pm_shader_record *record;
    struct pm_driver driver;
    struct pm_zero_profile zero;
    struct pm_block_profile blocks;
    struct pm_block_points points;
    struct pm_turn_points turns;
    struct pm_specialize_zero_info by_zeros;
    struct pm_optimize_blocks_info by_blocks;
    bool has_zeros, has_blocks;
};

static void finish(struct known *known)
{
    pm_zero_profile_finish(&known->zero);
    pm_block_profile_finish(&known->blocks);
    pm_block_points_finish(&known->points);
    pm_turn_points_finish(&known->turns);
}

static void take_zeros(struct known *known)
{
    const struct pm_device *device = known->device;
    const enum pm_beyond beyond = device->instance->config.debug.beyond;
    known->by_zeros = (struct pm_specialize_zero_info){
        .profile = &known->zero,
        .zeros = pm_record_points_zeros(known->record->points),
        .costs = pm_costs_of(device->properties.vendorID),
        .float_zero = device->instance->config.optimize.float_zero,
        .subgroup_quad = device->abilities.subgroup_quad,
        .target = device->abilities.target,
        .driver = &known->driver,
        .beyond = {.fit_regions = beyond == PM_BEYOND_FIT || beyond == PM_BEYOND_ALL,
                   .hoist_across = beyond == PM_BEYOND_HOIST || beyond == PM_BEYOND_ALL,
                   .pairs = beyond == PM_BEYOND_PAIRS || beyond == PM_BEYOND_ALL},
        .take_all = device->instance->config.debug.specialize == PM_SPECIALIZE_ALL,
    };
}

static void take_blocks(struct known *known)
{
    const struct pm_device *device = known->device;
    known->by_blocks = (struct pm_optimize_blocks_info){
        .profile = &known->blocks,
        .points = &known->points,
        .turns = &known->turns,
        .passes = device->instance->config.optimize.block_passes,
        .uniform_share = device->instance->config.optimize.uniform_share,
        .subgroup_vote = device->abilities.subgroup_vote,
        .weigh = device->instance->config.debug.specialize != PM_SPECIALIZE_ALL,
        .costs = pm_costs_of(device->properties.vendorID),
        .target = device->abilities.target,
        .driver = &known->driver,
    };
}

/* Counts of another version's points are of no use. */
static bool learn_turns(struct known *known, struct pm_error *error)
{
    const struct pm_shader_record *record = known->record;
    struct pm_shader_estimates turns;
    if (!pm_find_published(known->device, &record->key, &record->environment, PM_KIND_TURNS,
                           &turns))
        return true;
    bool done =
        pm_points_turns(record->canonical.data, record->canonical.count, &known->turns, error);
    if (done && known->turns.count == turns.space &&
        !pm_block_profile_add_turns(&known->blocks, &turns))
        done = pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    pm_shader_estimates_finish(&turns);
    return done;
}

/* of: what of it is to be used. */
static bool learn(struct known *known, uint32_t of, struct pm_error *error)
{
    const struct pm_shader_record *record = known->record;
    struct pm_shader_estimates zeros = {0}, blocks = {0};
    const bool any = pm_find_published(known->device, &record->key, &record->environment,
                                       PM_KIND_BLOCK, &blocks);
    known->has_zeros = (of & PM_KNOWN_ZEROS) &&
                       find_zeros(known->device, &record->key, &record->environment, &zeros);
    known->has_blocks = any && (of & PM_KNOWN_BLOCKS);
    known->driver = pm_device_driver(known->device);
    bool ready =
        !known->has_zeros || pm_zero_profile_init(&known->zero, &zeros, any ? &blocks : NULL);
    ready = ready && (!known->has_blocks || pm_block_profile_init(&known->blocks, &blocks));
    pm_shader_estimates_finish(&zeros);
    pm_shader_estimates_finish(&blocks);
    if (!ready)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    take_zeros(known);
    take_blocks(known);
    return !known->has_blocks || (pm_points_blocks(record->canonical.data, record->canonical.count,
                                                   &known->points, error) &&
                                  learn_turns(known, error));
}

/* ---- making ---- */

/* The canonical module itself, for benchmarks. */
static bool keep_canonical(const struct pm_shader_record *record, struct pm_specialized *module,
                           struct pm_error *error)
{
    const size_t bytes = record->canonical.count * sizeof(uint32_t);
    *module = (struct pm_specialized){.words = {malloc(bytes), record->canonical.count}};
    if (!module->words.data)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader");
    memcpy(module->words.data, record->canonical.data, bytes);
    return true;
}

/* For known words, and for zeros and blocks in what is left. */
static bool by_words(const struct known *known, struct pm_specialized_shader *shader,
                     struct pm_error *error)
{
    const struct pm_words *words = &known->record->canonical;
    const struct pm_device *device = known->device;
    const struct pm_specialize_constants_info info = {
        .known = shader->known.words,
        .known_count = shader->known.count,
        .costs = pm_costs_of(device->properties.vendorID),
        .float_zero = device->instance->config.optimize.float_zero,
        .target = device->abilities.target,
        .driver = &known->driver,
        .zero = known->has_zeros ? &known->by_zeros : NULL,
        .blocks = known->has_blocks ? &known->by_blocks : NULL,
        .take_all = device->instance->config.debug.specialize == PM_SPECIALIZE_ALL,
    };
    struct pm_specialized_constants made;
    if (!pm_specialize_constants(words->data, words->count, &info, &made, error))
        return false;
    shader->module = (struct pm_specialized){.words = made.words, .transforms = made.transforms};
    shader->changes = made.changes;
    memcpy(shader->changes_by, made.changes_by, sizeof shader->changes_by);
    made.words = (struct pm_words){0};
    pm_specialized_constants_finish(&made);
    return true;
}

/* In what zeros have made of it, or in the canonical module. */
static bool by_blocks(const struct known *known, struct pm_specialized_shader *shader,
                      struct pm_error *error)
{
    struct pm_optimized_blocks made;
    const struct pm_words *words =
        shader->module.words.count ? &shader->module.words : &known->record->canonical;
    if (!pm_optimize_blocks(words->data, words->count, &known->by_blocks, &made, error))
        return false;
    if (made.words.count) {
        pm_words_finish(&shader->module.words);
        shader->module.words = made.words;
        shader->changes = made.changes;
        memcpy(shader->changes_by, made.changes_by, sizeof shader->changes_by);
        made.words = (struct pm_words){0};
    }
    pm_optimized_blocks_finish(&made);
    return true;
}

/* Of what may run anywhere zeros and blocks alone where no word is worth it. */
static bool make(const struct known *known, enum pm_specialized_use use,
                 struct pm_specialized_shader *shader, struct pm_error *error)
{
    const struct pm_shader_record *record = known->record;
    if (use == PM_USE_PUSHED)
        pm_known_words_pushed(known->device, record, &shader->known);
    else if (shader->made_of & PM_KNOWN_VALUES)
        pm_known_words_uniform(known->device, record, shader->reads, &shader->known);
    if (shader->known.count > 0 && !by_words(known, shader, error))
        return false;
    if (shader->module.words.count > 0 || use == PM_USE_PUSHED)
        return true;
    shader->known.count = 0;
    if (known->has_zeros && !pm_specialize_zero(record->canonical.data, record->canonical.count,
                                                &known->by_zeros, &shader->module, error))
        return false;
    return !known->has_blocks || by_blocks(known, shader, error);
}

bool pm_specialize_shader(const struct pm_device *device, const struct pm_shader_record *record,
                          enum pm_specialized_use use, struct pm_specialized_shader *shader,
                          struct pm_error *error)
{
    shader->module = (struct pm_specialized){0};
    if (device->instance->config.debug.specialize == PM_SPECIALIZE_CANONICAL &&
        use == PM_USE_ANYWHERE)
        return keep_canonical(record, &shader->module, error);
    struct known known = {.device = device, .record = record};
    const bool ok = learn(&known, shader->made_of, error) && make(&known, use, shader, error);
    finish(&known);
    return ok;
}

static bool needs_blocks(const struct pm_recipe *recipe)
{
    return recipe && recipe->kind == PM_RECIPE_BLOCKS;
}

bool pm_specialize_by_recipe(const struct pm_device *device, const struct pm_shader_record *record,
                             const struct pm_words *words, const struct pm_variant_choice *choice,
                             uint32_t withheld, struct pm_words *made, struct pm_error *error)
{
    const struct pm_config *config = &device->instance->config;
    const bool blocks = config->optimize.blocks && (withheld & PM_PART_BLOCKS) == 0;
    const struct pm_device_abilities *abilities = &device->abilities;
    const bool votes = record->stage == PM_STAGE_COMPUTE ? abilities->full_subgroup_compute
                                                         : abilities->full_subgroup_fragment;
    struct known known = {.device = device, .record = record, .driver = pm_device_driver(device)};
    const uint32_t of =
        blocks && (needs_blocks(choice->recipe) || needs_blocks(choice->second))
            ? pm_known_of_shader(device, &record->key, record->environment.subgroup_size)
            : 0;
    bool ok = !(of & PM_KNOWN_BLOCKS) || learn(&known, PM_KNOWN_BLOCKS, error);
    const struct pm_variant_info info = {.choice = *choice,
                                         .target = abilities->target,
                                         .driver = &known.driver,
                                         .blocks = known.has_blocks ? &known.by_blocks : NULL,
                                         .withheld_passes =
                                             ~(blocks ? config->optimize.block_passes : 0),
                                         .subgroup_vote = votes && abilities->subgroup_vote};
    ok = ok && pm_make_variant(words->data, words->count, &info, made, error);
    finish(&known);
    return ok;
}
