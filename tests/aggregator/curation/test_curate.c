/* Curation: what is covered, what is published, and what of it changes. */
#include "aggregator/curation/curate.h"
#include "aggregator/curation/judged_points.h"
#include "tests/aggregator/place.h"

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

static void test_unknown_game(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    struct pm_database database;
    char etag[PM_ETAG_TEXT];
    assert_false(pm_aggregator_curate(place->aggregator, "game", &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_false(
        pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_false(pm_aggregator_database(place->aggregator, "game", etag, NULL, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
}

static void test_coverage_rule(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    /* Point 0 runs, 1 never does, 2 was never in a batch, 3 was in one whose shader was not
     * entered. */
    const struct pm_point_counts points[] = {block_counts(0, 8, 8), block_counts(1, 8, 0),
                                             block_counts(3, 0, 0)};
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 4, points, 3);
    for (int i = 0; i < 19; i++)
        place_store(place, place_profile(place, &shader));
    struct pm_database database = place_estimates(place);
    assert_true(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[0]));
    assert_false(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[1]));
    place_store(place, place_profile(place, &shader));
    database = place_estimates(place);
    assert_true(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[1]));
    assert_false(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[2]));
    assert_false(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[3]));

    place_reopen(place, true);
    database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 1);
    assert_false(database.shaders[0].published);
    assert_null(database.shaders[0].points);
    assert_false(lacks(&database.shaders[0], 0));
    assert_false(lacks(&database.shaders[0], 1));
    assert_true(lacks(&database.shaders[0], 2));
    assert_true(lacks(&database.shaders[0], 3));

    /* --local: one entry is enough. */
    const struct pm_point_counts rest[] = {block_counts(2, 8, 0), block_counts(3, 8, 4)};
    const struct pm_shader_profile more = block_shader(place->arena, 1, 4, rest, 2);
    place_store(place, place_profile(place, &more));
    database = place_published(place, "game", etag);
    assert_true(database.shaders[0].published);
    assert_null(database.shaders[0].deficit);
    assert_true(database.shaders[0].points[3].measures[PM_MEASURE_FREQUENCY].ratio == 0.5);

    place_reopen(place, false);
    database = place_published(place, "game", etag);
    assert_false(database.shaders[0].published);
}

static void test_publication_rule(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    const uint8_t once = 3;
    struct pm_database database;
    uint32_t sessions = 0;
    do {
        /* Point 0 always runs; point 1 in 30 % of the lanes, a little more or less. */
        const struct pm_point_counts points[] = {
            block_counts(0, 1000, 1000),
            block_counts(1, 1000, 250 + pm_random_below(&place->random, 100))};
        struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
        shader.at_most_once = &once;
        for (int i = 0; i < 4; i++, sessions++)
            place_store(place, place_profile(place, &shader));
        database = place_published(place, "game", etag);
        /* Every interval, as it is then, is narrow if and only if it is published. */
        const struct pm_database all = place_estimates(place);
        bool narrow = true;
        for (uint32_t i = 0; i < 2; i++) {
            for (unsigned j = 0; j < PM_MEASURES; j++) {
                const struct pm_ratio *measure = &all.shaders[0].points[i].measures[j];
                const double weight =
                    j == PM_MEASURE_UNIFORM ? all.shaders[0].points[i].measures[0].ratio_high : 1;
                const double half = weight * (measure->ratio_high - measure->ratio_low) / 2;
                const double mean_half = weight * (measure->mean_high - measure->mean_low) / 2;
                narrow = narrow && (half <= 0.05 || half <= 0.1 * weight * measure->ratio) &&
                         (mean_half <= 0.05 || mean_half <= 0.1 * weight * measure->mean);
            }
        }
        assert_int_equal(narrow, database.shaders[0].published);
        assert_int_equal(narrow, database.shaders[0].deficit == NULL);
    } while (!database.shaders[0].published && sessions < 400);
    assert_true(database.shaders[0].published);
    /* Each by itself is narrow after about 50; all of them hold together a little later (joint.h).
     */
    assert_in_range(sessions, 60, 90);
}

/* Where most count lanes alone how often blocks run need not wait for the few who do not: what
 * these say is told once it is well known, and the shader is published without it before. */
