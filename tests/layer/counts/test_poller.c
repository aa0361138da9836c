/* The poller on sources of the test's own: who is polled when, and what happens at the end. */
#include "layer/counts/poller.h"

#include "base/clock.h"
#include "layer/core/process_exit.h"
#include "layer/counts/report.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <unistd.h>

static struct pm_device *device;
static struct pm_poller *poller;
static _Atomic uint32_t written;

struct source {
    _Atomic uint32_t waiting; /* polls until something comes */
    _Atomic uint32_t polls;
};
static struct source sources[2];

/* ---- what poller.c calls ---- */

void pm_report_write(struct pm_report *report)
{
    assert_ptr_equal(report->device, device);
    atomic_fetch_add(&written, 1);
}

bool pm_process_is_exiting(void)
{
    return false;
}

static bool is_waiting(void *user)
{
    struct source *source = user;
    return atomic_load(&source->waiting) > 0;
}

static bool poll(void *user, struct pm_report *report)
{
    (void)report;
    struct source *source = user;
    atomic_fetch_add(&source->polls, 1);
    if (atomic_load(&source->waiting) == 0)
        return false;
    return atomic_fetch_sub(&source->waiting, 1) == 1;
}

static int set_up(void **state)
{
    (void)state;
    device = calloc(1, sizeof *device);
    assert_non_null(device);
    device->process = getpid();
    poller = pm_poller_create(device);
    assert_non_null(poller);
    for (int i = 0; i < 2; i++) {
        sources[i] = (struct source){0};
        pm_poller_add(poller, &(struct pm_poll_source){&sources[i], is_waiting, poll});
    }
    atomic_store(&written, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pm_poller_destroy(poller);
    free(device);
    return 0;
}

static _Atomic uint32_t seconds;

static void each_second(struct pm_device *called)
{
    assert_ptr_equal(called, device);
    atomic_fetch_add(&seconds, 1);
}

static void until_written(uint32_t rounds)
{
    while (atomic_load(&written) < rounds)
        usleep(1000);
}

/* While one of them waits all are polled; then none is, until somebody wakes it. */
static void all_are_polled_while_one_waits(void **state)
{
    (void)state;
    for (uint32_t round = 1; round <= 3; round++) {
        atomic_store(&sources[round % 2].waiting, 4);
        pm_poller_wake(poller);
        until_written(4 * round);
    }
    pm_poller_stop(poller, false);
    assert_int_equal(sources[0].polls, 12);
    assert_int_equal(sources[1].polls, 12);
    assert_int_equal(written, 12);
}

static void a_last_round_while_the_gpu_answers(void **state)
{
    (void)state;
    assert_true(pm_poller_start(poller));
    pm_poller_stop(poller, true);
    assert_int_equal(sources[0].polls, 1);
    assert_int_equal(sources[1].polls, 1);
    assert_int_equal(written, 1);
    /* Nothing starts again. */
    assert_false(pm_poller_start(poller));
    atomic_store(&sources[0].waiting, 1);
    pm_poller_wake(poller);
    assert_int_equal(sources[0].polls, 1);
}

static void none_when_it_does_not(void **state)
{
    (void)state;
    assert_true(pm_poller_start(poller));
    pm_poller_stop(poller, false);
    assert_int_equal(written, 0);
}

/* The thread that is not there is not joined; and in a forked child none starts. */
static void nothing_to_stop(void **state)
{
    (void)state;
    device->process++;
    assert_false(pm_poller_start(poller));
    pm_poller_wake(poller);
    pm_poller_stop(poller, true);
    pm_poller_stop(NULL, true);
    pm_poller_destroy(NULL);
    assert_int_equal(written, 0);
}

/* Also while nothing is waited for, and nobody wakes it. */
static void something_each_second(void **state)
{
    (void)state;
    const int64_t start = pm_now();
    atomic_store(&seconds, 0);
    pm_poller_each_second(poller, each_second);
    assert_true(pm_poller_start(poller));
    while (atomic_load(&seconds) < 3)
        usleep(1000);
    assert_true(pm_now() - start >= 2 * PM_SECOND);
    assert_int_equal(written, 0);
    /* And while something is. */
    atomic_store(&sources[0].waiting, 1u << 30);
    pm_poller_wake(poller);
    const uint32_t before = atomic_load(&seconds);
    while (atomic_load(&seconds) < before + 1)
        usleep(1000);
    pm_poller_stop(poller, false);
    assert_true(written > 0);
    assert_true(atomic_load(&seconds) <= (pm_now() - start) / PM_SECOND + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_are_polled_while_one_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_last_round_while_the_gpu_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_when_it_does_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(something_each_second, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
