/* Instrumented modules count exactly in subgroups of 4, 8, 16, 32 and 64 lanes: the drivers at hand
 * have 4 and 8, so here the model runs them, all lanes of a subgroup together (lockstep.h). The
 * offload RFC's microbenchmarks count as they were made; what other shaders count is what the model
 * finds when it runs the canonical module, one invocation after the other. Subgroups are whole and
 * not, and some lack lanes in between. */
#include "tests/all.h"
#include "tests/shader_rewrite/instrument/modelled.h"
#include "tests/shader_rewrite/instrument/rfc_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 4096, SIZES = 5 };
static const uint32_t sizes[SIZES] = {4, 8, 16, 32, 64};

static void begin(const char *name, struct modelled *call)
{
    static uint32_t input[WORDS], output[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        input[i] = i * 2654435761u;
    *call = (struct modelled){.buffers = {input, output}, .words = {WORDS, WORDS}, .output = 1};
    exact_load(name, NULL, 0, &call->shader);
}

static void check_variant(void *user, const struct exact_variant *variant)
{
    modelled_check(user, variant);
}

/* ---- the RFC's ---- */

/* A kernel in one workgroup of so many lanes. pattern: U or D of the cold and of the hot path. */
static void check_kernel(struct modelled *call, const struct rfc_kernel *kernel, uint32_t lanes,
                         const char *const pattern[SIZES])
{
    uint32_t paths[2];
    rfc_find_paths(&call->shader, paths);
    call->push = kernel->push;
    call->push_words = 2;
    for (int s = 0; s < SIZES; s++) {
        call->dispatch = rfc_dispatch(1, lanes, sizes[s]);
        call->told = sizes[s];
        call->most_lanes = sizes[s];
        call->sums_outlive_loops = (lanes + (uint32_t)s) % 2;
        modelled_find_truth(call);
        const struct rfc_made made = rfc_make(kernel, 1, lanes, sizes[s]);
        const struct model_counts *cold = &call->truth.points[paths[0]],
                                  *hot = &call->truth.points[paths[1]];
        rfc_expect(cold, &made.cold);
        rfc_expect(hot, &made.hot);
        const char found[3] = {rfc_is_uniform(cold) ? 'U' : 'D', rfc_is_uniform(hot) ? 'U' : 'D'};
        assert_string_equal(found, pattern[s]);
        modelled_check_all(call, s % 3 == 0);
        modelled_forget(call);
    }
}

static const char *const together[SIZES] = {"UU", "UU", "UU", "UU", "UU"};

static void test_rfc_uniform(void **state)
{
    (void)state;
    struct modelled call;
    begin("rfc_branch.comp", &call);
    check_kernel(&call, &rfc_uniform, 70, together);
    check_kernel(&call, &rfc_uniform, 33, together);
    check_kernel(&call, &rfc_uniform, 1, together);
    exact_finish(&call.shader);
}

/* One lane at a time is cold: so many lanes are so many of the 416 turns. */
static void test_rfc_divergent(void **state)
{
    (void)state;
    static const char *const apart[SIZES] = {"DU", "DU", "DU", "DU", "DD"};
    static const char *const fewer[SIZES] = {"DU", "DU", "DU", "DU", "DU"};
    struct modelled call;
    begin("rfc_branch.comp", &call);
    check_kernel(&call, &rfc_divergent, 70, apart);
    check_kernel(&call, &rfc_divergent, 33, fewer);
    check_kernel(&call, &rfc_divergent, 1, together);
    exact_finish(&call.shader);
}

static void test_rfc_hot(void **state)
{
    (void)state;
    static const char *const often[SIZES] = {"DU", "DU", "DD", "DD", "DD"};
    struct modelled call;
    begin("rfc_branch.comp", &call);
    check_kernel(&call, &rfc_hot, 70, often);
    check_kernel(&call, &rfc_hot, 33, often);
    check_kernel(&call, &rfc_hot, 1, together);
    exact_finish(&call.shader);
}

/* ---- other shaders ---- */

/* Of which subgroups some lack lanes; and what instrument_blocks is told of them. */
static const struct shape {
    uint64_t lanes;
    uint32_t told; /* 0: not known */
} shapes[] = {
    {0xffff, 16},
    {0xffffffff, 32},
    {UINT64_MAX, 64},
    {UINT64_MAX, 0},
    {UINT64_MAX, 32},                   /* they may have more than one is told, */
    {0x0fffffff, 32},                   /* or never so many */
    {UINT64_C(0x9249249249249249), 64}, /* each third */
    {UINT64_C(0xfffffffe00000000), 64}, /* none of the first half */
    {UINT64_C(0x8000000180000001), 4},  /* at the ends of ballots' words */
    {UINT64_C(0x00000000fffffffe), 31}, /* all but the first */
};

enum { BATCHES = 2 }; /* the shape in which points are split into batches, too */

/* Variants of a shader in all shapes; quickly in half of them, and the next shader in the others.
 * Its workgroups are of so many invocations, whatever the shader says. */
static void check_shader(const char *name, const uint32_t groups[3], const uint32_t size[3])
{
    static const uint32_t push[2] = {17, 0x80000000};
    static size_t turn;
    const size_t step = pm_test_all() ? 1 : 2;
    struct modelled call;
    begin(name, &call);
    call.push = push;
    call.push_words = 2;
    memcpy(call.dispatch.groups, groups, sizeof call.dispatch.groups);
    memcpy(call.dispatch.size, size, sizeof call.dispatch.size);
    for (size_t s = turn++ % step; s < sizeof shapes / sizeof *shapes; s += step) {
        call.dispatch.lanes = shapes[s].lanes;
        call.told = shapes[s].told;
        call.without_arithmetic = s % 5 == 4;
        call.sums_outlive_loops = s % 4 > 0;
        modelled_find_truth(&call);
        if (s == BATCHES)
            exact_each_variant(true, &call.shader, false, check_variant, &call);
        else
            modelled_check_all(&call, s % 2);
        modelled_forget(&call);
        modelled_check_apart(&call, s % 2);
    }
    exact_finish(&call.shader);
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
SHADER_TEST(loops, "loops.comp", (100, 1, 1), (1, 1, 1))
SHADER_TEST(returns, "returns.comp", (21, 2, 1), (3, 2, 1))
SHADER_TEST(switches, "switches.comp", (130, 1, 1), (1, 1, 1))
SHADER_TEST(whiles, "whiles.comp", (93, 1, 1), (1, 1, 1))
SHADER_TEST(deep, "deep.comp", (8, 5, 2), (2, 2, 1))
SHADER_TEST(many, "many.comp", (70, 1, 1), (3, 1, 1))
SHADER_TEST(memory_model, "memory-model.comp", (37, 1, 1), (2, 1, 1))
SHADER_TEST(many_turns, "many-turns.comp", (70, 1, 1), (1, 1, 1))

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_uniform), cmocka_unit_test(test_rfc_divergent),
        cmocka_unit_test(test_rfc_hot),     cmocka_unit_test(test_straight),
        cmocka_unit_test(test_divergent),   cmocka_unit_test(test_loops),
        cmocka_unit_test(test_returns),     cmocka_unit_test(test_switches),
        cmocka_unit_test(test_whiles),      cmocka_unit_test(test_deep),
        cmocka_unit_test(test_many),        cmocka_unit_test(test_memory_model),
        cmocka_unit_test(test_many_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
