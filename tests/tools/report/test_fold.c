/* Large graphs, made small enough to read. */
#include "tests/cmocka_includes.h"
#include "tools/report/report_fold.h"
#include "tools/report/report_graph.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 * 40 + 1 };

struct flow {
    struct pm_report_block blocks[MOST];
    uint32_t successors[MOST][2];
    struct pm_report_shader shader;
    struct pm_shader_estimates estimates;
};

static struct flow *flow_of(uint32_t count)
{
    struct flow *flow = calloc(1, sizeof(*flow));
    assert_non_null(flow);
    flow->shader = (struct pm_report_shader){
        .estimates = &flow->estimates, .blocks = flow->blocks, .block_count = count};
    for (uint32_t i = 0; i < count; i++)
        flow->blocks[i] = (struct pm_report_block){.successors = flow->successors[i],
                                                   .cost = 1.0 / count,
                                                   .sampled = true,
                                                   .at_most_once = true};
    return flow;
}

static void edge(struct flow *flow, uint32_t from, uint32_t to)
{
    flow->successors[from][flow->blocks[from].successor_count++] = to;
}

/* Every block is in one group, costs add up, and no edge is lost. */
static void check(const struct flow *flow, const struct pm_fold *fold)
{
    uint32_t blocks = 0;
    double cost = 0;
    for (uint32_t i = 0; i < fold->count; i++) {
        blocks += fold->groups[i].count;
        cost += fold->groups[i].cost;
        assert_int_equal(fold->group_of[fold->groups[i].first], i);
    }
    assert_int_equal(blocks, flow->shader.block_count);
    assert_true(fabs(cost - 1) < 1e-9);
    for (uint32_t i = 0; i < flow->shader.block_count; i++)
        for (uint32_t j = 0; j < flow->blocks[i].successor_count; j++) {
            const uint32_t from = fold->group_of[i], to = fold->group_of[flow->successors[i][j]];
            bool there = from == to;
            for (uint32_t k = 0; k < fold->nodes[from].successor_count; k++)
                there = there || fold->nodes[from].successors[k] == to;
            assert_true(there);
        }
}

static void small_graphs_stay_as_they_are(void **state)
{
    (void)state;
    struct flow *flow = flow_of(PM_FOLD_NODES);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_fold fold;
    for (uint32_t i = 0; i + 1 < PM_FOLD_NODES; i++)
        edge(flow, i, i + 1);
    edge(flow, PM_FOLD_NODES - 1, PM_FOLD_NODES - 1); /* a loop of one block stays one */
    assert_true(pm_report_fold(&flow->shader, arena, &fold));
    check(flow, &fold);
    assert_int_equal(fold.count, PM_FOLD_NODES);
    assert_int_equal(fold.nodes[PM_FOLD_NODES - 1].successor_count, 1);
    pm_arena_destroy(arena);
    free(flow);
}

static void a_chain_is_one_node(void **state)
{
    (void)state;
    struct flow *flow = flow_of(30);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_fold fold;
    for (uint32_t i = 0; i + 1 < 30; i++)
        edge(flow, i, i + 1);
    assert_true(pm_report_fold(&flow->shader, arena, &fold));
    check(flow, &fold);
    assert_int_equal(fold.count, 1);
    assert_int_equal(fold.groups[0].last, 29);
    pm_arena_destroy(arena);
    free(flow);
}

/* 40 branches or loops one behind the other, of which one holds most of the cost. */
static struct flow *ladder(bool loops, uint32_t dear)
{
    struct flow *flow = flow_of(MOST);
    for (uint32_t at = 0; at + 1 < MOST; at += 4) {
        edge(flow, at, at + 1);
        edge(flow, at, loops ? at + 3 : at + 2);
        edge(flow, at + 1, loops ? at + 2 : at + 3);
        edge(flow, at + 2, loops ? at : at + 3);
        edge(flow, at + 3, at + 4);
    }
    for (uint32_t i = 0; i < MOST; i++)
        flow->blocks[i].cost = i == dear ? 0.5 : 0.5 / (MOST - 1);
    return flow;
}

static void the_dearest_stay_apart(void **state)
{
    (void)state;
    for (int loops = 0; loops < 2; loops++) {
        const uint32_t dear = 4 * 17 + 1;
        struct flow *flow = ladder(loops, dear);
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_fold fold;
        bool any = false;
        assert_true(pm_report_fold(&flow->shader, arena, &fold));
        check(flow, &fold);
        assert_in_range(fold.count, 3, PM_FOLD_NODES);
        /* A loop's body is a chain; a branch's way is a block. */
        assert_int_equal(fold.groups[fold.group_of[dear]].count, loops ? 2 : 1);
        for (uint32_t i = 0; i < fold.count; i++)
            any = any || fold.groups[i].has_loop;
        assert_int_equal(any, loops);
        pm_arena_destroy(arena);
        free(flow);
    }
}

/* Every block can be led to, and all of them can be seen. */
static void both_graphs_are_drawn(void **state)
{
    (void)state;
    struct flow *flow = ladder(true, 5);
    struct pm_buffer out;
    char id[64];
    pm_buffer_init(&out, 1 << 22);
    assert_true(pm_report_graph(&flow->shader, &out) && pm_buffer_append(&out, "", 1));
    const char *page = (const char *)out.data;
    for (uint32_t i = 0; i < MOST; i++) {
        snprintf(id, sizeof(id), "<g id='s000000000000-0-g%u'>", i);
        const char *found = strstr(page, id);
        assert_non_null(found);
        assert_null(strstr(found + 1, id));
        snprintf(id, sizeof(id), ">block %u</text>", i);
        assert_non_null(strstr(page, id));
    }
    assert_non_null(strstr(page, "<summary>all 161 blocks</summary>"));
    assert_non_null(strstr(page, ", loop</text>"));
    pm_buffer_finish(&out);
    free(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_stay_as_they_are),
        cmocka_unit_test(a_chain_is_one_node),
        cmocka_unit_test(the_dearest_stay_apart),
        cmocka_unit_test(both_graphs_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
