/*
 * A folder of a test's own, removed with all that is in it.
 */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int temporary_remove_one(const char *path, const struct stat *status, int type,
                                       struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

/* Into path (at least 64 bytes); aborts when there is none to be had. */
static inline void temporary_make(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(path, size, "%s/piecemeal-test-XXXXXX", base && base[0] ? base : "/tmp");
    if (n < 0 || (size_t)n >= size || !mkdtemp(path))
        abort();
}

static inline void temporary_remove(const char *path)
{
    nftw(path, temporary_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
