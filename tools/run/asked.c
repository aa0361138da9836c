#include "tools/run/asked.h"

#include "base/clock.h"
#include "profile/journal_asked.h"
#include "tools/common/launch.h"
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum {
    REST_ENDS = 10,   /* seconds */
    PAUSE = 20000000, /* nanoseconds */
    KILLED = 128,     /* the status of a program that a signal killed is that much more */
};

/* A shell's status says it as ours does. */
static bool has_crashed(int status)
{
    switch (status - KILLED) {
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGSYS:
        return true;
    default:
        return false;
    }
}

void pm_run_asked(const char *run, int status)
{
    const int64_t asked = pm_launch_asked(), began = pm_now();
    struct pm_run_sessions sessions = {0};
    struct pm_error error = {0};
    if (asked == 0 || has_crashed(status))
        return;
    while (pm_journal_asked(NULL, run, asked, &sessions, &error) && sessions.live > 0 &&
           pm_now() - began < REST_ENDS * PM_SECOND)
        nanosleep(&(struct timespec){0, PAUSE}, NULL);
    if (error.code != PM_OK)
        fprintf(stderr, "piecemeal run: %s\n", error.message);
}
