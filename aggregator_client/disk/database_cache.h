/*
 * What the two libraries of this room share about PGO databases. Private to aggregator_client/.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/database.h"

/* The largest database that is taken, as it travels (what does not compress grows a little), and the memory that
 * reading it may take. */
#define PM_DATABASE_BODY_BYTES (PM_DATABASE_BYTES + ((size_t)1 << 20))
#define PM_DATABASE_MEMORY_BYTES (8 * PM_DATABASE_BYTES)

/* Decompresses and decodes the body of a database. */
bool pm_database_body_decode(const void *body, size_t size, struct pm_arena *arena,
                             struct pm_database *database, struct pm_error *error);
