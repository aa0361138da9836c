/* What a candidate could save at best (zero/choose/worth.h), and the bars that it has to pass,
 * which are AZP's as HAZARDS 6 reads them. */
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/zero/choose/opportunity.h"
#include "shader_rewrite/zero/choose/worth.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include <math.h>

#include "tests/cmocka_includes.h"

enum { GLSL_FMAX = 40 };
static const double close = 1e-6;

/* ---- the bars ---- */

static const struct pm_zero_bars paper = {.least_saving = 25};

/* Equation 5's T_delta is T_AZP - T_R, so that what is saved is T_R - T_AZP: more than 25 cycles.
 */
static void test_least_saving(void **state)
{
    (void)state;
    struct pm_zero_estimate e = {.saved = 25, .su = 1, .threshold = 0};
    assert_non_null(pm_zero_judge(&paper, &e));
    e.saved = 25.001;
    assert_null(pm_zero_judge(&paper, &e));
    e.saved = -1000; /* what a misread sign would take */
    assert_non_null(pm_zero_judge(&paper, &e));
    e.saved = NAN;
    assert_non_null(pm_zero_judge(&paper, &e));
}

/* Equation 6: su above the threshold, not below it as printed. */
static void test_share_of_blocks(void **state)
{
    (void)state;
    struct pm_zero_estimate e = {.saved = 100, .su = 0.02, .threshold = 0.02};
    assert_non_null(pm_zero_judge(&paper, &e));
    e.su = 0.021;
    assert_null(pm_zero_judge(&paper, &e));
    e.su = 0.019;
    assert_non_null(pm_zero_judge(&paper, &e));
}

static void test_no_bars(void **state)
{
    (void)state;
    const struct pm_zero_bars none = {.least_saving = 25, .none = true};
    const struct pm_zero_estimate e = {.saved = -1, .su = -1, .threshold = 1};
    assert_null(pm_zero_judge(&none, &e));
}

/* ---- the best case ---- */

struct looking {
    struct subject subject;
    struct pm_arena *arena;
    struct pm_ir_module *module;
    struct pm_zero_round round;
    struct pm_zero_best_case best;
};

static void look(struct looking *l, const char *body)
{
    struct pm_error error = {0};
    enum pm_stage stage;
    *l = (struct looking){.subject = subject_assemble("", "", "", body),
                          .arena = pm_arena_create(0)};
    l->module = pm_ir_parse(l->subject.words.data, l->subject.words.count, &error);
    assert_non_null(l->module);
    struct pm_ir_function *function = pm_entry_function(l->module, &stage, &error);
    assert_non_null(function);
    assert_true(pm_analysis_require(
        function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, &error));
    assert_true(pm_zero_round_init(&l->round, l->module, function, stage, PM_FLOAT_ZERO_ALLOW,
                                   l->arena, &error));
    l->round.subgroup_quad = true;
    assert_true(pm_zero_best_case_init(&l->best, &l->round));
}

static void look_no_more(struct looking *l)
{
    pm_ir_module_destroy(l->module);
    pm_arena_destroy(l->arena);
    subject_finish(&l->subject);
}

/* Of the one FMax. */
static struct pm_zero_worth worth(struct looking *l)
{
    const struct pm_zero_candidate *c =
        &l->subject.points.candidates[subject_candidate(&l->subject, SpvOpExtInst, GLSL_FMAX)];
    return pm_zero_worth_of(&l->best, c);
}

/* So many transcendental functions and a product. */
enum { FUNCTIONS = 10 };
#define WORK                                                                                       \
    "%x1 = OpExtInst %float %glsl Sin %v0\n%x2 = OpExtInst %float %glsl Exp2 %x1\n"                \
    "%x3 = OpExtInst %float %glsl Cos %x2\n%x4 = OpExtInst %float %glsl Log2 %x3\n"                \
    "%x5 = OpExtInst %float %glsl Sin %x4\n%x6 = OpExtInst %float %glsl Exp2 %x5\n"                \
    "%x7 = OpExtInst %float %glsl Cos %x6\n%x8 = OpExtInst %float %glsl Log2 %x7\n"                \
    "%x9 = OpExtInst %float %glsl Sin %x8\n%x10 = OpExtInst %float %glsl Exp2 %x9\n"               \
    "%m = OpFMul %float %x10 %w\n"

static double work(const struct pm_costs *costs)
{
    return FUNCTIONS * costs->cycles[PM_COST_TRANSCENDENTAL] + costs->cycles[PM_COST_ALU];
}

