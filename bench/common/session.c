#include "bench/common/session.h"

#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pm_words_add(struct pm_words *words, const char *word)
{
    if (words->count + 1 < PM_SIDE_WORDS)
        words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

void pm_words_add_timeout(struct pm_words *words, const char *seconds)
{
    const char *const timeout[] = {
        "timeout", "--preserve-status", "--foreground", "-s", "TERM", "-k", "30", seconds};
    for (size_t i = 0; i < sizeof(timeout) / sizeof(timeout[0]); i++)
        pm_words_add(words, timeout[i]);
}

static void add_set(struct pm_words *words, const char *set)
{
    pm_words_add(words, "--set");
    pm_words_add(words, set);
}

static void add_run(struct pm_words *words, const struct pm_session_options *options, bool local)
{
    pm_words_add(words, options->piecemeal);
    pm_words_add(words, "run");
    if (local)
        pm_words_add(words, "--local");
}

static void add_scene(struct pm_words *words, const struct pm_session_options *options)
{
    for (int i = 0; i < options->scene_count; i++)
        pm_words_add(words, options->scene[i]);
    pm_words_add(words, "--quiet");
}

bool pm_session_train(const struct pm_session_options *options, bool local, const char *arguments,
                      struct pm_error *error)
{
    struct pm_words words = {0};
    char frames[24], seconds[24], *copy = strdup(arguments), *place = NULL;
    int status;
    if (!copy)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    snprintf(frames, sizeof(frames), "%llu", (unsigned long long)options->train_frames);
    snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)options->train_seconds);
    add_run(&words, options, local);
    add_set(&words, "sampler.window_probability=1");
    add_set(&words, "sampler.api_probability=1");
    add_set(&words, "sampler.batch=128");
    add_set(&words, "sampler.kinds=block,zero");
    add_set(&words, "limits.variants=4096");
    add_set(&words, "debug.synchronous=true");
    add_set(&words, "optimize.zero=false");
    pm_words_add(&words, "--");
    if (options->train_seconds > 0)
        pm_words_add_timeout(&words, seconds);
    add_scene(&words, options);
    pm_words_add(&words, "--frames");
    pm_words_add(&words, frames);
    for (char *word = strtok_r(copy, " ", &place); word; word = strtok_r(NULL, " ", &place))
        pm_words_add(&words, word);
    const bool ran = pm_launch_wait((char *const *)words.items, &status, error);
    free(copy);
    return ran && pm_lockstep_goes_on(error) &&
           (status == 0 || pm_fail(error, PM_ERROR_STATE, "%s ended with %d while profiled",
                                   options->scene[0], status));
}

void pm_session_original(const struct pm_session_options *options, struct pm_words *words)
{
    add_scene(words, options);
    pm_words_add(words, "--step");
}

void pm_session_optimized(const struct pm_session_options *options,
                          const struct pm_session_list *sets, struct pm_words *words)
{
    add_run(words, options, true);
    add_set(words, "sampler.window_probability=0");
    add_set(words, "debug.synchronous=true");
    add_set(words, "debug.trust_variants=true");
    for (size_t i = 0; i < sets->count; i++)
        add_set(words, sets->items[i]);
    pm_words_add(words, "--");
    add_scene(words, options);
    pm_words_add(words, "--step");
}

void pm_session_run(const struct pm_session_options *options, enum pm_session_run run,
                    struct pm_words *words)
{
    static const struct pm_session_list canonical = {{"debug.specialize=canonical"}, 1};
    if (run == PM_SESSION_ORIGINAL)
        pm_session_original(options, words);
    else if (run == PM_SESSION_SPECIALIZED)
        pm_session_optimized(options, &options->sets, words);
    else
        pm_session_optimized(options, options->against.count > 0 ? &options->against : &canonical,
                             words);
}

const char *pm_session_against(const struct pm_session_options *options)
{
    return options->against.count > 0 ? options->against.items[0] : "canonical";
}

static bool append(struct pm_session_list *list, const char *item)
{
    if (!list || list->count == PM_SESSION_LIST_MOST)
        return false;
    list->items[list->count++] = item;
    return true;
}

bool pm_session_parse(struct pm_session_options *options, struct pm_session_list *train, int argc,
                      char **argv)
{
    enum { PIECEMEAL = 256, FRAMES, SKIP, BLOCK, TRAIN_FRAMES, TRAIN, SET, AGAINST, LAUNCHES };
    static const struct option known[] = {
        {"piecemeal", 1, 0, PIECEMEAL}, {"frames", 1, 0, FRAMES},
        {"skip", 1, 0, SKIP},           {"block", 1, 0, BLOCK},
        {"train", 1, 0, TRAIN},         {"train-frames", 1, 0, TRAIN_FRAMES},
        {"launches", 1, 0, LAUNCHES},   {"set", 1, 0, SET},
        {"against", 1, 0, AGAINST},     {0},
    };
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1;) {
        uint64_t *number = option == FRAMES         ? &options->frames
                           : option == SKIP         ? &options->skip
                           : option == BLOCK        ? &options->block
                           : option == TRAIN_FRAMES ? &options->train_frames
                           : option == LAUNCHES     ? &options->launches
                                                    : NULL;
        if (option == PIECEMEAL)
            options->piecemeal = optarg;
        else if (option == LAUNCHES && !options->launches)
            good = false;
        else if (number)
            good = pm_tool_number(optarg, PM_SESSION_FRAMES_MOST, number) && *number > 0;
        else if (option == TRAIN)
            good = append(train, optarg);
        else if (option == AGAINST)
            good = append(&options->against, optarg);
        else
            good = option == SET && append(&options->sets, optarg);
    }
    options->scene = argv + optind;
    options->scene_count = argc - optind;
    return good && options->piecemeal && options->scene_count > 0 &&
           options->frames > options->skip;
}
