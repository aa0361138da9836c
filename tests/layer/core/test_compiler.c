#include "base/clock.h"
#include "base/stop.h"
#include "layer/core/compiler.h"
#include "tests/cmocka_includes.h"
#include "tests/patience.h"
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pm_instance instance;
static struct pm_device device;

static struct pm_compiler *create(uint32_t threads, uint32_t most)
{
    instance = (struct pm_instance){
        .config.limits = {.compile_threads = threads, .variants = most, .background_share = 1},
    };
    device = (struct pm_device){.instance = &instance};
    struct pm_compiler *compiler = pm_compiler_create(&device);
    assert_non_null(compiler);
    return compiler;
}

struct test_job {
    struct pm_job job;
    _Atomic uint32_t urgency;
    _Atomic int ran, dropped;
    int place; /* in the order in which jobs ran */
};

static _Atomic int places;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void run(struct pm_job *job)
{
    struct test_job *test = (struct test_job *)job;
    test->place = atomic_fetch_add(&places, 1);
    atomic_fetch_add(&test->ran, 1);
}

static void run_at_gate(struct pm_job *job)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    run(job);
}

static void drop(struct pm_job *job)
{
    atomic_fetch_add(&((struct test_job *)job)->dropped, 1);
}

static void init(struct test_job *test, uint32_t urgency, const void *owner)
{
    *test = (struct test_job){.job = {.run = run, .drop = drop, .owner = owner}};
    atomic_init(&test->urgency, urgency);
    test->job.urgency = &test->urgency;
}

/* Keeps the compiler's one thread busy until the gate is unlocked. */
static void hold(struct pm_compiler *compiler, struct test_job *holder)
{
    pthread_mutex_lock(&gate);
    init(holder, 0, NULL);
    holder->job.run = run_at_gate;
    assert_true(pm_compiler_queue(compiler, &holder->job));
    while (pm_compiler_waiting(compiler) > 0)
        usleep(1000);
}

static void the_most_wanted_goes_first_and_equals_in_order(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(1, 100);
    struct test_job holder, jobs[4];
    hold(compiler, &holder);
    atomic_store(&places, 0);
    const uint32_t urgencies[4] = {1, 3, 1, 2};
    for (int i = 0; i < 4; i++) {
        init(&jobs[i], urgencies[i], NULL);
        assert_true(pm_compiler_queue(compiler, &jobs[i].job));
    }
    atomic_store(&jobs[3].urgency, 9); /* wanted more while it waits */
    pthread_mutex_unlock(&gate);
    pm_compiler_drain(compiler);
    assert_int_equal(holder.place, 0);
    assert_int_equal(jobs[3].place, 1);
    assert_int_equal(jobs[1].place, 2);
    assert_int_equal(jobs[0].place, 3);
    assert_int_equal(jobs[2].place, 4);
    pm_compiler_destroy(compiler);
}

static void cancelling_drops_the_owners_jobs_only(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(1, 100);
    struct test_job holder, jobs[6];
    const int owners[2] = {0};
    hold(compiler, &holder);
    for (int i = 0; i < 6; i++) {
        init(&jobs[i], 0, &owners[i % 2]);
        assert_true(pm_compiler_queue(compiler, &jobs[i].job));
    }
    pm_compiler_cancel(compiler, &owners[1]);
    pthread_mutex_unlock(&gate);
    pm_compiler_drain(compiler);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(jobs[i].ran, i % 2 == 0);
        assert_int_equal(jobs[i].dropped, i % 2 == 1);
    }
    pm_compiler_destroy(compiler);
}

static void destroying_drops_what_waits_and_joins_what_runs(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(2, 100);
    struct test_job jobs[50];
    for (int i = 0; i < 50; i++) {
        init(&jobs[i], 0, NULL);
        assert_true(pm_compiler_queue(compiler, &jobs[i].job));
    }
    pm_compiler_destroy(compiler);
    for (int i = 0; i < 50; i++)
        assert_int_equal(jobs[i].ran + jobs[i].dropped, 1);
}

/* Works until it is asked to stop. */
static void run_for_long(struct pm_job *job)
{
    run(job);
    while (!pm_stop_asked())
        usleep(1000);
}

static void destroying_stops_what_runs(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(1, 100);
    struct test_job job;
    init(&job, 0, NULL);
    job.job.run = run_for_long;
    assert_true(pm_compiler_queue(compiler, &job.job));
    while (atomic_load(&job.ran) == 0)
        usleep(1000);
    alarm(120);
    pm_compiler_destroy(compiler);
    alarm(0);
    assert_false(pm_stop_asked()); /* that thread only */
}