static void test_publication_of_lanes_alone(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    struct pm_database database = {0};
    uint32_t sessions = 0, published = 0, told = 0;
    for (; sessions < 1600 && told == 0; sessions++) {
        const uint64_t lanes = 250 + pm_random_below(&place->random, 100);
        const bool all = sessions % 10 == 0;
        const struct pm_point_counts points[] = {
            all ? block_counts(0, 1000, 1000) : alone_counts(0, 1000, 1000),
            all ? block_counts(1, 1000, lanes) : alone_counts(1, 1000, lanes)};
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
        place_store(place, place_profile(place, &shader));
        if (sessions % 20 != 19)
            continue;
        database = place_published(place, "game", etag);
        if (!database.shaders[0].published) {
            assert_int_equal(published, 0); /* never less than before */
            continue;
        }
        published = published ? published : sessions + 1;
        const struct pm_ratio *of = database.shaders[0].points[1].measures;
        assert_true(of[PM_MEASURE_FREQUENCY].clusters == sessions + 1);
        if (of[PM_MEASURE_UNIFORM].clusters > 0)
            told = sessions + 1;
    }
    assert_in_range(published, 40, 200);
    assert_in_range(told, 2 * published, 1600);
    assert_int_equal(database.shaders[0].points[1].measures[PM_MEASURE_UNIFORM].clusters,
                     told / 10);
    assert_in_range((int)(1000 * database.shaders[0].points[1].measures[PM_MEASURE_UNIFORM].ratio),
                    490, 510);
}

/* Then as many come who count subgroups, and say of half of the sessions that all is uniform: what
 * was published stays so. */
static void test_publication_outlasts_who_counts_all(void **state)
{
    enum { ALONE = 60, ALL = 100 };
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    for (int session = 0; session < ALONE + ALL; session++) {
        const uint64_t lanes = 880 + pm_random_below(&place->random, 40);
        struct pm_point_counts points[] = {alone_counts(0, 1000, 1000),
                                           alone_counts(1, 1000, lanes)};
        if (session >= ALONE) {
            points[0] = block_counts(0, 1000, 1000);
            points[1] = block_counts(1, 1000, lanes);
            points[1].counts[PM_BLOCK_UNIFORM_LANES] = session % 2 == 0 ? lanes : 0;
        }
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
        place_store(place, place_profile(place, &shader));
        if (session + 1 < ALONE || session % 10 != 9)
            continue;
        const struct pm_database database = place_published(place, "game", etag);
        assert_true(database.shaders[0].published);
        const struct pm_ratio *of = database.shaders[0].points[1].measures;
        assert_int_equal(of[PM_MEASURE_FREQUENCY].clusters, session + 1);
        assert_int_equal(of[PM_MEASURE_UNIFORM].clusters, 0);
    }
}

/* Block 3 comes apart over more of the subgroups than block 1, of which that is well known sooner;
 * one cluster in four says so. */
static void test_subgroups_of_all_blocks_or_none(void **state)
{
    enum { MOST = 600 };
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    int without = 0, with = 0;
    for (int session = 0; session < MOST && with == 0; session++) {
        const bool all = session % 4 == 0;
        const uint64_t lanes[] = {1000, 100 + pm_random_below(&place->random, 40), 0, 110};
        struct pm_point_counts points[4];
        for (uint32_t i = 0; i < 4; i++) {
            points[i] = all ? block_counts(i, 1000, lanes[i]) : alone_counts(i, 1000, lanes[i]);
            if (all && i % 2 == 1) {
                points[i].counts[PM_BLOCK_UNIFORM_LANES] = 0;
                points[i].counts[PM_BLOCK_SUBGROUPS] = lanes[i];
            }
        }
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 4, points, 4);
        place_store(place, place_profile(place, &shader));
        if (session % 20 != 19)
            continue;
        const struct pm_database database = place_published(place, "game", etag);
        const struct pm_point_estimate *found = database.shaders[0].points;
        if (!database.shaders[0].published)
            continue;
        const bool known = found[0].measures[PM_MEASURE_SUBGROUPS].clusters > 0;
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(found[i].measures[PM_MEASURE_SUBGROUPS].clusters > 0, known);
            /* What is left out of a block that ran is asked for. */
            const bool all_known = known && found[i].measures[PM_MEASURE_UNIFORM].clusters > 0;
            assert_int_equal(lacks(&database.shaders[0], i), i != 2 && !all_known);
        }
        *(known ? &with : &without) = session + 1;
    }
    assert_in_range(without, 20, MOST);
    assert_in_range(with, without, MOST);
}

