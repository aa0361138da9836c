/* Push constants of sampled calls: how often they were what is counted and spooled, what they were
 * stays on the machine; and what is not known of them is not counted. */
#include "aggregator_client/client.h"
#include "base/file.h"
#include "profile/values_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/layer/folded.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing else has these bytes. */
#define MARK 0x5ec2e7a1

static struct pm_harness h;
static struct folded folded;
static const struct folded_push marked = {MARK, 3, 0.5f, 2}, zeros = {0, 3, 0.5f, 2};

static void open_all(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    const struct pm_harness_options options = {.api_version = VK_API_VERSION_1_4};
    setenv("PM_NULL_API_VERSION", "1.4", 1);
    pm_harness_open(&h, &options);
    folded_make(&folded, &h);
}

static void close_all(void)
{
    folded_destroy(&folded, &h);
    pm_harness_close(&h);
}

static VkCommandBuffer begin(VkCommandBufferLevel level)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, level);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, folded.compute);
    return buffer;
}

static void dispatch(VkCommandBuffer buffer, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
}

/* ---- what is in the spool ---- */

struct found {
    struct pm_shader_key key;
    struct pm_point_counts points[8];
    uint32_t space, checkpoints;
};

static bool has_bytes(const void *data, size_t size, uint32_t value)
{
    return memmem(data, size, &value, sizeof value) != NULL;
}

static bool take(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    struct found *found = user;
    struct pm_buffer bytes;
    pm_buffer_init(&bytes, 1 << 24);
    assert_true(pm_profile_encode(profile, &bytes, error));
    assert_false(has_bytes(bytes.data, bytes.size, MARK));
    /* As protobuf has numbers. */
    static const unsigned char varint[] = {0xa1, 0xcf, 0x8b, 0xf6, 0x05};
    assert_null(memmem(bytes.data, bytes.size, varint, sizeof varint));
    pm_buffer_finish(&bytes);
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        if (shader->kind != PM_KIND_CONSTANT)
            continue;
        found->checkpoints++;
        found->key = shader->key;
        found->space = shader->space;
        assert_true(shader->space <= 8);
        for (size_t j = 0; j < shader->point_count; j++) {
            struct pm_point_counts *point = &found->points[shader->points[j].point];
            point->calls += shader->points[j].calls;
            for (int k = 0; k < PM_COUNTS; k++)
                point->counts[k] += shader->points[j].counts[k];
        }
    }
    return true;
}

