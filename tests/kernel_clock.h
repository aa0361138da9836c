/* The kernel's clock, for tests that put a clock_gettime of their own before libc's. */
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline int kernel_clock(clockid_t clock, struct timespec *time)
{
#ifdef SYS_clock_gettime64 /* of 32 bits: a time of 64, as the build has it */
    return (int)syscall(SYS_clock_gettime64, clock, time);
#else
    return (int)syscall(SYS_clock_gettime, clock, time);
#endif
}
