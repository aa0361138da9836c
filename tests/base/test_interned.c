#include "base/interned.h"

#include "base/random.h"
#include "tests/cmocka_includes.h"

#include <pthread.h>
#include <string.h>

static void the_same_is_kept_once(void **state)
{
    (void)state;
    enum { COUNT = 2000, MOST = 40 };
    static const void *kept[COUNT];
    struct pm_interned *interned = pm_interned_create((size_t)1 << 20);
    unsigned char bytes[MOST];
    /* Each number has bytes of its own, whose number is its own. */
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < COUNT; i++) {
            const size_t size = 4 + (size_t)i % (MOST - 4);
            memset(bytes, i % 3, sizeof bytes);
            memcpy(bytes, &i, sizeof i);
            const void *found = pm_interned_get(interned, bytes, size);
            assert_non_null(found);
            assert_ptr_not_equal(found, bytes);
            assert_int_equal((uintptr_t)found % 16, 0);
            assert_memory_equal(found, bytes, size);
            if (turn == 0)
                kept[i] = found;
            assert_ptr_equal(found, kept[i]);
        }
    }
    /* What begins with it is something else. */
    memset(bytes, 7, sizeof bytes);
    assert_ptr_not_equal(pm_interned_get(interned, bytes, 9), pm_interned_get(interned, bytes, 8));
    pm_interned_destroy(interned);
    pm_interned_destroy(NULL);
}

static void the_cap_holds(void **state)
{
    (void)state;
    struct pm_interned *interned = pm_interned_create(1024);
    unsigned char bytes[100];
    const void *first = NULL;
    int kept = 0;
    for (int i = 0; i < 100; i++) {
        memset(bytes, i, sizeof bytes);
        const void *found = pm_interned_get(interned, bytes, sizeof bytes);
        kept += found != NULL;
        if (i == 0)
            first = found;
    }
    assert_in_range(kept, 1, 10);
    memset(bytes, 0, sizeof bytes);
    assert_ptr_equal(pm_interned_get(interned, bytes, sizeof bytes), first);
    pm_interned_destroy(interned);
}

enum { THREADS = 4, EACH = 500 };

static struct pm_interned *of_all;
static const void *found[THREADS][EACH];

static void *look(void *which)
{
    for (int i = 0; i < EACH; i++)
        found[(uintptr_t)which][i] = pm_interned_get(of_all, &i, sizeof i);
    return NULL;
}

static void threads_find_the_same(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    of_all = pm_interned_create((size_t)1 << 20);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        assert_memory_equal(found[i], found[0], sizeof found[0]);
    for (int i = 0; i < EACH; i++)
        assert_memory_equal(found[0][i], &i, sizeof i);
    pm_interned_destroy(of_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_kept_once),
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(threads_find_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
