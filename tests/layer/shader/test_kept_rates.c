/*
 * Over sessions each call of a level that is recorded once is sampled with p, though few pipelines
 * stand for many (predicated.h): 120 shaders with 5 pipelines each, whose variants, as many as
 * limits.variants allows, are all made by then.
 */
#include "tests/layer/levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHADERS = 120, STATES = 5, SUBMISSIONS = 100 };

static struct pm_harness h;

static struct {
    VkPipeline game[SHADERS * STATES]; /* ascending */
    uint64_t draws, sampled;
} executed;

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(VkPipeline));
}

static uint64_t count_executed(void *user, VkPipeline pipeline)
{
    (void)user;
    executed.draws++;
    executed.sampled +=
        !bsearch(&pipeline, executed.game, SHADERS * STATES, sizeof pipeline, compare);
    return 0;
}

/* The level's pipelines, of all shaders with one state after the other. */
static void sort_by_state(struct level *level)
{
    VkPipeline sorted[SHADERS * STATES];
    for (uint32_t i = 0; i < SHADERS * STATES; i++)
        sorted[i] = level->pipelines[i % SHADERS * STATES + i / SHADERS];
    memcpy(level->pipelines, sorted, sizeof sorted);
}

/* A session; the share of its draws that was sampled. */
static double play(int seed, bool by_state)
{
    struct level level;
    char text[16];
    snprintf(text, sizeof text, "%d", seed);
    setenv("PIECEMEAL_SAMPLER_SEED", text, 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "1000", 1); /* they are waited for, however long */
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "10000", 1);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_harness_open(&h, NULL);
    level_make(&level, &h, 0, SHADERS, STATES);
    memcpy(executed.game, level.pipelines, sizeof executed.game);
    qsort(executed.game, SHADERS * STATES, sizeof(VkPipeline), compare);
    if (by_state)
        sort_by_state(&level);
    executed.draws = executed.sampled = 0;
    h.driver->set_cost(count_executed, NULL);
    const VkCommandBuffer buffer = level_keep(&level, &h);
    for (int i = 0; i < SUBMISSIONS; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    h.driver->set_cost(NULL, NULL);
    level_destroy(&level, &h);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_CREATION_MS");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
    return (double)executed.sampled / (double)executed.draws;
}

/* In all but one of some thousand tests, by what the sessions differ: by 0.05 to 0.07 each, most of
 * that by what chance makes of 600 sampled calls. */
static void sample_with_p(bool by_state)
{
    enum { SESSIONS = 60 };
    static const double p = 0.01; /* sampler.api_probability, where nothing is said */
    double sum = 0, squares = 0;
    for (int i = 1; i <= SESSIONS; i++) {
        const double rate = play(i, by_state) / p;
        sum += rate;
        squares += rate * rate;
    }
    const double mean = sum / SESSIONS;
    const double error = sqrt((squares / SESSIONS - mean * mean) / (SESSIONS - 1));
    print_message("sampled: %.4f of p (95 %%: %.3f to %.3f)\n", mean, mean - 2 * error,
                  mean + 2 * error);
    assert_true(error < 0.015);
    assert_true(fabs(mean - 1) < 3.3 * error);
}

static void each_call_is_sampled_with_p(void **state)
{
    (void)state;
    sample_with_p(false);
}

static void whatever_is_drawn_first(void **state)
{
    (void)state;
    sample_with_p(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(each_call_is_sampled_with_p),
        PM_LAYERED_TEST(whatever_is_drawn_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
