/* What a storage keeps of uploads: blobs that merge, games, scenes; and how it forgets. */
#include "base/file.h"
#include "tests/aggregator/storage/storage_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static void test_blobs_merge(void **state)
{
    struct storage_place *place = *state;
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
    storage_place_reopen(place);
    assert_blobs(place->storage, "game", expected);
}

static void test_environments_are_kept_and_sorted(void **state)
{
    struct storage_place *place = *state;
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
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_storage_operations *do_ = storage->operations;
    const uint8_t id[PM_UPLOAD_ID_BYTES] = {1, 2, 3};
    const struct pm_shader_key key = key_of(3);
    struct pm_error error;
    struct pm_storage_upload uploads[] = {{.game = "game", .id = id, .day = 5, .taken = 5},
                                          {.game = "game", .id = id, .day = 5, .taken = 5}};
    uint32_t space;

    assert_true(do_->begin_uploads(storage, uploads, 2, &error));
    assert_true(uploads[0].fresh);
    assert_false(uploads[1].fresh);
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 0);
    assert_true(pm_storage_put_space(storage, "game", &key, PM_KIND_BLOCK, 9, &error));
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 9);
    add_blob(storage, blob_key(1, 1, ""), "1");
    /* Readers see what is committed. */
    assert_blobs(storage, "game", "");
    do_->rollback(storage);

    assert_true(do_->begin_uploads(storage, uploads, 1, &error));
    assert_true(uploads[0].fresh);
    assert_true(do_->return_uploads(storage, uploads, 1, &error));
    do_->rollback(storage);
    assert_true(do_->begin_uploads(storage, uploads, 1, &error));
    assert_true(uploads[0].fresh);
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 0);
    assert_true(pm_storage_put_space(storage, "game", &key, PM_KIND_BLOCK, 10, &error));
    assert_true(do_->commit(storage, &error));
    assert_blobs(storage, "game", "");

    storage_place_reopen(place);
    storage = place->storage;
    assert_true(storage->operations->begin_uploads(storage, uploads, 1, &error));
    assert_false(uploads[0].fresh);
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_BLOCK, &space, &error));
    assert_int_equal(space, 10);
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_ZERO, &space, &error));
    assert_int_equal(space, 0);
    storage->operations->rollback(storage);
}

static void test_games(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_buffer all;
    struct pm_error error;
    assert_true(pm_storage_add_game(storage, "b", 2, &error));
    assert_true(pm_storage_add_game(storage, "a/\xc3\xa4", 1, &error));
    assert_true(pm_storage_add_game(storage, "b", 40, &error));
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

/* Is it known then? */
static bool name_scene(struct pm_storage *storage, const char *scene, uint32_t day, uint32_t most)
{
    struct pm_error error;
    struct pm_storage_scene one = {
        .game = "game", .name = scene, .uploads = 1, .day = day, .most = most};
    bool found;
    if (!storage->operations->add_scenes(storage, &one, 1, &error) ||
        !pm_storage_find_scene(storage, "game", scene, &found, &error))
        fail_msg("%s", error.message);
    assert_true(one.known == found);
    return found;
}

static void test_scenes(void **state)
{
    struct storage_place *place = *state;
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

static bool append_name(void *user, const struct pm_shader_key *key, const char *name,
                        struct pm_error *error)
{
    (void)error;
    return pm_buffer_printf(user, "%u=%s ", key->bytes[0], name);
}

static void assert_names(struct pm_storage *storage, const char *wanted)
{
    struct pm_buffer all;
    struct pm_error error;
    pm_buffer_init(&all, 1000);
    assert_true(storage->operations->read_names(storage, "game", append_name, &all, &error));
    assert_true(pm_buffer_append(&all, "", 1));
    assert_string_equal((char *)all.data, wanted);
    pm_buffer_finish(&all);
}

/* Of a shader the last one stands; they go with it, and with the game. */
static void test_names(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_shader_key first = {{1}}, second = {{2}};
    struct pm_error error;
    uint64_t blobs;
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    assert_names(storage, "");
    assert_true(storage->operations->put_name(storage, "game", &second, "water.frag", &error));
    assert_true(storage->operations->put_name(storage, "game", &first, "sky", &error));
    assert_true(storage->operations->put_name(storage, "game", &first, "l\xc3\xb6we", &error));
    assert_true(storage->operations->put_name(storage, "other", &first, "another's", &error));
    assert_names(storage, "1=l\xc3\xb6we 2=water.frag ");
    assert_true(storage->operations->drop(storage, "game", &first, &blobs, &error));
    assert_names(storage, "2=water.frag ");
    assert_true(storage->operations->drop(storage, "game", NULL, &blobs, &error));
    assert_names(storage, "");
}

static void test_drop(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    const struct pm_shader_key first = blob_key(1, 1, "").key;
    struct pm_buffer all, origins;
    struct pm_error error;
    uint64_t blobs;
    char etag[PM_ETAG_TEXT];
    pm_buffer_init(&all, 1000);
    pm_buffer_init(&origins, 1000);
    assert_true(pm_storage_add_game(storage, "game", 2, &error));
    assert_true(pm_storage_add_game(storage, "other", 1, &error));
    assert_true(pm_storage_put_space(storage, "game", &first, PM_KIND_BLOCK, 5, &error));
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
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    all.size = 0;
    assert_true(storage->operations->read_origins(storage, "game", append_origin, &all, &error));
    assert_int_equal(all.size, origins.size);
    assert_memory_not_equal(all.data, origins.data, origins.size);

    /* Nothing of it is left in the file. */
    storage_place_reopen(place);
    if (on_postgres()) {
        pm_buffer_finish(&all);
        pm_buffer_finish(&origins);
        return;
    }
    all.size = 0;
    all.cap = 1 << 22;
    assert_true(pm_file_read(place->path, &all, &error));
    assert_null(memmem(all.data, all.size, "SECRET", 6));
    pm_buffer_finish(&all);
    pm_buffer_finish(&origins);
}

static void test_merge_failure_is_told(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    const struct pm_storage_key key = blob_key(1, 1, "");
    add_blob(storage, key, "1");
    assert_true(storage->operations->begin(storage, &error));
    assert_false(pm_storage_add_blob(storage, &key, "x", 1, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, "no numbers"));
    assert_non_null(strstr(error.message, on_postgres() ? "postgresql://" : place->path));
    storage->operations->rollback(storage);
    add_blob(storage, key, "1");
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, storage_place_create, storage_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blobs_merge),  TEST(test_environments_are_kept_and_sorted),
        TEST(test_transactions), TEST(test_games),
        TEST(test_scenes),       TEST(test_names),
        TEST(test_drop),         TEST(test_merge_failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
