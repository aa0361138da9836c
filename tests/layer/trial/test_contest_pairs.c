/* The best recipes of a contest are tried in pairs (layer/shader/contest.h), which have to be
 * faster than either alone. */
#include "tests/layer/trial/contested.h"

#include "tests/patience.h"

#include <string.h>

static struct {
    uint32_t from; /* what comes from there on is of two recipes; 0: nothing is yet */
    double time;   /* of these, over the game's own */
} pairs;

static void see_first(uint32_t index)
{
    if (!pairs.from && pairs.time > 0 && optimized_logged("pairs of recipes") > 0)
        pairs.from = index;
}

static double time_of_pair(uint32_t index)
{
    return pairs.from && index >= pairs.from ? pairs.time : 0;
}

/* Three are faster: one of them may be the canonical form, which makes no pair. */
static void open_with_three(double noise)
{
    contested_set_times(1.2);
    contested.times[2] = 0.8;
    contested.times[3] = 0.85;
    contested.times[4] = 0.9;
    contested.noise = noise;
    contested.first = see_first;
    contested.other = time_of_pair;
    memset(&pairs, 0, sizeof pairs);
    contested_open();
}

/* Frames until pairs of recipes take part; those cost so much of the game's own. */
static void run_until_pairs(double pair_time)
{
    uint64_t until = 0;
    pairs.time = pair_time; /* of what is made behind the log's line */
    while (optimized_logged("pairs of recipes") == 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    optimized_assert_logged("pairs of recipes", 1);
    optimized_assert_logged(": 0 pairs of recipes", 0);
}

/* Some recipes are faster; two together are faster still. */
static void a_pair_is_faster(void **state)
{
    (void)state;
    open_with_three(0);
    run_until_pairs(0.5);
    assert_true(contested_run_until("the fastest is"));
    assert_true(contested.count > pairs.from);
    assert_true(optimized_logged("+") > 0);
    assert_in_range(contested_bound(), pairs.from, contested.count - 1);
    contested_close();
    const uint32_t tried = contested.count;

    /* The next session uses it at once, and asks for nothing else. */
    contested_set_times(0.5);
    contested_open();
    contested_run_until_logged("is used from now on", 2);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(contested.count, 2);
    assert_true(tried > 4);
    contested_close();
}

/* Of recipes that are faster the best one wins, though two together cost so much. */
static void better_one_wins(double pair_time, double noise)
{
    open_with_three(noise);
    run_until_pairs(pair_time);
    const VkPipeline fastest = contested.pipelines[2];
    assert_true(contested_run_until("the fastest is"));
    assert_ptr_equal(contested.pipelines[contested_bound()], fastest);
    contested_close();
}

static void no_pair_is_faster(void **state)
{
    (void)state;
    better_one_wins(0.95, 0);
}

/* Chance makes a pair the fastest, of some that are as fast as the better one alone. */
static void chance_chooses_no_pair(void **state)
{
    (void)state;
    better_one_wins(0.8, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_pair_is_faster),
        PM_LAYERED_TEST(no_pair_is_faster),
        PM_LAYERED_TEST(chance_chooses_no_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
