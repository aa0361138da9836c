/*
 * Never slower in another scene: variants that are faster in one scene and slower in the next, and
 * when the layer notices, in a game that names its scenes and in one that does not.
 *
 *   slower_scene --piecemeal PIECEMEAL --log FILE --from FRAME [--turn-slow] [--name NAME]
 *                [--frames N] [--skip N] [--block N] [--set KEY=VALUE]... -- SCENE [ARGUMENT...]
 *
 * SCENE goes from one scene to the next in that frame (--next). With --turn-slow it stays in one,
 * and its variants do their work twice from that heartbeat on (debug.slow_from): the change is
 * where the layer says so. What earlier sessions found is kept where XDG_DATA_HOME says
 * (slower_scene.sh), so its variants are used at once. Runs of it draw `frames` frames in turn
 * (lockstep.h): two without the layer, and one with it and a player's limits, which logs to FILE.
 * The first `skip` do not count, the rest is paired by blocks.
 *
 * Prints the columns of a row of a Markdown table: name; frames from the change until a variant was
 * tried again, and until the last was dropped (–: none was); the share of the time that trials
 * took; percent more a frame takes before the change, from there until the last was dropped, and
 * after that, with its 95 % interval; and that of one run without the layer against the other.
 */
#include "bench/common/lockstep.h"
#include "bench/common/session.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NONE, NONE_AGAIN, LAYER, SIDES };

struct options {
    struct pm_session_options session;
    const char *game, *name, *log;
    uint64_t from;
    bool turn_slow; /* from is a heartbeat */
};

/* What the layer's log has said so far. */
struct said {
    FILE *log;
    uint64_t from;           /* frame of the change; 0: not yet */
    uint64_t again, dropped; /* frames; 0: not since the change */
    double share;            /* percent; NAN: not yet */
};

static void add_layer(const struct options *options, const char *log_set, const char *slow_set,
                      struct pm_words *words)
{
    static const char *const sets[] = {"sampler.kinds=timing", "sampler.window_probability=0",
                                       "optimize.retry_share=0", "log.level=debug"};
    pm_words_add(words, options->session.piecemeal);
    pm_words_add(words, "run");
    pm_words_add(words, "--local");
    pm_words_add(words, "--game");
    pm_words_add(words, options->game);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        pm_words_add(words, "--set");
        pm_words_add(words, sets[i]);
    }
    for (size_t i = 0; i < options->session.sets.count; i++) {
        pm_words_add(words, "--set");
        pm_words_add(words, options->session.sets.items[i]);
    }
    if (options->turn_slow) {
        pm_words_add(words, "--set");
        pm_words_add(words, slow_set);
    }
    pm_words_add(words, "--set");
    pm_words_add(words, log_set);
    pm_words_add(words, "--");
}

/* What it has said in this frame. */
static void listen(const struct options *options, uint64_t frame, struct said *said)
{
    char line[1024];
    if (!said->log)
        said->log = fopen(options->log, "r");
    if (!said->log)
        return;
    clearerr(said->log);
    while (fgets(line, sizeof(line), said->log)) {
        const char *took = strstr(line, "trials took ");
        if (took)
            sscanf(took, "trials took %lf %%", &said->share);
        if (strstr(line, ": warning: ") || strstr(line, ": error: "))
            fputs(line, stderr);
        if (strstr(line, ": variants do their work twice from now on"))
            said->from = frame;
        if (said->from == 0 || frame < said->from)
            continue;
        if (strstr(line, " is tried again") && !said->again)
            said->again = frame;
        if (strstr(line, " is not faster, and is dropped"))
            said->dropped = frame;
    }
}

static bool draw(const struct options *options, double *const *times, struct said *said,
                 struct pm_error *error)
{
    struct pm_side sides[SIDES] = {0};
    struct pm_random random;
    char log_set[512], slow_set[48];
    snprintf(log_set, sizeof(log_set), "log.file=%s", options->log);
    snprintf(slow_set, sizeof(slow_set), "debug.slow_from=%llu", (unsigned long long)options->from);
    pm_random_init(&random, 1);
    for (int side = 0; side < SIDES; side++) {
        struct pm_words words = {0};
        if (side == LAYER)
            add_layer(options, log_set, slow_set, &words);
        pm_session_original(&options->session, &words);
        memcpy(sides[side].words, words.items, sizeof(words.items));
    }
    unlink(options->log);
    bool ok = pm_lockstep_start(sides, SIDES, error);
    for (uint64_t frame = 0; ok && frame < options->session.frames; frame++) {
        double round[SIDES];
        ok = pm_lockstep_round(sides, SIDES, &random, round, error);
        for (int side = 0; ok && side < SIDES; side++)
            times[side][frame] = round[side];
        listen(options, frame, said);
    }
    ok = pm_lockstep_stop(sides, SIDES, ok ? error : NULL) && ok;
    listen(options, options->session.frames, said);
    if (said->log)
        fclose(said->log);
    return ok &&
           (said->log ||
            pm_fail(error, PM_ERROR_STATE, "%s: the layer was not there", options->log)) &&
           (said->from > options->session.skip ||
            pm_fail(error, PM_ERROR_STATE, "%s: no variant turned slow, or too early",
                    options->log));
}

