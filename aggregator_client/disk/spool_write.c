#include "aggregator_client/disk/spool.h"
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include "base/random.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A half-made file this old (seconds) was left by a process that was killed while making it. */
enum { ABANDONED_AGE = 3600 };

struct pm_spool_writer {
    char *folder;
    uint64_t cap;  /* bytes of the whole folder */
    int fd;        /* -1: no file yet, or the last one failed */
    uint64_t size; /* of the file, up to the last whole record */
    uint32_t flags;
};

struct pm_spool_writer *pm_spool_writer_create(const char *folder, uint64_t cap_bytes,
                                               struct pm_error *error)
{
    struct pm_spool_writer *writer = calloc(1, sizeof(*writer));
    if (writer)
        writer->folder = pm_spool_folder(folder);
    if (!writer || !writer->folder) {
        free(writer);
        pm_fail(error, PM_ERROR_MEMORY, "no memory or no place for the spool");
        return NULL;
    }
    writer->cap = cap_bytes;
    writer->fd = -1;
    if (!pm_make_folder(writer->folder, error)) {
        pm_spool_writer_destroy(writer);
        return NULL;
    }
    return writer;
}

void pm_spool_writer_withhold(struct pm_spool_writer *writer)
{
    writer->flags = PM_SPOOL_WITHHELD;
}

/* Closing gives up the lock: the session has ended. */
static void end_file(struct pm_spool_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    writer->fd = -1;
}

void pm_spool_writer_destroy(struct pm_spool_writer *writer)
{
    if (!writer)
        return;
    end_file(writer);
    free(writer->folder);
    free(writer);
}

void pm_spool_writer_abandon(struct pm_spool_writer *writer)
{
    /* close(2) in the child leaves the lock with the parent, whose descriptor is the same open
     * file; only LOCK_UN would take it away. */
    pm_spool_writer_destroy(writer);
}

/* Calls visit with the path of every regular file of the folder whose name ends so. */
static void each_file(const char *folder, const char *suffix,
                      void (*visit)(const char *path, const struct stat *status, void *user),
                      void *user)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name), tail = strlen(suffix);
        struct stat status;
        char *path = NULL;
        if (length < tail || strcmp(entry->d_name + length - tail, suffix) != 0 ||
            fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) >= 0)
            visit(path, &status, user);
        free(path);
    }
    if (directory)
        closedir(directory);
}

static void remove_abandoned(const char *path, const struct stat *status, void *user)
{
    (void)user;
    if (time(NULL) - status->st_mtim.tv_sec > ABANDONED_AGE)
        unlink(path);
}

/* ---- room ---- */

/* Bytes of ended sessions and of what lies beside them. */
static uint64_t ended_bytes(const struct pm_spool_session *sessions, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (!sessions[i].live)
            bytes += sessions[i].bytes + pm_spool_uploads_bytes(sessions[i].path);
    return bytes;
}

/* First what was refused goes, then ended sessions, the oldest first, and no more than it takes;
 * nothing where all of it would not be enough. */
static uint64_t remove_oldest(const struct pm_spool_writer *writer, uint64_t used, uint64_t more,
                              const struct pm_spool_all_refused *refused,
                              const struct pm_spool_session *sessions, size_t count)
{
    const uint64_t removable = refused->bytes + ended_bytes(sessions, count);
    const uint64_t stays = used > removable ? used - removable : 0;
    if (stays + more > writer->cap)
        return used;
    for (size_t i = 0; i < refused->count && used + more > writer->cap; i++) {
        pm_spool_refused_remove(refused->list[i].path);
        used = pm_spool_folder_bytes(writer->folder);
    }
    for (size_t i = 0; i < count && used + more > writer->cap; i++) {
        if (!sessions[i].live && pm_spool_remove_ended(sessions[i].path))
            used = pm_spool_folder_bytes(writer->folder);
    }
    return used;
}

/* Room for `more` bytes. */
static bool make_room(const struct pm_spool_writer *writer, uint64_t more, struct pm_error *error)
{
    uint64_t used = pm_spool_folder_bytes(writer->folder);
    if (used + more <= writer->cap)
        return true;
    struct pm_spool_session *sessions;
    size_t count;
    if (!pm_spool_list(writer->folder, &sessions, &count, error))
        return false;
    struct pm_spool_all_refused refused = pm_spool_refused_find(writer->folder);
    used = remove_oldest(writer, used, more, &refused, sessions, count);
    pm_spool_refused_finish(&refused);
    pm_spool_list_free(sessions, count);
    if (used + more > writer->cap)
        return pm_fail(error, PM_ERROR_LIMIT,
                       "%s: the spool is full (%" PRIu64 " of %" PRIu64
                       " bytes; limits.spool_mib bounds it)",
                       writer->folder, used, writer->cap);
    return true;
}

