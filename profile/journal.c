#include "profile/journal.h"

#include "base/file.h"
#include "base/random.h"
#include "profile/journal_history.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".session"
#define HISTORY "history"

enum {
    /* A history or a session's file of PM_JOURNAL_MOST variants is below. */
    MOST_BYTES = 2 << 20,
    MOST_SESSIONS = 256, /* judged at once; the rest at the next start */
    LOCK_TRIES = 100,
    LOCK_PAUSE = 10000000, /* nanoseconds */
};

struct pm_journal_entry {
    struct pm_shader_key key;
    _Atomic bool used;
    bool told; /* that it was used; under the journal's lock */
    struct pm_journal_entry *next;
};

struct pm_journal {
    pid_t process;
    struct pm_history history; /* read-only */
    int fd;                    /* of the session's file, locked */
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct pm_journal_entry *entries;
    size_t entry_count;
    uint32_t devices;
    bool ended, lost;
    time_t synced; /* CLOCK_MONOTONIC, seconds; 0: never */
};

/* ---- the game's folder ---- */

static char *journals_folder(const char *folder)
{
    return folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "journal");
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* Takes the folder's lock. It is held for milliseconds, but a game must not wait for ever for
 * whoever has it. -1: not to be had. */
static int lock_folder(const char *folder)
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
static void unlock_folder(int fd)
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

static bool is_live(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno != ENOENT;
    const bool live = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return live;
}

/* The ended sessions, oldest first. The paths are the caller's. */
static size_t list_ended(const char *folder, struct session_file *list)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry;
         directory && count < MOST_SESSIONS && (entry = readdir(directory));) {
        const size_t length = strlen(entry->d_name), tail = sizeof SUFFIX - 1;
        struct stat status;
        if (length <= tail || strcmp(entry->d_name + length - tail, SUFFIX) != 0 ||
            fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        char *path = join(folder, entry->d_name);
        if (path && !is_live(path))
            list[count++] = (struct session_file){path, status.st_mtim};
        else
            free(path);
    }
    if (directory)
        closedir(directory);
    qsort(list, count, sizeof *list, by_age);
    return count;
}

static bool judge_file(struct pm_history *history, const char *path, struct pm_journal_state *state)
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
    const bool judged = pm_history_judge(history, &session, &bad);
    state->judged_bad += bad;
    pm_session_record_finish(&session);
    pm_buffer_finish(&text);
    return judged;
}

/* What the folder says; what is damaged is left out. */
static bool load_history(const char *folder, struct pm_history *history,
                         struct pm_journal_state *state, struct pm_error *error)
{
    *history = (struct pm_history){0};
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
    pm_buffer_finish(&text);
    free(path);
    return true;
}

static bool save_history(const char *folder, const struct pm_history *history,
                         struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    char *path = join(folder, HISTORY);
    const bool saved = (path && pm_history_format(history, &text))
                           ? pm_file_write(path, text.data, text.size, error)
                           : pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    free(path);
    pm_buffer_finish(&text);
    return saved;
}

/* Judges the ended sessions; with `keep` the history is written and they go. A session whose
 * history could not be written stays, and is judged again. */
static bool judge(const char *folder, bool keep, struct pm_history *history,
                  struct pm_journal_state *state, struct pm_error *error)
{
    if (!load_history(folder, history, state, error))
        return false;
    struct session_file *ended = calloc(MOST_SESSIONS, sizeof *ended);
    if (!ended)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    const size_t count = list_ended(folder, ended);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = judge_file(history, ended[i].path, state) ||
             pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    if (ok && keep && (count > 0 || state->damaged.code != PM_OK))
        ok = save_history(folder, history, error);
    for (size_t i = 0; i < count; i++) {
        if (ok && keep)
            unlink(ended[i].path);
        free(ended[i].path);
    }
    free(ended);
    pm_history_count(history, state);
    return ok;
}

/* ---- this session ---- */

