/* What the layer may cost: bounded memory over a million draws, no thread of the game ever waits
 * for the GPU or for a compile. */
#include "tests/layer/levels.h"
#include "tests/patience.h"
#include "tests/resident.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pm_harness h;

static void draw(VkCommandBuffer *buffers, int rounds, int draws)
{
    for (int round = 0; round < rounds; round++) {
        VkCommandBuffer buffer = buffers[round % 3];
        pm_harness_begin(&h, buffer, round % 2 ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0);
        pm_harness_bind_set(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
        for (int i = 0; i < draws / 2; i++) {
            h.vk.CmdDispatch(buffer, 1, 1, 1);
            h.vk.CmdDraw(buffer, 3, 1, 0, 0);
        }
        pm_harness_run(&h, buffer);
    }
}

static void a_million_draws(const char *q, const char *p)
{
    enum { ROUNDS = 2000, DRAWS = 500 };
    VkCommandBuffer buffers[3];
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(p);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", q, 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "50", 1);
    setenv("PIECEMEAL_LOG_LEVEL", "warning", 1);
    pm_harness_open(&h, NULL);
    for (int i = 0; i < 3; i++)
        buffers[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    /* Until every list has grown to what a frame needs. */
    draw(buffers, ROUNDS / 5, DRAWS);
    int64_t before = resident_bytes();
    draw(buffers, ROUNDS, DRAWS);
    int64_t after = resident_bytes();
    pm_harness_close(&h);
    print_message("q %s p %s: %+ld KiB\n", q, p, ((long)after - (long)before) / 1024);
    assert_true(after < before + (1 << 20));
}

static void memory_outside_windows(void **state)
{
    (void)state;
    a_million_draws("1e-15", "0.01");
}

static void memory_inside_a_window(void **state)
{
    (void)state;
    a_million_draws("1", "0.01");
}

static void memory_with_everything_sampled(void **state)
{
    (void)state;
    a_million_draws("1", "1");
}

static void memory_while_windows_come_and_go(void **state)
{
    (void)state;
    a_million_draws("0.02", "0.2");
}

static uint32_t waits_since(uint64_t position)
{
    const char *const commands[] = {"vkWaitForFences", "vkWaitSemaphores", "vkWaitSemaphoresKHR",
                                    "vkQueueWaitIdle", "vkDeviceWaitIdle"};
    uint32_t waits = 0;
    for (size_t i = 0; i < 5; i++)
        waits += pm_calls_of(h.driver, position, commands[i]);
    return waits;
}

/* Submissions to a device that is through with none of them, with checkpoints at each: a thread
 * that waited for it would wait for ever. */
static void a_slow_device_is_not_waited_for(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.driver->hold_submissions(true);
    uint64_t position = h.driver->position(), draws = h.driver->executed_draws();
    alarm(PATIENCE_SECONDS);
    for (int i = 0; i < 3; i++)
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    alarm(0);
    assert_int_equal(h.driver->executed_draws(), draws);
    assert_int_equal(waits_since(position), 0);
    assert_true(pm_calls_of(h.driver, position, "vkQueueSubmit") +
                    pm_calls_of(h.driver, position, "vkQueueSubmit2") >
                3);
    h.driver->hold_submissions(false);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    pm_harness_close(&h);
}

/* Whether a dispatch with the pipeline is sampled. */
static bool dispatch_is_sampled(VkCommandBuffer buffer, VkPipeline pipeline)
{
    uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_run(&h, buffer);
    return pm_calls_of(h.driver, position, "vkCmdBindPipeline") == 3;
}

/* The layer's, of whichever pipeline; not the game's own thread's. */
static void see_compile(void *user, const struct pm_null_call *call)
{
    if ((strcmp(call->command, "vkCreateComputePipelines") == 0 ||
         strcmp(call->command, "vkCreateGraphicsPipelines") == 0) &&
        call->thread != (uint32_t)getpid())
        atomic_store((_Atomic bool *)user, true);
}

/* A compile that does not end: the game's own pipelines are made, and its calls go on unchanged,
 * until it does. */
static void a_slow_compile_is_not_waited_for(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    unsetenv("PIECEMEAL_DEBUG_SYNCHRONOUS");
    uint64_t until = 0;
    _Atomic bool compiling = false;
    /* Some are compiled as soon as the game has made them. */
    pm_harness_driver()->hold_compiles(true);
    pm_harness_driver()->set_callback(see_compile, &compiling);
    alarm(2 * PATIENCE_SECONDS);
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkPipeline first = pm_harness_make_compute(&h);
    while (!atomic_load(&compiling) && patience(&until))
        assert_false(dispatch_is_sampled(buffer, first));
    h.driver->set_callback(NULL, NULL);
    assert_true(atomic_load(&compiling));
    VkPipeline second = pm_harness_make_compute(&h);
    for (int i = 0; i < 10; i++) {
        assert_false(dispatch_is_sampled(buffer, first));
        assert_false(dispatch_is_sampled(buffer, second));
    }
    h.driver->hold_compiles(false);
    alarm(0);
    bool sampled = false;
    for (until = 0; !sampled && patience(&until);)
        sampled = dispatch_is_sampled(buffer, first);
    assert_true(sampled);
    h.vk.DestroyPipeline(h.device, first, NULL);
    h.vk.DestroyPipeline(h.device, second, NULL);
    pm_harness_close(&h);
}

/* ---- a driver that compiles a pipeline when it first draws with it ---- */

static struct level drawn;

/* The pipelines of ours that were executed. */
static struct {
    VkPipeline known[4096];
    size_t count;
} executed;

static uint64_t note_first(void *user, VkPipeline pipeline)
{
    (void)user;
    size_t i = 0;
    for (uint32_t own = 0; own < drawn.count; own++)
        if (drawn.pipelines[own] == pipeline)
            return 0;
    while (i < executed.count && executed.known[i] != pipeline)
        i++;
    if (i == executed.count) {
        assert_true(i < sizeof executed.known / sizeof *executed.known);
        executed.known[executed.count++] = pipeline;
    }
    return 0;
}

/* Such a driver compiles while the game waits for its fence. With everything sampled, in however
 * many frames, it does so for no more than limits.variants, and what limits.variants_per_minute
 * adds. */
static void first_draws_are_bounded(void **state)
{
    (void)state;
    enum {
        SHADERS = 64,
        MORE_FRAMES = 500,
        TIMES = 4,
        LIMIT = 12,
        HARNESS = 2 /* have variants */
    };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "12", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS_PER_MINUTE", "0", 1);
    setenv("PM_NULL_RECORD", "0", 1);
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    level_make(&drawn, &h, 0, SHADERS, 1);
    executed.count = 0;
    h.driver->set_cost(note_first, NULL);
    uint64_t until = 0;
    for (int more = 0; more < MORE_FRAMES;) {
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        for (int i = 0; i < TIMES; i++)
            level_record(&drawn, &h, buffer);
        pm_harness_run(&h, buffer);
        if (more > 0 || executed.count >= LIMIT - HARNESS || !patience(&until))
            more++;
    }
    pm_harness_driver()->set_cost(NULL, NULL);
    level_destroy(&drawn, &h);
    pm_harness_close(&h);
    print_message("%zu variants were drawn with\n", executed.count);
    assert_true(executed.count > 0 && executed.count <= LIMIT);
}

/* A level whose variants were all made while it loaded, and how its frames come. */
enum level_frames { FRAMES_ANEW, FRAMES_KEPT };
struct first_frames {
    size_t first; /* variants that the first frame drew with */
    size_t most;  /* that a frame was the first to draw with */
    size_t all;
};

enum { LOADED = 48 };

static void sample_what_is_loaded(const char *words)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("0.9"); /* with 1 nothing is recorded twice */
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "1000", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "10000", 1);
    setenv("PIECEMEAL_LIMITS_FIRST_DRAW_WORDS", words, 1);
    setenv("PM_NULL_RECORD", "0", 1);
}

