/*
 * ETags: they tell the content.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* BLAKE2b-256 in hexadecimal. false: it cannot be computed. */
bool pm_etag_make(const void *data, size_t size, char etag[static PM_ETAG_TEXT]);
