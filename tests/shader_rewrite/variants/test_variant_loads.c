/* Loads that recipes may not move, nor take apart. */
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/variants/recipe_made.h"

#include "tests/cmocka_includes.h"

/* What is loaded from a buffer of three numbers, the first by itself or as one of all, is written
 * where the third says so. */
#define LOADED(capability, decoration, body)                                                       \
    "OpCapability Shader\n" capability "OpMemoryModel Logical GLSL450\n"                           \
    "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"               \
    "OpMemberDecorate %numbers 0 Offset 0\nOpMemberDecorate %numbers 1 Offset 4\n"                 \
    "OpMemberDecorate %numbers 2 Offset 8\nOpDecorate %x DescriptorSet 0\n"                        \
    "OpDecorate %x Binding 0\nOpMemberDecorate %outs 0 Offset 0\nOpDecorate %outs Block\n"         \
    "OpDecorate %to DescriptorSet 0\nOpDecorate %to Binding 1\n" decoration                        \
    "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"                     \
    "%bool = OpTypeBool\n%u0 = OpConstant %uint 0\n%u2 = OpConstant %uint 2\n"                     \
    "%u7 = OpConstant %uint 7\n%numbers = OpTypeStruct %uint %uint %uint\n"                        \
    "%outs = OpTypeStruct %uint\n%px = OpTypePointer Uniform %numbers\n"                           \
    "%pu = OpTypePointer Uniform %uint\n%x = OpVariable %px Uniform\n"                             \
    "%pouts = OpTypePointer StorageBuffer %outs\n%pout = OpTypePointer StorageBuffer %uint\n"      \
    "%to = OpVariable %pouts StorageBuffer\n%main = OpFunction %void None %fn\n%l = OpLabel\n"     \
    "%px0 = OpAccessChain %pu %x %u0\n%px2 = OpAccessChain %pu %x %u2\n" body                      \
    "%c = OpLoad %uint %px2\n%yes = OpINotEqual %bool %c %u0\nOpSelectionMerge %m None\n"          \
    "OpBranchConditional %yes %t %m\n%t = OpLabel\n%pto = OpAccessChain %pout %to %u0\n"           \
    "OpStore %pto %v\nOpBranch %m\n%m = OpLabel\nOpReturn\nOpFunctionEnd\n"
#define FIRST(operands) "%v = OpLoad %uint %px0" operands "\n"
#define OF_ALL(operands)                                                                           \
    "%all = OpLoad %numbers %x" operands "\n%v = OpCompositeExtract %uint %all 0\n"

static bool has_variant(const char *assembly, const char *recipe)
{
    struct pm_words words = pm_test_assemble(assembly, 3);
    struct pm_words canonical = recipe_canonical(words.data, words.count);
    struct pm_words made = recipe_make(&canonical, recipe, NULL);
    const bool has = made.count > 0;
    pm_words_finish(&made);
    pm_words_finish(&canonical);
    pm_words_finish(&words);
    return has;
}

/* A load stays before what is written behind it, also in buffers as SPIR-V 1.0 has them, of which
 * SPIRV-Tools does not see that they are written, and in ones that are there by another name; and
 * so does a volatile one. */
static void test_loads_stay(void **state)
{
    (void)state;
    assert_true(has_variant(LOADED("", "OpDecorate %numbers Block\n", FIRST("")), "sink-loads"));
    assert_false(
        has_variant(LOADED("", "OpDecorate %numbers BufferBlock\n", FIRST("") "OpStore %px0 %u7\n"),
                    "sink-loads"));
    assert_false(
        has_variant(LOADED("", "OpDecorate %numbers Block\n", FIRST(" Volatile")), "sink-loads"));
    assert_false(has_variant(LOADED("",
                                    "OpDecorate %numbers Block\nOpDecorate %x Aliased\n"
                                    "OpDecorate %to Aliased\n",
                                    FIRST("")),
                             "sink-loads"));
    assert_false(has_variant(
        LOADED("", "OpDecorate %numbers Block\nOpMemberDecorate %numbers 0 Volatile\n", FIRST("")),
        "sink-loads"));
}

/* The parts of a load would be neither volatile nor of a descriptor that differs by lane. */
static void test_loads_stay_whole(void **state)
{
    (void)state;
    assert_true(has_variant(LOADED("", "OpDecorate %numbers Block\n", OF_ALL("")), "small-loads"));
    assert_false(
        has_variant(LOADED("", "OpDecorate %numbers Block\n", OF_ALL(" Volatile")), "small-loads"));
    assert_false(
        has_variant(LOADED("OpCapability ShaderNonUniform\n"
                           "OpExtension \"SPV_EXT_descriptor_indexing\"\n",
                           "OpDecorate %numbers Block\nOpDecorate %all NonUniform\n", OF_ALL("")),
                    "small-loads"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_stay),
        cmocka_unit_test(test_loads_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
