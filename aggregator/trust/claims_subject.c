#include "aggregator/trust/claims_subject.h"

#include "base/random.h"
#include <blake2.h>
#include <string.h>

void pm_claims_scope(const struct pm_environment *environment, bool plain, const char *scene,
                     uint8_t scope[static PM_SCOPE_BYTES])
{
    const uint32_t words[] = {environment->subgroup_size,  environment->vendor_id,
                              environment->device_id,      environment->driver_id,
                              environment->driver_version, plain};
    uint8_t bytes[sizeof(words)];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
    /* What chooses a scope is hashed, and nobody finds two that are one. Cannot fail: the sizes are
     * fine. */
    blake2b(scope, scene, bytes, PM_SCOPE_BYTES, strlen(scene), sizeof(bytes));
}

static void scope_of(const struct pm_subject *subject, uint8_t scope[static PM_SCOPE_BYTES])
{
    const struct pm_shader_profile *shader = subject->shader;
    if (subject->scene)
        pm_claims_scope(&shader->environment, shader->flags == 0, subject->scene, scope);
    else /* without the key that the other scopes are hashed with */
        blake2b(scope, shader->original.bytes, NULL, PM_SCOPE_BYTES, PM_SHADER_KEY_BYTES, 0);
}

static uint64_t mix_text(uint64_t number, const char *text, uint64_t secret)
{
    for (; *text; text++)
        number = pm_random_mix((number ^ (uint8_t)*text) + secret);
    return number;
}

static uint64_t mix_key(uint64_t number, const struct pm_shader_key *key, uint64_t secret)
{
    uint64_t words[PM_SHADER_KEY_BYTES / sizeof(uint64_t)];
    memcpy(words, key->bytes, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        number = pm_random_mix(number ^ words[i]) + secret;
    return number;
}

uint64_t pm_subject_number(const struct pm_subject *subject, const uint64_t secret[static 2])
{
    const struct pm_shader_profile *shader = subject->shader;
    const struct pm_environment *environment = &shader->environment;
    const uint64_t of_environment[] = {
        (uint64_t)environment->subgroup_size << 32 | environment->vendor_id,
        (uint64_t)environment->device_id << 32 | environment->driver_id,
        (uint64_t)environment->driver_version << 32 | (shader->flags == 0 ? 2 : 1)};
    uint64_t number = mix_key(secret[0], &shader->key, secret[1]);
    if (!subject->scene)
        number = mix_key(number, &shader->original, secret[1]);
    number = pm_random_mix(number ^ ((uint64_t)shader->kind << 32 | shader->space));
    number = mix_text(number, subject->game, secret[1]);
    if (subject->scene) {
        for (size_t i = 0; i < sizeof(of_environment) / sizeof(*of_environment); i++)
            number = pm_random_mix(number ^ of_environment[i]) + secret[1];
        number = mix_text(number, subject->scene, secret[1]);
    }
    return number | 1;
}

struct pm_storage_claim pm_subject_name(const struct pm_subject *subject)
{
    struct pm_storage_claim name = {
        .game = subject->game, .key = subject->shader->key, .kind = subject->shader->kind};
    scope_of(subject, name.scope);
    return name;
}
