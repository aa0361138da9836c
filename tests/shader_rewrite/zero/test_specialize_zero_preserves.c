/* HAZARDS 7, on every driver: a shader that keeps the signs of zeroes, infinities and NaN is
 * specialized where 0 * x is a zero whatever x is, and has the original's bits. Where it might not
 * be one, or be of another sign than is known, and that is seen, S computes x. Likewise in the
 * words of SPV_KHR_float_controls2, which says of signs, infinities and NaN apart what is kept, of
 * all instructions and of one; it is also run as it is where the driver knows that. */
#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/preserving.h"
#include "tests/shader_rewrite/zero/weighed_items.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static struct differential differential;
static bool knows_controls2; /* the driver */
static const struct pm_target target = {.vulkan_minor = 3};

/* How the signs of zeroes, infinities and NaN are said to be kept. */
struct form {
    const char *name, *capabilities, *modes;
    bool no_signs;   /* of zeroes */
    bool no_numbers; /* nor NaN, nor infinities: a zero is one of either sign */
};
#define CONTROLS2 "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"\n"
#define DEFAULT(mask) "OpExecutionModeId %main FPFastMathDefault %float " mask "\n"
static const struct form preserve = {
    "preserve", "OpCapability SignedZeroInfNanPreserve\nOpExtension \"SPV_KHR_float_controls\"\n",
    "OpExecutionMode %main SignedZeroInfNanPreserve 32\n", false, false};
static const struct form forms[] = {
    {"no flags", CONTROLS2, DEFAULT("%u0"), false, false},
    {"contraction", CONTROLS2, DEFAULT("%contract"), false, false},
    {"no signs", CONTROLS2, DEFAULT("%u4"), true, false},
    {"no signs, and contraction", CONTROLS2, DEFAULT("%contract4"), true, false},
};

/* Up to infinity, or NaN. */
#define WORK                                                                                       \
    "%size = OpExtInst %float %glsl FAbs %x\n"                                                     \
    "%root = OpExtInst %float %glsl Sqrt %size\n"                                                  \
    "%work = OpExtInst %float %glsl Exp2 %root\n"
/* Of either sign, or NaN. */
#define SIGNED_WORK WORK "%one_less = OpFSub %float %c %work\n"
#define STORE_TWO "OpStore %to1 %f1_5\nOpStore %to2 %x\n"

static const struct shader {
    const char *name;
    bool folds; /* S does without the work */
    const char *body;
    bool folds_without_signs; /* also where zeroes have no signs, if not otherwise */
    bool of_functions;        /* the sign is that of a function of GLSL.std.450, which
                                 SignedZeroInfNanPreserve does not keep */
} shaders[] = {
    {"infinite", false,
     WORK "%product = OpFMul %float %w %work\nOpStore %to0 %product\n" STORE_TWO},
    {"limited", true,
     WORK "%least = OpExtInst %float %glsl NMin %work %f1_5\n"
          "%product = OpFMul %float %least %w\n%sum = OpFAdd %float %product %c\n"
          "%fused = OpExtInst %float %glsl Fma %w %least %c\n"
          "OpStore %to0 %product\nOpStore %to1 %sum\nOpStore %to2 %fused\n",
     .of_functions = true},
    {"limited, of NaN", false,
     WORK "%least = OpExtInst %float %glsl FMin %work %f1_5\n"
          "%product = OpFMul %float %least %w\nOpStore %to0 %product\n" STORE_TWO},
    {"step", true,
     WORK "%step = OpExtInst %float %glsl Step %c %work\n"
          "%product = OpFMul %float %w %step\n%less = OpFSub %float %c %product\n"
          "%none = OpFNegate %float %product\n"
          "OpStore %to0 %product\nOpStore %to1 %less\nOpStore %to2 %none\n",
     .of_functions = true},
    {"of either sign", false,
     SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus %f1_5\n"
                 "%product = OpFMul %float %w %half\n%sum = OpFAdd %float %product %c\n"
                 "OpStore %to0 %f1_5\nOpStore %to1 %sum\nOpStore %to2 %x\n",
     true},
    {"of minus zero", false,
     SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %f0 %f1_5\n"
                 "%product = OpFMul %float %w %half\nOpStore %to0 %product\n" STORE_TWO,
     true},
    {"negative", true,
     SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus2 %minus\n"
                 "%product = OpFMul %float %w %half\n%sum = OpFAdd %float %product %c\n"
                 "OpStore %to0 %product\nOpStore %to1 %sum\nOpStore %to2 %x\n"},
    {"of no sign", true,
     SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus %f1_5\n"
                 "%product = OpFMul %float %w %half\n%sum = OpFAdd %float %product %f1_5\n"
                 "%less = OpFOrdLessThan %bool %product %f1_5\n"
                 "%one = OpSelect %float %less %c %x\n"
                 "OpStore %to0 %sum\nOpStore %to1 %one\nOpStore %to2 %x\n"},
    {"squared", true,
     SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus2 %f1_5\n"
                 "%square = OpFMul %float %half %half\n%more = OpFMul %float %square %f1_5\n"
                 "%product = OpFMul %float %w %more\n%sum = OpFAdd %float %c %product\n"
                 "OpStore %to0 %product\nOpStore %to1 %sum\nOpStore %to2 %x\n"},
    /* As Direct3D 9 multiplies: 0 times anything is 0. */
    {"as of old", true,
     SIGNED_WORK
     "%w_is_0 = OpFOrdEqual %bool %w %f0\n%work_is_0 = OpFOrdEqual %bool %one_less %f0\n"
     "%a = OpSelect %float %work_is_0 %f0 %w\n"
     "%b = OpSelect %float %w_is_0 %f0 %one_less\n"
     "%product = OpFMul %float %a %b\n%fused = OpExtInst %float %glsl Fma %a %b %c\n"
     "%sum = OpFAdd %float %product %c\n"
     "OpStore %to0 %product\nOpStore %to1 %fused\nOpStore %to2 %sum\n"},
    /* A driver leaves the sum out (seen: lavapipe), so it is -0. */
    {"a sum of zeroes", false,
     SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %f0 %f1_5\n"
                 "%less = OpFMul %float %half %less0\n%none = OpFAdd %float %less %f0\n"
                 "%product = OpFMul %float %w %none\nOpStore %to0 %product\n" STORE_TWO,
     true},
    {"dot product", true,
     WORK "%step = OpExtInst %float %glsl Step %c %work\n"
          "%two = OpCompositeConstruct %float2 %w %w\n"
          "%steps = OpCompositeConstruct %float2 %step %step\n"
          "%dot = OpDot %float %two %steps\nOpStore %to0 %dot\n" STORE_TWO,
     .of_functions = true},
};

