/* Variants for values of push constants: made for what earlier sessions of this machine have seen,
 * and bound exactly where a recording has pushed these values. */
#include "base/file.h"
#include "profile/journal.h"
#include "tests/layer/folded.h"
#include "tests/layer/optimized.h"
#include "tests/layer/pipelines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

static struct pm_harness h;
static struct folded folded;
static const struct folded_push usual = {1, 3, 0.5f, 2}, unusual = {2, 3, 0.5f, 2},
                                rescaled = {1, 3, 0.5f, 7};

static void open_1_4(void)
{
    const struct pm_harness_options options = {.api_version = VK_API_VERSION_1_4};
    setenv("PM_NULL_API_VERSION", "1.4", 1);
    pm_harness_open(&h, &options);
    folded_make(&folded, &h);
}

static void close_all(void)
{
    folded_destroy(&folded, &h);
    pm_harness_close(&h);
}

static VkCommandBuffer begin(VkCommandBufferLevel level, VkCommandBufferUsageFlags flags)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, level);
    pm_harness_begin(&h, buffer, flags);
    return buffer;
}

static VkCommandBuffer begin_once(void)
{
    return begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
}

/* A session that samples what is pushed. */
static void learn(const struct folded_push *push)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    open_1_4();
    folded_use(&folded, &h, push);
    close_all();
}

/* Then one in which what is built is used at once. */
static void open_trusting(void)
{
    learn(&usual);
    optimized_enable(true);
    open_1_4();
    optimized_assert_logged("words of push constants", 2);
}

/* Proven variants are made with their pipelines, and not tried again. */
static void allow_at_once(void)
{
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
}

/* What was made for push constants is faster, by the verdicts that are kept; anything else is to be
 * tried over sessions. */
static void prove(void)
{
    char path[200], line[80];
    struct pm_buffer text, proven;
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    pm_buffer_init(&text, 1 << 20);
    pm_buffer_init(&proven, 1 << 20);
    assert_true(pm_file_read(path, &text, NULL) && pm_buffer_append(&text, "", 1));
    snprintf(line, sizeof line, "verdict faster calls 800000 790000 810000 32 %lld\n",
             (long long)time(NULL));
    const char *at = (const char *)text.data;
    for (const char *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        assert_true(pm_buffer_append(&proven, at, (size_t)(end + 1 - at)));
        if (strncmp(at, "pushed ", 7) == 0)
            assert_true(pm_buffer_append(&proven, line, strlen(line)));
        if (strncmp(at, "made ", 5) == 0 && strncmp(end + 1, "pushed ", 7) != 0)
            assert_true(pm_buffer_append_string(&proven, "sessions\n"));
    }
    assert_true(proven.size > text.size);
    assert_true(pm_file_write(path, proven.data, proven.size, NULL));
    pm_buffer_finish(&proven);
    pm_buffer_finish(&text);
}

/* What the driver has bound now, by the last bind since a position. */
static bool is_variant(uint64_t since, VkPipeline game)
{
    const uint32_t binds = pm_calls_of(h.driver, since, "vkCmdBindPipeline");
    assert_true(binds > 0);
    return optimized_bound(&h, since, binds - 1) != game;
}

#define ASSERT_BOUND(game, variant)                                                                \
    do {                                                                                           \
        assert_int_equal(is_variant(position, game), variant);                                     \
        assert_true((variant) ||                                                                   \
                    optimized_bound(&h, position,                                                  \
                                    pm_calls_of(h.driver, position, "vkCmdBindPipeline") - 1) ==   \
                        (game));                                                                   \
    } while (0)

