/* What is counted of words of uniform buffers: on every driver which values they had and how often,
 * by subgroups, only where the shader loads them; and the shader writes what the original does. */
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/constants/constant_subject.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum {
    GROUPS = 6,
    WORDS = GROUPS * 64 * 8,
    UNIFORM_WORDS = 128,
    SIDE = 32,
    RUNS = 8,
    MOST_WORDS = 10
};
enum { OFFSET_CUT = 244 }; /* known.cut of constant_values/known.glsl */

static const struct pm_target vulkan_1_1 = {.vulkan_minor = 1};
static const uint32_t sequence[RUNS] = {0, 5, 5, 7, 9, 11, 13, 0};

struct shader {
    enum pm_stage stage;
    struct pm_words canonical;
    struct pm_constant_points words; /* of uniform buffers */
};

static void load(struct shader *s, const char *name, enum pm_stage stage)
{
    struct pm_words original;
    struct pm_error error = {0};
    pm_gpu_load(PM_TEST_CONSTANT_VALUES, name, &original.data, &original.count);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = vulkan_1_1};
    s->stage = stage;
    if (!pm_canonicalize(&info, &s->canonical, &error))
        fail_msg("%s: %s", name, error.message);
    s->words = constant_subject_words(&s->canonical);
    const uint32_t step = s->words.count / MOST_WORDS + 1;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->words.count; i++)
        if (s->words.points[i].source == PM_CONSTANT_UNIFORM &&
            (i % step == 0 || s->words.points[i].offset == OFFSET_CUT))
            s->words.points[kept++] = s->words.points[i];
    s->words.count = kept;
    pm_words_finish(&original);
}

static void finish(struct shader *s)
{
    pm_words_finish(&s->canonical);
    pm_constant_points_finish(&s->words);
}

static uint32_t value_of(const struct pm_constant_point *point, uint32_t run)
{
    const float number = (float)sequence[run];
    uint32_t bits = sequence[run];
    if (point->is_float)
        memcpy(&bits, &number, sizeof(bits));
    return bits;
}

/* Returns what the shader wrote, malloc'ed. */
static uint32_t *run(const struct shader *s, const struct pm_words *module,
                     const VkSpecializationInfo *specialization, uint32_t turn, size_t *words)
{
    static const uint32_t push[32] = {3, 2, 0x3f800000};
    static const struct pm_gpu_vertex vertices[] = {
        {{-1, -1, 0.5f, 1}, {0, 0, 0.5f, 1}},
        {{1, -0.9f, 0.5f, 1}, {1, 0, 0, 0.25f}},
        {{-0.9f, 1, 0.5f, 1}, {0, 1, -0.5f, 0}},
    };
    struct pm_gpu_buffer in, out, uniform;
    size_t size = WORDS * sizeof(uint32_t);
    pm_gpu_buffer_create(&pm_test_gpu, size, &in);
    pm_gpu_buffer_create(&pm_test_gpu, size, &out);
    pm_gpu_buffer_create(&pm_test_gpu, UNIFORM_WORDS * sizeof(uint32_t), &uniform);
    for (uint32_t i = 0; i < WORDS; i++)
        ((float *)in.data)[i] = (float)(i % 37) / 16 - 1;
    for (uint32_t i = 0; i < s->words.count; i++)
        ((uint32_t *)uniform.data)[s->words.points[i].offset / 4] =
            value_of(&s->words.points[i], turn);
    const struct pm_gpu_shader shader = {.words = module->data,
                                         .count = module->count,
                                         .specialization = specialization,
                                         .buffers = {&in, &out},
                                         .uniform = &uniform,
                                         .push = push,
                                         .push_size = sizeof(push)};
    const struct pm_gpu_draw draw = {
        .fragment = shader, .vertices = vertices, .vertex_count = 3, .width = SIDE, .height = SIDE};
    uint32_t *result;
    if (s->stage == PM_STAGE_FRAGMENT) {
        result = pm_gpu_draw(&pm_test_gpu, &draw, &size);
    } else {
        pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS, 1, 1);
        result = malloc(size);
        assert_non_null(result);
        memcpy(result, out.data, size);
    }
    *words = size / sizeof(uint32_t);
    pm_gpu_buffer_destroy(&pm_test_gpu, &in);
    pm_gpu_buffer_destroy(&pm_test_gpu, &out);
    pm_gpu_buffer_destroy(&pm_test_gpu, &uniform);
    return result;
}

