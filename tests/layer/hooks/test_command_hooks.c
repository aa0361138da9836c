/* Which way a command buffer begins (layer/hooks/command_hooks.c), with a driver that looks. */
#include "base/random.h"
#include "layer/frame/executed.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"

#include "tests/cmocka_includes.h"

/* As the loader makes them: the first word says whose it is. */
struct dispatchable {
    const void *key;
};
enum { PLACES = 1 << 16, BUFFERS = 200 };

static const int key;
static struct dispatchable device_handle = {&key}, places[PLACES];
static struct pm_sampling sampling;
static struct pm_device device = {.handle = (VkDevice)&device_handle, .sampling = &sampling};
static VkCommandBuffer buffers[BUFFERS];
static uint32_t submits; /* that the record said as the driver began: the short way comes before */

static VKAPI_ATTR VkResult VKAPI_CALL driver_begin(VkCommandBuffer handle,
                                                   const VkCommandBufferBeginInfo *info)
{
    (void)info;
    submits = atomic_load(&pm_command_of(&sampling, handle)->submits);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_reset(VkCommandBuffer handle,
                                                   VkCommandBufferResetFlags flags)
{
    (void)handle, (void)flags;
    return VK_SUCCESS;
}

static uint32_t executed;
static VKAPI_ATTR void VKAPI_CALL driver_execute(VkCommandBuffer handle, uint32_t count,
                                                 const VkCommandBuffer *secondaries)
{
    (void)handle, (void)secondaries;
    executed += count;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_create_pool(VkDevice handle,
                                                         const VkCommandPoolCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkCommandPool *out)
{
    (void)handle, (void)info, (void)allocator;
    static uintptr_t last = 0;
    *out = (VkCommandPool)++last;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_create_queries(VkDevice handle,
                                                            const VkQueryPoolCreateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkQueryPool *out)
{
    (void)handle, (void)info, (void)allocator;
    *out = (VkQueryPool)(uintptr_t)1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_allocate(VkDevice handle,
                                                      const VkCommandBufferAllocateInfo *info,
                                                      VkCommandBuffer *out)
{
    (void)handle;
    struct pm_random random;
    pm_random_init(&random, 1);
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        struct dispatchable *place;
        do {
            place = &places[pm_random_next(&random) % PLACES];
        } while (place->key != NULL);
        place->key = &key;
        out[i] = (VkCommandBuffer)place;
    }
    return VK_SUCCESS;
}

static const VkCommandBufferBeginInfo once = {.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};

/* A device whose recordings are known to be made anew, with one of each buffer. */
static int set_up(void **unused)
{
    (void)unused;
    sampling.device = &device;
    pm_lookup_init_of_pointers(&sampling.commands);
    pm_lookup_init(&sampling.pools);
    pm_lookup_init(&sampling.queries);
    atomic_store(&sampling.learned, true);
    device.dispatch.BeginCommandBuffer = driver_begin;
    device.dispatch.ResetCommandBuffer = driver_reset;
    device.dispatch.CmdExecuteCommands = driver_execute;
    sampling.arm = pm_registry_arm;
    device.dispatch.CreateCommandPool = driver_create_pool;
    device.dispatch.CreateQueryPool = driver_create_queries;
    device.dispatch.AllocateCommandBuffers = driver_allocate;
    pm_registry_swap_recordings(pm_recording_table_swap);
    assert_true(pm_registry_add_device(&device));
    VkCommandPool pool;
    const VkCommandPoolCreateInfo info = {.flags = 0};
    assert_int_equal(pm_CreateCommandPool(device.handle, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {.commandPool = pool,
                                                  .commandBufferCount = BUFFERS};
    assert_int_equal(pm_AllocateCommandBuffers(device.handle, &allocate, buffers), VK_SUCCESS);
    for (int i = 0; i < BUFFERS; i++)
        assert_int_equal(pm_BeginCommandBuffer(buffers[i], &once), VK_SUCCESS);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    pm_registry_remove_device(&device);
    pm_commands_destroy(&sampling);
    pm_lookup_finish(&sampling.commands);
    pm_lookup_finish(&sampling.pools);
    pm_lookup_finish(&sampling.queries);
    memset(&sampling, 0, sizeof sampling);
    memset(places, 0, sizeof places);
    atomic_store(&device.binds, 0);
    atomic_store(&device.watched, 0);
    return 0;
}

/* Whether it begins the short way what was submitted once. */
static bool begins_short(VkCommandBuffer buffer)
{
    struct pm_command *command = pm_command_of(&sampling, buffer);
    atomic_store(&command->submits, 1);
    assert_int_equal(pm_BeginCommandBuffer(buffer, &once), VK_SUCCESS);
    assert_int_equal(atomic_load(&command->submits), 0);
    return submits == 0;
}

/* Wherever its record is in the table; there are some that are not where their hash points. */
static void all_begin_short(void)
{
    int behind = 0;
    for (int i = 0; i < BUFFERS; i++) {
        behind += pm_lookup_glance(pm_one.command_slots, PM_KEY(buffers[i])) == NULL;
        assert_true(begins_short(buffers[i]));
    }
    assert_true(behind > 0 && behind < BUFFERS);
}

static void whoever_is_behind_begins_as_short(void **unused)
{
    (void)unused;
    all_begin_short();
    atomic_store(&sampling.learned, false);
    pm_registry_arm(&device, false);
    all_begin_short();
    assert_int_equal(atomic_load(&sampling.anew), BUFFERS);
    pm_registry_follow(&device, 1);
    all_begin_short();
    for (int i = 0; i < BUFFERS; i++)
        assert_int_equal(pm_command_of(&sampling, buffers[i])->pushed.wanted, 1);
}

static void touch_all(void)
{
    for (int i = 0; i < BUFFERS; i++)
        pm_command_of(&sampling, buffers[i])->touched = true;
}

/* From what makes it necessary to know of every recording on, those begin short too of which
 * something is known. */
static void care_that_is_taken_later_changes_the_way(void **unused)
{
    (void)unused;
    touch_all();
    assert_false(begins_short(buffers[0]));
    VkQueryPool queries;
    VkQueryPoolCreateInfo info = {.queryType = VK_QUERY_TYPE_OCCLUSION};
    touch_all();
    assert_int_equal(pm_CreateQueryPool(device.handle, &info, NULL, &queries), VK_SUCCESS);
    assert_false(begins_short(buffers[0]));
    info.queryType = VK_QUERY_TYPE_RESULT_STATUS_ONLY_KHR;
    touch_all();
    assert_int_equal(pm_CreateQueryPool(device.handle, &info, NULL, &queries), VK_SUCCESS);
    assert_true(pm_binds_any(&device, PM_BINDS_CAREFUL));
    all_begin_short();
}

static void so_does_the_first_protected_pool(void **unused)
{
    (void)unused;
    const VkCommandPoolCreateInfo info = {.flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT};
    VkCommandPool pool;
    touch_all();
    assert_int_equal(pm_CreateCommandPool(device.handle, &info, NULL, &pool), VK_SUCCESS);
    assert_true(pm_binds_any(&device, PM_BINDS_CAREFUL));
    all_begin_short();
}

/* Whether a reset lets go of what the recording holds: the only one that does. */
static bool reset_drops(VkCommandBuffer buffer)
{
    struct pm_command *command = pm_command_of(&sampling, buffer);
    struct pm_hold **holds = command->holds, *none = NULL;
    command->holds = &none;
    command->hold_count = 1;
    atomic_store(&sampling.holding, 1);
    assert_int_equal(pm_ResetCommandBuffer(buffer, 0), VK_SUCCESS);
    const bool dropped = command->hold_count == 0;
    assert_int_equal(atomic_load(&sampling.holding), !dropped);
    command->holds = holds;
    command->hold_count = 0;
    return dropped;
}

/* Resets are looked at from arming on, until nobody holds anything any more, armed or not. */
static void resets_are_looked_at_while_anything_is_held(void **unused)
{
    (void)unused;
    pthread_mutex_init(&sampling.lock, NULL);
    pm_registry_arm(&device, false);
    assert_false(reset_drops(buffers[0]));
    pm_registry_arm(&device, true);
    assert_true(reset_drops(buffers[0]));
    atomic_store(&sampling.holding, 1);
    pm_registry_arm(&device, false);
    assert_true(reset_drops(buffers[0])); /* the last */
    assert_false(reset_drops(buffers[0]));
    pm_registry_arm(&device, true);
    atomic_store(&sampling.holding, 0);
    pm_registry_arm(&device, false);
    assert_false(reset_drops(buffers[0]));
    atomic_store(&sampling.holding, 0);
    pthread_mutex_destroy(&sampling.lock);
}

/* What becomes of a recording that has bound something and then executes another. */
struct outcome {
    uint32_t noted; /* executions */
    bool bound;     /* it is known what is */
};
static struct outcome execute_one(void)
{
    struct pm_command *primary = pm_command_of(&sampling, buffers[0]);
    assert_int_equal(pm_BeginCommandBuffer(buffers[0], &once), VK_SUCCESS);
    /* Room for one comes with the first that is noted. */
    pm_command_execute(primary, 1, &buffers[1]);
    assert_int_equal(pm_BeginCommandBuffer(buffers[0], &once), VK_SUCCESS);
    assert_int_equal(primary->executed_count + primary->noted_count, 0);
    primary->lately.game[PM_COMPUTE] = 7;
    primary->pushed.known[1] = 1;
    const uint32_t before = executed;
    pm_CmdExecuteCommands(buffers[0], 1, &buffers[1]);
    assert_int_equal(executed, before + 1);
    const struct outcome outcome = {.noted = primary->executed_count + primary->noted_count,
                                    .bound = primary->lately.game[PM_COMPUTE] != 0 &&
                                             primary->pushed.known[1] != 0};
    assert_int_equal(primary->lately.game[PM_COMPUTE] != 0, primary->pushed.known[1] != 0);
    primary->lately.game[PM_COMPUTE] = primary->pushed.known[1] = 0;
    return outcome;
}

/* Until it is known whether the game keeps recordings what they execute is noted, as it is for what
 * is sampled; and where it is known of every recording what is bound, that is forgotten. */
static void executions_are_looked_at_for_what_they_matter(void **unused)
{
    (void)unused;
    struct outcome outcome = execute_one();
    assert_true(outcome.noted == 0 && outcome.bound);
    atomic_store(&sampling.holding, 1);
    pm_registry_arm(&device, false); /* none is the first to hold something but while armed */
    outcome = execute_one();
    assert_true(outcome.noted == 1 && !outcome.bound);
    atomic_store(&sampling.holding, 0);
    atomic_store(&sampling.learned, false);
    pm_registry_arm(&device, false);
    outcome = execute_one();
    assert_true(outcome.noted == 1 && outcome.bound);
    assert_false(pm_command_of(&sampling, buffers[0])->touched);
    /* Known by the game's having submitted so many again. */
    atomic_store(&sampling.again, PM_MOST_LEARNED);
    pm_registry_arm(&device, false);
    outcome = execute_one();
    assert_true(outcome.noted == 0 && outcome.bound);
    atomic_store(&sampling.again, 0);
    atomic_store(&sampling.learned, true);
    pm_registry_be_careful(&device);
    outcome = execute_one();
    assert_true(outcome.noted == 0 && !outcome.bound);
    assert_true(pm_command_of(&sampling, buffers[0])->touched);
    atomic_store(&sampling.learned, false);
    pm_registry_arm(&device, false);
    outcome = execute_one();
    assert_true(outcome.noted == 1 && !outcome.bound);
    pm_registry_arm(&device, true);
    outcome = execute_one();
    assert_true(outcome.noted == 1 && !outcome.bound);
    atomic_store(&sampling.learned, true);
    atomic_store(&device.binds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whoever_is_behind_begins_as_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(care_that_is_taken_later_changes_the_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(so_does_the_first_protected_pool, set_up, tear_down),
        cmocka_unit_test_setup_teardown(resets_are_looked_at_while_anything_is_held, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(executions_are_looked_at_for_what_they_matter, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
