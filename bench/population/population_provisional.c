/*
 * How soon does a client try what is worth it? Shaders of 24 values, of which 7 in 10 are hardly
 * ever zero, 2 in 10 nearly always, and the rest anything. Players differ: in one of four values a
 * player's share is 0 or 1 and its mean over the players that of the value, else it is near the
 * value's. Each upload is a new player's. It is right to try the values that are zero more often
 * than not; those between 0.35 and 0.65 do not matter. By estimates that is known once all of the
 * shader is published; by levels from the look on after which none is wrong any more.
 */
#include "bench/population/population_provisional.h"

#include "aggregator/aggregator.h"
#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/provisional.h"
#include "bench/common/work_folder.h"
#include "bench/population/population_draw.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPACE = 24,
    OTHERS = 20,         /* shaders of other games that the prior knows */
    OTHERS_CLUSTERS = 8, /* of each of their points */
    EVERY_UPLOAD = 60,   /* below it each is looked at, then one of ten */
    WRITES = 1000,
};
#define GREY 0.15
#define A_TENTH 0.1

struct shader {
    double share[SPACE];
    bool split[SPACE]; /* a player's share is 0 or 1 */
};

struct game {
    struct pm_statistics statistics;
    struct shader shader;
    struct pm_point_estimate points[SPACE];
};

struct played {
    const struct pm_population_options *options;
    struct pm_aggregator *aggregator; /* its rule */
    struct pm_random random;
    uint32_t least;                               /* clusters for a level */
    uint32_t *by_estimates, *by_levels, *by_flat; /* uploads; the last without others */
    uint64_t estimated, levelled, flat;           /* shaders */
    uint64_t tried, wrong;                        /* values that levels put on trial, each look */
};

static struct shader draw_shader(struct pm_random *random)
{
    struct shader shader;
    pm_population_values(random, SPACE, shader.share, shader.split);
    return shader;
}

/* Half of the points are measured, as with p = 0.01 and b = 1 in a short session. */
static bool add_upload(const struct shader *shader, struct pm_random *random,
                       struct pm_statistics *statistics, struct pm_error *error)
{
    struct pm_point_counts points[SPACE] = {0};
    uint32_t used = 0;
    for (uint32_t i = 0; i < SPACE; i++) {
        const bool measured = pm_random_below(random, 2) == 0;
        const double noise = 0.1 * (pm_random_unit(random) - 0.5);
        const double share = shader->split[i] ? (double)(pm_random_unit(random) < shader->share[i])
                                              : fmin(fmax(shader->share[i] + noise, 0), 1);
        if (!measured)
            continue;
        struct pm_point_counts *point = &points[used++];
        *point = (struct pm_point_counts){
            .point = i, .calls = 1, .entry_lanes = 64 * WRITES, .entry_subgroups = WRITES};
        point->counts[PM_ZERO_WRITES] = WRITES;
        point->counts[PM_ZERO_ZERO_WRITES] = (uint64_t)lround(share * WRITES);
    }
    const struct pm_shader_profile profile = {
        .kind = PM_KIND_ZERO, .space = SPACE, .points = points, .point_count = used};
    return pm_statistics_add_profiles(statistics, &profile, 1, error);
}

static void estimate(struct game *game)
{
    memset(game->points, 0, sizeof(game->points));
    for (size_t i = 0; i < game->statistics.count; i++)
        pm_estimate_point(&game->statistics, &game->statistics.points[i],
                          &game->points[game->statistics.points[i].point]);
}

static bool is_published(const struct played *played, const struct game *game)
{
    for (uint32_t i = 0; i < SPACE; i++) {
        if (!pm_aggregator_is_covered(played->aggregator, PM_KIND_ZERO, &game->points[i]) ||
            !pm_aggregator_is_well_known(played->aggregator, PM_KIND_ZERO, &game->points[i]))
            return false;
    }
    return true;
}

static bool is_right(const struct shader *shader, const uint8_t *levels)
{
    for (uint32_t i = 0; i < SPACE; i++) {
        const bool tried = levels[i] == PM_PROVISIONAL_LIKELY;
        if (fabs(shader->share[i] - 0.5) > GREY && tried != (shader->share[i] > 0.5))
            return false;
    }
    return true;
}

static void gather(const struct game *game, struct pm_evidence *evidence)
{
    for (uint32_t i = 0; i < SPACE; i++)
        evidence[i] = pm_evidence_of(&game->points[i].measures[PM_MEASURE_ZERO]);
}

/* What other games know, each time of others. */
static bool learn(struct played *played, struct pm_prior_moments *moments, struct pm_error *error)
{
    bool done = true;
    for (int i = 0; done && i < OTHERS; i++) {
        struct game other = {.shader = draw_shader(&played->random)};
        struct pm_evidence evidence[SPACE];
        pm_statistics_init(&other.statistics);
        for (int j = 0; done && j < 2 * OTHERS_CLUSTERS; j++)
            done = add_upload(&other.shader, &played->random, &other.statistics, error);
        estimate(&other);
        gather(&other, evidence);
        pm_prior_add(moments, evidence, SPACE);
        pm_statistics_finish(&other.statistics);
    }
    return done;
}

