#include "aggregator/intake/fold.h"

#include "aggregator/intake/fold_day.h"
#include "aggregator/intake/fold_slice.h"
#include "aggregator/intake/samples.h"
#include "base/clock.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Samples that are read at once, in bytes: bounds the memory it takes, to some tens of times as
 * much. */
#define SLICE ((size_t)8 << 20)
/* What they become at once, in bytes, unless it is one row. Made to be large, two bytes of samples
 * become some hundred: then fewer rows are folded at once. */
#define SUMS_CAP ((size_t)256 << 20)
/* Rows of one part that may wait anyway, and the share of the storage's size that may. A part of a
 * game is rewritten when it is folded, so that what waits must stand in proportion to it. */
#define WAITING_LEAST ((uint64_t)256 << 20)
#define WAITING_SHARE 4
#define LOOK_AGAIN_NS 10000000
#define LEASE_SECONDS 10 /* that another process may fold a part that is waited for */

/* ---- parts ---- */

struct part {
    char *game;
    unsigned part;
    uint64_t bytes;
};

struct parts {
    struct part *parts;
    size_t count;
    uint64_t bytes;  /* without those of marks */
    uint32_t before; /* days whose marks have ended */
    bool only_marks; /* else all */
};

static bool visit_part(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                       struct pm_error *error)
{
    struct parts *all = user;
    uint32_t day = 0;
    unsigned of;
    const bool marks = pm_sample_part_has_marks(part, &day, &of);
    if (marks ? day >= all->before : all->only_marks)
        return true;
    struct part *parts = realloc(all->parts, (all->count + 1) * sizeof(*parts));
    char *copy = strdup(game);
    (void)rows;
    if (parts)
        all->parts = parts;
    if (!parts || !copy) {
        free(copy);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu parts", all->count);
    }
    parts[all->count++] = (struct part){copy, part, bytes};
    all->bytes += marks ? 0 : bytes;
    return true;
}

static void parts_finish(struct parts *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->parts[i].game);
    free(all->parts);
}

/* Some of it. *more: there may be more, of what waited when it was listed: under load there is
 * always more. part->bytes: what is left of that. */
static bool fold_once(struct pm_folding *folding, struct part *part, struct pm_fold_tries *tries,
                      bool *more, struct pm_error *error)
{
    const struct pm_fold_place place = {.world = folding->world,
                                        .quarantine = folding->quarantine,
                                        .sum_bytes = folding->sum_bytes,
                                        .game = part->game,
                                        .part = part->part};
    uint64_t bytes = 0;
    uint32_t day;
    unsigned of;
    const bool marks = pm_sample_part_has_marks(part->part, &day, &of);
    if (!pm_world_may_go_on(folding->world, PM_FOLDING, error) ||
        !(marks ? pm_fold_day(&place, tries, error) : pm_fold_slice(&place, tries, &bytes, error)))
        return pm_fail_prefix(error, "folding \"%s\"", part->game);
    *more = tries->again || (bytes > 0 && bytes < part->bytes);
    if (!tries->again)
        *tries = (struct pm_fold_tries){.most = tries->most};
    part->bytes -= bytes < part->bytes ? bytes : part->bytes;
    /* Another process may have folded what this one counted. */
    uint64_t known = atomic_load(&folding->waiting_bytes);
    while (!atomic_compare_exchange_weak(&folding->waiting_bytes, &known,
                                         known > bytes ? known - bytes : 0)) {
    }
    return true;
}

/* Another process that folds the part just now keeps it; it is waited for until then (pm_now()). */
static bool take_part(struct pm_folding *folding, const struct part *part, int64_t until,
                      bool *taken, struct pm_error *error)
{
    for (;;) {
        if (!pm_storage_take_lease(folding->world->storage, part->game, (int)part->part, taken,
                                   error))
            return pm_fail_prefix(error, "folding \"%s\"", part->game);
        if (*taken || pm_now() >= until)
            return true;
        if (!pm_world_may_go_on(folding->world, PM_FOLDING, error))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NS}, NULL);
    }
}

/* What another process folds just now is its, but for who wants it folded: that one waits, and then
 * does it all the same: twice is slower, and the same. */
