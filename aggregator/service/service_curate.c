/* Curation in the background: games that have new uploads, one after the other. */
#include "aggregator/service/service_state.h"

#include "base/clock.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The share of its time that curation may take: after a game it rests as many times as long, before
 * it turns to the next one or begins anew. So the more games there are, the more uploads a game has
 * when its turn comes, and the less its statistics are rewritten for each. */
#define REST 4

struct known_game {
    char *name;
    uint64_t uploads, curated; /* uploads: now; curated: when it was last curated */
    int64_t again; /* pm_now(): not before that for who waits, since it failed; 0: it did not */
};

struct games {
    struct known_game *games; /* sorted by name, as the storage lists them */
    size_t count;
    size_t at; /* while listing: where the next is looked for */
};

/* A game that is no longer there. */
static void forget_game(struct games *all)
{
    free(all->games[all->at].name);
    all->count--;
    memmove(&all->games[all->at], &all->games[all->at + 1],
            (all->count - all->at) * sizeof(*all->games));
}

static bool visit_game(void *user, const char *name, uint64_t uploads, struct pm_error *error)
{
    struct games *all = user;
    while (all->at < all->count && strcmp(all->games[all->at].name, name) < 0)
        forget_game(all);
    if (all->at == all->count || strcmp(all->games[all->at].name, name) != 0) {
        char *copy = strdup(name);
        struct known_game *games = realloc(all->games, (all->count + 1) * sizeof(*games));
        if (games)
            all->games = games;
        if (!copy || !games) {
            free(copy);
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a list of games");
        }
        memmove(&games[all->at + 1], &games[all->at], (all->count - all->at) * sizeof(*games));
        games[all->at] = (struct known_game){.name = copy};
        all->count++;
    }
    all->games[all->at++].uploads = uploads;
    return true;
}

