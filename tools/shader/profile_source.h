/*
 * Where `piecemeal shader --profile F` and `--game` read a shader's profile from: a PGO database as
 * it was pulled, an aggregator's SQLite file, what this machine knows of the game, or JSON written
 * by hand: an object of lists by point, of numbers and null, which is "not known".
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/common/estimates.h"

struct cJSON;

struct pm_profile_source {
    const char *name;   /* for people */
    struct cJSON *json; /* NULL: it is a database */
    struct pm_estimates estimates;
};

/* path NULL: what this machine knows of the game. On failure there is nothing to finish. */
bool pm_profile_source_open(const char *path, const char *game, struct pm_profile_source *source,
                            struct pm_error *error);
void pm_profile_source_finish(struct pm_profile_source *source);

/* A list of JSON, of `count` numbers; malloc'ed. *out stays NULL where there is none. */
bool pm_profile_source_list(const struct pm_profile_source *source, const char *name,
                            uint32_t count, const double **out, struct pm_error *error);

/* The shader's estimates of a kind, with points: of several environments the one most was seen of.
 * NULL: there are none. */
const struct pm_shader_estimates *pm_profile_source_find(const struct pm_profile_source *source,
                                                         const struct pm_shader_key *key,
                                                         enum pm_kind kind);

/* Fails: it has no such estimates of the shader. */
bool pm_profile_source_lacks(const struct pm_profile_source *source,
                             const struct pm_shader_key *key, enum pm_kind kind,
                             struct pm_error *error);
