#include "layer/core/cpu_bound.h"

#include "tests/cmocka_includes.h"

#define MS INT64_C(1000000)

static const struct pm_cpu_frame busy = {16 * MS, 0, 17 * MS, true};

static bool feed(struct pm_cpu_bound *state, const struct pm_cpu_frame *frame, int count)
{
    bool bound = false;
    for (int i = 0; i < count; i++)
        bound = pm_cpu_bound_frame(state, frame);
    return bound;
}

static void a_dry_gpu_beside_a_busy_processor(void **state)
{
    (void)state;
    struct pm_cpu_bound game;
    pm_cpu_bound_init(&game);
    assert_false(feed(&game, &busy, 15)); /* undecided */
    assert_true(feed(&game, &busy, 1));
    assert_true(feed(&game, &busy, 1000));
}

static void what_is_no_reason(void **state)
{
    (void)state;
    const struct pm_cpu_frame others[] = {
        {16 * MS, 0, 17 * MS, false},     /* the GPU always had work */
        {16 * MS, 6 * MS, 17 * MS, true}, /* a thread waited for the GPU or the display */
        {16 * MS, 0, 5 * MS, true},       /* a frame cap that sleeps by itself */
        {16 * MS, 400000, 17 * MS, true}, /* a wait of a fortieth of the frame */
        {0, 0, 0, true},                  /* a clock that does not move */
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct pm_cpu_bound game;
        pm_cpu_bound_init(&game);
        assert_false(feed(&game, &others[i], 100));
    }
}

static void changes_with_the_scene(void **state)
{
    (void)state;
    const struct pm_cpu_frame gpu_bound = {20 * MS, 10 * MS, 12 * MS, false};
    struct pm_cpu_bound game;
    pm_cpu_bound_init(&game);
    assert_true(feed(&game, &busy, 32));
    assert_true(feed(&game, &gpu_bound, 15)); /* hysteresis */
    assert_false(feed(&game, &gpu_bound, 1));
    assert_false(feed(&game, &busy, 7)); /* 23 of 32 */
    assert_false(feed(&game, &gpu_bound, 32));
    assert_false(feed(&game, &busy, 23));
    assert_true(feed(&game, &busy, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dry_gpu_beside_a_busy_processor),
        cmocka_unit_test(what_is_no_reason),
        cmocka_unit_test(changes_with_the_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
