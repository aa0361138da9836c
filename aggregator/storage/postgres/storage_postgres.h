/*
 * The storage that is a PostgreSQL: how it is opened. The rest is storage.h's. Any number of
 * processes, on any machines, may have the same one open.
 *
 * Thread safety: opening, any thread; what was opened, as storage.h says.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* Is this where a PostgreSQL is (postgresql://… or postgres://…), and not a file? */
bool pm_storage_postgres_is_url(const char *where);

/* Makes or upgrades the tables, in one transaction. url: as libpq has it, so that hosts, TLS,
 * password files and timeouts are set as with any of its programs. Tables of a newer version are
 * refused (PM_ERROR_UNSUPPORTED); PM_ERROR_NETWORK: the server cannot be reached. */
struct pm_storage *pm_storage_postgres_open(const char *url, pm_storage_merge merge,
                                            struct pm_error *error);
