/* Storages as earlier versions left them (storage/old/), opened by this one; with with_postgres.sh,
 * those of PostgreSQL. */
#include "aggregator/aggregator.h"
#include "aggregator/check.h"
#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "tests/aggregator/sql.h"
#include "tests/aggregator/storage/old/old_game.h"
#include <libpq-fe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { OLDEST = 1, NEWEST = 12, OLDEST_READABLE = 5, NEWEST_OF_POSTGRES = 5 };

struct place {
    char *folder, *path;
};

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is not there", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    char *text = malloc((size_t)size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    text[size] = 0;
    fclose(file);
    return text;
}

static void postgres_run(const char *url, const char *sql)
{
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

static struct place make_old(int schema)
{
    struct place place = {.folder = make_folder()};
    char *source = NULL;
    assert_true(asprintf(&source, OLD_SCHEMAS "/%s_schema_%d.sql",
                         on_postgres() ? "postgres" : "sqlite", schema) > 0);
    char *sql = read_text(source);
    place.path = on_postgres() ? fresh_storage(place.folder) : join(place.folder, "old.db");
    if (on_postgres())
        postgres_run(place.path, sql);
    else
        sql_run(place.path, sql);
    free(sql);
    free(source);
    return place;
}

static void remove_old(struct place *place)
{
    free(place->path);
    remove_folder(place->folder);
}

static struct pm_aggregator *open_here(const struct place *place)
{
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_error error;
    struct pm_aggregator *aggregator = pm_aggregator_open(place->path, &info, &error);
    if (!aggregator)
        fail_msg("%s", error.message);
    return aggregator;
}

/* What the mean of ratios of the uploads 1 to `last` is. */
static double expected(enum pm_kind kind, uint32_t point, uint64_t last)
{
    double sum = 0;
    for (uint64_t i = 1; i <= last; i++)
        sum += kind == PM_KIND_BLOCK ? (double)(1000 * point / OLD_SPACE + i) / 1000
                                     : 20.0 * point / (double)(100 + i);
    return sum / (double)last;
}

static void expect_estimates(struct pm_aggregator *aggregator, int schema, uint64_t uploads)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_database database;
    struct pm_error error;
    if (!pm_aggregator_estimates(aggregator, OLD_GAME, NULL, arena, &database, &error))
        fail_msg("schema %d: %s", schema, error.message);
    assert_int_equal(database.shader_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pm_shader_estimates *shader = &database.shaders[i];
        const unsigned measure = shader->kind == PM_KIND_BLOCK ? 0 : (unsigned)PM_MEASURE_ZERO;
        assert_int_equal(shader->space, OLD_SPACE);
        for (uint32_t j = 0; j < OLD_SPACE; j++) {
            const struct pm_ratio *ratio = &shader->points[j].measures[measure];
            if (shader->points[j].sessions != uploads || ratio->clusters != uploads ||
                fabs(ratio->mean - expected(shader->kind, j, uploads)) > 1e-6)
                fail_msg("schema %d, kind %d, point %u: %u sessions, %u clusters, mean %f", schema,
                         (int)shader->kind, j, (unsigned)shader->points[j].sessions,
                         (unsigned)ratio->clusters, ratio->mean);
        }
    }
    pm_arena_destroy(arena);
}

/* As uploads of that version, and then of this one. */
static void upload_again(struct pm_aggregator *aggregator, int schema)
{
    struct pm_random random;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error error;
    pm_random_init(&random, on_postgres() ? OLD_POSTGRES : (uint64_t)schema);
    for (uint64_t i = 1; i <= OLD_UPLOADS + 1; i++) {
        struct pm_ingest_outcome outcome;
        const struct pm_profile *profile = old_upload(arena, &random, i);
        assert_true(pm_aggregator_ingest(aggregator, &profile, 1, &outcome, &error));
        if (outcome.result != (i <= OLD_UPLOADS ? PM_INGEST_DUPLICATE : PM_INGEST_STORED))
            fail_msg("schema %d, upload %u: result %d", schema, (unsigned)i, (int)outcome.result);
    }
    pm_arena_destroy(arena);
}

static void count_errors(void *user, enum pm_finding finding, const char *sentence)
{
    if (finding == PM_FINDING_OK)
        return;
    print_error("%s\n", sentence);
    ++*(unsigned *)user;
}

static void test_upgrades(void **state)
{
    (void)state;
    const int newest = on_postgres() ? NEWEST_OF_POSTGRES : NEWEST;
    for (int schema = OLDEST; schema <= newest; schema++) {
        struct place place = make_old(schema);
        struct pm_error error;
        unsigned errors = 0;
        struct pm_aggregator *aggregator = open_here(&place);
        struct pm_buffer body;
        char etag[PM_ETAG_TEXT];
        pm_buffer_init(&body, 1 << 20);
        /* What was published stays published. */
        if (!pm_aggregator_database(aggregator, OLD_GAME, etag, &body, &error))
            fail_msg("schema %d: %s", schema, error.message);
        assert_true(body.size > 0);
        pm_buffer_finish(&body);
        expect_estimates(aggregator, schema, OLD_UPLOADS);
        upload_again(aggregator, schema);
        assert_true(pm_aggregator_curate(aggregator, OLD_GAME, &error));
        expect_estimates(aggregator, schema, OLD_UPLOADS + 1);
        pm_aggregator_destroy(aggregator);
        pm_aggregator_check(place.path, count_errors, &errors);
        if (errors > 0)
            fail_msg("schema %d: %u findings", schema, errors);
        remove_old(&place);
    }
}

/* Whoever only reads gets the same of those that have the tables of today. */
static void test_reading(void **state)
{
    (void)state;
    for (int schema = OLDEST; schema <= NEWEST; schema++) {
        struct place place = make_old(schema);
        struct pm_error error;
        struct pm_storage *storage = pm_storage_sqlite_open_to_read(place.path, &error);
        bool known = false;
        uint64_t uploads = 0;
        if (schema < OLDEST_READABLE) {
            assert_null(storage);
            assert_int_equal(error.code, PM_ERROR_STATE);
            assert_non_null(strstr(error.message, "serve it once"));
        } else {
            if (!storage)
                fail_msg("schema %d: %s", schema, error.message);
            assert_true(
                storage->operations->find_game(storage, OLD_GAME, &known, &uploads, &error));
            assert_int_equal(uploads, OLD_UPLOADS);
            storage->operations->destroy(storage);
        }
        remove_old(&place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upgrades),
        cmocka_unit_test(test_reading),
    };
    const struct CMUnitTest of_postgres[] = {cmocka_unit_test(test_upgrades)};
    if (on_postgres())
        return cmocka_run_group_tests(of_postgres, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