#define HALF                                                                                       \
    SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus %f1_5\n"                   \
                "%product = OpFMul %float %w %half\n"
#define NEGATIVE                                                                                   \
    SIGNED_WORK "%neg = OpExtInst %float %glsl NClamp %one_less %minus2 %minus\n"                  \
                "%product = OpFMul %float %w %neg\n"

/* Where the sign of a zero decides a number, which is no liberty. */
static const char *const decided[] = {
    HALF "%q = OpFDiv %float %f1_5 %product\nOpStore %to0 %q\n" STORE_TWO,
    HALF "%q = OpFDiv %float %f1_5 %product\n"
         "%limited = OpExtInst %float %glsl NClamp %q %f0 %f1_5\nOpStore %to0 %limited\n" STORE_TWO,
    HALF "%angle = OpExtInst %float %glsl Atan2 %product %minus\nOpStore %to0 %angle\n" STORE_TWO,
};

/* A driver leaves out the constant (seen: lavapipe), so that the sum is -0 where -0 comes to it. */
static const char *const with_zero[] = {
    NEGATIVE "%sum = OpFAdd %float %product %f0\nOpStore %to0 %sum\n" STORE_TWO,
    HALF "%sum = OpFAdd %float %product %f0\nOpStore %to0 %sum\n" STORE_TWO,
    HALF "%sum = OpFSub %float %f0 %product\nOpStore %to0 %sum\n" STORE_TWO,
    NEGATIVE "%sum = OpExtInst %float %glsl Fma %w %neg %f0\nOpStore %to0 %sum\n" STORE_TWO,
    HALF "%sum = OpExtInst %float %glsl Fma %w %half %f0\nOpStore %to0 %sum\n" STORE_TWO,
    /* Of what is known itself, in vectors, and behind moves. */
    HALF "%sum = OpFSub %float %f0 %w\n%less = OpFAdd %float %sum %half\n"
         "OpStore %to0 %sum\nOpStore %to1 %product\nOpStore %to2 %less\n",
    NEGATIVE "%two = OpCompositeConstruct %float2 %product %x\n"
             "%zero_and_one = OpCompositeConstruct %float2 %f0 %f1_5\n"
             "%both = OpFAdd %float2 %two %zero_and_one\n"
             "%sum = OpCompositeExtract %float %both 0\nOpStore %to0 %sum\n" STORE_TWO,
    /* The zero is taken for not negative, so FAbs is left out. */
    SIGNED_WORK "%h = OpExtInst %float %glsl NClamp %one_less %f0 %f1_5\n"
                "%l = OpFMul %float %h %less0\n%abs = OpExtInst %float %glsl FAbs %l\n"
                "%product = OpFMul %float %w %abs\nOpStore %to0 %product\n" STORE_TWO,
    NEGATIVE "%l = OpFMul %float %w %less0\n%abs = OpExtInst %float %glsl FAbs %l\n"
             "OpStore %to0 %abs\nOpStore %to1 %product\nOpStore %to2 %x\n",
};

