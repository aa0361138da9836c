/* What a session finds proven is made when the pipeline is (layer/shader/at_once.h), so that a
 * recording made a moment later binds it: which is, and which never. */
#include "tests/layer/trial/prove.h"

#include "tests/layer/pipelines.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_proven_one_is_made_at_once(void **state)
{
    (void)state;
    prove();
    const uint32_t specialized = optimized_logged("is specialized: ");
    assert_true(prove_is_bound_at_once());
    assert_true(prove_is_bound_at_once());
    /* Nothing is specialized for it. */
    optimized_assert_logged("is specialized: ", specialized);
}

/* What is proven is so whatever the database says, which is still to be packed; but for what is not
 * to be used. */
static void before_the_database_is_packed(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/game.pmpack", pm_layered_home());
    prove();
    assert_int_equal(unlink(path), 0);
    assert_true(prove_is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_ZERO", "false", 1);
    unlink(path);
    assert_false(prove_is_bound_at_once());
    unsetenv("PIECEMEAL_OPTIMIZE_ZERO");
}

/* Nothing need be known of a shader that a recipe is faster for, but A-Z testing must be on. */
static void a_recipe_only_where_variants_are_tested(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/game.pmdb", pm_layered_home());
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    trying_open_contests(NULL);
    trying.variant_cost = 80000;
    trying.compute = optimized_compute(&trying.h);
    trying_costs();
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "the fastest is"));
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    trying_close_contests();
    prove_give_time();
    for (int unpacked = 0; unpacked < 2; unpacked++) {
        setenv("PIECEMEAL_OPTIMIZE_VARIANTS", "true", 1);
        assert_true(prove_is_bound_at_once());
        setenv("PIECEMEAL_OPTIMIZE_VARIANTS", "false", 1);
        assert_false(prove_is_bound_at_once());
        /* It will not be packed either. */
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    unsetenv("PIECEMEAL_OPTIMIZE_VARIANTS");
}

/* What an operator signed is as good as a trial, in the sessions after the one that made it. */
static void a_signed_one_is_made_at_once(void **state)
{
    (void)state;
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    trying.published[0] = 1.2;
    trying.published[1] = 1.3;
    trying.signed_verdict = 1;
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(optimized_logged("says the operator, who signed it") > 0);
    trying_close();
    prove_give_time();
    optimized_assert_logged("tried a specialized shader", 0);
    assert_true(prove_is_bound_at_once());
    /* Without the operator's key nobody checked it. */
    unsetenv("PIECEMEAL_AGGREGATOR_VERDICT_KEY_FILE");
    assert_false(prove_is_bound_at_once());
}

static VkPipeline link_all(const VkPipeline libraries[4])
{
    const struct parts parts = {.layout = trying.h.layout, .render_pass = trying.h.render_pass};
    return make_graphics(&trying.h, &(struct graphics_options){.parts = &parts, .link = libraries});
}

/* The four parts of what optimized_graphics makes. */
static void make_libraries(VkPipeline libraries[4])
{
    size_t size;
    const uint32_t *words = optimized_words(VK_SHADER_STAGE_FRAGMENT_BIT, &size);
    const struct parts parts = {.vertex = trying.h.vertex,
                                .fragment = pm_harness_make_module(&trying.h, words, size),
                                .layout = trying.h.layout,
                                .render_pass = trying.h.render_pass};
    for (uint32_t i = 0; i < 4; i++)
        libraries[i] = make_graphics(
            &trying.h, &(struct graphics_options){.parts = &parts,
                                                  .library = 1u << i,
                                                  .flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR});
    trying.h.vk.DestroyShaderModule(trying.h.device, parts.fragment, NULL);
}

static bool is_replaced(VkPipeline pipeline)
{
    return optimized_effective(&trying.h, pipeline, VK_PIPELINE_BIND_POINT_GRAPHICS) != pipeline;
}

/* The thread that creates a pipeline compiles no twins of its libraries, which nobody bounds, and
 * waits for nobody who does; those that are there it links. */
static void libraries_are_not_copied_at_once(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_graphics_pipeline_library", "VK_KHR_pipeline_library",
                                      NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    VkPipeline libraries[4], linked[2];
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "is used from now on"));
    trying_close();
    prove_give_time();
    watch_start(pm_harness_driver());
    pm_harness_open(&trying.h, &options);
    trying.h.driver->hold_compiles(true);
    make_libraries(libraries);
    linked[0] = link_all(libraries);
    assert_int_equal(watch_counts().variants, 0);
    assert_false(is_replaced(linked[0]));
    trying.h.driver->hold_compiles(false);
    uint64_t until = 0;
    while (!is_replaced(linked[0]) && patience(&until))
        ;
    assert_true(is_replaced(linked[0]));
    linked[1] = link_all(libraries);
    assert_true(is_replaced(linked[1]));
    for (uint32_t i = 0; i < 4; i++)
        trying.h.vk.DestroyPipeline(trying.h.device, libraries[i], NULL);
    for (int i = 0; i < 2; i++)
        trying.h.vk.DestroyPipeline(trying.h.device, linked[i], NULL);
    pm_harness_close(&trying.h);
}

