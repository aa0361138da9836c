/* What secondary command buffers have part in: when a use begins and when it is over
 * (executed_passes.h). */
#include "layer/trial/executed_passes.h"
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"
#include "tests/cmocka_includes.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 7, EXPECTED = 1000, WOKE_AT = 5, SETTLES = 2 };

static struct device {
    struct pm_device device;
    struct pm_sampling sampling;
    struct pm_trials trials;
    struct pm_trial trial;
    struct pm_candidate candidate;
    struct pm_command command, secondaries[2];
} * made;

static VkCommandBuffer secondary(int i)
{
    return (VkCommandBuffer)&made->secondaries[i];
}

static int set_up(void **state)
{
    (void)state;
    made = aligned_alloc(PM_CACHE_LINE,
                         (sizeof *made + PM_CACHE_LINE - 1) / PM_CACHE_LINE * PM_CACHE_LINE);
    assert_non_null(made);
    memset(made, 0, sizeof *made);
    made->device.sampling = &made->sampling;
    made->device.trials = &made->trials;
    made->trials.device = &made->device;
    pthread_mutex_init(&made->trials.lock, NULL);
    made->trial.owner = &made->trials;
    made->candidate.trial = &made->trial;
    made->command.device = &made->device;
    pm_glance_init(&made->trial.glance);
    pm_budget_init(&made->trials.budget, 1, (int64_t[PM_OWED_BY]){0}, 0);
    atomic_store(&made->sampling.heartbeats, WOKE_AT + SETTLES);
    atomic_store(&made->trial.since, WOKE_AT);
    pm_lookup_init(&made->sampling.commands);
    for (int i = 0; i < 2; i++)
        assert_true(
            pm_lookup_put(&made->sampling.commands, PM_KEY(secondary(i)), &made->secondaries[i]));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pm_budget_finish(&made->trials.budget);
    pthread_mutex_destroy(&made->trials.lock);
    pm_lookup_finish(&made->sampling.commands);
    free(made);
    return 0;
}

/* A secondary command buffer is recorded. */
static bool joins(const struct pm_candidate *candidate, struct pm_timed *use)
{
    struct pm_pass_instance pass = {
        .place = PM_PLACE_TIMED_PASS, .inherited = true, .group = GROUP};
    return pm_executed_pass_join(candidate, &pass, use);
}

static struct pm_timed join(void)
{
    struct pm_timed use;
    assert_true(joins(&made->candidate, &use));
    assert_true(use.turn != 0);
    return use;
}

/* An instance ends that has executed what has part in this. Returns how many uses it times. */
static uint32_t execute(struct pm_timed use)
{
    made->command.pass = (struct pm_pass_instance){
        .executes = true, .started = true, .timed = {.uses = {use}, .count = 1}};
    return pm_executed_pass_ended(&made->command).count;
}

/* The same in several. Returns which of them times it, which one does. */
static uint32_t execute_in(struct pm_timed use, uint32_t instances)
{
    uint32_t timed = 0, count = 0;
    for (uint32_t i = 0; i < instances; i++) {
        const uint32_t uses = execute(use);
        count += uses;
        timed = uses > 0 ? i : timed;
    }
    assert_int_equal(count, 1);
    return timed;
}

static void all_have_part_in_one_until_it_is_executed(void **state)
{
    (void)state;
    const struct pm_timed first = join(), same = join();
    assert_int_equal(first.turn, same.turn);
    assert_int_equal(first.variant, same.variant);
    assert_int_equal(execute(first), 1);
    const struct pm_timed next = join();
    assert_int_equal(next.turn, first.turn + 1);
    /* The other half. */
    assert_int_equal(next.variant, !first.variant);
    assert_int_equal(next.pair, first.pair);
}

