#include "profile/verdicts_private.h"

#include "base/file.h"
#include "base/random.h"
#include "profile/journal_folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void destroy(struct pm_verdicts *verdicts)
{
    free(verdicts->table.variants);
    free(verdicts->fresh.variants);
    free(verdicts->layer);
    free(verdicts->path);
    free(verdicts->folder);
    pthread_mutex_destroy(&verdicts->lock);
    pthread_mutex_destroy(&verdicts->saving);
    free(verdicts);
}

/* What is on the disk; nothing when it is not there, or damaged, which is told. */
static void load(const struct pm_verdicts *verdicts, struct pm_kept_table *table,
                 struct pm_error *damaged)
{
    struct pm_buffer text;
    struct pm_error error = {0};
    *table = (struct pm_kept_table){0};
    pm_buffer_init(&text, PM_VERDICTS_MOST_BYTES);
    if (access(verdicts->path, F_OK) == 0 &&
        (!pm_file_read(verdicts->path, &text, &error) ||
         !pm_kept_parse(table, verdicts->layer, text.data ? (const char *)text.data : "", text.size,
                        &error))) {
        pm_fail_prefix(&error, "%s", verdicts->path);
        if (damaged)
            *damaged = error;
    }
    pm_buffer_finish(&text);
}

struct pm_verdicts *pm_verdicts_open(const char *folder, const char *game, const char *layer,
                                     struct pm_error *damaged)
{
    struct pm_verdicts *verdicts = calloc(1, sizeof *verdicts);
    if (!verdicts)
        return NULL;
    pthread_mutex_init(&verdicts->saving, NULL);
    pthread_mutex_init(&verdicts->lock, NULL);
    verdicts->process = getpid();
    if (!pm_random_system(&verdicts->session, sizeof verdicts->session))
        verdicts->session = (uint64_t)time(NULL) << 32 ^ (uint64_t)verdicts->process;
    verdicts->session |= 1;
    verdicts->folder = pm_journal_game_folder(folder, game);
    verdicts->layer = strdup(layer);
    if (!verdicts->folder || !verdicts->layer ||
        asprintf(&verdicts->path, "%s/verdicts", verdicts->folder) < 0) {
        verdicts->path = NULL;
        destroy(verdicts);
        return NULL;
    }
    load(verdicts, &verdicts->table, damaged);
    return verdicts;
}

void pm_verdicts_close(struct pm_verdicts *verdicts)
{
    if (verdicts)
        destroy(verdicts);
}

bool pm_verdicts_find(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                      const struct pm_shader_key *original,
                      const struct pm_environment *environment, struct pm_kept_variant *kept)
{
    if (!verdicts)
        return false;
    pthread_mutex_lock(&verdicts->lock);
    const struct pm_kept_variant *found =
        pm_kept_find(&verdicts->table, key, original, environment);
    if (found)
        *kept = *found;
    pthread_mutex_unlock(&verdicts->lock);
    return found != NULL;
}

/* ---- changing ---- */

/* Bits. */
enum part {
    THE_VERDICT = 1 << 0, /* it ends what was seen, and pairs of sessions */
    HOW_IT_IS_MADE = 1 << 1,
    WHAT_WAS_SEEN = 1 << 2,
    OVER_SESSIONS = 1 << 3,
    WHAT_THEY_TOOK = 1 << 4, /* of that */
};

/* Parts of what is kept of a variant take the place of others. */
static void take_parts(struct pm_kept_variant *to, const struct pm_kept_variant *from,
                       uint32_t parts)
{
    const struct pm_kept_variant old = *to;
    if (parts & THE_VERDICT) {
        *to = *from;
        to->made = old.made;
    }
    if (parts & HOW_IT_IS_MADE)
        to->made = from->made;
    if (parts & WHAT_WAS_SEEN) {
        to->seen = from->seen;
        to->seen_at = from->seen_at;
    }
    if (parts & OVER_SESSIONS)
        to->sessions = from->sessions;
    if (parts & WHAT_THEY_TOOK)
        to->sessions.charged = from->sessions.charged;
    to->used_at = from->used_at;
}

/* A part of it is to be saved. Under the lock. Out of memory: it is not kept, which costs a trial.
 */
static void note_fresh(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept,
                       uint32_t parts)
{
    const struct pm_kept_variant *old =
        pm_kept_find(&verdicts->fresh, &kept->key, &kept->original, &kept->environment);
    struct pm_kept_variant fresh = *kept;
    fresh.fresh = parts | (old ? old->fresh : 0);
    pm_kept_put(&verdicts->fresh, &fresh);
}

