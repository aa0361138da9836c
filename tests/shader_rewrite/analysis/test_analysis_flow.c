/* Lanes that walk at random over the graphs of shaders: the counts of some blocks give those of
 * all, to the last unit, and what the counts of blocks say of edges is so. */
#include "base/random.h"
#include "shader_rewrite/analysis/analysis_flow.h"
#include "shader_rewrite/analysis/analysis_weights.h"
#include "shader_rewrite/points/points.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/shaders_text.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { LANES = 500, STEPS = 4000 };

/* What is true of some walks. */
struct walked {
    uint64_t *blocks, *edges; /* edges: by place in successors */
    uint64_t lanes;
};

static bool demotes(const struct pm_ir_block *block)
{
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (i->opcode == SpvOpDemoteToHelperInvocation)
            return true;
    return false;
}

/* One lane; false: it does not come to an end, and is not counted. */
static bool walk(const struct pm_cfg *cfg, struct pm_random *random, struct walked *walked)
{
    uint32_t blocks[STEPS], edges[STEPS], steps = 0;
    const struct pm_graph *g = &cfg->flow;
    for (uint32_t b = 0; steps < STEPS;) {
        const uint32_t ways = g->successor_start[b + 1] - g->successor_start[b];
        const bool ends = !ways || (demotes(cfg->blocks[b]) && pm_random_below(random, 2)) ||
                          (pm_ir_terminator(cfg->blocks[b])->opcode == SpvOpUnreachable);
        blocks[steps] = b;
        edges[steps] = ends ? UINT32_MAX : g->successor_start[b] + pm_random_below(random, ways);
        if (ends) {
            walked->lanes++;
            for (uint32_t s = 0; s <= steps; s++) {
                walked->blocks[blocks[s]]++;
                if (edges[s] != UINT32_MAX)
                    walked->edges[edges[s]]++;
            }
            return true;
        }
        b = g->successors[edges[steps++]];
    }
    return false;
}

/* Of all functions, as if each were a shader's own. */
static struct {
    uint32_t blocks, counted, edges, determined;
} seen;

static void check_rebuilt(const struct pm_ir_function *function, const struct walked *walked,
                          struct pm_arena *arena)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    double *weights = pm_arena_zalloc(arena, cfg->count, sizeof(*weights));
    bool *counted = pm_arena_zalloc(arena, cfg->count, sizeof(*counted)), exact = false;
    uint64_t *lanes = pm_arena_zalloc(arena, cfg->count, sizeof(*lanes));
    pm_block_weights(function, NULL, weights);
    assert_true(pm_flow_place(function, weights, counted, arena));
    assert_false(counted[0]);
    struct pm_flow_junctions junctions;
    assert_true(pm_flow_junctions(function, &junctions, arena));
    struct pm_flow flow = {junctions.from, junctions.to, counted, cfg->count, junctions.count};
    for (uint32_t b = 0; b < cfg->count; b++) {
        lanes[b] = counted[b] || b == 0 ? walked->blocks[b] : 12345;
        seen.blocks++;
        seen.counted += counted[b];
        if (!pm_cfg_reachable(cfg, b)) { /* is no point */
            counted[b] = true;
            lanes[b] = 0;
        }
    }
    assert_true(pm_flow_rebuild(&flow, lanes, &exact, arena));
    assert_true(exact);
    for (uint32_t b = 0; b < cfg->count; b++)
        assert_int_equal(lanes[b], walked->blocks[b]);
    /* As few as can be: without one of them, its count is nobody's. */
    for (uint32_t b = 0; b < cfg->count; b++)
        if (counted[b] && walked->blocks[b]) {
            bool *fewer = pm_arena_dup(arena, counted, cfg->count * sizeof(*counted));
            memcpy(lanes, walked->blocks, cfg->count * sizeof(*lanes));
            fewer[b] = false;
            flow.counted = fewer;
            assert_true(pm_flow_rebuild(&flow, lanes, &exact, arena));
            assert_false(exact && !memcmp(lanes, walked->blocks, cfg->count * sizeof(*lanes)));
            break;
        }
}

