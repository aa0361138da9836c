/* HAZARDS 3: the canonical module computes the original's bits, on every driver. */
#include "base/random.h"
#include "shader_rewrite/quirks/hiding_casts.h"
#include "shader_rewrite/quirks/quirks.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/translated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INPUT_WORDS 4099 /* a prime, so that invocations meet many combinations */
#define GROUPS 9
#define OUTPUT_WORDS (GROUPS * 64 * 16)

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

static struct pm_words canonical_of(const struct pm_words *module, enum pm_stage stage,
                                    const struct pm_spec_value *values, size_t count)
{
    const struct pm_canonicalize_info info = {.words = module->data,
                                              .word_count = module->count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .spec_values = values,
                                              .spec_value_count = count,
                                              .target = vulkan_1_3};
    struct pm_words out;
    struct pm_error error = {0};
    if (!pm_canonicalize(&info, &out, &error))
        fail_msg("%s", error.message);
    return out;
}

/* Ordinary numbers mostly, and everything that arithmetic treats specially: zeroes of both signs,
 * denormals, infinities, NaNs, ones, huge and tiny ones, integers. */
static void fill_input(uint32_t *words)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000,
                                       0x7f800000, 0xff800000, 0x7fc00001, 0x3f800000, 0xbf800000,
                                       0x7f7fffff, 0x3f7fffff, 0x4b000001, 7,          0xffffffff};
    struct pm_random random;
    pm_random_init(&random, 11);
    for (size_t i = 0; i < INPUT_WORDS; i++) {
        float ordinary = (float)(pm_random_unit(&random) * 12 - 4);
        uint32_t choice = pm_random_below(&random, 8);
        if (choice == 0)
            words[i] = special[pm_random_below(&random, sizeof special / sizeof special[0])];
        else if (choice == 1)
            words[i] = (uint32_t)pm_random_next(&random);
        else
            memcpy(&words[i], &ordinary, sizeof ordinary);
    }
}

/* Which of two NaNs a sum hands on, IEEE 754 leaves open (6.2.3), and compilers order sums as they
 * like. What is merely moved stays as it is: a signalling NaN is told from a quiet one. */
static bool is_quiet_nan(uint32_t bits)
{
    return (bits & 0x7fc00000) == 0x7fc00000;
}

static void compare(const char *name, const uint32_t *original, const uint32_t *canonical,
                    size_t words)
{
    size_t different = 0;
    for (size_t i = 0; i < words; i++) {
        if (original[i] == canonical[i] ||
            (is_quiet_nan(original[i]) && is_quiet_nan(canonical[i])))
            continue;
        if (different++ < 5)
            fprintf(stderr, "%s: word %zu: 0x%08x in the original, 0x%08x in the canonical\n", name,
                    i, original[i], canonical[i]);
    }
    if (different)
        fail_msg("%s on %s: %zu of %zu words differ", name, pm_test_gpu.name, different, words);
}

/* An output that is all the same would compare nothing. */
static void assert_varied(const char *name, const uint32_t *words, size_t count)
{
    size_t changes = 0;
    for (size_t i = 1; i < count; i++)
        changes += words[i] != words[i - 1];
    if (changes < 50)
        fail_msg("%s writes next to nothing: %zu changes in %zu words", name, changes, count);
}

/* ---- compute ---- */

static uint32_t *run_compute(const struct pm_words *module, const VkSpecializationInfo *spec,
                             bool in_place)
{
    struct pm_gpu_buffer input, output;
    pm_gpu_buffer_create(&pm_test_gpu, INPUT_WORDS * sizeof(uint32_t), &input);
    pm_gpu_buffer_create(&pm_test_gpu, OUTPUT_WORDS * sizeof(uint32_t), &output);
    fill_input(input.data);
    const struct pm_gpu_shader shader = {.words = module->data,
                                         .count = module->count,
                                         .specialization = spec,
                                         .buffers = {&input, &output}};
    pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS, 1, 1);
    uint32_t *result = calloc(OUTPUT_WORDS, sizeof(uint32_t));
    assert_non_null(result);
    if (in_place)
        memcpy(result, input.data, INPUT_WORDS * sizeof(uint32_t));
    else
        memcpy(result, output.data, OUTPUT_WORDS * sizeof(uint32_t));
    pm_gpu_buffer_destroy(&pm_test_gpu, &input);
    pm_gpu_buffer_destroy(&pm_test_gpu, &output);
    return result;
}

