/* A shader in several pipelines of which one has a variant, recorded anew in every frame: as many
 * calls are sampled as p says of all of them, and which of the one pipeline's hangs on none that
 * stand before them (owed.h). */
#include "tests/layer/layered.h"
#include "tests/layer/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 5, CALLS = 100, FRAMES = 800, PARTS = 4 };
/* Until it is known how many calls may be taken for what is owed. */
enum { FIRST_FRAMES = 32 };

static const double P = 0.01;

static struct pm_harness h;
static struct level level;
static struct {
    uint64_t calls;                   /* so far */
    uint64_t sampled[STATES * CALLS]; /* by the call's place in a frame */
} executed;

static uint64_t count_executed(void *user, VkPipeline pipeline)
{
    (void)user;
    bool game = false;
    for (uint32_t i = 0; i < level.count; i++)
        game = game || pipeline == level.pipelines[i];
    executed.sampled[executed.calls % (STATES * CALLS)] += !game;
    executed.calls++;
    return 0;
}

static void frame(VkCommandBuffer buffer, const uint32_t *order)
{
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    pm_harness_begin_pass(&h, buffer);
    for (uint32_t i = 0; i < STATES; i++) {
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, level.pipelines[order[i]]);
        for (uint32_t call = 0; call < CALLS; call++)
            h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    }
    h.vk.CmdEndRenderPass(buffer);
    pm_harness_run(&h, buffer);
}

/* The harness's own two pipelines come first, and are not drawn with. */
static void open_with_one_variant(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("0.01");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_SEED", "5", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "3", 1);
    setenv("PM_NULL_RECORD", "0", 1);
    pm_harness_open(&h, NULL);
    level_make(&level, &h, 0, 1, STATES);
}

static void close_it(void)
{
    level_destroy(&level, &h);
    pm_harness_close(&h);
}

/* As far as counting can tell, in all but one of some hundred thousand tests. */
static void assert_about(uint64_t found, double expected)
{
    print_message("%lu sampled, %.1f expected\n", (unsigned long)found, expected);
    assert_true(fabs((double)found - expected) < 4.5 * sqrt(expected));
}

static void as_many_as_of_all_and_evenly(void **state)
{
    (void)state;
    static const uint32_t first[] = {0, 1, 2, 3, 4}, last[] = {1, 2, 3, 4, 0};
    for (int turn = 0; turn < 2; turn++) {
        const uint32_t *order = turn == 0 ? first : last, begin = turn == 0 ? 0 : 4 * CALLS;
        open_with_one_variant();
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        for (int i = 0; i < FIRST_FRAMES; i++)
            frame(buffer, order);
        memset(&executed, 0, sizeof executed);
        h.driver->set_cost(count_executed, NULL);
        for (int i = 0; i < FRAMES; i++)
            frame(buffer, order);
        h.driver->set_cost(NULL, NULL);
        close_it();
        uint64_t sum = 0, parts[PARTS] = {0};
        for (uint32_t i = 0; i < STATES * CALLS; i++) {
            const bool has_variant = i >= begin && i < begin + CALLS;
            assert_true(has_variant || executed.sampled[i] == 0);
            sum += executed.sampled[i];
            if (has_variant)
                parts[(i - begin) * PARTS / CALLS] += executed.sampled[i];
        }
        assert_about(sum, P * STATES * CALLS * FRAMES);
        for (int i = 0; i < PARTS; i++)
            assert_about(parts[i], P * STATES * CALLS / PARTS * FRAMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(as_many_as_of_all_and_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
