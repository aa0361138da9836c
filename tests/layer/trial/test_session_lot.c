#include "layer/trial/session_lot.h"

#include "tests/cmocka_includes.h"

enum { SESSIONS = 400, SHADERS = 40 };

static struct pm_shader_key key_of(uint32_t number)
{
    struct pm_shader_key key = {{0}};
    key.bytes[0] = (uint8_t)number;
    return key;
}

static bool is_large(uint32_t shader, uint32_t large)
{
    return shader < large;
}

static struct pm_session_lot draw(uint32_t session, uint32_t shaders, uint32_t large)
{
    struct pm_session_lot lot;
    pm_session_lot_init(&lot, session);
    for (uint32_t i = 0; i < shaders; i++) {
        const struct pm_shader_key key = key_of(i);
        pm_session_lot_add(&lot, &key, is_large(i, large));
    }
    return lot;
}

/* Those that are let in, in the order of their numbers, until it is full. */
static uint32_t let_in(const struct pm_session_lot *lot, uint32_t shaders, uint32_t *turns)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < shaders && count < SESSION_TRIALS; i++) {
        const struct pm_shader_key key = key_of(i);
        if (!pm_session_lot_takes_part(lot, &key))
            continue;
        turns[i]++;
        count++;
    }
    return count;
}

/* Whoever comes last takes part as often as anybody in every second session, and no place is left.
 */
static void everybody_has_a_turn(void **state)
{
    (void)state;
    static const uint32_t counts[] = {9, 16, SHADERS};
    for (uint32_t c = 0; c < 3; c++) {
        const uint32_t shaders = counts[c];
        uint32_t turns[SHADERS] = {0};
        for (uint32_t session = 0; session < SESSIONS; session++) {
            const struct pm_session_lot lot = draw(session, shaders, 0);
            assert_int_equal(let_in(&lot, shaders, turns), SESSION_TRIALS);
        }
        const uint32_t expected = SESSIONS / 2 * SESSION_TRIALS / shaders;
        for (uint32_t i = SESSION_TRIALS; i < shaders; i++)
            assert_in_range(turns[i], expected / 2, expected * 3 / 2);
    }
}

static void few_all_take_part(void **state)
{
    (void)state;
    for (uint32_t session = 0; session < SESSIONS; session++) {
        uint32_t turns[SHADERS] = {0};
        const struct pm_session_lot lot = draw(session, SESSION_TRIALS, session % 3);
        assert_int_equal(let_in(&lot, SESSION_TRIALS, turns), SESSION_TRIALS);
    }
}

/* The one that is tried alone takes part, and the small ones leave room for it. Where none is
 * drawn, all may be tried. */
static void large_ones_take_turns(void **state)
{
    (void)state;
    enum { LARGE = 10 };
    uint32_t alone[SHADERS] = {0}, drawn = 0;
    for (uint32_t session = 0; session < SESSIONS; session++) {
        const struct pm_session_lot lot = draw(session, SHADERS, LARGE);
        uint32_t tried = 0, which = 0, part = 0;
        for (uint32_t i = 0; i < SHADERS; i++) {
            const struct pm_shader_key key = key_of(i);
            part += pm_session_lot_takes_part(&lot, &key);
            if (!pm_session_lot_is_tried(&lot, &key, is_large(i, LARGE)))
                continue;
            tried++;
            which = i;
        }
        assert_int_equal(tried, lot.drawn ? 1 : SHADERS);
        if (!lot.drawn)
            continue;
        const struct pm_shader_key key = key_of(which);
        assert_true(is_large(which, LARGE) && pm_session_lot_takes_part(&lot, &key));
        assert_in_range(part, SESSION_TRIALS - 1, SESSION_TRIALS);
        alone[which]++;
        drawn++;
    }
    assert_in_range(drawn, SESSIONS * 2 / 5, SESSIONS * 3 / 5);
    for (uint32_t i = 0; i < LARGE; i++)
        assert_in_range(alone[i], drawn / LARGE / 2, drawn / LARGE * 3 / 2);
}

static void without_large_ones_small_ones_are_tried(void **state)
{
    (void)state;
    for (uint32_t session = 0; session < SESSIONS; session++) {
        const struct pm_session_lot lot = draw(session, SHADERS, 0);
        const struct pm_shader_key key = key_of(session % SHADERS);
        assert_true(pm_session_lot_is_tried(&lot, &key, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_has_a_turn),
        cmocka_unit_test(few_all_take_part),
        cmocka_unit_test(large_ones_take_turns),
        cmocka_unit_test(without_large_ones_small_ones_are_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
