/* Which values are candidates, told as text: the values' ids joined by '+', '.N' for N components,
 * 'q' for quad, 'i' for integers, '@B' for the block, '*' in a loop. */
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define HEAD(model, modes)                                                                         \
    "OpCapability Shader\n"                                                                        \
    "OpCapability ImageQuery\n"                                                                    \
    "%90 = OpExtInstImport \"GLSL.std.450\"\n"                                                     \
    "OpMemoryModel Logical GLSL450\n"                                                              \
    "OpEntryPoint " model " %100 \"main\" %70 %71 %72\n" modes "OpDecorate %70 Location 0\n"       \
    "OpDecorate %71 Location 0\n"                                                                  \
    "OpDecorate %72 Location 1\n"                                                                  \
    "OpDecorate %72 Flat\n"                                                                        \
    "OpDecorate %73 DescriptorSet 0\n"                                                             \
    "OpDecorate %73 Binding 0\n"                                                                   \
    "%1 = OpTypeVoid\n"                                                                            \
    "%2 = OpTypeFunction %1\n"                                                                     \
    "%3 = OpTypeBool\n"                                                                            \
    "%4 = OpTypeInt 32 0\n"                                                                        \
    "%5 = OpTypeInt 32 1\n"                                                                        \
    "%6 = OpTypeFloat 32\n"                                                                        \
    "%7 = OpTypeVector %6 2\n"                                                                     \
    "%8 = OpTypeVector %6 3\n"                                                                     \
    "%9 = OpTypeVector %6 4\n"                                                                     \
    "%10 = OpTypePointer Input %9\n"                                                               \
    "%11 = OpTypePointer Output %9\n"                                                              \
    "%12 = OpTypePointer Input %4\n"                                                               \
    "%13 = OpTypePointer Input %6\n"                                                               \
    "%14 = OpTypePointer Output %6\n"                                                              \
    "%15 = OpTypeImage %6 2D 0 0 0 1 Unknown\n"                                                    \
    "%16 = OpTypeSampledImage %15\n"                                                               \
    "%17 = OpTypePointer UniformConstant %16\n"                                                    \
    "%20 = OpConstant %4 0\n"                                                                      \
    "%21 = OpConstant %4 1\n"                                                                      \
    "%22 = OpConstant %4 2\n"                                                                      \
    "%23 = OpConstant %4 3\n"                                                                      \
    "%24 = OpConstant %6 1\n"                                                                      \
    "%25 = OpConstant %6 0\n"                                                                      \
    "%26 = OpConstantComposite %9 %24 %24 %25 %25\n"                                               \
    "%70 = OpVariable %10 Input\n"                                                                 \
    "%71 = OpVariable %11 Output\n"                                                                \
    "%72 = OpVariable %12 Input\n"                                                                 \
    "%73 = OpVariable %17 UniformConstant\n"                                                       \
    "%100 = OpFunction %1 None %2\n"                                                               \
    "%101 = OpLabel\n"
#define FRAGMENT HEAD("Fragment", "OpExecutionMode %100 OriginUpperLeft\n")
#define TAIL "OpReturn\nOpFunctionEnd\n"

static void describe(const struct pm_zero_points *points, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < points->count && at < size; i++) {
        const struct pm_zero_candidate *c = &points->candidates[i];
        for (uint32_t v = 0; v < c->value_count && at < size; v++)
            at += (size_t)snprintf(text + at, size - at, "%s%u",
                                   v   ? "+"
                                   : i ? " "
                                       : "",
                                   c->values[v]);
        if (c->components > 1 && at < size)
            at += (size_t)snprintf(text + at, size - at, ".%u", c->components);
        if (at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", c->is_float ? "" : "i",
                                   c->quad ? "q" : "");
        if (c->block && at < size)
            at += (size_t)snprintf(text + at, size - at, "@%u", c->block);
        if (!c->at_most_once && at < size)
            at += (size_t)snprintf(text + at, size - at, "*");
    }
}

static void expect(const char *text, const char *candidates)
{
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    corpus_assert_valid("the test's module", words, count, SPV_ENV_UNIVERSAL_1_3);
    struct pm_zero_points points;
    struct pm_error error = {0};
    if (!pm_zero_candidates(words, count, &points, &error))
        fail_msg("%s", error.message);
    char found[4096];
    describe(&points, found, sizeof(found));
    assert_string_equal(found, candidates);
    pm_zero_points_finish(&points);
    free(words);
}

