/* Issue: what a float can be, whatever the inputs. What is said to be finite, or of one sign, is so
 * for every device: any way to round, with denormals or without. */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include "tests/shader_rewrite/analysis/analyzed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* %x and %y are read from memory; the last value of the body is what is asked about. */
static const char frame[] =
    "OpCapability Shader\nOpCapability SignedZeroInfNanPreserve\n"
    "OpCapability StorageImageExtendedFormats\n"
    "OpCapability FloatControls2\n"
    "OpExtension \"SPV_KHR_float_controls\"\nOpExtension \"SPV_KHR_float_controls2\"\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\"\n"
    "OpExecutionMode %%main LocalSize 1 1 1\n"
    "%s"
    "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
    "OpMemberDecorate %%block 1 Offset 4\nOpMemberDecorate %%block 2 Offset 8\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 0\n"
    "OpDecorate %%image DescriptorSet 0\nOpDecorate %%image Binding 1\n"
    "OpDecorate %%wide DescriptorSet 0\nOpDecorate %%wide Binding 2\n"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n%%int = OpTypeInt 32 1\n"
    "%%float = OpTypeFloat 32\n%%float2 = OpTypeVector %%float 2\n"
    "%%float4 = OpTypeVector %%float 4\n%%uint2 = OpTypeVector %%uint 2\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u2 = OpConstant %%uint 2\n"
    "%%at = OpConstantComposite %%uint2 %%u0 %%u0\n"
    "%%f0 = OpConstant %%float 0\n%%f1 = OpConstant %%float 1\n%%f3 = OpConstant %%float 3\n"
    "%%minus = OpConstant %%float -2\n%%none = OpConstant %%float -0.0\n"
    "%%tiny = OpConstant %%float 1e-40\n%%huge = OpConstant %%float 3e38\n"
    "%%transform = OpConstant %%uint 0x70000\n"
    "%%infinity = OpConstant %%float 0x1p+128\n"
    "%%yes = OpConstantTrue %%bool\n%%ones = OpConstantComposite %%float2 %%f1 %%f3\n"
    "%%block = OpTypeStruct %%float %%float %%uint\n"
    "%%p_block = OpTypePointer StorageBuffer %%block\n"
    "%%p_s = OpTypePointer StorageBuffer %%float\n%%p_u = OpTypePointer StorageBuffer %%uint\n"
    "%%t_image = OpTypeImage %%float 2D 0 0 0 2 Rgba8\n"
    "%%t_wide = OpTypeImage %%float 2D 0 0 0 2 Rgba16f\n"
    "%%p_image = OpTypePointer UniformConstant %%t_image\n"
    "%%p_wide = OpTypePointer UniformConstant %%t_wide\n"
    "%%out = OpVariable %%p_block StorageBuffer\n%%image = OpVariable %%p_image UniformConstant\n"
    "%%wide = OpVariable %%p_wide UniformConstant\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%a = OpAccessChain %%p_s %%out %%u0\n%%b = OpAccessChain %%p_s %%out %%u1\n"
    "%%c = OpAccessChain %%p_u %%out %%u2\n%%n = OpLoad %%uint %%c\n"
    "%%x = OpLoad %%float %%a\n%%y = OpLoad %%float %%b\n"
    "%%less = OpFOrdLessThan %%bool %%x %%y\n"
    "%%whole = OpConvertSToF %%float %%n\n%%count = OpConvertUToF %%float %%n\n"
    "%%unit = OpExtInst %%float %%glsl NClamp %%x %%f0 %%f1\n"
    "%%either = OpExtInst %%float %%glsl NClamp %%y %%minus %%f3\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

static struct pm_ir_module *module_of(const char *modes, const char *body)
{
    char *text;
    assert_true(asprintf(&text, frame, modes, body) > 0);
    return analyzed(text, true, body);
}

