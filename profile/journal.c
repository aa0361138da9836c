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

/* A line of the session's file about a variant, which is written over: by what becomes of it, and
 * by another one once it is gone. */
struct line {
    off_t at;
    struct line *next; /* of those that are free */
};

struct pm_journal_entry {
    struct pm_shader_key key;
    struct pm_journal *journal;
    _Atomic bool used;
    _Atomic bool settled; /* it is not new any more; changed under the journal's lock */
    /* guarded by the journal's lock: */
    struct line *line; /* NULL: it is gone */
    const char *said;  /* of it in the file; a constant */
    bool stays;        /* pm_journal_write or pm_journal_note wrote it down */
    uint32_t tried;    /* times that pm_journal_try did, and it was not gone since */
    bool was_used;     /* at the latest heartbeat */
    int64_t since;     /* its first heartbeat, or the first behind its first use; 0: none was */
    struct pm_journal_entry *next;
};

struct pm_journal {
    pid_t process;
    struct pm_history history;  /* read-only */
    int fd;                     /* of the session's file, locked */
    _Atomic uint32_t unsettled; /* variants; changed under the lock */
    _Atomic bool crashed;
    _Atomic int64_t beat;    /* the latest heartbeat's time; 0: there was none */
    _Atomic int64_t looked;  /* likewise, of that which looked at the variants */
    _Atomic int64_t touched; /* likewise, when the file was */
    pthread_mutex_t lock;
    /* guarded by lock: */
    off_t size;                       /* of the file */
    struct pm_journal_entry *entries; /* those that are there */
    size_t entry_count;
    struct pm_journal_entry *gone; /* who is about to bind one may look at it for ever */
    struct line *free_lines;
    uint32_t devices;
    bool ended; /* the file says so */
    bool lost;
    bool unsynced;
    time_t synced; /* CLOCK_MONOTONIC, seconds; 0: never */
};

/* Under the lock, but for the first line. */
static bool write_at(struct pm_journal *journal, off_t at, const char *text, struct pm_error *error)
{
    const size_t size = strlen(text);
    const ssize_t wrote = pwrite(journal->fd, text, size, at);
    if (wrote != (ssize_t)size)
        return pm_fail_errno(error, wrote < 0 ? errno : ENOSPC, "the journal cannot be written");
    if (at + wrote > journal->size)
        journal->size = at + wrote;
    return true;
}

static bool append(struct pm_journal *journal, const char *text, struct pm_error *error)
{
    return write_at(journal, journal->size, text, error);
}

