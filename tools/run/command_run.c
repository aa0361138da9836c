#include "tools/run/command_run.h"
#include "aggregator_client/client.h"
#include "base/clock.h"
#include "profile/journal_asked.h"
#include "profile/left_alone.h"
#include "tools/common/launch.h"
#include "tools/common/next_sync.h"
#include "tools/common/tool.h"
#include "tools/run/ab.h"
#include "tools/run/asked.h"
#include "tools/run/ended.h"
#include "tools/run/local.h"
#include "tools/run/run_games.h"
#include "tools/run/run_options.h"
#include "tools/run/run_trace.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A game is about to start, or has ended: somebody waits. */
enum {
    PULL_SECONDS = 5,
    PULL_RETRY_SECONDS = 2,
    UPLOAD_SECONDS = 30,
    UPLOAD_RETRY_SECONDS = 3,
    AWAY_WAS_SAID = 1, /* what the upload's process ends with */
};

/* A developer waits for what is compiled. */
#define LOCAL_SHARE "0.5"

/* A run, and what belongs to it. */
struct run {
    struct pm_run_options asked;
    struct pm_local_run local; /* of --local */
    bool kept;                 /* --local has somewhere to keep things */
    char ab_file[PATH_MAX];    /* what the layer writes for --ab; "": nothing */
    struct pm_run_trace trace;
};

/* A spool of its own. Without one the game starts, and nothing of it is kept, nor ever leaves. */
static void prepare_local(struct run *run)
{
    struct pm_error error = {0};
    run->kept = pm_local_begin(&run->local, &error);
    if (run->kept)
        return;
    fprintf(stderr, "piecemeal run: nothing can be kept of this run: %s\n", error.message);
    setenv("PIECEMEAL_CONSENT_UPLOAD", "false", 1);
}

/* A file of ours for what the layer measures. */
static void prepare_ab(struct run *run)
{
    struct pm_error error = {0};
    if (!pm_tool_temporary(run->ab_file, sizeof(run->ab_file), "piecemeal-ab", &error) ||
        !pm_run_set("ab.file", run->ab_file, "--ab", &error))
        pm_run_warn(&error);
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
            fprintf(
                stderr,
                "piecemeal run: %zu session%s still go%s on; the next run takes in what is left "
                "once it has ended\n",
                live, live == 1 ? "" : "s", live == 1 ? "es" : "");
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
        pm_run_warn(&error);
}

/* status: the program's. */
static void take_in_run(struct pm_local_run *run, struct pm_log *log, int status)
{
    struct pm_error error = {0};
    struct pm_local_report report;
    wait_for_sessions(run, status >= KILLED);
    const bool all = pm_local_take_in(run, log, &report, &error);
    if (!all)
        pm_run_warn(&error);
    if (all || report.sessions > 0)
        fprintf(stderr, "piecemeal run: took in %zu checkpoint%s of %zu session%s%s\n",
                report.checkpoints, report.checkpoints == 1 ? "" : "s", report.sessions,
                report.sessions == 1 ? "" : "s",
                report.checkpoints > 0 ? "; `piecemeal db show` shows them" : "");
}

/* The run's games go by its own config, or else by what those of its games say. true: that the
 * aggregator is away was said. */
static bool upload(const struct pm_sync_info *run, const struct pm_run_games *games)
{
    struct pm_error error = {0};
    struct pm_sync_report report = {0};
    struct pm_sync_info info = *run;
    struct pm_config own;
    info.games = &games->games; /* what else waits goes by its own config */
    info.deadline_seconds = UPLOAD_SECONDS;
    info.retry_seconds = UPLOAD_RETRY_SECONDS;
    if (!run->config->aggregator.url) {
        if (!pm_run_games_upload_config(games, &own))
            return false;
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
            pm_run_warn(&error);
        return false;
    }
    if (!pm_sync_upload(&info, &report, &error)) {
        pm_tool_sync_failed("run", &error, report.sessions_waiting); /* it stays spooled */
        return error.code == PM_ERROR_NETWORK;
    }
    fprintf(stderr, "piecemeal run: uploaded %zu session%s, %zu shader profile%s",
            report.sessions_uploaded, report.sessions_uploaded == 1 ? "" : "s",
            report.shaders_uploaded, report.shaders_uploaded == 1 ? "" : "s");
    pm_tool_say_waiting(stderr, report.sessions_waiting, report.waits_for);
    fprintf(stderr, "\n");
    return false;
}

