/* Render pass instances that execute secondary command buffers, timed in turn (executed_passes.h),
 * where single draws cannot be timed in them. */
#include "tests/layer/trial/secondary_frames.h"
#include "tests/patience.h"

#include <pthread.h>
#include <stdlib.h>

enum { PARTS = 3 }; /* secondary command buffers in an instance */

static struct parts {
    VkCommandBuffer primary, secondaries[2][PARTS]; /* of two frames */
} parts;

static void allocate_parts(void)
{
    parts.primary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 2 * PARTS; i++)
        parts.secondaries[i / PARTS][i % PARTS] =
            pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
}

static void record_part(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags)
{
    pm_harness_begin(&trying.h, buffer, flags | VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
    pm_harness_bind_set(&trying.h, buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
}

static void begin_instance(VkSubpassContents contents)
{
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = trying.h.render_pass,
                                        .framebuffer = trying.h.framebuffer,
                                        .renderArea = {{0, 0}, {64, 64}}};
    trying.h.vk.CmdBeginRenderPass(parts.primary, &info, contents);
}

static void submit_parts(void)
{
    PM_CHECK(trying.h.vk.EndCommandBuffer(parts.primary));
    pm_harness_submit(&trying.h, trying.h.queue, parts.primary, VK_NULL_HANDLE);
    PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
}

/* Instances that execute the frame's secondary command buffers, each all of them. */
static void execute_parts(int frame, int instances, VkCommandBufferUsageFlags flags)
{
    pm_harness_begin(&trying.h, parts.primary, flags);
    for (int i = 0; i < instances; i++) {
        begin_instance(VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
        trying.h.vk.CmdExecuteCommands(parts.primary, PARTS, parts.secondaries[frame]);
        trying.h.vk.CmdEndRenderPass(parts.primary);
    }
    submit_parts();
}

static void frame_of_parts(VkCommandBufferUsageFlags flags)
{
    for (int i = 0; i < PARTS; i++)
        record_part(parts.secondaries[0][i], flags);
    execute_parts(0, 1, TRYING_ONCE);
}

static void next_case(void **state)
{
    pm_layered_tear_down(state);
    pm_layered_set_up(state);
}

static void open_parts(uint64_t variant_cost)
{
    trying_open(variant_cost, NULL);
    allocate_parts();
}

/* ---- verdicts ---- */

static void try_in_turn(VkCommandBufferUsageFlags flags, const char *outcome, double ratio)
{
    uint64_t until = 0;
    while (optimized_logged(outcome) == 0 && patience(&until))
        for (int i = 0; i < 4; i++)
            frame_of_parts(flags);
    assert_true(optimized_logged(outcome) > 0);
    assert_true(optimized_logged("pairs of render passes)") > 0);
    optimized_assert_logged("sessions are", 0);
    trying_close();
    trying_assert_timing(ratio, 0.01);
}

/* Whatever kind they are of. */
static void what_is_recorded_anew(void **state)
{
    static const VkCommandBufferUsageFlags flags[] = {TRYING_ONCE, 0, SECONDARY_SIMULTANEOUS,
                                                      TRYING_ONCE | SECONDARY_SIMULTANEOUS};
    for (int i = 0; i < 4; i++) {
        open_parts(80000);
        try_in_turn(flags[i], "is used from now on", 0.8);
        next_case(state);
    }
    open_parts(130000);
    try_in_turn(0, "dropped", 1.3);
}

/* Where single draws can be timed, but queries in what is recorded for more than one submission
 * cannot be reset. */
static void where_draws_are_additive(void **state)
{
    (void)state;
    trying.additive = true;
    open_parts(80000);
    try_in_turn(0, "is used from now on", 0.8);
}

static void without_host_query_reset(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "hostQueryReset", 1);
    open_parts(80000);
    try_in_turn(0, "is used from now on", 0.8);
}

/* A draw of the primary one stands beside them, with what it was bound as. */
static void beside_draws_of_the_primary_one(void **state)
{
    (void)state;
    open_parts(80000);
    uint64_t until = 0;
    while (optimized_logged("is used from now on") == 0 && patience(&until)) {
        for (int i = 0; i < PARTS; i++)
            record_part(parts.secondaries[0][i], 0);
        pm_harness_begin(&trying.h, parts.primary, TRYING_ONCE);
        begin_instance(VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_EXT);
        trying.h.vk.CmdBindPipeline(parts.primary, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    trying.graphics);
        trying.h.vk.CmdDraw(parts.primary, 3, 1, 0, 0);
        trying.h.vk.CmdExecuteCommands(parts.primary, PARTS, parts.secondaries[0]);
        trying.h.vk.CmdEndRenderPass(parts.primary);
        submit_parts();
    }
    assert_true(optimized_logged("pairs of render passes), faster") > 0);
    trying_close();
    trying_assert_timing((80000.0 * PARTS + TRYING_ORIGINAL) / (TRYING_ORIGINAL * (PARTS + 1)),
                         0.001);
}

/* Such a draw alone is one for sessions. */
static void draws_of_the_primary_one_beside_them(void **state)
{
    enum { FRAMES = 700 };
    (void)state;
    open_parts(80000);
    for (int i = 0; i < FRAMES; i++) {
        const uint64_t position = trying.h.driver->position();
        pm_harness_begin(&trying.h, parts.primary, TRYING_ONCE);
        begin_instance(VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_EXT);
        trying.h.vk.CmdBindPipeline(parts.primary, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    trying.graphics);
        trying.h.vk.CmdDraw(parts.primary, 3, 1, 0, 0);
        trying.h.vk.CmdEndRenderPass(parts.primary);
        submit_parts();
        assert_int_equal(trying_foreign_binds(position), 0);
    }
    optimized_assert_logged("timed in turn: sessions are", 1);
    trying_close();
    trying_assert_no_timing();
}

/* ---- while a window is open ---- */

enum { MANY = 12 };

static VkCommandBuffer many[MANY];

static void open_many(uint64_t variant_cost)
{
    trying.kinds = "timing,zero";
    trying.sampled = "0.5";
    trying_open(variant_cost, NULL);
    assert_true(trying_wait_for("timestamps around single draws"));
    parts.primary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < MANY; i++)
        many[i] = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
}

