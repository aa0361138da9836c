/* What the generated newer.c is made of, and includes once. */
#pragma once

#include "tests/null_driver/newer.h"
#include <stdio.h>
#include <stdlib.h>

/* Whose chain got one more structure. The structures are the caller's, and put back. */
struct mark {
    const void **chain;
    VkBaseInStructure future;
};

enum { MOST_MARKS = 64 };

struct marks {
    size_t count;
    struct mark all[MOST_MARKS];
};

static struct pm_device_dispatch next_device;
static _Atomic uint64_t structures;

uint64_t pm_newer_count(void)
{
    return structures;
}

static void mark(struct marks *marks, const void **chain)
{
    if (marks->count == MOST_MARKS) {
        fprintf(stderr, "more than %d chains in a call\n", MOST_MARKS);
        exit(1);
    }
    struct mark *one = &marks->all[marks->count++];
    one->chain = chain;
    one->future = (VkBaseInStructure){.sType = PM_NEWER_TYPE, .pNext = *chain};
    *chain = &one->future;
    structures++;
}

static void put_back(struct marks *marks)
{
    for (size_t i = marks->count; i-- > 0;)
        *marks->all[i].chain = marks->all[i].future.pNext;
}
