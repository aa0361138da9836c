#include "tests/shader_rewrite/instrument/rfc_kernels.h"

#include "profile/database.h"
#include "shader_rewrite/ir/ir_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct rfc_kernel rfc_uniform = {"uniform", {RFC_TURNS, 0}},
                        rfc_divergent = {"divergent", {RFC_TURNS, 1}},
                        rfc_hot = {"divergent and hot", {104, 1}};

static void move_to_uniform(struct pm_words *words)
{
    uint32_t variable = 0;
    size_t annotations = 0;
    for (size_t at = 5; at < words->count; at += words->data[at] >> 16) {
        uint32_t *o = words->data + at;
        if ((o[0] & 0xffff) == SpvOpDecorate)
            annotations = at;
        if ((o[0] & 0xffff) == SpvOpTypePointer && o[2] == SpvStorageClassPushConstant)
            o[2] = SpvStorageClassUniform;
        if ((o[0] & 0xffff) == SpvOpVariable && o[3] == SpvStorageClassPushConstant) {
            o[3] = SpvStorageClassUniform;
            variable = o[2];
        }
    }
    assert_true(annotations && variable);
    const uint32_t decorate = 4u << 16 | SpvOpDecorate;
    const uint32_t place[8] = {decorate, variable, SpvDecorationDescriptorSet, 0,
                               decorate, variable, SpvDecorationBinding,       RFC_UNIFORM_BINDING};
    words->data = realloc(words->data, words->count * sizeof(uint32_t) + sizeof place);
    assert_non_null(words->data);
    memmove(words->data + annotations + 8, words->data + annotations,
            (words->count - annotations) * sizeof(uint32_t));
    memcpy(words->data + annotations, place, sizeof place);
    words->count += 8;
}

void rfc_load(const char *name, bool uniform, struct exact_shader *shader)
{
    static const struct pm_target target = {.vulkan_minor = 3};
    *shader = (struct exact_shader){.name = name, .stage = PM_STAGE_COMPUTE};
    pm_gpu_load(PM_TEST_EXACT, name, &shader->original.data, &shader->original.count);
    if (uniform)
        move_to_uniform(&shader->original);
    exact_prepare(shader, &target, NULL, 0);
}

void rfc_fill(uint32_t *input)
{
    for (uint32_t i = 0; i < RFC_WORDS; i++)
        input[i] = i * 2654435761u;
}

static void enter(struct model_counts *counts, uint32_t lanes, uint32_t of)
{
    counts->lanes += lanes;
    counts->subgroups += lanes > 0;
    counts->uniform_lanes += lanes == of ? lanes : 0;
}

/* One subgroup, whose first invocation it is, of so many lanes. */
static void make_subgroup(const struct rfc_kernel *kernel, uint32_t first, uint32_t lanes,
                          struct rfc_made *made)
{
    for (uint32_t i = 0; i < RFC_TURNS; i++) {
        uint32_t cold = 0;
        for (uint32_t l = 0; l < lanes; l++)
            cold += ((first + l) * kernel->push[1] + i) % kernel->push[0] == 0;
        enter(&made->cold, cold, lanes);
        enter(&made->hot, lanes - cold, lanes);
    }
}

struct rfc_made rfc_make(const struct rfc_kernel *kernel, uint32_t groups, uint32_t lanes,
                         uint32_t subgroup)
{
    struct rfc_made made = {0};
    for (uint32_t group = 0; group < groups; group++)
        for (uint32_t lane = 0; lane < lanes; lane += subgroup) {
            const uint32_t left = lanes - lane;
            make_subgroup(kernel, group * lanes + lane, left < subgroup ? left : subgroup, &made);
        }
    return made;
}

void rfc_find_paths(const struct exact_shader *shader, uint32_t paths[2])
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

struct model_dispatch rfc_dispatch(uint32_t groups, uint32_t lanes, uint32_t subgroup)
{
    return (struct model_dispatch){
        .groups = {groups, 1, 1}, .size = {lanes, 1, 1}, .lanes = model_lanes(subgroup)};
}

void rfc_set_buffers(struct model *model, const struct rfc_kernel *kernel, uint32_t *input,
                     uint32_t *output)
{
    rfc_fill(input);
    model_set_buffer(model, 0, input, RFC_WORDS);
    model_set_buffer(model, 1, output, RFC_WORDS);
    model_set_push(model, kernel->push, 2);
}

bool rfc_is_uniform(const struct model_counts *counts)
{
    struct pm_point_estimate block = {.calls = 1, .sessions = 1};
    if (counts->lanes > 0)
        block.measures[PM_MEASURE_UNIFORM] = (struct pm_ratio){
            .ratio = (double)counts->uniform_lanes / (double)counts->lanes, .clusters = 1};
    return pm_block_is_uniform(&block, 0.9);
}

void rfc_expect(const struct model_counts *found, const struct model_counts *expected)
{
    assert_int_equal(found->lanes, expected->lanes);
    assert_int_equal(found->uniform_lanes, expected->uniform_lanes);
    assert_int_equal(found->subgroups, expected->subgroups);
}