static bool count_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered,
                           uint64_t points)
{
    uint64_t *last = user;
    assert_true(time > 0);
    last[0]++;
    last[1] = uploads;
    last[2] = covered;
    last[3] = points;
    return true;
}

static void test_etag_and_history(void **state)
{
    struct place *place = *state;
    char first[PM_ETAG_TEXT], second[PM_ETAG_TEXT];
    const struct pm_point_counts point = block_counts(0, 8, 8);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 3, &point, 1);
    place_store(place, place_profile(place, &shader));
    place_published(place, "game", first);
    assert_int_equal(strlen(first), 64);
    place_published(place, "game", second);
    assert_string_equal(first, second);
    const struct pm_shader_profile other = block_shader(place->arena, 2, 3, &point, 1);
    place_store(place, place_profile(place, &other));
    const struct pm_database database = place_published(place, "game", second);
    assert_string_not_equal(first, second);
    assert_int_equal(database.shader_count, 2);
    assert_string_equal(database.game, "game");
    assert_true(memcmp(&database.shaders[0].key, &database.shaders[1].key, PM_SHADER_KEY_BYTES) <
                0);

    uint64_t last[4] = {0};
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    assert_true(storage->operations->read_coverage(storage, "game", count_coverage, last, NULL));
    assert_int_equal(last[0], 3);
    assert_int_equal(last[1], 2);
    assert_int_equal(last[2], 2);
    assert_int_equal(last[3], 6);
}

