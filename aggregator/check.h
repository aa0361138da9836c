/*
 * Is a storage as it should be? Nothing of it is changed; it may be in use meanwhile.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/storage/report.h"

/* The SQLite file at path: SQLite's own check of it, its schema, whether all statistics of a game
 * can be read and merged and have no more sessions than the game has uploads, whether the samples
 * that wait to be folded in can be read, and whether what is published can be and is what its ETag
 * says. A file that is not there is fine: it would be
 * made. */
void pm_aggregator_check(const char *path, pm_check_report report, void *user);
