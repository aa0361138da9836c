/*
 * What curating a large game costs, and whether uploads wait for it.
 *
 *   curation [--points N] [--sessions N] [--seconds N] [--local]
 *
 * One game of N points (250,909, as many as the paper's Watch) in shaders of 19, which 8 players
 * measured in full on the day before. Uploads are committed one after the other, each of a player
 * of his own, of 150 shaders at 8 points, as the committer of `piecemeal serve` does, for N seconds
 * (10) while nothing is curated and for as long while the game is curated and summarized over and
 * over, which a server does not: it rests four times as long as it took. Prints how long a curation
 * took and how long commits took, median, 99th percentile and longest. --local: nobody has a token,
 * and whatever is covered is published, as for a player alone; nothing is summarized.
 */
#include "aggregator/aggregator.h"
#include "aggregator/curation/summary.h"
#include "base/arena.h"
#include "base/clock.h"
#include "bench/common/work_folder.h"
#include "bench/ingest/ingest_bodies.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GAME "watch"
#define DAY 86400 /* seconds */
enum { POINTS = 19, UPLOAD_SHADERS = 150, UPLOAD_POINTS = 8, MOST_COMMITS = 1 << 20 };

struct bench {
    struct pm_aggregator *aggregator;
    struct pm_random random;
    bool local;
    uint32_t shaders;
    uint64_t uploads;
    int64_t days; /* that the aggregator's clock is ahead; no thread runs when it is set */
    atomic_bool curating;
    uint32_t curations;
    double curating_seconds, curating_cpu;
    struct pm_error error; /* of the curator; code PM_OK: none */
};

static int64_t clock_of(void *user)
{
    return (int64_t)time(NULL) + ((const struct bench *)user)->days * DAY;
}

/* One upload of `count` shaders from `first` on, each at `points` points. */
static bool upload(struct bench *bench, uint32_t first, uint32_t count, uint32_t points,
                   struct pm_error *error)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_shader_profile *shaders =
        arena ? pm_arena_zalloc(arena, count, sizeof(*shaders)) : NULL;
    bool done = shaders || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; done && i < count; i++) {
        const uint32_t number = (first + i) % bench->shaders;
        uint32_t at[POINTS];
        const uint32_t from =
            points < POINTS ? pm_random_below(&bench->random, POINTS - points) : 0;
        struct pm_point_counts *counts = pm_arena_zalloc(arena, points, sizeof(*counts));
        for (uint32_t j = 0; j < points; j++)
            at[j] = from + j;
        done = counts || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        if (done)
            bodies_counts(&bench->random, number, at, points, counts);
        shaders[i] = (struct pm_shader_profile){.key = bodies_key(0, number),
                                                .environment = {.subgroup_size = 32},
                                                .kind = PM_KIND_BLOCK,
                                                .space = POINTS,
                                                .points = counts,
                                                .point_count = points};
    }
    struct pm_profile profile = {.game = GAME,
                                 .scene = "",
                                 .layer_version = "bench",
                                 .shaders = shaders,
                                 .shader_count = count};
    const struct pm_profile *const all[] = {&profile};
    const uint64_t player = pm_random_mix(bench->uploads++);
    struct pm_ingest_source token = {.fleet = false};
    memcpy(token.digest, &player, sizeof(player));
    const struct pm_ingest_source *const source[] = {bench->local ? NULL : &token};
    struct pm_ingest_outcome outcome;
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        profile.upload_id[i] = (uint8_t)pm_random_below(&bench->random, 256);
    done = done && pm_aggregator_ingest_from(bench->aggregator, all, source, 1, &outcome, error);
    if (done && outcome.result != PM_INGEST_STORED)
        done = pm_fail(error, PM_ERROR_STATE, "not stored: %s", outcome.reason.message);
    pm_arena_destroy(arena);
    return done;
}

/* *previous, which may be NULL, becomes the new summary. */
static void curate_once(struct bench *bench, struct pm_summary **previous)
{
    struct pm_summary *summary;
    if (bench->local) {
        pm_aggregator_curate(bench->aggregator, GAME, &bench->error);
        return;
    }
    if (!pm_summary_curate(pm_aggregator_curator(bench->aggregator), GAME, *previous, &summary,
                           &bench->error))
        return;
    pm_summary_drop(*previous);
    *previous = summary;
}