/* Whether the instance has timestamps. foreign: how many did not draw with the game's own. */
static bool frame_of_many(uint32_t *foreign)
{
    const uint64_t position = trying.h.driver->position();
    for (int i = 0; i < MANY; i++)
        record_part(many[i], 0);
    pm_harness_begin(&trying.h, parts.primary, 0);
    begin_instance(VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
    trying.h.vk.CmdExecuteCommands(parts.primary, MANY, many);
    trying.h.vk.CmdEndRenderPass(parts.primary);
    submit_parts();
    *foreign = trying_foreign_binds(position);
    return pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") > 0;
}

static void in_a_sampling_window(void **state)
{
    uint32_t foreign;
    uint64_t until = 0;
    (void)state;
    open_many(80000);
    while (optimized_logged("is used from now on") == 0 && optimized_logged("sessions are") == 0 &&
           patience(&until))
        (void)frame_of_many(&foreign);
    assert_true(optimized_logged("pairs of render passes), faster") > 0);
    optimized_assert_logged("sessions are", 0);
    trying_close();
    trying_assert_timing(0.8, 0.001);
}

/* The secondary ones of a frame are sampled or timed as a whole, so that of those frames whose
 * primary one is timed one half has them on one side. By a lot each it would be one of thousands.
 */
static void a_window_samples_frames_as_a_whole(void **state)
{
    enum { TIMED = 120 };
    uint32_t timed = 0, one_sided = 0, foreign;
    uint64_t until = 0;
    (void)state;
    /* Which is not over meanwhile. */
    trying.noise = 0.9;
    open_many(TRYING_ORIGINAL);
    while (timed < TIMED && optimized_logged("sessions are") == 0 && patience(&until)) {
        if (!frame_of_many(&foreign))
            continue;
        timed++;
        one_sided += foreign % MANY == 0;
    }
    assert_int_equal(timed, TIMED);
    /* Seven standard deviations of a binomial count. */
    assert_in_range(one_sided, TIMED / 6, TIMED - TIMED / 6);
    trying_close();
}

/* ---- what is recorded ---- */

/* So many frames, of which so many have the variant, and none both sides. */
static bool have_one_side(int frames, uint32_t *variants)
{
    bool both = false;
    *variants = 0;
    for (int i = 0; i < frames; i++) {
        const uint64_t position = trying.h.driver->position();
        frame_of_parts(0);
        const uint32_t foreign = trying_foreign_binds(position);
        *variants += foreign == PARTS;
        both = both || (foreign > 0 && foreign < PARTS);
    }
    return !both;
}

/* All that an instance executes has one side, and half of them have the variant. While the poller
 * has the budget nothing is timed, and that may begin or end in any frame: then it is another
 * time. */
static void an_instance_has_one_side(void **state)
{
    enum { FRAMES = 24 };
    uint64_t until = 0;
    bool has_one = false;
    (void)state;
    trying.noise = 0.9; /* which is not over meanwhile */
    open_parts(TRYING_ORIGINAL);
    for (int i = 0; i < 4; i++)
        frame_of_parts(0);
    while (!has_one && patience(&until)) {
        uint32_t variants;
        has_one = have_one_side(FRAMES, &variants);
        if (has_one)
            assert_in_range(variants, 0, FRAMES / 2 + 1);
        has_one = has_one && variants >= FRAMES / 2 - 1;
    }
    assert_true(has_one);
    trying_close();
}

/* Outside of the instance, in the primary one, which resets its queries if the host cannot. */
static void assert_timed_outside(VkCommandBufferUsageFlags flags, bool resets)
{
    for (int i = 0; i < 4; i++)
        frame_of_parts(0);
    for (int i = 0; i < PARTS; i++)
        record_part(parts.secondaries[0][i], 0);
    const uint64_t position = trying.h.driver->position();
    execute_parts(0, 1, flags);
    const uint64_t begin = trying_position_of(position, "vkCmdBeginRenderPass");
    const uint64_t end = trying_position_of(begin, "vkCmdEndRenderPass");
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    assert_true(trying_between(position, begin, "vkCmdWriteTimestamp"));
    assert_false(trying_between(begin, end, "vkCmdWriteTimestamp"));
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdResetQueryPool"), resets);
    if (resets) {
        const uint64_t stamp = trying_position_of(position, "vkCmdWriteTimestamp");
        assert_true(trying_between(position, stamp, "vkCmdResetQueryPool"));
    }
    trying_close();
}

static void queries_are_the_primary_ones(void **state)
{
    open_parts(80000);
    assert_timed_outside(TRYING_ONCE, false);
    next_case(state);
    open_parts(80000);
    assert_timed_outside(0, true);
}

/* Executed in three instances of a frame one of them is timed, another one in each pair of frames:
 * the others have the same side by the same lot. */
static void one_instance_of_a_frame_is_timed(void **state)
{
    (void)state;
    open_parts(80000);
    uint64_t until = 0;
    uint32_t pairs = 0;
    for (; optimized_logged("is used from now on") == 0 && patience(&until); pairs++) {
        for (int i = 0; i < 2; i++) {
            for (int part = 0; part < PARTS; part++)
                record_part(parts.secondaries[0][part], SECONDARY_SIMULTANEOUS);
            execute_parts(0, 3, TRYING_ONCE);
        }
    }
    assert_true(pairs >= 8);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

/* Draws with the variant that it has executed in the frame. */
static uint32_t drawn;

/* The variant is slower in the second instance than it is faster in the first. */
static uint64_t cost_by_instance(void *user, VkPipeline pipeline)
{
    (void)user;
    if (pipeline == trying.graphics)
        return TRYING_ORIGINAL;
    return drawn++ < PARTS ? 80000 : 4 * TRYING_ORIGINAL;
}

/* Each of other secondary ones. */
static void all_instances_of_a_frame_count(void **state)
{
    (void)state;
    open_parts(80000);
    trying.h.driver->set_cost(cost_by_instance, NULL);
    uint64_t until = 0;
    while (optimized_logged("pairs of render passes") == 0 && patience(&until)) {
        for (int i = 0; i < 2 * PARTS; i++)
            record_part(parts.secondaries[i / PARTS][i % PARTS], 0);
        drawn = 0;
        pm_harness_begin(&trying.h, parts.primary, TRYING_ONCE);
        for (int i = 0; i < 2; i++) {
            begin_instance(VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
            trying.h.vk.CmdExecuteCommands(parts.primary, PARTS, parts.secondaries[i]);
            trying.h.vk.CmdEndRenderPass(parts.primary);
        }
        submit_parts();
    }
    assert_true(optimized_logged("pairs of render passes), dropped") > 0);
    trying_close();
}

/* ---- threads ---- */

static struct recorder {
    pthread_barrier_t begin, end;
    VkCommandPool pools[PARTS];
    VkCommandBuffer buffers[PARTS];
    _Atomic bool stops;
} recorder;

static void *record_on_thread(void *part)
{
    const size_t i = (size_t)(uintptr_t)part;
    for (;;) {
        pthread_barrier_wait(&recorder.begin);
        if (recorder.stops)
            return NULL;
        record_part(recorder.buffers[i], 0);
        pthread_barrier_wait(&recorder.end);
    }
}

static void begin_threads(pthread_t *threads)
{
    recorder.stops = false;
    pthread_barrier_init(&recorder.begin, NULL, PARTS + 1);
    pthread_barrier_init(&recorder.end, NULL, PARTS + 1);
    for (uintptr_t i = 0; i < PARTS; i++) {
        const VkCommandPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        };
        PM_CHECK(trying.h.vk.CreateCommandPool(trying.h.device, &info, NULL, &recorder.pools[i]));
        const VkCommandBufferAllocateInfo allocate = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = recorder.pools[i],
            .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
            .commandBufferCount = 1,
        };
        PM_CHECK(
            trying.h.vk.AllocateCommandBuffers(trying.h.device, &allocate, &recorder.buffers[i]));
        parts.secondaries[0][i] = recorder.buffers[i];
        assert_int_equal(pthread_create(&threads[i], NULL, record_on_thread, (void *)i), 0);
    }
}

static void end_threads(const pthread_t *threads)
{
    recorder.stops = true;
    pthread_barrier_wait(&recorder.begin);
    for (int i = 0; i < PARTS; i++) {
        pthread_join(threads[i], NULL);
        trying.h.vk.DestroyCommandPool(trying.h.device, recorder.pools[i], NULL);
    }
    pthread_barrier_destroy(&recorder.begin);
    pthread_barrier_destroy(&recorder.end);
}

/* As engines record: all at once, each part on a thread. An instance with both sides says nothing.
 */
static void recorded_on_threads(void **state)
{
    (void)state;
    pthread_t threads[PARTS];
    open_parts(80000);
    begin_threads(threads);
    uint64_t until = 0;
    while (optimized_logged("is used from now on") == 0 && patience(&until)) {
        for (int i = 0; i < 4; i++) {
            pthread_barrier_wait(&recorder.begin);
            pthread_barrier_wait(&recorder.end);
            execute_parts(0, 1, TRYING_ONCE);
        }
    }
    assert_true(optimized_logged("pairs of render passes), faster") > 0);
    end_threads(threads);
    trying_close();
    trying_assert_timing(0.8, 0.001);
}

/* ---- both sides ---- */

/* A part of the next frame is recorded before what executes this frame's: then both sides may be in
 * one instance, which says nothing. */
static void recorded_ahead(void **state)
{
    (void)state;
    open_parts(80000);
    uint64_t until = 0;
    record_part(parts.secondaries[0][0], 0);
    for (int frame = 0; optimized_logged("is used from now on") == 0 && patience(&until);
         frame ^= 1) {
        for (int part = 1; part < PARTS; part++)
            record_part(parts.secondaries[frame][part], 0);
        record_part(parts.secondaries[!frame][0], 0);
        execute_parts(frame, 1, TRYING_ONCE);
    }
    assert_true(optimized_logged("pairs of render passes), faster") > 0);
    trying_close();
    trying_assert_timing(0.8, 0.001);
}

/* One is kept with the side that it has, the others are recorded anew: beside it they have the same
 * one or make no pair, and sessions are to try it, as what never dispatches. */
static void beside_what_is_kept(void **state)
{
    enum { FRAMES = 800 };
    (void)state;
    open_parts(80000);
    for (int i = 0; i < 3; i++)
        frame_of_parts(SECONDARY_SIMULTANEOUS);
    uint32_t last = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        const uint64_t position = trying.h.driver->position();
        for (int part = 1; part < PARTS; part++)
            record_part(parts.secondaries[0][part], 0);
        execute_parts(0, 1, TRYING_ONCE);
        if (trying_foreign_binds(position) > 0)
            last = frame;
    }
    assert_true(last < 160);
    optimized_assert_logged("timed in turn: sessions are", 2);
    trying_close();
    trying_assert_no_timing();
}