/* How often a word had a value, over all slots. */
static uint64_t loads_of(const struct pm_instrumented *made, const uint64_t *units, uint32_t slots,
                         uint32_t place, uint32_t value)
{
    uint64_t loads = 0;
    for (uint32_t s = 0; s < slots; s++) {
        const uint64_t *table = units + (size_t)s * made->slot_stride + pm_constant_unit(place);
        if (value == 0)
            loads += table[PM_CONSTANT_COUNT_ZERO];
        for (uint32_t i = 0; value && i < PM_CONSTANT_VALUES; i++)
            if (table[PM_CONSTANT_VALUE + i] == value)
                loads += table[PM_CONSTANT_COUNTS + i];
    }
    return loads;
}

static void check_word(const struct shader *s, const struct pm_instrumented *made,
                       const uint64_t *units, uint32_t slots, uint32_t place)
{
    const struct pm_constant_point *point = &s->words.points[place];
    uint64_t entered = 0, other = 0;
    for (uint32_t k = 0; k < slots; k++) {
        entered += units[(size_t)k * made->slot_stride + 1];
        other += units[(size_t)k * made->slot_stride + pm_constant_unit(place) +
                       PM_CONSTANT_COUNT_OTHER];
    }
    assert_true(entered > 0 && entered % RUNS == 0);
    const uint64_t once = entered / RUNS;
    if (point->every_path) {
        assert_int_equal(loads_of(made, units, slots, place, 0), 2 * once);
        assert_int_equal(loads_of(made, units, slots, place, value_of(point, 1)), 2 * once);
        for (uint32_t run_of = 3; run_of < 6; run_of++)
            assert_int_equal(loads_of(made, units, slots, place, value_of(point, run_of)), once);
        assert_int_equal(other, once);
    } else if (s->stage == PM_STAGE_COMPUTE && point->offset == OFFSET_CUT) {
        for (uint32_t run_of = 0; run_of < RUNS; run_of++)
            assert_int_equal(loads_of(made, units, slots, place, value_of(point, run_of)), 0);
        assert_int_equal(other, 0);
    }
}

