/* What specialize_zero takes and leaves, and what its modules look like; that they compute the same
 * is tested on drivers (test_specialize_zero_values). */
#include "base/random.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* ---- shaders in assembly ---- */

enum { GLSL_FMAX = 40 };

/* A candidate %w, something expensive that is only used times %w, and a sum: Figure 1. */
static const char figure_1[] = "%work1 = OpExtInst %float %glsl Sin %v1\n"
                               "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                               "%r2 = OpFMul %float %work1 %w\n"
                               "%work2 = OpExtInst %float %glsl Exp2 %v1\n"
                               "%r3 = OpFMul %float %r2 %work2\n"
                               "%result = OpFAdd %float %r3 %f7\n";

static void assert_reason(const struct pm_specialized *out, uint32_t candidate, const char *part)
{
    cJSON *root;
    const cJSON *c = subject_report(out, candidate, &root);
    const char *reason = cJSON_GetObjectItem(c, "reason")->valuestring;
    if (!strstr(reason, part))
        fail_msg("candidate %u: '%s', wanted '%s'", candidate, reason, part);
    cJSON_Delete(root);
}

/* Figure 1's shader with this much done to it, specialized for %w; how many transforms. */
static uint32_t try_figure_1(const char *capabilities, const char *modes, const char *decorations,
                             const char *body, enum pm_float_zero float_zero)
{
    struct subject s = subject_assemble(capabilities, modes, decorations, body);
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.float_zero = float_zero;
    info.take_all = true;
    struct pm_specialized out = subject_specialize(&s, &info);
    uint32_t transforms = out.transforms;
    pm_specialized_finish(&out);
    subject_finish(&s);
    return transforms;
}

/* ---- the paper's Figure 1 ---- */

static void test_figure_1(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "", figure_1);
    uint32_t w = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    s.zero[w] = 0.9;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_costs costs = *pm_costs_of(0);
    costs.cycles[PM_COST_TRANSCENDENTAL] = 40;
    info.costs = &costs;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    /* The expensive work was computed before the candidate; it is in R alone now, and S has nothing
     * but a constant for what leaves it. */
    assert_int_equal(pm_test_count(&out.words, " Sin "), 1);
    assert_int_equal(pm_test_count(&out.words, " Exp2 "), 1);
    assert_int_equal(pm_test_count(&out.words, "OpFMul "), 2);
    assert_int_equal(pm_test_count(&out.words, "OpPhi "), 1);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniformAll "), 1);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniformQuadSwap "), 0);
    cJSON *root;
    const cJSON *c = subject_report(&out, w, &root);
    /* Equations 5 and 6: two transcendental functions, their load, two products, a sum; the check.
     */
    double check = costs.cycles[PM_COST_CHECK];
    assert_true(fabs(subject_number(c, "T_R") - (2 * 40 + costs.cycles[PM_COST_LOAD] + 3)) < 1e-3);
    assert_true(subject_number(c, "T_S") == 0);
    assert_int_equal(subject_number(c, "MemKilled"), 1);
    assert_true(fabs(subject_number(c, "T_check") - check) < 1e-6);
    double t_azp = 0.9 * subject_number(c, "T_S") + 0.1 * subject_number(c, "T_R") +
                   subject_number(c, "T_check");
    assert_true(fabs(subject_number(c, "saved") - (subject_number(c, "T_R") - t_azp)) < 1e-3);
    double su =
        (subject_number(c, "T_R") - subject_number(c, "T_S") - subject_number(c, "T_check")) /
        subject_number(c, "T_R");
    assert_true(fabs(subject_number(c, "su") - su) < 1e-4);
    double bar =
        1 - exp(-subject_number(c, "blocks_S") / (50 + 10 * subject_number(c, "MemKilled")));
    assert_true(fabs(subject_number(c, "su_threshold") - bar) < 1e-4);
    assert_int_equal(subject_number(c, "taken"), 1);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* ---- what must stay ---- */

