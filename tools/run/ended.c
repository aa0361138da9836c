#include "tools/run/ended.h"

#include "profile/journal.h"
#include "tools/common/held_back.h"
#include "tools/common/launch.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOW_TEXT = 128 };

struct saying {
    const char *command;
    const char *ended; /* how the program has; NULL: only what earlier sessions did is said */
    bool by_hand;      /* which somebody did */
    bool bad;          /* a session of the run did not end properly, and holds something back */
};

static void say(const char *path, const char *game, const struct pm_journal_state *state,
                void *user)
{
    struct saying *saying = user;
    const struct pm_journal_state by_run = {.safe_for = state->judged_safe_for,
                                            .held = state->judged_held,
                                            .held_for_good = state->judged_held_for_good};
    saying->bad = pm_held_back_any(&by_run);
    if (!pm_held_back_any(state) || saying->bad != (saying->ended != NULL))
        return;
    char *text = pm_held_back(saying->bad ? &by_run : state, path, saying->ended, saying->by_hand);
    if (text)
        fprintf(stderr, "piecemeal %s: %s%s\n", saying->command, game, text);
    free(text);
}

/* What the journal cannot tell is not known; the next session of the game says why. */
static void look(const char *game, const char *run, struct saying *saying)
{
    pm_journal_of_run(NULL, game, run, say, saying, NULL);
}

/* The signal that is why the program has ended; 0: not known. A script that starts a game may end
 * otherwise than the game did, with whatever status. And what did not end properly though it was
 * asked to end, by a signal that goes on to it, was in a bad way before (asked.h). */
static int find_why(void)
{
    const int number = pm_launch_killed_by();
    const bool passed_on = number == SIGTERM || number == SIGINT || number == SIGHUP;
    return passed_on && pm_launch_asked() != 0 ? 0 : number;
}

/* Not those by which a program ends itself when it crashes. */
static bool is_by_hand(int number)
{
    return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGKILL ||
           number == SIGQUIT;
}

static void tell_how(int number, char how[static HOW_TEXT])
{
    if (number > 0)
        snprintf(how, HOW_TEXT, "killed by signal %d, %s", number, strsignal(number));
    else
        snprintf(how, HOW_TEXT, "it crashed, hung, was killed or lost its device");
}

void pm_run_say_ended(const struct pm_names *games, const char *run)
{
    const int number = find_why();
    char how[HOW_TEXT];
    tell_how(number, how);
    for (size_t i = 0; i < games->count; i++)
        look(games->names[i], run,
             &(struct saying){.command = "run", .ended = how, .by_hand = is_by_hand(number)});
}

bool pm_run_say_held(const char *game, const char *run)
{
    struct saying saying = {.command = "try"};
    look(game, run, &saying);
    return saying.bad;
}
