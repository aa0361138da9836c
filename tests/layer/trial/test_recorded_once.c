/* Programs that record once: what a session finds proven is made when the pipeline is (at_once.h),
 * so that a recording made a moment later binds it. */
#include "tests/layer/trial/trying.h"

#include "profile/session_status.h"
#include "profile/values_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PIPELINES: of a program; WAITED_MS: longer than a busy machine interrupts a thread. */
enum { PIPELINES = 12, WAITED_MS = 400 };

/* In the sessions to come what is proven is made at once. */
static void give_time(void)
{
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    /* As long as a test machine that is busy may take. */
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "0", 1);
}

/* The limits that a player has. */
static void give_usual_time(void)
{
    unsetenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE");
    unsetenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND");
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
}

/* A session with a trial, after which the dispatches' variant is known to be faster. */
static void prove_on(const char *driver_id)
{
    setenv("PM_NULL_DRIVER_ID", driver_id, 1);
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    give_time();
}

static void prove(void)
{
    prove_on("1");
}

static VkPipeline (*make_compute)(struct pm_harness *harness) = optimized_compute;

/* Whether the recording of a pipeline that is just created names its variant. Nothing is made in
 * the background meanwhile. */
static bool creates_bound(VkCommandBuffer *recorded)
{
    trying.h.driver->hold_compiles(true);
    trying.compute = make_compute(&trying.h);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, 0);
    pm_harness_bind_set(&trying.h, buffer);
    const uint64_t position = trying.h.driver->position();
    trying_dispatch(buffer);
    const bool bound = optimized_bound(&trying.h, position, 0) != trying.compute;
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    trying.h.driver->hold_compiles(false);
    *recorded = buffer;
    return bound;
}

/* The same in the next session. */
static bool is_bound_at_once(void)
{
    VkCommandBuffer buffer;
    pm_harness_open(&trying.h, NULL);
    const bool bound = creates_bound(&buffer);
    for (int i = 0; i < 3; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    pm_harness_close(&trying.h);
    return bound;
}

static void nothing(VkCommandBuffer buffer)
{
    (void)buffer;
}

/* How often pipelines were created. */
static uint32_t creations(uint64_t since)
{
    return pm_calls_of(pm_harness_driver(), since, "vkCreateComputePipelines");
}

static void a_proven_one_is_made_at_once(void **state)
{
    (void)state;
    prove();
    const uint32_t specialized = optimized_logged("is specialized: ");
    assert_true(is_bound_at_once());
    assert_true(is_bound_at_once());
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
    assert_true(is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_ZERO", "false", 1);
    unlink(path);
    assert_false(is_bound_at_once());
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
    give_time();
    for (int unpacked = 0; unpacked < 2; unpacked++) {
        setenv("PIECEMEAL_OPTIMIZE_VARIANTS", "true", 1);
        assert_true(is_bound_at_once());
        setenv("PIECEMEAL_OPTIMIZE_VARIANTS", "false", 1);
        assert_false(is_bound_at_once());
        /* It will not be packed either. */
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    unsetenv("PIECEMEAL_OPTIMIZE_VARIANTS");
}

/* The driver need not compile it, however long that would take. */
static void what_is_compiled_is_made_at_once(void **state)
{
    (void)state;
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    prove();
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "10", 1);
    assert_false(is_bound_at_once());
    setenv("PM_NULL_COMPILED", "1", 1);
    assert_true(is_bound_at_once());
}

/* A driver that always has to compile, or cannot say, is given the time that it took before. */
static void a_short_compile_is_made_at_once(void **state)
{
    (void)state;
    setenv("PM_NULL_COMPILE_US", "2000", 1);
    prove();
    assert_true(is_bound_at_once());
    setenv("PM_NULL_WITHOUT_FEATURES", "pipelineCreationCacheControl", 1);
    assert_true(is_bound_at_once());
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
        assert_false(is_bound_at_once());
        /* The harness's own, the game's, and the variant in the background. */
        assert_in_range(creations(position), 1, 3);
    }
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "0", 1);
    assert_false(is_bound_at_once());
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
    while (creations(position) < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    usleep(WAITED_MS * 1000);
    trying.h.driver->hold_compiles(false);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    give_time();
    char limit[16];
    snprintf(limit, sizeof limit, "%d", WAITED_MS / 2);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", limit, 1);
    assert_true(is_bound_at_once());
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
    assert_false(is_bound_at_once());
    setenv("PM_NULL_COMPILE_US", "0", 1);
    assert_true(is_bound_at_once());
}

/* With the limits that a player has it is made while the program loads, though it takes longer than
 * there is for one later, and not afterwards. */
static void loading_has_time_for_it(void **state)
{
    (void)state;
    VkCommandBuffer buffer;
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    prove();
    give_usual_time();
    pm_harness_open(&trying.h, NULL);
    assert_true(creates_bound(&buffer));
    trying_run_frames(nothing, TRYING_ONCE, 20);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    assert_false(creates_bound(&buffer));
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
    give_usual_time();
    pm_harness_open(&trying.h, NULL);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        bound += creates_bound(&buffer);
        pipelines[i] = trying.compute;
    }
    /* 200 ms, and 2 of a second's for each. */
    assert_in_range(bound, 1, 4);
    for (uint32_t i = 0; i < PIPELINES; i++)
        trying.h.vk.DestroyPipeline(trying.h.device, pipelines[i], NULL);
    pm_harness_close(&trying.h);
}

