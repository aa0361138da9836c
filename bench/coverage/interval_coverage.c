/*
 * Do the published 95 % intervals cover the truth? Replays sessions from recorded per-call truth
 * through the real samplers, statistics and estimates.
 *
 *   interval_coverage [--sessions N] [--trials N] [--calls N] [--p P] [--batch B] [--seed S]
 * SPOOL-FILE
 *
 * The file is a spooled session recorded with every point and a checkpoint every heartbeat,
 * sampling few enough calls that many checkpoints hold a single call of a shader: only these are
 * used. For every shader in it: a trial is a population of sessions, each of which makes so many
 * calls, drawn from the recorded ones, goes through them with the API sampler (P) and its own
 * random batches (B), and becomes one cluster; the trial's intervals for the ratio of sums are then
 * held against the truth over all recorded calls. Prints, in Markdown, per shader the share of
 * (trial, point) pairs that were covered, and that of the worst point. Ends with 0 when every
 * shader's share is at least 0.93.
 */
#include "aggregator/statistics/estimate.h"
#include "aggregator_client/disk/spool.h"
#include "sampler/sampler.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHADERS_MOST = 64 };

struct call {
    uint64_t entry_lanes, entry_subgroups;
    uint64_t (*counts)[PM_COUNTS]; /* a row a point */
};

struct shader {
    struct pm_shader_key key;
    uint32_t space;
    uint8_t *at_most_once;
    struct call *calls;
    size_t call_count, call_room;
};

struct recording {
    struct shader shaders[SHADERS_MOST];
    size_t count;
    size_t skipped; /* checkpoints that held several calls of a shader */
};

struct options {
    uint64_t sessions, trials, calls, batch, seed;
    double p;
};

static struct shader *find(struct recording *recording, const struct pm_shader_profile *profile)
{
    for (size_t i = 0; i < recording->count; i++)
        if (pm_shader_key_equal(&recording->shaders[i].key, &profile->key))
            return &recording->shaders[i];
    if (recording->count == SHADERS_MOST)
        return NULL;
    struct shader *shader = &recording->shaders[recording->count++];
    size_t bytes = (profile->space + 7u) / 8;
    *shader = (struct shader){
        .key = profile->key, .space = profile->space, .at_most_once = calloc(bytes, 1)};
    if (shader->at_most_once && profile->at_most_once)
        memcpy(shader->at_most_once, profile->at_most_once, bytes);
    return shader->at_most_once ? shader : NULL;
}

static bool take(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    struct recording *recording = user;
    for (size_t i = 0; i < checkpoint->shader_count; i++) {
        const struct pm_shader_profile *profile = &checkpoint->shaders[i];
        if (profile->kind != PM_KIND_BLOCK || profile->point_count != profile->space)
            continue;
        if (profile->points[0].calls != 1) {
            recording->skipped++;
            continue;
        }
        struct shader *shader = find(recording, profile);
        if (shader && shader->call_count == shader->call_room) {
            size_t room = shader->call_room ? 2 * shader->call_room : 256;
            struct call *calls = realloc(shader->calls, room * sizeof(*calls));
            if (calls) {
                shader->calls = calls;
                shader->call_room = room;
            }
        }
        if (!shader || shader->call_count == shader->call_room)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        struct call *call = &shader->calls[shader->call_count];
        call->entry_lanes = profile->points[0].entry_lanes;
        call->entry_subgroups = profile->points[0].entry_subgroups;
        call->counts = calloc(profile->space, sizeof(*call->counts));
        if (!call->counts)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        for (uint32_t j = 0; j < profile->space; j++)
            memcpy(call->counts[profile->points[j].point], profile->points[j].counts,
                   sizeof(*call->counts));
        shader->call_count++;
    }
    return true;
}

/* One session: what its client would upload, merged into one cluster. */
static bool replay(const struct shader *shader, const struct options *options, uint64_t seed,
                   struct pm_point_counts *points, struct pm_statistics *statistics,
                   struct pm_error *error)
{
    struct pm_random random;
    uint32_t batch_size = options->batch > shader->space ? shader->space : (uint32_t)options->batch;
    struct pm_shader_sampler *sampler = pm_shader_sampler_create(
        &(struct pm_sampler_space){shader->space, batch_size, NULL}, 1, seed);
    if (!sampler)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_random_init(&random, seed ^ 0x9e3779b97f4a7c15u);
    for (uint32_t i = 0; i < shader->space; i++)
        points[i] = (struct pm_point_counts){.point = i};
    for (uint64_t call = pm_geometric(&random, options->p); call <= options->calls;
         call += pm_geometric(&random, options->p)) {
        const struct call *truth =
            &shader->calls[pm_random_below(&random, (uint32_t)shader->call_count)];
        uint32_t size;
        const uint32_t *batch =
            pm_shader_sampler_batch(sampler, pm_shader_sampler_next(sampler), &size);
        for (uint32_t j = 0; j < size; j++) {
            struct pm_point_counts *point = &points[batch[j]];
            point->calls++;
            point->entry_lanes += truth->entry_lanes;
            point->entry_subgroups += truth->entry_subgroups;
            for (size_t k = 0; k < PM_COUNTS; k++)
                point->counts[k] += truth->counts[batch[j]][k];
        }
    }
    pm_shader_sampler_destroy(sampler);
    size_t used = 0;
    for (uint32_t i = 0; i < shader->space; i++)
        if (points[i].calls)
            points[used++] = points[i];
    struct pm_shader_profile profile = {
        .key = shader->key,
        .kind = PM_KIND_BLOCK,
        .space = shader->space,
        .at_most_once = shader->at_most_once,
        .points = points,
        .point_count = used,
    };
    return used == 0 || pm_statistics_add_profile(statistics, &profile, error);
}

