/* What a check asks, and where its region may lie: shaders in assembly, by what is made of them. */
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/quirks/quirks.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { GLSL_FMAX = 40 };

/* ---- checks ---- */

/* What all lanes share is compared and no more, and costs no more. */
static void test_uniform_check(void **state)
{
    (void)state;
    static const char body[] = "%g3 = OpLoad %uint3 %group\n"
                               "%g = OpCompositeExtract %uint %g3 0\n"
                               "%one = OpConvertUToF %float %g\n"
                               "%shared = OpExtInst %float %glsl FMax %one %f0\n"
                               "%work = OpExtInst %float %glsl Sin %v0\n"
                               "%more = OpExtInst %float %glsl Cos %work\n"
                               "%r2 = OpFMul %float %more %shared\n"
                               "%result = OpFAdd %float %r2 %f7\n";
    double cost[2];
    for (int shared = 0; shared < 2; shared++) {
        char text[1024];
        snprintf(text, sizeof(text), "%s", body);
        if (!shared) /* the same of what each lane reads */
            memcpy(strstr(text, "%one %f0"), "%v1  %f0", 8);
        struct subject s = subject_assemble("", "", "", text);
        uint32_t candidate = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
        s.zero[candidate] = 1;
        struct pm_zero_profile profile;
        struct pm_specialize_zero_info info = subject_info(&s, &profile);
        info.take_all = true;
        struct pm_specialized out = subject_specialize(&s, &info);
        cJSON *root;
        const cJSON *report = subject_report(&out, candidate, &root);
        assert_int_equal(out.transforms, 1);
        assert_int_equal(pm_test_count(&out.words, "= OpGroupNonUniformAll"), !shared);
        cost[shared] = subject_number(report, "T_check");
        cJSON_Delete(root);
        pm_specialized_finish(&out);
        subject_finish(&s);
    }
    assert_true(cost[1] < cost[0]);
}

/* Of four scalars that belong together those that are rarely zero are left out (AZP 3.3.1). */
static void test_pack_elements(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        "%pr = OpAccessChain %element %in %u0 %u0\n%r = OpLoad %float %pr\n"
        "%pb = OpAccessChain %element %in %u0 %u2\n%b = OpLoad %float %pb\n"
        "%pa = OpAccessChain %element %in %u0 %u3\n%a = OpLoad %float %pa\n"
        "%x = OpExtInst %float %glsl Sin %v0\n%y = OpExtInst %float %glsl Cos %x\n"
        "%xr = OpFMul %float %y %r\n%xg = OpFMul %float %y %v1\n%xb = OpFMul %float %y %b\n"
        "%s1 = OpFAdd %float %xr %xg\n%s2 = OpFAdd %float %s1 %xb\n"
        "%result = OpFAdd %float %s2 %a\n");
    uint32_t pack = s.points.count;
    for (uint32_t i = 0; i < s.points.count; i++)
        if (s.points.candidates[i].value_count == 4)
            pack = i;
    assert_true(pack < s.points.count);
    for (uint32_t i = 0; i < s.points.count; i++)
        for (uint32_t k = 0; k < 3; k++)
            if (s.points.candidates[i].value_count == 1 &&
                s.points.candidates[i].values[0] == s.points.candidates[pack].values[k])
                s.zero[i] = 0.95;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    info.most_transforms = 1;
    struct pm_specialized out = subject_specialize(&s, &info);
    cJSON *root;
    const cJSON *report = subject_report(&out, pack, &root);
    assert_int_equal(out.transforms, 1);
    assert_int_equal(subject_number(report, "taken"), 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(report, "values")), 3);
    assert_true(fabs(subject_number(report, "P(zero)") - 0.85) < 1e-9);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* A read whose result is multiplied with zero is not done: the factor's zero goes backward. So it
 * is of what is addressed by bytes, as translation layers do on NVIDIA's drivers. */
