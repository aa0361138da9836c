/* A device's end: what the driver has begun to compile for us it ends, however long it takes,
 * before the device goes: the specification wants it so, and our code may be unloaded then. */
#include "tests/layer/layered.h"
#include "tests/patience.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pm_harness h;

/* What reached the driver. */
static struct {
    _Atomic bool compiling; /* by the layer: not on the game's own thread */
    _Atomic bool ending;    /* all that is the game's has gone but the device */
    _Atomic bool ended;     /* the device, too */
} seen;

static void see(void *user, const struct pm_null_call *call)
{
    (void)user;
    if ((strcmp(call->command, "vkCreateComputePipelines") == 0 ||
         strcmp(call->command, "vkCreateGraphicsPipelines") == 0) &&
        call->thread != (uint32_t)getpid())
        atomic_store(&seen.compiling, true);
    else if (strcmp(call->command, "vkDestroyCommandPool") == 0 &&
             call->arguments[1] == PM_NULL_NUMBER(h.pool))
        atomic_store(&seen.ending, true);
    else if (strcmp(call->command, "vkDestroyDevice") == 0)
        atomic_store(&seen.ended, true);
}

static void *close_device(void *unused)
{
    pm_harness_close_device(&h);
    return unused;
}

/* Dispatches, so that variants are wanted, until one is being compiled. */
static void compile_for_long(void)
{
    uint64_t until = 0;
    h.driver->hold_compiles(true);
    const VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    while (!atomic_load(&seen.compiling) && patience(&until)) {
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        pm_harness_run(&h, buffer);
    }
    assert_true(atomic_load(&seen.compiling));
}

static void it_waits_for_a_compile(void **state)
{
    (void)state;
    enum { WATCHED_MS = 200 }; /* what does not wait is over in a few */
    pthread_t thread;
    uint64_t until = 0;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1);
    pm_harness_driver()->set_callback(see, NULL);
    pm_harness_open(&h, NULL);
    compile_for_long();
    assert_int_equal(pthread_create(&thread, NULL, close_device, NULL), 0);
    while (!atomic_load(&seen.ending) && patience(&until))
        ;
    assert_true(atomic_load(&seen.ending));
    for (int i = 0; i < WATCHED_MS && !atomic_load(&seen.ended); i++)
        (void)patience(&until);
    const bool ended = atomic_load(&seen.ended);
    h.driver->hold_compiles(false);
    pthread_join(thread, NULL);
    assert_false(ended);
    assert_true(atomic_load(&seen.ended));
    h.driver->set_callback(NULL, NULL);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(it_waits_for_a_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
