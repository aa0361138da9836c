#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/parsed_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_round_trip(const char *name, const uint32_t *words, size_t count)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, &error);
    if (!module)
        fail_msg("%s: %s", name, error.message);
    struct pm_words out;
    assert_true(pm_ir_emit(module, &out, &error));
    if (out.count != count || memcmp(out.data, words, count * sizeof(*words)) != 0)
        fail_msg("%s: %zu words came out as %zu others", name, count, out.count);
    pm_words_finish(&out);
    pm_ir_module_destroy(module);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++)
        assert_round_trip(corpus.files[i].name, corpus.files[i].words, corpus.files[i].count);
    assert_true(corpus.count >= 150);
    corpus_finish(&corpus);
}

/* Every list knows its members and every definition exactly its uses. */
static void assert_uses_consistent(const struct pm_ir_module *module)
{
    for (uint32_t id = 0; id < module->defs_capacity; id++) {
        const struct pm_ir_def *def = module->defs[id];
        const struct pm_ir_operand *previous = NULL;
        for (const struct pm_ir_operand *use = def ? def->first_use : NULL; use;
             use = use->next_use) {
            assert_ptr_equal(use->def, def);
            assert_ptr_equal(use->prev_use, previous);
            bool own =
                use == &use->user->type || (use >= use->user->operands &&
                                            use < use->user->operands + use->user->operand_count);
            assert_true(own);
            previous = use;
        }
    }
}

static size_t count_uses(const struct pm_ir_def *def)
{
    size_t count = 0;
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use)
        count++;
    return count;
}

static const char *const small_text = "OpCapability Shader\n"
                                      "OpMemoryModel Logical GLSL450\n"
                                      "OpEntryPoint GLCompute %1 \"main\"\n"
                                      "OpExecutionMode %1 LocalSize 1 1 1\n"
                                      "OpName %5 \"five\"\n"
                                      "OpDecorate %7 NoContraction\n"
                                      "%2 = OpTypeVoid\n"
                                      "%3 = OpTypeFunction %2\n"
                                      "%4 = OpTypeFloat 32\n"
                                      "%5 = OpConstant %4 5\n"
                                      "%1 = OpFunction %2 None %3\n"
                                      "%6 = OpLabel\n"
                                      "%7 = OpFAdd %4 %5 %5\n"
                                      "OpReturn\n"
                                      "OpFunctionEnd\n";

