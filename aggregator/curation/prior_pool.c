#include "aggregator/curation/prior_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GAMES = 4096 };
#define POINTS_A_GAME 256.0

struct game {
    char *name;
    struct pm_prior_moments moments;
};

struct pm_prior_pool {
    pthread_mutex_t mutex;
    struct game games[MOST_GAMES];
    size_t count;
};

struct pm_prior_pool *pm_prior_pool_create(void)
{
    struct pm_prior_pool *pool = calloc(1, sizeof(*pool));
    if (pool)
        pthread_mutex_init(&pool->mutex, NULL);
    return pool;
}

void pm_prior_pool_destroy(struct pm_prior_pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < pool->count; i++)
        free(pool->games[i].name);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

static struct game *find(struct pm_prior_pool *pool, const char *name)
{
    for (size_t i = 0; i < pool->count; i++) {
        if (strcmp(pool->games[i].name, name) == 0)
            return &pool->games[i];
    }
    return NULL;
}

static void forget(struct pm_prior_pool *pool, struct game *game)
{
    free(game->name);
    *game = pool->games[--pool->count];
}

static struct game *add(struct pm_prior_pool *pool, const char *name)
{
    if (pool->count == MOST_GAMES)
        return NULL;
    struct game *game = &pool->games[pool->count];
    game->name = strdup(name);
    pool->count += game->name != NULL;
    return game->name ? game : NULL;
}

void pm_prior_pool_put(struct pm_prior_pool *pool, const char *game,
                       const struct pm_prior_moments *moments)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    struct game *known = find(pool, game);
    if (known && moments->points == 0) {
        forget(pool, known);
    } else if (moments->points > 0) {
        known = known ? known : add(pool, game);
        if (known)
            known->moments = *moments;
    }
    pthread_mutex_unlock(&pool->mutex);
}

void pm_prior_pool_forget(struct pm_prior_pool *pool, const char *game)
{
    pm_prior_pool_put(pool, game, &(struct pm_prior_moments){0});
}

struct pm_prior pm_prior_pool_fit(struct pm_prior_pool *pool, const char *game,
                                  const struct pm_prior_moments *own)
{
    struct pm_prior_moments all = {0};
    if (own)
        pm_prior_merge(&all, own, POINTS_A_GAME);
    if (pool) {
        pthread_mutex_lock(&pool->mutex);
        for (size_t i = 0; i < pool->count; i++) {
            if (!own || strcmp(pool->games[i].name, game) != 0)
                pm_prior_merge(&all, &pool->games[i].moments, POINTS_A_GAME);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
    return pm_prior_fit(&all);
}
