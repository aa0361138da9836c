/* What is PostgreSQL's alone (with_postgres.sh): partitions by day, the schema's steps from a
 * database of the first one, caps that are counted before the uploads. */
#include "base/file.h"
#include "tests/aggregator/storage/postgres.h"
#include "tests/aggregator/storage/storage_place.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define PARTITIONS                                                                                 \
    "SELECT coalesce(string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text)," \
    " '') FROM pg_inherits WHERE inhparent = to_regclass('"

static uint64_t prune(struct pm_storage *storage, uint32_t first)
{
    struct pm_error error;
    uint64_t all = 0, deleted;
    for (bool left = true; left; all += deleted) {
        if (!storage->operations->prune(storage, first, 500, &deleted, &left, &error))
            fail_msg("%s", error.message);
    }
    return all;
}

static void test_days_are_partitions(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    assert_true(postgres_take(storage, postgres_upload_of(1, 19990)));
    assert_true(postgres_take(storage, postgres_upload_of(2, 19999)));
    assert_true(postgres_take(storage, postgres_upload_of(3, 0)));
    add_blob(storage, blob_key(1, 19990, ""), "1");
    add_blob(storage, blob_key(1, 19999, ""), "2");
    postgres_assert_answer(place, PARTITIONS "upload_ids')",
                           "upload_ids_d0 upload_ids_d19990 upload_ids_d19999");
    postgres_assert_answer(place, PARTITIONS "statistics')", "statistics_d19990 statistics_d19999");

    /* Who knows of a partition that another drops makes it again. */
    struct pm_storage *other = storage_place_open(place->path);
    add_blob(other, blob_key(1, 19990, ""), "10");
    assert_int_equal(prune(storage, 19995), 2);
    postgres_assert_answer(place, PARTITIONS "upload_ids')", "upload_ids_d0 upload_ids_d19999");
    postgres_assert_answer(place, PARTITIONS "statistics')", "statistics_d19999");
    assert_blobs(storage, "game", "b3/19999//0=2 ");
    const struct pm_storage_key key = blob_key(1, 19990, "");
    const bool added = pm_storage_add_blob(other, &key, "4", 1, &error);
    assert_true(added || error.code == PM_ERROR_CONFLICT);
    if (!added)
        add_blob(other, key, "4");
    assert_blobs(storage, "game", "b3/19990//0=4 b3/19999//0=2 ");
    other->operations->destroy(other);

    /* Where somebody reads a day for long, it stays until the next time. */
    PGconn *reader = PQconnectdb(place->path);
    PQclear(PQexec(reader, "BEGIN"));
    PQclear(PQexec(reader, "SELECT count(*) FROM statistics"));
    assert_int_equal(prune(storage, 20000), 1);
    postgres_assert_answer(place, PARTITIONS "upload_ids')", "upload_ids_d0");
    postgres_assert_answer(place, PARTITIONS "statistics')", "statistics_d19990 statistics_d19999");
    PQclear(PQexec(reader, "COMMIT"));
    PQfinish(reader);
    assert_true(prune(storage, 20000) >= 2);
    postgres_assert_answer(place, PARTITIONS "statistics')", "");
    /* One that said no day is of the one on which it was taken. */
    assert_false(postgres_take(storage, postgres_upload_of(3, 0)));
    prune(storage, 20001);
    assert_true(postgres_take(storage, postgres_upload_of(3, 0)));
}

enum { NEW_DAYS = 14 }; /* more than anybody tries */

/* Samples, a mark and a blob of each of the days, in the transaction that is open. */
static void write_days(struct pm_storage *storage, struct pm_error *error)
{
    for (uint32_t day = 20000; day < 20000 + NEW_DAYS; day++) {
        const struct pm_storage_samples samples = {
            .game = "game", .part = 1, .day = day, .data = "ab", .size = 2};
        const uint8_t mark[PM_MARK_BYTES] = {1};
        const struct pm_storage_claim claim = {.game = "game",
                                               .kind = PM_KIND_BLOCK,
                                               .space = 8,
                                               .day = day,
                                               .mark = mark,
                                               .tokens = 1};
        const struct pm_storage_key key = blob_key(1, day, "");
        if (!storage->operations->add_samples(storage, &samples, 1, error) ||
            !storage->operations->add_marks(storage, &claim, 1, error) ||
            !pm_storage_add_blob(storage, &key, "1", 1, error))
            fail_msg("%s", error->message);
    }
}

