#include "profile/verdicts.h"

#include "base/file.h"
#include "base/paired.h"
#include "base/random.h"
#include "profile/journal_folder.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_BYTES = 8 << 20, /* PM_VERDICTS_MOST variants are below */
    DAY = 24 * 60 * 60,
};

struct pm_verdicts {
    pid_t process;
    uint64_t session; /* a random number, not 0 */
    char *folder, *path, *layer;
    pthread_mutex_t saving; /* one save at a time; taken before the other */
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct pm_kept_table table;
    struct pm_kept_table fresh; /* put since the last save */
};

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
    pm_buffer_init(&text, MOST_BYTES);
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

enum pm_verdict pm_kept_verdict(const struct pm_kept_variant *kept, int64_t now)
{
    static const int64_t days[] = {[PM_VERDICT_FASTER] = PM_DAYS_FASTER,
                                   [PM_VERDICT_SLOWER] = PM_DAYS_SLOWER,
                                   [PM_VERDICT_UNDECIDED] = PM_DAYS_UNDECIDED};
    const int64_t age = now - kept->decided_at;
    return kept->verdict != PM_VERDICT_NONE && age >= -DAY && age < days[kept->verdict] * DAY
               ? kept->verdict
               : PM_VERDICT_NONE;
}

/* What is looked for of an original. */
struct search {
    const struct pm_shader_key *original;
    const struct pm_environment *environment;
    uint64_t options;
    int64_t now;
    uint32_t least;                      /* sessions, for one to be sure */
    const struct pm_signed_verdicts *by; /* NULL but for what is signed */
    const struct pm_environment *by_environment;
};

/* Whether a variant that can be made again is of those that are looked for. */
static bool is_faster(const struct pm_kept_variant *kept, const struct search *search)
{
    return pm_kept_verdict(kept, search->now) == PM_VERDICT_FASTER;
}

static bool is_wanted(const struct pm_kept_variant *kept, const struct search *search)
{
    return kept->sessions.wanted && pm_kept_verdict(kept, search->now) == PM_VERDICT_NONE;
}

static bool is_signed(const struct pm_kept_variant *kept, const struct search *search)
{
    if (pm_kept_verdict(kept, search->now) != PM_VERDICT_NONE)
        return false;
    const struct pm_signed_verdict *verdict = pm_signed_verdicts_find(
        search->by, &kept->key, search->by_environment, (uint64_t)search->now);
    return verdict && verdict->faster;
}

static bool is_better(const struct pm_kept_variant *kept, const struct pm_kept_variant *than,
                      const struct search *search)
{
    const bool sure = pm_kept_is_sure(kept, search->least);
    if (sure != pm_kept_is_sure(than, search->least))
        return sure;
    return kept->decided_at > than->decided_at ||
           (kept->decided_at == than->decided_at && kept->used_at > than->used_at);
}

static bool find_of_original(struct pm_verdicts *verdicts, const struct search *search,
                             bool (*is_it)(const struct pm_kept_variant *kept,
                                           const struct search *search),
                             struct pm_kept_variant *kept)
{
    const struct pm_kept_variant *best = NULL;
    if (!verdicts)
        return false;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < verdicts->table.count; i++) {
        const struct pm_kept_variant *other = &verdicts->table.variants[i];
        if (pm_shader_key_equal(&other->original, search->original) &&
            pm_kept_same_environment(&other->environment, search->environment) &&
            other->made.count > 0 && other->made.options == search->options &&
            is_it(other, search) && (!best || is_better(other, best, search)))
            best = other;
    }
    if (best)
        *kept = *best;
    pthread_mutex_unlock(&verdicts->lock);
    return best != NULL;
}

bool pm_verdicts_find_faster(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, uint32_t least, struct pm_kept_variant *kept)
{
    const struct search search = {original, environment, options, now, least, NULL, NULL};
    return find_of_original(verdicts, &search, is_faster, kept);
}

bool pm_verdicts_find_session(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                              const struct pm_environment *environment, uint64_t options,
                              int64_t now, struct pm_kept_variant *kept)
{
    const struct search search = {original, environment, options, now, 1, NULL, NULL};
    return find_of_original(verdicts, &search, is_wanted, kept);
}

bool pm_verdicts_find_signed(struct pm_verdicts *verdicts, const struct pm_signed_verdicts *by,
                             const struct pm_environment *by_environment,
                             const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, struct pm_kept_variant *kept)
{
    const struct search search = {original, environment, options, now, 1, by, by_environment};
    return by->count > 0 && find_of_original(verdicts, &search, is_signed, kept);
}

/* Whatever the subgroup size. */
static bool can_be_made(const struct pm_kept_variant *kept,
                        const struct pm_environment *environment)
{
    struct pm_environment same = kept->environment;
    same.subgroup_size = environment->subgroup_size;
    return kept->made.count > 0 && pm_kept_same_environment(&same, environment);
}

