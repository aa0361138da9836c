#include "tools/common/held_back.h"

#include <stdio.h>

/* What is told of either. */
enum { COUNTED_TEXT = 128 };

bool pm_held_back_any(const struct pm_journal_state *state)
{
    return state->safe_for > 0 || state->held > 0 || state->held_for_good > 0;
}

/* Those that are held back while others are not. */
static void count(const struct pm_journal_state *state, char text[static COUNTED_TEXT])
{
    const uint32_t first = state->held > 0 ? state->held : state->held_for_good;
    int size = snprintf(text, COUNTED_TEXT, "%u specialized shader%s held back%s", first,
                        first == 1 ? " is" : "s are",
                        state->held > 0 ? " for a few sessions" : " for good");
    if (state->held > 0 && state->held_for_good > 0)
        snprintf(text + size, COUNTED_TEXT - (size_t)size, " and %u for good",
                 state->held_for_good);
}

char *pm_held_back(const struct pm_journal_state *state, const char *path, const char *ended,
                   bool by_hand)
{
    const char *way = !ended    ? "if it was ended by hand, its own menu or quit command ends it "
                                  "properly; remove"
                      : by_hand ? "its own menu or quit command ends it properly; remove"
                                : "remove";
    char counted[COUNTED_TEXT], *text = NULL;
    int size;
    count(state, counted);
    if (ended && state->safe_for > 0)
        size = asprintf(&text,
                        " did not end properly (%s), as before, so all specialized shaders are "
                        "held back until %u sessions have; %s %s to use them now",
                        ended, state->safe_for, way, path);
    else if (ended)
        size = asprintf(&text, " did not end properly (%s), so %s; %s %s to use them now", ended,
                        counted, way, path);
    else if (state->safe_for > 0)
        size = asprintf(&text,
                        ": sessions in a row did not end properly, so all specialized shaders are "
                        "held back until %u have; %s %s to use them now",
                        state->safe_for, way, path);
    else
        size = asprintf(&text,
                        ": %s, since sessions that they were new in did not end properly; %s %s "
                        "to use them now",
                        counted, way, path);
    return size < 0 ? NULL : text;
}