static void test_values_and_prefixes(void **state)
{
    (void)state;
    /* A vector, its prefixes, a scalar of each kind; no boolean, pointer or store. */
    expect(FRAGMENT "%110 = OpLoad %9 %70\n"
                    "%111 = OpFAdd %9 %110 %26\n"
                    "%112 = OpDot %6 %110 %111\n"
                    "%113 = OpLoad %4 %72\n"
                    "%114 = OpFOrdLessThan %3 %112 %24\n"
                    "%115 = OpSelect %6 %114 %112 %25\n"
                    "%116 = OpAccessChain %14 %71 %20\n"
                    "OpStore %116 %115\n" TAIL,
           "110.4 110.2 110.3 111.4 111.2 111.3 112 113i 115");
}

static void test_renames(void **state)
{
    (void)state;
    /* Copies, swizzles that keep the leading components, a repeated component, and integers of the
     * other sign are other names; other components, and floats as integers, are not. */
    expect(FRAGMENT "%110 = OpLoad %9 %70\n"
                    "%111 = OpCopyObject %9 %110\n"
                    "%112 = OpVectorShuffle %8 %110 %110 2 1 0\n"
                    "%113 = OpVectorShuffle %7 %110 %110 2 3\n"
                    "%114 = OpVectorShuffle %8 %110 %26 0 1 7\n"
                    "%115 = OpCompositeExtract %6 %110 3\n"
                    "%116 = OpCompositeExtract %6 %110 3\n"
                    "%117 = OpCompositeConstruct %8 %115 %115 %115\n"
                    "%118 = OpLoad %4 %72\n"
                    "%119 = OpBitcast %5 %118\n"
                    "%120 = OpBitcast %6 %118\n"
                    "%121 = OpCompositeConstruct %7 %115 %120\n"
                    "%122 = OpCompositeExtract %6 %121 1\n"
                    "%123 = OpUndef %6\n"
                    "%124 = OpCompositeExtract %6 %26 1\n" TAIL,
           "110.4 110.2 110.3 113.2 114.3 114.2 115 118i 120 121.2");
}

static void test_renames_in_branches(void **state)
{
    (void)state;
    /* A component is named once where one name dominates the other; else in each branch. */
    expect(FRAGMENT "%110 = OpLoad %9 %70\n"
                    "%111 = OpLoad %4 %72\n"
                    "%112 = OpCompositeExtract %6 %110 0\n"
                    "%113 = OpINotEqual %3 %111 %20\n"
                    "OpSelectionMerge %122 None\n"
                    "OpBranchConditional %113 %120 %121\n"
                    "%120 = OpLabel\n"
                    "%130 = OpCompositeExtract %6 %110 0\n"
                    "%131 = OpCompositeExtract %6 %110 3\n"
                    "OpBranch %122\n"
                    "%121 = OpLabel\n"
                    "%132 = OpCompositeExtract %6 %110 3\n"
                    "OpBranch %122\n"
                    "%122 = OpLabel\n"
                    "%133 = OpPhi %6 %130 %120 %132 %121\n"
                    "%134 = OpPhi %6 %112 %120 %112 %121\n" TAIL,
           "110.4 110.2 110.3 111i 112 131@1 132@2 133@3");
}

static void test_loops(void **state)
{
    (void)state;
    expect(FRAGMENT "%110 = OpLoad %4 %72\n"
                    "OpBranch %120\n"
                    "%120 = OpLabel\n"
                    "%130 = OpPhi %4 %20 %101 %131 %121\n"
                    "%132 = OpPhi %4 %110 %101 %132 %121\n"
                    "%133 = OpULessThan %3 %130 %110\n"
                    "OpLoopMerge %122 %121 None\n"
                    "OpBranchConditional %133 %121 %122\n"
                    "%121 = OpLabel\n"
                    "%131 = OpIAdd %4 %130 %21\n"
                    "OpBranch %120\n"
                    "%122 = OpLabel\n"
                    "%134 = OpIMul %4 %130 %132\n" TAIL,
           "110i 130i@1* 131i@2* 134i@3");
}

