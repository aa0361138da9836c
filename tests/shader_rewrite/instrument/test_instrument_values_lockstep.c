/* Zeros and words of uniform buffers, counted in modules that the model runs in subgroups of 4, 8,
 * 16, 32 and 64 lanes (lockstep.h): the offload RFC's kernels, their parameters pushed and in a
 * uniform buffer, and the shaders of exact/. They count what the model finds when it runs the
 * canonical module, one invocation after the other. Subgroups are whole and not, and some lack
 * lanes in between. */
#include "tests/shader_rewrite/instrument/modelled.h"
#include "tests/shader_rewrite/instrument/rfc_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 4096, UNIFORM_WORDS = 128, CONTENTS = 7 };

/* Lanes of subgroups. */
static const uint64_t shapes[] = {
    0xf,
    0xff,
    0xffff,
    0xffffffff,
    UINT64_MAX,
    UINT64_C(0x9249249249249249), /* each third */
    UINT64_C(0xfffffffe00000000), /* none of the first half */
    UINT64_C(0x8000000180000001), /* at the ends of ballots' words */
};
enum { SHAPES = sizeof shapes / sizeof *shapes, WHOLE_SHAPES = 5 };

static void begin(struct modelled *call)
{
    static uint32_t input[WORDS], output[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        input[i] = i % 24 < 8 ? i % 3 << 31 : i * 2654435761u;
    *call = (struct modelled){.buffers = {input, output},
                              .words = {WORDS, WORDS},
                              .output = 1,
                              .uniform_binding = RFC_UNIFORM_BINDING,
                              .uniform_words = UNIFORM_WORDS};
}

static void check_zeros(struct modelled *call, uint32_t way, struct modelled_seen *seen)
{
    modelled_find_truth(call);
    modelled_check_zeros(call, way % 2, way / 2 % 2, seen);
    modelled_forget(call);
}

/* ---- the RFC's ---- */

static void test_rfc(void **state)
{
    (void)state;
    static const struct rfc_kernel *const kernels[] = {&rfc_uniform, &rfc_divergent, &rfc_hot};
    static const uint32_t lanes[] = {70, 33, 1};
    struct modelled pushed, uniform;
    struct modelled_seen zeros = {0}, words = {0};
    begin(&pushed);
    begin(&uniform);
    rfc_load("rfc_branch.comp", false, &pushed.shader);
    rfc_load("rfc_branch.comp", true, &uniform.shader);
    /* The last word of the sequence is one more than are told apart. */
    static const uint32_t contents[CONTENTS][2] = {{7, 0}, {9, 0}, {7, 1}, {104, 1},
                                                   {5, 1}, {3, 2}, {11, 0}};
    static uint32_t buffers[CONTENTS][UNIFORM_WORDS];
    const uint32_t *pointers[CONTENTS];
    for (uint32_t c = 0; c < CONTENTS; c++) {
        memcpy(buffers[c], contents[c], sizeof contents[c]);
        pointers[c] = buffers[c];
    }
    for (uint32_t s = 0; s < WHOLE_SHAPES; s++)
        for (uint32_t k = 0; k < 3; k++) {
            pushed.dispatch = (struct model_dispatch){
                .groups = {1, 1, 1}, .size = {lanes[(s + k) % 3], 1, 1}, .lanes = shapes[s]};
            pushed.push = kernels[k]->push;
            pushed.push_words = 2;
            check_zeros(&pushed, s + k, &zeros);
        }
    for (uint32_t s = 0; s < WHOLE_SHAPES; s++) {
        uniform.dispatch = (struct model_dispatch){
            .groups = {2, 1, 1}, .size = {lanes[s % 2], 1, 1}, .lanes = shapes[s]};
        modelled_check_words(&uniform, pointers, s % 2 ? 3 : CONTENTS, s % 2 ? 4 : 1, s / 2 % 2,
                             &words);
    }
    exact_finish(&pushed.shader);
    exact_finish(&uniform.shader);
    assert_true(zeros.zero_writes > 0 && zeros.zero_writes < zeros.writes);
    assert_true(words.zero_writes > 0 && words.zero_writes < words.writes);
    assert_int_equal(words.points, 2 * WHOLE_SHAPES);
}

/* ---- zeros ---- */

/* Its workgroups are of so many invocations, whatever the shader says. */
static void check_shader(const char *name, const uint32_t groups[3], const uint32_t size[3])
{
    static const uint32_t push[2] = {17, 0x80000000};
    struct modelled call;
    struct modelled_seen seen = {0};
    begin(&call);
    exact_load(name, NULL, 0, &call.shader);
    call.push = push;
    call.push_words = 2;
    call.stand_ins = true;
    memcpy(call.dispatch.groups, groups, sizeof call.dispatch.groups);
    memcpy(call.dispatch.size, size, sizeof call.dispatch.size);
    for (uint32_t s = 0; s < SHAPES; s++) {
        call.dispatch.lanes = shapes[s];
        check_zeros(&call, s, &seen);
    }
    call.dispatch.ways.apart = true;
    check_zeros(&call, 0, &seen);
    exact_finish(&call.shader);
    assert_true(seen.points > 0 && seen.writes > 0);
}

#define DIMENSIONS(...) ((const uint32_t[3]){__VA_ARGS__})
#define SHADER_TEST(name, file, size, groups)                                                      \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check_shader(file, DIMENSIONS groups, DIMENSIONS size);                                    \
    }

