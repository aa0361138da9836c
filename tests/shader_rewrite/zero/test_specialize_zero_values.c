/* Issue: a specialized shader computes the original's bits, whatever the profile said, on every
 * driver; with NaN, infinities and negative zeroes where there is no permission, and without them
 * where there is. */
#include "base/random.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/all.h"
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/gpu_driver.h"
#include "tests/shader_rewrite/preserving.h"
#include "tests/shader_rewrite/translated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 12, LANES = 64, VALUES = 8, WORDS = GROUPS * LANES * VALUES };
enum { MOST_SINGLE = 24, RANDOM_PROFILES = 4 }; /* profiles tried of a shader */
enum { SIDE = 48, QUADS = 24 };                 /* of a picture, and rectangles drawn into it */

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

struct shader {
    const char *name;
    enum pm_stage stage;
    struct pm_words original, canonical;
    uint32_t candidates;
};

/* What is done with a shader before it is looked at. */
enum made {
    PLAINLY,
    TRANSLATED, /* as a translation layer has it */
    PRESERVING, /* it keeps the signs of zeroes, infinities and NaN */
};

static void load(struct shader *s, const char *name, enum pm_stage stage, enum made made)
{
    struct pm_error error = {0};
    *s = (struct shader){.name = name, .stage = stage};
    pm_gpu_load(PM_TEST_ZERO_REGIONS, name, &s->original.data, &s->original.count);
    if (made != PLAINLY) {
        struct pm_words plain = s->original;
        s->original = made == TRANSLATED ? pm_test_translated(&plain) : pm_test_preserving(&plain);
        pm_words_finish(&plain);
    }
    const struct pm_canonicalize_info info = {.words = s->original.data,
                                              .word_count = s->original.count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = vulkan_1_3};
    struct pm_zero_points points;
    if (!pm_canonicalize(&info, &s->canonical, &error) ||
        !pm_zero_candidates(s->canonical.data, s->canonical.count, &points, &error))
        fail_msg("%s: %s", name, error.message);
    s->candidates = points.count;
    pm_zero_points_finish(&points);
}

static void finish(struct shader *s)
{
    pm_words_finish(&s->original);
    pm_words_finish(&s->canonical);
}

/* ---- inputs ---- */

enum input {
    PLAIN, /* no NaN, infinity or negative zero */
    WILD,
    DENORMALS, /* as PLAIN, but most zeroes are denormals */
};

/* Zeroes in whole workgroups, in whole subgroups and in single lanes. */
static void fill_input(uint32_t *words, enum input input)
{
    static const uint32_t wild[] = {0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 1, 0x7f7fffff};
    struct pm_random random;
    pm_random_init(&random, 5);
    for (uint32_t g = 0; g < GROUPS; g++) {
        for (uint32_t k = 0; k < VALUES; k++) {
            uint32_t way = pm_random_below(&random, 3);
            for (uint32_t lane = 0; lane < LANES; lane++) {
                float number = (float)pm_random_below(&random, 4097) / 1024 - 1.5f;
                if (way == 0 || (way == 1 && (lane / 16 + g) % 2) ||
                    pm_random_below(&random, 8) == 0)
                    number = 0;
                uint32_t *word = &words[(g * LANES + lane) * VALUES + k];
                memcpy(word, &number, sizeof(number));
                if (input == WILD && (*word == 0 ? pm_random_below(&random, 64) == 0
                                                 : pm_random_below(&random, 8) == 0))
                    *word = wild[pm_random_below(&random, 6)];
                if (input == WILD && *word == 0 && (g & 1))
                    *word = 0x80000000;
                if (input == DENORMALS && *word == 0)
                    *word = pm_random_below(&random, 0x800000);
            }
        }
    }
}

static const float push[] = {1.25f};

static uint32_t *run_compute(const struct pm_words *module, enum input input)
{
    struct pm_gpu_buffer in, out;
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &in);
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &out);
    fill_input(in.data, input);
    const struct pm_gpu_shader shader = {.words = module->data,
                                         .count = module->count,
                                         .buffers = {&in, &out},
                                         .push = push,
                                         .push_size = sizeof(push)};
    pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS, 1, 1);
    uint32_t *result = malloc(WORDS * sizeof(uint32_t));
    assert_non_null(result);
    memcpy(result, out.data, WORDS * sizeof(uint32_t));
    pm_gpu_buffer_destroy(&pm_test_gpu, &in);
    pm_gpu_buffer_destroy(&pm_test_gpu, &out);
    return result;
}

