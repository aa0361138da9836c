#include "tests/shader_rewrite/differential/differential.h"

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

void differential_create(struct differential *d)
{
    differential_create_with(d, &(struct pm_gpu_options){0});
}

void differential_create_with(struct differential *d, const struct pm_gpu_options *options)
{
    pm_gpu_create_with(&d->gpu, options);
    pm_gpu_buffer_create(&d->gpu, sizeof(d->inputs.floats), &d->floats);
    pm_gpu_buffer_create(&d->gpu, sizeof(d->inputs.uints), &d->uints);
    pm_gpu_buffer_create(&d->gpu, sizeof(d->inputs.vectors), &d->vectors);
    pm_gpu_buffer_create(&d->gpu, sizeof(d->inputs.push), &d->uniform);
}

void differential_inputs(struct differential *d, uint64_t seed, bool specials)
{
    d->specials = specials;
    d->depth_test = seed / 2 % 4 != 0;
    random_shader_fill(seed, specials, &d->inputs);
    memcpy(d->floats.data, d->inputs.floats, sizeof(d->inputs.floats));
    memcpy(d->uints.data, d->inputs.uints, sizeof(d->inputs.uints));
    memcpy(d->vectors.data, d->inputs.vectors, sizeof(d->inputs.vectors));
    memcpy(d->uniform.data, d->inputs.push, sizeof(d->inputs.push));
}

void differential_destroy(struct differential *d)
{
    pm_gpu_buffer_destroy(&d->gpu, &d->floats);
    pm_gpu_buffer_destroy(&d->gpu, &d->uints);
    pm_gpu_buffer_destroy(&d->gpu, &d->vectors);
    pm_gpu_buffer_destroy(&d->gpu, &d->uniform);
    pm_gpu_destroy(&d->gpu);
}

/* No pixel twice; corners, slivers and a triangle without color. */
static const struct pm_gpu_vertex vertices[] = {
    {{-0.97f, -0.95f, 0.5f, 1}, {0, 0, 0, 1}}, {{0.93f, -0.9f, 0.5f, 1}, {1, 0, 0.5f, 0}},
    {{-0.9f, 0.6f, 0.5f, 1}, {0, 1, 0, 0}},    {{0.95f, -0.8f, 0.5f, 1}, {0, 0, 0, 0}},
    {{0.9f, 0.9f, 0.5f, 1}, {0, 0, 0, 0}},     {{-0.7f, 0.8f, 0.5f, 1}, {0, 0, 0, 0}},
    {{-0.95f, 0.7f, 0.5f, 1}, {1, 1, 1, 1}},   {{-0.75f, 0.9f, 0.5f, 1}, {0, 0, 1, 0.25f}},
    {{-0.97f, 0.97f, 0.5f, 1}, {0, 1, 1, 0}},  {{0.2f, 0.95f, 0.5f, 1}, {0.5f, 0, 0, 1}},
    {{0.8f, 0.93f, 0.5f, 1}, {0, 0, 0, 1}},    {{-0.5f, 0.99f, 0.5f, 1}, {0, 0.1f, 0, 1}},
};

static void normalize(uint32_t *words, size_t count, bool specials)
{
    for (size_t i = 0; i < count; i++) {
        if ((words[i] & 0x7fffffff) > 0x7f800000)
            words[i] = 0x7fc00000;
        if (words[i] == 0x80000000 && !specials)
            words[i] = 0;
    }
}

static struct pm_gpu_shader shader_of(struct differential *d, const struct pm_words *module,
                                      const VkSpecializationInfo *specialization,
                                      const struct pm_gpu_buffer *out)
{
    return (struct pm_gpu_shader){.words = module->data,
                                  .count = module->count,
                                  .specialization = specialization,
                                  .buffers = {&d->floats, &d->uints, &d->vectors, out},
                                  .uniform = &d->uniform,
                                  .push = d->inputs.push,
                                  .push_size = sizeof(d->inputs.push)};
}

static void finish_output(struct differential *d, struct pm_gpu_buffer *out,
                          struct differential_output *output)
{
    memcpy(output->words, out->data, out->size);
    normalize(output->words + RANDOM_SHADER_PLACES, DIFFERENTIAL_WORDS - RANDOM_SHADER_PLACES,
              d->specials);
    pm_gpu_buffer_destroy(&d->gpu, out);
}

