/* Days of uploads: a retry has the day of the first time, whenever it comes, and counts no more.
 * The clock is the test's. */
#include "tests/aggregator/place.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define TODAY 20000
#define MIDNIGHT ((TODAY + 1) * DAY)

static int set_up(void **state)
{
    struct place *place = place_create(14);
    place->now = MIDNIGHT - 5;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.token_clusters = 1;
    place_open(place);
    *state = place;
    return 0;
}

static struct pm_profile *upload_of(struct place *place, uint32_t day)
{
    const struct pm_point_counts point = block_counts(0, 1000, 10);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    struct pm_profile *profile = place_profile(place, &shader);
    profile->day = day;
    return profile;
}

static struct pm_ingest_outcome send(struct place *place, const struct pm_profile *profile)
{
    static const struct pm_ingest_source token = {{7}};
    const struct pm_ingest_source *sources = &token;
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome;
}

static void assert_counts(struct place *place, const struct pm_profile *profile)
{
    const struct pm_ingest_outcome outcome = send(place, profile);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
    assert_false(outcome.uncounted);
}

static void assert_known(struct place *place, const struct pm_profile *profile)
{
    assert_int_equal(send(place, profile).result, PM_INGEST_DUPLICATE);
}

static void assert_uploads(struct place *place, uint64_t wanted)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct pm_error error;
    uint64_t uploads;
    bool known;
    assert_true(storage->operations->find_game(storage, "game", &known, &uploads, &error));
    assert_int_equal(uploads, wanted);
}

static void test_a_retry_after_midnight(void **state)
{
    struct place *place = *state;
    const struct pm_profile *first = upload_of(place, TODAY), *old = upload_of(place, 0);
    assert_counts(place, first);
    assert_known(place, first);
    /* One that says no day is over the cap of this one. */
    assert_true(send(place, old).uncounted);
    place->now = MIDNIGHT + 5;
    assert_known(place, first);
    assert_known(place, old);
    /* Nor did these count for the new day. */
    assert_counts(place, upload_of(place, TODAY + 1));
    assert_true(send(place, upload_of(place, TODAY + 1)).uncounted);
    assert_uploads(place, 2);
    /* Who has another clock, and who starts anew, know it too. */
    place->now = MIDNIGHT - 3600;
    place_open(place);
    assert_known(place, first);
    assert_known(place, old);
    assert_uploads(place, 2);
}

/* What is too old is forgotten with its day; what comes back then is no upload any more. */
static void test_days_end(void **state)
{
    struct place *place = *state;
    const struct pm_profile *first = upload_of(place, TODAY), *old = upload_of(place, 0);
    struct pm_error error;
    bool expired;
    assert_counts(place, first);
    send(place, old);
    place->now += (PM_RETENTION_DAYS + 1) * DAY;
    assert_true(pm_aggregator_fold(place->aggregator, NULL, &error));
    if (!pm_aggregator_upkeep(place->aggregator, &expired, &error))
        fail_msg("%s", error.message);
    assert_true(expired);
    const struct pm_ingest_outcome outcome = send(place, first);
    assert_int_equal(outcome.result, PM_INGEST_REFUSED);
    assert_string_equal(outcome.reason.message, "day: 20000 is 61 days ago, which is too long");
    assert_counts(place, old);
}

static void test_days_that_cannot_be(void **state)
{
    struct place *place = *state;
    static const struct {
        uint32_t day;
        const char *words;
    } days[] = {
        {TODAY + 1, NULL},
        {TODAY - 30, NULL},
        {TODAY + 2, "day: 20002 is 2 days from now; the clock was ahead where it was recorded"},
        {UINT32_MAX, "day: 4294967295 is 4294947295 days from now; the clock was ahead where it "
                     "was recorded"},
        {1, "day: 1 is 19999 days ago, which is too long"},
    };
    for (size_t i = 0; i < sizeof(days) / sizeof(*days); i++) {
        const struct pm_ingest_outcome outcome = send(place, upload_of(place, days[i].day));
        assert_int_equal(outcome.result, days[i].words ? PM_INGEST_REFUSED : PM_INGEST_STORED);
        if (days[i].words)
            assert_string_equal(outcome.reason.message, days[i].words);
    }
    place->keeping.retention_days = 0;
    place_open(place);
    assert_int_equal(send(place, upload_of(place, TODAY - 366)).result, PM_INGEST_STORED);
    assert_int_equal(send(place, upload_of(place, TODAY - 367)).result, PM_INGEST_REFUSED);
}

static int64_t an_hour_ahead(void *user)
{
    return ((const struct place *)user)->now + 3600;
}

/* Of two servers one has another day already. */
static void test_a_clock_that_is_ahead(void **state)
{
    struct place *place = *state;
    if (!on_postgres())
        skip();
    struct place ahead = *place;
    struct pm_error error;
    bool expired;
    ahead.keeping.clock = an_hour_ahead;
    ahead.keeping.clock_user = place;
    ahead.aggregator = pm_aggregator_open(place->path, &ahead.keeping, &error);
    if (!ahead.aggregator)
        fail_msg("%s", error.message);
    const struct pm_profile *first = upload_of(place, TODAY), *next = upload_of(place, TODAY + 1);
    assert_counts(place, first);
    assert_known(&ahead, first);
    assert_counts(&ahead, next);
    assert_known(place, next);
    /* The other one ends the day for which this one still counts. */
    if (!pm_aggregator_upkeep(ahead.aggregator, &expired, &error))
        fail_msg("%s", error.message);
    assert_true(send(place, upload_of(place, TODAY)).uncounted);
    place->now += 10;
    assert_true(send(place, upload_of(place, TODAY)).uncounted);
    assert_known(place, first);
    assert_known(place, next);
    assert_uploads(place, 2);
    pm_aggregator_destroy(ahead.aggregator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_retry_after_midnight, set_up, place_destroy),
        cmocka_unit_test_setup_teardown(test_days_end, set_up, place_destroy),
        cmocka_unit_test_setup_teardown(test_a_clock_that_is_ahead, set_up, place_destroy),
        cmocka_unit_test_setup_teardown(test_days_that_cannot_be, set_up, place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
