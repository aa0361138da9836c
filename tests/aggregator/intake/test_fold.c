/* Samples wait in the storage and are folded into statistics: each exactly once, whatever comes in
 * between. */
#include "aggregator/aggregator.h"
#include "aggregator/intake/samples.h"
#include "aggregator/statistics/statistics.h"
#include "base/file.h"
#include "tests/aggregator/support.h"
#include "tests/patience.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

enum { SHADERS = 40, SPACE = 30 };

struct place {
    char *folder, *path;
    struct pm_arena *arena;
    struct pm_random random;
    struct pm_statistics expected[SHADERS]; /* what a sum of all uploads, one by one, gives */
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    place->arena = pm_arena_create(0);
    pm_random_init(&place->random, 3);
    for (int i = 0; i < SHADERS; i++)
        pm_statistics_init(&place->expected[i]);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < SHADERS; i++)
        pm_statistics_finish(&place->expected[i]);
    pm_arena_destroy(place->arena);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static struct pm_aggregator *open_at(struct place *place, uint64_t samples_bytes, size_t fold_bytes)
{
    const struct pm_aggregator_info info = {
        .publish_all = true, .samples_bytes = samples_bytes, .fold_bytes = fold_bytes};
    struct pm_error error;
    struct pm_aggregator *aggregator = pm_aggregator_open(place->path, &info, &error);
    if (!aggregator)
        fail_msg("%s", error.message);
    return aggregator;
}

static struct pm_aggregator *open_with(struct place *place, uint64_t samples_bytes)
{
    return open_at(place, samples_bytes, 0);
}

static void ingest(struct pm_aggregator *aggregator, const struct pm_profile *profile)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest(aggregator, &profile, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

static void upload(struct place *place, struct pm_aggregator *aggregator)
{
    const struct pm_profile *profile =
        random_profile(place->arena, &place->random, "game", SHADERS, SPACE);
    struct pm_error error;
    ingest(aggregator, profile);
    for (int i = 0; i < SHADERS; i++)
        assert_true(pm_statistics_add_profile(&place->expected[i], &profile->shaders[i], &error));
}

/* ---- what the storage holds ---- */

struct found {
    struct pm_statistics sums[SHADERS];
};

static bool add_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                     struct pm_error *error)
{
    struct found *found = user;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    bool done = pm_statistics_decode(blob, size, &statistics, error);
    for (uint64_t i = 0; done && i < SHADERS; i++) {
        const struct pm_shader_key wanted = key_of(i);
        if (pm_shader_key_equal(&wanted, &key->key))
            done = pm_statistics_merge(&found->sums[i], &statistics, error);
    }
    pm_statistics_finish(&statistics);
    return done;
}

static bool count_rows(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                       struct pm_error *error)
{
    (void)game;
    (void)part;
    (void)rows;
    (void)error;
    *(uint64_t *)user += bytes;
    return true;
}

static uint64_t waiting(struct pm_aggregator *aggregator)
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    uint64_t bytes = 0;
    assert_true(storage->operations->list_samples(storage, NULL, count_rows, &bytes, NULL));
    return bytes;
}

static void assert_all_there(struct place *place, struct pm_aggregator *aggregator)
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    struct found found;
    struct pm_error error;
    for (int i = 0; i < SHADERS; i++)
        pm_statistics_init(&found.sums[i]);
    if (!storage->operations->read_game(storage, "game", NULL, add_blob, &found, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < SHADERS; i++) {
        struct pm_buffer left, right;
        pm_buffer_init(&left, 1 << 24);
        pm_buffer_init(&right, 1 << 24);
        assert_true(pm_statistics_encode(&found.sums[i], &left, &error));
        assert_true(pm_statistics_encode(&place->expected[i], &right, &error));
        assert_int_equal(left.size, right.size);
        assert_memory_equal(left.data, right.data, left.size);
        pm_buffer_finish(&left);
        pm_buffer_finish(&right);
        pm_statistics_finish(&found.sums[i]);
    }
}

/* ---- tests ---- */