void differential_run(struct differential *d, const struct pm_words *module, enum pm_stage stage,
                      const VkSpecializationInfo *specialization,
                      struct differential_output *output)
{
    struct pm_gpu_buffer out;
    if (stage == PM_STAGE_COMPUTE) {
        const struct differential_pass pass = {module, specialization, 0};
        differential_run_passes(d, &pass, 1, output);
        return;
    }
    pm_gpu_buffer_create(&d->gpu, DIFFERENTIAL_BUFFER * sizeof(uint32_t), &out);
    memset(output, 0, sizeof(*output));
    const struct pm_gpu_draw draw = {.fragment = shader_of(d, module, specialization, &out),
                                     .vertices = vertices,
                                     .vertex_count = sizeof(vertices) / sizeof(vertices[0]),
                                     .width = RANDOM_SHADER_WIDTH,
                                     .height = RANDOM_SHADER_HEIGHT,
                                     .depth_test = d->depth_test};
    size_t size;
    void *texels = pm_gpu_draw(&d->gpu, &draw, &size);
    assert_int_equal(size, sizeof(output->words) - DIFFERENTIAL_BUFFER * sizeof(uint32_t));
    memcpy(output->words + DIFFERENTIAL_BUFFER, texels, size);
    free(texels);
    finish_output(d, &out, output);
}

void differential_run_passes(struct differential *d, const struct differential_pass *passes,
                             uint32_t count, struct differential_output *output)
{
    struct pm_gpu_buffer out;
    pm_gpu_buffer_create(&d->gpu, DIFFERENTIAL_BUFFER * sizeof(uint32_t), &out);
    memset(output, 0, sizeof(*output));
    for (uint32_t i = 0; i < count; i++) {
        struct pm_gpu_shader shader =
            shader_of(d, passes[i].module, passes[i].specialization, &out);
        shader.base = passes[i].base;
        pm_gpu_dispatch(&d->gpu, &shader, RANDOM_SHADER_GROUPS, 1, 1);
    }
    finish_output(d, &out, output);
}

size_t differential_compare(const struct differential_output *a,
                            const struct differential_output *b, size_t *first)
{
    size_t different = 0;
    for (size_t i = 0; i < DIFFERENTIAL_WORDS; i++)
        if (a->words[i] != b->words[i] && different++ == 0)
            *first = i;
    return different;
}

static bool is_float(const struct pm_ir_instr *type)
{
    while (type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix))
        type = pm_ir_operand_instr(type, 0);
    return type && type->opcode == SpvOpTypeFloat;
}

/* The module with this done to each instruction of a function's body. */
static struct pm_words changed(const struct pm_words *words,
                               void (*change)(struct pm_ir_module *, struct pm_ir_instr *))
{
    struct pm_error error = {0};
    struct pm_words out;
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
                change(module, i);
    if (!pm_ir_emit(module, &out, &error))
        fail_msg("%s", error.message);
    pm_ir_module_destroy(module);
    return out;
}

static void make_precise(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    if (instr->result && is_float(pm_ir_type_of(instr)))
        pm_ir_decorate(module, instr->result, SpvDecorationNoContraction, NULL, 0);
}

struct pm_words differential_precise(const struct pm_words *words)
{
    return changed(words, make_precise);
}

/* Loops are told apart up to the third; their order is the module's. */
static void tell_by_loop(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    static const uint32_t masks[] = {SpvMemoryAccessNontemporalMask, SpvMemoryAccessVolatileMask,
                                     SpvMemoryAccessNontemporalMask | SpvMemoryAccessVolatileMask};
    struct pm_error error = {0};
    if (instr->opcode != SpvOpLoad || instr->operand_count != 1)
        return;
    if (!pm_analysis_require(instr->block->function, PM_ANALYSIS_LOOPS, &error))
        fail_msg("%s", error.message);
    uint32_t loop = pm_loops(instr->block->function)->loop_of[instr->block->index];
    const struct pm_ir_instr *pointer = pm_ir_type_of(pm_ir_operand_instr(instr, 0));
    if (loop != PM_NO_LOOP &&
        pm_ir_operand_word(&pointer->operands[0]) == SpvStorageClassStorageBuffer &&
        pm_ir_operands_insert(module, instr, 1, 1))
        pm_ir_operand_set_word(&instr->operands[1], masks[loop % 3]);
}

struct pm_words differential_reloading(const struct pm_words *words)
{
    return changed(words, tell_by_loop);
}

void differential_dump(const char *folder, const char *name, const struct pm_words *module)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.spvasm", folder, name);
    char *text = pm_test_disassemble(module);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(text);
}