static bool is_known(const void *user, const char *name)
{
    const struct games *all = user;
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(all->games[middle].name, name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool is_stopping(struct pm_service *service)
{
    pthread_mutex_lock(&service->mutex);
    const bool stopping = service->stopping;
    pthread_mutex_unlock(&service->mutex);
    return stopping;
}

/* Waits for so many nanoseconds, or until somebody cannot wait. true: the service stops. */
static bool rest(struct pm_service *service, int64_t time)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    time += until.tv_nsec;
    until.tv_sec += time / PM_SECOND;
    until.tv_nsec = time % PM_SECOND;
    pthread_mutex_lock(&service->mutex);
    while (!service->stopping && !pm_summaries_are_wanted(&service->summaries) &&
           pthread_cond_timedwait(&service->stop_changed, &service->mutex, &until) == 0) {
    }
    const bool stopping = service->stopping;
    pthread_mutex_unlock(&service->mutex);
    return stopping;
}

/* Keeps the last. */
static bool visit_coverage(void *user, int64_t time, uint64_t uploads, uint64_t points_covered,
                           uint64_t points)
{
    (void)time;
    (void)points_covered;
    (void)points;
    *(uint64_t *)user = uploads;
    return true;
}

/* May this process curate the game, which it does not when another does so now, or did already?
 * Where nothing is known of that, it does: twice is slower, and the same. */
static bool take_turn(struct pm_service *service, struct known_game *game, bool wanted)
{
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    struct pm_error error;
    uint64_t uploads = 0;
    bool taken;
    if (!pm_storage_take_lease(storage, game->name, PM_PIECE_CURATION, &taken, &error))
        return true;
    /* What this process never curated may be of other rules. */
    if (!taken || wanted || game->curated == 0 || game->curated == UINT64_MAX ||
        !storage->operations->take_lease ||
        !storage->operations->read_coverage(storage, game->name, visit_coverage, &uploads,
                                            &error) ||
        uploads < game->uploads)
        return taken;
    pm_storage_drop_lease(storage, game->name, PM_PIECE_CURATION);
    game->curated = game->uploads;
    pm_summaries_forget(&service->summaries, game->name);
    return false;
}

/* Would it fail again until there are new uploads? A storage that is away, full or held is not. */
static bool is_of_game(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_MEMORY;
}

static void curate_game(struct pm_service *service, struct known_game *game, bool wanted)
{
    struct pm_error error;
    if (!take_turn(service, game, wanted))
        return;
    const int64_t before = pm_now();
    const bool done = pm_summaries_curate(
        &service->summaries, pm_aggregator_curator(service->aggregator), game->name, &error);
    pm_storage_drop_lease(pm_aggregator_storage(service->aggregator), game->name,
                          PM_PIECE_CURATION);
    if (!done && is_stopping(service))
        return; /* it was interrupted */
    if (done || is_of_game(&error))
        game->curated = game->uploads;
    game->again = done ? 0 : pm_now() + REST * (pm_now() - before);
    if (!done) {
        atomic_fetch_add(&service->metrics.curation_failures, 1);
        pm_log_error(service->log,
                     "cannot curate \"%s\": %s. Its published database stays as it is (%s)",
                     game->name, error.message,
                     error.code == PM_ERROR_INPUT
                         ? "`piecemeal serve --check` says what of its statistics is damaged"
                     : is_of_game(&error) ? "it is tried again when there are new uploads"
                                          : "it is tried again");
    }
    pm_metrics_time(&service->metrics.curations, pm_now() - before);
}

/* Somebody waits for these, so that they come before all others, and nobody rests for them; but for
 * what fails, since who waits asks again and again. */
static void curate_wanted(struct pm_service *service, struct games *all)
{
    pm_summaries_begin(&service->summaries);
    for (size_t i = 0; i < all->count && !is_stopping(service); i++) {
        if (pm_summaries_is_wanted(&service->summaries, all->games[i].name) &&
            pm_now() >= all->games[i].again)
            curate_game(service, &all->games[i], true);
    }
}

/* Rests until then, and sees to who waits meanwhile; however much that is, it ends then. true: the
 * service stops, or who waits does so for a game that has come since the games were listed. */
static bool rest_until(struct pm_service *service, struct games *all, int64_t until)
{
    for (;;) {
        const int64_t left = until - pm_now();
        if (rest(service, left > 0 ? left : 0))
            return true;
        if (!pm_summaries_know_wanted(&service->summaries, is_known, all))
            return true;
        if (pm_summaries_are_wanted(&service->summaries))
            curate_wanted(service, all);
        if (pm_now() >= until)
            return false;
    }
}

/* *rested: when it will have rested for what it did, pm_now(). */
static void curate_all(struct pm_service *service, struct games *all, int64_t *rested)
{
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    struct pm_error error;
    bool expired;
    all->at = 0;
    if (!pm_aggregator_upkeep(service->aggregator, &expired, &error))
        pm_log_error(service->log,
                     "upkeep of the storage: %s. What is beyond the retention is still there; it "
                     "is tried again with the next curation",
                     error.message);
    for (size_t i = 0; expired && i < all->count; i++)
        all->games[i].curated = UINT64_MAX;
    if (!storage->operations->list_games(storage, visit_game, all, &error)) {
        pm_log_error(service->log, "cannot list the games: %s", error.message);
        pm_summaries_begin(&service->summaries); /* who waits asks again */
        return;
    }
    while (all->at < all->count)
        forget_game(all);
    pm_summaries_retain(&service->summaries, is_known, all);
    curate_wanted(service, all);
    for (size_t i = 0; i < all->count && !is_stopping(service); i++) {
        struct known_game *game = &all->games[i];
        if (game->uploads == game->curated)
            continue;
        if (rest_until(service, all, *rested))
            return;
        if (game->uploads == game->curated)
            continue; /* it was wanted meanwhile */
        const int64_t before = pm_now();
        curate_game(service, game, false);
        *rested = pm_now() + REST * (pm_now() - before);
    }
}

void pm_curate_want(struct pm_service *service, const char *game)
{
    pm_summaries_want(&service->summaries, game);
    pthread_mutex_lock(&service->mutex);
    pthread_cond_broadcast(&service->stop_changed);
    pthread_mutex_unlock(&service->mutex);
}

void *pm_curate_run(void *user)
{
    struct pm_service *service = user;
    struct games all = {0};
    bool stopping = false;
    int64_t rested = 0;
    while (!stopping) {
        const int64_t period = service->curate_seconds * PM_SECOND;
        curate_all(service, &all, &rested);
        const int64_t owed = rested - pm_now();
        stopping = rest(service, owed > period ? owed : period);
    }
    for (size_t i = 0; i < all.count; i++)
        free(all.games[i].name);
    free(all.games);
    return NULL;
}
