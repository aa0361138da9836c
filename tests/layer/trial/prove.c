#include "tests/layer/trial/prove.h"

#include <stdlib.h>

VkPipeline (*prove_make)(struct pm_harness *harness) = optimized_compute;

void prove_give_time(void)
{
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    /* As long as a test machine that is busy may take. */
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "0", 1);
}

void prove_give_usual_time(void)
{
    unsetenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE");
    unsetenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
}

void prove_on(const char *driver_id)
{
    setenv("PM_NULL_DRIVER_ID", driver_id, 1);
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    prove_give_time();
}

void prove(void)
{
    prove_on("1");
}

bool prove_creates_bound(VkCommandBuffer *recorded)
{
    trying.h.driver->hold_compiles(true);
    trying.compute = prove_make(&trying.h);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, 0);
    pm_harness_bind_set(&trying.h, buffer);
    const uint64_t position = trying.h.driver->position();
    trying_dispatch(buffer);
    const bool bound = optimized_bound(&trying.h, position, 0) != trying.compute;
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    trying.h.driver->hold_compiles(false);
    *recorded = buffer;
    return bound;
}

bool prove_is_bound_at_once(void)
{
    VkCommandBuffer buffer;
    pm_harness_open(&trying.h, NULL);
    const bool bound = prove_creates_bound(&buffer);
    for (int i = 0; i < 3; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    pm_harness_close(&trying.h);
    return bound;
}
