/*
 * What `serve --check` asks of the SQLite storage.
 *
 * Thread safety: as storage.h.
 */
#pragma once

#include "aggregator/check.h"
#include "aggregator/storage/storage.h"

/* Is it ours, of a schema that can be read, and whole? false: looking further makes no sense, and
 * why was reported. */
bool pm_storage_sqlite_check(const char *path, pm_check_report report, void *user);