/* ---- what comes of it ---- */

static void print_frames(const struct said *said, uint64_t frame)
{
    if (frame)
        printf(" %llu |", (unsigned long long)(frame - said->from));
    else
        printf(" – |");
}

/* Of the frames from one to before another. */
static void print_more(const struct options *options, const double *without, const double *with,
                       uint64_t from, uint64_t to)
{
    if (to < from + 2 * options->session.block) {
        printf(" – |");
        return;
    }
    const struct pm_paired paired = pm_paired_ratio(with + from, without + from, NULL, to - from,
                                                    options->session.block, PM_LOCKSTEP_TRIM);
    printf(" %+.2f (%+.2f to %+.2f) |", (paired.ratio - 1) * 100, (paired.low - 1) * 100,
           (paired.high - 1) * 100);
}

static bool report(const struct options *options, double *const *times, const struct said *said,
                   struct pm_error *error)
{
    const uint64_t frames = options->session.frames;
    const uint64_t until = said->dropped ? said->dropped + 1 : frames;
    double *mean = calloc(frames, sizeof(*mean));
    if (!mean)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint64_t i = 0; i < frames; i++)
        mean[i] = (times[NONE][i] + times[NONE_AGAIN][i]) / 2;
    printf("| %s |", options->name);
    print_frames(said, said->again);
    print_frames(said, said->dropped);
    if (isnan(said->share))
        printf(" – |");
    else
        printf(" %.3f |", said->share);
    print_more(options, mean, times[LAYER], options->session.skip, said->from);
    print_more(options, mean, times[LAYER], said->from, until);
    print_more(options, mean, times[LAYER], until, frames);
    print_more(options, times[NONE], times[NONE_AGAIN], options->session.skip, frames);
    printf("\n");
    free(mean);
    return true;
}

static bool measure(const struct options *options, struct pm_error *error)
{
    struct said said = {.from = options->turn_slow ? 0 : options->from, .share = NAN};
    double *times[SIDES] = {0};
    bool ok = true;
    for (int side = 0; ok && side < SIDES; side++) {
        times[side] = calloc(options->session.frames, sizeof(double));
        ok = times[side] || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    ok = ok && draw(options, times, &said, error) && report(options, times, &said, error);
    for (int side = 0; side < SIDES; side++)
        free(times[side]);
    return ok;
}

int main(int argc, char **argv)
{
    enum {
        PIECEMEAL = 256,
        GAME,
        NAME,
        LOG,
        FROM,
        TURN_SLOW,
        FRAMES,
        SKIP,
        BLOCK,
        SET,
        FRAMES_MOST = 1000000
    };
    static const struct option known[] = {
        {"piecemeal", 1, 0, PIECEMEAL},
        {"game", 1, 0, GAME},
        {"name", 1, 0, NAME},
        {"log", 1, 0, LOG},
        {"from", 1, 0, FROM},
        {"turn-slow", 0, 0, TURN_SLOW},
        {"frames", 1, 0, FRAMES},
        {"skip", 1, 0, SKIP},
        {"block", 1, 0, BLOCK},
        {"set", 1, 0, SET},
        {0},
    };
    struct options options = {.session = {.frames = 3000, .skip = 100, .block = 20},
                              .name = "scene"};
    struct pm_session_options *session = &options.session;
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1;) {
        uint64_t *number = option == FRAMES  ? &session->frames
                           : option == SKIP  ? &session->skip
                           : option == BLOCK ? &session->block
                           : option == FROM  ? &options.from
                                             : NULL;
        if (option == PIECEMEAL)
            session->piecemeal = optarg;
        else if (option == GAME)
            options.game = optarg;
        else if (option == NAME)
            options.name = optarg;
        else if (option == LOG)
            options.log = optarg;
        else if (option == TURN_SLOW)
            options.turn_slow = true;
        else if (option == SET && session->sets.count < PM_SESSION_LIST_MOST)
            session->sets.items[session->sets.count++] = optarg;
        else
            good = number && pm_tool_number(optarg, FRAMES_MOST, number) && *number > 0;
    }
    session->scene = argv + optind;
    session->scene_count = argc - optind;
    if (!good || !session->piecemeal || !options.game || !options.log ||
        session->scene_count == 0 || options.from <= session->skip ||
        session->frames <= options.from) {
        fprintf(
            stderr,
            "usage: slower_scene --piecemeal PIECEMEAL --game GAME --log FILE\n"
            "                    --from FRAME [--turn-slow] [--name NAME] [--frames N] [--skip N]\n"
            "                    [--block N] [--set KEY=VALUE]... -- SCENE...\n");
        return 2;
    }
    struct pm_error error = {0};
    if (measure(&options, &error))
        return 0;
    fprintf(stderr, "slower_scene: %s\n", error.message);
    return 1;
}
