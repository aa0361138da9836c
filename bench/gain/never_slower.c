/*
 * Never slower: deliberately bad variants of all shaders of a scene that can do their work twice
 * (debug.slow_variants), and what is left of them once they were tried.
 *
 *   never_slower --piecemeal PIECEMEAL [--name NAME] [--frames N] [--skip N] [--block N]
 *                [--tried-frames N] [--sessions N] [--seconds N] -- SCENE [ARGUMENT...]
 *
 * The scene is profiled, so that its shaders are known. Then, in sessions of `tried-frames` frames
 * with a player's settings, all bad variants are tried, until no trial goes on or `sessions` are
 * over. One that stays undecided, since it is too little of what is timed, is not used. Last, they
 * turn slow only later, as in another scene: the verdicts are made those of variants that were
 * faster, so that the next session uses them all at once; what sessions use they glance at, and are
 * to drop them. How much they cost meanwhile is said of runs that time nothing.
 *
 * Behind each of these steps runs of the scene draw `frames` frames in turn (lockstep.h): two
 * without the layer, and one with it; the first `skip` do not count, the rest is paired by blocks.
 *
 * The profile is told to end after `seconds` (600 unless told), and all behind it takes as long at
 * most: a session that has not tried all when its part of them is over is told to end, and what
 * draws in turn then has fewer frames. What each step needs at least it has whatever the time: 10
 * seconds of a session, four blocks of frames, and what a program needs to begin and to end. Which
 * variants are undecided in the end, and which are slow and in use, is said on standard error.
 *
 * Prints a row of a Markdown table: name; bad variants; how many of them were dropped in the
 * trials, and of how many that is not decided yet; the largest share of its time that a session's
 * trials took, in percent; percent more a frame takes after them, with its 95 % interval; the same
 * once the variants turned slow; how many were dropped when tried again; the share of that; percent
 * more after that; and the noise, one run without the layer against the other. Ends with 0 if any
 * was dropped, no trial went on any more and nothing was used, all that turned slow were dropped,
 * no trials took more than half a percent, and frames take no longer afterwards: either their
 * interval lies below +1 %, or within the noise's. Ends with 3 if frames are shown to take longer
 * afterwards: all of the interval lies above +1 %, and above the noise's. Else with 1.
 */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/common/lockstep.h"
#include "bench/common/session.h"
#include "bench/common/work_folder.h"
#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FRAMES_MOST = 1000000,
    VERDICT_BYTES = 1 << 20,
    SHADERS = 256,
    KEY = 12,
    LEAST_BLOCKS = 4,   /* that are compared */
    LEAST_SECONDS = 10, /* that a session is played */
    NONE = 0,
    NONE_AGAIN = 1,
    LAYER = 2,
    SIDES = 3
};

struct options {
    struct pm_session_options session;
    const char *name;
    uint64_t tried_frames, sessions, seconds;
};

/* Of the time, what is over behind each step. */
static const double until_tried = 0.3, until_compared = 0.4, until_turned = 0.5, until_again = 0.85;

struct keys {
    char keys[SHADERS][KEY + 1];
    size_t count;
};

/* What sessions' logs say. */
struct seen {
    struct keys made, dropped, used; /* by the original's key */
    struct keys undecided;           /* by the variant's: what was said of it last */
    struct keys going_on;            /* likewise: trials that the latest session left */
    double share;                    /* percent, of trials */
};

struct slower {
    const struct options *options;
    char log[96], log_set[128];
    double *times[SIDES];
    int64_t begun_at; /* pm_now() */
};

/* When so much of the time behind the profile is over: pm_now(). */
static int64_t time_of(const struct slower *slower, double share)
{
    return slower->begun_at +
           (int64_t)(share * (double)slower->options->seconds * (double)PM_SECOND);
}

static double percent(double ratio)
{
    return (ratio - 1) * 100;
}

