/*
 * Asking a thread to stop what it is at: the compiling of a large shader takes seconds, which
 * whoever destroys a device does not want to wait. Long work looks between its steps whether it is
 * asked to stop, and then fails with PM_ERROR_STOPPED. Nobody takes the asking back, so what was
 * cut short within a step is never taken for whole by the look after it.
 *
 * Thread safety: a thread watches for itself; the flag may be set by any.
 */
#pragma once

#include "base/error.h"
#include <stdatomic.h>

/* From here on the calling thread stops when the flag is set, which must outlive its work; NULL: it
 * does not, as is so at first. */
void pm_stop_watch(const _Atomic bool *asked);

bool pm_stop_asked(void);

/* false with PM_ERROR_STOPPED when the thread is asked to stop. */
bool pm_stop_check(struct pm_error *error);
