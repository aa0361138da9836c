/*
 * Graphs of operations made at random, as shaders have them: most operations use what was computed
 * a moment ago, some use something far away.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/random.h"
#include "shader_rewrite/partition/schedule/operations.h"

struct pm_random_operations {
    uint32_t count;
    uint32_t components; /* of every value; 0: 1 to 4 */
    uint32_t inputs;     /* of each kind; 0: none is read */
    bool textures;       /* some are texture operations */
    bool ordered;        /* some only follow others, and may not run again */
};

/* Linked; to be finished. */
void pm_random_operations(struct pm_random *random, const struct pm_random_operations *options,
                          struct pm_operations *graph);
