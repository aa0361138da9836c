/* Who waits for the quarantine's writing: not those that refuse uploads, nor those that look. */
#include "tests/aggregator/place.h"

#include "tests/cmocka_includes.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WRITING_SECONDS 20 /* that a writer waits for whoever should not wait for it */

static int set_up(void **state)
{
    struct place *place = place_create(1);
    place_open(place);
    *state = place;
    return 0;
}

/* ---- a storage whose writing is watched ---- */

static const struct pm_storage_operations *real;
static struct pm_aggregator *watched;
static unsigned begins;
static bool waited, full;

static void *refuse_another(void *user)
{
    pm_aggregator_quarantine_add(watched, "game", "while it is written", NULL, 0);
    return user;
}

/* As long as it takes: whoever has to wait for this writer shows it by waiting. */
static bool begin_slowly(struct pm_storage *storage, struct pm_error *error)
{
    pthread_t thread;
    struct timespec until;
    begins++;
    if (full)
        return pm_fail(error, PM_ERROR_LIMIT, "full");
    assert_int_equal(pthread_create(&thread, NULL, refuse_another, NULL), 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WRITING_SECONDS;
    waited = pthread_timedjoin_np(thread, NULL, &until) != 0;
    if (waited)
        pthread_detach(thread);
    return real->begin(storage, error);
}

static bool upkeep_watched(struct pm_aggregator *aggregator)
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    struct pm_storage_operations slow = *(real = storage->operations);
    struct pm_error error;
    bool expired;
    watched = aggregator;
    slow.begin = begin_slowly;
    begins = 0;
    storage->operations = &slow;
    const bool done = pm_aggregator_upkeep(aggregator, &expired, &error);
    storage->operations = real;
    return done;
}

struct seen {
    size_t count;
    char reasons[8][32]; /* the newest first */
};

static bool see(void *user, const struct pm_quarantined *entry, struct pm_error *error)
{
    struct seen *seen = user;
    (void)error;
    assert_true(seen->count < 8);
    strncpy(seen->reasons[seen->count++], entry->reason, 31);
    return true;
}

static struct seen look(struct pm_aggregator *aggregator, const char *game)
{
    struct seen seen = {0};
    struct pm_error error;
    if (!pm_aggregator_quarantine(aggregator, game, see, &seen, &error))
        fail_msg("%s", error.message);
    return seen;
}

/* ---- */

static void test_refusing_does_not_wait_for_the_writer(void **state)
{
    struct place *place = *state;
    pm_aggregator_quarantine_add(place->aggregator, "game", "before", NULL, 0);
    assert_true(upkeep_watched(place->aggregator));
    assert_true(begins > 0);
    assert_false(waited);
    const struct seen seen = look(place->aggregator, NULL);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.reasons[0], "while it is written");
    assert_string_equal(seen.reasons[1], "before");
}

static bool fail_to_begin(struct pm_storage *storage, struct pm_error *error)
{
    (void)storage;
    begins++;
    return pm_fail(error, PM_ERROR_LIMIT, "full");
}

/* Looking writes nothing, and shows what waits all the same. */
static void test_looking_does_not_write(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct pm_storage_operations fails = *(real = storage->operations);
    fails.begin = fail_to_begin;
    begins = 0;
    pm_aggregator_quarantine_add(place->aggregator, "game", "first", "body", 4);
    pm_aggregator_quarantine_add(place->aggregator, "game", "second", NULL, 0);
    pm_aggregator_quarantine_add(place->aggregator, "other", "third", NULL, 0);
    storage->operations = &fails;
    const struct seen all = look(place->aggregator, NULL),
                      of_game = look(place->aggregator, "game");
    storage->operations = real;
    assert_int_equal(begins, 0);
    assert_int_equal(all.count, 3);
    assert_string_equal(all.reasons[0], "third");
    assert_int_equal(of_game.count, 2);
    assert_string_equal(of_game.reasons[0], "second");
    assert_string_equal(of_game.reasons[1], "first");
}

/* What could not be written waits on, in its order; the oldest go where there is no room. */
static void test_what_cannot_be_written_waits(void **state)
{
    struct place *place = *state;
    pm_aggregator_quarantine_add(place->aggregator, "game", "first", NULL, 0);
    pm_aggregator_quarantine_add(place->aggregator, "game", "second", NULL, 0);
    full = true;
    assert_false(upkeep_watched(place->aggregator));
    full = false;
    pm_aggregator_quarantine_add(place->aggregator, "game", "third", NULL, 0);
    struct seen seen = look(place->aggregator, NULL);
    assert_int_equal(seen.count, 3);
    assert_string_equal(seen.reasons[2], "first");
    assert_true(upkeep_watched(place->aggregator));
    seen = look(place->aggregator, NULL);
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.reasons[0], "while it is written");
    assert_string_equal(seen.reasons[1], "third");
    assert_string_equal(seen.reasons[3], "first");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_refusing_does_not_wait_for_the_writer),
        TEST(test_looking_does_not_write),
        TEST(test_what_cannot_be_written_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
