/*
 * What a PostgreSQL that uploads are stored in has written.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include <stdint.h>

struct engine_usage {
    uint64_t log, tables; /* bytes of write-ahead log so far; bytes that the database takes */
};

bool engine_usage(const char *url, struct engine_usage *usage, struct pm_error *error);
