#include "aggregator/trust/left_alone_claims.h"

#include <string.h>

uint32_t pm_left_alone_claims_level(uint32_t level)
{
    if (level == 0)
        return 1;
    return level % 2 == 1 ? 1u << (level + 1) / 2 : 3u << (level / 2 - 1);
}

static struct pm_claims_thing thing_of(enum pm_left_alone_why why, uint32_t level)
{
    return (struct pm_claims_thing){pm_left_alone_name(why), level + 1};
}

/* How many levels `shaders` reaches. */
static uint32_t levels_of(uint32_t shaders)
{
    uint32_t levels = 0;
    while (levels < PM_LEFT_ALONE_LEVELS && pm_left_alone_claims_level(levels) <= shaders)
        levels++;
    return levels;
}

bool pm_left_alone_claims_expect(struct pm_claims *claims, const struct pm_profile *profile,
                                 struct pm_error *error)
{
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++) {
        for (uint32_t level = levels_of(profile->left_alone[why]); level-- > 0;) {
            const struct pm_claims_thing thing = thing_of(why, level);
            if (!pm_claims_expect_thing(claims, profile->game, &thing, error))
                return false;
        }
    }
    return true;
}

bool pm_left_alone_claims_note(struct pm_claims *claims, const struct pm_profile *profile,
                               const struct pm_ingest_source *source, uint32_t today,
                               struct pm_error *error)
{
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++) {
        for (uint32_t level = levels_of(profile->left_alone[why]); level-- > 0;) {
            const struct pm_claims_thing thing = thing_of(why, level);
            if (!pm_claims_note_thing(claims, profile->game, &thing, source, today, error))
                return false;
        }
    }
    return true;
}

void pm_left_alone_claims_seen_init(struct pm_left_alone_seen *seen, uint32_t min_tokens,
                                    uint32_t today)
{
    memset(seen, 0, sizeof *seen);
    seen->min_tokens = min_tokens > 1 ? min_tokens : 1;
    seen->first_day = today > PM_LEFT_ALONE_DAYS ? today - PM_LEFT_ALONE_DAYS : 0;
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++) {
        for (uint32_t level = 0; level < PM_LEFT_ALONE_LEVELS; level++) {
            const struct pm_claims_thing thing = thing_of(why, level);
            pm_claims_thing_scope(&thing, seen->scopes[why][level]);
        }
    }
}

static void count(struct pm_left_alone_seen *seen, enum pm_left_alone_why why, uint32_t level,
                  const struct pm_storage_claim *claim)
{
    struct pm_left_alone_count *count = &seen->counts[why];
    const uint32_t shaders = pm_left_alone_claims_level(level);
    if (claim->tokens < seen->min_tokens || claim->day < seen->first_day ||
        shaders < count->shaders || (shaders == count->shaders && claim->day < count->day))
        return;
    *count = (struct pm_left_alone_count){shaders, claim->tokens, claim->day};
}

bool pm_left_alone_claims_see(struct pm_left_alone_seen *seen, const struct pm_storage_claim *claim)
{
    if (claim->kind != 0)
        return false;
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++) {
        for (uint32_t level = 0; level < PM_LEFT_ALONE_LEVELS; level++) {
            if (memcmp(seen->scopes[why][level], claim->scope, PM_SCOPE_BYTES) != 0)
                continue;
            count(seen, why, level, claim);
            return true;
        }
    }
    return false;
}
