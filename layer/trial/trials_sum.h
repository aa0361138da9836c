/* How a device's trials stand, in numbers (trial.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pm_trials_sum {
    uint32_t going_on, dropped; /* shaders that are tried, or will be again; that are no faster */
    uint32_t measured;          /* of which one of many variants is measured just now */
    double fastest, slowest;    /* of those that are: time of the original over theirs; 0: none */
    bool of_passes;             /* what was timed of any: render passes */
    uint64_t frames_more;       /* heartbeats until all are decided, as far as it can be told; 0:
                                   nothing is tried, or nothing can be told yet */
};
