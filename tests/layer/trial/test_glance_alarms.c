/* What glances' pairs have to say until a variant is tried again (glance.h), simulated: how rarely
 * what makes no difference raises an alarm, whatever the noise, and how soon what turned slower
 * does; beside the rule that glances had before, four slower pairs in a row. Prints both. */
#include "layer/trial/glance.h"

#include "base/random.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOOK = 64, /* heartbeats: glances begin at multiples */
    PAIR = 4,  /* from a pair's begin until its times are there */
    ALARMS = 4000,
    EVERY = 256,
    IN_A_ROW = 4,
    LONG = 1 << 14, /* heartbeats for which it was faster */
};

enum rule { IN_ROW, SUMMED, RULES };

/* What times are made of. */
struct noise {
    const char *name;
    double spread;        /* of a time's logarithm: one standard deviation */
    double rare, longer;  /* so many times of one are so many times as long */
    double tick;          /* times are multiples of that; 0: of none */
    double begins, slows; /* the machine is slower by that from a time on, for 20 on the average */
};

static const struct noise noises[] = {
    {"5 %", 0.05, 0, 1, 0, 0, 1},
    {"20 %", 0.2, 0, 1, 0, 0, 1},
    {"50 %", 0.5, 0, 1, 0, 0, 1},
    {"20 %, one of 30 ten times as long", 0.2, 1.0 / 30, 10, 0, 0, 1},
    {"20 %, slow phases", 0.2, 0, 1, 0, 0.01, 4},
};
enum { NOISES = sizeof noises / sizeof *noises };

struct watched {
    enum rule rule;
    struct pm_glance glance;
    uint32_t row;
    const struct noise *noise;
    double ratio; /* the variant's time over the original's */
    struct pm_random random;
    bool slow_phase;
    uint64_t heartbeat, pairs;
};

static double gauss(struct pm_random *random)
{
    const double radius = sqrt(-2 * log(1 - pm_random_unit(random)));
    return radius * cos(2 * acos(-1) * pm_random_unit(random));
}

static double time_of(struct watched *watched, double ratio)
{
    const struct noise *noise = watched->noise;
    struct pm_random *random = &watched->random;
    if (pm_random_unit(random) < (watched->slow_phase ? 0.05 : noise->begins))
        watched->slow_phase = !watched->slow_phase;
    const double time = ratio * exp(noise->spread * gauss(random)) *
                        (pm_random_unit(random) < noise->rare ? noise->longer : 1) *
                        (watched->slow_phase ? noise->slows : 1);
    return noise->tick > 0 ? noise->tick * round(time / noise->tick) : time;
}

/* A pair, in the order that a lot says: the logarithm of the variant's time over the original's. */
static double pair_of(struct watched *watched)
{
    const bool variant_first = pm_random_below(&watched->random, 2) != 0;
    const double first = time_of(watched, variant_first ? watched->ratio : 1),
                 second = time_of(watched, variant_first ? 1 : watched->ratio);
    watched->heartbeat += PAIR;
    watched->pairs++;
    return variant_first ? log(first / second) : log(second / first);
}

static struct watched watch(enum rule rule, const struct noise *noise, double ratio, uint64_t seed)
{
    struct watched watched = {.rule = rule, .noise = noise, .ratio = ratio};
    pm_glance_init(&watched.glance);
    pm_random_init(&watched.random, seed);
    return watched;
}

/* As it was. */
static bool glance_in_row(struct watched *watched)
{
    for (watched->row = 0; watched->row < IN_A_ROW; watched->row++)
        if (pair_of(watched) <= 0)
            return false;
    return true;
}

static bool glance_summed(struct watched *watched)
{
    enum pm_glance_says says = PM_GLANCE_GOES_ON;
    pm_glance_begin(&watched->glance, 0, 1, 0);
    while (says == PM_GLANCE_GOES_ON)
        says = pm_glance_take(&watched->glance, pair_of(watched), 0);
    pm_glance_end(&watched->glance);
    return says == PM_GLANCE_ALARM;
}

