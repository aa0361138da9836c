/*
 * Whom the optimizer (optimize.h) tells of its variants: trials, comparison, recordings, which are
 * above it.
 */
#pragma once

#include "layer/core/layer.h"
#include "layer/shader/specialized.h"

struct pm_candidate; /* candidate.h */
struct pm_pipeline;  /* pipeline.h */

/* What the optimizer tells of its variants; any thread. */
struct pm_optimizer_calls {
    /* One is built that nothing proves yet: it may be tried from now on. compute: of a compute
     * pipeline. */
    void (*built)(struct pm_device *device, struct pm_candidate *candidate, bool compute);
    /* One is bound in the game's place since an earlier session proved it: it may be tried again.
     */
    void (*proven)(struct pm_device *device, struct pm_candidate *candidate, bool compute);
    /* A pipeline is part of a trial over sessions: with which side, that of the shader or the one
     * while its variant waits. NONE: it is not, since nothing of the shader is timed. */
    enum pm_session_side (*in_session)(struct pm_device *device, struct pm_pipeline *pipeline,
                                       const struct pm_specialized_shader *shader);
    /* The variant of one that is, with that side, is bound from now on; it may be withdrawn. */
    void (*bound_in_session)(struct pm_device *device, struct pm_pipeline *pipeline,
                             struct pm_candidate *candidate);
    /* One is bound in the game's place for the first time; to_time: for a trial over sessions, and
     * nothing proves it. */
    void (*used)(struct pm_device *device, const struct pm_specialized_shader *shader,
                 bool to_time);
    /* One in several passes is proven: recordings are to look for it at each dispatch. */
    void (*in_passes)(struct pm_device *device);
    /* Those bits of device->binds that `of` has become what `bits` says (enum pm_binds). */
    void (*set_binds)(struct pm_device *device, uint32_t of, uint32_t bits);
    /* There is going to be one for values of these words of push constants, as bits: recordings
     * that begin from now on are to follow them. */
    void (*follow)(struct pm_device *device, uint64_t words);
};
