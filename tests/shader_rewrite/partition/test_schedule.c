/*
 * Cutting graphs of operations into passes: Mio, RDS, the best there is, and what is made better
 * afterwards. Every plan is checked by pm_plan_check, which knows none of them.
 */
#include "tests/cmocka_includes.h"

#include "random_operations.h"
#include "shader_rewrite/partition/schedule/beyond.h"
#include "shader_rewrite/partition/schedule/exact.h"
#include "shader_rewrite/partition/schedule/improve.h"
#include "shader_rewrite/partition/schedule/mio.h"
#include "shader_rewrite/partition/schedule/rds.h"

#include <string.h>

static const struct pm_pass_limits unlimited = {
    .alu = PM_NO_LIMIT,
    .texture = PM_NO_LIMIT,
    .temporaries = PM_NO_LIMIT,
    .varyings = PM_NO_LIMIT,
    .constants = PM_NO_LIMIT,
    .textures = PM_NO_LIMIT,
    .outputs = PM_NO_LIMIT,
};

static uint32_t add(struct pm_operations *graph, uint32_t components, bool result, int a, int b)
{
    struct pm_operand operands[2] = {0};
    uint32_t count = 0;
    if (a >= 0)
        operands[count++] = (struct pm_operand){.operation = (uint32_t)a, .value = true};
    if (b >= 0)
        operands[count++] = (struct pm_operand){.operation = (uint32_t)b, .value = true};
    struct pm_operation operation = {.alu = 1, .components = components, .result = result};
    return pm_operations_add(graph, &operation, operands, count, NULL, 0);
}

/* Mio's Figure 1: four leaves, added in pairs, then together. */
static void figure_1(struct pm_operations *graph)
{
    for (int i = 0; i < 4; i++)
        add(graph, 4, false, -1, -1);
    add(graph, 4, false, 0, 1);
    add(graph, 4, false, 2, 3);
    add(graph, 4, true, 4, 5);
    assert_true(pm_operations_link(graph));
}

static struct pm_plan_cost check(const struct pm_operations *graph,
                                 const struct pm_pass_limits *limits, const struct pm_plan *plan)
{
    struct pm_error error = {0};
    struct pm_plan_cost cost;
    if (!pm_plan_check(graph, limits, plan, &cost, NULL, &error))
        fail_msg("%s", error.message);
    return cost;
}

static struct pm_plan_cost mio(const struct pm_operations *graph,
                               const struct pm_pass_limits *limits,
                               const struct pm_mio_options *options)
{
    struct pm_error error = {0};
    struct pm_plan plan = {0};
    if (!pm_mio(graph, limits, options, &plan, &error))
        fail_msg("%s", error.message);
    struct pm_plan_cost cost = check(graph, limits, &plan);
    pm_plan_finish(&plan);
    return cost;
}

static void goes_deep_before_wide(void **state)
{
    (void)state;
    struct pm_operations graph = {0};
    struct pm_pass_limits limits = unlimited;
    struct pm_error error = {0};
    figure_1(&graph);
    limits.alu = 4;
    struct pm_plan plan = {0};
    assert_true(pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &plan, &error));
    struct pm_plan_cost cost = check(&graph, &limits, &plan);
    assert_int_equal(cost.passes, 2);
    /* One subtree whole and a leaf of the other: with that one's value two. The traditional
     * order would spill four. */
    assert_true(cost.spilled_components <= 8);
    limits.outputs = 1; /* the leaf is taken back */
    plan.operation_count = plan.pass_count = 0;
    assert_true(pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &plan, &error));
    cost = check(&graph, &limits, &plan);
    assert_int_equal(plan.passes[0].count, 3);
    assert_int_equal(cost.spilled_components, 4);
    assert_int_equal(cost.passes, 2);
    pm_plan_finish(&plan);
    pm_operations_finish(&graph);
}