SHADER_TEST(straight, "straight.comp", (37, 1, 1), (2, 1, 1))
SHADER_TEST(divergent, "divergent.comp", (150, 1, 1), (2, 1, 1))
SHADER_TEST(loops, "loops.comp", (70, 1, 1), (1, 1, 1))
SHADER_TEST(returns, "returns.comp", (21, 2, 1), (3, 2, 1))
SHADER_TEST(switches, "switches.comp", (70, 1, 1), (1, 1, 1))
SHADER_TEST(whiles, "whiles.comp", (70, 1, 1), (1, 1, 1))
SHADER_TEST(casts, "casts.comp", (37, 1, 1), (2, 1, 1))
SHADER_TEST(memory_model, "memory-model.comp", (37, 1, 1), (2, 1, 1))

/* Of fragments, where derivatives follow: what a whole quad has, helpers too. */
static void test_quads(void **state)
{
    (void)state;
    struct modelled call;
    struct modelled_seen seen = {0};
    begin(&call);
    /* Most quads are zero, or all but one pixel, which often is a helper. */
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t hash = i * 2654435761u;
        const float number = hash >> 28 < 2 ? (float)(hash >> 20 & 255) / 64 : 0;
        memcpy(&call.buffers[0][i], &number, sizeof number);
    }
    exact_load("quads.frag", NULL, 0, &call.shader);
    call.stand_ins = true;
    call.dispatch =
        (struct model_dispatch){.groups = {1, 1, 1}, .size = {32, 8, 1}, .in_quads = true};
    for (uint32_t s = 0; s < 4 * WHOLE_SHAPES; s++) {
        call.dispatch.lanes = shapes[s % WHOLE_SHAPES];
        call.dispatch.ways.helpers_vote = s / WHOLE_SHAPES % 2;
        call.dispatch.helpers = s < 2 * WHOLE_SHAPES ? 100 : 200;
        check_zeros(&call, s, &seen);
    }
    exact_finish(&call.shader);
    assert_true(seen.quads > 0 && seen.undecided > 0);
    assert_true(seen.zero_writes > 0 && seen.zero_writes < seen.writes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc),       cmocka_unit_test(test_straight),
        cmocka_unit_test(test_divergent), cmocka_unit_test(test_loops),
        cmocka_unit_test(test_returns),   cmocka_unit_test(test_switches),
        cmocka_unit_test(test_whiles),    cmocka_unit_test(test_memory_model),
        cmocka_unit_test(test_quads),     cmocka_unit_test(test_casts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
