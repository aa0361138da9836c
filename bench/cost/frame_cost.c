/*
 * Frame time inside a profiling window against no layer.
 *
 *   frame_cost --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] -- SCENE [ARGUMENT…]
 *
 * Three runs of the scene draw their frames in turn (lockstep.h): two without the layer, and one
 * with it inside a window at p = 0.01 and b = 1. The layer's log says which frames are the first to
 * use a variant, where a driver may still compile: these, and the two after them, are left out on
 * all sides and reported apart, as are the first `skip` frames, while variants are compiled. What
 * is left is paired by blocks of frames, with the layer against the mean of the two runs without
 * it; these two against each other are the noise.
 *
 * Prints both ratios with their 95 % intervals, and ends with 0 when the layer's interval lies
 * below 1.01 or within the noise's.
 */
#include "bench/common/lockstep.h"
#include "bench/common/work_folder.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 100000, AFTER_FIRST_USE = 2, NONE = 0, LAYER = 1, NONE_AGAIN = 2, RUNS = 3 };

struct options {
    const char *piecemeal;
    uint64_t frames, skip, block;
    char **scene;
    int scene_count;
};

static void fill(struct pm_side *side, const struct options *options, const char *log)
{
    static const char *const sets[] = {"sampler.window_probability=1",
                                       "sampler.window_frames=16777216",
                                       "sampler.api_probability=0.01",
                                       "sampler.batch=1",
                                       "sampler.seed=1",
                                       "limits.background_share=1",
                                       "log.level=debug"};
    size_t used = 0;
    if (log) {
        side->words[used++] = options->piecemeal;
        side->words[used++] = "run";
        for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
            side->words[used++] = "--set";
            side->words[used++] = sets[i];
        }
        side->words[used++] = "--set";
        side->words[used++] = log;
        side->words[used++] = "--";
    }
    for (int i = 0; i < options->scene_count && used < PM_SIDE_WORDS - 4; i++)
        side->words[used++] = options->scene[i];
    side->words[used++] = "--quiet";
    side->words[used++] = "--step";
    side->words[used] = NULL;
}

/* *apart gets which frames are the first of a variant, or soon after. */
static void mark_first_uses(const char *log, uint64_t frames, bool *apart)
{
    FILE *file = fopen(log, "r");
    char line[512];
    while (file && fgets(line, sizeof(line), file)) {
        unsigned long long heartbeat;
        const char *at = strstr(line, "heartbeat ");
        if (!at || sscanf(at, "heartbeat %llu: first use", &heartbeat) != 1)
            continue;
        for (uint64_t i = heartbeat > 0 ? heartbeat - 1 : 0;
             i <= heartbeat + AFTER_FIRST_USE && i < frames; i++)
            apart[i] = true;
    }
    if (file)
        fclose(file);
}

static int report(const struct options *options, double *times[RUNS], bool *apart)
{
    const uint64_t count = options->frames - options->skip;
    double sums[RUNS] = {0}, first[RUNS] = {0};
    uint64_t firsts = 0;
    double *none = times[NONE], *again = times[NONE_AGAIN];
    const double *layer = times[LAYER] + options->skip;
    const bool *skip = apart + options->skip;
    for (uint64_t i = options->skip; i < options->frames; i++) {
        double *into = apart[i] ? first : sums;
        firsts += apart[i];
        for (size_t side = 0; side < RUNS; side++)
            into[side] += times[side][i];
    }
    const struct pm_paired noise = pm_paired_ratio(again + options->skip, none + options->skip,
                                                   skip, count, options->block, 0);
    for (uint64_t i = 0; i < options->frames; i++)
        none[i] = (none[i] + again[i]) / 2;
    const struct pm_paired cost =
        pm_paired_ratio(layer, none + options->skip, skip, count, options->block, 0);
    const double rest = (double)(count - firsts);
    printf("%llu frames, %.2f ms a frame without the layer, %.2f with it, in %zu blocks of %llu\n",
           (unsigned long long)(count - firsts), (sums[NONE] + sums[NONE_AGAIN]) / 2 / rest,
           sums[LAYER] / rest, cost.count, (unsigned long long)options->block);
    if (firsts > 0)
        printf("%llu more frames at a variant's first use: %.3f times as long\n",
               (unsigned long long)firsts, first[LAYER] / ((first[NONE] + first[NONE_AGAIN]) / 2));
    printf("layer / none %.4f, 95 %% interval %.4f to %.4f\n"
           "none / none  %.4f, 95 %% interval %.4f to %.4f\n",
           cost.ratio, cost.low, cost.high, noise.ratio, noise.low, noise.high);
    return cost.high < 1.01 || (cost.high <= noise.high && cost.low >= noise.low) ? 0 : 1;
}

static int measure(const struct options *options, struct pm_error *error)
{
    char log[96], set[128];
    struct pm_work_folder folder = {0};
    struct pm_side sides[RUNS] = {0};
    double *times[RUNS];
    bool *apart = calloc(options->frames, sizeof(*apart));
    bool ok = pm_work_folder_create(&folder, error) &&
              (apart || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    snprintf(log, sizeof(log), "%s/log", folder.path);
    snprintf(set, sizeof(set), "log.file=%s", log);
    for (size_t i = 0; i < RUNS; i++) {
        times[i] = calloc(options->frames, sizeof(double));
        ok = ok && (times[i] || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
        fill(&sides[i], options, i == LAYER ? set : NULL);
        sides[i].environment = folder.environment;
    }
    int status = -1;
    if (ok && pm_lockstep_draw(sides, RUNS, options->frames, times, error)) {
        mark_first_uses(log, options->frames, apart);
        status = report(options, times, apart);
    }
    for (size_t i = 0; i < RUNS; i++)
        free(times[i]);
    free(apart);
    pm_work_folder_remove(&folder);
    return status;
}

int main(int argc, char **argv)
{
    enum { PIECEMEAL = 256, FRAMES, SKIP, BLOCK };
    static const struct option known[] = {{"piecemeal", 1, 0, PIECEMEAL},
                                          {"frames", 1, 0, FRAMES},
                                          {"skip", 1, 0, SKIP},
                                          {"block", 1, 0, BLOCK},
                                          {0}};
    struct options options = {.frames = 900, .skip = 300, .block = 20};
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1) {
        if (option == PIECEMEAL)
            options.piecemeal = optarg;
        else
            good = (option == FRAMES ? pm_tool_number(optarg, FRAMES_MOST, &options.frames)
                    : option == SKIP ? pm_tool_number(optarg, FRAMES_MOST, &options.skip)
                    : option == BLOCK
                        ? pm_tool_number(optarg, FRAMES_MOST, &options.block) && options.block > 0
                        : false);
    }
    if (!good || !options.piecemeal || optind >= argc || options.frames <= options.skip) {
        fprintf(stderr,
                "usage: frame_cost --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] "
                "-- SCENE…\n");
        return 2;
    }
    options.scene = argv + optind;
    options.scene_count = argc - optind;
    struct pm_error error = {0};
    const int status = measure(&options, &error);
    if (status < 0)
        fprintf(stderr, "frame_cost: %s\n", error.message);
    return status < 0 ? 1 : status;
}
