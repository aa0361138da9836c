/* The whole table of what may be bound, held against HAZARDS 11 and 12 as they are stated there. */
#include "layer/frame/may_bind.h"

#include "tests/cmocka_includes.h"
#include <stdbool.h>
#include <string.h>

enum {
    RECORDINGS = PM_RECORDING_TIMED + 1,
    FIRST_PLACE = PM_PLACE_DISPATCH,
    PLACES = PM_PLACE_TIMED_DRAWS + 1 - FIRST_PLACE,
    FIRST_ACTIVE = PM_ACTIVE_PROTECTED,
    ACTIVES = PM_CONDITIONS - FIRST_ACTIVE,
};

/* One line of what the walk looks at. */
struct moment {
    enum pm_condition recording, place;
    uint32_t active; /* PM_CONDITION bits */
};

static bool is(const struct moment *moment, enum pm_condition active)
{
    return (moment->active & PM_CONDITION(active)) != 0;
}

/* HAZARDS 11: where a rebind is illegal or would be seen. */
static bool rebind_is_illegal_or_seen(const struct moment *moment)
{
    return is(moment, PM_ACTIVE_TRANSFORM_FEEDBACK) || is(moment, PM_ACTIVE_PROTECTED) ||
           is(moment, PM_ACTIVE_QUERY) || is(moment, PM_ACTIVE_INHERITED_QUERY) ||
           is(moment, PM_ACTIVE_GENERATED_COMMANDS) || is(moment, PM_ACTIVE_OTHER_SHADERS);
}

/* HAZARDS 12: a recording draws its countdown when it begins, or is left alone; and a lost device
 * measures nothing. */
static bool is_measured(const struct moment *moment, enum pm_condition recording)
{
    return moment->recording == recording && !is(moment, PM_ACTIVE_LOST);
}

static bool may(const struct moment *moment, enum pm_binding binding)
{
    if (binding == PM_BINDING_GAME)
        return true;
    if (rebind_is_illegal_or_seen(moment))
        return false;
    switch (binding) {
    case PM_BINDING_PROVEN:
        /* As if the game had bound it; but where the game can see variants, and nobody knows
         * whether it looks, there is none. */
        return moment->recording != PM_RECORDING_UNKNOWN;
    case PM_BINDING_INSTRUMENTED:
        return is_measured(moment, PM_RECORDING_SAMPLED);
    case PM_BINDING_TRIAL_CALL:
        /* HAZARDS 14: dispatches one by one, draws where their times add up. */
        return is_measured(moment, PM_RECORDING_TIMED) &&
               (moment->place == PM_PLACE_DISPATCH || moment->place == PM_PLACE_TIMED_DRAWS);
    case PM_BINDING_TRIAL_PASS:
        return is_measured(moment, PM_RECORDING_TIMED) && moment->place == PM_PLACE_TIMED_PASS;
    case PM_BINDING_PASSES:
        /* Where it is known what stands behind them. */
        return (is_measured(moment, PM_RECORDING_TRACKED) ||
                is_measured(moment, PM_RECORDING_SAMPLED) ||
                is_measured(moment, PM_RECORDING_TIMED)) &&
               moment->place == PM_PLACE_DISPATCH;
    default:
        fail();
        return false;
    }
}

/* Whether a table says the same at every moment there can be. */
static bool says_what_hazards_say(const uint8_t *table)
{
    for (uint32_t i = 0; i < RECORDINGS * PLACES << ACTIVES; i++) {
        const struct moment moment = {
            .recording = (enum pm_condition)((i >> ACTIVES) % RECORDINGS),
            .place = (enum pm_condition)((i >> ACTIVES) / RECORDINGS + FIRST_PLACE),
            .active = (i & ((1u << ACTIVES) - 1)) << FIRST_ACTIVE,
        };
        const uint32_t allowed = pm_may_bind_by(
            table, PM_CONDITION(moment.recording) | PM_CONDITION(moment.place) | moment.active);
        for (uint32_t bit = 0; bit < PM_BINDING_COUNT; bit++) {
            const enum pm_binding binding = (enum pm_binding)(1u << bit);
            if (((allowed & binding) != 0) != may(&moment, binding))
                return false;
        }
    }
    return true;
}

static void every_moment(void **state)
{
    (void)state;
    assert_true(says_what_hazards_say(pm_may_bind_table));
}

/* So the walk looks at every entry. */
static void a_flipped_entry_is_noticed(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < PM_CONDITIONS; row++) {
        for (uint32_t bit = 0; bit < PM_BINDING_COUNT; bit++) {
            uint8_t table[PM_CONDITIONS];
            memcpy(table, pm_may_bind_table, sizeof table);
            table[row] ^= (uint8_t)(1u << bit);
            if (says_what_hazards_say(table))
                fail_msg("nobody notices entry %u of row %u", bit, row);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_moment),
        cmocka_unit_test(a_flipped_entry_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