static void not_in_a_session_that_tries_again(void **state)
{
    (void)state;
    prove();
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "1", 1);
    assert_false(is_bound_at_once());
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
    give_time();
    optimized_assert_logged("tried a specialized shader", 0);
    assert_true(is_bound_at_once());
    /* Without the operator's key nobody checked it. */
    unsetenv("PIECEMEAL_AGGREGATOR_VERDICT_KEY_FILE");
    assert_false(is_bound_at_once());
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
    give_time();
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

/* What was made under other options might compute something else. */
static void not_with_other_options(void **state)
{
    (void)state;
    prove();
    setenv("PIECEMEAL_OPTIMIZE_FLOAT_ZERO", "never", 1);
    assert_false(is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_FLOAT_ZERO", "shader", 1);
    assert_true(is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "sink,layout", 1);
    assert_false(is_bound_at_once());
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");
    assert_true(is_bound_at_once());
    setenv("PIECEMEAL_OPTIMIZE_ZERO", "false", 1);
    assert_false(is_bound_at_once());
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
    assert_false(is_bound_at_once());
    /* That was the session to wait for. */
    assert_true(is_bound_at_once());
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
        assert_true(is_bound_at_once());
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
    make_compute = optimized_compute_with_casts;
    /* This session finds its key. */
    pm_harness_open(&trying.h, NULL);
    VkPipeline pipeline = make_compute(&trying.h);
    (void)optimized_effective(&trying.h, pipeline, VK_PIPELINE_BIND_POINT_COMPUTE);
    while (optimized_logged("inexactly without such casts") == 0 && patience(&until))
        ;
    optimized_assert_logged("inexactly without such casts", 1);
    trying.h.vk.DestroyPipeline(trying.h.device, pipeline, NULL);
    pm_harness_close(&trying.h);
    const bool bound = is_bound_at_once();
    make_compute = optimized_compute;
    assert_false(bound);
    assert_true(is_bound_at_once());
}

/* Words that are gone, or are not what the verdict names, are made anew in the background. */
static void damaged_words_are_not_believed(void **state)
{
    (void)state;
    char command[300];
    prove();
    snprintf(command, sizeof command, "rm -rf '%s/piecemeal/shaders/words'", pm_layered_home());
    assert_int_equal(system(command), 0);
    assert_false(is_bound_at_once());
}

/* ---- trials over sessions ---- */

enum { SUBMISSIONS = 100 };
#define SESSION_TIMED "timed a session"

static void submit_often(VkCommandBuffer buffer)
{
    for (int i = 0; i < SUBMISSIONS; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
}

/* A recording of a dispatch or a draw. How the call runs: 1 with the variant, 0 with the game's
 * own. */
static int record(bool draws, VkCommandBuffer *out)
{
    *out = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = trying.h.driver->position();
    pm_harness_begin(&trying.h, *out, 0);
    if (draws)
        trying_draw(*out);
    else
        trying_dispatch(*out);
    PM_CHECK(trying.h.vk.EndCommandBuffer(*out));
    return (int)trying_foreign_binds(position);
}

/* A session that records a dispatch or a draw once and submits that again and again. How the call
 * ran; a session that was timed has that side throughout. */
static int steady_session(uint64_t variant_cost, bool draws, const char *until_logged)
{
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    trying.dispatches = true;
    trying.background = true;
    trying.variant_cost = variant_cost;
    pm_harness_open(&trying.h, NULL);
    if (draws)
        trying.graphics = optimized_graphics(&trying.h);
    else
        trying.compute = optimized_compute(&trying.h);
    trying_costs();
    VkCommandBuffer buffer, later;
    const int variant = record(draws, &buffer);
    const uint32_t logged = optimized_logged(until_logged);
    uint64_t until = 0;
    submit_often(buffer);
    while (until_logged[0] && optimized_logged(until_logged) == logged && patience(&until))
        submit_often(buffer);
    submit_often(buffer);
    if (strcmp(until_logged, SESSION_TIMED) == 0)
        assert_int_equal(record(draws, &later), variant);
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
    trying_close();
    return variant;
}

static void try_over_sessions(bool draws, uint64_t variant_cost, const char *outcome)
{
    int sides[2] = {0, 0};
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    /* The first session finds out that nothing can alternate. */
    assert_int_equal(steady_session(variant_cost, draws, "timed in turn: sessions are"), 0);
    for (int i = 0; optimized_logged(outcome) == 0; i++) {
        char seed[16];
        assert_true(i < 40);
        snprintf(seed, sizeof seed, "%d", i);
        setenv("PIECEMEAL_SAMPLER_SEED", seed, 1);
        sides[steady_session(variant_cost, draws, SESSION_TIMED)]++;
    }
    /* Either side as often: 8 pairs. */
    assert_int_equal(sides[0], 8);
    assert_int_equal(sides[1], 8);
}

/* Some shader's, so that there may be something to make in the background of any. */
static void know_values(void)
{
    static const struct pm_shader_key key = {{1}};
    struct pm_values_store *values = pm_values_store_open(NULL, "game", pm_canonicalize_recipe());
    struct pm_word_values word = {0};
    struct pm_error error = {0};
    pm_word_values_add(&word, 7, 100000);
    assert_true(pm_values_store_put(values, &key, 1, &word) &&
                pm_values_store_save(values, &error));
    pm_values_store_close(values);
}

static void sessions_alternate(void **state)
{
    (void)state;
    know_values();
    try_over_sessions(false, 80000, "8 pairs of sessions: faster");
    /* From now on it is used, and nothing is timed. */
    const uint64_t position = pm_harness_driver()->position();
    assert_int_equal(steady_session(80000, false, ""), 1);
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkCmdWriteTimestamp"), 0);
    /* But for a share of the sessions, of which each has a partner with the other side: what has
     * become slower since goes. */
    for (int i = 0; i < 2; i++) {
        setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "1", 1);
        const int first = steady_session(150000, false, SESSION_TIMED);
        setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
        assert_int_equal(steady_session(150000, false, SESSION_TIMED), !first);
    }
    optimized_assert_logged("2 pairs of sessions: dropped", 1);
    assert_int_equal(steady_session(150000, false, ""), 0);
}

static void render_passes_too(void **state)
{
    (void)state;
    try_over_sessions(true, 80000, "8 pairs of sessions: faster");
    assert_int_equal(steady_session(80000, true, ""), 1);
}

/* On neither side: else the game's own would be timed again and again. */
static void no_side_where_there_is_no_time_for_the_variant(void **state)
{
    (void)state;
    enum { SESSIONS = 8 };
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    steady_session(80000, false, "timed in turn: sessions are");
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "10", 1);
    setenv("PIECEMEAL_LIMITS_LOADING_MS", "0", 1);
    const struct pm_null_api *driver = pm_harness_driver();
    for (int i = 0; i < SESSIONS; i++) {
        const uint64_t position = driver->position();
        assert_int_equal(steady_session(80000, false, ""), 0);
        assert_int_equal(pm_calls_of(driver, position, "vkCmdWriteTimestamp"), 0);
    }
    unsetenv("PIECEMEAL_LIMITS_LOADING_MS");
    unsetenv("PM_NULL_COMPILE_US");
}

