/* The issue, "Exact": fragment shaders against known coverage. Helper lanes, discard, demote, depth
 * tests early and late, several samples. */
#include "base/random.h"
#include "shader_rewrite/quirks/helper_loops.h"
#include "shader_rewrite/quirks/quirks.h"
#include "tests/shader_rewrite/instrument/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WIDTH 61 /* odd: partial quads at the right and at the bottom */
#define HEIGHT 43
#define COUNTS 16

static struct pm_gpu gpu;

static int set_up(void **state)
{
    (void)state;
    pm_gpu_create(&gpu);
    assert_true(gpu.ballot_in_fragment);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pm_gpu_destroy(&gpu);
    return 0;
}

/* A rectangle of whole pixels, two triangles with a common diagonal, whose quads have helper lanes.
 */
struct rectangle {
    uint32_t left, top, right, bottom; /* pixels; right and bottom excluded */
    float depth;
};

/* Near and in front of a part of what follows, and three that overlap at different depths. */
static const struct rectangle scene[] = {{5, 3, 34, 28, 0.3f},
                                         {0, 0, WIDTH, HEIGHT, 0.6f},
                                         {20, 11, 59, 40, 0.45f},
                                         {33, 1, 36, 2, 0.2f}};
#define SCENE (sizeof scene / sizeof scene[0])

static void put_vertex(struct pm_gpu_vertex *vertex, uint32_t x, uint32_t y, float depth,
                       float alpha)
{
    *vertex =
        (struct pm_gpu_vertex){{(float)x * 2 / WIDTH - 1, (float)y * 2 / HEIGHT - 1, depth, 1},
                               {(float)x / WIDTH, (float)y / HEIGHT, (float)(x ^ y) / 64, alpha}};
}

static void put_rectangle(struct pm_gpu_vertex *v, const struct rectangle *r, float alpha)
{
    put_vertex(&v[0], r->left, r->top, r->depth, alpha);
    put_vertex(&v[1], r->right, r->top, r->depth, alpha);
    put_vertex(&v[2], r->left, r->bottom, r->depth, alpha);
    v[3] = v[2];
    v[4] = v[1];
    put_vertex(&v[5], r->right, r->bottom, r->depth, alpha);
}

struct call {
    struct exact_shader shader;
    struct pm_gpu_vertex vertices[SCENE * 6];
    uint32_t rectangles;
    uint32_t invocations_per_pixel; /* in check_samples */
    struct pm_gpu_draw draw;
    struct exact_truth truth;
    void *expected;
    uint32_t expected_counts[COUNTS]; /* buffer 0, which some shaders add to */
    bool may_force_early_tests, forced;
    bool left_alone; /* by the layer on this driver: its pixels may be others (helper_loops.h) */
};

static void *run_words(struct call *call, const struct pm_words *words,
                       const VkSpecializationInfo *specialization, size_t *size, uint32_t *counts)
{
    struct pm_gpu_buffer buffer;
    pm_gpu_buffer_create(&gpu, COUNTS * 4, &buffer);
    call->draw.fragment = (struct pm_gpu_shader){.words = words->data,
                                                 .count = words->count,
                                                 .specialization = specialization,
                                                 .buffers = {&buffer}};
    void *texels = pm_gpu_draw(&gpu, &call->draw, size);
    memcpy(counts, buffer.data, COUNTS * 4);
    pm_gpu_buffer_destroy(&gpu, &buffer);
    return texels;
}

static void compare_texels(const struct call *call, const uint32_t *texels, size_t size)
{
    const uint32_t *expected = call->expected;
    size_t different = 0, first = 0;
    for (size_t i = size / 4; i-- > 0;) {
        if (texels[i] != expected[i]) {
            different++;
            first = i;
        }
    }
    if (different)
        fail_msg("%s: instrumented it draws something else: %zu words differ, first of pixel "
                 "(%zu, %zu): 0x%08x, not 0x%08x",
                 call->shader.name, different, first / 4 % WIDTH, first / 4 / WIDTH, texels[first],
                 expected[first]);
}

static void run_variant(void *user, const struct pm_words *words,
                        const VkSpecializationInfo *specialization)
{
    struct call *call = user;
    size_t size;
    uint32_t counts[COUNTS];
    void *texels = run_words(call, words, specialization, &size, counts);
    if (!call->left_alone)
        compare_texels(call, texels, size);
    assert_memory_equal(counts, call->expected_counts, sizeof counts);
    free(texels);
}

static void check_variant(void *user, const struct exact_variant *variant)
{
    struct call *call = user;
    struct exact_variant with_tests = *variant;
    with_tests.may_force_early_tests = call->may_force_early_tests;
    struct pm_instrumented said =
        exact_check(&gpu, &call->shader, &with_tests, &call->truth, run_variant, call);
    assert_true(said.forced_early_tests == call->forced);
}

