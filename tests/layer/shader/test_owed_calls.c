/* What a shader is owed, and which calls are taken for it. */
#include "layer/shader/owed.h"
#include "tests/cmocka_includes.h"

#include "base/random.h"

#include <math.h>

static struct pm_random randoms;

/* So many calls that might be taken, of a heartbeat. Returns how many are. */
static uint32_t take(struct pm_owed *owed, uint64_t window, uint64_t heartbeat, uint32_t calls)
{
    const uint64_t when = pm_owed_when(window, heartbeat);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < calls && pm_owed_any(owed, when); i++) {
        if (pm_owed_draw(owed, when, pm_random_next(&randoms))) {
            pm_owed_pay(owed);
            taken++;
        }
    }
    return taken;
}

/* Whether few or many come: as many as are owed, but for what is of the last frames. */
static void all_are_taken(void **state)
{
    (void)state;
    enum { HEARTBEATS = 1000 };
    static const struct {
        uint32_t every; /* so many heartbeats */
        uint32_t added, chances;
    } cases[] = {{1, 4, 7}, {1, 40, 70}, {13, 1, 1}, {10, 4, 7}};
    pm_random_init(&randoms, 3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pm_owed owed = {0};
        uint32_t taken = 0, added = 0;
        for (uint32_t beat = 0; beat < HEARTBEATS; beat++) {
            if (beat % cases[i].every != 0)
                continue;
            pm_owed_add(&owed, pm_owed_when(1, beat), cases[i].added);
            added += cases[i].added;
            taken += take(&owed, 1, beat, cases[i].chances);
        }
        print_message("%u of %u taken\n", taken, added);
        assert_int_equal((int32_t)taken + owed.calls, added);
        assert_in_range(owed.calls + PM_OWED_CALLS, 0,
                        PM_OWED_CALLS + 8 * PM_OWED_PERIOD * cases[i].added / cases[i].every + 8);
    }
}

/* Where none can be taken for long, no more is owed than of some seconds; and later it is over. */
static void what_is_owed_is_bounded(void **state)
{
    (void)state;
    struct pm_owed few = {0}, many = {0};
    for (uint32_t beat = 0; beat < 10000; beat++) {
        if (beat % 10 == 0)
            pm_owed_add(&few, pm_owed_when(1, beat), 1);
        pm_owed_add(&many, pm_owed_when(1, beat), 100);
    }
    assert_in_range(few.calls, PM_OWED_CALLS, PM_OWED_CALLS + PM_OWED_PERIODS);
    assert_in_range(many.calls, 100 * PM_OWED_PERIOD * (PM_OWED_PERIODS - 1),
                    100 * PM_OWED_PERIOD * (PM_OWED_PERIODS + 1));
    /* Each is paid once, and no more than there is a period's to spare. */
    pm_random_init(&randoms, 4);
    uint32_t taken = 0;
    const int32_t owed = few.calls;
    for (uint32_t beat = 10000; beat < 20000; beat++)
        taken += take(&few, 1, beat, 1);
    assert_int_equal((int32_t)taken + few.calls, owed);
    assert_in_range(few.calls + PM_OWED_PERIOD, 0, PM_OWED_PERIOD);
    assert_false(pm_owed_any(&few, pm_owed_when(1, 20000)));
}

enum { PARTS = 10 };

/* A frame of a shader of which P are to be sampled, and TIMES as many are looked at: as many calls
 * of pipelines without a variant as of one with. Returns how many are sampled; those that were owed
 * by where in the latter's calls they are, too. */
static uint32_t draw(struct pm_owed *owed, uint64_t heartbeat, uint32_t calls,
                     uint32_t parts[PARTS])
{
    static const double P = 0.01, TIMES = 6;
    const uint64_t when = pm_owed_when(1, heartbeat);
    uint32_t sampled = 0;
    for (uint32_t i = 0; i < 2 * calls; i++) {
        if (pm_random_unit(&randoms) >= P * TIMES)
            continue;
        const bool has_variant = i >= calls;
        if (pm_random_unit(&randoms) < 1 / TIMES) {
            if (!has_variant)
                pm_owed_add(owed, when, 1);
            sampled += has_variant;
        } else if (has_variant && take(owed, 1, heartbeat, 1) > 0) {
            parts[(i - calls) * PARTS / calls]++;
            sampled++;
        }
    }
    return sampled;
}

static void assert_about(double found, double expected)
{
    assert_true(fabs(found - expected) < 4.5 * sqrt(expected));
}