/* Always zero, by each cost table: all but the check is saved, as a share of the whole block. */
static void test_straight(void **state)
{
    (void)state;
    struct looking l;
    look(&l, "%w = OpExtInst %float %glsl FMax %v0 %f0\n" WORK "%result = OpFAdd %float %m %v1\n");
    const struct pm_zero_worth found = worth(&l);
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        const struct pm_costs *costs = pm_costs_table(t);
        const double saved = work(costs) - costs->cycles[PM_COST_CHECK]; /* +0 + x stays */
        assert_true(saved > 0);
        assert_true(fabs(found.saved[t] - saved) < close);
        assert_true(fabs(found.share[t] - saved / l.best.cycles[t][0]) < close);
    }
    look_no_more(&l);
}

/* A turn counts as often as a loop may turn. */
static void test_loop(void **state)
{
    (void)state;
    struct looking l;
    look(&l, "OpBranch %head\n%head = OpLabel\n%i = OpPhi %uint %u0 %entry %i1 %next\n"
             "%sum = OpPhi %float %f0 %entry %s1 %next\n"
             "%more = OpULessThan %bool %i %u3\nOpLoopMerge %done %next None\n"
             "OpBranchConditional %more %body %done\n%body = OpLabel\n"
             "%w = OpExtInst %float %glsl FMax %v0 %sum\n" WORK "%s1 = OpFAdd %float %m %f7\n"
             "OpBranch %next\n%next = OpLabel\n%i1 = OpIAdd %uint %i %u1\nOpBranch %head\n"
             "%done = OpLabel\n%result = OpFAdd %float %sum %v1\n");
    const struct pm_zero_worth found = worth(&l);
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        const struct pm_costs *costs = pm_costs_table(t);
        const double once = work(costs) + costs->cycles[PM_COST_ALU] - costs->cycles[PM_COST_CHECK];
        assert_true(fabs(found.saved[t] - PM_ZERO_MOST_TURNS * once) < close);
        assert_true(found.share[t] > 0.2 && found.share[t] < 1);
    }
    look_no_more(&l);
}

/* What need not run is taken to run where that suits, and else not: the arm in which nothing is
 * saved makes no share less, nor does what may end the invocation before. */
static void test_arms(void **state)
{
    (void)state;
#define ARM                                                                                        \
    "%many = OpFOrdGreaterThan %bool %v1 %f7\nOpSelectionMerge %behind None\n"                     \
    "OpBranchConditional %many %arm %behind\n%arm = OpLabel\n"                                     \
    "%a1 = OpExtInst %float %glsl Cos %v1\n%a2 = OpExtInst %float %glsl Log2 %a1\n"                \
    "%a3 = OpExtInst %float %glsl Cos %a2\n%o1 = OpAccessChain %element %out %u0 %u264\n"          \
    "OpStore %o1 %a3\nOpBranch %behind\n%behind = OpLabel\n"
    struct looking plain, armed;
    look(&plain,
         "%w = OpExtInst %float %glsl FMax %v0 %f0\n" WORK "%result = OpFAdd %float %m %v1\n");
    look(&armed,
         ARM "%w = OpExtInst %float %glsl FMax %v0 %f0\n" WORK "%result = OpFAdd %float %m %v1\n");
    const struct pm_zero_worth without = worth(&plain), with = worth(&armed);
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        const double arm = armed.best.cycles[t][1];
        const double all = plain.best.cycles[t][0];
        assert_true(arm > 3 * pm_costs_table(t)->cycles[PM_COST_TRANSCENDENTAL] - close);
        assert_true(fabs(with.saved[t] - without.saved[t]) < close);
        assert_true(with.share[t] > without.saved[t] / (all + arm));
    }
    look_no_more(&plain);
    look_no_more(&armed);
}

/* Of what is added to, nothing is saved. */
static void test_worth_nothing(void **state)
{
    (void)state;
    struct looking l;
    look(&l, "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
             "%x = OpExtInst %float %glsl Sin %w\n%result = OpFAdd %float %v1 %w\n");
    const struct pm_zero_worth found = worth(&l);
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        assert_true(found.saved[t] < 25);
        assert_true(found.share[t] >= 0 && found.share[t] < 1);
    }
    look_no_more(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_saving),  cmocka_unit_test(test_share_of_blocks),
        cmocka_unit_test(test_no_bars),       cmocka_unit_test(test_straight),
        cmocka_unit_test(test_loop),          cmocka_unit_test(test_arms),
        cmocka_unit_test(test_worth_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