#define DERIVATIVES                                                                                \
    "%110 = OpLoad %9 %70\n"                                                                       \
    "%111 = OpLoad %4 %72\n"                                                                       \
    "%112 = OpINotEqual %3 %111 %20\n"                                                             \
    "OpSelectionMerge %122 None\n"                                                                 \
    "OpBranchConditional %112 %120 %121\n"                                                         \
    "%120 = OpLabel\n"                                                                             \
    "%130 = OpCompositeExtract %6 %110 0\n"                                                        \
    "%131 = OpDPdx %6 %130\n"                                                                      \
    "%132 = OpFMul %6 %131 %131\n"                                                                 \
    "OpBranch %122\n"                                                                              \
    "%121 = OpLabel\n"                                                                             \
    "%133 = OpCompositeExtract %6 %110 1\n"                                                        \
    "OpBranch %122\n"                                                                              \
    "%122 = OpLabel\n"                                                                             \
    "%134 = OpPhi %6 %132 %120 %133 %121\n"

static void test_quad(void **state)
{
    (void)state;
    /* What a derivative or implicit-LOD read may follow, and nothing else. */
    expect(FRAGMENT DERIVATIVES TAIL, "110.4q 110.2q 110.3q 111iq 130q@1 131@1 132@1 133@2 134@3");
    expect(FRAGMENT DERIVATIVES "%140 = OpLoad %16 %73\n"
                                "%141 = OpCompositeConstruct %7 %134 %134\n"
                                "%142 = OpImageSampleImplicitLod %9 %140 %141\n" TAIL,
           "110.4q 110.2q 110.3q 111iq 130q@1 131q@1 132q@1 133q@2 134q@3 142.4@3 142.2@3 142.3@3");
    /* In a loop it follows what stands behind it, too. */
    expect(FRAGMENT "%110 = OpLoad %4 %72\n"
                    "OpBranch %120\n"
                    "%120 = OpLabel\n"
                    "%130 = OpPhi %4 %20 %101 %131 %121\n"
                    "%133 = OpULessThan %3 %130 %110\n"
                    "OpLoopMerge %122 %121 None\n"
                    "OpBranchConditional %133 %121 %122\n"
                    "%121 = OpLabel\n"
                    "%140 = OpConvertUToF %6 %130\n"
                    "%141 = OpFwidth %6 %140\n"
                    "%131 = OpIAdd %4 %130 %21\n"
                    "OpBranch %120\n"
                    "%122 = OpLabel\n"
                    "%134 = OpIMul %4 %130 %110\n" TAIL,
           "110iq 130iq@1* 140q@2* 141q@2* 131iq@2* 134i@3");
}

static void test_compute_has_no_quads(void **state)
{
    (void)state;
    expect("OpCapability Shader\n"
           "OpCapability GroupNonUniformQuad\n"
           "OpMemoryModel Logical GLSL450\n"
           "OpEntryPoint GLCompute %100 \"main\" %70\n"
           "OpExecutionMode %100 LocalSize 4 1 1\n"
           "OpDecorate %70 BuiltIn LocalInvocationIndex\n"
           "%1 = OpTypeVoid\n"
           "%2 = OpTypeFunction %1\n"
           "%4 = OpTypeInt 32 0\n"
           "%12 = OpTypePointer Input %4\n"
           "%23 = OpConstant %4 3\n"
           "%20 = OpConstant %4 0\n"
           "%70 = OpVariable %12 Input\n"
           "%100 = OpFunction %1 None %2\n"
           "%101 = OpLabel\n"
           "%110 = OpLoad %4 %70\n"
           "%111 = OpGroupNonUniformQuadSwap %4 %23 %110 %20\n" TAIL,
           "110i 111i");
}

/* Three components that are taken apart, computed on, and put together. */
#define APART                                                                                      \
    "%110 = OpLoad %9 %70\n"                                                                       \
    "%111 = OpCompositeExtract %6 %110 0\n"                                                        \
    "%112 = OpCompositeExtract %6 %110 1\n"                                                        \
    "%113 = OpCompositeExtract %6 %110 2\n"

