/*
 * What a check of a storage or of a service finds, one finding after the other.
 *
 * Thread safety: no state.
 */
#pragma once

enum pm_finding {
    PM_FINDING_OK,
    PM_FINDING_WARNING, /* works, but someone should look */
    PM_FINDING_ERROR,   /* does not work, or will not */
};

/* One finding, as a sentence that starts with what it is about. */
typedef void (*pm_check_report)(void *user, enum pm_finding finding, const char *sentence);

/* Reports "what: …" from a format. */
void pm_check_say(pm_check_report report, void *user, enum pm_finding finding, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
