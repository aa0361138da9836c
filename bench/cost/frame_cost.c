/*
 * Frame time inside a profiling window against no layer (the paper's Figure 7).
 *
 *   frame_cost --piecemeal PIECEMEAL [--p LIST] [--b LIST] [--frames N] [--skip N] [--block N]
 * [--name NAME]
 *              -- SCENE [ARGUMENT…]
 *
 * Runs of the scene draw their frames in turn (lockstep.h): two without the layer, and one inside a
 * window for each p and b of the lists (0.01 and 1). The layer's log says which frames are the
 * first to use a variant, where a driver may still compile: these, and the two after them, are left
 * out on all sides of that comparison and reported apart, as are the first `skip` frames, while
 * variants are compiled. What is left is paired by blocks of frames, with the layer against the
 * mean of the two runs without it; these two against each other are the noise.
 *
 * Prints both ratios with their 95 % intervals, and ends with 0 when the layer's interval lies
 * below 1.01 or within the noise's. With --name it prints rows of a Markdown table instead, one for
 * each p and b, without judging them: name, p, b, frames, ms without the layer, percent more with
 * it (median of the blocks, the middle half of them, the mean with its interval), the same mean and
 * interval of the noise, first uses, and milliseconds more for each.
 */
#include "bench/common/lockstep.h"
#include "bench/common/work_folder.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES_MOST = 100000,
    AFTER_FIRST_USE = 2,
    STARTS_MOST = 64,
    NONE = 0,
    NONE_AGAIN = 1,
    LAYERS = 2, /* the first run with the layer */
    SETTINGS_MOST = PM_SIDES - LAYERS,
    SETS = 4, /* that tell runs from each other */
    SET_BYTES = 128,
};

struct list {
    const char *items[SETTINGS_MOST];
    size_t count;
};

struct options {
    const char *piecemeal, *name;
    uint64_t frames, skip, block;
    struct list p, b;
    char **scene;
    int scene_count;
};

/* One run with the layer. */
struct setting {
    const char *p, *b;
    char log[SET_BYTES], sets[SETS][SET_BYTES];
    bool *apart; /* of each frame: a variant's first use, or soon after */
    uint64_t first_uses;
};

static void add_set(struct pm_side *side, size_t *used, const char *set)
{
    side->words[(*used)++] = "--set";
    side->words[(*used)++] = set;
}

static void fill(struct pm_side *side, const struct options *options, struct setting *setting)
{
    static const char *const sets[] = {"sampler.window_probability=1",
                                       "sampler.window_frames=16777216", "sampler.seed=1",
                                       "limits.background_share=1", "log.level=debug"};
    size_t used = 0;
    if (setting) {
        side->words[used++] = options->piecemeal;
        side->words[used++] = "run";
        for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
            add_set(side, &used, sets[i]);
        snprintf(setting->sets[0], SET_BYTES, "sampler.api_probability=%s", setting->p);
        snprintf(setting->sets[1], SET_BYTES, "sampler.batch=%s", setting->b);
        snprintf(setting->sets[2], SET_BYTES, "log.file=%.100s", setting->log);
        /* One game for each, or they would all share its variants. */
        snprintf(setting->sets[3], SET_BYTES, "game.name=frame_cost %.40s %.40s", setting->p,
                 setting->b);
        for (size_t i = 0; i < SETS; i++)
            add_set(side, &used, setting->sets[i]);
        side->words[used++] = "--";
    }
    for (int i = 0; i < options->scene_count && used < PM_SIDE_WORDS - 4; i++)
        side->words[used++] = options->scene[i];
    side->words[used++] = "--quiet";
    side->words[used++] = "--step";
    side->words[used] = NULL;
}

/* The layer counts heartbeats from before the first frame on, by what the scene submits to set
 * itself up. How many these are shows in when frames at first uses take longer than without the
 * layer. more: milliseconds, of each frame. */
static uint64_t find_start(const uint64_t *heartbeats, size_t count, const double *more,
                           uint64_t frames)
{
    double most = 0;
    uint64_t start = 0;
    for (uint64_t try = 0; try < STARTS_MOST; try++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            const bool again = i > 0 && heartbeats[i] == heartbeats[i - 1];
            if (!again && heartbeats[i] >= try && heartbeats[i] - try < frames)
                sum += more[heartbeats[i] - try];
        }
        if (sum <= most)
            continue;
        most = sum;
        start = try;
    }
    return start;
}

/* Which frames are the first of a variant, or soon after, and how many variants those after `skip`
 * are. more: milliseconds of each frame beyond those without the layer. */
