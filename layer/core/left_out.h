/*
 * Telling what is left alone, and why: a pipeline that gets no variants, an object that cannot be
 * remembered. What a game newer than our headers brings is warned of, each of its kinds once in a
 * session, since a game that has one has thousands.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "base/error.h"
#include <stdatomic.h>
#include <stdint.h>

struct pm_instance;

enum { PM_SAID = 64 }; /* the most that are warned of; further ones are not named */

struct pm_said {
    _Atomic uint64_t texts[PM_SAID]; /* hashes of what was said; 0: free */
};

/* what: "a pipeline gets no variants". PM_ERROR_NEWER is a warning, once a message; PM_ERROR_STATE,
 * that there is nothing to do, is for debugging; all else is information. */
void pm_left_out(struct pm_instance *instance, const char *what, const struct pm_error *error);
