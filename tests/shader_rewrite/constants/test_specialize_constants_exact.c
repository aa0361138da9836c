/* What is exact of words that are known: which operation is gone, and that it stays where the word
 * has another value, or the driver is another one. That the bits are the same on each driver is
 * specialize_constants_values'. */
#include "shader_rewrite/quirks/quirks.h"
#include "tests/shader_rewrite/constants/constant_subject.h"

#include <stdio.h>

#include "tests/cmocka_includes.h"

enum { LAVAPIPE = 13, OTHER = 1 /* VkDriverId */, AT_UINT = 0, AT_FLOAT = 8 /* bytes */ };

/* A body of %k, the uint at byte 0 of the push constants, and %x, the float at byte 8, which ends
 * in %r. */
struct exact {
    const char *body, *type, *operation;
    uint32_t gone, stays; /* values of the word; equal: it is gone for any */
};

static struct pm_words module_of(const struct exact *exact)
{
    char text[2048];
    const char *to_float = exact->type[0] == 'u'   ? "%f = OpConvertUToF %float %r\n"
                           : exact->type[0] == 'b' ? "%f = OpSelect %float %r %v0 %v1\n"
                                                   : "%f = OpFSub %float %r %v1\n";
    /* Both words are loaded whatever is left. */
    static const char loads[] = LOAD_PUSH_UINT("k", "%u0") LOAD_PUSH_FLOAT("x", "%u2");
    static const char uses[] = "%loaded = OpIAdd %uint %k %at\n%w = OpBitcast %float %loaded\n"
                               "%p = OpFMul %float %w %x\n%result = OpFAdd %float %f %p\n";
    snprintf(text, sizeof(text), "%s%s%s%s", loads, exact->body, to_float, uses);
    return constant_subject(text);
}

/* How often its operation is in what is made for a value, and what that is estimated to save. */
static int count_of(const struct exact *exact, uint32_t offset, uint32_t value, uint32_t driver_id,
                    double *saved)
{
    const struct pm_driver driver = {.id = driver_id};
    const struct pm_constant_known known = {{.source = PM_CONSTANT_PUSH, .offset = offset}, value};
    const struct pm_specialize_constants_info info = {.known = &known,
                                                      .known_count = 1,
                                                      .target = {.vulkan_minor = 1},
                                                      .driver = &driver,
                                                      .take_all = true};
    struct pm_specialized_constants out;
    struct pm_error error = {0};
    struct pm_words words = module_of(exact);
    if (!pm_specialize_constants(words.data, words.count, &info, &out, &error))
        fail_msg("%s%s", exact->body, error.message);
    *saved = out.cycles_before - out.cycles_after;
    const int count = (int)pm_test_count(out.words.count ? &out.words : &words, exact->operation);
    pm_specialized_constants_finish(&out);
    pm_words_finish(&words);
    return count;
}

static void check(const struct exact *all, size_t count, uint32_t offset)
{
    for (size_t i = 0; i < count; i++) {
        const struct exact *e = &all[i];
        double saved;
        if (count_of(e, offset, e->gone, LAVAPIPE, &saved) != 0)
            fail_msg("for 0x%x it stays: %s", e->gone, e->body);
        if (e->stays != e->gone && count_of(e, offset, e->stays, LAVAPIPE, &saved) == 0)
            fail_msg("for 0x%x it is gone: %s", e->stays, e->body);
    }
}

#define COUNT(all) (sizeof(all) / sizeof((all)[0]))

