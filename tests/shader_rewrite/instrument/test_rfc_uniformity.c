/* The offload RFC's microbenchmarks: a cold path that all lanes take together, one that each takes
 * by itself, and one that each takes often. What each block counts follows from how it was made, at
 * the driver's subgroup size; the CPU model says the same of 4, 8 and 32. (Instrumented modules in
 * subgroups that no driver has: test_instrument_blocks_lockstep.c.) And what sinking into the cold
 * paths is worth, with the gate on uniformity and without, in instructions that subgroups execute.
 */
#include "shader_rewrite/blocks/blocks.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/instrument/rfc_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 3, MOST_LANES = 70 };

/* ---- what counts ---- */

/* Runs so many workgroups of so many lanes in the model, in subgroups of a size. */
static struct model *run_model(const struct pm_words *words, const struct rfc_kernel *kernel,
                               uint32_t groups, uint32_t lanes, uint32_t subgroup, uint32_t *output)
{
    static uint32_t input[RFC_WORDS];
    struct model *model = model_create(words->data, words->count);
    const struct model_dispatch dispatch = rfc_dispatch(groups, lanes, subgroup);
    rfc_set_buffers(model, kernel, input, output);
    model_dispatch(model, &dispatch);
    return model;
}

static void run_driver(void *user, const struct pm_words *words,
                       const VkSpecializationInfo *specialization)
{
    const struct rfc_kernel *kernel = user;
    struct pm_gpu_buffer input, output;
    pm_gpu_buffer_create(&pm_test_gpu, RFC_WORDS * 4, &input);
    pm_gpu_buffer_create(&pm_test_gpu, RFC_WORDS * 4, &output);
    rfc_fill(input.data);
    const struct pm_gpu_shader shader = {.words = words->data,
                                         .count = words->count,
                                         .specialization = specialization,
                                         .buffers = {&input, &output},
                                         .push = kernel->push,
                                         .push_size = sizeof(kernel->push)};
    pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS, 1, 1);
    pm_gpu_buffer_destroy(&pm_test_gpu, &input);
    pm_gpu_buffer_destroy(&pm_test_gpu, &output);
}

/* Kernels whose counts by a driver were compared. */
static unsigned compared;

static const uint32_t sizes[] = {4, 8, 32};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The driver's: one of these, SIZES: another one. */
static int size_of_driver(void)
{
    int s = 0;
    while (s < SIZES && sizes[s] != pm_test_gpu.subgroup_size)
        s++;
    return s;
}

/* pattern: U or D of the cold and of the hot path at sizes 4, 8 and 32. A driver of another size
 * counts by that, too. */
static void check_kernel(struct exact_shader *shader, const struct rfc_kernel *kernel,
                         const char *const pattern[SIZES])
{
    static uint32_t output[RFC_WORDS];
    const int drivers = size_of_driver();
    uint32_t paths[2], all[RFC_MOST_BLOCKS];
    struct model_counts points[RFC_MOST_BLOCKS];
    rfc_find_paths(shader, paths);
    for (uint32_t p = 0; p < shader->points.count; p++)
        all[p] = p;
    for (int s = 0; s < SIZES || s == drivers; s++) {
        const uint32_t size = s < SIZES ? sizes[s] : pm_test_gpu.subgroup_size;
        const struct rfc_made made = rfc_make(kernel, GROUPS, MOST_LANES, size);
        struct model *model =
            run_model(&shader->canonical, kernel, GROUPS, MOST_LANES, size, output);
        for (uint32_t p = 0; p < shader->points.count; p++)
            points[p] = model_block(model, shader->points.points[p].label);
        struct exact_truth truth = {.entry = model_entry(model), .points = points};
        model_destroy(model);
        rfc_expect(&points[paths[0]], &made.cold);
        rfc_expect(&points[paths[1]], &made.hot);
        const char found[3] = {rfc_is_uniform(&points[paths[0]]) ? 'U' : 'D',
                               rfc_is_uniform(&points[paths[1]]) ? 'U' : 'D'};
        if (s < SIZES)
            assert_string_equal(found, pattern[s]);
        for (uint32_t p = 0; p < shader->points.count; p++)
            assert_true(p == paths[0] || p == paths[1] || rfc_is_uniform(&points[p]));
        if (s != drivers)
            continue;
        compared++;
        const struct exact_variant variant = {.points = all,
                                              .point_count = shader->points.count,
                                              .slot_count = 1,
                                              .wide = pm_test_gpu.int64_atomics};
        exact_check(&pm_test_gpu, shader, &variant, &truth, run_driver, (void *)(uintptr_t)kernel);
    }
}

static void test_blocks(void **state)
{
    (void)state;
    struct exact_shader shader;
    exact_load("rfc_branch.comp", NULL, 0, &shader);
    assert_in_range(shader.points.count, 5, RFC_MOST_BLOCKS);
    static const char *const together[3] = {"UU", "UU", "UU"};
    static const char *const apart[3] = {"DU", "DU", "DU"};
    static const char *const often[3] = {"DU", "DU", "DD"};
    check_kernel(&shader, &rfc_uniform, together);
    check_kernel(&shader, &rfc_divergent, apart);
    check_kernel(&shader, &rfc_hot, often);
    exact_finish(&shader);
    printf("counted by %s in subgroups of %u\n", pm_test_gpu.name, pm_test_gpu.subgroup_size);
    assert_int_equal(compared, 3);
    /* One driver at least is of a size that the paths were made for: this one always. */
    if (pm_test_gpu.swiftshader)
        assert_true(size_of_driver() < SIZES);
}

