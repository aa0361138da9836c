/* The layer without one of libm's functions: it calls none, passes everything through and says so.
 */
#include "tests/layer/layered.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *missing;
static bool asked;

/* The program's own, which the layer's calls are bound to. */
__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
    static void *(*next)(void *handle, const char *name);
    if (next == NULL)
        *(void **)&next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    asked = asked || strcmp(name, "log") == 0;
    return missing != NULL && strcmp(name, missing) == 0 ? NULL : next(handle, name);
}

/* A game of a few frames; returns how many lines of the log say why the layer does nothing. */
static uint32_t passes_through_without(const char *name)
{
    const struct pm_harness_options options = {.device_extensions = pm_harness_draw_extensions};
    struct pm_harness h;
    missing = name;
    asked = false;
    const uint32_t before = pm_layered_logged("libm's functions were not found; the layer passes");
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, &options);
    assert_true(asked);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (uint32_t frame = 0; frame < 3; frame++) {
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        pm_harness_run(&h, buffer);
    }
    pm_harness_close(&h);
    return pm_layered_logged("libm's functions were not found; the layer passes") - before;
}

static void a_layer_without_one_passes_everything_through(void **state)
{
    (void)state;
    assert_int_equal(passes_through_without("atan2"), 1);
    assert_int_equal(passes_through_without("log1p"), 1);
    assert_int_equal(pm_layered_logged("sampling on"), 0);
    assert_int_equal(passes_through_without(NULL), 0);
    assert_int_equal(pm_layered_logged("sampling on"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_layer_without_one_passes_everything_through)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
