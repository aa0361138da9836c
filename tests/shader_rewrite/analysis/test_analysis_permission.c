/* HAZARDS 7: what a shader permits of zeroes, in the words of SPV_KHR_float_controls and in those
 * of SPV_KHR_float_controls2, for all of its instructions and for one. Of what is said in a form
 * that is not known no more than what is sure. */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include "tests/shader_rewrite/analysis/analyzed.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* %s: capabilities, modes, decorations, body. */
static const char frame[] =
    "OpCapability Shader\nOpCapability Float16\n"
    "%s"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\"\n"
    "OpExecutionMode %%main LocalSize 1 1 1\n"
    "%s"
    "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
    "OpMemberDecorate %%block 1 Offset 4\nOpMemberDecorate %%block 2 Offset 8\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 0\n"
    "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 1\n"
    "%s"
    "%%void = OpTypeVoid\n%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n"
    "%%half = OpTypeFloat 16\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u2 = OpConstant %%uint 2\n"
    "%%u4 = OpConstant %%uint 4\n%%u7 = OpConstant %%uint 7\n%%u3 = OpConstant %%uint 3\n"
    "%%contract = OpConstant %%uint 0x10000\n%%fast = OpConstant %%uint 0x10\n"
    "%%null = OpConstantNull %%uint\n%%spec = OpSpecConstant %%uint 7\n"
    "%%block = OpTypeStruct %%float %%float %%uint\n"
    "%%p_block = OpTypePointer StorageBuffer %%block\n"
    "%%p_s = OpTypePointer StorageBuffer %%float\n%%p_u = OpTypePointer StorageBuffer %%uint\n"
    "%%out = OpVariable %%p_block StorageBuffer\n%%in = OpVariable %%p_block "
    "StorageBuffer\n%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%a = OpAccessChain %%p_s %%out %%u0\n%%b = OpAccessChain %%p_s %%out %%u1\n"
    "%%c = OpAccessChain %%p_u %%in %%u2\n%%n = OpLoad %%uint %%c\n"
    "%%x = OpLoad %%float %%a\n%%y = OpLoad %%float %%b\n%%count = OpConvertUToF %%float %%n\n"
    "%s"
    "OpStore %%a %%product\nOpReturn\nOpFunctionEnd\n";

#define PRESERVES "OpCapability SignedZeroInfNanPreserve\nOpExtension \"SPV_KHR_float_controls\"\n"
#define PRESERVE "OpExecutionMode %main SignedZeroInfNanPreserve 32\n"
#define BOTH                                                                                       \
    "OpCapability SignedZeroInfNanPreserve\n" CONTROLS2 "OpExtension \"SPV_KHR_float_controls\"\n"
#define CONTROLS2 "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"\n"
#define DEFAULT(type, mask) "OpExecutionModeId %main FPFastMathDefault " type " " mask "\n"
#define OF_PRODUCT(flags) "OpDecorate %product FPFastMathMode " flags "\n"

#define PRODUCT "%product = OpFMul %float %x %y\n"
#define SIZE "%product = OpFMul %float %count %count\n"
#define WIDER "%narrow = OpFConvert %half %x\n%product = OpFConvert %float %narrow\n"