static void compare_compute(const char *name, const struct pm_words *module, bool in_place,
                            const struct pm_spec_value *values, size_t count)
{
    VkSpecializationMapEntry entries[8];
    uint32_t data[8];
    for (size_t i = 0; i < count; i++) {
        entries[i] = (VkSpecializationMapEntry){values[i].spec_id, (uint32_t)i * 4, 4};
        data[i] = (uint32_t)values[i].bits;
    }
    const VkSpecializationInfo spec = {(uint32_t)count, entries, sizeof data, data};
    struct pm_words canonical = canonical_of(module, PM_STAGE_COMPUTE, values, count);
    uint32_t *original_result = run_compute(module, &spec, in_place);
    uint32_t *canonical_result = run_compute(&canonical, NULL, in_place);
    assert_varied(name, original_result, in_place ? INPUT_WORDS : OUTPUT_WORDS);
    compare(name, original_result, canonical_result, in_place ? INPUT_WORDS : OUTPUT_WORDS);
    free(original_result);
    free(canonical_result);
    pm_words_finish(&canonical);
}

static void check_compute(const char *name, bool in_place, const struct pm_spec_value *values,
                          size_t count)
{
    struct pm_words module;
    pm_gpu_load(PM_TEST_VALUES, name, &module.data, &module.count);
    compare_compute(name, &module, in_place, values, count);
    pm_words_finish(&module);
}

static const char *const compute_names[] = {
    "folding.comp",   "loops.comp",    "breaks.comp",         "switches.comp",
    "functions.comp", "mixes.comp",    "transcendental.comp", "packing.comp",
    "shared.comp",    "matrices.comp", "integers.comp",       "arrays.comp",
    "bitcasts.comp",  "pointers.comp", "transposes.comp",     "transposed.comp"};
enum { COMPUTE_NAMES = sizeof(compute_names) / sizeof(compute_names[0]) };

static void test_compute(void **state)
{
    (void)state;
    for (size_t i = 0; i < COMPUTE_NAMES; i++)
        check_compute(compute_names[i], false, NULL, 0);
}

/* ---- as a translation layer writes them ---- */

static bool has_hiding_casts(const struct pm_words *words)
{
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, NULL);
    assert_non_null(module);
    const bool has = pm_has_hiding_casts(module);
    pm_ir_module_destroy(module);
    return has;
}

/* Where the driver sees through the casts; where it does not the layer leaves them alone. */
static void test_translated(void **state)
{
    (void)state;
    const struct pm_driver driver =
        pm_driver_of(pm_test_gpu.driver_id, pm_test_gpu.driver_version, pm_test_gpu.driver_info);
    const bool left_alone = pm_quirks_of(&driver) & PM_QUIRK_FOLDS_UNCAST;
    for (size_t i = 0; i < COMPUTE_NAMES; i++) {
        struct pm_words plain;
        pm_gpu_load(PM_TEST_VALUES, compute_names[i], &plain.data, &plain.count);
        struct pm_words translated = pm_test_translated(&plain);
        if (!has_hiding_casts(&translated) || !left_alone)
            compare_compute(compute_names[i], &translated, false, NULL, 0);
        pm_words_finish(&plain);
        pm_words_finish(&translated);
    }
}

