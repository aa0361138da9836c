/*
 * What `piecemeal run --ab` found out: reads the lines that the layer wrote (layer/trial/ab.h) and
 * compares the frame times of paired blocks (base/paired.h).
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "base/paired.h"
#include "tools/common/gain.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum pm_ab_outcome {
    PM_AB_MEASURED,
    PM_AB_NOT_LOADED,    /* the layer does nothing in any device: nothing was written */
    PM_AB_NOTHING,       /* no specialized shader came into use */
    PM_AB_RECORDED_ONCE, /* there were some, but the program records its command buffers once */
    PM_AB_UNBOUND,       /* none of them was bound in pairs of blocks that were recorded anew */
    PM_AB_TOO_SHORT,     /* fewer than two pairs of blocks to compare */
};

struct pm_ab_report {
    enum pm_ab_outcome outcome;
    struct pm_paired time; /* optimized over original */
    double original,
        optimized;       /* nanoseconds a frame, geometric means: their ratio is time.ratio */
    uint32_t pairs;      /* of blocks that were compared */
    uint32_t idle_pairs; /* recorded anew, but in whose optimized block nothing of ours was bound */
    uint64_t frames;     /* in them */
    uint64_t heartbeats; /* of the whole program, where it ended by itself */
    uint64_t recordings; /* command buffers begun in it */
    /* Of the device that was judged, the one with the most blocks. */
    char **shaders; /* keys in text; owned */
    uint32_t shader_count;
    char **variants; /* that were in use for them; as they are */
    uint32_t variant_count;
    uint32_t block, dropped;
    char device[64], software[PM_GAIN_SOFTWARE];
    /* Of what earlier sessions of the game compared, too; pm_ab_keep finds it. count 0: not known.
     */
    struct pm_paired sessions;
};

/* false: the file cannot be read. Lines that are damaged are left out. */
bool pm_ab_read(const char *path, struct pm_ab_report *report, struct pm_error *error);
void pm_ab_report_finish(struct pm_ab_report *report);

/* A few lines for people, each after `prefix`. */
void pm_ab_print(const struct pm_ab_report *report, const char *prefix, FILE *out);

/* Keeps what was measured (PM_AB_MEASURED) for the game's report (tools/common/gain.h), and finds
 * out what earlier sessions say. */
bool pm_ab_keep(struct pm_ab_report *report, const char *game, struct pm_error *error);
