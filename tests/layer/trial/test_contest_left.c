/* A session that ends in the middle of a contest (layer/shader/contest.h), well or badly: what it
 * measured need not be measured again, and what the driver crashed at takes no part any more. */
#include "tests/layer/trial/contested.h"

#include "tests/patience.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A session that ends in the middle. Returns how many variants it measured: all but the game's own
 * and the one under way. */
static uint32_t end_in_the_middle(void)
{
    contested_set_times(2);
    contested_open();
    contested_run_until_count(5);
    optimized_assert_logged("none is faster", 0);
    const uint32_t left = contested.count - 2;
    contested_close();
    assert_true(left >= 3);
    return left;
}

/* A later one measures the others alone. */
static void go_on_without(uint32_t left)
{
    contested_set_times(0.8);
    contested_open();
    assert_true(contested_run_until("the fastest is"));
    assert_true(contested_variants("") > left); /* with those */
    assert_in_range(contested.count - 1, 1, contested_variants("") - left);
    contested_close();
}

/* What a session measured need not be measured again. */
static void the_next_session_goes_on(void **state)
{
    (void)state;
    go_on_without(end_in_the_middle());
}

/* The driver never saw the others, or they were measured, and no recording has them but the last
 * one's: a game that ends badly says nothing about them. */
static void only_what_is_measured_is_written_down(void **state)
{
    (void)state;
    struct pm_shader_key keys[CONTESTED_MOST];
    contested_set_times(1);
    contested_open();
    contested_run_until_count(3);
    assert_in_range(optimized_journal(keys, CONTESTED_MOST), 0, 2);
    contested_close();
    assert_int_equal(optimized_journal(keys, CONTESTED_MOST), 0);
}

static bool is_any_of(const struct pm_shader_key *key, const struct pm_shader_key *keys,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pm_shader_key_equal(key, &keys[i]))
            return true;
    return false;
}

/* How many of these the journal has now. */
static size_t still_written(const struct pm_shader_key *keys, size_t count)
{
    struct pm_shader_key now[CONTESTED_MOST];
    const size_t there = optimized_journal(now, CONTESTED_MOST);
    size_t still = 0;
    for (size_t i = 0; i < count; i++)
        still += is_any_of(&keys[i], now, there);
    return still;
}

/* A frame that runs a variant, and is not recorded anew. */
static VkCommandBuffer keep_a_recording(void)
{
    for (uint64_t until = 0; patience(&until);) {
        VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        const uint64_t position = trying.h.driver->position();
        trying_frame(buffer, TRYING_ONCE, trying_dispatch);
        if (trying_foreign_binds(position) > 0)
            return buffer;
        trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
    }
    fail_msg("no frame ran a variant");
    return VK_NULL_HANDLE;
}

