/*
 * What tells that a blob is what was written, and in its own row: "PMk1" and 8 bytes of a hash
 * (XXH3, least significant first) of the row's key and of the blob, before the blob. A single
 * flipped bit of either is found. Blobs of earlier versions have none and begin otherwise.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/storage/storage.h"

#define PM_SEAL_BYTES 12

/* Of the row's key: what the next two are given. */
uint64_t pm_seal_of(const struct pm_storage_key *key);
void pm_seal_make(uint64_t of, const void *blob, size_t size, uint8_t out[static PM_SEAL_BYTES]);
/* What is behind the seal, *blob_size bytes; all of it where there is none. NULL: it is not what
 * was written. */
const void *pm_seal_check(uint64_t of, const void *data, size_t size, size_t *blob_size);
/* *error says that; false. */
bool pm_seal_fail(struct pm_error *error);
