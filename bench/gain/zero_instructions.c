/*
 * How many instructions zero-value specialization saves, on a driver that runs shaders on the CPU.
 *
 *   zero_instructions --piecemeal PIECEMEAL [--frames N] [--skip N] [--train-frames N]
 *                     [--train ARGUMENTS]... [--set KEY=VALUE]... [--against KEY=VALUE]... --
 *                     SCENE [ARGUMENT...]
 *
 * Profiles the scene and compares the same three runs as zero_gain does, by valgrind's callgrind
 * (callgrind.h) instead of the clock: instructions of all threads, from the end of frame `skip` to
 * that of frame `frames`, so that starting, compiling and ending have no part in it. Each run draws
 * the same frames, and nothing of a busy machine shows. The driver runs everything on the thread
 * that it was given it on (LP_NUM_THREADS=0), so that no thread spins.
 *
 * Prints a row for the shaders (the code that the driver generated) and one for the whole process:
 * millions of instructions a frame with the game's own shaders, and the two ratios.
 */
#include "bench/common/lockstep.h"
#include "bench/common/session.h"
#include "bench/common/work_folder.h"
#include "bench/gain/callgrind.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct count {
    const struct pm_session_options *options;
    struct pm_work_folder folder;
    struct pm_side sides[PM_SESSION_RUNS];
    struct pm_callgrind callgrinds[PM_SESSION_RUNS];
    struct pm_instructions instructions[PM_SESSION_RUNS];
};

/* The run's command line, the scene in it under callgrind. */
static void fill(struct count *count, enum pm_session_run run)
{
    static const char *const names[] = {"original", "canonical", "specialized"};
    struct pm_callgrind *callgrind = &count->callgrinds[run];
    struct pm_session_options options = *count->options;
    struct pm_words scene = {0}, words = {0};
    pm_callgrind_init(callgrind, count->folder.path, names[run]);
    for (size_t i = 0; i < PM_CALLGRIND_WORDS; i++)
        pm_words_add(&scene, callgrind->words[i]);
    for (int i = 0; i < count->options->scene_count; i++)
        pm_words_add(&scene, count->options->scene[i]);
    options.scene = (char **)scene.items;
    options.scene_count = (int)scene.count;
    pm_session_run(&options, run, &words);
    memcpy(count->sides[run].words, words.items, sizeof(words.items));
    count->sides[run].environment = count->folder.environment;
}

static bool draw(struct count *count, uint64_t frames, struct pm_error *error)
{
    for (uint64_t i = 0; i < frames; i++)
        if (!pm_lockstep_together(count->sides, PM_SESSION_RUNS, error))
            return false;
    return true;
}

static bool draw_counted(struct count *count, struct pm_error *error)
{
    const struct pm_session_options *options = count->options;
    if (!draw(count, options->skip, error))
        return false;
    for (int run = 0; run < PM_SESSION_RUNS; run++)
        if (!pm_callgrind_start(&count->callgrinds[run], error))
            return false;
    if (!draw(count, options->frames - options->skip, error))
        return false;
    for (int run = 0; run < PM_SESSION_RUNS; run++)
        if (!pm_callgrind_take(&count->callgrinds[run], &count->instructions[run], error))
            return false;
    return true;
}

static void print_row(const char *name, const uint64_t *instructions, uint64_t frames)
{
    const double original = (double)instructions[PM_SESSION_ORIGINAL];
    printf("| %s | %.3f | %.4f | %.4f |\n", name, original / (double)frames * 1e-6,
           (double)instructions[PM_SESSION_CANONICAL] / original,
           (double)instructions[PM_SESSION_SPECIALIZED] / original);
}

static void print_table(const struct count *count)
{
    const uint64_t frames = count->options->frames - count->options->skip;
    uint64_t all[PM_SESSION_RUNS], generated[PM_SESSION_RUNS];
    for (int run = 0; run < PM_SESSION_RUNS; run++) {
        all[run] = count->instructions[run].all;
        generated[run] = count->instructions[run].generated;
    }
    printf(
        "| instructions | original, millions a frame | %s / original | specialized / original |\n"
        "| --- | --- | --- | --- |\n",
        pm_session_against(count->options));
    print_row("shaders", generated, frames);
    print_row("process", all, frames);
}

static bool measure(struct count *count, const struct pm_session_list *train,
                    struct pm_error *error)
{
    struct pm_error stopping = {0};
    if (!pm_work_folder_create(&count->folder, error))
        return false;
    pm_work_folder_enter(&count->folder);
    /* What an earlier run left in the driver's cache was generated for another CPU than valgrind's.
     */
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    setenv("LP_NUM_THREADS", "0", 1);
    for (size_t i = 0; i < train->count || i == 0; i++)
        if (!pm_session_train(count->options, true, train->count > 0 ? train->items[i] : "", error))
            return false;
    for (int run = 0; run < PM_SESSION_RUNS; run++)
        fill(count, (enum pm_session_run)run);
    if (!pm_lockstep_start(count->sides, PM_SESSION_RUNS, error))
        return false;
    const bool ok = draw_counted(count, error);
    const bool stopped = pm_lockstep_stop(count->sides, PM_SESSION_RUNS, &stopping);
    if (ok && !stopped)
        *error = stopping;
    if (ok && stopped)
        print_table(count);
    return ok && stopped;
}

int main(int argc, char **argv)
{
    struct pm_session_options options = {.frames = 10, .skip = 4, .block = 1, .train_frames = 10};
    struct pm_session_list train = {0};
    struct count count = {.options = &options};
    struct pm_error error = {0};
    if (!pm_session_parse(&options, &train, argc, argv)) {
        fprintf(stderr, "usage: zero_instructions --piecemeal PIECEMEAL [--frames N] [--skip N] "
                        "[--train-frames N]\n"
                        "                         [--train ARGUMENTS]... [--set KEY=VALUE]... "
                        "[--against KEY=VALUE]... -- SCENE...\n");
        return 2;
    }
    const bool ok = measure(&count, &train, &error);
    if (!ok)
        fprintf(stderr, "zero_instructions: %s\n", error.message);
    pm_work_folder_remove(&count.folder);
    return ok ? 0 : 1;
}
