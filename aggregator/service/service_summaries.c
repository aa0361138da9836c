#include "aggregator/service/service_summaries.h"

#include <stdlib.h>
#include <string.h>

void pm_summaries_init(struct pm_summaries *summaries)
{
    memset(summaries, 0, sizeof(*summaries));
    pthread_mutex_init(&summaries->mutex, NULL);
}

void pm_summaries_finish(struct pm_summaries *summaries)
{
    for (size_t i = 0; i < summaries->count; i++)
        pm_summary_drop(summaries->kept[i].summary);
    free(summaries->kept);
    for (size_t i = 0; i < PM_SUMMARIES_WANTED; i++) {
        free(summaries->wanted[i]);
        free(summaries->taken[i]);
    }
    pthread_mutex_destroy(&summaries->mutex);
}

/* Where the game is, or belongs; with the mutex held. */
static size_t place_of(const struct pm_summaries *summaries, const char *game, bool *found)
{
    size_t low = 0, high = summaries->count;
    *found = false;
    while (low < high && !*found) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(summaries->kept[middle].summary->game, game);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return *found ? high : low;
}

static void forget(struct pm_summaries *summaries, size_t at)
{
    summaries->bytes -= pm_summary_bytes(summaries->kept[at].summary);
    pm_summary_drop(summaries->kept[at].summary);
    summaries->count--;
    memmove(&summaries->kept[at], &summaries->kept[at + 1],
            (summaries->count - at) * sizeof(*summaries->kept));
}

/* ---- asking ---- */

struct pm_summary *pm_summaries_find(struct pm_summaries *summaries, const char *game)
{
    struct pm_summary *summary = NULL;
    bool found;
    pthread_mutex_lock(&summaries->mutex);
    const size_t at = place_of(summaries, game, &found);
    if (found) {
        summaries->kept[at].used = ++summaries->uses;
        summary = pm_summary_take(summaries->kept[at].summary);
    }
    pthread_mutex_unlock(&summaries->mutex);
    return summary;
}

void pm_summaries_want(struct pm_summaries *summaries, const char *game)
{
    pthread_mutex_lock(&summaries->mutex);
    for (size_t i = 0; i < PM_SUMMARIES_WANTED; i++) {
        if (summaries->wanted[i] && strcmp(summaries->wanted[i], game) == 0)
            break;
        if (!summaries->wanted[i]) {
            summaries->wanted[i] = strdup(game); /* or it is asked for once more */
            break;
        }
    }
    pthread_mutex_unlock(&summaries->mutex);
}

bool pm_summaries_are_wanted(struct pm_summaries *summaries)
{
    pthread_mutex_lock(&summaries->mutex);
    const bool wanted = summaries->wanted[0] != NULL;
    pthread_mutex_unlock(&summaries->mutex);
    return wanted;
}

struct pm_summaries_totals pm_summaries_totals(struct pm_summaries *summaries)
{
    struct pm_summaries_totals totals = {0};
    pthread_mutex_lock(&summaries->mutex);
    for (size_t i = 0; i < summaries->count; i++) {
        const struct pm_summary *summary = summaries->kept[i].summary;
        totals.shaders += summary->shaders_known;
        for (unsigned j = 0; j < PM_REASONS; j++)
            totals.waiting[j] += summary->waiting[j];
        totals.points += summary->whole.points;
        totals.points_covered += summary->whole.points_covered;
    }
    totals.games = summaries->count;
    pthread_mutex_unlock(&summaries->mutex);
    return totals;
}

/* ---- the curator ---- */

bool pm_summaries_know_wanted(struct pm_summaries *summaries,
                              bool (*known)(const void *user, const char *game), const void *user)
{
    bool all = true;
    pthread_mutex_lock(&summaries->mutex);
    for (size_t i = 0; i < PM_SUMMARIES_WANTED && summaries->wanted[i]; i++)
        all = all && known(user, summaries->wanted[i]);
    pthread_mutex_unlock(&summaries->mutex);
    return all;
}

