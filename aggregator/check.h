/*
 * Is a storage as it should be? Nothing of it is changed; it may be in use meanwhile.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "base/error.h"

enum pm_finding {
    PM_FINDING_OK,
    PM_FINDING_WARNING, /* works, but someone should look */
    PM_FINDING_ERROR,   /* does not work, or will not */
};

/* One finding, as a sentence that starts with what it is about. */
typedef void (*pm_check_report)(void *user, enum pm_finding finding, const char *sentence);

/* Reports "what: …" from a format. */
void pm_check_say(pm_check_report report, void *user, enum pm_finding finding, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* The SQLite file at path: SQLite's own check of it, its schema, whether all statistics of a game
 * can be read and merged and have no more sessions than the game has uploads, whether the samples
 * that wait to be folded in can be read, and whether what is published can be and is what its ETag
 * says. A file that is not there is fine: it would be
 * made. */
void pm_aggregator_check(const char *path, pm_check_report report, void *user);
