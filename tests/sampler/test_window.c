#include "sampler/sampler.h"
#include "tests/sampler/chi_square.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Heartbeats spent in windows, of those of `cycles` whole cycles of closed and open. */
static double share(double q, uint32_t length, uint64_t cycles, uint64_t seed)
{
    struct pm_window window;
    pm_window_init(&window, q, length, seed);
    uint64_t open = 0, beats = 0, closed = 0;
    while (closed < cycles) {
        beats++;
        open += window.open;
        closed += pm_window_heartbeat(&window) == PM_WINDOW_CLOSED;
    }
    return (double)open / (double)beats;
}

static void windows_take_their_share(void **state)
{
    (void)state;
    const struct {
        double q;
        uint32_t length;
        uint64_t cycles;
    } cases[] = {{0.0001, 1024, 4000}, {0.01, 100, 20000}, {0.5, 3, 100000}, {0.2, 1, 100000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double q = cases[i].q, length = cases[i].length, n = (double)cases[i].cycles;
        double truth = length / (length + 1.0 / q);
        /* share = W / (W + m), m the mean of n closed times of variance (1 - q) / q^2: four
         * standard errors. */
        double slope = length / ((length + 1.0 / q) * (length + 1.0 / q));
        double tolerance = 4.0 * slope * sqrt((1.0 - q) / (q * q) / n);
        double measured = share(q, cases[i].length, cases[i].cycles, 50 + i);
        if (fabs(measured - truth) > tolerance)
            fail_msg("q %g W %g: %g, not %g +- %g", q, length, measured, truth, tolerance);
        /* The tolerance is small enough to see a window that is one tenth longer. */
        assert_true(fabs(length * 1.1 / (length * 1.1 + 1.0 / q) - truth) > tolerance);
    }
}

static void windows_last_their_length(void **state)
{
    (void)state;
    struct pm_window window;
    pm_window_init(&window, 0.3, 17, 5);
    assert_false(window.open);
    for (int cycle = 0; cycle < 1000; cycle++) {
        enum pm_window_event event;
        while ((event = pm_window_heartbeat(&window)) == PM_WINDOW_NONE)
            assert_false(window.open);
        assert_int_equal(event, PM_WINDOW_OPENED);
        for (int i = 0; i < 16; i++) {
            assert_true(window.open);
            assert_int_equal(pm_window_heartbeat(&window), PM_WINDOW_NONE);
        }
        assert_int_equal(pm_window_heartbeat(&window), PM_WINDOW_CLOSED);
        assert_false(window.open);
    }
}

/* Each heartbeat outside a window opens one with probability q, however long ago the last was. */
static void openings_are_geometric(void **state)
{
    (void)state;
    enum { BINS = 11 };
    const double q = 0.2;
    uint64_t counts[BINS] = {0};
    double probabilities[BINS];
    struct pm_window window;
    pm_window_init(&window, q, 2, 6);
    for (int cycle = 0; cycle < 100000; cycle++) {
        size_t beats = 1;
        while (pm_window_heartbeat(&window) != PM_WINDOW_OPENED)
            beats++;
        counts[beats < BINS ? beats - 1 : BINS - 1]++;
        while (pm_window_heartbeat(&window) != PM_WINDOW_CLOSED)
            ;
    }
    for (int i = 0; i < BINS - 1; i++)
        probabilities[i] = q * pow(1.0 - q, i);
    probabilities[BINS - 1] = pow(1.0 - q, BINS - 1);
    assert_true(chi_square_accepts(counts, probabilities, BINS));
    probabilities[0] += 0.01;
    probabilities[BINS - 1] -= 0.01;
    assert_false(chi_square_accepts(counts, probabilities, BINS));
}

static void always_and_never(void **state)
{
    (void)state;
    struct pm_window window;
    pm_window_init(&window, 1.0, 4, 1);
    for (int i = 0; i < 10000; i++) {
        assert_true(window.open);
        assert_int_equal(pm_window_heartbeat(&window), PM_WINDOW_NONE);
    }
    pm_window_init(&window, 0.0, 4, 1);
    for (int i = 0; i < 10000; i++) {
        assert_false(window.open);
        assert_int_equal(pm_window_heartbeat(&window), PM_WINDOW_NONE);
    }
}

static void a_seed_repeats(void **state)
{
    (void)state;
    struct pm_window one, two, other;
    pm_window_init(&one, 0.05, 8, 77);
    pm_window_init(&two, 0.05, 8, 77);
    pm_window_init(&other, 0.05, 8, 78);
    int differences = 0;
    for (int i = 0; i < 10000; i++) {
        enum pm_window_event event = pm_window_heartbeat(&one);
        assert_int_equal(event, pm_window_heartbeat(&two));
        differences += event != pm_window_heartbeat(&other);
    }
    assert_true(differences > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_take_their_share), cmocka_unit_test(windows_last_their_length),
        cmocka_unit_test(openings_are_geometric),   cmocka_unit_test(always_and_never),
        cmocka_unit_test(a_seed_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
