/* Overlays above us make pipelines of their own: those are not the game's, and not sampled. */
#include "tests/layer/layered.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef VkResult (*make_compute)(PFN_vkCreateComputePipelines create, VkDevice device,
                                 const VkComputePipelineCreateInfo *info, VkPipeline *pipeline);

static struct pm_harness h;

static bool is_sampled(VkPipeline pipeline)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    const uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    char *calls = pm_calls_on(h.driver, position, buffer);
    const bool sampled = strstr(calls, "vkCmdBindPipeline") != NULL;
    free(calls);
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return sampled;
}

/* A library of that name in the test's home. */
static void *open_as(const char *name, make_compute *make)
{
    char path[512], command[1024];
    snprintf(path, sizeof path, "%s/%s", pm_layered_home(), name);
    snprintf(command, sizeof command, "cp '%s' '%s'", OVERLAY, path);
    assert_int_equal(system(command), 0);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *make = (make_compute)dlsym(library, "overlay_make_compute");
    assert_non_null(*make);
    return library;
}

static void open_all(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, &(struct pm_harness_options){0});
}

/* Whether the pipeline that a library makes is sampled. */
static bool made_is_sampled(make_compute make)
{
    const VkComputePipelineCreateInfo info = pm_harness_describe_compute(&h);
    VkPipeline pipeline;
    PM_CHECK(make(h.vk.CreateComputePipelines, h.device, &info, &pipeline));
    const bool sampled = is_sampled(pipeline);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    return sampled;
}

static void their_pipelines_are_left_alone(void **state)
{
    (void)state;
    make_compute make;
    void *library = open_as("libMangoHud.so", &make);
    open_all();
    assert_true(is_sampled(h.dispatch));
    /* Who makes so many is no overlay. */
    for (int i = 0; i < 66; i++)
        assert_int_equal(made_is_sampled(make), i >= 64);
    pm_harness_close(&h);
    dlclose(library);
}

/* As their own builds call them. */
static void they_are_known_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool overlay;
    } cases[] = {
        {"libMangoHud.so", true},
        {"libVkLayer_MESA_overlay.so", true},
        {"libvkbasalt.so", true},
        {"libvkbasalt-overlay.so", true},
        {"libvkshade.so", true},
        {"steamoverlayvulkanlayer.so", true},
        {"liblsfg-vk.so", true},
        {"liblsfg-vk-layer.so", true},
        /* Layers that make none, but may pass on the game's; and a part of a game. */
        {"libVkLayer_obs_vkcapture.so", false},
        {"libVkLayer_FROG_gamescope_wsi_x86_64.so", false},
        {"libVkLayer_khronos_validation.so", false},
        {"libgame.so", false},
        {"libvkshaders.so", false},
    };
    open_all();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_compute make;
        void *library = open_as(cases[i].name, &make);
        if (made_is_sampled(make) == cases[i].overlay)
            fail_msg("%s", cases[i].name);
        dlclose(library);
    }
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(their_pipelines_are_left_alone),
        PM_LAYERED_TEST(they_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