bool pm_verdicts_any_at_once(struct pm_verdicts *verdicts, const struct pm_environment *environment)
{
    bool any = false;
    if (!verdicts)
        return false;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; !any && i < verdicts->table.count; i++) {
        const struct pm_kept_variant *kept = &verdicts->table.variants[i];
        any = (kept->verdict == PM_VERDICT_FASTER || kept->sessions.wanted) &&
              can_be_made(kept, environment);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return any;
}

struct pm_at_once_sum pm_verdicts_sum_at_once(struct pm_verdicts *verdicts,
                                              const struct pm_environment *environment, int64_t now,
                                              uint32_t least)
{
    struct pm_at_once_sum sum = {0};
    if (!verdicts)
        return sum;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < verdicts->table.count; i++) {
        const struct pm_kept_variant *kept = &verdicts->table.variants[i];
        if (pm_kept_verdict(kept, now) != PM_VERDICT_FASTER || !pm_kept_is_sure(kept, least) ||
            (kept->made.by & PM_MADE_OVER) || !can_be_made(kept, environment))
            continue;
        sum.took += (double)kept->made.took;
        sum.gain += 1 - kept->ratio;
    }
    pthread_mutex_unlock(&verdicts->lock);
    return sum;
}

bool pm_kept_is_worth(const struct pm_kept_variant *kept, const struct pm_at_once_sum *all,
                      double time)
{
    return all->took <= time ||
           (1 - kept->ratio) * all->took >= all->gain * (double)kept->made.took;
}

/* Bits. */
enum part {
    THE_VERDICT = 1 << 0, /* it ends what was seen, and pairs of sessions */
    HOW_IT_IS_MADE = 1 << 1,
    WHAT_WAS_SEEN = 1 << 2,
    OVER_SESSIONS = 1 << 3,
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
        changed = *old;
        take_parts(&changed, kept, part);
        if (part == THE_VERDICT)
            changed.sessions.wanted = kept->kind == PM_TIMED_SESSIONS && old->sessions.wanted;
    }
    if (pm_kept_put(&verdicts->table, &changed))
        note_fresh(verdicts, &changed, part);
    pthread_mutex_unlock(&verdicts->lock);
}

void pm_verdicts_put(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    change(verdicts, kept, THE_VERDICT);
}

/* ---- over sessions ---- */

/* The interval of what their trials found. */
static struct pm_paired interval_of(const struct pm_kept_variant *kept)
{
    double ratios[PM_SESSIONS_TRIED];
    for (uint32_t i = 0; i < kept->tried.count; i++)
        ratios[i] = log(kept->tried.ratios[i] * 1e-6);
    return pm_paired_interval(ratios, kept->tried.count, 0);
}

bool pm_kept_is_sure(const struct pm_kept_variant *kept, uint32_t least)
{
    return kept->kind == PM_TIMED_SESSIONS || least <= 1 ||
           (kept->tried.count >= least && interval_of(kept).high < 1);
}

/* Of too many sessions the oldest goes. One that tries it again has its newest. */
static void add_trial(struct pm_kept_variant *kept, uint64_t session)
{
    uint32_t *ratios = kept->tried.ratios;
    if (kept->tried.count > 0 && kept->tried.last == session)
        kept->tried.count--;
    if (kept->tried.count == PM_SESSIONS_TRIED)
        memmove(ratios, ratios + 1, --kept->tried.count * sizeof *ratios);
    ratios[kept->tried.count++] = pm_kept_millionths(kept->ratio);
    kept->tried.last = session;
}

/* Of a variant that is not slower: what all sessions say. */
static enum pm_verdict verdict_over_sessions(const struct pm_kept_variant *kept)
{
    const struct pm_paired all = interval_of(kept);
    return kept->tried.count == 1                                   ? kept->verdict
           : all.high < 1                                           ? PM_VERDICT_FASTER
           : all.ratio < 1 && kept->tried.count < PM_SESSIONS_TRIED ? PM_VERDICT_FASTER
                                                                    : PM_VERDICT_UNDECIDED;
}

/* The verdict of a session's trial, over what others found before it; old NULL: nothing. */
static void count_trial(struct pm_kept_variant *kept, const struct pm_kept_variant *old,
                        uint64_t session)
{
    kept->tried.count = 0;
    if (kept->verdict == PM_VERDICT_SLOWER)
        return;
    if (old && old->kind == kept->kind && pm_kept_verdict(old, kept->decided_at) != PM_VERDICT_NONE)
        kept->tried = old->tried;
    add_trial(kept, session);
    kept->verdict = verdict_over_sessions(kept);
}

void pm_verdicts_put_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    struct pm_kept_variant old, changed = *kept;
    const bool any =
        pm_verdicts_find(verdicts, &kept->key, &kept->original, &kept->environment, &old);
    if (!verdicts)
        return;
    count_trial(&changed, any ? &old : NULL, verdicts->session);
    pm_verdicts_put(verdicts, &changed);
}