static void a_slower_one_is_dropped(void **state)
{
    (void)state;
    try_over_sessions(false, 110000, "8 pairs of sessions: dropped");
    assert_int_equal(steady_session(110000, false, ""), 0);
}

/* It need not slow down eight sessions. */
static void a_much_slower_one_is_dropped_early(void **state)
{
    (void)state;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(200000, false, "timed in turn: sessions are"), 0);
    for (int i = 0; i < 4; i++)
        (void)steady_session(200000, false, SESSION_TIMED);
    optimized_assert_logged("2 pairs of sessions: dropped", 1);
    assert_int_equal(steady_session(200000, false, ""), 0);
}

/* A session that is paused from the start. It records the game's own, whatever its side, and
 * submits that longer than a session is recorded for. */
static void open_paused(VkCommandBuffer *buffer)
{
    static const char said[] = "the game's own shaders are used, as was asked";
    const uint32_t before = optimized_logged(said);
    uint64_t until = 0;
    trying.dispatches = true;
    trying.background = true;
    trying.variant_cost = 80000;
    assert_true(pm_session_pause("game", true, NULL));
    pm_harness_open(&trying.h, NULL);
    while (optimized_logged(said) == before && patience(&until))
        usleep(5000);
    trying.compute = optimized_compute(&trying.h);
    trying_costs();
    assert_int_equal(record(false, buffer), 0);
    for (int i = 0; i < 4200; i += SUBMISSIONS)
        submit_often(*buffer);
}