/* Slanted triangles all over the picture, each with components that are zero all over or in part.
 */
static uint32_t *run_draw(const struct pm_words *module, enum input input, size_t *size)
{
    struct pm_gpu_vertex vertices[QUADS * 3];
    struct pm_random random;
    pm_random_init(&random, 3);
    for (uint32_t t = 0; t < QUADS; t++) {
        float x = (float)(t % 6) / 3 - 1, y = (float)(t / 6) / 2 - 1;
        uint32_t zero = pm_random_below(&random, 16);
        for (uint32_t v = 0; v < 3; v++) {
            struct pm_gpu_vertex *to = &vertices[t * 3 + v];
            *to = (struct pm_gpu_vertex){
                .position = {x + (v == 1 ? 0.34f : 0), y + (v == 2 ? 0.53f : 0), 0.5f, 1}};
            for (uint32_t k = 0; k < 4; k++) {
                float number = (float)pm_random_below(&random, 1025) / 1024;
                bool none = zero >> k & 1 && (t % 3 || v);
                to->color[k] = none ? (input == WILD && t % 2 ? -0.0f : 0) : number;
            }
        }
    }
    struct pm_gpu_buffer in;
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &in);
    fill_input(in.data, input);
    const struct pm_gpu_draw draw = {
        .fragment = {.words = module->data, .count = module->count, .buffers = {&in}},
        .vertices = vertices,
        .vertex_count = QUADS * 3,
        .width = SIDE,
        .height = SIDE};
    uint32_t *result = pm_gpu_draw(&pm_test_gpu, &draw, size);
    pm_gpu_buffer_destroy(&pm_test_gpu, &in);
    return result;
}

/* Every driver contracts and reassociates as it finds the code: what is compared is the module with
 * all of that forbidden, after the pass has done its work without. */
static uint32_t *run(const struct shader *s, const struct pm_words *module, enum input input,
                     size_t *words)
{
    struct pm_words precise = differential_precise(module);
    size_t size = WORDS * sizeof(uint32_t);
    uint32_t *result = s->stage == PM_STAGE_COMPUTE ? run_compute(&precise, input)
                                                    : run_draw(&precise, input, &size);
    *words = size / sizeof(uint32_t);
    pm_words_finish(&precise);
    return result;
}

/* ---- profiles ---- */

/* Which NaN comes out is no driver's promise. */
static bool is_nan(uint32_t word)
{
    return (word & 0x7fffffff) > 0x7f800000;
}

static void compare(const struct shader *s, const char *what, uint32_t profile,
                    const uint32_t *want, const uint32_t *got, size_t words)
{
    size_t different = 0;
    for (size_t i = 0; i < words; i++)
        if (want[i] != got[i] && !(is_nan(want[i]) && is_nan(got[i])) && different++ < 5)
            fprintf(stderr, "%s: profile %u: word %zu: 0x%08x in the original, 0x%08x %s\n",
                    s->name, profile, i, want[i], got[i], what);
    if (different)
        fail_msg("%s on %s: %zu of %zu words differ", s->name, pm_test_gpu.name, different, words);
}

/* Adversarial: everything zero, one value only, or each at random. Returns how many candidates it
 * names. */
static void fill_profile(double *zero, uint32_t count, uint32_t profile)
{
    struct pm_random random;
    pm_random_init(&random, profile);
    uint32_t step = count / MOST_SINGLE + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (profile == 0)
            zero[i] = 1;
        else if (profile <= RANDOM_PROFILES)
            zero[i] = pm_random_unit(&random);
        else
            zero[i] = i == (profile - RANDOM_PROFILES - 1) * step;
    }
}

/* driver NULL: without any guard. */
static uint32_t specialize(const struct shader *s, uint32_t profile, enum pm_float_zero float_zero,
                           const struct pm_driver *driver, struct pm_specialized *out)
{
    double *zero = calloc(s->candidates + 1, sizeof(*zero));
    assert_non_null(zero);
    fill_profile(zero, s->candidates, profile);
    const struct pm_zero_profile known = {.zero = zero, .candidate_count = s->candidates};
    const struct pm_specialize_zero_info info = {.profile = &known,
                                                 .all_candidates = true,
                                                 .float_zero = float_zero,
                                                 .subgroup_quad = pm_test_gpu.quad,
                                                 .target = vulkan_1_3,
                                                 .driver = driver,
                                                 .unguarded = driver ? 0 : PM_QUIRKS_ALL,
                                                 .most_transforms = 6,
                                                 .take_all = true};
    struct pm_error error = {0};
    if (!pm_specialize_zero(s->canonical.data, s->canonical.count, &info, out, &error))
        fail_msg("%s: profile %u: %s", s->name, profile, error.message);
    free(zero);
    return out->transforms;
}

