/* Every kind of damage that a check must find, made by hand. */
#include "aggregator/aggregator.h"
#include "aggregator/check.h"
#include "tests/aggregator/sql.h"
#include "tests/aggregator/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

struct place {
    char *folder, *path;
};

/* What was found, a line each: "0 …" fine, "1 …" a warning, "2 …" an error. */
struct found {
    char text[8192];
    unsigned errors;
};

static void add(void *user, enum pm_finding finding, const char *sentence)
{
    struct found *found = user;
    const size_t used = strlen(found->text);
    found->errors += finding == PM_FINDING_ERROR;
    snprintf(found->text + used, sizeof(found->text) - used, "%d %s\n", (int)finding, sentence);
}

static void upload(struct pm_aggregator *aggregator, uint64_t seed)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    struct pm_error error;
    struct pm_ingest_outcome outcome;
    pm_random_init(&random, seed);
    const struct pm_profile *profile = random_profile(arena, &random, "game", 3, 20);
    assert_true(pm_aggregator_ingest(aggregator, &profile, 1, &outcome, &error));
    assert_int_equal(outcome.result, PM_INGEST_STORED);
    pm_arena_destroy(arena);
}

/* A storage with statistics, published databases and samples that wait. */
static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_error error;
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    struct pm_aggregator *aggregator = pm_aggregator_open(place->path, &info, &error);
    assert_non_null(aggregator);
    for (uint64_t i = 0; i < 3; i++) {
        upload(aggregator, i);
        assert_true(pm_aggregator_fold(aggregator, NULL, &error));
        assert_true(pm_aggregator_curate(aggregator, "game", &error));
    }
    upload(aggregator, 3);
    pm_aggregator_destroy(aggregator);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static void run(const struct place *place, const char *sql)
{
    sql_run(place->path, sql);
}

static void expect(const struct place *place, unsigned errors, const char *part)
{
    struct found found = {0};
    pm_aggregator_check(place->path, add, &found);
    if (found.errors != errors || !strstr(found.text, part))
        fail_msg("%u errors, wanted %u and \"%s\":\n%s", found.errors, errors, part, found.text);
}

static void test_whole(void **state)
{
    const struct place *place = *state;
    expect(place, 0, "0 game \"game\": 4 uploads, 3 statistics, 1 rows that wait");
}

static void test_statistics(void **state)
{
    run(*state, "UPDATE statistics SET d = substr(d, 1, length(d) - 1) WHERE rowid = 1");
    expect(*state, 1, "2 game \"game\": statistics of shader ");
    run(*state, "UPDATE statistics SET d = x'00'");
    expect(*state, 3, "2 game \"game\": statistics of shader ");
}

/* Flips a bit of a row's blob; the same again restores it. */
static void flip(const struct place *place, int64_t row, uint32_t chosen)
{
    sqlite3 *db;
    sqlite3_blob *blob;
    uint8_t byte;
    assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_blob_open(db, "main", "statistics", "d", row, 1, &blob), SQLITE_OK);
    const int at = (int)(chosen / 8 % (uint32_t)sqlite3_blob_bytes(blob));
    assert_int_equal(sqlite3_blob_read(blob, &byte, 1, at), SQLITE_OK);
    byte ^= (uint8_t)(1u << chosen % 8);
    assert_int_equal(sqlite3_blob_write(blob, &byte, 1, at), SQLITE_OK);
    assert_int_equal(sqlite3_blob_close(blob), SQLITE_OK);
    sqlite3_close(db);
}

static void test_flipped_bits(void **state)
{
    const struct place *place = *state;
    struct pm_random random;
    pm_random_init(&random, 60);
    for (unsigned i = 0; i < 60; i++) {
        const int64_t row = 1 + pm_random_below(&random, 3);
        const uint32_t chosen = pm_random_below(&random, 1u << 20);
        flip(place, row, chosen);
        expect(place, 1, "2 game \"game\": statistics of shader ");
        flip(place, row, chosen);
    }
    expect(place, 0, "0 game \"game\": ");
    /* What says whose it is counts as much. */
    run(place, "UPDATE statistics SET day = day + 1 WHERE rowid = 2");
    expect(place, 1, "their checksum says so");
    run(place, "UPDATE statistics SET day = day - 1 WHERE rowid = 2");
    run(place, "UPDATE statistics SET scene = 'other' WHERE rowid = 1");
    expect(place, 1, "their checksum says so");
}

static void test_kind(void **state)
{
    run(*state, "UPDATE statistics SET kind = 2 WHERE rowid = 1");
    expect(*state, 1, "their checksum says so");
}

static void test_sessions(void **state)
{
    run(*state, "UPDATE games SET uploads = 1");
    expect(*state, 1, "sessions, of 1 uploads");
}

static void test_samples(void **state)
{
    run(*state, "UPDATE samples SET d = substr(d, 1, length(d) - 1)");
    expect(*state, 1, "2 game \"game\": what waits to be folded in, row ");
}

static void test_originals(void **state)
{
    run(*state, "INSERT INTO originals SELECT name, zeroblob(24), zeroblob(24), 7 FROM games");
    expect(*state, 0, "");
    run(*state, "UPDATE originals SET key = x'01'");
    expect(*state, 1, "2 game: an original of day 7 has a damaged key");
    run(*state, "UPDATE originals SET key = zeroblob(24), original = '012345678901234567890123'");
    expect(*state, 1, "an original of day 7 has a damaged key");
}

static void test_databases(void **state)
{
    run(*state, "UPDATE bodies SET d = x'00' WHERE etag = (SELECT etag FROM databases)");
    expect(*state, 1, "published database of all scenes: is not what its ETag says");
    run(*state, "UPDATE bodies SET d = x'00'");
    expect(*state, 2, "previous database of all scenes: is not what its ETag says");
    run(*state, "DELETE FROM bodies");
    expect(*state, 2, "previous database of all scenes: ");
}

static void test_schemas(void **state)
{
    const struct place *place = *state;
    run(place, "PRAGMA user_version = 99");
    expect(place, 1, "written by a newer Piecemeal");
    run(place, "PRAGMA user_version = 1");
    expect(place, 0, "1 ");
    run(place, "PRAGMA application_id = 1");
    expect(place, 1, "another program");
}

static void test_places(void **state)
{
    struct place *place = *state;
    struct place other = {.folder = place->folder, .path = join(place->folder, "other.db")};
    expect(&other, 0, "is not there yet");
    FILE *file = fopen(other.path, "w");
    assert_int_equal(fclose(file), 0);
    expect(&other, 0, "is empty");
    file = fopen(other.path, "w");
    assert_true(fputs("no database, though long enough to look into", file) >= 0);
    assert_int_equal(fclose(file), 0);
    expect(&other, 1, "is not a Piecemeal database");
    free(other.path);
    other.path = strdup(place->folder);
    expect(&other, 1, "2 ");
    free(other.path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_whole),    TEST(test_statistics), TEST(test_flipped_bits), TEST(test_kind),
        TEST(test_sessions), TEST(test_samples),    TEST(test_originals),    TEST(test_databases),
        TEST(test_schemas),  TEST(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
