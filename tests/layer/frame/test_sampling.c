/* Heartbeats (layer/frame/sampling.h). */
#include "layer/frame/sampling.h"

#include "base/clock.h"
#include "tests/cmocka_includes.h"

static struct pm_instance instance;
static struct pm_device device = {.instance = &instance};
static struct pm_sampling sampling = {.device = &device, .lock = PTHREAD_MUTEX_INITIALIZER};

/* A frame does not wait for a thread of ours that has the lock; the window sees it later. */
static void a_heartbeat_waits_for_nobody(void **unused)
{
    (void)unused;
    sampling.window.countdown = 10;
    assert_int_equal(pm_sampling_heartbeat(&sampling), 1);
    assert_int_equal(sampling.window.countdown, 9);
    pthread_mutex_lock(&sampling.lock);
    assert_int_equal(pm_sampling_heartbeat(&sampling), 2);
    assert_int_equal(pm_sampling_heartbeat(&sampling), 3);
    pthread_mutex_unlock(&sampling.lock);
    assert_int_equal(sampling.window.countdown, 9);
    assert_int_equal(pm_sampling_heartbeat(&sampling), 4);
    assert_int_equal(sampling.window.countdown, 6);
}

/* Who stops presenting and goes on submitting has heartbeats all the same. */
static void submissions_count_where_nothing_is_presented(void **unused)
{
    (void)unused;
    atomic_store(&sampling.presented, 0);
    assert_true(pm_sampling_counts_submissions(&sampling, PM_SECOND));
    atomic_store(&sampling.presented, 100 * PM_SECOND);
    assert_false(pm_sampling_counts_submissions(&sampling, 100 * PM_SECOND));
    assert_false(pm_sampling_counts_submissions(&sampling, 105 * PM_SECOND));
    assert_true(pm_sampling_counts_submissions(&sampling, 111 * PM_SECOND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heartbeat_waits_for_nobody),
        cmocka_unit_test(submissions_count_where_nothing_is_presented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
