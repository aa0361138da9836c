#include "layer/core/lookup.h"

#include "tests/cmocka_includes.h"
#include <stdlib.h>

static void *value_of(uint64_t key)
{
    return (void *)(uintptr_t)(key * 8 + 4);
}

static void finds_what_was_put(void **state)
{
    (void)state;
    struct pm_lookup lookup;
    pm_lookup_init(&lookup);
    assert_null(pm_lookup_find(&lookup, 7));
    assert_null(pm_lookup_remove(&lookup, 7));
    for (uint64_t key = 1; key <= 5000; key++)
        assert_true(pm_lookup_put(&lookup, key * 64, value_of(key)));
    for (uint64_t key = 1; key <= 5000; key++)
        assert_ptr_equal(pm_lookup_find(&lookup, key * 64), value_of(key));
    assert_null(pm_lookup_find(&lookup, 5001 * 64));
    assert_true(pm_lookup_put(&lookup, 64, value_of(9)));
    assert_ptr_equal(pm_lookup_find(&lookup, 64), value_of(9));
    for (uint64_t key = 2; key <= 5000; key += 2)
        assert_ptr_equal(pm_lookup_remove(&lookup, key * 64), value_of(key));
    for (uint64_t key = 2; key <= 5000; key++)
        assert_ptr_equal(pm_lookup_find(&lookup, key * 64), key % 2 == 0 ? NULL : value_of(key));
    pm_lookup_finish(&lookup);
}

/* A null handle is never known, also where a slot was used before. */
static void null_is_unknown(void **state)
{
    (void)state;
    struct pm_lookup lookup;
    pm_lookup_init(&lookup);
    for (uint64_t key = 1; key <= 20; key++)
        assert_true(pm_lookup_put(&lookup, key, value_of(key)));
    for (uint64_t key = 1; key <= 20; key++) {
        assert_ptr_equal(pm_lookup_remove(&lookup, key), value_of(key));
        assert_null(pm_lookup_find(&lookup, 0));
        assert_null(pm_lookup_remove(&lookup, 0));
    }
    assert_int_equal(lookup.used, 0);
    pm_lookup_finish(&lookup);
}

static size_t slots_of(struct pm_lookup *lookup)
{
    size_t count = 0;
    for (struct pm_lookup_slots *slots = atomic_load(&lookup->slots); slots != NULL;
         slots = slots->retired)
        count += (size_t)slots->mask + 1;
    return count;
}

/* A game that allocates and frees command buffers for hours, each time at another address. */
static void stays_small_while_keys_come_and_go(void **state)
{
    (void)state;
    enum { LIVE = 200, ROUNDS = 1000000 };
    struct pm_lookup lookup;
    pm_lookup_init(&lookup);
    for (uint64_t key = 1; key <= LIVE; key++)
        assert_true(pm_lookup_put(&lookup, key << 4, value_of(key)));
    for (uint64_t key = LIVE + 1; key <= ROUNDS; key++) {
        assert_ptr_equal(pm_lookup_remove(&lookup, (key - LIVE) << 4), value_of(key - LIVE));
        assert_true(pm_lookup_put(&lookup, key << 4, value_of(key)));
    }
    for (uint64_t key = ROUNDS - LIVE + 1; key <= ROUNDS; key++)
        assert_ptr_equal(pm_lookup_find(&lookup, key << 4), value_of(key));
    assert_true(slots_of(&lookup) <= 8 * 1024);
    pm_lookup_finish(&lookup);
}

/* The same in any order, with tables that are as full as they get. */
static void stays_small_in_any_order(void **state)
{
    (void)state;
    enum { MOST = 1000, ROUNDS = 200000 };
    static const uint64_t live[] = {31, 63, 500, MOST};
    static uint64_t keys[MOST];
    for (size_t i = 0; i < sizeof live / sizeof live[0]; i++) {
        struct pm_lookup lookup;
        uint64_t next = 1, random = 1;
        pm_lookup_init(&lookup);
        for (uint64_t j = 0; j < live[i]; j++) {
            keys[j] = next++ << 6;
            assert_true(pm_lookup_put(&lookup, keys[j], value_of(j)));
        }
        for (int round = 0; round < ROUNDS; round++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            uint64_t *key = &keys[(random >> 33) % live[i]];
            assert_non_null(pm_lookup_remove(&lookup, *key));
            *key = next++ << 6;
            assert_true(pm_lookup_put(&lookup, *key, value_of(*key)));
        }
        assert_true(slots_of(&lookup) <= 64 * live[i]);
        pm_lookup_finish(&lookup);
    }
}

/* Of so many keys, one every `step`: how many are where their hash points. */
static int at_home(struct pm_lookup *lookup, uint64_t first, uint64_t step, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        assert_true(pm_lookup_put(lookup, first + step * (uint64_t)i, value_of((uint64_t)i)));
    const struct pm_lookup_slots *slots = atomic_load(&lookup->slots);
    for (int i = 0; i < count; i++) {
        const uint64_t key = first + step * (uint64_t)i;
        assert_ptr_equal(pm_lookup_find(lookup, key), value_of((uint64_t)i));
        found +=
            atomic_load(
                &pm_lookup_slot_of(slots, pm_lookup_home(slots, key, slots->factor))->key) == key;
    }
    return found;
}

