#include "tests/cmocka_includes.h"
#include "tools/bisect/search.h"

#include <string.h>

enum { MOST = 64 };

/* Things that are bad together, by bits; each is bad by itself for the others. */
struct world {
    size_t count;
    uint64_t bad[3];
    unsigned tests, most; /* most: then there is no answer; 0: there always is */
};

static enum pm_answer test(void *user, const bool *used)
{
    struct world *world = user;
    uint64_t bits = 0;
    for (size_t i = 0; i < world->count; i++)
        bits |= (uint64_t)used[i] << i;
    world->tests++;
    if (world->most > 0 && world->tests > world->most)
        return PM_NO_ANSWER;
    for (int i = 0; i < 3; i++)
        if (world->bad[i] && (bits & world->bad[i]) == world->bad[i])
            return PM_BAD;
    return PM_GOOD;
}

static uint64_t found(struct world *world, uint64_t among)
{
    bool set[MOST];
    uint64_t bits = 0;
    const struct pm_search search = {.count = world->count, .test = test, .user = world};
    for (size_t i = 0; i < world->count; i++)
        set[i] = among >> i & 1;
    assert_true(pm_search_least(&search, set));
    for (size_t i = 0; i < world->count; i++)
        bits |= (uint64_t)set[i] << i;
    return bits;
}

static void one_of_many_is_found_by_halving(void **state)
{
    (void)state;
    for (size_t count = 1; count <= MOST; count++) {
        for (size_t bad = 0; bad < count; bad++) {
            struct world world = {.count = count, .bad = {UINT64_C(1) << bad}};
            unsigned halvings = 0;
            while ((UINT64_C(1) << halvings) < count)
                halvings++;
            assert_int_equal(found(&world, ~UINT64_C(0)), world.bad[0]);
            assert_true(world.tests <= 2 * halvings);
        }
    }
}

static void what_is_bad_only_together_is_found_together(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 16; a++) {
        for (unsigned b = 0; b < a; b++) {
            struct world world = {.count = 16, .bad = {UINT64_C(1) << a | UINT64_C(1) << b}};
            assert_int_equal(found(&world, ~UINT64_C(0)), world.bad[0]);
        }
    }
    struct world three = {.count = 40, .bad = {UINT64_C(1) << 39 | 1 << 20 | 1}};
    assert_int_equal(found(&three, ~UINT64_C(0)), three.bad[0]);
}

static void of_several_one_is_found_and_the_next_without_it(void **state)
{
    (void)state;
    struct world world = {.count = 20, .bad = {1 << 3, 1 << 17, 1 << 5 | 1 << 6}};
    uint64_t left = ~UINT64_C(0), all = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t next = found(&world, left);
        assert_true(next == world.bad[0] || next == world.bad[1] || next == world.bad[2]);
        assert_int_equal(next & all, 0);
        all |= next;
        left &= ~next;
    }
    assert_int_equal(all, world.bad[0] | world.bad[1] | world.bad[2]);
}

static void without_an_answer_nothing_is_found(void **state)
{
    (void)state;
    for (unsigned most = 1; most < 5; most++) {
        struct world world = {.count = 16, .bad = {1 << 9}, .most = most};
        const struct pm_search search = {.count = 16, .test = test, .user = &world};
        bool set[16];
        memset(set, true, sizeof set);
        assert_false(pm_search_least(&search, set));
        assert_int_equal(world.tests, most + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_many_is_found_by_halving),
        cmocka_unit_test(what_is_bad_only_together_is_found_together),
        cmocka_unit_test(of_several_one_is_found_and_the_next_without_it),
        cmocka_unit_test(without_an_answer_nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