/* Once more it is no use, and costs. */
static void what_is_executed_again_is_charged(void **state)
{
    (void)state;
    const struct pm_timed use = join();
    assert_int_equal(execute(use), 1);
    assert_int_equal(execute(use), 0);
    assert_int_equal(atomic_load(&made->trials.budget.returned), 0);
    atomic_store(&made->trial.cost.expected, EXPECTED);
    assert_int_equal(execute(use), 0);
    assert_int_equal(atomic_load(&made->trials.budget.returned), -EXPECTED / 2);
    /* Also where the next has begun, as frames are recorded ahead. */
    const struct pm_timed next = join();
    assert_int_equal(execute(use), 0);
    assert_int_equal(atomic_load(&made->trials.budget.returned), -EXPECTED);
    /* What is kept since is of no use of now. */
    assert_int_equal(execute(next), 1);
    assert_int_equal(execute(use), 0);
    assert_int_equal(atomic_load(&made->trials.budget.returned), -EXPECTED);
}

/* Of both halves of a pair it is the same one. */
static void of_several_instances_each_is_timed_in_turn(void **state)
{
    enum { INSTANCES = 3, PAIRS = 6 };
    (void)state;
    uint32_t timed[INSTANCES] = {0};
    /* A pair from which it is known how many there are. */
    (void)execute_in(join(), INSTANCES);
    (void)execute_in(join(), INSTANCES);
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        const uint32_t first = execute_in(join(), INSTANCES);
        const uint32_t second = execute_in(join(), INSTANCES);
        assert_int_equal(first, second);
        timed[first]++;
    }
    for (uint32_t i = 0; i < INSTANCES; i++)
        assert_int_equal(timed[i], PAIRS / INSTANCES);
}

/* As a reflection does that is drawn in each second frame. */
static void what_comes_in_some_frames_is_timed_too(void **state)
{
    enum { FRAMES = 64 };
    (void)state;
    for (uint32_t rare = 0; rare < 2; rare++) {
        uint32_t timed[2] = {0};
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            const struct pm_timed use = join();
            for (uint32_t i = 0; i < 1 + (frame % 2 == rare); i++)
                timed[i] += execute(use);
        }
        assert_in_range(timed[0], FRAMES / 4, FRAMES);
        assert_in_range(timed[1], FRAMES / 8, FRAMES);
    }
}

/* What does not come any more is not waited for for long. */
static void what_is_gone_is_forgotten(void **state)
{
    enum { MANY = 16, FRAMES = 48 };
    (void)state;
    for (uint32_t frame = 0; frame < 4; frame++)
        (void)execute_in(join(), MANY);
    for (uint32_t frame = 0; frame < FRAMES; frame++)
        (void)execute(join());
    for (uint32_t frame = 0; frame < FRAMES; frame++)
        assert_int_equal(execute(join()), 1);
}

/* As shadows that are drawn anew now and then. */
static void what_comes_many_times_at_once_costs_few_pairs(void **state)
{
    enum { MANY = 64, EACH = 60, FRAMES = 20 * EACH };
    (void)state;
    uint32_t timed = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        const struct pm_timed use = join();
        for (uint32_t i = 0; i < (frame % EACH == EACH / 2 ? MANY : 1); i++)
            timed += execute(use);
    }
    assert_in_range(timed, FRAMES * 3 / 4, FRAMES);
}

/* ---- threads ---- */

enum { THREADS = 2, ROUNDS = 30000 };

static struct threads {
    struct pm_command commands[THREADS];
    struct pm_timed use;
    _Atomic uint32_t round, done, timed;
} threads;

/* For a moment only: whoever sleeps does not wake at the same time as others. */
static void await(const _Atomic uint32_t *what, uint32_t value)
{
    for (uint32_t i = 1; atomic_load(what) != value; i++)
        if (i % 4096 == 0)
            sched_yield();
}