/* ---- what cannot be timed ---- */

/* An instance that goes on in another command buffer: a few frames have a side, then none has, and
 * sessions are to try it. */
static void what_is_never_timed(void **state)
{
    enum { FRAMES = 700 };
    (void)state;
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT |
                                           VK_RENDERING_SUSPENDING_BIT,
                                  .renderArea = {.extent = {64, 64}},
                                  .layerCount = 1};
    open_parts(80000);
    uint32_t frames = 0, variants = 0, last = 0;
    for (; frames < FRAMES; frames++) {
        const uint64_t position = trying.h.driver->position();
        for (int i = 0; i < PARTS; i++)
            record_part(parts.secondaries[0][i], 0);
        pm_harness_begin(&trying.h, parts.primary, TRYING_ONCE);
        trying.h.vk.CmdBeginRendering(parts.primary, &info);
        trying.h.vk.CmdExecuteCommands(parts.primary, PARTS, parts.secondaries[0]);
        trying.h.vk.CmdEndRendering(parts.primary);
        submit_parts();
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
        if (trying_foreign_binds(position) > 0) {
            variants++;
            last = frames;
        }
    }
    assert_in_range(variants, 1, 64);
    assert_true(last < 128);
    optimized_assert_logged("timed in turn: sessions are", 1);
    trying_close();
}

