/* The offload RFC's microbenchmarks: a cold path that all lanes take together, one that each takes
 * by itself, and one that each takes often. What each block counts follows from how it was made, at
 * the driver's subgroup size; the CPU model says the same of 4, 8 and 32. And what sinking into the
 * cold paths is worth, with the gate on uniformity and without, in instructions that subgroups
 * execute. */
#include "profile/database.h"
#include "shader_rewrite/blocks/blocks.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/instrument/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 3, MOST_LANES = 70, TURNS = 416, WORDS = 1024, MOST_BLOCKS = 32 };

struct kernel {
    const char *name;
    uint32_t push[2]; /* period, divergent */
};
static const struct kernel uniform = {"uniform", {TURNS, 0}}, divergent = {"divergent", {TURNS, 1}},
                           hot = {"divergent and hot", {104, 1}};

static void fill(uint32_t *words)
{
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u;
}

/* ---- how it was made ---- */

/* Of the two paths and of what is around them, in subgroups of a size. */
struct made {
    struct model_counts cold, hot, loop;
};

static void enter(struct model_counts *counts, uint32_t lanes, uint32_t of)
{
    counts->lanes += lanes;
    counts->subgroups += lanes > 0;
    counts->uniform_lanes += lanes == of ? lanes : 0;
}

static struct made make(const struct kernel *kernel, uint32_t subgroup)
{
    struct made made = {0};
    for (uint32_t first = 0; first < GROUPS * MOST_LANES; first += MOST_LANES)
        for (uint32_t lane = 0; lane < MOST_LANES; lane += subgroup) {
            const uint32_t left = MOST_LANES - lane, of = left < subgroup ? left : subgroup;
            for (uint32_t i = 0; i < TURNS; i++) {
                uint32_t cold = 0;
                for (uint32_t l = 0; l < of; l++)
                    cold += ((first + lane + l) * kernel->push[1] + i) % kernel->push[0] == 0;
                enter(&made.cold, cold, of);
                enter(&made.hot, of - cold, of);
                enter(&made.loop, of, of);
            }
        }
    return made;
}

/* ---- what counts ---- */

/* Runs all lanes of the model, as subgroups of a size. */
static struct model *run_model(const struct pm_words *words, const struct kernel *kernel,
                               uint32_t lanes, uint32_t subgroup, uint32_t *output)
{
    static uint32_t input[WORDS];
    struct model *model = model_create(words->data, words->count);
    fill(input);
    model_set_buffer(model, 0, input, WORDS);
    model_set_buffer(model, 1, output, WORDS);
    model_set_push(model, kernel->push, 2);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < lanes; i++) {
            const struct model_invocation invocation = {.global_id = {g * lanes + i},
                                                        .local_id = {i},
                                                        .group_id = {g},
                                                        .group_count = {GROUPS, 1, 1},
                                                        .local_index = i};
            model_run(model, &invocation, ((uint64_t)g << 32) + i / subgroup + 1);
        }
    return model;
}

static void run_driver(void *user, const struct pm_words *words,
                       const VkSpecializationInfo *specialization)
{
    const struct kernel *kernel = user;
    struct pm_gpu_buffer input, output;
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * 4, &input);
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * 4, &output);
    fill(input.data);
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

/* The blocks that the one selection leads to, as points: first the cold one. */
static void find_paths(const struct exact_shader *shader, uint32_t paths[2])
{
    struct pm_error error = {0};
    struct pm_ir_module *module =
        pm_ir_parse(shader->canonical.data, shader->canonical.count, &error);
    assert_non_null(module);
    paths[0] = paths[1] = UINT32_MAX;
    for (const struct pm_ir_block *b = module->first_function->first_block; b; b = b->next) {
        const struct pm_ir_instr *merge = pm_ir_merge(b), *end = pm_ir_terminator(b);
        if (!merge || merge->opcode != SpvOpSelectionMerge)
            continue;
        for (uint32_t p = 0; p < shader->points.count; p++)
            for (uint32_t way = 0; way < 2; way++)
                if (shader->points.points[p].label == pm_ir_operand_id(&end->operands[1 + way]))
                    paths[way] = p;
    }
    pm_ir_module_destroy(module);
    assert_true(paths[0] != UINT32_MAX && paths[1] != UINT32_MAX);
}

/* By the product's own rule, of what an aggregator would make of the counts. */
static bool is_uniform(const struct model_counts *counts)
{
    struct pm_point_estimate block = {.calls = 1, .sessions = 1};
    if (counts->lanes > 0)
        block.measures[PM_MEASURE_UNIFORM] = (struct pm_ratio){
            .ratio = (double)counts->uniform_lanes / (double)counts->lanes, .clusters = 1};
    return pm_block_is_uniform(&block, 0.9);
}

