#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The longest file name this file makes up, in bytes: room is left below NAME_MAX for a suffix. */
enum { LONGEST_NAME = 200 };

/* A file that pm_file_write is writing is called so, with six more characters. */
#define LEFTOVER ".new-"
enum { LEFTOVER_TAIL = sizeof(LEFTOVER) - 1 + 6 };

static char *join(const char *a, const char *b, const char *c)
{
    char *path = NULL;
    int n = c ? asprintf(&path, "%s/%s/%s", a, b, c) : asprintf(&path, "%s/%s", a, b);
    return n < 0 ? NULL : path;
}

/* $HOME, else the password database's; malloc'ed. */
static char *home_folder(void)
{
    const char *home = secure_getenv("HOME");
    if (home && home[0] == '/')
        return strdup(home);
    size_t size = 16384;
    char *scratch = malloc(size);
    struct passwd entry, *found = NULL;
    char *result = NULL;
    if (scratch && getpwuid_r(geteuid(), &entry, scratch, size, &found) == 0 && found &&
        found->pw_dir && found->pw_dir[0] == '/')
        result = strdup(found->pw_dir);
    free(scratch);
    return result;
}

char *pm_place_path(enum pm_place place, const char *name)
{
    static const struct {
        const char *variable, *under_home;
    } places[] = {
        [PM_PLACE_CONFIG] = {"XDG_CONFIG_HOME", ".config/piecemeal"},
        [PM_PLACE_DATA] = {"XDG_DATA_HOME", ".local/share/piecemeal"},
        [PM_PLACE_CACHE] = {"XDG_CACHE_HOME", ".cache/piecemeal"},
    };
    const char *base = secure_getenv(places[place].variable);
    /* "All paths must be absolute; a relative one is invalid and ignored." */
    if (base && base[0] == '/')
        return join(base, "piecemeal", name);
    char *home = home_folder();
    if (!home)
        return NULL;
    char *path = join(home, places[place].under_home, name);
    free(home);
    return path;
}

static bool make_one(const char *path, struct pm_error *error)
{
    if (mkdir(path, 0700) == 0)
        return true;
    int why = errno;
    struct stat status;
    /* A parent may exist where mkdir says something else first (a read-only file system). */
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return true;
        why = ENOTDIR;
    }
    return pm_fail_errno(error, why, "%s: cannot make the folder", path);
}

bool pm_make_folder(const char *path, struct pm_error *error)
{
    char *copy = strdup(path);
    if (!copy)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
    bool made = true;
    for (char *at = copy + 1; *copy && *at && made; at++) {
        if (*at != '/' || at[-1] == '/')
            continue;
        *at = '\0';
        made = make_one(copy, error);
        *at = '/';
    }
    free(copy);
    return made && make_one(path, error);
}

bool pm_file_is_same(const char *a, const char *b)
{
    struct stat first, second;
    return a && b && stat(a, &first) == 0 && stat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool pm_file_read(const char *path, struct pm_buffer *out, struct pm_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pm_fail_errno(error, errno, "%s: cannot open", path);
    size_t before = out->size;
    bool done = false, read_all = true;
    while (!done) {
        unsigned char chunk[16384];
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            read_all = pm_fail_errno(error, errno, "%s: cannot read", path);
            done = true;
        } else if (n == 0) {
            done = true;
        } else if ((size_t)n > out->cap - out->size) {
            read_all = pm_fail(error, PM_ERROR_LIMIT, "%s: larger than %zu bytes", path, out->cap);
            done = true;
        } else if (!pm_buffer_append(out, chunk, (size_t)n)) {
            read_all = pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
            done = true;
        }
    }
    close(fd);
    if (!read_all && out->data) {
        out->size = before;
        out->data[before] = 0;
    }
    return read_all;
}

int pm_write_all(int fd, const void *data, size_t size)
{
    sigset_t quiet, old, pending;
    sigemptyset(&quiet);
    sigaddset(&quiet, SIGPIPE);
    sigaddset(&quiet, SIGXFSZ);
    /* One that waits already is the program's own and must stay. */
    sigpending(&pending);
    bool had_pipe = sigismember(&pending, SIGPIPE), had_size = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &quiet, &old);
    const unsigned char *at = data;
    int result = 0;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            result = n < 0 ? errno : EIO;
            break;
        }
        at += n;
        size -= (size_t)n;
    }
    if (result == EPIPE || result == EFBIG) {
        sigset_t ours;
        sigemptyset(&ours);
        if (result == EPIPE && !had_pipe)
            sigaddset(&ours, SIGPIPE);
        if (result == EFBIG && !had_size)
            sigaddset(&ours, SIGXFSZ);
        struct timespec none = {0};
        while (sigtimedwait(&ours, NULL, &none) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result;
}

bool pm_folder_sync(const char *path, struct pm_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pm_fail_errno(error, errno, "%s: cannot open the folder", path);
    int why = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    /* Some file systems (FUSE) have nothing to sync in a folder. */
    if (why != 0 && why != EINVAL)
        return pm_fail_errno(error, why, "%s: cannot sync the folder", path);
    return true;
}

static bool sync_parent(const char *path, struct pm_error *error)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return pm_folder_sync(".", error);
    char *folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!folder)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
    bool synced = pm_folder_sync(folder, error);
    free(folder);
    return synced;
}

