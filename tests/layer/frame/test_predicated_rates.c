/* In recordings that a game keeps as many calls are sampled as in what is recorded anew (HAZARDS
 * 12); and where calls cannot be recorded twice, so few that it costs little. */
#include "tests/layer/frame/executing.h"
#include "tests/layer/spooled.h"
#include "tests/patience.h"

#include <stdlib.h>

/* The share of a program's calls that is sampled. */
static double rate(bool kept, uint32_t buffer_count, uint32_t dispatches, const char *probability)
{
    enum { MOST = 200 };
    const uint32_t frames = 400000 / dispatches;
    const uint64_t before = all_calls();
    setenv("PM_NULL_RECORD", "0", 1);
    setenv("PIECEMEAL_SAMPLER_SEED", "7", 1);
    executing_open("0.01", "100", probability, NULL);
    VkCommandBuffer buffers[MOST];
    for (uint32_t i = 0; i < buffer_count; i++)
        buffers[i] =
            executing_recorded(kept ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, dispatches);
    for (uint32_t frame = 0; frame < frames; frame++) {
        VkCommandBuffer buffer = buffers[frame % buffer_count];
        if (!kept)
            executing_record(buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, dispatches);
        executing_submit(buffer, 1);
    }
    assert_int_equal(executing.game + executing.other, (uint64_t)frames * dispatches);
    const uint64_t sampled = executing.other;
    executing_close();
    assert_int_equal(all_calls() - before, sampled);
    return (double)sampled / ((double)frames * dispatches);
}

/* HAZARDS 12: the same overall rate, where the same windows open. In small recordings all calls are
 * chosen, in large ones some. */
static void as_many_as_where_all_is_recorded_anew(void **state)
{
    (void)state;
    static const struct {
        uint32_t buffers, dispatches;
        const char *probability;
    } cases[] = {{3, 4, "0.1"}, {200, 100, "0.05"}, {100, 40, "0.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double kept = rate(true, cases[i].buffers, cases[i].dispatches, cases[i].probability);
        const double anew =
            rate(false, cases[i].buffers, cases[i].dispatches, cases[i].probability);
        print_message("%u times %u dispatches, p %s: %.5f kept, %.5f anew\n", cases[i].buffers,
                      cases[i].dispatches, cases[i].probability, kept, anew);
        assert_true(kept > 0.95 * anew && kept < 1.05 * anew);
    }
}

enum { COUNTING_COSTS = 5 /* times what a call costs, more than was ever measured */ };

/* The time that kept recordings take more than without us, at the defaults' p and share of the time
 * in windows, though windows are short here. They are recorded while a window is open, or not. */
static double more_time(bool in_window, const struct pm_harness_options *options)
{
    enum { BUFFERS = 400, CALLS = 500, TIMES = 3 };
    static VkCommandBuffer buffers[BUFFERS];
    const VkCommandBufferUsageFlags flags =
        options != NULL ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0;
    uint64_t until = 0;
    executing_open("0.0064", "16", "0.01", options);
    VkCommandBuffer none = executing_recorded(0, 0);
    const uint32_t opened = pm_layered_logged("a profiling window opens");
    while (in_window && pm_layered_logged("a profiling window opens") == opened && patience(&until))
        executing_submit(none, 1);
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = executing_recorded(flags, CALLS);
    for (int times = 0; times < TIMES; times++)
        for (int i = 0; i < BUFFERS; i++)
            executing_submit(buffers[i], 1);
    const uint64_t total = executing.game + executing.other, counting = executing.other;
    assert_int_equal(total, (uint64_t)BUFFERS * CALLS * TIMES);
    executing_close();
    print_message("%s: %lu of %lu calls counted\n",
                  in_window ? "recorded in a window" : "recorded outside", (unsigned long)counting,
                  (unsigned long)total);
    /* 0.0929 % of them, and by far enough that something is sampled at all. */
    assert_true((double)counting > 0.0003 * (double)total);
    return (double)counting * (COUNTING_COSTS - 1) / (double)total;
}

/* A call that counts does so in every submission, also outside windows: so few do that recordings
 * take less than 0.5 % longer. */
static void what_is_kept_costs_little_without_it(void **state)
{
    (void)state;
    static const struct pm_harness_options queues = {.queues = 2};
    setenv("PM_NULL_RECORD", "0", 1);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    for (int i = 0; i < 4; i++) {
        if (i < 2)
            setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_conditional_rendering", 1);
        else
            unsetenv("PM_NULL_WITHOUT_EXTENSIONS");
        setenv("PIECEMEAL_SAMPLER_SEED", i % 2 == 0 ? "11" : "12", 1);
        assert_true(more_time(i % 2 == 0, i < 2 ? NULL : &queues) < 0.005);
    }
    unsetenv("PIECEMEAL_LOG_LEVEL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(as_many_as_where_all_is_recorded_anew),
        PM_LAYERED_TEST(what_is_kept_costs_little_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