static void expect(const struct model_counts *found, const struct model_counts *expected)
{
    assert_int_equal(found->lanes, expected->lanes);
    assert_int_equal(found->uniform_lanes, expected->uniform_lanes);
    assert_int_equal(found->subgroups, expected->subgroups);
}

/* pattern: U or D of the cold and of the hot path at sizes 4, 8 and 32. */
static void check_kernel(struct exact_shader *shader, const struct kernel *kernel,
                         const char *const pattern[3])
{
    static const uint32_t sizes[3] = {4, 8, 32};
    static uint32_t output[WORDS];
    uint32_t paths[2], all[MOST_BLOCKS];
    struct model_counts points[MOST_BLOCKS];
    find_paths(shader, paths);
    for (uint32_t p = 0; p < shader->points.count; p++)
        all[p] = p;
    for (int s = 0; s < 3; s++) {
        const struct made made = make(kernel, sizes[s]);
        struct model *model = run_model(&shader->canonical, kernel, MOST_LANES, sizes[s], output);
        for (uint32_t p = 0; p < shader->points.count; p++)
            points[p] = model_block(model, shader->points.points[p].label);
        struct exact_truth truth = {.entry = model_entry(model), .points = points};
        model_destroy(model);
        expect(&points[paths[0]], &made.cold);
        expect(&points[paths[1]], &made.hot);
        const char found[3] = {is_uniform(&points[paths[0]]) ? 'U' : 'D',
                               is_uniform(&points[paths[1]]) ? 'U' : 'D'};
        assert_string_equal(found, pattern[s]);
        for (uint32_t p = 0; p < shader->points.count; p++)
            assert_true(p == paths[0] || p == paths[1] || is_uniform(&points[p]));
        if (sizes[s] != pm_test_gpu.subgroup_size)
            continue;
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
    assert_in_range(shader.points.count, 5, MOST_BLOCKS);
    static const char *const together[3] = {"UU", "UU", "UU"};
    static const char *const apart[3] = {"DU", "DU", "DU"};
    static const char *const often[3] = {"DU", "DU", "DD"};
    check_kernel(&shader, &uniform, together);
    check_kernel(&shader, &divergent, apart);
    check_kernel(&shader, &hot, often);
    exact_finish(&shader);
}

/* ---- sinking ---- */

/* Instructions that subgroups execute: of each block, as often as a subgroup enters it. */
static uint64_t executed(const struct pm_words *words, const struct kernel *kernel,
                         uint32_t subgroup, uint32_t *output)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    struct model *model = run_model(words, kernel, 64, subgroup, output);
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
                                       const struct kernel *kernel, uint32_t subgroup,
                                       bool ignore_uniformity)
{
    static uint32_t output[WORDS];
    double frequency[MOST_BLOCKS], share[MOST_BLOCKS], subgroups[MOST_BLOCKS];
    struct pm_error error = {0};
    struct model *model = run_model(&shader->canonical, kernel, 64, subgroup, output);
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
static double share_of(const struct exact_shader *shader, const struct kernel *kernel,
                       uint32_t subgroup, bool ignore_uniformity)
{
    static uint32_t expected[WORDS], output[WORDS];
    struct pm_optimized_blocks out = sunk(shader, kernel, subgroup, ignore_uniformity);
    const uint64_t before = executed(&shader->canonical, kernel, subgroup, expected);
    const uint64_t after = out.changes ? executed(&out.words, kernel, subgroup, output) : before;
    if (out.changes)
        assert_memory_equal(output, expected, sizeof(output));
    pm_optimized_blocks_finish(&out);
    return (double)after / (double)before;
}

static void test_sinking(void **state)
{
    (void)state;
    struct exact_shader shader;
    if (!pm_test_gpu.swiftshader)
        return; /* no driver takes part, so once is enough */
    exact_load("rfc_sink.comp", NULL, 0, &shader);
    assert_in_range(shader.points.count, 8, MOST_BLOCKS);
    static const struct kernel *const kernels[] = {&uniform, &divergent, &hot};
    double with[3], without[3];
    for (int k = 0; k < 3; k++) {
        with[k] = share_of(&shader, kernels[k], 32, false);
        without[k] = share_of(&shader, kernels[k], 32, true);
        printf("%s: instructions executed by subgroups of 32, over the original's: %.3f with the "
               "gate, %.3f without\n",
               kernels[k]->name, with[k], without[k]);
    }
    /* Uniform: the gate lets it through. */
    assert_true(with[0] < 0.8 && without[0] < 0.8);
    /* Divergent: it keeps all as it was; without it, each subgroup comes through every path, and
     * where that is often executes more than before. */
    assert_true(with[1] == 1 && with[2] == 1);
    assert_true(without[1] > without[0]);
    assert_true(without[2] > 1);
    exact_finish(&shader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_sinking)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