/* Command buffers as allocators place them: of so many a hook glances at this many at least. */
static void glances_at_pointers(void **state)
{
    (void)state;
    static const uint64_t steps[] = {16, 48, 96, 112, 256, 528, 1024, 4096, 4112, 1 << 16, 1 << 20};
    static const struct {
        int keys, glanced;
    } counts[] = {{20, 20}, {64, 64}, {200, 150}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] * 3; i++) {
        const uint64_t step = steps[i / 3];
        const int keys = counts[i % 3].keys;
        struct pm_lookup lookup;
        pm_lookup_init_of_pointers(&lookup);
        const uint64_t first = UINT64_C(0x7f3412340010);
        const int home = at_home(&lookup, first, step, keys);
        const struct pm_lookup_slots *slots = atomic_load(&lookup.slots);
        int glanced = 0;
        for (int j = 0; j < keys; j++)
            glanced += pm_lookup_glance(slots, first + (uint64_t)j * step) != NULL;
        assert_int_equal(glanced, home);
        if (glanced < counts[i % 3].glanced)
            fail_msg("%d of %d that are %llu apart", glanced, keys, (unsigned long long)step);
        assert_true(slots_of(&lookup) <= 8 * 1024);
        pm_lookup_finish(&lookup);
    }
}

/* The few command buffers that a program may have, wherever they are: of a thousand programs in
 * next to none is one that a hook does not glance at. */
static void glances_at_few_pointers_anywhere(void **state)
{
    (void)state;
    enum { PROGRAMS = 1000, KEYS = 8, MOST_DISPLACED = 20 }; /* 7 are expected */
    uint64_t random = 1;
    int displaced = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        struct pm_lookup lookup;
        uint64_t keys[KEYS];
        pm_lookup_init_of_pointers(&lookup);
        for (int i = 0; i < KEYS; i++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            keys[i] = UINT64_C(0x7f3400000000) + (random >> 40 << 4);
            assert_true(pm_lookup_put(&lookup, keys[i], value_of((uint64_t)i)));
        }
        for (int i = 0; i < KEYS; i++) {
            displaced += pm_lookup_glance(atomic_load(&lookup.slots), keys[i]) == NULL;
            assert_ptr_equal(pm_lookup_find(&lookup, keys[i]), value_of((uint64_t)i));
        }
        assert_true(slots_of(&lookup) <= 8 * 1024);
        pm_lookup_finish(&lookup);
    }
    print_message("%d displaced\n", displaced);
    assert_in_range(displaced, 0, MOST_DISPLACED);
}

/* Handles that are numbers, in their lower or in their upper half, have short ways. */
static void numbers_are_apart(void **state)
{
    (void)state;
    static const uint64_t steps[] = {1, 2, 8, UINT64_C(1) << 32, UINT64_C(1) << 33};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct pm_lookup lookup;
        pm_lookup_init(&lookup);
        assert_true(at_home(&lookup, steps[i], steps[i], 200) >= 100);
        pm_lookup_finish(&lookup);
    }
}

struct visits {
    struct pm_lookup *lookup;
    int count;
    bool nested;
};

static void count_visit(void *user, void *value)
{
    (void)value;
    struct visits *visits = user;
    visits->count++;
    if (visits->nested)
        assert_false(pm_lookup_try_each(visits->lookup, count_visit, visits));
}

static void visits_without_waiting(void **state)
{
    (void)state;
    struct pm_lookup lookup;
    pm_lookup_init(&lookup);
    struct visits visits = {.lookup = &lookup};
    for (uint64_t key = 1; key <= 3; key++)
        assert_true(pm_lookup_put(&lookup, key << 4, value_of(key)));
    assert_true(pm_lookup_try_each(&lookup, count_visit, &visits));
    assert_int_equal(visits.count, 3);
    visits.nested = true;
    pm_lookup_each(&lookup, count_visit, &visits);
    assert_int_equal(visits.count, 6);
    assert_true(pm_lookup_try_each(&lookup, count_visit, &visits));
    assert_int_equal(visits.count, 9);
    pm_lookup_finish(&lookup);
}

struct shared {
    struct pm_lookup lookup;
    _Atomic bool stop;
    _Atomic uint64_t wrong;
};

static void *read_while_others_write(void *user)
{
    struct shared *shared = user;
    while (!atomic_load(&shared->stop)) {
        for (uint64_t key = 1; key <= 100; key++) {
            if (pm_lookup_find(&shared->lookup, key << 6) != value_of(key))
                atomic_fetch_add(&shared->wrong, 1);
        }
    }
    return NULL;
}

static void readers_need_no_lock(void **state)
{
    (void)state;
    static struct shared shared;
    pm_lookup_init(&shared.lookup);
    for (uint64_t key = 1; key <= 100; key++)
        assert_true(pm_lookup_put(&shared.lookup, key << 6, value_of(key)));
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_while_others_write, &shared), 0);
    for (uint64_t round = 0; round < 50; round++) {
        for (uint64_t key = 101; key <= 2000; key++)
            assert_true(pm_lookup_put(&shared.lookup, key << 6, value_of(key)));
        for (uint64_t key = 101; key <= 2000; key++)
            assert_non_null(pm_lookup_remove(&shared.lookup, key << 6));
    }
    atomic_store(&shared.stop, true);
    pthread_join(reader, NULL);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    pm_lookup_finish(&shared.lookup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put),
        cmocka_unit_test(null_is_unknown),
        cmocka_unit_test(stays_small_while_keys_come_and_go),
        cmocka_unit_test(stays_small_in_any_order),
        cmocka_unit_test(glances_at_pointers),
        cmocka_unit_test(glances_at_few_pointers_anywhere),
        cmocka_unit_test(numbers_are_apart),
        cmocka_unit_test(visits_without_waiting),
        cmocka_unit_test(readers_need_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