/* Ends an instance of each round's use, as the others do just then. */
static void *end_instances(void *command)
{
    struct pm_command *mine = command;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        await(&threads.round, round);
        mine->pass = (struct pm_pass_instance){
            .executes = true, .started = true, .timed = {.uses = {threads.use}, .count = 1}};
        atomic_fetch_add(&threads.timed, pm_executed_pass_ended(mine).count);
        atomic_fetch_add(&threads.done, 1);
    }
    return NULL;
}

/* Each has a number of its own, and all but one are charged. */
static void instances_end_on_many_threads(void **state)
{
    pthread_t ids[THREADS];
    (void)state;
    for (int i = 0; i < 2; i++)
        (void)execute_in(join(), THREADS);
    atomic_store(&made->trial.cost.expected, EXPECTED);
    memset(&threads, 0, sizeof threads);
    for (int i = 0; i < THREADS; i++) {
        threads.commands[i].device = &made->device;
        assert_int_equal(pthread_create(&ids[i], NULL, end_instances, &threads.commands[i]), 0);
    }
    uint32_t timed = 0, charged = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        threads.use = join();
        const int64_t returned = atomic_load(&made->trials.budget.returned);
        atomic_store(&threads.timed, 0);
        atomic_store(&threads.round, round);
        await(&threads.done, round * THREADS);
        timed += atomic_load(&threads.timed) == 1;
        charged +=
            returned - atomic_load(&made->trials.budget.returned) == (THREADS - 1) * EXPECTED / 2;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    assert_int_equal(timed, ROUNDS);
    assert_int_equal(charged, ROUNDS);
}

/* ---- sides ---- */

/* With both sides it goes on once, and no longer. */
static void with_both_sides_it_goes_on_once(void **state)
{
    (void)state;
    struct pm_timed use = join();
    use.mixed = true;
    assert_int_equal(execute(use), 0);
    assert_int_equal(join().turn, use.turn);
    assert_int_equal(execute(use), 0);
    assert_int_equal(join().turn, use.turn + 1);
}

/* Whether an instance counts that executes what has part in a use, and beside it one that has none.
 */
static bool counts_beside(struct pm_command other)
{
    const VkCommandBuffer buffers[] = {secondary(0), secondary(1)};
    const struct pm_timed use = join();
    made->secondaries[0].pass = (struct pm_pass_instance){
        .place = PM_PLACE_TIMED_PASS, .inherited = true, .timed = {.uses = {use}, .count = 1}};
    made->secondaries[1] = other;
    made->command.pass =
        (struct pm_pass_instance){.place = PM_PLACE_PASS, .executes = true, .started = true};
    pm_executed_pass_executes(&made->device, &made->command, 2, buffers);
    const uint32_t count = pm_executed_pass_ended(&made->command).count;
    assert_int_not_equal(join().turn, use.turn);
    return count == 1;
}

/* What is kept has the side that it has in all instances, and what has part in trials but not in
 * this one draws nothing with it. */
static void beside_what_could_have_no_part_it_does_not_count(void **state)
{
    (void)state;
    const struct pm_pass_instance part = {.place = PM_PLACE_TIMED_PASS, .inherited = true};
    struct pm_pass_instance nests = part;
    nests.untimed = true;
    assert_true(counts_beside((struct pm_command){.pass = part}));
    assert_true(counts_beside((struct pm_command){.repeats = true}));
    assert_false(counts_beside((struct pm_command){.repeats = false}));
    assert_false(counts_beside((struct pm_command){.pass = nests}));
}

/* A primary one that is not timed executes it. */
static void execute_untimed(struct pm_timed use)
{
    const VkCommandBuffer buffer = secondary(0);
    made->secondaries[0].pass = (struct pm_pass_instance){
        .place = PM_PLACE_TIMED_PASS, .inherited = true, .timed = {.uses = {use}, .count = 1}};
    pm_executed_pass_executes(&made->device, NULL, 1, &buffer);
}

static bool begins(void)
{
    struct pm_timed use;
    assert_true(joins(&made->candidate, &use));
    return use.turn != 0;
}

