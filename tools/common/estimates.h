/*
 * Where the tools read a game's estimates from: an aggregator's SQLite file, or a database that was
 * pulled.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "base/arena.h"
#include "profile/database.h"

struct pm_estimates_source {
    const char *storage;  /* an aggregator's SQLite file; NULL: the local one where there is one */
    const char *database; /* a pulled body (zstd); comes before storage */
    const char *scene;    /* of a storage: only this one; NULL: all */
    const char *game;     /* NULL: the only one there is */
    bool latest;          /* or of several in the local one, the one that ran here last */
};

struct pm_estimates {
    struct pm_arena *arena;
    struct pm_aggregator *aggregator; /* NULL when the source is a pulled body */
    char *origin;                     /* the file, for people; the arena's */
    struct pm_database database;      /* the arena's */
};

/* PM_ERROR_INPUT: several games and none named; the message lists them. */
bool pm_estimates_load(const struct pm_estimates_source *source, struct pm_estimates *estimates,
                       struct pm_error *error);
void pm_estimates_finish(struct pm_estimates *estimates);

/* Points of a shader with at least one sample, and their sampled calls. */
struct pm_coverage {
    uint32_t points, covered;
    uint32_t calls_least, calls_median, calls_most; /* sampled calls a point, over all points */
};
bool pm_estimates_coverage(const struct pm_shader_estimates *shader, struct pm_coverage *coverage);

/* The next timing of what the shader was specialized to, in its subgroup size, behind this one
 * (NULL: the first); NULL: there are no more. */
const struct pm_shader_estimates *
pm_estimates_next_timing(const struct pm_database *database,
                         const struct pm_shader_estimates *shader,
                         const struct pm_shader_estimates *behind);

/* What a timing measured, and on what: a line for people. */
#define PM_TIMING_TEXT 192
void pm_estimates_describe_timing(const struct pm_shader_estimates *timing,
                                  char text[static PM_TIMING_TEXT]);

/* The aggregator on an existing SQLite file; path NULL: the local one. */
struct pm_aggregator *pm_tool_open_storage(const char *path, const struct pm_aggregator_info *info,
                                           struct pm_error *error);

/* The one game that the storage knows, malloc'ed; PM_ERROR_STATE when it knows none, PM_ERROR_INPUT
 * when it knows several. path: how errors call it. */
char *pm_tool_only_game(struct pm_storage *storage, const char *path, struct pm_error *error);

/* A measure of a kind, for a table's head. */
const char *pm_measure_title(enum pm_kind kind, unsigned measure);
