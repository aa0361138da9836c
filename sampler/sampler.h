/*
 * The three random samplers and the window state machine (Cooperative PGO, sections 3.1 and 3.2; Liblit 2004 for
 * the geometric countdown). Knows no Vulkan type: the layer says "a heartbeat", "a call", and is told what to do.
 *
 * Thread safety: each struct belongs to one thread at a time (the layer keeps the window under its present lock,
 * and one call sampler a command buffer), but for pm_shader_sampler, whose functions may be called from any thread.
 */
#pragma once

#include "base/random.h"
#include <stdbool.h>
#include <stdint.h>

#define PM_NEVER UINT64_MAX

/* The number of Bernoulli(p) trials up to and including the first success, by inverse transform: 1, 2, …;
 * PM_NEVER for p <= 0 (or NaN), 1 for p >= 1. */
uint64_t pm_geometric(struct pm_random *random, double p);

/* The same number in few instructions, where p is mostly the one before. It begins as zeros. */
struct pm_geometric_scale {
    double p, scale; /* for that p */
};
uint64_t pm_geometric_again(struct pm_random *random, struct pm_geometric_scale *scale, double p);

/* ---- frame sampler and window ---- */

enum pm_window_event { PM_WINDOW_NONE, PM_WINDOW_OPENED, PM_WINDOW_CLOSED };

struct pm_window {
    struct pm_random random;
    double probability;  /* q */
    uint32_t length;     /* heartbeats a window lasts */
    uint64_t countdown;  /* heartbeats until the next event: opening when closed, closing when open */
    bool open;
};

/* probability 1: the window is open from the start and never closes; 0: never opens. */
void pm_window_init(struct pm_window *window, double probability, uint32_t length, uint64_t seed);

/* One heartbeat: one decrement; a random number only when a window closes. */
enum pm_window_event pm_window_heartbeat(struct pm_window *window);

/* ---- API sampler ---- */

struct pm_call_sampler {
    uint64_t countdown; /* calls until the next sample, that one included; PM_NEVER: none */
};

/* Draws a fresh countdown: memoryless, so a command buffer may start one at its begin. */
void pm_call_sampler_begin(struct pm_call_sampler *sampler, struct pm_random *random, double p);

/* One draw or dispatch: true when it is sampled, and then draws the next countdown. */
static inline bool pm_call_sampler_hit(struct pm_call_sampler *sampler, struct pm_random *random, double p)
{
    if (sampler->countdown == PM_NEVER || --sampler->countdown != 0)
        return false;
    pm_call_sampler_begin(sampler, random, p);
    return true;
}

/* ---- shader sampler ---- */

struct pm_shader_sampler;

/* The points of one kind. A shader has several such spaces, and a batch belongs to one. */
struct pm_sampler_space {
    uint32_t count;         /* points 0 … count-1; may be 0 */
    uint32_t batch;         /* points of a batch, at most; UINT32_MAX: one batch of all */
    const uint8_t *deficit; /* a bitmap of count bits (least significant first) of the points that still need samples;
                               NULL: all do */
};

/* Splits each space at random into ceil(count / batch) batches, fixed for the session. Copies all it keeps. NULL: out
 * of memory, or no point at all. */
struct pm_shader_sampler *pm_shader_sampler_create(const struct pm_sampler_space *spaces, uint32_t space_count,
                                                   uint64_t seed);
void pm_shader_sampler_destroy(struct pm_shader_sampler *sampler);

/* Of all spaces; those of space 0 come first, and so on. */
uint32_t pm_shader_sampler_batch_count(const struct pm_shader_sampler *sampler);

/* The points of a batch, ascending; owned by the sampler. */
const uint32_t *pm_shader_sampler_batch(const struct pm_shader_sampler *sampler, uint32_t batch,
                                        uint32_t *count);

/* The index of the space that a batch belongs to. */
uint32_t pm_shader_sampler_space(const struct pm_shader_sampler *sampler, uint32_t batch);

/* The batch for the next sampled call: cycles through all batches of all spaces, so that each comes as often, but nine
 * times in ten through those that hold deficit points (DESIGN, PGO database). */
uint32_t pm_shader_sampler_next(struct pm_shader_sampler *sampler);
