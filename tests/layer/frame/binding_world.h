/*
 * A recording whose bindings are looked at (layer/frame/binding.h), without a driver: four
 * pipelines, what binding.c calls, and what the test knows by itself of what must be bound. Each
 * step does to both what a command does, and fails the test where they part.
 */
#pragma once

#include "layer/frame/binding.h"
#include "layer/shader/pipeline.h"

/* A handle's last digit says what it is of. */
enum { GAME, PROVEN, TRIAL, INSTRUMENTED, FITTING, DIGITS = 16 };

enum {
    PROVEN_ONE,
    CANDIDATE,
    WATCHING,
    LEAVING_FEWER, /* states to commands than others: bound again at its draws alone */
    PIPELINES
};

/* What WATCHING's variant for push constants watches, and the values it wants. */
enum { WORD = 3, OTHER_WORD = 9, VALUE = 42, OTHER_VALUE = 43 };

struct world {
    struct pm_command command;
    uint64_t driver[PM_BIND_POINTS]; /* what the driver has bound */
    uint32_t binds;                  /* that it was asked for */

    /* what the test knows by itself */
    uint64_t stands[PM_BIND_POINTS]; /* 0: not known to the layer */
    uint64_t game[PM_BIND_POINTS];
    bool tried; /* the trial's variant is bound in the render pass instance */
    bool in_pass, whole, of_draws;
    uint32_t queries;
    bool feedback, is_protected;
    bool fewer; /* LEAVING_FEWER is bound for draws, */
    bool left;  /* and its variant still, though something is active that must not see it */
    bool
        more; /* a pipeline was made that leaves more states than any did (test_put_off_pushes.c) */
    bool watching[PM_BIND_POINTS]; /* WATCHING is bound */
    bool fits[PM_BIND_POINTS];     /* what was pushed is what its variant wants there */
    int ranges;                    /* pushed with last; 0: none that are known */
};

extern struct pm_device *device;
extern struct pm_sampling *sampling;
extern struct pm_pipeline *pipelines[PIPELINES];
extern struct pm_optimized fitting; /* WATCHING's variant for push constants */
extern struct world *world;
extern uint64_t short_ways;  /* pushes that might have been looked at shortly */
extern uint64_t short_binds; /* binds of WATCHING that were made so */

int binding_set_up(void **state);
int binding_tear_down(void **state);
/* A recording begins. */
void binding_start(enum pm_condition recording, bool is_protected);

uint64_t binding_handle(int pipeline, int kind);
int binding_kind(uint64_t handle);

/* HAZARDS 11. */
bool binding_may_rebind(void);
/* What stands for WATCHING where variants may be bound. */
uint64_t binding_watching_stands(int point);
/* What the driver has bound between two calls. */
void binding_check(void);

/* ---- steps ---- */

void binding_bind(int point, int pipeline);
/* A call of which the countdown was through. */
void binding_call(int point);
void binding_pass_begins(bool of_draws);
void binding_pass_ends(void);
/* Of what must not see a variant. */
void binding_obstacle(enum pm_condition condition);
/* A query, or transform feedback, which the caller has taken out of the world before. */
void binding_obstacle_ends(enum pm_condition condition);
/* Generated commands, which name what is bound for draws. */
void binding_generated(void);
/* Layouts: 1 and 2 have the ranges of WATCHING's, 3 has others, 4 is not known. fits: what is known
 * of the word afterwards; -1: what it was. */
void binding_push(int layout, VkShaderStageFlags stages, uint32_t first, uint32_t count,
                  uint32_t value, int fits);