static _Atomic int64_t began_at; /* the latest job */

/* Uses half a second of a core, the first time. */
static void run_busily(struct pm_job *job)
{
    atomic_store(&began_at, pm_now());
    while (pm_used_by_thread() < PM_SECOND / 2)
        continue;
    run(job);
}

static void the_budget_is_kept(void **state)
{
    (void)state;
    pm_compiler_destroy(create(1, 100));
    instance.config.limits.background_share = 0.04; /* 0.4 seconds at once */
    struct pm_compiler *compiler = pm_compiler_create(&device);
    struct test_job jobs[2];
    const int64_t created = pm_now();
    for (int i = 0; i < 2; i++) {
        init(&jobs[i], 0, NULL);
        jobs[i].job.run = run_busily;
        assert_true(pm_compiler_queue(compiler, &jobs[i].job));
    }
    pm_compiler_drain(compiler);
    assert_int_equal(jobs[1].ran, 1);
    /* Nearly 0.1 more were used: that takes nearly 2.5 seconds. */
    assert_true(atomic_load(&began_at) - created >= 2 * PM_SECOND);
    /* Who waits for the budget is no obstacle to the end. */
    for (int i = 0; i < 2; i++) {
        init(&jobs[i], 0, NULL);
        jobs[i].job.run = run_for_long;
        assert_true(pm_compiler_queue(compiler, &jobs[i].job));
    }
    pm_compiler_destroy(compiler);
    assert_int_equal(jobs[0].ran + jobs[0].dropped, 1);
    assert_int_equal(jobs[1].ran + jobs[1].dropped, 1);
}

struct timed_job {
    struct test_job test;
    int64_t created_at, began_at, ended_at;
};

static void run_timed(struct pm_job *job)
{
    struct timed_job *timed = (struct timed_job *)job;
    timed->began_at = pm_now();
    run(job);
}

/* Uses 0.1 seconds of a core more than a share of 0.04 allows. */
static void run_too_long(struct pm_job *job)
{
    struct timed_job *timed = (struct timed_job *)job;
    while ((double)pm_used_by_thread() <
           0.5 * PM_SECOND + 0.04 * (double)(pm_now() - timed->created_at))
        continue;
    run(job);
    timed->ended_at = pm_now();
}

/* Whoever may have time in advance does not wait for it, though others are wanted more, and has no
 * more than that. */
static void some_have_time_in_advance(void **state)
{
    (void)state;
    enum { FIRST, MUCH, LITTLE, NONE, JOBS };
    static const uint32_t advance_s[JOBS] = {[MUCH] = 10, [LITTLE] = 1};
    struct timed_job jobs[JOBS];
    pm_compiler_destroy(create(1, 100));
    instance.config.limits.background_share = 0.04; /* 0.4 seconds at once */
    instance.config.limits.creation_ms = 20;
    instance.config.limits.loading_ms = 10000; /* others do not delay it */
    struct pm_compiler *compiler = pm_compiler_create(&device);
    for (int i = 0; i < JOBS; i++) {
        init(&jobs[i].test, (uint32_t)i, NULL);
        jobs[i].created_at = pm_now();
        jobs[i].test.job.run = i == FIRST ? run_too_long : run_timed;
        jobs[i].test.job.advance_s = advance_s[i];
        assert_true(pm_compiler_queue(compiler, &jobs[i].test.job));
        while (i == FIRST && pm_compiler_waiting(compiler) > 0)
            usleep(1000);
    }
    pm_compiler_drain(compiler);
    for (int i = MUCH; i < JOBS; i++)
        assert_int_equal(jobs[i].test.place, jobs[i - 1].test.place + 1);
    /* 0.1 seconds take 2.5, and 1.5 to all but the 0.04 of one. */
    assert_true(jobs[LITTLE].began_at - jobs[FIRST].ended_at >= 14 * PM_SECOND / 10);
    assert_true(jobs[NONE].began_at - jobs[FIRST].ended_at >= 24 * PM_SECOND / 10);
    for (uint64_t until = 0; !pm_compiler_may_run(compiler, 0);)
        assert_true(patience(&until));
    pm_compiler_destroy(compiler);
}