/* Under the lock, but for the first line. */
static bool append(struct pm_journal *journal, const char *line, struct pm_error *error)
{
    const int why = pm_write_all(journal->fd, line, strlen(line));
    return why == 0 || pm_fail_errno(error, why, "the journal cannot be written");
}

static bool append_key(struct pm_journal *journal, const char *word,
                       const struct pm_shader_key *key, struct pm_error *error)
{
    char text[PM_SHADER_KEY_TEXT], line[PM_SHADER_KEY_TEXT + 16];
    pm_shader_key_format(key, text);
    snprintf(line, sizeof line, "%s %s\n", word, text);
    return append(journal, line, error);
}

static void sync_sometimes(struct pm_journal *journal)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (journal->synced != 0 && now.tv_sec <= journal->synced)
        return;
    journal->synced = now.tv_sec;
    fdatasync(journal->fd);
}

static bool make_file(struct pm_journal *journal, const char *folder, struct pm_error *error)
{
    uint64_t random = 0;
    char *path = NULL;
    pm_random_system(&random, sizeof random);
    if (asprintf(&path, "%s/%ld-%016" PRIx64 SUFFIX, folder, (long)getpid(), random) < 0)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
    journal->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool made = journal->fd >= 0 && flock(journal->fd, LOCK_EX | LOCK_NB) == 0;
    if (!made)
        pm_fail_errno(error, errno, "%s: cannot begin a journal", path);
    else
        made = append(journal, PM_JOURNAL_HEADER, error) && pm_folder_sync(folder, error);
    if (!made && journal->fd >= 0)
        unlink(path);
    free(path);
    return made;
}

static void destroy(struct pm_journal *journal)
{
    for (struct pm_journal_entry *entry = journal->entries, *next; entry; entry = next) {
        next = entry->next;
        free(entry);
    }
    if (journal->fd >= 0)
        close(journal->fd);
    pm_history_finish(&journal->history);
    pthread_mutex_destroy(&journal->lock);
    free(journal);
}

static char *game_folder(const char *folder, const char *game)
{
    char *place = journals_folder(folder), *safe = pm_file_safe_name(game);
    char *path = place && safe ? join(place, safe) : NULL;
    free(place);
    free(safe);
    return path;
}

static bool open_in(struct pm_journal *journal, const char *folder, struct pm_journal_state *state,
                    struct pm_error *error)
{
    if (!pm_make_folder(folder, error))
        return false;
    const int locked = lock_folder(folder);
    if (locked < 0)
        return pm_fail(error, PM_ERROR_STATE, "%s: another process holds the journal", folder);
    const bool opened =
        judge(folder, true, &journal->history, state, error) && make_file(journal, folder, error);
    unlock_folder(locked);
    return opened;
}

struct pm_journal *pm_journal_open(const char *folder, const char *game,
                                   struct pm_journal_state *state, struct pm_error *error)
{
    struct pm_journal_state unwanted;
    state = state ? state : &unwanted;
    *state = (struct pm_journal_state){0};
    struct pm_journal *journal = calloc(1, sizeof *journal);
    char *path = game_folder(folder, game);
    if (journal) {
        journal->process = getpid();
        journal->fd = -1;
        /* Nothing has begun that could end badly. */
        journal->ended = true;
        pthread_mutex_init(&journal->lock, NULL);
    }
    if (!journal || !path)
        pm_fail(error, PM_ERROR_MEMORY, "no memory or no place for the journal");
    if (journal && (!path || !open_in(journal, path, state, error))) {
        destroy(journal);
        journal = NULL;
    }
    free(path);
    return journal;
}

/* In a forked child nothing is to be written, and the lock may never be released. */
static bool is_ours(const struct pm_journal *journal)
{
    return getpid() == journal->process;
}

bool pm_journal_holds(const struct pm_journal *journal, const struct pm_shader_key *key)
{
    return pm_history_holds(&journal->history, key);
}

