/* Constructs, loops, and the points that follow from them. */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/parsed_text.h"
#include "tests/shader_rewrite/shaders_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct pm_ir_module *parse(const char *text)
{
    struct pm_ir_module *module = parsed_text(text);
    struct pm_error error = {0};
    assert_true(pm_analysis_require(module->first_function, PM_ANALYSIS_ALL, &error));
    return module;
}

/* blocks: the digits of those that it holds */
static void assert_construct(const struct pm_structure *s, uint32_t index,
                             enum pm_construct_kind kind, uint32_t header, uint32_t merge,
                             uint32_t parent, const char *blocks)
{
    const struct pm_construct *c = &s->constructs[index];
    assert_true(s->block_count <= 10);
    assert_int_equal(c->kind, kind);
    assert_int_equal(c->header, header);
    assert_int_equal(c->merge, merge);
    assert_int_equal(c->parent, parent);
    for (uint32_t b = 0; b < s->block_count; b++)
        if (pm_structure_contains(s, index, b) != (strchr(blocks, '0' + (int)b) != NULL))
            fail_msg("construct %u of header %u: block %u", index, header, b);
}

static void test_selection(void **state)
{
    (void)state;
    struct pm_ir_module *module = parse(SHADER_SELECTION);
    const struct pm_structure *s = pm_structure(module->first_function);
    assert_int_equal(s->count, 2);
    assert_construct(s, 0, PM_CONSTRUCT_SELECTION, 0, 5, PM_NO_CONSTRUCT, "01234");
    assert_construct(s, 1, PM_CONSTRUCT_SELECTION, 2, 4, 0, "23");
    assert_int_equal(pm_loops(module->first_function)->count, 0);
    pm_ir_module_destroy(module);
}

static void test_loops(void **state)
{
    (void)state;
    struct pm_ir_module *module = parse(SHADER_LOOPS);
    const struct pm_structure *s = pm_structure(module->first_function);
    assert_int_equal(s->count, 5);
    assert_construct(s, 0, PM_CONSTRUCT_LOOP, 1, 9, PM_NO_CONSTRUCT, "1234567");
    assert_construct(s, 1, PM_CONSTRUCT_CONTINUE, 1, 9, PM_NO_CONSTRUCT, "8");
    assert_int_equal(s->constructs[0].continue_target, 8);
    assert_construct(s, 2, PM_CONSTRUCT_LOOP, 3, 4, 0, "");
    assert_construct(s, 3, PM_CONSTRUCT_CONTINUE, 3, 4, 0, "3");
    assert_construct(s, 4, PM_CONSTRUCT_SWITCH, 4, 7, 0, "456");

    const struct pm_loops *l = pm_loops(module->first_function);
    assert_int_equal(l->count, 2);
    assert_int_equal(l->loops[0].header, 1);
    assert_int_equal(l->loops[0].depth, 1);
    assert_int_equal(l->loops[0].parent, PM_NO_LOOP);
    assert_int_equal(l->loops[1].header, 3);
    assert_int_equal(l->loops[1].continue_target, 3);
    assert_int_equal(l->loops[1].depth, 2);
    assert_int_equal(l->loops[1].parent, 0);
    static const uint32_t loop_of[] = {PM_NO_LOOP, 0, 0, 1, 0, 0, 0, 0, 0, PM_NO_LOOP};
    for (uint32_t b = 0; b < 10; b++)
        assert_int_equal(l->loop_of[b], loop_of[b]);
    pm_ir_module_destroy(module);
}

static void test_unreached_continue(void **state)
{
    (void)state;
    struct pm_ir_module *module = parse(SHADER_ONCE);
    const struct pm_structure *s = pm_structure(module->first_function);
    assert_int_equal(s->count, 2);
    assert_construct(s, 0, PM_CONSTRUCT_LOOP, 1, 4, PM_NO_CONSTRUCT, "12");
    assert_construct(s, 1, PM_CONSTRUCT_CONTINUE, 1, 4, PM_NO_CONSTRUCT, "3");
    assert_int_equal(pm_loops(module->first_function)->loop_of[3], 0);
    assert_int_equal(pm_loops(module->first_function)->loop_of[4], PM_NO_LOOP);
    pm_ir_module_destroy(module);
}

