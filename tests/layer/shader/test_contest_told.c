/* What trials say of a contest's variants (optimize_contest_told.c). */
#include "layer/shader/optimize_contest_private.h"
#include "layer/shader/optimized.h"
#include "layer/shader/pipeline.h"
#include "tests/cmocka_includes.h"

#include <string.h>

static struct {
    struct pm_device device;
    struct pm_optimizer optimizer;
    struct pm_pipeline pipeline;
    struct pm_optimized chosen;
    struct pm_contest contest;
    uint32_t woken;
} made;

static void wake(struct pm_optimizer *optimizer)
{
    (void)optimizer;
    made.woken++;
}

/* A contest is over, and then what it chose is found faster, of whose pipeline there are so many
 * references. */
static void win_late(uint32_t references)
{
    memset(&made, 0, sizeof made);
    made.device.optimizer = &made.optimizer;
    made.optimizer.device = &made.device;
    made.optimizer.wake = wake;
    made.pipeline.device = &made.device;
    made.chosen.pipeline = &made.pipeline;
    made.chosen.contest = &made.contest;
    atomic_store(&made.chosen.decided, true);
    atomic_store(pm_optimizer_place(&made.chosen), &made.chosen);
    atomic_store(&made.contest.state, PM_CONTEST_OVER);
    atomic_store(&made.pipeline.references, references);
    pm_contest_hear(&made.chosen.candidate);
    (void)made.chosen.candidate.verdict(&made.chosen.candidate, true);
    assert_int_equal(atomic_load(&made.contest.state), PM_CONTEST_WON);
}

static void what_wins_late_is_kept(void **state)
{
    (void)state;
    win_late(1);
    assert_ptr_equal(atomic_load(&made.contest.won_late), &made.pipeline);
    assert_int_equal(atomic_load(&made.pipeline.references), 2);
    assert_int_equal(made.woken, 1);
}

/* It waits for the trial to say so, and then goes. */
static void a_pipeline_that_is_being_destroyed_goes(void **state)
{
    (void)state;
    win_late(0);
    assert_null(atomic_load(&made.contest.won_late));
    assert_int_equal(atomic_load(&made.pipeline.references), 0);
    assert_int_equal(made.woken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_wins_late_is_kept),
        cmocka_unit_test(a_pipeline_that_is_being_destroyed_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
