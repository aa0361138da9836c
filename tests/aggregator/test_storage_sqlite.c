#include "aggregator/storage.h"

#include "aggregator/statistics.h"
#include "aggregator/support.h"
#include "base/file.h"
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

/* A merge that is easy to see through: decimal numbers are added. */
static bool add_numbers(const void *old, size_t old_size, const void *added, size_t added_size,
                        struct pm_buffer *out, struct pm_error *error)
{
    char text[2][32] = {{0}};
    if (old_size > 30 || added_size > 30 || (added_size > 0 && *(const char *)added == 'x'))
        return pm_fail(error, PM_ERROR_INPUT, "these are no numbers");
    memcpy(text[0], old, old_size);
    memcpy(text[1], added, added_size);
    return pm_buffer_printf(out, "%ld", atol(text[0]) + atol(text[1]));
}

struct place {
    char *folder, *path;
    struct pm_storage *storage;
};

static struct pm_storage *open_or_fail(const char *path)
{
    struct pm_error error;
    struct pm_storage *storage = pm_storage_sqlite_open(path, add_numbers, &error);
    if (!storage)
        fail_msg("%s", error.message);
    return storage;
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    place->storage = open_or_fail(place->path);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    if (place->storage)
        place->storage->operations->destroy(place->storage);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static void reopen(struct place *place)
{
    place->storage->operations->destroy(place->storage);
    place->storage = open_or_fail(place->path);
}

static struct pm_storage_key blob_key(uint64_t shader, uint32_t day, const char *scene)
{
    return (struct pm_storage_key){.game = "game",
                                   .scene = scene,
                                   .key = key_of(shader),
                                   .environment = {.subgroup_size = 8},
                                   .kind = PM_KIND_BLOCK,
                                   .day = day};
}

static void add_blob(struct pm_storage *storage, struct pm_storage_key key, const char *blob)
{
    struct pm_error error;
    if (!storage->operations->add_blob(storage, &key, blob, strlen(blob), &error))
        fail_msg("%s", error.message);
}

/* Every blob of a game as one text. */
static bool append_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                        struct pm_error *error)
{
    (void)error;
    struct pm_buffer *out = user;
    assert_int_equal(key->environment.subgroup_size, 8);
    assert_int_equal(key->kind, PM_KIND_BLOCK);
    return pm_buffer_printf(out, "%02x/%u/%s/%u=%.*s ", key->key.bytes[0], key->day, key->scene,
                            key->flags, (int)size, (const char *)blob);
}

static void assert_blobs(struct pm_storage *storage, const char *game, const char *expected)
{
    struct pm_buffer all;
    struct pm_error error;
    pm_buffer_init(&all, 1 << 20);
    if (!storage->operations->read_game(storage, game, NULL, append_blob, &all, &error))
        fail_msg("%s", error.message);
    assert_string_equal(all.data ? (const char *)all.data : "", expected);
    pm_buffer_finish(&all);
}

/* ---- tests ---- */

static void test_blobs_merge(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    char expected[200];
    add_blob(storage, blob_key(1, 5, ""), "10");
    add_blob(storage, blob_key(1, 5, ""), "32");
    add_blob(storage, blob_key(1, 6, ""), "1");
    add_blob(storage, blob_key(1, 6, "cave"), "2");
    struct pm_storage_key flagged = blob_key(1, 5, "");
    flagged.flags = 1;
    add_blob(storage, flagged, "7");
    const unsigned first = key_of(1).bytes[0];
    snprintf(expected, sizeof(expected), "%02x/5//0=42 %02x/6//0=1 %02x/6/cave/0=2 %02x/5//1=7 ",
             first, first, first, first);
    assert_blobs(storage, "game", expected);
    assert_blobs(storage, "other", "");
    reopen(place);
    assert_blobs(place->storage, "game", expected);
}