/* A partition may wait for whoever holds the table, and so for the transaction that wants it: none
 * is made until that has ended. However many days it lacks, the second try has them all. */
static void test_no_partition_inside_a_transaction(void **state)
{
    static const char count[] = "SELECT count(*) FROM pg_inherits WHERE inhparent IN"
                                " (to_regclass('samples'), to_regclass('claim_marks'),"
                                " to_regclass('statistics'))";
    static const char rows[] = "SELECT (SELECT count(*) FROM samples) || ' ' ||"
                               " (SELECT count(*) FROM claim_marks) || ' ' ||"
                               " (SELECT count(*) FROM statistics)";
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_storage_operations *operations = storage->operations;
    struct pm_error error;
    assert_true(operations->begin(storage, &error));
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    write_days(storage, &error);
    postgres_assert_answer(place, count, "0");
    assert_false(operations->commit(storage, &error));
    assert_int_equal(error.code, PM_ERROR_CONFLICT);
    postgres_assert_answer(place, "SELECT count(*) FROM games", "0");
    postgres_assert_answer(place, rows, "0 0 0");

    /* Nor is it told that they lack where the next one is undone for another reason. */
    for (unsigned tries = 0; tries < 2; tries++) {
        assert_true(operations->begin(storage, &error));
        postgres_assert_answer(place, count, "42");
        write_days(storage, &error);
        if (tries == 0)
            operations->rollback(storage);
    }
    assert_true(operations->commit(storage, &error));
    postgres_assert_answer(place, rows, "14 14 14");
}

/* What is counted stays counted where the transaction of the upload is undone, and is not counted
 * again by who tries again. */
static void test_caps_count_an_upload_once(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_storage_operations *operations = storage->operations;
    struct pm_storage_cap caps[3];
    struct pm_error error;
    memset(caps, 0, sizeof(caps));
    for (uint8_t i = 0; i < 3; i++) {
        caps[i].of_game[0] = caps[i].of_all[0] = 1;
        caps[i].of_all[1] = 1;
        caps[i].id_of_game[0] = caps[i].id_of_all[0] = (uint8_t)(10 + i);
        caps[i].day = 20000;
        caps[i].most_of_game = 2;
        caps[i].most = 9;
    }
    struct pm_storage_upload uploads[3];
    for (uint8_t i = 0; i < 3; i++) {
        uploads[i] = postgres_upload_of(i, 20000);
        uploads[i].caps = &caps[i];
    }
    for (unsigned tries = 0; tries < 5; tries++) {
        assert_true(operations->begin_uploads(storage, uploads, 2, &error));
        assert_true(uploads[0].fresh && !uploads[0].over && uploads[1].fresh && !uploads[1].over);
        operations->rollback(storage);
    }
    assert_true(operations->begin_uploads(storage, &uploads[2], 1, &error));
    assert_true(uploads[2].fresh && uploads[2].over);
    operations->rollback(storage);
    /* One of them is refused after all. */
    assert_true(operations->begin_uploads(storage, uploads, 2, &error));
    assert_true(operations->return_uploads(storage, uploads, 1, &error));
    assert_true(operations->commit(storage, &error));
    postgres_assert_answer(
        place, "SELECT n FROM caps WHERE mark = '\\x01000000000000000000000000000000'", "1");
    postgres_assert_answer(
        place, "SELECT n FROM caps WHERE mark = '\\x01010000000000000000000000000000'", "1");
    /* Its room is for what was over before only if that is another upload now. */
    caps[2].id_of_game[0] = caps[2].id_of_all[0] = 20;
    assert_true(operations->begin_uploads(storage, &uploads[2], 1, &error));
    assert_true(uploads[2].fresh && !uploads[2].over);
    assert_true(operations->commit(storage, &error));
}

