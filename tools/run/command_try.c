#include "tools/run/command_try.h"

#include "aggregator_client/disk/database_cache.h"
#include "base/clock.h"
#include "base/file.h"
#include "profile/journal_asked.h"
#include "tools/common/launch.h"
#include "tools/common/options.h"
#include "tools/common/sentence.h"
#include "tools/common/tool.h"
#include "tools/run/ended.h"
#include "tools/run/programs.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal try [OPTION…] -- PROGRAM [ARGUMENT…]\n\n"
    "  --sessions N     start the program up to N times (1), again when it has ended\n"
    "  --game NAME      what the game is called\n"
    "  --set KEY=VALUE  one key of the config, as in sampler.api_probability=1; may be given "
    "often\n"
    "  -o FILE          where the report goes\n\n"
    "All on this machine, and nothing leaves it: profiles the program's shaders, at rates that are "
    "fit for one\nmachine; from its second session on also specializes them, tries what came of "
    "it, "
    "and compares frames\nwith and without it. Goes on where it ended when it is started again. "
    "Says how far it is, and ends\nwith a report. Ends with 1 when nothing could be sampled.\n";

/* For one machine: a window is always open, one call in ten is sampled, and each measures all that
 * it can, so that few copies of shaders have to be compiled. While frames are compared fewer calls
 * are sampled. */
#define ALWAYS "sampler.window_probability=1"
#define WHOLE "sampler.batch=all"
#define PROFILING "sampler.api_probability=0.1"
#define COMPARING "sampler.api_probability=0.01"
/* What is compared anyway need not be tried again first. */
#define BELIEVED "optimize.agreeing_sessions=1"
/* Where copies of shaders were there too late for anything to be sampled. */
#define IN_TIME "debug.synchronous=true"
/* Of what is recorded once there may be no second chance. */
#define ALL "sampler.api_probability=1"

enum { MOST_SESSIONS = 100, MOST_SETS = 64, MOST_ARGUMENTS = 4096, BY_SIGNAL = 128 };
/* Seconds until it is first told how far it is, and the most between two times: a long session does
 * not fill the terminal. */
enum { TELL_FIRST = 10, TELL_MOST = 120 };
/* Sessions as long as the last one, beyond which nobody should wait for a trial. */
enum { FAR_MORE = 20 };

struct attempt {
    const char *game_option, *out, *sets[MOST_SETS];
    size_t set_count;
    uint64_t sessions;
    bool in_time; /* copies are compiled with their pipelines */
    bool keeps;   /* and the program is one that submits again what it recorded before */
    char **program;
    char *path; /* of the program; NULL: not known */
    char *game; /* NULL: not known yet */
};

/* ---- what is known ---- */

/* The game that the program was last. */
static void find_game(struct attempt *attempt)
{
    struct pm_names games = {0};
    free(attempt->game);
    attempt->game = attempt->game_option ? strdup(attempt->game_option) : NULL;
    if (!attempt->game && attempt->path && pm_program_games(attempt->path, &games, NULL) &&
        games.count > 0)
        attempt->game = strdup(games.names[0]);
    pm_names_finish(&games);
}

/* Whether there is a profile of it to specialize by. */
static bool has_profile(const struct attempt *attempt)
{
    char *folder = pm_place_path(PM_PLACE_DATA, "local/databases");
    char *path = NULL;
    if (folder && setenv("PIECEMEAL_DATABASES", folder, 1) == 0 && attempt->game)
        path = pm_database_cache_path(attempt->game);
    const bool found = path && access(path, F_OK) == 0;
    free(path);
    free(folder);
    return found;
}

/* ---- telling ---- */

struct telling {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool ended;
    const struct attempt *attempt;
    double since;
    unsigned number;
};

static void tell(const struct telling *telling, char said[static PM_SENTENCE_TEXT])
{
    struct pm_session_status status;
    char text[PM_SENTENCE_TEXT];
    if (!pm_sentence_of(telling->attempt->game, telling->since, &status))
        return;
    const bool all = status.points > 0 && status.points_sampled == status.points &&
                     status.shaders_sampled == status.shaders && status.trying == 0;
    pm_sentence(&status, pm_sentence_left_alone(status.game, telling->since),
                all ? "end the program, it knows enough" : NULL, text);
    if (strcmp(text, said) != 0)
        fprintf(stderr, "piecemeal try: session %u of %u: %s\n", telling->number,
                (unsigned)telling->attempt->sessions, text);
    snprintf(said, PM_SENTENCE_TEXT, "%s", text);
}

static void *run_telling(void *user)
{
    struct telling *telling = user;
    char said[PM_SENTENCE_TEXT] = "";
    time_t pause = TELL_FIRST;
    pthread_mutex_lock(&telling->lock);
    while (!telling->ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += pause;
        while (!telling->ended &&
               pthread_cond_timedwait(&telling->over, &telling->lock, &until) == 0)
            ;
        pause = pause * 2 < TELL_MOST ? pause * 2 : TELL_MOST;
        if (!telling->ended)
            tell(telling, said);
    }
    pthread_mutex_unlock(&telling->lock);
    return NULL;
}

