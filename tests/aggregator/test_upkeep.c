/*
 * What the aggregator keeps of uploads that cannot be, what it forgets, and what it leaves out of a
 * full database. The clock is the test's.
 */
#include "tests/aggregator/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define TODAY 20000

static int set_up(void **state)
{
    struct place *place = place_create(12);
    place->now = (int64_t)TODAY * DAY + 4000;
    place->keeping.half_life_days = PM_HALF_LIFE_DAYS;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place_open(place);
    *state = place;
    return 0;
}

static const struct pm_profile *one(struct place *place, const char *game,
                                    const struct pm_shader_profile *shader)
{
    return profile_of(place->arena, &place->random, game, shader, 1);
}

static void upkeep(struct place *place, bool wanted)
{
    struct pm_error error;
    bool expired;
    if (!pm_aggregator_upkeep(place->aggregator, &expired, &error))
        fail_msg("%s", error.message);
    assert_int_equal(expired, wanted);
}

/* ---- quarantine ---- */

struct seen {
    size_t count;
    char game[64], reason[600];
    int64_t time;
    size_t body_size;
    uint8_t body[1 << 16];
};

static bool see(void *user, const struct pm_quarantined *entry, struct pm_error *error)
{
    struct seen *seen = user;
    (void)error;
    if (seen->count++ > 0)
        return true; /* the newest */
    snprintf(seen->game, sizeof(seen->game), "%s", entry->game);
    snprintf(seen->reason, sizeof(seen->reason), "%s", entry->reason);
    seen->time = entry->time;
    seen->body_size = entry->body_size;
    if (entry->body)
        memcpy(seen->body, entry->body, entry->body_size);
    return true;
}

static const struct seen *look(struct place *place, const char *game)
{
    static struct seen seen;
    struct pm_error error;
    memset(&seen, 0, sizeof(seen));
    if (!pm_aggregator_quarantine(place->aggregator, game, see, &seen, &error))
        fail_msg("%s", error.message);
    return &seen;
}

/* Everything that cannot be is refused with the field's name, kept with its reason, and counts
 * nowhere. */
static void test_what_cannot_be(void **state)
{
    struct place *place = *state;
    const uint8_t once = 1;
    struct pm_point_counts bad[5] = {
        zero_counts(0, 64, 5, 6), /* more zero writes than writes */
        block_counts(0, 64, 65),  /* two runs of what runs at most once */
        block_counts(3, 64, 64),  /* outside the space */
        block_counts(0, 64, 64),  /* a space that others do not know */
        block_counts(0, 64, 64),  /* there twice */
    };
    struct pm_shader_profile shaders[5] = {
        zero_shader(place->arena, 1, 3, &bad[0], 1),
        block_shader(place->arena, 2, 3, &bad[1], 1),
        block_shader(place->arena, 3, 3, &bad[2], 1),
        block_shader(place->arena, 4, 4, &bad[3], 1),
        block_shader(place->arena, 5, 3, (const struct pm_point_counts[]){bad[4], bad[4]}, 2),
    };
    static const char *const reasons[5] = {
        "zero_writes: 6 is above writes, 5", "lanes of a block that runs at most once: 65 is above",
        "is outside the space of 3", "space: 4 does not agree with the 3 known before",
        "is there twice"};
    shaders[1].at_most_once = &once;
    const struct pm_point_counts good = block_counts(0, 64, 32);
    const struct pm_shader_profile right = block_shader(place->arena, 4, 3, &good, 1);
    assert_int_equal(place_ingest(place, one(place, "game", &right)).result, PM_INGEST_STORED);
    for (size_t i = 0; i < 5; i++) {
        const struct pm_ingest_outcome outcome =
            place_ingest(place, one(place, "game", &shaders[i]));
        assert_int_equal(outcome.result, PM_INGEST_REFUSED);
        if (!strstr(outcome.reason.message, reasons[i]))
            fail_msg("\"%s\" does not say \"%s\"", outcome.reason.message, reasons[i]);
        const struct seen *seen = look(place, "game");
        assert_int_equal(seen->count, i + 1);
        assert_string_equal(seen->reason, outcome.reason.message);
        assert_string_equal(seen->game, "game");
        assert_int_equal(seen->time, (int64_t)TODAY * DAY + HOUR);
    }
    assert_int_equal(place_estimates(place).shader_count, 1);
    assert_int_equal(look(place, "another game")->count, 0);
    assert_int_equal(look(place, NULL)->count, 5);
}

