/* A shader that was specialized for words computes the original's bits on every driver: where the
 * words have these values, and where they have others, if the guard is there to see it. */
#include "base/random.h"
#include "shader_rewrite/quirks/quirks.h"
#include "tests/all.h"
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/constants/constant_subject.h"
#include "tests/shader_rewrite/differential/differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { GROUPS = 4, LANES = 64, VALUES = 8, WORDS = GROUPS * LANES * VALUES };
enum { SIDE = 32, TRIALS = 24, MOST_KNOWN = 6, UNIFORM_WORDS = 128, PUSH_WORDS = 32 };

static const struct pm_target vulkan_1_1 = {.vulkan_minor = 1};

/* What a shader is run with. */
struct inputs {
    uint32_t push[PUSH_WORDS], uniform[UNIFORM_WORDS];
};

struct shader {
    const char *name;
    enum pm_stage stage;
    struct pm_words original, canonical;
    struct pm_constant_points words; /* all that it loads */
};

static void load(struct shader *s, const char *name, enum pm_stage stage)
{
    struct pm_error error = {0};
    *s = (struct shader){.name = name, .stage = stage};
    pm_gpu_load(PM_TEST_CONSTANT_VALUES, name, &s->original.data, &s->original.count);
    const struct pm_canonicalize_info info = {.words = s->original.data,
                                              .word_count = s->original.count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = vulkan_1_1};
    if (!pm_canonicalize(&info, &s->canonical, &error))
        fail_msg("%s: %s", name, error.message);
    s->words = constant_subject_words(&s->canonical);
}

static void finish(struct shader *s)
{
    pm_words_finish(&s->original);
    pm_words_finish(&s->canonical);
    pm_constant_points_finish(&s->words);
}

/* ---- inputs ---- */

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Numbers that much hangs on. */
static uint32_t random_value(struct pm_random *random, bool is_float, bool wild)
{
    static const float floats[] = {0, 0, 1, 2, 0.5f, -1, 3.25f, 0.1f};
    static const uint32_t unusual[] = {0x80000000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 1,          0x807fffff};
    if (!is_float)
        return pm_random_below(random, 5);
    if (wild && pm_random_below(random, 3) == 0)
        return unusual[pm_random_below(random, 6)];
    return bits_of(floats[pm_random_below(random, 8)]);
}

static uint32_t *word_of(struct inputs *inputs, const struct pm_constant_point *point)
{
    const bool push = point->source == PM_CONSTANT_PUSH;
    assert_true(point->offset / 4 < (push ? PUSH_WORDS : UNIFORM_WORDS));
    return &(push ? inputs->push : inputs->uniform)[point->offset / 4];
}

static void fill(struct inputs *inputs, const struct shader *s, struct pm_random *random, bool wild)
{
    *inputs = (struct inputs){0};
    for (uint32_t w = 0; w < s->words.count; w++)
        *word_of(inputs, &s->words.points[w]) =
            random_value(random, s->words.points[w].is_float, wild);
    /* Of the shaders' ways to index by a word that is not known. */
    for (int i = 0; i < 4; i++)
        inputs->uniform[i * 4] = pm_random_below(random, 4);
}

/* All words, of which floats are this. */
static uint32_t know_all(const struct shader *s, struct inputs *inputs, float number,
                         struct pm_constant_known *known)
{
    for (uint32_t w = 0; w < s->words.count; w++) {
        const struct pm_constant_point *point = &s->words.points[w];
        if (point->is_float)
            *word_of(inputs, point) = bits_of(number);
        known[w] = (struct pm_constant_known){*point, *word_of(inputs, point),
                                              point->source == PM_CONSTANT_UNIFORM};
    }
    return s->words.count;
}

static uint32_t choose_known(const struct shader *s, struct inputs *inputs,
                             struct pm_random *random, struct pm_constant_known *known)
{
    uint32_t count = 0, wanted = 1 + pm_random_below(random, MOST_KNOWN);
    for (uint32_t w = 0; w < s->words.count && count < MOST_KNOWN; w++) {
        const struct pm_constant_point *point = &s->words.points[w];
        if (pm_random_below(random, s->words.count) < 2 * wanted)
            known[count++] = (struct pm_constant_known){*point, *word_of(inputs, point),
                                                        point->source == PM_CONSTANT_UNIFORM};
    }
    return count;
}

/* ---- runs ---- */