/* What may be otherwise in the results. */
struct liberty {
    bool signs;     /* of zeroes */
    bool no_number; /* anything where the original has a NaN or an infinity */
};

/* One instruction says otherwise than all. */
static const struct mixed {
    struct shader shader;
    const char *mask, *decorations;
    enum pm_float_zero float_zero;
    struct liberty liberty;
} mixed[] = {
    {{"a product with signs", false,
      SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus %f1_5\n"
                  "%product = OpFMul %float %w %half\nOpStore %to0 %product\n" STORE_TWO,
      false},
     "%u4",
     "OpDecorate %product FPFastMathMode None\n",
     PM_FLOAT_ZERO_SHADER,
     {false, false}},
    {{"a product without signs", true,
      SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus %f1_5\n"
                  "%product = OpFMul %float %w %half\nOpStore %to0 %product\n" STORE_TWO,
      false},
     "%u0",
     "OpDecorate %product FPFastMathMode NSZ\n",
     PM_FLOAT_ZERO_SHADER,
     {true, false}},
    {{"a sum that sees the sign", false,
      SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %minus %f1_5\n"
                  "%product = OpFMul %float %w %half\n%sum = OpFAdd %float %product %c\n"
                  "OpStore %to0 %sum\n" STORE_TWO,
      false},
     "%u0",
     "OpDecorate %product FPFastMathMode NSZ\n",
     PM_FLOAT_ZERO_SHADER,
     {false, false}},
    {{"a product of numbers", true,
      WORK "%product = OpFMul %float %w %work\n%sum = OpFAdd %float %product %f1_5\n"
           "OpStore %to0 %product\nOpStore %to1 %sum\nOpStore %to2 %x\n",
      false},
     "%u0",
     "OpDecorate %product FPFastMathMode NotNaN|NotInf|NSZ\n"
     "OpDecorate %sum FPFastMathMode NotNaN|NotInf|NSZ\n",
     PM_FLOAT_ZERO_SHADER,
     {true, true}},
    /* A sum that keeps what is none sees it. */
    {{"a sum that sees infinities", false,
      WORK "%product = OpFMul %float %w %work\n%sum = OpFAdd %float %product %f1_5\n"
           "OpStore %to0 %f1_5\nOpStore %to1 %sum\nOpStore %to2 %x\n",
      false},
     "%u4",
     "OpDecorate %product FPFastMathMode NotNaN|NotInf|NSZ\n",
     PM_FLOAT_ZERO_SHADER,
     {false, true}},
    {{"a precise product", false,
      WORK "%product = OpFMul %float %w %work\nOpStore %to0 %product\n" STORE_TWO, false},
     "%u7",
     "OpDecorate %product FPFastMathMode None\n",
     PM_FLOAT_ZERO_ALLOW,
     {false, false}},
    /* As NoContraction is. */
    {{"all precise", false,
      WORK "%product = OpFMul %float %w %work\nOpStore %to0 %product\n" STORE_TWO, false},
     "%u0",
     "",
     PM_FLOAT_ZERO_ALLOW,
     {false, false}},
    /* Of its zero a compiler may lose the sign. */
    {{"a sum without signs", false,
      SIGNED_WORK "%half = OpExtInst %float %glsl NClamp %one_less %f0 %f1_5\n"
                  "%less = OpFMul %float %half %less0\n%none = OpFAdd %float %less %f0\n"
                  "%product = OpFMul %float %w %none\nOpStore %to0 %product\n" STORE_TWO,
      false},
     "%u0",
     "OpDecorate %none FPFastMathMode NSZ\n",
     PM_FLOAT_ZERO_SHADER,
     {false, false}},
};

static struct pm_words original_of(const struct form *form, const char *decorations,
                                   const char *body)
{
    return weighed_assemble(form->capabilities, form->modes, decorations, body);
}

