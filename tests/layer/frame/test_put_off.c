/* What is put off to the next draw (layer/frame/put_off.h): each call of its recording is looked at
 * until then, whatever else it is looked at for, and the hooks are armed until then and no longer.
 */
#include "layer/frame/put_off.h"

#include "layer/frame/passes_run.h"
#include "tests/cmocka_includes.h"

enum { THREADS = 3, TURNS = 4000 };

static struct pm_device device;
static struct pm_sampling sampling;
static struct pm_command commands[THREADS];

static bool is_armed(void)
{
    return pm_binds_any(&device, PM_BINDS_ARMED);
}

static void arm(struct pm_device *of, bool armed)
{
    pm_binds_set(of, PM_BINDS_ARMED, armed ? PM_BINDS_ARMED : 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(&sampling, 0, sizeof sampling);
    memset(commands, 0, sizeof commands);
    device = (struct pm_device){.sampling = &sampling};
    sampling.device = &device;
    sampling.arm = arm;
    pthread_mutex_init(&sampling.lock, NULL);
    for (int i = 0; i < THREADS; i++) {
        commands[i].device = &device;
        commands[i].recording = PM_RECORDING_TRACKED;
        commands[i].countdown = PM_NEVER;
        commands[i].timings = PM_TIMING_NONE;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pthread_mutex_destroy(&sampling.lock);
    return 0;
}

/* As where the query ends before a draw comes (query_hooks.c). */
static void cancel(struct pm_command *command)
{
    pm_command_put_off_ends(command);
    pm_passes_count_down(command);
}

/* A call, as the armed hooks count it; whether it is looked at, and behind that the countdown of
 * one that is sampled was through. */
static bool is_looked_at(struct pm_command *command, bool *through)
{
    *through = false;
    if (--command->countdown != 0)
        return false;
    *through = command->recording == PM_RECORDING_SAMPLED && pm_command_is_through(command);
    if (*through)
        command->countdown = 10; /* as whoever samples draws it */
    pm_passes_count_down(command);
    return true;
}

/* In a recording that nothing else is looked at in, each call is, and none behind it; nor in the
 * next recordings, which may begin without setting the countdown. */
static void each_call_is_looked_at(void **state)
{
    (void)state;
    struct pm_command *command = &commands[0];
    bool through;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        assert_false(is_looked_at(command, &through));
        pm_put_off_begin(command);
        pm_put_off_begin(command); /* another query */
        assert_true(command->put_off && pm_command_holds(command));
        for (int i = 0; i < 3; i++)
            assert_true(is_looked_at(command, &through) && !through);
        if (cancelled) {
            cancel(command);
        } else {
            assert_int_equal(--command->countdown, 0);
            pm_command_put_off_ends(command);
            pm_passes_count_down(command);
        }
        assert_false(command->put_off || pm_command_holds(command));
        assert_true(command->countdown > UINT32_MAX);
        cancel(command);
        assert_true(command->countdown > UINT32_MAX);
        assert_int_equal(atomic_load(&sampling.recording), 0);
    }
}

/* Of one that is sampled as many calls are counted until the next that is sampled. */
static void calls_are_sampled_as_before(void **state)
{
    (void)state;
    struct pm_command *command = &commands[0];
    command->recording = PM_RECORDING_SAMPLED;
    for (int from = 0; from < 10; from++) {
        for (int length = 0; length < 25; length++) {
            bool through;
            command->countdown = 10;
            command->behind = 0;
            for (int call = 1; call <= 30; call++) {
                if (call == from + 1)
                    pm_put_off_begin(command);
                if (call == from + 1 + length)
                    cancel(command);
                const bool looked_at = is_looked_at(command, &through);
                assert_int_equal(through, call % 10 == 0);
                assert_int_equal(looked_at, command->put_off || through);
            }
            pm_command_put_off_ends(command);
            pm_passes_count_down(command);
        }
    }
}

static void one_that_is_timed(void **state)
{
    (void)state;
    commands[0].recording = PM_RECORDING_TIMED;
    pm_put_off_begin(&commands[0]);
    assert_int_equal(commands[0].countdown, 1);
    cancel(&commands[0]);
    assert_int_equal(atomic_load(&sampling.recording), 0);
}

/* While something is put off in any recording, and while they are armed for other reasons. */
static void hooks_are_armed_meanwhile(void **state)
{
    (void)state;
    assert_false(is_armed());
    pm_put_off_begin(&commands[0]);
    assert_true(is_armed());
    pm_put_off_begin(&commands[1]);
    cancel(&commands[0]);
    assert_true(is_armed());
    pm_command_put_off_ends(&commands[1]);
    assert_false(is_armed());
    /* What else arms them comes and goes meanwhile, or stays. */
    pm_put_off_begin(&commands[0]);
    pm_sampling_try(&sampling, 1);
    pm_sampling_try(&sampling, -1);
    assert_true(is_armed());
    pm_sampling_try(&sampling, 1);
    pm_command_put_off_ends(&commands[0]);
    assert_true(is_armed());
    pm_sampling_try(&sampling, -1);
    assert_false(is_armed());
}

/* Where the recording ends, is dropped, or was sampled too. */
static void the_end_of_a_recording(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct pm_command *command = &commands[0];
        const bool sampled = (way & 1) != 0;
        if (sampled) {
            command->recording = PM_RECORDING_SAMPLED;
            command->countdown = command->drawn = 10;
            atomic_fetch_add(&sampling.recording, 1);
        }
        const uint64_t calls = atomic_load(&sampling.calls);
        pm_put_off_begin(command);
        bool through;
        assert_true(is_looked_at(command, &through) && is_looked_at(command, &through));
        if ((way & 2) != 0)
            pm_command_end(command);
        else
            pm_command_drop(command);
        assert_false(command->put_off || is_armed() || pm_command_holds(command));
        assert_int_equal(atomic_load(&sampling.recording), 0);
        assert_true(command->countdown == PM_NEVER && command->behind == 0);
        assert_int_equal(atomic_load(&sampling.calls) - calls, sampled ? 2 : 0);
    }
}

static _Atomic bool done;

static void *put_off_in_turns(void *user)
{
    struct pm_command *command = user;
    for (int i = 0; i < TURNS; i++) {
        bool through;
        pm_put_off_begin(command);
        assert_true(is_armed());
        assert_true(is_looked_at(command, &through));
        assert_true(is_armed());
        if (i % 3 == 0)
            cancel(command);
        else if (i % 3 == 1)
            pm_command_end(command);
        else
            pm_command_drop(command);
    }
    return NULL;
}

static void *arm_in_turns(void *unused)
{
    (void)unused;
    while (!atomic_load(&done)) {
        pm_sampling_try(&sampling, 1);
        assert_true(is_armed());
        pm_sampling_try(&sampling, -1);
    }
    return NULL;
}

/* Recordings of several threads, while what else arms the hooks comes and goes: they are armed as
 * long as anybody needs them. */
static void on_several_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS], other;
    atomic_store(&done, false);
    assert_int_equal(pthread_create(&other, NULL, arm_in_turns, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_off_in_turns, &commands[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&done, true);
    pthread_join(other, NULL);
    assert_int_equal(atomic_load(&sampling.recording), 0);
    assert_false(is_armed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_call_is_looked_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_are_sampled_as_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_timed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hooks_are_armed_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_end_of_a_recording, set_up, tear_down),
        cmocka_unit_test_setup_teardown(on_several_threads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
