#include "profile/journal_folder.h"

#include "base/file.h"
#include "profile/journal_history.h"
#include "profile/journal_judged.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HISTORY "history"

enum {
    /* A history or a session's file of PM_JOURNAL_MOST variants is below. */
    MOST_BYTES = 2 << 20,
    MOST_SESSIONS = 256, /* judged at once; the rest at the next start */
    LOCK_TRIES = 100,
    LOCK_PAUSE = 10000000, /* nanoseconds */
};

static char *journals_folder(const char *folder)
{
    const char *named = secure_getenv("PIECEMEAL_JOURNAL");
    if (!folder && named && named[0] == '/')
        folder = named;
    return folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "journal");
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *pm_journal_game_folder(const char *folder, const char *game)
{
    char *place = journals_folder(folder), *safe = pm_file_safe_name(game);
    char *path = place && safe ? join(place, safe) : NULL;
    free(place);
    free(safe);
    return path;
}

int pm_journal_lock(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&(struct timespec){0, LOCK_PAUSE}, NULL);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* By name too: a child that was forked meanwhile has the same open file. */
void pm_journal_unlock(int fd)
{
    flock(fd, LOCK_UN);
    close(fd);
}

/* ---- judging ---- */

struct session_file {
    char *path;
    struct timespec modified;
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct session_file *)a)->modified;
    const struct timespec *y = &((const struct session_file *)b)->modified;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void pm_journal_run_suffix(const char *run, char suffix[static PM_JOURNAL_RUN_SUFFIX])
{
    snprintf(suffix, PM_JOURNAL_RUN_SUFFIX, "-%s" PM_JOURNAL_SUFFIX, run);
}

static bool ends_with(const char *text, const char *suffix)
{
    const size_t length = strlen(text), tail = strlen(suffix);
    return length > tail && strcmp(text + length - tail, suffix) == 0;
}

static bool is_of_run(const char *path, const char *run)
{
    char suffix[PM_JOURNAL_RUN_SUFFIX];
    pm_journal_run_suffix(run, suffix);
    return ends_with(path, suffix);
}

static bool is_live(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno != ENOENT;
    const bool live = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return live;
}

void pm_journal_each_file(const char *folder, const char *suffix,
                          void (*visit)(const char *path, const struct stat *status, void *user),
                          void *user)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat status;
        if (!ends_with(entry->d_name, suffix) ||
            fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        char *path = join(folder, entry->d_name);
        if (path)
            visit(path, &status, user);
        free(path);
    }
    if (directory)
        closedir(directory);
}

struct ended {
    struct session_file *list;
    size_t count;
};

static void add_ended(const char *path, const struct stat *status, void *user)
{
    struct ended *ended = user;
    char *copy = ended->count < MOST_SESSIONS && !is_live(path) ? strdup(path) : NULL;
    if (copy)
        ended->list[ended->count++] = (struct session_file){copy, status->st_mtim};
}

/* The ended sessions, oldest first. The paths are the caller's. */
static size_t list_ended(const char *folder, struct session_file *list)
{
    struct ended ended = {list, 0};
    pm_journal_each_file(folder, PM_JOURNAL_SUFFIX, add_ended, &ended);
    qsort(list, ended.count, sizeof *list, by_age);
    return ended.count;
}

static bool judge_file(struct pm_history *history, const char *path, const char *run,
                       struct pm_journal_state *state)
{
    struct pm_buffer text;
    struct pm_session_record session = {0};
    struct pm_error error = {0};
    bool bad = false;
    pm_buffer_init(&text, MOST_BYTES);
    if (!pm_file_read(path, &text, &error) ||
        !pm_session_record_parse(&session, text.data ? (const char *)text.data : "", text.size,
                                 &error)) {
        pm_fail_prefix(&error, "%s", path);
        state->damaged = error;
    }
    session.noted = !run || is_of_run(path, run);
    const bool judged = pm_history_judge(history, &session, &bad);
    state->judged_bad += bad && session.noted;
    pm_session_record_finish(&session);
    pm_buffer_finish(&text);
    return judged;
}

