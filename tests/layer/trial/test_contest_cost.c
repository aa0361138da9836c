/* What A-Z testing costs (layer/shader/contest.h): slow variants are called a few times only, and
 * what is in use is tried again for no more than trials may take. */
#include "tests/layer/trial/contested.h"

#include "base/clock.h"
#include "tests/patience.h"

#include <stdio.h>
#include <string.h>

/* The share of time that the trials of all sessions so far say they took at most, in percent, which
 * is no more than is allowed. */
static double assert_spent(double allowed)
{
    char path[300], line[512];
    double most = -1, share;
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log)) {
        const char *at = strstr(line, "trials took ");
        if (at && sscanf(at, "trials took %lf %%", &share) == 1 && share > most)
            most = share;
    }
    fclose(log);
    printf("trials took %.3f %% at most of %.4f %%\n", most, allowed);
    assert_true(most <= allowed);
    return most;
}

/* What the session's trials may take at most, in percent: the log has three digits. */
#define ALLOWED (0.5 + 0.0005)

/* What won in one scene takes twice as long in another: a re-trial there drops it. */
static void slower_in_another_scene(void **state)
{
    (void)state;
    contested_set_times(1.2);
    contested.times[2] = 0.8;
    contested_open();
    trying_set_scene("first");
    assert_true(contested_run_until("the fastest is"));
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    contested.times[2] = 2;
    trying_set_scene("second");
    assert_true(contested_run_until("is not faster, and is dropped"));
    position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    contested_close();
    assert_spent(ALLOWED);
}

/* What is used is tried again where the game's own takes five times as long, the most that is
 * counted: its eight pairs take no more than the half percent, beside what was left of the second
 * before. */
static void trying_again_costs_little(void **state)
{
    (void)state;
    contested_set_times(1.2);
    contested.times[2] = 0.8;
    contested_open();
    trying_set_scene("first");
    assert_true(contested_run_until("the fastest is"));
    contested.times[0] = 25;
    contested.times[2] = 5;
    trying_set_scene("second");
    assert_true(contested_run_until("is tried again"));
    const int64_t tried_at = pm_now();
    const uint64_t calls = contested.calls[0];
    uint64_t until = 0;
    while (optimized_logged("faster: used") < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("faster: used", 2);
    const double longer = 20.0 * TRYING_ORIGINAL * (double)(contested.calls[0] - calls);
    const double passed = (double)(pm_now() - tried_at);
    /* Of the first pair nobody knows how long it takes. */
    assert_true(longer - 20.0 * TRYING_ORIGINAL <= 0.005 * (passed + 1e9));
    contested_close();
}

/* All are much slower: each is called a few times, and they are not tried again in the next
 * session.
 */
static void slow_ones_cost_little(void **state)
{
    (void)state;
    contested_set_times(2);
    contested_open();
    assert_true(contested_run_until("none is faster"));
    for (uint32_t i = 1; i < contested.count; i++)
        assert_in_range(contested.calls[i], 1, 20);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    contested_close();
    assert_true(assert_spent(ALLOWED) > 0);
    contested_set_times(2);
    contested_open();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_true(contested_run_until("none is faster"));
    assert_int_equal(contested.count, 1);
    contested_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(slower_in_another_scene),
        PM_LAYERED_TEST(trying_again_costs_little),
        PM_LAYERED_TEST(slow_ones_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
