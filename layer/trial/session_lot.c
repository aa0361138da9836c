#include "layer/trial/session_lot.h"

#include "base/random.h"
#include <string.h>

/* Apart from other lots by the same seed. */
enum { LOT = 0x5e55 };

void pm_session_lot_init(struct pm_session_lot *lot, uint64_t seed)
{
    *lot = (struct pm_session_lot){.seed = pm_random_mix(seed + LOT)};
    lot->drawn = (lot->seed & 1) != 0;
    lot->for_the_small = (lot->seed & 2) != 0;
}

/* The shader's in this session. */
static uint64_t number_of(const struct pm_session_lot *lot, const struct pm_shader_key *key)
{
    uint64_t of_key;
    memcpy(&of_key, key->bytes, sizeof of_key);
    return pm_random_mix(lot->seed ^ of_key);
}

void pm_session_lot_add(struct pm_session_lot *lot, const struct pm_shader_key *key, bool large)
{
    const uint64_t number = number_of(lot, key);
    if (large && (lot->large_count == 0 || number < lot->large))
        lot->large = number;
    lot->large_count += large;
    uint32_t at = lot->count < SESSION_TRIALS ? lot->count : SESSION_TRIALS;
    lot->count++;
    for (; at > 0 && lot->numbers[at - 1] > number; at--)
        if (at < SESSION_TRIALS)
            lot->numbers[at] = lot->numbers[at - 1];
    if (at < SESSION_TRIALS)
        lot->numbers[at] = number;
}

/* Whether a large one is to be tried alone. */
static bool is_for_a_large_one(const struct pm_session_lot *lot)
{
    return lot->drawn && lot->large_count > 0 &&
           !(lot->for_the_small && lot->large_count < lot->count);
}

bool pm_session_lot_takes_part(const struct pm_session_lot *lot, const struct pm_shader_key *key,
                               bool large)
{
    const uint64_t number = number_of(lot, key);
    const bool for_large = is_for_a_large_one(lot);
    /* The large one has a place whatever the others' numbers are. */
    const uint32_t places = SESSION_TRIALS - for_large;
    return !lot->drawn || lot->count <= SESSION_TRIALS || number <= lot->numbers[places - 1] ||
           (for_large && large && number <= lot->large);
}

bool pm_session_lot_is_tried(const struct pm_session_lot *lot, const struct pm_shader_key *key,
                             bool large)
{
    if (!lot->drawn || lot->large_count == 0)
        return true;
    return is_for_a_large_one(lot) ? large && number_of(lot, key) <= lot->large : !large;
}
