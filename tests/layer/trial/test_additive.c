/* What the self-test of timestamps around draws makes of its rounds (additive.h). */
#include "layer/trial/additive.h"

#include "tests/cmocka_includes.h"

/* As a device would have them on which they are additive. */
static void fill(struct pm_additive_round *rounds, double light, double heavy, double overhead)
{
    for (int i = 0; i < PM_ADDITIVE_ROUNDS; i++)
        rounds[i] = (struct pm_additive_round){
            .alone = {light + overhead, heavy + overhead},
            .among = {{light, heavy}, {light, heavy}},
            .instances = {light + heavy + overhead, light + heavy + overhead},
        };
}

static void draws_that_add_up(void **state)
{
    (void)state;
    struct pm_additive_round rounds[PM_ADDITIVE_ROUNDS];
    fill(rounds, 50, 200, 0);
    assert_true(pm_additive_judge(rounds));
    fill(rounds, 50, 200, 10);
    assert_true(pm_additive_judge(rounds));
    fill(rounds, 60, 190, 5);
    assert_true(pm_additive_judge(rounds));
}

/* Two rounds of five in which something else ran. */
static void outliers(void **state)
{
    (void)state;
    struct pm_additive_round rounds[PM_ADDITIVE_ROUNDS];
    fill(rounds, 50, 200, 5);
    rounds[1].among[0][0] = rounds[3].among[0][0] = 5000;
    rounds[1].alone[1] = rounds[2].alone[1] = 9000;
    rounds[4].instances[1] = 1;
    assert_true(pm_additive_judge(rounds));
    rounds[0].among[0][0] = 5000;
    assert_false(pm_additive_judge(rounds));
}

/* Each of these is the same in all rounds. */
static void draws_that_do_not(void **state)
{
    (void)state;
    static const struct pm_additive_round doubtful[] = {
        /* All is spent when the instance ends (a tiler). */
        {{55, 205}, {{0, 0}, {0, 0}}, {255, 255}},
        /* The first draw has it all (lavapipe). */
        {{55, 205}, {{250, 5}, {5, 250}}, {255, 255}},
        {{55, 205}, {{260, 40}, {40, 260}}, {305, 305}},
        /* The last one has. */
        {{55, 205}, {{5, 250}, {250, 5}}, {255, 255}},
        /* Right in one order only. */
        {{55, 205}, {{50, 200}, {250, 5}}, {255, 255}},
        {{55, 205}, {{5, 250}, {50, 200}}, {255, 255}},
        /* Half of it each. */
        {{55, 205}, {{125, 125}, {125, 125}}, {255, 255}},
        /* Beside each other, so that together they take no longer than one. */
        {{55, 205}, {{50, 145}, {50, 145}}, {205, 205}},
        /* The work cannot be told apart. */
        {{200, 200}, {{200, 200}, {200, 200}}, {400, 400}},
        {{150, 200}, {{50, 200}, {50, 200}}, {250, 250}},
        /* More is spent in the instance than its draws tell. */
        {{55, 205}, {{50, 200}, {50, 200}}, {255, 500}},
        /* No clock. */
        {{0, 0}, {{0, 0}, {0, 0}}, {0, 0}},
        {{0, 200}, {{0, 200}, {0, 200}}, {200, 200}},
    };
    for (size_t i = 0; i < sizeof doubtful / sizeof doubtful[0]; i++) {
        struct pm_additive_round rounds[PM_ADDITIVE_ROUNDS];
        for (int j = 0; j < PM_ADDITIVE_ROUNDS; j++)
            rounds[j] = doubtful[i];
        if (pm_additive_judge(rounds))
            fail_msg("case %zu is taken for additive", i);
    }
}

/* Draws grow until they take long enough, and stop growing somewhere. */
static void sizes(void **state)
{
    (void)state;
    struct pm_additive_round round = {.alone = {60e3, 240e3}};
    assert_int_equal(pm_additive_size(7, &round), 7);
    round.alone[1] = 150e3;
    assert_int_equal(pm_additive_size(7, &round), 14);
    round.alone[1] = 50e3;
    assert_int_equal(pm_additive_size(7, &round), 42);
    round.alone[1] = 1;
    assert_int_equal(pm_additive_size(7, &round), 7 * 16);
    round.alone[1] = 0;
    uint32_t instances = 1, rounds = 0;
    for (; instances != 0; rounds++)
        instances = pm_additive_size(instances, &round);
    assert_in_range(rounds, 3, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_that_add_up),
        cmocka_unit_test(outliers),
        cmocka_unit_test(draws_that_do_not),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