static void test_factor_kills_read(void **state)
{
    (void)state;
    static const char capability[] = "OpCapability RawAccessChainsNV\n"
                                     "OpExtension \"SPV_NV_raw_access_chains\"\n";
    static const char body[] = "%%scale = OpExtInst %%float %%glsl FMax %%v1 %%f0\n"
                               "%%where = OpConvertFToU %%uint %%v0\n"
                               "%%bytes = OpShiftLeftLogical %%uint %%where %%u2\n"
                               "%%pr = %s\n"
                               "%%read = OpLoad %%float %%pr Aligned 4\n"
                               "%%normal = OpFSub %%float %%read %%f1\n"
                               "%%scaled = OpFMul %%float %%normal %%scale\n"
                               "%%result = OpFAdd %%float %%scaled %%f7\n";
    static const char *const chains[] = {
        "OpAccessChain %element %in %u0 %where",
        "OpRawAccessChainNV %element %in %u0 %u0 %bytes RobustnessPerComponentNV",
        "OpRawAccessChainNV %element %in %u264 %where %u0 RobustnessPerElementNV",
    };
    for (uint32_t c = 0; c < 3; c++) {
        char text[1024];
        snprintf(text, sizeof(text), body, chains[c]);
        struct subject s = subject_assemble(capability, "", "", text);
        uint32_t candidate = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
        s.zero[candidate] = 1;
        struct pm_zero_profile profile;
        struct pm_specialize_zero_info info = subject_info(&s, &profile);
        info.take_all = true;
        struct pm_specialized out = subject_specialize(&s, &info);
        cJSON *root;
        const cJSON *report = subject_report(&out, candidate, &root);
        assert_int_equal(out.transforms, 1);
        /* %v0 is for nothing else */
        assert_int_equal(subject_number(report, "MemKilled"), 2);
        cJSON_Delete(root);
        pm_specialized_finish(&out);
        subject_finish(&s);
    }
}

/* Of two early values whose uses are in one loop both are taken: the second check's region spans
 * the first one's. */
static void test_spanned_check(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        "%a = OpExtInst %float %glsl FMax %v0 %f0\n"
                                        "%b = OpExtInst %float %glsl FMin %v1 %f7\n"
                                        "OpBranch %h\n%h = OpLabel\n"
                                        "%i = OpPhi %uint %u0 %entry %next %c\n"
                                        "%x = OpPhi %float %f0 %entry %x2 %c\n"
                                        "OpLoopMerge %m %c None\nOpBranch %t\n%t = OpLabel\n"
                                        "%on = OpULessThan %bool %i %at\n"
                                        "OpBranchConditional %on %s %m\n%s = OpLabel\n"
                                        "%p = OpExtInst %float %glsl Sin %x\n"
                                        "%p2 = OpExtInst %float %glsl Cos %p\n"
                                        "%pa = OpFMul %float %p2 %a\n"
                                        "%x1 = OpFAdd %float %x %pa\n"
                                        "%q = OpExtInst %float %glsl Exp2 %x\n"
                                        "%q2 = OpExtInst %float %glsl Sqrt %q\n"
                                        "%qb = OpFMul %float %q2 %b\n"
                                        "%x2 = OpFAdd %float %x1 %qb\n"
                                        "OpBranch %c\n%c = OpLabel\n"
                                        "%next = OpIAdd %uint %i %u1\nOpBranch %h\n%m = OpLabel\n"
                                        "%result = OpFAdd %float %x %f7\n");
    enum { GLSL_FMIN = 37 };
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 0.9;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMIN)] = 0.9;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 2);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* Sin is left out of S where the candidate, the result of this opcode, is zero. */
static void assert_kills_sine(const char *capabilities, const char *body, uint16_t opcode,
                              uint32_t glsl)
{
    struct subject s = subject_assemble(capabilities, "", "", body);
    s.zero[subject_candidate(&s, opcode, glsl)] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 1);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* Any component of what is zero all over is. */
