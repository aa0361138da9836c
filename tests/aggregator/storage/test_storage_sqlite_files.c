/* The SQLite storage's files: of others, of older schemas, damaged, shared, and full. */
#include "tests/aggregator/sql.h"
#include "tests/aggregator/storage/storage_place.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static void assert_not_opened(const char *path, enum pm_code code, const char *what)
{
    struct pm_error error;
    struct pm_storage *storage = pm_storage_sqlite_open(path, add_numbers, &error);
    assert_null(storage);
    if (error.code != code || !strstr(error.message, path) || !strstr(error.message, what))
        fail_msg("code %d, \"%s\"", (int)error.code, error.message);
}

static void test_refuses_other_files(void **state)
{
    struct storage_place *place = *state;
    char *path = join(place->folder, "other");
    char *inside = join(path, "no/such/folder.db");
    assert_not_opened(inside, PM_ERROR_IO, "");
    assert_not_opened(place->folder, PM_ERROR_IO, "");

    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is a text, and no database\n", file);
    fclose(file);
    assert_not_opened(path, PM_ERROR_INPUT, "not a Piecemeal database");

    unlink(path);
    sql_run(path, "CREATE TABLE cats (name TEXT)");
    assert_not_opened(path, PM_ERROR_INPUT, "another program");
    unlink(path);
    sql_run(path,
            "PRAGMA application_id = 1347248487; PRAGMA user_version = 99; CREATE TABLE games (x)");
    assert_not_opened(path, PM_ERROR_UNSUPPORTED, "newer Piecemeal (schema 99");
    free(inside);
    free(path);
}