static void test_points(void **state)
{
    (void)state;
    static const struct {
        const char *text, *points; /* by block: '1' at most once, 'n' in a loop, '.' no point */
    } cases[] = {
        {SHADER_SELECTION, "111111."}, {SHADER_LOOPS, "1nnnnnnnn1"}, {SHADER_ONCE, "1nn.."}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t *words;
        size_t count;
        corpus_assemble(cases[c].text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
        struct pm_block_points points;
        assert_true(pm_points_blocks(words, count, &points, NULL));
        uint32_t at = 0;
        for (uint32_t b = 0; cases[c].points[b]; b++) {
            if (cases[c].points[b] == '.')
                continue;
            assert_true(at < points.count);
            assert_int_equal(points.points[at].label, 100 + b);
            assert_int_equal(points.points[at].at_most_once, cases[c].points[b] == '1');
            at++;
        }
        assert_int_equal(at, points.count);
        pm_block_points_finish(&points);
        free(words);
    }
}

static void assert_no_points(const char *text, enum pm_code code)
{
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    struct pm_block_points points;
    struct pm_error error = {0};
    assert_false(pm_points_blocks(words, count, &points, &error));
    assert_int_equal(error.code, code);
    assert_null(points.points);
    free(words);
}

static void test_points_refused(void **state)
{
    (void)state;
    static const char *const body = "%2 = OpTypeVoid\n%3 = OpTypeFunction %2\n"
                                    "%1 = OpFunction %2 None %3\n%4 = OpLabel\nOpReturn\n"
                                    "OpFunctionEnd\n";
    char text[1024];
    static const char *const head = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n";
    snprintf(text, sizeof(text), "%s%s%s", head, "", body);
    assert_no_points(text, PM_ERROR_INPUT);
    snprintf(text, sizeof(text), "%s%s%s", head, "OpEntryPoint Vertex %1 \"main\"\n", body);
    assert_no_points(text, PM_ERROR_UNSUPPORTED);
    snprintf(text, sizeof(text), "%s%s%s", head,
             "OpEntryPoint GLCompute %1 \"a\"\nOpEntryPoint GLCompute %1 \"b\"\n", body);
    assert_no_points(text, PM_ERROR_INPUT);
    snprintf(text, sizeof(text), "%s%s%s", head, "OpEntryPoint GLCompute %2 \"a\"\n", body);
    assert_no_points(text, PM_ERROR_INPUT);
}

/* What the analyses claim to know is forgotten when it must be, and a pass that lies is found out.
 */
static void test_metadata(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_ir_module *module = parse(SHADER_LOOPS);
    struct pm_ir_function *f = module->first_function;
    assert_true(pm_analysis_check(f, &error));

    struct pm_ir_instr *branch = pm_ir_terminator(f->first_block);
    pm_ir_operand_set(&branch->operands[0], module->defs[109]);
    assert_false(pm_analysis_check(f, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    pm_analysis_preserve(f, 0);
    assert_null(pm_cfg(f));
    assert_true(pm_analysis_check(f, &error));
    assert_true(pm_analysis_require(f, PM_ANALYSIS_LOOPS, &error));
    assert_non_null(pm_structure(f)); /* what it rests on came with it */
    assert_null(pm_dominators(f));

    assert_true(pm_analysis_require(f, PM_ANALYSIS_ALL, &error));
    pm_analysis_preserve(f, PM_ANALYSIS_CFG | PM_ANALYSIS_LOOPS | PM_ANALYSIS_DOMINATORS);
    assert_non_null(pm_cfg(f));
    assert_non_null(pm_dominators(f));
    assert_null(pm_structure(f));
    assert_null(pm_loops(f)); /* rests on the structure */
    pm_analysis_preserve(f, PM_ANALYSIS_ALL & ~PM_ANALYSIS_CFG);
    assert_null(pm_dominators(f));
    pm_ir_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),          cmocka_unit_test(test_loops),
        cmocka_unit_test(test_unreached_continue), cmocka_unit_test(test_points),
        cmocka_unit_test(test_points_refused),     cmocka_unit_test(test_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
