#include "layer/core/signal_handler.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};

enum {
    CRASHES = sizeof crashes / sizeof crashes[0],
    OTHER_STACK = 1 << CRASHES,
};

static _Atomic uint32_t ordinary;

/* A bit for each of the signals that is blocked, and OTHER_STACK. */
static uint32_t signs(void)
{
    uint32_t found = 0;
    sigset_t blocked;
    stack_t stack;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0) {
        for (uint32_t i = 0; i < CRASHES; i++)
            found |= sigismember(&blocked, crashes[i]) == 1 ? 1u << i : 0;
    }
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0)
        found |= OTHER_STACK;
    return found;
}

void pm_signal_handler_learn(void)
{
    atomic_fetch_or(&ordinary, signs());
}

bool pm_signal_handler_runs(void)
{
    return (signs() & ~atomic_load(&ordinary)) != 0;
}
