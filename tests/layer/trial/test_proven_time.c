/* What is proven is made when the pipeline is (layer/shader/at_once.h) while there is time for it:
 * of a pipeline, of a second, and while the program loads. */
#include "tests/layer/trial/prove.h"

#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* PIPELINES: of a program; WAITED_MS: longer than a busy machine interrupts a thread. */
enum { PIPELINES = 12, WAITED_MS = 400 };

/* The driver need not compile it, however long that would take. */
static void what_is_compiled_is_made_at_once(void **state)
{
    (void)state;
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    prove();
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "10", 1);
    assert_false(prove_is_bound_at_once());
    setenv("PM_NULL_COMPILED", "1", 1);
    assert_true(prove_is_bound_at_once());
}

/* A driver that always has to compile, or cannot say, is given the time that it took before. */
static void a_short_compile_is_made_at_once(void **state)
{
    (void)state;
    setenv("PM_NULL_COMPILE_US", "2000", 1);
    prove();
    assert_true(prove_is_bound_at_once());
    setenv("PM_NULL_WITHOUT_FEATURES", "pipelineCreationCacheControl", 1);
    assert_true(prove_is_bound_at_once());
}

/* What took longer than there is time for goes on in the background. */
static void a_long_compile_is_not(void **state)
{
    (void)state;
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    setenv("PM_NULL_WITHOUT_FEATURES", "pipelineCreationCacheControl", 1);
    prove();
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "19", 1);
    for (int i = 0; i < 2; i++) {
        const uint64_t position = pm_harness_driver()->position();
        assert_false(prove_is_bound_at_once());
        /* The harness's own, the game's, and the variant in the background. */
        assert_in_range(trying_creations(position), 1, 3);
    }
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "0", 1);
    assert_false(prove_is_bound_at_once());
}

/* What a thread in the background waits for, a lock that the driver holds while the program draws,
 * is not what making it takes. */
static void a_wait_in_the_background_is_none(void **state)
{
    (void)state;
    uint64_t until = 0;
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    setenv("PM_NULL_WITHOUT_FEATURES", "pipelineCreationCacheControl", 1);
    trying.dispatches = trying.background = true;
    pm_harness_driver()->hold_compiles(true);
    const uint64_t position = pm_harness_driver()->position();
    trying_open(80000, NULL);
    while (trying_creations(position) < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    usleep(WAITED_MS * 1000);
    trying.h.driver->hold_compiles(false);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    prove_give_time();
    char limit[16];
    snprintf(limit, sizeof limit, "%d", WAITED_MS / 2);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", limit, 1);
    assert_true(prove_is_bound_at_once());
}

/* But what the game's own thread has just waited for is. */
static void a_wait_in_the_creation_is_one(void **state)
{
    (void)state;
    char text[16];
    setenv("PM_NULL_WITHOUT_FEATURES", "pipelineCreationCacheControl", 1);
    prove();
    snprintf(text, sizeof text, "%d", WAITED_MS / 2);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", text, 1);
    snprintf(text, sizeof text, "%d", WAITED_MS * 1000);
    setenv("PM_NULL_COMPILE_US", text, 1);
    assert_false(prove_is_bound_at_once());
    setenv("PM_NULL_COMPILE_US", "0", 1);
    assert_true(prove_is_bound_at_once());
}

/* With the limits that a player has it is made while the program loads, though it takes longer than
 * there is for one later, and not afterwards. */
static void loading_has_time_for_it(void **state)
{
    (void)state;
    VkCommandBuffer buffer;
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    prove();
    prove_give_usual_time();
    pm_harness_open(&trying.h, NULL);
    assert_true(prove_creates_bound(&buffer));
    trying_run_frames(trying_nothing, TRYING_ONCE, 20);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    assert_false(prove_creates_bound(&buffer));
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    pm_harness_close(&trying.h);
}

/* However many a program makes, it waits for no more than there is. */
static void loading_is_not_made_long(void **state)
{
    (void)state;
    VkPipeline pipelines[PIPELINES];
    VkCommandBuffer buffer;
    uint32_t bound = 0;
    setenv("PM_NULL_COMPILE_US", "50000", 1);
    prove();
    prove_give_usual_time();
    pm_harness_open(&trying.h, NULL);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        bound += prove_creates_bound(&buffer);
        pipelines[i] = trying.compute;
    }
    /* 200 ms, and 2 of a second's for each. */
    assert_in_range(bound, 1, 4);
    for (uint32_t i = 0; i < PIPELINES; i++)
        trying.h.vk.DestroyPipeline(trying.h.device, pipelines[i], NULL);
    pm_harness_close(&trying.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_is_compiled_is_made_at_once),
        PM_LAYERED_TEST(a_short_compile_is_made_at_once),
        PM_LAYERED_TEST(a_long_compile_is_not),
        PM_LAYERED_TEST(a_wait_in_the_background_is_none),
        PM_LAYERED_TEST(a_wait_in_the_creation_is_one),
        PM_LAYERED_TEST(loading_has_time_for_it),
        PM_LAYERED_TEST(loading_is_not_made_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
