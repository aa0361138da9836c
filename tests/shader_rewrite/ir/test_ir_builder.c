#include "shader_rewrite/ir/ir_builder.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/parsed_text.h"
#include "tests/shader_rewrite/shaders_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_valid(const struct pm_ir_module *module)
{
    struct pm_words out;
    struct pm_error error = {0};
    if (!pm_ir_emit(module, &out, &error))
        fail_msg("%s", error.message);
    corpus_assert_valid("built", out.data, out.count, SPV_ENV_VULKAN_1_1);
    pm_words_finish(&out);
}

static void test_globals_once(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    assert_int_equal(pm_ir_type_bool(m)->id, 4);
    assert_int_equal(pm_ir_type_int(m, 32, false)->id, 6);
    assert_int_equal(pm_ir_constant_uint(m, 7)->id, 7);
    assert_int_equal(pm_ir_constant_bool(m, true)->id, 5);
    struct pm_ir_def *other = pm_ir_type_int(m, 32, true);
    assert_true(other->id >= 110);
    assert_ptr_equal(pm_ir_type_int(m, 32, true), other);
    assert_ptr_equal(pm_ir_type_vector(m, other, 3), pm_ir_type_vector(m, other, 3));
    assert_ptr_not_equal(pm_ir_type_vector(m, other, 3), pm_ir_type_vector(m, other, 4));

    pm_ir_require_capability(m, SpvCapabilityInt64);
    pm_ir_require_capability(m, SpvCapabilityInt64);
    assert_true(pm_ir_has_capability(m, SpvCapabilityInt64));
    struct pm_ir_def *wide = pm_ir_type_int(m, 64, false);
    struct pm_ir_def *large = pm_ir_constant_int64(m, wide, 0x100000002ull);
    assert_ptr_equal(pm_ir_constant_int64(m, wide, 0x100000002ull), large);
    assert_ptr_not_equal(pm_ir_constant_int64(m, wide, 2), large);
    assert_ptr_equal(pm_ir_constant_scalar(m, wide->instr, 0x100000002ull), large);
    assert_true(pm_ir_operand_literal(&large->instr->operands[0]) == 0x100000002ull);

    /* Narrow ones fill their word, whatever is above their bits. */
    pm_ir_require_capability(m, SpvCapabilityInt16);
    const struct pm_ir_instr *narrow[] = {pm_ir_type_int(m, 16, false)->instr,
                                          pm_ir_type_int(m, 16, true)->instr};
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        const struct pm_ir_def *below = pm_ir_constant_scalar(m, narrow[is_signed], 0xfffd);
        assert_int_equal(pm_ir_operand_word(&below->instr->operands[0]),
                         is_signed ? 0xfffffffd : 0xfffd);
        assert_ptr_equal(pm_ir_constant_scalar(m, narrow[is_signed], 0xfffffffd), below);
        const struct pm_ir_def *above = pm_ir_constant_scalar(m, narrow[is_signed], 0xffff0003);
        assert_int_equal(pm_ir_operand_word(&above->instr->operands[0]), 3);
    }

    /* A decorated type is not the plain one. */
    struct pm_ir_def *pointer = pm_ir_type_pointer(m, SpvStorageClassFunction, other);
    pm_ir_decorate(m, pointer, SpvDecorationArrayStride, PM_IR_ARGS(pm_ir_word(4)));
    assert_ptr_not_equal(pm_ir_type_pointer(m, SpvStorageClassFunction, other), pointer);
    assert_false(m->failed);
    pm_ir_module_destroy(m);
}