/* What the folder says, and of which sessions; what is damaged is left out. */
static bool load_history(const char *folder, struct pm_history *history, struct pm_judged *judged,
                         struct pm_journal_state *state, struct pm_error *error)
{
    *history = (struct pm_history){0};
    *judged = (struct pm_judged){0};
    char *path = join(folder, HISTORY);
    if (!path)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    struct pm_buffer text;
    struct pm_error damage = {0};
    pm_buffer_init(&text, MOST_BYTES);
    if (access(path, F_OK) == 0 &&
        (!pm_file_read(path, &text, &damage) ||
         !pm_history_parse(history, text.data ? (const char *)text.data : "", text.size,
                           &damage))) {
        pm_fail_prefix(&damage, "%s", path);
        state->damaged = damage;
    }
    pm_judged_read(folder, &text, judged);
    pm_buffer_finish(&text);
    free(path);
    return true;
}

/* ended: the sessions that it has in it now. */
static bool save_history(const char *folder, const struct pm_history *history,
                         const struct session_file *ended, size_t count, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    char *path = join(folder, HISTORY);
    const char **paths = calloc(count + 1, sizeof *paths);
    bool saved = (path && paths && pm_history_format(history, &text)) ||
                 pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    for (size_t i = 0; saved && i < count; i++)
        paths[i] = ended[i].path;
    if (saved) {
        pm_judged_write(folder, &text, paths, count);
        saved = pm_file_write(path, text.data, text.size, error);
    }
    free(paths);
    free(path);
    pm_buffer_finish(&text);
    return saved;
}

bool pm_journal_judge(const char *folder, bool keep, const char *run, struct pm_history *history,
                      struct pm_journal_state *state, struct pm_error *error)
{
    struct pm_judged judged;
    if (!load_history(folder, history, &judged, state, error))
        return false;
    struct session_file *ended = calloc(MOST_SESSIONS, sizeof *ended);
    if (!ended) {
        pm_judged_finish(&judged);
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    }
    const size_t count = list_ended(folder, ended);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = pm_judged_has(&judged, ended[i].path) ||
             judge_file(history, ended[i].path, run, state) ||
             pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    if (ok && keep && (count > 0 || state->damaged.code != PM_OK))
        ok = save_history(folder, history, ended, count, error);
    for (size_t i = 0; i < count; i++) {
        if (ok && keep)
            unlink(ended[i].path);
        free(ended[i].path);
    }
    if (ok && keep && count > 0)
        pm_judged_forget(folder);
    pm_judged_finish(&judged);
    free(ended);
    pm_history_count(history, state);
    return ok;
}

/* ---- all games ---- */

bool pm_journal_each_folder(const char *folder,
                            bool (*visit)(const char *path, const char *game, void *user,
                                          struct pm_error *error),
                            void *user, struct pm_error *error)
{
    char *place = journals_folder(folder);
    if (!place)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory or no place for the journal");
    DIR *directory = opendir(place);
    bool ok = directory || errno == ENOENT ||
              pm_fail_errno(error, errno, "%s: cannot open the journals", place);
    for (struct dirent *entry; directory && ok && (entry = readdir(directory));) {
        char *path = entry->d_name[0] == '.' ? NULL : join(place, entry->d_name);
        if (path)
            ok = visit(path, entry->d_name, user, error);
        free(path);
    }
    if (directory)
        closedir(directory);
    free(place);
    return ok;
}

struct telling {
    const char *run; /* NULL: all */
    void (*visit)(const char *path, const char *game, const struct pm_journal_state *state,
                  void *user);
    void *user;
};

static bool tell(const char *path, const char *game, void *user, struct pm_error *error)
{
    const struct telling *telling = user;
    struct pm_journal_state state = {0};
    struct pm_history history = {0};
    const bool judged = pm_journal_judge(path, false, telling->run, &history, &state, error);
    if (judged)
        telling->visit(path, game, &state, telling->user);
    pm_history_finish(&history);
    return judged;
}

bool pm_journal_each(const char *folder,
                     void (*visit)(const char *path, const char *game,
                                   const struct pm_journal_state *state, void *user),
                     void *user, struct pm_error *error)
{
    struct telling telling = {NULL, visit, user};
    return pm_journal_each_folder(folder, tell, &telling, error);
}

bool pm_journal_of_run(const char *folder, const char *game, const char *run,
                       void (*visit)(const char *path, const char *game,
                                     const struct pm_journal_state *state, void *user),
                       void *user, struct pm_error *error)
{
    struct telling telling = {run, visit, user};
    char *path = pm_journal_game_folder(folder, game);
    const bool told =
        path ? tell(path, game, &telling, error)
             : pm_fail(error, PM_ERROR_MEMORY, "no memory or no place for the journal");
    free(path);
    return told;
}
