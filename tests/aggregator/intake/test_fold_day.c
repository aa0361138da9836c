/* What waits under marks of a day becomes one cluster of each token, exactly, however much it is
 * and in whatever order it came. */
#include "aggregator/aggregator.h"
#include "aggregator/intake/samples.h"
#include "aggregator/statistics/statistics.h"
#include "tests/aggregator/place.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { SHADERS = 40, SPACE = 120, GROUP = 5, TIMES = 2 };

static int set_up(void **state)
{
    struct place *place = place_create(5);
    place->now = INT64_C(20000) * DAY + 1000;
    place->keeping.token_clusters = PM_TOKEN_CLUSTERS;
    place->keeping.min_tokens = PM_MIN_TOKENS;
    place_open(place);
    *state = place;
    return 0;
}

static struct pm_ingest_source token(uint64_t number)
{
    struct pm_ingest_source source = {0};
    const uint64_t words[2] = {pm_random_mix(number), number};
    memcpy(source.digest, words, sizeof(source.digest));
    return source;
}

/* The sums that are expected, and those of the storage. */
struct sums {
    struct pm_statistics of[SHADERS];
};

static void sums_finish(struct sums *sums)
{
    for (size_t i = 0; i < SHADERS; i++)
        pm_statistics_finish(&sums->of[i]);
}

static bool add_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                     struct pm_error *error)
{
    struct sums *found = user;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    bool done = pm_statistics_decode(blob, size, &statistics, error);
    for (uint64_t i = 0; done && i < SHADERS; i++) {
        const struct pm_shader_key wanted = key_of(i);
        if (pm_shader_key_equal(&wanted, &key->key))
            done = pm_statistics_merge(&found->of[i], &statistics, error);
    }
    pm_statistics_finish(&statistics);
    return done;
}

static void assert_same(const struct pm_statistics *a, const struct pm_statistics *b)
{
    struct pm_buffer left, right;
    struct pm_error error;
    pm_buffer_init(&left, 1 << 24);
    pm_buffer_init(&right, 1 << 24);
    assert_true(pm_statistics_encode(a, &left, &error));
    assert_true(pm_statistics_encode(b, &right, &error));
    assert_int_equal(left.size, right.size);
    assert_memory_equal(left.data, right.data, left.size);
    pm_buffer_finish(&left);
    pm_buffer_finish(&right);
}

static bool add_bytes(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                      struct pm_error *error)
{
    uint64_t *most = user;
    (void)game;
    (void)part;
    (void)rows;
    (void)error;
    *most = bytes > *most ? bytes : *most;
    return true;
}

/* Each of the tokens sends that often, one after the other; sums: gets each one's merged counts. */
static void send_all(struct place *place, unsigned tokens, struct sums *sums)
{
    const struct pm_profile **profiles = calloc((size_t)tokens * TIMES, sizeof(*profiles));
    struct pm_ingest_source *sources = calloc(tokens, sizeof(*sources));
    struct pm_error error;
    assert_true(profiles && sources);
    for (unsigned i = 0; i < tokens; i++)
        sources[i] = token(i);
    for (unsigned i = 0; i < tokens * TIMES; i++)
        profiles[i] = random_profile(place->arena, &place->random, "game", SHADERS, SPACE);
    for (unsigned at = 0; at < tokens * TIMES; at += GROUP) {
        const struct pm_ingest_source *from[GROUP];
        struct pm_ingest_outcome outcomes[GROUP];
        const unsigned left = tokens * TIMES - at, count = left < GROUP ? left : GROUP;
        for (unsigned i = 0; i < count; i++)
            from[i] = &sources[(at + i) % tokens];
        if (!pm_aggregator_ingest_from(place->aggregator, profiles + at, from, count, outcomes,
                                       &error))
            fail_msg("%s", error.message);
    }
    for (unsigned i = 0; i < tokens; i++) {
        struct pm_profile_merge *merge = pm_profile_merge_create();
        size_t count;
        for (unsigned j = 0; j < TIMES; j++)
            assert_true(pm_profile_merge_add(merge, profiles[j * tokens + i], &error));
        const struct pm_shader_profile *shaders = pm_profile_merge_shaders(merge, &count);
        for (size_t j = 0; j < count; j++) {
            for (uint64_t k = 0; k < SHADERS; k++) {
                const struct pm_shader_key key = key_of(k);
                if (pm_shader_key_equal(&key, &shaders[j].key))
                    assert_true(pm_statistics_add_profile(&sums->of[k], &shaders[j], &error));
            }
        }
        pm_profile_merge_destroy(merge);
    }
    free(profiles);
    free(sources);
}

static void assert_folds_to(struct place *place, struct sums *expected)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct sums found = {0};
    struct pm_error error;
    place->now += DAY;
    assert_true(pm_aggregator_fold(place->aggregator, "game", &error));
    assert_int_equal(place_rows_that_wait(place), 0);
    assert_true(storage->operations->read_game(storage, "game", NULL, add_blob, &found, &error));
    for (size_t i = 0; i < SHADERS; i++) {
        assert_int_equal(found.of[i].space, expected->of[i].space);
        if (found.of[i].space > 0)
            assert_same(&found.of[i], &expected->of[i]);
    }
    sums_finish(&found);
}

