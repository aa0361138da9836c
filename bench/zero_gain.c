/*
 * What zero-value specialization gains, as a player would have it.
 *
 *   zero_gain --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] [--train-frames N]
 *             [--train ARGUMENTS]... [--set KEY=VALUE]... -- SCENE [ARGUMENT...]
 *
 * First the scene is profiled, once for each --train with those arguments added (once without any
 * when there is none), each as a session of `piecemeal run --local` in which everything is sampled.
 * Then three runs draw their frames in turn (lockstep.h): the game's own shaders without the layer;
 * canonical ones in their place (what canonicalization alone does); and what the profile makes of
 * them. None of them samples, and each --set goes to the last. The scene's own timestamps tell the
 * passes, each of which is dominated by one shader.
 *
 * Prints a row a pass and one for the whole frame: milliseconds, and the two ratios with their 95 %
 * intervals over blocks of frames. Ends with 1 when an interval lies wholly above 1.01.
 */
#include "bench/lockstep.h"
#include "bench/work_folder.h"
#include "tools/launch.h"
#include "tools/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 100000, PASSES_MOST = 16, LISTS_MOST = 16, NAME_MOST = 32 };
enum { ORIGINAL, CANONICAL, SPECIALIZED, RUNS };

struct list {
    const char *items[LISTS_MOST];
    size_t count;
};

struct options {
    const char *piecemeal;
    uint64_t frames, skip, block, train_frames;
    struct list train, sets;
    char **scene;
    int scene_count;
};

struct gain {
    const struct options *options;
    struct pm_work_folder folder;
    char passes_file[RUNS][96];
    char names[PASSES_MOST + 1][NAME_MOST]; /* of the passes; the last: the whole frame */
    size_t pass_count;
    double *times[RUNS][PASSES_MOST + 1]; /* milliseconds by frame */
};

/* ---- the session that profiles ---- */

struct words {
    const char *items[PM_SIDE_WORDS];
    size_t count;
};

