/*
 * A shader's zero profile from a file, for `piecemeal shader specialize_zero --profile F`: a PGO
 * database as it was pulled, an aggregator's SQLite file, or JSON written by hand:
 * {"zero": [p, …], "writes": [w, …], "blocks": [w, …]}, by candidate and by block point; null is
 * "not known", and "writes" and "blocks" may be left out.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "profile/shader_key.h"
#include "shader_rewrite/zero/zero_profile.h"

/* path NULL: what this machine knows of the game. key: of the shader, to find it in a database.
 * candidates, blocks: how many it has. game: as in pm_estimates_load. The profile is finished with
 * pm_zero_profile_finish; on failure there is nothing to finish. */
bool pm_zero_profile_load(const char *path, const char *game, const struct pm_shader_key *key,
                          uint32_t candidates, uint32_t blocks, struct pm_zero_profile *profile,
                          struct pm_error *error);