/* Changes a part of what is kept of a variant. */
static void change(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept, enum part part)
{
    if (!verdicts)
        return;
    pthread_mutex_lock(&verdicts->lock);
    const struct pm_kept_variant *old =
        pm_kept_find(&verdicts->table, &kept->key, &kept->original, &kept->environment);
    struct pm_kept_variant changed = *kept;
    if (old) {
        const struct pm_session_half own = old->sessions.own;
        changed = *old;
        take_parts(&changed, kept, part);
        if (part == THE_VERDICT)
            changed.sessions.wanted = kept->kind == PM_TIMED_SESSIONS && old->sessions.wanted;
        if (part == THE_VERDICT && changed.sessions.wanted)
            changed.sessions.own = own;
    }
    if (pm_kept_put(&verdicts->table, &changed))
        note_fresh(verdicts, &changed, part);
    pthread_mutex_unlock(&verdicts->lock);
}

void pm_verdicts_put(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    change(verdicts, kept, THE_VERDICT);
}

void pm_verdicts_put_made(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    change(verdicts, kept, HOW_IT_IS_MADE);
}

void pm_verdicts_put_seen(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    change(verdicts, kept, WHAT_WAS_SEEN);
}

void pm_verdicts_put_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    struct pm_kept_variant old, changed = *kept;
    const bool any =
        pm_verdicts_find(verdicts, &kept->key, &kept->original, &kept->environment, &old);
    if (!verdicts)
        return;
    pm_kept_count_trial(&changed, any ? &old : NULL, verdicts->session);
    pm_verdicts_put(verdicts, &changed);
}