static const struct declaration {
    const char *capabilities, *modes, *decorations, *body;
    enum pm_float_zero float_zero;
    bool zero, plus;  /* what is permitted of %product */
    bool keeps_signs; /* the module, of 32-bit floats */
    bool invalid;     /* the validator may refuse it */
} declarations[] = {
    {"", "", "", PRODUCT, PM_FLOAT_ZERO_SHADER, true, true, false, false},
    {"", "", "", PRODUCT, PM_FLOAT_ZERO_NEVER, false, false, false, false},
    {PRESERVES, PRESERVE, "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true, false},
    {PRESERVES, PRESERVE, "", PRODUCT, PM_FLOAT_ZERO_ALLOW, true, true, true, false},
    /* Nothing is said by the newer words. */
    {CONTROLS2, "", "", PRODUCT, PM_FLOAT_ZERO_SHADER, true, true, false, false},
    {BOTH, PRESERVE, "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true, false},
    {BOTH, PRESERVE, OF_PRODUCT("NSZ"), PRODUCT, PM_FLOAT_ZERO_SHADER, false, true, true, false},
    /* Of all. */
    {CONTROLS2, DEFAULT("%float", "%u0"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     false},
    {CONTROLS2, DEFAULT("%float", "%null"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     false},
    {CONTROLS2, DEFAULT("%float", "%u4"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, true, true,
     false},
    {CONTROLS2, DEFAULT("%float", "%u3"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     false},
    {CONTROLS2, DEFAULT("%float", "%u7"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, true, true, false,
     false},
    {CONTROLS2, DEFAULT("%float", "%u7"), "", PRODUCT, PM_FLOAT_ZERO_NEVER, false, false, false,
     false},
    {CONTROLS2, DEFAULT("%half", "%u7"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     false},
    /* Of one. */
    {CONTROLS2, DEFAULT("%float", "%u0"), OF_PRODUCT("NotNaN|NotInf|NSZ"), PRODUCT,
     PM_FLOAT_ZERO_SHADER, true, true, true, false},
    {CONTROLS2, DEFAULT("%float", "%u4"), OF_PRODUCT("NotNaN|NotInf"), PRODUCT,
     PM_FLOAT_ZERO_SHADER, false, false, true, false},
    {CONTROLS2, DEFAULT("%float", "%u7"), OF_PRODUCT("None"), PRODUCT, PM_FLOAT_ZERO_SHADER, false,
     false, false, false},
    /* By the configuration, but of nothing that is as NoContraction. */
    {CONTROLS2, DEFAULT("%float", "%u0"), "", PRODUCT, PM_FLOAT_ZERO_ALLOW, false, false, true,
     false},
    {CONTROLS2, DEFAULT("%float", "%contract"), "", PRODUCT, PM_FLOAT_ZERO_ALLOW, true, true, true,
     false},
    {CONTROLS2, DEFAULT("%float", "%contract"), OF_PRODUCT("None"), PRODUCT, PM_FLOAT_ZERO_ALLOW,
     false, false, true, false},
    {CONTROLS2, DEFAULT("%float", "%u0"), OF_PRODUCT("AllowContract"), PRODUCT, PM_FLOAT_ZERO_ALLOW,
     true, true, true, false},
    /* Of two types what is sure: no more than both allow. */
    {CONTROLS2, DEFAULT("%float", "%u7") DEFAULT("%half", "%u7"), "", WIDER, PM_FLOAT_ZERO_SHADER,
     true, true, false, false},
    {CONTROLS2, DEFAULT("%float", "%u7") DEFAULT("%half", "%u0"), "", WIDER, PM_FLOAT_ZERO_SHADER,
     false, false, false, false},
    /* By a group. */
    {CONTROLS2, DEFAULT("%float", "%u7"),
     "OpDecorate %group FPFastMathMode NSZ\n%group = OpDecorationGroup\n"
     "OpGroupDecorate %group %product\n",
     PRODUCT, PM_FLOAT_ZERO_SHADER, false, true, false, false},
    {"", "",
     "OpDecorate %group NoContraction\n%group = OpDecorationGroup\n"
     "OpGroupDecorate %group %product\n",
     PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, false, false},
    /* Said twice, or by what says nothing. */
    {CONTROLS2, DEFAULT("%float", "%u0"), OF_PRODUCT("None") OF_PRODUCT("NotNaN|NotInf|NSZ"),
     PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true, true},
    {CONTROLS2, DEFAULT("%float", "%u0") DEFAULT("%float", "%u7"), "", PRODUCT,
     PM_FLOAT_ZERO_SHADER, false, false, true, true},
    {CONTROLS2, DEFAULT("%float", "%spec"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     true},
    {CONTROLS2, DEFAULT("%float", "%fast"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     true},
    {BOTH, PRESERVE DEFAULT("%float", "%u7"), "", PRODUCT, PM_FLOAT_ZERO_SHADER, false, false, true,
     true},
};

static struct pm_ir_module *module_of(const struct declaration *d)
{
    char *text;
    assert_true(asprintf(&text, frame, d->capabilities, d->modes, d->decorations, d->body) > 0);
    return analyzed(text, !d->invalid, d->body);
}

static const struct pm_ir_instr *product_of(const struct pm_ir_module *module)
{
    const struct pm_ir_instr *found = module->first_function->last_block->body.last;
    while (found->opcode != SpvOpStore)
        found = found->prev;
    return pm_ir_operand_instr(found, 1);
}

static void test_declarations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++) {
        const struct declaration *d = &declarations[i];
        struct pm_ir_module *module = module_of(d);
        struct pm_float_permission p;
        assert_true(pm_float_permission_compute(&p, module, module->first_function, d->float_zero,
                                                module->arena));
        const struct pm_ir_instr *product = product_of(module);
        const bool zero = pm_float_takes_zero(&p, product), plus = pm_float_takes_plus(&p, product);
        const bool keeps = pm_float_keeps_signs(module, 32);
        if (zero != d->zero || plus != d->plus || keeps != d->keeps_signs)
            fail_msg("%zu. %s%s%s: zero %d, plus %d, keeps signs %d", i, d->capabilities, d->modes,
                     d->decorations, zero, plus, keeps);
        pm_ir_module_destroy(module);
    }
}

/* The sign of a zero is known only where no compiler may lose it, whatever the configuration says.
 */
static void test_signs(void **state)
{
    (void)state;
    static const struct {
        struct declaration declaration;
        enum pm_float_sign sign;
    } sizes[] = {
        {{PRESERVES, PRESERVE, "", SIZE, PM_FLOAT_ZERO_SHADER, .zero = false}, PM_FLOAT_PLUS},
        {{PRESERVES, PRESERVE, "", SIZE, PM_FLOAT_ZERO_ALLOW, .zero = false}, PM_FLOAT_EITHER_SIGN},
        {{"", "", "", SIZE, PM_FLOAT_ZERO_SHADER, .zero = false}, PM_FLOAT_EITHER_SIGN},
        {{"", "", "", SIZE, PM_FLOAT_ZERO_NEVER, .zero = false}, PM_FLOAT_EITHER_SIGN},
        {{CONTROLS2, DEFAULT("%float", "%u0"), "", SIZE, PM_FLOAT_ZERO_SHADER, .zero = false},
         PM_FLOAT_PLUS},
        {{CONTROLS2, DEFAULT("%float", "%u4"), "", SIZE, PM_FLOAT_ZERO_SHADER, .zero = false},
         PM_FLOAT_EITHER_SIGN},
        {{CONTROLS2, DEFAULT("%float", "%u4"), "", SIZE, PM_FLOAT_ZERO_NEVER, .zero = false},
         PM_FLOAT_EITHER_SIGN},
        {{CONTROLS2, DEFAULT("%float", "%u4"), OF_PRODUCT("None"), SIZE, PM_FLOAT_ZERO_SHADER,
          .zero = false},
         PM_FLOAT_PLUS},
        {{CONTROLS2, DEFAULT("%float", "%u0"), OF_PRODUCT("NSZ"), SIZE, PM_FLOAT_ZERO_SHADER,
          .zero = false},
         PM_FLOAT_EITHER_SIGN},
        {{CONTROLS2, DEFAULT("%float", "%fast"), "", SIZE, PM_FLOAT_ZERO_SHADER, .invalid = true},
         PM_FLOAT_EITHER_SIGN},
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct pm_ir_module *module = module_of(&sizes[i].declaration);
        struct pm_float_permission p;
        assert_true(pm_float_permission_compute(&p, module, module->first_function,
                                                sizes[i].declaration.float_zero, module->arena));
        const enum pm_float_sign sign = pm_float_sign_of(&p, product_of(module)->result);
        if (sign != sizes[i].sign)
            fail_msg("%zu: the sign is %d", i, (int)sign);
        pm_ir_module_destroy(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_declarations),
                                       cmocka_unit_test(test_signs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