static void check_edges(const struct pm_ir_function *function, const struct walked *walked,
                        struct pm_arena *arena)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const uint32_t count = cfg->flow.successor_start[cfg->count];
    double *blocks = pm_arena_zalloc(arena, cfg->count, sizeof(*blocks));
    double *edges = pm_arena_zalloc(arena, count + 1u, sizeof(*edges));
    for (uint32_t b = 0; b < cfg->count; b++)
        blocks[b] = (double)walked->blocks[b];
    assert_true(pm_flow_edges(function, blocks, edges, arena));
    for (uint32_t e = 0; e < count; e++) {
        seen.edges++;
        if (isnan(edges[e]))
            continue;
        seen.determined++;
        assert_true(edges[e] == (double)walked->edges[e]);
    }
}

static void check_function(struct pm_ir_function *function, uint64_t seed)
{
    struct pm_error error = {0};
    struct pm_random random;
    struct pm_arena *arena = pm_arena_create(0);
    assert_true(pm_analysis_require(function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, &error));
    const struct pm_cfg *cfg = pm_cfg(function);
    struct walked walked = {
        pm_arena_zalloc(arena, cfg->count, sizeof(uint64_t)),
        pm_arena_zalloc(arena, cfg->flow.successor_start[cfg->count] + 1u, sizeof(uint64_t)), 0};
    pm_random_init(&random, seed);
    for (int i = 0; i < LANES; i++)
        walk(cfg, &random, &walked);
    check_rebuilt(function, &walked, arena);
    check_edges(function, &walked, arena);
    pm_arena_destroy(arena);
}

static void check_words(const uint32_t *words, size_t count)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, &error);
    assert_non_null(module);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (uint64_t seed = 0; f->first_block && seed < 3; seed++)
            check_function(f, seed);
    pm_ir_module_destroy(module);
}

static void check_text(const char *text)
{
    struct pm_words words = pm_test_assemble(text, 3);
    check_words(words.data, words.count);
    pm_words_finish(&words);
}

static void test_random_walks(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++)
        check_words(corpus.files[i].words, corpus.files[i].count);
    corpus_finish(&corpus);
    check_text(SHADER_SELECTION);
    check_text(SHADER_LOOPS);
    printf("%u blocks, %u counted; %u edges, %u determined by the blocks\n", seen.blocks,
           seen.counted, seen.edges, seen.determined);
    assert_true(seen.counted * 2 < seen.blocks);
    assert_true(seen.determined * 10 > seen.edges * 9);
}

#define KILL_SHADER                                                                                \
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"                                         \
    "OpEntryPoint Fragment %1 \"main\"\nOpExecutionMode %1 OriginUpperLeft\n"                      \
    "%2 = OpTypeVoid\n%3 = OpTypeFunction %2\n%4 = OpTypeBool\n%5 = OpConstantTrue %4\n"           \
    "%1 = OpFunction %2 None %3\n%100 = OpLabel\n"                                                 \
    "OpSelectionMerge %103 None\nOpBranchConditional %5 %101 %102\n"                               \
    "%101 = OpLabel\nOpKill\n%102 = OpLabel\nOpBranch %103\n%103 = OpLabel\nOpReturn\n"            \
    "OpFunctionEnd\n"