void pm_verdicts_want_sessions(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                               const struct pm_shader_key *original,
                               const struct pm_environment *environment, bool wanted)
{
    if (!verdicts)
        return;
    pthread_mutex_lock(&verdicts->lock);
    struct pm_kept_variant *kept = pm_kept_find(&verdicts->table, key, original, environment);
    if (kept && kept->sessions.wanted != wanted) {
        memset(&kept->sessions, 0, sizeof kept->sessions);
        kept->sessions.wanted = wanted;
        note_fresh(verdicts, kept, OVER_SESSIONS);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

void pm_verdicts_use(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                     const struct pm_shader_key *original, const struct pm_environment *environment,
                     int64_t now)
{
    if (!verdicts)
        return;
    pthread_mutex_lock(&verdicts->lock);
    struct pm_kept_variant *kept = pm_kept_find(&verdicts->table, key, original, environment);
    if (kept && now - kept->used_at >= PM_KEPT_DAY) {
        kept->used_at = now;
        note_fresh(verdicts, kept, 0);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

bool pm_verdicts_add_half(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                          const struct pm_shader_key *original,
                          const struct pm_environment *environment,
                          const struct pm_session_half *half, struct pm_kept_variant *kept)
{
    if (!verdicts)
        return false;
    pthread_mutex_lock(&verdicts->lock);
    struct pm_kept_variant *found = pm_kept_find(&verdicts->table, key, original, environment);
    const bool paired = found && pm_kept_pair_up(found, half);
    if (found) {
        *kept = *found;
        note_fresh(verdicts, found, OVER_SESSIONS);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return paired;
}

void pm_verdicts_look(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                      const struct pm_shader_key *original,
                      const struct pm_environment *environment, const struct pm_session_half *own)
{
    if (!verdicts)
        return;
    pthread_mutex_lock(&verdicts->lock);
    struct pm_kept_variant *kept = pm_kept_find(&verdicts->table, key, original, environment);
    if (kept) {
        kept->used_at = own->at;
        kept->sessions.own = *own;
        note_fresh(verdicts, kept, OVER_SESSIONS);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

void pm_verdicts_charge(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                        const struct pm_shader_key *original,
                        const struct pm_environment *environment, int64_t nanoseconds, int64_t now)
{
    if (!verdicts || nanoseconds == 0)
        return;
    pthread_mutex_lock(&verdicts->lock);
    struct pm_kept_variant *kept = pm_kept_find(&verdicts->table, key, original, environment);
    int64_t sum;
    if (kept && kept->sessions.wanted && pm_kept_verdict(kept, now) == PM_VERDICT_NONE &&
        !__builtin_add_overflow(kept->sessions.charged, nanoseconds, &sum)) {
        kept->sessions.charged = sum > 0 ? sum : 0;
        note_fresh(verdicts, kept, WHAT_THEY_TOOK);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

/* ---- saving ---- */

/* What is new of a variant over what is on the disk, where another process may have written
 * meanwhile: of two verdicts the later one stays, and both sessions' trials count. */
static struct pm_kept_variant merged(const struct pm_verdicts *verdicts,
                                     const struct pm_kept_variant *disk,
                                     const struct pm_kept_variant *fresh)
{
    struct pm_kept_variant both = *disk, ours = *fresh;
    uint32_t parts = fresh->fresh;
    if (disk->decided_at > ours.decided_at &&
        pm_kept_verdict(disk, ours.decided_at) != PM_VERDICT_NONE) {
        if ((parts & THE_VERDICT) && ours.tried.count > 0 && disk->tried.count > 0)
            pm_kept_count_trial(&both, &ours, disk->tried.last);
        parts &= ~(uint32_t)(THE_VERDICT | WHAT_THEY_TOOK);
    } else if ((parts & THE_VERDICT) && ours.tried.count > 0)
        pm_kept_count_trial(&ours, disk, verdicts->session);
    take_parts(&both, &ours, parts);
    if (both.used_at < disk->used_at)
        both.used_at = disk->used_at;
    return both;
}

static bool merge(const struct pm_verdicts *verdicts, const struct pm_kept_table *fresh,
                  struct pm_kept_table *table)
{
    bool ok = true;
    for (size_t i = 0; ok && i < fresh->count; i++) {
        const struct pm_kept_variant *kept = &fresh->variants[i],
                                     *disk = pm_kept_find(table, &kept->key, &kept->original,
                                                          &kept->environment);
        const struct pm_kept_variant both = disk ? merged(verdicts, disk, kept) : *kept;
        ok = pm_kept_put(table, &both);
    }
    return ok;
}

/* Under the folder's lock: what is there, with what is new over it. */
static bool write_over(const struct pm_verdicts *verdicts, const struct pm_kept_table *fresh,
                       struct pm_error *error)
{
    struct pm_kept_table table;
    struct pm_buffer text;
    load(verdicts, &table, NULL);
    pm_buffer_init(&text, PM_VERDICTS_MOST_BYTES);
    const bool ok = merge(verdicts, fresh, &table) && pm_kept_format(&table, verdicts->layer, &text)
                        ? pm_file_write(verdicts->path, text.data, text.size, error)
                        : pm_fail(error, PM_ERROR_MEMORY, "no memory for verdicts");
    pm_buffer_finish(&text);
    free(table.variants);
    return ok;
}

static bool write_fresh(const struct pm_verdicts *verdicts, const struct pm_kept_table *fresh,
                        struct pm_error *error)
{
    if (!pm_make_folder(verdicts->folder, error))
        return false;
    const int locked = pm_journal_lock(verdicts->folder);
    if (locked < 0)
        return pm_fail(error, PM_ERROR_STATE, "%s: another process holds the journal",
                       verdicts->folder);
    const bool ok = write_over(verdicts, fresh, error);
    pm_journal_unlock(locked);
    return ok;
}

/* What could not be saved is new still, but for what has become newer. */
static void take_back(struct pm_verdicts *verdicts, const struct pm_kept_table *unsaved)
{
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < unsaved->count; i++) {
        const struct pm_kept_variant *kept = &unsaved->variants[i];
        const struct pm_kept_variant *newer =
            pm_kept_find(&verdicts->fresh, &kept->key, &kept->original, &kept->environment);
        note_fresh(verdicts, newer ? newer : kept, kept->fresh);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

bool pm_verdicts_save(struct pm_verdicts *verdicts, struct pm_error *error)
{
    if (!verdicts || getpid() != verdicts->process)
        return true;
    pthread_mutex_lock(&verdicts->saving);
    pthread_mutex_lock(&verdicts->lock);
    struct pm_kept_table fresh = verdicts->fresh;
    verdicts->fresh = (struct pm_kept_table){0};
    pthread_mutex_unlock(&verdicts->lock);
    const bool ok = fresh.count == 0 || write_fresh(verdicts, &fresh, error);
    if (!ok)
        take_back(verdicts, &fresh);
    free(fresh.variants);
    pthread_mutex_unlock(&verdicts->saving);
    return ok;
}