/* ---- writing ---- */

/* Writes the header of a new file under a name that readers do not look at. */
static bool start_file(struct pm_spool_writer *writer, const char *path, struct pm_error *error)
{
    writer->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (writer->fd < 0)
        return pm_fail_errno(error, errno, "%s: cannot create", path);
    uint8_t header[PM_SPOOL_HEADER];
    pm_spool_header_fill(header, writer->flags);
    int why = flock(writer->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (why == 0)
        why = pm_write_all(writer->fd, header, sizeof(header));
    if (why == 0 && fsync(writer->fd) != 0)
        why = errno;
    writer->size = PM_SPOOL_HEADER;
    return why == 0 || pm_fail_errno(error, why, "%s: cannot write", path);
}

static bool create_file(struct pm_spool_writer *writer, struct pm_error *error)
{
    uint8_t id[PM_UPLOAD_ID_BYTES];
    char name[PM_SPOOL_NAME + 1];
    if (!pm_random_system(id, sizeof(id)))
        return pm_fail(error, PM_ERROR_IO, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof(id); i++)
        snprintf(name + 2 * i, 3, "%02x", id[i]);
    each_file(writer->folder, PM_SPOOL_NEW_SUFFIX, remove_abandoned, NULL);
    char *path = NULL, *beside = NULL;
    bool created = false;
    /* An empty folder may have been removed since. */
    if (!pm_make_folder(writer->folder, error))
        return false;
    if (asprintf(&path, "%s/%s" PM_SPOOL_SUFFIX, writer->folder, name) < 0 ||
        !(beside = pm_spool_beside(path, PM_SPOOL_NEW_SUFFIX))) {
        pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", writer->folder);
    } else if (start_file(writer, beside, error)) {
        /* It is locked before anybody can see it, so that it is never taken for a session that
         * ended. */
        created = rename(beside, path) == 0
                      ? pm_folder_sync(writer->folder, error)
                      : pm_fail_errno(error, errno, "%s: cannot create", path);
    }
    if (!created) {
        if (beside && writer->fd >= 0)
            unlink(beside);
        end_file(writer);
    }
    free(beside);
    free(path);
    return created;
}

/* Header and payload in one buffer, so that they are one write. */
static bool build_record(const struct pm_profile *checkpoint, uint64_t offset,
                         struct pm_buffer *record, struct pm_error *error)
{
    static const uint8_t room[PM_SPOOL_RECORD_HEADER];
    if (!pm_buffer_append(record, room, sizeof(room)))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a checkpoint");
    if (!pm_profile_encode(checkpoint, record, error))
        return false;
    size_t length = record->size - PM_SPOOL_RECORD_HEADER;
    pm_spool_record_header_fill(record->data, offset, record->data + PM_SPOOL_RECORD_HEADER,
                                (uint32_t)length);
    return true;
}

static bool write_record(struct pm_spool_writer *writer, const struct pm_buffer *record,
                         struct pm_error *error)
{
    int why = pm_write_all(writer->fd, record->data, record->size);
    if (why == 0) {
        while ((why = fdatasync(writer->fd) == 0 ? 0 : errno) == EINTR)
            ;
        if (why == 0) {
            writer->size += record->size;
            return true;
        }
    }
    /* What was written of it goes, so that the file ends with a whole record again. Where even that
     * fails, or the disk lost what it had taken, this file has ended and the next append begins
     * another. */
    bool synced = why == ENOSPC || why == EFBIG || why == EDQUOT;
    if (ftruncate(writer->fd, (off_t)writer->size) != 0 ||
        lseek(writer->fd, (off_t)writer->size, SEEK_SET) < 0 || !synced)
        end_file(writer);
    return pm_fail_errno(error, why, "%s: cannot write a checkpoint", writer->folder);
}

bool pm_spool_append(struct pm_spool_writer *writer, const struct pm_profile *checkpoint,
                     struct pm_error *error)
{
    struct pm_buffer record;
    pm_buffer_init(&record, pm_profile_limits_default.decompressed_bytes + PM_SPOOL_RECORD_HEADER);
    uint64_t offset = writer->fd >= 0 ? writer->size : PM_SPOOL_HEADER;
    uint64_t header = writer->fd >= 0 ? 0 : PM_SPOOL_HEADER;
    bool appended = build_record(checkpoint, offset, &record, error) &&
                    make_room(writer, record.size + header, error) &&
                    (writer->fd >= 0 || create_file(writer, error)) &&
                    write_record(writer, &record, error);
    pm_buffer_finish(&record);
    return appended;
}
