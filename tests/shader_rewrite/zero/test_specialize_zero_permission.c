/* HAZARDS 7, on every driver: where 0 * x is NaN, or a zero's sign is at stake, the specialized
 * shader writes what permission says, and in every other place the original's bits. */
#include "tests/shader_rewrite/zero/weighed_items.h"

#include <math.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static struct differential differential;

/* The product, fused with a sum, and summed. */
static const char body[] = "%product = OpFMul %float %w %x\n"
                           "%fused = OpExtInst %float %glsl Fma %w %x %f1_5\n"
                           "%sum = OpFAdd %float %product %c\n"
                           "OpStore %to0 %product\nOpStore %to1 %fused\nOpStore %to2 %sum\n";

/* How a shader is declared, what the configuration says, and whether 0 * x = 0 follows. */
struct declaration {
    const char *name;
    bool preserves, no_contraction;
    enum pm_float_zero float_zero;
    bool permitted;
};
static const struct declaration declarations[] = {
    {"shader", false, false, PM_FLOAT_ZERO_SHADER, true},
    {"never", false, false, PM_FLOAT_ZERO_NEVER, false},
    {"allow", false, false, PM_FLOAT_ZERO_ALLOW, true},
    {"shader, preserves", true, false, PM_FLOAT_ZERO_SHADER, false},
    {"never, preserves", true, false, PM_FLOAT_ZERO_NEVER, false},
    {"allow, preserves", true, false, PM_FLOAT_ZERO_ALLOW, true},
    {"shader, NoContraction", false, true, PM_FLOAT_ZERO_SHADER, false},
    {"allow, NoContraction", false, true, PM_FLOAT_ZERO_ALLOW, false},
    {"allow, preserves, NoContraction", true, true, PM_FLOAT_ZERO_ALLOW, false},
};

static struct pm_words original_of(const struct declaration *d)
{
    return weighed_assemble(d->preserves ? "OpCapability SignedZeroInfNanPreserve\n"
                                           "OpExtension \"SPV_KHR_float_controls\"\n"
                                         : "",
                            d->preserves ? "OpExecutionMode %main SignedZeroInfNanPreserve 32\n"
                                         : "",
                            d->no_contraction ? "OpDecorate %product NoContraction\n"
                                                "OpDecorate %fused NoContraction\n"
                                                "OpDecorate %sum NoContraction\n"
                                              : "",
                            body);
}

/* Weights are zero in whole groups, of either sign; every few lanes x is one for which that
 * matters. */
static void fill(uint32_t item, float vector[4])
{
    static const float special[] = {INFINITY, 1, NAN, -1, -INFINITY, 2.5f, -0.0f, NAN};
    vector[0] = special[item % 8];
    vector[3] = item % 16 < 8 ? 0.25f : -0.0f;
}
static const float weights[RANDOM_SHADER_GROUPS] = {0, 1, -0.0f, -2, 0, 0.5f, 3, 0};

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return isnan(x) ? 0x7fc00000 : bits;
}

/* What a result is where 0 * x = +0 is used; the sum of that and -0 is +0. */
static uint32_t permitted_result(uint32_t item, uint32_t result)
{
    const float c = differential.inputs.vectors[item][3];
    const float results[WEIGHED_RESULTS] = {0, 1.5f, c + 0.0f};
    return bits_of(results[result]);
}

static void check(const struct declaration *d)
{
    static struct differential_output before, after;
    struct pm_words original = original_of(d), canonical = weighed_canonical(&original);
    struct pm_specialized specialized =
        weighed_specialize(&differential, &canonical, d->float_zero, false);
    differential_run(&differential, &original, PM_STAGE_COMPUTE, NULL, &before);
    const struct pm_words *variant = specialized.transforms ? &specialized.words : &canonical;
    differential_run(&differential, variant, PM_STAGE_COMPUTE, NULL, &after);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < WEIGHED_ITEMS * WEIGHED_RESULTS; i++) {
        const uint32_t item = i / WEIGHED_RESULTS, at = RANDOM_SHADER_PLACES + i;
        /* With the mode, no more than +0 counts as zero. */
        const float weight = differential.inputs.floats[item];
        const bool zero = d->preserves ? bits_of(weight) == 0 : weight == 0;
        uint32_t expected =
            d->permitted && zero ? permitted_result(item, i % WEIGHED_RESULTS) : before.words[at];
        changed += before.words[at] != after.words[at];
        if (after.words[at] != expected)
            fail_msg("%s: item %u, result %u: 0x%08x, not 0x%08x (the original: 0x%08x)", d->name,
                     item, i % WEIGHED_RESULTS, after.words[at], expected, before.words[at]);
    }
    /* Of 8 x, 7 make a product that is no +0 for one sign of the weight or the other. */
    assert_true(d->permitted ? changed > WEIGHED_ITEMS / 4 : changed == 0);
    if (d->permitted)
        assert_true(specialized.transforms > 0);
    pm_specialized_finish(&specialized);
    pm_words_finish(&canonical);
    pm_words_finish(&original);
}

static void test_permission(void **state)
{
    (void)state;
    weighed_fill(&differential, weights, fill);
    for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++)
        check(&declarations[i]);
}

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    differential_destroy(&differential);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_permission)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