static void test_waits_over_a_restart(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    struct pm_aggregator *aggregator = open_with(place, 0);
    for (int i = 0; i < 20; i++)
        upload(place, aggregator);
    assert_true(waiting(aggregator) > 0);
    pm_aggregator_destroy(aggregator);
    aggregator = open_with(place, 0);
    assert_true(waiting(aggregator) > 0);
    assert_true(pm_aggregator_fold(aggregator, "game", &error));
    assert_int_equal(waiting(aggregator), 0);
    assert_all_there(place, aggregator);
    /* Into blobs that are there, and of all games. */
    for (int i = 0; i < 20; i++)
        upload(place, aggregator);
    assert_true(pm_aggregator_fold(aggregator, NULL, &error));
    assert_int_equal(waiting(aggregator), 0);
    assert_all_there(place, aggregator);
    assert_true(pm_aggregator_fold(aggregator, NULL, &error));
    assert_true(pm_aggregator_fold(aggregator, "unknown", &error));
    assert_all_there(place, aggregator);
    pm_aggregator_destroy(aggregator);
}

/* Whoever adds folds, once twice as much waits as may. */
static void test_no_more_waits_than_may(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    const uint64_t limit = 100000;
    struct pm_aggregator *aggregator = open_with(place, limit);
    uint64_t most = 0;
    for (int i = 0; i < 100; i++) {
        upload(place, aggregator);
        const uint64_t now = waiting(aggregator);
        most = now > most ? now : most;
    }
    assert_in_range(most, limit, 2 * limit + 40000); /* and one upload */
    assert_true(pm_aggregator_fold_some(aggregator, &error));
    assert_in_range(waiting(aggregator), 1, limit);
    assert_true(pm_aggregator_fold(aggregator, "game", &error));
    assert_all_there(place, aggregator);
    pm_aggregator_destroy(aggregator);
}

/* Little memory: fewer rows at once, at least one. */
static void test_little_memory(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    static const size_t bytes[] = {1, 100000, 300000, 1000000};
    for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
        struct pm_aggregator *aggregator = open_at(place, 0, bytes[i]);
        for (int j = 0; j < 12; j++)
            upload(place, aggregator);
        if (!pm_aggregator_fold(aggregator, "game", &error))
            fail_msg("%s", error.message);
        assert_int_equal(waiting(aggregator), 0);
        assert_all_there(place, aggregator);
        pm_aggregator_destroy(aggregator);
    }
}

/* Points that take two bytes while they wait and hundreds when they are summed, each of another
 * shader than all others. */
static void upload_hostile(struct place *place, struct pm_aggregator *aggregator, uint64_t number)
{
    static struct pm_point_counts points[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        points[i] = block_counts(i, UINT64_C(1) << 62, UINT64_C(1) << 62);
        points[i].counts[1] = points[i].counts[0];
        points[i].counts[2] = points[i].entry_subgroups;
    }
    const struct pm_shader_profile shader =
        block_shader(place->arena, 1000 + number, 1000, points, 1000);
    ingest(aggregator, profile_of(place->arena, &place->random, "hostile", &shader, 1));
}

static void test_hostile_samples(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    struct pm_aggregator *aggregator = open_at(place, 10000, 1 << 20);
    uint64_t most = 0;
    for (uint64_t i = 0; i < 30; i++) {
        upload_hostile(place, aggregator, i);
        most = waiting(aggregator) > most ? waiting(aggregator) : most;
    }
    assert_in_range(most, 10000, 24000); /* one more than twice as much as may */
    upload(place, aggregator);
    if (!pm_aggregator_fold_some(aggregator, &error) ||
        !pm_aggregator_curate(aggregator, "hostile", &error))
        fail_msg("%s", error.message);
    assert_true(pm_aggregator_fold(aggregator, "game", &error));
    assert_all_there(place, aggregator);
    pm_aggregator_destroy(aggregator);
}

