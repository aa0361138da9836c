#include "aggregator/storage/etag.h"

#include <blake2.h>
#include <stdio.h>

bool pm_etag_make(const void *data, size_t size, char etag[static PM_ETAG_TEXT])
{
    uint8_t digest[(PM_ETAG_TEXT - 1) / 2];
    if (blake2b(digest, data, NULL, sizeof(digest), size, 0) != 0)
        return false;
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(etag + 2 * i, 3, "%02x", digest[i]);
    return true;
}
