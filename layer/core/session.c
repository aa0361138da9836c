#include "layer/core/session.h"

#include "base/clock.h"
#include "base/random.h"
#include "layer/core/build_name.h"
#include "profile/journal.h"
#include "profile/values_store.h"
#include "profile/verdicts.h"

bool pm_session_samples(const struct pm_instance *instance)
{
    return !instance->passive && instance->config.sampler.window_probability > 0 &&
           instance->config.sampler.api_probability > 0 && instance->config.sampler.kinds != 0;
}

bool pm_session_knows_values(const struct pm_instance *instance)
{
    return instance->config.optimize.constants && instance->values != NULL &&
           pm_values_store_has_any(instance->values);
}

bool pm_session_tests_variants(const struct pm_instance *instance)
{
    return instance->config.optimize.variants && !instance->config.debug.recipe &&
           !instance->passive && (instance->config.sampler.kinds & PM_KIND_BIT_TIMING) != 0;
}

bool pm_session_partitions(const struct pm_instance *instance)
{
    return instance->config.optimize.partition && !instance->passive;
}

bool pm_session_optimizes(const struct pm_instance *instance)
{
    /* In one that is not packed yet there may be either. */
    const bool due = atomic_load(&instance->database_due);
    const struct pm_packed_database *database = instance->database;
    const bool zeros =
        instance->config.optimize.zero &&
        (due || (database != NULL && pm_packed_database_has(database, PM_KIND_ZERO)));
    const bool blocks =
        instance->config.optimize.blocks &&
        (due || (database != NULL && pm_packed_database_has(database, PM_KIND_BLOCK)));
    return !instance->passive &&
           (zeros || blocks || pm_session_knows_values(instance) ||
            pm_session_tests_variants(instance) || pm_session_partitions(instance) ||
            instance->config.debug.recipe != NULL);
}

bool pm_session_tries(const struct pm_instance *instance)
{
    return (instance->config.sampler.kinds & PM_KIND_BIT_TIMING) != 0 &&
           pm_session_optimizes(instance);
}

static void log_journal(struct pm_log *log, const struct pm_journal_state *state)
{
    if (state->damaged.code != PM_OK)
        pm_log_warning(log, "ignored in the journal: %s", state->damaged.message);
    if (state->judged_bad > 0 && state->safe_for > 0)
        pm_log_warning(log,
                       "%u sessions in a row that used specialized shaders did not end properly: "
                       "all are held back until %u have (piecemeal doctor)",
                       state->bad_in_a_row, state->safe_for);
    else if (state->judged_bad > 0)
        pm_log_warning(log,
                       "the last session did not end properly: the specialized shaders that were "
                       "new in it are held back, %u in all (piecemeal doctor)",
                       state->held + state->held_for_good);
    else if (state->safe_for > 0)
        pm_log_info(log,
                    "all specialized shaders are held back until %u sessions have ended properly "
                    "(piecemeal doctor)",
                    state->safe_for);
}

uint64_t pm_session_seed(const struct pm_instance *instance)
{
    uint64_t seed = instance->config.sampler.seed;
    if (!instance->config.sampler.seed_set && !pm_random_system(&seed, sizeof seed))
        seed = (uint64_t)pm_now();
    return seed;
}

struct pm_journal *pm_session_journal(struct pm_instance *instance)
{
    pthread_mutex_lock(&instance->journal_lock);
    if (!instance->journal_tried) {
        struct pm_journal_state state;
        struct pm_error error = {0};
        instance->journal_tried = true;
        instance->journal = pm_journal_open(NULL, instance->game, &state, &error);
        log_journal(instance->log, &state);
        if (instance->journal == NULL)
            pm_log_warning(instance->log, "nothing is specialized: %s", error.message);
    }
    struct pm_journal *journal = instance->journal;
    pthread_mutex_unlock(&instance->journal_lock);
    return journal;
}

struct pm_verdicts *pm_session_verdicts(struct pm_instance *instance)
{
    pthread_mutex_lock(&instance->journal_lock);
    if (!instance->verdicts_tried) {
        struct pm_error damaged = {0};
        char build[PM_BUILD_NAME_BYTES];
        if (!pm_build_name(build))
            pm_log_info(instance->log,
                        "this build of the layer has no build id: what another one of version %s "
                        "has kept is taken for its own",
                        build);
        instance->verdicts_tried = true;
        instance->verdicts = pm_verdicts_open(NULL, instance->game, build, &damaged);
        if (damaged.code != PM_OK)
            pm_log_warning(instance->log, "ignored: %s", damaged.message);
    }
    struct pm_verdicts *verdicts = instance->verdicts;
    pthread_mutex_unlock(&instance->journal_lock);
    return verdicts;
}

struct pm_values_store *pm_session_values(struct pm_instance *instance, const char *recipe)
{
    pthread_mutex_lock(&instance->journal_lock);
    if (!instance->values_tried)
        instance->values = pm_values_store_open(NULL, instance->game, recipe);
    instance->values_tried = true;
    struct pm_values_store *values = instance->values;
    pthread_mutex_unlock(&instance->journal_lock);
    return values;
}

struct pm_environment pm_session_device_environment(const struct pm_device *device)
{
    return (struct pm_environment){
        .vendor_id = device->properties.vendorID,
        .device_id = device->properties.deviceID,
        .driver_id = device->abilities.driver_id,
        .driver_version = device->properties.driverVersion,
    };
}

struct pm_environment pm_session_environment(const struct pm_device *device,
                                             const struct pm_environment *environment)
{
    struct pm_environment kept = *environment;
    uint64_t mixed = environment->driver_version;
    for (const char *at = device->abilities.driver_info; *at != '\0'; at++)
        mixed = pm_random_mix(mixed ^ (unsigned char)*at);
    kept.driver_version = (uint32_t)mixed;
    return kept;
}
