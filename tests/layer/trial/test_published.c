/*
 * What a PGO database says of variants' time (HAZARDS 24): it chooses what is tried and what is
 * compiled, and never what is bound. The database is hostile: it says the opposite of what is true.
 */
#include "tests/layer/trial/trying.h"

#include "tests/layer/pipelines.h"

#include <stdlib.h>
#include <string.h>

/* A session in which all variants are published as so fast. */
static void open_with(double low, double high, uint64_t variant_cost, const char *doubt_share)
{
    setenv("PIECEMEAL_OPTIMIZE_DOUBT_SHARE", doubt_share, 1);
    trying.dispatches = true;
    trying.published[0] = low;
    trying.published[1] = high;
    trying_open(variant_cost, NULL);
}

/* Ten times as fast, it says. */
static void faster_is_no_verdict(void **state)
{
    (void)state;
    open_with(0.1, 0.1, 150000, "0");
    const uint64_t position = trying.h.driver->position();
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "dropped"));
    /* What was bound was timed, half of the time. */
    const uint32_t binds = trying_foreign_binds(position);
    assert_true(binds > 0);
    assert_true(2 * binds <= pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"));
    const uint64_t after = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(after), 0);
    trying_close();
    optimized_assert_logged("is used from now on", 0);
    trying_assert_timing(1.5, 0.01);
}

/* Draws are tried by whole render passes here. */
static void nor_for_draws(void **state)
{
    (void)state;
    trying.published[0] = trying.published[1] = 0.1;
    trying_open(150000, NULL);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "dropped"));
    const uint64_t after = trying.h.driver->position();
    trying_run_frames(trying_draw, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(after), 0);
    trying_close();
    optimized_assert_logged("is used from now on", 0);
}

static void it_is_none_where_nothing_is_tried(void **state)
{
    (void)state;
    setenv("PIECEMEAL_OPTIMIZE_DOUBT_SHARE", "1", 1);
    trying.kinds = "block";
    trying.published[0] = trying.published[1] = 0.1;
    trying_open(80000, NULL);
    const uint64_t position = trying.h.driver->position();
    trying_third_frame(trying_dispatch, TRYING_ONCE);
    trying_third_frame(trying_draw, TRYING_ONCE);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
    optimized_assert_logged("is used from now on", 0);
}

/* What is recorded once, right after its pipeline was made, has no variant by what others say. */
static void it_makes_nothing_at_once(void **state)
{
    (void)state;
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    trying.background = true;
    open_with(0.1, 0.1, 80000, "0");
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkPipeline fresh = optimized_compute(&trying.h);
    const uint64_t position = trying.h.driver->position();
    pm_harness_begin(&trying.h, buffer, 0);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, fresh);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    assert_ptr_equal(optimized_bound(&trying.h, position, 0), fresh);
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
    trying.h.vk.DestroyPipeline(trying.h.device, fresh, NULL);
    trying_close();
}

static void slower_spares_a_compile(void **state)
{
    (void)state;
    open_with(1.2, 1.3, 80000, "0");
    assert_true(optimized_logged("the database knows it to be slower then") > 0);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
}

/* A lie dies: on the machine that tries it, it is used, and the spool says how fast it is. */
static void but_not_on_one_machine_of_twenty(void **state)
{
    (void)state;
    open_with(1.2, 1.3, 80000, "1");
    assert_true(optimized_logged("says the database: this machine tries it") > 0);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    const uint64_t after = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(after), 16);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

/* The machine's lot stays, so that the same one of twenty tries a shader in each of its sessions.
 */
static void the_lot_is_the_machines(void **state)
{
    (void)state;
    bool first = false;
    for (int i = 0; i < 8; i++) {
        open_with(1.2, 1.3, 80000, "0.5");
        trying_close();
        const bool tries = optimized_logged("says the database: this machine tries it") > 0;
        assert_true(i == 0 || tries == first);
        first = tries;
    }
}

/* What is likely is tried, and bound only once this machine has found it faster. */
static void likely_is_tried(void **state)
{
    (void)state;
    trying.provisional = PM_PROVISIONAL_LIKELY;
    trying.dispatches = true;
    trying_open(80000, NULL);
    const uint64_t position = trying.h.driver->position();
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    assert_true(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") > 0);
    const uint64_t after = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(after), 16);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

/* A wrong level costs a trial. */
static void likely_but_slower_is_dropped(void **state)
{
    (void)state;
    trying.provisional = PM_PROVISIONAL_LIKELY;
    trying.dispatches = true;
    trying_open(150000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "dropped"));
    const uint64_t after = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(after), 0);
    trying_close();
    optimized_assert_logged("is used from now on", 0);
}

static void unlikely_is_not_made(void **state)
{
    (void)state;
    trying.provisional = PM_PROVISIONAL_UNLIKELY;
    trying.dispatches = true;
    trying_open(80000, NULL);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
}

/* Where nothing is tried it is as if the database said nothing. */
static void likely_is_not_made_where_nothing_is_tried(void **state)
{
    (void)state;
    trying.provisional = PM_PROVISIONAL_LIKELY;
    trying.kinds = "block";
    trying_open(80000, NULL);
    const uint64_t position = trying.h.driver->position();
    trying_third_frame(trying_dispatch, TRYING_ONCE);
    trying_third_frame(trying_draw, TRYING_ONCE);
    assert_int_equal(trying_foreign_binds(position), 0);
    struct pm_shader_key keys[8];
    trying_close();
    assert_int_equal(optimized_journal(keys, 8), 0);
}

/* What an operator signed is as good as a verdict of this machine's own, whatever others say. */
static void signed_as_faster_is_bound(void **state)
{
    (void)state;
    trying.signed_verdict = 1;
    open_with(1.2, 1.3, 80000, "0");
    assert_true(optimized_logged("says the operator, who signed it") > 0);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(position), 16);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
}

static void signed_as_slower_is_not_made(void **state)
{
    (void)state;
    trying.signed_verdict = -1;
    open_with(0.1, 0.1, 80000, "1");
    assert_true(optimized_logged("the operator signed that it is slower") > 0);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
}

/* Without the operator's key nobody checked it. */
static void signed_for_whom_it_may_concern(void **state)
{
    (void)state;
    trying.signed_verdict = 1;
    trying.has_no_key = true;
    open_with(1.2, 1.3, 80000, "0");
    assert_true(optimized_logged("the database knows it to be slower then") > 0);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(faster_is_no_verdict),
        PM_LAYERED_TEST(nor_for_draws),
        PM_LAYERED_TEST(it_is_none_where_nothing_is_tried),
        PM_LAYERED_TEST(it_makes_nothing_at_once),
        PM_LAYERED_TEST(slower_spares_a_compile),
        PM_LAYERED_TEST(but_not_on_one_machine_of_twenty),
        PM_LAYERED_TEST(the_lot_is_the_machines),
        PM_LAYERED_TEST(likely_is_tried),
        PM_LAYERED_TEST(likely_but_slower_is_dropped),
        PM_LAYERED_TEST(unlikely_is_not_made),
        PM_LAYERED_TEST(likely_is_not_made_where_nothing_is_tried),
        PM_LAYERED_TEST(signed_as_faster_is_bound),
        PM_LAYERED_TEST(signed_as_slower_is_not_made),
        PM_LAYERED_TEST(signed_for_whom_it_may_concern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