static uint32_t *run_compute(const struct pm_words *module, const struct inputs *inputs, bool wild)
{
    struct pm_gpu_buffer in, out, uniform;
    struct pm_random random;
    pm_random_init(&random, 7);
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &in);
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &out);
    pm_gpu_buffer_create(&pm_test_gpu, sizeof(inputs->uniform), &uniform);
    memcpy(uniform.data, inputs->uniform, sizeof(inputs->uniform));
    for (uint32_t i = 0; i < WORDS; i++)
        ((uint32_t *)in.data)[i] =
            wild && pm_random_below(&random, 8) == 0
                ? random_value(&random, true, true)
                : bits_of((float)pm_random_below(&random, 4097) / 1024 - 1.5f);
    const struct pm_gpu_shader shader = {.words = module->data,
                                         .count = module->count,
                                         .buffers = {&in, &out},
                                         .uniform = &uniform,
                                         .push = inputs->push,
                                         .push_size = sizeof(inputs->push)};
    pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS, 1, 1);
    uint32_t *result = malloc(WORDS * sizeof(uint32_t));
    assert_non_null(result);
    memcpy(result, out.data, WORDS * sizeof(uint32_t));
    pm_gpu_buffer_destroy(&pm_test_gpu, &in);
    pm_gpu_buffer_destroy(&pm_test_gpu, &out);
    pm_gpu_buffer_destroy(&pm_test_gpu, &uniform);
    return result;
}

static uint32_t *run_draw(const struct pm_words *module, const struct inputs *inputs, size_t *size)
{
    static const struct pm_gpu_vertex vertices[] = {
        {{-1, -1, 0.5f, 1}, {0, 0, 0.5f, 1}},      {{1, -0.9f, 0.5f, 1}, {1, 0, 0, 0.25f}},
        {{-0.9f, 1, 0.5f, 1}, {0, 1, -0.5f, 0}},   {{1, -0.5f, 0.5f, 1}, {0.5f, 0.5f, 1, 1}},
        {{0.9f, 1, 0.5f, 1}, {1, 0, 0.25f, 0.5f}}, {{-0.5f, 0.9f, 0.5f, 1}, {0, 1, 0, 1}},
    };
    struct pm_gpu_buffer uniform;
    pm_gpu_buffer_create(&pm_test_gpu, sizeof(inputs->uniform), &uniform);
    memcpy(uniform.data, inputs->uniform, sizeof(inputs->uniform));
    const struct pm_gpu_draw draw = {.fragment = {.words = module->data,
                                                  .count = module->count,
                                                  .uniform = &uniform,
                                                  .push = inputs->push,
                                                  .push_size = sizeof(inputs->push)},
                                     .vertices = vertices,
                                     .vertex_count = 6,
                                     .width = SIDE,
                                     .height = SIDE};
    uint32_t *result = pm_gpu_draw(&pm_test_gpu, &draw, size);
    pm_gpu_buffer_destroy(&pm_test_gpu, &uniform);
    return result;
}

/* Every driver contracts as it finds the code: what is compared is the module with that forbidden,
 * after the pass has done its work without. */
static uint32_t *run(const struct shader *s, const struct pm_words *module,
                     const struct inputs *inputs, bool wild, size_t *words)
{
    struct pm_words precise = differential_precise(module);
    size_t size = WORDS * sizeof(uint32_t);
    uint32_t *result = s->stage == PM_STAGE_COMPUTE ? run_compute(&precise, inputs, wild)
                                                    : run_draw(&precise, inputs, &size);
    *words = size / sizeof(uint32_t);
    pm_words_finish(&precise);
    return result;
}

static bool is_nan(uint32_t word)
{
    return (word & 0x7fffffff) > 0x7f800000;
}

static void describe(const struct pm_constant_known *known, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(stderr, "  %s byte %u = 0x%x\n",
                known[i].point.source == PM_CONSTANT_PUSH ? "push" : "uniform",
                known[i].point.offset, known[i].value);
}

/* wild: every bit counts but those of a NaN; else zeroes have no sign. */
static void compare(const struct shader *s, const char *what, const struct pm_words *module,
                    const struct inputs *inputs, bool wild, const struct pm_constant_known *known,
                    uint32_t count)
{
    size_t words, different = 0;
    uint32_t *want = run(s, &s->original, inputs, wild, &words);
    uint32_t *got = run(s, module, inputs, wild, &words);
    for (size_t i = 0; i < words; i++) {
        const bool zeroes = !wild && ((want[i] | got[i]) & 0x7fffffff) == 0;
        if (want[i] != got[i] && !zeroes && !(is_nan(want[i]) && is_nan(got[i])) && different++ < 5)
            fprintf(stderr, "%s %s: word %zu: 0x%08x in the original, 0x%08x\n", s->name, what, i,
                    want[i], got[i]);
    }
    free(want);
    free(got);
    if (!different)
        return;
    describe(known, count);
    fail_msg("%s on %s, %s: %zu of %zu words differ", s->name, pm_test_gpu.name, what, different,
             words);
}

/* ---- trials ---- */