void pm_summaries_begin(struct pm_summaries *summaries)
{
    for (size_t i = 0; i < PM_SUMMARIES_WANTED; i++)
        free(summaries->taken[i]);
    pthread_mutex_lock(&summaries->mutex);
    memcpy(summaries->taken, summaries->wanted, sizeof(summaries->taken));
    memset(summaries->wanted, 0, sizeof(summaries->wanted));
    pthread_mutex_unlock(&summaries->mutex);
}

bool pm_summaries_is_wanted(const struct pm_summaries *summaries, const char *game)
{
    for (size_t i = 0; i < PM_SUMMARIES_WANTED && summaries->taken[i]; i++) {
        if (strcmp(summaries->taken[i], game) == 0)
            return true;
    }
    return false;
}

/* Makes room by forgetting what was used longest ago; the one at `kept` stays. */
static void evict(struct pm_summaries *summaries, const char *kept)
{
    while (summaries->bytes > PM_SUMMARIES_BYTES && summaries->count > 1) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < summaries->count; i++) {
            if (strcmp(summaries->kept[i].summary->game, kept) != 0 &&
                (oldest == SIZE_MAX || summaries->kept[i].used < summaries->kept[oldest].used))
                oldest = i;
        }
        forget(summaries, oldest);
    }
}

/* Nobody waits for the game any more. */
static void fulfil(struct pm_summaries *summaries, const char *game)
{
    for (size_t i = 0; i < PM_SUMMARIES_WANTED && summaries->wanted[i]; i++) {
        if (strcmp(summaries->wanted[i], game) != 0)
            continue;
        free(summaries->wanted[i]);
        memmove(&summaries->wanted[i], &summaries->wanted[i + 1],
                (PM_SUMMARIES_WANTED - 1 - i) * sizeof(*summaries->wanted));
        summaries->wanted[PM_SUMMARIES_WANTED - 1] = NULL;
        return;
    }
}

/* Takes the reference. */
static bool keep(struct pm_summaries *summaries, struct pm_summary *summary, struct pm_error *error)
{
    bool found, done = true;
    pthread_mutex_lock(&summaries->mutex);
    const size_t at = place_of(summaries, summary->game, &found);
    if (found) {
        summaries->bytes -= pm_summary_bytes(summaries->kept[at].summary);
        pm_summary_drop(summaries->kept[at].summary);
    } else {
        struct pm_kept_summary *grown =
            realloc(summaries->kept, (summaries->count + 1) * sizeof(*summaries->kept));
        done = grown != NULL;
        if (done) {
            summaries->kept = grown;
            memmove(&grown[at + 1], &grown[at], (summaries->count - at) * sizeof(*grown));
            grown[at].used = ++summaries->uses;
            summaries->count++;
        }
    }
    if (done) {
        summaries->kept[at].summary = summary;
        summaries->bytes += pm_summary_bytes(summary);
        evict(summaries, summary->game);
        fulfil(summaries, summary->game);
    } else {
        pm_summary_drop(summary);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for the summary of a game");
    }
    pthread_mutex_unlock(&summaries->mutex);
    return done;
}

bool pm_summaries_curate(struct pm_summaries *summaries, struct pm_curator *curator,
                         const char *game, struct pm_error *error)
{
    struct pm_summary *summary, *previous = NULL;
    bool found;
    pthread_mutex_lock(&summaries->mutex);
    const size_t at = place_of(summaries, game, &found);
    if (found)
        previous = pm_summary_take(summaries->kept[at].summary);
    pthread_mutex_unlock(&summaries->mutex);
    const bool done = pm_summary_curate(curator, game, previous, &summary, error);
    pm_summary_drop(previous);
    return done && keep(summaries, summary, error);
}

void pm_summaries_forget(struct pm_summaries *summaries, const char *game)
{
    bool found;
    pthread_mutex_lock(&summaries->mutex);
    const size_t at = place_of(summaries, game, &found);
    if (found)
        forget(summaries, at);
    pthread_mutex_unlock(&summaries->mutex);
}

void pm_summaries_retain(struct pm_summaries *summaries,
                         bool (*known)(const void *user, const char *game), const void *user)
{
    pthread_mutex_lock(&summaries->mutex);
    for (size_t i = summaries->count; i-- > 0;) {
        if (!known(user, summaries->kept[i].summary->game))
            forget(summaries, i);
    }
    pthread_mutex_unlock(&summaries->mutex);
}