static bool fold_part(struct pm_folding *folding, struct part *part, bool wait,
                      struct pm_error *error)
{
    struct pm_fold_tries tries = {.most = SLICE};
    const int64_t until = wait ? pm_now() + LEASE_SECONDS * PM_SECOND : 0;
    bool taken, done = true, more = part->bytes > 0;
    while (done && more) {
        if (!take_part(folding, part, until, &taken, error))
            return false;
        if (!taken && !wait)
            return true;
        done = fold_once(folding, part, &tries, &more, error);
        if (taken)
            pm_storage_drop_lease(folding->world->storage, part->game, (int)part->part);
    }
    return done;
}

/* May it be that only this part cannot be folded? */
static bool is_of_part(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_MEMORY;
}

/* strict: all parts have to be folded; else one that cannot be is said in the log, and stays. */
static bool fold_before(struct pm_folding *folding, const char *game, uint32_t before, bool strict,
                        struct pm_error *error)
{
    struct pm_storage *storage = folding->world->storage;
    struct parts all = {.before = before};
    struct pm_error reason = {0};
    pthread_mutex_lock(&folding->mutex);
    bool done = storage->operations->list_samples(storage, game, visit_part, &all, error);
    for (size_t i = 0; done && i < all.count; i++) {
        if (fold_part(folding, &all.parts[i], true, &reason))
            continue;
        done = !strict && is_of_part(&reason);
        if (done)
            pm_log_error(folding->world->log, "uploads stay out of the statistics: %s",
                         reason.message);
        else if (error)
            *error = reason;
    }
    pthread_mutex_unlock(&folding->mutex);
    parts_finish(&all);
    return done;
}

bool pm_fold(struct pm_folding *folding, const char *game, struct pm_error *error)
{
    return fold_before(folding, game, pm_world_today(folding->world), true, error);
}

bool pm_fold_what_can_be(struct pm_folding *folding, const char *game, struct pm_error *error)
{
    return fold_before(folding, game, pm_world_today(folding->world), false, error);
}

bool pm_fold_early(struct pm_folding *folding, const char *game, struct pm_error *error)
{
    return fold_before(folding, game, UINT32_MAX, true, error);
}

void pm_folding_init(struct pm_folding *folding, struct pm_world *world,
                     struct pm_quarantine *quarantine)
{
    *folding = (struct pm_folding){.world = world, .quarantine = quarantine, .sum_bytes = SUMS_CAP};
    pthread_mutex_init(&folding->mutex, NULL);
}

void pm_folding_finish(struct pm_folding *folding)
{
    pthread_mutex_destroy(&folding->mutex);
}

bool pm_folding_count(struct pm_folding *folding, struct pm_error *error)
{
    struct pm_storage *storage = folding->world->storage;
    struct parts all = {0};
    const bool done = storage->operations->list_samples(storage, NULL, visit_part, &all, error);
    atomic_store(&folding->waiting_bytes, all.bytes);
    parts_finish(&all);
    return done;
}

void pm_folding_add(struct pm_folding *folding, uint64_t bytes)
{
    atomic_fetch_add(&folding->waiting_bytes, bytes);
}

/* ---- limits ---- */