static void test_hiding_casts_are_found(void **state)
{
    (void)state;
    struct pm_words plain;
    pm_gpu_load(PM_TEST_VALUES, "folding.comp", &plain.data, &plain.count);
    struct pm_words translated = pm_test_translated(&plain);
    assert_false(has_hiding_casts(&plain));
    assert_true(has_hiding_casts(&translated));
    pm_words_finish(&plain);
    pm_words_finish(&translated);
}

/* The trial that showed spirv-opt folding a product of constants. */
static void test_trial(void **state)
{
    (void)state;
    check_compute("canonical-values.comp", true, NULL, 0);
}

static void test_specialized(void **state)
{
    (void)state;
    const struct pm_spec_value size = {3, 4, 64}, square = {0, 4, 1}, taps = {1, 4, 6},
                               scale = {2, 4, 0x3eaaaaab}, mode0 = {4, 4, 0}, mode9 = {4, 4, 9};
    const struct pm_spec_value other = {0, 4, 4}; /* the matrix is no constant */
    const struct pm_spec_value some[] = {size, mode0};
    const struct pm_spec_value all[] = {size, square, taps, scale, mode9};
    check_compute("specialized.comp", false, &size, 1);
    check_compute("specialized.comp", false, some, 2);
    check_compute("specialized.comp", false, all, 5);
    check_compute("transposes.comp", false, &other, 1);
}

/* ---- fragment ---- */

#define TRIANGLES 12

static void fill_vertices(struct pm_gpu_vertex *vertices)
{
    struct pm_random random;
    pm_random_init(&random, 5);
    for (size_t i = 0; i < TRIANGLES * 3; i++) {
        struct pm_gpu_vertex *v = &vertices[i];
        float w = (float)(0.5 + pm_random_unit(&random));
        v->position[0] = (float)(pm_random_unit(&random) * 2.4 - 1.2) * w;
        v->position[1] = (float)(pm_random_unit(&random) * 2.4 - 1.2) * w;
        v->position[2] = (float)pm_random_unit(&random) * w;
        v->position[3] = w;
        for (int c = 0; c < 4; c++)
            v->color[c] = (float)pm_random_unit(&random);
    }
}

static void check_fragment(const char *name, uint32_t samples, bool depth_test)
{
    struct pm_words module;
    pm_gpu_load(PM_TEST_VALUES, name, &module.data, &module.count);
    struct pm_words canonical = canonical_of(&module, PM_STAGE_FRAGMENT, NULL, 0);
    struct pm_gpu_vertex vertices[TRIANGLES * 3];
    fill_vertices(vertices);
    struct pm_gpu_draw draw = {.fragment = {.words = module.data, .count = module.count},
                               .vertices = vertices,
                               .vertex_count = TRIANGLES * 3,
                               .width = 117, /* partial quads and subgroups at the edges */
                               .height = 83,
                               .samples = samples,
                               .depth_test = depth_test,
                               .blend_add = true};
    size_t size;
    uint32_t *original_result = pm_gpu_draw(&pm_test_gpu, &draw, &size);
    draw.fragment.words = canonical.data;
    draw.fragment.count = canonical.count;
    uint32_t *canonical_result = pm_gpu_draw(&pm_test_gpu, &draw, &size);
    assert_varied(name, original_result, size / 4);
    compare(name, original_result, canonical_result, size / 4);
    free(original_result);
    free(canonical_result);
    pm_words_finish(&module);
    pm_words_finish(&canonical);
}

static void test_fragment(void **state)
{
    (void)state;
    static const char *const names[] = {"textured.frag", "lights.frag", "discards.frag",
                                        "depths.frag"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_fragment(names[i], 1, false);
        check_fragment(names[i], 4, true);
    }
    if (pm_test_gpu.demote)
        check_fragment("demotes.frag", 1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compute),
        cmocka_unit_test(test_translated),
        cmocka_unit_test(test_hiding_casts_are_found),
        cmocka_unit_test(test_trial),
        cmocka_unit_test(test_specialized),
        cmocka_unit_test(test_fragment),
    };
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