/* Runs the command, and tells every now and then how far it is. */
static bool run_and_tell(struct telling *telling, char **command, int *status,
                         struct pm_error *error)
{
    pthread_t thread;
    pthread_mutex_init(&telling->lock, NULL);
    pthread_cond_init(&telling->over, NULL);
    const bool tells = pthread_create(&thread, NULL, run_telling, telling) == 0;
    const bool started = pm_launch_wait(command, status, error);
    pthread_mutex_lock(&telling->lock);
    telling->ended = true;
    pthread_cond_signal(&telling->over);
    pthread_mutex_unlock(&telling->lock);
    if (tells)
        pthread_join(thread, NULL);
    pthread_cond_destroy(&telling->over);
    pthread_mutex_destroy(&telling->lock);
    return started;
}

/* ---- sessions ---- */

/* What the game's last session, maybe of another day, says of the next. */
static void learn(struct attempt *attempt)
{
    struct pm_session_status last;
    if (!attempt->game || !pm_sentence_of(attempt->game, 0, &last))
        return;
    /* One that waited and keeps its recordings would come too late without. */
    const bool late = pm_sentence_is_late(&last) || (last.synchronous && last.keeps_recordings);
    attempt->keeps |= late && last.keeps_recordings;
    attempt->in_time |= late;
}

struct command {
    char *words[MOST_ARGUMENTS + 1];
    size_t count;
};

static bool add_word(struct command *command, const char *word, struct pm_error *error)
{
    if (command->count == MOST_ARGUMENTS)
        return pm_fail(error, PM_ERROR_LIMIT, "the program has too many arguments");
    command->words[command->count++] = (char *)(uintptr_t)word;
    return true;
}

static bool add_pair(struct command *command, const char *option, const char *value,
                     struct pm_error *error)
{
    return add_word(command, option, error) && add_word(command, value, error);
}

/* `piecemeal run`, which is this program, on the game. */
static bool make_command(const struct attempt *attempt, bool compares, struct command *command,
                         struct pm_error *error)
{
    const char *rate = attempt->keeps && !compares   ? ALL
                       : compares && !attempt->keeps ? COMPARING
                                                     : PROFILING;
    bool ok = add_pair(command, "/proc/self/exe", "run", error) &&
              add_word(command, "--local", error) && add_pair(command, "--set", ALWAYS, error) &&
              add_pair(command, "--set", WHOLE, error) && add_pair(command, "--set", rate, error);
    if (ok && attempt->in_time)
        ok = add_pair(command, "--set", IN_TIME, error);
    if (ok && compares)
        ok = add_pair(command, "--set", BELIEVED, error);
    for (size_t i = 0; ok && i < attempt->set_count; i++)
        ok = add_pair(command, "--set", attempt->sets[i], error);
    if (ok && compares)
        ok = add_word(command, "--ab", error);
    if (ok && attempt->game_option)
        ok = add_pair(command, "--game", attempt->game_option, error);
    ok = ok && add_word(command, "--", error);
    for (char **argument = attempt->program; ok && *argument; argument++)
        ok = add_word(command, *argument, error);
    return ok;
}

static bool run_session(const struct attempt *attempt, unsigned number, bool compares, int *status,
                        struct pm_error *error)
{
    struct command command = {.count = 0};
    struct telling telling = {.attempt = attempt, .since = pm_wall_seconds(), .number = number};
    if (!make_command(attempt, compares, &command, error))
        return false;
    fprintf(stderr, "piecemeal try: session %u of %u: %s%s\n", number, (unsigned)attempt->sessions,
            compares ? "specializes by the profile, tries what comes of it, and compares frames"
                     : "profiles",
            !attempt->in_time ? ""
            : attempt->keeps  ? "; waits for copies of its shaders, since it submits again what it "
                                "recorded before"
                              : "; waits for copies of its shaders, which came too late before");
    return run_and_tell(&telling, command.words, status, error);
}

/* Whether another session would tell more. */
static bool goes_on(const struct attempt *attempt, const struct pm_session_status *status,
                    bool compared)
{
    if (!attempt->in_time && pm_sentence_is_late(status))
        return true;
    if (status->sampled == 0 && !compared)
        return false;
    /* What was decided in this session is compared for its whole length in the next. */
    return !compared || status->trying > 0 || status->fastest > 0;
}

