/*
 * What zero-value specialization gains, as a player would have it.
 *
 *   zero_gain --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] [--launches N]
 *             [--train-frames N] [--train ARGUMENTS]... [--set KEY=VALUE]...
 *             [--against KEY=VALUE]... -- SCENE [ARGUMENT...]
 *
 * First the scene is profiled, once for each --train with those arguments added (once without any
 * when there is none), each as a session of `piecemeal run --local` in which everything is sampled.
 * Then three runs draw their frames in turn (lockstep.h): the game's own shaders without the layer;
 * canonical ones in their place (what canonicalization alone does), or with --against what the
 * profile makes with those settings; and what the profile makes of them. None of them samples, and
 * each --set goes to the last. The scene's own timestamps tell the passes, each of which is
 * dominated by one shader. With --launches the three are started so often, each time for all the
 * frames: where in memory a process comes to lie can make a pass faster or slower by more than a
 * shader does. The intervals are over the blocks of all of them together.
 *
 * Prints a row a pass and one for the whole frame: milliseconds, and the two ratios with their 95 %
 * intervals over blocks of frames, the lowest and the highest tenth of the blocks left out. A last
 * row has the frame as an oracle would have it, who specializes only where it helps (AZP, Figure
 * 5): the passes whose interval lies wholly above 1 at the time of the original. Ends with 1 when
 * an interval lies wholly above 1.01.
 */
#include "bench/common/lockstep.h"
#include "bench/common/session.h"
#include "bench/common/work_folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MOST = 16, NAME_MOST = 32 };

struct gain {
    const struct pm_session_options *options;
    const struct pm_session_list *train;
    struct pm_work_folder folder;
    char passes_file[PM_SESSION_RUNS][96];
    char names[PASSES_MOST + 1][NAME_MOST]; /* of the passes; the last: the whole frame */
    size_t pass_count;
    /* Milliseconds by frame, without those that are skipped. */
    double *times[PM_SESSION_RUNS][PASSES_MOST + 1];
    uint64_t count;                  /* of them */
    double *frames[PM_SESSION_RUNS]; /* of one launch, all of them */
};

/* ---- the three runs ---- */

static void fill(struct pm_side *side, const struct gain *gain, int run)
{
    struct pm_words words = {0};
    pm_session_run(gain->options, (enum pm_session_run)run, &words);
    pm_words_add(&words, "--passes");
    pm_words_add(&words, gain->passes_file[run]);
    memcpy(side->words, words.items, sizeof(words.items));
    side->environment = gain->folder.environment;
}

static bool allocate(struct gain *gain)
{
    const struct pm_session_options *options = gain->options;
    const size_t most = options->launches * (options->frames - options->skip);
    for (int run = 0; run < PM_SESSION_RUNS; run++) {
        gain->frames[run] = calloc(options->frames, sizeof(double));
        if (!gain->frames[run])
            return false;
        for (size_t i = 0; i <= PASSES_MOST; i++) {
            gain->times[run][i] = calloc(most, sizeof(double));
            if (!gain->times[run][i])
                return false;
        }
    }
    return true;
}

static void release(struct gain *gain)
{
    for (int run = 0; run < PM_SESSION_RUNS; run++) {
        free(gain->frames[run]);
        for (size_t i = 0; i <= PASSES_MOST; i++)
            free(gain->times[run][i]);
    }
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
        for (size_t pass = 0; ok && pass < gain->pass_count; pass++) {
            double time;
            ok = fscanf(file, "%lf", &time) == 1;
            if (ok && i >= gain->options->skip)
                gain->times[run][pass][gain->count + i - gain->options->skip] = time;
        }
    if (file)
        fclose(file);
    return ok || pm_fail(error, PM_ERROR_INPUT, "%s: is cut short", gain->passes_file[run]);
}

static bool launch(struct gain *gain, struct pm_error *error)
{
    const struct pm_session_options *options = gain->options;
    const uint64_t kept = options->frames - options->skip;
    struct pm_side sides[PM_SESSION_RUNS] = {0};
    for (int run = 0; run < PM_SESSION_RUNS; run++)
        fill(&sides[run], gain, run);
    if (!pm_lockstep_draw(sides, PM_SESSION_RUNS, options->frames, gain->frames, error))
        return false;
    for (int run = 0; run < PM_SESSION_RUNS; run++) {
        memcpy(gain->times[run][PASSES_MOST] + gain->count, gain->frames[run] + options->skip,
               kept * sizeof(double));
        if (!read_passes(gain, run, error))
            return false;
    }
    gain->count += kept;
    return true;
}

