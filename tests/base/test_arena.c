#include "base/arena.h"
#include "base/random.h"
#include "tests/cmocka_includes.h"
#include <string.h>

static void allocations_are_aligned_apart_and_kept(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static unsigned char *pointers[COUNT];
    static size_t sizes[COUNT];
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    pm_random_init(&random, 1);
    size_t sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sizes[i] = pm_random_below(&random, i % 100 == 0 ? 200000 : 300);
        pointers[i] = pm_arena_alloc(arena, sizes[i]);
        assert_non_null(pointers[i]);
        assert_int_equal((uintptr_t)pointers[i] % 16, 0);
        if (i > 0)
            assert_ptr_not_equal(pointers[i], pointers[i - 1]);
        memset(pointers[i], i & 0xFF, sizes[i]);
        sum += sizes[i];
    }
    for (int i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pointers[i][k], i & 0xFF);
    }
    assert_true(pm_arena_used(arena) >= sum);
    assert_true(pm_arena_used(arena) < sum + 16 * COUNT);
    pm_arena_destroy(arena);
    pm_arena_destroy(NULL);
}

static void the_cap_holds(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(1000);
    assert_null(pm_arena_alloc(arena, 1001));
    assert_non_null(pm_arena_alloc(arena, 500));
    assert_null(pm_arena_alloc(arena, 500)); /* 512 are used */
    assert_non_null(pm_arena_alloc(arena, 480));
    assert_null(pm_arena_alloc(arena, 0));
    assert_null(pm_arena_alloc(arena, SIZE_MAX));
    assert_null(pm_arena_alloc(arena, SIZE_MAX - 15));
    assert_null(pm_arena_zalloc(arena, SIZE_MAX / 2, 4));
    assert_null(pm_arena_strdup(arena, "x"));
    assert_null(pm_arena_printf(arena, "x"));
    assert_int_equal(pm_arena_used(arena), 992);
    pm_arena_destroy(arena);
}

static void copies_and_text(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    unsigned char *dirty = pm_arena_alloc(arena, 64);
    memset(dirty, 0xFF, 64);
    static const unsigned char zero[400];
    assert_memory_equal(pm_arena_zalloc(arena, 100, 4), zero, 400);
    assert_memory_equal(pm_arena_dup(arena, "a\0b", 4), "a\0b", 4);
    assert_string_equal(pm_arena_strdup(arena, "text"), "text");
    assert_string_equal(pm_arena_printf(arena, "%d and %s", 5, "six"), "5 and six");
    assert_non_null(pm_arena_dup(arena, NULL, 0));
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_apart_and_kept),
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(copies_and_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