/* An operand that changes nothing, or decides. */
static void test_integer_identities(void **state)
{
    (void)state;
    static const struct exact all[] = {
        {"%r = OpIMul %uint %at %k\n", "uint", "OpIMul", 1, 3},
        {"%r = OpIMul %uint %k %at\n", "uint", "OpIMul", 1, 3},
        {"%r = OpUDiv %uint %at %k\n", "uint", "OpUDiv", 1, 3},
        {"%r = OpUMod %uint %at %k\n", "uint", "OpUMod", 1, 3},
        {"%r = OpSRem %uint %at %k\n", "uint", "OpSRem", 1, 3},
        {"%r = OpBitwiseAnd %uint %at %k\n", "uint", "OpBitwiseAnd", UINT32_MAX, 3},
        {"%n = OpNot %uint %k\n%r = OpBitwiseAnd %uint %n %at\n", "uint", "OpBitwiseAnd", 0, 1},
        {"%n = OpSNegate %uint %k\n%m = OpIAdd %uint %n %u3\n%r = OpIMul %uint %m %at\n", "uint",
         "OpIMul", 2, 4},
        {"%r = OpExtInst %uint %glsl UMax %at %k\n", "uint", " UMax ", 0, 3},
        {"%r = OpExtInst %uint %glsl UMax %at %k\n", "uint", " UMax ", UINT32_MAX, 3},
        {"%r = OpExtInst %uint %glsl UMin %k %at\n", "uint", " UMin ", UINT32_MAX, 3},
        {"%r = OpExtInst %uint %glsl UMin %k %at\n", "uint", " UMin ", 0, 3},
        {"%r = OpExtInst %uint %glsl SMax %at %k\n", "uint", " SMax ", 0x80000000, 0},
        {"%r = OpExtInst %uint %glsl SMin %at %k\n", "uint", " SMin ", 0x7fffffff, 0},
        {"%r = OpExtInst %uint %glsl UClamp %at %k %u3\n", "uint", " UClamp ", 3, 2},
        {"%r = OpExtInst %uint %glsl SClamp %at %u3 %k\n", "uint", " SClamp ", 3, 4},
        {"%r = OpULessThan %bool %at %k\n", "bool", "OpULessThan", 0, 1},
        {"%r = OpULessThanEqual %bool %k %at\n", "bool", "OpULessThanEqual", 0, 1},
        {"%r = OpUGreaterThanEqual %bool %at %k\n", "bool", "OpUGreaterThanEqual", 0, 1},
        {"%r = OpUGreaterThan %bool %k %at\n", "bool", "OpUGreaterThan", 0, 1},
    };
    check(all, COUNT(all), AT_UINT);
}

/* What is computed of numbers that are all known, and defined. SPIRV-Tools folds these later on as
 * well; here they are known before, so that what hangs on them is, too. */
static void test_integer_numbers(void **state)
{
    (void)state;
    static const struct exact all[] = {
        {"%r = OpUDiv %uint %u6 %k\n", "uint", "OpUDiv", 2, 0},
        {"%r = OpUMod %uint %u6 %k\n", "uint", "OpUMod", 4, 0},
        {"%r = OpSDiv %uint %u6 %k\n", "uint", "OpSDiv", 4, 0xfffffffe},
        {"%r = OpSMod %uint %u6 %k\n", "uint", "OpSMod", 4, 0xfffffffe},
        {"%r = OpSDiv %uint %u0 %k\n", "uint", "OpSDiv", 0xfffffffe, 0},
        {"%r = OpShiftRightArithmetic %uint %u6 %k\n", "uint", "OpShiftRightArithmetic", 1, 32},
        {"%r = OpExtInst %uint %glsl SClamp %u6 %u3 %k\n", "uint", " SClamp ", 4, 2},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        double gone, stays;
        assert_int_equal(count_of(&all[i], AT_UINT, all[i].gone, LAVAPIPE, &gone), 0);
        count_of(&all[i], AT_UINT, all[i].stays, LAVAPIPE, &stays);
        if (!(gone > stays))
            fail_msg("for 0x%x it saves no more than for 0x%x: %s", all[i].gone, all[i].stays,
                     all[i].body);
    }
}

/* Of what is not folded here the compiler may not fold either: a float may become of it, of which
 * it would compute otherwise than the device (seen: pow on lavapipe 25). */
static void test_integers_that_are_not_folded(void **state)
{
    (void)state;
    static const struct exact reverse = {"%r = OpBitReverse %uint %k\n", "uint",
                                         "OpBitReverse %uint %uint_", 5, 5};
    struct exact any = reverse;
    double saved;
    any.operation = "OpBitReverse";
    assert_int_equal(count_of(&reverse, AT_UINT, 5, LAVAPIPE, &saved), 0);
    assert_int_equal(count_of(&any, AT_UINT, 5, LAVAPIPE, &saved), 1);
}

/* true && b is b; so are false || b, and b == true. */
static void test_booleans(void **state)
{
    (void)state;
    static const char *const operations[] = {"OpLogicalAnd", "OpLogicalOr", "OpLogicalEqual",
                                             "OpLogicalNotEqual"};
    for (int i = 0; i < 8; i++) {
        const bool of_true = i % 4 == 0 || i % 4 == 2;
        char body[256];
        double saved;
        snprintf(body, sizeof(body),
                 "%%on = OpIEqual %%bool %%k %%u3\n%%b = OpULessThan %%bool %%at %%u5\n"
                 "%%r = %s %%bool %s\n",
                 operations[i % 4], i < 4 ? "%on %b" : "%b %on");
        struct exact e = {body, "bool", operations[i % 4], of_true ? 3 : 4, of_true ? 3 : 4};
        check(&e, 1, AT_UINT);
        e.operation = "OpULessThan";
        assert_int_equal(count_of(&e, AT_UINT, e.gone, LAVAPIPE, &saved), 1);
    }
}