/* The weight alone is said to be zero, always. */
static struct pm_specialized specialize(const struct pm_words *canonical,
                                        enum pm_float_zero float_zero, bool plus)
{
    struct pm_error error = {0};
    struct pm_zero_points points;
    struct pm_specialized out;
    assert_true(pm_zero_candidates(canonical->data, canonical->count, &points, &error));
    struct pm_ir_module *module = pm_ir_parse(canonical->data, canonical->count, &error);
    double *zero = calloc(points.count, sizeof(*zero));
    assert_non_null(zero);
    for (uint32_t i = 0; i < points.count; i++) {
        const struct pm_zero_candidate *c = &points.candidates[i];
        const struct pm_ir_instr *value = pm_ir_find(module, c->values[0]);
        assert_true(c->plus == (c->is_float && plus));
        zero[i] = value->opcode == SpvOpLoad && c->is_float && c->components == 1 &&
                  pm_ir_type_of(value)->opcode == SpvOpTypeFloat;
    }
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .all_candidates = true,
                                                 .float_zero = float_zero,
                                                 .subgroup_quad = differential.gpu.quad,
                                                 .target = target,
                                                 .most_transforms = 1,
                                                 .take_all = true};
    if (!pm_specialize_zero(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s", error.message);
    pm_ir_module_destroy(module);
    free(zero);
    pm_zero_points_finish(&points);
    return out;
}

/* Whether it does the work in one place, behind a check. */
static bool works_in_one_way(const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    const struct pm_ir_block *entry = module->first_function->first_block;
    int works = 0, always = 0;
    for (const struct pm_ir_block *b = entry; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->opcode == SpvOpExtInst &&
                pm_ir_operand_word(&i->operands[1]) == GLSLstd450Exp2) {
                works++;
                always += b == entry;
            }
    pm_ir_module_destroy(module);
    return works == 1 && always == 0;
}

static void fill(uint32_t item, float vector[4])
{
    static const float numbers[] = {2, INFINITY, NAN, -1, 1e-42f, 0, -0.0f, 3e38f};
    static const float last[] = {-0.0f, 0, NAN, 2, -INFINITY, 1e-41f, 5, -1e-40f, 1};
    vector[0] = numbers[item % 8];
    vector[3] = last[item % 9];
}
static const float weights[RANDOM_SHADER_GROUPS] = {0, 1, -0.0f, -2, 0, 1e-42f, INFINITY, NAN};

static bool is_nan(uint32_t word)
{
    return (word & 0x7fffffff) > 0x7f800000;
}

static bool agree(uint32_t want, uint32_t got, struct liberty liberty)
{
    return want == got || (is_nan(want) && is_nan(got)) ||
           (liberty.signs && ((want | got) & 0x7fffffff) == 0) ||
           (liberty.no_number && (want & 0x7f800000) == 0x7f800000);
}

static void compare(const char *name, const struct pm_words *original,
                    const struct pm_words *variant, struct liberty liberty)
{
    static struct differential_output before, after;
    uint32_t different = 0;
    differential_run(&differential, original, PM_STAGE_COMPUTE, NULL, &before);
    differential_run(&differential, variant, PM_STAGE_COMPUTE, NULL, &after);
    for (uint32_t i = 0; i < WEIGHED_ITEMS * WEIGHED_RESULTS; i++) {
        const uint32_t want = before.words[RANDOM_SHADER_PLACES + i];
        const uint32_t got = after.words[RANDOM_SHADER_PLACES + i];
        const float *vector = differential.inputs.vectors[i / WEIGHED_RESULTS];
        if (!agree(want, got, liberty) && different++ < 5)
            fprintf(stderr, "%s: item %u (%g, %g, %g), result %u: 0x%08x, not 0x%08x\n", name,
                    i / WEIGHED_RESULTS, (double)differential.inputs.floats[i / WEIGHED_RESULTS],
                    (double)vector[0], (double)vector[3], i % WEIGHED_RESULTS, got, want);
    }
    if (different)
        fail_msg("%s on %s: %u words differ", name, differential.gpu.name, different);
}

static void compare_precise(const char *name, const struct pm_words *original,
                            const struct pm_words *variant, struct liberty liberty)
{
    compare(name, original, variant, liberty);
    struct pm_words precise[] = {differential_precise(original), differential_precise(variant)};
    compare(name, &precise[0], &precise[1], liberty);
    pm_words_finish(&precise[0]);
    pm_words_finish(&precise[1]);
}

static void test_preserves(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++) {
        struct pm_words original = original_of(&preserve, "", shaders[i].body);
        struct pm_words canonical = weighed_canonical(&original);
        struct pm_specialized specialized = specialize(&canonical, PM_FLOAT_ZERO_SHADER, true);
        const struct pm_words *variant = specialized.transforms ? &specialized.words : &canonical;
        if (works_in_one_way(variant) != (shaders[i].folds && !shaders[i].of_functions))
            fail_msg("%s: %u transforms", shaders[i].name, specialized.transforms);
        compare_precise(shaders[i].name, &original, variant, (struct liberty){0});
        pm_specialized_finish(&specialized);
        pm_words_finish(&canonical);
        pm_words_finish(&original);
    }
}

