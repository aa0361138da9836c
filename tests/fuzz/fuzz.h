/*
 * What a fuzz target is: LLVMFuzzerTestOneInput, and a list of inputs that were worth keeping.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pm_fuzz_input {
    const void *data;
    size_t size;
};

/* A string literal without its terminator; "\x00" and the like are fine. */
#define PM_FUZZ_TEXT(literal)                                                                      \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* Ends with a NULL data. */
extern const struct pm_fuzz_input pm_fuzz_inputs[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stops the fuzzer: a promise was broken. */
#define PM_FUZZ_CHECK(condition)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            __builtin_trap();                                                                      \
    } while (0)