/* From one rest to the next. Whether there was an alarm. */
static bool glance(struct watched *watched)
{
    const uint32_t wait = watched->rule == IN_ROW ? EVERY : watched->glance.wait;
    watched->heartbeat = (watched->heartbeat + wait + LOOK - 1) / LOOK * LOOK;
    return watched->rule == IN_ROW ? glance_in_row(watched) : glance_summed(watched);
}

struct rate {
    double heartbeats; /* between alarms */
    double pairs;      /* in so many heartbeats as there are between glances at first */
};

static struct rate rate_of(enum rule rule, const struct noise *noise, double ratio, int alarms)
{
    struct watched watched = watch(rule, noise, ratio, 5);
    for (int i = 0; i < alarms; i++) {
        while (!glance(&watched))
            ;
        pm_glance_init(&watched.glance);
    }
    return (struct rate){(double)watched.heartbeat / alarms,
                         EVERY * (double)watched.pairs / (double)watched.heartbeat};
}

struct delay {
    double heartbeats, late; /* the mean, and what one of ten exceeds */
    double pairs;
};

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Until what was a fifth faster for long, and turns slower at any time, raises an alarm. */
static struct delay delay_of(enum rule rule, const struct noise *noise, double ratio)
{
    static double all[ALARMS];
    struct watched watched = watch(rule, noise, 0.8, 7);
    struct delay delay = {0};
    for (int i = 0; i < ALARMS; i++) {
        watched.ratio = 0.8;
        const uint64_t until = watched.heartbeat + LONG + pm_random_below(&watched.random, EVERY);
        struct watched before = watched;
        while (watched.heartbeat < until) {
            before = watched;
            if (glance(&watched)) {
                pm_glance_init(&watched.glance);
                before = watched;
            }
        }
        /* The glance that is over behind the change begins before it, or was in its time. */
        watched = before;
        watched.ratio = ratio;
        const uint64_t pairs = watched.pairs;
        while (!glance(&watched))
            ;
        pm_glance_init(&watched.glance);
        all[i] = watched.heartbeat > until ? (double)(watched.heartbeat - until) : 0;
        delay.heartbeats += all[i] / ALARMS;
        delay.pairs += (double)(watched.pairs - pairs) / ALARMS;
    }
    qsort(all, ALARMS, sizeof *all, compare);
    delay.late = all[ALARMS / 10 * 9];
    return delay;
}

/* No more alarms than before, and so whatever the noise. Some more pairs, which cost no time here
 * but what timing takes. */
static void no_difference_raises_few_alarms(void **state)
{
    (void)state;
    for (int i = 0; i < NOISES; i++) {
        const struct rate row = rate_of(IN_ROW, &noises[i], 1, ALARMS),
                          sum = rate_of(SUMMED, &noises[i], 1, ALARMS);
        printf(
            "as fast, noise of %s: an alarm in %.0f heartbeats, %.2f pairs in %d; four in a row: "
            "%.0f, %.2f\n",
            noises[i].name, sum.heartbeats, sum.pairs, EVERY, row.heartbeats, row.pairs);
        assert_true(sum.heartbeats > 0.98 * row.heartbeats);
        assert_true(sum.pairs < 1.15 * row.pairs);
        /* Of every noise the same. */
        assert_true(fabs(sum.heartbeats / rate_of(SUMMED, &noises[0], 1, ALARMS).heartbeats - 1) <
                    0.1);
    }
}

/* Pairs of a coarse clock that tie say nothing: they ended four in a row, and leave a sum as it is.
 * So there are more alarms than before, and fewer than where no times tie. */
static void ties_raise_fewer(void **state)
{
    (void)state;
    static const struct noise coarse[] = {
        {"2 %, a clock of 2 %", 0.02, 0, 1, 0.02, 0, 1},
        {"2 %, a clock of 5 %", 0.02, 0, 1, 0.05, 0, 1},
    };
    const double usual = rate_of(SUMMED, &noises[0], 1, ALARMS).heartbeats;
    for (size_t i = 0; i < sizeof coarse / sizeof *coarse; i++) {
        const struct rate row = rate_of(IN_ROW, &coarse[i], 1, ALARMS / 10),
                          sum = rate_of(SUMMED, &coarse[i], 1, ALARMS / 10);
        printf("as fast, noise of %s: an alarm in %.0f heartbeats, %.2f pairs in %d; four in a "
               "row: %.0f, %.2f\n",
               coarse[i].name, sum.heartbeats, sum.pairs, EVERY, row.heartbeats, row.pairs);
        assert_true(sum.heartbeats > 1.1 * usual);
    }
}

