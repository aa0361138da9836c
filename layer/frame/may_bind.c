#include "layer/frame/may_bind.h"

/* One letter a column, so that the table can be read. */
enum {
    G = PM_BINDING_GAME,
    P = PM_BINDING_PROVEN,
    I = PM_BINDING_INSTRUMENTED,
    C = PM_BINDING_TRIAL_CALL,
    R = PM_BINDING_TRIAL_PASS,
    S = PM_BINDING_PASSES,
};

// clang-format off
const uint8_t pm_may_bind_table[PM_CONDITIONS] = {
    [PM_RECORDING_UNTRACKED]       = G | P,
    [PM_RECORDING_UNKNOWN]         = G,
    [PM_RECORDING_TRACKED]         = G | P             | S,
    [PM_RECORDING_SAMPLED]         = G | P | I         | S,
    [PM_RECORDING_TIMED]           = G | P     | C | R | S,

    [PM_PLACE_DISPATCH]            = G | P | I | C     | S,
    [PM_PLACE_OUTSIDE]             = G | P | I,
    [PM_PLACE_PASS]                = G | P | I,
    [PM_PLACE_TIMED_PASS]          = G | P | I     | R,
    [PM_PLACE_TIMED_DRAWS]         = G | P | I | C,

    [PM_ACTIVE_PROTECTED]          = G,
    [PM_ACTIVE_INHERITED_QUERY]    = G,
    [PM_ACTIVE_QUERY]              = G,
    [PM_ACTIVE_TRANSFORM_FEEDBACK] = G,
    [PM_ACTIVE_GENERATED_COMMANDS] = G,
    [PM_ACTIVE_OTHER_SHADERS]      = G,
    [PM_ACTIVE_LOST]               = G | P,
};
// clang-format on
