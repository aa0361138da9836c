/*
 * PGO databases on disk, and how they are encoded there as on the wire: protobuf, zstd.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/packed_database.h"
#include "profile/races.h"

/* Where the layer finds a game's database (zstd): <safe name>.pmdb in the folder
 * PIECEMEAL_DATABASES names (`piecemeal run --local` sets it), else in $PLACE_CACHE/databases;
 * malloc'ed. */
char *pm_database_cache_path(const char *game);

/* Where what an operator signed of the game lies (profile/signed_verdicts.h), beside it:
 * <safe name>.<hash of the key>.verdicts, so that what was signed with another key is not what is
 * found; malloc'ed. key_file: the public key, which is read. NULL: *error says why. */
#define PM_VERDICTS_SUFFIX ".verdicts"
char *pm_verdicts_cache_path(const char *game, const char *key_file, struct pm_error *error);

/* Where the races of its variants lie (profile/races.h), beside it: <safe name>.pmraces; malloc'ed.
 */
char *pm_races_cache_path(const char *game);
/* Decodes them; *races' memory is the arena's, of PM_RACES_MEMORY_BYTES at most. PM_ERROR_STATE:
 * there are none. */
#define PM_RACES_MEMORY_BYTES (8 * PM_RACES_BYTES)
bool pm_races_cache_load(const char *game, struct pm_arena *arena, struct pm_races *races,
                         struct pm_error *error);

/* Decodes the cached database; *database's memory is the arena's. PM_ERROR_STATE: there is none. */
bool pm_database_cache_load(const char *game, struct pm_arena *arena, struct pm_database *database,
                            struct pm_error *error);

/* Maps a game's cached database, packed (profile/packed_database.h), which lies beside the cached
 * one as <safe name>.pmpack. NULL: there is none that is of it; *unpacked: but a cached one. */
struct pm_packed_database *pm_database_cache_map(const char *game, bool *unpacked);

/* The same, and packs the cached one where that is needed, which takes as long as reading the
 * whole; it stops where the thread is asked to (base/stop.h). Where it cannot be kept it is in
 * memory. NULL: *error as above. */
struct pm_packed_database *pm_database_cache_open(const char *game, struct pm_error *error);

/* Packs the cached database at a path, for who has just put it there. */
bool pm_database_cache_pack(const char *path, struct pm_error *error);

/* The largest database that is taken, as it travels (what does not compress grows a little), and
 * the memory that reading it may take. */
#define PM_DATABASE_BODY_BYTES (PM_DATABASE_BYTES + ((size_t)1 << 20))
#define PM_DATABASE_MEMORY_BYTES (8 * PM_DATABASE_BYTES)

/* Decompresses and decodes the body of a database. */
bool pm_database_body_decode(const void *body, size_t size, struct pm_arena *arena,
                             struct pm_database *database, struct pm_error *error);
