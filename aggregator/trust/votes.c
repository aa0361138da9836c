#include "aggregator/trust/votes.h"

#include "base/random.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

static uint8_t byte_of(const uint8_t *bitmap, uint32_t space, uint32_t at)
{
    const uint32_t byte = bitmap ? bitmap[at] : 0, left = space - 8 * at;
    return (uint8_t)(left < 8 ? byte & ((1u << left) - 1) : byte);
}

uint32_t pm_facts_of(const uint8_t *at_most_once, uint32_t space)
{
    const uint32_t bytes = (space + 7) / 8;
    uint32_t used = bytes;
    while (used > 0 && byte_of(at_most_once, space, used - 1) == 0)
        used--;
    /* All but the last of them as they are: only that one may have bits beyond the space. */
    const uint64_t hash = used > 1 ? XXH3_64bits(at_most_once, used - 1) : 0;
    const uint8_t last = used > 0 ? byte_of(at_most_once, space, used - 1) : 0;
    const uint32_t facts = (uint32_t)(pm_random_mix(pm_random_mix(hash) + last) & PM_STORAGE_FACTS);
    return facts != 0 ? facts : 1;
}

bool pm_facts_agree(const uint8_t *a, const uint8_t *b, uint32_t space)
{
    for (uint32_t i = 0; a != b && i < (space + 7) / 8; i++) {
        if (byte_of(a, space, i) != byte_of(b, space, i))
            return false;
    }
    return true;
}

static bool agree(const struct pm_vote *a, const struct pm_vote *b)
{
    return a->space == b->space && (a->facts == b->facts || a->facts == 0 || b->facts == 0);
}

/* The better one of two of one day, whatever their order. */
static bool is_more(const struct pm_vote *a, const struct pm_vote *b)
{
    if (a->tokens != b->tokens)
        return a->tokens > b->tokens;
    return a->space != b->space ? a->space < b->space : a->facts < b->facts;
}

/* What is known: of the claims that have the storage's number of points, the one with most votes.
 */
static struct pm_vote find_known(const struct pm_vote *known, size_t count, uint32_t space)
{
    struct pm_vote best = {.space = space};
    for (size_t i = 0; i < count; i++) {
        if (known[i].space == space && is_more(&known[i], &best))
            best = known[i];
    }
    return best;
}

size_t pm_votes_decide(const struct pm_vote *day, size_t count, const struct pm_vote *known,
                       size_t known_count, uint32_t space, bool *replaces)
{
    size_t best = count, agreed = count;
    *replaces = false;
    const struct pm_vote before = find_known(known, known_count, space);
    for (size_t i = 0; i < count; i++) {
        if (best == count || is_more(&day[i], &day[best]))
            best = i;
        if (space != 0 && agree(&day[i], &before) &&
            (agreed == count || is_more(&day[i], &day[agreed])))
            agreed = i;
    }
    if (space == 0 || best == count || best == agreed)
        return best;
    /* The day's own votes for what is known count, too. */
    uint32_t votes = before.tokens;
    if (agreed < count && day[agreed].tokens > votes)
        votes = day[agreed].tokens;
    *replaces = day[best].tokens > votes;
    return *replaces ? best : agreed;
}
