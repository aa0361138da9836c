/*
 * Programs under valgrind's callgrind that count their instructions only when told to: all threads
 * together, and apart those in code that no file has, which on a driver that runs on the CPU are
 * the shaders it compiled. Valgrind's vgdb tells them, which needs ptrace.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

enum { PM_CALLGRIND_WORDS = 8 };

/* One program. Its words point into it. */
struct pm_callgrind {
    char prefix[96], out[96]; /* of vgdb's pipes; where dumps go, with ".1" and so on behind it */
    char pipe_word[128], out_word[128];
    const char *words[PM_CALLGRIND_WORDS]; /* what stands before the program's own */
    unsigned dumps;
};

struct pm_instructions {
    uint64_t all, generated;
};

/* folder: where its files go; name: unlike the other programs' there. */
void pm_callgrind_init(struct pm_callgrind *callgrind, const char *folder, const char *name);

/* From here on it counts. It must be running, and may wait for something. */
bool pm_callgrind_start(const struct pm_callgrind *callgrind, struct pm_error *error);

/* What it executed since it started counting or was last asked. */
bool pm_callgrind_take(struct pm_callgrind *callgrind, struct pm_instructions *instructions,
                       struct pm_error *error);

/* What a dump says (callgrind.out.N), of a program with those words, or one that told callgrind
 * itself. */
bool pm_callgrind_read(const char *path, struct pm_instructions *instructions,
                       struct pm_error *error);
