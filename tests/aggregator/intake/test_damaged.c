/* Rows of waiting samples that a disk changed: they are set aside, and their game goes on. */
#include "aggregator/check.h"
#include "aggregator/intake/damaged.h"
#include "aggregator/intake/samples.h"
#include "base/file.h"
#include "tests/aggregator/place.h"
#include "tests/aggregator/sql.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static unsigned complaints; /* lines of the log that speak of damage */

static void count_complaints(void *user, enum pm_log_level level, const char *message)
{
    (void)user;
    complaints += level == PM_LOG_ERROR && strstr(message, "are damaged (") != NULL;
}

static int set_up(void **state)
{
    struct place *place = place_create(33);
    struct pm_error error;
    place->keeping.log = pm_log_create(NULL, -1, PM_LOG_INFO, &error);
    pm_log_set_callback(place->keeping.log, count_complaints, NULL);
    complaints = 0;
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    struct pm_log *log = place->keeping.log;
    place_destroy(state);
    pm_log_destroy(log);
    return 0;
}

/* One row each: shader 1 has one more point in each upload. */
static void store_rows(struct place *place, unsigned rows)
{
    struct pm_point_counts counts[8];
    for (uint32_t i = 0; i < rows; i++) {
        counts[i] = block_counts(i, 1000 + i, 500);
        const struct pm_shader_profile shader =
            block_shader(place->arena, 1, 8, counts, (size_t)i + 1);
        place_store(place, place_profile(place, &shader));
    }
}

/* ---- what is left ---- */

struct set_aside {
    unsigned entries;
    char reason[600];
    size_t bytes; /* of the row */
};

static bool note_entry(void *user, const struct pm_quarantined *entry, struct pm_error *error)
{
    struct set_aside *all = user;
    struct pm_buffer row;
    assert_string_equal(entry->game, "game");
    pm_buffer_init(&row, 1 << 20);
    assert_non_null(entry->body);
    assert_true(pm_decompress(entry->body, entry->body_size, &row, error));
    all->entries++;
    all->bytes = row.size;
    snprintf(all->reason, sizeof(all->reason), "%s", entry->reason);
    pm_buffer_finish(&row);
    return true;
}

/* The game is curated, again and again, of as many sessions; one row was set aside, and said to be
 * once. */
static struct set_aside assert_goes_on(struct place *place, uint32_t sessions)
{
    struct set_aside all = {0};
    char etag[PM_ETAG_TEXT];
    struct pm_error error;
    complaints = 0;
    place_open(place);
    place_published(place, "game", etag);
    place_published(place, "game", etag);
    assert_int_equal(place_estimates(place).shaders[0].points[0].sessions, sessions);
    assert_int_equal(place_rows_that_wait(place), 0);
    assert_true(pm_aggregator_quarantine(place->aggregator, NULL, note_entry, &all, &error));
    assert_int_equal(all.entries, 1);
    assert_int_equal(complaints, 1);
    assert_int_equal(strncmp(all.reason, PM_DAMAGED_REASON, strlen(PM_DAMAGED_REASON)), 0);
    place_close(place);
    return all;
}

/* ---- a disk ---- */

/* The second row's bytes, and where they are in the file, which no log belongs to any more. */
static size_t find_row(const struct place *place, const struct pm_buffer *file, size_t *size)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT d FROM samples ORDER BY row LIMIT 1 OFFSET 1",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    *size = (size_t)sqlite3_column_bytes(statement, 0);
    const uint8_t *found = memmem(file->data, file->size, sqlite3_column_blob(statement, 0), *size);
    assert_non_null(found);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return (size_t)(found - file->data);
}

/* Any bit of any byte. */
static void test_flipped(void **state)
{
    struct place *place = *state;
    struct pm_buffer file;
    struct pm_error error;
    size_t size;
    place_open(place);
    store_rows(place, 3);
    place_close(place);
    pm_buffer_init(&file, 1 << 24);
    assert_true(pm_file_read(place->path, &file, &error));
    const size_t at = find_row(place, &file, &size);
    for (size_t i = 0; i < size; i++) {
        const uint8_t bit = (uint8_t)(1u << i % 8);
        file.data[at + i] ^= bit;
        assert_true(pm_file_write(place->path, file.data, file.size, &error));
        file.data[at + i] ^= bit;
        assert_int_equal(assert_goes_on(place, 2).bytes, size);
    }
    pm_buffer_finish(&file);
}

