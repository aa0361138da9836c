#include "tools/bisect/search.h"

#include <stdlib.h>
#include <string.h>

struct halving {
    const struct pm_search *search;
    size_t *members; /* of the set that is bad */
    size_t size;
    bool *used; /* for a test */
};

/* The part of the members from `at` on, or all others. */
static enum pm_answer test(const struct halving *h, size_t at, size_t end, bool others)
{
    memset(h->used, 0, h->search->count * sizeof *h->used);
    for (size_t i = 0; i < h->size; i++)
        h->used[h->members[i]] = (i >= at && i < end) != others;
    return h->search->test(h->search->user, h->used);
}

static void keep(struct halving *h, size_t at, size_t end, bool others)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->size; i++)
        if ((i >= at && i < end) != others)
            h->members[kept++] = h->members[i];
    h->size = kept;
}

/* Looks for a part that is bad, or parts without which it still is. *parts: how many there are, and
 * then are to be. PM_GOOD: there is none. */
static enum pm_answer reduce(struct halving *h, size_t *parts)
{
    const size_t of = *parts;
    for (int others = 0; others < 2; others++) {
        /* Of two parts one is all but the other. */
        for (size_t part = 0; part < of && !(others && of == 2); part++) {
            const size_t at = part * h->size / of, end = (part + 1) * h->size / of;
            const enum pm_answer answer = test(h, at, end, others);
            if (answer == PM_GOOD)
                continue;
            if (answer == PM_BAD) {
                keep(h, at, end, others);
                *parts = others ? of - 1 : 2;
            }
            return answer;
        }
    }
    return PM_GOOD;
}

static bool halve(struct halving *h)
{
    for (size_t parts = 2; h->size > 1;) {
        if (parts > h->size)
            parts = h->size;
        const size_t of = parts;
        const enum pm_answer answer = reduce(h, &parts);
        if (answer == PM_NO_ANSWER)
            return false;
        if (answer == PM_BAD)
            continue;
        if (of == h->size)
            return true;
        parts = 2 * of;
    }
    return true;
}

bool pm_search_least(const struct pm_search *search, bool *set)
{
    struct halving h = {.search = search,
                        .members = calloc(search->count + 1, sizeof *h.members),
                        .used = calloc(search->count + 1, sizeof *h.used)};
    for (size_t i = 0; h.members && i < search->count; i++)
        if (set[i])
            h.members[h.size++] = i;
    const bool found = h.members && h.used && halve(&h);
    if (found) {
        memset(set, 0, search->count * sizeof *set);
        for (size_t i = 0; i < h.size; i++)
            set[h.members[i]] = true;
    }
    free(h.used);
    free(h.members);
    return found;
}