static void test_packs_of_extracts(void **state)
{
    (void)state;
    /* The components themselves are no pack, what is computed of them is, along the chain; and not
     * again what is put together, or ends up in another vector's place. */
    expect(FRAGMENT APART "%120 = OpFMul %6 %111 %111\n"
                          "%121 = OpFMul %6 %112 %112\n"
                          "%122 = OpFMul %6 %113 %113\n"
                          "%130 = OpExtInst %6 %90 Sqrt %120\n"
                          "%131 = OpExtInst %6 %90 Sqrt %121\n"
                          "%132 = OpExtInst %6 %90 Sqrt %122\n"
                          "%140 = OpCompositeConstruct %8 %130 %131 %132\n" TAIL,
           "110.4 110.2 110.3 111 112 113 120 121 122 120+121+122 130 131 132 140.3 140.2");
    /* Different functions do not match; one of three may be left out. */
    expect(FRAGMENT APART "%120 = OpExtInst %6 %90 Sqrt %111\n"
                          "%121 = OpExtInst %6 %90 Exp %112\n"
                          "%122 = OpExtInst %6 %90 Sqrt %113\n" TAIL,
           "110.4 110.2 110.3 111 112 113 120 121 122 120+122");
    /* Dependent ones are no pack. */
    expect(FRAGMENT APART "%120 = OpFMul %6 %111 %24\n"
                          "%121 = OpFMul %6 %112 %120\n" TAIL,
           "110.4 110.2 110.3 111 112 113 120 121");
}

static void test_packs_of_sums(void **state)
{
    (void)state;
    /* A dot product by hand, its terms out of order. */
    expect(FRAGMENT APART "%120 = OpFMul %6 %112 %24\n"
                          "%121 = OpFMul %6 %111 %24\n"
                          "%122 = OpFMul %6 %113 %24\n"
                          "%130 = OpFAdd %6 %121 %120\n"
                          "%131 = OpFAdd %6 %130 %122\n" TAIL,
           "110.4 110.2 110.3 111 112 113 120 121 122 120+121+122 130 131");
    /* With fused multiply-adds: factors from two vectors. */
    expect(FRAGMENT "%110 = OpLoad %9 %70\n"
                    "%111 = OpFAdd %9 %110 %26\n"
                    "%112 = OpCompositeExtract %6 %110 0\n"
                    "%113 = OpCompositeExtract %6 %111 0\n"
                    "%120 = OpExtInst %6 %90 Sqrt %112\n"
                    "%121 = OpExtInst %6 %90 Sqrt %113\n"
                    "%122 = OpFMul %6 %121 %24\n"
                    "%123 = OpExtInst %6 %90 Fma %120 %24 %122\n" TAIL,
           "110.4 110.2 110.3 111.4 111.2 111.3 112 113 112+113 120 121 120+121 122 123");
}

static void test_packs_of_memory(void **state)
{
    (void)state;
    /* Neighbouring loads, whatever their order; what is stored to neighbours. */
    expect(FRAGMENT "%110 = OpAccessChain %13 %70 %21\n"
                    "%111 = OpLoad %6 %110\n"
                    "%112 = OpAccessChain %13 %70 %20\n"
                    "%113 = OpLoad %6 %112\n"
                    "%120 = OpExtInst %6 %90 Sqrt %111\n"
                    "%121 = OpExtInst %6 %90 Sqrt %113\n"
                    "%130 = OpAccessChain %14 %71 %22\n"
                    "%131 = OpAccessChain %14 %71 %23\n"
                    "OpStore %130 %121\n"
                    "OpStore %131 %120\n" TAIL,
           "111 113 111+113 120 121 120+121");
    /* Not neighbours. */
    expect(FRAGMENT "%110 = OpAccessChain %13 %70 %23\n"
                    "%111 = OpLoad %6 %110\n"
                    "%112 = OpAccessChain %13 %70 %20\n"
                    "%113 = OpLoad %6 %112\n" TAIL,
           "111 113");
}

