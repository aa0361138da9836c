/*
 * What waits of a day, and in which order it is looked at: by shader, by what is claimed of it, by
 * token and environment, by flags and scene (fold_day.h).
 *
 * Thread safety: plain data.
 */
#pragma once

#include "aggregator/intake/samples.h"

/* One sample under its mark, in the class's arena. */
struct pm_day_said {
    struct pm_sample sample;
    const char *scene;
    uint8_t mark[PM_SAMPLE_MARK_BYTES];
    uint32_t facts;
};

/* What a token says of a shader in one environment: a cluster. */
struct pm_day_cluster {
    const struct pm_day_said *said; /* samples of one scene, with the same flags */
    size_t count;
    uint32_t flags; /* of the cluster */
};

/* As qsort has it. */
int pm_day_compare_numbers(uint64_t a, uint64_t b);
int pm_day_compare_shaders(const struct pm_day_said *a, const struct pm_day_said *b);
/* By all that is claimed of the shader. */
int pm_day_compare_claims(const struct pm_day_said *a, const struct pm_day_said *b);
/* By who said it of which environment. */
int pm_day_compare_players(const struct pm_day_said *a, const struct pm_day_said *b);
int pm_day_compare_places(uint32_t a_flags, const char *a_scene, uint32_t b_flags,
                          const char *b_scene);
/* All of the above, one after the other; struct pm_day_said. */
int pm_day_compare_said(const void *a, const void *b);
/* By environment, flags and scene; struct pm_day_cluster. */
int pm_day_compare_clusters(const void *a, const void *b);