/* The first of several that are alike, whatever was appended and removed in between. */
static void test_globals_among_many(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    struct pm_ir_def *uint = pm_ir_type_int(m, 32, false), *made[1000];
    for (uint32_t i = 0; i < 1000; i++)
        made[i] = pm_ir_constant_uint(m, 1000 + i);
    for (uint32_t i = 0; i < 1000; i++)
        assert_ptr_equal(pm_ir_constant_uint(m, 1000 + i), made[i]);
    struct pm_ir_def *again =
        pm_ir_global_new(m, SpvOpConstant, uint, PM_IR_ARGS(pm_ir_word(1500)));
    assert_ptr_equal(pm_ir_constant_uint(m, 1500), made[500]);
    pm_ir_remove(made[500]->instr);
    assert_ptr_equal(pm_ir_constant_uint(m, 1500), again);
    pm_ir_remove(again->instr); /* the last that there is */
    struct pm_ir_def *anew = pm_ir_constant_uint(m, 1500);
    assert_ptr_not_equal(anew, made[500]);
    assert_ptr_not_equal(anew, again);
    assert_ptr_equal(pm_ir_constant_uint(m, 1500), anew);
    assert_ptr_equal(pm_ir_constant_uint(m, 1999), made[999]);
    pm_ir_decorate(m, made[3], SpvDecorationRelaxedPrecision, NULL, 0);
    assert_ptr_not_equal(pm_ir_constant_uint(m, 1003), made[3]);
    pm_ir_module_destroy(m);
}

static void test_extension(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    assert_false(pm_ir_has_extension(m, "SPV_KHR_storage_buffer_storage_class"));
    pm_ir_require_extension(m, "SPV_KHR_storage_buffer_storage_class");
    pm_ir_require_extension(m, "SPV_KHR_storage_buffer_storage_class");
    assert_true(pm_ir_has_extension(m, "SPV_KHR_storage_buffer_storage_class"));
    assert_null(m->sections[PM_IR_SECTION_EXTENSION].first->next);
    assert_valid(m);
    pm_ir_module_destroy(m);
}

static void test_builtin_input(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    struct pm_ir_instr *entry = m->sections[PM_IR_SECTION_ENTRY_POINT].first;
    struct pm_ir_def *uvec3 = pm_ir_type_vector(m, pm_ir_type_int(m, 32, false), 3);
    struct pm_ir_def *group = pm_ir_builtin_input(m, entry, SpvBuiltInWorkgroupId, uvec3);
    assert_int_equal(entry->operand_count, 4);
    assert_ptr_equal(pm_ir_builtin_input(m, entry, SpvBuiltInWorkgroupId, uvec3), group);
    assert_int_equal(entry->operand_count, 4);
    assert_valid(m);
    pm_ir_module_destroy(m);
}

/* A selection put in front of a block's rest, with a value that leaves it through OpPhi. */
static void test_selection_and_phi(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    struct pm_ir_block *block = pm_ir_find(m, 106)->block;
    struct pm_ir_block *rest = pm_ir_block_split(m, block, pm_ir_block_start(block));
    struct pm_ir_builder b = {m, block, NULL};
    struct pm_ir_def *condition = pm_ir_constant_bool(m, true);
    struct pm_ir_def *uint = pm_ir_type_int(m, 32, false), *seven = pm_ir_constant_uint(m, 7);
    pm_ir_build_if(&b, condition, false, rest);
    struct pm_ir_block *inside = b.block;
    assert_ptr_not_equal(inside, block);
    struct pm_ir_def *sum =
        pm_ir_build(&b, SpvOpIAdd, uint, PM_IR_ARGS(pm_ir_id(seven), pm_ir_id(seven)));
    struct pm_ir_block *inner = pm_ir_build_if(&b, condition, true, NULL);
    pm_ir_build_end_if(&b, inner);
    pm_ir_build_end_if(&b, rest);
    struct pm_ir_instr *phi = pm_ir_build_instr(&b, SpvOpPhi, uint, NULL, 0);
    pm_ir_phi_add(m, phi, seven, block);
    pm_ir_phi_add(m, phi, sum, inner);
    assert_valid(m);
    assert_ptr_equal(pm_ir_operand_instr(phi, 2), sum->instr);

    assert_ptr_equal(pm_ir_phi_value(phi, inner), sum);
    pm_ir_phi_remove(phi, inner);
    assert_null(pm_ir_phi_value(phi, inner));
    assert_int_equal(phi->operand_count, 2);
    pm_ir_phi_remove(phi, inner);
    assert_int_equal(phi->operand_count, 2);
    assert_int_equal(pm_ir_operand_id(&phi->operands[1]), 106);
    pm_ir_module_destroy(m);
}