/* In one row for all shaders. */
static void test_few(void **state)
{
    struct place *place = *state;
    struct sums expected = {0};
    send_all(place, 3, &expected);
    assert_folds_to(place, &expected);
    sums_finish(&expected);
}

/* More than is looked at together. */
static void test_many(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct sums expected = {0};
    uint64_t most = 0;
    /* A group is too small to be split into parts. */
    send_all(place, 240, &expected);
    assert_true(storage->operations->list_samples(storage, "game", add_bytes, &most, NULL));
    assert_true(most > (uint64_t)8 << 20);
    assert_folds_to(place, &expected);
    sums_finish(&expected);
}

/* A shader that is forgotten while it waits; the others keep their marks. */
static void test_forgotten_while_it_waits(void **state)
{
    struct place *place = *state;
    struct sums expected = {0};
    const struct pm_shader_key key = key_of(7);
    struct pm_error error;
    uint64_t blobs;
    send_all(place, 3, &expected);
    place->now += DAY;
    assert_true(pm_aggregator_fold(place->aggregator, "game", &error));
    place->now += DAY;
    send_all(place, 3, &expected);
    if (!pm_aggregator_drop(place->aggregator, "game", &key, &blobs, &error))
        fail_msg("%s", error.message);
    assert_int_equal(blobs, 1);
    pm_statistics_finish(&expected.of[7]);
    assert_folds_to(place, &expected);
    sums_finish(&expected);
}