/* ---- sinking ---- */

/* Instructions that subgroups execute: of each block, as often as a subgroup enters it. */
static uint64_t executed(const struct pm_words *words, const struct rfc_kernel *kernel,
                         uint32_t lanes, uint32_t subgroup, uint32_t *output)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    struct model *model = run_model(words, kernel, 1, lanes, subgroup, output);
    uint64_t sum = 0;
    for (const struct pm_ir_block *b = module->first_function->first_block; b; b = b->next) {
        const uint64_t times = model_block(model, b->label->result->id).subgroups;
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            sum += i->opcode == SpvOpPhi ? 0 : times;
    }
    model_destroy(model);
    pm_ir_module_destroy(module);
    return sum;
}

/* What sinking makes of the shader by the counts of a run. */
static struct pm_optimized_blocks sunk(const struct exact_shader *shader,
                                       const struct rfc_kernel *kernel, uint32_t lanes,
                                       uint32_t subgroup, bool ignore_uniformity)
{
    static uint32_t output[RFC_WORDS];
    double frequency[RFC_MOST_BLOCKS], share[RFC_MOST_BLOCKS], subgroups[RFC_MOST_BLOCKS];
    struct pm_error error = {0};
    struct model *model = run_model(&shader->canonical, kernel, 1, lanes, subgroup, output);
    const struct model_counts entry = model_entry(model);
    for (uint32_t p = 0; p < shader->points.count; p++) {
        const struct model_counts c = model_block(model, shader->points.points[p].label);
        frequency[p] = (double)c.lanes / (double)entry.lanes;
        share[p] = c.lanes ? (double)c.uniform_lanes / (double)c.lanes : 1;
        subgroups[p] = (double)c.subgroups / (double)entry.subgroups;
    }
    model_destroy(model);
    const struct pm_block_profile profile = {.frequency = frequency,
                                             .uniform = share,
                                             .subgroups = subgroups,
                                             .block_count = shader->points.count};
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = 1u << PM_BLOCK_SINK,
                                                 .uniform_share = 0.9,
                                                 .ignore_uniformity = ignore_uniformity,
                                                 .target = {.vulkan_minor = 3}};
    struct pm_optimized_blocks out;
    if (!pm_optimize_blocks(shader->canonical.data, shader->canonical.count, &info, &out, &error))
        fail_msg("%s", error.message);
    return out;
}

/* Executed instructions over the original's; 1 where nothing was sunk. */
static double share_of(const struct exact_shader *shader, const struct rfc_kernel *kernel,
                       uint32_t lanes, uint32_t subgroup, bool ignore_uniformity)
{
    static uint32_t expected[RFC_WORDS], output[RFC_WORDS];
    struct pm_optimized_blocks out = sunk(shader, kernel, lanes, subgroup, ignore_uniformity);
    const uint64_t before = executed(&shader->canonical, kernel, lanes, subgroup, expected);
    const uint64_t after =
        out.changes ? executed(&out.words, kernel, lanes, subgroup, output) : before;
    if (out.changes)
        assert_memory_equal(output, expected, sizeof(output));
    pm_optimized_blocks_finish(&out);
    return (double)after / (double)before;
}

/* One workgroup of so many lanes in subgroups of a size. */
static void check_sinking(const struct exact_shader *shader, uint32_t lanes, uint32_t subgroup)
{
    static const struct rfc_kernel *const kernels[] = {&rfc_uniform, &rfc_divergent, &rfc_hot};
    double with[3], without[3];
    for (int k = 0; k < 3; k++) {
        with[k] = share_of(shader, kernels[k], lanes, subgroup, false);
        without[k] = share_of(shader, kernels[k], lanes, subgroup, true);
        printf("%s: instructions executed by subgroups of %u, %u lanes, over the original's: %.3f "
               "with the gate, %.3f without\n",
               kernels[k]->name, subgroup, lanes, with[k], without[k]);
    }
    /* Uniform: the gate lets it through. */
    assert_true(with[0] < 0.8 && without[0] < 0.8);
    /* Divergent: it keeps all as it was; without it, each subgroup comes through every path, and
     * where that is often, and subgroups are large and whole, executes more than before. */
    assert_true(with[1] == 1 && with[2] == 1);
    assert_true(without[1] > without[0]);
    assert_true(without[2] > without[1]);
    assert_true(without[2] > 1 || subgroup < 32 || lanes % subgroup != 0);
}

static void test_sinking(void **state)
{
    (void)state;
    struct exact_shader shader;
    if (!pm_test_gpu.swiftshader)
        return; /* no driver takes part, so once is enough */
    exact_load("rfc_sink.comp", NULL, 0, &shader);
    assert_in_range(shader.points.count, 8, RFC_MOST_BLOCKS);
    check_sinking(&shader, 64, 32);
    check_sinking(&shader, 64, 64);
    check_sinking(&shader, MOST_LANES, 4);
    check_sinking(&shader, MOST_LANES, 8);
    check_sinking(&shader, MOST_LANES, 32);
    exact_finish(&shader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_sinking)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