/* As the first version of the tables left it. */
static void test_first_schema_is_upgraded(void **state)
{
    struct storage_place *place = *state;
    struct pm_buffer sql;
    place->storage->operations->destroy(place->storage);
    place->storage = NULL;
    free(postgres_ask(
        place, "DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class WHERE"
               " relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p') AND NOT"
               " relispartition LOOP EXECUTE 'DROP TABLE ' || t; END LOOP; END $$"));
    pm_buffer_init(&sql, 1 << 16);
    assert_true(pm_file_read(SCHEMA_1, &sql, NULL) && pm_buffer_append(&sql, "", 1));
    free(postgres_ask(place, (const char *)sql.data));
    pm_buffer_finish(&sql);
    place->storage = storage_place_open(place->path);
    assert_blobs(place->storage, "game", "b2/7//0=5 b2/8//0=5 ");
    assert_false(postgres_take(place->storage, postgres_upload_of(1, 0)));
    postgres_assert_answer(place, "SELECT version FROM piecemeal_schema", "8");
    postgres_assert_answer(place, "SELECT d FROM samples WHERE game = 'game' AND day = 8",
                           "\\x6162");
    postgres_assert_answer(place, "SELECT count(*) FROM claim_marks", "1");
    postgres_assert_answer(place, "SELECT n FROM caps", "4");
    postgres_assert_answer(place,
                           "SELECT count(*) FROM pg_class WHERE relname LIKE 'old%'"
                           " AND relnamespace = current_schema::regnamespace",
                           "0");
}

static bool is_distributed(const struct storage_place *place)
{
    char *citus = postgres_ask(place, "SELECT 1 FROM pg_extension WHERE extname = 'citus'");
    const bool is = *citus != 0;
    free(citus);
    return is;
}

/* Whatever the version was, and over however many machines: tables that are distributed already
 * are not again, and keep their rows. */
static void test_later_schemas_are_upgraded(void **state)
{
    struct storage_place *place = *state;
    char sql[80];
    assert_true(postgres_take(place->storage, postgres_upload_of(1, 20000)));
    for (unsigned version = 2; version < 6; version++) {
        const struct pm_storage_key key = blob_key(1, 20000, "");
        struct pm_error error;
        add_blob(place->storage, blob_key(1, 20000, ""), "2");
        snprintf(sql, sizeof(sql), "UPDATE piecemeal_schema SET version = %u", version);
        free(postgres_ask(place, sql));
        free(postgres_ask(place, "DROP TABLE shader_names")); /* which came with the newest */
        storage_place_reopen(place);
        postgres_assert_answer(place, "SELECT version FROM piecemeal_schema", "8");
        assert_true(pm_storage_add_blob(place->storage, &key, "3", 1, &error));
        assert_false(postgres_take(place->storage, postgres_upload_of(1, 20000)));
    }
    assert_blobs(place->storage, "game", "b3/20000//0=20 ");
    /* All but the tables of one row. */
    if (is_distributed(place))
        postgres_assert_answer(
            place,
            "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE"
            " relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p') AND"
            " oid NOT IN (SELECT logicalrelid FROM pg_dist_partition)",
            "epochs piecemeal_schema");
}

/* Enough of Citus for the schema's step to take it for one: it refuses what is distributed. */
static const char like_citus[] =
    "CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY);"
    "CREATE FUNCTION citus_get_active_worker_nodes() RETURNS SETOF text LANGUAGE sql AS"
    " $$ VALUES ('one'), ('other') $$;"
    "CREATE FUNCTION create_distributed_table(t regclass, field text, colocate_with text,"
    " shard_count int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
    " IF EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = t) THEN"
    " RAISE EXCEPTION 'table is already distributed: %', t; END IF;"
    " INSERT INTO pg_dist_partition VALUES (t); END $$;"
    "SET allow_system_table_mods = on;"
    "INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)"
    " SELECT 99999, 'citus', extowner, extnamespace, false, '0' FROM pg_extension LIMIT 1";

/* Every table once, and no more with the next schema. */
static void test_tables_are_distributed_once(void **state)
{
    struct storage_place *place = *state;
    if (is_distributed(place))
        skip(); /* test_later_schemas_are_upgraded */
    free(postgres_ask(place, like_citus));
    for (unsigned upgrades = 0; upgrades < 2; upgrades++) {
        free(postgres_ask(place, "UPDATE piecemeal_schema SET version = 5;"
                                 "DELETE FROM pg_dist_partition WHERE logicalrelid = "
                                 "'shader_names'::regclass; DROP TABLE shader_names"));
        storage_place_reopen(place);
        postgres_assert_answer(place, "SELECT count(*) FROM pg_dist_partition", "18");
    }
    free(postgres_ask(place, "SET allow_system_table_mods = on;"
                             "DELETE FROM pg_extension WHERE extname = 'citus'"));
}

