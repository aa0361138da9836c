/* Importing another storage's statistics, forgetting, and databases of scenes. */
#include "aggregator/aggregator.h"

#include "aggregator/statistics/statistics.h"
#include "tests/aggregator/support.h"
#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 3 }; /* two that are fed apart, and one that gets everything */

struct place {
    char *folder, *paths[SITES];
    struct pm_aggregator *sites[SITES];
    struct pm_arena *arena;
    struct pm_random random;
};

static struct pm_aggregator *open_or_fail(const char *path)
{
    struct pm_error error;
    const struct pm_aggregator_info info = {.publish_all = true, .scenes = 2};
    struct pm_aggregator *aggregator = pm_aggregator_open(path, &info, &error);
    if (!aggregator)
        fail_msg("%s", error.message);
    return aggregator;
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    for (int i = 0; i < SITES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d.db", i);
        place->paths[i] = join(place->folder, name);
        place->sites[i] = open_or_fail(place->paths[i]);
    }
    place->arena = pm_arena_create(0);
    pm_random_init(&place->random, 42);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < SITES; i++) {
        pm_aggregator_destroy(place->sites[i]);
        free(place->paths[i]);
    }
    pm_arena_destroy(place->arena);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static void store(struct pm_aggregator *aggregator, const struct pm_profile *profile)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest(aggregator, &profile, 1, &outcome, &error))
        fail_msg("%s", error.message);
    if (outcome.result != PM_INGEST_STORED)
        fail_msg("result %d, \"%s\"", (int)outcome.result, outcome.reason.message);
}

static bool append_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                        struct pm_error *error)
{
    (void)error;
    return pm_buffer_append(user, key->key.bytes, sizeof(key->key.bytes)) &&
           pm_buffer_append(user, &key->environment, sizeof(key->environment)) &&
           pm_buffer_printf(user, "%d %u %u %s ", (int)key->kind, key->flags, key->day,
                            key->scene) &&
           pm_buffer_append(user, blob, size);
}

static bool append_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    (void)error;
    return pm_buffer_printf(user, "%s=%llu ", game, (unsigned long long)uploads);
}

static bool append_name(void *user, const struct pm_shader_key *key, const char *name,
                        struct pm_error *error)
{
    (void)error;
    return pm_buffer_append(user, key->bytes, sizeof(key->bytes)) &&
           pm_buffer_printf(user, "%s ", name);
}

/* All that is known of a game, byte by byte. */
static struct pm_buffer all_of(struct pm_aggregator *aggregator, const char *game)
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    struct pm_buffer all;
    struct pm_error error;
    pm_buffer_init(&all, 1 << 26);
    if (!pm_aggregator_fold(aggregator, game, &error) ||
        !storage->operations->list_games(storage, append_game, &all, &error) ||
        !storage->operations->read_game(storage, game, NULL, append_blob, &all, &error) ||
        !storage->operations->read_names(storage, game, append_name, &all, &error))
        fail_msg("%s", error.message);
    return all;
}

static void assert_same(struct pm_aggregator *a, struct pm_aggregator *b, bool same)
{
    struct pm_buffer left = all_of(a, "game"), right = all_of(b, "game");
    assert_true((left.size == right.size && memcmp(left.data, right.data, left.size) == 0) == same);
    pm_buffer_finish(&left);
    pm_buffer_finish(&right);
}

static bool import(struct place *place, int into, int from, struct pm_error *error)
{
    struct pm_imported imported;
    return pm_aggregator_import(place->sites[into], place->sites[from], "game", &imported, error);
}

static void must_import(struct place *place, int into, int from)
{
    struct pm_error error;
    if (!import(place, into, from, &error))
        fail_msg("%s", error.message);
}

static void must_not_import(struct place *place, int into, int from, enum pm_code code,
                            const char *what)
{
    struct pm_error error;
    struct pm_buffer before = all_of(place->sites[into], "game");
    assert_false(import(place, into, from, &error));
    if (error.code != code || !strstr(error.message, what))
        fail_msg("code %d, \"%s\"", (int)error.code, error.message);
    struct pm_buffer after = all_of(place->sites[into], "game");
    assert_int_equal(before.size, after.size);
    if (before.size > 0)
        assert_memory_equal(before.data, after.data, before.size);
    pm_buffer_finish(&before);
    pm_buffer_finish(&after);
}