static void what_was_pushed_decides(void **state)
{
    (void)state;
    open_trusting();
    VkCommandBuffer buffer = begin_once();
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false); /* nothing is pushed */
    folded_push(&h, buffer, folded.layout, &usual, 0, 1);
    ASSERT_BOUND(folded.compute, false); /* not all */
    folded_push(&h, buffer, folded.layout, &usual, 1, 3);
    ASSERT_BOUND(folded.compute, true);
    uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    folded_push(&h, buffer, folded.layout, &rescaled, 3, 1); /* which nobody watches */
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), binds);
    folded_push(&h, buffer, folded.layout, &unusual, 0, 1);
    ASSERT_BOUND(folded.compute, false);
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    folded_push(&h, buffer, folded.equal, &usual, 0, 4);
    ASSERT_BOUND(folded.compute, true);
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, true);
    /* Another layout: what was pushed before is not relied on. */
    folded_push(&h, buffer, folded.other, &usual, 3, 1);
    ASSERT_BOUND(folded.compute, false);
    folded_push(&h, buffer, folded.other, &usual, 0, 4);
    ASSERT_BOUND(folded.compute, false);
    const VkPushConstantsInfo info = {.sType = VK_STRUCTURE_TYPE_PUSH_CONSTANTS_INFO,
                                      .layout = folded.layout,
                                      .stageFlags = VK_SHADER_STAGE_ALL,
                                      .offset = 0,
                                      .size = 16,
                                      .pValues = &usual};
    h.vk.CmdPushConstants2(buffer, &info);
    ASSERT_BOUND(folded.compute, true);
    /* The other bind point, pushed before it was bound, inside a render pass. */
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, GRAPHICS, folded.graphics);
    ASSERT_BOUND(folded.graphics, true);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    const uint64_t inside = h.driver->position();
    folded_push(&h, buffer, folded.layout, &unusual, 0, 4);
    assert_int_equal(pm_calls_of(h.driver, inside, "vkCmdBindPipeline"), 2); /* both */
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    pm_harness_run(&h, buffer);
    close_all();
}

/* What an earlier session found faster is there when the pipeline is, for what is recorded a moment
 * later. */
static void a_proven_one_is_made_at_once(void **state)
{
    (void)state;
    allow_at_once();
    open_trusting();
    close_all();
    prove();
    const uint32_t specialized = optimized_logged("is specialized: ");
    optimized_enable(false);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    pm_harness_driver()->hold_compiles(true);
    open_1_4();
    VkCommandBuffer buffer = begin_once();
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    ASSERT_BOUND(folded.compute, true);
    folded_push(&h, buffer, folded.layout, &unusual, 0, 4);
    ASSERT_BOUND(folded.compute, false);
    assert_int_equal(optimized_logged("is specialized: "), specialized);
    h.driver->hold_compiles(false);
    pm_harness_run(&h, buffer);
    close_all();
}

/* A trial over sessions times the one side, also where push constants have values for which there
 * is a faster variant. */
static void not_in_a_trial_over_sessions(void **state)
{
    (void)state;
    size_t size;
    const uint32_t *words = folded_words(VK_SHADER_STAGE_COMPUTE_BIT, &size);
    allow_at_once();
    learn(&usual);
    optimized_learn_of(words, size);
    optimized_enable(true);
    open_1_4();
    close_all();
    prove();
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    open_1_4();
    VkCommandBuffer buffer = begin_once();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    const uint64_t position = h.driver->position();
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 0);
    pm_harness_run(&h, buffer);
    close_all();
}

/* What is set for the next pipeline stays, where that leaves a state to commands which the one that
 * is bound does not: binding that again would set it. */
static void states_of_the_next_pipeline(void **state)
{
    (void)state;
    open_trusting();
    const struct graphics_options options = {.dynamic = VK_DYNAMIC_STATE_DEPTH_BIAS};
    VkPipeline next = make_graphics(&h, &options);
    VkCommandBuffer buffer = begin_once();
    pm_harness_bind_set(&h, buffer);
    pm_harness_begin_pass(&h, buffer);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, folded.graphics);
    ASSERT_BOUND(folded.graphics, false);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdSetDepthBias(buffer, 1, 2, 3);
    folded_push(&h, buffer, folded.layout, &unusual, 0, 4);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    h.vk.CmdBindPipeline(buffer, GRAPHICS, next);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 2);
    h.vk.CmdEndRenderPass(buffer);
    /* The other bind point has no such states. */
    const uint64_t behind = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    folded_push(&h, buffer, folded.layout, &unusual, 0, 4);
    assert_int_equal(pm_calls_of(h.driver, behind, "vkCmdBindPipeline"), 2);
    pm_harness_run(&h, buffer);
    h.vk.DestroyPipeline(h.device, next, NULL);
    close_all();
}

