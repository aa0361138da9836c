#include "tests/shader_rewrite/instrument/modelled_random.h"

#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/translated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

enum { GROUPS = 2, WIDTH = RANDOM_SHADER_WIDTH, HEIGHT = 8, UNIFORM_BINDING = 9 };

static void find_size(const struct pm_words *words, uint32_t size[3])
{
    for (size_t at = 5; at < words->count; at += words->data[at] >> 16)
        if ((words->data[at] & 0xffff) == SpvOpExecutionMode &&
            words->data[at + 2] == SpvExecutionModeLocalSize)
            memcpy(size, &words->data[at + 3], 3 * sizeof *size);
}

void modelled_random_begin(uint64_t seed, const struct random_shader_options *options,
                           struct modelled *call)
{
    static struct random_shader_inputs inputs;
    static uint32_t output[2 * RANDOM_SHADER_PLACES];
    static const struct pm_target target = {.vulkan_minor = 3,
                                            .uniform_buffer_standard_layout = true};
    random_shader_fill(seed, options->specials, &inputs);
    *call = (struct modelled){
        .buffers = {(uint32_t *)inputs.floats, inputs.uints, (uint32_t *)inputs.vectors, output},
        .words = {RANDOM_SHADER_INPUTS, RANDOM_SHADER_INPUTS, 4 * RANDOM_SHADER_INPUTS,
                  2 * RANDOM_SHADER_PLACES},
        .output = 3,
        .push = inputs.push,
        .push_words = RANDOM_SHADER_PUSH,
        .uniform = inputs.push,
        .uniform_binding = UNIFORM_BINDING,
        .uniform_words = RANDOM_SHADER_PUSH,
        .stand_ins = true,
        .shader = {.name = "a random shader", .stage = options->stage},
        .dispatch = {.groups = {options->stage == PM_STAGE_COMPUTE ? GROUPS : 1, 1, 1},
                     .size = {WIDTH, HEIGHT, 1}},
    };
    char *text = random_shader_text(seed, options);
    call->shader.original = pm_test_assemble(text, 3);
    free(text);
    if (seed % 3 == 2) {
        struct pm_words plain = call->shader.original;
        call->shader.original = pm_test_translated(&plain);
        pm_words_finish(&plain);
    }
    exact_prepare(&call->shader, &target, NULL, 0);
    if (options->stage == PM_STAGE_COMPUTE) {
        find_size(&call->shader.original, call->dispatch.size);
        return;
    }
    call->dispatch.helpers = (uint32_t)(seed % 8 / 2) * 40;
    call->dispatch.ways.helpers_vote = seed / 8 % 2;
    call->dispatch.in_quads = true;
}

uint64_t modelled_random_lanes(uint64_t seed, enum pm_stage stage)
{
    static const uint64_t of_invocations[] = {UINT64_MAX,
                                              0xffff,
                                              0xffffffff,
                                              UINT64_C(0xb6db6db6db6db6db),
                                              0xff,
                                              0x0ffe,
                                              UINT64_C(0xfffffffc00000000),
                                              0xf,
                                              0x7ffffffe};
    static const uint64_t of_quads[] = {UINT64_MAX,
                                        0xffff,
                                        0xffffffff,
                                        UINT64_C(0xf0fff0f0ff0f0fff),
                                        0xff,
                                        0x0ff0,
                                        UINT64_C(0xfffffff000000000),
                                        0xf,
                                        0x0ffffff0};
    const size_t count = sizeof of_quads / sizeof *of_quads;
    return stage == PM_STAGE_COMPUTE ? of_invocations[seed % count] : of_quads[seed % count];
}

void modelled_random_words(uint64_t seed, uint32_t *words)
{
    static struct random_shader_inputs inputs;
    random_shader_fill(seed, false, &inputs);
    memcpy(words, inputs.push, RANDOM_SHADER_PUSH * sizeof *words);
}