static void not_in_a_session_that_tries_again(void **state)
{
    (void)state;
    prove();
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "1", 1);
    assert_false(prove_is_bound_at_once());
}

/* What was made under other options might compute something else. */
static void not_with_other_options(void **state)
{
    (void)state;
    prove();
    setenv("PIECEMEAL_OPTIMIZE_FLOAT_ZERO", "never", 1);
    assert_false(prove_is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_FLOAT_ZERO", "shader", 1);
    assert_true(prove_is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "sink,layout", 1);
    assert_false(prove_is_bound_at_once());
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");
    assert_true(prove_is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_ZERO", "false", 1);
    assert_false(prove_is_bound_at_once());
}

/* Safe mode has the last word. */
static void not_what_is_held_back(void **state)
{
    (void)state;
    char path[200], line[400], key[64] = "";
    prove();
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "variant %63s", key) != 1)
        ;
    fclose(file);
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/history", pm_layered_home());
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "piecemeal journal 1\nbad 1\nsafe 0\nstruck %s 1 2\n", key);
    fclose(file);
    assert_false(prove_is_bound_at_once());
    /* That was the session to wait for. */
    assert_true(prove_is_bound_at_once());
}

/* It is in the journal before the driver has it, so that a crash is known to be its doing. */
static void it_is_journaled(void **state)
{
    (void)state;
    struct pm_shader_key keys[4];
    prove();
    pm_harness_open(&trying.h, NULL);
    trying.h.driver->hold_compiles(true);
    trying.compute = optimized_compute(&trying.h);
    /* In the history, which says that it was used before, and in this session's file. */
    assert_int_equal(optimized_journal(keys, 4), 2);
    assert_true(pm_shader_key_equal(&keys[0], &keys[1]));

    trying.h.driver->hold_compiles(false);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    pm_harness_close(&trying.h);
}

/* A driver that is not known may, or one that folds floats where casts are missing (SwiftShader).
 */
static void on_a_driver_that_wants_casts(void **state)
{
    static const char *const ids[] = {"0", "10"};
    for (int i = 0; i < 2; i++) {
        prove_on(ids[i]);
        assert_true(prove_is_bound_at_once());
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
    }
}

/* But there no shader with such casts that has the same canonical form. */
static void but_not_with_casts(void **state)
{
    (void)state;
    uint64_t until = 0;
    prove_on("0");
    prove_make = optimized_compute_with_casts;
    /* This session finds its key. */
    pm_harness_open(&trying.h, NULL);
    VkPipeline pipeline = prove_make(&trying.h);
    (void)optimized_effective(&trying.h, pipeline, VK_PIPELINE_BIND_POINT_COMPUTE);
    while (optimized_logged("inexactly without such casts") == 0 && patience(&until))
        ;
    optimized_assert_logged("inexactly without such casts", 1);
    trying.h.vk.DestroyPipeline(trying.h.device, pipeline, NULL);
    pm_harness_close(&trying.h);
    const bool bound = prove_is_bound_at_once();
    prove_make = optimized_compute;
    assert_false(bound);
    assert_true(prove_is_bound_at_once());
}

/* Words that are gone, or are not what the verdict names, are made anew in the background. */
static void damaged_words_are_not_believed(void **state)
{
    (void)state;
    char command[300];
    prove();
    snprintf(command, sizeof command, "rm -rf '%s/piecemeal/shaders/words'", pm_layered_home());
    assert_int_equal(system(command), 0);
    assert_false(prove_is_bound_at_once());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_proven_one_is_made_at_once),
        PM_LAYERED_TEST(before_the_database_is_packed),
        PM_LAYERED_TEST(a_recipe_only_where_variants_are_tested),
        PM_LAYERED_TEST(a_signed_one_is_made_at_once),
        PM_LAYERED_TEST(libraries_are_not_copied_at_once),
        PM_LAYERED_TEST(not_in_a_session_that_tries_again),
        PM_LAYERED_TEST(not_with_other_options),
        PM_LAYERED_TEST(not_what_is_held_back),
        PM_LAYERED_TEST(it_is_journaled),
        PM_LAYERED_TEST(on_a_driver_that_wants_casts),
        PM_LAYERED_TEST(but_not_with_casts),
        PM_LAYERED_TEST(damaged_words_are_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
