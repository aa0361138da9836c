/* Which part of the scratch memory whose dispatches have. */
#include "layer/memory/scratch_memory.h"

#include "tests/cmocka_includes.h"

enum { MIB = 64, UNIT = 1 << 20 };

static struct pm_instance instance;
static struct pm_device device = {.instance = &instance};

static struct pm_scratch_memory *create(uint32_t queues, uint64_t lone_families)
{
    instance.config.limits.scratch_mib = MIB;
    device.lone_families = lone_families;
    struct pm_scratch_memory *memory = pm_scratch_memory_create(&device, queues);
    assert_non_null(memory);
    return memory;
}

/* One queue keeps all in order: there is nothing to tell apart. */
static void one_queue(void **state)
{
    (void)state;
    struct pm_scratch_memory *memory = create(1, 1);
    struct pm_scratch_run own = {0};
    uint32_t unit;
    assert_int_equal(pm_scratch_memory_unit(memory), 0);
    assert_true(pm_scratch_memory_take(memory, 0, &own, (uint64_t)MIB * UNIT, &unit));
    assert_int_equal(unit, 0);
    assert_false(pm_scratch_memory_take(memory, 0, &own, (uint64_t)MIB * UNIT + 1, &unit));
    assert_int_equal(own.held, 0);
    pm_scratch_memory_destroy(memory);
}

/* All recordings for a family of one queue have the same; those for another have another. */
static void families_of_one_queue(void **state)
{
    (void)state;
    struct pm_scratch_memory *memory = create(2, 5);
    struct pm_scratch_run a = {0}, b = {0};
    uint32_t unit;
    assert_int_equal(pm_scratch_memory_unit(memory), UNIT);
    assert_true(pm_scratch_memory_take(memory, 0, &a, 3 * UNIT, &unit));
    assert_int_equal(unit, 0);
    assert_true(pm_scratch_memory_take(memory, 0, &b, 1, &unit));
    assert_int_equal(unit, 0);
    assert_true(pm_scratch_memory_take(memory, 2, &b, 0, &unit));
    assert_int_equal(unit, 3);
    /* A larger one: what was before may be named by recordings. */
    assert_true(pm_scratch_memory_take(memory, 0, &a, 4 * UNIT, &unit));
    assert_int_equal(unit, 4);
    assert_true(pm_scratch_memory_take(memory, 0, &a, 6 * UNIT, &unit)); /* it has twice as many */
    assert_int_equal(unit, 4);
    assert_int_equal(a.held | b.held, 0);
    pm_scratch_memory_destroy(memory);
}

static void recordings(void **state)
{
    (void)state;
    struct pm_scratch_memory *memory = create(3, 0);
    struct pm_scratch_run runs[PM_SCRATCH_UNITS] = {0}, more = {0};
    uint32_t unit;
    uint64_t held = 0;
    for (uint32_t i = 0; i < PM_SCRATCH_UNITS; i++) {
        assert_true(pm_scratch_memory_take(memory, 70, &runs[i], UNIT, &unit));
        assert_int_equal(runs[i].held, UINT64_C(1) << unit);
        assert_int_equal(held & runs[i].held, 0);
        held |= runs[i].held;
    }
    assert_false(pm_scratch_memory_take(memory, 0, &more, 0, &unit));
    pm_scratch_memory_give_back(memory, &runs[5]);
    pm_scratch_memory_give_back(memory, &runs[7]);
    assert_false(pm_scratch_memory_take(memory, 0, &more, UNIT + 1, &unit));
    pm_scratch_memory_give_back(memory, &runs[6]);
    assert_true(pm_scratch_memory_take(memory, 0, &more, UNIT + 1, &unit));
    assert_int_equal(unit, 5);
    assert_int_equal(more.held, UINT64_C(3) << 5);
    assert_false(pm_scratch_memory_take(memory, 0, &more, 3 * UNIT, &unit));
    assert_true(pm_scratch_memory_take(memory, 0, &more, 2 * UNIT, &unit));
    assert_int_equal(unit, 5);
    pm_scratch_memory_give_back(memory, &more);
    assert_int_equal(more.held | more.first | more.count, 0);
    /* All of it, for one. */
    for (uint32_t i = 0; i < PM_SCRATCH_UNITS; i++)
        pm_scratch_memory_give_back(memory, &runs[i]);
    assert_true(pm_scratch_memory_take(memory, 0, &more, (uint64_t)MIB * UNIT, &unit));
    assert_int_equal(more.held, UINT64_MAX);
    assert_false(pm_scratch_memory_take(memory, 0, &runs[0], 1, &unit));
    pm_scratch_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_queue),
        cmocka_unit_test(families_of_one_queue),
        cmocka_unit_test(recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