/* SPIRV-Tools reads either order; it refuses imports in the other one. */
static void test_round_trip_other_byte_order(void **state)
{
    (void)state;
    uint32_t *words;
    size_t count;
    corpus_assemble(small_text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    for (size_t i = 0; i < count; i++)
        words[i] = __builtin_bswap32(words[i]);
    assert_round_trip("swapped", words, count);
    free(words);
}

static void test_uses(void **state)
{
    (void)state;
    struct pm_ir_module *module = parsed_text(small_text);
    assert_uses_consistent(module);
    struct pm_ir_def *five = module->defs[5];
    assert_int_equal(count_uses(five), 3); /* OpName, twice in OpFAdd */
    struct pm_ir_instr *add = pm_ir_find(module, 7);
    assert_int_equal(add->opcode, SpvOpFAdd);
    assert_ptr_equal(pm_ir_type_of(add), pm_ir_find(module, 4));

    assert_true(pm_ir_operands_insert(module, add, 1, 2));
    assert_int_equal(add->operand_count, 4);
    assert_int_equal(pm_ir_operand_id(&add->operands[0]), 5);
    assert_int_equal(pm_ir_operand_id(&add->operands[1]), 0);
    assert_int_equal(pm_ir_operand_id(&add->operands[3]), 5);
    assert_uses_consistent(module);
    pm_ir_operand_set(&add->operands[1], module->defs[4]);
    pm_ir_operands_remove(add, 1, 2);
    assert_uses_consistent(module);
    assert_int_equal(count_uses(five), 3);

    struct pm_ir_def *other = module->defs[4];
    size_t before = count_uses(other);
    pm_ir_replace_uses(five, other);
    assert_int_equal(count_uses(five), 0);
    assert_int_equal(count_uses(other), before + 3);
    assert_uses_consistent(module);
    pm_ir_module_destroy(module);
}

static void test_remove_takes_names_and_decorations(void **state)
{
    (void)state;
    struct pm_ir_module *module = parsed_text(small_text);
    struct pm_ir_instr *add = pm_ir_find(module, 7), *five = pm_ir_find(module, 5);
    pm_ir_remove(add);
    assert_null(module->sections[PM_IR_SECTION_ANNOTATION].first);
    assert_int_equal(count_uses(five->result), 1);
    pm_ir_remove(five);
    assert_null(module->sections[PM_IR_SECTION_NAME].first);
    assert_null(pm_ir_find(module, 7));
    assert_uses_consistent(module);
    struct pm_words out;
    assert_true(pm_ir_emit(module, &out, NULL));
    corpus_assert_valid("removed", out.data, out.count, SPV_ENV_UNIVERSAL_1_3);
    pm_words_finish(&out);
    pm_ir_module_destroy(module);
}

static void assert_refused(const char *text, enum pm_code code, const char *reason)
{
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, &error);
    free(words);
    assert_null(module);
    assert_int_equal(error.code, code);
    if (!strstr(error.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", error.message, reason);
}

static void test_refusals(void **state)
{
    (void)state;
    struct pm_error error;
    assert_null(pm_ir_parse(NULL, 0, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);

    uint32_t header[5] = {SpvMagicNumber, 0x10000, 0, 0xffffffff, 0};
    assert_null(pm_ir_parse(header, 5, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);

    uint32_t unknown[6] = {SpvMagicNumber, 0x10000, 0, 1, 0, 0x0001ffffu};
    assert_null(pm_ir_parse(unknown, 6, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_string_equal(error.message, "SPIR-V word 5: Invalid opcode: 65535");

    uint32_t above[7] = {SpvMagicNumber, 0x10000, 0, 5, 0, 0x00020013u, 9};
    assert_null(pm_ir_parse(above, 7, &error));
    assert_non_null(strstr(error.message, "not below the bound"));

    assert_refused("OpMemoryModel Logical GLSL450\nOpCapability Shader\n", PM_ERROR_INPUT,
                   "OpCapability is out of the layout's order");
    assert_refused("%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpFunction %1 None %2\n"
                   "%4 = OpLabel\nOpBranch %2\nOpFunctionEnd\n",
                   PM_ERROR_INPUT, "OpBranch names no block of its function");
    assert_refused("%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpFunction %1 None %2\n"
                   "%4 = OpLabel\n",
                   PM_ERROR_INPUT, "does not end");
    assert_refused("%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpFunction %1 None %2\n"
                   "%4 = OpLabel\nOpFunctionEnd\n",
                   PM_ERROR_INPUT, "before its last block ended");
    assert_refused("%2 = OpTypeVector %1 2\n", PM_ERROR_INPUT, "not defined");
    assert_refused("%1 = OpTypeVoid\n%2 = OpVariable %1 Input\n", PM_ERROR_INPUT,
                   "word 7: the type of OpVariable");
    assert_refused("%1 = OpTypeInt 65 0\n", PM_ERROR_INPUT, "word 5: OpTypeInt of 65 bits");
    assert_refused("%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n"
                   "%4 = OpFunction %1 None %2\n%5 = OpLabel\n%6 = OpIAdd %3 %7 %7\n"
                   "%7 = OpIAdd %3 %6 %6\nOpReturn\nOpFunctionEnd\n",
                   PM_ERROR_INPUT, "word 21: OpIAdd names id 7 before");
    assert_refused("%1 = OpTypeVector %1 2\n", PM_ERROR_INPUT,
                   "word 5: OpTypeVector names id 1 before");
    assert_refused("%1 = OpTypeFloat 32\n%2 = OpTypeStruct %3\n%3 = OpTypeArray %2 %4\n"
                   "%5 = OpTypeInt 32 0\n%4 = OpConstant %5 1\n",
                   PM_ERROR_INPUT, "word 8: OpTypeStruct names id 3 before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_round_trip_other_byte_order),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_remove_takes_names_and_decorations),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
