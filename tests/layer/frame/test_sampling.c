/* Heartbeats (layer/frame/sampling.h). */
#include "layer/frame/sampling.h"

#include "tests/cmocka_includes.h"

static struct pm_device device;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heartbeat_waits_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