/* ---- import ---- */

static void test_sums_are_exact(void **state)
{
    struct place *place = *state;
    static const char *const scenes[] = {"", "cave", "sky"};
    for (uint32_t i = 0; i < 60; i++) {
        struct pm_profile *profile =
            random_profile(place->arena, &place->random, "game", 1 + i % 5, i % 3 == 0 ? 41 : 1);
        for (size_t j = 0; j < profile->shader_count; j++) /* a shader has one space */
            ((struct pm_shader_profile *)(uintptr_t)&profile->shaders[j])->key =
                key_of(j + (i % 3 == 0 ? 100 : 0));
        profile->scene = scenes[i % 3];
        store(place->sites[i % 2], profile);
        store(place->sites[2], profile);
    }
    const struct pm_shader_key named = key_of(3);
    struct pm_error error;
    for (int site = 1; site < 3; site++)
        assert_true(pm_aggregator_name_shader(place->sites[site], "game", &named, "sky", &error));
    assert_false(pm_aggregator_name_shader(place->sites[1], "game", &named, "two\nlines", &error));
    assert_same(place->sites[0], place->sites[2], false);
    must_import(place, 0, 1);
    assert_same(place->sites[0], place->sites[2], true);
    must_not_import(place, 0, 1, PM_ERROR_STATE, "already");
    must_not_import(place, 0, 0, PM_ERROR_STATE, "already");
    /* Also not by a detour. */
    must_not_import(place, 1, 0, PM_ERROR_STATE, "already");
}

static void store_one(struct place *place, int site, uint64_t shader, uint32_t space)
{
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile one = block_shader(place->arena, shader, space, &point, 1);
    store(place->sites[site], profile_of(place->arena, &place->random, "game", &one, 1));
}

static void test_import_is_whole_or_not_at_all(void **state)
{
    struct place *place = *state;
    must_not_import(place, 0, 1, PM_ERROR_STATE, "not known there");
    store_one(place, 0, 2, 3);
    store_one(place, 1, 1, 3);
    store_one(place, 1, 2, 4); /* sorts anywhere */
    store_one(place, 1, 3, 3);
    must_not_import(place, 0, 1, PM_ERROR_INPUT, "4 points there and 3 here");
    uint64_t blobs;
    struct pm_error error;
    const struct pm_shader_key key = key_of(2);
    assert_true(pm_aggregator_drop(place->sites[1], "game", &key, &blobs, &error));
    must_import(place, 0, 1);
    /* The spaces came along. */
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile other = block_shader(place->arena, 1, 9, &point, 1);
    const struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &other, 1);
    struct pm_ingest_outcome outcome;
    assert_true(pm_aggregator_ingest(place->sites[0], &profile, 1, &outcome, &error));
    assert_int_equal(outcome.result, PM_INGEST_REFUSED);
}

/* A blob of one point, under any key. */
static void plant(struct place *place, int site, const struct pm_storage_key *key, uint32_t space)
{
    struct pm_storage *storage = pm_aggregator_storage(place->sites[site]);
    const struct pm_point_counts point = block_counts(0, 8, 4);
    struct pm_shader_profile shader = block_shader(place->arena, 1, space, &point, 1);
    struct pm_statistics statistics;
    struct pm_buffer blob;
    struct pm_error error;
    pm_buffer_init(&blob, 1 << 16);
    pm_statistics_init(&statistics);
    assert_true(pm_statistics_add_profile(&statistics, &shader, &error));
    assert_true(pm_statistics_encode(&statistics, &blob, &error));
    assert_true(pm_storage_add_blob(storage, key, blob.data, blob.size, &error));
    pm_statistics_finish(&statistics);
    pm_buffer_finish(&blob);
}

