#include "aggregator/intake/hold_out.h"

#include "base/random.h"
#include <string.h>

uint32_t pm_hold_out(const struct pm_shader_profile *shader, uint64_t secret)
{
    uint64_t key;
    if (shader->kind != PM_KIND_VARIANT)
        return shader->flags;
    memcpy(&key, shader->key.bytes, sizeof(key));
    const uint64_t lot = pm_random_mix(secret ^ pm_random_mix(key));
    return shader->flags | ((lot & 1) != 0 ? (uint32_t)PM_PROFILE_HELD_OUT : 0);
}
