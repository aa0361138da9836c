#include "aggregator/intake/day_claims.h"

#include "aggregator/intake/fold_slice.h"
#include "aggregator/storage/fail.h"
#include "aggregator/trust/claims.h"
#include <stdlib.h>
#include <string.h>

#define POINTS_AT_ONCE ((size_t)1 << 16) /* that are decoded, but for one player's */

/* Adds the clusters from `first` on, fewer than `count` where their points are many; returns behind
 * them. */
static bool add_some(struct pm_day_clusters *of, const struct pm_day_cluster *clusters,
                     size_t count, size_t *first, struct pm_shader_profile *shaders,
                     struct pm_statistics *statistics, struct pm_error *error)
{
    struct pm_arena *arena = pm_arena_create(0);
    size_t points = 0, some = 0;
    bool done = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory for points");
    while (done && *first + some < count && points < POINTS_AT_ONCE) {
        done = pm_day_clusters_read(of, &clusters[*first + some], arena, &shaders[some], error);
        points += done ? shaders[some++].point_count : 0;
    }
    done = done && pm_statistics_add_profiles(statistics, shaders, some, error);
    pm_arena_destroy(arena);
    *first += some;
    return done;
}

/* The clusters of one blob. */
static bool sum_clusters(struct pm_day_claims *day, const struct pm_day_cluster *clusters,
                         size_t count, struct pm_delta *delta, struct pm_error *error)
{
    struct pm_statistics statistics;
    struct pm_shader_profile *shaders = calloc(count, sizeof(*shaders));
    bool done = shaders || pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu players", count);
    pm_statistics_init(&statistics);
    for (size_t first = 0; done && first < count;)
        done = add_some(&day->of, clusters, count, &first, shaders, &statistics, error);
    delta->key.environment = clusters->said->sample.shader.environment;
    delta->key.flags = clusters->flags;
    delta->key.scene = pm_arena_strdup(day->arena, clusters->said->scene);
    done = done && (delta->key.scene || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
           pm_deltas_add(day->deltas, delta, &statistics, error);
    pm_statistics_finish(&statistics);
    free(shaders);
    return done;
}

/* A claim's samples become deltas. */
static bool sum_claim(struct pm_day_claims *day, const struct pm_day_said *said, size_t count,
                      struct pm_delta *delta, struct pm_error *error)
{
    struct pm_day_clusters *of = &day->of;
    of->count = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && pm_day_compare_players(&said[first], &said[end]) == 0;)
            end++;
        if (!pm_day_clusters_add(of, said + first, end - first, error))
            return false;
    }
    qsort(of->clusters, of->count, sizeof(*of->clusters), pm_day_compare_clusters);
    for (size_t first = 0, end; first < of->count; first = end) {
        for (end = first + 1; end < of->count && pm_day_compare_clusters(&of->clusters[first],
                                                                         &of->clusters[end]) == 0;)
            end++;
        if (!sum_clusters(day, of->clusters + first, end - first, delta, error))
            return false;
    }
    return true;
}

/* Samples of one claim, from `first` on. */
struct claimed {
    size_t first, count;
    uint32_t tokens;
};

static int compare_votes(const void *a, const void *b)
{
    const struct claimed *left = a, *right = b;
    return left->tokens != right->tokens ? pm_day_compare_numbers(right->tokens, left->tokens)
                                         : pm_day_compare_numbers(left->first, right->first);
}

/* The claims of the shader whose samples are these, those with the most votes first. */
static size_t find_claims(const struct pm_day_said *said, size_t all, struct claimed *claims)
{
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        const bool same = i > 0 && pm_day_compare_claims(&said[i - 1], &said[i]) == 0;
        if (!same)
            claims[count++] = (struct claimed){.first = i};
        claims[count - 1].count++;
        claims[count - 1].tokens +=
            !same || memcmp(said[i - 1].mark, said[i].mark, PM_SAMPLE_MARK_BYTES) != 0;
    }
    qsort(claims, count, sizeof(*claims), compare_votes);
    return count;
}

/* All samples of one shader. */
static bool sum_shader(struct pm_day_claims *day, const struct pm_day_said *said, size_t all,
                       struct pm_error *error)
{
    const struct pm_shader_profile *shader = &said->sample.shader;
    struct claimed *claims = calloc(all, sizeof(*claims));
    bool done = claims || pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
    const size_t count = done ? find_claims(said, all, claims) : 0;
    for (size_t i = 0; done && i < count && i < PM_CLAIMS_OF_SHADER; i++) {
        const struct pm_day_said *first = &said[claims[i].first];
        struct pm_delta delta = {
            .key = {.game = day->game, .key = shader->key, .kind = shader->kind, .day = day->date},
            .space = first->sample.shader.space,
            .facts = first->facts,
            .tokens = claims[i].tokens,
            .claim = (unsigned)i};
        done = sum_claim(day, first, claims[i].count, &delta, error);
    }
    if (!done)
        pm_fail_shader(error, &shader->key);
    free(claims);
    return done;
}

bool pm_day_claims_sum(struct pm_day_claims *claims, struct pm_day_said *said, size_t count,
                       struct pm_error *error)
{
    if (count > 1)
        qsort(said, count, sizeof(*said), pm_day_compare_said);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && pm_day_compare_shaders(&said[first], &said[end]) == 0;)
            end++;
        if (!pm_world_may_go_on(claims->world, PM_FOLDING, error) ||
            !sum_shader(claims, said + first, end - first, error))
            return false;
    }
    return true;
}
