/* Variants of pipelines: what reaches the driver when one is built again, from what, and when
 * (HAZARDS 4, 9, 10, 17). */
#include "tests/layer/layered.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pm_harness h;

static void open_with(const struct pm_harness_options *options, const char *synchronous)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", synchronous, 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, options);
}

/* Whether a dispatch or draw with the pipeline bound is sampled: two binds around it. */
static bool is_sampled(VkPipeline pipeline, VkPipelineBindPoint point)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, point, pipeline);
    const uint64_t position = h.driver->position();
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    else
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    char *calls = pm_calls_on(h.driver, position, buffer);
    const bool sampled = strstr(calls, "vkCmdBindPipeline") != NULL;
    free(calls);
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return sampled;
}

/* Samples until a background compile is there. */
static bool becomes_sampled(VkPipeline pipeline, VkPipelineBindPoint point)
{
    uint64_t until = 0;
    bool sampled = is_sampled(pipeline, point);
    while (!sampled && patience(&until))
        sampled = is_sampled(pipeline, point);
    return sampled;
}

static void assert_logged(const char *text)
{
    const uint32_t count = pm_layered_logged(text);
    if (count != 1)
        fail_msg("\"%s\" is %u times in the log", text, count);
}

static void objects_may_die_at_once(void **state)
{
    (void)state;
    open_with(NULL, "false");
    struct parts parts;
    parts_make(&parts, &h);
    struct graphics_options options = {.parts = &parts};
    VkPipeline pipeline = make_graphics(&h, &options);
    parts_destroy(&parts, &h);
    assert_int_equal(watch_counts().variants, 0);
    assert_true(becomes_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    const struct seen seen = watch_last();
    assert_int_equal(seen.stage_count, 2);
    assert_true(seen.modules[0] && seen.modules[0] != parts.vertex);
    assert_true(seen.modules[1] && seen.modules[1] != parts.fragment);
    assert_true(seen.layout && seen.layout != parts.layout);
    assert_true(seen.render_pass && seen.render_pass != parts.render_pass);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

/* The game's set layout names samplers of ours, which live as long as anything of the layer or of
 * the game may name them. */
static void immutable_samplers_are_ours_in_both_layouts(void **state)
{
    (void)state;
    open_with(NULL, "false");
    struct parts parts;
    parts_make(&parts, &h);
    const struct samplers game = watch_samplers();
    assert_int_equal(game.layouts, 1);
    assert_true(game.last[0] && game.last[0] != parts.sampler);
    assert_int_equal(game.last[0], game.last[1]); /* equal ones are shared */
    struct graphics_options options = {.parts = &parts};
    VkPipeline pipeline = make_graphics(&h, &options);
    parts_destroy(&parts, &h);
    assert_true(becomes_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    const struct samplers ours = watch_samplers();
    assert_int_equal(ours.layouts, 2);
    assert_int_equal(ours.last[0], game.last[0]);
    assert_int_equal(ours.last[1], game.last[1]);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

static void a_variant_has_no_base_no_feedback_and_may_compile(void **state)
{
    (void)state;
    open_with(NULL, "true");
    VkPipelineCreationFeedback whole = {0}, stages[2] = {{0}};
    const VkPipelineCreationFeedbackCreateInfo feedback = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &whole,
        .pipelineStageCreationFeedbackCount = 2,
        .pPipelineStageCreationFeedbacks = stages};
    struct graphics_options options = {
        .next = &feedback,
        .flags = VK_PIPELINE_CREATE_DERIVATIVE_BIT | VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT |
                 VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT |
                 VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT,
        .base = h.graphics};
    VkPipeline pipeline = make_graphics(&h, &options);
    const struct seen seen = watch_last();
    assert_int_equal(seen.flags, VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT);
    assert_null(seen.base);
    assert_false(seen.feedback);
    assert_int_equal(seen.spec_entries, 2);
    assert_true(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

static void early_tests_only_without_alpha_to_coverage(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_extended_dynamic_state3", NULL};
    const struct pm_harness_options device = {.device_extensions = extensions};
    open_with(&device, "true");
    const struct graphics_options cases[] = {
        {0},
        {.alpha_to_coverage = true},
        {.dynamic = VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT},
        {.flags = VK_PIPELINE_CREATE_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT},
        {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS},
        {.flags2 = VK_PIPELINE_CREATE_2_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT},
        {.dynamic = VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT},
    };
    const bool early[] = {true, false, false, false, true, false, false};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graphics_options options = cases[i];
        VkPipeline pipeline = make_graphics(&h, &options);
        assert_int_equal(watch_last().early_tests, early[i]);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
    }
    pm_harness_close(&h);
}

/* Those of 64 bits, which stand in a structure of their own. */
static void flags_wherever_they_are(void **state)
{
    (void)state;
    open_with(NULL, "true");
    const struct {
        VkPipelineCreateFlags2 game, ours;
    } cases[] = {
        {VK_PIPELINE_CREATE_2_DISABLE_OPTIMIZATION_BIT | VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR,
         VK_PIPELINE_CREATE_2_DISABLE_OPTIMIZATION_BIT},
        {VK_PIPELINE_CREATE_2_ENABLE_LEGACY_DITHERING_BIT_EXT |
             VK_PIPELINE_CREATE_2_INDIRECT_BINDABLE_BIT_EXT,
         VK_PIPELINE_CREATE_2_ENABLE_LEGACY_DITHERING_BIT_EXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graphics_options options = {.flags2 = cases[i].game};
        VkPipeline pipeline = make_graphics(&h, &options);
        assert_true(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
        assert_true(watch_last().flags == cases[i].ours);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
    }
    const VkPipelineCreateFlags2 unknown = UINT64_C(1) << 62;
    struct graphics_options options = {.flags2 = unknown};
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    assert_logged("create flags 0x4000000000000000 ");
}

/* Its shaders are ignored, and may be others than those in it. */
static void a_pipeline_made_of_binaries_gets_none(void **state)
{
    (void)state;
    open_with(NULL, "true");
    const VkPipelineBinaryKHR binary = VK_NULL_HANDLE;
    VkPipelineBinaryInfoKHR binaries = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR,
                                        .pPipelineBinaries = &binary};
    struct graphics_options options = {.next = &binaries};
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_true(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    binaries.binaryCount = 1;
    pipeline = make_graphics(&h, &options);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    assert_logged("it is made of binaries");
}

static void words_in_the_stage_do_and_identifiers_do_not(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_graphics_pipeline_library", "VK_KHR_pipeline_library",
                                      "VK_EXT_shader_module_identifier", NULL};
    const struct pm_harness_options device = {.device_extensions = extensions};
    open_with(&device, "true");
    struct graphics_options options = {.inline_words = true};
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_true(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    assert_true(watch_last().modules[0] != VK_NULL_HANDLE);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    const uint32_t before = watch_counts().variants;
    options = (struct graphics_options){.identifier_only = true};
    pipeline = make_graphics(&h, &options);
    assert_int_equal(watch_counts().variants, before);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    assert_logged("only a module identifier");
}

static void what_cannot_be_copied_gets_none(void **state)
{
    (void)state;
    open_with(NULL, "true");
    const VkBaseInStructure unknown = {.sType = (VkStructureType)1000999000};
    struct graphics_options options = {.next = &unknown};
    const uint32_t before = watch_counts().variants;
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_int_equal(watch_counts().variants, before);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    options = (struct graphics_options){.flags = VK_PIPELINE_CREATE_INDIRECT_BINDABLE_BIT_NV};
    pipeline = make_graphics(&h, &options);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    assert_logged("1000999000");
    assert_logged("create flags 0x40000 ");
}

static void linked_pipelines_get_an_instrumented_library(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    const char *const extensions[] = {"VK_EXT_graphics_pipeline_library", "VK_KHR_pipeline_library",
                                      NULL};
    const struct pm_harness_options device = {.device_extensions = extensions};
    open_with(&device, "false");
    struct parts parts;
    parts_make(&parts, &h);
    VkPipeline libraries[4];
    for (uint32_t i = 0; i < 4; i++) {
        struct graphics_options options = {
            .parts = &parts,
            .library = 1u << i,
            .flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
                     VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT};
        libraries[i] = make_graphics(&h, &options);
    }
    VkPipeline linked[2];
    for (int i = 0; i < 2; i++) {
        struct graphics_options options = {.parts = &parts, .link = libraries};
        linked[i] = make_graphics(&h, &options);
    }
    parts_destroy(&parts, &h);
    for (uint32_t i = 0; i < 4; i++)
        h.vk.DestroyPipeline(h.device, libraries[i], NULL);
    assert_true(becomes_sampled(linked[0], VK_PIPELINE_BIND_POINT_GRAPHICS));
    const struct seen seen = watch_last();
    assert_int_equal(seen.library_count, 4);
    assert_int_equal(watch_counts().early, 1);
    for (uint32_t i = 0; i < 4; i++) {
        assert_non_null(seen.libraries[i]);
        for (uint32_t j = 0; j < 4; j++)
            assert_true(seen.libraries[i] != libraries[j]);
    }
    /* Three twins, the instrumented one, and the linked pipeline; the second needs no new twins. */
    assert_int_equal(watch_counts().variants, 5);
    assert_true(becomes_sampled(linked[1], VK_PIPELINE_BIND_POINT_GRAPHICS));
    assert_int_equal(watch_counts().variants, 7);
    h.vk.DestroyPipeline(h.device, linked[0], NULL);
    h.vk.DestroyPipeline(h.device, linked[1], NULL);
    pm_harness_close(&h);
}

/* Each part may forbid early tests, and the part that links them. */
static void linked_pipelines_force_early_tests_where_no_part_forbids_it(void **state)
{
    (void)state;
    const struct {
        uint32_t part; /* 4: the one that links */
        struct graphics_options options;
    } cases[] = {
        {3, {.alpha_to_coverage = true}},
        {3, {.dynamic = VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT}},
        {2,
         {.flags2 = VK_PIPELINE_CREATE_2_LIBRARY_BIT_KHR |
                    VK_PIPELINE_CREATE_2_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT}},
        {2, {.dynamic = VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT}},
        {4, {.flags = VK_PIPELINE_CREATE_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT}},
        {0, {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS}},
    };
    const char *const extensions[] = {"VK_EXT_graphics_pipeline_library", "VK_KHR_pipeline_library",
                                      NULL};
    const struct pm_harness_options device = {.device_extensions = extensions};
    open_with(&device, "true");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        VkPipeline parts[5];
        const uint32_t before = watch_counts().early;
        for (uint32_t part = 0; part < 5; part++) {
            struct graphics_options options = {0};
            if (part == cases[i].part)
                options = cases[i].options;
            if (part == 4)
                options.link = parts;
            else
                options.library = 1u << part;
            if (part < 4)
                options.flags |= VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
            parts[part] = make_graphics(&h, &options);
        }
        assert_true(is_sampled(parts[4], VK_PIPELINE_BIND_POINT_GRAPHICS));
        assert_int_equal(watch_counts().early > before, cases[i].part == 0);
        for (uint32_t part = 0; part < 5; part++)
            h.vk.DestroyPipeline(h.device, parts[part], NULL);
    }
    pm_harness_close(&h);
}

static void a_session_makes_no_more_than_its_limit(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_VARIANTS", "2", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    open_with(NULL, "true"); /* the harness's own two pipelines */
    assert_int_equal(watch_counts().variants, 2);
    struct graphics_options options = {0};
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_int_equal(watch_counts().variants, 2);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    assert_true(is_sampled(h.graphics, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    assert_logged("limits.variants is reached");
}

static void a_refused_variant_leaves_the_game_alone(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    open_with(NULL, "true");
    assert_true(h.driver->inject("vkCreateGraphicsPipelines:2"));
    struct graphics_options options = {0};
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_non_null(pipeline);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    assert_logged("the driver refused a graphics pipeline");
}

/* Pipelines go while their compiles wait and run, and the device while more do. */
static void pipelines_may_go_while_they_compile(void **state)
{
    (void)state;
    setenv("PM_NULL_COMPILE_US", "3000", 1);
    setenv("PIECEMEAL_LIMITS_COMPILE_THREADS", "2", 1);
    open_with(NULL, "false");
    for (int round = 0; round < 20; round++) {
        VkPipeline pipelines[4];
        for (int i = 0; i < 4; i++) {
            struct graphics_options options = {0};
            pipelines[i] = make_graphics(&h, &options);
            (void)is_sampled(pipelines[i], VK_PIPELINE_BIND_POINT_GRAPHICS);
        }
        for (int i = 0; i < 4; i++)
            h.vk.DestroyPipeline(h.device, pipelines[i], NULL);
    }
    (void)is_sampled(h.graphics, VK_PIPELINE_BIND_POINT_GRAPHICS);
    (void)is_sampled(h.dispatch, VK_PIPELINE_BIND_POINT_COMPUTE);
    pm_harness_close(&h);
}

static void a_second_session_takes_shaders_from_the_store(void **state)
{
    (void)state;
    char command[200];
    open_with(NULL, "true");
    pm_harness_close(&h);
    snprintf(command, sizeof command, "test $(ls %s/piecemeal/shaders/*.pmshader | wc -l) = 2",
             pm_layered_home());
    assert_int_equal(system(command), 0);
    open_with(NULL, "true");
    assert_true(is_sampled(h.graphics, VK_PIPELINE_BIND_POINT_GRAPHICS));
    assert_true(is_sampled(h.dispatch, VK_PIPELINE_BIND_POINT_COMPUTE));
    pm_harness_close(&h);
}

/* exit(3) while compile threads are at work, its device alive: in processes of their own. */
static void a_game_may_exit_while_shaders_compile(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setenv("PIECEMEAL_LIMITS_COMPILE_THREADS", "3", 1);
            open_with(NULL, "false");
            (void)is_sampled(h.dispatch, VK_PIPELINE_BIND_POINT_COMPUTE);
            (void)is_sampled(h.graphics, VK_PIPELINE_BIND_POINT_GRAPHICS);
            usleep((useconds_t)round * 1000);
            exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("round %d ended with status 0x%x", round, status);
    }
}

/* Where rasterization is off the fragment shader never runs, and of what comes after it the
 * specification reads so little that a copy would not fit the render pass instance. */
static void what_never_rasterizes_gets_none(void **state)
{
    (void)state;
    open_with(NULL, "true");
    struct graphics_options options = {.discard = true};
    VkPipeline pipeline = make_graphics(&h, &options);
    assert_false(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    options.dynamic = VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE;
    pipeline = make_graphics(&h, &options);
    assert_true(is_sampled(pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: what it forks must have no layer loaded yet. */
        PM_LAYERED_TEST(a_game_may_exit_while_shaders_compile),
        PM_LAYERED_TEST(objects_may_die_at_once),
        PM_LAYERED_TEST(immutable_samplers_are_ours_in_both_layouts),
        PM_LAYERED_TEST(a_variant_has_no_base_no_feedback_and_may_compile),
        PM_LAYERED_TEST(early_tests_only_without_alpha_to_coverage),
        PM_LAYERED_TEST(flags_wherever_they_are),
        PM_LAYERED_TEST(a_pipeline_made_of_binaries_gets_none),
        PM_LAYERED_TEST(words_in_the_stage_do_and_identifiers_do_not),
        PM_LAYERED_TEST(what_cannot_be_copied_gets_none),
        PM_LAYERED_TEST(what_never_rasterizes_gets_none),
        PM_LAYERED_TEST(linked_pipelines_get_an_instrumented_library),
        PM_LAYERED_TEST(linked_pipelines_force_early_tests_where_no_part_forbids_it),
        PM_LAYERED_TEST(a_session_makes_no_more_than_its_limit),
        PM_LAYERED_TEST(a_refused_variant_leaves_the_game_alone),
        PM_LAYERED_TEST(pipelines_may_go_while_they_compile),
        PM_LAYERED_TEST(a_second_session_takes_shaders_from_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