static void test_environments_are_kept_and_sorted(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_storage_key key = blob_key(1, 1, "");
    struct pm_error error;
    key.environment.vendor_id = 0x01020304;
    key.environment.driver_version = UINT32_MAX;
    add_blob(storage, key, "2");
    key.environment.vendor_id = 0x00ffffff;
    add_blob(storage, key, "1");
    struct pm_buffer all;
    pm_buffer_init(&all, 1000);
    assert_true(storage->operations->read_game(storage, "game", NULL, append_blob, &all, &error));
    char expected[100];
    snprintf(expected, sizeof(expected), "%02x/1//0=1 %02x/1//0=2 ", key.key.bytes[0],
             key.key.bytes[0]);
    assert_string_equal(all.data, expected);
    pm_buffer_finish(&all);
}

static void test_transactions(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_storage_operations *do_ = storage->operations;
    const uint8_t id[PM_UPLOAD_ID_BYTES] = {1, 2, 3};
    const struct pm_shader_key key = key_of(3);
    struct pm_error error;
    bool fresh;
    uint32_t space;

    assert_true(do_->begin(storage, &error));
    assert_true(do_->add_upload_id(storage, id, 5, &fresh, &error));
    assert_true(fresh);
    assert_true(do_->add_upload_id(storage, id, 6, &fresh, &error));
    assert_false(fresh);
    assert_true(do_->find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 0);
    assert_true(do_->put_space(storage, "game", &key, PM_KIND_BLOCK, 9, &error));
    assert_true(do_->find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 9);
    add_blob(storage, blob_key(1, 1, ""), "1");
    /* Readers see what is committed. */
    assert_blobs(storage, "game", "");
    do_->rollback(storage);

    assert_true(do_->begin(storage, &error));
    assert_true(do_->add_upload_id(storage, id, 5, &fresh, &error));
    assert_true(fresh);
    assert_true(do_->find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 0);
    assert_true(do_->put_space(storage, "game", &key, PM_KIND_BLOCK, 10, &error));
    assert_true(do_->commit(storage, &error));
    assert_blobs(storage, "game", "");

    reopen(place);
    storage = place->storage;
    assert_true(storage->operations->begin(storage, &error));
    assert_true(storage->operations->add_upload_id(storage, id, 5, &fresh, &error));
    assert_false(fresh);
    assert_true(
        storage->operations->find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 10);
    assert_true(
        storage->operations->find_space(storage, "game", &key, PM_KIND_ZERO, &space, &error));
    assert_int_equal(space, 0);
    storage->operations->rollback(storage);
}

static bool append_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    (void)error;
    return pm_buffer_printf(user, "%s=%llu ", game, (unsigned long long)uploads);
}

static void test_games(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_buffer all;
    struct pm_error error;
    assert_true(storage->operations->add_uploads(storage, "b", 2, &error));
    assert_true(storage->operations->add_uploads(storage, "a/\xc3\xa4", 1, &error));
    assert_true(storage->operations->add_uploads(storage, "b", 40, &error));
    pm_buffer_init(&all, 1000);
    assert_true(storage->operations->list_games(storage, append_game, &all, &error));
    assert_string_equal(all.data, "a/\xc3\xa4=1 b=42 ");
    pm_buffer_finish(&all);
    static const struct {
        const char *name;
        bool known;
        uint64_t uploads;
    } games[] = {{"b", true, 42}, {"a/\xc3\xa4", true, 1}, {"B", false, 0}, {"", false, 0}};
    for (size_t i = 0; i < sizeof(games) / sizeof(games[0]); i++) {
        uint64_t uploads;
        bool known;
        assert_true(
            storage->operations->find_game(storage, games[i].name, &known, &uploads, &error));
        assert_int_equal(known, games[i].known);
        assert_int_equal(uploads, games[i].uploads);
    }
}

/* In parts of two bytes. */
static void put_database(struct pm_storage *storage, const char *scene, const char *etag,
                         const char *body, size_t size)
{
    struct pm_error error;
    for (uint32_t at = 0; at < size; at += 2)
        assert_true(storage->operations->put_part(storage, etag, at / 2, body + at,
                                                  size - at < 2 ? size - at : 2, &error));
    if (!storage->operations->put_database(storage, "game", scene, etag, size, &error))
        fail_msg("%s", error.message);
}

