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
static uint32_t let_in(const struct pm_session_lot *lot, uint32_t shaders, uint32_t large,
                       uint32_t *turns)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < shaders && count < SESSION_TRIALS; i++) {
        const struct pm_shader_key key = key_of(i);
        if (!pm_session_lot_takes_part(lot, &key, is_large(i, large)))
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
            assert_int_equal(let_in(&lot, shaders, 0, turns), SESSION_TRIALS);
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
        assert_int_equal(let_in(&lot, SESSION_TRIALS, session % 3, turns), SESSION_TRIALS);
    }
}

/* The one that is tried alone takes part, and the small ones leave room for it, in half of the
 * sessions that draw. Where none is drawn, all may be tried. */
static void large_ones_take_turns(void **state)
{
    (void)state;
    enum { LARGE = 10 };
    uint32_t alone[SHADERS] = {0}, drawn = 0, for_large = 0;
    for (uint32_t session = 0; session < SESSIONS; session++) {
        const struct pm_session_lot lot = draw(session, SHADERS, LARGE);
        uint32_t small = 0, large = 0, which = 0, part = 0;
        for (uint32_t i = 0; i < SHADERS; i++) {
            const struct pm_shader_key key = key_of(i);
            const bool is_tried = pm_session_lot_is_tried(&lot, &key, is_large(i, LARGE));
            part += pm_session_lot_takes_part(&lot, &key, is_large(i, LARGE));
            small += is_tried && !is_large(i, LARGE);
            large += is_tried && is_large(i, LARGE);
            which = is_tried ? i : which;
        }
        if (!lot.drawn) {
            assert_int_equal(small + large, SHADERS);
            continue;
        }
        drawn++;
        assert_in_range(part, SESSION_TRIALS - 1, SESSION_TRIALS);
        assert_int_equal(small, large == 0 ? SHADERS - LARGE : 0);
        if (large == 0)
            continue;
        const struct pm_shader_key key = key_of(which);
        assert_int_equal(large, 1);
        assert_true(pm_session_lot_takes_part(&lot, &key, true));
        alone[which]++;
        for_large++;
    }
    assert_in_range(drawn, SESSIONS * 2 / 5, SESSIONS * 3 / 5);
    assert_in_range(for_large, drawn * 2 / 5, drawn * 3 / 5);
    for (uint32_t i = 0; i < LARGE; i++)
        assert_in_range(alone[i], for_large / LARGE / 3, for_large / LARGE * 5 / 3);
}

/* Of a large one and nine small ones, the ninth takes part and is tried in nearly a quarter of the
 * sessions, whatever the large one does. */
static void small_ones_have_turns_beside_a_large_one(void **state)
{
    (void)state;
    uint32_t tried = 0;
    const struct pm_shader_key last = key_of(SESSION_TRIALS + 1);
    for (uint32_t session = 0; session < SESSIONS; session++) {
        const struct pm_session_lot lot = draw(session, SESSION_TRIALS + 2, 1);
        tried += lot.drawn && pm_session_lot_takes_part(&lot, &last, false) &&
                 pm_session_lot_is_tried(&lot, &last, false);
    }
    assert_in_range(tried, SESSIONS / 8, SESSIONS / 3);
}

/* Where there is no small one no session is left to them. */
static void large_ones_alone_leave_none_to_others(void **state)
{
    (void)state;
    for (uint32_t session = 0; session < SESSIONS; session++) {
        const struct pm_session_lot lot = draw(session, SHADERS, SHADERS);
        uint32_t tried = 0;
        for (uint32_t i = 0; i < SHADERS; i++) {
            const struct pm_shader_key key = key_of(i);
            tried += pm_session_lot_is_tried(&lot, &key, true);
        }
        assert_int_equal(tried, lot.drawn ? 1 : SHADERS);
    }
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
        cmocka_unit_test(small_ones_have_turns_beside_a_large_one),
        cmocka_unit_test(large_ones_alone_leave_none_to_others),
        cmocka_unit_test(without_large_ones_small_ones_are_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
