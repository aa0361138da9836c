/* What a session's trials spent beyond their share is owed by the next one (layer/trial/budget.h).
 */
#include "tests/layer/trial/trying.h"

#include "base/clock.h"
#include "base/file.h"
#include <stdio.h>
#include <unistd.h>

/* How many timestamps trials took in half a second, in which the first pair may begin. It is
 * charged a frame, and the variant takes 0.4 s longer: 40 seconds' worth of so small a share. */
static uint32_t timestamps(const char *share)
{
    trying.dispatches = true;
    trying.share = share;
    trying.longer = 1000;
    trying_open(TRYING_ORIGINAL * 5, NULL);
    const int64_t until = pm_now() + PM_SECOND / 2;
    uint32_t count = 0;
    while (count == 0 && pm_now() < until) {
        const uint64_t position = trying.h.driver->position();
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
        count += pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp");
    }
    trying_run_frames(trying_dispatch, TRYING_ONCE, 4); /* its other half */
    trying_close();
    return count;
}

static void forget(void *user, const char *path)
{
    (void)user;
    unlink(path);
}

static void a_short_session_owes(void **state)
{
    (void)state;
    assert_true(timestamps("0.01") > 0);
    assert_int_equal(timestamps("0.01"), 0);
    assert_int_equal(timestamps("0.01"), 0);
    /* Where nothing is known of it, it begins anew. */
    char folder[200];
    snprintf(folder, sizeof folder, "%s/piecemeal/trials", pm_layered_home());
    pm_folder_each(folder, "", forget, NULL);
    assert_true(timestamps("0.01") > 0);
}

/* It neither pays nor adds to what is owed. */
static void a_session_without_a_limit_does_not(void **state)
{
    (void)state;
    assert_true(timestamps("0.01") > 0);
    assert_true(timestamps("1") > 0);
    assert_int_equal(timestamps("0.01"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_short_session_owes),
        PM_LAYERED_TEST(a_session_without_a_limit_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