struct uploading {
    const struct pm_sync_info *info;
    const struct pm_run_games *games;
};

static int upload_here(void *user)
{
    const struct uploading *uploading = user;
    return upload(uploading->info, uploading->games) ? AWAY_WAS_SAID : 0;
}

/* upload, which Ctrl-C ends: the game is over, and somebody may wait for the prompt. */
static bool upload_apart(const struct pm_sync_info *info, const struct pm_run_games *games)
{
    struct uploading uploading = {info, games};
    struct pm_error error = {0};
    int status = 0;
    if (!pm_launch_apart(upload_here, &uploading, &status, &error))
        pm_run_warn(&error);
    else if (status >= KILLED)
        fprintf(stderr,
                "piecemeal run: the upload was ended by signal %d; what did not leave stays "
                "spooled\n",
                status - KILLED);
    return status == AWAY_WAS_SAID;
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
        pm_run_warn(&error);
}

/* What --ab found out; kept for the report. */
static void compare(const struct run *run, const struct pm_run_games *games, double began)
{
    struct pm_error error = {0};
    struct pm_ab_report report;
    if (run->ab_file[0] == '\0')
        return;
    if (!pm_ab_read(run->ab_file, &report, &error)) {
        pm_run_warn(&error);
    } else {
        const char *game = run->asked.game ? run->asked.game : pm_run_games_busiest(games, began);
        const bool kept =
            report.outcome != PM_AB_MEASURED || !game || pm_ab_keep(&report, game, &error);
        pm_ab_print(&report, "piecemeal run: ", stderr);
        if (!kept)
            pm_run_warn(&error);
        pm_ab_report_finish(&report);
    }
}

/* ---- what a signal before the program leaves ---- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };

static struct {
    const struct run *run;
    const struct pm_run_games *games;
    struct sigaction before[ENDING];
} leaving;

/* The files that belong to the run go; then it ends as it would have. */
static void leave(int number)
{
    const int why = errno;
    unlink(leaving.run->ab_file);
    unlink(leaving.run->trace.events);
    unlink(leaving.games->notes);
    errno = why;
    raise(number); /* SA_RESETHAND: its default */
}

/* Until give_back_signals: a pull may take seconds, which is when somebody presses Ctrl-C. */
static void watch_signals(const struct run *run, const struct pm_run_games *games)
{
    const struct sigaction action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND};
    leaving.run = run;
    leaving.games = games;
    for (size_t i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &leaving.before[i]);
        if (leaving.before[i].sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
    }
}

static void give_back_signals(void)
{
    for (size_t i = 0; i < ENDING; i++)
        sigaction(ending[i], &leaving.before[i], NULL);
}

/* Whatever cannot be had is said, and the game starts all the same. */
static void prepare(struct run *run, struct pm_config *config, struct pm_run_games *games)
{
    struct pm_error error = {0};
    pm_run_environment(&run->asked);
    if (run->asked.local)
        prepare_local(run);
    if (run->asked.ab)
        prepare_ab(run);
    pm_run_trace_begin(&run->trace, run->asked.trace);
    pm_config_init(config);
    if (!pm_tool_config(config, run->asked.game, NULL, &error))
        pm_run_warn(&error); /* the layer says it too, and passes everything through */
    else if (run->asked.local && config->limits.background_share == PM_BACKGROUND_SHARE)
        pm_run_set("limits.background_share", LOCAL_SHARE, "--local", &error);
    error = (struct pm_error){0};
    if (!pm_run_games_begin(games, run->asked.program[0], &error))
        pm_run_warn(&error);
}