/* ---- the table ---- */

static double mean(const double *times, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += times[i];
    return sum / (double)count;
}

static struct pm_paired ratio(const struct gain *gain, int run, size_t pass)
{
    return pm_paired_ratio(gain->times[run][pass], gain->times[PM_SESSION_ORIGINAL][pass], NULL,
                           gain->count, gain->options->block, PM_LOCKSTEP_TRIM);
}

static struct pm_paired print_row(const struct gain *gain, const char *name, size_t pass)
{
    const struct pm_paired canonical = ratio(gain, PM_SESSION_CANONICAL, pass);
    const struct pm_paired specialized = ratio(gain, PM_SESSION_SPECIALIZED, pass);
    printf("| %s | %.3f | %.4f (%.4f to %.4f) | %.4f (%.4f to %.4f) | %+.1f %% |\n", name,
           mean(gain->times[PM_SESSION_ORIGINAL][pass], gain->count), canonical.ratio,
           canonical.low, canonical.high, specialized.ratio, specialized.low, specialized.high,
           (1 / specialized.ratio - 1) * 100);
    return specialized;
}

/* Takes out of the frames what the pass takes longer than the original. */
static void undo(struct gain *gain, size_t pass)
{
    for (uint64_t i = 0; i < gain->count; i++)
        gain->times[PM_SESSION_SPECIALIZED][PASSES_MOST][i] -=
            gain->times[PM_SESSION_SPECIALIZED][pass][i] -
            gain->times[PM_SESSION_ORIGINAL][pass][i];
}

/* Whether anything is slower. */
static bool print_table(struct gain *gain)
{
    bool helps[PASSES_MOST], slower = false;
    printf("| pass | original, ms | %s / original | specialized / original | gain |\n"
           "| --- | --- | --- | --- | --- |\n",
           pm_session_against(gain->options));
    for (size_t pass = 0; pass < gain->pass_count; pass++) {
        const double low = print_row(gain, gain->names[pass], pass).low;
        helps[pass] = low <= 1;
        slower = slower || low > 1.01;
    }
    slower = print_row(gain, "frame", PASSES_MOST).low > 1.01 || slower;
    for (size_t pass = 0; pass < gain->pass_count; pass++) {
        if (!helps[pass])
            undo(gain, pass);
    }
    print_row(gain, "frame, by an oracle", PASSES_MOST);
    return slower;
}

static int measure(struct gain *gain, struct pm_error *error)
{
    const struct pm_session_options *options = gain->options;
    if (!pm_work_folder_create(&gain->folder, error))
        return -1;
    pm_work_folder_enter(&gain->folder);
    for (int run = 0; run < PM_SESSION_RUNS; run++)
        snprintf(gain->passes_file[run], sizeof(gain->passes_file[run]), "%s/passes.%d",
                 gain->folder.path, run);
    if (!allocate(gain)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < gain->train->count || i == 0; i++)
        if (!pm_session_train(options, true, gain->train->count > 0 ? gain->train->items[i] : "",
                              error))
            return -1;
    for (uint64_t i = 0; i < options->launches; i++)
        if (!launch(gain, error))
            return -1;
    return print_table(gain);
}

int main(int argc, char **argv)
{
    struct pm_session_options options = {
        .frames = 300, .skip = 100, .block = 10, .train_frames = 40, .launches = 1};
    struct pm_session_list train = {0};
    struct gain gain = {.options = &options, .train = &train};
    struct pm_error error = {0};
    if (!pm_session_parse(&options, &train, argc, argv)) {
        fprintf(stderr,
                "usage: zero_gain --piecemeal PIECEMEAL [--frames N] [--skip N] "
                "[--block N] [--launches N]\n"
                "                 [--train-frames N] [--train ARGUMENTS]... [--set KEY=VALUE]... "
                "[--against KEY=VALUE]... -- SCENE...\n");
        return 2;
    }
    const int status = measure(&gain, &error);
    if (status < 0)
        fprintf(stderr, "zero_gain: %s\n", error.message);
    release(&gain);
    pm_work_folder_remove(&gain.folder);
    return status < 0 ? 1 : status;
}
