/*
 * Uploads that wait for what another holds: a row of the engine, by a prepared transaction whose
 * coordinator died, say. Whoever is committed together with one of them would wait too, so that the
 * committer remembers the last of them, keeps them apart, and waits for one of them now and then.
 *
 * Thread safety: one thread, the committer's.
 */
#pragma once

#include "profile/profile.h"

#define PM_APART_UPLOADS 64

struct pm_request;

struct pm_apart {
    uint8_t ids[PM_APART_UPLOADS][PM_UPLOAD_ID_BYTES];
    size_t count, oldest;
    int64_t until; /* pm_now(): none of them is waited for before */
};

/* Moves the requests whose uploads are known to wait to the end of the group; how many. */
size_t pm_apart_sort(const struct pm_apart *apart, struct pm_request **group, size_t count);

/* Had the upload to wait in vain? */
void pm_apart_note(struct pm_apart *apart, const uint8_t *id, bool waits);

/* Is one of them to be waited for just now? */
bool pm_apart_is_due(const struct pm_apart *apart);
