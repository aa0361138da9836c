#include "tools/run/command_profile.h"

#include "base/clock.h"
#include "base/config.h"
#include "profile/journal_asked.h"
#include "tools/common/launch.h"
#include "tools/common/options.h"
#include "tools/common/sentence.h"
#include "tools/common/tool.h"
#include "tools/run/programs.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal profile [OPTION…] CAPTURE.gfxr [-- OPTION OF gfxrecon-replay…]\n\n"
    "  --game NAME        what the game is called (else the application's name in the capture)\n"
    "  --config FILE      the config to use\n"
    "  --set KEY=VALUE    one key of the config, as in sampler.batch=8; may be given often\n"
    "  --local            everything on this machine, as `piecemeal run --local`\n"
    "  --times N          replay it N times (1), a session each\n"
    "  -o FILE            with --local: where a report goes\n\n"
    "Replays a capture of gfxreconstruct's under the layer, with everything sampled, and uploads "
    "what was sampled as\n`piecemeal run` does: for farms that have captures and not the games. It "
    "needs gfxrecon-replay (Debian: package\ngfxreconstruct), a display where the capture has "
    "frames (xvfb-run), and the device or one much like it.\nEnds with 0 when every replay went to "
    "its end and something was sampled.\n";

/* A capture is over soon, and waits for nobody: all of it is measured, and compiled in time. */
static const char *const rates[] = {"sampler.window_probability=1", "sampler.api_probability=1",
                                    "sampler.batch=all", "debug.synchronous=true"};
enum {
    RATES = sizeof rates / sizeof *rates,
    MOST_SETS = 64,
    MOST_TIMES = 1000,
    MOST_ARGUMENTS = 256,
    KILLED = 128, /* the status of a program that a signal killed, at least */
};

#define REPLAY "gfxrecon-replay"
#define INFO "gfxrecon-info"

struct replay {
    const char *game_option, *config, *out, *sets[MOST_SETS];
    size_t set_count;
    bool local;
    uint64_t times;
    char *capture, **options; /* options: of gfxrecon-replay */
    char *program;            /* gfxrecon-replay's path */
    bool known;               /* gfxrecon-info told the rest */
    uint64_t frames;
    char application[256], device[256];
};

/* ---- the capture ---- */

static bool is_capture(const char *path, struct pm_error *error)
{
    char magic[4] = "";
    FILE *file = fopen(path, "rbe");
    if (!file)
        return pm_fail_errno(error, errno, "%s", path);
    const size_t size = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return (size == sizeof magic && memcmp(magic, "GFXR", sizeof magic) == 0) ||
           pm_fail(error, PM_ERROR_INPUT, "%s: is no capture of gfxreconstruct's", path);
}

/* The rest of a line that begins so, behind blanks; NULL: it does not. */
static const char *after(const char *line, const char *label)
{
    line += strspn(line, " \t");
    return strncmp(line, label, strlen(label)) == 0 ? line + strlen(label) : NULL;
}

static void take_line(struct replay *replay, char *line)
{
    const char *text;
    line[strcspn(line, "\n")] = '\0';
    if ((text = after(line, "Total frames: "))) {
        replay->frames = strtoull(text, NULL, 10);
        replay->known = true;
    } else if ((text = after(line, "Application name: "))) {
        snprintf(replay->application, sizeof replay->application, "%s", text);
    } else if ((text = after(line, "Device name: "))) {
        snprintf(replay->device, sizeof replay->device, "%s", text);
    }
}

/* What gfxrecon-info says of it. Where there is none nothing is known. */
static void learn(struct replay *replay)
{
    char *info = pm_program_path(INFO), *line = NULL;
    size_t size = 0;
    /* The shell takes the names from the environment: they may hold anything. */
    if (info && setenv("PM_INFO", info, 1) == 0 && setenv("PM_CAPTURE", replay->capture, 1) == 0) {
        FILE *out = popen("exec \"$PM_INFO\" \"$PM_CAPTURE\" 2>/dev/null", "re");
        while (out && getline(&line, &size, out) > 0)
            take_line(replay, line);
        if (out)
            pclose(out);
    }
    unsetenv("PM_INFO");
    unsetenv("PM_CAPTURE");
    free(line);
    free(info);
}

static void say_capture(const struct replay *replay)
{
    if (!replay->known)
        fprintf(stderr, "piecemeal profile: %s: " INFO " tells nothing of it\n", replay->capture);
    else if (replay->frames == 0)
        fprintf(stderr,
                "piecemeal profile: %s: no frames of %s, captured on %s: only what it submits\n",
                replay->capture, replay->application, replay->device);
    else
        fprintf(stderr, "piecemeal profile: %s: %" PRIu64 " frames of %s, captured on %s\n",
                replay->capture, replay->frames, replay->application, replay->device);
}

/* Whether it can be replayed, as far as that can be told before. */
static bool can_replay(struct replay *replay, struct pm_error *error)
{
    if (!is_capture(replay->capture, error))
        return false;
    replay->program = pm_program_path(REPLAY);
    if (!replay->program)
        return pm_fail(error, PM_ERROR_STATE,
                       REPLAY " is not on PATH (Debian: the package gfxreconstruct)");
    learn(replay);
    say_capture(replay);
    if (replay->known && !replay->game_option && replay->application[0] == '\0')
        return pm_fail(error, PM_ERROR_INPUT,
                       "%s: has no application's name: --game says what the game is called",
                       replay->capture);
    if ((!replay->known || replay->frames > 0) && !replay->options[0] && !getenv("DISPLAY") &&
        !getenv("WAYLAND_DISPLAY"))
        return pm_fail(error, PM_ERROR_STATE,
                       "there is no display to replay frames on: xvfb-run makes one");
    return true;
}

