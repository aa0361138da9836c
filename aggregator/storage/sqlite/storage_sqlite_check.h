/*
 * What `serve --check` asks of the SQLite storage.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/storage/report.h"
#include <stdbool.h>

/* Is it ours, of a schema that can be read, and whole? false: looking further makes no sense, and
 * why was reported. */
bool pm_storage_sqlite_check(const char *path, pm_check_report report, void *user);