/* The kept body is the upload without its id. */
static void test_body_is_nameless(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    struct pm_buffer plain;
    struct pm_profile read;
    const struct pm_point_counts counts = block_counts(0, 64, 64);
    const struct pm_shader_profile right = block_shader(place->arena, 1, 3, &counts, 1);
    const struct pm_shader_profile wrong = block_shader(place->arena, 1, 4, &counts, 1);
    place_ingest(place, one(place, "game", &right));
    const struct pm_profile *profile = one(place, "game", &wrong);
    place_ingest(place, profile);
    const struct seen *seen = look(place, NULL);
    pm_buffer_init(&plain, 1 << 20);
    if (!pm_decompress(seen->body, seen->body_size, &plain, &error) ||
        !pm_profile_decode(plain.data, plain.size, NULL, place->arena, &read, &error))
        fail_msg("%s", error.message);
    assert_true(pm_shader_key_equal(&read.shaders[0].key, &wrong.key));
    assert_int_equal(read.shaders[0].space, 4);
    assert_null(memmem(plain.data, plain.size, profile->upload_id, PM_UPLOAD_ID_BYTES));
    pm_buffer_finish(&plain);
}

/* It stays small however much is thrown at it: the oldest go, repeats are one. */
static void test_quarantine_is_bounded(void **state)
{
    struct place *place = *state;
    static uint8_t body[60 << 10];
    char reason[64];
    for (int i = 0; i < 50; i++)
        pm_aggregator_quarantine_add(place->aggregator, "game", "the same again", "x", 1);
    assert_int_equal(look(place, NULL)->count, 1);
    for (int i = 0; i < 1500; i++) {
        snprintf(reason, sizeof(reason), "reason %d", i);
        pm_aggregator_quarantine_add(place->aggregator, "game", reason, NULL, 0);
        if (i % 50 == 0)
            upkeep(place, false);
    }
    upkeep(place, false);
    const struct seen *seen = look(place, NULL);
    assert_int_equal(seen->count, 1000);
    assert_string_equal(seen->reason, "reason 1499");
    for (int i = 0; i < 400; i++) {
        snprintf(reason, sizeof(reason), "large %d", i);
        pm_aggregator_quarantine_add(place->aggregator, "game", reason, body, sizeof(body));
        if (i % 50 == 0)
            upkeep(place, false);
    }
    upkeep(place, false);
    seen = look(place, NULL);
    assert_true(seen->count <= (16u << 20) / sizeof(body));
    assert_true(seen->count > 200);
    assert_string_equal(seen->reason, "large 399");
    assert_int_equal(seen->body_size, sizeof(body));
    /* Only the reason of what is too large. */
    static uint8_t huge[100 << 10];
    pm_aggregator_quarantine_add(place->aggregator, "", "huge", huge, sizeof(huge));
    seen = look(place, NULL);
    assert_string_equal(seen->reason, "huge");
    assert_int_equal(seen->body_size, 0);
    assert_true(seen->count > 200);
}

/* ---- retention ---- */

static struct pm_point_estimate estimate(struct place *place, size_t *shaders)
{
    const struct pm_database database = place_estimates(place);
    *shaders = database.shader_count;
    return database.shader_count ? database.shaders[0].points[0] : (struct pm_point_estimate){0};
}

static bool count_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                       struct pm_error *error)
{
    (void)key;
    (void)blob;
    (void)size;
    (void)error;
    ++*(size_t *)user;
    return true;
}

static size_t blobs(struct place *place)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    size_t count = 0;
    assert_true(pm_aggregator_fold(place->aggregator, "game", NULL));
    assert_true(storage->operations->read_game(storage, "game", NULL, count_blob, &count, NULL));
    return count;
}