/* A pair of what is faster costs what the variant saves: there are no more of them than before. */
static void faster_raises_hardly_any(void **state)
{
    (void)state;
    enum { FEW = 100 };
    for (int i = 1; i < NOISES; i++) {
        const struct rate row = rate_of(IN_ROW, &noises[i], 0.9, FEW),
                          sum = rate_of(SUMMED, &noises[i], 0.9, FEW);
        printf(
            "10 %% faster, noise of %s: an alarm in %.0f heartbeats, %.2f pairs in %d; four in a "
            "row: %.0f, %.2f\n",
            noises[i].name, sum.heartbeats, sum.pairs, EVERY, row.heartbeats, row.pairs);
        assert_true(sum.heartbeats > 1.25 * row.heartbeats);
        assert_true(sum.pairs < 1.02 * row.pairs);
    }
}

static void slower_is_noticed_sooner(void **state)
{
    (void)state;
    static const double slower[] = {1.05, 1.1, 1.2, 1.5};
    for (int i = 0; i < NOISES; i++)
        for (size_t j = 0; j < sizeof slower / sizeof *slower; j++) {
            const struct delay row = delay_of(IN_ROW, &noises[i], slower[j]),
                               sum = delay_of(SUMMED, &noises[i], slower[j]);
            printf("turns %.0f %% slower, noise of %s: %.0f heartbeats (one of ten: %.0f), %.1f "
                   "pairs; four in a row: %.0f (%.0f), %.1f\n",
                   100 * (slower[j] - 1), noises[i].name, sum.heartbeats, sum.late, sum.pairs,
                   row.heartbeats, row.late, row.pairs);
            /* What every pair says needs some pairs more, within one glance; and what hardly any
             * does cannot be found much sooner than chance raises an alarm. */
            assert_true(sum.heartbeats < 1.1 * row.heartbeats + 8 * PAIR);
            if (row.heartbeats > 600 && row.heartbeats < EVERY * 10)
                assert_true(sum.heartbeats < 0.9 * row.heartbeats);
        }
}

/* What something else ends is gone on with. */
static void what_was_said_is_kept(void **state)
{
    (void)state;
    struct pm_glance glance;
    pm_glance_init(&glance);
    for (int i = 0; i < 6; i++) {
        pm_glance_begin(&glance, 0, 1, 0);
        assert_int_equal(pm_glance_take(&glance, 0.1, 0), PM_GLANCE_GOES_ON);
        pm_glance_end(&glance);
    }
    pm_glance_begin(&glance, 0, 1, 0);
    assert_int_equal(pm_glance_take(&glance, -0.1, 0), PM_GLANCE_GOES_ON);
    assert_int_equal(pm_glance_take(&glance, 0.5, 0), PM_GLANCE_ALARM);
    pm_glance_end(&glance);
    /* And no longer than until it was tried. */
    pm_glance_was_tried(&glance);
    pm_glance_begin(&glance, 0, 1, 0);
    assert_int_equal(pm_glance_take(&glance, -0.01, 0), PM_GLANCE_RESTS);
    assert_int_equal(glance.wait, 2 * EVERY);
}

