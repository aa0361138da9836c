/*
 * What a benchmark of shaders measures where the driver runs them on the processor: its time, and a
 * hash that tells whether two ways came to the same.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Milliseconds of cores that all threads of the process have used. */
static inline double pm_processor_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* FNV-1a. */
static inline uint64_t pm_bytes_hash(const void *bytes, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