/* While the game might run it once more, what becomes of the game may be its doing. */
static void what_a_recording_has_stays_written_down(void **state)
{
    (void)state;
    struct pm_shader_key keys[CONTESTED_MOST];
    /* What is slower is out of the contest once it was measured. */
    contested_set_times(2);
    contested_open();
    contested_run_until_count(2);
    VkCommandBuffer buffer = keep_a_recording();
    const size_t count = optimized_journal(keys, CONTESTED_MOST);
    assert_true(count > 0);
    contested_run_until_count(contested.count + 3);
    assert_int_equal(still_written(keys, count), 1);
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
    uint64_t until = 0;
    while (still_written(keys, count) > 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(still_written(keys, count), 0);
    contested_close();
}

/* With its contest, in the middle of which a recording has a variant that may yet win. */
static void end_device_in_the_middle(void)
{
    struct pm_shader_key keys[CONTESTED_MOST];
    contested_run_until_count(contested.count + 1);
    keep_a_recording();
    assert_true(optimized_journal(keys, CONTESTED_MOST) > 0);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    pm_harness_close_device(&trying.h);
}

/* Whatever becomes of the game then, no device has what it tried on those before. More than one,
 * since what goes with the pipeline may be off the journal by the time that the device goes. */
static void another_device_has_nothing_of_it(void **state)
{
    enum { DEVICES = 4 };
    (void)state;
    const struct pm_harness_options defaults = {0};
    struct pm_shader_key keys[CONTESTED_MOST];
    contested_set_times(1);
    contested_open();
    for (int i = 0; i < DEVICES; i++) {
        end_device_in_the_middle();
        PM_CHECK(pm_harness_create_device(&trying.h, &defaults));
        pm_harness_open_rest(&trying.h);
        assert_int_equal(optimized_journal(keys, CONTESTED_MOST), 0);
        trying.compute = optimized_compute(&trying.h);
        contested.count = 0;
        contested_index(trying.compute);
    }
    contested_close();
}

static void forget_log(void)
{
    char log[300];
    snprintf(log, sizeof log, "%s/log", pm_layered_home());
    assert_int_equal(unlink(log), 0);
}

/* A session in which the driver builds nothing: what was measured before it is not thrown away. */
static void a_driver_without_memory_ends_nothing(void **state)
{
    (void)state;
    const uint32_t left = end_in_the_middle();
    contested_open_with(&(struct contested_session){.faults = "vkCreateComputePipelines:2+=-2"});
    assert_true(contested_run_until("none is faster"));
    assert_int_equal(contested.count, 1);
    assert_true(trying.h.driver->inject(""));
    contested_close();
    forget_log();
    go_on_without(left);
}

/* A session that ends while the winner is tried: the next one has yet to build it. */
static void the_next_session_tries_the_winner(void **state)
{
    (void)state;
    uint64_t until = 0;
    contested_set_times(2);
    contested.times[2] = 0.8;
    contested_open();
    while (optimized_logged("is tried") == 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    optimized_assert_logged("the fastest is", 0);
    contested_close();

    contested_set_times(0.8);
    contested_open();
    assert_true(contested_run_until("the fastest is"));
    assert_int_equal(contested.count, 2);
    contested_close();
}

/* Shared with a session in a process of its own: the words that the driver was given last, and
 * whether it was given those of the variant that it crashed at. */
static struct {
    uint64_t given, crashed_at;
    uint32_t pipelines;
    _Atomic bool given_again;
} * shared;

static void see_words(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreateShaderModule") != 0)
        return;
    const VkShaderModuleCreateInfo *module =
        (const VkShaderModuleCreateInfo *)(uintptr_t)call->arguments[1];
    shared->given = module->codeSize;
    for (size_t i = 0; i < module->codeSize / 4; i++)
        shared->given = pm_random_mix(shared->given ^ module->pCode[i]);
    if (shared->given == shared->crashed_at)
        shared->given_again = true;
}

/* The game's own is the first, and one variant is measured before. */
static void crash_at_the_third(void *user, const struct pm_null_call *call)
{
    see_words(user, call);
    if (strcmp(call->command, "vkCreateComputePipelines") != 0 || ++shared->pipelines < 3)
        return;
    shared->crashed_at = shared->given;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void crash_in_a_session(void)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        contested_open_with(&(struct contested_session){.see = crash_at_the_third});
        contested_run_until("the fastest is");
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* The driver crashes while it makes a variant: the next session's contest goes on without that. */
static void what_the_driver_crashed_at_takes_no_part(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    contested_set_times(0.8);
    crash_in_a_session();
    assert_true(shared->crashed_at != 0);
    contested_open_with(&(struct contested_session){.see = see_words});
    assert_true(contested_run_until("the fastest is"));
    optimized_assert_logged("the last session did not end properly", 1);
    assert_true(contested.count > 2);
    assert_false(shared->given_again);
    contested_close();
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_next_session_goes_on),
        PM_LAYERED_TEST(only_what_is_measured_is_written_down),
        PM_LAYERED_TEST(what_a_recording_has_stays_written_down),
        PM_LAYERED_TEST(another_device_has_nothing_of_it),
        PM_LAYERED_TEST(a_driver_without_memory_ends_nothing),
        PM_LAYERED_TEST(the_next_session_tries_the_winner),
        PM_LAYERED_TEST(what_the_driver_crashed_at_takes_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