/* Which pixels of a rectangle run: all, or with early tests those that nothing drawn before hides.
 */
static void run_model(struct call *call, bool early)
{
    float depths[HEIGHT][WIDTH];
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            depths[y][x] = 1;
    uint32_t counts[COUNTS] = {0};
    struct model *model = model_create(call->shader.canonical.data, call->shader.canonical.count);
    model_set_buffer(model, 0, counts, COUNTS);
    exact_watch_turns(&call->shader, model);
    uint64_t number = 0;
    for (uint32_t i = 0; i < call->rectangles; i++) {
        const struct rectangle *r = &scene[i];
        for (uint32_t y = r->top; y < r->bottom; y++) {
            for (uint32_t x = r->left; x < r->right; x++) {
                if (early && depths[y][x] <= r->depth)
                    continue;
                const struct model_invocation invocation = {
                    .frag_coord = {(float)x + 0.5f, (float)y + 0.5f, r->depth, 1}};
                uint64_t killed = model_killed(model);
                model_run(model, &invocation, ++number);
                if (model_killed(model) == killed)
                    depths[y][x] = r->depth;
            }
        }
    }
    struct model_counts *points = calloc(call->shader.points.count, sizeof *points);
    assert_non_null(points);
    call->truth.entry = model_entry(model);
    for (uint32_t i = 0; i < call->shader.points.count; i++)
        points[i] = model_block(model, call->shader.points.points[i].label);
    call->truth.points = points;
    call->truth.turns = exact_turns(&call->shader, model);
    call->truth.subgroups = EXACT_SUBGROUPS_UNKNOWN;
    assert_memory_equal(counts, call->expected_counts, sizeof counts);
    model_destroy(model);
}

struct options {
    bool depth_test, brief, may_force_early_tests;
    bool eligible;    /* early tests are forced where they may be */
    bool tests_early; /* hidden fragments do not run */
    bool near_only;   /* lanes are not exact, but near the truth */
    uint32_t rectangles;
};

static bool is_left_alone(const struct exact_shader *shader)
{
    struct pm_error error;
    bool has;
    const struct pm_driver driver =
        pm_driver_of(gpu.driver_id, gpu.driver_version, gpu.driver_info);
    struct pm_ir_module *module =
        pm_ir_parse(shader->canonical.data, shader->canonical.count, &error);
    assert_true(module && pm_has_helper_loops(module, &has, &error));
    pm_ir_module_destroy(module);
    return has && (pm_quirks_of(&driver) & PM_QUIRK_HELPERS_LEAVE);
}

static void check(const char *name, struct options options)
{
    struct call call = {.rectangles = options.rectangles,
                        .may_force_early_tests = options.may_force_early_tests,
                        .forced = options.may_force_early_tests && options.eligible};
    exact_load(name, NULL, 0, &call.shader);
    call.left_alone = is_left_alone(&call.shader);
    for (uint32_t i = 0; i < options.rectangles; i++)
        put_rectangle(&call.vertices[i * 6], &scene[i], 1);
    call.draw = (struct pm_gpu_draw){.vertices = call.vertices,
                                     .vertex_count = options.rectangles * 6,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .depth_test = options.depth_test};
    size_t size;
    call.expected = run_words(&call, &call.shader.original, NULL, &size, call.expected_counts);
    run_model(&call, options.depth_test && options.tests_early);
    if (options.near_only)
        call.truth.tolerance = 0.05;
    exact_each_variant(gpu.int64_atomics, &call.shader, options.brief, check_variant, &call);
    free((void *)call.truth.points);
    free((void *)call.truth.turns);
    free(call.expected);
    exact_finish(&call.shader);
}