static uint32_t profiles_of(const struct shader *s)
{
    const uint32_t step = s->candidates / MOST_SINGLE + 1;
    return 1 + RANDOM_PROFILES + (s->candidates + step - 1) / step;
}

/* Quickly every third of those of one value, on each driver others. */
static bool is_tried(uint32_t profile)
{
    const uint32_t first = pm_test_gpu.lavapipe_22 ? 0 : pm_test_gpu.swiftshader ? 1 : 2;
    return profile <= RANDOM_PROFILES || profile % 3 == first || pm_test_all();
}

static void check(const char *name, enum pm_stage stage, enum made made,
                  enum pm_float_zero float_zero, enum input input)
{
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    struct shader s;
    load(&s, name, stage, made);
    size_t words;
    uint32_t *original = run(&s, &s.original, input, &words);
    uint32_t *canonical = run(&s, &s.canonical, input, &words);
    compare(&s, "canonical", 0, original, canonical, words);
    uint32_t transforms = 0, tried = 0;
    const uint32_t profiles = profiles_of(&s);
    for (uint32_t p = 0; p < profiles; p++) {
        struct pm_specialized specialized;
        if (!is_tried(p))
            continue;
        tried++;
        transforms += specialize(&s, p, float_zero, &driver, &specialized);
        if (specialized.transforms) {
            uint32_t *result = run(&s, &specialized.words, input, &words);
            compare(&s, "specialized", p, original, result, words);
            free(result);
        }
        pm_specialized_finish(&specialized);
    }
    if (float_zero != PM_FLOAT_ZERO_NEVER && made != PRESERVING &&
        transforms * profiles < 10 * tried)
        fail_msg("%s: only %u transforms", name, transforms);
    free(original);
    free(canonical);
    finish(&s);
}

static const struct {
    const char *name;
    enum pm_stage stage;
} shaders[] = {
    {"figures.comp", PM_STAGE_COMPUTE},        {"functions.comp", PM_STAGE_COMPUTE},
    {"prefix.comp", PM_STAGE_COMPUTE},         {"loops.comp", PM_STAGE_COMPUTE},
    {"branches.comp", PM_STAGE_COMPUTE},       {"integers.comp", PM_STAGE_COMPUTE},
    {"memory.comp", PM_STAGE_COMPUTE},         {"textured.frag", PM_STAGE_FRAGMENT},
    {"derivatives.frag", PM_STAGE_FRAGMENT},   {"discards.frag", PM_STAGE_FRAGMENT},
    {"kills.frag", PM_STAGE_FRAGMENT},         {"kills_in_loop.frag", PM_STAGE_FRAGMENT},
    {"returns.frag", PM_STAGE_FRAGMENT},       {"lights.frag", PM_STAGE_FRAGMENT},
    {"levels.comp", PM_STAGE_COMPUTE},         {"constants.comp", PM_STAGE_COMPUTE},
    {"leaving.comp", PM_STAGE_COMPUTE},        {"leaving_made.comp", PM_STAGE_COMPUTE},
    {"leaving_branch.comp", PM_STAGE_COMPUTE}, {"uniforms.comp", PM_STAGE_COMPUTE},
    {"second.comp", PM_STAGE_COMPUTE},         {"leaving_phi.comp", PM_STAGE_COMPUTE},
    {"leaving_read.comp", PM_STAGE_COMPUTE},   {"copies.comp", PM_STAGE_COMPUTE},
    {"silent.comp", PM_STAGE_COMPUTE},         {"exact.comp", PM_STAGE_COMPUTE},
    {"leaving_chosen.comp", PM_STAGE_COMPUTE}, {"leaving_helpers.frag", PM_STAGE_FRAGMENT},
    {"leaving_joined.comp", PM_STAGE_COMPUTE}, {"preserves.comp", PM_STAGE_COMPUTE},
};
enum { SHADERS = sizeof(shaders) / sizeof(shaders[0]) };