/* OpPhi follow the part of a split block that holds the branch, also those of a loop onto itself.
 */
static void test_split_moves_phis(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_HEAD "%100 = OpLabel\n"
                                                     "OpBranch %101\n"
                                                     "%101 = OpLabel\n"
                                                     "%20 = OpPhi %6 %7 %100 %21 %101\n"
                                                     "%21 = OpIAdd %6 %20 %7\n"
                                                     "OpLoopMerge %102 %101 None\n"
                                                     "OpBranchConditional %5 %101 %102\n"
                                                     "%102 = OpLabel\n"
                                                     "%22 = OpPhi %6 %21 %101\n"
                                                     "OpReturn\n"
                                                     "OpFunctionEnd\n");
    struct pm_ir_block *block = pm_ir_find(m, 101)->block;
    struct pm_ir_instr *start = pm_ir_block_start(block);
    assert_int_equal(start->result->id, 21);
    struct pm_ir_block *rest = pm_ir_block_split(m, block, start);
    uint32_t tail = rest->label->result->id;
    assert_int_equal(pm_ir_operand_id(&pm_ir_find(m, 20)->operands[1]), 100);
    assert_int_equal(pm_ir_operand_id(&pm_ir_find(m, 20)->operands[3]), tail);
    assert_int_equal(pm_ir_operand_id(&pm_ir_find(m, 22)->operands[1]), tail);
    assert_int_equal(pm_ir_operand_id(&pm_ir_terminator(rest)->operands[1]), 101);
    assert_int_equal(block->body.last->result->id, 20);
    assert_ptr_equal(pm_ir_find(m, 21)->block, rest);
    assert_ptr_equal(block->next, rest);
    pm_ir_module_destroy(m);
}

/* A type may not be declared twice, however it is decorated. */
static void test_decorated_types(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    struct pm_ir_def *type = pm_ir_type_float(m, 32);
    struct pm_ir_def *one = pm_ir_constant_uint(m, 1);
    pm_ir_decorate(m, type, SpvDecorationRelaxedPrecision, NULL, 0);
    pm_ir_decorate(m, one, SpvDecorationRelaxedPrecision, NULL, 0);
    assert_ptr_equal(pm_ir_type_float(m, 32), type);
    assert_ptr_not_equal(pm_ir_constant_uint(m, 1), one);
    pm_ir_module_destroy(m);
}

/* Whatever runs out, the module remembers, builders pass NULL on, and nothing is emitted. */
static void test_failure_is_kept(void **state)
{
    (void)state;
    struct pm_ir_module *m = parsed_text(SHADER_LOOPS);
    m->bound = PM_IR_MAX_BOUND;
    struct pm_ir_def *type = pm_ir_type_int(m, 16, false);
    assert_null(type);
    assert_null(pm_ir_type_vector(m, type, 2));
    struct pm_ir_builder b = {m, pm_ir_find(m, 106)->block, NULL};
    assert_null(pm_ir_build(&b, SpvOpCopyObject, type, PM_IR_ARGS(pm_ir_id(NULL))));
    assert_null(pm_ir_build_if(&b, NULL, true, NULL));
    pm_ir_build_end_if(&b, NULL);
    pm_ir_phi_add(m, NULL, NULL, NULL);
    struct pm_words out;
    struct pm_error error = {0};
    assert_false(pm_ir_emit(m, &out, &error));
    assert_int_equal(error.code, PM_ERROR_MEMORY);
    pm_ir_module_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_globals_once),     cmocka_unit_test(test_globals_among_many),
        cmocka_unit_test(test_decorated_types),  cmocka_unit_test(test_extension),
        cmocka_unit_test(test_builtin_input),    cmocka_unit_test(test_selection_and_phi),
        cmocka_unit_test(test_split_moves_phis), cmocka_unit_test(test_failure_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
