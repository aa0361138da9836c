/*
 * Forgetting a shader while it waits: its samples are taken out of the rows. Whoever else read
 * these rows, to fold them, finds them deleted when it writes, and begins again (fold_slice.h).
 *
 * Thread safety: as the writer functions of storage.h.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* In a transaction, under the write mutex, before anything else of it changes samples. *samples:
 * how many went. */
bool pm_samples_forget(struct pm_storage *storage, const char *game,
                       const struct pm_shader_key *key, uint64_t *samples, struct pm_error *error);
