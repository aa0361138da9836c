#include "profile/journal.h"

#include "base/file.h"
#include "base/lock.h"
#include "base/random.h"
#include "profile/journal_asked.h"
#include "profile/journal_folder.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

struct pm_journal_entry {
    struct pm_shader_key key;
    struct pm_journal *journal;
    _Atomic bool used;
    bool told; /* that it was used; under the journal's lock */
    struct pm_journal_entry *next;
};

struct pm_journal {
    pid_t process;
    struct pm_history history; /* read-only */
    int fd;                    /* of the session's file, locked */
    _Atomic bool stirred; /* a variant was written down or first used since the last heartbeat */
    _Atomic bool settled; /* and so ended, though devices live; changed under the lock */
    _Atomic bool crashed;
    _Atomic int64_t beat;    /* the latest heartbeat's time; 0: there was none */
    _Atomic int64_t touched; /* likewise, when the file was */
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct pm_journal_entry *entries;
    size_t entry_count;
    uint32_t devices;
    bool ended; /* the file says so */
    bool lost;
    bool unsynced;
    int64_t quiet_since; /* CLOCK_MONOTONIC, seconds */
    time_t synced;       /* likewise; 0: never */
};

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
    journal->unsynced = false;
    fdatasync(journal->fd);
}

static bool make_file(struct pm_journal *journal, const char *folder, struct pm_error *error)
{
    uint64_t random = 0;
    char *path = NULL;
    pm_random_system(&random, sizeof random);
    const char *run = pm_run_name();
    if (asprintf(&path, "%s/%ld-%016" PRIx64 "%s%s" PM_JOURNAL_SUFFIX, folder, (long)getpid(),
                 random, run ? "-" : "", run ? run : "") < 0)
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

static bool open_in(struct pm_journal *journal, const char *folder, struct pm_journal_state *state,
                    struct pm_error *error)
{
    if (!pm_make_folder(folder, error))
        return false;
    const int locked = pm_journal_lock(folder);
    if (locked < 0)
        return pm_fail(error, PM_ERROR_STATE, "%s: another process holds the journal", folder);
    const bool opened = pm_journal_judge(folder, true, &journal->history, state, error) &&
                        make_file(journal, folder, error);
    pm_journal_unlock(locked);
    return opened;
}

struct pm_journal *pm_journal_open(const char *folder, const char *game,
                                   struct pm_journal_state *state, struct pm_error *error)
{
    struct pm_journal_state unwanted;
    state = state ? state : &unwanted;
    *state = (struct pm_journal_state){0};
    struct pm_journal *journal = calloc(1, sizeof *journal);
    char *path = pm_journal_game_folder(folder, game);
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

/* Something new begins: what was said of the end no longer holds. Under the lock. */
static void go_on(struct pm_journal *journal)
{
    if (journal->ended)
        append(journal, PM_JOURNAL_AGAIN "\n", NULL);
    journal->ended = false;
    atomic_store(&journal->settled, false);
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
    atomic_store(&journal->stirred, true);
    if (atomic_load(&journal->settled))
        go_on(journal);
    if (!append_key(journal, PM_JOURNAL_NEW, key, error)) {
        free(entry);
        return NULL;
    }
    journal->unsynced = true;
    entry->key = *key;
    entry->journal = journal;
    entry->next = journal->entries;
    journal->entries = entry;
    journal->entry_count++;
    return entry;
}

/* The entry of a key, added when there is none. Under the lock. */
static struct pm_journal_entry *get_entry(struct pm_journal *journal,
                                          const struct pm_shader_key *key, struct pm_error *error)
{
    struct pm_journal_entry *entry = find_entry(journal, key);
    return entry ? entry : add_entry(journal, key, error);
}

struct pm_journal_entry *pm_journal_write(struct pm_journal *journal,
                                          const struct pm_shader_key *key, struct pm_error *error)
{
    if (!is_ours(journal)) {
        pm_fail(error, PM_ERROR_STATE, "this process was forked");
        return NULL;
    }
    pthread_mutex_lock(&journal->lock);
    const size_t before = journal->entry_count;
    struct pm_journal_entry *entry = get_entry(journal, key, error);
    if (journal->entry_count > before)
        sync_sometimes(journal);
    pthread_mutex_unlock(&journal->lock);
    return entry;
}

struct pm_journal_entry *pm_journal_note(struct pm_journal *journal,
                                         const struct pm_shader_key *key, struct pm_error *error)
{
    if (!is_ours(journal) || pthread_mutex_trylock(&journal->lock) != 0) {
        pm_fail(error, PM_ERROR_STATE, "the journal is busy");
        return NULL;
    }
    struct pm_journal_entry *entry = get_entry(journal, key, error);
    pthread_mutex_unlock(&journal->lock);
    return entry;
}

void pm_journal_sync(struct pm_journal *journal)
{
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    const bool unsynced = journal->unsynced;
    journal->unsynced = false;
    pthread_mutex_unlock(&journal->lock);
    /* As long as the disk takes others may note something: the file is the same until it closes. */
    if (unsynced)
        fdatasync(journal->fd);
}

static void first_use(struct pm_journal_entry *entry)
{
    struct pm_journal *journal = entry->journal;
    atomic_store(&entry->used, true);
    /* Whoever settles looks at `stirred` after setting `settled`: one of the two sees the other. */
    atomic_store(&journal->stirred, true);
    if (!atomic_load(&journal->settled) || !is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    if (atomic_load(&journal->settled))
        go_on(journal);
    pthread_mutex_unlock(&journal->lock);
}

void pm_journal_used(struct pm_journal_entry *entry)
{
    if (!atomic_load_explicit(&entry->used, memory_order_relaxed))
        first_use(entry);
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
    if (journal->ended || atomic_load(&journal->crashed))
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

/* Under the lock. */
static void settle(struct pm_journal *journal)
{
    end(journal);
    atomic_store(&journal->settled, journal->ended);
    if (atomic_load(&journal->stirred))
        go_on(journal);
}

void pm_journal_heartbeat(struct pm_journal *journal, int64_t now, uint32_t seconds)
{
    if (atomic_load_explicit(&journal->settled, memory_order_relaxed) || !is_ours(journal))
        return;
    atomic_store_explicit(&journal->beat, now, memory_order_relaxed);
    /* Who holds it may be syncing; the next heartbeat will do. */
    if (pthread_mutex_trylock(&journal->lock) != 0)
        return;
    if (atomic_exchange(&journal->stirred, false))
        journal->quiet_since = now;
    else if (journal->entry_count > 0 && !journal->lost && !journal->ended &&
             now - journal->quiet_since >= (int64_t)seconds)
        settle(journal);
    pthread_mutex_unlock(&journal->lock);
}

void pm_journal_alive(struct pm_journal *journal)
{
    const int64_t beat = atomic_load_explicit(&journal->beat, memory_order_relaxed);
    if (is_ours(journal) && atomic_exchange(&journal->touched, beat) != beat)
        futimens(journal->fd, NULL);
}

void pm_journal_begin(struct pm_journal *journal)
{
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    journal->devices++;
    go_on(journal);
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

void pm_journal_crashed(struct pm_journal *journal)
{
    atomic_store(&journal->crashed, true);
}

void pm_journal_exit(struct pm_journal *journal)
{
    /* Who holds the lock may be the thread that a signal handler interrupted to exit. Far more
     * often it is one that is about to sync what it wrote. */
    if (!is_ours(journal) || !pm_lock_soon(&journal->lock))
        return;
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
