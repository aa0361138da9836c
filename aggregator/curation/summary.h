/*
 * What the dashboard and its API show of a game, computed once per curation from the same reading,
 * so that no request has to estimate a game's points again. A summary never changes; it is counted
 * by references.
 *
 * It holds the shaders that run most and the zero candidates worth most, and says how many there
 * are in all. Points with their intervals are read when they are asked for
 * (pm_curate_read_shader).
 *
 * Thread safety: a summary may be read by any thread, and references taken and dropped by any.
 */
#pragma once

#include "aggregator/curation/publish.h"
#include "aggregator/curation/reason.h"
#include <stdatomic.h>

#define PM_SUMMARY_SHADERS 100000u
#define PM_SUMMARY_CANDIDATES 10000u

/* What a specialized shader took of the time that the game's own took beside it: 0.8 is a fifth
 * faster. */
struct pm_summary_time {
    float mean, low, high; /* over sessions, with its 95 % interval */
    uint32_t sessions;     /* 0: it was never timed */
    float spread;          /* half of a trial's own 95 % interval, on average */
    uint32_t spreads;      /* sessions that said theirs; 0: spread says nothing */
};

/* One (key, environment, kind). */
struct pm_summary_shader {
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags, space, candidates; /* as pm_shader_estimates */
    uint32_t covered;                  /* points that are covered (deficit.h) */
    uint32_t measured;                 /* points that some session had in a batch */
    uint32_t lacking;                  /* points that still need samples */
    bool published;
    bool strangers; /* uploads come from whoever has a token: then the breakdown holds */
    struct pm_breakdown breakdown; /* of what is estimated of it */
    struct pm_reason waits;        /* for what, until it is published */
    uint64_t entry_lanes;          /* as pm_shader_estimates */
    uint64_t calls; /* sampled calls, summed over points: one of a batch of b counts b times */
    struct pm_summary_time time; /* of a timing; its key is that of the specialized shader */
    /* Of a timing: what that shader was specialized from; none: not known. */
    struct pm_shader_key original;
    bool original_known; /* it is in the summary's list, too */
};

/* A zero candidate, and how much it may be worth to specialize for it. */
struct pm_summary_candidate {
    struct pm_shader_key key;
    struct pm_environment environment;
    uint32_t point;
    uint32_t clusters;             /* sessions behind the probability */
    double probability, low, high; /* P(zero), ratio of sums, with its 95 % interval */
    double writes;                 /* per subgroup that enters the shader */
    double subgroups;              /* that entered the shader, in all that was sampled */
    /* probability · writes · subgroups: how often the fast path would have been taken, and the same
     * of the interval's lower end. What one time saves is not known here: that takes the shader's
     * code, which never leaves the players' machines (choose/estimate.h does). */
    double hits, hits_low;
    /* Of the published timings of what the shader was specialized to, for whichever candidates: the
     * one with the most sessions, in the summary's list, and how many there are. NULL: none. */
    const struct pm_summary_shader *measured;
    uint32_t timings;
};

/* One sample of the game's coverage over time. */
struct pm_summary_sample {
    int64_t time; /* seconds since the epoch */
    uint64_t uploads, points_covered, points;
};

/* The history keeps every `stride`th sample, so that it never outgrows this; the summary itself is
 * the newest one. */
#define PM_SUMMARY_SAMPLES 1024u
struct pm_summary_history {
    struct pm_summary_sample samples[PM_SUMMARY_SAMPLES];
    size_t count;
    uint64_t stride, seen;
};

/* What the coupon collector expects to have a sample by now and before, from the calls that each
 * shader has had: points at (i / (PM_SUMMARY_CURVE - 1))² of the uploads of now, as if every upload
 * had brought the same. */
#define PM_SUMMARY_CURVE 65
struct pm_summary_curve {
    double batches[PM_SUMMARY_CURVE]; /* samples of PM_SUMMARY_BATCH points */
    double singles[PM_SUMMARY_CURVE]; /* as many of one point, as the paper's clients take them */
};
#define PM_SUMMARY_BATCH 8u /* points a sample: sampler.batch, as clients have it by default */

/* What people call a shader of the list. */
struct pm_summary_name {
    struct pm_shader_key key;
    char *name;
};

struct pm_summary {
    atomic_uint references;
    char *game;
    struct pm_curate_result whole;
    uint64_t measured; /* points, of those that `whole` counts, that some session had in a batch */
    uint64_t calls;    /* over all points of all shaders */
    uint64_t entry_lanes;
    double subgroups; /* that entered shaders with zero candidates: what hits are a share of */
    struct pm_summary_shader *shaders; /* those that run most first */
    size_t shader_count;               /* at most PM_SUMMARY_SHADERS */
    uint64_t shaders_known, shaders_published;
    uint64_t waiting[PM_REASONS]; /* shaders, by what they wait for */
    /* Those that are taken most often even at the lower end first, then by hits; none without. */
    struct pm_summary_candidate *candidates;
    size_t candidate_count;        /* at most PM_SUMMARY_CANDIDATES */
    uint64_t candidates_known;     /* written in some session */
    struct pm_summary_name *names; /* ascending by key; at most PM_SUMMARY_SHADERS */
    size_t name_count;
    size_t name_bytes;
    struct pm_summary_history history;
    struct pm_summary_curve curve;
};

/* NULL: nobody said. */
const char *pm_summary_name_of(const struct pm_summary *summary, const struct pm_shader_key *key);

/* The curve between its points; share: of the uploads of now, 0 to 1. */
double pm_summary_expected(const double curve[static PM_SUMMARY_CURVE], double share);

/* Curates and publishes the game (pm_aggregator_curate) and summarizes what was seen on the way.
 * previous: its summary before, whose history goes on while it is within the retention; NULL: the
 * history is read from the storage.
 * *summary gets one reference, the caller's. */
bool pm_summary_curate(struct pm_curator *curator, const char *game,
                       const struct pm_summary *previous, struct pm_summary **summary,
                       struct pm_error *error);

struct pm_summary *pm_summary_take(struct pm_summary *summary);
/* NULL is allowed. */
void pm_summary_drop(struct pm_summary *summary);

/* What it takes, in bytes. */
size_t pm_summary_bytes(const struct pm_summary *summary);