static void test_dynamic_index(void **state)
{
    (void)state;
    enum { GLSL_FABS = 4 };
    assert_kills_sine("",
                      "%v = OpCompositeConstruct %v4 %v0 %v1 %v0 %v1\n"
                      "%w = OpExtInst %v4 %glsl FAbs %v\n"
                      "%e = OpVectorExtractDynamic %float %w %at\n"
                      "%x = OpExtInst %float %glsl Sin %v1\n%r = OpFMul %float %x %e\n"
                      "%result = OpFAdd %float %r %f7\n",
                      SpvOpExtInst, GLSL_FABS);
    assert_kills_sine("",
                      "%v = OpCompositeConstruct %v4 %v0 %v1 %v0 %v1\n"
                      "%w = OpExtInst %v4 %glsl FAbs %v\n"
                      "%part = OpCompositeExtract %float %w 2\n"
                      "%i = OpVectorInsertDynamic %v4 %w %part %at\n"
                      "%e = OpCompositeExtract %float %i 1\n"
                      "%x = OpExtInst %float %glsl Sin %v1\n%r = OpFMul %float %x %e\n"
                      "%result = OpFAdd %float %r %f7\n",
                      SpvOpExtInst, GLSL_FABS);
}

/* What a shader says it expects is the value; what it assumes S need not know. */
static void test_expectations(void **state)
{
    (void)state;
    assert_kills_sine("OpCapability ExpectAssumeKHR\nOpExtension \"SPV_KHR_expect_assume\"\n",
                      "%n = OpBitCount %uint %at\n%e = OpExpectKHR %uint %n %u1\n"
                      "%f = OpConvertUToF %float %e\n%x = OpExtInst %float %glsl Sin %v1\n"
                      "%small = OpFOrdLessThan %bool %x %f7\nOpAssumeTrueKHR %small\n"
                      "%r = OpFMul %float %x %f\n%result = OpFAdd %float %r %f7\n",
                      SpvOpBitCount, 0);
}

/* How often Sin is there where FAbs of %v0 is zero, on this driver: twice if S needs it. */
static int sines(const char *body, const struct pm_driver *driver)
{
    enum { GLSL_FABS = 4 };
    char *text;
    assert_true(asprintf(&text,
                         "%%w = OpExtInst %%float %%glsl FAbs %%v0\n%s"
                         "%%wv = OpFAdd %%float %%w %%v1\n%%x = OpExtInst %%float %%glsl Sin %%wv\n"
                         "%%r = OpFMul %%float %%x %%z\n%%y = OpFMul %%float %%w %%v1\n"
                         "%%sum = OpFAdd %%float %%r %%y\n%%result = OpFAdd %%float %%sum %%f7\n",
                         body) > 0);
    struct subject s = subject_assemble("", "", "", text);
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FABS)] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    info.driver = driver;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    const int count = (int)pm_test_count(&out.words, " Sin ");
    pm_specialized_finish(&out);
    subject_finish(&s);
    free(text);
    return count;
}

/* What is 1 of zero is known of drivers that compute it so; a quotient where 0 * x is 0, but not of
 * zero by zero. */
static void test_exact_functions(void **state)
{
    (void)state;
    static const struct pm_driver seen = {.id = 13 /* lavapipe */}, other = {.id = UINT32_MAX};
    static const char *const ones[] = {
        "%e = OpExtInst %float %glsl Exp2 %w\n%z = OpFSub %float %e %f1\n",
        "%e = OpExtInst %float %glsl Exp %w\n%z = OpFSub %float %e %f1\n",
        "%e = OpExtInst %float %glsl Cos %w\n%z = OpFSub %float %e %f1\n",
        "%e = OpExtInst %float %glsl Pow %v1 %w\n%z = OpFSub %float %e %f1\n",
    };
    for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
        assert_int_equal(sines(ones[i], &seen), 1);
        assert_int_equal(sines(ones[i], &other), 2);
        assert_int_equal(sines(ones[i], NULL), 2);
    }
    assert_int_equal(sines("%z = OpFDiv %float %w %v1\n", NULL), 1);
    assert_int_equal(sines("%z = OpFDiv %float %w %w\n", NULL), 2);
}