/* How many loads come before the check's branch, so that S has them too. */
static int loads_of(const char *decorations)
{
    struct subject s = subject_assemble("", "", decorations, figure_1);
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    char *text = pm_test_disassemble(&out.words), *branch = strstr(text, "OpBranchConditional");
    assert_non_null(branch);
    *branch = 0;
    int loads = 0;
    for (const char *at = text; (at = strstr(at, "OpLoad ")) != NULL; at++)
        loads++;
    free(text);
    pm_specialized_finish(&out);
    subject_finish(&s);
    return loads;
}

/* S does not need what is read of %in, and has the read all the same if it is volatile. */
static void test_volatile(void **state)
{
    (void)state;
    int loads = loads_of("");
    assert_int_equal(loads_of("OpMemberDecorate %block 0 Volatile\n"), loads + 1);
    assert_int_equal(loads_of("OpDecorate %in Volatile\n"), loads + 1);
    assert_int_equal(loads_of("OpMemberDecorate %block 0 Coherent\n"), loads);
    assert_int_equal(loads_of("OpDecorate %id Volatile\n"), loads);
}

/* ---- what is taken ---- */

static void test_filter(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "", figure_1);
    uint32_t w = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX),
             r2 = subject_candidate(&s, SpvOpFMul, 0);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    s.zero[w] = 0.31;
    s.zero[r2] = (double)NAN;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 0);
    assert_reason(&out, w, "too rarely");
    assert_reason(&out, r2, "not known");
    pm_specialized_finish(&out);
    /* A product follows from its factor where that is zero as often. */
    s.zero[w] = s.zero[r2] = 0.5;
    out = subject_specialize(&s, &info);
    assert_reason(&out, r2, "follows");
    pm_specialized_finish(&out);
    s.zero[r2] = 0.6;
    info.take_all = true;
    info.most_transforms = 1;
    out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    pm_specialized_finish(&out);
    /* The threshold can be lowered. */
    info.take_all = false;
    info.threshold = 0.1;
    s.zero[w] = 0.31;
    s.zero[r2] = 0;
    out = subject_specialize(&s, &info);
    assert_reason(&out, w, "too few cycles");
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* A dear region that loses little is left (equation 6), one that saves few cycles too. */
static void test_heuristic(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "", figure_1);
    uint32_t w = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    s.zero[w] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 0);
    assert_reason(&out, w, "too few cycles");
    pm_specialized_finish(&out);
    info.least_saving = 5;
    out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 1);
    pm_specialized_finish(&out);
    /* What the profile says of the block counts: a tenth of the subgroups get there. */
    double blocks[1] = {0.1};
    profile.blocks = blocks;
    profile.block_count = 1;
    out = subject_specialize(&s, &info);
    assert_reason(&out, w, "too few cycles");
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* What saves too little of its shader, however many cycles, is left. */
static void test_least_share(void **state)
{
    (void)state;
    static const double bars[] = {0.999, 1.001}; /* of the share that is saved */
    struct subject s = subject_assemble("", "", "", figure_1);
    uint32_t w = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    s.zero[w] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.least_saving = 5;
    struct pm_specialized out = subject_specialize(&s, &info);
    cJSON *root;
    const cJSON *c = subject_report(&out, w, &root);
    double saved = subject_number(c, "saved"), shader = subject_number(root, "T_shader");
    assert_true(subject_number(root, "saved") == saved);
    assert_true(shader > subject_number(c, "T_R"));
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    for (unsigned i = 0; i < 2; i++) {
        info.least_share = saved / shader * bars[i];
        out = subject_specialize(&s, &info);
        assert_reason(&out, w, i ? "too little of the shader" : "taken");
        assert_int_equal(out.transforms, !i);
        assert_int_equal(out.words.count == 0, i);
        pm_specialized_finish(&out);
    }
    info.take_all = true;
    out = subject_specialize(&s, &info);
    assert_reason(&out, w, "taken");
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* Thousands of steps, whose last one is tested: none of the analyses runs out of its room. */
static void test_long(void **state)
{
    (void)state;
    enum { STEPS = 3000, STEP_MOST = 160 };
    char *body = malloc((size_t)STEPS * STEP_MOST), *end = body;
    assert_non_null(body);
    for (int i = 0; i < STEPS; i++)
        end += snprintf(end, STEP_MOST,
                        "%%l%d = OpLoad %%float %%p1\n%%s%d = OpExtInst %%float %%glsl Sin %s%d\n"
                        "%%m%d = OpFMul %%float %%s%d %%l%d\n",
                        i, i, i ? "%m" : "%v", i ? i - 1 : 0, i, i, i);
    snprintf(end, STEP_MOST,
             "%%w = OpExtInst %%float %%glsl FMax %%v0 %%f0\n"
             "%%result = OpFMul %%float %%m%d %%w\n",
             STEPS - 1);
    struct subject s = subject_assemble("", "", "", body);
    free(body);
    assert_true(s.points.count > 2 * STEPS);
    uint32_t w = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    s.zero[w] = 0.9;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_reason(&out, w, "taken");
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* Each of these regions spans the whole shader, and has the next ones twice: the module does not
 * grow without end. */
static void test_growth(void **state)
{
    (void)state;
    enum { VALUES = 12, STEPS = 5 * VALUES, STEP_MOST = 200 };
    char *body = malloc((size_t)(STEPS + VALUES) * STEP_MOST), *end = body;
    assert_non_null(body);
    for (int i = 0; i < VALUES; i++)
        end += snprintf(end, STEP_MOST,
                        "%%q%d = OpAccessChain %%element %%in %%u0 %%u%d\n"
                        "%%l%d = OpLoad %%float %%q%d\n"
                        "%%d%d = OpFSub %%float %%l%d %%v%d\n"
                        "%%w%d = OpExtInst %%float %%glsl FMax %%d%d %%f0\n",
                        i, i % 4, i, i, i, i, i % 2, i, i);
    for (int i = 0; i < STEPS; i++)
        end += snprintf(end, STEP_MOST,
                        "%%s%d = OpExtInst %%float %%glsl Sin %s%d\n"
                        "%%m%d = OpFMul %%float %%s%d %%w%d\n%%a%d = OpFAdd %%float %%m%d %%v1\n",
                        i, i ? "%a" : "%v", i ? i - 1 : 0, i, i, i % VALUES, i, i);
    snprintf(end, STEP_MOST, "%%result = OpFAdd %%float %%a%d %%v1\n", STEPS - 1);
    struct subject s = subject_assemble("", "", "", body);
    free(body);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    info.most_transforms = 1000;
    for (uint32_t i = 0; i < s.points.count; i++)
        s.zero[i] = 0.5;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_true(out.transforms > 3);
    assert_true(out.words.data[3] <= 8 * 1024); /* the bound of ids */
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* A product whose other factor comes through switches with a hundred ways each, most of which have
 * the value from before: whether it is finite is not asked along every path. It is, but the sign of
 * the zero that the product then is can be told. */
static void test_wide(void **state)
{
    (void)state;
    enum { SWITCHES = 5, WAYS = 100, BODY_MOST = 1 << 17 };
    char *body = malloc(BODY_MOST), *end = body;
    assert_non_null(body);
    end += sprintf(end, "%%w = OpExtInst %%float %%glsl FMax %%v0 %%f0\n"
                        "%%x0 = OpConvertUToF %%float %%at\nOpBranch %%s1\n");
    for (int s = 1; s <= SWITCHES; s++) {
        end += sprintf(end, "%%s%d = OpLabel\nOpSelectionMerge %%m%d None\nOpSwitch %%at %%m%d", s,
                       s, s);
        for (int i = 0; i < WAYS; i++)
            end += sprintf(end, " %d %%c%d_%d", i, s, i);
        for (int i = 0; i < WAYS; i++)
            end += sprintf(end, "\n%%c%d_%d = OpLabel\nOpBranch %%m%d", s, i, s);
        end += sprintf(end, "\n%%m%d = OpLabel\n%%x%d = OpPhi %%float %%x%d %%s%d", s, s, s - 1, s);
        for (int i = 0; i < WAYS; i++)
            end += sprintf(end, i ? " %%x%d %%c%d_%d" : " %%f%d %%c%d_%d", i ? s - 1 : 7, s, i);
        end += sprintf(end, s < SWITCHES ? "\nOpBranch %%s%d\n" : "\n", s + 1);
    }
    end += sprintf(end, "%%product = OpFMul %%float %%x%d %%w\n", SWITCHES);
    end += sprintf(end, "%%result = OpFAdd %%float %%product %%v1\n");
    assert_true(end - body < BODY_MOST);
    assert_int_equal(try_figure_1("", "", "", body, PM_FLOAT_ZERO_NEVER), 0);
    free(body);
}

/* ---- permission (HAZARDS 7) ---- */

static void test_permission(void **state)
{
    (void)state;
    static const char controls[] = "OpCapability SignedZeroInfNanPreserve\n"
                                   "OpExtension \"SPV_KHR_float_controls\"\n";
    static const char preserve[] = "OpExecutionMode %main SignedZeroInfNanPreserve 32\n";
    static const char half[] = "OpExecutionMode %main SignedZeroInfNanPreserve 16\n";
    static const char precise[] = "OpDecorate %r2 NoContraction\nOpDecorate %r3 NoContraction\n";
    assert_int_equal(try_figure_1("", "", "", figure_1, PM_FLOAT_ZERO_SHADER), 1);
    assert_int_equal(try_figure_1("", "", "", figure_1, PM_FLOAT_ZERO_NEVER), 0);
    assert_int_equal(try_figure_1(controls, preserve, "", figure_1, PM_FLOAT_ZERO_SHADER), 0);
    assert_int_equal(try_figure_1(controls, preserve, "", figure_1, PM_FLOAT_ZERO_ALLOW), 1);
    assert_int_equal(try_figure_1(controls, half, "", figure_1, PM_FLOAT_ZERO_SHADER), 1);
    assert_int_equal(try_figure_1("", "", precise, figure_1, PM_FLOAT_ZERO_SHADER), 0);
    assert_int_equal(try_figure_1("", "", precise, figure_1, PM_FLOAT_ZERO_ALLOW), 0);
}

/* A factor that is finite in any case needs none, where the sign of the zero tells nothing. */
static void test_finite(void **state)
{
    (void)state;
    static const char body[] = "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                               "%bits = OpBitcast %uint %v1\n"
                               "%factor = OpConvertUToF %float %bits\n"
                               "%r2 = OpFMul %float %factor %w\n"
                               "%result = OpFAdd %float %r2 %f7\n";
    assert_int_equal(try_figure_1("", "", "", body, PM_FLOAT_ZERO_NEVER), 1);
}

/* The bits of a zero may be those of -0. */
static void test_bits_are_seen(void **state)
{
    (void)state;
    static const char cast[] = "%work1 = OpExtInst %float %glsl Sin %v1\n"
                               "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                               "%r2 = OpFMul %float %work1 %w\n"
                               "%bits = OpBitcast %uint %r2\n"
                               "%result = OpConvertUToF %float %bits\n";
    static const char pack[] = "%work1 = OpExtInst %float %glsl Sin %v1\n"
                               "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                               "%r2 = OpFMul %float %work1 %w\n"
                               "%pair = OpCompositeConstruct %v2 %r2 %r2\n"
                               "%bits = OpExtInst %uint %glsl PackHalf2x16 %pair\n"
                               "%result = OpConvertUToF %float %bits\n";
    assert_int_equal(try_figure_1("", "", "", cast, PM_FLOAT_ZERO_ALLOW), 0);
    assert_int_equal(try_figure_1("", "", "", pack, PM_FLOAT_ZERO_ALLOW), 0);
}

/* Translation layers keep floats as integers: what is done with those decides. */
static void test_casts(void **state)
{
    (void)state;
    static const char around[] = "%work1 = OpExtInst %float %glsl Sin %v1\n"
                                 "%work1_u = OpBitcast %uint %work1\n"
                                 "%w_f = OpExtInst %float %glsl FMax %v0 %f0\n"
                                 "%w_u = OpBitcast %uint %w_f\n"
                                 "%w_c = OpSelect %uint %cond %w_u %u0\n"
                                 "%work1_f = OpBitcast %float %work1_u\n"
                                 "%w = OpBitcast %float %w_c\n"
                                 "%r2 = OpFMul %float %work1_f %w\n"
                                 "%r2_u = OpBitcast %uint %r2\n"
                                 "%r2_f = OpBitcast %float %r2_u\n"
                                 "%result = OpFAdd %float %r2_f %f7\n";
    /* 0 and -0 are told apart, whether the integer's bits are looked at or stored. */
    static const char looked_at[] = "%work1 = OpExtInst %float %glsl Sin %v1\n"
                                    "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                                    "%r2 = OpFMul %float %work1 %w\n"
                                    "%r2_u = OpBitcast %uint %r2\n"
                                    "%chosen = OpSelect %uint %cond %r2_u %u3\n"
                                    "%sign = OpShiftRightLogical %uint %chosen %u1\n"
                                    "%result = OpConvertUToF %float %sign\n";
    char text[4096];
    snprintf(text, sizeof(text), "%%cond = OpFOrdLessThan %%bool %%v1 %%f7\n%s", around);
    assert_int_equal(try_figure_1("", "", "", text, PM_FLOAT_ZERO_SHADER), 1);
    assert_int_equal(try_figure_1("", "", "", text, PM_FLOAT_ZERO_NEVER), 0);
    snprintf(text, sizeof(text), "%%cond = OpFOrdLessThan %%bool %%v1 %%f7\n%s", looked_at);
    assert_int_equal(try_figure_1("", "", "", text, PM_FLOAT_ZERO_ALLOW), 0);
}

/* An integer that is a float in disguise is one value with what it casts and is cast to. */
static void test_disguised_points(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        "%s = OpExtInst %float %glsl Sin %v0\n"
                                        "%su = OpBitcast %uint %s\n"
                                        "%sf = OpBitcast %float %su\n"
                                        "%m = OpFMul %float %sf %v1\n"
                                        "%mu = OpBitcast %uint %m\n"
                                        "%looked_at = OpShiftRightLogical %uint %mu %u1\n"
                                        "%result = OpConvertUToF %float %looked_at\n");
    /* %v0, %v1, %s, %m, %mu, which is an integer, %looked_at, %result and %at. */
    assert_int_equal(s.points.count, 8);
    uint32_t floats = 0;
    for (uint32_t i = 0; i < s.points.count; i++)
        floats += s.points.candidates[i].is_float;
    assert_int_equal(floats, 5);
    subject_finish(&s);
}

/* HAZARDS 1: a subgroup-uniform branch is not workgroup-uniform. */
static void test_barrier(void **state)
{
    (void)state;
    static const char behind[] = "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                                 "OpControlBarrier %u2 %u2 %u264\n"
                                 "%work = OpExtInst %float %glsl Sin %v1\n"
                                 "%r2 = OpFMul %float %work %w\n"
                                 "%result = OpFAdd %float %r2 %f7\n";
    static const char between[] = "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                                  "%work = OpExtInst %float %glsl Sin %v1\n"
                                  "%r2 = OpFMul %float %work %w\n"
                                  "OpControlBarrier %u2 %u2 %u264\n"
                                  "%r3 = OpFMul %float %r2 %v1\n"
                                  "%result = OpFAdd %float %r3 %f7\n";
    assert_int_equal(try_figure_1("", "", "", behind, PM_FLOAT_ZERO_SHADER), 0);
    assert_int_equal(try_figure_1("", "", "", between, PM_FLOAT_ZERO_SHADER), 1);
}

/* ---- all shaders ---- */

static void check_file(const struct corpus_file *file, struct pm_random *random,
                       uint32_t *transforms)
{
    struct subject s;
    struct pm_words words = {malloc(file->count * sizeof(uint32_t)), file->count};
    assert_non_null(words.data);
    memcpy(words.data, file->words, file->count * sizeof(uint32_t));
    subject_init(&s, &words);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    info.target =
        (struct pm_target){.vulkan_minor = file->vulkan_minor, .spirv_1_4 = file->spirv_1_4};
    int barriers = pm_test_count(&s.words, "OpControlBarrier ");
    for (uint32_t way = 0; way < 6; way++) {
        for (uint32_t i = 0; i < s.points.count; i++)
            s.zero[i] = way == 0 ? 1 : pm_random_unit(random);
        info.float_zero = way & 1 ? PM_FLOAT_ZERO_SHADER : PM_FLOAT_ZERO_ALLOW;
        info.subgroup_quad = way != 3;
        info.most_transforms = way < 3 ? 20 : 3;
        struct pm_specialized out;
        struct pm_error error = {0};
        if (!pm_specialize_zero(s.words.data, s.words.count, &info, &out, &error))
            fail_msg("%s: way %u: %s", file->name, way, error.message);
        *transforms += out.transforms;
        if (out.transforms)
            assert_int_equal(pm_test_count(&out.words, "OpControlBarrier "), barriers);
        pm_specialized_finish(&out);
    }
    subject_finish(&s);
}

/* Whatever the profile says, what comes out is valid (the pass validates it itself) and has no
 * barrier twice. */
static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    struct pm_random random;
    pm_random_init(&random, 7);
    uint32_t transforms = 0, files = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        struct pm_error error = {0};
        struct pm_zero_points points;
        if (!pm_zero_candidates(corpus.files[i].words, corpus.files[i].count, &points, &error))
            continue; /* a stage that is none of ours, or several entry points */
        pm_zero_points_finish(&points);
        files++;
        check_file(&corpus.files[i], &random, &transforms);
    }
    corpus_finish(&corpus);
    assert_true(files > 20 && transforms > 500);
}