/* A file as the first release made it: its data stays, and what came later is there. */
static void test_old_schema(void **state)
{
    struct storage_place *place = *state;
    char *path = join(place->folder, "old");
    char etag[PM_ETAG_TEXT];
    struct pm_buffer all;
    struct pm_error error;
    uint32_t space;
    sql_run(path,
            "CREATE TABLE games (name TEXT PRIMARY KEY, uploads INTEGER NOT NULL) WITHOUT ROWID;"
            "CREATE TABLE upload_ids (id BLOB PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID;"
            "CREATE TABLE spaces (game TEXT, key BLOB, kind INTEGER, space INTEGER NOT NULL,"
            " PRIMARY KEY (game, key, kind)) WITHOUT ROWID;"
            "CREATE TABLE statistics (game TEXT NOT NULL, key BLOB NOT NULL,"
            " environment BLOB NOT NULL, kind INTEGER NOT NULL, flags INTEGER NOT NULL,"
            " day INTEGER NOT NULL, scene TEXT NOT NULL, d BLOB NOT NULL,"
            " PRIMARY KEY (game, key, environment, kind, flags, day, scene));"
            "CREATE TABLE databases (game TEXT PRIMARY KEY, etag TEXT NOT NULL,"
            " body BLOB NOT NULL);"
            "CREATE TABLE coverage (game TEXT NOT NULL, time INTEGER NOT NULL,"
            " uploads INTEGER NOT NULL, points_covered INTEGER NOT NULL, points INTEGER NOT NULL);"
            "CREATE INDEX coverage_by_game ON coverage (game, time);"
            "PRAGMA application_id = 1347248487; PRAGMA user_version = 1;"
            "INSERT INTO games VALUES ('game', 7);"
            "INSERT INTO upload_ids VALUES (x'000102030405060708090a0b0c0d0e0f', 3);"
            "INSERT INTO spaces VALUES ('game', zeroblob(24), 1, 9);"
            "INSERT INTO statistics VALUES ('game', zeroblob(24),"
            " x'0000000800000000000000000000000000000000', 1, 0, 3, 'cave', x'3132');"
            "INSERT INTO databases VALUES ('game', 'one', x'616263');"
            "INSERT INTO coverage VALUES ('game', 20, 3, 7, 9)");
    for (int i = 0; i < 2; i++) { /* the second time there is nothing left to do */
        struct pm_storage *storage = pm_storage_sqlite_open(path, add_numbers, &error);
        if (!storage)
            fail_msg("%s", error.message);
        pm_buffer_init(&all, 1000);
        assert_true(storage->operations->list_games(storage, append_game, &all, &error));
        assert_true(
            storage->operations->read_game(storage, "game", "cave", append_blob, &all, &error));
        assert_true(
            storage->operations->read_coverage(storage, "game", append_coverage, &all, &error));
        assert_true(
            storage->operations->get_database(storage, "game", "", false, etag, &all, &error));
        assert_non_null(strstr((char *)all.data, "game=7 "));
        assert_non_null(strstr((char *)all.data, "12"));
        assert_non_null(strstr((char *)all.data, "20:3:7/9 abc"));
        assert_true(
            storage->operations->list_scenes(storage, "game", 9, append_scene, &all, &error));
        assert_non_null(strstr((char *)all.data, "cave=1/3 "));
        assert_string_equal(etag, "one");
        const struct pm_shader_key none = {0};
        const uint8_t id[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        struct pm_storage_upload upload = {
            .game = "game", .id = id, .day = 4, .taken = 4, .fresh = true};
        assert_true(pm_storage_find_space(storage, "game", &none, PM_KIND_BLOCK, &space, &error));
        assert_int_equal(space, 9);
        assert_true(storage->operations->begin_uploads(storage, &upload, 1, &error));
        assert_false(upload.fresh);
        storage->operations->rollback(storage);
        all.size = 0;
        assert_true(
            storage->operations->read_origins(storage, "game", append_origin, &all, &error));
        assert_int_equal(all.size, 16);
        pm_buffer_finish(&all);
        storage->operations->destroy(storage);
    }
    free(path);
}

/* What came with schemas 11 and 13. */
#define WITHOUT_SEALS                                                                              \
    "DROP TABLE shader_names;"                                                                     \
    "ALTER TABLE games DROP COLUMN seal; ALTER TABLE scenes DROP COLUMN seal;"                     \
    "ALTER TABLE spaces DROP COLUMN seal; ALTER TABLE claims DROP COLUMN seal;"                    \
    "ALTER TABLE originals DROP COLUMN seal; ALTER TABLE databases DROP COLUMN seal;"              \
    "ALTER TABLE coverage DROP COLUMN seal; DROP INDEX origins_by_origin;"

/* A schema before the newest: what it has not is made from what it has. */
static void test_previous_schema(void **state)
{
    struct storage_place *place = *state;
    struct pm_buffer all;
    struct pm_error error;
    add_blob(place->storage, blob_key(1, 3, "cave"), "1");
    add_blob(place->storage, blob_key(2, 3, "cave"), "2");
    add_blob(place->storage, blob_key(1, 5, "cave"), "3");
    add_blob(place->storage, blob_key(1, 4, ""), "4");
    place->storage->operations->destroy(place->storage);
    sql_run(place->path, WITHOUT_SEALS
            "DROP TABLE scenes; ALTER TABLE samples DROP COLUMN hash; DROP TABLE originals;"
            "DROP TABLE claim_marks; DROP TABLE caps;"
            "PRAGMA user_version = 2");
    place->storage = pm_storage_sqlite_open(place->path, add_numbers, &error);
    if (!place->storage)
        fail_msg("%s", error.message);
    pm_buffer_init(&all, 1000);
    assert_true(place->storage->operations->list_scenes(place->storage, "game", 9, append_scene,
                                                        &all, &error));
    assert_string_equal(all.data, "cave=2/5 ");
    pm_buffer_finish(&all);
}

static int schema_of(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int schema = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return schema;
}

/* A program that wrote samples of turns, but cannot read those of lanes that were counted alone,
 * refuses what this one has opened; the rows stay. */
static void test_a_program_before_lanes_alone_refuses(void **state)
{
    enum { BEFORE = 14 };
    struct storage_place *place = *state;
    struct pm_error error;
    add_blob(place->storage, blob_key(1, 3, ""), "1");
    place->storage->operations->destroy(place->storage);
    sql_run(place->path, "PRAGMA user_version = 14");
    place->storage = pm_storage_sqlite_open(place->path, add_numbers, &error);
    if (!place->storage)
        fail_msg("%s", error.message);
    assert_blobs(place->storage, "game", "b3/3//0=1 ");
    assert_true(schema_of(place->path) > BEFORE);
}

static bool append_claim(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    (void)error;
    return claim->mark
               ? pm_buffer_printf(user, "%u/%u:%.8s ", claim->space, claim->day,
                                  (const char *)claim->mark)
               : pm_buffer_printf(user, "%u/%u=%u ", claim->space, claim->day, claim->tokens);
}

/* Marks that stood one behind the other in their claim are rows. */
static void test_marks_of_an_old_schema(void **state)
{
    struct storage_place *place = *state;
    struct pm_buffer all;
    struct pm_error error;
    uint64_t settled = 0;
    bool left;
    const struct pm_storage_claim subject = {.game = "game", .kind = PM_KIND_BLOCK};
    place->storage->operations->destroy(place->storage);
    sql_run(place->path,
            WITHOUT_SEALS "DROP TABLE claim_marks; DROP TABLE caps; PRAGMA user_version = 7;"
                          "INSERT INTO claims VALUES ('game', zeroblob(24), 1, zeroblob(16), 9, 3,"
                          " 4, 5, CAST('firstone2ndtoken' AS BLOB)),"
                          " ('game', zeroblob(24), 1, zeroblob(16), 7, 1, 4, 4, NULL)");
    struct pm_storage *storage = place->storage = storage_place_open(place->path);
    pm_buffer_init(&all, 1000);
    assert_true(storage->operations->find_claims(storage, &subject, 1, append_claim, &all, &error));
    assert_string_equal(all.data, "7/4=1 9/4=3 9/5:2ndtoken 9/5:firstone ");
    all.size = 0;
    assert_true(storage->operations->settle_marks(storage, 5, 1, 9, &settled, &left, &error));
    assert_int_equal(settled, 0);
    assert_true(storage->operations->settle_marks(storage, 6, 1, 9, &settled, &left, &error));
    assert_int_equal(settled, 1);
    assert_true(storage->operations->read_claims(storage, "game", append_claim, &all, &error));
    assert_string_equal(all.data, "7/4=1 9/4=3 ");
    pm_buffer_finish(&all);
}

static void test_damaged_file(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    bool failed = false;
    for (uint64_t i = 0; i < 200; i++)
        add_blob(storage, blob_key(i, 1, "a scene with a name that takes some room in the table"),
                 "1");
    storage->operations->destroy(storage);
    place->storage = NULL;
    struct stat status;
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    FILE *file = fopen(place->path, "r+");
    for (long at = 8192; at < status.st_size; at += 64) {
        fseek(file, at, SEEK_SET);
        fputs("damaged", file);
    }
    fclose(file);
    storage = pm_storage_sqlite_open(place->path, add_numbers, &error);
    if (storage) {
        struct pm_buffer all;
        pm_buffer_init(&all, 1 << 20);
        failed = !storage->operations->read_game(storage, "game", NULL, append_blob, &all, &error);
        pm_buffer_finish(&all);
        storage->operations->destroy(storage);
    }
    assert_true(!storage || failed);
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, place->path));
    assert_non_null(strstr(error.message, "damaged"));
}

