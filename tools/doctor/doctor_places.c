#include "tools/doctor/doctor_places.h"
#include "base/config.h"
#include "base/file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

/* The folder, or the innermost one around it that is there: where it would be made; in place. */
static void existing(char *path)
{
    while (access(path, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            return;
        *slash = '\0';
    }
}

/* What the layer may fill, by its defaults. */
static uint64_t most_bytes(void)
{
    struct pm_config config;
    pm_config_init(&config);
    const uint64_t mib = config.limits.spool_mib + 2 * (uint64_t)config.limits.shader_store_mib +
                         config.limits.pipeline_cache_mib;
    pm_config_finish(&config);
    return mib * MIB;
}

static void check(struct pm_doctor *doctor, enum pm_place place, const char *what)
{
    char *path = pm_place_path(place, NULL), *at = path ? strdup(path) : NULL;
    struct statvfs status;
    if (!at) {
        pm_doctor_say(doctor, PM_FINDING_BAD, "folders", "%s: there is no home", what);
        free(path);
        return;
    }
    existing(at);
    if (access(at, W_OK | X_OK) != 0) {
        pm_doctor_say(doctor, PM_FINDING_BAD, "folders", "%s: %s cannot be written to: %s", what,
                      at, strerror(errno));
    } else if (statvfs(at, &status) != 0) {
        pm_doctor_say(doctor, PM_FINDING_BAD, "folders", "%s: %s: %s", what, at, strerror(errno));
    } else {
        const uint64_t left = (uint64_t)status.f_bavail * status.f_frsize;
        const bool enough = place == PM_PLACE_CONFIG ? left > 0 : left >= most_bytes();
        pm_doctor_say(doctor, enough ? PM_FINDING_OK : PM_FINDING_NOTE, "folders",
                      "%s: %s, %" PRIu64 " MiB are free%s", what, path, left / MIB,
                      enough ? "" : ", less than the defaults of limits may take");
    }
    free(at);
    free(path);
}

void pm_doctor_places(struct pm_doctor *doctor)
{
    check(doctor, PM_PLACE_CONFIG, "configs");
    check(doctor, PM_PLACE_DATA, "what is recorded");
    check(doctor, PM_PLACE_CACHE, "what is pulled and compiled");
}