/* VkFFT's largest shader took a driver 777 seconds: at 0.05 that would be owed for four hours. */
static void a_long_job_is_owed_for_minutes(void **state)
{
    (void)state;
    const double second = PM_SECOND;
    assert_true(fabs(pm_compiler_spend(0.4 * second, PM_SECOND, 0.05) - (-0.6 * second)) < 1);
    assert_true(fabs(pm_compiler_spend(0.4 * second, 777 * PM_SECOND, 0.05) - (-30 * second)) < 1);
    assert_true(fabs(pm_compiler_spend(-30 * second, PM_SECOND, 0.05) - (-30 * second)) < 1);
}

static void the_queue_is_bounded(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(1, 3);
    struct test_job holder, jobs[4];
    hold(compiler, &holder);
    for (int i = 0; i < 4; i++) {
        init(&jobs[i], 0, NULL);
        assert_int_equal(pm_compiler_queue(compiler, &jobs[i].job), i < 3);
    }
    pthread_mutex_unlock(&gate);
    pm_compiler_destroy(compiler);
    assert_int_equal(jobs[3].ran + jobs[3].dropped, 0);
}

static void no_threads_means_no_jobs(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(0, 100);
    struct test_job job;
    init(&job, 0, NULL);
    assert_false(pm_compiler_queue(compiler, &job.job));
    pm_compiler_destroy(compiler);
}

static _Atomic int policy;
static sigset_t mask;

static void run_asking(struct pm_job *job)
{
    atomic_store(&policy, sched_getscheduler(0));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    run(job);
}

static void threads_are_idle_and_take_no_signals(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(1, 100);
    struct test_job job;
    init(&job, 0, NULL);
    job.job.run = run_asking;
    assert_true(pm_compiler_queue(compiler, &job.job));
    pm_compiler_drain(compiler);
    assert_int_equal(atomic_load(&policy), SCHED_IDLE);
    const int signals[] = {SIGINT, SIGTERM, SIGALRM, SIGPROF, SIGUSR1, SIGCHLD};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        assert_true(sigismember(&mask, signals[i]));
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    assert_false(sigismember(&mine, SIGUSR1));
    pm_compiler_destroy(compiler);
}

static void run_for_40_ms(struct pm_job *job)
{
    run_asking(job);
    const int64_t before = pm_used_by_thread();
    while (pm_used_by_thread() - before < 40 * PM_MILLISECOND)
        continue;
}

/* What creating pipelines waits for while a program loads has the program's priority, so long. */
static void the_first_jobs_are_in_a_hurry(void **state)
{
    (void)state;
    pm_compiler_destroy(create(1, 100));
    instance.config.limits.creation_ms = 20;
    instance.config.limits.loading_ms = 60;
    struct pm_compiler *compiler = pm_compiler_create(&device);
    const int expected[] = {SCHED_OTHER, SCHED_OTHER, SCHED_IDLE};
    for (int i = 0; i < 3; i++) {
        struct test_job job;
        init(&job, 0, NULL);
        job.job.run = run_for_40_ms;
        assert_true(pm_compiler_queue(compiler, &job.job));
        pm_compiler_drain(compiler);
        assert_int_equal(atomic_load(&policy), expected[i]);
    }
    pm_compiler_destroy(compiler);
}

static void a_fork_is_survived(void **state)
{
    (void)state;
    struct pm_compiler *compiler = create(1, 100);
    struct test_job holder;
    hold(compiler, &holder);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct test_job job;
        init(&job, 0, NULL);
        alarm(60);
        const bool taken = pm_compiler_queue(compiler, &job.job);
        pm_compiler_cancel(compiler, NULL);
        pm_compiler_destroy(compiler);
        _exit(taken ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pthread_mutex_unlock(&gate);
    pm_compiler_destroy(compiler);
    assert_int_equal(holder.ran, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_wanted_goes_first_and_equals_in_order),
        cmocka_unit_test(cancelling_drops_the_owners_jobs_only),
        cmocka_unit_test(destroying_drops_what_waits_and_joins_what_runs),
        cmocka_unit_test(destroying_stops_what_runs),
        cmocka_unit_test(the_budget_is_kept),
        cmocka_unit_test(some_have_time_in_advance),
        cmocka_unit_test(a_long_job_is_owed_for_minutes),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(no_threads_means_no_jobs),
        cmocka_unit_test(threads_are_idle_and_take_no_signals),
        cmocka_unit_test(the_first_jobs_are_in_a_hurry),
        cmocka_unit_test(a_fork_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