/* Memory that is written in between stays in order. */
static void test_memory_order(void **state)
{
    (void)state;
    static const char body[] = "%p2 = OpAccessChain %element %out %u0 %u2\n"
                               "%old = OpLoad %float %p2\n"
                               "OpStore %p2 %f7\n"
                               "%new = OpLoad %float %p2\n"
                               "%w = OpExtInst %float %glsl FMax %new %f0\n"
                               "%work = OpExtInst %float %glsl Sin %old\n"
                               "%r2 = OpFMul %float %work %w\n"
                               "%result = OpFAdd %float %r2 %f7\n";
    struct subject s = subject_assemble("", "", "", body);
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    char *text = pm_test_disassemble(&out.words);
    const char *store = strstr(text, "OpStore"), *vote = strstr(text, "OpGroupNonUniformAll");
    assert_true(store && vote && store < vote);
    assert_int_equal(pm_test_count(&out.words, "OpLoad %float"), 4);
    free(text);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* Images, samplers and pointers made in the region and used behind it. */
static void test_opaque_values(void **state)
{
    (void)state;
    static const char text[] =
        "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\n"
        "OpMemoryModel Logical GLSL450\n"
        "OpEntryPoint Fragment %main \"main\" %where %color\n"
        "OpExecutionMode %main OriginUpperLeft\n"
        "OpDecorate %where Location 0\nOpDecorate %color Location 0\n"
        "OpDecorate %image DescriptorSet 0\nOpDecorate %image Binding 0\n"
        "OpDecorate %sampler DescriptorSet 0\nOpDecorate %sampler Binding 1\n"
        "%void = OpTypeVoid\n%float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n"
        "%v4 = OpTypeVector %float 4\n%uint = OpTypeInt 32 0\n%u1 = OpConstant %uint 1\n"
        "%f0 = OpConstant %float 0\n"
        "%image_t = OpTypeImage %float 2D 0 0 0 1 Unknown\n%sampler_t = OpTypeSampler\n"
        "%both_t = OpTypeSampledImage %image_t\n"
        "%image_p = OpTypePointer UniformConstant %image_t\n"
        "%sampler_p = OpTypePointer UniformConstant %sampler_t\n"
        "%in_p = OpTypePointer Input %v4\n%out_p = OpTypePointer Output %v4\n"
        "%one_p = OpTypePointer Output %float\n"
        "%image = OpVariable %image_p UniformConstant\n"
        "%sampler = OpVariable %sampler_p UniformConstant\n"
        "%where = OpVariable %in_p Input\n%color = OpVariable %out_p Output\n"
        "%function = OpTypeFunction %void\n"
        "%main = OpFunction %void None %function\n%entry = OpLabel\n"
        "%i = OpLoad %image_t %image\n%s = OpLoad %sampler_t %sampler\n"
        "%both = OpSampledImage %both_t %i %s\n"
        "%at = OpLoad %v4 %where\n%xy = OpVectorShuffle %v2 %at %at 0 1\n"
        "%z = OpCompositeExtract %float %at 2\n"
        "%w = OpExtInst %float %glsl FMax %z %f0\n"
        "%first = OpImageSampleImplicitLod %v4 %both %xy\n"
        "%lit = OpVectorTimesScalar %v4 %first %w\n"
        "%yx = OpVectorShuffle %v2 %lit %at 0 5\n"
        "%second = OpImageSampleImplicitLod %v4 %both %yx\n"
        "%sum = OpFAdd %v4 %lit %second\n"
        "OpStore %color %sum\n"
        "%one = OpAccessChain %one_p %color %u1\n"
        "%old = OpLoad %float %one\n%more = OpFMul %float %old %w\n"
        "OpStore %one %more\nOpReturn\nOpFunctionEnd\n";
    struct pm_words words = pm_test_assemble(text, 3);
    struct subject s;
    subject_init(&s, &words);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    /* Implicit-LOD reads in the region: its check asks the quad. */
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniformQuadSwap "), 2);
    pm_specialized_finish(&out);
    /* Without quad operations no such transform. */
    info.subgroup_quad = false;
    out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 0);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* A half that the module may only convert and store: no OpPhi may hold it, so it is made once more
 * behind the region. */
static void test_narrow_values(void **state)
{
    (void)state;
    struct subject s =
        subject_assemble("OpCapability StorageBuffer16BitAccess\n", "",
                         "OpDecorate %halves ArrayStride 2\nOpDecorate %half_block Block\n"
                         "OpMemberDecorate %half_block 0 Offset 0\n"
                         "OpDecorate %narrow DescriptorSet 0\nOpDecorate %narrow Binding 2\n"
                         "%half = OpTypeFloat 16\n%halves = OpTypeRuntimeArray %half\n"
                         "%half_block = OpTypeStruct %halves\n"
                         "%half_buffer = OpTypePointer StorageBuffer %half_block\n"
                         "%half_element = OpTypePointer StorageBuffer %half\n"
                         "%narrow = OpVariable %half_buffer StorageBuffer\n",
                         "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                         "%a = OpFMul %float %v1 %f7\n"
                         "%b = OpFMul %float %w %a\n"
                         "%n = OpFConvert %half %a\n"
                         "%c = OpExtInst %float %glsl Sin %a\n%d = OpFMul %float %w %c\n"
                         "%result = OpFAdd %float %b %d\n"
                         "%n0 = OpAccessChain %half_element %narrow %u0 %at\nOpStore %n0 %n\n");
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* What a block that nothing leads to uses stays the original's: the block may stand before the one
 * in which S and R meet. Only of modules that are not canonical. */
static void test_use_that_is_never_reached(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
        "%x = OpFMul %float %w %v1\n%y = OpExtInst %float %glsl Sin %x\n"
        "%less = OpFOrdLessThan %bool %v1 %f7\n"
        "OpSelectionMerge %behind None\nOpBranchConditional %less %inside %behind\n"
        "%inside = OpLabel\n%z = OpFMul %float %w %y\nOpStore %p0 %z\nOpBranch %behind\n"
        "%never = OpLabel\n%unused = OpFMul %float %x %y\nOpStore %p1 %unused\nOpUnreachable\n"
        "%behind = OpLabel\n%result = OpFMul %float %w %y\n");
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* A selection whose merge block begins a loop: no region goes on there, and the shader is
 * specialized all the same. */
static void test_merge_that_begins_a_loop(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
        "%x = OpFMul %float %w %v1\n%y = OpExtInst %float %glsl Sin %x\n"
        "%z = OpExtInst %float %glsl Cos %v1\n%wz = OpFMul %float %w %z\n"
        "%less = OpFOrdLessThan %bool %v1 %f7\n"
        "OpSelectionMerge %loop None\nOpBranchConditional %less %inside %loop\n"
        "%inside = OpLabel\nOpStore %p0 %wz\nOpBranch %loop\n"
        "%loop = OpLabel\n%a = OpPhi %float %y %entry %y %inside %b %next\n"
        "%i = OpPhi %uint %u0 %entry %u0 %inside %j %next\n"
        "OpLoopMerge %behind %next None\nOpBranch %test\n"
        "%test = OpLabel\n%on = OpULessThan %bool %i %at\n"
        "OpBranchConditional %on %next %behind\n"
        "%next = OpLabel\n%b = OpFAdd %float %a %w\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n"
        "%behind = OpLabel\n%result = OpFMul %float %w %a\n");
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_check),
        cmocka_unit_test(test_pack_elements),
        cmocka_unit_test(test_factor_kills_read),
        cmocka_unit_test(test_spanned_check),
        cmocka_unit_test(test_dynamic_index),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_exact_functions),
        cmocka_unit_test(test_memory_order),
        cmocka_unit_test(test_opaque_values),
        cmocka_unit_test(test_narrow_values),
        cmocka_unit_test(test_use_that_is_never_reached),
        cmocka_unit_test(test_merge_that_begins_a_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