/* Half a lane of every one on day 0, all of them a half-life later; then the first days expire. */
static void test_ageing_and_retention(void **state)
{
    struct place *place = *state;
    const int64_t start = place->now;
    size_t shaders;
    const struct pm_point_counts half = block_counts(0, 1000, 500),
                                 all = block_counts(0, 1000, 1000);
    const struct pm_shader_profile old = block_shader(place->arena, 1, 1, &half, 1);
    const struct pm_shader_profile new = block_shader(place->arena, 1, 1, &all, 1);
    for (int i = 0; i < 10; i++)
        place_ingest(place, one(place, "game", &old));
    const struct pm_profile *first = one(place, "game", &old);
    place_ingest(place, first);
    place->now = start + (int64_t)PM_HALF_LIFE_DAYS * DAY;
    for (int i = 0; i < 11; i++)
        place_ingest(place, one(place, "game", &new));
    struct pm_point_estimate found = estimate(place, &shaders);
    assert_true(found.measures[PM_MEASURE_FREQUENCY].mean > 0.8333);
    assert_true(found.measures[PM_MEASURE_FREQUENCY].mean < 0.8334);
    assert_int_equal(found.measures[PM_MEASURE_FREQUENCY].clusters, 22);
    assert_int_equal(found.sessions, 22);
    upkeep(place, false);
    assert_int_equal(blobs(place), 2);

    /* The last day on which the first uploads are within the retention, and the next. */
    place->now = start + (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    upkeep(place, false);
    assert_int_equal(estimate(place, &shaders).sessions, 22);
    assert_int_equal(place_ingest(place, first).result, PM_INGEST_DUPLICATE);
    place->now += DAY;
    assert_int_equal(estimate(place, &shaders).sessions, 11); /* also before anything is deleted */
    assert_true(estimate(place, &shaders).measures[PM_MEASURE_FREQUENCY].mean == 1);
    upkeep(place, true);
    assert_int_equal(blobs(place), 1);
    upkeep(place, false);
    /* Its id is forgotten with it. */
    assert_int_equal(place_ingest(place, first).result, PM_INGEST_STORED);
    place->now += (int64_t)PM_RETENTION_DAYS * DAY;
    upkeep(place, true);
    assert_int_equal(blobs(place), 0);
    estimate(place, &shaders);
    assert_int_equal(shaders, 0);
}

static bool count_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    (void)game;
    (void)uploads;
    (void)error;
    ++*(size_t *)user;
    return true;
}

static bool count_time(void *user, int64_t time, uint64_t uploads, uint64_t covered,
                       uint64_t points)
{
    (void)time;
    (void)uploads;
    (void)covered;
    (void)points;
    ++*(size_t *)user;
    return true;
}

static size_t count_coverage(struct place *place, const char *game)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    size_t count = 0;
    assert_true(storage->operations->read_coverage(storage, game, count_time, &count, NULL));
    return count;
}

static void curate(struct place *place, const char *game)
{
    struct pm_error error;
    if (!pm_aggregator_curate(place->aggregator, game, &error))
        fail_msg("%s", error.message);
}

/* A game of which the retention left nothing is not known any more, with all that was published of
 * it; of one that is played, what is within the retention stays. */