static const struct pm_ir_def *last_value(const struct pm_ir_module *module)
{
    const struct pm_ir_def *found = NULL;
    for (const struct pm_ir_block *b = module->first_function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            found = i->result ? i->result : found;
    assert_non_null(found);
    return found;
}

/* All that is computed. */
static const char keep[] = "OpExecutionModeId %main FPFastMathDefault %float %u0\n";
static const char transform[] = "OpExecutionModeId %main FPFastMathDefault %float %transform\n";
static const char preserve[] = "OpExecutionMode %main SignedZeroInfNanPreserve 32\n";

static void check_of(const char *modes, const char *body, bool finite, enum pm_float_sign sign)
{
    struct pm_ir_module *module = module_of(modes, body);
    struct pm_float_permission permission;
    assert_true(pm_float_permission_compute(&permission, module, module->first_function,
                                            PM_FLOAT_ZERO_SHADER, module->arena));
    const struct pm_ir_def *def = last_value(module);
    if (pm_float_is_finite(&permission, def) != finite)
        fail_msg("finite is not %d: %s", finite, body);
    if (pm_float_sign_of(&permission, def) != sign)
        fail_msg("the sign is not %d: %s", (int)sign, body);
    pm_ir_module_destroy(module);
}

static void check(const char *body, bool finite, enum pm_float_sign sign)
{
    check_of(keep, body, finite, sign);
}

#define EITHER PM_FLOAT_EITHER_SIGN
#define PLUS PM_FLOAT_PLUS
#define MINUS PM_FLOAT_MINUS

static void test_what_is_read(void **state)
{
    (void)state;
    check("%v = OpFAdd %float %x %f1\n", false, EITHER);
    check("%v = OpExtInst %float %glsl FAbs %x\n", false, EITHER); /* NaN has any sign */
    check("%i = OpLoad %t_image %image\n%v = OpImageRead %float4 %i %at\n", true, PLUS);
    check("%i = OpLoad %t_wide %wide\n%v = OpImageRead %float4 %i %at\n", false, EITHER);
    check("%v = OpConvertSToF %float %n\n", true, EITHER);
    check("%v = OpConvertUToF %float %n\n", true, PLUS);
    check("%v = OpExtInst %float2 %glsl UnpackUnorm2x16 %n\n", true, PLUS);
    check("%v = OpExtInst %float2 %glsl UnpackHalf2x16 %n\n", false, EITHER);
}

static void test_constants(void **state)
{
    (void)state;
    check("%v = OpCopyObject %float %f3\n", true, PLUS);
    check("%v = OpCopyObject %float %minus\n", true, MINUS);
    check("%v = OpCopyObject %float %none\n", true, EITHER);
    check("%v = OpCopyObject %float %tiny\n", true, PLUS);
    check("%v = OpCopyObject %float %infinity\n", false, PLUS);
    check("%v = OpCopyObject %float2 %ones\n", true, PLUS);
    check("%v = OpSelect %float %less %f3 %minus\n", true, EITHER);
    check("%v = OpSelect %float %less %f3 %f0\n", true, PLUS);
    check("%v = OpSelect %float %less %f3 %x\n", false, EITHER);
    check("%v = OpBitcast %uint %f3\n%w = OpBitcast %float %v\n", true, PLUS);
}

/* Of NaN FMin and its like may be either operand; of two zeroes so may all be. */
static void test_limits(void **state)
{
    (void)state;
    check("%v = OpExtInst %float %glsl NClamp %x %f1 %f3\n", true, PLUS);
    check("%v = OpExtInst %float %glsl NClamp %x %f0 %f3\n", true, EITHER);
    check("%v = OpExtInst %float %glsl NClamp %count %f0 %f3\n", true, PLUS);
    check("%v = OpExtInst %float %glsl NClamp %x %f3 %f1\n", false, EITHER);
    check("%v = OpExtInst %float %glsl NClamp %x %minus %y\n", false, EITHER);
    check("%v = OpExtInst %float %glsl FClamp %x %f1 %f3\n", false, EITHER);
    check("%v = OpExtInst %float %glsl FClamp %whole %f1 %f3\n", true, PLUS);
    check("%v = OpExtInst %float %glsl NMin %x %f3\n", false, EITHER);
    check("%v = OpExtInst %float %glsl NMin %x %f3\n"
          "%w = OpExtInst %float %glsl NMax %v %f1\n",
          true, PLUS);
    check("%v = OpExtInst %float %glsl FMin %x %f3\n"
          "%w = OpExtInst %float %glsl FMax %v %f1\n",
          false, EITHER);
    check("%v = OpExtInst %float %glsl NMax %count %tiny\n", true, PLUS);
    check("%v = OpExtInst %float %glsl NMax %whole %f0\n", true, EITHER);
    check("%v = OpExtInst %float %glsl NMax %minus %f0\n", true, EITHER);
    check("%v = OpExtInst %float %glsl Step %x %y\n", true, PLUS);
    check("%v = OpExtInst %float %glsl Fract %x\n", false, EITHER);
    check("%v = OpExtInst %float %glsl Fract %count\n", true, PLUS);
    check("%v = OpExtInst %float %glsl Floor %either\n", true, EITHER);
    check("%v = OpExtInst %float %glsl FSign %count\n", true, PLUS);
    check("%v = OpExtInst %float %glsl FAbs %either\n", true, EITHER);
    check("%v = OpExtInst %float %glsl FAbs %minus\n", true, PLUS);
    check("%v = OpExtInst %float %glsl FAbs %count\n", true, PLUS);
}

/* SignedZeroInfNanPreserve says nothing of the functions of GLSL.std.450, nor that a sum is not put
 * together otherwise. */
static void test_what_is_not_kept(void **state)
{
    (void)state;
    static const char *const functions[] = {
        "%v = OpExtInst %float2 %glsl UnpackUnorm2x16 %n\n",
        "%v = OpExtInst %float %glsl NClamp %count %f0 %f3\n",
        "%v = OpExtInst %float %glsl Step %x %y\n",
        "%v = OpExtInst %float %glsl FAbs %count\n",
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        check(functions[i], true, PLUS);
        check_of(transform, functions[i], true, PLUS);
        check_of(preserve, functions[i], true, EITHER);
    }
    check_of(preserve, "%v = OpFMul %float %count %count\n", true, PLUS);
    check_of(preserve, "%v = OpExtInst %float %glsl NClamp %x %f1 %f3\n", true, PLUS);
    static const char sum[] = "%v = OpFAdd %float %count %count\n";
    check(sum, true, PLUS);
    check_of(transform, sum, true, EITHER);
    check_of(preserve, sum, true, EITHER);
}

static void test_arithmetic(void **state)
{
    (void)state;
    check("%v = OpFMul %float %count %count\n", true, PLUS);
    check("%v = OpFMul %float %either %either\n", true, PLUS);
    check("%v = OpFMul %float %either %unit\n", true, EITHER);
    check("%v = OpFMul %float %unit %unit\n", true, PLUS);
    check("%v = OpFMul %float %x %x\n", false, EITHER);
    check("%v = OpFMul %float %huge %f3\n", false, PLUS);
    check("%v = OpFMul %float %infinity %unit\n", false, EITHER);
    check("%v = OpFMul %float %huge %f1\n", false, PLUS); /* too near to infinity */
    check("%v = OpFMul %float %tiny %minus\n", true, EITHER);
    check("%v = OpFAdd %float %huge %huge\n", false, PLUS);
    check("%v = OpFAdd %float %count %unit\n", true, PLUS);
    check("%v = OpFAdd %float %unit %unit\n", true, EITHER);
    check("%v = OpFSub %float %f3 %count\n", true, EITHER);
    check("%v = OpFSub %float %f3 %unit\n", true, PLUS);
    check("%v = OpFSub %float %minus %unit\n", true, MINUS);
    check("%v = OpFSub %float %f1 %unit\n", true, PLUS);
    check("%v = OpFMul %float %count %none\n%s = OpFAdd %float %v %f0\n", true, EITHER);
    check("%v = OpFMul %float %count %none\n%s = OpFAdd %float %v %count\n", true, PLUS);
    check("%v = OpFNegate %float %count\n", true, EITHER);
    check("%v = OpFNegate %float %f3\n", true, MINUS);
    check("%v = OpFDiv %float %unit %f3\n", true, EITHER);
    check("%v = OpFDiv %float %count %minus\n", true, EITHER);
    check("%v = OpFDiv %float %f3 %count\n", false, EITHER);
    check("%v = OpExtInst %float %glsl Fma %count %f3 %count\n", true, PLUS);
    check("%v = OpExtInst %float %glsl FMix %f1 %f3 %unit\n", true, PLUS);
    check("%v = OpCompositeConstruct %float2 %either %unit\n%w = OpDot %float %v %v\n", true, PLUS);
    check("%v = OpCompositeConstruct %float2 %unit %count\n%w = OpDot %float %v %ones\n", true,
          EITHER);
    check("%v = OpCompositeConstruct %float2 %f1 %count\n%w = OpDot %float %v %ones\n", true, PLUS);
    check("%v = OpExtInst %float %glsl Sqrt %f3\n", true, PLUS);
    check("%v = OpExtInst %float %glsl Sqrt %count\n", false, EITHER);
    check("%v = OpExtInst %float %glsl Exp2 %x\n%w = OpExtInst %float %glsl NMin %v %f3\n", true,
          PLUS);
    check("%v = OpExtInst %float %glsl Log2 %unit\n", false, EITHER);
}

/* What S may compute with the other sign is of either. */
static void test_permitted(void **state)
{
    (void)state;
    check_of("", "%v = OpFMul %float %count %count\n", true, EITHER);
    check_of("", "%v = OpFAdd %float %count %f1\n", true, PLUS);
}

#define LOOP(body)                                                                                 \
    "OpBranch %head\n%head = OpLabel\n%p = OpPhi %float %f1 %entry %q %again\n"                    \
    "OpLoopMerge %out_of %again None\nOpBranchConditional %less %again %out_of\n"                  \
    "%again = OpLabel\n" body "OpBranch %head\n%out_of = OpLabel\n%v = OpCopyObject %float %p\n"

static void test_loops(void **state)
{
    (void)state;
    check(LOOP("%r = OpFMul %float %p %x\n%q = OpExtInst %float %glsl NClamp %r %f1 %f3\n"), true,
          PLUS);
    check(LOOP("%q = OpFAdd %float %p %f1\n"), false, PLUS);
    check(LOOP("%q = OpFMul %float %p %minus\n"), false, EITHER);
    check(LOOP("%q = OpFMul %float %p %unit\n"), true, EITHER);
    check(LOOP("%q = OpSelect %float %less %p %f1\n"), true, PLUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_what_is_not_kept),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_permitted),
        cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
