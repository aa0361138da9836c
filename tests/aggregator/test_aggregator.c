/* Uploads into the aggregator: what is summed, what is refused, and from many threads. */
#include "tests/aggregator/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(42);
    place_reopen(place, false);
    *state = place;
    return 0;
}

static void test_sums_and_duplicates(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts first[] = {block_counts(0, 100, 100), block_counts(1, 100, 20)};
    const struct pm_point_counts second[] = {block_counts(1, 300, 180)};
    const struct pm_shader_profile a = block_shader(place->arena, 1, 2, first, 2);
    const struct pm_shader_profile b = block_shader(place->arena, 1, 2, second, 1);
    const struct pm_profile *profile = place_profile(place, &a);
    place_store(place, profile);
    place_store(place, place_profile(place, &b));
    assert_int_equal(place_ingest(place, profile).result, PM_INGEST_DUPLICATE);
    place_reopen(place, false);
    assert_int_equal(place_ingest(place, profile).result, PM_INGEST_DUPLICATE);

    /* Twice in one call. */
    const struct pm_profile *twice[] = {place_profile(place, &a), NULL, profile};
    twice[1] = twice[0];
    struct pm_ingest_outcome outcomes[3];
    assert_true(pm_aggregator_ingest(place->aggregator, twice, 3, outcomes, NULL));
    assert_int_equal(outcomes[0].result, PM_INGEST_STORED);
    assert_int_equal(outcomes[1].result, PM_INGEST_DUPLICATE);
    assert_int_equal(outcomes[2].result, PM_INGEST_DUPLICATE);

    const struct pm_database database = place_estimates(place);
    assert_int_equal(database.shader_count, 1);
    const struct pm_point_estimate *point = &database.shaders[0].points[1];
    assert_int_equal(point->sessions, 3);
    assert_int_equal(point->calls, 3);
    const struct pm_ratio *frequency = &point->measures[PM_MEASURE_FREQUENCY];
    assert_true(frequency->ratio == 220.0 / 500);
    assert_true(frequency->mean > 0.33333 && frequency->mean < 0.33334); /* (0.2 + 0.2 + 0.6) / 3 */
    assert_int_equal(frequency->clusters, 3);
    assert_true(point->measures[PM_MEASURE_UNIFORM].ratio == 0.5);
    /* Each upload had one batch. */
    assert_int_equal(database.shaders[0].entry_lanes, 500);
}

static void test_refuses_one_alone(void **state)
{
    struct place *place = *state;
    struct pm_point_counts points[] = {block_counts(0, 100, 100), block_counts(1, 100, 20)};
    const struct pm_shader_profile good = block_shader(place->arena, 1, 2, points, 2);
    place_store(place, place_profile(place, &good));

    const struct pm_shader_profile other_space = block_shader(place->arena, 1, 3, points, 2);
    struct pm_profile *refused = place_profile(place, &other_space);
    place_refuses(place, refused, "space: 3 does not agree with the 2");
    points[1].counts[PM_BLOCK_UNIFORM_LANES] = 21;
    struct pm_shader_profile shaders[] = {block_shader(place->arena, 5, 2, points, 1),
                                          block_shader(place->arena, 2, 2, points, 2)};
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shaders[1].key, text);
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    place_refuses(place, profile, text);
    shaders[1] = shaders[0];
    profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    place_refuses(place, profile, "twice");
    shaders[1].environment.subgroup_size = 32;
    shaders[1].space = 3;
    profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    place_refuses(place, profile, "in one profile");
    profile->game = "";
    place_refuses(place, profile, "game");

    /* Nothing of a refused one is kept: not its id, not its shaders, not their spaces. */
    refused->shaders = pm_arena_dup(place->arena, &good, sizeof(good));
    place_store(place, refused);
    shaders[0].space = shaders[1].space = 9;
    place_store(place, profile_of(place->arena, &place->random, "game", shaders, 2));
    const struct pm_database database = place_estimates(place);
    assert_int_equal(database.shader_count, 4); /* 1, 77, and 5 for two subgroup sizes */
}

static void test_spaces_are_per_game(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 8);
    const struct pm_shader_profile two = block_shader(place->arena, 1, 2, &point, 1);
    const struct pm_shader_profile three = block_shader(place->arena, 1, 3, &point, 1);
    place_store(place, place_profile(place, &two));
    place_store(place, profile_of(place->arena, &place->random, "other", &three, 1));
}

/* However uploads are grouped, the sums are the same. */
static void test_grouping_does_not_matter(void **state)
{
    struct place *place = *state;
    enum { PROFILES = 40 };
    const struct pm_profile *profiles[PROFILES];
    struct pm_ingest_outcome outcomes[PROFILES];
    struct pm_error error;
    char *path = join(place->folder, "grouped.db");
    struct pm_aggregator *grouped = pm_aggregator_open(path, &place->keeping, &error);
    assert_non_null(grouped);
    for (size_t i = 0; i < PROFILES; i++) {
        profiles[i] = random_profile(place->arena, &place->random, "game", 6, 40);
        place_store(place, profiles[i]);
    }
    assert_true(pm_aggregator_ingest(grouped, profiles, PROFILES, outcomes, &error));
    const struct pm_database one = place_estimates(place);
    struct pm_database other;
    assert_true(pm_aggregator_estimates(grouped, "game", NULL, place->arena, &other, &error));
    assert_int_equal(one.shader_count, 6);
    assert_int_equal(other.shader_count, 6);
    for (size_t i = 0; i < one.shader_count; i++) {
        assert_memory_equal(&one.shaders[i].key, &other.shaders[i].key, sizeof(one.shaders[i].key));
        assert_int_equal(one.shaders[i].entry_lanes, other.shaders[i].entry_lanes);
        assert_memory_equal(one.shaders[i].points, other.shaders[i].points,
                            one.shaders[i].space * sizeof(*one.shaders[i].points));
    }
    pm_aggregator_destroy(grouped);
    free(path);
}