static void test_narrow_numbers(void **state)
{
    (void)state;
#define NARROW(capability)                                                                         \
    "OpCapability Shader\n"                                                                        \
    "OpCapability StorageBuffer16BitAccess\n" capability "OpExtension \"SPV_KHR_16bit_storage\"\n" \
    "OpMemoryModel Logical GLSL450\n"                                                              \
    "OpEntryPoint GLCompute %100 \"main\"\n"                                                       \
    "OpExecutionMode %100 LocalSize 4 1 1\n"                                                       \
    "OpDecorate %70 DescriptorSet 0\n"                                                             \
    "OpDecorate %70 Binding 0\n"                                                                   \
    "OpDecorate %8 Block\n"                                                                        \
    "OpMemberDecorate %8 0 Offset 0\n"                                                             \
    "%1 = OpTypeVoid\n"                                                                            \
    "%2 = OpTypeFunction %1\n"                                                                     \
    "%4 = OpTypeInt 32 0\n"                                                                        \
    "%6 = OpTypeFloat 32\n"                                                                        \
    "%7 = OpTypeFloat 16\n"                                                                        \
    "%8 = OpTypeStruct %7\n"                                                                       \
    "%9 = OpTypePointer StorageBuffer %8\n"                                                        \
    "%10 = OpTypePointer StorageBuffer %7\n"                                                       \
    "%20 = OpConstant %4 0\n"                                                                      \
    "%70 = OpVariable %9 StorageBuffer\n"                                                          \
    "%100 = OpFunction %1 None %2\n"                                                               \
    "%101 = OpLabel\n"                                                                             \
    "%110 = OpAccessChain %10 %70 %20\n"                                                           \
    "%111 = OpLoad %7 %110\n"                                                                      \
    "%112 = OpFConvert %6 %111\n" TAIL
    expect(NARROW(""), "112");
    expect(NARROW("OpCapability Float16\n"), "111 112");
}

static void test_limit(void **state)
{
    (void)state;
    /* 22,000 vectors of four are 66,000 candidates; half as many are not too many. */
    for (uint32_t vectors = 11000; vectors <= 22000; vectors += 11000) {
        size_t size = sizeof(FRAGMENT) + 64 * (size_t)vectors + sizeof(TAIL), at;
        char *text = malloc(size);
        assert_non_null(text);
        at = (size_t)snprintf(text, size, "%s%%110 = OpLoad %%9 %%70\n", FRAGMENT);
        for (uint32_t i = 1; i < vectors; i++)
            at += (size_t)snprintf(text + at, size - at, "%%%u = OpFAdd %%9 %%110 %%%u\n", 110 + i,
                                   109 + i);
        snprintf(text + at, size - at, "%s", TAIL);
        uint32_t *words;
        size_t count;
        corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
        struct pm_zero_points points;
        struct pm_error error = {0};
        bool ok = pm_zero_candidates(words, count, &points, &error);
        assert_int_equal(error.code, vectors > 11000 ? PM_ERROR_LIMIT : PM_OK);
        assert_int_equal(points.count, ok ? 3 * vectors : 0);
        pm_zero_points_finish(&points);
        free(words);
        free(text);
    }
}

/* Many scalars that might all be together: the search stays linear. A search that is not takes
 * minutes here, and the test's time is up. */
static void test_hostile(void **state)
{
    (void)state;
    enum { CHAINS = 4, LENGTH = 12000 };
    size_t size = sizeof(FRAGMENT) + 64 * (size_t)CHAINS * LENGTH + sizeof(TAIL), at;
    char *text = malloc(size);
    assert_non_null(text);
    at = (size_t)snprintf(text, size, "%s%s%%114 = OpCompositeExtract %%6 %%110 3\n", FRAGMENT,
                          APART);
    /* Four chains side by side, every value with the first as second operand. */
    for (uint32_t i = 0; i < CHAINS * LENGTH; i++)
        at += (size_t)snprintf(text + at, size - at, "%%%u = OpFMul %%6 %%%u %%111\n", 115 + i,
                               111 + i);
    snprintf(text + at, size - at, "%s", TAIL);
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    struct pm_zero_points points;
    struct pm_error error = {0};
    assert_true(pm_zero_candidates(words, count, &points, &error));
    assert_true(points.count > CHAINS * LENGTH);
    pm_zero_points_finish(&points);
    free(words);
    free(text);
}

static void test_refusals(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    const struct corpus_file *file = corpus_find(&corpus, "transform.vert.vulkan1.1.O");
    struct pm_zero_points points;
    struct pm_error error = {0};
    assert_false(pm_zero_candidates(file->words, file->count, &points, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    error = (struct pm_error){0};
    assert_false(pm_zero_candidates(file->words, file->count / 2, &points, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_null(points.candidates);
    corpus_finish(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_prefixes),
        cmocka_unit_test(test_renames),
        cmocka_unit_test(test_renames_in_branches),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_quad),
        cmocka_unit_test(test_compute_has_no_quads),
        cmocka_unit_test(test_packs_of_extracts),
        cmocka_unit_test(test_packs_of_sums),
        cmocka_unit_test(test_packs_of_memory),
        cmocka_unit_test(test_narrow_numbers),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