/* ---- what is used ---- */

static void what_turns_slower_is_dropped(void **state)
{
    (void)state;
    open_parts(80000);
    uint64_t until = 0;
    while (optimized_logged("is used from now on") == 0 && patience(&until))
        frame_of_parts(0);
    trying.variant_cost = 200000;
    until = 0;
    uint32_t frames = 0;
    for (; optimized_logged("is not faster, and is dropped") == 0 && patience(&until); frames++)
        frame_of_parts(0);
    assert_true(frames < 4096);
    optimized_assert_logged("since it seems to be slower", 1);
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_is_recorded_anew),
        PM_LAYERED_TEST(where_draws_are_additive),
        PM_LAYERED_TEST(without_host_query_reset),
        PM_LAYERED_TEST(beside_draws_of_the_primary_one),
        PM_LAYERED_TEST(draws_of_the_primary_one_beside_them),
        PM_LAYERED_TEST(in_a_sampling_window),
        PM_LAYERED_TEST(a_window_samples_frames_as_a_whole),
        PM_LAYERED_TEST(an_instance_has_one_side),
        PM_LAYERED_TEST(queries_are_the_primary_ones),
        PM_LAYERED_TEST(one_instance_of_a_frame_is_timed),
        PM_LAYERED_TEST(all_instances_of_a_frame_count),
        PM_LAYERED_TEST(recorded_on_threads),
        PM_LAYERED_TEST(recorded_ahead),
        PM_LAYERED_TEST(beside_what_is_kept),
        PM_LAYERED_TEST(what_is_never_timed),
        PM_LAYERED_TEST(what_turns_slower_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
