/*
 * How a hook that is called very often finds out in a few instructions whether its call can just be
 * passed on: the dispatch key is compared with the one device's, and the rest is a jump through a
 * pointer that arming swaps (registry.h).
 */
#pragma once

#include "layer/hooks/registry.h"

#define PM_UNLIKELY(condition) __builtin_expect((condition), 0)
#define PM_COLD __attribute__((noinline, cold))

/* A hook reads its two words as plain memory on x86-64, since gcc folds only that into a compare
 * and a jump. Each is an aligned pointer that is read once, so it cannot be torn; x86-64 keeps the
 * order of the two loads; and the thread sanitizer is told to look away. */
#ifdef __x86_64__
#define PM_FAST __attribute__((no_sanitize("thread")))
#define PM_READ(type, word) (*(type const *)(const void *)&(word))
#else
#define PM_FAST
#define PM_READ(type, word) __atomic_load_n((type const *)(const void *)&(word), __ATOMIC_ACQUIRE)
#endif

/* Whether it is of the one device; needs PM_FAST. */
#define PM_IS_OF_ONE(dispatchable)                                                                 \
    (*(const void *const *)(dispatchable) == PM_READ(const void *, pm_one_key))
