/*
 * Can the system's clock be trusted with deleting what is old? A clock that is set wrong by a year
 * for a minute would take all statistics with it. So what the retention deletes waits until the
 * clock has gone evenly for a while: since the process started, and since it last jumped, which is
 * told from the clock that counts from boot and that nobody can set.
 *
 * Thread safety: a struct belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PM_STEADY_SECONDS (6 * 3600) /* that it must have gone evenly */
#define PM_STEADY_SLACK 600          /* seconds; what is corrected by less is no jump */

struct pm_steady {
    bool known;
    int64_t wall, boot; /* when last asked */
    int64_t since;      /* of boot: when it started or jumped */
};

/* wall: seconds since the epoch; boot: CLOCK_BOOTTIME. *jump: seconds that the clock was set forward
 * by (back: negative) since it was last asked, 0 for none. Ask now and then, or a jump is seen
 * late. */
bool pm_steady(struct pm_steady *steady, int64_t wall, int64_t boot, int64_t *jump);