/* What was published before stays, and what was interrupted can be done again. */
static void test_interrupted(void **state)
{
    struct place *place = *state;
    char first[PM_ETAG_TEXT], second[PM_ETAG_TEXT];
    struct pm_error error;
    const struct pm_publication publication = {.game = "game", .scene = ""};
    const struct pm_point_counts point = block_counts(0, 8, 8);
    for (uint64_t i = 1; i <= 2; i++) {
        const struct pm_shader_profile shader = block_shader(place->arena, i, 3, &point, 1);
        place_store(place, place_profile(place, &shader));
        if (i == 1)
            place_published(place, "game", first);
    }
    pm_aggregator_interrupt(place->aggregator, true);
    assert_false(pm_aggregator_curate(place->aggregator, "game", &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_true(pm_aggregator_publication(place->aggregator, &publication, second, NULL, &error));
    assert_string_equal(first, second);
    pm_aggregator_interrupt(place->aggregator, false);
    assert_int_equal(place_published(place, "game", second).shader_count, 2);
    assert_string_not_equal(first, second);
}

static void test_histogram_shows_scenes(void **state)
{
    struct place *place = *state;
    uint64_t bins[PM_HISTOGRAM_BINS];
    for (int i = 0; i < 10; i++) {
        const struct pm_point_counts point = block_counts(0, 100, i < 7 ? 12 : 88);
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
        struct pm_profile *profile = place_profile(place, &shader);
        profile->scene = i < 7 ? "cave" : "sky";
        place_store(place, profile);
    }
    const struct pm_database database = place_estimates(place);
    assert_int_equal(database.shader_count, 1);
    histogram_of(place->aggregator, "game", &database.shaders[0], 0, PM_MEASURE_FREQUENCY, NULL,
                 bins);
    assert_int_equal(bins[2], 7);
    assert_int_equal(bins[9], 3);
    histogram_of(place->aggregator, "game", &database.shaders[0], 0, PM_MEASURE_FREQUENCY, "sky",
                 bins);
    assert_int_equal(bins[2], 0);
    assert_int_equal(bins[9], 3);
}

/* What a game would have to load is bounded: what it runs most is kept. */
static void test_database_is_bounded(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    enum { SHADERS = 30, SPACE = 50 };
    place->keeping.database_bytes = 24 << 10;
    place_reopen(place, true);
    struct pm_shader_profile shaders[SHADERS + 1];
    for (uint64_t i = 0; i < SHADERS; i++) {
        struct pm_point_counts points[SPACE];
        for (uint32_t j = 0; j < SPACE; j++)
            points[j] = zero_counts(j, 8 * (i + 1), i + 1, 1);
        shaders[i] = zero_shader(place->arena, i, SPACE, points, SPACE);
    }
    shaders[SHADERS] = timing_shader(place->arena, SHADERS, 8, 100, 90);
    place_store(place, profile_of(place->arena, &place->random, "game", shaders, SHADERS + 1));
    const struct pm_database database = place_published(place, "game", etag);
    assert_in_range(database.shader_count, 4, 12);
    struct pm_buffer encoded;
    pm_buffer_init(&encoded, 1 << 20);
    assert_true(pm_database_encode(&database, &encoded, NULL));
    assert_true(encoded.size <= place->keeping.database_bytes);
    pm_buffer_finish(&encoded);
    for (uint64_t i = 0; i <= SHADERS; i++)
        assert_int_equal(pm_database_find(&database, &shaders[i].key, &shaders[i].environment,
                                          shaders[i].kind) != NULL,
                         i + database.shader_count > SHADERS);
    /* All of it can still be looked at. */
    assert_int_equal(place_estimates(place).shader_count, SHADERS + 1);
}

static bool note_shader(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    (void)error;
    *(struct pm_shader_key *)user = judged->shader->key;
    return true;
}

/* What has grown too large for the memory is left out, and no other shader with it. */
static void test_shader_is_bounded(void **state)
{
    enum { SPACE = 100 };
    struct place *place = *state;
    struct pm_curator *curator = pm_aggregator_curator(place->aggregator);
    struct pm_shader_key seen = {0};
    char etag[PM_ETAG_TEXT];
    struct pm_error error;
    struct pm_point_counts points[SPACE];
    for (uint32_t i = 0; i < SPACE; i++)
        points[i] = block_counts(i, 64, 32);
    const struct pm_shader_profile shaders[] = {block_shader(place->arena, 1, 1, points, 1),
                                                block_shader(place->arena, 2, SPACE, points, SPACE),
                                                block_shader(place->arena, 3, 1, points, 1)};
    place_store(place, profile_of(place->arena, &place->random, "game", shaders, 3));
    assert_int_equal(place_published(place, "game", etag).shader_count, 3);
    curator->shader_bytes = 2048;
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_false(pm_shader_key_equal(&database.shaders[i].key, &shaders[1].key));
    assert_false(
        pm_curate_read_shader(curator, "game", &shaders[1].key, note_shader, &seen, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    assert_true(
        pm_curate_read_shader(curator, "game", &shaders[2].key, note_shader, &seen, &error));
    assert_true(pm_shader_key_equal(&seen, &shaders[2].key));
}

/* On the day of a patch, what was counted before still counts; on the third day nothing of it does,
 * and what was counted is still there. */
static void test_patch(void **state)
{
    enum { BEFORE = 8, AFTER = 3, UPLOADS = 12 };
    struct place *place = *state;
    struct pm_database database;
    place->now = 20000 * DAY;
    place->keeping.half_life_days = 14;
    place->keeping.retention_days = 60;
    place_reopen(place, false);
    for (int day = 0; day < BEFORE + AFTER; day++, place->now += DAY) {
        for (uint64_t i = 0; i < UPLOADS; i++) {
            const struct pm_point_counts points[] = {
                zero_counts(0, 1000, 1000, (day < BEFORE ? 100 : 800) + i),
                zero_counts(1, 1000, 1000, 500 + i)};
            const struct pm_shader_profile shader = zero_shader(place->arena, 1, 2, points, 2);
            place_store(place, place_profile(place, &shader));
        }
        database = place_estimates(place);
        const struct pm_point_estimate *found = database.shaders[0].points;
        const double mean = found[0].measures[PM_MEASURE_ZERO].mean;
        if (day < BEFORE + AFTER - 1)
            assert_true(mean < 0.4);
        else
            assert_true(mean > 0.79 && mean < 0.82);
        assert_int_equal(found[1].sessions, UPLOADS * (day < BEFORE + AFTER - 1 ? day + 1 : AFTER));
    }
    uint64_t uploads;
    bool known;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    assert_true(storage->operations->find_game(storage, "game", &known, &uploads, NULL));
    assert_int_equal(uploads, UPLOADS * (BEFORE + AFTER));
}

struct places {
    const struct pm_point_estimate *points;
    unsigned shaders;
};

static bool note_place(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    struct places *places = user;
    const struct pm_point_estimate *points = judged->shader->points;
    const uint32_t last = judged->shader->space - 1;
    (void)error;
    assert_int_equal(points[last].sessions, 1);
    assert_int_equal(points[7].sessions, 0);
    assert_true(points[7].measures[0].mean == 0 && points[7].measures[0].mean_high == 1);
    assert_int_equal(judged->covered, 1);
    assert_int_equal(judged->lacking, judged->shader->space);
    /* That of the one before: nothing is filled for what nobody measured. */
    assert_true(places->shaders++ == 0 || places->points == points);
    places->points = points;
    return true;
}

/* Shaders of large spaces of which one point was measured each. */
static void test_large_spaces(void **state)
{
    struct place *place = *state;
    struct places places = {0};
    struct pm_curated curated;
    struct pm_error error;
    const struct pm_curate_request request = {
        .game = "game", .observe = note_place, .user = &places};
    const uint32_t space = (1u << 20) - 3;
    for (uint32_t i = 0; i < 4; i++) {
        const struct pm_point_counts block = block_counts(space - 1, 8, 8);
        const struct pm_point_counts zero = zero_counts(space - 1, 8, 8, 8);
        const struct pm_shader_profile shader =
            i % 2 == 0 ? block_shader(place->arena, 1 + i / 2, space, &block, 1)
                       : zero_shader(place->arena, 1 + i / 2, space, &zero, 1);
        place_store(place, place_profile(place, &shader));
    }
    if (!pm_curate_read(pm_aggregator_curator(place->aggregator), &request, place->arena, &curated,
                        &error))
        fail_msg("%s", error.message);
    assert_int_equal(places.shaders, 4);
    assert_int_equal(curated.points_covered, 4);
    for (size_t i = 0; i < curated.database.shader_count; i++) {
        const struct pm_shader_estimates *shader = &curated.database.shaders[i];
        assert_true(lacks(shader, 0) && lacks(shader, shader->space - 1));
    }
}

static void test_judged_points(void **state)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    struct pm_aged_point point = {.point = 5, .calls = 3, .sessions = 2};
    const struct pm_aged aged = {.kind = PM_KIND_ZERO, .space = 9, .points = &point, .count = 1};
    struct pm_judged_points all = {0};
    (void)state;
    const struct pm_point_estimate *points = pm_judged_points_take(&all, &aged);
    struct pm_point_estimate *copy = pm_judged_points_copy(&all, &aged);
    assert_int_equal(points[5].sessions, 2);
    assert_memory_equal(&copy[5], &points[5], sizeof(none));
    for (uint32_t i = 0; i < 9; i += i == 4 ? 2 : 1) {
        assert_memory_equal(&points[i], &none, sizeof(none));
        assert_true(copy[i].measures[1].ratio_high == 1 && copy[i].measures[2].ratio_high == 0);
    }
    pm_judged_points_give_back(&all, &aged);
    assert_memory_equal(&all.points[5], &none, sizeof(none));
    free(copy);
    pm_judged_points_finish(&all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unknown_game),
        TEST(test_coverage_rule),
        TEST(test_publication_rule),
        TEST(test_publication_of_lanes_alone),
        TEST(test_publication_outlasts_who_counts_all),
        TEST(test_subgroups_of_all_blocks_or_none),
        TEST(test_etag_and_history),
        TEST(test_interrupted),
        TEST(test_histogram_shows_scenes),
        TEST(test_database_is_bounded),
        TEST(test_shader_is_bounded),
        TEST(test_patch),
        TEST(test_large_spaces),
        cmocka_unit_test(test_judged_points),
    };
    return cmocka_run_group_tests_name("curate", tests, NULL, NULL);
}