/* A body of which something is missing is never published, and one that nobody names goes. */
static void test_bodies_are_whole(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    struct pm_error error;
    pm_buffer_init(&body, 1000);
    assert_true(storage->operations->add_uploads(storage, "game", 1, &error));
    put_database(storage, "", "one", "abc", 3);
    assert_true(storage->operations->put_part(storage, "two", 0, "de", 2, &error));
    assert_true(storage->operations->put_part(storage, "two", 2, "h", 1, &error));
    assert_false(storage->operations->put_database(storage, "game", "", "two", 5, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_true(storage->operations->get_database(storage, "game", "", false, etag, &body, &error));
    assert_string_equal(etag, "one");
    assert_int_equal(body.size, 3);
    put_database(storage, "cave", "one", "abc", 3);
    assert_false(storage->operations->put_database(storage, "game", "", "two", 3, &error));
    put_database(storage, "", "two", "defgh", 5);
    put_database(storage, "", "three", "i", 1);
    /* "one" is the cave's still. */
    body.size = 0;
    assert_true(
        storage->operations->get_database(storage, "game", "cave", false, etag, &body, &error));
    assert_memory_equal(body.data, "abc", 3);
    body.size = 0;
    assert_true(storage->operations->get_database(storage, "game", "", true, etag, &body, &error));
    assert_int_equal(body.size, 5);
    assert_memory_equal(body.data, "defgh", 5);
    put_database(storage, "", "four", "j", 1);
    assert_false(storage->operations->put_database(storage, "game", "", "two", 5, &error));
    pm_buffer_finish(&body);
}

static bool count_sample(void *user, int64_t time, uint64_t uploads, uint64_t points_covered,
                         uint64_t points)
{
    (void)time, (void)uploads, (void)points_covered, (void)points;
    ++*(uint64_t *)user;
    return true;
}

static void test_databases(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    struct pm_error error;
    pm_buffer_init(&body, 1000);
    assert_false(
        storage->operations->get_database(storage, "game", "", false, etag, &body, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_non_null(strstr(error.message, "game"));
    /* Of a game that is not known, as one that was just dropped: nothing. */
    put_database(storage, "", "one", "a", 1);
    uint64_t samples = 0;
    assert_true(storage->operations->add_coverage(storage, "game", 1000, 5, 2, 4, &error));
    assert_true(
        storage->operations->read_coverage(storage, "game", count_sample, &samples, &error));
    assert_int_equal(samples, 0);
    assert_false(
        storage->operations->get_database(storage, "game", "", false, etag, &body, &error));

    assert_true(storage->operations->add_uploads(storage, "game", 1, &error));
    put_database(storage, "", "one", "abc\0d", 5);
    assert_false(storage->operations->get_database(storage, "game", "", true, etag, &body, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    put_database(storage, "", "two", "x\0yz", 4);
    put_database(storage, "cave", "c", "!", 1);
    reopen(place);
    storage = place->storage;
    assert_true(storage->operations->get_database(storage, "game", "", false, etag, &body, &error));
    assert_string_equal(etag, "two");
    assert_int_equal(body.size, 4);
    assert_memory_equal(body.data, "x\0yz", 4);
    assert_true(storage->operations->get_database(storage, "game", "", false, etag, NULL, &error));
    body.size = 0;
    assert_true(storage->operations->get_database(storage, "game", "", true, etag, &body, &error));
    assert_string_equal(etag, "one");
    assert_int_equal(body.size, 5);
    assert_memory_equal(body.data, "abc\0d", 5);
    body.size = 0;
    assert_true(
        storage->operations->get_database(storage, "game", "cave", false, etag, &body, &error));
    assert_string_equal(etag, "c");
    assert_int_equal(body.size, 1);
    assert_false(
        storage->operations->get_database(storage, "game", "cave", true, etag, NULL, &error));
    assert_non_null(strstr(error.message, "cave"));
    pm_buffer_finish(&body);
}

static bool append_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered,
                            uint64_t points)
{
    return pm_buffer_printf(user, "%lld:%llu:%llu/%llu ", (long long)time,
                            (unsigned long long)uploads, (unsigned long long)covered,
                            (unsigned long long)points);
}

static bool append_origin(void *user, const void *origin, size_t size, struct pm_error *error)
{
    (void)error;
    return pm_buffer_append(user, origin, size);
}

static bool append_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                         struct pm_error *error)
{
    (void)error;
    return pm_buffer_printf(user, "%s=%u/%u ", scene, (unsigned)uploads, day);
}

/* Is it known then? */
static bool name_scene(struct pm_storage *storage, const char *scene, uint32_t day, uint32_t most)
{
    struct pm_error error;
    bool known, found;
    if (!storage->operations->add_scene(storage, "game", scene, 1, day, most, &known, &error) ||
        !storage->operations->find_scene(storage, "game", scene, &found, &error))
        fail_msg("%s", error.message);
    assert_true(known == found);
    return known;
}

static void test_scenes(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_buffer all;
    struct pm_error error;
    pm_buffer_init(&all, 1000);
    assert_true(name_scene(storage, "cave", 3, 2));
    assert_true(name_scene(storage, "sky", 1, 2));
    assert_true(name_scene(storage, "sky", 4, 2));
    assert_true(name_scene(storage, "sky", 2, 0));
    assert_false(name_scene(storage, "sea", 9, 2));
    assert_false(name_scene(storage, "sea", 9, 0));
    assert_true(storage->operations->list_scenes(storage, "game", 9, append_scene, &all, &error));
    assert_string_equal(all.data, "sky=3/4 cave=1/3 ");
    all.size = 0;
    assert_true(storage->operations->list_scenes(storage, "game", 1, append_scene, &all, &error));
    assert_string_equal(all.data, "sky=3/4 ");
    all.size = 0;
    assert_true(storage->operations->list_scenes(storage, "other", 1, append_scene, &all, &error));
    assert_int_equal(all.size, 0);
    pm_buffer_finish(&all);
}

static void test_drop(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_shader_key first = blob_key(1, 1, "").key;
    struct pm_buffer all, origins;
    struct pm_error error;
    uint64_t blobs;
    char etag[PM_ETAG_TEXT];
    pm_buffer_init(&all, 1000);
    pm_buffer_init(&origins, 1000);
    assert_true(storage->operations->add_uploads(storage, "game", 2, &error));
    assert_true(storage->operations->add_uploads(storage, "other", 1, &error));
    assert_true(storage->operations->put_space(storage, "game", &first, PM_KIND_BLOCK, 5, &error));
    put_database(storage, "", "one", "a", 1);
    assert_true(storage->operations->add_coverage(storage, "game", 1, 1, 1, 1, &error));
    assert_true(
        storage->operations->read_origins(storage, "game", append_origin, &origins, &error));
    add_blob(storage, blob_key(1, 1, ""), "1");
    add_blob(storage, blob_key(1, 2, "cave"), "1");
    add_blob(storage, blob_key(2, 1, ""), "SECRET");

    assert_true(storage->operations->drop(storage, "game", &first, &blobs, &error));
    assert_int_equal(blobs, 2);
    assert_true(storage->operations->read_game(storage, "game", NULL, append_blob, &all, &error));
    assert_non_null(strstr((char *)all.data, "SECRET"));
    assert_true(storage->operations->drop(storage, "game", &first, &blobs, &error));
    assert_int_equal(blobs, 0);

    assert_true(storage->operations->drop(storage, "game", NULL, &blobs, &error));
    assert_int_equal(blobs, 1);
    all.size = 0;
    assert_true(storage->operations->read_game(storage, "game", NULL, append_blob, &all, &error));
    assert_true(storage->operations->read_coverage(storage, "game", append_coverage, &all, &error));
    assert_true(storage->operations->read_origins(storage, "game", append_origin, &all, &error));
    assert_int_equal(all.size, 0);
    assert_true(storage->operations->list_games(storage, append_game, &all, &error));
    assert_string_equal(all.data, "other=1 ");
    assert_false(storage->operations->get_database(storage, "game", "", false, etag, NULL, &error));

    /* When it comes back it is another. */
    assert_true(storage->operations->add_uploads(storage, "game", 1, &error));
    all.size = 0;
    assert_true(storage->operations->read_origins(storage, "game", append_origin, &all, &error));
    assert_int_equal(all.size, origins.size);
    assert_memory_not_equal(all.data, origins.data, origins.size);

    /* Nothing of it is left in the file. */
    reopen(place);
    all.size = 0;
    all.cap = 1 << 22;
    assert_true(pm_file_read(place->path, &all, &error));
    assert_null(memmem(all.data, all.size, "SECRET", 6));
    pm_buffer_finish(&all);
    pm_buffer_finish(&origins);
}

static void test_coverage(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_buffer all;
    struct pm_error error;
    assert_true(storage->operations->add_uploads(storage, "game", 1, &error));
    assert_true(storage->operations->add_uploads(storage, "other", 1, &error));
    assert_true(storage->operations->add_coverage(storage, "game", 20, 3, 7, 9, &error));
    assert_true(storage->operations->add_coverage(storage, "game", 10, 1, 2, 9, &error));
    assert_true(storage->operations->add_coverage(storage, "other", 15, 1, 1, 1, &error));
    pm_buffer_init(&all, 1000);
    assert_true(storage->operations->read_coverage(storage, "game", append_coverage, &all, &error));
    assert_string_equal(all.data, "10:1:2/9 20:3:7/9 ");
    pm_buffer_finish(&all);
}

static bool count_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered,
                           uint64_t points)
{
    unsigned *count = user; /* [0]: older than two days; [1]: of the last two; [2]: the newest */
    (void)covered;
    (void)points;
    count[time < (int64_t)uploads + 1000000 ? 0 : 1]++;
    count[2] = (unsigned)time;
    return true;
}

/* A sample every ten minutes for ten days: hourly ones remain of what is older than two. */
static void test_old_coverage_is_thinned(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    unsigned count[3] = {0}, other[3] = {0};
    const int64_t end = 1000000 + 10 * 86400;
    assert_true(storage->operations->add_uploads(storage, "game", 1, &error));
    assert_true(storage->operations->add_uploads(storage, "other", 1, &error));
    assert_true(storage->operations->add_coverage(storage, "other", 1000001, 0, 1, 1, &error));
    assert_true(storage->operations->add_coverage(storage, "other", 1000002, 0, 1, 1, &error));
    assert_true(storage->operations->begin(storage, &error));
    for (int64_t time = 1000000; time <= end; time += 600)
        assert_true(
            storage->operations->add_coverage(storage, "game", time, 8 * 86400, 1, 1, &error));
    assert_true(storage->operations->commit(storage, &error));
    assert_true(storage->operations->read_coverage(storage, "game", count_coverage, count, &error));
    assert_in_range(count[0], 8 * 24, 8 * 24 + 1);
    assert_int_equal(count[1], 2 * 144 + 1);
    assert_int_equal(count[2], end);
    assert_true(
        storage->operations->read_coverage(storage, "other", count_coverage, other, &error));
    assert_int_equal(other[0] + other[1], 2);
}

static void test_merge_failure_is_told(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    const struct pm_storage_key key = blob_key(1, 1, "");
    add_blob(storage, key, "1");
    assert_true(storage->operations->begin(storage, &error));
    assert_false(storage->operations->add_blob(storage, &key, "x", 1, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, "no numbers"));
    assert_non_null(strstr(error.message, place->path));
    storage->operations->rollback(storage);
    add_blob(storage, key, "1");
}

/* ---- files that are not ours ---- */

static void assert_not_opened(const char *path, enum pm_code code, const char *what)
{
    struct pm_error error;
    struct pm_storage *storage = pm_storage_sqlite_open(path, add_numbers, &error);
    assert_null(storage);
    if (error.code != code || !strstr(error.message, path) || !strstr(error.message, what))
        fail_msg("code %d, \"%s\"", (int)error.code, error.message);
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_refuses_other_files(void **state)
{
    struct place *place = *state;
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
    execute(path, "CREATE TABLE cats (name TEXT)");
    assert_not_opened(path, PM_ERROR_INPUT, "another program");
    unlink(path);
    execute(path,
            "PRAGMA application_id = 1347248487; PRAGMA user_version = 99; CREATE TABLE games (x)");
    assert_not_opened(path, PM_ERROR_UNSUPPORTED, "newer Piecemeal (schema 99");
    free(inside);
    free(path);
}

/* A file as the first release made it: its data stays, and what came later is there. */
static void test_old_schema(void **state)
{
    struct place *place = *state;
    char *path = join(place->folder, "old");
    char etag[PM_ETAG_TEXT];
    struct pm_buffer all;
    struct pm_error error;
    uint32_t space;
    execute(path,
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
        bool fresh = true;
        assert_true(
            storage->operations->find_space(storage, "game", &none, PM_KIND_BLOCK, &space, &error));
        assert_int_equal(space, 9);
        assert_true(storage->operations->add_upload_id(storage, id, 4, &fresh, &error));
        assert_false(fresh);
        all.size = 0;
        assert_true(
            storage->operations->read_origins(storage, "game", append_origin, &all, &error));
        assert_int_equal(all.size, 16);
        pm_buffer_finish(&all);
        storage->operations->destroy(storage);
    }
    free(path);
}

/* The schema before the newest: what it has not is made from what it has. */
static void test_previous_schema(void **state)
{
    struct place *place = *state;
    struct pm_buffer all;
    struct pm_error error;
    add_blob(place->storage, blob_key(1, 3, "cave"), "1");
    add_blob(place->storage, blob_key(2, 3, "cave"), "2");
    add_blob(place->storage, blob_key(1, 5, "cave"), "3");
    add_blob(place->storage, blob_key(1, 4, ""), "4");
    place->storage->operations->destroy(place->storage);
    execute(place->path, "DROP TABLE scenes; PRAGMA user_version = 2");
    place->storage = pm_storage_sqlite_open(place->path, add_numbers, &error);
    if (!place->storage)
        fail_msg("%s", error.message);
    pm_buffer_init(&all, 1000);
    assert_true(place->storage->operations->list_scenes(place->storage, "game", 9, append_scene,
                                                        &all, &error));
    assert_string_equal(all.data, "cave=2/5 ");
    pm_buffer_finish(&all);
}

static void test_damaged_file(void **state)
{
    struct place *place = *state;
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
    struct place *place = *state;
    struct pm_storage *storage = place->storage, *other = open_or_fail(place->path);
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
    struct place *place = *state;
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
    done = done && storage->operations->add_blob(storage, &key, "1", 1, &error) &&
           storage->operations->add_blob(storage, &large, big, 1 << 20, &error);
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
    reopen(place);
    assert_blobs(place->storage, "game", expected);
    free(big);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blobs_merge),
        TEST(test_environments_are_kept_and_sorted),
        TEST(test_transactions),
        TEST(test_games),
        TEST(test_databases),
        TEST(test_bodies_are_whole),
        TEST(test_scenes),
        TEST(test_drop),
        TEST(test_coverage),
        TEST(test_old_coverage_is_thinned),
        TEST(test_merge_failure_is_told),
        TEST(test_refuses_other_files),
        TEST(test_old_schema),
        TEST(test_previous_schema),
        TEST(test_damaged_file),
        TEST(test_two_processes),
        TEST(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
