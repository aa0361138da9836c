/*
 * Whether a test tries all that it can (`./test.sh --all`, which sets PM_ALL), or quickly the cases
 * that find most.
 *
 * Thread safety: reads the environment alone.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

static inline bool pm_test_all(void)
{
    const char *all = getenv("PM_ALL");
    return all && *all;
}