static void mark_first_uses(struct setting *setting, const struct options *options,
                            const double *more)
{
    FILE *file = fopen(setting->log, "r");
    uint64_t *heartbeats = NULL;
    size_t count = 0;
    char line[512];
    while (file && fgets(line, sizeof(line), file)) {
        unsigned long long heartbeat;
        const char *at = strstr(line, "heartbeat ");
        if (!at || sscanf(at, "heartbeat %llu: first use", &heartbeat) != 1)
            continue;
        uint64_t *grown = realloc(heartbeats, (count + 1) * sizeof(*heartbeats));
        if (!grown)
            break;
        heartbeats = grown;
        heartbeats[count++] = heartbeat;
    }
    if (file)
        fclose(file);
    const uint64_t start = find_start(heartbeats, count, more, options->frames);
    for (size_t i = 0; i < count; i++) {
        if (heartbeats[i] < start)
            continue;
        const uint64_t frame = heartbeats[i] - start;
        setting->first_uses += frame >= options->skip && frame < options->frames;
        for (uint64_t at = frame; at <= frame + AFTER_FIRST_USE && at < options->frames; at++)
            setting->apart[at] = true;
    }
    free(heartbeats);
}

/* ---- what came of it ---- */

struct result {
    struct pm_paired cost, noise;
    uint64_t frames, firsts;        /* after `skip`: ordinary ones, and those at first uses */
    double none, layer;             /* milliseconds, sums over ordinary frames */
    double first_none, first_layer; /* likewise, over frames at first uses */
    double quartiles[3];            /* of the blocks' ratios */
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the ratios of blocks, which are paired as pm_paired_ratio pairs them. */
static void find_quartiles(const double *layer, const double *none, const bool *skip, size_t frames,
                           size_t block, double quartiles[3])
{
    double *ratios = calloc(frames / block + 1, sizeof(*ratios)), above = 0, below = 0;
    size_t count = 0, in_block = 0;
    for (size_t i = 0; ratios && i < frames; i++) {
        if (skip[i])
            continue;
        above += layer[i];
        below += none[i];
        if (++in_block < block)
            continue;
        ratios[count++] = above / below;
        in_block = 0;
        above = below = 0;
    }
    if (count > 0)
        qsort(ratios, count, sizeof(*ratios), by_value);
    for (size_t i = 0; i < 3; i++)
        quartiles[i] = count > 0 ? ratios[(count - 1) * (i + 1) / 4] : NAN;
    free(ratios);
}

/* mean: of the two runs without the layer. */
static struct result compare(const struct options *options, double *const *times,
                             const double *mean, const double *layer, const bool *apart)
{
    const uint64_t skip = options->skip, count = options->frames - skip;
    struct result result = {
        .noise = pm_paired_ratio(times[NONE_AGAIN] + skip, times[NONE] + skip, apart + skip, count,
                                 options->block, 0),
        .cost = pm_paired_ratio(layer + skip, mean + skip, apart + skip, count, options->block, 0),
    };
    for (uint64_t i = skip; i < options->frames; i++) {
        *(apart[i] ? &result.first_none : &result.none) += mean[i];
        *(apart[i] ? &result.first_layer : &result.layer) += layer[i];
        ++*(apart[i] ? &result.firsts : &result.frames);
    }
    find_quartiles(layer + skip, mean + skip, apart + skip, count, options->block,
                   result.quartiles);
    return result;
}

static int say(const struct options *options, const struct result *result)
{
    const struct pm_paired *cost = &result->cost, *noise = &result->noise;
    const double rest = (double)result->frames;
    printf("%llu frames, %.2f ms a frame without the layer, %.2f with it, in %zu blocks of %llu\n",
           (unsigned long long)result->frames, result->none / rest, result->layer / rest,
           cost->count, (unsigned long long)options->block);
    if (result->firsts > 0)
        printf("%llu more frames at a variant's first use: %.3f times as long\n",
               (unsigned long long)result->firsts, result->first_layer / result->first_none);
    printf("layer / none %.4f, 95 %% interval %.4f to %.4f\n"
           "none / none  %.4f, 95 %% interval %.4f to %.4f\n",
           cost->ratio, cost->low, cost->high, noise->ratio, noise->low, noise->high);
    return cost->high < 1.01 || (cost->high <= noise->high && cost->low >= noise->low) ? 0 : 1;
}

static double percent(double ratio)
{
    return 100 * (ratio - 1);
}

/* " X (X to X) |", or a dash where too few blocks say nothing. */
static void print_interval(double middle, double low, double high)
{
    if (isfinite(middle) && isfinite(low) && isfinite(high))
        printf(" %+.2f (%+.2f to %+.2f) |", percent(middle), percent(low), percent(high));
    else
        printf(" – |");
}

static void print_row(const struct options *options, const struct setting *setting,
                      const struct result *result)
{
    const struct pm_paired *cost = &result->cost, *noise = &result->noise;
    printf("| %s | %s | %s | %llu |", options->name, setting->p, setting->b,
           (unsigned long long)result->frames);
    if (result->frames > 0)
        printf(" %.2f |", result->none / (double)result->frames);
    else
        printf(" – |");
    print_interval(result->quartiles[1], result->quartiles[0], result->quartiles[2]);
    print_interval(cost->ratio, cost->low, cost->high);
    print_interval(noise->ratio, noise->low, noise->high);
    printf(" %llu |", (unsigned long long)setting->first_uses);
    if (setting->first_uses > 0)
        printf(" %.2f |\n",
               (result->first_layer - result->first_none) / (double)setting->first_uses);
    else
        printf(" – |\n");
}

static int report(const struct options *options, struct setting *settings, size_t count,
                  double *const *times)
{
    int status = 0;
    double *mean = calloc(options->frames, sizeof(*mean)),
           *more = calloc(options->frames, sizeof(*more));
    const bool done = mean && more;
    for (uint64_t i = 0; done && i < options->frames; i++)
        mean[i] = (times[NONE][i] + times[NONE_AGAIN][i]) / 2;
    for (size_t side = 0; done && side < count; side++) {
        for (uint64_t i = 0; i < options->frames; i++)
            more[i] = times[LAYERS + side][i] - mean[i];
        mark_first_uses(&settings[side], options, more);
        const struct result result =
            compare(options, times, mean, times[LAYERS + side], settings[side].apart);
        if (options->name)
            print_row(options, &settings[side], &result);
        else
            status |= say(options, &result);
    }
    free(more);
    free(mean);
    return done ? status : 1;
}

/* ---- measuring ---- */

static int measure(const struct options *options, struct pm_error *error)
{
    struct pm_work_folder folder = {0};
    struct setting settings[SETTINGS_MOST] = {0};
    struct pm_side sides[PM_SIDES] = {0};
    double *times[PM_SIDES] = {0};
    const size_t count = options->p.count * options->b.count;
    bool ok = pm_work_folder_create(&folder, error);
    for (size_t i = 0; i < LAYERS + count; i++) {
        struct setting *setting = i >= LAYERS ? &settings[i - LAYERS] : NULL;
        times[i] = calloc(options->frames, sizeof(double));
        if (setting) {
            setting->p = options->p.items[(i - LAYERS) / options->b.count];
            setting->b = options->b.items[(i - LAYERS) % options->b.count];
            snprintf(setting->log, sizeof(setting->log), "%s/log%zu", folder.path, i);
            setting->apart = calloc(options->frames, sizeof(*setting->apart));
        }
        ok = ok && ((times[i] && (!setting || setting->apart)) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
        fill(&sides[i], options, setting);
        sides[i].environment = folder.environment;
    }
    int status = -1;
    if (ok && pm_lockstep_draw(sides, LAYERS + count, options->frames, times, error))
        status = report(options, settings, count, times);
    for (size_t i = 0; i < LAYERS + count; i++) {
        free(times[i]);
        if (i >= LAYERS)
            free(settings[i - LAYERS].apart);
    }
    pm_work_folder_remove(&folder);
    return status;
}

/* Cuts the text. */
static bool parse_list(char *text, struct list *list)
{
    *list = (struct list){.count = 0};
    for (char *item; (item = strsep(&text, ","));) {
        if (*item == 0 || list->count == SETTINGS_MOST)
            return false;
        list->items[list->count++] = item;
    }
    return true;
}

int main(int argc, char **argv)
{
    enum { PIECEMEAL = 256, FRAMES, SKIP, BLOCK, P, B, NAME };
    static const struct option known[] = {{"piecemeal", 1, 0, PIECEMEAL},
                                          {"frames", 1, 0, FRAMES},
                                          {"skip", 1, 0, SKIP},
                                          {"block", 1, 0, BLOCK},
                                          {"p", 1, 0, P},
                                          {"b", 1, 0, B},
                                          {"name", 1, 0, NAME},
                                          {0}};
    struct options options = {
        .frames = 900, .skip = 300, .block = 20, .p = {{"0.01"}, 1}, .b = {{"1"}, 1}};
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1) {
        if (option == PIECEMEAL)
            options.piecemeal = optarg;
        else if (option == NAME)
            options.name = optarg;
        else if (option == P || option == B)
            good = parse_list(optarg, option == P ? &options.p : &options.b);
        else
            good = (option == FRAMES ? pm_tool_number(optarg, FRAMES_MOST, &options.frames)
                    : option == SKIP ? pm_tool_number(optarg, FRAMES_MOST, &options.skip)
                    : option == BLOCK
                        ? pm_tool_number(optarg, FRAMES_MOST, &options.block) && options.block > 0
                        : false);
    }
    if (!good || !options.piecemeal || optind >= argc || options.frames <= options.skip ||
        options.p.count * options.b.count > SETTINGS_MOST) {
        fprintf(stderr, "usage: frame_cost --piecemeal PIECEMEAL [--p LIST] [--b LIST] "
                        "[--frames N] [--skip N] [--block N] [--name NAME] -- SCENE…\n");
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