/* What was recorded when the trial woke is executed beside what has part in none. */
static void none_begins_where_the_trial_has_just_woken(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SETTLES; i++) {
        atomic_store(&made->sampling.heartbeats, WOKE_AT + i);
        assert_false(begins());
    }
    atomic_store(&made->sampling.heartbeats, WOKE_AT + SETTLES);
    assert_true(begins());
}

/* All that is recorded for one has its side, also where it is the last that begins. */
static void no_more_begin_where_none_is_timed(void **state)
{
    enum { IN_VAIN = 64 };
    (void)state;
    for (int i = 0; i < IN_VAIN - 1; i++)
        execute_untimed(join());
    const struct pm_timed last = join(), same = join();
    assert_int_equal(last.turn, same.turn);
    execute_untimed(last);
    assert_false(begins());
}

/* What is kept holds one side: the others' uses of the other side are of both. */
static void no_more_begin_where_one_side_is_timed(void **state)
{
    enum { FRAMES = 200 };
    (void)state;
    uint32_t frames = 0, timed = 0;
    for (; frames < FRAMES && begins(); frames++) {
        struct pm_timed use = join();
        use.mixed = !use.variant;
        timed += execute(use);
    }
    assert_in_range(timed, 16, 48);
    assert_true(frames < FRAMES);
}

/* What is open from before has no part of what was recorded before it woke, either. */
static void nor_is_an_open_one_joined_then(void **state)
{
    (void)state;
    const struct pm_timed open = join();
    atomic_store(&made->trial.since, WOKE_AT + SETTLES);
    assert_false(begins());
    atomic_store(&made->sampling.heartbeats, WOKE_AT + 2 * SETTLES);
    assert_int_equal(join().turn, open.turn);
}

static void take_one(struct pm_timed use)
{
    assert_int_equal(execute(use), 1);
    use.area = 1;
    pm_trials_take(&made->trials, &use, 1000);
}

/* What was recorded with it while a use was open is the original's, on either side. */
static void another_pipeline_begins_pairs_anew(void **state)
{
    struct pm_candidate another = {.trial = NULL};
    (void)state;
    made->trial.compute = true;
    made->trials.first = &made->trial;
    atomic_store(&made->trial.awake, true);
    const struct pm_timed open = join();
    pm_trials_add(&made->trials, &another, true);
    assert_ptr_equal(another.trial, &made->trial);
    atomic_store(&made->sampling.heartbeats, WOKE_AT + 2 * SETTLES);
    take_one(open);
    take_one(join());
    assert_false(made->trial.paired);
    take_one(join());
    assert_true(made->trial.paired);
}

/* ---- which instances are worth their timestamps ---- */

static bool is_worth(struct pm_pass_instance pass)
{
    pass.executes = true;
    made->command.pass = pass;
    (void)pm_executed_pass_ended(&made->command);
    return made->command.pass.worth;
}

static struct pm_pass_instance instance_of(struct pm_timed use)
{
    return (struct pm_pass_instance){.timed = {.uses = {use}, .count = 1}};
}

/* Where none has begun yet one may in the next frame; where none is timed, none does. */
static void what_is_given_up_is_not_worth_it(void **state)
{
    enum { IN_VAIN = 64 };
    (void)state;
    struct pm_timed none;
    atomic_store(&made->sampling.heartbeats, WOKE_AT);
    assert_true(joins(&made->candidate, &none));
    assert_int_equal(none.turn, 0);
    assert_true(is_worth(instance_of(none)));
    atomic_store(&made->sampling.heartbeats, WOKE_AT + SETTLES);
    for (int i = 0; i < IN_VAIN - 1; i++) {
        const struct pm_timed use = join();
        assert_true(is_worth(instance_of(use)));
    }
    (void)is_worth(instance_of(join()));
    assert_true(joins(&made->candidate, &none));
    assert_int_equal(none.turn, 0);
    assert_false(is_worth(instance_of(none)));
}

