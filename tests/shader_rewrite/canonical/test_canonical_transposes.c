/* Products whose matrix the original knows to be a transposed one have that one still, and those
 * whose matrix was forgotten to be one have it made again of its columns (canonical_transposes.c).
 */
#include "tests/shader_rewrite/canonical/canonicalized.h"

#include <stdio.h>

/* How %p, of which %v's product is stored, comes from the transposed %t. */
struct way {
    const char *instructions;
    bool forgotten;
};

static const struct way ways[] = {
    {"%p = OpCopyObject %m4 %t\n", false},
    {"%i = OpCompositeConstruct %inner %t\n%p = OpCompositeExtract %m4 %i 0\n", false},
    {"%i = OpCompositeConstruct %inner %t\n%o = OpCompositeConstruct %outer %i %v\n"
     "%p = OpCompositeExtract %m4 %o 0 0\n",
     false},
    {"%i = OpCompositeConstruct %inner %t\n%o = OpCompositeConstruct %outer %i %v\n"
     "%e = OpCompositeExtract %inner %o 0\n%p = OpCompositeExtract %m4 %e 0\n",
     false},
    {"%i = OpCompositeConstruct %inner %t\n%j = OpCopyObject %inner %i\n"
     "%p = OpCompositeExtract %m4 %j 0\n",
     false},
    {"%i = OpCompositeInsert %inner %t %none 0\n%p = OpCompositeExtract %m4 %i 0\n", false},
    {"%i = OpCompositeConstruct %inner %t\n%o = OpCompositeConstruct %outer %i %v\n"
     "%b = OpCompositeInsert %outer %w %o 1\n%p = OpCompositeExtract %m4 %b 0 0\n",
     true},
    {"OpStore %variable %t\n%p = OpLoad %m4 %variable\n", true},
};

static struct pm_words module_of(const struct way *way)
{
    char text[4096];
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
             "OpEntryPoint GLCompute %%main \"main\"\nOpExecutionMode %%main LocalSize 1 1 1\n"
             "OpDecorate %%block Block\nOpMemberDecorate %%block 0 ColMajor\n"
             "OpMemberDecorate %%block 0 Offset 0\nOpMemberDecorate %%block 0 MatrixStride 16\n"
             "OpMemberDecorate %%block 1 Offset 64\nOpMemberDecorate %%block 2 Offset 80\n"
             "OpDecorate %%buffer DescriptorSet 0\nOpDecorate %%buffer Binding 0\n"
             "%%void = OpTypeVoid\n%%function = OpTypeFunction %%void\n%%float = OpTypeFloat 32\n"
             "%%v4 = OpTypeVector %%float 4\n%%m4 = OpTypeMatrix %%v4 4\n%%int = OpTypeInt 32 1\n"
             "%%inner = OpTypeStruct %%m4\n%%outer = OpTypeStruct %%inner %%v4\n"
             "%%none = OpUndef %%inner\n%%block = OpTypeStruct %%m4 %%v4 %%v4\n"
             "%%blocks = OpTypePointer StorageBuffer %%block\n"
             "%%matrices = OpTypePointer StorageBuffer %%m4\n"
             "%%vectors = OpTypePointer StorageBuffer %%v4\n"
             "%%buffer = OpVariable %%blocks StorageBuffer\n"
             "%%local = OpTypePointer Function %%m4\n%%0 = OpConstant %%int 0\n"
             "%%1 = OpConstant %%int 1\n%%2 = OpConstant %%int 2\n"
             "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
             "%%variable = OpVariable %%local Function\n"
             "%%at = OpAccessChain %%matrices %%buffer %%0\n%%m = OpLoad %%m4 %%at\n"
             "%%to = OpAccessChain %%vectors %%buffer %%1\n%%v = OpLoad %%v4 %%to\n"
             "%%other = OpAccessChain %%vectors %%buffer %%2\n%%w = OpLoad %%v4 %%other\n"
             "%%t = OpTranspose %%m4 %%m\n%s%%product = OpMatrixTimesVector %%v4 %%p %%v\n"
             "OpStore %%to %%product\nOpReturn\nOpFunctionEnd\n",
             way->instructions);
    return pm_test_assemble(text, 3);
}

static void test_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct pm_words module = module_of(&ways[i]), out;
        struct pm_error error = {0};
        if (!canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error))
            fail_msg("%s: %s", ways[i].instructions, error.message);
        if (pm_test_count(&out, "= OpTranspose") != 1 ||
            pm_test_count(&out, "= OpCompositeConstruct %mat4v4float") != ways[i].forgotten)
            fail_msg("%s:\n%s", ways[i].instructions, pm_test_disassemble(&out));
        assert_idempotent(&out);
        pm_words_finish(&module);
        pm_words_finish(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
