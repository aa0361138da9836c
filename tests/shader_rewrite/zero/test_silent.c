/* Writes that change nothing where a value is zero are not in S; all others are. */
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* %s: extension and capability, memory model, decorations, body. %n is the candidate; %m is for
 * nothing but the product with it, and so is the load that makes it. */
static const char frame[] =
    "OpCapability Shader\nOpCapability RawAccessChainsNV\n%s"
    "OpExtension \"SPV_NV_raw_access_chains\"\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical %s\n"
    "OpEntryPoint GLCompute %%main \"main\" %%id\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n"
    "OpDecorate %%id BuiltIn LocalInvocationIndex\n"
    "OpDecorate %%array ArrayStride 4\nOpDecorate %%block Block\n"
    "OpMemberDecorate %%block 0 Offset 0\n"
    "OpDecorate %%floats ArrayStride 4\nOpDecorate %%block_f Block\n"
    "OpMemberDecorate %%block_f 0 Offset 0\n"
    "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 0\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 1\n"
    "OpDecorate %%out_f DescriptorSet 0\nOpDecorate %%out_f Binding 2\n%s"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n"
    "%%float_t = OpTypeFloat 32\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u3 = OpConstant %%uint 3\n"
    "%%u5 = OpConstant %%uint 5\n%%u72 = OpConstant %%uint 72\n"
    "%%array = OpTypeRuntimeArray %%uint\n%%block = OpTypeStruct %%array\n"
    "%%floats = OpTypeRuntimeArray %%float_t\n%%block_f = OpTypeStruct %%floats\n"
    "%%buffer = OpTypePointer StorageBuffer %%block\n"
    "%%element = OpTypePointer StorageBuffer %%uint\n"
    "%%buffer_f = OpTypePointer StorageBuffer %%block_f\n"
    "%%element_f = OpTypePointer StorageBuffer %%float_t\n"
    "%%id_p = OpTypePointer Input %%uint\n%%id = OpVariable %%id_p Input\n"
    "%%in = OpVariable %%buffer StorageBuffer\n%%out = OpVariable %%buffer StorageBuffer\n"
    "%%out_f = OpVariable %%buffer_f StorageBuffer\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%at = OpLoad %%uint %%id\n"
    "%%p0 = OpAccessChain %%element %%in %%u0 %%at\n%%v0 = OpLoad %%uint %%p0\n"
    "%%p1 = OpAccessChain %%element %%in %%u0 %%u1\n%%v1 = OpLoad %%uint %%p1\n"
    "%%n = OpBitCount %%uint %%v0\n%%m = OpBitwiseOr %%uint %%v1 %%u3\n"
    "%%place = OpAccessChain %%element %%out %%u0 %%at\n"
    "%%second = OpAccessChain %%element %%out %%u0 %%n\n"
    "%%float_place = OpAccessChain %%element_f %%out_f %%u0 %%at\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

#define ADDED "%old = OpLoad %uint %place\n%nm = OpIMul %uint %n %m\n%sum = OpIAdd %uint %old %nm\n"
#define FLOATS                                                                                     \
    "%old = OpLoad %float_t %float_place\n%fn = OpConvertUToF %float_t %n\n"                       \
    "%fm = OpConvertUToF %float_t %m\n%nm = OpFMul %float_t %fn %fm\n"
/* Of the words; 0 is the offset of their only member. */
#define BY_BYTES                                                                                   \
    "%raw = OpRawAccessChainNV %element %out %u0 %u0 %at RobustnessPerComponentNV\n"               \
    "%old = OpLoad %uint %raw Aligned 4\n%nm = OpIMul %uint %n %m\n%sum = OpIAdd %uint %old %nm\n" \
    "OpStore %raw %sum Aligned 4\n"
#define ATOMIC(operation, semantics)                                                               \
    "%nm = OpIMul %uint %n %m\n%was = " operation " %uint %place %u1 " semantics " %nm\n"

/* In memory operations that S has not: the load that makes %m, if it is not volatile, and for a
 * store its load too. */
static const struct {
    const char *name, *body;
    double killed;
    const char *decorations;
    bool vulkan_model;
} writes[] = {
    {"a sum", ADDED "OpStore %place %sum\n", 3, "", false},
    {"to another place", ADDED "OpStore %second %sum\n", 1, "", false},
    {"behind another store", ADDED "OpStore %second %u5\nOpStore %place %sum\n", 1, "", false},
    {"behind an atomic operation",
     ADDED "%was = OpAtomicIAdd %uint %second %u1 %u0 %u5\nOpStore %place %sum\n", 1, "", false},
    {"behind a barrier", ADDED "OpMemoryBarrier %u1 %u72\nOpStore %place %sum\n", 1, "", false},
    {"a volatile store", ADDED "OpStore %place %sum Volatile\n", 1, "", false},
    {"volatile memory", ADDED "OpStore %place %sum\n", 0, "OpMemberDecorate %block 0 Volatile\n",
     false},
    {"memory by bytes beside volatile memory", BY_BYTES, 3,
     "OpMemberDecorate %block_f 0 Volatile\n", false},
    {"volatile memory by bytes", BY_BYTES, 0, "OpMemberDecorate %block 0 Volatile\n", false},
    {"coherent memory", ADDED "OpStore %place %sum\n", 1, "OpMemberDecorate %block 0 Coherent\n",
     false},
    {"the Vulkan memory model", ADDED "OpStore %place %sum\n", 1, "", true},
    {"a sum of floats", FLOATS "%sum = OpFAdd %float_t %old %nm\nOpStore %float_place %sum\n", 1,
     "", false},
    {"a difference of floats",
     FLOATS "%less = OpFSub %float_t %old %nm\nOpStore %float_place %less\n", 3, "", false},
    {"atomic addition", ATOMIC("OpAtomicIAdd", "%u0"), 2, "", false},
    {"atomic maximum", ATOMIC("OpAtomicUMax", "%u0"), 2, "", false},
    {"atomic and", ATOMIC("OpAtomicAnd", "%u0"), 1, "", false},
    {"signed atomic maximum", ATOMIC("OpAtomicSMax", "%u0"), 1, "", false},
    {"atomic addition that orders", ATOMIC("OpAtomicIAdd", "%u72"), 1, "", false},
    {"atomic addition with a use", ATOMIC("OpAtomicIAdd", "%u0") "OpStore %second %was\n", 1, "",
     false},
};

static void check(size_t i)
{
    char *text;
    const char *model = writes[i].vulkan_model ? "Vulkan" : "GLSL450";
    const char *capability = writes[i].vulkan_model
                                 ? "OpCapability VulkanMemoryModel\n"
                                   "OpExtension \"SPV_KHR_vulkan_memory_model\"\n"
                                 : "";
    assert_true(asprintf(&text, frame, capability, model, writes[i].decorations, writes[i].body) >
                0);
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    struct subject s;
    subject_init(&s, &words);
    const uint32_t n = subject_candidate(&s, SpvOpBitCount, 0);
    s.zero[n] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    struct pm_specialized out = subject_specialize(&s, &info);
    cJSON *root;
    const double killed = subject_number(subject_report(&out, n, &root), "MemKilled");
    if (killed < writes[i].killed || killed > writes[i].killed)
        fail_msg("%s: S lacks %g memory operations, not %g", writes[i].name, killed,
                 writes[i].killed);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

static void test_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
        check(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
