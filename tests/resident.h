/*
 * What memory of the test's process is there, in bytes.
 */
#pragma once

#include "tests/cmocka_includes.h"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static inline int64_t resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}
