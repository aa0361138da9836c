#include "layer/counts/report.h"

#include "aggregator_client/disk/spool.h"
#include "base/random.h"
#include "layer/core/trace.h"
#include "layer/frame/sampling.h"

bool pm_report_add(struct pm_report *report, uint32_t scene, const struct pm_shader_profile *shader,
                   struct pm_error *error)
{
    const struct pm_profile profile = {
        .game = "", .scene = "", .layer_version = PM_VERSION, .shaders = shader, .shader_count = 1};
    struct pm_profile_merge **merge = &report->merges[scene];
    if (*merge == NULL)
        *merge = pm_profile_merge_create();
    if (*merge == NULL)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    return pm_profile_merge_add(*merge, &profile, error);
}

static bool open_spool(struct pm_instance *instance, struct pm_error *error)
{
    if (instance->spool == NULL) {
        instance->spool =
            pm_spool_writer_create(NULL, (uint64_t)instance->config.limits.spool_mib << 20, error);
        /* A later sync does not know this process's environment. */
        if (instance->spool != NULL && instance->config.consent_withheld)
            pm_spool_writer_withhold(instance->spool);
    }
    return instance->spool != NULL;
}

static void write_profile(struct pm_instance *instance, const char *scene,
                          struct pm_profile_merge *merge)
{
    struct pm_error error = {0};
    struct pm_profile profile = {
        .game = instance->game,
        .scene = scene,
        .layer_version = PM_VERSION,
    };
    profile.shaders = pm_profile_merge_shaders(merge, &profile.shader_count);
    pthread_mutex_lock(&instance->spool_lock);
    bool was_full = instance->spool_full;
    if (profile.shader_count > 0 && !instance->spool_failed) {
        if (!pm_random_system(profile.upload_id, sizeof profile.upload_id))
            pm_fail(&error, PM_ERROR_IO, "the system gives no random numbers");
        else if (open_spool(instance, &error) && pm_spool_append(instance->spool, &profile, &error))
            pm_log_debug(instance->log, "wrote a checkpoint of %zu shaders", profile.shader_count);
        /* A full spool may drain, and counts that cannot be are this checkpoint's alone; anything
         * else will not get better within this session. */
        instance->spool_failed =
            error.code != PM_OK && error.code != PM_ERROR_LIMIT && error.code != PM_ERROR_INPUT;
        instance->spool_full = error.code == PM_ERROR_LIMIT;
    }
    pthread_mutex_unlock(&instance->spool_lock);
    if (error.code != PM_OK && !(was_full && error.code == PM_ERROR_LIMIT))
        pm_log_warning(instance->log, "a checkpoint was not written: %s", error.message);
}

void pm_report_write(struct pm_report *report)
{
    const struct pm_device *device = report->device;
    for (uint32_t i = 0; i < PM_SCENE_NUMBERS; i++) {
        if (report->merges[i] != NULL) {
            write_profile(device->instance, pm_scenes_name(&device->sampling->scenes, i),
                          report->merges[i]);
            pm_trace_instant(device->trace, "spool", "checkpoint", NULL, NULL);
        }
        pm_profile_merge_destroy(report->merges[i]);
        report->merges[i] = NULL;
    }
}