static void scalars_share_outputs(void **state)
{
    (void)state;
    struct pm_operations graph = {0};
    struct pm_pass_limits limits = unlimited;
    struct pm_error error = {0};
    int sum = -1;
    for (int i = 0; i < 16; i++)
        add(&graph, 1, false, -1, -1);
    for (int i = 0; i < 15; i++)
        sum = (int)add(&graph, 1, i == 14, sum < 0 ? 0 : sum, i + 1);
    assert_true(pm_operations_link(&graph));
    limits.alu = 16;
    limits.outputs = 4;
    /* By most successors first all leaves run, whose 16 scalars fill 4 outputs. */
    struct pm_plan plan = {0};
    for (uint32_t i = 0; i < 31; i++) {
        assert_true(pm_plan_add(&plan, i));
        if (i == 15 || i == 30)
            assert_true(pm_plan_add_pass(&plan));
    }
    struct pm_plan_cost cost = check(&graph, &limits, &plan);
    assert_int_equal(cost.outputs, 5);
    assert_int_equal(cost.reads, 4);
    assert_int_equal(cost.spilled_components, 16);
    assert_int_equal(cost.most_components, 16);
    limits.outputs = 3;
    assert_false(pm_plan_check(&graph, &limits, &plan, &cost, NULL, &error));
    assert_string_equal(error.message, "pass 0 takes 4 outputs of 3");
    assert_int_equal(cost.failed, 0);
    pm_plan_finish(&plan);
    pm_operations_finish(&graph);
}

static void plans_are_checked(void **state)
{
    (void)state;
    struct pm_operations graph = {0};
    struct pm_error error = {0};
    static const struct {
        uint32_t order[8], count;
        const char *message;
    } wrong[] = {
        {{0, 1, 2, 3, 5, 6, 4}, 7, "pass 0: operation 6 runs before 4, which it needs"},
        {{0, 1, 2, 3, 4, 5}, 6, "no pass runs operation 6"},
        {{0, 1, 2, 3, 4, 5, 5, 6}, 8, "pass 0: operation 5 runs again"},
    };
    figure_1(&graph);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pm_plan plan = {0};
        for (uint32_t n = 0; n < wrong[i].count; n++)
            assert_true(pm_plan_add(&plan, wrong[i].order[n]));
        assert_true(pm_plan_add_pass(&plan));
        assert_false(pm_plan_check(&graph, &unlimited, &plan, NULL, NULL, &error));
        assert_string_equal(error.message, wrong[i].message);
        pm_plan_finish(&plan);
    }
    pm_operations_finish(&graph);
}

static void says_what_fits_nowhere(void **state)
{
    (void)state;
    struct pm_operations graph = {0};
    struct pm_plan plan = {0};
    struct pm_error error = {0};
    struct pm_pass_limits limits = unlimited;
    figure_1(&graph);
    graph.operations[5].alu = 9;
    limits.alu = 8;
    assert_false(pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &plan, &error));
    assert_string_equal(error.message, "no pass has room for the ALU operations of operation 5");
    graph.operations[5].alu = 1;
    limits.outputs = 0;
    plan.operation_count = plan.pass_count = 0;
    assert_false(pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &plan, &error));
    assert_non_null(strstr(error.message, "no pass has room for the outputs of operation"));
    limits = unlimited;
    limits.temporaries = 11; /* an addition needs its two operands beside what waits */
    plan.operation_count = plan.pass_count = 0;
    assert_true(pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &plan, &error));
    check(&graph, &limits, &plan);
    limits.temporaries = 7;
    plan.operation_count = plan.pass_count = 0;
    assert_false(pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &plan, &error));
    assert_non_null(strstr(error.message, "temporaries"));
    pm_plan_finish(&plan);
    pm_operations_finish(&graph);
}

/* Limits under which random graphs need several passes, and some operations more than one try. */
static struct pm_pass_limits random_limits(struct pm_random *random)
{
    return (struct pm_pass_limits){
        .alu = 8 + pm_random_below(random, 60),
        .texture = 12 + pm_random_below(random, 20),
        .temporaries = 24 + pm_random_below(random, 100),
        .varyings = 2 + pm_random_below(random, 4),
        .constants = 2 + pm_random_below(random, 4),
        .textures = 12 + pm_random_below(random, 8),
        .outputs = 2 + pm_random_below(random, 4),
        .textures_hold_outputs = pm_random_below(random, 2),
    };
}

