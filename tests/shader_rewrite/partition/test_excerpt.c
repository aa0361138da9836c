/* What a pass is made of is as large as the pass, however large the shader is; and the same each
 * time that it is asked for. */
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/partition/excerpt.h"
#include "shader_rewrite/partition/schedule/mio.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { OPERATIONS = 6000, A_PASS = 60 };

static struct {
    struct pm_words words;
    struct pm_ir_module *module;
    struct pm_shader_graph graph;
    struct pm_plan plan;
    struct pm_excerpts *excerpts;
} whole;

/* One long chain. Each of its operations has a constant, a name and a decoration of its own. */
static char *chain(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
          "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n",
          out);
    for (int i = 1; i <= OPERATIONS; i++)
        fprintf(out, "OpName %%v%d \"step %d\"\n", i, i);
    fputs("OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
          "OpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n",
          out);
    for (int i = 1; i <= OPERATIONS; i++)
        fprintf(out, "OpDecorate %%v%d NoContraction\n", i);
    fputs("%void = OpTypeVoid\n%function = OpTypeFunction %void\n%int = OpTypeInt 32 1\n"
          "%zero = OpConstant %int 0\n%float = OpTypeFloat 32\n%block = OpTypeStruct %float\n"
          "%whole = OpTypePointer StorageBuffer %block\n"
          "%member = OpTypePointer StorageBuffer %float\n"
          "%buffer = OpVariable %whole StorageBuffer\n",
          out);
    for (int i = 1; i <= OPERATIONS; i++)
        fprintf(out, "%%c%d = OpConstant %%float %d.5\n", i, i);
    fputs("%main = OpFunction %void None %function\n%entry = OpLabel\n"
          "%place = OpAccessChain %member %buffer %zero\n%v0 = OpLoad %float %place\n",
          out);
    for (int i = 1; i <= OPERATIONS; i++)
        fprintf(out, "%%v%d = %s %%float %%v%d %%c%d\n", i, i % 2 ? "OpFAdd" : "OpFMul", i - 1, i);
    fprintf(out, "OpStore %%place %%v%d\nOpReturn\nOpFunctionEnd\n", OPERATIONS);
    assert_int_equal(fclose(out), 0);
    return text;
}

static int setup(void **state)
{
    (void)state;
    char *text = chain();
    struct pm_error error = {0};
    enum pm_stage stage;
    struct pm_pass_limits limits = {A_PASS,      PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT,
                                    PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT, false};
    whole.words = pm_test_assemble(text, 3);
    free(text);
    whole.module = pm_ir_parse(whole.words.data, whole.words.count, &error);
    assert_non_null(whole.module);
    struct pm_ir_function *function = pm_entry_function(whole.module, &stage, &error);
    if (!function || !pm_analysis_require(function, PM_ANALYSIS_STRUCTURE, &error) ||
        !pm_shader_graph_make(function, false, false, &limits, whole.module->arena, &whole.graph,
                              &error) ||
        !pm_mio(&whole.graph.operations, &limits, &(struct pm_mio_options){0}, &whole.plan, &error))
        fail_msg("%s", error.message);
    whole.excerpts = pm_excerpts_create(whole.module, &whole.graph, &whole.plan);
    assert_non_null(whole.excerpts);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pm_plan_finish(&whole.plan);
    pm_operations_finish(&whole.graph.operations);
    pm_ir_module_destroy(whole.module);
    pm_words_finish(&whole.words);
    return 0;
}

/* All together have little more than the whole. */
static void none_has_what_others_compute(void **state)
{
    (void)state;
    size_t words = 0;
    for (uint32_t p = 0; p < whole.plan.pass_count; p++) {
        struct pm_excerpt excerpt;
        assert_true(pm_excerpt_make(whole.excerpts, p, &excerpt));
        words += excerpt.words.count;
        assert_true(excerpt.steps <= A_PASS + 8);
        pm_words_finish(&excerpt.words);
    }
    assert_true(whole.plan.pass_count >= OPERATIONS / A_PASS);
    if (words > whole.words.count + 120 * (size_t)whole.plan.pass_count)
        fail_msg("%zu words instead of %zu in %u passes", words, whole.words.count,
                 whole.plan.pass_count);
}

/* A pass in the middle begins with a value of the one before. */
static void values_of_others_are_undefined(void **state)
{
    (void)state;
    struct pm_excerpt first, middle;
    assert_true(pm_excerpt_make(whole.excerpts, 0, &first));
    assert_int_equal(pm_test_count(&first.words, "OpUndef"), 0);
    assert_int_equal(pm_test_count(&first.words, "OpLoad"), 1);
    assert_true(pm_excerpt_make(whole.excerpts, whole.plan.pass_count / 2, &middle));
    assert_int_equal(pm_test_count(&middle.words, "OpUndef"), 1);
    assert_int_equal(pm_test_count(&middle.words, "OpLoad"), 0);
    const int computed =
        pm_test_count(&middle.words, "OpFAdd") + pm_test_count(&middle.words, "OpFMul");
    assert_true(computed > 0 && computed <= A_PASS);
    assert_int_equal(pm_test_count(&middle.words, "NoContraction"), computed);
    assert_int_equal(pm_test_count(&middle.words, "OpName"), computed);
    pm_words_finish(&first.words);
    pm_words_finish(&middle.words);
}

static void it_is_the_same_each_time(void **state)
{
    (void)state;
    struct pm_excerpt once, again;
    assert_true(pm_excerpt_make(whole.excerpts, 3, &once));
    const uint32_t steps = once.steps;
    assert_true(pm_excerpt_make(whole.excerpts, 3, &again));
    assert_int_equal(steps, again.steps);
    assert_int_equal(once.words.count, again.words.count);
    assert_memory_equal(once.words.data, again.words.data,
                        once.words.count * sizeof(*once.words.data));
    pm_words_finish(&once.words);
    pm_words_finish(&again.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_has_what_others_compute),
        cmocka_unit_test(values_of_others_are_undefined),
        cmocka_unit_test(it_is_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
