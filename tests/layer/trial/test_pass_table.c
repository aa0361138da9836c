#include "layer/trial/pass_table.h"

#include "base/random.h"
#include "tests/cmocka_includes.h"

#include <stdlib.h>

static struct pm_pass_table *make(void)
{
    struct pm_pass_table *table = calloc(1, sizeof *table);
    assert_non_null(table);
    return table;
}

static void numbers_are_told_apart(void **state)
{
    (void)state;
    struct pm_pass_table *table = make();
    for (uint64_t frame = 0; frame < 3; frame++) {
        for (uint32_t number = 0; number < 4; number++) {
            bool worth;
            const uint32_t slot = pm_pass_table_begin(table, 7, frame, &worth);
            assert_true(worth == (frame > 0 && number == 2));
            pm_pass_table_was(table, slot, number == 2);
        }
    }
    free(table);
}

/* One kind of many may be worth timing, and no other may take that from it: with a table that kept
 * no names, two of these fell together in nearly every round. */
static void kinds_do_not_fall_together(void **state)
{
    (void)state;
    enum { ROUNDS = 100, KINDS = 100 };
    struct pm_random random;
    pm_random_init(&random, 5);
    for (int round = 0; round < ROUNDS; round++) {
        struct pm_pass_table *table = make();
        uint64_t kinds[KINDS]; /* as handles are: pointers of one heap */
        for (int i = 0; i < KINDS; i++)
            kinds[i] = 0x7f0000000000 + (uint64_t)i * 4096 + 16 * pm_random_below(&random, 256);
        for (uint64_t frame = 0; frame < 4; frame++) {
            for (int i = 0; i < KINDS; i++) {
                bool worth;
                const uint32_t slot = pm_pass_table_begin(table, kinds[i], frame, &worth);
                assert_true(worth == (frame > 0 && i == round));
                pm_pass_table_was(table, slot, i == round);
            }
        }
        free(table);
    }
}

/* Heartbeats that are submissions: a kind is found again although it is not in each. */
static void every_other_heartbeat(void **state)
{
    (void)state;
    struct pm_pass_table *table = make();
    bool worth = false;
    for (uint64_t heartbeat = 0; heartbeat < 8; heartbeat++) {
        const uint32_t slot =
            pm_pass_table_begin(table, heartbeat % 2 == 0 ? 1000 : 2000, heartbeat, &worth);
        assert_true(worth == (heartbeat > 1 && heartbeat % 2 == 0));
        pm_pass_table_was(table, slot, heartbeat % 2 == 0);
    }
    free(table);
}

/* Kinds come and go without end; the table takes the newer ones. */
static void old_kinds_give_way(void **state)
{
    (void)state;
    struct pm_pass_table *table = make();
    for (uint64_t frame = 0; frame < 20000; frame++) {
        bool worth;
        pm_pass_table_was(table, pm_pass_table_begin(table, frame, frame, &worth), true);
        assert_false(worth);
        const uint64_t now = frame + 1000000;
        for (int i = 0; i < 2; i++) {
            pm_pass_table_was(table, pm_pass_table_begin(table, now, frame + (uint64_t)i, &worth),
                              true);
            assert_true(worth == (i == 1));
        }
    }
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_told_apart),
        cmocka_unit_test(kinds_do_not_fall_together),
        cmocka_unit_test(every_other_heartbeat),
        cmocka_unit_test(old_kinds_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