static struct pm_journal_entry *find_entry(const struct pm_journal *journal,
                                           const struct pm_shader_key *key)
{
    struct pm_journal_entry *entry = journal->entries;
    while (entry && !pm_shader_key_equal(&entry->key, key))
        entry = entry->next;
    return entry;
}

static struct pm_journal_entry *add_entry(struct pm_journal *journal,
                                          const struct pm_shader_key *key, struct pm_error *error)
{
    if (journal->entry_count == PM_JOURNAL_MOST) {
        pm_fail(error, PM_ERROR_LIMIT, "the journal knows %d variants of this session",
                PM_JOURNAL_MOST);
        return NULL;
    }
    struct pm_journal_entry *entry = calloc(1, sizeof *entry);
    if (!entry) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
        return NULL;
    }
    if (!append_key(journal, PM_JOURNAL_NEW, key, error)) {
        free(entry);
        return NULL;
    }
    sync_sometimes(journal);
    entry->key = *key;
    entry->next = journal->entries;
    journal->entries = entry;
    journal->entry_count++;
    return entry;
}

struct pm_journal_entry *pm_journal_write(struct pm_journal *journal,
                                          const struct pm_shader_key *key, struct pm_error *error)
{
    if (!is_ours(journal)) {
        pm_fail(error, PM_ERROR_STATE, "this process was forked");
        return NULL;
    }
    pthread_mutex_lock(&journal->lock);
    struct pm_journal_entry *entry = find_entry(journal, key);
    if (!entry)
        entry = add_entry(journal, key, error);
    pthread_mutex_unlock(&journal->lock);
    return entry;
}

void pm_journal_used(struct pm_journal_entry *entry)
{
    if (!atomic_load_explicit(&entry->used, memory_order_relaxed))
        atomic_store_explicit(&entry->used, true, memory_order_relaxed);
}

/* What cannot be written leaves the session looking as if it had not ended properly, which costs
 * speed and nothing else. */
void pm_journal_lost(struct pm_journal *journal)
{
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    if (!journal->lost)
        append(journal, PM_JOURNAL_LOST "\n", NULL);
    journal->lost = true;
    pthread_mutex_unlock(&journal->lock);
}

/* Under the lock. */
static void end(struct pm_journal *journal)
{
    if (journal->ended)
        return;
    bool ok = true;
    for (struct pm_journal_entry *entry = journal->entries; ok && entry; entry = entry->next) {
        if (entry->told || !atomic_load(&entry->used))
            continue;
        ok = append_key(journal, PM_JOURNAL_USED, &entry->key, NULL);
        entry->told = ok;
    }
    journal->ended = ok && append(journal, PM_JOURNAL_END "\n", NULL);
}

void pm_journal_begin(struct pm_journal *journal)
{
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    journal->devices++;
    if (journal->ended)
        append(journal, PM_JOURNAL_AGAIN "\n", NULL);
    journal->ended = false;
    pthread_mutex_unlock(&journal->lock);
}

void pm_journal_end(struct pm_journal *journal)
{
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    if (--journal->devices == 0)
        end(journal);
    pthread_mutex_unlock(&journal->lock);
}

void pm_journal_exit(struct pm_journal *journal)
{
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    end(journal);
    pthread_mutex_unlock(&journal->lock);
}

void pm_journal_close(struct pm_journal *journal)
{
    if (!journal)
        return;
    pm_journal_exit(journal);
    destroy(journal);
}

void pm_journal_abandon(struct pm_journal *journal)
{
    /* The lock stays with the parent, whose descriptor is the same open file. */
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = -1;
}

/* ---- for people ---- */

bool pm_journal_each(const char *folder,
                     void (*visit)(const char *path, const char *game,
                                   const struct pm_journal_state *state, void *user),
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
        struct pm_journal_state state = {0};
        struct pm_history history = {0};
        if (path) {
            ok = judge(path, false, &history, &state, error);
            if (ok)
                visit(path, entry->d_name, &state, user);
        }
        pm_history_finish(&history);
        free(path);
    }
    if (directory)
        closedir(directory);
    free(place);
    return ok;
}
