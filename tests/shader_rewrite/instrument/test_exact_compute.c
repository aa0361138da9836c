/* The issue, "Exact": compute shaders with loops, divergent branches and early returns against a
 * CPU model. */
#include "base/random.h"
#include "tests/shader_rewrite/instrument/exact.h"
#include "tests/shader_rewrite/instrument/model_dispatch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INPUT_WORDS 1021
#define OUTPUT_WORDS 4096

struct call {
    struct exact_shader shader;
    uint32_t groups[3], size[3]; /* workgroups; invocations of one */
    uint32_t push[2];
    struct exact_truth truth;
    uint32_t *expected; /* what the original wrote */
};

static void fill_input(uint32_t *words)
{
    struct pm_random random;
    pm_random_init(&random, 7);
    for (size_t i = 0; i < INPUT_WORDS; i++)
        words[i] = (uint32_t)pm_random_next(&random);
}

static uint32_t *run_words(const struct call *call, const struct pm_words *words,
                           const VkSpecializationInfo *specialization)
{
    struct pm_gpu_buffer input, output;
    pm_gpu_buffer_create(&pm_test_gpu, INPUT_WORDS * 4, &input);
    pm_gpu_buffer_create(&pm_test_gpu, OUTPUT_WORDS * 4, &output);
    fill_input(input.data);
    memset(output.data, 0x5a, output.size);
    const struct pm_gpu_shader shader = {.words = words->data,
                                         .count = words->count,
                                         .specialization = specialization,
                                         .buffers = {&input, &output},
                                         .push = call->push,
                                         .push_size = sizeof call->push};
    pm_gpu_dispatch(&pm_test_gpu, &shader, call->groups[0], call->groups[1], call->groups[2]);
    uint32_t *result = malloc(OUTPUT_WORDS * 4);
    assert_non_null(result);
    memcpy(result, output.data, OUTPUT_WORDS * 4);
    pm_gpu_buffer_destroy(&pm_test_gpu, &input);
    pm_gpu_buffer_destroy(&pm_test_gpu, &output);
    return result;
}

static void run_variant(void *user, const struct pm_words *words,
                        const VkSpecializationInfo *specialization)
{
    const struct call *call = user;
    uint32_t *result = run_words(call, words, specialization);
    for (size_t i = 0; i < OUTPUT_WORDS; i++) {
        if (result[i] != call->expected[i])
            fail_msg("%s: instrumented it writes 0x%08x to word %zu, not 0x%08x", call->shader.name,
                     result[i], i, call->expected[i]);
    }
    free(result);
}

static void check_variant(void *user, const struct exact_variant *variant)
{
    const struct call *call = user;
    exact_check(&pm_test_gpu, &call->shader, variant, &call->truth, run_variant, user);
}

/* Lavapipe 22.3 rearranges the loops of returns.comp, so that lanes of different iterations run
 * together and others apart (seen: 252 entries for 243). SPIR-V allows that; the lanes stay exact.
 */
static enum exact_subgroups subgroups_of(const struct call *call)
{
    bool rearranged = pm_test_gpu.lavapipe_22 && strcmp(call->shader.name, "returns.comp") == 0;
    return rearranged ? EXACT_SUBGROUPS_UNKNOWN : EXACT_SUBGROUPS_KNOWN;
}

/* The model's counts of the canonical module; its results must be the original's too, or it is no
 * truth. */
static struct model_counts *find_truth(struct call *call, bool results_known, struct model **out)
{
    uint32_t input[INPUT_WORDS], *output = malloc(OUTPUT_WORDS * 4);
    assert_non_null(output);
    fill_input(input);
    memset(output, 0x5a, OUTPUT_WORDS * 4);
    struct model *model = model_create(call->shader.canonical.data, call->shader.canonical.count);
    exact_watch_zeros(&call->shader, model);
    exact_watch_turns(&call->shader, model);
    model_set_buffer(model, 0, input, INPUT_WORDS);
    model_set_buffer(model, 1, output, OUTPUT_WORDS);
    model_set_push(model, call->push, 2);
    struct model_dispatch dispatch = {.lanes = model_lanes(pm_test_gpu.subgroup_size)};
    memcpy(dispatch.groups, call->groups, sizeof dispatch.groups);
    memcpy(dispatch.size, call->size, sizeof dispatch.size);
    model_dispatch(model, &dispatch);
    for (size_t i = 0; results_known && i < OUTPUT_WORDS; i++) {
        if (output[i] != call->expected[i])
            fail_msg("%s: the model writes 0x%08x to word %zu, %s 0x%08x", call->shader.name,
                     output[i], i, pm_test_gpu.name, call->expected[i]);
    }
    struct model_counts *points = calloc(call->shader.points.count, sizeof *points);
    assert_non_null(points);
    call->truth.entry = model_entry(model);
    for (uint32_t i = 0; i < call->shader.points.count; i++)
        points[i] = model_block(model, call->shader.points.points[i].label);
    call->truth.points = points;
    call->truth.turns = exact_turns(&call->shader, model);
    call->truth.subgroups = subgroups_of(call);
    *out = model;
    free(output);
    return points;
}

