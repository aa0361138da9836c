/* A game that exports functions of the very names that are in the layer: of every library that the
 * layer has in it, and whatever it imports from others than libc and its kin (HAZARDS 19, 23). */
#include "tests/layer/hooks/hostile.h"
#include "tests/layer/layered.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic unsigned calls;

void hostile_called(const char *name)
{
    calls++;
    dprintf(STDERR_FILENO, "the layer calls the program's %s\n", name);
}

static void nothing_of_the_program_is_called(void **state)
{
    (void)state;
    struct pm_harness h;
    char path[160];
    snprintf(path, sizeof path, "%s/config.json", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"sampler\": {\"batch\": 4, \"kinds\": [\"block\"]}}\n", file);
    fclose(file);
    setenv("PIECEMEAL_CONFIG", path, 1);
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, NULL);
    for (int i = 0; i < 3; i++) {
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        pm_harness_run(&h, buffer);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    }
    pm_harness_close(&h);
    assert_true(pm_layered_logged("sampling on") == 1);
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {PM_LAYERED_TEST(nothing_of_the_program_is_called)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
