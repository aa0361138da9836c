#include "tools/run/command_run.h"
#include "aggregator_client/client.h"
#include "base/clock.h"
#include "base/file.h"
#include "profile/journal_asked.h"
#include "profile/left_alone.h"
#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include "tools/run/ab.h"
#include "tools/run/asked.h"
#include "tools/run/local.h"
#include "tools/run/run_games.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal run [OPTION…] -- PROGRAM [ARGUMENT…]\n\n"
    "  --game NAME        what the game is called (else its config, its own name for itself, its "
    "executable)\n"
    "  --config FILE      the config to use\n"
    "  --set KEY=VALUE    one key of the config, as in sampler.batch=all; may be given often\n"
    "  --local            everything on this machine: profile, curate, use; no server\n"
    "  --ab               use the game's own shaders and the specialized ones in turn, and say "
    "how much faster\n"
    "                     its frames are with the latter\n"
    "  --ab-frames N      frames that either is used at a time (32)\n\n"
    "Pulls the game's PGO database, runs the program with the layer, uploads what was sampled "
    "(with consent, where the\n"
    "config names an aggregator). Ends with the program's own exit status, 128 + N when signal N "
    "killed it.\n";

/* A developer waits for what is compiled. */
#define LOCAL_SHARE "0.5"

struct options {
    const char *game, *config;
    bool local, ab;
    struct pm_local_run run; /* of --local */
    char ab_file[PATH_MAX];  /* what the layer writes for --ab */
    char **program;
};

static bool set_variable(const char *key, const char *value, struct pm_error *error)
{
    char variable[128];
    if (!pm_config_variable(key, variable, sizeof(variable)) || setenv(variable, value, 1) != 0)
        return pm_fail(error, PM_ERROR_INPUT, "%s: cannot be set", key);
    return true;
}

/* Checked here, so that a typo is told before the game starts; it travels through the environment.
 * what: the option. */
static bool set_key_value(const char *key, const char *value, const char *what,
                          struct pm_error *error)
{
    struct pm_config probe;
    pm_config_init(&probe);
    bool ok = pm_config_set(&probe, key, value, what, error) && set_variable(key, value, error);
    pm_config_finish(&probe);
    return ok;
}

static bool set_key(const char *text, struct pm_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return pm_fail(error, PM_ERROR_INPUT, "--set %s: not KEY=VALUE", text);
    char key[128];
    size_t size = (size_t)(equals - text);
    if (size >= sizeof(key))
        return pm_fail(error, PM_ERROR_INPUT, "--set: the key is too long");
    memcpy(key, text, size);
    key[size] = 0;
    return set_key_value(key, equals + 1, "--set", error);
}

static int parse(int argc, char **argv, struct options *options)
{
    enum { GAME = 256, CONFIG, SET, LOCAL, AB, AB_FRAMES };
    static const struct option known[] = {{"game", 1, 0, GAME}, {"config", 1, 0, CONFIG},
                                          {"set", 1, 0, SET},   {"local", 0, 0, LOCAL},
                                          {"ab", 0, 0, AB},     {"ab-frames", 1, 0, AB_FRAMES},
                                          {"help", 0, 0, 'h'},  {0}};
    struct pm_error error = {0};
    int option;
    while ((option = getopt_long(argc, argv, "+h", known, NULL)) != -1) {
        switch (option) {
        case GAME:
            options->game = optarg;
            break;
        case CONFIG:
            options->config = optarg;
            break;
        case SET:
            if (!set_key(optarg, &error))
                return pm_tool_usage("run", "%s", error.message);
            break;
        case LOCAL:
            options->local = true;
            break;
        case AB:
            options->ab = true;
            break;
        case AB_FRAMES:
            if (!set_key_value("ab.frames", optarg, "--ab-frames", &error))
                return pm_tool_usage("run", "%s", error.message);
            break;
        case 'h':
            fputs(help, stdout);
            return PM_EXIT_OK;
        default:
            return pm_tool_usage("run", "see above");
        }
    }
    if (optind >= argc)
        return pm_tool_usage("run", "no program to run");
    options->program = argv + optind;
    return -1;
}

