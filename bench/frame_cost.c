/*
 * Frame time inside a profiling window against no layer.
 *
 *   frame_cost --piecemeal PIECEMEAL [--repetitions N] [--frames N] [--skip N] -- SCENE [ARGUMENT…]
 *
 * A repetition runs the scene three times, one after another: without the layer, with it inside a
 * window at p = 0.01 and b = 1, and without it again, in an order that turns with the repetitions.
 * The scene writes the time of each frame
 * (--time); the layer's log says which frames are the first to use a variant, where a driver may
 * still compile: these, and the two after them, are left out on all sides and reported apart, as
 * are the first `skip` frames, while variants are compiled. The rest is paired: a repetition gives
 * the ratio of the mean frame times with and without the layer, and that of the two runs without
 * it, which is the noise.
 *
 * Prints both ratios with their 95 % intervals (Student's t over repetitions), and ends with 0 when
 * the layer's interval lies below 1.01 or within the noise's.
 */
#include "aggregator/estimate.h"
#include "base/file.h"
#include "tools/launch.h"
#include "tools/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MOST = 100000, AFTER_FIRST_USE = 2, SIDES = 3 };

struct options {
    const char *piecemeal;
    uint64_t repetitions, frames, skip;
    char **scene;
    int scene_count;
};

struct bench {
    const struct options *options;
    char folder[64];
    char times[96], log[96];
    double *frame[SIDES]; /* milliseconds: before, layer, after */
    bool *apart;
};

static bool read_times(struct bench *bench, double *frames, struct pm_error *error)
{
    FILE *file = fopen(bench->times, "r");
    if (!file)
        return pm_fail(error, PM_ERROR_IO, "%s: the scene wrote no times", bench->times);
    uint64_t count = 0;
    while (count < bench->options->frames && fscanf(file, "%lf", &frames[count]) == 1)
        count++;
    fclose(file);
    return count == bench->options->frames ||
           pm_fail(error, PM_ERROR_INPUT, "the scene wrote %llu times", (unsigned long long)count);
}

static void mark_first_uses(struct bench *bench)
{
    FILE *file = fopen(bench->log, "r");
    char line[512];
    while (file && fgets(line, sizeof(line), file)) {
        unsigned long long heartbeat;
        const char *at = strstr(line, "heartbeat ");
        if (!at || sscanf(at, "heartbeat %llu: first use", &heartbeat) != 1)
            continue;
        for (uint64_t i = heartbeat; i <= heartbeat + AFTER_FIRST_USE && i < bench->options->frames;
             i++)
            bench->apart[i] = true;
    }
    if (file)
        fclose(file);
}

static bool run_scene(struct bench *bench, bool layer, uint64_t seed, double *frames,
                      struct pm_error *error)
{
    enum { WORDS_MOST = 64 };
    const struct options *options = bench->options;
    char seed_text[64], log_text[128], frames_text[24];
    const char *sets[] = {"sampler.window_probability=1",
                          "sampler.api_probability=0.01",
                          "sampler.batch=1",
                          "log.level=debug",
                          seed_text,
                          log_text};
    char *words[WORDS_MOST];
    int used = 0, status;
    snprintf(seed_text, sizeof(seed_text), "sampler.seed=%llu", (unsigned long long)seed);
    snprintf(log_text, sizeof(log_text), "log.file=%s", bench->log);
    snprintf(frames_text, sizeof(frames_text), "%llu", (unsigned long long)options->frames);
    if (layer) {
        words[used++] = (char *)options->piecemeal;
        words[used++] = "run";
        for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
            words[used++] = "--set";
            words[used++] = (char *)sets[i];
        }
        words[used++] = "--";
    }
    for (int i = 0; i < options->scene_count && used < WORDS_MOST - 5; i++)
        words[used++] = options->scene[i];
    words[used++] = "--frames";
    words[used++] = frames_text;
    words[used++] = "--time";
    words[used++] = bench->times;
    words[used] = NULL;
    unlink(bench->log);
    if (!pm_launch_wait(words, &status, error))
        return false;
    if (status != 0)
        return pm_fail(error, PM_ERROR_STATE, "%s ended with %d", options->scene[0], status);
    return read_times(bench, frames, error);
}

