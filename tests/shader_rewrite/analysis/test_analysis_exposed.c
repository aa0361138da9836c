/* Which values can be told from their bits: by who asks for a NaN, and through a function that is
 * not inlined. And what an instruction of another set than GLSL's may do. */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_exposed.h"
#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "tests/shader_rewrite/analysis/analyzed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* %product is what is asked about; %f is a function of a pointer to a float. */
static const char frame[] =
    "OpCapability Shader\nOpCapability Groups\nOpExtension \"SPV_AMD_shader_ballot\"\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "%%amd = OpExtInstImport \"SPV_AMD_shader_ballot\"\n"
    "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\"\n"
    "OpExecutionMode %%main LocalSize 1 1 1\nOpName %%product \"product\"\n"
    "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
    "OpMemberDecorate %%block 1 Offset 4\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 0\n"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n"
    "%%uint3 = OpTypeVector %%uint 3\n%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n"
    "%%mask = OpConstantComposite %%uint3 %%u1 %%u1 %%u1\n%%f1 = OpConstant %%float 1\n"
    "%%block = OpTypeStruct %%float %%float\n%%p_block = OpTypePointer StorageBuffer %%block\n"
    "%%p_s = OpTypePointer StorageBuffer %%float\n%%p_f = OpTypePointer Function %%float\n"
    "%%p_p = OpTypePointer Private %%float\n%%out = OpVariable %%p_block StorageBuffer\n"
    "%%own = OpVariable %%p_p Private\n%%function = OpTypeFunction %%void\n"
    "%%taking = OpTypeFunction %%void %%p_f\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%v = OpVariable %%p_f Function\n"
    "%%a = OpAccessChain %%p_s %%out %%u0\n%%b = OpAccessChain %%p_s %%out %%u1\n"
    "%%x = OpLoad %%float %%a\n%%y = OpLoad %%float %%b\n%%product = OpFMul %%float %%x %%y\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n"
    "%%f = OpFunction %%void DontInline %%taking\n%%p = OpFunctionParameter %%p_f\n"
    "%%begin = OpLabel\nOpReturn\nOpFunctionEnd\n";

static struct pm_ir_module *module_of(const char *body)
{
    char *text;
    assert_true(asprintf(&text, frame, body) > 0);
    return analyzed(text, true, body);
}

static const struct pm_ir_instr *find(const struct pm_ir_module *module, uint16_t opcode)
{
    for (const struct pm_ir_block *b = module->first_function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->opcode == opcode)
                return i;
    fail_msg("there is no such instruction");
    return NULL;
}

/* Is the product exposed, and its sign seen? */
static void check(const char *body, bool exposed, bool sign)
{
    struct pm_ir_module *module = module_of(body);
    struct pm_float_permission permission;
    assert_true(pm_float_permission_compute(&permission, module, module->first_function,
                                            PM_FLOAT_ZERO_SHADER, module->arena));
    const struct pm_ir_def *product = find(module, SpvOpFMul)->result;
    if (pm_float_has(&permission, product, PM_FLOAT_EXPOSED) != exposed)
        fail_msg("exposed is not %d: %s", exposed, body);
    if (pm_float_has(&permission, product, PM_FLOAT_SIGNED) != sign)
        fail_msg("signed is not %d: %s", sign, body);
    pm_ir_module_destroy(module);
}

static void test_who_asks_for_a_number(void **state)
{
    (void)state;
    check("OpStore %a %product\n", false, true);
    check("%less = OpFOrdLessThan %bool %product %f1\n", false, false);
    check("%same = OpFOrdEqual %bool %product %f1\n", false, false);
    check("%nan = OpIsNan %bool %product\n", true, false);
    check("%inf = OpIsInf %bool %product\n", true, false);
    check("%nan = OpFUnordNotEqual %bool %product %product\n", true, false);
    check("%fine = OpFOrdGreaterThanEqual %bool %product %product\n", true, false);
    check("%fine = OpFOrdEqual %bool %product %product\n", true, false);
    check("%sum = OpFAdd %float %product %f1\n%nan = OpIsNan %bool %sum\n", true, false);
}

static void test_a_function_that_is_called(void **state)
{
    (void)state;
    check("OpStore %v %product\n", false, false);
    check("OpStore %v %product\n%call = OpFunctionCall %void %f %v\n", true, true);
    check("OpStore %own %product\n", false, false);
    check("OpStore %own %product\n%call = OpFunctionCall %void %f %v\n", true, true);
}

static void test_another_set(void **state)
{
    (void)state;
    struct pm_ir_module *module =
        module_of("%other = OpExtInst %float %amd SwizzleInvocationsMaskedAMD %product %mask\n");
    const struct pm_memory memory = pm_memory_of(module);
    const struct pm_ir_instr *other = find(module, SpvOpExtInst);
    assert_false(pm_ir_is_glsl(other));
    assert_true(pm_reads_other_lanes(other));
    assert_true(pm_memory_access_of(&memory, other).stops);
    pm_ir_module_destroy(module);
    module = module_of("%sine = OpExtInst %float %glsl Sin %product\n");
    const struct pm_ir_instr *sine = find(module, SpvOpExtInst);
    assert_true(pm_ir_is_glsl(sine));
    assert_false(pm_reads_other_lanes(sine));
    assert_false(pm_memory_access_of(&memory, sine).stops);
    pm_ir_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_asks_for_a_number),
        cmocka_unit_test(test_a_function_that_is_called),
        cmocka_unit_test(test_another_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
