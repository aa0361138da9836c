/*
 * What the two libraries of this room share about PGO databases. Private to aggregator_client/.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/database.h"

/* The largest database that is taken, as it travels and as it is read. */
#define PM_DATABASE_BODY_BYTES ((size_t)64 << 20)
#define PM_DATABASE_DECOMPRESSED_BYTES ((size_t)256 << 20)

/* Decompresses and decodes the body of a database. */
bool pm_database_body_decode(const void *body, size_t size, struct pm_arena *arena,
                             struct pm_database *database, struct pm_error *error);
