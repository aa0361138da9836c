/* From counters in device memory to profiles on disk (HAZARDS 13). The null driver runs no shaders,
 * so the test counts in their place: it learns the counters' address from the specialization
 * constants of the variant, as the shader does. */
#include "aggregator_client/disk/spool.h"
#include "tests/layer/layered.h"
#include "tests/patience.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two of the units that the shader's points have (instrument.h, struct pm_block_layout) are counted
 * besides its entry. As `piecemeal shader instrument_blocks --json` says them: */
static const uint8_t unit_of[] = {0, 1, 2, 3, 2, 0, 4, 5, 0};
enum { COUNTED = 2, UNITS = 6, SPACE = sizeof unit_of, FRAMES = 20 };
enum { FULL, OTHERS = UNITS, PART_LANES = 3 * UNITS };

static struct pm_harness h;
static bool lanes_only; /* then lanes alone are counted */

/* The last compute variant's counters: a pipeline with two constants more than the shader has, a
 * 64-bit address. */
static void see_variant(void *user, const struct pm_null_call *call)
{
    uint64_t **counters = user;
    if (strcmp(call->command, "vkCreateComputePipelines") != 0)
        return;
    const VkComputePipelineCreateInfo *info = (const void *)(uintptr_t)call->arguments[3];
    const VkSpecializationInfo *constants = info->stage.pSpecializationInfo;
    if (!constants || constants->mapEntryCount != 2)
        return;
    uint32_t words[2];
    for (int i = 0; i < 2; i++)
        memcpy(&words[i], (const char *)constants->pData + constants->pMapEntries[i].offset, 4);
    *counters = (uint64_t *)(uintptr_t)(words[0] | (uint64_t)words[1] << 32);
}

static uint64_t *open_counted(void)
{
    uint64_t *counters = NULL;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_FOLLOW", "false", 1); /* the counters are made up */
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);  /* one variant, whose counters are known */
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "4", 1);
    pm_harness_driver()->set_callback(see_variant, &counters);
    pm_harness_open(&h, NULL);
    pm_harness_driver()->set_callback(NULL, NULL);
    assert_non_null(counters);
    return counters;
}

/* What a sampled dispatch of 64 invocations in two subgroups counts: there one
 * of the subgroups is whole. */
static void count(uint64_t *counters)
{
    counters[FULL] += 2;
    for (uint64_t unit = 1; unit <= COUNTED; unit++) {
        counters[FULL + unit]++;
        counters[OTHERS + unit] += lanes_only ? 28 - unit : 1;
        if (!lanes_only)
            counters[PART_LANES + unit] += 28 - unit;
    }
}

static void dispatch(uint64_t *counters, int frames)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int frame = 0; frame < frames; frame++) {
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        count(counters);
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
}

struct found {
    uint32_t checkpoints, calls;
    uint64_t lanes, subgroups, counts[SPACE][3], alone[SPACE];
};

static bool add_checkpoint(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    struct found *found = user;
    (void)error;
    found->checkpoints++;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        assert_int_equal(shader->space, SPACE);
        for (size_t j = 0; j < shader->point_count; j++) {
            const struct pm_point_counts *point = &shader->points[j];
            if (point->point == 0) {
                found->calls += point->calls;
                found->lanes += point->entry_lanes;
                found->subgroups += point->entry_subgroups;
            }
            for (int k = 0; k < 3; k++)
                found->counts[point->point][k] += point->counts[k];
            found->alone[point->point] += point->lanes_alone;
        }
    }
    return true;
}

/* live: a session that goes on may end in a record that is half there. */
static struct found read_spool(bool live)
{
    struct found found = {0};
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    if (!pm_spool_list(NULL, &sessions, &count, &error) && !live)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged = 0;
        if (!pm_spool_read(sessions[i].path, add_checkpoint, &found, &damaged, &error))
            fail_msg("%s", error.message);
        assert_true(live || damaged == UINT64_MAX);
    }
    pm_spool_list_free(sessions, count);
    return found;
}

static void assert_frames(const struct found *found, uint32_t frames)
{
    assert_int_equal(found->calls, frames);
    assert_int_equal(found->lanes, 64 * frames);
    assert_int_equal(found->subgroups, lanes_only ? 0 : 2 * frames);
    for (uint64_t point = 0; point < SPACE; point++) {
        const uint64_t unit = unit_of[point], counts = unit <= COUNTED ? frames : 0;
        assert_int_equal(found->counts[point][0], (unit ? 60 - unit : 64) * counts);
        assert_int_equal(found->counts[point][1], lanes_only ? 0 : (unit ? 32 : 64) * counts);
        assert_int_equal(found->counts[point][2], lanes_only ? 0 : 2 * counts);
        assert_int_equal(found->alone[point], lanes_only ? found->counts[point][0] : 0);
    }
}

