/*
 * Which sessions' files a history has in it already, for whoever is killed after it has written the
 * history and before these were removed: they must not be judged twice. A text of its own beside
 * the history, so that other versions can read that one; it counts only with the very history that
 * it was written for.
 *
 * Thread safety: plain data; the folder is locked by the caller (journal_folder.h).
 */
#pragma once

#include "base/buffer.h"
#include <stdint.h>

struct pm_judged {
    uint64_t *names; /* hashes */
    size_t count;
};

/* history: its text. Out of memory, or damaged: nothing. */
void pm_judged_read(const char *folder, const struct pm_buffer *history, struct pm_judged *judged);
void pm_judged_finish(struct pm_judged *judged);
bool pm_judged_has(const struct pm_judged *judged, const char *path);

/* Before the history is written. A failure only means that they may be judged twice. */
void pm_judged_write(const char *folder, const struct pm_buffer *history, const char *const *paths,
                     size_t count);
/* After they were removed. */
void pm_judged_forget(const char *folder);
