#include "aggregator/storage/seal.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint8_t magic[4] = {'P', 'M', 'k', '1'};

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    return XXH3_64bits_withSeed(data, size, hash);
}

uint64_t pm_seal_of(const struct pm_storage_key *key)
{
    const uint32_t fields[] = {key->environment.subgroup_size,
                               key->environment.vendor_id,
                               key->environment.device_id,
                               key->environment.driver_id,
                               key->environment.driver_version,
                               (uint32_t)key->kind,
                               key->flags,
                               key->day};
    uint8_t bytes[sizeof(fields)];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(fields[i / 4] >> (i % 4 * 8));
    const uint64_t game = mix(0, key->game, strlen(key->game));
    const uint64_t scene = mix(game, key->scene, strlen(key->scene));
    return mix(mix(scene, key->key.bytes, PM_SHADER_KEY_BYTES), bytes, sizeof(bytes));
}

void pm_seal_make(uint64_t of, const void *blob, size_t size, uint8_t out[static PM_SEAL_BYTES])
{
    const uint64_t hash = mix(of, blob, size);
    memcpy(out, magic, sizeof(magic));
    for (size_t i = 0; i < 8; i++)
        out[sizeof(magic) + i] = (uint8_t)(hash >> (8 * i));
}

const void *pm_seal_check(uint64_t of, const void *data, size_t size, size_t *blob_size)
{
    const uint8_t *bytes = data;
    uint8_t wanted[PM_SEAL_BYTES];
    *blob_size = size;
    if (size < PM_SEAL_BYTES || memcmp(bytes, magic, sizeof(magic)) != 0)
        return data;
    pm_seal_make(of, bytes + PM_SEAL_BYTES, size - PM_SEAL_BYTES, wanted);
    if (memcmp(wanted, bytes, PM_SEAL_BYTES) != 0)
        return NULL;
    *blob_size = size - PM_SEAL_BYTES;
    return bytes + PM_SEAL_BYTES;
}

bool pm_seal_fail(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_INPUT,
                   "they are not what was written (their checksum says so): the disk, or something "
                   "else, changed them");
}
