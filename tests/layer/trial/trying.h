/*
 * For tests of trials (trial.h) on the null driver, where each draw and dispatch takes as long as
 * the test says.
 */
#pragma once

#include "tests/layer/optimized.h"

enum {
    TRYING_ORIGINAL = 100000, /* nanoseconds of a call with the game's own pipeline */
    TRYING_ONCE = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
};

extern struct trying {
    struct pm_harness h;
    VkPipeline compute, graphics; /* the game's own */
    VkShaderEXT object;           /* likewise; a test's */
    uint64_t variant_cost;        /* nanoseconds; also of what is not the game's */
    double noise;                 /* share by which a cost varies */
    double longer;                /* all costs are so many times as much; 0: once */
    const char *kinds;            /* sampler.kinds of the next session; NULL: timing */
    const char *sampled;          /* likewise: a window is open, with this sampler.api_probability;
                                     NULL: none is */
    bool additive;                /* of the next session: single draws can be timed */
    bool dispatches;              /* likewise: there is no pipeline that draws */
    uint32_t groups;              /* of a dispatch; 0: one */
    uint32_t linger;              /* a test's: microseconds that its session goes on */
    bool background;              /* likewise: variants are built in the background */
    double published[2];          /* likewise: what the database says of the variants' time over the
                                     originals', from and to; 0: nothing */
    enum pm_provisional
        provisional;    /* likewise: all that it says of zeros; UNKNOWN: all is known */
    int signed_verdict; /* likewise: what an operator signed of all of them: 1 faster, -1
                           slower; 0: nothing */
    bool has_no_key;    /* likewise: nobody's signature counts */
    bool known;         /* likewise, of contests: what the database says is used, too */
    const char *share;  /* likewise: limits.trial_share; NULL: no limit */
    const char *faults; /* likewise: of the driver, while the draws' variant is built */
} trying;

/* Opens a session in which the pipelines' variants wait for their trials, and lets the layer find
 * out whether single draws can be timed. Each session starts from `trying` as zero. */
void trying_open(uint64_t variant_cost, const struct pm_harness_options *options);
/* The same without waiting for what the layer finds out. */
void trying_open_early(uint64_t variant_cost, const struct pm_harness_options *options);
void trying_close(void);
/* A session without any pipeline yet, in which recipes' variants are measured in the background,
 * and no other is made (but see `known`); and its end. */
void trying_open_contests(const struct pm_harness_options *options);
void trying_close_contests(void);
/* A session that stores a compute shader, and the database that knows its blocks. */
void trying_learn_blocks_of(const uint32_t *words, size_t size);
/* Calls cost from now on what the session says. */
void trying_costs(void);

/* The program says that a scene begins. */
void trying_set_scene(const char *name);

/* Frames without a call, until the log has a text; false: it never had. */
bool trying_wait_for(const char *text);

/* `piecemeal pause` or `resume`, until the session knows. */
void trying_pause(bool paused);

/* What a frame records. */
typedef void (*trying_recorder)(VkCommandBuffer buffer);
void trying_nothing(VkCommandBuffer buffer);
void trying_dispatch(VkCommandBuffer buffer);
void trying_draw(VkCommandBuffer buffer); /* two, in one render pass instance */

/* A frame, of which all is done afterwards. */
void trying_frame(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags, trying_recorder record);
void trying_run_frames(trying_recorder record, VkCommandBufferUsageFlags flags, int count);
/* Frames until the layer's log has a text; false: it never had. */
bool trying_run_until(trying_recorder record, VkCommandBufferUsageFlags flags, const char *text);
/* Where the recording of the frame begins that follows two others. */
uint64_t trying_third_frame(trying_recorder record, VkCommandBufferUsageFlags flags);

/* How often compute pipelines were created since a position. */
uint32_t trying_creations(uint64_t since);
/* Which pipelines were bound since a position, other than the game's own. */
uint32_t trying_foreign_binds(uint64_t since);
/* The next call of a command since a position, and whether there is one up to another. */
uint64_t trying_position_of(uint64_t since, const char *command);
bool trying_between(uint64_t from, uint64_t to, const char *command);

/* The spool holds one timing profile, with this ratio; or none. */
void trying_assert_timing(double expected, double tolerance);
void trying_assert_no_timing(void);

/* The sessions to come have a trial over sessions of what nothing proves. */
void trying_prepare_sessions(void);
