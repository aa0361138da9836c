/* A-Z testing (layer/shader/contest.h) on the null driver: the fastest variant is found, tried anew
 * and bound, in this session and the next; and where none is faster, nothing changes. */
#include "tests/layer/trial/contested.h"

#include "base/anytime.h"
#include "tests/patience.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void finds_the_fastest(void **state)
{
    (void)state;
    contested_set_times(1.02);
    contested.times[2] = 0.8;
    contested.times[3] = 2;
    contested.noise = 0.02;
    contested_open();
    assert_true(contested_run_until("the fastest is"));
    assert_true(contested.count >= 4);
    const VkPipeline fastest = contested.pipelines[2];
    /* All were tried, that which is twice as slow a few times. */
    for (uint32_t i = 1; i < contested.count; i++)
        assert_true(contested.calls[i] > 0);
    assert_true(contested.calls[3] < 20);
    assert_ptr_equal(contested.pipelines[contested_bound()], fastest);
    contested_close();

    /* The next session uses it without trying anything. */
    contested_set_times(0.8);
    contested_open();
    /* The log goes on. */
    const uint64_t position = trying.h.driver->position();
    contested_run_until_logged("is used from now on", 2);

    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_true(trying_foreign_binds(position) >= 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    optimized_assert_logged("the fastest is", 1);
    contested_close();
}

/* The next process tries the winner once more, and that alone: it may have been lucky. */
static void another_process_tries_what_won(void **state)
{
    (void)state;
    unsetenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS");
    contested_set_times(1.02);
    contested.times[2] = 0.8;
    contested_open();
    assert_true(contested_run_until("the fastest is"));
    contested_close();
    for (uint32_t session = 2; session < 4; session++) {
        contested_set_times(session == 2 ? 0.8 : 0.7);
        contested_open();
        const uint64_t position = trying.h.driver->position();
        contested_run_until_logged("is used from now on", session);
        assert_true((pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") > 0) ==
                    (session == 2));
        /* What is proven is made at once, so that the game's own need not run. */
        assert_in_range(contested.count, session == 2 ? 2 : 1, 2);
        contested_close();
    }
    optimized_assert_logged("the fastest is", 1);
}

/* Drivers that compile what is used when it is used first. */
static double ten_times_at_first(uint32_t index)
{
    return index > 0 && contested.calls[index] == 1 ? 10 : 0;
}

/* What a compile takes is not the variant's. */
static void first_uses_do_not_count(void **state)
{
    (void)state;
    char path[300], line[1024];
    uint32_t seen = 0;
    contested_set_times(0.98);
    contested_open();
    contested.other = ten_times_at_first;
    contested_run_until_count(5);
    contested_close();
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        uint64_t count, sum; /* profile/verdicts_text.c: clipped logarithms, raised above 0 */
        if (sscanf(line, "seen %" SCNu64 " %" SCNu64, &count, &sum) != 2)
            continue;
        const double mean = 1e-9 * (double)sum / (double)count - PM_ANYTIME_CLIP;
        assert_true(fabs(mean - log(0.98)) < 0.002);
        seen++;
    }
    fclose(file);
    assert_true(seen >= 3);
}

/* What seemed faster by luck is not when it is tried anew; and what is not faster is not bound. */
static void none_is_faster(void **state)
{
    (void)state;
    contested_set_times(1);
    contested.noise = 0.05;
    contested_open();
    uint64_t until = 0;
    while (optimized_logged("none is faster") + optimized_logged("undecided: tried again") == 0 &&
           patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("the fastest is", 0);
    assert_ptr_equal(contested.pipelines[contested_bound()], trying.compute);
    contested_close();
}

/* The highest ratio of time that is kept of a slower variant, in millionths. */
static uint32_t slowest_kept(void)
{
    char path[300], text[512];
    uint32_t slowest = 0, ratio;
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(text, sizeof text, file))
        if (sscanf(text, "verdict slower calls %" SCNu32, &ratio) == 1 && ratio > slowest)
            slowest = ratio;
    fclose(file);
    return slowest;
}

/* What won is slower when it is tried anew: that is kept, not what chose it. */
static void the_trial_says_what_is_kept(void **state)
{
    (void)state;
    contested_set_times(1.2);
    contested.times[2] = 0.8;
    contested_open();
    assert_true(contested_run_until("is tried"));
    contested.times[2] = 3;
    assert_true(contested_run_until("none is faster"));
    contested_close();
    assert_in_range(slowest_kept(), 2900000, 3100000);
}

/* A pass of which what is left runs with a variant, for all that the layer knows when it is bound.
 */
static void draw_generated(VkCommandBuffer buffer)
{
    const VkGeneratedCommandsInfoNV info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_NV,
                                            .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                            .pipeline = trying.graphics};
    pm_harness_begin_pass(&trying.h, buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdExecuteGeneratedCommandsNV(buffer, VK_FALSE, &info);
    trying.h.vk.CmdEndRenderPass(buffer);
}

/* Whether all generated commands since a position ran with the game's own. */
static bool generated_runs_with_the_games(uint64_t since)
{
    struct pm_null_call call;
    uint64_t bound = 0;
    for (uint64_t i = since; i < trying.h.driver->position(); i++) {
        assert_true(trying.h.driver->read(i, &call));
        if (strcmp(call.command, "vkCmdBindPipeline") == 0)
            bound = call.arguments[2];
        if (strcmp(call.command, "vkCmdExecuteGeneratedCommandsNV") == 0 &&
            bound != PM_NULL_NUMBER(trying.graphics))
            return false;
    }
    return true;
}

/* They name the game's pipeline, and a variant is not made for them. */
static void generated_commands_run_with_the_games(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_NV_device_generated_commands", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    bool tried = false;
    uint64_t until = 0;
    optimized_learn();
    contested_set_times(1);
    contested_open_with(&(struct contested_session){.options = &options});
    trying.h.driver->set_binned(true);
    trying.graphics = optimized_graphics(&trying.h);
    /* Whose self-test has pipelines of its own. */
    while (optimized_logged("render passes are timed as wholes") == 0 && patience(&until))
        trying_run_frames(draw_generated, TRYING_ONCE, 4);
    while (!tried && patience(&until)) {
        const uint64_t position = trying.h.driver->position();
        trying_run_frames(draw_generated, TRYING_ONCE, 4);
        tried = trying_foreign_binds(position) > 0;
        assert_true(generated_runs_with_the_games(position));
    }
    assert_true(tried);
    trying.h.driver->set_binned(false);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.graphics, NULL);
    contested_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(finds_the_fastest),
        PM_LAYERED_TEST(another_process_tries_what_won),
        PM_LAYERED_TEST(first_uses_do_not_count),
        PM_LAYERED_TEST(none_is_faster),
        PM_LAYERED_TEST(the_trial_says_what_is_kept),
        PM_LAYERED_TEST(generated_commands_run_with_the_games),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
