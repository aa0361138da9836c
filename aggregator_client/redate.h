/*
 * Uploads whose day cannot be, since the clock was off where they were recorded: the aggregator
 * takes none of a day that is yet to come, or long gone. What time it is there, its answers say.
 *
 * For aggregator_client/ and `run --local`. Thread safety: any thread.
 */
#pragma once

#include "profile/profile.h"

/* Is this a day of which an aggregator takes nothing, of whose clock it is `theirs` (seconds since
 * the epoch; 0: nobody knows)? */
bool pm_day_is_ahead(uint32_t day, int64_t theirs);

/* The day that it should have been, given our own clock now: where that is still off, as much
 * earlier or later; else today. `day` itself where an aggregator may have taken it, a moment before
 * or at another of its servers: it would be another upload, and count twice. */
uint32_t pm_day_anew(uint32_t day, int64_t ours, int64_t theirs);

/* Gives an upload, as it is sent, the day that pm_day_anew says. false: it has it already, or it
 * cannot be read. */
bool pm_upload_redate(struct pm_buffer *body, int64_t ours, int64_t theirs);
