/* The pass runner: what it computes, keeps and forgets, and that a pass which lies is found out. */
#include "base/stop.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const char text[] = "OpCapability Shader\n"
                           "OpMemoryModel Logical GLSL450\n"
                           "OpEntryPoint GLCompute %1 \"main\"\n"
                           "OpExecutionMode %1 LocalSize 1 1 1\n"
                           "%2 = OpTypeVoid\n"
                           "%3 = OpTypeFunction %2\n"
                           "%4 = OpTypeFloat 32\n"
                           "%5 = OpConstant %4 5\n"
                           "%6 = OpConstant %4 6\n"
                           "%9 = OpTypeVector %4 2\n"
                           "%10 = OpTypeMatrix %9 2\n"
                           "%11 = OpConstantComposite %9 %5 %6\n"
                           "%12 = OpConstantComposite %10 %11 %11\n"
                           "%1 = OpFunction %2 None %3\n"
                           "%7 = OpLabel\n"
                           "%8 = OpFAdd %4 %5 %5\n"
                           "%13 = OpTranspose %10 %12\n"
                           "%14 = OpMatrixTimesVector %9 %13 %11\n"
                           "OpReturn\n"
                           "OpFunctionEnd\n";

struct subject {
    struct pm_ir_module *module;
    struct pm_pass_times times;
    struct pm_pass_runner runner;
    struct pm_error error;
};

static void begin(struct subject *s)
{
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    *s = (struct subject){.module = pm_ir_parse(words, count, &s->error)};
    free(words);
    assert_non_null(s->module);
    s->runner = pm_pass_runner_of(s->module, &s->times);
    s->runner.checks = true;
}

static enum pm_pass_result run(struct subject *s, unsigned requires, unsigned preserves,
                               enum pm_pass_result (*pass)(struct pm_ir_module *, void *,
                                                           struct pm_error *))
{
    const struct pm_pass made = {"a test's", requires, preserves, pass};
    return pm_pass_run(&s->runner, &made, s, &s->error);
}

/* ---- passes ---- */

static enum pm_pass_result look(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    (void)error;
    assert_non_null(pm_loops(module->first_function));
    return PM_PASS_UNCHANGED;
}

static enum pm_pass_result refuse(struct pm_ir_module *module, void *context,
                                  struct pm_error *error)
{
    (void)module;
    (void)context;
    return pm_pass_result_of(pm_fail(error, PM_ERROR_INPUT, "refused"), true);
}

static enum pm_pass_result run_out(struct pm_ir_module *module, void *context,
                                   struct pm_error *error)
{
    (void)context;
    (void)error;
    module->failed = true;
    return PM_PASS_CHANGED;
}

static _Atomic bool asked;

static enum pm_pass_result ask(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)module;
    (void)context;
    (void)error;
    atomic_store(&asked, true);
    return PM_PASS_UNCHANGED;
}

static void subtract(const struct pm_ir_module *module)
{
    pm_ir_find(module, 8)->opcode = SpvOpFSub;
}

static enum pm_pass_result change(struct pm_ir_module *module, void *context,
                                  struct pm_error *error)
{
    (void)context;
    (void)error;
    subtract(module);
    return PM_PASS_CHANGED;
}

static enum pm_pass_result change_in_secret(struct pm_ir_module *module, void *context,
                                            struct pm_error *error)
{
    (void)context;
    (void)error;
    subtract(module);
    return PM_PASS_UNCHANGED;
}

static enum pm_pass_result split(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    (void)error;
    struct pm_ir_block *block = module->first_function->first_block;
    struct pm_ir_builder builder = {module, block, NULL};
    pm_ir_build_branch(&builder, pm_ir_block_split(module, block, pm_ir_terminator(block)));
    return PM_PASS_CHANGED;
}

static enum pm_pass_result break_links(struct pm_ir_module *module, void *context,
                                       struct pm_error *error)
{
    (void)context;
    (void)error;
    pm_ir_find(module, 8)->operands[0].def = module->defs[6];
    return PM_PASS_CHANGED;
}

static enum pm_pass_result open_block(struct pm_ir_module *module, void *context,
                                      struct pm_error *error)
{
    (void)context;
    (void)error;
    pm_ir_remove(pm_ir_terminator(module->first_function->first_block));
    return PM_PASS_CHANGED;
}

/* The product's matrix is a constant, and not known to be a transposed one any more. */
static enum pm_pass_result forget(struct pm_ir_module *module, void *context,
                                  struct pm_error *error)
{
    (void)context;
    (void)error;
    pm_ir_operand_set(&pm_ir_find(module, 14)->operands[0], module->defs[12]);
    return PM_PASS_CHANGED;
}

static enum pm_pass_result copy(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_ir_instr *product = pm_ir_find(module, 14);
    struct pm_ir_instr *like = pm_ir_instr_like(module, product, product->type.def);
    pm_ir_operand_set(&like->operands[0], module->defs[12]);
    pm_ir_operand_set(&like->operands[1], module->defs[11]);
    pm_ir_insert(&product->block->body, product->block, product, like);
    return forget(module, context, error);
}

static enum pm_pass_result multiply(struct pm_ir_module *module, void *context,
                                    struct pm_error *error)
{
    (void)context;
    (void)error;
    const struct pm_ir_instr *product = pm_ir_find(module, 14);
    struct pm_ir_builder builder = {module, product->block, product->next};
    pm_ir_build(&builder, SpvOpMatrixTimesVector, product->type.def,
                PM_IR_ARGS(pm_ir_id(module->defs[12]), pm_ir_id(module->defs[11])));
    return PM_PASS_CHANGED;
}