static void every_count_reaches_the_disk(void **state)
{
    (void)state;
    dispatch(open_counted(), FRAMES);
    pm_harness_close(&h);
    struct found found = read_spool(false);
    assert_frames(&found, FRAMES);
    assert_true(found.checkpoints >= 1 && found.checkpoints <= FRAMES / 4 + 2);
}

static void lanes_alone_reach_the_disk(void **state)
{
    (void)state;
    lanes_only = true;
    setenv("PIECEMEAL_SAMPLER_UNIFORMITY", "false", 1);
    dispatch(open_counted(), FRAMES);
    pm_harness_close(&h);
    struct found found = read_spool(false);
    assert_frames(&found, FRAMES);
    lanes_only = false;
    unsetenv("PIECEMEAL_SAMPLER_UNIFORMITY");
}

/* On a device that is slow, and in queues that are not the first. */
static void from_a_slow_device(void **state)
{
    (void)state;
    setenv("PM_NULL_DELAY_US", "2000", 1);
    dispatch(open_counted(), FRAMES);
    pm_harness_close(&h);
    struct found found = read_spool(false);
    assert_frames(&found, FRAMES);
}

/* Without timeline semaphores a fence says that a copy is there; without 64-bit atomics counters
 * are two words. */
static void with_less_of_a_driver(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "timelineSemaphore,shaderInt64,shaderBufferInt64Atomics", 1);
    dispatch(open_counted(), FRAMES);
    pm_harness_close(&h);
    struct found found = read_spool(false);
    assert_frames(&found, FRAMES);
}

/* A driver that lacks memory to say whether a copy is there is asked again. */
static void a_driver_that_cannot_say(void **state)
{
    (void)state;
    setenv("PM_NULL_FAIL", "vkGetSemaphoreCounterValue:1=-1", 1); /* out of host memory */
    dispatch(open_counted(), FRAMES);
    pm_harness_close(&h);
    unsetenv("PM_NULL_FAIL");
    struct found found = read_spool(false);
    assert_frames(&found, FRAMES);
}

/* What was counted comes to disk while the device goes on with nothing more to count, and a game
 * that is then killed loses none of it. */
static void killed_once_it_is_on_disk(void **state)
{
    (void)state;
    int status;
    uint64_t until = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(2 * PATIENCE_SECONDS);
        uint64_t *counters = open_counted();
        dispatch(counters, FRAMES);
        for (;;) {
            PM_CHECK(h.vk.QueueSubmit(h.queue, 0, NULL, VK_NULL_HANDLE));
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
    }
    while (read_spool(true).calls < FRAMES && patience(&until))
        ;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    struct found found = read_spool(false);
    assert_frames(&found, FRAMES);
}

/* A copy waits for what was submitted before it. lavapipe 22 leaves out a barrier that is the
 * first command, so there is another before it; and what that writes is copied over. */
static void a_barrier_is_never_the_first_command(void **state)
{
    (void)state;
    uint64_t *counters = open_counted();
    const uint64_t since = h.driver->position();
    dispatch(counters, FRAMES);
    uint64_t barrier = 0;
    struct pm_null_call call;
    for (uint64_t at = since; barrier == 0 && h.driver->read(at, &call); at++) {
        if (strcmp(call.command, "vkCmdPipelineBarrier") == 0)
            barrier = call.arguments[0];
    }
    assert_true(barrier != 0);
    char *calls = pm_calls_on(h.driver, since, (const void *)(uintptr_t)barrier);
    const char copying[] = "vkBeginCommandBuffer vkCmdFillBuffer vkCmdPipelineBarrier "
                           "vkCmdCopyBuffer vkCmdPipelineBarrier vkEndCommandBuffer ";
    if (strncmp(calls, copying, strlen(copying)) != 0)
        fail_msg("%s", calls);
    free(calls);
    const struct pm_null_call fill = pm_call(h.driver, since, "vkCmdFillBuffer", 0);
    const struct pm_null_call copy = pm_call(h.driver, since, "vkCmdCopyBuffer", 0);
    assert_int_equal(fill.arguments[1], copy.arguments[2]);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(every_count_reaches_the_disk),
        PM_LAYERED_TEST(lanes_alone_reach_the_disk),
        PM_LAYERED_TEST(a_barrier_is_never_the_first_command),
        PM_LAYERED_TEST(from_a_slow_device),
        PM_LAYERED_TEST(with_less_of_a_driver),
        PM_LAYERED_TEST(a_driver_that_cannot_say),
        PM_LAYERED_TEST(killed_once_it_is_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