static void load(const char *words)
{
    uint64_t until = 0;
    sample_what_is_loaded(words);
    pm_harness_open(&h, NULL);
    const uint32_t before = pm_layered_logged("made a variant of shader");
    level_make(&drawn, &h, 0, LOADED, 1);
    while (pm_layered_logged("made a variant of shader") < before + LOADED && patience(&until))
        usleep(10000);
    executed.count = 0;
    h.driver->set_cost(note_first, NULL);
}

static void unload(void)
{
    pm_harness_driver()->set_cost(NULL, NULL);
    level_destroy(&drawn, &h);
    pm_harness_close(&h);
}

static struct first_frames play_loaded(enum level_frames how, const char *words, int frames)
{
    struct first_frames found = {0};
    load(words);
    VkCommandBuffer buffer = how == FRAMES_KEPT
                                 ? level_keep(&drawn, &h)
                                 : pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < frames; i++) {
        const size_t known = executed.count;
        if (how == FRAMES_KEPT) {
            pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
        } else {
            level_frame(&drawn, &h, buffer);
        }
        const size_t more = executed.count - known;
        found.first = i == 0 ? more : found.first;
        found.most = more > found.most ? more : found.most;
    }
    found.all = executed.count;
    unload();
    print_message("%s, %s words: %zu first, %zu at most, %zu in all\n",
                  how == FRAMES_KEPT ? "kept" : "anew", words, found.first, found.most, found.all);
    return found;
}

/* What was made while a level loaded does not come all in its first frame, where such a driver
 * would compile all of it, but by limits.first_draw_words; and comes. */