/* What the program is going to use. */
static void take_before(struct run *run, const struct pm_sync_info *info,
                        struct pm_run_games *games)
{
    struct pm_error error = {0};
    struct pm_sync_report report = {0};
    pm_run_trace_step(&run->trace, run->asked.local ? "take in" : "pull");
    if (run->kept)
        take_in_left(info->log); /* by a run that was killed */
    else if (!run->asked.local && (!info->game || !info->config->aggregator.url))
        pm_run_games_pull(games, info->log);
    else if (!run->asked.local && !pm_sync_pull(info, &report, &error))
        pm_run_games_not_pulled(games, &error); /* a stale database, or none, is used */
    pm_run_trace_step_ends(&run->trace);
}

/* What its user does with what was sampled; NULL: nothing. */
static const char *what_next(const struct run *run, const struct pm_sync_info *info,
                             const struct pm_run_games *games)
{
    if (run->kept)
        return "piecemeal report";
    if (run->asked.local || info->config->aggregator.url || pm_run_games_name_aggregator(games))
        return NULL;
    return "piecemeal run --local, which uses on this machine what it samples: no config names an "
           "aggregator (aggregator.url)";
}

/* The run's name: the one that was given by who started it and looks for its sessions, or its own.
 */
static bool name_run(char name[PM_RUN_NAME_BYTES], struct pm_error *error)
{
    /* What a game starts has a name in its environment, too. */
    const char *given = getenv(PM_RUN_GIVEN) ? pm_run_name() : NULL;
    unsetenv(PM_RUN_GIVEN);
    if (!given)
        return pm_run_begin(name, error);
    snprintf(name, PM_RUN_NAME_BYTES, "%s", given);
    return true;
}

/* The program, and what became of it. */
static int play(struct run *run, const struct pm_sync_info *info, struct pm_run_games *games)
{
    struct pm_error error = {0};
    char name[PM_RUN_NAME_BYTES];
    int status;
    if (run->kept)
        pm_launch_adopt();
    const bool named = name_run(name, &error);
    if (!named)
        pm_run_warn(&error);
    const double began = pm_wall_seconds();
    pm_run_trace_step(&run->trace, "program");
    if (!pm_launch_wait(run->asked.program, &status, &error))
        return pm_tool_failed("run", &error);
    pm_run_trace_step_ends(&run->trace);
    pm_run_games_ended(games);
    if (named)
        pm_run_asked(name, status);
    pm_run_trace_step(&run->trace, run->asked.local ? "take in" : "upload");
    if (run->kept)
        take_in_run(&run->local, info->log, status);
    else if (!run->asked.local && !upload_apart(info, games) && games->away.code != PM_OK)
        pm_tool_sync_failed("run", &games->away, 0);
    pm_run_trace_step_ends(&run->trace);
    compare(run, games, began);
    say_all_left_alone((time_t)began);
    if (named)
        pm_run_say_ended(&games->games, name);
    pm_run_games_say(games, began, what_next(run, info, games));
    return status;
}

int pm_command_run(int argc, char **argv)
{
    struct run run = {.local.lock = -1};
    char **environment = pm_run_environment_now();
    int status = pm_run_options_read(argc, argv, &run.asked);
    if (status >= 0) {
        free(environment);
        return status;
    }
    struct pm_config config;
    struct pm_run_games games = {0};
    watch_signals(&run, &games);
    prepare(&run, &config, &games);
    struct pm_log *log = pm_log_create(NULL, STDERR_FILENO, config.log.level, NULL);
    const char *named = getenv("PIECEMEAL_CONFIG");
    const struct pm_sync_info info = {
        .config = &config,
        .log = log,
        .game = run.asked.game ? run.asked.game : config.game_name,
        .replaces = named && named[0],
        .environment = environment, /* without what is set for this run */
        .deadline_seconds = PULL_SECONDS,
        .retry_seconds = PULL_RETRY_SECONDS,
    };
    take_before(&run, &info, &games);
    give_back_signals();
    status = play(&run, &info, &games);
    pm_run_trace_end(&run.trace);
    if (run.ab_file[0])
        unlink(run.ab_file);
    pm_local_end(&run.local);
    pm_run_games_finish(&games);
    pm_log_destroy(log);
    pm_config_finish(&config);
    free(environment);
    return status;
}