static uint64_t limit_of(struct pm_folding *folding)
{
    struct pm_storage *storage = folding->world->storage;
    uint64_t bytes;
    if (folding->limit_bytes > 0)
        return folding->limit_bytes;
    if (atomic_load(&folding->waiting_bytes) <= WAITING_LEAST ||
        !storage->operations->read_bytes(storage, &bytes, NULL) ||
        bytes / WAITING_SHARE < WAITING_LEAST)
        return WAITING_LEAST;
    return bytes / WAITING_SHARE;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

/* Remembers what cannot be folded, so that the other games' uploads do not wait for it. */
static void note_stuck(struct pm_folding *folding, uint32_t parts, uint64_t bytes,
                       const struct pm_error *reason)
{
    if (parts > 0 && parts != folding->stuck_parts)
        pm_log_error(folding->world->log,
                     "%" PRIu64 " bytes of uploads cannot be brought into the statistics: %s. They "
                     "stay, and are tried again; other games go on",
                     bytes, reason->message);
    else if (parts == 0 && folding->stuck_parts > 0)
        pm_log_info(folding->world->log, "all uploads are brought into the statistics again");
    folding->stuck_parts = parts;
    atomic_store(&folding->stuck_bytes, bytes);
}

/* Folds until no more than this waits, beside what cannot be folded; under the mutex. */
static bool fold_down_to(struct pm_folding *folding, uint64_t most, struct pm_error *error)
{
    struct pm_storage *storage = folding->world->storage;
    struct parts all = {0};
    struct pm_error reason = {0}, last = {0};
    uint32_t stuck = 0;
    uint64_t stuck_bytes = 0;
    bool done = storage->operations->list_samples(storage, NULL, visit_part, &all, error);
    if (done && all.count > 0)
        qsort(all.parts, all.count, sizeof(*all.parts), compare_parts);
    /* What this process counted may have been folded by another. */
    if (done)
        atomic_store(&folding->waiting_bytes, all.bytes);
    for (size_t i = 0; done && i < all.count; i++) {
        if (atomic_load(&folding->waiting_bytes) <= most + stuck_bytes)
            break;
        if (fold_part(folding, &all.parts[i], false, &reason))
            continue;
        done = is_of_part(&reason);
        stuck++;
        stuck_bytes += all.parts[i].bytes;
        last = reason;
    }
    if (done)
        note_stuck(folding, stuck, stuck_bytes, &last);
    else if (error && reason.code != PM_OK)
        *error = reason;
    parts_finish(&all);
    return done;
}

/* That wait and can be folded, as far as is known. */
static uint64_t waiting(struct pm_folding *folding)
{
    const uint64_t all = atomic_load(&folding->waiting_bytes);
    const uint64_t stuck = atomic_load(&folding->stuck_bytes);
    return all > stuck ? all - stuck : 0;
}

bool pm_fold_make_room(struct pm_folding *folding, struct pm_error *error)
{
    const uint64_t most = 2 * limit_of(folding);
    bool done = true;
    /* Whoever folds already makes room, soon, though it goes on for long. */
    while (done && waiting(folding) > most && !pm_world_is_interrupted(folding->world)) {
        if (pthread_mutex_trylock(&folding->mutex) != 0) {
            nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NS}, NULL);
            continue;
        }
        done = fold_down_to(folding, most, error);
        pthread_mutex_unlock(&folding->mutex);
    }
    /* Who stops takes what it accepted, however much waits then. */
    return done || pm_world_is_interrupted(folding->world);
}

/* Folds what days that have ended left under marks. What cannot be folded is tried again when its
 * game is curated. */
static bool close_days(struct pm_folding *folding, struct pm_error *error)
{
    struct pm_storage *storage = folding->world->storage;
    const uint32_t today = pm_world_today(folding->world);
    struct parts all = {.before = today, .only_marks = true};
    struct pm_error reason = {0};
    if (atomic_load(&folding->closed_on) == today)
        return true;
    pthread_mutex_lock(&folding->mutex);
    bool done = storage->operations->list_samples(storage, NULL, visit_part, &all, error);
    for (size_t i = 0; done && i < all.count; i++) {
        if (fold_part(folding, &all.parts[i], false, &reason))
            continue;
        done = is_of_part(&reason);
        if (done)
            pm_log_error(folding->world->log, "uploads of a day that has ended stay: %s",
                         reason.message);
        else if (error)
            *error = reason;
    }
    pthread_mutex_unlock(&folding->mutex);
    parts_finish(&all);
    if (done)
        atomic_store(&folding->closed_on, today);
    return done;
}

bool pm_fold_some(struct pm_folding *folding, struct pm_error *error)
{
    const uint64_t may = limit_of(folding);
    if (!close_days(folding, error))
        return false;
    if (waiting(folding) <= may)
        return true;
    pthread_mutex_lock(&folding->mutex);
    const bool done = fold_down_to(folding, may / 4 * 3, error);
    pthread_mutex_unlock(&folding->mutex);
    return done;
}