static void add_key(struct keys *keys, const char *key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strncmp(keys->keys[i], key, KEY) == 0)
            return;
    if (keys->count < SHADERS)
        snprintf(keys->keys[keys->count++], KEY + 1, "%s", key);
}

static void remove_key(struct keys *keys, const char *key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->keys[i], key) == 0)
            memmove(keys->keys[i], keys->keys[--keys->count], KEY + 1);
}

static bool has_key(const struct keys *keys, const char *key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->keys[i], key) == 0)
            return true;
    return false;
}

/* Of the variants that were made, how many were dropped. */
static size_t count_dropped(const struct seen *seen)
{
    size_t count = 0;
    for (size_t i = 0; i < seen->made.count; i++)
        count += has_key(&seen->dropped, seen->made.keys[i]);
    return count;
}

/* What a line says of a trial. */
static void read_trial(const char *line, struct seen *seen)
{
    static const char of[] = " a specialized shader ";
    const char *shader = strstr(line, of);
    const bool goes_on = strstr(line, " was not over after ") != NULL;
    char key[KEY + 1];
    if (!shader || sscanf(shader + sizeof(of) - 1, "%12[0-9a-f]", key) != 1)
        return;
    if (goes_on)
        add_key(&seen->going_on, key);
    if (strstr(shader, " undecided: tried again later"))
        add_key(&seen->undecided, key);
    else if (goes_on || strstr(line, " tried a "))
        remove_key(&seen->undecided, key);
}

static bool read_log(const char *path, struct seen *seen, struct pm_error *error)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    bool tried = false, told = false;
    if (!file)
        return pm_fail(error, PM_ERROR_STATE,
                       "%s: the layer was not there, or could not write (was BUILD built anew "
                       "meanwhile?)",
                       path);
    seen->going_on.count = 0;
    while (fgets(line, sizeof(line), file)) {
        char key[KEY + 1];
        double share;
        read_trial(line, seen);
        const char *shader = strstr(line, ": shader "), *took = strstr(line, "trials took ");
        if (took && sscanf(took, "trials took %lf %%", &share) == 1) {
            told = true;
            seen->share = fmax(seen->share, share);
        }
        if (strstr(line, ": warning: ") || strstr(line, ": error: "))
            fputs(line, stderr);
        if (!shader || sscanf(shader, ": shader %12[0-9a-f]", key) != 1)
            continue;
        if (strstr(shader, " is specialized: ")) {
            tried = true;
            add_key(&seen->made, key);
        } else if (strstr(shader, " is not faster, and is dropped"))
            add_key(&seen->dropped, key);
        else if (strstr(shader, " is used from now on")) {
            /* What an earlier session proved is not said to be made. */
            add_key(&seen->made, key);
            add_key(&seen->used, key);
        }
    }
    fclose(file);
    if (seen->made.count == SHADERS)
        return pm_fail(error, PM_ERROR_STATE, "more than %d shaders", SHADERS - 1);
    return told || !tried ||
           pm_fail(error, PM_ERROR_STATE, "%s does not say what trials took", path);
}

/* ---- sessions ---- */

static const char timed[] = "sampler.kinds=timing", untimed[] = "sampler.kinds=block";

/* Before the scene; its log is begun anew. */
static void add_layer(const struct slower *slower, const char *kinds, struct pm_words *words)
{
    const char *const sets[] = {"debug.slow_variants=true",
                                "debug.specialize=canonical",
                                kinds,
                                "sampler.window_probability=0",
                                "log.level=debug",
                                "optimize.agreeing_sessions=1",
                                "optimize.retry_share=0",
                                slower->log_set};
    unlink(slower->log);
    pm_words_add(words, slower->options->session.piecemeal);
    pm_words_add(words, "run");
    pm_words_add(words, "--local");
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        pm_words_add(words, "--set");
        pm_words_add(words, sets[i]);
    }
    pm_words_add(words, "--");
}

