/* A lock that may be this very thread's, while somebody sets the time. */
#include "base/lock.h"

#include "tests/cmocka_includes.h"
#include "tests/kernel_clock.h"
#include <unistd.h>

/* In place of libc's: the clock that people set stands so many seconds ahead for who asks now, and
 * is set back then. */
static time_t ahead;
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int result = kernel_clock(clock, time);
    if (clock == CLOCK_REALTIME)
        time->tv_sec += ahead;
    return result;
}

static double now(void)
{
    struct timespec time;
    kernel_clock(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void one_that_is_free(void **unused)
{
    (void)unused;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    assert_true(pm_lock_soon(&lock));
    assert_int_not_equal(pthread_mutex_trylock(&lock), 0);
    pthread_mutex_unlock(&lock);
}

static void one_that_is_held(void **unused)
{
    (void)unused;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    for (ahead = 0; ahead <= 6; ahead += 6) {
        const double began = now();
        assert_false(pm_lock_soon(&lock));
        const double waited = now() - began;
        if (waited < 0.4 || waited > 5)
            fail_msg("waited for %g s with the clock %ld s ahead", waited, (long)ahead);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_free),
        cmocka_unit_test(one_that_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