static double truth_of(const struct shader *shader, uint32_t point)
{
    double x = 0, y = 0;
    for (size_t i = 0; i < shader->call_count; i++) {
        x += (double)shader->calls[i].entry_lanes;
        y += (double)shader->calls[i].counts[point][PM_BLOCK_LANES];
    }
    return x > 0 ? y / x : 0;
}

static bool judge(const struct shader *shader, const struct options *options, double *share,
                  struct pm_error *error)
{
    struct pm_point_counts *points = calloc(shader->space, sizeof(*points));
    uint64_t *covered = calloc(shader->space, sizeof(*covered)),
             *judged = calloc(shader->space, sizeof(*judged));
    double width = 0;
    bool ok = (points && covered && judged) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint64_t trial = 0; ok && trial < options->trials; trial++) {
        struct pm_statistics statistics;
        pm_statistics_init(&statistics);
        for (uint64_t session = 0; ok && session < options->sessions; session++)
            ok = replay(shader, options, options->seed + trial * options->sessions + session + 1,
                        points, &statistics, error);
        for (size_t i = 0; ok && i < statistics.count; i++) {
            struct pm_point_estimate estimate;
            pm_estimate_point(&statistics, &statistics.points[i], &estimate);
            const struct pm_ratio *ratio = &estimate.measures[PM_MEASURE_FREQUENCY];
            double truth = truth_of(shader, statistics.points[i].point);
            judged[statistics.points[i].point]++;
            covered[statistics.points[i].point] +=
                ratio->ratio_low <= truth && truth <= ratio->ratio_high;
            width += ratio->ratio_high - ratio->ratio_low;
        }
        pm_statistics_finish(&statistics);
    }
    double all = 0, hit = 0, worst = 1;
    for (uint32_t i = 0; ok && i < shader->space; i++) {
        double of_point = judged[i] ? (double)covered[i] / (double)judged[i] : 1;
        worst = of_point < worst ? of_point : worst;
        all += (double)judged[i];
        hit += (double)covered[i];
    }
    if (ok) {
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&shader->key, key);
        *share = all > 0 ? hit / all : 1;
        printf("| %.12s | %u | %zu | %.4f | %.4f | %.4f |\n", key, shader->space,
               shader->call_count, *share, worst, all > 0 ? width / all / 2 : 0);
    }
    free(points);
    free(covered);
    free(judged);
    return ok;
}

int main(int argc, char **argv)
{
    enum { SESSIONS = 256, TRIALS, CALLS, P, BATCH, SEED };
    static const struct option known[] = {{"sessions", 1, 0, SESSIONS},
                                          {"trials", 1, 0, TRIALS},
                                          {"calls", 1, 0, CALLS},
                                          {"p", 1, 0, P},
                                          {"batch", 1, 0, BATCH},
                                          {"seed", 1, 0, SEED},
                                          {0}};
    static struct recording recording;
    struct options options = {
        .sessions = 20, .trials = 200, .calls = 4000, .batch = 2, .seed = 1, .p = 0.05};
    struct pm_error error = {0};
    uint64_t damaged_at;
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == P)
            options.p = strtod(optarg, NULL);
        else
            good = (option == SESSIONS ? pm_tool_number(optarg, 1000000, &options.sessions)
                    : option == TRIALS ? pm_tool_number(optarg, 1000000, &options.trials)
                    : option == CALLS  ? pm_tool_number(optarg, 100000000, &options.calls)
                    : option == BATCH  ? pm_tool_number(optarg, UINT32_MAX, &options.batch)
                    : option == SEED   ? pm_tool_number(optarg, UINT64_MAX / 2, &options.seed)
                                       : false);
    }
    if (!good || optind + 1 != argc || !(options.p > 0 && options.p <= 1) || options.batch == 0) {
        fprintf(stderr, "usage: interval_coverage [--sessions N] [--trials N] [--p P] [--batch B] "
                        "SPOOL-FILE\n");
        return 2;
    }
    bool ok = pm_spool_read(argv[optind], take, &recording, &damaged_at, &error);
    double least = 1, share = 1;
    if (ok)
        printf("%llu trials of %llu sessions of %llu calls, p = %g, b = %llu\n\n| shader | blocks "
               "| calls | "
               "covered | worst block | "
               "mean half-width |\n| --- | --- | --- | --- | --- | --- |\n",
               (unsigned long long)options.trials, (unsigned long long)options.sessions,
               (unsigned long long)options.calls, options.p, (unsigned long long)options.batch);
    for (size_t i = 0; ok && i < recording.count; i++) {
        ok = judge(&recording.shaders[i], &options, &share, &error);
        least = share < least ? share : least;
    }
    if (ok && recording.count == 0)
        ok = pm_fail(&error, PM_ERROR_INPUT,
                     "%s: no checkpoint with single calls of all points (%zu had several)",
                     argv[optind], recording.skipped);
    if (!ok)
        fprintf(stderr, "interval_coverage: %s\n", error.message);
    for (size_t i = 0; i < recording.count; i++) {
        for (size_t j = 0; j < recording.shaders[i].call_count; j++)
            free(recording.shaders[i].calls[j].counts);
        free(recording.shaders[i].calls);
        free(recording.shaders[i].at_most_once);
    }
    return ok && least >= 0.93 ? 0 : 1;
}