/* Files that no aggregator wrote. */
static void test_hostile_files_are_refused(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    uint64_t blobs;
    const struct pm_storage_key good = {.game = "game",
                                        .scene = "",
                                        .key = key_of(3),
                                        .environment = {.subgroup_size = 8},
                                        .kind = PM_KIND_BLOCK,
                                        .day = 1};
    struct pm_storage *from = pm_aggregator_storage(place->sites[1]);
    struct {
        struct pm_storage_key key;
        const char *what;
    } bad[5];
    for (size_t i = 0; i < 5; i++)
        bad[i].key = good;
    bad[0].key.scene = "a\nb";
    bad[0].what = "scene";
    bad[1].key.environment.subgroup_size = 7;
    bad[1].what = "subgroup_size";
    bad[2].key.flags = 1u << 30;
    bad[2].what = "flags";
    bad[3].key.kind = PM_KIND_ZERO;
    bad[3].what = "another kind";
    bad[4].key.day = 4000000;
    bad[4].what = "yet to come";
    store_one(place, 0, 1, 3);
    for (size_t i = 0; i < 5; i++) {
        store_one(place, 1, 2, 3);
        plant(place, 1, &bad[i].key, 3);
        must_not_import(place, 0, 1, PM_ERROR_INPUT, bad[i].what);
        assert_true(pm_aggregator_drop(place->sites[1], "game", NULL, &blobs, &error));
    }
    store_one(place, 1, 2, 3);
    assert_true(pm_storage_add_blob(from, &good, "PMst\x01\x01\xff", 7, &error));
    must_not_import(place, 0, 1, PM_ERROR_INPUT, "byte");

    /* Of two spaces, in two environments. */
    assert_true(pm_aggregator_drop(place->sites[1], "game", NULL, &blobs, &error));
    store_one(place, 1, 2, 3);
    struct pm_storage_key other = good;
    other.environment.subgroup_size = 16;
    plant(place, 1, &good, 3);
    plant(place, 1, &other, 4);
    must_not_import(place, 0, 1, PM_ERROR_INPUT, "3 and 4 points there");
    assert_true(pm_aggregator_drop(place->sites[1], "game", NULL, &blobs, &error));
    store_one(place, 1, 2, 3);
    plant(place, 1, &good, 3);
    must_import(place, 0, 1);

    assert_true(pm_storage_add_game(from, "a\tgame", 1, &error));
    struct pm_imported imported;
    assert_false(
        pm_aggregator_import(place->sites[0], place->sites[1], "a\tgame", &imported, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
}

static void test_imported_again_after_drop(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    uint64_t blobs;
    store_one(place, 1, 1, 3);
    must_import(place, 0, 1);
    assert_true(pm_aggregator_drop(place->sites[1], "game", NULL, &blobs, &error));
    assert_int_equal(blobs, 1);
    store_one(place, 1, 1, 3);
    must_import(place, 0, 1);
    store_one(place, 2, 1, 3);
    store_one(place, 2, 1, 3);
    assert_same(place->sites[0], place->sites[2], true);
    assert_false(pm_aggregator_drop(place->sites[1], "other", NULL, &blobs, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    const struct pm_shader_key key = key_of(9);
    assert_false(pm_aggregator_drop(place->sites[1], "game", &key, &blobs, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
}

/* ---- databases ---- */

static struct pm_database database(struct place *place, const struct pm_publication *publication,
                                   char etag[static PM_ETAG_TEXT])
{
    struct pm_database found;
    struct pm_buffer body, plain;
    struct pm_error error;
    pm_buffer_init(&body, 1 << 24);
    pm_buffer_init(&plain, 1 << 24);
    if (!pm_aggregator_publication(place->sites[0], publication, etag, &body, &error) ||
        !pm_decompress(body.data, body.size, &plain, &error) ||
        !pm_database_decode(plain.data, plain.size, place->arena, &found, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&body);
    pm_buffer_finish(&plain);
    return found;
}

static void curate(struct place *place)
{
    struct pm_error error;
    if (!pm_aggregator_curate(place->sites[0], "game", &error))
        fail_msg("%s", error.message);
}

/* The frequency of the only point of the only shader. */
static double frequency(const struct pm_database *found)
{
    assert_int_equal(found->shader_count, 1);
    return found->shaders[0].points[0].measures[PM_MEASURE_FREQUENCY].ratio;
}

static void store_scene(struct place *place, const char *scene, uint64_t lanes)
{
    const struct pm_point_counts point = block_counts(0, 8, lanes);
    const struct pm_shader_profile one = block_shader(place->arena, 1, 1, &point, 1);
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &one, 1);
    profile->scene = scene;
    store(place->sites[0], profile);
}

static void test_scenes(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT], first[PM_ETAG_TEXT], none[PM_ETAG_TEXT];
    struct pm_publication all = {.game = "game", .scene = ""},
                          cave = {.game = "game", .scene = "cave"},
                          sky = {.game = "game", .scene = "sky"},
                          forest = {.game = "game", .scene = "forest"};
    struct pm_error error;
    struct pm_database found;
    store_scene(place, "cave", 2);
    store_scene(place, "sky", 6);
    store_scene(place, "", 1);
    curate(place);
    found = database(place, &cave, first);
    assert_true(frequency(&found) == 0.25);
    found = database(place, &sky, etag);
    assert_true(frequency(&found) == 0.75);
    found = database(place, &all, etag);
    assert_true(frequency(&found) == 0.375);
    assert_false(pm_aggregator_publication(place->sites[0], &forest, none, NULL, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);

    assert_true(
        pm_aggregator_estimates(place->sites[0], "game", "sky", place->arena, &found, &error));
    assert_true(frequency(&found) == 0.75);
    assert_true(
        pm_aggregator_estimates(place->sites[0], "game", "no such", place->arena, &found, &error));
    assert_int_equal(found.shader_count, 0);

    /* What changes becomes a new version, and what was there the previous one; what does not change
     * stays, and so does its previous one. */
    cave.previous = sky.previous = true;
    assert_false(pm_aggregator_publication(place->sites[0], &cave, none, NULL, &error));
    store_scene(place, "cave", 4);
    curate(place);
    curate(place);
    found = database(place, &cave, etag);
    assert_string_equal(etag, first);
    assert_true(frequency(&found) == 0.25);
    cave.previous = false;
    found = database(place, &cave, etag);
    assert_true(frequency(&found) == 0.375);
    assert_false(pm_aggregator_publication(place->sites[0], &sky, none, NULL, &error));

    /* Two scenes at most: the third is named as often as they are, and sorts between. */
    store_scene(place, "forest", 4);
    store_scene(place, "forest", 4);
    store_scene(place, "sky", 4);
    curate(place);
    assert_false(pm_aggregator_publication(place->sites[0], &sky, none, NULL, &error));
    found = database(place, &forest, etag);
    assert_true(frequency(&found) == 0.5);
}

static void test_drop_shader(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    const struct pm_publication all = {.game = "game", .scene = ""};
    const struct pm_shader_key key = key_of(1);
    struct pm_error error;
    uint64_t blobs;
    store_one(place, 0, 1, 1);
    store_one(place, 0, 2, 1);
    curate(place);
    assert_int_equal(database(place, &all, etag).shader_count, 2);
    assert_true(pm_aggregator_drop(place->sites[0], "game", &key, &blobs, &error));
    assert_int_equal(blobs, 1);
    /* It is curated at once. */
    const struct pm_database found = database(place, &all, etag);
    assert_int_equal(found.shader_count, 1);
    const struct pm_shader_key left = key_of(2);
    assert_true(pm_shader_key_equal(&found.shaders[0].key, &left));
    /* The number of points may now be another. */
    store_one(place, 0, 1, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sums_are_exact),
        TEST(test_import_is_whole_or_not_at_all),
        TEST(test_hostile_files_are_refused),
        TEST(test_imported_again_after_drop),
        TEST(test_scenes),
        TEST(test_drop_shader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
