/* Zeros counted in compute shaders equal what the lanes had, to the last unit, on every driver:
 * divergent loops, early returns, vectors, prefixes, packs, -0, NaN, denormals, several widths. */
#include "base/random.h"
#include "tests/shader_rewrite/instrument/zeros.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { LANES = 37, GROUPS = 9, WORDS = 12289 };

/* Runs of zeroes of both signs, and among them whatever may be taken for one. */
static void fill(uint32_t *words)
{
    static const uint32_t odd[] = {0,          0x80000000, 0x7fc00000, 0xffc00000,
                                   1,          0x80000001, 0x3f800000, 0x80000007,
                                   0x007fffff, 5,          0x7f800000, 6};
    struct pm_random random;
    pm_random_init(&random, 11);
    bool zeroes = false;
    for (uint32_t i = 0; i < WORDS; i++) {
        if (i % 8 == 0)
            zeroes = pm_random_below(&random, 3) > 0;
        uint32_t below = zeroes && pm_random_below(&random, 40) ? 2 : sizeof(odd) / sizeof(odd[0]);
        words[i] = odd[pm_random_below(&random, below)];
    }
    words[WORDS - 1] = 1; /* a denormal, that flow.comp compares */
}

static void dispatch(const struct zeros_test *test, struct pm_gpu_shader *shader,
                     struct zeros_run *run)
{
    (void)run;
    static const float scale = 2;
    shader->push = &scale;
    shader->push_size = sizeof scale;
    pm_gpu_dispatch(test->gpu, shader, GROUPS, 1, 1);
}

static void check_flow(bool preserves)
{
    static const struct zeros_expected expected[] = {
        {0, 0, 1, {ZEROS_F(0)}},  {0, 0, 1, {ZEROS_U(0)}},
        {0, 0, 1, {ZEROS_V4(0)}}, {0, 2, 1, {ZEROS_V4(0)}},
        {0, 3, 1, {ZEROS_V4(0)}}, {0, 0, 1, {ZEROS_V3(0)}},
        {0, 2, 1, {ZEROS_V3(0)}}, {0, 0, 1, {ZEROS_F(1)}},
        {0, 0, 1, {ZEROS_F(3)}},  {0, 0, 3, {ZEROS_F(1), ZEROS_F(2), ZEROS_F(3)}},
        {1, 0, 1, {ZEROS_U(1)}},  {2, 0, 1, {ZEROS_V2(0)}},
        {3, 0, 1, {ZEROS_F(4)}},  {4, 0, 1, {ZEROS_U3(0)}},
        {4, 2, 1, {ZEROS_U3(0)}}, {5, 0, 1, {ZEROS_U(2)}},
    };
    uint32_t *input = malloc(WORDS * sizeof(*input));
    assert_non_null(input);
    fill(input);
    struct zeros_test test = {.gpu = &pm_test_gpu,
                              .expected = expected,
                              .expected_count = sizeof(expected) / sizeof(expected[0]),
                              .call = dispatch,
                              .input = input,
                              .input_words = WORDS,
                              .visit_bytes = {ZEROS_SCALAR_BYTES, ZEROS_VECTOR_BYTES}};
    zeros_load("flow.comp", PM_STAGE_COMPUTE, preserves, &test.shader);
    struct zeros_run plain;
    zeros_run_plain(&test, &plain);
    for (uint32_t v = 0; v < plain.visits; v++)
        if (plain.entries[v][1] == 0)
            test.flushes_denormals = plain.scalars[64 * v + 60] != 0; /* u[7] */
    zeros_run_finish(&plain);
    zeros_check(&test);
    zeros_finish(&test.shader);
    free(input);
}

static void test_flow(void **state)
{
    (void)state;
    check_flow(false);
}

/* Where the shader keeps the signs of zeroes, +0 alone is one, and no denormal. */
static void test_flow_of_plus(void **state)
{
    (void)state;
    check_flow(true);
}

static void test_widths(void **state)
{
    (void)state;
    if (!pm_test_gpu.small_types || !pm_test_gpu.int64 || !pm_test_gpu.float64) {
        print_message("%s has 32-bit numbers only\n", pm_test_gpu.name);
        return;
    }
    static const struct zeros_expected expected[] = {
        {0, 0, 1, {{2, 0, 0, 16, 0, 1, 1, false}}}, {0, 0, 1, {{2, 1, 0, 16, 4, 1, 2, false}}},
        {0, 0, 1, {{2, 2, 0, 16, 8, 1, 2, true}}},  {0, 0, 1, {{3, 0, 0, 32, 0, 1, 8, false}}},
        {0, 0, 1, {{3, 1, 0, 32, 16, 1, 8, true}}},
    };
    uint32_t *input = malloc(WORDS * sizeof(*input));
    assert_non_null(input);
    fill(input);
    /* The low byte is often zero where the rest is not, and the other way round. */
    for (uint32_t i = 0; i < LANES * GROUPS; i += 16)
        for (uint32_t j = 0; j < 16; j++)
            input[i + j] = i % 48 == 0 ? j << 24 : i % 48 == 16 ? j << 4 : 0;
    struct zeros_test test = {.gpu = &pm_test_gpu,
                              .expected = expected,
                              .expected_count = sizeof(expected) / sizeof(expected[0]),
                              .call = dispatch,
                              .input = input,
                              .input_words = WORDS,
                              .visit_bytes = {16, 32} /* widths.comp */};
    zeros_load("widths.comp", PM_STAGE_COMPUTE, false, &test.shader);
    zeros_check(&test);
    zeros_finish(&test.shader);
    free(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flow),
                                       cmocka_unit_test(test_flow_of_plus),
                                       cmocka_unit_test(test_widths)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