struct writer {
    struct place *place;
    const struct pm_profile *profiles[20];
    pthread_t thread;
    struct pm_error error;
};

static void *write_profiles(void *user)
{
    struct writer *writer = user;
    for (size_t i = 0; i < 20; i += 2) {
        struct pm_ingest_outcome outcomes[2];
        if (!pm_aggregator_ingest(writer->place->aggregator, &writer->profiles[i], 2, outcomes,
                                  &writer->error) ||
            (i % 6 == 0 &&
             !pm_aggregator_curate(writer->place->aggregator, "game", &writer->error)))
            return NULL;
    }
    return writer;
}

static void test_threads(void **state)
{
    struct place *place = *state;
    struct writer writers[4];
    for (size_t i = 0; i < 4; i++) {
        writers[i].place = place;
        for (size_t j = 0; j < 20; j++) {
            const struct pm_point_counts point = block_counts(0, 8, j % 2 ? 8 : 0);
            const struct pm_shader_profile shader = block_shader(place->arena, j % 3, 1, &point, 1);
            writers[i].profiles[j] = place_profile(place, &shader);
        }
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_profiles, &writers[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        void *result;
        pthread_join(writers[i].thread, &result);
        if (result != &writers[i])
            fail_msg("%s", writers[i].error.message);
    }
    const struct pm_database database = place_estimates(place);
    uint32_t sessions = 0;
    for (size_t i = 0; i < database.shader_count; i++)
        sessions += database.shaders[i].points[0].sessions;
    assert_int_equal(sessions, 80);
}

/* A profile that lacks nothing of what the decoder allows, yet is built to make memory run out, is
 * refused. */
static void test_bounds_spaces(void **state)
{
    struct place *place = *state;
    struct pm_shader_profile *shaders = pm_arena_zalloc(place->arena, 8, sizeof(*shaders));
    for (uint64_t i = 0; i < 8; i++)
        shaders[i] = block_shader(place->arena, i, 1u << 20, NULL, 0);
    place_refuses(place, profile_of(place->arena, &place->random, "game", shaders, 8), "in all");
    place_store(place, profile_of(place->arena, &place->random, "game", shaders, 4));
}

static bool count_claim(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    const struct pm_shader_key key = key_of(2);
    (void)error;
    assert_true(claim->kind != PM_KIND_BLOCK || pm_shader_key_equal(&claim->key, &key));
    *(unsigned *)user += claim->kind == PM_KIND_BLOCK;
    return true;
}

/* A shader of which nothing was measured says nothing, and costs nothing. */
static void test_nothing_measured(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage;
    struct pm_error error;
    struct pm_ingest_outcome outcome;
    unsigned claims = 0;
    const struct pm_ingest_source source = {{1, 2, 3}}, *sources = &source;
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shaders[] = {block_shader(place->arena, 1, 2, NULL, 0),
                                                block_shader(place->arena, 2, 1, &point, 1),
                                                block_shader(place->arena, 3, 2, NULL, 0)};
    place->keeping.min_tokens = 3;
    place_open(place);
    storage = pm_aggregator_storage(place->aggregator);
    const struct pm_profile *all = profile_of(place->arena, &place->random, "game", shaders, 3);
    if (!pm_aggregator_ingest_from(place->aggregator, &all, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
    assert_int_equal(place_estimates(place).shader_count, 1);
    if (!storage->operations->read_claims(storage, "game", count_claim, &claims, &error))
        fail_msg("%s", error.message);
    assert_int_equal(claims, 1);
    const struct pm_profile *none = profile_of(place->arena, &place->random, "game", shaders, 1);
    if (!pm_aggregator_ingest_from(place->aggregator, &none, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
    assert_int_equal(place_estimates(place).shader_count, 1);
}

/* How much an upload claims is known before it is stored. */
static void test_claims_of_an_upload(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shaders[] = {block_shader(place->arena, 1, 1, &point, 1),
                                                block_shader(place->arena, 2, 2, NULL, 0),
                                                block_shader(place->arena, 3, 1, &point, 1)};
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", shaders, 3);
    struct pm_error error;
    for (int i = 0; i < 2; i++) {
        profile->scene = i > 0 ? "cave" : "";
        struct pm_prepared *prepared = pm_aggregator_prepare(place->aggregator, profile, &error);
        assert_non_null(prepared);
        assert_int_equal(pm_prepared_claims(prepared), i > 0 ? 4 : 2);
        pm_prepared_destroy(prepared);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sums_and_duplicates),
        TEST(test_refuses_one_alone),
        TEST(test_spaces_are_per_game),
        TEST(test_grouping_does_not_matter),
        TEST(test_threads),
        TEST(test_bounds_spaces),
        TEST(test_nothing_measured),
        TEST(test_claims_of_an_upload),
    };
    return cmocka_run_group_tests_name("aggregator", tests, NULL, NULL);
}
