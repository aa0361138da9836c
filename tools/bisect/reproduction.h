/*
 * What `piecemeal bisect` leaves of a specialized shader that makes a program go wrong: a folder
 * with all that it takes to see it again, or to show it to somebody. Its README.txt says what is
 * what; reproduce.sh starts the program with that shader alone.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/bisect/session.h"

/* Writes FOLDER/<beginning of the first key>/. keys: "KEY PART" of what makes it go wrong together,
 * with which alone the last session that kept its modules was. path: gets the folder's name, the
 * caller's to free. */
bool pm_reproduction_write(const struct pm_bisection *bisection, const char *folder,
                           const struct pm_names *keys, char **path, struct pm_error *error);