/* What one more session would do, when this was the last. */
static const char *what_next(const struct attempt *attempt, const struct pm_session_status *status,
                             bool compared)
{
    if (!attempt->in_time && pm_sentence_is_late(status))
        return pm_sentence_is_chance(status)
                   ? "copies of its shaders came too late, or nothing of it was chosen: start it "
                     "once more with `piecemeal try`, or at once with --sessions 3, to wait for "
                     "them"
                   : "copies of its shaders came too late: start it once more with `piecemeal "
                     "try`, or at once with --sessions 3, to wait for them";
    if (!compared)
        return "its shaders are profiled; start it once more with `piecemeal try`, or at once with "
               "--sessions 3, to specialize them and compare";
    if (status->trying > 0 && status->frames_more > FAR_MORE * status->heartbeats)
        return "not all is decided, and it differs too little or too much from call to call for "
               "sessions of this length to tell soon; a quieter machine may, or more time for "
               "trials (limits.trial_share)";
    return status->trying > 0 ? "not all is decided: start it once more" : NULL;
}

/* *any: a session of these sampled something, or drew while it compared. */
static bool run_sessions(struct attempt *attempt, bool *any, struct pm_error *error)
{
    for (unsigned number = 1; number <= attempt->sessions; number++) {
        struct pm_session_status status;
        char name[PM_RUN_NAME_BYTES];
        const double began = pm_wall_seconds();
        int exit_status = 0;
        if (!pm_run_give(name, error))
            return false;
        find_game(attempt);
        learn(attempt);
        const bool compares = has_profile(attempt);
        if (!run_session(attempt, number, compares, &exit_status, error))
            return false;
        find_game(attempt);
        const bool seen = attempt->game && pm_sentence_of(attempt->game, began, &status);
        *any |= seen && (status.sampled > 0 || (compares && status.heartbeats > 0));
        const bool over = !seen || pm_launch_asked() != 0 || !goes_on(attempt, &status, compares);
        const bool last = over || number == attempt->sessions;
        const bool held = last && attempt->game && pm_run_say_held(attempt->game, name);
        if (over)
            return true; /* run said why */
        /* Once more would not try again what it has just tried. */
        const char *next = last && !held ? what_next(attempt, &status, compares) : NULL;
        if (next)
            fprintf(stderr, "piecemeal try: %s\n", next);
    }
    return true;
}

/* ---- the report ---- */

/* Shown, where somebody sits in front of it. */
static void open_report(const char *path)
{
    const bool screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    char *const command[] = {"xdg-open", (char *)(uintptr_t)path, NULL};
    int status;
    if (screen && isatty(STDERR_FILENO))
        (void)pm_launch_wait(command, &status, NULL);
}

/* Why there is none: what `piecemeal report` itself said stands above, unless a signal ended it. */
static bool no_report(int status, struct pm_error *error)
{
    const int number = status > BY_SIGNAL ? status - BY_SIGNAL : 0;
    if (number > 0)
        return pm_fail(error, PM_ERROR_STATE,
                       "there is no report: `piecemeal report` was ended by signal %d (%s)%s",
                       number, strsignal(number),
                       number == SIGPIPE   ? ": nobody reads what it prints any more"
                       : number == SIGKILL ? ": maybe the machine is out of memory"
                                           : "");
    return pm_fail(error, PM_ERROR_STATE,
                   "there is no report: `piecemeal report` ended with %d, for what it says above",
                   status);
}

static bool write_report(const struct attempt *attempt, struct pm_error *error)
{
    char *made = attempt->out ? NULL : pm_tool_report_path(attempt->game, error);
    const char *path = attempt->out ? attempt->out : made;
    int status = 0;
    bool ok = path != NULL;
    if (ok) {
        char *const command[] = {"/proc/self/exe",        "report", "--game", attempt->game, "-o",
                                 (char *)(uintptr_t)path, NULL};
        ok = pm_launch_wait(command, &status, error) && (status == 0 || no_report(status, error));
    }
    if (ok)
        open_report(path);
    free(made);
    return ok;
}

int pm_command_try(int argc, char **argv)
{
    struct attempt attempt = {.sessions = 1};
    struct pm_error error = {0};
    bool any = false;
    const struct pm_option options[] = {
        PM_OPTION_NUMBER("sessions", &attempt.sessions, MOST_SESSIONS),
        PM_OPTION_TEXT("game", &attempt.game_option),
        PM_OPTION_TEXTS("set", attempt.sets, &attempt.set_count, MOST_SETS),
        {.letter = 'o', .text = &attempt.out}};
    const int status = pm_tool_leading_options(
        "try", help, options, sizeof(options) / sizeof(options[0]), argc, argv, &attempt.program);
    if (status >= 0)
        return status;
    if (!attempt.program[0])
        return pm_tool_usage("try", "no program to run");
    if (attempt.sessions == 0)
        return pm_tool_usage("try", "--sessions: at least 1");
    attempt.path = pm_program_path(attempt.program[0]);
    bool ok = run_sessions(&attempt, &any, &error);
    if (ok && (any || has_profile(&attempt))) /* also of earlier sessions */
        ok = write_report(&attempt, &error);
    free(attempt.game);
    free(attempt.path);
    if (!ok)
        return pm_tool_failed("try", &error);
    return any ? PM_EXIT_OK : PM_EXIT_FAILED;
}