/* others: NULL: nothing is known of the kind but this shader. */
static void find_levels(const struct played *played, const struct game *game,
                        const struct pm_prior_moments *others, uint8_t *levels)
{
    struct pm_evidence evidence[SPACE];
    struct pm_prior_moments all = {0};
    gather(game, evidence);
    if (others) {
        all = *others;
        pm_prior_add(&all, evidence, SPACE);
    }
    const struct pm_prior prior = pm_prior_fit(&all);
    pm_provisional_find(evidence, SPACE, &prior, played->least, levels);
}

/* Since which upload it is right; 0: it is not. */
static void keep_since(uint32_t *since, bool right, uint32_t uploads)
{
    *since = !right ? 0 : *since > 0 ? *since : uploads;
}

static bool play(struct played *played, struct pm_error *error)
{
    struct game game = {.shader = draw_shader(&played->random)};
    struct pm_prior_moments others = {0};
    uint32_t right_since = 0, flat_since = 0, uploads = 0;
    bool published = false, done = learn(played, &others, error);
    pm_statistics_init(&game.statistics);
    while (done && !published && uploads < played->options->most) {
        uint8_t levels[SPACE];
        done = add_upload(&game.shader, &played->random, &game.statistics, error);
        uploads++;
        if (!done || (uploads > EVERY_UPLOAD && uploads % 10 != 0))
            continue;
        estimate(&game);
        find_levels(played, &game, &others, levels);
        keep_since(&right_since, is_right(&game.shader, levels), uploads);
        for (uint32_t i = 0; i < SPACE; i++) {
            const bool tried = levels[i] == PM_PROVISIONAL_LIKELY;
            played->tried += tried;
            played->wrong += tried && game.shader.share[i] < 0.5 - GREY;
        }
        find_levels(played, &game, NULL, levels);
        keep_since(&flat_since, is_right(&game.shader, levels), uploads);
        published = is_published(played, &game);
    }
    played->by_estimates[played->estimated] = uploads;
    played->estimated += published;
    played->by_levels[played->levelled] = right_since;
    played->levelled += right_since > 0;
    played->by_flat[played->flat] = flat_since;
    played->flat += flat_since > 0;
    pm_statistics_finish(&game.statistics);
    return done;
}

static int compare(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static uint32_t print(const char *name, uint32_t *uploads, uint64_t count, uint64_t trials)
{
    if (count == 0) {
        printf("| %s | 0.0 | – | – |\n", name);
        return UINT32_MAX;
    }
    qsort(uploads, count, sizeof(*uploads), compare);
    printf("| %s | %.1f | %" PRIu32 " | %" PRIu32 "–%" PRIu32 " |\n", name,
           100 * (double)count / (double)trials, uploads[count / 2], uploads[count / 20],
           uploads[count - 1 - count / 20]);
    return uploads[count / 2];
}

bool pm_population_provisional(const struct pm_population_options *options, bool *right,
                               struct pm_error *error)
{
    struct played played = {.options = options, .least = PM_MIN_TOKENS};
    struct pm_work_folder folder;
    char path[128];
    if (!pm_work_folder_create(&folder, error))
        return false;
    snprintf(path, sizeof(path), "%s/rule", folder.path);
    pm_random_init(&played.random, options->seed);
    played.aggregator = pm_aggregator_open(path, &(struct pm_aggregator_info){0}, error);
    played.by_estimates = calloc(options->trials, sizeof(*played.by_estimates));
    played.by_levels = calloc(options->trials, sizeof(*played.by_levels));
    bool done = played.aggregator != NULL;
    played.by_flat = calloc(options->trials, sizeof(*played.by_flat));
    if (done && (!played.by_estimates || !played.by_levels || !played.by_flat))
        done = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint64_t i = 0; done && i < options->trials; i++)
        done = play(&played, error);
    if (done) {
        printf("%" PRIu64 " shaders (seed %" PRIu64
               ") of %d values, each until it is published, at "
               "most %" PRIu32 " uploads; levels from %u clusters, with a prior from %d shaders of "
               "others.\n\n| by | right, %% of the shaders | uploads until then, median | 5 "
               "%%–95 %% |\n| --- | --- | --- | --- |\n",
               options->trials, options->seed, SPACE, options->most, played.least, OTHERS);
        const uint32_t without =
            print("estimates", played.by_estimates, played.estimated, options->trials);
        const uint32_t with = print("levels", played.by_levels, played.levelled, options->trials);
        print("levels, no others known", played.by_flat, played.flat, options->trials);
        printf("\nOf %" PRIu64 " values that levels put on trial, over all looks, %" PRIu64
               " were wrong.\n",
               played.tried, played.wrong);
        *right = played.levelled > 0 && played.estimated > 0 &&
                 (double)with <= A_TENTH * (double)without;
    }
    free(played.by_estimates);
    free(played.by_levels);
    free(played.by_flat);
    pm_aggregator_destroy(played.aggregator);
    pm_work_folder_remove(&folder);
    return done;
}