/* As long as its pairs are worth, also those of glances that something else ended. */
static void many_pairs_are_followed_by_a_long_rest(void **state)
{
    (void)state;
    struct pm_glance glance;
    pm_glance_init(&glance);
    pm_glance_begin(&glance, 0, 1, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pm_glance_take(&glance, 0.1, 0), PM_GLANCE_GOES_ON);
    pm_glance_end(&glance);
    assert_int_equal(glance.wait, EVERY);
    pm_glance_begin(&glance, 0, 1, 0);
    assert_int_equal(pm_glance_take(&glance, -0.1, 0), PM_GLANCE_GOES_ON);
    assert_int_equal(pm_glance_take(&glance, -0.5, 0), PM_GLANCE_RESTS);
    assert_int_equal(glance.wait, 5 * EVERY * 78 / 100);
    pm_glance_begin(&glance, 0, 1, 0);
    assert_int_equal(pm_glance_take(&glance, -0.1, 0), PM_GLANCE_RESTS);
    assert_int_equal(glance.wait, EVERY);
    /* What was not needed is there for later. */
    for (int i = 0; i < 20; i++)
        assert_int_equal(pm_glance_take(&glance, -0.1, 0), PM_GLANCE_RESTS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pm_glance_take(&glance, i == 0 ? 0.1 : -0.05, 0),
                         i < 2 ? PM_GLANCE_GOES_ON : PM_GLANCE_RESTS);
    assert_int_equal(glance.wait, EVERY);
}

/* What finds nothing comes less and less often, up to a bound, and no more often than it does
 * otherwise. A budget that had nothing left is another matter, until it has something again. */
static void what_finds_nothing_waits_longer(void **state)
{
    (void)state;
    static const struct {
        uint32_t every, wait, longer;
    } waits[] = {{EVERY, EVERY, 2 * EVERY},
                 {EVERY, 1500, 2048},
                 {EVERY, 2048, 2048},
                 {EVERY, 5000, 2048},
                 {16 * EVERY, 4096, 4096}};
    struct pm_glance glance;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (int denied = 0; denied < 3; denied++) {
            pm_glance_init(&glance);
            glance.every = waits[i].every;
            glance.wait = waits[i].wait;
            pm_glance_begin(&glance, 0, 1, 0);
            assert_true(pm_glance_begin_pair(&glance));
            if (denied > 0)
                pm_glance_deny_pair(&glance, true);
            if (denied > 1) {
                assert_true(pm_glance_begin_pair(&glance));
                pm_glance_charge_pair(&glance, 1);
            }
            assert_false(pm_glance_finds_nothing(&glance, LOOK - 1));
            assert_true(pm_glance_finds_nothing(&glance, LOOK));
            assert_int_equal(glance.wait, denied == 1 ? waits[i].wait : waits[i].longer);
            assert_int_equal(glance.undrawn, denied != 1);
            assert_int_equal(pm_glance_end(&glance), denied > 1);
        }
}

/* One that says nothing, or too much: a time of 0, or one that something else made long. */
static void no_pair_says_more_than_one(void **state)
{
    (void)state;
    struct pm_glance glance;
    pm_glance_init(&glance);
    pm_glance_begin(&glance, 0, 1, 0);
    assert_int_equal(pm_glance_take(&glance, 0, 0), PM_GLANCE_RESTS);
    assert_int_equal(pm_glance_take(&glance, NAN, 0), PM_GLANCE_RESTS);
    assert_int_equal(pm_glance_take(&glance, INFINITY, 0), PM_GLANCE_GOES_ON);
    assert_int_equal(pm_glance_take(&glance, 0.01, 0), PM_GLANCE_GOES_ON);
    assert_int_equal(pm_glance_take(&glance, 9, 0), PM_GLANCE_GOES_ON);
    assert_int_equal(pm_glance_take(&glance, NAN, 0), PM_GLANCE_GOES_ON);
    assert_int_equal(pm_glance_take(&glance, INFINITY, 0), PM_GLANCE_ALARM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_difference_raises_few_alarms),
        cmocka_unit_test(ties_raise_fewer),
        cmocka_unit_test(faster_raises_hardly_any),
        cmocka_unit_test(slower_is_noticed_sooner),
        cmocka_unit_test(what_was_said_is_kept),
        cmocka_unit_test(many_pairs_are_followed_by_a_long_rest),
        cmocka_unit_test(what_finds_nothing_waits_longer),
        cmocka_unit_test(no_pair_says_more_than_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
