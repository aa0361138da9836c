/* Which pipelines are instrumented ahead, and how long it is waited for them. */
#include "layer/frame/sampling.h"
#include "layer/shader/ahead.h"
#include "tests/cmocka_includes.h"

#include "base/clock.h"

static struct pm_ahead ahead;

/* Each with its chance, over sessions; of further ones in each session as many as the chances say.
 */
static void draw_all(bool further)
{
    enum { SESSIONS = 4000, PIPELINES = 6 };
    static const double chances[PIPELINES] = {1, 0.5, 0.1, 0.25, 0, 0.4};
    uint32_t drawn[PIPELINES] = {0};
    for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
        uint32_t sum = 0;
        pm_ahead_init(&ahead, 20, 200, seed, 0);
        for (int i = 0; i < PIPELINES; i++) {
            const bool one = pm_ahead_draw(&ahead, chances[i], further);
            drawn[i] += one;
            sum += one;
        }
        if (further)
            assert_in_range(sum, 2, 3); /* 2.25 */
        pm_ahead_finish(&ahead);
    }
    for (int i = 0; i < PIPELINES; i++) {
        const double share = (double)drawn[i] / SESSIONS;
        assert_true(share > chances[i] - 0.03 && share < chances[i] + 0.03);
    }
    assert_int_equal(drawn[0], SESSIONS);
    assert_int_equal(drawn[4], 0);
}

static void each_has_its_chance(void **state)
{
    (void)state;
    draw_all(false);
    draw_all(true);
}

/* A chance may depend on who got one before, and means what it says all the same. */
static void lots_are_independent(void **state)
{
    (void)state;
    enum { SESSIONS = 4000 };
    uint32_t both = 0;
    for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
        pm_ahead_init(&ahead, 20, 200, seed, 0);
        const bool first = pm_ahead_draw(&ahead, 0.5, false);
        both += pm_ahead_draw(&ahead, 0.5, false) && first;
        pm_ahead_finish(&ahead);
    }
    assert_in_range(both, SESSIONS / 4 - 150, SESSIONS / 4 + 150);
}

/* Milliseconds that are waited for what does not come. */
static double waited(bool loads)
{
    const _Atomic bool awaited = true;
    const int64_t start = pm_now();
    pm_ahead_wait(&ahead, NULL, 0, &awaited, loads);
    return (double)(pm_now() - start) * 1e-6;
}

/* By what is left, since a machine that is busy wakes us late. */
static void loading_is_waited_for_once_a_minute(void **state)
{
    (void)state;
    enum { CREATION = 1, LOADING = 60 };
    pm_ahead_init(&ahead, CREATION, LOADING, 1, pm_now());
    for (int minute = 0; minute < 3; minute++) {
        assert_true(waited(true) >= LOADING - 1);
        assert_true(ahead.loading <= 0);
        /* Then what is left is the time of any pipeline, however often the game loads. */
        for (int i = 0; i < 20; i++) {
            waited(true);
            assert_true(ahead.loading <= 0 && ahead.allowance.left <= CREATION * 1e6);
        }
        ahead.loading_at -= 59 * PM_SECOND;
        waited(true);
        assert_true(ahead.loading <= 0);
        ahead.loading_at -= PM_SECOND;
        waited(false); /* only while it loads */
        assert_true(ahead.loading <= 0);
    }
    pm_ahead_finish(&ahead);
}

static uint32_t loading_of(struct pm_sampling *sampling, uint32_t pipelines)
{
    uint32_t loading = 0;
    for (uint32_t i = 0; i < pipelines; i++)
        loading += pm_sampling_loads(sampling, 1);
    return loading;
}

/* Before the first frames; and again in a frame that makes dozens, behind these, and has lasted so
 * long that nobody takes it for one. A few a frame are what a game streams, which is seen. */
static void a_game_loads_again(void **state)
{
    (void)state;
    static struct pm_sampling sampling;
    assert_int_equal(loading_of(&sampling, 100), 100);
    for (int frame = 0; frame < 100; frame++) {
        atomic_fetch_add(&sampling.heartbeats, 1);
        assert_int_equal(loading_of(&sampling, 20), frame < 15 ? 20 : 0);
    }
    for (int level = 0; level < 3; level++) {
        atomic_fetch_add(&sampling.heartbeats, 100);
        /* However many it makes that are in the driver's cache, or that it links. */
        assert_int_equal(loading_of(&sampling, 100), 0);
        sampling.made_since -= PM_SECOND / 4;
        assert_int_equal(loading_of(&sampling, 600), 600);
        atomic_fetch_add(&sampling.heartbeats, 1);
        assert_int_equal(loading_of(&sampling, 1), 0);
        sampling.made_since -= PM_SECOND;
        assert_int_equal(loading_of(&sampling, 600), 600 - 31);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_chance),
        cmocka_unit_test(lots_are_independent),
        cmocka_unit_test(loading_is_waited_for_once_a_minute),
        cmocka_unit_test(a_game_loads_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
