/* Integer operations that SPIRV-Tools computes wrongly, or that end the process: each is the right
 * constant afterwards, or still there. */
#include "tests/shader_rewrite/canonical/canonicalized.h"

#include <stdio.h>
#include <string.h>

/* Of constants of %a; the result is %v, of %a where %r, its type, is no other one. */
struct operation {
    const char *type, *constants, *operation, *left;
};

#define S32 "%a = OpTypeInt 32 1\n"
#define U32 "%a = OpTypeInt 32 0\n"
#define S64 "%a = OpTypeInt 64 1\n"
#define U16_TO_S32 "%a = OpTypeInt 16 0\n%r = OpTypeInt 32 1\n"
#define OF(x, y) "%x = OpConstant %a " #x "\n%y = OpConstant %a " #y "\n"
#define FROZEN(x, y) "%x = OpConstant %a " #x "\n%y = OpSpecConstant %a " #y "\n"
#define DOUBLED(x, z)                                                                              \
    "%x = OpConstant %a " #x "\n%z = OpSpecConstant %a " #z                                        \
    "\n%y = OpSpecConstantOp %a IAdd %z %z\n"
#define AND(z) "%z = OpConstant %a " #z "\n"
#define SPEC(operation) "%v = OpSpecConstantOp " operation

static const struct operation operations[] = {
    {S64, OF(-9223372036854775808, -1), "%v = OpSDiv %a %x %y", "= OpSDiv"},
    {S64, OF(-9223372036854775808, -1), "%v = OpSRem %a %x %y", "= OpSRem"},
    {S64, OF(-9223372036854775808, -1), "%v = OpSMod %a %x %y", "= OpSMod"},
    {S64, FROZEN(-9223372036854775808, -1), "%v = OpSDiv %a %x %y", "= OpSDiv"},
    {S64, FROZEN(-9223372036854775808, -1), SPEC("%a SDiv %x %y"), "OpSpecConstantOp %long SDiv"},
    {S64, FROZEN(9, -2), "%v = OpSDiv %a %x %y", "OpConstant %long -4\n"},
    {S64, FROZEN(9, -2), SPEC("%a SDiv %x %y"), "OpConstant %long -4\n"},
    {S32, FROZEN(8, -4), "%v = OpSMod %a %x %y", "= OpSMod"},
    {S32, FROZEN(-7, 4), "%v = OpSMod %a %x %y", "OpConstant %int 1\n"},
    {S32, FROZEN(8, -4), SPEC("%a SMod %x %y"), "%int_0\nOpReturn"},
    {S32, FROZEN(7, -4), SPEC("%a SMod %x %y"), "OpConstant %int -1\n"},
    {S32, FROZEN(-7, -4), SPEC("%a SMod %x %y"), "OpConstant %int -3\n"},
    {S32, FROZEN(-7, 4), SPEC("%a SMod %x %y"), "OpConstant %int 1\n"},
    {S32, DOUBLED(7, 2), SPEC("%a SMod %x %y"), "OpConstant %int 3\n"},
    {S32, DOUBLED(-7, 2), SPEC("%a SMod %x %y"), "OpConstant %int 1\n"},
    {S32, DOUBLED(-7, 2), "%v = OpSMod %a %x %y", "OpConstant %int 1\n"},
    {U16_TO_S32, OF(0xffee, 0), "%v = OpSConvert %r %x", "= OpSConvert"},
    {U16_TO_S32, OF(0xffee, 0), SPEC("%r SConvert %x"), "OpSpecConstantOp %int SConvert"},
    {S32, OF(-16, 33) AND(-9), "%v = OpExtInst %a %glsl UClamp %x %y %z", "UClamp"},
    {U32, OF(9, 5) AND(0xfffffff0), "%v = OpExtInst %a %glsl SClamp %x %y %z", "SClamp"},
    {S32, OF(9, -16) AND(5), "%v = OpExtInst %a %glsl SClamp %x %y %z", "OpConstant %int 5\n"},
};

static struct pm_words module_of(const struct operation *o)
{
    const char *result = strstr(o->type, "%r") ? "%r" : "%a";
    const bool is_spec = strstr(o->operation, "OpSpecConstantOp");
    char text[4096];
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpCapability Int64\nOpCapability Int16\n"
             "%%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n"
             "OpEntryPoint GLCompute %%main \"main\"\nOpExecutionMode %%main LocalSize 1 1 1\n"
             "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
             "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 0\n"
             "%%void = OpTypeVoid\n%%function = OpTypeFunction %%void\n%s%s%s\n"
             "%%index = OpConstant %s 0\n%%block = OpTypeStruct %s\n"
             "%%buffer = OpTypePointer StorageBuffer %%block\n"
             "%%element = OpTypePointer StorageBuffer %s\n%%out = OpVariable %%buffer "
             "StorageBuffer\n%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n%s\n"
             "%%to = OpAccessChain %%element %%out %%index\nOpStore %%to %%v\n"
             "OpReturn\nOpFunctionEnd\n",
             o->type, o->constants, is_spec ? o->operation : "", result, result, result,
             is_spec ? "" : o->operation);
    return pm_test_assemble(text, 3);
}

static void test_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const struct operation *o = &operations[i];
        struct pm_words module = module_of(o), out;
        struct pm_error error = {0};
        if (!canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error))
            fail_msg("%s: %s", o->operation, error.message);
        if (pm_test_count(&out, o->left) != 1)
            fail_msg("%zu, %s: no %s in\n%s", i, o->operation, o->left, pm_test_disassemble(&out));
        assert_idempotent(&out);
        pm_words_finish(&module);
        pm_words_finish(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
