/* debug.recipe on the null driver: what it names is bound, without a trial and whatever an earlier
 * session found, and "any" draws all that fit. */
#include "tests/layer/optimized.h"

#include "shader_rewrite/variants/variants.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

static struct pm_harness h;

static int tear_down(void **state)
{
    unsetenv("PIECEMEAL_DEBUG_RECIPE");
    unsetenv("PIECEMEAL_SAMPLER_SEED");
    unsetenv("PIECEMEAL_OPTIMIZE_VARIANTS");
    unsetenv("PIECEMEAL_OPTIMIZE_WITHHOLD");
    return pm_layered_tear_down(state);
}

#define RECIPE_TEST(name) cmocka_unit_test_setup_teardown(name, pm_layered_set_up, tear_down)

/* A session with a compute and a graphics pipeline, each used once: how many of the two ran another
 * pipeline than the game's. The log goes on. */
static int session(const char *recipe)
{
    setenv("PIECEMEAL_DEBUG_RECIPE", recipe, 1);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h), graphics = optimized_graphics(&h);
    const int replaced = (optimized_effective(&h, compute, COMPUTE) != compute) +
                         (optimized_effective(&h, graphics, GRAPHICS) != graphics);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
    return replaced;
}

static uint32_t uses(const char *recipe)
{
    char line[100];
    snprintf(line, sizeof line, "the recipe %s is in use", recipe);
    return optimized_logged(line);
}

static void enable(void)
{
    optimized_enable(false);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
}

static void what_is_named_is_bound_untried(void **state)
{
    (void)state;
    enable();
    assert_int_equal(session(""), 0);
    assert_int_equal(session("canonical"), 2);
    assert_int_equal(uses("canonical"), 2);
    /* Two, one after the other. */
    assert_int_equal(session("schedule-breadth+schedule-critical"), 2);
    assert_int_equal(uses("schedule-breadth+schedule-critical"), 2);
    assert_true(optimized_logged("schedule-breadth+schedule-critical, compute, as") > 0);
    assert_true(optimized_logged("schedule-breadth+schedule-critical, fragment, as") > 0);
    /* Neither shader has a loop. */
    assert_int_equal(session("unroll-full"), 0);
    assert_int_equal(uses("unroll-full"), 0);
    assert_true(optimized_logged("is not changed by the recipe") >= 2);
}

/* A profile says what else could be made, and nothing of that is. */
static void nothing_else_is_specialized(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    assert_int_equal(session(""), 2);
    const uint32_t before = optimized_logged("is specialized: ");
    assert_int_equal(before, 2);
    assert_int_equal(session("canonical"), 2);
    assert_int_equal(optimized_logged("is specialized: "), before);
    assert_int_equal(session("unroll-full"), 0);
}

/* And in the place of contests, which would time it first. */
static void it_is_built_in_the_background_too(void **state)
{
    (void)state;
    uint64_t until = 0;
    enable();
    setenv("PIECEMEAL_OPTIMIZE_VARIANTS", "true", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_DEBUG_RECIPE", "canonical", 1);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    while (optimized_effective(&h, compute, COMPUTE) == compute && patience(&until))
        ;
    assert_ptr_not_equal(optimized_effective(&h, compute, COMPUTE), compute);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    assert_int_equal(uses("canonical"), 1);
}

static void recipes_can_be_withheld(void **state)
{
    char path[200];
    (void)state;
    enable();
    snprintf(path, sizeof path, "%s/withheld", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("*\n", file);
    fclose(file);
    setenv("PIECEMEAL_OPTIMIZE_WITHHOLD", path, 1);
    assert_int_equal(session("canonical"), 0);
}

static void what_is_none_is_said(void **state)
{
    static const char *const wrong[] = {
        "no-such",           "hoist+",   "hoist+no-such", "hoist+strength+hoist", "subgroup-16",
        "hoist+subgroup-16", "any+hoist"};
    (void)state;
    enable();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char said[100];
        assert_int_equal(session(wrong[i]), 0);
        snprintf(said, sizeof said, "debug.recipe: \"%s\" is no recipe", wrong[i]);
        optimized_assert_logged(said, 1);
    }
    optimized_assert_logged("make_variant FILE.spv` lists", sizeof wrong / sizeof *wrong);
}

/* Each recipe that fits is drawn sooner or later, none that does not, and a seed draws the same
 * again. */
static void any_draws_all_that_fit(void **state)
{
    enum { MOST = 64, SEEDS = 400 };
    char log[200];
    bool fits[MOST];
    uint32_t fitting = 0, seen = 0, seeds = 0;
    (void)state;
    enable();
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        fits[r] = session(pm_recipe_at(r)->name) > 0;
        fitting += fits[r];
    }
    assert_true(fitting >= 4);
    snprintf(log, sizeof log, "%s/log", pm_layered_home());
    unlink(log);
    for (; seeds < SEEDS && seen < fitting; seeds++) {
        char seed[16];
        snprintf(seed, sizeof seed, "%u", seeds);
        setenv("PIECEMEAL_SAMPLER_SEED", seed, 1);
        assert_int_equal(session("any"), 2);
        seen = 0;
        for (uint32_t r = 0; r < pm_recipe_count(); r++) {
            const bool used = uses(pm_recipe_at(r)->name) > 0;
            assert_true(fits[r] || !used);
            seen += used;
        }
    }
    assert_int_equal(seen, fitting);
    assert_true(seeds > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECIPE_TEST(what_is_named_is_bound_untried),
        RECIPE_TEST(nothing_else_is_specialized),
        RECIPE_TEST(it_is_built_in_the_background_too),
        RECIPE_TEST(recipes_can_be_withheld),
        RECIPE_TEST(what_is_none_is_said),
        RECIPE_TEST(any_draws_all_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