/* ---- tests ---- */

static void test_requires_and_preserves(void **state)
{
    (void)state;
    struct subject s;
    begin(&s);
    const struct pm_ir_function *f = s.module->first_function;
    assert_int_equal(run(&s, PM_ANALYSIS_LOOPS, 0, look), PM_PASS_UNCHANGED);
    assert_int_equal(pm_analysis_valid(f),
                     PM_ANALYSIS_CFG | PM_ANALYSIS_STRUCTURE | PM_ANALYSIS_LOOPS);
    assert_int_equal(
        run(&s, PM_ANALYSIS_DOMINATORS, PM_ANALYSIS_CFG | PM_ANALYSIS_STRUCTURE, change),
        PM_PASS_CHANGED);
    assert_int_equal(pm_analysis_valid(f), PM_ANALYSIS_CFG | PM_ANALYSIS_STRUCTURE);
    assert_int_equal(run(&s, PM_ANALYSIS_ALL, 0, split), PM_PASS_CHANGED);
    assert_int_equal(pm_analysis_valid(f), 0);
    pm_ir_module_destroy(s.module);
}

static void test_failure(void **state)
{
    (void)state;
    struct subject s;
    begin(&s);
    assert_int_equal(run(&s, 0, 0, refuse), PM_PASS_FAILED);
    assert_int_equal(s.error.code, PM_ERROR_INPUT);
    assert_string_equal(s.error.message, "refused");
    assert_int_equal(run(&s, 0, 0, run_out), PM_PASS_FAILED);
    assert_int_equal(s.error.code, PM_ERROR_MEMORY);
    pm_ir_module_destroy(s.module);
}

/* Neither is a pass begun that is not wanted any more, nor one taken that may have been cut short.
 */
static void test_stopping(void **state)
{
    (void)state;
    struct subject s;
    begin(&s);
    pm_stop_watch(&asked);
    assert_int_equal(run(&s, PM_ANALYSIS_LOOPS, 0, look), PM_PASS_UNCHANGED);
    assert_int_equal(run(&s, 0, 0, ask), PM_PASS_FAILED);
    assert_int_equal(s.error.code, PM_ERROR_STOPPED);
    assert_int_equal(run(&s, 0, 0, run_out), PM_PASS_FAILED);
    assert_int_equal(s.error.code, PM_ERROR_STOPPED);
    assert_false(s.module->failed);
    pm_stop_watch(NULL);
    assert_int_equal(run(&s, 0, 0, change), PM_PASS_CHANGED);
    pm_ir_module_destroy(s.module);
}

static void assert_found_out(unsigned preserves,
                             enum pm_pass_result (*pass)(struct pm_ir_module *, void *,
                                                         struct pm_error *),
                             const char *why)
{
    struct subject s;
    begin(&s);
    assert_int_equal(run(&s, PM_ANALYSIS_ALL, preserves, pass), PM_PASS_FAILED);
    assert_int_equal(s.error.code, PM_ERROR_STATE);
    assert_non_null(strstr(s.error.message, "a test's"));
    if (!strstr(s.error.message, why))
        fail_msg("%s", s.error.message);
    pm_ir_module_destroy(s.module);
}

static void test_lies(void **state)
{
    (void)state;
    assert_found_out(PM_ANALYSIS_ALL, change_in_secret, "changed nothing");
    assert_found_out(PM_ANALYSIS_ALL, split, "kept its control-flow graph");
    assert_found_out(0, break_links, "uses");
    assert_found_out(0, open_block, "terminator");
}

static uint32_t transposed_products(const struct pm_ir_module *module)
{
    uint32_t count = 0;
    for (const struct pm_ir_instr *i = module->first_function->first_block->body.first; i;
         i = i->next)
        if (i->opcode == SpvOpMatrixTimesVector) {
            assert_int_equal(pm_ir_operand_instr(i, 0)->opcode, SpvOpTranspose);
            count++;
        }
    return count;
}

/* As much is known of a product's matrix as before, also of a copy's; where nobody can say what is
 * to be known the pass has failed. */
static void test_keeps_transposes(void **state)
{
    (void)state;
    struct subject s;
    begin(&s);
    assert_int_equal(run(&s, 0, 0, forget), PM_PASS_CHANGED);
    assert_int_equal(transposed_products(s.module), 1);
    assert_int_equal(run(&s, 0, 0, copy), PM_PASS_CHANGED);
    assert_int_equal(transposed_products(s.module), 2);
    assert_int_equal(run(&s, 0, 0, multiply), PM_PASS_FAILED);
    assert_int_equal(s.error.code, PM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(s.error.message, "MatrixTimesVector is new"));
    pm_ir_module_destroy(s.module);
}

static void test_times(void **state)
{
    (void)state;
    struct subject s;
    begin(&s);
    run(&s, PM_ANALYSIS_LOOPS, PM_ANALYSIS_ALL, look);
    run(&s, 0, 0, change);
    pm_pass_times_add(&s.times, "another", 5, true);
    assert_int_equal(s.times.count, 2);
    assert_int_equal(s.times.rows[0].runs, 2);
    assert_int_equal(s.times.rows[0].changes, 1);
    assert_string_equal(s.times.rows[1].name, "another");
    assert_int_equal(s.times.rows[1].nanoseconds, 5);
    pm_ir_module_destroy(s.module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requires_and_preserves),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_keeps_transposes),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
