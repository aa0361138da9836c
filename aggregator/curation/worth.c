#include "aggregator/curation/worth.h"

#include <stdlib.h>

/* What most sessions entered first: how many they were is counted here, and no client can raise it
 * beyond its cap. How much ran is only what each of them says. */
static int compare_worth(const void *a, const void *b)
{
    const struct pm_worth *left = a, *right = b;
    if (left->stays != right->stays)
        return left->stays ? -1 : 1;
    if (left->sessions != right->sessions)
        return left->sessions > right->sessions ? -1 : 1;
    if (left->entry_lanes != right->entry_lanes)
        return left->entry_lanes > right->entry_lanes ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static int compare_index(const void *a, const void *b)
{
    const struct pm_worth *left = a, *right = b;
    return left->index < right->index ? -1 : left->index > right->index;
}

size_t pm_worth_choose(struct pm_worth *all, size_t count, size_t most_bytes)
{
    size_t bytes = 0;
    qsort(all, count, sizeof(*all), compare_worth);
    for (size_t i = 0; i < count; i++) {
        all[i].fits = all[i].bytes <= most_bytes - bytes;
        bytes += all[i].fits ? all[i].bytes : 0;
    }
    qsort(all, count, sizeof(*all), compare_index);
    return bytes;
}