/* A file of ours for what the layer measures. */
static bool prepare_ab(struct options *options, struct pm_error *error)
{
    return pm_tool_temporary(options->ab_file, sizeof(options->ab_file), "piecemeal-ab", error) &&
           set_variable("ab.file", options->ab_file, error);
}

static bool prepare_environment(struct options *options, struct pm_error *error)
{
    if (options->config) {
        char *path = realpath(options->config, NULL);
        if (!path)
            return pm_fail_errno(error, errno, "%s", options->config);
        bool set = setenv("PIECEMEAL_CONFIG", path, 1) == 0;
        free(path);
        if (!set)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    if (options->game && !set_variable("game.name", options->game, error))
        return false;
    /* The game may close or redirect its stderr; the layer's lines still belong on ours. */
    int log = dup(STDERR_FILENO);
    char descriptor[64];
    if (log >= 0 && pm_log_descriptor_format(log, descriptor, sizeof(descriptor)))
        setenv("PIECEMEAL_LOG_FD", descriptor, 1);
    else
        unsetenv("PIECEMEAL_LOG_FD");
    return (!options->local || pm_local_begin(&options->run, error)) &&
           (!options->ab || prepare_ab(options, error)) && pm_launch_environment(error);
}

static bool granted(const struct pm_config *config, struct pm_error *error)
{
    enum pm_consent consent;
    if (config->consent_withheld || !pm_consent_read(&consent, error))
        return false;
    if (consent != PM_CONSENT_UNASKED)
        return consent == PM_CONSENT_GRANTED;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        fprintf(stderr, "piecemeal run: nothing is uploaded: consent was not asked yet (`piecemeal "
                        "consent grant`)\n");
        return false;
    }
    fprintf(stderr,
            "piecemeal: may counters of this game's shaders be sent to %s?\n"
            "They say nothing about you; `piecemeal sync --dry-run` shows them. [y/N] ",
            config->aggregator.url);
    char answer[16] = "";
    if (!fgets(answer, sizeof(answer), stdin))
        return false;
    bool yes = answer[0] == 'y' || answer[0] == 'Y';
    return pm_consent_write(yes ? PM_CONSENT_GRANTED : PM_CONSENT_REVOKED, error) && yes;
}

static void warn(const struct pm_error *error)
{
    fprintf(stderr, "piecemeal run: %s\n", error->message);
}

/* Ctrl-C ends all processes of a game, but not at once, and the script that started it may go
 * first. */
enum {
    GAME_ENDS = 10,   /* seconds */
    REST_ENDS = 2,    /* seconds */
    PAUSE = 20000000, /* nanoseconds */
    KILLED = 128,     /* the status of a program that a signal killed, at least */
};

/* Waits, though not for ever, until the run's sessions have ended; where the program was killed
 * also for what it left behind, which may write its first checkpoint yet. */
static void wait_for_sessions(const struct pm_local_run *run, bool killed)
{
    const int64_t began = pm_now();
    for (;;) {
        const bool left = pm_launch_left();
        const size_t live = pm_local_live(run);
        const int64_t took = pm_now() - began;
        if (live == 0 && (!left || !killed || took > REST_ENDS * PM_SECOND))
            return;
        if (live > 0 && took > GAME_ENDS * PM_SECOND) {
            fprintf(stderr,
                    "piecemeal run: %zu sessions still go on; the next run takes them in once they "
                    "have ended\n",
                    live);
            return;
        }
        nanosleep(&(struct timespec){0, PAUSE}, NULL);
    }
}

static void take_in_left(struct pm_log *log)
{
    struct pm_error error = {0};
    struct pm_local_report report;
    if (!pm_local_take_in(NULL, log, &report, &error))
        warn(&error);
}

/* status: the program's. */
static void take_in_run(struct pm_local_run *run, struct pm_log *log, int status)
{
    struct pm_error error = {0};
    struct pm_local_report report;
    wait_for_sessions(run, status >= KILLED);
    if (!pm_local_take_in(run, log, &report, &error))
        warn(&error);
    else
        fprintf(stderr,
                "piecemeal run: took in %zu checkpoints of %zu sessions; `piecemeal db show` shows "
                "them\n",
                report.checkpoints, report.sessions);
}

