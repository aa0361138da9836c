/*
 * The options of `piecemeal shader`.
 *
 * Thread safety: one thread, as main.
 */
#pragma once

#include "shader_rewrite/quirks/quirks.h"
#include "shader_rewrite/shader_rewrite.h"

enum {
    PM_SHADER_SPECS = 64,
    PM_SHADER_KNOWN = 64,
    PM_SHADER_TARGET = 3, /* the highest --target, and the default for a file */
};

/* Texts point into argv. */
struct pm_shader_options {
    const char *pass, *in; /* in: a file, or a key of the shader store */
    const char *store;     /* NULL: the layer's */
    const char *out;       /* NULL: nowhere */
    const char *entry, *points;
    bool target_set, entry_set, stage_set, json, timed;
    bool flow;           /* lanes alone, at pm_points_flow's points */
    bool all_candidates; /* zeros that are points: all values that may be zero */
    enum pm_stage stage;
    struct pm_target target;
    struct pm_spec_value specs[PM_SHADER_SPECS];
    size_t spec_count;
    struct pm_constant_known known[PM_SHADER_KNOWN];
    size_t known_count;
    struct pm_instrument_info instrument;
    struct pm_pass_times *times; /* NULL: not asked for */
    const char *profile, *game;  /* NULL: none */
    const char *limits;          /* a preset or a file */
    enum pm_partition_method method;
    const char *recipe;    /* NULL: none */
    double uniform_share;  /* optimize.uniform_share */
    uint32_t block_passes; /* optimize.block_passes */
    bool ignore_uniformity, no_vote;
    struct pm_driver driver; /* specialize.driver, if it was given */
    struct pm_specialize_zero_info specialize;
};

/* -1: go on; else the exit status, and why was said. */
int pm_shader_options(int argc, char **argv, struct pm_shader_options *options);
