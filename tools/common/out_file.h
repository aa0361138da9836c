/*
 * A file that a command writes: it appears whole or not at all.
 *
 * Thread safety: changes this process's umask for a moment; one thread.
 */
#pragma once

#include "base/error.h"
#include <stdio.h>

/* Writes to out; write errors are looked for afterwards (ferror). */
typedef bool (*pm_out_writer)(void *user, FILE *out, struct pm_error *error);

/* A file of its own beside path, with the rights of the file that is there, its owner may write to
 * it, or of any other new one; malloc'ed, NULL on failure. */
char *pm_out_beside(const char *path, struct pm_error *error);

/* Where the path's links lead, the last one's target being there or not; malloc'ed. NULL: it is, or
 * leads through, a name in /dev or /proc, which stays what it is, or nothing can be there. */
char *pm_out_place(const char *path);

/* PM_ERROR_INPUT where out is the file that is read: writing over it would lose it. Either may be
 * NULL. */
bool pm_out_spares(const char *out, const char *read, struct pm_error *error);

/* Has write fill a file, which then takes the place that path leads to; what is no file (a device,
 * a pipe, /dev/stdout) is written to. path NULL: standard output. */
bool pm_out_file(const char *path, pm_out_writer write, void *user, struct pm_error *error);
/* The same of bytes that there are already. */
bool pm_out_bytes(const char *path, const void *data, size_t size, struct pm_error *error);