/* A draw never binds anything: what is bound before it is what it runs with. */
static void calls_are_passed_on(void **state)
{
    (void)state;
    open_trusting();
    VkCommandBuffer buffer = begin_once();
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    const uint64_t position = h.driver->position();
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    folded_push(&h, buffer, folded.layout, &unusual, 0, 4);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdPushConstants vkCmdDispatch vkCmdPushConstants "
                           "vkCmdDispatch vkCmdBindPipeline vkCmdPushConstants vkCmdDispatch ");
    pm_harness_run(&h, buffer);
    close_all();
}

/* Recorded once and submitted often; secondaries inherit nothing, and leave nothing. */
static void recordings_begin_anew(void **state)
{
    (void)state;
    open_trusting();
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    uint64_t position = h.driver->position();
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, true);
    VkCommandBuffer secondary = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY, 0);
    position = h.driver->position();
    h.vk.CmdBindPipeline(secondary, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    folded_push(&h, secondary, folded.layout, &usual, 0, 4);
    ASSERT_BOUND(folded.compute, true);
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    for (int i = 0; i < 3; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    /* Begun again: nothing is known of before. */
    pm_harness_begin(&h, buffer, 0);
    position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    pm_harness_run(&h, buffer);
    close_all();
}

/* Where a rebind would be seen. */
static void obstacles(void **state)
{
    (void)state;
    open_trusting();
    const VkQueryPool pool = pm_harness_make_statistics(&h);
    VkCommandBuffer buffer = begin_once();
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    ASSERT_BOUND(folded.compute, true);
    h.vk.CmdBeginQuery(buffer, pool, 0, 0);
    ASSERT_BOUND(folded.compute, false);
    position = h.driver->position();
    folded_push(&h, buffer, folded.layout, &unusual, 0, 4);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 0);
    h.vk.CmdEndQuery(buffer, pool, 0);
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    ASSERT_BOUND(folded.compute, true);
    pm_harness_run(&h, buffer);
    h.vk.DestroyQueryPool(h.device, pool, NULL);
    close_all();
}

static void only_where_it_is_allowed(void **state)
{
    (void)state;
    learn(&usual);
    setenv("PIECEMEAL_OPTIMIZE_CONSTANTS", "false", 1);
    optimized_enable(true);
    open_1_4();
    VkCommandBuffer buffer = begin_once();
    const uint64_t position = h.driver->position();
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    pm_harness_run(&h, buffer);
    close_all();
    optimized_assert_logged("words of push constants", 0);
}

/* A session that crashes with them: the next does without. */
static void safe_mode_holds_them_back(void **state)
{
    (void)state;
    struct pm_shader_key keys[8];
    struct pm_error error = {0};
    learn(&usual);
    optimized_enable(true);
    open_1_4();
    assert_int_equal(optimized_journal(keys, 8), 2);
    close_all();
    /* As if the session that used them had been killed. */
    char command[400];
    snprintf(command, sizeof command, "rm -rf %s/piecemeal/journal", pm_layered_home());
    assert_int_equal(system(command), 0);
    struct pm_journal *journal = pm_journal_open(NULL, "game", NULL, &error);
    assert_non_null(journal);
    pm_journal_begin(journal);
    for (int i = 0; i < 2; i++)
        pm_journal_used(pm_journal_write(journal, &keys[i], &error));
    pm_journal_abandon(journal);
    open_1_4();
    VkCommandBuffer buffer = begin_once();
    const uint64_t position = h.driver->position();
    folded_push(&h, buffer, folded.layout, &usual, 0, 4);
    h.vk.CmdBindPipeline(buffer, COMPUTE, folded.compute);
    ASSERT_BOUND(folded.compute, false);
    pm_harness_run(&h, buffer);
    close_all();
    assert_true(optimized_logged("held back") > 0);
    pm_journal_close(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_was_pushed_decides),      PM_LAYERED_TEST(calls_are_passed_on),
        PM_LAYERED_TEST(recordings_begin_anew),        PM_LAYERED_TEST(obstacles),
        PM_LAYERED_TEST(only_where_it_is_allowed),     PM_LAYERED_TEST(safe_mode_holds_them_back),
        PM_LAYERED_TEST(a_proven_one_is_made_at_once), PM_LAYERED_TEST(states_of_the_next_pipeline),
        PM_LAYERED_TEST(not_in_a_trial_over_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
