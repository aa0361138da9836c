/* Variants for words of uniform buffers: made for what this machine has seen in earlier sessions,
 * tried as others are, made at once where they were proven, and nothing of them leaves the machine.
 */
#include "tests/layer/trial/trying.h"

#include "guarded.comp.h"
#include "profile/values_store.h"
#include "shader_rewrite/shader_rewrite.h"

#include <stdio.h>
#include <stdlib.h>

#define MADE "words of uniforms, compute"

static VkPipeline make(struct pm_harness *h)
{
    return pm_harness_compute_of(h, guarded_comp, sizeof guarded_comp, h->layout);
}

/* ---- what the machine has seen ---- */

static uint64_t zeros, others;

/* Of the words of a shader that has any. */
static void see(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader stored;
    struct pm_constant_points points;
    struct pm_error error = {0};
    if (!pm_shader_store_read(store, key, arena, &stored, &error) ||
        !pm_points_constant(stored.canonical, stored.canonical_count, false, &points, &error))
        fail_msg("%s", error.message);
    struct pm_values_store *values = pm_values_store_open(NULL, "game", pm_canonicalize_recipe());
    struct pm_word_values words[16] = {{0}};
    assert_true(points.count <= 16);
    for (uint32_t i = 0; i < points.count; i++) {
        pm_word_values_add(&words[i], 0, zeros);
        pm_word_values_add(&words[i], 0x3f800000, others);
    }
    if (points.count > 0)
        assert_true(pm_values_store_put(values, key, points.count, words) &&
                    pm_values_store_save(values, &error));
    pm_values_store_close(values);
    pm_constant_points_finish(&points);
    pm_arena_destroy(arena);
}

/* A session that puts the shader into the store, and what is known of it afterwards. */
static void learn(uint64_t zero, uint64_t other)
{
    struct pm_harness h;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    pm_harness_open(&h, NULL);
    h.vk.DestroyPipeline(h.device, make(&h), NULL);
    pm_harness_close(&h);
    zeros = zero;
    others = other;
    optimized_each_stored(see);
}

static void open_trying(uint64_t cost)
{
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    pm_harness_open(&trying.h, NULL);
    trying.variant_cost = cost;
    trying.compute = make(&trying.h);
    trying_costs();
}

/* ---- tests ---- */

static void it_is_tried_and_used(void **state)
{
    (void)state;
    learn(100, 2);
    open_trying(80000);
    optimized_assert_logged(MADE, 1);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    trying_close();
    trying_assert_no_timing();
}

static void a_slower_one_is_dropped(void **state)
{
    (void)state;
    learn(100, 2);
    open_trying(130000);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "dropped"));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
    trying_assert_no_timing();
}

/* Words that have another value too often, that were seen too seldom, and what is withheld. */
static void none_is_made_where_it_is_not_known(void **state)
{
    (void)state;
    learn(100, 10);
    open_trying(80000);
    optimized_assert_logged(MADE, 0);
    trying_close();
}

static void none_is_made_of_little(void **state)
{
    (void)state;
    learn(12, 0);
    open_trying(80000);
    optimized_assert_logged(MADE, 0);
    trying_close();
}

static void none_is_made_where_it_is_withheld(void **state)
{
    (void)state;
    learn(100, 0);
    setenv("PIECEMEAL_OPTIMIZE_CONSTANTS", "false", 1);
    open_trying(80000);
    optimized_assert_logged(MADE, 0);
    trying_close();
}

/* In the next session, whether a recording that is made right behind the pipeline names its
 * variant. Nothing is made in the background meanwhile. */
static bool is_bound_at_once(void)
{
    pm_harness_open(&trying.h, NULL);
    trying.h.driver->hold_compiles(true);
    trying.compute = make(&trying.h);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, 0);
    const uint64_t position = trying.h.driver->position();
    trying_dispatch(buffer);
    const bool bound = optimized_bound(&trying.h, position, 0) != trying.compute;
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    trying.h.driver->hold_compiles(false);
    trying_close();
    return bound;
}

/* Where the program records once, it would come too early for what is made in the background. */
static void a_proven_one_is_made_at_once(void **state)
{
    (void)state;
    learn(100, 2);
    open_trying(80000);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    /* As long as a test machine that is busy may take. */
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    assert_true(is_bound_at_once());
    assert_true(is_bound_at_once());
    optimized_assert_logged(MADE, 1);
    setenv("PIECEMEAL_OPTIMIZE_CONSTANTS", "false", 1);
    assert_false(is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_CONSTANTS", "true", 1);
    assert_true(is_bound_at_once());
    trying_assert_no_timing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(it_is_tried_and_used),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(none_is_made_where_it_is_not_known),
        PM_LAYERED_TEST(none_is_made_of_little),
        PM_LAYERED_TEST(none_is_made_where_it_is_withheld),
        PM_LAYERED_TEST(a_proven_one_is_made_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
