/* What the layer writes for `piecemeal run --ab`: which pair and which device a block is of. */
#include "layer/trial/ab.h"

#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <string.h>

enum { FRAMES = 8 };

static char folder[96], path[160];
static struct pm_instance instance;
static struct pm_sampling sampling;
static struct pm_trials trials;
static struct pm_device device;
static bool paused;
static uint64_t heartbeat;

static void pause_it(struct pm_device *of, bool now)
{
    (void)of;
    paused = now;
}

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/ab", folder);
    instance.config.ab.file = path;
    instance.config.ab.frames = FRAMES;
    sampling = (struct pm_sampling){.device = &device};
    pthread_mutex_init(&sampling.lock, NULL);
    pm_random_init(&sampling.random, 7);
    trials = (struct pm_trials){.device = &device};
    device = (struct pm_device){.instance = &instance, .sampling = &sampling, .trials = &trials};
    heartbeat = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pthread_mutex_destroy(&sampling.lock);
    temporary_remove(folder);
    return 0;
}

static void beat(struct pm_ab *ab, unsigned count)
{
    while (count-- > 0)
        pm_ab_heartbeat(ab, ++heartbeat);
}

static void set_trying(bool is)
{
    atomic_store(&sampling.trials, is);
    atomic_store(&trials.used_at, heartbeat);
}

/* The numbers behind a word of the blocks' lines, in order. */
static unsigned numbers(const char *word, unsigned out[static 16])
{
    char line[512];
    unsigned count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && count < 16) {
        const char *at = strstr(line, word);
        if (at && strstr(line, "\"pair\":"))
            assert_int_equal(sscanf(at + strlen(word), "%u", &out[count++]), 1);
    }
    fclose(file);
    return count;
}

static void a_pair_that_trials_come_between_has_a_number_of_its_own(void **state)
{
    (void)state;
    unsigned pairs[16];
    struct pm_ab *ab = pm_ab_create(&device, pause_it);
    assert_non_null(ab);
    beat(ab, 1 + 2 * FRAMES); /* a whole pair */
    beat(ab, FRAMES);         /* half a pair */
    set_trying(true);
    beat(ab, 3);
    assert_false(paused);
    set_trying(false);
    beat(ab, 1 + 2 * FRAMES);
    pm_ab_destroy(ab);
    assert_int_equal(numbers("\"pair\":", pairs), 5);
    const unsigned expected[] = {0, 0, 1, 2, 2};
    assert_memory_equal(pairs, expected, sizeof expected);
}

static void devices_are_told_apart(void **state)
{
    (void)state;
    unsigned of[16];
    struct pm_ab *first = pm_ab_create(&device, pause_it);
    struct pm_ab *second = pm_ab_create(&device, pause_it);
    assert_true(first && second);
    for (unsigned i = 0; i < 1 + 2 * FRAMES; i++) {
        beat(first, 1);
        beat(second, 1);
    }
    pm_ab_destroy(second);
    pm_ab_destroy(first);
    assert_int_equal(numbers("\"number\":", of), 4);
    assert_int_not_equal(of[0], of[1]);
    assert_int_equal(of[0], of[2]);
    assert_int_equal(of[1], of[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pair_that_trials_come_between_has_a_number_of_its_own,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices_are_told_apart, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
