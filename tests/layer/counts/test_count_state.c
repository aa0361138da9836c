/* The states of a variant's counters, over every short history of two queues: what is dirty, what
 * is being copied, and who may read it. */
#include "layer/counts/count_state.h"

#include "base/clock.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 2, LENGTH = 8, AGES = 2 };

static struct pm_sampling *sampling;
static struct pm_device *device;
static struct pm_queue *queues[QUEUES];
static struct pm_variant *variant;
static uint64_t histories;

/* What the test knows by itself, by queue. */
struct known {
    bool dirty[QUEUES];
    uint32_t copies[QUEUES];
};

static int set_up(void **state)
{
    (void)state;
    device = calloc(1, sizeof *device);
    sampling = aligned_alloc(PM_CACHE_LINE, sizeof *sampling);
    variant = calloc(1, sizeof *variant);
    assert_true(device != NULL && sampling != NULL && variant != NULL);
    memset(sampling, 0, sizeof *sampling);
    device->sampling = sampling;
    for (uint32_t i = 0; i < QUEUES; i++) {
        queues[i] = calloc(1, sizeof *queues[i]);
        assert_non_null(queues[i]);
        queues[i]->device = device;
        queues[i]->index = i;
        queues[i]->bit = 1u << i;
        sampling->queue_list[i] = queues[i];
    }
    atomic_store(&sampling->queue_count, QUEUES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < QUEUES; i++) {
        free(queues[i]->dirty);
        free(queues[i]);
    }
    free(variant);
    free(sampling);
    free(device);
    return 0;
}

static void check(const struct known *known)
{
    for (uint32_t i = 0; i < QUEUES; i++) {
        const enum pm_count_state state = pm_count_state_of(queues[i], variant);
        assert_int_equal(pm_count_is_dirty(state), known->dirty[i]);
        assert_int_equal(pm_count_is_copying(state), known->copies[i] > 0);
        assert_int_equal(queues[i]->dirty_count, known->dirty[i]);
        assert_int_equal(variant->counted.copies[i], known->copies[i]);
        /* Another queue may still count while a copy of its own is under way, or what it was given
         * less than a second ago was not copied. */
        const uint32_t other = 1 - i;
        for (int age = 0; age < AGES; age++) {
            queues[other]->used_at = pm_now() - age * 2 * PM_SECOND;
            assert_int_equal(pm_count_elsewhere(queues[i], variant),
                             known->copies[other] > 0 || (known->dirty[other] && age == 0));
        }
    }
}

static void walk(const struct known *known, int left)
{
    const struct pm_variant_counts before = variant->counted;
    for (uint32_t i = 0; i < QUEUES; i++) {
        for (int event = 0; event < PM_COUNT_EVENTS; event++) {
            struct known next = *known;
            if (event == PM_COUNT_COUNTED) {
                if (known->dirty[i])
                    continue;
                assert_true(pm_count_dirty(queues[i], variant));
                next.dirty[i] = true;
            } else if (event == PM_COUNT_COPIED) {
                if (!known->dirty[i] || known->copies[i] == PM_QUEUE_COPIES)
                    continue;
                pm_count_copied(queues[i]);
                next.dirty[i] = false;
                next.copies[i]++;
            } else {
                if (known->copies[i] == 0)
                    continue;
                pm_count_through(queues[i], variant);
                next.copies[i]--;
            }
            check(&next);
            histories++;
            if (left > 1)
                walk(&next, left - 1);
            variant->counted = before;
            for (uint32_t j = 0; j < QUEUES; j++)
                atomic_store(&queues[j]->dirty_count, known->dirty[j]);
        }
    }
}

static void every_short_history(void **state)
{
    (void)state;
    const struct known none = {0};
    check(&none);
    walk(&none, LENGTH);
    assert_true(histories > 1000);
}

/* Each state is left by what can happen in it, and by nothing else. */
static void what_cannot_happen(void **state)
{
    (void)state;
    for (int i = 0; i < PM_COUNT_STATES; i++) {
        const bool dirty = pm_count_is_dirty((enum pm_count_state)i);
        const bool copying = pm_count_is_copying((enum pm_count_state)i);
        const uint8_t *next = pm_count_transitions[i];
        assert_int_equal(next[PM_COUNT_COUNTED] == PM_COUNT_STATES, dirty);
        assert_int_equal(next[PM_COUNT_COPIED] == PM_COUNT_STATES, !dirty);
        assert_int_equal(next[PM_COUNT_THROUGH] == PM_COUNT_STATES, !copying);
    }
}

static void users(void **state)
{
    (void)state;
    memset(&variant->counted, 0, sizeof variant->counted);
    assert_true(pm_count_used(queues[1], variant));
    assert_false(pm_count_used(queues[1], variant));
    assert_int_equal(variant->counted.user_changes, 1);
    assert_false(pm_count_used(queues[0], variant));
    assert_false(pm_count_used(queues[1], variant));
    assert_int_equal(variant->counted.user_changes, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_history),
        cmocka_unit_test(what_cannot_happen),
        cmocka_unit_test(users),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