static void every_plan_keeps_the_limits(void **state)
{
    (void)state;
    uint32_t made = 0, split = 0, spared_in_all = 0;
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct pm_random random;
        pm_random_init(&random, seed);
        struct pm_random_operations options = {
            .count = 1 + pm_random_below(&random, 300),
            .inputs = pm_random_below(&random, 8),
            .textures = pm_random_below(&random, 2),
            .ordered = pm_random_below(&random, 2),
        };
        struct pm_operations graph;
        pm_random_operations(&random, &options, &graph);
        struct pm_pass_limits limits = random_limits(&random);
        for (uint32_t way = 0; way < PM_ORDERS + 2; way++) {
            struct pm_mio_options how = {
                .order = way < PM_ORDERS ? (enum pm_order)way : PM_ORDER_SETHI_ULLMAN,
                .in_order = way == PM_ORDERS,
                .spill_weight = way == PM_ORDERS + 1 ? 0.5 : 0,
            };
            struct pm_plan plan = {0};
            struct pm_error error = {0};
            if (!pm_mio(&graph, &limits, &how, &plan, &error)) {
                assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
            } else {
                struct pm_plan_cost cost = check(&graph, &limits, &plan);
                made++;
                split += cost.passes > 1;
                assert_int_equal(plan.operation_count, graph.count);
                uint32_t spared;
                assert_true(pm_plan_compute_again(&graph, &limits, 4, &plan, &spared, &error));
                struct pm_plan_cost again = check(&graph, &limits, &plan);
                spared_in_all += spared;
                assert_true(again.spilled_components <= cost.spilled_components);
                assert_true(pm_plan_order_passes(&graph, &limits, &plan, &error));
                assert_true(check(&graph, &limits, &plan).most_components <= again.most_components);
            }
            pm_plan_finish(&plan);
        }
        for (int search = 0; search < 2 && !options.ordered; search++) {
            struct pm_plan plan = {0};
            struct pm_error error = {0};
            if (search && graph.count > 60)
                continue;
            if (pm_rds(&graph, &limits, search, &plan, &error))
                check(&graph, &limits, &plan);
            else
                assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
            pm_plan_finish(&plan);
        }
        pm_operations_finish(&graph);
    }
    assert_true(made > 2000 && split > 1500);
    assert_true(spared_in_all > 100);
}

static void nothing_beats_the_best(void **state)
{
    (void)state;
    uint32_t compared = 0, equal = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct pm_random random;
        pm_random_init(&random, seed);
        struct pm_random_operations options = {
            .count = 4 + pm_random_below(&random, 11), .components = 4, .inputs = 2};
        struct pm_operations graph;
        pm_random_operations(&random, &options, &graph);
        struct pm_pass_limits limits = unlimited;
        limits.alu = 4;
        limits.temporaries = 24;
        limits.outputs = 2;
        struct pm_plan plan = {0};
        struct pm_error error = {0};
        if (pm_exact(&graph, &limits, &plan, &error)) {
            struct pm_plan_cost best = check(&graph, &limits, &plan);
            for (uint32_t way = 0; way <= PM_ORDERS; way++) {
                struct pm_mio_options how = {.order = way < PM_ORDERS ? (enum pm_order)way
                                                                      : PM_ORDER_SETHI_ULLMAN,
                                             .in_order = way == PM_ORDERS};
                struct pm_plan tried = {0};
                if (pm_mio(&graph, &limits, &how, &tried, &error)) {
                    struct pm_plan_cost cost = check(&graph, &limits, &tried);
                    assert_true(cost.passes >= best.passes);
                    if (cost.passes == best.passes && cost.reads == best.reads)
                        assert_true(cost.spilled_components >= best.spilled_components);
                    compared++;
                    equal += cost.passes == best.passes;
                }
                pm_plan_finish(&tried);
            }
        } else {
            assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
        }
        pm_plan_finish(&plan);
        pm_operations_finish(&graph);
    }
    assert_true(compared > 200 && equal > compared / 4);
}

/* A chain over two values in turn, with one output a pass: to save both values takes a pass each,
 * to compute them again in the second half of the chain none. */