/* ---- bad input ---- */

static void test_bad_input(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "", figure_1);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_specialized out;
    struct pm_error error = {0};
    profile.candidate_count++;
    assert_false(pm_specialize_zero(s.words.data, s.words.count, &info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    profile.candidate_count--;
    static const uint32_t words[] = {1, 2, 3};
    assert_false(pm_specialize_zero(words, 3, &info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    /* Any numbers are taken. */
    static const double odd[] = {-1, 1e300, -1e300, 2, 0.5};
    double numbers[2][64];
    assert_true(s.points.count < 64);
    profile.writes = numbers[0];
    profile.blocks = numbers[1];
    profile.block_count = 64;
    info.take_all = true;
    for (unsigned way = 0; way < 20; way++) {
        for (unsigned i = 0; i < 64; i++) {
            numbers[0][i] = way % 3 ? odd[(i + way) % 5] : (double)INFINITY;
            numbers[1][i] = way % 2 ? odd[(i * 3 + way) % 5] : (double)NAN;
        }
        for (uint32_t i = 0; i < s.points.count; i++)
            s.zero[i] = way % 7 == 6 ? (double)INFINITY : odd[(i + 2 * way) % 5];
        out = subject_specialize(&s, &info);
        cJSON *root = cJSON_Parse(out.report);
        assert_non_null(root);
        cJSON_Delete(root);
        pm_specialized_finish(&out);
    }
    subject_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_1),      cmocka_unit_test(test_volatile),
        cmocka_unit_test(test_filter),        cmocka_unit_test(test_heuristic),
        cmocka_unit_test(test_least_share),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_growth),        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_permission),    cmocka_unit_test(test_finite),
        cmocka_unit_test(test_bits_are_seen), cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_casts),         cmocka_unit_test(test_disguised_points),
        cmocka_unit_test(test_corpus),        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
