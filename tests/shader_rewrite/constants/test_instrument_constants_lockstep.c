/* Words of uniform buffers, counted in modules that the model runs in subgroups of 4, 8, 16, 32 and
 * 64 lanes (lockstep.h), count what the model finds when it runs the canonical module, one
 * invocation after the other. The words lie in structures, arrays and matrices, are loaded on some
 * ways, in loops and after pixels were discarded. */
#include "tests/shader_rewrite/instrument/modelled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 4096, UNIFORM_WORDS = 128, CONTENTS = 7, UNIFORM_BINDING = 9, SHAPES = 5 };

/* Lanes of subgroups. */
static const uint64_t shapes[SHAPES] = {0xf, 0xff, 0xffff, 0xffffffff, UINT64_MAX};

static void begin(struct modelled *call)
{
    static uint32_t input[WORDS], output[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        const float number = (float)(i % 37) / 16 - 1;
        memcpy(&input[i], &number, sizeof number);
    }
    *call = (struct modelled){.buffers = {input, output},
                              .words = {WORDS, WORDS},
                              .output = 1,
                              .uniform_binding = UNIFORM_BINDING,
                              .uniform_words = UNIFORM_WORDS};
}

enum { INTEGERS = 16, COUNT = 60 }; /* words of constant_values/known.glsl: modes, and count */

static void check_words(const char *name)
{
    static const struct pm_target target = {.vulkan_minor = 3};
    static const uint32_t push[32] = {3, 2, 0x3f800000};
    static uint32_t buffers[CONTENTS][UNIFORM_WORDS];
    const uint32_t *contents[CONTENTS];
    static const uint32_t numbers[CONTENTS] = {0, 1, 2, 2, 3, 0, 5};
    struct modelled call;
    struct modelled_seen seen = {0};
    begin(&call);
    call.push = push;
    call.push_words = 32;
    call.stand_ins = true;
    call.shader = (struct exact_shader){
        .name = name, .stage = strstr(name, ".frag") ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE};
    for (uint32_t c = 0; c < CONTENTS; c++) {
        /* Each word has another sequence. */
        for (uint32_t w = 0; w < UNIFORM_WORDS; w++) {
            const uint32_t number = numbers[(c + w) % CONTENTS];
            const float half = (float)number / 2;
            memcpy(&buffers[c][w], w < INTEGERS || w == COUNT ? (const void *)&number : &half, 4);
        }
        contents[c] = buffers[c];
    }
    pm_gpu_load(PM_TEST_CONSTANT_VALUES, name, &call.shader.original.data,
                &call.shader.original.count);
    exact_prepare(&call.shader, &target, NULL, 0);
    const bool fragment = call.shader.stage == PM_STAGE_FRAGMENT;
    call.dispatch = (struct model_dispatch){.groups = {fragment ? 1 : 3, 1, 1},
                                            .size = {fragment ? 24 : 64, fragment ? 8 : 1, 1},
                                            .helpers = fragment ? 60 : 0,
                                            .in_quads = fragment};
    for (uint32_t s = 0; s < SHAPES; s++) {
        call.dispatch.lanes = shapes[s];
        call.dispatch.ways.helpers_vote = s % 2;
        modelled_check_words(&call, contents, s % 2 ? 5 : CONTENTS, s % 2 ? 4 : 1, s / 2 % 2,
                             &seen);
    }
    exact_finish(&call.shader);
    assert_true(seen.points >= 3 * SHAPES);
    assert_true(seen.zero_writes > 0 && seen.zero_writes < seen.writes);
}

static void test_parts(void **state)
{
    (void)state;
    check_words("parts.comp");
}

static void test_products(void **state)
{
    (void)state;
    check_words("products.comp");
}

static void test_loops(void **state)
{
    (void)state;
    check_words("loops.comp");
}

static void test_surface(void **state)
{
    (void)state;
    check_words("surface.frag");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