static void test_empty_games_go(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    enum { SHADERS = 700 };
    static struct pm_shader_profile shaders[SHADERS];
    const struct pm_point_counts point = block_counts(0, 64, 32);
    const struct pm_publication previous = {.game = "gone", .scene = "", .previous = true};
    char etag[PM_ETAG_TEXT];
    size_t games = 0;
    for (uint64_t i = 0; i < SHADERS; i++)
        shaders[i] = block_shader(place->arena, i, 3, &point, 1);
    const struct pm_shader_profile other = block_shader(place->arena, 0, 4, &point, 1);
    place_ingest(place, profile_of(place->arena, &place->random, "gone", shaders, SHADERS));
    place_ingest(place, one(place, "played", &shaders[0]));
    curate(place, "gone");
    curate(place, "played");
    place_ingest(place, one(place, "gone", &shaders[0]));
    curate(place, "gone");
    assert_true(pm_aggregator_publication(place->aggregator, &previous, etag, NULL, NULL));

    place->now += (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    place_ingest(place, one(place, "played", &shaders[0]));
    curate(place, "played");
    upkeep(place, false);
    assert_int_equal(count_coverage(place, "gone"), 2);
    assert_int_equal(count_coverage(place, "played"), 2);
    /* Samples that wait are something, too. */
    place->now += DAY;
    place_ingest(place, one(place, "waits", &shaders[0]));
    upkeep(place, true);
    assert_true(storage->operations->list_games(storage, count_game, &games, NULL));
    assert_int_equal(games, 2);
    assert_int_equal(count_coverage(place, "gone"), 0);
    assert_int_equal(count_coverage(place, "played"), 1);
    struct pm_error error;
    assert_false(pm_aggregator_publication(place->aggregator, &previous, etag, NULL, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_false(pm_aggregator_database(place->aggregator, "gone", etag, NULL, &error));
    assert_true(pm_aggregator_database(place->aggregator, "played", etag, NULL, NULL));
    /* Numbers of points went with it, and no others. */
    assert_int_equal(place_ingest(place, one(place, "gone", &other)).result, PM_INGEST_STORED);
    assert_int_equal(place_ingest(place, one(place, "played", &other)).result, PM_INGEST_REFUSED);
    assert_int_equal(place_ingest(place, one(place, "waits", &other)).result, PM_INGEST_REFUSED);
}

/* A point that a hundred uploads made well known comes back into the deficit when five new ones,
 * which weigh as much, are what the estimate rests on; and leaves it with more of them. */
static void test_deficit_comes_back(void **state)
{
    struct place *place = *state;
    static const struct {
        int uploads;
        unsigned days_later;
        bool lacks;
    } steps[] = {{100, 0, false}, {5, 58, true}, {95, 58, false}};
    place_reopen(place, false);
    const int64_t start = place->now;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        place->now = start + (int64_t)steps[i].days_later * DAY;
        for (int j = 0; j < steps[i].uploads; j++) {
            const struct pm_point_counts point = block_counts(0, 1000, j % 2 ? 300 : 700);
            const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
            place_ingest(place, one(place, "game", &shader));
        }
        const struct pm_database database = place_estimates(place);
        assert_int_equal(database.shaders[0].deficit != NULL, steps[i].lacks);
        assert_int_equal(database.shaders[0].published, !steps[i].lacks);
    }
}

/* More than one transaction deletes; uploads of the running day stay. */
static void test_much_is_deleted_in_steps(void **state)
{
    struct place *place = *state;
    enum { SHADERS = 1300 };
    struct pm_shader_profile *shaders = calloc(SHADERS, sizeof(*shaders));
    const struct pm_point_counts point = block_counts(0, 64, 32);
    for (uint64_t i = 0; i < SHADERS; i++)
        shaders[i] = block_shader(place->arena, i, 1, &point, 1);
    place_ingest(place, profile_of(place->arena, &place->random, "game", shaders, SHADERS));
    assert_int_equal(blobs(place), SHADERS);
    place->now += (int64_t)PM_RETENTION_DAYS * DAY;
    place_ingest(place, profile_of(place->arena, &place->random, "game", shaders, 7));
    assert_int_equal(blobs(place), SHADERS + 7);
    for (int i = 0; i < 1000 && blobs(place) > 7; i++)
        upkeep(place, true);
    assert_int_equal(blobs(place), 7);
    free(shaders);
}

/* ---- a full database ---- */

/* One upload of invented keys, each the hottest that can be and timed as well, does not displace
 * what many sessions ran. */
static void test_invented_keys_do_not_crowd_out(void **state)
{
    struct place *place = *state;
    enum { SHADERS = 8, INVENTED = 200, SPACE = 30 };
    place->keeping.database_bytes = 24 << 10;
    place_open(place);
    struct pm_shader_profile real[SHADERS], *invented = calloc(2 * INVENTED, sizeof(*invented));
    struct pm_point_counts points[SPACE];
    for (uint64_t i = 0; i < SHADERS; i++) {
        for (uint32_t j = 0; j < SPACE; j++)
            points[j] = zero_counts(j, 8, 1, 1);
        real[i] = zero_shader(place->arena, i, SPACE, points, SPACE);
    }
    for (int i = 0; i < 4; i++)
        place_ingest(place, profile_of(place->arena, &place->random, "game", real, SHADERS));
    for (uint64_t i = 0; i < INVENTED; i++) {
        for (uint32_t j = 0; j < SPACE; j++)
            points[j] = zero_counts(j, UINT64_MAX / 2, 1, 1);
        invented[i] = zero_shader(place->arena, 1000 + i, SPACE, points, SPACE);
        invented[INVENTED + i] = timing_shader(place->arena, 2000 + i, 1u << 30, 100, 90);
    }
    place_ingest(place, profile_of(place->arena, &place->random, "game", invented, 2 * INVENTED));

    char etag[PM_ETAG_TEXT];
    const struct pm_database database = place_published(place, "game", etag);
    size_t kept = 0;
    for (size_t i = 0; i < SHADERS; i++)
        kept +=
            pm_database_find(&database, &real[i].key, &real[i].environment, PM_KIND_ZERO) != NULL;
    assert_true(database.shader_count < SHADERS + 2 * INVENTED);
    assert_int_equal(kept, SHADERS);
    free(invented);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_cannot_be),           TEST(test_body_is_nameless),
        TEST(test_quarantine_is_bounded),    TEST(test_ageing_and_retention),
        TEST(test_empty_games_go),           TEST(test_deficit_comes_back),
        TEST(test_much_is_deleted_in_steps), TEST(test_invented_keys_do_not_crowd_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