/* One counter for four blocks: what was killed did not come to the end. */
static void test_kills_are_exits(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_words words = pm_test_assemble(KILL_SHADER, 3);
    struct pm_flow_points points;
    const double weights[] = {1, 0.25, 0.75, 0.75};
    if (!pm_points_flow(words.data, words.count, weights, &points, &error))
        fail_msg("%s", error.message);
    assert_int_equal(points.space, 4);
    assert_int_equal(points.count, 1);
    assert_int_equal(points.points[0], 1); /* costs least */
    assert_true(points.saved == 0.75 + 0.75);
    uint64_t lanes[4] = {1000, 300, 0, 0};
    bool exact = false;
    assert_true(pm_points_flow_rebuild(&points, lanes, &exact));
    assert_true(exact);
    assert_int_equal(lanes[2], 700);
    assert_int_equal(lanes[3], 700);
    /* More were killed than there were: of no run. */
    lanes[1] = 1001;
    assert_true(pm_points_flow_rebuild(&points, lanes, &exact));
    assert_false(exact);
    assert_true(pm_flow_is_worth(&points));
    pm_flow_points_finish(&points);
    /* What hardly runs is not worth it. */
    const double rare[] = {1, 0.002, 0.04, 0.009};
    assert_true(pm_points_flow(words.data, words.count, rare, &points, &error));
    assert_false(pm_flow_is_worth(&points));
    pm_flow_points_finish(&points);
    pm_words_finish(&words);
}

#define SELECTION_SHADER(builtin)                                                                  \
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"                                         \
    "OpEntryPoint GLCompute %main \"main\" %id\nOpExecutionMode %main LocalSize 64 1 1\n"          \
    "OpDecorate %id BuiltIn " builtin "\n"                                                         \
    "%void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n"                             \
    "%uint3 = OpTypeVector %uint 3\n%p = OpTypePointer Input %uint3\n%u5 = OpConstant %uint 5\n"   \
    "%id = OpVariable %p Input\n%function = OpTypeFunction %void\n"                                \
    "%main = OpFunction %void None %function\n%entry = OpLabel\n%v = OpLoad %uint3 %id\n"          \
    "%x = OpCompositeExtract %uint %v 0\n%less = OpULessThan %bool %x %u5\n"                       \
    "OpSelectionMerge %end None\nOpBranchConditional %less %a %b\n%a = OpLabel\nOpBranch %end\n"   \
    "%b = OpLabel\nOpBranch %end\n%end = OpLabel\nOpReturn\nOpFunctionEnd\n"

/* Where whole subgroups go one way a counter of lanes is passed only, and little is saved. */
static void test_saves(void **state)
{
    (void)state;
    static const char *const shaders[] = {SELECTION_SHADER("LocalInvocationId"),
                                          SELECTION_SHADER("WorkgroupId")};
    for (int uniform = 0; uniform < 2; uniform++) {
        struct pm_error error = {0};
        struct pm_words words = pm_test_assemble(shaders[uniform], 3);
        struct pm_flow_points points;
        if (!pm_points_flow(words.data, words.count, NULL, &points, &error))
            fail_msg("%s", error.message);
        assert_int_equal(points.count, 1);
        /* The end, by the code whole, and one of two ways that half take. */
        assert_true(points.saved == PM_FLOW_PASSED + (uniform ? PM_FLOW_PASSED : 1) / 2);
        pm_flow_points_finish(&points);
        pm_words_finish(&words);
    }
}

static void test_edges_of_loops(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_words words = pm_test_assemble(SHADER_LOOPS, 3);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_ir_function *f = module->first_function;
    assert_true(pm_analysis_require(f, PM_ANALYSIS_CFG, &error));
    /* 100 lanes come around three times each; the inner loop runs twice a time; a tenth leaves. */
    const double blocks[] = {100, 310, 300, 600, 300, 90, 120, 210, 210, 100};
    double edges[32];
    assert_true(pm_flow_edges(f, blocks, edges, arena));
    const struct pm_graph *g = &pm_cfg(f)->flow;
    for (uint32_t s = g->successor_start[1]; s < g->successor_start[2]; s++)
        assert_true(edges[s] == (g->successors[s] == 2 ? 300 : 10));
    for (uint32_t s = g->successor_start[3]; s < g->successor_start[4]; s++)
        assert_true(edges[s] == 300);
    pm_arena_destroy(arena);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_walks),
        cmocka_unit_test(test_kills_are_exits),
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_edges_of_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