/* With other values than those that are known; push constants stay, which have no guard. */
static void compare_others(const struct shader *s, const struct pm_words *module,
                           const struct inputs *inputs, bool wild, struct pm_random *random,
                           const struct pm_constant_known *known, uint32_t count)
{
    struct inputs others = *inputs;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        if (known[i].point.source == PM_CONSTANT_UNIFORM && (!any || pm_random_below(random, 2))) {
            *word_of(&others, &known[i].point) ^= known[i].point.is_float ? 0x00800000 : 1;
            any = true;
        }
    if (any)
        compare(s, "with other values", module, &others, wild, known, count);
}

/* Returns whether a module was made. */
static bool try_one(const struct shader *s, uint32_t trial, enum pm_float_zero float_zero,
                    uint32_t *guards)
{
    const bool wild = float_zero == PM_FLOAT_ZERO_NEVER;
    struct pm_constant_known known[MOST_KNOWN];
    struct pm_specialized_constants out;
    struct pm_error error = {0};
    struct pm_random random;
    struct inputs inputs;
    pm_random_init(&random, trial * 2 + wild);
    fill(&inputs, s, &random, wild);
    const uint32_t count = choose_known(s, &inputs, &random, known);
    /* Every other one for this driver alone. */
    const struct pm_driver driver =
        pm_driver_of(pm_test_gpu.driver_id, pm_test_gpu.driver_version, pm_test_gpu.driver_info);
    if (!count)
        return false;
    const struct pm_specialize_constants_info info = {.known = known,
                                                      .known_count = count,
                                                      .float_zero = float_zero,
                                                      .target = vulkan_1_1,
                                                      .driver = trial & 1 ? &driver : NULL,
                                                      .take_all = true};
    if (!pm_specialize_constants(s->canonical.data, s->canonical.count, &info, &out, &error)) {
        describe(known, count);
        fail_msg("%s: %s", s->name, error.message);
    }
    const bool made = out.words.count > 0;
    if (made) {
        compare(s, "with the values", &out.words, &inputs, wild, known, count);
        compare_others(s, &out.words, &inputs, wild, &random, known, count);
        *guards += out.guarded > 0;
    }
    pm_specialized_constants_finish(&out);
    return made;
}

static const struct {
    const char *name;
    enum pm_stage stage;
} shaders[] = {
    {"modes.comp", PM_STAGE_COMPUTE},    {"loops.comp", PM_STAGE_COMPUTE},
    {"products.comp", PM_STAGE_COMPUTE}, {"parts.comp", PM_STAGE_COMPUTE},
    {"exact.comp", PM_STAGE_COMPUTE},    {"tables.comp", PM_STAGE_COMPUTE},
    {"surface.frag", PM_STAGE_FRAGMENT},
};

static void check_all(enum pm_float_zero float_zero)
{
    const uint32_t trials = pm_test_all() ? TRIALS : TRIALS / 2;
    for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++) {
        struct shader s;
        uint32_t made = 0, guards = 0;
        load(&s, shaders[i].name, shaders[i].stage);
        for (uint32_t t = 0; t < trials; t++)
            made += try_one(&s, t, float_zero, &guards);
        if (float_zero != PM_FLOAT_ZERO_NEVER && (made < trials / 3 || guards < trials / 8))
            fail_msg("%s: only %u modules, %u with a guard", s.name, made, guards);
        finish(&s);
    }
}

/* Every word of exact.comp is known, with which all of it is folded that can be. */
static void test_all_known(void **state)
{
    (void)state;
    static const float numbers[] = {1, 0, 2, 0.5f, -1};
    const struct pm_driver driver =
        pm_driver_of(pm_test_gpu.driver_id, pm_test_gpu.driver_version, pm_test_gpu.driver_info);
    struct shader s;
    load(&s, "exact.comp", PM_STAGE_COMPUTE);
    for (uint32_t i = 0; i < 2 * sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct pm_constant_known known[PUSH_WORDS + UNIFORM_WORDS];
        struct pm_specialized_constants out;
        struct pm_error error = {0};
        struct pm_random random;
        struct inputs inputs;
        pm_random_init(&random, i);
        fill(&inputs, &s, &random, false);
        const uint32_t count = know_all(&s, &inputs, numbers[i / 2], known);
        const struct pm_specialize_constants_info info = {.known = known,
                                                          .known_count = count,
                                                          .target = vulkan_1_1,
                                                          .driver = &driver,
                                                          .take_all = true};
        if (!pm_specialize_constants(s.canonical.data, s.canonical.count, &info, &out, &error))
            fail_msg("%s", error.message);
        assert_true(out.words.count > 0);
        compare(&s, "with all words known", &out.words, &inputs, false, known, count);
        pm_specialized_constants_finish(&out);
    }
    finish(&s);
}

static void test_permitted(void **state)
{
    (void)state;
    check_all(PM_FLOAT_ZERO_SHADER);
}

/* Without permission everything is exact, whatever comes in. */
static void test_never(void **state)
{
    (void)state;
    check_all(PM_FLOAT_ZERO_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_known),
        cmocka_unit_test(test_permitted),
        cmocka_unit_test(test_never),
    };
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