/* By the run's own config, or else by what those of its games say. */
static void upload(const struct pm_sync_info *run, const struct pm_run_games *games)
{
    struct pm_error error = {0};
    struct pm_sync_report report = {0};
    struct pm_sync_info info = *run;
    struct pm_config own;
    info.deadline_seconds = 30;
    if (!run->config->aggregator.url) {
        if (!pm_run_games_upload_config(games, &own))
            return;
        info.config = &own;
        info.game = NULL;
    }
    const bool allowed = granted(info.config, &error);
    if (info.config == &own) {
        info.config = NULL; /* each game's own */
        pm_config_finish(&own);
    }
    if (!allowed) {
        if (error.code != PM_OK)
            warn(&error);
        return;
    }
    if (!pm_sync_upload(&info, &report, &error))
        warn(&error); /* it stays spooled; the next sync sends it */
    else
        fprintf(stderr, "piecemeal run: uploaded %zu sessions, %zu shaders\n",
                report.sessions_uploaded, report.shaders_uploaded);
}

static void say_left_alone(void *user, const struct pm_left_alone *left)
{
    (void)user;
    struct pm_arena *arena = pm_arena_create(0);
    const char *text = arena ? pm_left_alone_describe(left, arena) : NULL;
    if (text)
        fprintf(stderr, "piecemeal run: %s: %s\n", left->game, text);
    pm_arena_destroy(arena);
}

/* What the run could make nothing of. since: when it began. */
static void say_all_left_alone(time_t since)
{
    struct pm_error error = {0};
    if (!pm_left_alone_each(NULL, (int64_t)since, say_left_alone, NULL, &error))
        warn(&error);
}

/* What --ab found out. */
static void compare(const struct options *options)
{
    struct pm_error error = {0};
    struct pm_ab_report report;
    if (!pm_ab_read(options->ab_file, &report, &error)) {
        warn(&error);
    } else {
        pm_ab_print(&report, "piecemeal run: ", stderr);
        pm_ab_report_finish(&report);
    }
    unlink(options->ab_file);
}

int pm_command_run(int argc, char **argv)
{
    struct options options = {0};
    struct pm_error error = {0};
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    if (!prepare_environment(&options, &error))
        return pm_tool_failed("run", &error);
    struct pm_config config;
    pm_config_init(&config);
    if (!pm_tool_config(&config, options.game, NULL, &error))
        warn(&error); /* the layer says it too, and passes everything through */
    else if (options.local && config.limits.background_share == PM_BACKGROUND_SHARE)
        set_key_value("limits.background_share", LOCAL_SHARE, "--local", &error);
    struct pm_log *log = pm_log_create(NULL, STDERR_FILENO, config.log.level, NULL);
    struct pm_sync_info info = {
        .config = &config,
        .log = log,
        .game = options.game ? options.game : config.game_name,
        .deadline_seconds = 5,
    };
    struct pm_sync_report report = {0};
    struct pm_run_games games = {0};
    if (!pm_run_games_begin(&games, options.program[0], &error))
        warn(&error);
    error = (struct pm_error){0};
    if (options.local)
        take_in_left(log); /* by a run that was killed */
    else if (!config.aggregator.url)
        pm_run_games_pull(&games, log);
    else if (!pm_sync_pull(&info, &report, &error))
        warn(&error); /* a stale database, or none, is used */

    error = (struct pm_error){0};
    if (options.local)
        pm_launch_adopt();
    char run[PM_RUN_NAME_BYTES];
    const bool named = pm_run_begin(run, &error);
    if (!named)
        warn(&error);
    const time_t began = time(NULL);
    bool started = pm_launch_wait(options.program, &status, &error);
    if (!started)
        status = pm_tool_failed("run", &error);
    else
        pm_run_games_ended(&games);
    if (started && named)
        pm_run_asked(run, status);
    if (started && options.local)
        take_in_run(&options.run, log, status);
    else if (started)
        upload(&info, &games);
    if (options.ab)
        compare(&options);
    say_all_left_alone(began);
    if (options.local)
        pm_local_end(&options.run);
    pm_run_games_finish(&games);
    pm_log_destroy(log);
    pm_config_finish(&config);
    return status;
}
