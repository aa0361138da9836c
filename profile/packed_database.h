/*
 * A PGO database as a game's process uses it: packed into one file that is mapped, so that opening
 * it reads a page and looking a shader up reads a few, however large the database. Made from what
 * travels (database.h) by whoever pulls it; of this machine only, so its numbers are in its order.
 *
 * The file is a header, one record a shader, sorted as the database is, and the points and bitmaps
 * that the records refer to. It is replaced by rename and never changed. Nothing in it is trusted:
 * what a record refers to is checked when it is looked up, and any numbers are advice (database.h).
 *
 * Thread safety: read-only once opened; any thread may then read it.
 */
#pragma once

#include "base/buffer.h"
#include "profile/database.h"

struct pm_packed_database;

/* Of which file it was made: its size, time of change and number. */
struct pm_packed_source {
    uint64_t bytes, inode;
    int64_t seconds, nanoseconds;
};

/* Appends the packed form of a database that pm_database_decode accepted, and stops as that does.
 */
bool pm_database_pack(const struct pm_database *database, const struct pm_packed_source *source,
                      struct pm_buffer *out, struct pm_error *error);

/* Maps a packed file. NULL: PM_ERROR_STATE: there is none, or it was made of something else than
 * source; PM_ERROR_INPUT: it is damaged. */
struct pm_packed_database *pm_packed_database_map(const char *path,
                                                  const struct pm_packed_source *source,
                                                  struct pm_error *error);
/* The same of bytes in memory, which it takes over (*bytes is empty then), for where no file can be
 * kept. */
struct pm_packed_database *pm_packed_database_take(struct pm_buffer *bytes,
                                                   const struct pm_packed_source *source,
                                                   struct pm_error *error);
/* NULL is allowed. */
void pm_packed_database_close(struct pm_packed_database *packed);

/* Whether a profile of the kind is published in it of any shader, or provisional. */
bool pm_packed_database_has(const struct pm_packed_database *packed, enum pm_kind kind);

/* Whether one of a shader is, with its points; takes no memory. packed NULL is allowed. */
bool pm_packed_database_has_of(const struct pm_packed_database *packed,
                               const struct pm_shader_key *key,
                               const struct pm_environment *environment, enum pm_kind kind);

/* Likewise, whether there are only provisional levels of it. */
bool pm_packed_database_is_provisional(const struct pm_packed_database *packed,
                                       const struct pm_shader_key *key,
                                       const struct pm_environment *environment, enum pm_kind kind);

/* As pm_database_find. *found lives as long as the database, and its points until
 * pm_shader_estimates_finish. false: there is nothing of it, or it is damaged, or no memory. packed
 * NULL is allowed. */
bool pm_packed_database_find(const struct pm_packed_database *packed,
                             const struct pm_shader_key *key,
                             const struct pm_environment *environment, enum pm_kind kind,
                             struct pm_shader_estimates *found);
/* Of what pm_packed_database_find found, or of zeros. */
void pm_shader_estimates_finish(struct pm_shader_estimates *found);