/* No NaN, infinity or negative zero, and the shader's own permission. */
static void test_permitted(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHADERS; i++)
        check(shaders[i].name, shaders[i].stage, PLAINLY, PM_FLOAT_ZERO_SHADER, PLAIN);
}

/* Every float as an integer, cast around what computes with it. */
static void test_translated(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHADERS; i++) {
        check(shaders[i].name, shaders[i].stage, TRANSLATED, PM_FLOAT_ZERO_SHADER, PLAIN);
        check(shaders[i].name, shaders[i].stage, TRANSLATED, PM_FLOAT_ZERO_NEVER, WILD);
    }
}

/* Without permission everything is exact, whatever comes in. */
static void test_never(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHADERS; i++)
        check(shaders[i].name, shaders[i].stage, PLAINLY, PM_FLOAT_ZERO_NEVER, WILD);
}

/* Without permission by the shader itself, as translation layers for Direct3D declare it. */
static void test_preserving(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHADERS; i++)
        check(shaders[i].name, shaders[i].stage, PRESERVING, PM_FLOAT_ZERO_SHADER, WILD);
    check("preserves.comp", PM_STAGE_COMPUTE, PRESERVING, PM_FLOAT_ZERO_SHADER, DENORMALS);
}

/* Runs what is specialized without guards. Returns how many words differ. */
static size_t differ_unguarded(const char *name, enum pm_stage stage)
{
    struct shader s;
    load(&s, name, stage, PLAINLY);
    size_t words, different = 0;
    uint32_t *original = run(&s, &s.original, PLAIN, &words);
    const uint32_t profiles = profiles_of(&s);
    for (uint32_t p = 0; p < profiles; p++) {
        struct pm_specialized specialized;
        if (specialize(&s, p, PM_FLOAT_ZERO_SHADER, NULL, &specialized)) {
            uint32_t *result = run(&s, &specialized.words, PLAIN, &words);
            for (size_t i = 0; i < words; i++)
                different += original[i] != result[i];
            free(result);
        }
        pm_specialized_finish(&specialized);
    }
    free(original);
    finish(&s);
    return different;
}

/* A row of quirks.c is there as long as its driver needs it: this fails on one that was mended.
 * levels.comp is not run so, since it ends the driver. */
static void test_quirks_are_there(void **state)
{
    (void)state;
    static const char *const chooses[] = {"leaving_made.comp", "leaving_branch.comp",
                                          "leaving_phi.comp", "leaving_chosen.comp"};
    static const char *const loads[] = {"leaving.comp", "leaving_made.comp", "leaving_read.comp"};
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    const uint32_t quirks = pm_quirks_of(&driver);
    size_t different = 0;
    for (int i = 0; (quirks & PM_QUIRK_CHOOSES_AGAIN) && i < 4; i++)
        different += differ_unguarded(chooses[i], PM_STAGE_COMPUTE);
    assert_int_equal(different > 0, (quirks & PM_QUIRK_CHOOSES_AGAIN) != 0);
    different = 0;
    for (int i = 0; (quirks & PM_QUIRK_LOADS_AGAIN) && i < 3; i++)
        different += differ_unguarded(loads[i], PM_STAGE_COMPUTE);
    assert_int_equal(different > 0, (quirks & PM_QUIRK_LOADS_AGAIN) != 0);
    different = differ_unguarded("leaving_helpers.frag", PM_STAGE_FRAGMENT);
    assert_int_equal(different > 0, (quirks & PM_QUIRK_LOADS_AGAIN) != 0);
    different = differ_unguarded("leaving_joined.comp", PM_STAGE_COMPUTE);
    assert_int_equal(different > 0, (quirks & PM_QUIRK_JOINED_LOADS) != 0);
}

/* Where a driver flushes denormals they pass the check as zeroes, and S hides constants behind no
 * bits of theirs; where it does not, they do not pass. */
static void test_denormals(void **state)
{
    (void)state;
    check("constants.comp", PM_STAGE_COMPUTE, PLAINLY, PM_FLOAT_ZERO_SHADER, DENORMALS);
}

/* HAZARDS 7: with permission, in the groups whose %w is zero in every lane (of either sign),
 * 0 * x is +0 whatever x is; everything else is as it was, bit by bit. */
static void fill_difference(uint32_t *words)
{
    static const uint32_t factors[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000,
                                       0xbf800000, 0x80000000, 0,          0x7f7fffff};
    for (uint32_t i = 0; i < GROUPS * LANES; i++) {
        uint32_t group = i / LANES;
        uint32_t none = group & 1 ? 0x80000000 : 0; /* of max(-0, 0) either zero may come */
        words[i * VALUES] = group % 3 == 2 ? 0x40000000 : none;
        words[i * VALUES + 1] = factors[i % 8];
    }
}