/* One that was started before a newer one came writes nothing in its way any more. */
static void test_a_newer_schema_ends_writing(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_storage_upload upload = postgres_upload_of(1, 20000);
    const struct pm_storage_key key = blob_key(1, 20000, "");
    struct pm_error error;
    /* Whoever changes it waits for what is being written. */
    assert_true(storage->operations->begin(storage, &error));
    postgres_assert_answer(
        place, "SELECT count(*) FROM pg_locks WHERE relation = 'piecemeal_schema'::regclass", "1");
    assert_true(storage->operations->commit(storage, &error));
    free(postgres_ask(place, "UPDATE piecemeal_schema SET version = version + 1"));
    assert_false(storage->operations->begin(storage, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "written by a newer Piecemeal"));
    assert_false(storage->operations->begin_lazily(storage, &error));
    assert_false(storage->operations->begin_uploads(storage, &upload, 1, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_false(pm_storage_add_blob(storage, &key, "1", 1, &error));
    free(postgres_ask(place, "UPDATE piecemeal_schema SET version = version - 1"));
    postgres_assert_answer(place, "SELECT count(*) FROM statistics", "0");
    assert_true(postgres_take(storage, upload));
}

/* Of each of two games one is small, and more are large than go into one statement. */
enum { SAMPLES = 80, OF_GAME = SAMPLES / 2, LARGE_SIZE = 70000, SMALL_SIZE = 5 };

/* Which one it is follows from its size. */
static size_t fill_sample(uint8_t *data, unsigned number)
{
    const size_t size = (number % OF_GAME == 3 ? SMALL_SIZE : LARGE_SIZE) + number;
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 7 + number);
    return size;
}

struct read_back {
    unsigned game, count;
    bool seen[SAMPLES];
};

static bool compare_sample(void *user, const struct pm_storage_samples *row, struct pm_error *error)
{
    struct read_back *read = user;
    static uint8_t wanted[LARGE_SIZE + SAMPLES];
    const unsigned number =
        (unsigned)(row->size >= LARGE_SIZE ? row->size - LARGE_SIZE : row->size - SMALL_SIZE);
    (void)error;
    assert_false(row->damaged);
    assert_in_range(number, 0, SAMPLES - 1);
    assert_int_equal(number / OF_GAME, read->game);
    assert_int_equal(row->size, fill_sample(wanted, number));
    assert_memory_equal(row->data, wanted, row->size);
    assert_int_equal(row->part, number % 2);
    assert_int_equal(row->day, 20000 + number % 3);
    assert_false(read->seen[number]);
    read->seen[number] = true;
    read->count++;
    return true;
}

/* Small samples and large ones, of two games, in one set. */
static void test_large_samples(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    static const char *const games[] = {"game", "other"};
    static uint8_t data[SAMPLES][LARGE_SIZE + SAMPLES];
    struct pm_storage_samples rows[SAMPLES];
    struct pm_error error;
    for (unsigned i = 0; i < SAMPLES; i++)
        rows[i] = (struct pm_storage_samples){.game = games[i / OF_GAME],
                                              .part = i % 2,
                                              .day = 20000 + i % 3,
                                              .data = data[i],
                                              .size = fill_sample(data[i], i)};
    /* Days that are new are made outside of the transaction. */
    bool done = false;
    for (unsigned tries = 0; !done && tries < 3; tries++) {
        assert_true(storage->operations->begin(storage, &error));
        assert_true(storage->operations->add_samples(storage, rows, SAMPLES, &error));
        done = storage->operations->commit(storage, &error);
    }
    assert_true(done);
    for (unsigned game = 0; game < 2; game++) {
        struct read_back read = {.game = game};
        for (unsigned part = 0; part < 2; part++)
            assert_true(storage->operations->read_samples(storage, games[game], part, SIZE_MAX >> 1,
                                                          compare_sample, &read, &error));
        assert_int_equal(read.count, OF_GAME);
    }
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, storage_place_create, storage_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_days_are_partitions),         TEST(test_no_partition_inside_a_transaction),
        TEST(test_caps_count_an_upload_once),   TEST(test_first_schema_is_upgraded),
        TEST(test_later_schemas_are_upgraded),  TEST(test_tables_are_distributed_once),
        TEST(test_a_newer_schema_ends_writing), TEST(test_large_samples),
    };
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
