/* What of a game with more shaders than limits.variants is sampled: not only what is first. */
#include "tests/layer/levels.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"
#include "tests/patience.h"
#include <stdlib.h>

enum { LIMIT = 16 };

static struct pm_harness h;
static VkCommandBuffer buffer;

/* Tokens come fast, so that no test waits for them. */
static void open_with(const char *batch)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", batch, 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "16", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS_PER_MINUTE", "60000", 1);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
    buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

/* The harness's own pipelines, which nobody draws with, would take room until they were idle for
 * ten seconds. */
static void open_levels(void)
{
    open_with("all");
    h.vk.DestroyPipeline(h.device, h.graphics, NULL);
    h.vk.DestroyPipeline(h.device, h.dispatch, NULL);
    h.graphics = h.dispatch = VK_NULL_HANDLE;
}

/* Draws frames until so many shaders are in the spool. */
static bool becomes_sampled(const struct level *level, size_t shaders)
{
    uint64_t until = 0;
    do {
        for (int i = 0; i < 64; i++)
            level_frame(level, &h, buffer);
    } while (spooled_shaders() < shaders && patience(&until));
    return spooled_shaders() >= shaders;
}

/* A level's pipelines go: what they took is there for the next. */
static void the_next_level_has_its_turn(void **state)
{
    (void)state;
    struct level level;
    open_levels();
    for (uint32_t i = 0; i < 3; i++) {
        level_make(&level, &h, i * LIMIT, LIMIT, 1);
        assert_true(becomes_sampled(&level, (i + 1) * LIMIT));
        level_destroy(&level, &h);
    }
    pm_harness_close(&h);
}

/* They stay, as most engines have it: what has told enough makes room. */
static void even_if_the_game_keeps_the_last(void **state)
{
    (void)state;
    struct level levels[3];
    open_levels();
    for (uint32_t i = 0; i < 3; i++) {
        level_make(&levels[i], &h, i * LIMIT, LIMIT, 1);
        assert_true(becomes_sampled(&levels[i], (i + 1) * LIMIT));
    }
    for (uint32_t i = 0; i < 3; i++)
        level_destroy(&levels[i], &h);
    pm_harness_close(&h);
}

/* Recordings that may be submitted again keep what they name; nothing of theirs makes room. */
static void what_is_recorded_stays(void **state)
{
    (void)state;
    struct level first, second;
    open_levels();
    level_make(&first, &h, 0, LIMIT, 1);
    assert_true(becomes_sampled(&first, LIMIT));
    VkCommandBuffer kept = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, kept, 0);
    level_record(&first, &h, kept);
    PM_CHECK(h.vk.EndCommandBuffer(kept));
    level_make(&second, &h, LIMIT, LIMIT, 1);
    for (int i = 0; i < 256; i++)
        level_frame(&second, &h, buffer);
    pm_harness_submit(&h, h.queue, kept, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &kept);
    assert_true(becomes_sampled(&second, 2 * LIMIT));
    level_destroy(&first, &h);
    level_destroy(&second, &h);
    pm_harness_close(&h);
}

/* One shader has many pipelines and many batches: they share what one of them tells, and leave
 * something for the next shader. */
static void pipelines_share_a_shaders_points(void **state)
{
    (void)state;
    struct level many, one;
    open_with("1");
    level_make(&many, &h, 0, 1, 44);
    assert_true(becomes_sampled(&many, 1));
    for (int i = 0; i < 64; i++)
        level_frame(&many, &h, buffer);
    assert_true(watch_counts().variants <= LIMIT * 3 / 4);
    level_make(&one, &h, 1, 1, 1);
    assert_true(becomes_sampled(&one, 2));
    level_destroy(&many, &h);
    level_destroy(&one, &h);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_next_level_has_its_turn),
        PM_LAYERED_TEST(even_if_the_game_keeps_the_last),
        PM_LAYERED_TEST(what_is_recorded_stays),
        PM_LAYERED_TEST(pipelines_share_a_shaders_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
