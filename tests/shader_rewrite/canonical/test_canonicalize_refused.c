/* Modules that crash SPIRV-Tools' optimizer, and bad ones: they are kept as they are or refused. */
#include "tests/shader_rewrite/canonical/canonicalized.h"

#include <stdio.h>
#include <string.h>

/* ---- what crashed SPIRV-Tools ---- */

static void test_null_arrays(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("null_array.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpCompositeInsert"), 0);
    assert_int_equal(pm_test_count(&out, "OpStore %"), 3);
    assert_int_equal(pm_test_count(&out, "Workgroup %"), 3); /* two pointers, and a variable … */
    assert_int_equal(pm_test_count(&out, "OpConstantNull %_arr"), 1); /* … with its null */
    assert_idempotent(&out);
    pm_words_finish(&out);
}

static void test_empty_struct(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("empty_struct.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpPhi"), 1);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* The optimizer crashes on it. */
static void test_operations_on_other_types(void **state)
{
    (void)state;
    struct pm_words module = pm_test_assemble_file("spec_op_of_float.spvasm", 3);
    struct pm_words out;
    struct pm_error error = {0};
    assert_false(canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    pm_words_finish(&module);
}

static void test_cooperative_matrices(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("cooperative.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpCooperativeMatrixLoadKHR"), 1);
    assert_int_equal(pm_test_count(&out, "OpSNegate"), 0);
    assert_int_equal(pm_test_count(&out, "OpIMul"), 2);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* ---- bad input ---- */

static void test_malformed(void **state)
{
    (void)state;
    struct pm_words module = pm_test_assemble_file("float.spvasm", 3);
    struct pm_words out;
    struct pm_error error;
    /* Every truncation, and every word spoiled in three ways: an answer, never a crash. */
    size_t refused = 0;
    for (size_t count = 0; count < module.count; count++) {
        const struct pm_words cut = {module.data, count};
        error = (struct pm_error){0};
        assert_false(canonicalize(&cut, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error));
        assert_true(error.code != PM_OK && error.message[0]);
    }
    for (size_t at = 0; at < module.count; at++) {
        const uint32_t word = module.data[at];
        const uint32_t spoiled[] = {word + 1, ~word, word ^ 0x10000};
        for (size_t i = 0; i < 3; i++) {
            module.data[at] = spoiled[i];
            error = (struct pm_error){0};
            if (canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error)) {
                pm_words_finish(&out);
            } else {
                assert_true(error.code != PM_OK && error.message[0]);
                assert_null(strchr(error.message, '\n'));
                refused++;
            }
        }
        module.data[at] = word;
    }
    assert_true(refused > module.count);
    pm_words_finish(&module);
}

static void test_unknown(void **state)
{
    (void)state;
    struct pm_words module = pm_test_assemble_file("plain.spvasm", 3);
    struct pm_words out;
    struct pm_error error = {0};
    module.data[1] = 0x00010900; /* SPIR-V 1.9 */
    assert_false(canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error));
    if (error.code != PM_ERROR_UNSUPPORTED)
        fail_msg("%s", error.message);
    module.data[1] = 0x00010300;
    module.data[6] = 40000; /* an unknown capability */
    assert_false(canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error));
    if (error.code != PM_ERROR_UNSUPPORTED)
        fail_msg("%s", error.message);
    assert_non_null(strstr(error.message, "40000"));
    pm_words_finish(&module);
}

/* 30 functions, each calling the one before twice: 2^30 bodies when inlined. */
static void test_inlining_is_bounded(void **state)
{
    (void)state;
    char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
                                 "OpEntryPoint GLCompute %%main \"main\"\n"
                                 "OpExecutionMode %%main LocalSize 1 1 1\n"
                                 "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n"
                                 "%%f0 = OpFunction %%void None %%fn\n%%l0 = OpLabel\n"
                                 "OpReturn\nOpFunctionEnd\n");
    for (int i = 1; i <= 30; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%%f%d = OpFunction %%void None %%fn\n%%l%d = OpLabel\n"
                               "%%a%d = OpFunctionCall %%void %%f%d\n"
                               "%%b%d = OpFunctionCall %%void %%f%d\nOpReturn\nOpFunctionEnd\n",
                               i, i, i, i - 1, i, i - 1);
    snprintf(text + at, sizeof text - at,
             "%%main = OpFunction %%void None %%fn\n%%lm = OpLabel\n"
             "%%am = OpFunctionCall %%void %%f30\nOpReturn\nOpFunctionEnd\n");
    struct pm_words module = pm_test_assemble(text, 3);
    struct pm_words out;
    struct pm_error error = {0};
    assert_false(canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    pm_words_finish(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_arrays),
        cmocka_unit_test(test_empty_struct),
        cmocka_unit_test(test_cooperative_matrices),
        cmocka_unit_test(test_operations_on_other_types),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_inlining_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