static void a_value_computed_again_saves_a_pass(void **state)
{
    (void)state;
    struct pm_operations graph = {0};
    struct pm_pass_limits limits = unlimited;
    struct pm_plan plan = {0}, again = {0};
    struct pm_error error = {0};
    limits.alu = 4;
    limits.outputs = 1;
    const int a = (int)add(&graph, 4, false, -1, -1), b = (int)add(&graph, 4, false, -1, -1);
    const int first = (int)add(&graph, 4, false, a, b);
    const int second = (int)add(&graph, 4, false, first, a);
    const int third = (int)add(&graph, 4, false, second, b);
    add(&graph, 4, true, third, a);
    assert_true(pm_operations_link(&graph));
    assert_true(pm_exact(&graph, &limits, &plan, &error));
    assert_true(pm_exact_again(&graph, &limits, &again, &error));
    const struct pm_plan_cost once = check(&graph, &limits, &plan);
    const struct pm_plan_cost best = check(&graph, &limits, &again);
    assert_int_equal(once.passes, 3);
    assert_int_equal(best.passes, 2);
    assert_int_equal(best.alu, once.alu + 2);
    pm_plan_finish(&plan);
    pm_plan_finish(&again);
    pm_operations_finish(&graph);
}

/* Whatever is found otherwise takes as many passes, and then as many operations and reads. */
static void nothing_is_better_than_the_best(void **state)
{
    (void)state;
    uint32_t compared = 0, fewer = 0;
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct pm_random random;
        struct pm_operations graph;
        struct pm_plan plan = {0}, once = {0};
        struct pm_error error = {0};
        struct pm_pass_limits limits = unlimited;
        pm_random_init(&random, 7000 + seed);
        pm_random_operations(
            &random,
            &(struct pm_random_operations){.count = 6 + pm_random_below(&random, 11),
                                           .components = 4,
                                           .ordered = seed % 3 == 0,
                                           .inputs = seed % 4 == 0 ? 2 : 0},
            &graph);
        limits.alu = 3 + pm_random_below(&random, 4);
        limits.outputs = 1 + pm_random_below(&random, 3);
        limits.temporaries = seed % 2 ? 24 : PM_NO_LIMIT;
        limits.varyings = 2;
        if (!pm_exact(&graph, &limits, &once, &error)) {
            pm_operations_finish(&graph);
            continue;
        }
        assert_true(pm_exact_again(&graph, &limits, &plan, &error));
        const struct pm_plan_cost best = check(&graph, &limits, &plan);
        fewer += best.passes < check(&graph, &limits, &once).passes;
        for (int way = 0; way < 4; way++) {
            struct pm_plan tried = {0};
            uint32_t spared;
            const bool made =
                way < 2 ? pm_rds(&graph, &limits, way == 1, &tried, &error)
                        : pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &tried, &error) &&
                              (way == 2 ||
                               pm_plan_compute_again(&graph, &limits, 4, &tried, &spared, &error));
            struct pm_plan_cost cost;
            if (made && pm_plan_check(&graph, &limits, &tried, &cost, NULL, &error)) {
                assert_true(cost.passes >= best.passes);
                if (cost.passes == best.passes)
                    assert_true(cost.alu + cost.reads >= best.alu + best.reads);
                compared++;
            }
            pm_plan_finish(&tried);
        }
        pm_plan_finish(&plan);
        pm_plan_finish(&once);
        pm_operations_finish(&graph);
    }
    assert_true(compared > 200 && fewer > 20);
}

static void a_smaller_cut_is_taken_a_little_earlier(void **state)
{
    (void)state;
    uint64_t plain = 0, weighed = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct pm_random random;
        pm_random_init(&random, seed);
        struct pm_operations graph;
        pm_random_operations(&random, &(struct pm_random_operations){.count = 1000}, &graph);
        struct pm_pass_limits limits = unlimited;
        limits.alu = 64;
        limits.outputs = 64;
        plain += mio(&graph, &limits, &(struct pm_mio_options){0}).spilled_components;
        weighed +=
            mio(&graph, &limits, &(struct pm_mio_options){.spill_weight = 1}).spilled_components;
        pm_operations_finish(&graph);
    }
    assert_true(weighed < plain);
}