static void test_floats(void **state)
{
    (void)state;
    static const struct exact all[] = {
        {"%r = OpConvertFToU %uint %x\n", "uint", "OpConvertFToU", 0x40300000, 0xbf800000},
        {"%r = OpConvertFToS %uint %x\n", "uint", "OpConvertFToS", 0xc0300000, 0x4f000000},
        {"%a = OpExtInst %float %glsl Floor %x\n%r = OpFMul %float %v0 %a\n", "float", " Floor ",
         0x3fc00000, 0x7f800000},
        {"%a = OpExtInst %float %glsl Ceil %x\n%r = OpFMul %float %v0 %a\n", "float", " Ceil ",
         0x3f000000, 0x7f800000},
        {"%a = OpExtInst %float %glsl Trunc %x\n%r = OpFMul %float %v0 %a\n", "float", " Trunc ",
         0x3fc00000, 0x7f800000},
        {"%a = OpExtInst %float %glsl RoundEven %x\n%r = OpFMul %float %v0 %a\n", "float",
         " RoundEven ", 0x3fa00000, 0x3f000000},
        {"%a = OpExtInst %float %glsl FSign %x\n%r = OpFMul %float %v0 %a\n", "float", " FSign ",
         0x40400000, 0x7fc00000},
        {"%a = OpExtInst %float %glsl NClamp %v0 %f1 %x\n%r = OpFMul %float %v0 %a\n", "float",
         " NClamp ", 0x3f800000, 0x40000000},
    };
    check(all, COUNT(all), AT_FLOAT);
}

/* A device may take a denormal for 0, so what is asked of one is not known. */
static void test_denormals(void **state)
{
    (void)state;
    static const struct exact of_one[] = {
        {"%r = OpFOrdLessThan %bool %x %f1\n", "bool", "OpFOrdLessThan", 0, 0},
        {"%a = OpExtInst %float %glsl Step %f1 %x\n%r = OpFMul %float %v0 %a\n", "float", " Step ",
         0, 0},
    };
    static const struct exact of_denormal[] = {
        {"%r = OpFOrdLessThan %bool %x %tiny\n", "bool", "OpFOrdLessThan", 0, 0},
        {"%r = OpFUnordNotEqual %bool %x %tiny\n", "bool", "OpFUnordNotEqual", 0, 0},
        {"%a = OpExtInst %float %glsl Step %tiny %x\n%r = OpFMul %float %v0 %a\n", "float",
         " Step ", 0, 0},
    };
    double saved;
    check(of_one, COUNT(of_one), AT_FLOAT);
    for (size_t i = 0; i < COUNT(of_denormal); i++)
        assert_int_equal(count_of(&of_denormal[i], AT_FLOAT, 0, LAVAPIPE, &saved), 1);
}

/* Of drivers that were seen to compute them so. */
static void test_exact_ones(void **state)
{
    (void)state;
    static const struct exact all[] = {
        {"%r = OpFDiv %float %v0 %x\n", "float", "OpFDiv", 0x3f800000, 0x40000000},
        {"%a = OpFDiv %float %f7 %x\n%r = OpFMul %float %v0 %a\n", "float", "OpFDiv", 0x40e00000,
         0x40400000},
        {"%a = OpExtInst %float %glsl Sqrt %x\n%r = OpFMul %float %v0 %a\n", "float", " Sqrt ",
         0x3f800000, 0x40000000},
        {"%a = OpExtInst %float %glsl InverseSqrt %x\n%r = OpFMul %float %v0 %a\n", "float",
         " InverseSqrt ", 0x3f800000, 0x40000000},
        {"%a = OpExtInst %float %glsl Log2 %x\n%r = OpFMul %float %v0 %a\n", "float", " Log2 ",
         0x3f800000, 0x40000000},
        {"%a = OpExtInst %float %glsl Exp2 %x\n%r = OpFMul %float %v0 %a\n", "float", " Exp2 ", 0,
         0x3f800000},
    };
    check(all, COUNT(all), AT_FLOAT);
    for (size_t i = 0; i < COUNT(all); i++) {
        double saved;
        assert_true(count_of(&all[i], AT_FLOAT, all[i].gone, OTHER, &saved) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integer_identities),
        cmocka_unit_test(test_integer_numbers),
        cmocka_unit_test(test_integers_that_are_not_folded),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_denormals),
        cmocka_unit_test(test_exact_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