/* Whether a shader is drawn in every frame or in few. */
static void those_are_taken_evenly(void **state)
{
    (void)state;
    enum { FRAMES = 20000, CALLS = 100 };
    static const uint32_t every[] = {1, 8, 9, 16, 60};
    pm_random_init(&randoms, 6);
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
        struct pm_owed owed = {0};
        uint32_t sampled = 0, parts[PARTS] = {0}, sum = 0;
        for (uint64_t frame = 0; frame < FRAMES; frame++)
            sampled += draw(&owed, frame * every[i], CALLS, parts);
        for (int part = 0; part < PARTS; part++)
            sum += parts[part];
        print_message("every %u: %u sampled, %u of them owed:", every[i], sampled, sum);
        for (int part = 0; part < PARTS; part++)
            print_message(" %u", parts[part]);
        print_message("\n");
        assert_about(sampled, 0.01 * 2 * CALLS * FRAMES);
        for (int part = 0; part < PARTS; part++)
            assert_about(parts[part], (double)sum / PARTS);
    }
}

/* Frames until nothing is owed any more, of a shader with so many calls that may be taken in each.
 */
static uint32_t frames_until_paid(struct pm_owed *owed, uint64_t heartbeat, uint32_t chances)
{
    uint32_t frames = 0;
    for (; owed->calls > 0; frames++)
        take(owed, 1, heartbeat + frames, chances);
    return frames;
}

/* A debt that was made while much was drawn is not paid for minutes once little is. */
static void a_debt_falls_where_less_is_drawn(void **state)
{
    (void)state;
    enum { BEATS = 400 };
    pm_random_init(&randoms, 7);
    struct pm_owed owed = {0};
    for (uint32_t beat = 0; beat < BEATS; beat++)
        pm_owed_add(&owed, pm_owed_when(1, beat), 100);
    struct pm_owed as_much = owed;
    const int32_t calls = owed.calls;
    assert_in_range(calls, 100 * PM_OWED_PERIOD * (PM_OWED_PERIODS - 1), INT32_MAX);
    const uint32_t frames = frames_until_paid(&owed, BEATS, 1);
    print_message("%d owed, paid in %u frames of one call\n", calls, frames);
    assert_true(frames < 2 * PM_OWED_PERIOD * PM_OWED_PERIODS);
    /* Where as much is drawn all of it is paid. */
    uint32_t taken = 0;
    for (uint32_t beat = BEATS; beat < 2 * BEATS; beat++)
        taken += take(&as_much, 1, beat, 200);
    assert_int_equal((int32_t)taken + as_much.calls, calls);
}

/* Nor is far more taken of a frame that has many calls than was owed before it. */
static void a_burst_is_bounded(void **state)
{
    (void)state;
    pm_random_init(&randoms, 8);
    struct pm_owed owed = {0};
    for (uint32_t beat = 0; beat < 100; beat++) {
        pm_owed_add(&owed, pm_owed_when(1, beat), beat % PM_OWED_PERIOD == 0);
        take(&owed, 1, beat, beat % PM_OWED_PERIOD == 0);
    }
    const int32_t before = owed.calls;
    assert_true(take(&owed, 1, 104, 10000) <= 2 * (uint32_t)before + PM_OWED_CALLS);
}

/* What a window leaves is not the next one's, and what is told late is nobody's. */
static void it_ends_with_its_window(void **state)
{
    (void)state;
    struct pm_owed owed = {0};
    pm_random_init(&randoms, 5);
    for (uint32_t beat = 0; beat < 100; beat++)
        pm_owed_add(&owed, pm_owed_when(1, beat), 3);
    assert_true(pm_owed_any(&owed, pm_owed_when(1, 100)));
    assert_false(pm_owed_any(&owed, pm_owed_when(2, 100)));
    for (uint32_t beat = 100; beat < 200; beat++)
        assert_int_equal(take(&owed, 2, beat, 10), 0);
    pm_owed_add(&owed, pm_owed_when(2, 200), 1);
    assert_int_equal(owed.calls, 1);
    pm_owed_add(&owed, pm_owed_when(1, 100), 5);
    assert_int_equal(owed.calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_taken),
        cmocka_unit_test(what_is_owed_is_bounded),
        cmocka_unit_test(those_are_taken_evenly),
        cmocka_unit_test(a_debt_falls_where_less_is_drawn),
        cmocka_unit_test(a_burst_is_bounded),
        cmocka_unit_test(it_ends_with_its_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
