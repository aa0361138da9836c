#include "aggregator/service/service_summaries.h"

#include <stdlib.h>
#include <string.h>

void pm_models_init(struct pm_models *models)
{
    memset(models, 0, sizeof(*models));
    pthread_mutex_init(&models->mutex, NULL);
}

void pm_models_finish(struct pm_models *models)
{
    for (size_t i = 0; i < models->count; i++)
        pm_summary_drop(models->models[i].summary);
    free(models->models);
    for (size_t i = 0; i < PM_MODELS_WANTED; i++) {
        free(models->wanted[i]);
        free(models->taken[i]);
    }
    pthread_mutex_destroy(&models->mutex);
}

/* Where the game is, or belongs; with the mutex held. */
static size_t place_of(const struct pm_models *models, const char *game, bool *found)
{
    size_t low = 0, high = models->count;
    *found = false;
    while (low < high && !*found) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(models->models[middle].summary->game, game);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return *found ? high : low;
}

static void forget(struct pm_models *models, size_t at)
{
    models->bytes -= pm_summary_bytes(models->models[at].summary);
    pm_summary_drop(models->models[at].summary);
    models->count--;
    memmove(&models->models[at], &models->models[at + 1],
            (models->count - at) * sizeof(*models->models));
}

/* ---- asking ---- */

struct pm_summary *pm_models_find(struct pm_models *models, const char *game)
{
    struct pm_summary *summary = NULL;
    bool found;
    pthread_mutex_lock(&models->mutex);
    const size_t at = place_of(models, game, &found);
    if (found) {
        models->models[at].used = ++models->uses;
        summary = pm_summary_take(models->models[at].summary);
    }
    pthread_mutex_unlock(&models->mutex);
    return summary;
}

void pm_models_want(struct pm_models *models, const char *game)
{
    pthread_mutex_lock(&models->mutex);
    for (size_t i = 0; i < PM_MODELS_WANTED; i++) {
        if (models->wanted[i] && strcmp(models->wanted[i], game) == 0)
            break;
        if (!models->wanted[i]) {
            models->wanted[i] = strdup(game); /* or it is asked for once more */
            break;
        }
    }
    pthread_mutex_unlock(&models->mutex);
}

bool pm_models_are_wanted(struct pm_models *models)
{
    pthread_mutex_lock(&models->mutex);
    const bool wanted = models->wanted[0] != NULL;
    pthread_mutex_unlock(&models->mutex);
    return wanted;
}

struct pm_models_totals pm_models_totals(struct pm_models *models)
{
    struct pm_models_totals totals = {0};
    pthread_mutex_lock(&models->mutex);
    for (size_t i = 0; i < models->count; i++) {
        const struct pm_summary *summary = models->models[i].summary;
        totals.shaders += summary->shaders_known;
        totals.points += summary->whole.points;
        totals.points_covered += summary->whole.points_covered;
    }
    totals.games = models->count;
    pthread_mutex_unlock(&models->mutex);
    return totals;
}

/* ---- the curator ---- */

void pm_models_begin(struct pm_models *models)
{
    for (size_t i = 0; i < PM_MODELS_WANTED; i++)
        free(models->taken[i]);
    pthread_mutex_lock(&models->mutex);
    memcpy(models->taken, models->wanted, sizeof(models->taken));
    memset(models->wanted, 0, sizeof(models->wanted));
    pthread_mutex_unlock(&models->mutex);
}

bool pm_models_is_wanted(const struct pm_models *models, const char *game)
{
    for (size_t i = 0; i < PM_MODELS_WANTED && models->taken[i]; i++) {
        if (strcmp(models->taken[i], game) == 0)
            return true;
    }
    return false;
}

/* Makes room by forgetting what was used longest ago; the one at `kept` stays. */
static void evict(struct pm_models *models, const char *kept)
{
    while (models->bytes > PM_MODELS_BYTES && models->count > 1) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < models->count; i++) {
            if (strcmp(models->models[i].summary->game, kept) != 0 &&
                (oldest == SIZE_MAX || models->models[i].used < models->models[oldest].used))
                oldest = i;
        }
        forget(models, oldest);
    }
}

/* Nobody waits for the game any more. */
static void fulfil(struct pm_models *models, const char *game)
{
    for (size_t i = 0; i < PM_MODELS_WANTED && models->wanted[i]; i++) {
        if (strcmp(models->wanted[i], game) != 0)
            continue;
        free(models->wanted[i]);
        memmove(&models->wanted[i], &models->wanted[i + 1],
                (PM_MODELS_WANTED - 1 - i) * sizeof(*models->wanted));
        models->wanted[PM_MODELS_WANTED - 1] = NULL;
        return;
    }
}

/* Takes the reference. */
static bool keep(struct pm_models *models, struct pm_summary *summary, struct pm_error *error)
{
    bool found, done = true;
    pthread_mutex_lock(&models->mutex);
    const size_t at = place_of(models, summary->game, &found);
    if (found) {
        models->bytes -= pm_summary_bytes(models->models[at].summary);
        pm_summary_drop(models->models[at].summary);
    } else {
        struct pm_model *grown =
            realloc(models->models, (models->count + 1) * sizeof(*models->models));
        done = grown != NULL;
        if (done) {
            models->models = grown;
            memmove(&grown[at + 1], &grown[at], (models->count - at) * sizeof(*grown));
            grown[at].used = ++models->uses;
            models->count++;
        }
    }
    if (done) {
        models->models[at].summary = summary;
        models->bytes += pm_summary_bytes(summary);
        evict(models, summary->game);
        fulfil(models, summary->game);
    } else {
        pm_summary_drop(summary);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for the summary of a game");
    }
    pthread_mutex_unlock(&models->mutex);
    return done;
}

bool pm_models_curate(struct pm_models *models, struct pm_curator *curator, const char *game,
                      struct pm_error *error)
{
    struct pm_summary *summary, *previous = NULL;
    bool found;
    pthread_mutex_lock(&models->mutex);
    const size_t at = place_of(models, game, &found);
    if (found)
        previous = pm_summary_take(models->models[at].summary);
    pthread_mutex_unlock(&models->mutex);
    const bool done = pm_summary_curate(curator, game, previous, &summary, error);
    pm_summary_drop(previous);
    return done && keep(models, summary, error);
}

void pm_models_retain(struct pm_models *models, bool (*known)(const void *user, const char *game),
                      const void *user)
{
    pthread_mutex_lock(&models->mutex);
    for (size_t i = models->count; i-- > 0;) {
        if (!known(user, models->models[i].summary->game))
            forget(models, i);
    }
    pthread_mutex_unlock(&models->mutex);
}