static struct found take_spool(void)
{
    struct found found = {0};
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    if (!pm_spool_list(NULL, &sessions, &count, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        struct pm_buffer file;
        uint64_t damaged = 0;
        pm_buffer_init(&file, 1 << 24);
        assert_true(pm_file_read(sessions[i].path, &file, &error));
        assert_false(has_bytes(file.data, file.size, MARK));
        pm_buffer_finish(&file);
        if (!pm_spool_read(sessions[i].path, take, &found, &damaged, &error))
            fail_msg("%s", error.message);
        assert_int_equal(remove(sessions[i].path), 0);
    }
    pm_spool_list_free(sessions, count);
    return found;
}

static void assert_counts(const struct found *found, uint32_t point, uint64_t loads, uint64_t same,
                          uint64_t zero)
{
    const uint64_t *counts = found->points[point].counts;
    assert_int_equal(counts[PM_CONSTANT_LOADS], loads);
    assert_int_equal(counts[PM_CONSTANT_SAME], same);
    assert_int_equal(counts[PM_CONSTANT_ZERO], zero);
    assert_int_equal(found->points[point].calls, loads);
}

/* ---- tests ---- */

static void values_stay_on_the_machine(void **state)
{
    (void)state;
    open_all();
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    folded_push(&h, buffer, folded.layout, &zeros, 0, 4);
    dispatch(buffer, 3);
    folded_push(&h, buffer, folded.layout, &marked, 0, 1);
    dispatch(buffer, 7);
    pm_harness_run(&h, buffer);
    close_all();
    const struct found found = take_spool();
    assert_in_range(found.space, 2, 4);
    assert_counts(&found, 0, 10, 7, 3);
    assert_counts(&found, 1, 10, 10, 0);
    struct pm_values_store *store = pm_values_store_open(NULL, "game", pm_canonicalize_recipe());
    const struct pm_word_values *words = pm_values_store_find(store, &found.key, found.space);
    assert_non_null(words);
    assert_int_equal(words[0].loads, 10);
    assert_int_equal(pm_word_values_most(&words[0])->value, MARK);
    assert_int_equal(pm_word_values_most(&words[1])->value, 3);
    pm_values_store_close(store);
}

/* Whatever leads when a part is written. */
static void parts_of_a_session_add_up(void **state)
{
    (void)state;
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    open_all();
    for (int i = 0; i < 12; i++) {
        VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        folded_push(&h, buffer, folded.layout, i % 6 < 2 ? &zeros : &marked, 0, 4);
        dispatch(buffer, i % 6 < 2 ? 5 : 1);
        pm_harness_run(&h, buffer);
    }
    close_all();
    const struct found found = take_spool();
    assert_counts(&found, 0, 28, 20, 20);
    assert_counts(&found, 1, 28, 28, 0);
    unsetenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS");
}

/* Nothing was pushed; pushed with other ranges; in the primary, behind secondaries; to one stage of
 * those that read the words, which Vulkan does not allow. */
static void what_is_not_known_is_not_counted(void **state)
{
    (void)state;
    open_all();
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    dispatch(buffer, 1);
    folded_push(&h, buffer, folded.other, &marked, 0, 4);
    dispatch(buffer, 1);
    folded_push(&h, buffer, folded.equal, &marked, 0, 1);
    dispatch(buffer, 1); /* the first word is known, and the second is not */
    const VkPushConstantsInfo info = {.sType = VK_STRUCTURE_TYPE_PUSH_CONSTANTS_INFO,
                                      .layout = folded.layout,
                                      .stageFlags = VK_SHADER_STAGE_ALL,
                                      .offset = 0,
                                      .size = 16,
                                      .pValues = &marked};
    h.vk.CmdPushConstants2(buffer, &info);
    dispatch(buffer, 1); /* both are known */
    VkCommandBuffer secondary = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    dispatch(secondary, 1); /* nothing is inherited */
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, folded.compute);
    pm_harness_bind_set(&h, buffer);
    dispatch(buffer, 1);
    h.vk.CmdPushConstants(buffer, folded.layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, 8, &marked);
    dispatch(buffer, 1);
    h.vk.CmdPushConstants2(buffer, &info); /* nothing is believed of the recording any more */
    dispatch(buffer, 1);
    pm_harness_run(&h, buffer);
    close_all();
    const struct found found = take_spool();
    assert_counts(&found, 0, 2, 2, 0);
    assert_counts(&found, 1, 1, 1, 0);
}

static void nothing_without_the_kind(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_KINDS", "block,zero", 1);
    open_all();
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    folded_push(&h, buffer, folded.layout, &marked, 0, 4);
    dispatch(buffer, 3);
    pm_harness_run(&h, buffer);
    close_all();
    const struct found found = take_spool();
    assert_int_equal(found.checkpoints, 0);
    char path[200];
    snprintf(path, sizeof path, "%s/piecemeal/values", pm_layered_home());
    DIR *folder = opendir(path);
    assert_null(folder);
}

/* The only kind there is: nothing is instrumented, and it is sampled all the same. */
static void alone(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_KINDS", "constant", 1);
    open_all();
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    folded_push(&h, buffer, folded.layout, &marked, 0, 4);
    const uint64_t position = h.driver->position();
    dispatch(buffer, 3);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 0);
    pm_harness_run(&h, buffer);
    close_all();
    const struct found found = take_spool();
    assert_counts(&found, 0, 3, 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(values_stay_on_the_machine),
        PM_LAYERED_TEST(parts_of_a_session_add_up),
        PM_LAYERED_TEST(what_is_not_known_is_not_counted),
        PM_LAYERED_TEST(nothing_without_the_kind),
        PM_LAYERED_TEST(alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
