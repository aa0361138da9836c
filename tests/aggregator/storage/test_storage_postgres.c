/* What is PostgreSQL's alone (with_postgres.sh): partitions by day, the schema's steps from a
 * database of the first one, caps that are counted before the uploads. */
#include "base/file.h"
#include "tests/aggregator/storage/storage_place.h"
#include "tests/patience.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* The one value that a statement answers, "" without one; the caller frees. */
static char *ask(const struct storage_place *place, const char *sql)
{
    PGconn *connection = PQconnectdb(place->path);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    char *answer = strdup(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(connection);
    return answer;
}

static void assert_answer(const struct storage_place *place, const char *sql, const char *wanted)
{
    char *answer = ask(place, sql);
    assert_string_equal(answer, wanted);
    free(answer);
}

#define PARTITIONS                                                                                 \
    "SELECT coalesce(string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text)," \
    " '') FROM pg_inherits WHERE inhparent = to_regclass('"

static struct pm_storage_upload upload_of(uint8_t number, uint32_t day)
{
    static uint8_t ids[256][PM_UPLOAD_ID_BYTES];
    ids[number][0] = number;
    return (struct pm_storage_upload){
        .game = "game", .id = ids[number], .day = day, .taken = 20000};
}

/* Is it fresh? */
static bool take(struct pm_storage *storage, struct pm_storage_upload upload)
{
    struct pm_error error;
    if (!storage->operations->begin_uploads(storage, &upload, 1, &error) ||
        !storage->operations->commit(storage, &error))
        fail_msg("%s", error.message);
    return upload.fresh;
}

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
    assert_true(take(storage, upload_of(1, 19990)));
    assert_true(take(storage, upload_of(2, 19999)));
    assert_true(take(storage, upload_of(3, 0)));
    add_blob(storage, blob_key(1, 19990, ""), "1");
    add_blob(storage, blob_key(1, 19999, ""), "2");
    assert_answer(place, PARTITIONS "upload_ids')",
                  "upload_ids_d0 upload_ids_d19990 upload_ids_d19999");
    assert_answer(place, PARTITIONS "statistics')", "statistics_d19990 statistics_d19999");

    /* Who knows of a partition that another drops makes it again. */
    struct pm_storage *other = storage_place_open(place->path);
    add_blob(other, blob_key(1, 19990, ""), "10");
    assert_int_equal(prune(storage, 19995), 2);
    assert_answer(place, PARTITIONS "upload_ids')", "upload_ids_d0 upload_ids_d19999");
    assert_answer(place, PARTITIONS "statistics')", "statistics_d19999");
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
    assert_answer(place, PARTITIONS "upload_ids')", "upload_ids_d0");
    assert_answer(place, PARTITIONS "statistics')", "statistics_d19990 statistics_d19999");
    PQclear(PQexec(reader, "COMMIT"));
    PQfinish(reader);
    assert_true(prune(storage, 20000) >= 2);
    assert_answer(place, PARTITIONS "statistics')", "");
    /* One that said no day is of the one on which it was taken. */
    assert_false(take(storage, upload_of(3, 0)));
    prune(storage, 20001);
    assert_true(take(storage, upload_of(3, 0)));
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
    assert_answer(place, count, "0");
    assert_false(operations->commit(storage, &error));
    assert_int_equal(error.code, PM_ERROR_CONFLICT);
    assert_answer(place, "SELECT count(*) FROM games", "0");
    assert_answer(place, rows, "0 0 0");

    /* Nor is it told that they lack where the next one is undone for another reason. */
    for (unsigned tries = 0; tries < 2; tries++) {
        assert_true(operations->begin(storage, &error));
        assert_answer(place, count, "42");
        write_days(storage, &error);
        if (tries == 0)
            operations->rollback(storage);
    }
    assert_true(operations->commit(storage, &error));
    assert_answer(place, rows, "14 14 14");
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
        uploads[i] = upload_of(i, 20000);
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
    assert_answer(place, "SELECT n FROM caps WHERE mark = '\\x01000000000000000000000000000000'",
                  "1");
    assert_answer(place, "SELECT n FROM caps WHERE mark = '\\x01010000000000000000000000000000'",
                  "1");
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
    free(ask(place, "DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class WHERE"
                    " relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p') AND NOT"
                    " relispartition LOOP EXECUTE 'DROP TABLE ' || t; END LOOP; END $$"));
    pm_buffer_init(&sql, 1 << 16);
    assert_true(pm_file_read(SCHEMA_1, &sql, NULL) && pm_buffer_append(&sql, "", 1));
    free(ask(place, (const char *)sql.data));
    pm_buffer_finish(&sql);
    place->storage = storage_place_open(place->path);
    assert_blobs(place->storage, "game", "b2/7//0=5 b2/8//0=5 ");
    assert_false(take(place->storage, upload_of(1, 0)));
    assert_answer(place, "SELECT version FROM piecemeal_schema", "8");
    assert_answer(place, "SELECT d FROM samples WHERE game = 'game' AND day = 8", "\\x6162");
    assert_answer(place, "SELECT count(*) FROM claim_marks", "1");
    assert_answer(place, "SELECT n FROM caps", "4");
    assert_answer(place,
                  "SELECT count(*) FROM pg_class WHERE relname LIKE 'old%'"
                  " AND relnamespace = current_schema::regnamespace",
                  "0");
}

