#include "tools/run/ended.h"

#include "profile/journal.h"
#include "tools/common/held_back.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KILLED = 128, /* the status of a program that a signal killed is that much more */
    HOW_TEXT = 128,
};

struct saying {
    const char *command;
    const char *ended; /* how the program has; NULL: only what earlier sessions did is said */
    bool bad;          /* a session of the run did not end properly */
};

static void say(const char *path, const char *game, const struct pm_journal_state *state,
                void *user)
{
    struct saying *saying = user;
    if (!pm_held_back_any(state))
        return;
    saying->bad = state->judged_bad > 0;
    if (saying->bad != (saying->ended != NULL))
        return;
    char *text = pm_held_back(state, path, saying->ended);
    if (text)
        fprintf(stderr, "piecemeal %s: %s%s\n", saying->command, game, text);
    free(text);
}

/* What the journal cannot tell is not known; the next session of the game says why. */
static void look(const char *game, const char *run, struct saying *saying)
{
    pm_journal_of_run(NULL, game, run, say, saying, NULL);
}

/* A script that starts a game may end otherwise than the game did. */
static void tell_how(int status, char how[static HOW_TEXT])
{
    const int number = status - KILLED;
    if (number > 0 && number <= SIGRTMAX)
        snprintf(how, HOW_TEXT, "killed by signal %d, %s", number, strsignal(number));
    else
        snprintf(how, HOW_TEXT, "it crashed, hung or was killed");
}

void pm_run_say_ended(const struct pm_names *games, const char *run, int status)
{
    char how[HOW_TEXT];
    tell_how(status, how);
    for (size_t i = 0; i < games->count; i++)
        look(games->names[i], run, &(struct saying){.command = "run", .ended = how});
}

bool pm_run_say_held(const char *game, const char *run)
{
    struct saying saying = {.command = "try"};
    look(game, run, &saying);
    return saying.bad;
}
