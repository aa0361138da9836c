/*
 * The storage that is a SQLite file: how it is opened and copied. The rest is storage.h's.
 *
 * Thread safety: opening and copying, any thread; what was opened, as storage.h says.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* WAL, synchronous=FULL. path is created (0600) when missing. A file of a newer schema is refused
 * (PM_ERROR_UNSUPPORTED), and so is one that is not ours or is damaged (PM_ERROR_INPUT). Another
 * process may have the same file open: writers wait for each other for up to ten seconds. */
struct pm_storage *pm_storage_sqlite_open(const char *path, pm_storage_merge merge,
                                          struct pm_error *error);

/* A descriptor that holds the file for one server, by whatever name, as long as it is open; the
 * file is created (0600) when missing. -1: PM_ERROR_STATE: another process holds it. Commands that
 * take turns with a server do not ask. Open it before the storage and close it after: SQLite's own
 * locks on a file go with any descriptor of it that the process closes (POSIX, fcntl). */
int pm_storage_sqlite_hold(const char *path, struct pm_error *error);

/* A storage of which only the read functions may be called; neither makes, upgrades nor writes the
 * file, and so refuses an older schema, unless its tables are those of today (PM_ERROR_STATE). */
struct pm_storage *pm_storage_sqlite_open_to_read(const char *path, struct pm_error *error);

/* Copies the file, as of one moment and while it may be in use, to another, which appears whole and
 * durable, or not at all; one that is there is replaced. PM_ERROR_LIMIT: no space for it. */
bool pm_storage_sqlite_backup(const char *path, const char *to, struct pm_error *error);
