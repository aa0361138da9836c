#include "tools/run/command_status.h"
#include "tools/common/options.h"
#include "tools/common/sentence.h"
#include "tools/common/tool.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char status_help[] =
    "usage: piecemeal status [--line] [GAME]\n\n"
    "  --line   a few words, for an overlay: in MangoHud's config\n"
    "           legacy_layout=false\n"
    "           custom_text=Piecemeal\n"
    "           exec=piecemeal status --line GAME\n\n"
    "Says what the latest session of the game (of any, without GAME) is doing, or what it came to: "
    "what was\nsampled, what is specialized and how much faster that is, or what stands in the "
    "way.\n";

static const char pause_help[] =
    "usage: piecemeal pause GAME\n\n"
    "From a second on the game's own shaders are used and nothing is tried, until\n"
    "`piecemeal resume GAME`: to look whether anything is different. Holds for later sessions "
    "too.\n";

static const char resume_help[] = "usage: piecemeal resume GAME\n\n"
                                  "Specialized shaders are used again after `piecemeal pause "
                                  "GAME`.\n";

static void say_when(const struct pm_session_status *status)
{
    const time_t began = (time_t)status->began;
    struct tm parts;
    char text[32] = "";
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M", localtime_r(&began, &parts));
    printf("%s, %s %s: ", status->game, pm_session_runs(status) ? "runs since" : "ran on", text);
}

int pm_command_status(int argc, char **argv)
{
    bool line = false;
    int operands = 0;
    const struct pm_option options[] = {PM_OPTION_FLAG("line", &line)};
    const int status = pm_tool_options("status", status_help, options, 1, argc, argv, &operands);
    if (status >= 0)
        return status;
    if (argc - operands > 1)
        return pm_tool_usage("status", "takes one game");
    const char *game = operands < argc ? argv[operands] : NULL;
    struct pm_session_status found;
    char text[PM_SENTENCE_TEXT];
    if (!pm_sentence_of(game, 0, &found)) {
        fprintf(stderr, "piecemeal status: no session of %s was seen on this machine\n",
                game ? game : "any game");
        return PM_EXIT_FAILED;
    }
    if (line) {
        pm_sentence_short(&found, text);
    } else {
        say_when(&found);
        pm_sentence(&found, pm_sentence_left_alone(found.game, found.began), NULL, text);
    }
    puts(text);
    return PM_EXIT_OK;
}

static int set_paused(const char *command, const char *help, bool paused, int argc, char **argv)
{
    struct pm_error error = {0};
    int operands = 0;
    const int status = pm_tool_options(command, help, NULL, 0, argc, argv, &operands);
    if (status >= 0)
        return status;
    if (argc - operands != 1)
        return pm_tool_usage(command, "takes one game");
    const char *game = argv[operands];
    struct pm_session_status found;
    const bool was = pm_session_is_paused(game);
    if (!pm_session_pause(game, paused, &error))
        return pm_tool_failed(command, &error);
    if (!was && !pm_sentence_of(game, 0, &found))
        fprintf(stderr,
                "piecemeal %s: no session of %s was seen on this machine; `piecemeal run` says "
                "what a game is called\n",
                command, game);
    if (paused)
        printf("%s uses its own shaders, until `piecemeal resume` with the same name\n", game);
    else
        printf("%s uses specialized shaders%s\n", game, was ? " again" : "; it was not paused");
    return PM_EXIT_OK;
}

int pm_command_pause(int argc, char **argv)
{
    return set_paused("pause", pause_help, true, argc, argv);
}

int pm_command_resume(int argc, char **argv)
{
    return set_paused("resume", resume_help, false, argc, argv);
}