/* ---- replaying ---- */

/* `piecemeal run`, which is this program, on the replay. */
static bool play(const struct replay *replay, int *status, struct pm_error *error)
{
    char *command[MOST_ARGUMENTS + 2 * (RATES + MOST_SETS) + 16] = {"/proc/self/exe", "run"};
    size_t count = 2, options = 0;
    if (replay->local)
        command[count++] = "--local";
    if (replay->game_option) {
        command[count++] = "--game";
        command[count++] = (char *)(uintptr_t)replay->game_option;
    }
    if (replay->config) {
        command[count++] = "--config";
        command[count++] = (char *)(uintptr_t)replay->config;
    }
    for (size_t i = 0; i < RATES + replay->set_count; i++) {
        command[count++] = "--set";
        command[count++] = (char *)(uintptr_t)(i < RATES ? rates[i] : replay->sets[i - RATES]);
    }
    command[count++] = "--";
    command[count++] = replay->program;
    for (; replay->options[options]; options++) {
        if (options == MOST_ARGUMENTS)
            return pm_fail(error, PM_ERROR_LIMIT, "too many options of " REPLAY);
        command[count++] = replay->options[options];
    }
    command[count++] = replay->capture;
    return pm_launch_wait(command, status, error);
}

/* The game that the replay was; malloc'ed. NULL: none. */
static char *game_of(const struct replay *replay)
{
    struct pm_names games = {0};
    char *game = replay->game_option ? strdup(replay->game_option) : NULL;
    if (!game && pm_program_games(replay->program, &games, NULL) && games.count > 0)
        game = strdup(games.names[0]);
    pm_names_finish(&games);
    return game;
}

/* What came of a replay. false: not all that was to. */
static bool judge(const struct replay *replay, int status, const char *game, double began)
{
    struct pm_session_status session;
    const bool seen = game && pm_sentence_of(game, began, &session);
    if (status >= KILLED)
        fprintf(stderr,
                "piecemeal profile: signal %d ended the replay: " REPLAY
                " cannot replay every capture (docs/captures.md)\n",
                status - KILLED);
    else if (status != 0)
        fprintf(stderr, "piecemeal profile: the replay ended with %d\n", status);
    if (!seen)
        return false; /* run said why */
    const bool short_of = replay->frames > 0 && session.heartbeats < replay->frames;
    if (replay->frames > 0)
        fprintf(stderr, "piecemeal profile: replayed %s%" PRIu64 " of %" PRIu64 " frames\n",
                short_of ? "only " : "", short_of ? session.heartbeats : replay->frames,
                replay->frames);
    return status == 0 && !short_of && session.sampled > 0;
}

static bool write_report(const struct replay *replay, char *game, struct pm_error *error)
{
    char *const command[] = {
        "/proc/self/exe", "report", "--game", game, "-o", (char *)(uintptr_t)replay->out, NULL};
    int status = 0;
    return pm_launch_wait(command, &status, error) &&
           (status == 0 || pm_fail(error, PM_ERROR_STATE, "there is no report"));
}

static bool replay_all(const struct replay *replay, bool *well, struct pm_error *error)
{
    bool ok = true;
    *well = true;
    for (uint64_t i = 0; ok && *well && i < replay->times; i++) {
        const double began = pm_wall_seconds();
        char name[PM_RUN_NAME_BYTES];
        int status = 0;
        ok = pm_run_give(name, error) && play(replay, &status, error);
        char *game = ok ? game_of(replay) : NULL;
        *well = ok && judge(replay, status, game, began);
        if (*well && replay->out && i + 1 == replay->times)
            ok = write_report(replay, game, error);
        free(game);
        if (pm_launch_asked() != 0)
            break;
    }
    return ok;
}

int pm_command_profile(int argc, char **argv)
{
    struct replay replay = {.times = 1};
    struct pm_error error = {0};
    bool well = false;
    int operands = 0;
    const struct pm_option options[] = {
        PM_OPTION_TEXT("game", &replay.game_option),
        PM_OPTION_TEXT("config", &replay.config),
        PM_OPTION_TEXTS("set", replay.sets, &replay.set_count, MOST_SETS),
        PM_OPTION_FLAG("local", &replay.local),
        PM_OPTION_NUMBER("times", &replay.times, MOST_TIMES),
        {.letter = 'o', .text = &replay.out}};
    const int status = pm_tool_options("profile", help, options, sizeof options / sizeof *options,
                                       argc, argv, &operands);
    if (status >= 0)
        return status;
    if (operands >= argc)
        return pm_tool_usage("profile", "no capture to replay");
    if (replay.times == 0)
        return pm_tool_usage("profile", "--times: at least 1");
    if (replay.out && !replay.local)
        return pm_tool_usage("profile", "-o needs --local");
    replay.capture = argv[operands];
    replay.options = argv + operands + 1;
    const bool ok = can_replay(&replay, &error) && replay_all(&replay, &well, &error);
    free(replay.program);
    if (!ok)
        return pm_tool_failed("profile", &error);
    return well ? PM_EXIT_OK : PM_EXIT_FAILED;
}