/* One that was met first today, of which all waits. */
static void test_forgotten_on_its_first_day(void **state)
{
    struct place *place = *state;
    struct sums expected = {0};
    const struct pm_shader_key key = key_of(7);
    struct pm_error error;
    uint64_t samples;
    send_all(place, 3, &expected);
    if (!pm_aggregator_drop(place->aggregator, "game", &key, &samples, &error))
        fail_msg("%s", error.message);
    assert_true(samples > 0);
    assert_false(pm_aggregator_drop(place->aggregator, "game", &key, &samples, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    pm_statistics_finish(&expected.of[7]);
    assert_folds_to(place, &expected);
    sums_finish(&expected);
}

/* Players of one group who have nothing but the shader that is forgotten, and others after them. */
static void test_forgotten_beside_others(void **state)
{
    enum { PLAYERS = 40 };
    struct place *place = *state;
    struct sums expected = {0};
    const struct pm_profile *profiles[PLAYERS];
    struct pm_ingest_source sources[PLAYERS];
    const struct pm_ingest_source *from[PLAYERS];
    struct pm_ingest_outcome outcomes[PLAYERS];
    const struct pm_shader_key key = key_of(2);
    const struct pm_point_counts point = block_counts(0, 64, 32);
    struct pm_error error;
    uint64_t samples;
    for (unsigned i = 0; i < PLAYERS; i++) {
        const struct pm_shader_profile shader =
            block_shader(place->arena, i < PLAYERS / 2 ? 2 : 1, 1, &point, 1);
        sources[i] = token(i);
        from[i] = &sources[i];
        profiles[i] = place_profile(place, &shader);
        if (i >= PLAYERS / 2)
            assert_true(pm_statistics_add_profile(&expected.of[1], &shader, &error));
    }
    if (!pm_aggregator_ingest_from(place->aggregator, profiles, from, PLAYERS, outcomes, &error) ||
        !pm_aggregator_drop(place->aggregator, "game", &key, &samples, &error))
        fail_msg("%s", error.message);
    assert_int_equal(samples, PLAYERS / 2);
    assert_folds_to(place, &expected);
    sums_finish(&expected);
}

/* ---- much, and what cannot be ---- */

/* The sums are more than may be kept before they are written. */
static void test_sums_do_not_fit(void **state)
{
    struct place *place = *state;
    struct sums expected = {0};
    place->keeping.fold_bytes = 4096;
    place_open(place);
    send_all(place, 3, &expected);
    assert_folds_to(place, &expected);
    sums_finish(&expected);
}

static bool check_hot(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                      struct pm_error *error)
{
    unsigned *blobs = user;
    struct pm_statistics statistics;
    (void)key;
    pm_statistics_init(&statistics);
    assert_true(pm_statistics_decode(blob, size, &statistics, error));
    assert_int_equal(statistics.count, statistics.space);
    for (size_t i = 0; i < statistics.count; i++)
        assert_int_equal(statistics.points[i].sessions, 11);
    pm_statistics_finish(&statistics);
    ++*blobs;
    return true;
}

/* A day of one shader that has more points than fit into an arena, once they are decoded. */
static void test_hot_shader(void **state)
{
    enum { SIZES = 8, PLAYERS = 11, POINTS = 1 << 16 };
    struct place *place = *state;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct pm_shader_profile shaders[SIZES];
    struct pm_point_counts *points = calloc(POINTS, sizeof(*points));
    unsigned blobs = 0;
    struct pm_error error;
    assert_non_null(points);
    for (uint32_t i = 0; i < POINTS; i++)
        points[i] = (struct pm_point_counts){
            .point = i, .calls = 1, .entry_lanes = 1, .entry_subgroups = 1};
    for (unsigned i = 0; i < SIZES; i++) {
        shaders[i] = block_shader(place->arena, 7, POINTS, NULL, 0);
        shaders[i].points = points;
        shaders[i].point_count = POINTS;
        shaders[i].environment.subgroup_size = 1u << i;
    }
    for (unsigned i = 0; i < PLAYERS; i++) {
        struct pm_profile profile = *profile_of(place->arena, &place->random, "game", shaders, 0);
        const struct pm_profile *profiles = &profile;
        const struct pm_ingest_source source = token(i), *sources = &source;
        struct pm_ingest_outcome outcome;
        profile.shaders = shaders;
        profile.shader_count = SIZES;
        if (!pm_aggregator_ingest_from(place->aggregator, &profiles, &sources, 1, &outcome, &error))
            fail_msg("%s", error.message);
        assert_int_equal(outcome.result, PM_INGEST_STORED);
    }
    place->now += DAY;
    if (!pm_aggregator_fold(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
    assert_int_equal(place_rows_that_wait(place), 0);
    assert_true(storage->operations->read_game(storage, "game", NULL, check_hot, &blobs, &error));
    assert_int_equal(blobs, SIZES);
    free(points);
}

/* A storage of which some function is another. */
static const struct pm_storage_operations *real;
static struct pm_storage_operations changed;

static struct pm_storage_operations *change(struct place *place)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    real = storage->operations;
    changed = *real;
    storage->operations = &changed;
    return &changed;
}

static void change_back(struct place *place)
{
    pm_aggregator_storage(place->aggregator)->operations = real;
}

static bool read_nothing_marked(struct pm_storage *storage, const char *game, unsigned part,
                                size_t most, pm_storage_visit_samples visit, void *user,
                                struct pm_error *error)
{
    uint32_t day;
    unsigned of;
    return pm_sample_part_has_marks(part, &day, &of)
               ? pm_fail(error, PM_ERROR_MEMORY, "out of memory, as a test has it")
               : real->read_samples(storage, game, part, most, visit, user, error);
}

static void send_one(struct place *place, uint64_t from)
{
    const struct pm_point_counts point = block_counts(0, 64, 32);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    const struct pm_profile *profile = place_profile(place, &shader);
    const struct pm_ingest_source source = token(from), *sources = &source;
    struct pm_ingest_outcome outcome;
    assert_true(
        pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
}

static uint32_t clusters(struct place *place)
{
    const struct pm_database database = place_estimates(place);
    assert_int_equal(database.shader_count, 1);
    return database.shaders[0].points[0].measures[PM_MEASURE_FREQUENCY].clusters;
}

/* A day that cannot be folded stays, and keeps nobody from what else is known. */
static void test_stuck(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    for (unsigned i = 0; i < 6; i++)
        send_one(place, i);
    place->now += DAY;
    assert_int_equal(clusters(place), 6);
    send_one(place, 1);
    place->now += DAY;
    change(place)->read_samples = read_nothing_marked;
    assert_false(pm_aggregator_fold(place->aggregator, "game", &error));
    assert_int_equal(error.code, PM_ERROR_MEMORY);
    assert_int_equal(clusters(place), 6);
    if (!pm_aggregator_curate(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
    change_back(place);
    assert_true(place_rows_that_wait(place) > 0);
    assert_int_equal(clusters(place), 7);
}

/* ---- while it is read ---- */

static struct place *folding_place;

/* What waited is folded by another before what is stored is read. */
static bool fold_and_read_game(struct pm_storage *storage, const char *game, const char *scene,
                               pm_storage_visit_blob visit, void *user, struct pm_error *error)
{
    if (place_rows_that_wait(folding_place) > 0) {
        folding_place->now += DAY;
        assert_true(pm_aggregator_fold(folding_place->aggregator, game, error));
        assert_int_equal(place_rows_that_wait(folding_place), 0);
    }
    return real->read_game(storage, game, scene, visit, user, error);
}

/* Nothing counts twice. */
static void test_folded_while_it_is_read(void **state)
{
    struct place *place = *state;
    for (unsigned i = 0; i < 6; i++)
        send_one(place, i);
    folding_place = place;
    change(place)->read_game = fold_and_read_game;
    assert_int_equal(clusters(place), 6);
    change_back(place);
    assert_int_equal(clusters(place), 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_few),
        TEST(test_many),
        TEST(test_forgotten_while_it_waits),
        TEST(test_forgotten_on_its_first_day),
        TEST(test_forgotten_beside_others),
        TEST(test_sums_do_not_fit),
        TEST(test_hot_shader),
        TEST(test_stuck),
        TEST(test_folded_while_it_is_read),
    };
    return cmocka_run_group_tests_name("fold_day", tests, NULL, NULL);
}
