#include "aggregator_client/disk/spool.h"
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A session with what its order goes by. */
struct found {
    struct pm_spool_session session;
    long nanoseconds;
};

char *pm_spool_folder(const char *folder)
{
    if (!folder)
        folder = secure_getenv("PIECEMEAL_SPOOL");
    return folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "spool");
}

char *pm_spool_beside(const char *path, const char *suffix)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    char *beside = NULL;
    return asprintf(&beside, "%.*s%s", (int)stem, path, suffix) < 0 ? NULL : beside;
}

char *pm_spool_upload_path(const char *path, unsigned part)
{
    char suffix[32];
    snprintf(suffix, sizeof(suffix), "-%u" PM_SPOOL_UPLOAD_SUFFIX, part);
    return pm_spool_beside(path, suffix);
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), more = strlen(suffix);
    return length > more && strcmp(name + length - more, suffix) == 0;
}

/* Does a process hold the session? A shared lock, so that two who ask do not see each other. */
static bool is_live(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool live = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return live;
}

static int by_age(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->session.modified != y->session.modified)
        return x->session.modified < y->session.modified ? -1 : 1;
    if (x->nanoseconds != y->nanoseconds)
        return x->nanoseconds < y->nanoseconds ? -1 : 1;
    return strcmp(x->session.path, y->session.path);
}

/* Adds one directory entry when it is a session. false: out of memory. */
static bool add_found(const char *folder, const char *name, struct found **list, size_t *count)
{
    struct stat status;
    char *path = NULL;
    if (!has_suffix(name, PM_SPOOL_SUFFIX))
        return true;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    /* It may be gone again: sync removes what is acknowledged. */
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        free(path);
        return true;
    }
    struct found *more = reallocarray(*list, *count + 1, sizeof(**list));
    if (!more) {
        free(path);
        return false;
    }
    *list = more;
    more[(*count)++] = (struct found){.session = {.path = path,
                                                  .bytes = (uint64_t)status.st_size,
                                                  .modified = status.st_mtim.tv_sec,
                                                  .live = is_live(path)},
                                      .nanoseconds = status.st_mtim.tv_nsec};
    return true;
}

bool pm_spool_list(const char *folder, struct pm_spool_session **sessions, size_t *count,
                   struct pm_error *error)
{
    *sessions = NULL;
    *count = 0;
    char *place = pm_spool_folder(folder);
    if (!place)
        return pm_fail(error, PM_ERROR_MEMORY, "no place for the spool");
    struct found *list = NULL;
    size_t n = 0;
    bool listed = true;
    DIR *directory = opendir(place);
    if (!directory && errno != ENOENT)
        listed = pm_fail_errno(error, errno, "%s: cannot open the spool", place);
    for (struct dirent *entry; directory && listed && (entry = readdir(directory));)
        listed = add_found(place, entry->d_name, &list, &n) ||
                 pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", place);
    if (directory)
        closedir(directory);
    if (n > 0)
        qsort(list, n, sizeof(*list), by_age);
    struct pm_spool_session *result = calloc(n + 1, sizeof(*result));
    if (!result && listed)
        listed = pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", place);
    for (size_t i = 0; i < n; i++) {
        if (listed)
            result[i] = list[i].session;
        else
            free(list[i].session.path);
    }
    free(list);
    free(place);
    if (!listed) {
        free(result);
        return false;
    }
    *sessions = result;
    *count = n;
    return true;
}

void pm_spool_list_free(struct pm_spool_session *sessions, size_t count)
{
    for (size_t i = 0; sessions && i < count; i++)
        free(sessions[i].path);
    free(sessions);
}

static uint64_t bytes_in(const char *folder, bool deeper)
{
    uint64_t bytes = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat status;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(status.st_mode)) {
            bytes += (uint64_t)status.st_size;
        } else if (deeper && S_ISDIR(status.st_mode) &&
                   strcmp(entry->d_name, PM_SPOOL_REFUSED) == 0) {
            char *path = NULL;
            if (asprintf(&path, "%s/%s", folder, entry->d_name) >= 0)
                bytes += bytes_in(path, false);
            free(path);
        }
    }
    if (directory)
        closedir(directory);
    return bytes;
}

uint64_t pm_spool_folder_bytes(const char *folder)
{
    return bytes_in(folder, true);
}

void pm_spool_remove_uploads(const char *path)
{
    for (unsigned part = 0; part < PM_SPOOL_PARTS; part++) {
        char *upload = pm_spool_upload_path(path, part);
        bool removed = upload && unlink(upload) == 0;
        free(upload);
        if (!removed)
            return;
    }
}

uint64_t pm_spool_uploads_bytes(const char *path)
{
    uint64_t bytes = 0;
    for (unsigned part = 0; part < PM_SPOOL_PARTS; part++) {
        struct stat status;
        char *upload = pm_spool_upload_path(path, part);
        const bool there = upload && lstat(upload, &status) == 0;
        free(upload);
        if (!there)
            break;
        bytes += (uint64_t)status.st_size;
    }
    return bytes;
}

bool pm_spool_remove_ended(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool removed = false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        removed = unlink(path) == 0;
    close(fd);
    if (removed)
        pm_spool_remove_uploads(path);
    return removed;
}