static double mean_of(const struct bench *bench, const double *frames)
{
    double sum = 0, count = 0;
    for (uint64_t i = bench->options->skip; i < bench->options->frames; i++)
        if (!bench->apart[i]) {
            sum += frames[i];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

static void interval(const double *ratios, uint64_t count, double *mean, double *half)
{
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += ratios[i];
    *mean = sum / (double)count;
    for (uint64_t i = 0; i < count; i++)
        squares += (ratios[i] - *mean) * (ratios[i] - *mean);
    *half = count > 1 ? pm_student_quantile((double)count - 1) *
                            sqrt(squares / ((double)count - 1) / (double)count)
                      : INFINITY;
}

/* One repetition: the three sides in turned order. */
static bool repeat(struct bench *bench, uint64_t repetition, double *with, double *without,
                   struct pm_error *error)
{
    memset(bench->apart, 0, bench->options->frames * sizeof(*bench->apart));
    for (uint64_t i = 0; i < SIDES; i++) {
        uint64_t side = (i + repetition) % SIDES;
        if (!run_scene(bench, side == 1, repetition + 1, bench->frame[side], error))
            return false;
        if (side == 1)
            mark_first_uses(bench);
    }
    uint64_t apart = 0;
    double apart_with = 0, apart_without = 0;
    for (uint64_t i = bench->options->skip; i < bench->options->frames; i++)
        if (bench->apart[i]) {
            apart++;
            apart_with += bench->frame[1][i];
            apart_without += (bench->frame[0][i] + bench->frame[2][i]) / 2;
        }
    double before = mean_of(bench, bench->frame[0]), after = mean_of(bench, bench->frame[2]);
    *with = mean_of(bench, bench->frame[1]) / ((before + after) / 2);
    *without = after / before;
    if (isnan(*with))
        return pm_fail(error, PM_ERROR_STATE, "no frame is left: more --frames");
    printf("| %llu | %.2f | %.4f | %.4f | %llu | %.3f |\n", (unsigned long long)repetition + 1,
           before, *with, *without, (unsigned long long)apart,
           apart ? apart_with / apart_without : 1);
    fflush(stdout);
    return true;
}

static int measure(struct bench *bench, struct pm_error *error)
{
    uint64_t count = bench->options->repetitions;
    double *with = calloc(count, sizeof(*with)), *without = calloc(count, sizeof(*without));
    bool ok = (with && without) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    printf("| repetition | ms a frame | layer / none | none / none | frames apart | their ratio |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (uint64_t i = 0; ok && i < count; i++)
        ok = repeat(bench, i, &with[i], &without[i], error);
    int status = -1;
    if (ok) {
        double mean, half, noise, noise_half;
        interval(with, count, &mean, &half);
        interval(without, count, &noise, &noise_half);
        printf("\nlayer / none %.4f ± %.4f, none / none %.4f ± %.4f (95 %%)\n", mean, half, noise,
               noise_half);
        status = mean + half < 1.01 ||
                         (mean + half <= noise + noise_half && mean - half >= noise - noise_half)
                     ? 0
                     : 1;
    }
    free(with);
    free(without);
    return status;
}

int main(int argc, char **argv)
{
    enum { PIECEMEAL = 256, REPETITIONS, FRAMES, SKIP };
    static const struct option known[] = {{"piecemeal", 1, 0, PIECEMEAL},
                                          {"repetitions", 1, 0, REPETITIONS},
                                          {"frames", 1, 0, FRAMES},
                                          {"skip", 1, 0, SKIP},
                                          {0}};
    struct options options = {.repetitions = 8, .frames = 600, .skip = 200};
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1) {
        if (option == PIECEMEAL)
            options.piecemeal = optarg;
        else
            good = (option == REPETITIONS ? pm_tool_number(optarg, 1000, &options.repetitions)
                    : option == FRAMES    ? pm_tool_number(optarg, FRAMES_MOST, &options.frames)
                    : option == SKIP      ? pm_tool_number(optarg, FRAMES_MOST, &options.skip)
                                          : false);
    }
    if (!good || !options.piecemeal || optind >= argc || options.repetitions == 0 ||
        options.frames <= options.skip) {
        fprintf(stderr, "usage: frame_cost --piecemeal PIECEMEAL [--repetitions N] [--frames N] "
                        "[--skip N] -- SCENE…\n");
        return 2;
    }
    options.scene = argv + optind;
    options.scene_count = argc - optind;
    struct bench bench = {.options = &options, .folder = "/tmp/piecemeal-frame-cost-XXXXXX"};
    struct pm_error error = {0};
    int status = -1;
    bool room = mkdtemp(bench.folder) != NULL;
    snprintf(bench.times, sizeof(bench.times), "%s/times", bench.folder);
    snprintf(bench.log, sizeof(bench.log), "%s/log", bench.folder);
    room =
        room && setenv("XDG_DATA_HOME", bench.folder, 1) == 0; /* a fresh spool and shader store */
    bench.apart = calloc(options.frames, sizeof(*bench.apart));
    for (size_t i = 0; i < SIDES; i++)
        room = (bench.frame[i] = calloc(options.frames, sizeof(double))) && room;
    if (!room || !bench.apart)
        perror("frame_cost");
    else if ((status = measure(&bench, &error)) < 0)
        fprintf(stderr, "frame_cost: %s\n", error.message);
    free(bench.apart);
    for (size_t i = 0; i < SIDES; i++)
        free(bench.frame[i]);
    return status < 0 ? 1 : status;
}
