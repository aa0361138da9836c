/* What says which shader a timed one was specialized from: kept and published only with enough
 * words for it. The clock is the test's. */
#include "aggregator/trust/originals.h"

#include "tests/aggregator/place.h"
#include "tests/aggregator/sql.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

#define MORNING (20000 * DAY + 1000)
#define TOKENS 3     /* that are enough */
#define VARIANT 1    /* what was timed… */
#define ORIGINAL 100 /* …and what it was specialized from */

static int set_up(void **state)
{
    struct place *place = place_create(5);
    place->now = MORNING;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.min_tokens = TOKENS;
    place->keeping.publish_all = true;
    place_open(place);
    *state = place;
    return 0;
}

/* One upload of the variant's timing by a token (0: none). original: the number of its key, or 0.
 */
static void send_to(struct place *place, struct pm_aggregator *aggregator, uint8_t token,
                    uint64_t original)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {.fleet = token > 0};
    const struct pm_ingest_source *sources = token > 0 ? &source : NULL;
    struct pm_shader_profile shader = timing_shader(place->arena, VARIANT, 12, 1000, 800);
    if (original > 0)
        shader.original = key_of(original);
    memset(source.digest, token, sizeof(source.digest));
    const struct pm_profile *profile = place_profile(place, &shader);
    if (!pm_aggregator_ingest_from(aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

static void send(struct place *place, uint8_t token, uint64_t original)
{
    send_to(place, place->aggregator, token, original);
}

/* What is published of the variant names this original; 0: none. */
static void assert_original(struct place *place, uint64_t original)
{
    const struct pm_shader_key wanted = original > 0 ? key_of(original) : (struct pm_shader_key){0};
    char etag[PM_ETAG_TEXT];
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 1);
    assert_true(database.shaders[0].published);
    assert_true(pm_shader_key_equal(&database.shaders[0].original, &wanted));
}

static size_t rows(struct pm_aggregator *aggregator)
{
    struct pm_originals originals = {0};
    struct pm_error error;
    if (!pm_originals_read(&originals, pm_aggregator_storage(aggregator), "game", &error))
        fail_msg("%s", error.message);
    const size_t count = originals.count;
    pm_originals_finish(&originals);
    return count;
}

static void upkeep(struct place *place)
{
    struct pm_error error;
    bool expired;
    if (!pm_aggregator_upkeep(place->aggregator, &expired, &error))
        fail_msg("%s", error.message);
}

static void test_enough_tokens_are_needed(void **state)
{
    struct place *place = *state;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 0);
    assert_original(place, 0);
    for (int i = 0; i < 10; i++) {
        send(place, 1, ORIGINAL);
        send(place, 2, ORIGINAL);
        send(place, 0, ORIGINAL);
    }
    assert_int_equal(rows(place->aggregator), 0);
    assert_original(place, 0);
    /* Those of another day are not known to be others. */
    place->now += DAY;
    send(place, 3, ORIGINAL);
    assert_int_equal(rows(place->aggregator), 0);
    send(place, 1, ORIGINAL);
    send(place, 2, ORIGINAL);
    assert_original(place, ORIGINAL);
    place_open(place);
    assert_original(place, ORIGINAL);
}

/* What stands stays; who says otherwise waits until nobody says so any more. */
static void test_what_stands_stays(void **state)
{
    struct place *place = *state;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, ORIGINAL);
    for (uint8_t i = 11; i <= 10 + TOKENS; i++)
        send(place, i, ORIGINAL + 1);
    assert_original(place, ORIGINAL);
    place->now += (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    for (uint8_t i = 11; i <= 10 + TOKENS; i++)
        send(place, i, ORIGINAL + 1);
    assert_original(place, ORIGINAL);
    place->now += DAY;
    upkeep(place);
    assert_int_equal(rows(place->aggregator), 0);
    for (uint8_t i = 11; i <= 10 + TOKENS; i++)
        send(place, i, ORIGINAL + 1);
    assert_original(place, ORIGINAL + 1);
}