/* All candidates at once, and a third of them in 32-bit form with carries. */
static void check_zeros(struct call *call, struct model *model)
{
    uint32_t candidates = call->shader.zeros.count, *points = malloc(candidates * sizeof *points);
    assert_non_null(points);
    for (uint32_t i = 0; i < candidates; i++)
        points[i] = i;
    struct exact_variant variant = {.points = points,
                                    .point_count = candidates,
                                    .slot_count = 4,
                                    .wide = pm_test_gpu.int64_atomics};
    exact_check_zeros(&pm_test_gpu, &call->shader, &variant, model, call->truth.subgroups,
                      run_variant, call);
    variant = (struct exact_variant){.points = points, .slot_count = 1, .first_value = 0xfffffff3};
    for (uint32_t i = 1; i < candidates; i += 3)
        points[variant.point_count++] = i;
    exact_check_zeros(&pm_test_gpu, &call->shader, &variant, model, call->truth.subgroups,
                      run_variant, call);
    free(points);
}

static void check(const char *name, const uint32_t size[3], const uint32_t groups[3],
                  const struct pm_spec_value *values, size_t value_count, bool results_known)
{
    VkSpecializationMapEntry entries[4];
    uint32_t data[4];
    for (size_t i = 0; i < value_count; i++) {
        entries[i] = (VkSpecializationMapEntry){values[i].spec_id, (uint32_t)i * 4, 4};
        data[i] = (uint32_t)values[i].bits;
    }
    const VkSpecializationInfo specialization = {(uint32_t)value_count, entries, sizeof data, data};
    struct call call = {.push = {17, 0x80000000}};
    memcpy(call.size, size, sizeof call.size);
    memcpy(call.groups, groups, sizeof call.groups);
    exact_load(name, values, value_count, &call.shader);
    call.expected = run_words(&call, &call.shader.original, &specialization);
    struct model *model;
    struct model_counts *points = find_truth(&call, results_known, &model);
    uint64_t lanes = (uint64_t)size[0] * size[1] * size[2] * groups[0] * groups[1] * groups[2];
    assert_int_equal(call.truth.entry.lanes, lanes);
    assert_int_equal(points[0].lanes, lanes);
    exact_each_variant(pm_test_gpu.int64_atomics, &call.shader, false, check_variant, &call);
    check_zeros(&call, model);
    model_destroy(model);
    free(points);
    free((void *)call.truth.turns);
    free(call.expected);
    exact_finish(&call.shader);
}

#define DIMENSIONS(...) ((const uint32_t[3]){__VA_ARGS__})
#define EXACT_TEST(name, file, size, groups, results_known)                                        \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check(file, DIMENSIONS size, DIMENSIONS groups, NULL, 0, results_known);                   \
    }

EXACT_TEST(straight, "straight.comp", (37, 1, 1), (5, 1, 1), true)
EXACT_TEST(divergent, "divergent.comp", (37, 1, 1), (7, 1, 1), true)
EXACT_TEST(loops, "loops.comp", (29, 1, 1), (5, 2, 1), true)
EXACT_TEST(returns, "returns.comp", (21, 2, 1), (3, 2, 1), true)
EXACT_TEST(switches, "switches.comp", (64, 1, 1), (3, 1, 1), true)
EXACT_TEST(whiles, "whiles.comp", (13, 1, 1), (9, 1, 1), true)
EXACT_TEST(deep, "deep.comp", (8, 5, 2), (2, 2, 2), true)
/* The model does not share memory between invocations. */
EXACT_TEST(barriers, "barriers.comp", (50, 1, 1), (3, 1, 1), false)

static void test_memory_model(void **state)
{
    (void)state;
    if (!pm_test_gpu.memory_model) {
        print_message("%s has no Vulkan memory model\n", pm_test_gpu.name);
        return;
    }
    check("memory-model.comp", DIMENSIONS(37, 1, 1), DIMENSIONS(5, 1, 1), NULL, 0, true);
}

static void test_specialized(void **state)
{
    (void)state;
    const struct pm_spec_value size = {0, 4, 19}, rounds = {1, 4, 6}, extra = {7, 4, 1},
                               quarter = {9, 4, 0x3e800000};
    const struct pm_spec_value some[] = {size, rounds}, all[] = {size, rounds, extra, quarter};
    check("specialized.comp", DIMENSIONS(19, 1, 1), DIMENSIONS(11, 1, 1), some, 2, true);
    check("specialized.comp", DIMENSIONS(19, 1, 1), DIMENSIONS(11, 1, 1), all, 4, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight),     cmocka_unit_test(test_divergent),
        cmocka_unit_test(test_loops),        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_switches),     cmocka_unit_test(test_whiles),
        cmocka_unit_test(test_deep),         cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_memory_model), cmocka_unit_test(test_specialized),
    };
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