struct found {
    unsigned errors, warnings;
    char text[1000]; /* of the last of either */
};

static void note_finding(void *user, enum pm_finding finding, const char *sentence)
{
    struct found *found = user;
    found->errors += finding == PM_FINDING_ERROR;
    found->warnings += finding == PM_FINDING_WARNING;
    if (finding != PM_FINDING_OK)
        snprintf(found->text, sizeof(found->text), "%s", sentence);
}

/* It is an error while it waits, and a warning for as long as the quarantine keeps it. */
static void test_check(void **state)
{
    struct place *place = *state;
    struct found before = {0}, after = {0};
    place_open(place);
    store_rows(place, 3);
    place_close(place);
    sql_run(place->path, "UPDATE samples SET hash = hash + 1 WHERE row = 2");
    pm_aggregator_check(place->path, note_finding, &before);
    assert_int_equal(before.errors, 1);
    assert_non_null(strstr(before.text, "row 2: their checksum is another"));
    assert_goes_on(place, 2);
    pm_aggregator_check(place->path, note_finding, &after);
    assert_int_equal(after.errors, 0);
    assert_int_equal(after.warnings, 1);
    assert_non_null(strstr(after.text, "quarantine: game \"game\": " PM_DAMAGED_REASON ": row 2"));
}

/* ---- rows that have no checksum: of an older schema ---- */

static void test_cut(void **state)
{
    struct place *place = *state;
    place_open(place);
    store_rows(place, 3);
    place_close(place);
    sql_run(place->path, "UPDATE samples SET hash = NULL");
    sql_run(place->path, "UPDATE samples SET d = substr(d, 1, length(d) - 1) WHERE row = 3");
    assert_goes_on(place, 2);
}

/* Well-formed, but no upload could have brought it: only summing notices. */
static void test_impossible(void **state)
{
    struct place *place = *state;
    struct pm_point_counts counts = block_counts(0, 1000, 500);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 8, &counts, 1);
    struct pm_buffer row, sql;
    counts.counts[1] = counts.counts[0] + 1; /* more uniform lanes than lanes */
    struct pm_shader_profile wrong = shader;
    wrong.points = &counts;
    pm_buffer_init(&row, 1000);
    pm_buffer_init(&sql, 1000);
    assert_true(pm_sample_append(&row, "", &wrong, NULL));
    place_open(place);
    store_rows(place, 3);
    place_close(place);
    assert_true(pm_buffer_printf(&sql, "UPDATE samples SET hash = NULL, d = x'"));
    for (size_t i = 0; i < row.size; i++)
        assert_true(pm_buffer_printf(&sql, "%02x", row.data[i]));
    assert_true(pm_buffer_printf(&sql, "' WHERE row = 1"));
    sql_run(place->path, (const char *)sql.data);
    const struct set_aside all = assert_goes_on(place, 2);
    assert_int_equal(all.bytes, row.size);
    pm_buffer_finish(&row);
    pm_buffer_finish(&sql);
}

/* Statistics that are damaged are not the rows' fault: these wait until somebody has seen to it. */
static void test_statistics(void **state)
{
    struct place *place = *state;
    struct set_aside all = {0};
    struct pm_error error;
    place_open(place);
    store_rows(place, 1);
    place_estimates(place);
    store_rows(place, 2);
    place_close(place);
    sql_run(place->path, "UPDATE statistics SET d = x'00'");
    place_open(place);
    assert_false(pm_aggregator_curate(place->aggregator, "game", &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_int_equal(place_rows_that_wait(place), 2);
    assert_true(pm_aggregator_quarantine(place->aggregator, NULL, note_entry, &all, &error));
    assert_int_equal(all.entries, 0);
    assert_int_equal(complaints, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flipped),    TEST(test_check),      TEST(test_cut),
        TEST(test_impossible), TEST(test_statistics),
    };
    return cmocka_run_group_tests_name("damaged", tests, NULL, NULL);
}