static bool is_distributed(const struct storage_place *place)
{
    char *citus = ask(place, "SELECT 1 FROM pg_extension WHERE extname = 'citus'");
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
    assert_true(take(place->storage, upload_of(1, 20000)));
    for (unsigned version = 2; version < 6; version++) {
        const struct pm_storage_key key = blob_key(1, 20000, "");
        struct pm_error error;
        add_blob(place->storage, blob_key(1, 20000, ""), "2");
        snprintf(sql, sizeof(sql), "UPDATE piecemeal_schema SET version = %u", version);
        free(ask(place, sql));
        free(ask(place, "DROP TABLE shader_names")); /* which came with the newest */
        storage_place_reopen(place);
        assert_answer(place, "SELECT version FROM piecemeal_schema", "8");
        assert_true(pm_storage_add_blob(place->storage, &key, "3", 1, &error));
        assert_false(take(place->storage, upload_of(1, 20000)));
    }
    assert_blobs(place->storage, "game", "b3/20000//0=20 ");
    /* All but the tables of one row. */
    if (is_distributed(place))
        assert_answer(place,
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
    free(ask(place, like_citus));
    for (unsigned upgrades = 0; upgrades < 2; upgrades++) {
        free(ask(place, "UPDATE piecemeal_schema SET version = 5;"
                        "DELETE FROM pg_dist_partition WHERE logicalrelid = "
                        "'shader_names'::regclass; DROP TABLE shader_names"));
        storage_place_reopen(place);
        assert_answer(place, "SELECT count(*) FROM pg_dist_partition", "18");
    }
    free(ask(place, "SET allow_system_table_mods = on;"
                    "DELETE FROM pg_extension WHERE extname = 'citus'"));
}

/* One that was started before a newer one came writes nothing in its way any more. */
static void test_a_newer_schema_ends_writing(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_storage_upload upload = upload_of(1, 20000);
    const struct pm_storage_key key = blob_key(1, 20000, "");
    struct pm_error error;
    /* Whoever changes it waits for what is being written. */
    assert_true(storage->operations->begin(storage, &error));
    assert_answer(
        place, "SELECT count(*) FROM pg_locks WHERE relation = 'piecemeal_schema'::regclass", "1");
    assert_true(storage->operations->commit(storage, &error));
    free(ask(place, "UPDATE piecemeal_schema SET version = version + 1"));
    assert_false(storage->operations->begin(storage, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "written by a newer Piecemeal"));
    assert_false(storage->operations->begin_lazily(storage, &error));
    assert_false(storage->operations->begin_uploads(storage, &upload, 1, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_false(pm_storage_add_blob(storage, &key, "1", 1, &error));
    free(ask(place, "UPDATE piecemeal_schema SET version = version - 1"));
    assert_answer(place, "SELECT count(*) FROM statistics", "0");
    assert_true(take(storage, upload));
}

static bool gets(struct pm_storage *storage, int piece)
{
    struct pm_error error;
    bool taken;
    if (!storage->operations->take_lease(storage, "game", piece, &taken, &error))
        fail_msg("%s", error.message);
    return taken;
}

/* A piece is one process's, until that drops it or ends. */
static void test_leases(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage, *other = storage_place_open(place->path);
    assert_true(gets(one, 3));
    assert_false(gets(other, 3));
    assert_false(gets(one, 3));
    assert_true(gets(other, 4));
    assert_true(gets(other, PM_PIECE_CURATION));
    assert_false(gets(one, PM_PIECE_CURATION));
    one->operations->drop_lease(one, "game", 3);
    assert_true(gets(other, 3));
    /* Whose connections end has none. */
    free(ask(place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name"
                    " = 'piecemeal' AND state = 'idle in transaction'"));
    static const int dropped[] = {3, PM_PIECE_CURATION};
    for (size_t i = 0; i < 2; i++) {
        while (!gets(one, dropped[i])) {
        }
    }
    other->operations->drop_lease(other, "game", 3);
    assert_false(gets(other, 3));
    other->operations->destroy(other);
    assert_true(gets(one, 4));
}

#define TRANSACTIONS                                                                               \
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'piecemeal' AND state = 'idle" \
    " in transaction'"

static void begin_piece(struct pm_storage *storage, int piece)
{
    struct pm_error error;
    if (!storage->operations->begin_piece(storage, "game", piece, &error))
        fail_msg("%s", error.message);
}

/* The work on a piece is done in the transaction that holds it, and the piece is free with its end.
 */
static void test_a_piece_is_held_by_its_work(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage, *other = storage_place_open(place->path);
    struct pm_error error;
    add_blob(one, blob_key(1, 20000, ""), "1"); /* makes the day */
    assert_true(gets(one, 3));
    begin_piece(one, 3);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_false(gets(other, 3));
    assert_answer(place, TRANSACTIONS, "1");
    assert_true(one->operations->commit(one, &error));
    assert_answer(place, TRANSACTIONS, "0");
    assert_blobs(other, "game", "b3/20000//0=2 ");
    assert_true(gets(other, 3));

    /* Who has none works all the same. */
    begin_piece(one, 3);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_true(one->operations->commit(one, &error));
    assert_false(gets(one, 3));
    other->operations->drop_lease(other, "game", 3);

    assert_true(gets(one, 3));
    begin_piece(one, 3);
    add_blob(one, blob_key(1, 20000, ""), "1");
    one->operations->rollback(one);
    assert_true(gets(other, 3));
    one->operations->drop_lease(one, "game", 3);
    assert_false(gets(one, 3));
    other->operations->drop_lease(other, "game", 3);

    /* Who lost the connection has no lease any more; one that is lost later undoes the work. */
    assert_true(gets(one, 4));
    free(ask(place, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE"
                    " application_name = 'piecemeal' AND state = 'idle in transaction'"));
    begin_piece(one, 4);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_true(one->operations->commit(one, &error));
    assert_true(gets(one, 4));
    begin_piece(one, 4);
    add_blob(one, blob_key(1, 20000, ""), "1");
    free(ask(place, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE"
                    " application_name = 'piecemeal' AND state = 'idle in transaction'"));
    assert_false(one->operations->commit(one, &error));
    assert_int_equal(error.code, PM_ERROR_NETWORK);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_blobs(other, "game", "b3/20000//0=5 ");
    other->operations->destroy(other);
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

/* The first byte of the key that a process has, which would begin the day's epoch with its own. */
static uint8_t begins(struct pm_storage *storage, uint32_t day, uint8_t own)
{
    struct pm_error error;
    uint8_t key[PM_EPOCH_BYTES] = {own};
    if (!storage->operations->take_epoch(storage, day, key, &error))
        fail_msg("%s", error.message);
    return key[0];
}

/* All processes have one key, whoever comes first, and none that is behind brings an earlier one
 * back. */
static void test_epochs_go_forward(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage, *other = storage_place_open(place->path);
    assert_int_equal(begins(one, 5, 1), 1);
    assert_int_equal(begins(other, 5, 2), 1);
    assert_int_equal(begins(other, 4, 3), 1);
    assert_int_equal(begins(other, 6, 4), 4);
    assert_int_equal(begins(one, 5, 5), 4);
    assert_int_equal(begins(one, 6, 6), 4);
    char *kept = ask(place, "SELECT count(*) || ' of day ' || min(day) FROM epochs");
    assert_string_equal(kept, "1 of day 6");
    free(kept);
    other->operations->destroy(other);
}

/* Ends what waits for a lock, once something does, as its time would. */
static void *cancel_who_waits(void *user)
{
    bool done = false;
    for (uint64_t until = 0; !done && patience(&until);) {
        char *answer = ask(user, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE"
                                 " application_name = 'piecemeal' AND wait_event_type = 'Lock'");
        done = strcmp(answer, "t") == 0;
        free(answer);
    }
    return NULL;
}

/* A statement of an upload that takes too long is to come again, also on a connection that was
 * made for it since the one before was lost. */
static void test_a_statement_that_takes_too_long(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_storage_upload upload = upload_of(2, 20000);
    struct pm_error error;
    pthread_t thread;
    if (getenv("PM_TEST_CITUS"))
        return; /* the wait is on another machine */
    assert_true(take(storage, upload_of(1, 20000)));
    free(ask(place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'piecemeal'"));
    PGconn *other = PQconnectdb(place->path);
    PQclear(PQexec(other, "BEGIN; INSERT INTO upload_ids (game, day, id, taken) VALUES ('game',"
                          " 20000, '\\x02000000000000000000000000000000', 20000)"));
    assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
    assert_int_equal(pthread_create(&thread, NULL, cancel_who_waits, place), 0);
    assert_false(storage->operations->begin_uploads(storage, &upload, 1, &error));
    pthread_join(thread, NULL);
    assert_int_equal(error.code, PM_ERROR_TIMEOUT);
    assert_non_null(strstr(error.message, "took longer than 10 s"));
    PQfinish(other);
    assert_true(take(storage, upload));
}

struct publishing {
    struct pm_storage *storage;
    atomic_bool done;
};

static void *publish_cave(void *user)
{
    struct publishing *publishing = user;
    put_database(publishing->storage, "cave", "other", "def", 3);
    atomic_store(&publishing->done, true);
    return NULL;
}

/* What one publishes is not dropped by another that does not see yet that it is named. */
static void test_two_publish_at_once(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage;
    struct publishing other = {.storage = storage_place_open(place->path)};
    struct pm_buffer body;
    struct pm_error error;
    char etag[PM_ETAG_TEXT];
    pthread_t thread;
    bool waits = false;
    assert_true(pm_storage_add_game(one, "game", 1, &error));
    assert_true(one->operations->put_part(one, "one", 0, "abc", 3, &error));
    assert_true(one->operations->begin(one, &error));
    assert_true(one->operations->put_database(one, "game", "", "one", 3, &error));
    assert_int_equal(pthread_create(&thread, NULL, publish_cave, &other), 0);
    for (uint64_t until = 0; !waits && !atomic_load(&other.done) && patience(&until);) {
        char *answer = ask(place, "SELECT true FROM pg_stat_activity WHERE application_name ="
                                  " 'piecemeal' AND wait_event_type = 'Lock'");
        waits = strcmp(answer, "t") == 0;
        free(answer);
    }
    assert_true(one->operations->commit(one, &error));
    pthread_join(thread, NULL);
    static const char *const scenes[] = {"", "cave"}, *const bodies[] = {"abc", "def"};
    for (unsigned i = 0; i < 2; i++) {
        pm_buffer_init(&body, 100);
        if (!one->operations->get_database(one, "game", scenes[i], false, etag, &body, &error))
            fail_msg("%s", error.message);
        assert_memory_equal(body.data, bodies[i], 3);
        pm_buffer_finish(&body);
    }
    other.storage->operations->destroy(other.storage);
}

/* Whoever publishes has the schema, for as long as it takes; days that are there are not waited for
 * after a transaction that was undone. */
static void test_days_while_another_publishes(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    assert_true(take(storage, upload_of(1, 20000)));
    assert_true(storage->operations->begin(storage, &error));
    storage->operations->rollback(storage);
    PGconn *other = PQconnectdb(place->path);
    PQclear(PQexec(other, "BEGIN; SELECT version FROM piecemeal_schema WHERE one = 1 FOR UPDATE"));
    assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
    assert_true(take(storage, upload_of(2, 20000)));
    PQfinish(other);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, storage_place_create, storage_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_days_are_partitions),         TEST(test_no_partition_inside_a_transaction),
        TEST(test_caps_count_an_upload_once),   TEST(test_first_schema_is_upgraded),
        TEST(test_later_schemas_are_upgraded),  TEST(test_tables_are_distributed_once),
        TEST(test_a_newer_schema_ends_writing), TEST(test_leases),
        TEST(test_a_piece_is_held_by_its_work), TEST(test_large_samples),
        TEST(test_epochs_go_forward),           TEST(test_a_statement_that_takes_too_long),
        TEST(test_two_publish_at_once),         TEST(test_days_while_another_publishes),
    };
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