static struct pm_plan_cost beyond(const struct pm_operations *graph,
                                  const struct pm_pass_limits *limits)
{
    struct pm_error error = {0};
    struct pm_plan plan = {0};
    if (!pm_beyond(graph, limits, &plan, &error))
        fail_msg("%s", error.message);
    struct pm_plan_cost cost = check(graph, limits, &plan);
    pm_plan_finish(&plan);
    return cost;
}

/* Stages of butterflies over POINTS values: behind each stage no more than those live. Depth first,
 * many stages are begun before one is done. */
static void shared_values_are_taken_in_the_programs_order(void **state)
{
    (void)state;
    enum { POINTS = 32, STAGES = 40 };
    struct pm_operations graph = {0};
    struct pm_pass_limits limits = unlimited;
    int values[POINTS];
    for (int i = 0; i < POINTS; i++)
        values[i] = (int)add(&graph, 1, false, -1, -1);
    for (int stage = 0; stage < STAGES; stage++)
        for (int i = 0, stride = 1 << stage % 5; i < POINTS; i++) {
            if (i & stride)
                continue;
            const int a = values[i], b = values[i + stride];
            values[i] = (int)add(&graph, 1, stage == STAGES - 1, a, b);
            values[i + stride] = (int)add(&graph, 1, stage == STAGES - 1, a, b);
        }
    assert_true(pm_operations_link(&graph));
    limits.alu = 10 * POINTS;
    const struct pm_plan_cost deep =
        mio(&graph, &limits, &(struct pm_mio_options){.spill_weight = 1});
    const struct pm_plan_cost ours = beyond(&graph, &limits);
    assert_true(ours.most_components <= POINTS + POINTS / 2);
    assert_true(ours.spilled_components < deep.spilled_components);
    pm_operations_finish(&graph);
}

/* It is Mio in the paper's order, too, but with passes that may end earlier. */
static void ours_has_room_where_mio_has(void **state)
{
    (void)state;
    uint32_t made = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct pm_random random;
        pm_random_init(&random, seed);
        struct pm_operations graph;
        pm_random_operations(
            &random,
            &(struct pm_random_operations){.count = 1 + pm_random_below(&random, 200), .inputs = 4},
            &graph);
        struct pm_pass_limits limits = random_limits(&random);
        limits.outputs = 1 + pm_random_below(&random, 3);
        limits.temporaries = 6 + pm_random_below(&random, 10);
        struct pm_plan plan = {0}, deep = {0};
        struct pm_error error = {0};
        const bool ours = pm_beyond(&graph, &limits, &plan, &error);
        if (ours)
            check(&graph, &limits, &plan);
        else
            assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
        assert_true(ours || !pm_mio(&graph, &limits, &(struct pm_mio_options){0}, &deep, &error));
        made += ours;
        pm_plan_finish(&plan);
        pm_plan_finish(&deep);
        pm_operations_finish(&graph);
    }
    assert_true(made > 100);
}

static void presets_have_names(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PM_PASS_LIMITS_PRESETS; i++) {
        const char *name;
        const struct pm_pass_limits *limits = pm_pass_limits_of(i, &name);
        assert_ptr_equal(pm_pass_limits_preset(name), limits);
        assert_true(limits->alu && limits->outputs && limits->temporaries);
    }
    assert_null(pm_pass_limits_preset("voodoo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_deep_before_wide),
        cmocka_unit_test(scalars_share_outputs),
        cmocka_unit_test(plans_are_checked),
        cmocka_unit_test(says_what_fits_nowhere),
        cmocka_unit_test(every_plan_keeps_the_limits),
        cmocka_unit_test(nothing_beats_the_best),
        cmocka_unit_test(a_value_computed_again_saves_a_pass),
        cmocka_unit_test(nothing_is_better_than_the_best),
        cmocka_unit_test(a_smaller_cut_is_taken_a_little_earlier),
        cmocka_unit_test(shared_values_are_taken_in_the_programs_order),
        cmocka_unit_test(ours_has_room_where_mio_has),
        cmocka_unit_test(presets_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