/* A session at the scene's own speed, for so long at most. */
static bool play(const struct slower *slower, double seconds, struct seen *seen,
                 struct pm_error *error)
{
    const struct pm_session_options *session = &slower->options->session;
    struct pm_words words = {0};
    char frames[24], most[24];
    int status;
    snprintf(frames, sizeof(frames), "%llu", (unsigned long long)slower->options->tried_frames);
    snprintf(most, sizeof(most), "%.0f", fmax(seconds, LEAST_SECONDS));
    add_layer(slower, timed, &words);
    pm_words_add_timeout(&words, most);
    for (int i = 0; i < session->scene_count; i++)
        pm_words_add(&words, session->scene[i]);
    pm_words_add(&words, "--quiet");
    pm_words_add(&words, "--frames");
    pm_words_add(&words, frames);
    return pm_launch_wait((char *const *)words.items, &status, error) &&
           pm_lockstep_goes_on(error) &&
           (status == 0 ||
            pm_fail(error, PM_ERROR_STATE, "%s ended with %d while variants were tried",
                    session->scene[0], status)) &&
           read_log(slower->log, seen, error);
}

/* Sessions until no trial goes on any more. turned: what is used is glanced at, of which no log
 * says that it goes on: until all that were made are dropped. */
static bool play_until_told(const struct slower *slower, bool turned, struct seen *seen,
                            struct pm_error *error)
{
    const double share = turned ? until_again : until_tried;
    for (uint64_t i = 0; i < slower->options->sessions; i++) {
        const double left = (double)(time_of(slower, share) - pm_now()) / (double)PM_SECOND;
        if (i > 0 && left < LEAST_SECONDS)
            break;
        if (!play(slower, left, seen, error))
            return false;
        if (seen->made.count > 0 &&
            (turned ? count_dropped(seen) == seen->made.count : seen->going_on.count == 0))
            break;
    }
    return seen->made.count > 0 || pm_fail(error, PM_ERROR_STATE, "no variant was made");
}

/* Runs in turn: how much longer frames take with the layer. */
static bool compare(const struct slower *slower, const char *kinds, double share,
                    struct pm_paired *cost, struct pm_paired *noise, struct pm_error *error)
{
    const struct pm_session_options *session = &slower->options->session;
    struct pm_side sides[SIDES] = {0};
    for (int side = 0; side < SIDES; side++) {
        struct pm_words words = {0};
        if (side == LAYER)
            add_layer(slower, kinds, &words);
        pm_session_original(session, &words);
        memcpy(sides[side].words, words.items, sizeof(words.items));
    }
    const uint64_t skip = session->skip;
    const struct pm_rounds rounds = {.least = skip + LEAST_BLOCKS * session->block,
                                     .most = session->frames,
                                     .until = time_of(slower, share)};
    size_t drawn;
    if (!pm_lockstep_draw_until(sides, SIDES, &rounds, slower->times, &drawn, error))
        return false;
    const uint64_t count = drawn - skip;
    const double *none = slower->times[NONE] + skip, *again = slower->times[NONE_AGAIN] + skip;
    double *mean = calloc(count, sizeof(*mean));
    if (!mean)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint64_t i = 0; i < count; i++)
        mean[i] = (none[i] + again[i]) / 2;
    *cost = pm_paired_ratio(slower->times[LAYER] + skip, mean, NULL, count, session->block,
                            PM_LOCKSTEP_TRIM);
    *noise = pm_paired_ratio(again, none, NULL, count, session->block, PM_LOCKSTEP_TRIM);
    free(mean);
    return true;
}

/* ---- verdicts ---- */

/* The words "verdict slower" of the text become "verdict faster". */
static size_t turn_words(char *text)
{
    static const char slower[] = "\nverdict slower ", faster[] = "\nverdict faster ";
    size_t count = 0;
    for (char *at = text; (at = strstr(at, slower)); count++)
        memcpy(at, faster, sizeof(faster) - 1);
    return count;
}

