/* All variants of a pipeline while the game waits: of a large shader no more than
 * limits.synchronous_words, which the log says once, and its calls go to what there is. */
#include "tests/layer/spooled.h"

#include "counted.comp.h"
#include "large.comp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIPELINES = 6, DISPATCHES = 40, LARGE_WORDS = 26000 /* canonical, and a little less */ };

static struct pm_harness h;
static VkPipeline pipelines[PIPELINES];

static uint32_t made_before, said_before;

/* Variants of the pipelines. */
static uint32_t made(void)
{
    return pm_layered_logged("made a variant of shader") - made_before;
}

static uint32_t said(void)
{
    return pm_layered_logged("limits.synchronous_words") - said_before;
}

static void open_with(const uint32_t *words, size_t size)
{
    pm_harness_open(&h, NULL);
    made_before = said_before = 0;
    made_before = made();
    said_before = said();
    for (int i = 0; i < PIPELINES; i++)
        pipelines[i] = pm_harness_compute_of(&h, words, size, h.layout);
}

static void close_it(void)
{
    for (int i = 0; i < PIPELINES; i++)
        h.vk.DestroyPipeline(h.device, pipelines[i], NULL);
    pm_harness_close(&h);
}

/* How many of so many dispatches with the pipeline are sampled. */
static uint32_t sampled(VkPipeline pipeline)
{
    uint32_t count = 0;
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < DISPATCHES; i++) {
        const uint64_t position = h.driver->position();
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        pm_harness_run(&h, buffer);
        count += pm_calls_of(h.driver, position, "vkCmdBindPipeline") == 3;
    }
    return count;
}

static void sample_all(const char *batch)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", batch, 1);
}

/* At the default: a driver takes seconds for each variant of such a shader. */
static void ends(const char *batch)
{
    sample_all(batch);
    open_with(large_comp, sizeof large_comp);
    print_message("%u variants\n", made());
    assert_in_range(made(), 1, (256 << 10) / LARGE_WORDS + 1);
    assert_int_equal(said(), 1);
    /* Not a call of it goes uncounted for lack of what is not there. */
    assert_int_equal(sampled(pipelines[0]), DISPATCHES);
    assert_int_equal(sampled(pipelines[1]), DISPATCHES);
    close_it();
    assert_int_equal(spooled_shaders(), 1);
}

static void a_large_shader_ends(void **state)
{
    (void)state;
    ends("all");
}

/* As players have it: it has hundreds of batches, and the variants lie far apart. */
static void one_of_hundreds_of_batches_ends(void **state)
{
    (void)state;
    ends("8");
}

/* So do many of them, as of one module by its constants. */
static void many_end(const char *batch)
{
    enum { SHADERS = 12, WORDS = 64 << 10 };
    static uint32_t copy[sizeof large_comp / sizeof large_comp[0]];
    const size_t count = sizeof copy / sizeof copy[0];
    VkPipeline of[SHADERS];
    sample_all(batch);
    setenv("PIECEMEAL_LIMITS_SYNCHRONOUS_WORDS", "65536", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    open_with(counted_comp, sizeof counted_comp);
    const uint32_t before = made();
    memcpy(copy, large_comp, sizeof copy);
    size_t constant = 0; /* the last one's value */
    for (size_t i = 5; i < count; i += copy[i] >> 16)
        constant = (copy[i] & 0xffff) == 43 ? i + 3 : constant;
    for (uint32_t i = 0; i < SHADERS; i++) {
        copy[constant] = 1000 + i;
        of[i] = pm_harness_compute_of(&h, copy, sizeof copy, h.layout);
    }
    print_message("%u variants\n", made() - before);
    assert_in_range(made() - before, 4, 4 * WORDS / LARGE_WORDS + 1);
    assert_true(said() > 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(sampled(of[i]), DISPATCHES);
    for (uint32_t i = 0; i < SHADERS; i++)
        h.vk.DestroyPipeline(h.device, of[i], NULL);
    close_it();
}

static void many_large_shaders_end(void **state)
{
    (void)state;
    many_end("all");
}

static void many_of_hundreds_of_batches_end(void **state)
{
    (void)state;
    many_end("8");
}

/* With enough of them every pipeline has all, as ever. */
static void enough_words(void **state)
{
    (void)state;
    sample_all("1");
    setenv("PIECEMEAL_LIMITS_SYNCHRONOUS_WORDS", "1073741824", 1);
    open_with(counted_comp, sizeof counted_comp);
    assert_int_equal(made() % PIPELINES, 0);
    assert_true(made() / PIPELINES > 1);
    assert_int_equal(said(), 0);
    close_it();
}

/* One pipeline does not take what there is from the next ones, nor the same batches. */
static void the_next_ones_have_some(void **state)
{
    (void)state;
    sample_all("1");
    char most[16];
    snprintf(most, sizeof most, "%zu", 5 * sizeof counted_comp / sizeof counted_comp[0]);
    setenv("PIECEMEAL_LIMITS_SYNCHRONOUS_WORDS", most, 1);
    open_with(counted_comp, sizeof counted_comp);
    print_message("%u variants of at most %s words\n", made(), most);
    assert_in_range(made(), 2, 5);
    assert_int_equal(said(), 1);
    assert_int_equal(sampled(pipelines[0]), DISPATCHES);
    assert_int_equal(sampled(pipelines[1]), DISPATCHES);
    assert_int_equal(sampled(pipelines[PIPELINES - 1]), 0);
    close_it();
}

/* Which points a pipeline counts is drawn anew in each session: else those of a shader would ever
 * be of one pipeline alone. */
static void each_session_begins_elsewhere(void **state)
{
    (void)state;
    enum { SESSIONS = 24 };
    static const char of_blocks[] = " blocks\n";
    uint32_t blocks = 0;
    sample_all("all");
    unsetenv("PIECEMEAL_SAMPLER_SEED");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block,zero", 1);
    setenv("PIECEMEAL_LIMITS_SYNCHRONOUS_WORDS", "1", 1);
    for (int i = 0; i < SESSIONS; i++) {
        pm_harness_open(&h, NULL);
        const uint32_t all_before = pm_layered_logged("made a variant of shader");
        const uint32_t before = pm_layered_logged(of_blocks);
        VkPipeline pipeline =
            pm_harness_compute_of(&h, counted_comp, sizeof counted_comp, h.layout);
        assert_int_equal(pm_layered_logged("made a variant of shader") - all_before, 1);
        blocks += pm_layered_logged(of_blocks) - before;
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
        pm_harness_close(&h);
    }
    print_message("%u of %d begin with blocks\n", blocks, SESSIONS);
    assert_in_range(blocks, 1, SESSIONS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_large_shader_ends),
        PM_LAYERED_TEST(one_of_hundreds_of_batches_ends),
        PM_LAYERED_TEST(many_large_shaders_end),
        PM_LAYERED_TEST(many_of_hundreds_of_batches_end),
        PM_LAYERED_TEST(enough_words),
        PM_LAYERED_TEST(the_next_ones_have_some),
        PM_LAYERED_TEST(each_session_begins_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
