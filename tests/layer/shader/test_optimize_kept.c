/* What a session keeps for the next of its specialized shaders: the driver's pipeline cache,
 * verdicts, the store. */
#include "tests/layer/optimized.h"

#include "shader_rewrite/ir/target.h"
#include "tests/patience.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static struct pm_harness h;

static bool is_replaced(VkPipeline pipeline, VkPipelineBindPoint point)
{
    return optimized_effective(&h, pipeline, point) != pipeline;
}

/* ---- the cache on disk (HAZARDS 17) ---- */

static size_t initial_bytes;

static void see_cache(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreatePipelineCache") == 0)
        initial_bytes =
            ((const VkPipelineCacheCreateInfo *)(uintptr_t)call->arguments[1])->initialDataSize;
}

/* A session that builds a variant; what the driver's cache began with. */
static size_t cached_session(void)
{
    initial_bytes = SIZE_MAX;
    pm_harness_driver()->set_callback(see_cache, NULL);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    assert_true(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    pm_harness_driver()->set_callback(NULL, NULL);
    return initial_bytes;
}

static void find_cache(char *path, size_t size)
{
    snprintf(path, size, "ls %s/piecemeal/pipelines/game/*.cache", pm_layered_home());
    FILE *list = popen(path, "r");
    assert_non_null(list);
    assert_non_null(fgets(path, (int)size, list));
    pclose(list);
    path[strcspn(path, "\n")] = '\0';
}

static void the_cache_is_kept(void **state)
{
    (void)state;
    char path[300];
    struct stat status;
    optimized_learn();
    optimized_enable(true);
    assert_int_equal(cached_session(), 0);
    assert_int_equal(cached_session(), sizeof(VkPipelineCacheHeaderVersionOne));
    find_cache(path, sizeof path);
    stat(path, &status);
    /* Every byte of it counts, and its length. */
    for (off_t at = 0; at <= status.st_size; at += 7) {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        if (at < 90 && at + 7 < status.st_size) {
            fseeko(file, at, SEEK_SET);
            const int byte = fgetc(file);
            fseeko(file, at, SEEK_SET);
            fputc(byte ^ 0x40, file);
        } else {
            assert_int_equal(ftruncate(fileno(file), status.st_size - 1), 0);
        }
        fclose(file);
        if (cached_session() != 0)
            fail_msg("byte %ld was not missed", (long)at);
    }
    assert_true(optimized_logged(".cache is not used: it is damaged") > 0);
    assert_int_equal(cached_session(), sizeof(VkPipelineCacheHeaderVersionOne));
    /* Kept nothing, it begins with nothing. */
    setenv("PIECEMEAL_LIMITS_PIPELINE_CACHE_MIB", "0", 1);
    assert_int_equal(cached_session(), 0);
}

/* What was under way when the device was lost is built, and is not kept. What else is known of it
 * is, just before. */
static void a_lost_device_keeps_no_cache(void **state)
{
    (void)state;
    char verdicts[300];
    optimized_learn();
    snprintf(verdicts, sizeof verdicts, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    assert_int_not_equal(access(verdicts, F_OK), 0);
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    const uint64_t position = h.driver->position();
    h.driver->hold_compiles(true);
    assert_false(is_replaced(compute, COMPUTE));
    uint64_t until = 0;
    while (pm_calls_of(h.driver, position, "vkCreateComputePipelines") == 0 && patience(&until))
        ;
    assert_true(h.driver->inject("vkQueueSubmit:1"));
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    h.driver->hold_compiles(false);
    until = 0;
    while (access(verdicts, F_OK) != 0 && patience(&until))
        ;
    assert_int_equal(access(verdicts, F_OK), 0);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkCreateComputePipelines"), 1);
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkGetPipelineCacheData"), 0);
}

static uint32_t stored;
static struct pm_target stored_for;

static void read_target(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader shader;
    struct pm_error error = {0};
    if (!pm_shader_store_read(store, key, arena, &shader, &error))
        fail_msg("%s", error.message);
    stored_for = pm_target_of_bits(shader.target);
    stored++;
    pm_arena_destroy(arena);
}

/* So that a shader can be looked at as on the device that it was for. */
static void the_store_knows_the_device(void **state)
{
    for (int with = 0; with < 2; with++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        VkPhysicalDeviceVulkan12Features features = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            .scalarBlockLayout = with == 1,
            .uniformBufferStandardLayout = with == 0,
        };
        pm_layered_enable(PM_LAYER_IMPLICIT);
        pm_layered_sample_all("1");
        pm_harness_open(&h, &(struct pm_harness_options){.device_next = &features});
        pm_harness_close(&h);
        stored = 0;
        optimized_each_stored(read_target);
        assert_int_equal(stored, 2);
        assert_int_equal(stored_for.vulkan_minor, 3);
        assert_true(stored_for.relaxed_block_layout);
        assert_int_equal(stored_for.scalar_block_layout, with == 1);
        assert_int_equal(stored_for.uniform_buffer_standard_layout, with == 0);
        assert_false(stored_for.workgroup_explicit_layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_cache_is_kept),
        PM_LAYERED_TEST(a_lost_device_keeps_no_cache),
        PM_LAYERED_TEST(the_store_knows_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