static uint32_t *run_difference(const struct pm_words *module)
{
    struct pm_words precise = differential_precise(module);
    struct pm_gpu_buffer in, out;
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &in);
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &out);
    fill_difference(in.data);
    const struct pm_gpu_shader shader = {
        .words = precise.data, .count = precise.count, .buffers = {&in, &out}};
    pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS, 1, 1);
    uint32_t *result = malloc(WORDS * sizeof(uint32_t));
    assert_non_null(result);
    memcpy(result, out.data, WORDS * sizeof(uint32_t));
    pm_gpu_buffer_destroy(&pm_test_gpu, &in);
    pm_gpu_buffer_destroy(&pm_test_gpu, &out);
    pm_words_finish(&precise);
    return result;
}

/* What the four results are in a group of zeroes: 0, 3, x + 0 and 2. */
static void assert_difference(const uint32_t *original, const uint32_t *specialized)
{
    uint32_t input[WORDS], permitted = 0;
    fill_difference(input);
    for (uint32_t i = 0; i < GROUPS * LANES; i++) {
        const uint32_t *got = &specialized[i * VALUES], *was = &original[i * VALUES];
        uint32_t x = input[i * VALUES + 1];
        uint32_t x_and_0 = x == 0x80000000 ? 0 : x;
        const uint32_t zero[] = {0, 0x40400000, x_and_0, 0x40000000};
        bool zeroes = i / LANES % 3 != 2;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t want = zeroes ? zero[k] : was[k];
            if (got[k] != want && !(is_nan(got[k]) && is_nan(want)))
                fail_msg("invocation %u, result %u: 0x%08x, wanted 0x%08x", i, k, got[k], want);
            bool sign = (got[k] | was[k]) == 0x80000000;
            bool differs = got[k] != was[k] && !(is_nan(got[k]) && is_nan(was[k]));
            if (differs && !is_nan(was[k]) && !sign)
                fail_msg("invocation %u, result %u: 0x%08x, was 0x%08x", i, k, got[k], was[k]);
            permitted += differs;
        }
    }
    assert_true(permitted > 0);
}

/* The candidate that is the shader's one instruction of GLSL.std.450. */
static uint32_t candidate_w(const struct shader *s)
{
    struct pm_error error = {0};
    struct pm_zero_points points;
    struct pm_ir_module *module = pm_ir_parse(s->canonical.data, s->canonical.count, &error);
    assert_true(pm_zero_candidates(s->canonical.data, s->canonical.count, &points, &error));
    uint32_t found = points.count;
    for (uint32_t c = 0; c < points.count && found == points.count; c++)
        if (pm_ir_find(module, points.candidates[c].values[0])->opcode == SpvOpExtInst)
            found = c;
    assert_true(found < points.count);
    pm_zero_points_finish(&points);
    pm_ir_module_destroy(module);
    return found;
}

static void test_difference(void **state)
{
    (void)state;
    struct shader s;
    load(&s, "difference.comp", PM_STAGE_COMPUTE, PLAINLY);
    double *zero = calloc(s.candidates, sizeof(*zero));
    assert_non_null(zero);
    zero[candidate_w(&s)] = 1;
    const struct pm_zero_profile known = {.zero = zero, .candidate_count = s.candidates};
    const struct pm_specialize_zero_info info = {
        .profile = &known, .all_candidates = true, .target = vulkan_1_3, .take_all = true};
    struct pm_specialized specialized;
    struct pm_error error = {0};
    if (!pm_specialize_zero(s.canonical.data, s.canonical.count, &info, &specialized, &error))
        fail_msg("%s", error.message);
    assert_int_equal(specialized.transforms, 1);
    uint32_t *original = run_difference(&s.original);
    uint32_t *result = run_difference(&specialized.words);
    assert_difference(original, result);
    free(result);
    free(original);
    pm_specialized_finish(&specialized);
    free(zero);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permitted),        cmocka_unit_test(test_never),
        cmocka_unit_test(test_translated),       cmocka_unit_test(test_preserving),
        cmocka_unit_test(test_quirks_are_there), cmocka_unit_test(test_denormals),
        cmocka_unit_test(test_difference),
    };
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