static void add(struct words *words, const char *word)
{
    if (words->count + 1 < PM_SIDE_WORDS)
        words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

static void add_set(struct words *words, const char *set)
{
    add(words, "--set");
    add(words, set);
}

static void add_scene(struct words *words, const struct options *options)
{
    add(words, "--");
    for (int i = 0; i < options->scene_count; i++)
        add(words, options->scene[i]);
    add(words, "--quiet");
}

/* extra: arguments, separated by spaces. */
static bool train(const struct gain *gain, const char *extra, struct pm_error *error)
{
    const struct options *options = gain->options;
    struct words words = {0};
    char frames[24], *copy = strdup(extra), *place = NULL;
    int status;
    if (!copy)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    snprintf(frames, sizeof(frames), "%llu", (unsigned long long)options->train_frames);
    add(&words, options->piecemeal);
    add(&words, "run");
    add(&words, "--local");
    add_set(&words, "sampler.window_probability=1");
    add_set(&words, "sampler.api_probability=1");
    add_set(&words, "sampler.batch=128");
    add_set(&words, "sampler.kinds=block,zero");
    add_set(&words, "limits.variants=4096");
    add_set(&words, "debug.synchronous=true");
    add_set(&words, "optimize.zero=false");
    add_scene(&words, options);
    add(&words, "--frames");
    add(&words, frames);
    for (char *word = strtok_r(copy, " ", &place); word; word = strtok_r(NULL, " ", &place))
        add(&words, word);
    const bool ran = pm_launch_wait((char *const *)words.items, &status, error);
    free(copy);
    return ran && (status == 0 || pm_fail(error, PM_ERROR_STATE, "%s ended with %d while profiled",
                                          options->scene[0], status));
}

/* ---- the three runs ---- */

static void fill(struct pm_side *side, const struct gain *gain, int run)
{
    const struct options *options = gain->options;
    struct words words = {0};
    if (run != ORIGINAL) {
        add(&words, options->piecemeal);
        add(&words, "run");
        add(&words, "--local");
        add_set(&words, "sampler.window_probability=0");
        add_set(&words, "debug.synchronous=true");
        add_set(&words, "debug.trust_variants=true");
        if (run == CANONICAL)
            add_set(&words, "debug.specialize=canonical");
        for (size_t i = 0; run == SPECIALIZED && i < options->sets.count; i++)
            add_set(&words, options->sets.items[i]);
        add_scene(&words, options);
    } else {
        for (int i = 0; i < options->scene_count; i++)
            add(&words, options->scene[i]);
        add(&words, "--quiet");
    }
    add(&words, "--step");
    add(&words, "--passes");
    add(&words, gain->passes_file[run]);
    memcpy(side->words, words.items, sizeof(words.items));
    side->environment = gain->folder.environment;
}

static bool allocate(struct gain *gain)
{
    for (int run = 0; run < RUNS; run++)
        for (size_t i = 0; i <= PASSES_MOST; i++) {
            gain->times[run][i] = calloc(gain->options->frames, sizeof(double));
            if (!gain->times[run][i])
                return false;
        }
    return true;
}

static bool draw(struct gain *gain, struct pm_error *error)
{
    struct pm_side sides[RUNS] = {0};
    struct pm_random random;
    struct pm_error stopping = {0};
    pm_random_init(&random, 1);
    for (int run = 0; run < RUNS; run++)
        fill(&sides[run], gain, run);
    if (!pm_lockstep_start(sides, RUNS, error))
        return false;
    bool ok = true;
    for (uint64_t i = 0; ok && i < gain->options->frames; i++) {
        double round[RUNS];
        ok = pm_lockstep_round(sides, RUNS, &random, round, error);
        for (int run = 0; ok && run < RUNS; run++)
            gain->times[run][PASSES_MOST][i] = round[run];
    }
    const bool stopped = pm_lockstep_stop(sides, RUNS, &stopping);
    if (ok && !stopped)
        *error = stopping;
    return ok && stopped;
}

/* The file's first line names the passes; a line a frame follows. */
static bool read_passes(struct gain *gain, int run, struct pm_error *error)
{
    FILE *file = fopen(gain->passes_file[run], "r");
    char line[1024], *place = NULL;
    bool ok = file && fgets(line, sizeof(line), file);
    gain->pass_count = 0;
    for (char *name = ok ? strtok_r(line, " \n", &place) : NULL;
         name && gain->pass_count < PASSES_MOST; name = strtok_r(NULL, " \n", &place))
        snprintf(gain->names[gain->pass_count++], NAME_MOST, "%s", name);
    for (uint64_t i = 0; ok && i < gain->options->frames; i++)
        for (size_t pass = 0; ok && pass < gain->pass_count; pass++)
            ok = fscanf(file, "%lf", &gain->times[run][pass][i]) == 1;
    if (file)
        fclose(file);
    return ok || pm_fail(error, PM_ERROR_INPUT, "%s: is cut short", gain->passes_file[run]);
}

/* ---- the table ---- */

static double mean(const double *times, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += times[i];
    return sum / (double)count;
}

/* Whether the pass is slower. */
static bool print_row(const struct gain *gain, const char *name, size_t pass)
{
    const struct options *options = gain->options;
    const uint64_t count = options->frames - options->skip;
    const double *times[RUNS];
    for (int run = 0; run < RUNS; run++)
        times[run] = gain->times[run][pass] + options->skip;
    const struct pm_paired canonical =
        pm_paired_ratio(times[CANONICAL], times[ORIGINAL], NULL, count, options->block);
    const struct pm_paired specialized =
        pm_paired_ratio(times[SPECIALIZED], times[ORIGINAL], NULL, count, options->block);
    printf("| %s | %.3f | %.4f (%.4f to %.4f) | %.4f (%.4f to %.4f) | %+.1f %% |\n", name,
           mean(times[ORIGINAL], count), canonical.ratio, canonical.low, canonical.high,
           specialized.ratio, specialized.low, specialized.high, (1 / specialized.ratio - 1) * 100);
    return specialized.low > 1.01;
}

static int measure(struct gain *gain, struct pm_error *error)
{
    const struct options *options = gain->options;
    if (!pm_work_folder_create(&gain->folder, error))
        return -1;
    for (size_t i = 0; gain->folder.environment[i]; i++)
        putenv((char *)gain->folder.environment[i]);
    for (int run = 0; run < RUNS; run++)
        snprintf(gain->passes_file[run], sizeof(gain->passes_file[run]), "%s/passes.%d",
                 gain->folder.path, run);
    if (!allocate(gain)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < options->train.count || i == 0; i++)
        if (!train(gain, options->train.count > 0 ? options->train.items[i] : "", error))
            return -1;
    if (!draw(gain, error))
        return -1;
    for (int run = 0; run < RUNS; run++)
        if (!read_passes(gain, run, error))
            return -1;
    printf("| pass | original, ms | canonical / original | specialized / original | gain |\n"
           "| --- | --- | --- | --- | --- |\n");
    bool slower = false;
    for (size_t pass = 0; pass < gain->pass_count; pass++)
        slower = print_row(gain, gain->names[pass], pass) || slower;
    return print_row(gain, "frame", PASSES_MOST) || slower;
}

static bool append(struct list *list, const char *item)
{
    if (list->count < LISTS_MOST)
        list->items[list->count++] = item;
    return list->items[list->count - 1] == item;
}

/* -1: usage error, printed. */
static int parse(struct options *options, int argc, char **argv)
{
    enum { PIECEMEAL = 256, FRAMES, SKIP, BLOCK, TRAIN_FRAMES, TRAIN, SET };
    static const struct option known[] = {
        {"piecemeal", 1, 0, PIECEMEAL},
        {"frames", 1, 0, FRAMES},
        {"skip", 1, 0, SKIP},
        {"block", 1, 0, BLOCK},
        {"train", 1, 0, TRAIN},
        {"train-frames", 1, 0, TRAIN_FRAMES},
        {"set", 1, 0, SET},
        {0},
    };
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1;) {
        uint64_t *number = option == FRAMES         ? &options->frames
                           : option == SKIP         ? &options->skip
                           : option == BLOCK        ? &options->block
                           : option == TRAIN_FRAMES ? &options->train_frames
                                                    : NULL;
        if (option == PIECEMEAL)
            options->piecemeal = optarg;
        else if (number)
            good = pm_tool_number(optarg, FRAMES_MOST, number) && *number > 0;
        else if (option == TRAIN)
            good = append(&options->train, optarg);
        else
            good = option == SET && append(&options->sets, optarg);
    }
    options->scene = argv + optind;
    options->scene_count = argc - optind;
    if (good && options->piecemeal && options->scene_count > 0 && options->frames > options->skip)
        return 0;
    fprintf(stderr, "usage: zero_gain --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] "
                    "[--train-frames N]\n"
                    "                 [--train ARGUMENTS]... [--set KEY=VALUE]... -- SCENE...\n");
    return -1;
}

int main(int argc, char **argv)
{
    struct options options = {.frames = 300, .skip = 100, .block = 10, .train_frames = 40};
    struct gain gain = {.options = &options};
    struct pm_error error = {0};
    if (parse(&options, argc, argv) != 0)
        return 2;
    const int status = measure(&gain, &error);
    if (status < 0)
        fprintf(stderr, "zero_gain: %s\n", error.message);
    for (int run = 0; run < RUNS; run++)
        for (size_t i = 0; i <= PASSES_MOST; i++)
            free(gain.times[run][i]);
    pm_work_folder_remove(&gain.folder);
    return status < 0 ? 1 : status;
}
