/*
 * A shader's zero profile from a file, for `piecemeal shader specialize_zero --profile F`: a PGO
 * database as it was pulled, an aggregator's SQLite file, or JSON written by hand:
 * {"zero": [p, …], "writes": [w, …], "blocks": [w, …]}, by candidate and by block point; null is
 * "not known", and "writes" and "blocks" may be left out.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "shader_rewrite/zero.h"

struct pm_zero_profile_file {
    struct pm_zero_profile profile; /* points into the rest */
    double *zero, *writes, *blocks;
};

/* key: of the shader, to find it in a database. candidates, blocks: how many it has. game: as in
 * pm_estimates_load. On failure there is nothing to finish. */
bool pm_zero_profile_load(const char *path, const char *game, const struct pm_shader_key *key,
                          uint32_t candidates, uint32_t blocks, struct pm_zero_profile_file *file,
                          struct pm_error *error);
void pm_zero_profile_finish(struct pm_zero_profile_file *file);