/* Each day on which enough say so makes it last. */
static void test_what_is_said_again_lasts(void **state)
{
    struct place *place = *state;
    for (int day = 0; day < 3; day++) {
        for (uint8_t i = 1; i <= TOKENS; i++)
            send(place, i, ORIGINAL);
        upkeep(place);
        assert_original(place, ORIGINAL);
        place->now += (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    }
}

/* One token, who comes back before the last day on which enough said so is too old, adds nothing.
 */
static void test_one_token_does_not_make_it_last(void **state)
{
    struct place *place = *state;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, ORIGINAL);
    place->now += (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    for (int i = 0; i < 3; i++)
        send(place, 1, ORIGINAL);
    assert_int_equal(rows(place->aggregator), 1);
    place->now += DAY;
    upkeep(place);
    assert_int_equal(rows(place->aggregator), 0);
}

static unsigned complaints; /* lines of the log that speak of damage */

static void count_complaints(void *user, enum pm_log_level level, const char *message)
{
    (void)user;
    complaints += level == PM_LOG_ERROR && strstr(message, "damaged") != NULL;
}

/* A row that the disk changed costs its shader the original, and the game nothing else. */
static void test_damaged_rows_are_left_out(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    if (on_postgres())
        skip(); /* it is changed as a file */
    struct pm_log *log = pm_log_create(NULL, -1, PM_LOG_INFO, &error);
    pm_log_set_callback(log, count_complaints, NULL);
    place->keeping.log = log;
    place_open(place);
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, ORIGINAL);
    complaints = 0;
    assert_original(place, ORIGINAL);
    assert_int_equal(complaints, 0);
    sql_run(place->path, "UPDATE originals SET original = x'010203'");
    assert_original(place, 0);
    assert_int_equal(complaints, 1);
    place->keeping.log = NULL;
    place_open(place);
    pm_log_destroy(log);
}

static void test_import_and_drop(void **state)
{
    struct place *place = *state;
    struct pm_imported imported;
    struct pm_error error;
    uint64_t blobs;
    char *path = join(place->folder, "other");
    struct pm_aggregator_info trusting = place->keeping; /* there it needs nobody's word */
    trusting.min_tokens = 1;
    struct pm_aggregator *other = pm_aggregator_open(path, &trusting, &error);
    assert_non_null(other);
    send_to(place, other, 0, ORIGINAL);
    assert_int_equal(rows(other), 1);
    if (!pm_aggregator_import(place->aggregator, other, "game", &imported, &error))
        fail_msg("%s", error.message);
    pm_aggregator_destroy(other);
    free(path);
    assert_original(place, ORIGINAL);
    const struct pm_shader_key key = key_of(VARIANT);
    assert_true(pm_aggregator_drop(place->aggregator, "game", &key, &blobs, &error));
    assert_int_equal(rows(place->aggregator), 0);
}

/* Files that no aggregator wrote: a key that is none is refused, a day to come is today's at the
 * latest. */
static void test_hostile_files(void **state)
{
    struct place *place = *state;
    struct pm_imported imported;
    struct pm_error error;
    char *path = join(place->folder, "other");
    struct pm_aggregator_info trusting = place->keeping;
    trusting.min_tokens = 1;
    for (int i = 0; i < 2; i++) {
        struct pm_aggregator *other = pm_aggregator_open(path, &trusting, &error);
        assert_non_null(other);
        if (i == 0)
            send_to(place, other, 0, ORIGINAL);
        sql_run(path, i == 0
                          ? "UPDATE originals SET original = x'010203'"
                          : "UPDATE originals SET original = CAST(zeroblob(23) || x'07' AS BLOB),"
                            " day = 4000000");
        assert_int_equal(pm_aggregator_import(place->aggregator, other, "game", &imported, &error),
                         i);
        if (i == 0)
            assert_non_null(strstr(error.message, "damaged key"));
        pm_aggregator_destroy(other);
    }
    free(path);
    assert_int_equal(rows(place->aggregator), 1);
    place->now += (int64_t)PM_RETENTION_DAYS * DAY;
    upkeep(place);
    assert_int_equal(rows(place->aggregator), 0);
}

/* Only a timing has one: another kind of a shader whose key is a variant's is published without. */
static void test_other_kinds_have_none(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 64, 32);
    struct pm_shader_profile block = block_shader(place->arena, VARIANT, 1, &point, 1);
    char etag[PM_ETAG_TEXT];
    place->keeping.min_tokens = 1;
    place_open(place);
    send(place, 0, ORIGINAL);
    place_store(place, place_profile(place, &block));
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pm_shader_key_is_none(&database.shaders[i].original),
                         database.shaders[i].kind != PM_KIND_TIMING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_enough_tokens_are_needed),
        TEST(test_what_stands_stays),
        TEST(test_what_is_said_again_lasts),
        TEST(test_one_token_does_not_make_it_last),
        TEST(test_damaged_rows_are_left_out),
        TEST(test_import_and_drop),
        TEST(test_hostile_files),
        TEST(test_other_kinds_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
