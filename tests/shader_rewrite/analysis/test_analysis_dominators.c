#include "shader_rewrite/analysis/analysis.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/shaders_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE PM_NO_BLOCK

static struct pm_ir_module *parse(const char *text)
{
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    corpus_assert_valid("text", words, count, SPV_ENV_VULKAN_1_1);
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, &error);
    free(words);
    if (!module)
        fail_msg("%s", error.message);
    assert_true(pm_analysis_require(module->first_function, PM_ANALYSIS_ALL, &error));
    return module;
}

static void assert_parents(const struct pm_dominators *d, const uint32_t *parents)
{
    for (uint32_t b = 0; b < d->count; b++)
        if (d->parent[b] != parents[b])
            fail_msg("block %u: immediate dominator %d, not %d", b, (int)d->parent[b],
                     (int)parents[b]);
}

static void assert_reaches(const struct pm_cfg *cfg, uint32_t block, uint32_t count,
                           const uint32_t *expected)
{
    const struct pm_graph *g = &cfg->flow;
    assert_int_equal(g->successor_start[block + 1] - g->successor_start[block], count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(g->successors[g->successor_start[block] + i], expected[i]);
}

static void test_graph(void **state)
{
    (void)state;
    struct pm_ir_module *module = parse(SHADER_LOOPS);
    const struct pm_cfg *cfg = pm_cfg(module->first_function);
    assert_int_equal(cfg->count, 10);
    assert_int_equal(cfg->order_count, 10);
    assert_int_equal(cfg->order[0], 0);
    assert_reaches(cfg, 1, 2, (uint32_t[]){2, 9});
    assert_reaches(cfg, 3, 2, (uint32_t[]){3, 4});
    assert_reaches(cfg, 4, 3, (uint32_t[]){7, 5, 6}); /* the repeated case once */
    assert_reaches(cfg, 9, 0, NULL);
    const struct pm_graph *g = &cfg->flow;
    assert_int_equal(g->predecessor_start[2] - g->predecessor_start[1], 2);
    for (uint32_t b = 0; b < cfg->count; b++) {
        assert_int_equal(cfg->blocks[b]->label->result->id, 100 + b);
        assert_int_equal(cfg->blocks[b]->index, b);
        assert_int_equal(cfg->order[cfg->order_of[b]], b);
    }
    pm_ir_module_destroy(module);

    module = parse(SHADER_SELECTION);
    cfg = pm_cfg(module->first_function);
    assert_int_equal(cfg->order_count, 6);
    assert_false(pm_cfg_reachable(cfg, 6));
    assert_true(pm_cfg_reachable(cfg, 5));
    pm_ir_module_destroy(module);
}

static void test_dominators(void **state)
{
    (void)state;
    struct pm_ir_module *module = parse(SHADER_SELECTION);
    const struct pm_dominators *d = pm_dominators(module->first_function);
    assert_parents(d, (uint32_t[]){NONE, 0, 0, 2, 2, 0, NONE});
    assert_true(pm_dominates(d, 0, 5));
    assert_true(pm_dominates(d, 2, 4));
    assert_true(pm_dominates(d, 3, 3));
    assert_false(pm_dominates(d, 2, 5));
    assert_false(pm_dominates(d, 4, 2));
    assert_false(pm_dominates(d, 6, 5)); /* unreachable */
    assert_false(pm_dominates(d, 6, 6));
    pm_ir_module_destroy(module);

    module = parse(SHADER_LOOPS);
    d = pm_dominators(module->first_function);
    assert_parents(d, (uint32_t[]){NONE, 0, 1, 2, 3, 4, 4, 4, 7, 1});
    assert_true(pm_dominates(d, 3, 8));
    assert_false(pm_dominates(d, 5, 9));
    pm_ir_module_destroy(module);
}

static void test_postdominators(void **state)
{
    (void)state;
    struct pm_ir_module *module = parse(SHADER_SELECTION);
    const struct pm_dominators *d = pm_postdominators(module->first_function);
    assert_int_equal(d->count, 8); /* with the exit */
    assert_parents(d, (uint32_t[]){7, 5, 7, 7, 5, 7, 5, NONE});
    pm_ir_module_destroy(module);

    module = parse(SHADER_LOOPS);
    d = pm_postdominators(module->first_function);
    assert_parents(d, (uint32_t[]){1, 9, 3, 4, 9, 9, 7, 8, 1, 10, NONE});
    assert_true(pm_dominates(d, 9, 0));
    assert_false(pm_dominates(d, 7, 4));
    pm_ir_module_destroy(module);
}

/* Dominance by its definition: a dominates b when b cannot be reached without passing a. */
static bool reaches_without(const struct pm_graph *g, uint32_t from, uint32_t to, uint32_t without,
                            bool *seen)
{
    if (from == without || seen[from])
        return false;
    if (from == to)
        return true;
    seen[from] = true;
    for (uint32_t i = g->successor_start[from]; i < g->successor_start[from + 1]; i++)
        if (reaches_without(g, g->successors[i], to, without, seen))
            return true;
    return false;
}

static void assert_by_definition(const char *name, const struct pm_graph *g,
                                 const struct pm_dominators *d)
{
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t a = 0; a < g->count; a++) {
            bool *seen = calloc(g->count, 1);
            bool reachable = reaches_without(g, 0, b, UINT32_MAX, seen);
            free(seen);
            seen = calloc(g->count, 1);
            bool expected = reachable && !reaches_without(g, 0, b, a, seen);
            free(seen);
            if (pm_dominates(d, a, b) != expected)
                fail_msg("%s: whether %u dominates %u", name, a, b);
        }
}

static void test_corpus_by_definition(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++) {
        struct pm_error error = {0};
        struct pm_ir_module *module =
            pm_ir_parse(corpus.files[i].words, corpus.files[i].count, &error);
        assert_non_null(module);
        for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
            assert_true(pm_analysis_require(f, PM_ANALYSIS_DOMINATORS, &error));
            assert_by_definition(corpus.files[i].name, &pm_cfg(f)->flow, pm_dominators(f));
        }
        pm_ir_module_destroy(module);
    }
    corpus_finish(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_dominators),
        cmocka_unit_test(test_postdominators),
        cmocka_unit_test(test_corpus_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
