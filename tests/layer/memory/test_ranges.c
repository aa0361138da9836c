#include "layer/memory/ranges.h"

#include "base/random.h"
#include "tests/cmocka_includes.h"
#include <string.h>

static void takes_the_first_that_fits(void **state)
{
    (void)state;
    struct pm_range *ranges = NULL;
    uint64_t at;
    pm_ranges_give(&ranges, 64, 100);
    pm_ranges_give(&ranges, 500, 300);
    assert_true(pm_ranges_take(&ranges, 0, 200, &at));
    assert_int_equal(at, 500);
    assert_true(pm_ranges_take(&ranges, 0, 100, &at));
    assert_int_equal(at, 64);
    assert_false(pm_ranges_take(&ranges, 0, 101, &at));
    assert_true(pm_ranges_take(&ranges, 0, 100, &at));
    assert_int_equal(at, 700);
    assert_null(ranges);
    pm_ranges_finish(&ranges);
}

static void takes_nothing_before(void **state)
{
    (void)state;
    struct pm_range *ranges = NULL;
    uint64_t at;
    pm_ranges_give(&ranges, 0, 100);
    pm_ranges_give(&ranges, 200, 300);
    assert_true(pm_ranges_take(&ranges, 50, 50, &at));
    assert_int_equal(at, 50);
    assert_true(pm_ranges_take(&ranges, 300, 100, &at));
    assert_int_equal(at, 300);
    assert_false(pm_ranges_take(&ranges, 401, 100, &at));
    pm_ranges_give(&ranges, 50, 50);
    pm_ranges_give(&ranges, 300, 100);
    assert_int_equal(ranges->bytes, 100);
    assert_int_equal(ranges->next->bytes, 300);
    assert_null(ranges->next->next);
    assert_false(pm_ranges_take(&ranges, 500, 1, &at));
    pm_ranges_finish(&ranges);
}

enum { ALL = 1024, BLOCKS = 64 };

/* Against a map of bytes: nothing is given twice, nothing is lost, and what was given back is one
 * part again. */
static void keeps_account(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_range *ranges = NULL;
    struct {
        uint64_t at, bytes;
    } blocks[BLOCKS] = {0};
    unsigned char used[ALL] = {0};
    pm_random_init(&random, 1);
    pm_ranges_give(&ranges, 0, ALL);
    for (int round = 0; round < 20000; round++) {
        const uint32_t i = pm_random_below(&random, BLOCKS);
        if (blocks[i].bytes > 0) {
            pm_ranges_give(&ranges, blocks[i].at, blocks[i].bytes);
            memset(used + blocks[i].at, 0, (size_t)blocks[i].bytes);
            blocks[i].bytes = 0;
            continue;
        }
        const uint64_t bytes = 1 + pm_random_below(&random, 40);
        const uint64_t from = round % 2 == 0 ? 0 : pm_random_below(&random, ALL);
        if (!pm_ranges_take(&ranges, from, bytes, &blocks[i].at))
            continue;
        assert_true(blocks[i].at >= from);
        blocks[i].bytes = bytes;
        assert_true(blocks[i].at + bytes <= ALL);
        for (uint64_t j = 0; j < bytes; j++) {
            assert_int_equal(used[blocks[i].at + j], 0);
            used[blocks[i].at + j] = 1;
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (blocks[i].bytes > 0)
            pm_ranges_give(&ranges, blocks[i].at, blocks[i].bytes);
    }
    assert_non_null(ranges);
    assert_null(ranges->next);
    assert_int_equal(ranges->bytes, ALL);
    pm_ranges_finish(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_first_that_fits),
        cmocka_unit_test(takes_nothing_before),
        cmocka_unit_test(keeps_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