char *pm_file_make_beside(const char *path, struct pm_error *error)
{
    char *beside = NULL;
    if (asprintf(&beside, "%s.new-XXXXXX", path) < 0) {
        pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    const int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0) {
        pm_fail_errno(error, errno, "%s: cannot create", path);
        free(beside);
        return NULL;
    }
    close(fd);
    return beside;
}

bool pm_file_replace(const char *beside, const char *path, struct pm_error *error)
{
    int fd = open(beside, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pm_fail_errno(error, errno, "%s: cannot open", beside);
    int why = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    if (why != 0)
        return pm_fail_errno(error, why, "%s: cannot sync", beside);
    if (rename(beside, path) != 0)
        return pm_fail_errno(error, errno, "%s: cannot replace", path);
    return sync_parent(path, error);
}

static bool write_beside(const char *path, const void *data, size_t size, bool durably,
                         struct pm_error *error)
{
    char *beside = NULL;
    if (asprintf(&beside, "%s" LEFTOVER "XXXXXX", path) < 0)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
    int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0) {
        pm_fail_errno(error, errno, "%s: cannot create", path);
        free(beside);
        return false;
    }
    int why = pm_write_all(fd, data, size);
    if (why == 0 && durably && fsync(fd) != 0)
        why = errno;
    if (close(fd) != 0 && why == 0)
        why = errno;
    bool written = why == 0 || pm_fail_errno(error, why, "%s: cannot write", path);
    if (written && rename(beside, path) != 0)
        written = pm_fail_errno(error, errno, "%s: cannot replace", path);
    if (!written)
        unlink(beside);
    free(beside);
    return written;
}

bool pm_file_write(const char *path, const void *data, size_t size, struct pm_error *error)
{
    return write_beside(path, data, size, true, error) && sync_parent(path, error);
}

bool pm_file_put(const char *path, const void *data, size_t size, struct pm_error *error)
{
    return write_beside(path, data, size, false, error);
}

void pm_file_remove_leftovers(const char *folder, int seconds)
{
    DIR *directory = opendir(folder);
    time_t now = time(NULL);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        struct stat status;
        if (length > LEFTOVER_TAIL &&
            strncmp(entry->d_name + length - LEFTOVER_TAIL, LEFTOVER, sizeof(LEFTOVER) - 1) == 0 &&
            fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && now - status.st_mtim.tv_sec >= seconds)
            unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
}

static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '_' || c == '-';
}

char *pm_file_safe_name(const char *name)
{
    size_t length = strlen(name);
    char *safe = malloc(length * 3 + 2);
    if (!safe)
        return NULL;
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        if (is_plain(c) && !(i == 0 && c == '.')) {
            safe[used++] = (char)c;
        } else {
            static const char digits[] = "0123456789ABCDEF";
            safe[used++] = '%';
            safe[used++] = digits[c >> 4];
            safe[used++] = digits[c & 15];
        }
    }
    if (length == 0)
        safe[used++] = '%'; /* no other name gives this one */
    safe[used] = '\0';
    if (used > LONGEST_NAME) {
        /* FNV-1a of the whole name keeps long names with one beginning apart; "%-" occurs in no
         * other name. */
        uint64_t hash = 0xCBF29CE484222325u;
        for (size_t i = 0; i < length; i++)
            hash = (hash ^ (unsigned char)name[i]) * 0x100000001B3u;
        snprintf(safe + LONGEST_NAME - 18, 19, "%%-%016llx", (unsigned long long)hash);
    }
    return safe;
}

void pm_folder_each(const char *folder, const char *suffix,
                    void (*visit)(void *user, const char *path), void *user)
{
    DIR *directory = folder ? opendir(folder) : NULL;
    const size_t ending = strlen(suffix);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const size_t length = strlen(entry->d_name);
        char *path = NULL;
        if (entry->d_name[0] == '.' || length < ending ||
            strcmp(entry->d_name + length - ending, suffix) != 0 ||
            asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        visit(user, path);
        free(path);
    }
    if (directory)
        closedir(directory);
}