/* Without tests every shader, with all its variants. */
static void test_coverage(void **state)
{
    (void)state;
    static const char *const names[] = {"plain.frag",  "branches.frag", "discards.frag",
                                        "early.frag",  "returns.frag",  "early-stores.frag",
                                        "depths.frag", "stores.frag"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check(names[i], (struct options){.rectangles = SCENE});
    if (gpu.demote)
        check("demotes.frag", (struct options){.rectangles = SCENE});
}

/* Hidden fragments are counted unless tests are early; early tests are forced only where nothing is
 * changed by them. Lavapipe 22.3 tests early whatever is written through addresses. */
static void test_late_depth(void **state)
{
    (void)state;
    struct options options = {.rectangles = SCENE, .depth_test = true, .brief = true};
    options.may_force_early_tests = true;
    check("depths.frag", options);
    check("stores.frag", options);
    options.tests_early = gpu.lavapipe_22;
    check("discards.frag", options);
    if (gpu.demote)
        check("demotes.frag", options);
    options.may_force_early_tests = false;
    check("plain.frag", options);
    check("branches.frag", options);
}

/* SwiftShader's HelperInvocation is false for lanes of a quad that an early test hid, although
 * their stores are dropped: a ballot counts them. The layer does not force early tests there. */
static void test_early_depth(void **state)
{
    (void)state;
    struct options options = {.rectangles = SCENE,
                              .depth_test = true,
                              .brief = true,
                              .tests_early = true,
                              .near_only = gpu.swiftshader};
    check("early.frag", options);
    check("early-stores.frag", options);
    options.may_force_early_tests = true;
    options.eligible = true;
    check("plain.frag", options);
    check("branches.frag", options);
}

/* A triangle that covers the whole target and is not clipped: where two triangles meet, and also
 * where a clipped one was cut in two, pixels of which each covers some samples run twice. */
static const float corners[3][2] = {{-1, -1}, {1, -1}, {-1, 1}};

static void check_samples(const char *name, bool sample_shading)
{
    struct call call = {.rectangles = 1, .invocations_per_pixel = sample_shading ? 4 : 1};
    exact_load(name, NULL, 0, &call.shader);
    for (int i = 0; i < 3; i++)
        call.vertices[i] = (struct pm_gpu_vertex){{corners[i][0], corners[i][1], 0.5f, 1},
                                                  {corners[i][0], corners[i][1], 0.5f, 1}};
    call.draw = (struct pm_gpu_draw){.vertices = call.vertices,
                                     .vertex_count = 3,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .samples = 4,
                                     .sample_shading = sample_shading,
                                     .double_viewport = true};
    size_t size;
    call.expected = run_words(&call, &call.shader.original, NULL, &size, call.expected_counts);
    uint32_t counts[COUNTS] = {0};
    struct model *model = model_create(call.shader.canonical.data, call.shader.canonical.count);
    model_set_buffer(model, 0, counts, COUNTS);
    for (uint32_t i = 0; i < WIDTH * HEIGHT * call.invocations_per_pixel; i++) {
        uint32_t pixel = i / call.invocations_per_pixel;
        const struct model_invocation invocation = {
            .frag_coord = {(float)(pixel % WIDTH) + 0.5f, (float)(pixel / WIDTH) + 0.5f, 0.5f, 1}};
        model_run(model, &invocation, i + 1);
    }
    struct model_counts *points = calloc(call.shader.points.count, sizeof *points);
    assert_non_null(points);
    call.truth.entry = model_entry(model);
    for (uint32_t i = 0; i < call.shader.points.count; i++)
        points[i] = model_block(model, call.shader.points.points[i].label);
    call.truth.points = points;
    call.truth.subgroups = EXACT_SUBGROUPS_UNKNOWN;
    model_destroy(model);
    exact_each_variant(gpu.int64_atomics, &call.shader, true, check_variant, &call);
    free(points);
    free(call.expected);
    exact_finish(&call.shader);
}

static void test_samples(void **state)
{
    (void)state;
    assert_true(gpu.sample_counts & VK_SAMPLE_COUNT_4_BIT);
    check_samples("branches.frag", false);
    check_samples("discards.frag", false);
    check_samples("samples.frag", true);
    if (gpu.demote)
        check_samples("demotes.frag", false);
}

/* ---- what the trials saw ---- */

/* Any triangles, slivers among them: what is covered is not known, but the shader counts its own
 * lanes, one by one, which helper lanes cannot. */
static void fill_triangles(struct pm_gpu_vertex *vertices, uint32_t count)
{
    struct pm_random random;
    pm_random_init(&random, 3);
    for (uint32_t i = 0; i < count; i++) {
        bool sliver = i % 3 == 2 && i % 2;
        for (int c = 0; c < 2; c++) {
            double at = pm_random_unit(&random) * 2.6 - 1.3;
            vertices[i].position[c] =
                sliver ? vertices[i - 1].position[c] + 0.04f * (float)at : (float)at;
        }
        vertices[i].position[2] = (float)pm_random_unit(&random);
        vertices[i].position[3] = 1;
        for (int c = 0; c < 4; c++)
            vertices[i].color[c] = (float)pm_random_unit(&random);
    }
}

struct counted_call {
    struct call *call;
    uint32_t *counts;
};

static void run_counted(void *user, const struct pm_words *words,
                        const VkSpecializationInfo *specialization)
{
    const struct counted_call *counted = user;
    size_t size;
    free(run_words(counted->call, words, specialization, &size, counted->counts));
}

static void test_any_triangles(void **state)
{
    (void)state;
    struct pm_gpu_vertex vertices[60];
    fill_triangles(vertices, 60);
    struct call call = {.draw = {.vertices = vertices,
                                 .vertex_count = 60,
                                 .width = WIDTH,
                                 .height = HEIGHT,
                                 .depth_test = true}};
    exact_load("stores.frag", NULL, 0, &call.shader);
    size_t size;
    free(run_words(&call, &call.shader.original, NULL, &size, call.expected_counts));
    assert_true(call.expected_counts[0] > 1000);
    struct exact_truth truth = {.entry.lanes = call.expected_counts[0],
                                .subgroups = EXACT_SUBGROUPS_UNKNOWN};
    struct exact_variant variant = {.slot_count = 8};
    uint32_t counts[COUNTS];
    struct counted_call counted = {&call, counts};
    exact_check(&gpu, &call.shader, &variant, &truth, run_counted, &counted);
    assert_memory_equal(counts, call.expected_counts, sizeof counts);
    exact_finish(&call.shader);
}

/* The trial's counters: 1 is the truth by single lanes, 2 by a leader behind a test for helper
 * lanes; 7 counts the derivatives that helper lanes make, 8 those that are left behind a vote over
 * whole quads. */
static void test_helper_lanes(void **state)
{
    (void)state;
    struct pm_gpu_vertex vertices[60];
    fill_triangles(vertices, 60);
    uint32_t *words;
    size_t count, size;
    pm_gpu_load(PM_TEST_EXACT, "helper-lanes.frag", &words, &count);
    struct pm_gpu_buffer counters;
    pm_gpu_buffer_create(&gpu, 64, &counters);
    const uint32_t address[2] = {(uint32_t)counters.address, (uint32_t)(counters.address >> 32)};
    const VkSpecializationMapEntry entries[2] = {{100, 0, 4}, {101, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof address, address};
    const struct pm_gpu_draw draw = {
        .fragment = {.words = words, .count = count, .specialization = &specialization},
        .vertices = vertices,
        .vertex_count = 60,
        .width = WIDTH,
        .height = HEIGHT};
    free(pm_gpu_draw(&gpu, &draw, &size));
    const uint32_t *seen = counters.data;
    print_message("%s: %u lanes, %u counted by a leader with helpers, %u without\n", gpu.name,
                  seen[1], seen[0], seen[2]);
    assert_true(seen[1] > 1000);
    assert_int_equal(seen[2], seen[1]);
    assert_true(seen[7] > 0);
    assert_int_equal(seen[8], seen[7]);
    pm_gpu_buffer_destroy(&gpu, &counters);
    free(words);
}

/* With alpha-to-coverage on, forced early tests would hide what the first triangle left uncovered.
 */
static void test_alpha_to_coverage(void **state)
{
    (void)state;
    struct call call = {.draw = {.width = WIDTH,
                                 .height = HEIGHT,
                                 .samples = 4,
                                 .depth_test = true,
                                 .alpha_to_coverage = true,
                                 .double_viewport = true}};
    for (int i = 0; i < 6; i++)
        call.vertices[i] =
            (struct pm_gpu_vertex){{corners[i % 3][0], corners[i % 3][1], i < 3 ? 0.3f : 0.6f, 1},
                                   {i < 3, i >= 3, 0, i < 3 ? 0.5f : 1.0f}};
    call.draw.vertices = call.vertices;
    call.draw.vertex_count = 6;
    exact_load("alpha-to-coverage.frag", NULL, 0, &call.shader);
    size_t size;
    call.expected = run_words(&call, &call.shader.original, NULL, &size, call.expected_counts);
    const float *texel = call.expected;
    assert_true(texel[0] == 0.5f && texel[1] == 0.5f);

    struct model_counts twice = {.lanes = 2 * WIDTH * HEIGHT};
    call.truth = (struct exact_truth){
        .entry = twice, .points = &twice, .subgroups = EXACT_SUBGROUPS_UNKNOWN};
    exact_each_variant(gpu.int64_atomics, &call.shader, true, check_variant, &call);

    struct exact_shader early;
    uint32_t counts[COUNTS];
    exact_load("alpha-to-coverage-early.frag", NULL, 0, &early);
    float *wrong = run_words(&call, &early.original, NULL, &size, counts);
    assert_true(wrong[0] == 0.5f && wrong[1] == 0.0f);
    free(wrong);
    free(call.expected);
    exact_finish(&early);
    exact_finish(&call.shader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),          cmocka_unit_test(test_late_depth),
        cmocka_unit_test(test_early_depth),       cmocka_unit_test(test_samples),
        cmocka_unit_test(test_any_triangles),     cmocka_unit_test(test_helper_lanes),
        cmocka_unit_test(test_alpha_to_coverage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