/* What the file says of a variant from now on (journal_history.h: words of one length). */
static bool say(struct pm_journal_entry *entry, const char *word, struct pm_error *error)
{
    char key[PM_SHADER_KEY_TEXT], text[PM_SHADER_KEY_TEXT + 16];
    if (entry->said && strcmp(entry->said, word) == 0)
        return true;
    pm_shader_key_format(&entry->key, key);
    snprintf(text, sizeof text, "%s %s\n", word, key);
    if (!write_at(entry->journal, entry->line->at, text, error))
        return false;
    entry->said = word;
    return true;
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
    journal->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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

static void free_entries(struct pm_journal_entry *first)
{
    for (struct pm_journal_entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        free(entry->line);
        free(entry);
    }
}

static void destroy(struct pm_journal *journal)
{
    free_entries(journal->entries);
    free_entries(journal->gone);
    for (struct line *line = journal->free_lines, *next; line; line = next) {
        next = line->next;
        free(line);
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
    const bool opened = pm_journal_judge(folder, true, NULL, &journal->history, state, error) &&
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

/* ---- variants ---- */

/* It is there, and new. Under the lock, as all that follows. */
static bool begin_anew(struct pm_journal_entry *entry, struct pm_error *error)
{
    if (!say(entry, PM_JOURNAL_NEW, error))
        return false;
    entry->since = 0;
    if (atomic_exchange(&entry->settled, false))
        atomic_fetch_add(&entry->journal->unsettled, 1);
    entry->journal->unsynced = true;
    return true;
}

static struct pm_journal_entry *find(struct pm_journal_entry *first,
                                     const struct pm_shader_key *key)
{
    while (first && !pm_shader_key_equal(&first->key, key))
        first = first->next;
    return first;
}

static void unlink_entry(struct pm_journal_entry **link, const struct pm_journal_entry *entry)
{
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
}

/* One that is free, else the next of the file. NULL: no memory. */
static struct line *take_line(struct pm_journal *journal)
{
    struct line *line = journal->free_lines;
    if (line) {
        journal->free_lines = line->next;
        return line;
    }
    line = calloc(1, sizeof *line);
    if (line)
        line->at = journal->size;
    return line;
}

static void give_line_back(struct pm_journal *journal, struct pm_journal_entry *entry)
{
    struct line *line = entry->line;
    entry->line = NULL;
    entry->said = NULL;
    /* One that could not be written is none. */
    if (line->at == journal->size) {
        free(line);
        return;
    }
    line->next = journal->free_lines;
    journal->free_lines = line;
}

/* One that is gone is there again, if it is to be tried: there may be very many of these, and a
 * game's own thread is not to look through them. */
static struct pm_journal_entry *add_entry(struct pm_journal *journal,
                                          const struct pm_shader_key *key, bool tried,
                                          struct pm_error *error)
{
    if (journal->entry_count == PM_JOURNAL_MOST) {
        pm_fail(error, PM_ERROR_LIMIT, "the journal knows %d variants of this session",
                PM_JOURNAL_MOST);
        return NULL;
    }
    struct pm_journal_entry *gone = tried ? find(journal->gone, key) : NULL,
                            *entry = gone ? gone : calloc(1, sizeof *entry);
    struct line *line = entry ? take_line(journal) : NULL;
    if (!line) {
        if (!gone)
            free(entry);
        pm_fail(error, PM_ERROR_MEMORY, "no memory for the journal");
        return NULL;
    }
    entry->key = *key;
    entry->journal = journal;
    entry->line = line;
    atomic_store(&entry->used, false);
    atomic_store(&entry->settled, true);
    entry->was_used = false;
    if (!begin_anew(entry, error)) {
        give_line_back(journal, entry);
        if (!gone)
            free(entry);
        return NULL;
    }
    if (gone)
        unlink_entry(&journal->gone, gone);
    entry->next = journal->entries;
    journal->entries = entry;
    journal->entry_count++;
    return entry;
}

/* It is not only tried any more. What it did so far proves nothing, and is not its first use. */
static bool stay(struct pm_journal_entry *entry, struct pm_error *error)
{
    if (atomic_load(&entry->settled)) {
        if (!begin_anew(entry, error))
            return false;
        atomic_store(&entry->used, false);
        entry->was_used = false;
    }
    return entry->stays = true;
}

/* The entry of a key, added when there is none. */
static struct pm_journal_entry *get_entry(struct pm_journal *journal,
                                          const struct pm_shader_key *key, bool tried,
                                          struct pm_error *error)
{
    struct pm_journal_entry *entry = find(journal->entries, key);
    if (!entry)
        entry = add_entry(journal, key, tried, error);
    if (entry && tried)
        entry->tried++;
    return !entry || tried || entry->stays || stay(entry, error) ? entry : NULL;
}

static struct pm_journal_entry *write_down(struct pm_journal *journal,
                                           const struct pm_shader_key *key, bool tried,
                                           struct pm_error *error)
{
    if (!is_ours(journal)) {
        pm_fail(error, PM_ERROR_STATE, "this process was forked");
        return NULL;
    }
    pthread_mutex_lock(&journal->lock);
    const size_t before = journal->entry_count;
    struct pm_journal_entry *entry = get_entry(journal, key, tried, error);
    if (journal->entry_count > before)
        sync_sometimes(journal);
    pthread_mutex_unlock(&journal->lock);
    return entry;
}

struct pm_journal_entry *pm_journal_write(struct pm_journal *journal,
                                          const struct pm_shader_key *key, struct pm_error *error)
{
    return write_down(journal, key, false, error);
}

struct pm_journal_entry *pm_journal_try(struct pm_journal *journal, const struct pm_shader_key *key,
                                        struct pm_error *error)
{
    return write_down(journal, key, true, error);
}

struct pm_journal_entry *pm_journal_note(struct pm_journal *journal,
                                         const struct pm_shader_key *key, struct pm_error *error)
{
    if (!is_ours(journal) || pthread_mutex_trylock(&journal->lock) != 0) {
        pm_fail(error, PM_ERROR_STATE, "the journal is busy");
        return NULL;
    }
    struct pm_journal_entry *entry = get_entry(journal, key, false, error);
    pthread_mutex_unlock(&journal->lock);
    return entry;
}

static void settle(struct pm_journal_entry *entry)
{
    if (!atomic_exchange(&entry->settled, true))
        atomic_fetch_sub(&entry->journal->unsettled, 1);
}

/* Under the lock. */
static void take_off(struct pm_journal_entry *entry)
{
    struct pm_journal *journal = entry->journal;
    if (--entry->tried > 0 || entry->stays || journal->lost || atomic_load(&journal->crashed) ||
        !say(entry, PM_JOURNAL_OFF, NULL))
        return;
    settle(entry);
    give_line_back(journal, entry);
    unlink_entry(&journal->entries, entry);
    entry->next = journal->gone;
    journal->gone = entry;
    journal->entry_count--;
}

void pm_journal_gone(struct pm_journal_entry *entry)
{
    struct pm_journal *journal = entry->journal;
    if (!is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    take_off(entry);
    pthread_mutex_unlock(&journal->lock);
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
    /* Whoever settles it looks at `used` after setting `settled`: one of the two sees the other. */
    if (!atomic_load(&entry->settled) || !is_ours(journal))
        return;
    pthread_mutex_lock(&journal->lock);
    if (entry->line && atomic_load(&entry->settled))
        begin_anew(entry, NULL);
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

/* What it says of a variant that is not new any more. What is only tried is proven by nothing. */
static const char *word_of(const struct pm_journal_entry *entry)
{
    return entry->stays && atomic_load(&entry->used) ? PM_JOURNAL_RAN : PM_JOURNAL_OFF;
}

/* A lost device is no proper end, and any variant may have done that. Under the lock. */
static void end(struct pm_journal *journal)
{
    if (journal->ended || journal->lost || atomic_load(&journal->crashed))
        return;
    bool ok = true;
    for (struct pm_journal_entry *entry = journal->entries; ok && entry; entry = entry->next)
        ok = (entry->stays && !atomic_load(&entry->used)) || say(entry, word_of(entry), NULL);
    journal->ended = ok && append(journal, PM_JOURNAL_END "\n", NULL);
}

/* Something begins: what was said of the end no longer holds. Under the lock. */
static void go_on(struct pm_journal *journal)
{
    if (!journal->ended)
        return;
    append(journal, PM_JOURNAL_AGAIN "\n", NULL);
    for (struct pm_journal_entry *entry = journal->entries; entry; entry = entry->next)
        if (!atomic_load(&entry->settled))
            say(entry, PM_JOURNAL_NEW, NULL);
    journal->ended = false;
}

/* Under the lock. */
static void try_to_settle(struct pm_journal_entry *entry, int64_t now, int64_t seconds)
{
    const bool used = atomic_load(&entry->used);
    if (entry->since == 0 || used != entry->was_used) {
        entry->since = now;
        entry->was_used = used;
    } else if (now - entry->since >= seconds && say(entry, word_of(entry), NULL)) {
        settle(entry);
        if (atomic_load(&entry->used) != used)
            begin_anew(entry, NULL);
    }
}

void pm_journal_heartbeat(struct pm_journal *journal, int64_t now, uint32_t seconds)
{
    if (!is_ours(journal))
        return;
    atomic_store_explicit(&journal->beat, now, memory_order_relaxed);
    /* Who holds it may be syncing; the next heartbeat will do. */
    if (atomic_load_explicit(&journal->unsettled, memory_order_relaxed) == 0 ||
        (atomic_load_explicit(&journal->looked, memory_order_relaxed) == now && seconds > 0) ||
        pthread_mutex_trylock(&journal->lock) != 0)
        return;
    atomic_store_explicit(&journal->looked, now, memory_order_relaxed);
    for (struct pm_journal_entry *entry = journal->entries;
         entry && !journal->lost && !journal->ended; entry = entry->next)
        if (!atomic_load(&entry->settled))
            try_to_settle(entry, now, seconds);
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