static void a_frame_is_the_first_with_few(void **state)
{
    (void)state;
    for (enum level_frames how = FRAMES_ANEW; how <= FRAMES_KEPT; how++) {
        const struct first_frames all = play_loaded(how, "0", 2);
        assert_true(all.first >= LOADED / 2);
        const struct first_frames few = play_loaded(how, "1", 4 * LOADED);
        assert_int_equal(few.most, 1);
        assert_true(few.all >= all.first);
    }
}

/* Where the command buffer cannot be had that says which calls run twice, or is refused, none do: a
 * later frame is the first to draw with what was chosen, and with no more than any other. */
static void what_did_not_run_is_a_first_draw_later(void **state)
{
    (void)state;
    static const char *const faults[] = {"vkBeginCommandBuffer:1", "vkEndCommandBuffer:1",
                                         "vkQueueSubmit:1=-1"};
    for (size_t fault = 0; fault < sizeof faults / sizeof *faults; fault++) {
        load("1");
        VkCommandBuffer buffer = level_keep(&drawn, &h);
        size_t most = 0;
        for (int i = 0; i < 5 * LOADED; i++) {
            const size_t known = executed.count;
            assert_true(h.driver->inject(i < LOADED ? faults[fault] : ""));
            pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
            assert_true(i >= LOADED || executed.count == 0);
            most = executed.count - known > most ? executed.count - known : most;
        }
        print_message("%s: %zu at most, %zu in all\n", faults[fault], most, executed.count);
        assert_int_equal(most, 1);
        assert_true(executed.count >= LOADED / 2);
        unload();
    }
}

/* Where calls cannot be recorded twice, what is not in a recording when it is made never is: so it
 * has all that is chosen. */
static void one_that_is_kept_without_predicates_has_all(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_conditional_rendering", 1);
    const struct first_frames all = play_loaded(FRAMES_KEPT, "1", 2);
    unsetenv("PM_NULL_WITHOUT_EXTENSIONS");
    assert_true(all.first >= LOADED / 2);
}

/* A variant that no call has used stands in for the next call whose own is not made yet. Where that
 * call is put off, since the frame has had its first draws, nothing was drawn with it, so it is the
 * next one's: here of the second of two pipelines, in the second frame. */
static void what_is_put_off_has_its_turn(void **state)
{
    (void)state;
    enum { SHADERS = 2, FRAMES = 3 };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_LIMITS_FIRST_DRAW_WORDS", "1", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1); /* nothing is made ahead */
    setenv("PIECEMEAL_SAMPLER_BATCH", "1", 1);      /* so each next call is another batch's */
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    level_make(&drawn, &h, 0, SHADERS, 1);
    executed.count = 0;
    h.driver->set_cost(note_first, NULL);
    level_frame(&drawn, &h, buffer); /* asks for one of each */
    assert_int_equal(executed.count, 0);
    uint64_t until = 0;
    while (pm_layered_logged("made a variant of shader") < SHADERS && patience(&until))
        usleep(10000);
    assert_int_equal(pm_layered_logged("made a variant of shader"), SHADERS);
    h.driver->hold_compiles(true);
    for (size_t frame = 1; frame <= FRAMES; frame++) {
        level_frame(&drawn, &h, buffer);
        assert_int_equal(executed.count, frame < SHADERS ? frame : SHADERS);
    }
    h.driver->hold_compiles(false);
    pm_harness_driver()->set_cost(NULL, NULL);
    level_destroy(&drawn, &h);
    pm_harness_close(&h);
}

/* With debug.synchronous every call is counted all the same. */
static void synchronous_first_draws_are_not_bounded(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_LIMITS_FIRST_DRAW_WORDS", "1", 1);
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    level_make(&drawn, &h, 0, LOADED, 1);
    executed.count = 0;
    h.driver->set_cost(note_first, NULL);
    level_frame(&drawn, &h, buffer);
    pm_harness_driver()->set_cost(NULL, NULL);
    level_destroy(&drawn, &h);
    pm_harness_close(&h);
    assert_int_equal(executed.count, LOADED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(memory_outside_windows),
        PM_LAYERED_TEST(memory_inside_a_window),
        PM_LAYERED_TEST(memory_with_everything_sampled),
        PM_LAYERED_TEST(memory_while_windows_come_and_go),
        PM_LAYERED_TEST(a_slow_device_is_not_waited_for),
        PM_LAYERED_TEST(a_slow_compile_is_not_waited_for),
        PM_LAYERED_TEST(first_draws_are_bounded),
        PM_LAYERED_TEST(a_frame_is_the_first_with_few),
        PM_LAYERED_TEST(what_did_not_run_is_a_first_draw_later),
        PM_LAYERED_TEST(one_that_is_kept_without_predicates_has_all),
        PM_LAYERED_TEST(what_is_put_off_has_its_turn),
        PM_LAYERED_TEST(synchronous_first_draws_are_not_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