/* Where the driver knows SPV_KHR_float_controls2, and in the older words. */
static void compare_controls2(const char *name, const struct pm_words *original,
                              const struct pm_words *variant, struct liberty liberty)
{
    struct pm_words older[] = {pm_test_without_controls2(original),
                               pm_test_without_controls2(variant)};
    if (knows_controls2)
        compare(name, original, variant, liberty);
    compare_precise(name, &older[0], &older[1], liberty);
    pm_words_finish(&older[0]);
    pm_words_finish(&older[1]);
}

static void check_controls2(const struct form *form, const struct mixed *m)
{
    char name[128];
    struct pm_words original = original_of(form, m->decorations, m->shader.body);
    struct pm_words canonical = weighed_canonical(&original);
    struct pm_specialized specialized = specialize(&canonical, m->float_zero, !form->no_numbers);
    const struct pm_words *variant = specialized.transforms ? &specialized.words : &canonical;
    const bool folds = m->shader.folds || (form->no_signs && m->shader.folds_without_signs);
    snprintf(name, sizeof(name), "%s, %s", form->name, m->shader.name);
    if (works_in_one_way(variant) != folds)
        fail_msg("%s: %u transforms", name, specialized.transforms);
    compare_controls2(name, &original, variant, m->liberty);
    pm_specialized_finish(&specialized);
    pm_words_finish(&canonical);
    pm_words_finish(&original);
}

static void test_controls2(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++)
        for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++) {
            const struct mixed plain = {
                .shader = shaders[i], .decorations = "", .liberty = {.signs = forms[f].no_signs}};
            check_controls2(&forms[f], &plain);
        }
}

/* No more than a zero's sign, and that only where the shader permits it and nothing but memory sees
 * it. */
static void check_signs(const struct form *form, const char *body, bool no_signs)
{
    struct pm_words original = original_of(form, "", body);
    struct pm_words canonical = weighed_canonical(&original);
    struct pm_specialized specialized = specialize(&canonical, PM_FLOAT_ZERO_SHADER, true);
    const struct pm_words *variant = specialized.transforms ? &specialized.words : &canonical;
    const struct liberty liberty = {.signs = no_signs};
    if (form == &preserve)
        compare_precise(body, &original, variant, liberty);
    else
        compare_controls2(body, &original, variant, liberty);
    pm_specialized_finish(&specialized);
    pm_words_finish(&canonical);
    pm_words_finish(&original);
}

static void test_signs(void **state)
{
    (void)state;
    for (size_t f = 0; f <= sizeof(forms) / sizeof(forms[0]); f++) {
        const struct form *form = f ? &forms[f - 1] : &preserve;
        for (size_t i = 0; i < sizeof(decided) / sizeof(decided[0]); i++)
            check_signs(form, decided[i], false);
        for (size_t i = 0; i < sizeof(with_zero) / sizeof(with_zero[0]); i++)
            check_signs(form, with_zero[i], form->no_signs);
    }
}

static void test_one_instruction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++) {
        char modes[96];
        snprintf(modes, sizeof(modes), "OpExecutionModeId %%main FPFastMathDefault %%float %s\n",
                 mixed[i].mask);
        const struct form form = {mixed[i].mask, CONTROLS2, modes,
                                  .no_signs = strcmp(mixed[i].mask, "%u0") != 0,
                                  .no_numbers = strcmp(mixed[i].mask, "%u7") == 0};
        check_controls2(&form, &mixed[i]);
    }
}

static int set_up(void **state)
{
    (void)state;
    static VkPhysicalDeviceShaderFloatControls2FeaturesKHR features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT_CONTROLS_2_FEATURES_KHR};
    static const char *const extensions[] = {VK_KHR_SHADER_FLOAT_CONTROLS_2_EXTENSION_NAME, NULL};
    differential_create_with(
        &differential,
        &(struct pm_gpu_options){.extensions = extensions, .features = (void *)&features});
    knows_controls2 = differential.gpu.extensions != 0 && features.shaderFloatControls2;
    weighed_fill(&differential, weights, fill);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    differential_destroy(&differential);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preserves), cmocka_unit_test(test_controls2),
        cmocka_unit_test(test_signs), cmocka_unit_test(test_one_instruction)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
