#include "tools/serve/serve_check.h"
#include "aggregator/check.h"
#include "tools/common/tool.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
/* Below this, and below a tenth of what the storage has, someone should look … */
#define FREE_WARNING (1024 * MIB)
/* … and below this the write-ahead log alone may fill it: what SQLite leaves of one that grew. */
#define FREE_ERROR (256 * MIB)

struct check {
    unsigned errors;
};

static void print(void *user, enum pm_finding finding, const char *sentence)
{
    static const char *const words[] = {
        [PM_FINDING_OK] = "ok", [PM_FINDING_WARNING] = "warning", [PM_FINDING_ERROR] = "error"};
    struct check *check = user;
    check->errors += finding == PM_FINDING_ERROR;
    printf("%s: %s\n", words[finding], sentence);
}

static void check_space(struct check *check, const char *folder, uint64_t used)
{
    struct statvfs status;
    if (statvfs(folder, &status) != 0) {
        pm_check_say(print, check, PM_FINDING_ERROR, "storage: %s: %s", folder, strerror(errno));
        return;
    }
    const uint64_t left = (uint64_t)status.f_bavail * status.f_frsize;
    const enum pm_finding finding = left < FREE_ERROR                         ? PM_FINDING_ERROR
                                    : left < FREE_WARNING || left < used / 10 ? PM_FINDING_WARNING
                                                                              : PM_FINDING_OK;
    pm_check_say(print, check, finding, "storage: %s: %" PRIu64 " MiB are free", folder,
                 left / MIB);
}

/* Who can write to it can change what is counted and published, and no checksum tells. */
static void check_writers(struct check *check, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        pm_check_say(print, check, PM_FINDING_WARNING,
                     "storage: %s: others can write to it (mode %03o); `chmod go-w` it", path,
                     (unsigned)status.st_mode & 0777);
}

/* SQLite makes files beside the database, so the folder counts as much. */
static void check_place(struct check *check, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash          ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    struct stat status = {0};
    if (!folder)
        return;
    if (access(folder, R_OK | W_OK | X_OK) != 0)
        pm_check_say(print, check, PM_FINDING_ERROR, "storage: %s: cannot be written to: %s",
                     folder, strerror(errno));
    else if (stat(path, &status) == 0 && access(path, R_OK | W_OK) != 0)
        pm_check_say(print, check, PM_FINDING_ERROR, "storage: %s: cannot be written: %s", path,
                     strerror(errno));
    check_writers(check, folder);
    check_writers(check, path);
    check_space(check, folder, (uint64_t)status.st_size);
    free(folder);
}

int pm_serve_check(const struct pm_serve_options *options)
{
    struct check check = {0};
    pm_service_check(&options->service, print, &check);
    if (!pm_aggregator_is_remote(options->storage))
        check_place(&check, options->storage);
    pm_aggregator_check(options->storage, print, &check);
    return check.errors > 0 ? PM_EXIT_FAILED : PM_EXIT_OK;
}
