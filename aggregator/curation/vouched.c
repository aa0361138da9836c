#include "aggregator/curation/vouched.h"

#include <stdlib.h>
#include <string.h>

static int compare_claims(const void *a, const void *b)
{
    const struct pm_storage_claim *left = a, *right = b;
    const int order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (order != 0)
        return order;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    const int scopes = memcmp(left->scope, right->scope, PM_SCOPE_BYTES);
    if (scopes != 0)
        return scopes;
    return left->space < right->space ? -1 : left->space > right->space;
}

/* What tokens said of the shader in its environment and scene; NULL: nothing. plain: without flags;
 * else with some. */
static const struct pm_storage_claim *find_claim(const struct pm_vouched *vouched,
                                                 const struct pm_storage_key *key, bool plain,
                                                 uint32_t space)
{
    struct pm_storage_claim name = {.key = key->key, .kind = key->kind, .space = space};
    if (vouched->claim_count == 0)
        return NULL;
    pm_claims_scope(&key->environment, plain, vouched->scene, name.scope);
    return bsearch(&name, vouched->claims, vouched->claim_count, sizeof(name), compare_claims);
}

bool pm_is_vouched(const struct pm_vouched *vouched, const struct pm_storage_key *key, bool plain,
                   uint32_t space)
{
    if (vouched->wanted <= 1)
        return true;
    const struct pm_storage_claim *claim = find_claim(vouched, key, plain, space);
    return claim && claim->tokens >= vouched->wanted && claim->day >= vouched->first_day;
}

uint32_t pm_vouched_day(const struct pm_vouched *vouched, const struct pm_storage_key *key,
                        bool plain, uint32_t space)
{
    if (vouched->wanted <= 1)
        return vouched->today;
    const struct pm_storage_claim *claim = find_claim(vouched, key, plain, space);
    const bool enough = claim && claim->tokens >= vouched->wanted;
    return enough ? claim->day : 0;
}

uint32_t pm_vouched_last_day(const struct pm_vouched *vouched, const struct pm_storage_key *key,
                             uint32_t flags, uint32_t space)
{
    const uint32_t plain = pm_vouched_day(vouched, key, true, space);
    const uint32_t flagged = flags != 0 ? pm_vouched_day(vouched, key, false, space) : 0;
    return plain > flagged ? plain : flagged;
}

uint32_t pm_vouched_tokens(const struct pm_vouched *vouched, const struct pm_storage_key *key,
                           bool plain, uint32_t space)
{
    const struct pm_storage_claim *claim = find_claim(vouched, key, plain, space);
    return claim && claim->day >= vouched->first_day ? (uint32_t)claim->tokens : 0;
}

bool pm_vouched_add(struct pm_vouched *vouched, const struct pm_storage_claim *claim,
                    struct pm_error *error)
{
    if (vouched->wanted <= 1)
        return true;
    if (vouched->claim_count == vouched->claims_allocated) {
        const size_t allocated = vouched->claims_allocated ? vouched->claims_allocated * 2 : 256;
        struct pm_storage_claim *claims = realloc(vouched->claims, allocated * sizeof(*claims));
        if (!claims)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu claims", allocated);
        vouched->claims = claims;
        vouched->claims_allocated = allocated;
    }
    struct pm_storage_claim *last =
        vouched->claim_count > 0 ? &vouched->claims[vouched->claim_count - 1] : NULL;
    if (!last || compare_claims(last, claim) != 0)
        vouched->claims[vouched->claim_count++] = *claim;
    else if (last->day < vouched->first_day || claim->tokens >= last->tokens ||
             claim->tokens >= vouched->wanted) /* the last day with enough */
        *last = *claim;
    return true;
}

void pm_vouched_finish(struct pm_vouched *vouched)
{
    free(vouched->claims);
}
