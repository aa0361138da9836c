#include "layer/core/cpu_bound.h"

#define FRAMES 32
#define FRAMES_TO_DECIDE 16

void pm_cpu_bound_init(struct pm_cpu_bound *state)
{
    *state = (struct pm_cpu_bound){0};
}

/* A wait of less than a fiftieth of the frame is a call's own cost. A thread that is busy all the
 * time gives the process at least as much processor time as the frame took; a tenth is left for the
 * scheduler. */
static bool looks_bound(const struct pm_cpu_frame *frame)
{
    return frame->gpu_idle && frame->waited < frame->wall / 50 &&
           frame->processor >= frame->wall - frame->wall / 10;
}

bool pm_cpu_bound_frame(struct pm_cpu_bound *state, const struct pm_cpu_frame *frame)
{
    state->history = state->history << 1 | looks_bound(frame);
    if (state->frames < FRAMES)
        state->frames++;
    if (state->frames < FRAMES_TO_DECIDE)
        return false;
    uint32_t bound = (uint32_t)__builtin_popcount(state->history);
    /* Three quarters make it bound, half make it free again. */
    state->bound = state->bound ? bound * 2 > state->frames : bound * 4 >= state->frames * 3;
    return state->bound;
}
