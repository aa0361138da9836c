/* Scenes (layer/frame/scene.h): what is counted in one goes to the spool under its name, and
 * nothing under another's. Calls are counted as in test_checkpoints.c. */
#include "tests/layer/spooled.h"

#include "layer/public/piecemeal.h"
#include "tests/patience.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct pm_harness h;
static VkCommandBuffer buffer;
static PFN_vkSetScenePIECEMEAL set_scene;

static void open_with(const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    /* One variant, so that point 0 is in every call. */
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1000000", 1);
    pm_harness_open(&h, options);
    buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    set_scene = (PFN_vkSetScenePIECEMEAL)vkGetDeviceProcAddr(h.device, PIECEMEAL_SET_SCENE_NAME);
}

static void dispatch(int times)
{
    for (int i = 0; i < times; i++)
        spooled_dispatch(&h, h.queue, buffer);
}

/* The layer does not heed the end of a scene that follows the one before by less than 50 ms. */
static void rest(void)
{
    nanosleep(&(struct timespec){0, 60000000}, NULL);
}

/* Until so many calls are in the spool: an idle queue is a checkpoint, if there was none a moment
 * ago. */
static void settle(uint64_t calls)
{
    uint64_t until = 0;
    while (all_calls() < calls && patience(&until))
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_int_equal(all_calls(), calls);
    rest();
}

static void the_function_is_there_with_the_layer_only(void **state)
{
    (void)state;
    open_with(NULL);
    assert_non_null(set_scene);
    set_scene(h.device, "once"); /* and it may be called with nothing else happening */
    set_scene(VK_NULL_HANDLE, "nowhere");
    pm_harness_close(&h);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0", 1);
    pm_harness_open(&h, NULL);
    assert_null(vkGetDeviceProcAddr(h.device, PIECEMEAL_SET_SCENE_NAME));
    pm_harness_close(&h);
    pm_layered_enable(PM_LAYER_OFF);
    pm_harness_open(&h, NULL);
    assert_null(vkGetDeviceProcAddr(h.device, PIECEMEAL_SET_SCENE_NAME));
    pm_harness_close(&h);
}

static void every_call_is_of_its_scene(void **state)
{
    (void)state;
    char name[] = "cave";
    open_with(NULL);
    dispatch(1);
    set_scene(h.device, name);
    memset(name, 'x', 4); /* it was copied */
    dispatch(3);
    settle(4);
    set_scene(h.device, "sky");
    set_scene(h.device, "sky \xc3\xa4 \"; \\");
    dispatch(5);
    settle(9);
    set_scene(h.device, NULL);
    dispatch(7);
    pm_harness_close(&h);
    assert_int_equal(calls_of("cave"), 3);
    assert_int_equal(calls_of("sky \xc3\xa4 \"; \\"), 5);
    assert_int_equal(calls_of(""), 8);
    assert_int_equal(all_calls(), 16);
}

static void the_configuration_names_the_rest(void **state)
{
    (void)state;
    setenv("PIECEMEAL_GAME_SCENE", "level 1", 1);
    open_with(NULL);
    dispatch(2);
    set_scene(h.device, "cave");
    dispatch(3);
    settle(5);
    set_scene(h.device, "");
    dispatch(4);
    pm_harness_close(&h);
    assert_int_equal(calls_of("level 1"), 6);
    assert_int_equal(calls_of("cave"), 3);
    assert_int_equal(all_calls(), 9);
}

/* A name that no profile can carry costs the tag, not the profile. */
static void names_that_cannot_be(void **state)
{
    (void)state;
    char name[400], long_name[PIECEMEAL_SCENE_NAME_BYTES + 2];
    open_with(NULL);
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    const char *const bad[] = {long_name, "a\nb", "\xc3", "\x7f", "a\xff"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        set_scene(h.device, bad[i]);
        dispatch(1);
    }
    settle(5);
    assert_int_equal(calls_of(""), 5);
    long_name[PIECEMEAL_SCENE_NAME_BYTES] = 0; /* the longest that can be */
    set_scene(h.device, long_name);
    dispatch(1);
    for (int i = 0; i < 2 * PIECEMEAL_SCENES; i++) {
        snprintf(name, sizeof(name), "scene %d", i);
        set_scene(h.device, name);
    }
    settle(6);
    dispatch(2); /* in one that is too many */
    pm_harness_close(&h);
    assert_int_equal(calls_of(long_name), 1);
    assert_int_equal(calls_of(""), 7);
    assert_int_equal(pm_layered_logged("one too many"), 1);
}