static void check(const struct shader *s, bool wide, uint32_t slots)
{
    struct pm_error error = {0};
    struct pm_instrumented made;
    struct pm_gpu_buffer counters;
    const struct pm_instrument_info info = {.slot_count = slots,
                                            .int64_atomics = wide,
                                            .memory_model_device_scope =
                                                pm_test_gpu.memory_model_device_scope,
                                            .target = vulkan_1_1};
    if (!pm_instrument_constants(s->canonical.data, s->canonical.count, s->words.points,
                                 s->words.count, &info, &made, &error))
        fail_msg("%s", error.message);
    pm_gpu_buffer_create(&pm_test_gpu, made.counter_bytes, &counters);
    const uint32_t address[] = {(uint32_t)counters.address, (uint32_t)(counters.address >> 32)};
    const VkSpecializationMapEntry entries[] = {{made.spec_id_low, 0, 4},
                                                {made.spec_id_high, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof(address), address};
    for (uint32_t turn = 0; turn < RUNS; turn++) {
        size_t words;
        uint32_t *want = run(s, &s->canonical, NULL, turn, &words);
        uint32_t *got = run(s, &made.words, &specialization, turn, &words);
        assert_memory_equal(want, got, words * sizeof(uint32_t));
        free(want);
        free(got);
    }
    for (uint32_t i = 0; i < s->words.count; i++)
        check_word(s, &made, counters.data, slots, i);
    pm_gpu_buffer_destroy(&pm_test_gpu, &counters);
    pm_instrumented_finish(&made);
}

static void check_all(const char *name, enum pm_stage stage)
{
    struct shader s;
    load(&s, name, stage);
    assert_true(s.words.count > 3);
    check(&s, false, 1);
    check(&s, false, 4);
    if (pm_test_gpu.int64_atomics) {
        check(&s, true, 1);
        check(&s, true, 4);
    }
    finish(&s);
}

static void test_compute(void **state)
{
    (void)state;
    check_all("parts.comp", PM_STAGE_COMPUTE);
    check_all("products.comp", PM_STAGE_COMPUTE);
}

static void test_fragment(void **state)
{
    (void)state;
    check_all("surface.frag", PM_STAGE_FRAGMENT);
}

/* Instructions of an opcode that counting some words of it takes, as 32-bit counters. */
static uint32_t code_for(const struct shader *s, uint32_t opcode, uint32_t words)
{
    struct pm_error error = {0};
    struct pm_instrumented made;
    uint32_t found = 0;
    const struct pm_instrument_info info = {.slot_count = 4, .target = vulkan_1_1};
    if (!pm_instrument_constants(s->canonical.data, s->canonical.count, s->words.points, words,
                                 &info, &made, &error))
        fail_msg("%s", error.message);
    for (size_t at = 5; at < made.words.count; at += made.words.data[at] >> 16)
        found += (made.words.data[at] & 0xffff) == opcode;
    pm_instrumented_finish(&made);
    return found;
}

/* Atomics and branches are what drivers compile for long: words that are loaded together share
 * them.
 */
static void test_shared_code(void **state)
{
    (void)state;
    static const uint32_t opcodes[] = {SpvOpAtomicCompareExchange, SpvOpAtomicIAdd,
                                       SpvOpBranchConditional};
    struct shader s;
    load(&s, "products.comp", PM_STAGE_COMPUTE);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s.words.count; i++)
        if (s.words.points[i].every_path)
            s.words.points[kept++] = s.words.points[i];
    s.words.count = kept;
    assert_true(kept > 3);
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        assert_true(code_for(&s, opcodes[i], 2) > code_for(&s, opcodes[i], 0));
        assert_int_equal(code_for(&s, opcodes[i], kept), code_for(&s, opcodes[i], 2));
    }
    finish(&s);
}

static void test_bad_input(void **state)
{
    (void)state;
    struct shader s;
    struct pm_error error = {0};
    struct pm_instrumented made;
    load(&s, "parts.comp", PM_STAGE_COMPUTE);
    const struct pm_constant_point twice[] = {s.words.points[0], s.words.points[0]};
    const struct pm_constant_point none = {.source = PM_CONSTANT_UNIFORM, .offset = 4096};
    const struct pm_constant_point push = {.source = PM_CONSTANT_PUSH};
    struct pm_instrument_info info = {.slot_count = 1, .target = vulkan_1_1};
    assert_false(pm_instrument_constants(s.canonical.data, s.canonical.count, twice, 2, &info,
                                         &made, &error));
    assert_non_null(strstr(error.message, "point 1 is there twice"));
    assert_false(pm_instrument_constants(s.canonical.data, s.canonical.count, &none, 1, &info,
                                         &made, &error));
    assert_non_null(strstr(error.message, "point 0 is no word of a uniform buffer"));
    assert_false(pm_instrument_constants(s.canonical.data, s.canonical.count, &push, 1, &info,
                                         &made, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    info.slot_count = 3;
    assert_false(pm_instrument_constants(s.canonical.data, s.canonical.count, NULL, 0, &info, &made,
                                         &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compute),
        cmocka_unit_test(test_fragment),
        cmocka_unit_test(test_shared_code),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
