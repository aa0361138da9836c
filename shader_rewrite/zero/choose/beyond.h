/* What of the search for regions goes beyond AZP. */
#pragma once

#include <stdbool.h>

/* What goes beyond AZP; each is off unless set (docs/specialized.md says what was measured). */
struct pm_zero_beyond {
    bool fit_regions;  /* a region begins and ends where that pays best, not only where S differs */
    bool hoist_across; /* a check may be in an earlier block than its candidate */
    bool pairs;        /* two candidates may be tested by one check */
};