void pm_verdicts_put_made(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    change(verdicts, kept, HOW_IT_IS_MADE);
}

void pm_verdicts_put_seen(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    change(verdicts, kept, WHAT_WAS_SEEN);
}

/* ---- trials over sessions ---- */

bool pm_session_half_waits(const struct pm_session_half *half, int64_t now)
{
    return half->there && now - half->at >= -DAY && now - half->at < PM_DAYS_HALF * DAY;
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

/* The sum of the logarithms of the times of uses of that work, and their count; 0: there are none,
 * or one was not timed. */
static unsigned sum_of(const struct pm_session_half *half, uint64_t work, double *sum)
{
    unsigned count = 0;
    *sum = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        if (half->work[i] != work || (work == 0 && half->nanoseconds[i] == 0))
            continue;
        if (half->nanoseconds[i] == 0)
            return 0;
        *sum += log((double)half->nanoseconds[i]);
        count++;
    }
    return count;
}

static bool is_first_of_work(const struct pm_session_half *half, int use)
{
    int i = 0;
    while (half->work[i] != half->work[use])
        i++;
    return i == use;
}

/* The variant's time over the original's, averaged over what both timed, and had as much to do
 * with; 0: nothing. Of uses that do not differ in that nobody knows which of the other session is
 * the same one, so all are compared with all, and where one is missing none is. */
static double ratio_of(const struct pm_session_half *a, const struct pm_session_half *b)
{
    double sum = 0;
    unsigned count = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        double ours, others;
        if (!is_first_of_work(a, i))
            continue;
        const unsigned uses = sum_of(a, a->work[i], &ours);
        if (uses == 0 || sum_of(b, a->work[i], &others) != uses)
            continue;
        sum += ours - others;
        count += uses;
    }
    return count == 0 ? 0 : exp(a->variant ? sum / count : -sum / count);
}

/* true: they are a pair. */
static bool pair_up(struct pm_kept_variant *kept, const struct pm_session_half *half)
{
    struct pm_session_half *other = &kept->sessions.half;
    const bool waits = pm_session_half_waits(other, half->at) && other->variant != half->variant;
    const double ratio = waits ? ratio_of(half, other) : 0;
    kept->used_at = half->at;
    if (ratio <= 0 || kept->sessions.count == PM_SESSION_PAIRS) {
        const uint32_t unlike = other->unlike + (waits && other->unlike < UINT32_MAX);
        *other = *half;
        other->unlike = unlike;
        return false;
    }
    *other = (struct pm_session_half){.there = false};
    kept->sessions.ratios[kept->sessions.count++] = pm_kept_millionths(ratio);
    return true;
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
    const bool paired = found && pair_up(found, half);
    if (found) {
        *kept = *found;
        note_fresh(verdicts, found, OVER_SESSIONS);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return paired;
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
            count_trial(&both, &ours, disk->tried.last);
        parts &= ~(uint32_t)THE_VERDICT;
    } else if ((parts & THE_VERDICT) && ours.tried.count > 0)
        count_trial(&ours, disk, verdicts->session);
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
    pm_buffer_init(&text, MOST_BYTES);
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

/* ---- copying ---- */

struct copying {
    const char *to, *game;
};

static bool copy_file(const char *from, const char *folder, struct pm_error *error)
{
    struct pm_buffer text;
    char *path = NULL;
    pm_buffer_init(&text, MOST_BYTES);
    if (asprintf(&path, "%s/verdicts", folder) < 0)
        path = NULL;
    const bool ok =
        path ? pm_make_folder(folder, error) && pm_file_read(from, &text, error) &&
                   pm_file_put(path, text.data ? text.data : (const void *)"", text.size, error)
             : pm_fail(error, PM_ERROR_MEMORY, "no memory for verdicts");
    free(path);
    pm_buffer_finish(&text);
    return ok;
}

static bool copy_game(const char *path, const char *game, void *user, struct pm_error *error)
{
    const struct copying *copying = user;
    char *from = NULL, *folder = NULL;
    if (copying->game && strcmp(game, copying->game) != 0)
        return true;
    bool ok = asprintf(&from, "%s/verdicts", path) >= 0;
    if (!ok)
        from = NULL;
    ok = ok && asprintf(&folder, "%s/%s", copying->to, game) >= 0;
    if (!ok)
        folder = NULL;
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "no memory for verdicts");
    else if (access(from, F_OK) == 0)
        ok = copy_file(from, folder, error);
    free(folder);
    free(from);
    return ok;
}

bool pm_verdicts_copy(const char *from, const char *to, const char *game, struct pm_error *error)
{
    struct copying copying = {to, game};
    return pm_journal_each_folder(from, copy_game, &copying, error);
}