/* In a window it is not known whether any trial draws in an instance. */
static void what_is_sampled_is_worth_it_if_it_was(void **state)
{
    (void)state;
    assert_false(is_worth((struct pm_pass_instance){.untimed = true}));
    assert_true(is_worth((struct pm_pass_instance){.untimed = true, .started = true}));
    assert_false(is_worth((struct pm_pass_instance){.started = true}));
}

/* ---- which trials have part ---- */

/* Others wait, awake and at no cost, until one of those that are timed is over. */
static void no_more_trials_than_an_instance_has_room_for(void **state)
{
    (void)state;
    static struct pm_trial others[PM_TIMED_MOST];
    memset(others, 0, sizeof others);
    struct pm_timed use;
    for (uint32_t i = 0; i < PM_TIMED_MOST; i++) {
        struct pm_candidate candidate = {.trial = &others[i]};
        others[i].owner = &made->trials;
        atomic_store(&others[i].awake, true);
        pm_glance_init(&others[i].glance);
        assert_true(joins(&candidate, &use) && use.turn != 0);
    }
    assert_false(joins(&made->candidate, &use));
    assert_int_equal(atomic_load(&made->trial.used_at), WOKE_AT + SETTLES);
    assert_int_equal(atomic_load(&made->trial.tracks[0].unmeasured), 0);
    atomic_store(&others[3].over, true);
    /* What was recorded so far of this frame has no part. */
    assert_false(begins());
    atomic_store(&made->sampling.heartbeats, WOKE_AT + 2 * SETTLES);
    assert_true(begins());
}

/* One with room for no other trial makes the instance not count. */
static void without_room_it_does_not_count(void **state)
{
    (void)state;
    struct pm_pass_instance part = {.place = PM_PLACE_TIMED_PASS,
                                    .inherited = true,
                                    .group = GROUP,
                                    .timed = {.count = PM_TIMED_MOST}};
    struct pm_timed use;
    assert_false(pm_executed_pass_join(&made->candidate, &part, &use));
    assert_int_equal(atomic_load(&made->trial.tracks[0].turns), 0);
    part.timed.count = 0;
    assert_false(counts_beside((struct pm_command){.pass = part}));
}

/* Nor does one with single draws of the trial, as it has another side. */
static void beside_single_draws_it_does_not_count(void **state)
{
    (void)state;
    struct pm_pass_instance draws = {.place = PM_PLACE_TIMED_DRAWS, .inherited = true};
    pm_executed_pass_draws(&made->candidate, &draws);
    assert_true(counts_beside((struct pm_command){.pass = draws}));
    pm_executed_pass_draws(&made->candidate, &draws);
    assert_false(counts_beside((struct pm_command){.pass = draws}));
}

static void of_what_is_timed_one_by_one_there_is_none(void **state)
{
    (void)state;
    struct pm_timed use;
    assert_true(pm_trial_is_of_kind(&made->trial, TRIAL_CALLS));
    assert_false(joins(&made->candidate, &use));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_have_part_in_one_until_it_is_executed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_executed_again_is_charged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_several_instances_each_is_timed_in_turn, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_comes_in_some_frames_is_timed_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_gone_is_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_comes_many_times_at_once_costs_few_pairs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(instances_end_on_many_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(with_both_sides_it_goes_on_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(beside_what_could_have_no_part_it_does_not_count, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(none_begins_where_the_trial_has_just_woken, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nor_is_an_open_one_joined_then, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_pipeline_begins_pairs_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_trials_than_an_instance_has_room_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_more_begin_where_none_is_timed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_begin_where_one_side_is_timed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_given_up_is_not_worth_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_sampled_is_worth_it_if_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_room_it_does_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(beside_single_draws_it_does_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_what_is_timed_one_by_one_there_is_none, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
