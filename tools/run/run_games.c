#include "tools/run/run_games.h"

#include "base/config_typos.h"
#include "profile/game_note.h"
#include "profile/trouble.h"
#include "tools/common/sentence.h"
#include "tools/common/tool.h"
#include "tools/run/programs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A game is about to start. */
enum { PULL_SECONDS = 5, RETRY_SECONDS = 2 };

bool pm_run_games_begin(struct pm_run_games *run, const char *program, struct pm_error *error)
{
    run->program = pm_program_path(program);
    return pm_tool_temporary(run->notes, sizeof(run->notes), "piecemeal-games", error) &&
           (setenv(PM_GAME_NOTE_VARIABLE, run->notes, 1) == 0 ||
            pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
}

void pm_run_games_not_pulled(struct pm_run_games *run, const struct pm_error *error)
{
    if (error->code != PM_ERROR_NETWORK)
        pm_tool_failed("run", error);
    else if (run->away.code == PM_OK)
        run->away = *error;
}

static void pull(struct pm_run_games *run, const char *game, struct pm_log *log)
{
    struct pm_error error = {0};
    struct pm_config config;
    struct pm_sync_report report = {0};
    pm_config_init(&config);
    const struct pm_sync_info info = {.config = &config,
                                      .log = log,
                                      .game = game,
                                      .deadline_seconds = PULL_SECONDS,
                                      .retry_seconds = RETRY_SECONDS};
    /* What is wrong with its config the layer says. */
    if (pm_config_load_game(&config, game, NULL) && config.aggregator.url &&
        !pm_sync_pull(&info, &report, &error))
        pm_run_games_not_pulled(run, &error);
    pm_config_finish(&config);
}

void pm_run_games_pull(struct pm_run_games *run, struct pm_log *log)
{
    struct pm_error error = {0};
    struct pm_names games = {0};
    if (run->program && !pm_program_games(run->program, &games, &error))
        pm_tool_failed("run", &error);
    for (size_t i = 0; i < games.count; i++)
        pull(run, games.names[i], log);
    pm_names_finish(&games);
}

static void say_config(const char *game)
{
    const char *named = getenv("PIECEMEAL_CONFIG");
    char *own = named && named[0] ? NULL : pm_config_game_path(game);
    char *shared = own ? pm_config_shared_path(game) : NULL;
    const bool is_shared = shared && access(shared, F_OK) == 0;
    const char *path = own ? own : named;
    char *meant = own ? pm_config_misnamed(game) : NULL;
    if (path)
        fprintf(stderr, "piecemeal run: the game is \"%s\"; its config: %s%s%s%s%s%s%s\n", game,
                path, access(path, F_OK) == 0 ? "" : ", which is not there: the defaults",
                is_shared ? "; what " : "", is_shared ? shared : "",
                is_shared ? " withholds is withheld here, too" : "",
                meant ? "; nothing reads " : "", meant ? meant : "");
    free(meant);
    free(shared);
    free(own);
}

void pm_run_games_ended(struct pm_run_games *run)
{
    struct pm_error error = {0};
    if (run->notes[0] && !pm_game_note_read(run->notes, &run->games, &error))
        pm_tool_failed("run", &error);
    for (size_t i = 0; i < run->games.count; i++)
        say_config(run->games.names[i]);
    error = (struct pm_error){0};
    if (run->program && run->games.count > 0 &&
        !pm_program_remember(run->program, &run->games, &error))
        run->unkept = error;
}

struct trouble {
    double since; /* pm_wall_seconds */
    const char *game;
    char message[sizeof(((struct pm_error *)NULL)->message)];
};

static void take_trouble(void *user, const char *game, double at, const char *message)
{
    struct trouble *trouble = user;
    if (at >= trouble->since && strcmp(game, trouble->game) == 0)
        snprintf(trouble->message, sizeof(trouble->message), "%s", message);
}

void pm_run_games_say(const struct pm_run_games *run, double began, const char *next)
{
    struct pm_session_status status;
    char text[PM_SENTENCE_TEXT];
    bool said = false;
    for (size_t i = 0; i < run->games.count; i++) {
        struct trouble trouble = {.since = began, .game = run->games.names[i]};
        pm_trouble_each(take_trouble, &trouble);
        if (pm_sentence_of(run->games.names[i], began, &status))
            pm_sentence(&status, pm_sentence_left_alone(run->games.names[i], began),
                        status.sampled > 0 ? next : NULL, text);
        else if (trouble.message[0])
            snprintf(text, sizeof(text), "sampled nothing: %s", trouble.message);
        else if (run->unkept.code != PM_OK)
            snprintf(text, sizeof(text), "what the layer did is not known: %s",
                     run->unkept.message);
        else
            snprintf(text, sizeof(text), "sampled nothing: the program made no Vulkan device");
        fprintf(stderr, "piecemeal run: %s\n", text);
        said = true;
    }
    if (!said)
        fprintf(stderr,
                "piecemeal run: sampled nothing: the program made no Vulkan instance that the "
                "layer was in (`piecemeal doctor`)\n");
}

const char *pm_run_games_busiest(const struct pm_run_games *run, double began)
{
    struct pm_session_status status;
    const char *busiest = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < run->games.count; i++)
        if (pm_sentence_of(run->games.names[i], began, &status) &&
            (!busiest || status.heartbeats > most)) {
            busiest = run->games.names[i];
            most = status.heartbeats;
        }
    return busiest;
}

/* sends: only one that may send to its aggregator. */
static bool find_config(const struct pm_run_games *run, bool sends, struct pm_config *config)
{
    for (size_t i = 0; i < run->games.count; i++) {
        pm_config_init(config);
        if (pm_config_load_game(config, run->games.names[i], NULL) && config->aggregator.url &&
            !(sends && config->consent_withheld))
            return true;
        pm_config_finish(config);
    }
    return false;
}

bool pm_run_games_upload_config(const struct pm_run_games *run, struct pm_config *config)
{
    return find_config(run, true, config);
}

bool pm_run_games_name_aggregator(const struct pm_run_games *run)
{
    struct pm_config config;
    const bool found = find_config(run, false, &config);
    if (found)
        pm_config_finish(&config);
    return found;
}

void pm_run_games_finish(struct pm_run_games *run)
{
    if (run->notes[0])
        unlink(run->notes);
    pm_names_finish(&run->games);
    free(run->program);
}