/* What this machine found slow, it had found fast: as what is slower in the next scene only. */
static bool turn_verdicts(const struct pm_work_folder *folder, struct pm_error *error)
{
    struct pm_buffer bytes;
    char pattern[128];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/piecemeal/journal/*/verdicts", folder->path);
    if (glob(pattern, 0, NULL, &found) != 0)
        return pm_fail(error, PM_ERROR_STATE, "%s: there are no verdicts", folder->path);
    pm_buffer_init(&bytes, VERDICT_BYTES);
    const char *path = found.gl_pathv[0];
    const bool ok = pm_file_read(path, &bytes, error) && pm_buffer_append(&bytes, "", 1) &&
                    (turn_words((char *)bytes.data) > 0 ||
                     pm_fail(error, PM_ERROR_STATE, "%s: nothing was dropped", path)) &&
                    pm_file_write(path, bytes.data, bytes.size - 1, error);
    pm_buffer_finish(&bytes);
    globfree(&found);
    return ok;
}

/* ---- what comes of it ---- */

struct step {
    struct seen seen;
    struct pm_paired cost, noise; /* after it */
};

static void print_paired(const struct pm_paired *paired)
{
    printf(" %+.2f (%+.2f to %+.2f) |", percent(paired->ratio), percent(paired->low),
           percent(paired->high));
}

static bool no_longer(const struct step *step)
{
    const struct pm_paired *cost = &step->cost, *noise = &step->noise;
    return cost->high < 1.01 || (cost->high <= noise->high && cost->low >= noise->low);
}

static bool takes_longer(const struct step *step)
{
    return step->cost.low > fmax(1.01, step->noise.high);
}

/* Which of them. */
static void say_keys(const struct options *options, const char *what, const struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        fprintf(stderr, "never_slower: %s: %s: %s\n", options->name, what, keys->keys[i]);
}

/* Undecided, or still tried when the last session ended. */
static struct keys not_decided(const struct seen *seen)
{
    struct keys keys = seen->undecided;
    for (size_t i = 0; i < seen->going_on.count; i++)
        add_key(&keys, seen->going_on.keys[i]);
    return keys;
}

static void say_left(const struct options *options, const struct seen *tried,
                     const struct seen *again)
{
    const struct keys undecided = not_decided(tried), once_more = not_decided(again);
    struct keys in_use = again->made;
    for (size_t i = 0; i < again->dropped.count; i++)
        remove_key(&in_use, again->dropped.keys[i]);
    say_keys(options, "undecided, the variant", &undecided);
    say_keys(options, "turned slow and in use, the shader", &in_use);
    say_keys(options, "turned slow and undecided, the variant", &once_more);
}

static int report(const struct options *options, const struct step *tried,
                  const struct step *turned, const struct step *again)
{
    const struct pm_paired *noise = &again->noise;
    const size_t dropped = count_dropped(&tried->seen);
    printf("| %s | %zu | %zu | %zu | %.3f |", options->name, tried->seen.made.count, dropped,
           not_decided(&tried->seen).count, tried->seen.share);
    print_paired(&tried->cost);
    print_paired(&turned->cost);
    printf(" %zu of %zu | %.3f |", count_dropped(&again->seen), again->seen.made.count,
           again->seen.share);
    print_paired(&again->cost);
    print_paired(noise);
    printf("\n");
    say_left(options, &tried->seen, &again->seen);
    if (takes_longer(tried) || takes_longer(again)) {
        fprintf(stderr, "never_slower: %s: frames take longer afterwards\n", options->name);
        return 3;
    }
    return tried->seen.used.count == 0 && tried->seen.going_on.count == 0 &&
                   count_dropped(&again->seen) == again->seen.made.count &&
                   tried->seen.share <= 0.5 && again->seen.share <= 0.5 && no_longer(tried) &&
                   no_longer(again)
               ? 0
               : 1;
}

/* -1: it could not be measured. */
static int measure(const struct options *options, struct pm_error *error)
{
    struct pm_work_folder folder = {0};
    struct slower slower = {.options = options};
    struct step tried = {0}, turned = {0}, again = {0};
    bool ok = pm_work_folder_create(&folder, error);
    for (int side = 0; ok && side < SIDES; side++) {
        slower.times[side] = calloc(options->session.frames, sizeof(double));
        ok = slower.times[side] || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    snprintf(slower.log, sizeof(slower.log), "%s/log", folder.path);
    snprintf(slower.log_set, sizeof(slower.log_set), "log.file=%s", slower.log);
    if (ok)
        pm_work_folder_enter(&folder);
    ok = ok && pm_session_train(&options->session, true, "", error);
    slower.begun_at = pm_now();
    ok = ok && play_until_told(&slower, false, &tried.seen, error) &&
         compare(&slower, timed, until_compared, &tried.cost, &tried.noise, error) &&
         turn_verdicts(&folder, error) &&
         compare(&slower, untimed, until_turned, &turned.cost, &turned.noise, error) &&
         play_until_told(&slower, true, &again.seen, error) &&
         compare(&slower, timed, 1, &again.cost, &again.noise, error);
    pm_work_folder_remove(&folder);
    for (int side = 0; side < SIDES; side++)
        free(slower.times[side]);
    if (!ok)
        say_left(options, &tried.seen, &again.seen);
    return ok ? report(options, &tried, &turned, &again) : -1;
}

int main(int argc, char **argv)
{
    enum { PIECEMEAL = 256, NAME, FRAMES, SKIP, BLOCK, TRIED_FRAMES, SESSIONS, SECONDS };
    static const struct option known[] = {
        {"piecemeal", 1, 0, PIECEMEAL},
        {"name", 1, 0, NAME},
        {"frames", 1, 0, FRAMES},
        {"skip", 1, 0, SKIP},
        {"block", 1, 0, BLOCK},
        {"tried-frames", 1, 0, TRIED_FRAMES},
        {"sessions", 1, 0, SESSIONS},
        {"seconds", 1, 0, SECONDS},
        {0},
    };
    struct options options = {
        .session = {.frames = 900, .skip = 100, .block = 20, .train_frames = 10},
        .name = "scene",
        .tried_frames = 5000,
        .sessions = 6,
        .seconds = 600,
    };
    struct pm_session_options *session = &options.session;
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1;) {
        uint64_t *number = option == FRAMES         ? &session->frames
                           : option == SKIP         ? &session->skip
                           : option == BLOCK        ? &session->block
                           : option == TRIED_FRAMES ? &options.tried_frames
                           : option == SESSIONS     ? &options.sessions
                           : option == SECONDS      ? &options.seconds
                                                    : NULL;
        if (option == PIECEMEAL)
            session->piecemeal = optarg;
        else if (option == NAME)
            options.name = optarg;
        else
            good = number && pm_tool_number(optarg, FRAMES_MOST, number) && *number > 0;
    }
    session->train_seconds = options.seconds;
    session->scene = argv + optind;
    session->scene_count = argc - optind;
    if (!good || !session->piecemeal || session->scene_count == 0 ||
        session->frames < session->skip + LEAST_BLOCKS * session->block) {
        fprintf(
            stderr,
            "usage: never_slower --piecemeal PIECEMEAL [--name NAME] [--frames N] [--skip N]\n"
            "                    [--block N] [--tried-frames N] [--sessions N] [--seconds N] -- "
            "SCENE...\n");
        return 2;
    }
    struct pm_error error = {0};
    const int status = measure(&options, &error);
    if (status < 0)
        fprintf(stderr, "never_slower: %s\n", error.message);
    return status < 0 ? 1 : status;
}