static void test_two_processes(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage, *other = storage_place_open(place->path);
    const struct pm_storage_key key = blob_key(1, 1, "");
    char expected[64];
    for (int i = 0; i < 10; i++) {
        add_blob(i % 2 ? storage : other, key, "1");
    }
    snprintf(expected, sizeof(expected), "%02x/1//0=10 ", key.key.bytes[0]);
    assert_blobs(storage, "game", expected);
    assert_blobs(other, "game", expected);
    other->operations->destroy(other);
    add_blob(storage, key, "1");
}

/* A limit on file sizes stands for a full disk: writes fail just as well. */
static void test_full_disk(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct rlimit before, limit;
    struct pm_error error;
    char *big = malloc(1 << 20);
    assert_non_null(big);
    memset(big, '0', 1 << 20);
    add_blob(storage, blob_key(1, 1, ""), "5");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 512 << 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool done = storage->operations->begin(storage, &error);
    const struct pm_storage_key key = blob_key(1, 1, ""), large = blob_key(2, 1, "");
    done = done && pm_storage_add_blob(storage, &key, "1", 1, &error) &&
           pm_storage_add_blob(storage, &large, big, 1 << 20, &error);
    if (done)
        done = storage->operations->commit(storage, &error);
    else
        storage->operations->rollback(storage);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(done);
    if (error.code != PM_ERROR_LIMIT)
        fail_msg("code %d, \"%s\"", (int)error.code, error.message);
    /* Nothing of it was kept, and the next one works. */
    char expected[64];
    snprintf(expected, sizeof(expected), "%02x/1//0=5 ", key.key.bytes[0]);
    assert_blobs(storage, "game", expected);
    add_blob(storage, key, "2");
    snprintf(expected, sizeof(expected), "%02x/1//0=7 ", key.key.bytes[0]);
    assert_blobs(storage, "game", expected);
    storage_place_reopen(place);
    assert_blobs(place->storage, "game", expected);
    free(big);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, storage_place_create, storage_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_refuses_other_files),
        TEST(test_old_schema),
        TEST(test_previous_schema),
        TEST(test_refuses_other_files),
        TEST(test_old_schema),
        TEST(test_marks_of_an_old_schema),
        TEST(test_a_program_before_lanes_alone_refuses),
        TEST(test_damaged_file),
        TEST(test_two_processes),
        TEST(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