static void *curate(void *user)
{
    struct bench *bench = user;
    struct pm_summary *summary = NULL;
    while (atomic_load(&bench->curating) && bench->error.code == PM_OK) {
        const int64_t begin = pm_now(), cpu = pm_used_by_thread();
        curate_once(bench, &summary);
        bench->curating_seconds += (double)(pm_now() - begin) / PM_SECOND;
        bench->curating_cpu += (double)(pm_used_by_thread() - cpu) / PM_SECOND;
        bench->curations++;
    }
    pm_summary_drop(summary);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool measure(struct bench *bench, double seconds, const char *what, struct pm_error *error)
{
    int64_t *times = calloc(MOST_COMMITS, sizeof(*times));
    const int64_t end = pm_now() + (int64_t)(seconds * PM_SECOND);
    size_t count = 0;
    bool done = times || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    while (done && pm_now() < end && count < MOST_COMMITS) {
        const int64_t begin = pm_now();
        done = upload(bench, pm_random_below(&bench->random, bench->shaders), UPLOAD_SHADERS,
                      UPLOAD_POINTS, error);
        times[count++] = pm_now() - begin;
    }
    if (done && count > 0) {
        qsort(times, count, sizeof(*times), compare);
        printf("%-20s %5zu commits: median %.2f ms, 99 %% %.2f ms, longest %.2f ms\n", what, count,
               (double)times[count / 2] / 1e6, (double)times[count * 99 / 100] / 1e6,
               (double)times[count - 1] / 1e6);
    }
    free(times);
    return done;
}

static bool run(struct bench *bench, uint64_t sessions, double seconds, struct pm_error *error)
{
    pthread_t curator;
    for (uint64_t i = 0; i < sessions; i++) {
        if (!upload(bench, 0, bench->shaders, POINTS, error))
            return false;
    }
    const int64_t begin = pm_now();
    bench->days++;
    if (!pm_aggregator_fold(bench->aggregator, GAME, error))
        return false;
    printf("the day of %llu sessions was folded in in %.2f s\n", (unsigned long long)sessions,
           (double)(pm_now() - begin) / PM_SECOND);
    if (!measure(bench, seconds, "nothing is curated", error))
        return false;
    atomic_store(&bench->curating, true);
    if (pthread_create(&curator, NULL, curate, bench) != 0)
        return pm_fail(error, PM_ERROR_STATE, "no thread can be started");
    bool done = measure(bench, seconds, "always curated", error);
    atomic_store(&bench->curating, false);
    pthread_join(curator, NULL);
    if (done && bench->error.code != PM_OK) {
        *error = bench->error;
        done = false;
    }
    struct pm_buffer body;
    char etag[PM_ETAG_TEXT];
    pm_buffer_init(&body, (size_t)1 << 30);
    done = done && pm_aggregator_database(bench->aggregator, GAME, etag, &body, error);
    if (done)
        printf(
            "%u curations of %u points, %.2f s each (%.2f of the processor), a body of %.1f MB\n",
            bench->curations, bench->shaders * POINTS, bench->curating_seconds / bench->curations,
            bench->curating_cpu / bench->curations, (double)body.size / 1e6);
    pm_buffer_finish(&body);
    return done;
}

int main(int argc, char **argv)
{
    enum { NUMBER_POINTS = 256, SESSIONS, SECONDS };
    static const struct option known[] = {{"points", 1, 0, NUMBER_POINTS},
                                          {"sessions", 1, 0, SESSIONS},
                                          {"seconds", 1, 0, SECONDS},
                                          {"local", 0, 0, 'l'},
                                          {0}};
    uint64_t numbers[] = {250909, 8, 10};
    struct bench bench = {.local = false};
    for (int got; (got = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (got == 'l') {
            bench.local = true;
        } else if (got < NUMBER_POINTS ||
                   !pm_tool_number(optarg, UINT32_MAX, &numbers[got - NUMBER_POINTS])) {
            fprintf(stderr, "curation: usage: see bench/ingest/curation.c\n");
            return 2;
        }
    }
    const struct pm_aggregator_info alone = {.publish_all = true};
    const struct pm_aggregator_info served = {.half_life_days = PM_HALF_LIFE_DAYS,
                                              .retention_days = PM_RETENTION_DAYS,
                                              .token_clusters = PM_TOKEN_CLUSTERS,
                                              .min_tokens = PM_MIN_TOKENS,
                                              .publish_seconds = PM_PUBLISH_SECONDS,
                                              .clock = clock_of,
                                              .clock_user = &bench};
    struct pm_error error = {0};
    struct pm_work_folder folder;
    char path[128];
    bench.shaders = (uint32_t)((numbers[0] + POINTS - 1) / POINTS);
    pm_random_init(&bench.random, 1);
    bool done = pm_work_folder_create(&folder, &error);
    if (done) {
        snprintf(path, sizeof(path), "%s/aggregator.sqlite", folder.path);
        bench.aggregator = pm_aggregator_open(path, bench.local ? &alone : &served, &error);
        done = bench.aggregator && run(&bench, numbers[1], (double)numbers[2], &error);
        pm_aggregator_destroy(bench.aggregator);
        pm_work_folder_remove(&folder);
    }
    if (!done)
        fprintf(stderr, "curation: %s\n", error.message);
    return done ? 0 : 1;
}