/* A variant that two queues count with in different scenes is of neither, and of both again when
 * they agree. */
static void scenes_that_cannot_be_told_apart(void **state)
{
    (void)state;
    const struct pm_harness_options options = {.queues = 2};
    open_with(&options);
    VkCommandBuffer other = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    h.driver->hold_submissions(true);
    set_scene(h.device, "cave");
    spooled_dispatch(&h, h.queues[0], buffer);
    set_scene(h.device, "sky");
    spooled_dispatch(&h, h.queues[1], other);
    h.driver->hold_submissions(false);
    PM_CHECK(h.vk.DeviceWaitIdle(h.device));
    pm_harness_close(&h);
    assert_int_equal(calls_of("cave"), 0);
    assert_int_equal(calls_of("sky"), 0);
    assert_int_equal(calls_of(""), 2);
}

/* A game that changes scenes with every submission pays no copy for each. */
static void scenes_in_a_hurry_go_untagged(void **state)
{
    (void)state;
    enum { CHANGES = 200 };
    open_with(NULL);
    const uint64_t position = h.driver->position();
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CHANGES; i++) {
        set_scene(h.device, i % 2 ? "odd" : "even");
        dispatch(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    const uint32_t copies = pm_calls_of(h.driver, position, "vkCmdCopyBuffer");
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    /* 20 a second, the regular one a second, and the first. */
    if (copies > seconds * 21 + 2)
        fail_msg("%u copies in %f s", copies, seconds);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), CHANGES);
}

/* ---- labels ---- */

static void label_buffer(const char *text)
{
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pLabelName = text};
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBeginDebugUtilsLabelEXT(buffer, &label);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdEndDebugUtilsLabelEXT(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

static void open_labelled(void)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, NULL};
    const struct pm_harness_options options = {.instance_extensions = extensions};
    open_with(&options);
    assert_non_null(h.vk.CmdBeginDebugUtilsLabelEXT);
}

static void labels_name_scenes(void **state)
{
    (void)state;
    const VkDebugUtilsLabelEXT queue_label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                              .pLabelName = "scene:sky"};
    setenv("PIECEMEAL_GAME_SCENE_LABELS", "scene:", 1);
    open_labelled();
    dispatch(1);
    label_buffer("shadows"); /* names none */
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    label_buffer("scene:cave");
    settle(2); /* recorded, it is nobody's scene yet */
    assert_int_equal(calls_of(""), 2);
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    dispatch(2); /* it lasts until the next one */
    settle(5);
    h.vk.QueueInsertDebugUtilsLabelEXT(h.queue, &queue_label);
    dispatch(4);
    settle(9);
    label_buffer("scene:"); /* the end of it */
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_close(&h);
    assert_int_equal(calls_of("cave"), 3);
    assert_int_equal(calls_of("sky"), 4);
    assert_int_equal(calls_of(""), 3);
}

/* A label in a secondary command buffer counts where it is executed. */
static void labels_of_secondaries(void **state)
{
    (void)state;
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pLabelName = "scene:cave"};
    setenv("PIECEMEAL_GAME_SCENE_LABELS", "scene:", 1);
    open_labelled();
    VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    const VkCommandBufferInheritanceInfo inherited = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .pInheritanceInfo = &inherited};
    PM_CHECK(h.vk.BeginCommandBuffer(secondary, &info));
    h.vk.CmdInsertDebugUtilsLabelEXT(secondary, &label);
    h.vk.CmdBindPipeline(secondary, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(secondary, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    pm_harness_run(&h, buffer);
    pm_harness_close(&h);
    assert_int_equal(calls_of("cave"), 1);
    assert_int_equal(all_calls(), 1);
}

static void labels_are_left_alone_unless_asked_for(void **state)
{
    (void)state;
    open_labelled();
    label_buffer("scene:cave");
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    pm_harness_close(&h);
    assert_int_equal(calls_of(""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_function_is_there_with_the_layer_only),
        PM_LAYERED_TEST(every_call_is_of_its_scene),
        PM_LAYERED_TEST(the_configuration_names_the_rest),
        PM_LAYERED_TEST(names_that_cannot_be),
        PM_LAYERED_TEST(scenes_that_cannot_be_told_apart),
        PM_LAYERED_TEST(scenes_in_a_hurry_go_untagged),
        PM_LAYERED_TEST(labels_name_scenes),
        PM_LAYERED_TEST(labels_of_secondaries),
        PM_LAYERED_TEST(labels_are_left_alone_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