/* Nothing of it is timed, and no session is thought to have been in vain. */
static void paused_sessions_are_not_timed(void **state)
{
    (void)state;
    VkCommandBuffer buffers[2];
    uint64_t until = 0;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, "timed in turn: sessions are"), 0);
    open_paused(&buffers[0]);
    trying_close();
    optimized_assert_logged(SESSION_TIMED, 0);
    /* The next one goes on in the middle. */
    open_paused(&buffers[0]);
    trying_pause(false);
    const int variant = record(false, &buffers[1]);
    while (optimized_logged(SESSION_TIMED) == 0 && patience(&until))
        submit_often(buffers[1]);
    trying_close();
    optimized_assert_logged(
        variant ? SESSION_TIMED " with the specialized" : SESSION_TIMED " with the original", 1);
    assert_int_equal(steady_session(80000, false, SESSION_TIMED), !variant);
}

/* In a menu that is recorded once, until nothing can be timed in turn. */
static void stay_in_a_menu(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t until = 0;
    pm_harness_begin(&trying.h, buffer, 0);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    while (optimized_logged("timed in turn: sessions are") == 0 && patience(&until))
        submit_often(buffer);
    optimized_assert_logged("timed in turn: sessions are", 1);
}

/* A session of a program that records each frame. */
static void open_lively(uint64_t variant_cost)
{
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    setenv("PM_NULL_DRIVER_ID", "1", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_PIPELINE", "1000", 1);
    setenv("PIECEMEAL_LIMITS_PROVEN_MS_PER_SECOND", "1000", 1);
    trying.dispatches = true;
    trying.background = true;
    trying_open(variant_cost, NULL);
}

static void run_until_tried(uint32_t times)
{
    uint64_t until = 0;
    while (optimized_logged("tried a specialized shader") < times && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("tried a specialized shader", times);
}

/* What was timed in turn after all is tried again in turn, until sessions agree. */
static void a_menu_makes_no_trial_over_sessions(void **state)
{
    (void)state;
    unsetenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS");
    open_lively(80000);
    stay_in_a_menu();
    run_until_tried(1);
    trying_close();
    open_lively(80000);
    run_until_tried(2);
    trying_close();
    open_lively(80000);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    trying_close();
}

/* A session that was part of such a trial and could time nothing, since the program records each
 * frame, is the last one. */
static void nor_does_one_that_was_never_left(void **state)
{
    (void)state;
    open_lively(130000);
    stay_in_a_menu();
    trying_close();
    open_lively(130000);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    optimized_assert_logged("tried a specialized shader", 0);
    trying_close();
    open_lively(130000);
    run_until_tried(1);
    assert_true(optimized_logged("is dropped") > 0);
    trying_close();
}

/* A pipeline that comes when nothing is timed any more has no side: it is as any other that nothing
 * proves. */
static void not_what_comes_late(void **state)
{
    (void)state;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, "timed in turn: sessions are"), 0);
    /* Either side, by lot. */
    for (int seed = 0; seed < 6; seed++) {
        char text[16];
        VkCommandBuffer buffer;
        uint64_t until = 0;
        snprintf(text, sizeof text, "%d", seed);
        setenv("PIECEMEAL_SAMPLER_SEED", text, 1);
        setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
        pm_harness_open(&trying.h, NULL);
        trying_run_frames(nothing, TRYING_ONCE, 4097);
        const uint64_t position = trying.h.driver->position();
        trying.compute = optimized_compute(&trying.h);
        /* The variant is made on both. */
        assert_true(creations(position) > 1);
        assert_int_equal(record(false, &buffer), 0);
        while (creations(position) < 2 && patience(&until))
            submit_often(buffer);
        assert_true(creations(position) >= 2);
        trying_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_proven_one_is_made_at_once),
        PM_LAYERED_TEST(before_the_database_is_packed),
        PM_LAYERED_TEST(a_recipe_only_where_variants_are_tested),
        PM_LAYERED_TEST(what_is_compiled_is_made_at_once),
        PM_LAYERED_TEST(a_short_compile_is_made_at_once),
        PM_LAYERED_TEST(a_long_compile_is_not),
        PM_LAYERED_TEST(a_wait_in_the_background_is_none),
        PM_LAYERED_TEST(a_wait_in_the_creation_is_one),
        PM_LAYERED_TEST(loading_has_time_for_it),
        PM_LAYERED_TEST(loading_is_not_made_long),
        PM_LAYERED_TEST(a_signed_one_is_made_at_once),
        PM_LAYERED_TEST(libraries_are_not_copied_at_once),
        PM_LAYERED_TEST(not_in_a_session_that_tries_again),
        PM_LAYERED_TEST(not_with_other_options),
        PM_LAYERED_TEST(not_what_is_held_back),
        PM_LAYERED_TEST(it_is_journaled),
        PM_LAYERED_TEST(on_a_driver_that_wants_casts),
        PM_LAYERED_TEST(but_not_with_casts),
        PM_LAYERED_TEST(damaged_words_are_not_believed),
        PM_LAYERED_TEST(not_what_comes_late),
        PM_LAYERED_TEST(sessions_alternate),
        PM_LAYERED_TEST(render_passes_too),
        PM_LAYERED_TEST(no_side_where_there_is_no_time_for_the_variant),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(a_much_slower_one_is_dropped_early),
        PM_LAYERED_TEST(paused_sessions_are_not_timed),
        PM_LAYERED_TEST(a_menu_makes_no_trial_over_sessions),
        PM_LAYERED_TEST(nor_does_one_that_was_never_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
