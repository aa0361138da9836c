#include "layer/hooks/database.h"

#include "aggregator_client/disk/database_cache.h"
#include "base/clock.h"
#include "base/file.h"
#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/shader/optimize.h"
#include <stdlib.h>
#include <unistd.h>

/* What an operator signed; it was checked when it was pulled, with the key that it is named by. */
static void load_signed(struct pm_instance *instance)
{
    struct pm_error error = {0};
    struct pm_buffer text;
    const char *key_file = instance->config.aggregator.verdict_key_file;
    if (!key_file)
        return;
    char *path = pm_verdicts_cache_path(instance->game, key_file, &error);
    pm_buffer_init(&text, PM_SIGNED_VERDICTS_BYTES);
    if (!path)
        pm_log_warning(instance->log, "signed verdicts are not used: %s", error.message);
    else if (access(path, F_OK) == 0 &&
             !((instance->signed_arena = pm_arena_create(4 * PM_SIGNED_VERDICTS_BYTES)) &&
               pm_file_read(path, &text, &error) &&
               pm_signed_verdicts_read((const char *)text.data, text.size, instance->signed_arena,
                                       &instance->signed_verdicts, &error))) {
        instance->signed_verdicts = (struct pm_signed_verdicts){0};
        pm_log_warning(instance->log, "signed verdicts are not used: %s", error.message);
    }
    pm_buffer_finish(&text);
    free(path);
}

/* What others found of variants; it says what is measured first, and binds nothing (HAZARDS 24). */
static void load_races(struct pm_instance *instance)
{
    struct pm_error error = {0};
    if (!pm_session_tests_variants(instance))
        return;
    instance->races_arena = pm_arena_create(PM_RACES_MEMORY_BYTES);
    if (!instance->races_arena)
        return;
    if (!pm_races_cache_load(instance->game, instance->races_arena, &instance->races, &error)) {
        instance->races = (struct pm_races){0};
        if (error.code != PM_ERROR_STATE)
            pm_log_warning(instance->log, "races of variants are not used: %s", error.message);
    }
}

/* ---- packing ---- */

struct packing {
    struct pm_job job;
    struct pm_device *device;
};

/* Under the lock. error: why there is none. */
static void set_database(struct pm_instance *instance, struct pm_packed_database *database,
                         const struct pm_error *error)
{
    if (!database && error->code != PM_OK && error->code != PM_ERROR_STATE)
        pm_log_warning(instance->log, "the PGO database is not used: %s", error->message);
    atomic_store(&instance->database, database);
    atomic_store(&instance->database_due, false);
}

static void drop_packing(struct pm_job *job)
{
    struct packing *packing = (struct packing *)job;
    struct pm_instance *instance = packing->device->instance;
    pthread_mutex_lock(&instance->journal_lock);
    instance->database_packs = false;
    pthread_mutex_unlock(&instance->journal_lock);
    free(packing);
}

/* Without the lock, for which the game may wait. */
static void run_packing(struct pm_job *job)
{
    struct pm_instance *instance = ((struct packing *)job)->device->instance;
    struct pm_error error = {0};
    pm_log_debug(instance->log, "the PGO database is being packed");
    struct pm_packed_database *database = pm_database_cache_open(instance->game, &error);
    bool replaced = false;
    /* Whoever replaced the file while it was read packs it, too. */
    if (!database && error.code == PM_ERROR_STATE)
        database = pm_database_cache_map(instance->game, &replaced);
    /* Else it is packed a second later. And where the device goes, another one may go on with it.
     */
    if (database || (!replaced && error.code != PM_ERROR_STOPPED)) {
        pthread_mutex_lock(&instance->journal_lock);
        set_database(instance, database, &error);
        pthread_mutex_unlock(&instance->journal_lock);
        if (database)
            pm_log_debug(instance->log, "the PGO database was packed");
    }
    drop_packing(job);
}

/* One device does. */
static void pack(struct pm_device *device)
{
    struct pm_instance *instance = device->instance;
    struct packing *packing = calloc(1, sizeof *packing);
    if (!packing)
        return;
    *packing = (struct packing){.job = {.run = run_packing,
                                        .drop = drop_packing,
                                        .name = "packs the database",
                                        .always = true},
                                .device = device};
    pthread_mutex_lock(&instance->journal_lock);
    const bool mine = atomic_load(&instance->database_due) && !instance->database_packs;
    instance->database_packs = instance->database_packs || mine;
    pthread_mutex_unlock(&instance->journal_lock);
    if (!mine)
        free(packing);
    else if (!pm_compiler_queue(device->compiler, &packing->job))
        drop_packing(&packing->job);
}

int64_t pm_database_due_at(const struct pm_instance *instance)
{
    return atomic_load(&instance->database_due) ? pm_now() + PM_SECOND : 0;
}

void pm_database_each_second(struct pm_device *device)
{
    if (device->database_at == 0 || pm_now() < device->database_at)
        return;
    if (atomic_load(&device->instance->database_due)) {
        pack(device);
        return;
    }
    device->database_at = 0;
    if (device->optimizer)
        pm_optimize_goes_on(device);
}

/* ---- opening ---- */

void pm_database_open(struct pm_instance *instance)
{
    struct pm_error error = {0};
    bool unpacked = false;
    pthread_mutex_lock(&instance->journal_lock);
    if (!instance->database_tried && !instance->passive) {
        /* In the background nothing is done then. */
        struct pm_packed_database *database =
            instance->config.debug.synchronous ? pm_database_cache_open(instance->game, &error)
                                               : pm_database_cache_map(instance->game, &unpacked);
        set_database(instance, database, &error);
        atomic_store(&instance->database_due, unpacked);
        load_signed(instance);
        load_races(instance);
    }
    instance->database_tried = true;
    pthread_mutex_unlock(&instance->journal_lock);
}