/* Samples of a shader whose statistics are damaged, which therefore cannot be folded: bytes. */
static size_t store_stuck(struct place *place, size_t bytes)
{
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, 5000, 1, &point, 1);
    const struct pm_storage_key key = {.game = "damaged",
                                       .scene = "",
                                       .key = shader.key,
                                       .environment = shader.environment,
                                       .kind = shader.kind,
                                       .day = 1u << 30};
    struct pm_aggregator *aggregator = open_with(place, 0);
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    struct pm_buffer samples;
    struct pm_error error;
    pm_buffer_init(&samples, 2 * bytes);
    while (samples.size < bytes)
        assert_true(pm_sample_append(&samples, "", &shader, NULL));
    const struct pm_storage_samples row = {.game = key.game,
                                           .part = PM_SAMPLE_MIXED,
                                           .day = key.day,
                                           .data = samples.data,
                                           .size = samples.size};
    assert_true(pm_storage_add_blob(storage, &key, "x", 1, &error) &&
                storage->operations->add_samples(storage, &row, 1, &error));
    pm_buffer_finish(&samples);
    pm_aggregator_destroy(aggregator);
    return row.size;
}

/* What cannot be folded stays, and holds up nobody else. */
static void test_stuck_samples(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    const uint64_t limit = 100000;
    const size_t stuck = store_stuck(place, 200000);

    struct pm_aggregator *aggregator = open_with(place, limit);
    for (int i = 0; i < 60; i++) {
        upload(place, aggregator);
        if (!pm_aggregator_fold_some(aggregator, &error))
            fail_msg("%s", error.message);
        assert_in_range(waiting(aggregator), stuck, stuck + 2 * limit);
    }
    assert_true(pm_aggregator_fold(aggregator, "game", &error));
    assert_int_equal(waiting(aggregator), stuck);
    assert_all_there(place, aggregator);
    assert_false(pm_aggregator_fold(aggregator, "damaged", &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_aggregator_destroy(aggregator);
}

struct folder {
    struct pm_aggregator *aggregator;
    pthread_t thread;
    bool done;
    struct pm_error error;
};

static void *fold_often(void *user)
{
    struct folder *folder = user;
    folder->done = true;
    for (int i = 0; folder->done && i < 20; i++)
        folder->done = pm_aggregator_fold(folder->aggregator, "game", &folder->error);
    return NULL;
}

/* Two processes, as far as the storage can tell, fold what a third thread adds. */
static void test_folded_by_two(void **state)
{
    struct place *place = *state;
    struct folder folders[2] = {{.aggregator = open_with(place, 0)},
                                {.aggregator = open_with(place, 0)}};
    for (int i = 0; i < 2; i++)
        pthread_create(&folders[i].thread, NULL, fold_often, &folders[i]);
    for (int i = 0; i < 60; i++)
        upload(place, folders[i % 2].aggregator);
    for (int i = 0; i < 2; i++) {
        pthread_join(folders[i].thread, NULL);
        if (!folders[i].done)
            fail_msg("%s", folders[i].error.message);
    }
    assert_true(pm_aggregator_fold(folders[0].aggregator, "game", &folders[0].error));
    assert_all_there(place, folders[1].aggregator);
    for (int i = 0; i < 2; i++)
        pm_aggregator_destroy(folders[i].aggregator);
}

/* Samples of a number of points that turned out to be wrong are left out. */
static void test_a_space_that_was_a_lie(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    struct pm_aggregator *aggregator = open_with(place, 0);
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    const struct pm_shader_key key = key_of(0);
    upload(place, aggregator);
    assert_true(storage->operations->replace_space(storage, "game", &key, PM_KIND_BLOCK, SPACE + 1,
                                                   &error));
    assert_true(pm_aggregator_fold(aggregator, "game", &error));
    assert_int_equal(waiting(aggregator), 0);
    struct found found = {0};
    assert_true(storage->operations->read_game(storage, "game", NULL, add_blob, &found, &error));
    for (int i = 0; i < SHADERS; i++) {
        assert_int_equal(found.sums[i].space, i == 0 ? 0 : SPACE);
        pm_statistics_finish(&found.sums[i]);
    }
    pm_aggregator_destroy(aggregator);
}

/* A game that was dropped takes what waits with it. */
static void test_dropped_while_it_waits(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    uint64_t blobs;
    struct pm_aggregator *aggregator = open_with(place, 0);
    upload(place, aggregator);
    assert_true(pm_aggregator_drop(aggregator, "game", NULL, &blobs, &error));
    assert_int_equal(waiting(aggregator), 0);
    for (int i = 0; i < SHADERS; i++)
        pm_statistics_finish(&place->expected[i]);
    upload(place, aggregator);
    assert_true(pm_aggregator_fold(aggregator, "game", &error));
    assert_all_there(place, aggregator);
    pm_aggregator_destroy(aggregator);
}

/* Are these bytes in the file? */
static bool has(const char *path, const void *bytes, size_t size)
{
    struct pm_buffer file;
    struct pm_error error;
    pm_buffer_init(&file, (size_t)64 << 20);
    if (!pm_file_read(path, &file, &error))
        fail_msg("%s", error.message);
    const bool found = file.size > 0 && memmem(file.data, file.size, bytes, size) != NULL;
    pm_buffer_finish(&file);
    return found;
}

/* What is dropped is neither in the file nor in the log, while both are in use. */
static void test_dropped_is_overwritten(void **state)
{
    struct place *place = *state;
    const struct pm_shader_key key = key_of(0);
    char *log = join(place->folder, "test.db-wal");
    struct pm_error error;
    uint64_t blobs;
    for (int folded = 0; folded < 2; folded++) {
        struct pm_aggregator *aggregator = open_with(place, 0);
        upload(place, aggregator);
        if (folded)
            assert_true(pm_aggregator_curate(aggregator, "game", &error));
        assert_true(has(log, key.bytes, sizeof(key.bytes)));
        assert_true(pm_aggregator_drop(aggregator, "game", NULL, &blobs, &error));
        assert_false(has(log, key.bytes, sizeof(key.bytes)));
        if (!folded) /* else the samples' own pages became free when they were folded */
            assert_false(has(place->path, key.bytes, sizeof(key.bytes)));
        pm_aggregator_destroy(aggregator);
    }
    free(log);
}

/* An upload comes between the fold with which `db drop --shader` begins and its transaction. */
static struct {
    struct place *place;
    struct pm_aggregator *server;
    const struct pm_storage_operations *real;
} between;

static bool begin_late(struct pm_storage *storage, struct pm_error *error)
{
    if (between.server)
        upload(between.place, between.server);
    between.server = NULL;
    return between.real->begin(storage, error);
}

static void test_shader_dropped_beside_a_server(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    uint64_t blobs;
    const struct pm_shader_key key = key_of(7);
    struct pm_aggregator *server = open_with(place, 0), *tool = open_with(place, 0);
    struct pm_storage *storage = pm_aggregator_storage(tool);
    struct pm_storage_operations late = *storage->operations;
    upload(place, server);
    between.place = place;
    between.server = server;
    between.real = storage->operations;
    late.begin = begin_late;
    storage->operations = &late;
    if (!pm_aggregator_drop(tool, "game", &key, &blobs, &error))
        fail_msg("%s", error.message);
    storage->operations = between.real;
    assert_int_equal(blobs, 1);
    assert_true(pm_aggregator_fold(server, "game", &error));
    pm_statistics_finish(&place->expected[7]);
    struct found found = {0};
    assert_true(storage->operations->read_game(storage, "game", NULL, add_blob, &found, &error));
    for (int i = 0; i < SHADERS; i++) {
        assert_int_equal(found.sums[i].space, i == 7 ? 0 : SPACE);
        pm_statistics_finish(&found.sums[i]);
    }
    /* It may have another number of points from now on. */
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, 7, SPACE + 9, &point, 1);
    ingest(server, profile_of(place->arena, &place->random, "game", &shader, 1));
    assert_true(pm_statistics_add_profile(&place->expected[7], &shader, &error));
    assert_true(pm_aggregator_fold(server, "game", &error));
    assert_all_there(place, server);
    assert_true(pm_aggregator_curate(server, "game", &error));
    pm_aggregator_destroy(tool);
    pm_aggregator_destroy(server);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_waits_over_a_restart),
        TEST(test_no_more_waits_than_may),
        TEST(test_little_memory),
        TEST(test_hostile_samples),
        TEST(test_stuck_samples),
        TEST(test_folded_by_two),
        TEST(test_shader_dropped_beside_a_server),
        TEST(test_a_space_that_was_a_lie),
        TEST(test_dropped_while_it_waits),
        TEST(test_dropped_is_overwritten),
    };
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
