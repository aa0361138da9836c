/*
 * Which calls a recording holds twice, and what was said of them (predicated.h). The recording
 * makes it when it begins and frees it when it is dropped (command.h).
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization; once the recording has
 * ended, the queue's.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls that are recorded twice for each that is sampled. */
#define PM_PREDICATED_TIMES 4.0
/* Calls at the begin of a recording that are chosen for sure; and how many such there may be, and
 * first ones of shaders and pipelines, in all that a device records. */
enum { PM_PREDICATED_FIRST = 4, PM_PREDICATED_SURE = 256 };

struct pm_shader_record;

struct pm_predicated_call {
    uint32_t use;                      /* its variant, among those of the recording */
    double probability;                /* that it is sampled in a submission inside a window */
    struct pm_shader_record *first_of; /* its shader, of which it was the first, and is not sampled
                                          yet; NULL: otherwise */
};

/* Indices of calls, ascending; room for all. */
struct pm_picks {
    uint32_t *calls;
    uint32_t count;
};

struct pm_predicated {
    struct pm_predicated_call *calls; /* call i reads word i % PM_PREDICATE_BLOCK of its block */
    uint32_t *blocks;                 /* bytes in the buffer: of calls 0…3, 4…7, … */
    uint32_t count, capacity;         /* of calls */
    double chance;                    /* of each call that the countdown was drawn with */
    double chances[2]; /* by bind point: of what is bound, when that was bound or when
                          a call was looked at last */
    uint64_t alike[2]; /* by bind point: what has it (pm_predicated_alike), when it was found */
    uint64_t drawn;    /* sum of the countdowns that were drawn */
    uint64_t recorded; /* calls in the recording, once it has ended */
    uint32_t sure;     /* that are still to be chosen for sure */
    uint32_t reserved; /* of the device's sure ones, those included */
    struct pm_picks picked; /* whose words are 1 behind the latest submission */
    struct pm_picks next;   /* likewise, behind the one that is being made */
    uint32_t written;       /* index + 1 of the queue that wrote its words last, or made
                               them visible since; 0: none did */
    uint64_t update;        /* the latest that it was looked at for (pm_queue.updates) */
};
