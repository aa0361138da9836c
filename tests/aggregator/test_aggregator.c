#include "aggregator/aggregator.h"

#include "aggregator/estimate.h"
#include "aggregator/statistics.h"
#include "aggregator/support.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

struct place {
    char *folder, *path;
    struct pm_aggregator *aggregator;
    struct pm_arena *arena;
    struct pm_random random;
};

static struct pm_aggregator *open_or_fail(const char *path, bool publish_all)
{
    struct pm_error error;
    const struct pm_aggregator_info info = {.publish_all = publish_all};
    struct pm_aggregator *aggregator = pm_aggregator_open(path, &info, &error);
    if (!aggregator)
        fail_msg("%s", error.message);
    return aggregator;
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    place->aggregator = open_or_fail(place->path, false);
    place->arena = pm_arena_create(0);
    pm_random_init(&place->random, 42);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    pm_aggregator_destroy(place->aggregator);
    pm_arena_destroy(place->arena);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static void reopen(struct place *place, bool publish_all)
{
    pm_aggregator_destroy(place->aggregator);
    place->aggregator = open_or_fail(place->path, publish_all);
}

static struct pm_ingest_outcome ingest(struct place *place, const struct pm_profile *profile)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest(place->aggregator, &profile, 1, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome;
}

static void store(struct place *place, const struct pm_profile *profile)
{
    const struct pm_ingest_outcome outcome = ingest(place, profile);
    if (outcome.result != PM_INGEST_STORED)
        fail_msg("result %d, \"%s\"", (int)outcome.result, outcome.reason.message);
}

static struct pm_profile *one_shader(struct place *place, const struct pm_shader_profile *shader)
{
    return profile_of(place->arena, &place->random, "game", shader, 1);
}

static struct pm_database estimates(struct place *place)
{
    struct pm_database database;
    struct pm_error error;
    if (!pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, &error))
        fail_msg("%s", error.message);
    return database;
}

/* Curates, and decodes what was published. */
static struct pm_database published(struct place *place, char etag[static PM_ETAG_TEXT])
{
    struct pm_database database;
    struct pm_buffer body, encoded;
    struct pm_error error;
    pm_buffer_init(&body, 1 << 24);
    pm_buffer_init(&encoded, 1 << 24);
    if (!pm_aggregator_curate(place->aggregator, "game", &error) ||
        !pm_aggregator_database(place->aggregator, "game", etag, &body, &error) ||
        !pm_decompress(body.data, body.size, &encoded, &error) ||
        !pm_database_decode(encoded.data, encoded.size, place->arena, &database, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&body);
    pm_buffer_finish(&encoded);
    return database;
}

/* ---- ingest ---- */

static void test_sums_and_duplicates(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts first[] = {block_counts(0, 100, 100), block_counts(1, 100, 20)};
    const struct pm_point_counts second[] = {block_counts(1, 300, 180)};
    const struct pm_shader_profile a = block_shader(place->arena, 1, 2, first, 2);
    const struct pm_shader_profile b = block_shader(place->arena, 1, 2, second, 1);
    const struct pm_profile *profile = one_shader(place, &a);
    store(place, profile);
    store(place, one_shader(place, &b));
    assert_int_equal(ingest(place, profile).result, PM_INGEST_DUPLICATE);
    reopen(place, false);
    assert_int_equal(ingest(place, profile).result, PM_INGEST_DUPLICATE);

    /* Twice in one call. */
    const struct pm_profile *twice[] = {one_shader(place, &a), NULL, profile};
    twice[1] = twice[0];
    struct pm_ingest_outcome outcomes[3];
    assert_true(pm_aggregator_ingest(place->aggregator, twice, 3, outcomes, NULL));
    assert_int_equal(outcomes[0].result, PM_INGEST_STORED);
    assert_int_equal(outcomes[1].result, PM_INGEST_DUPLICATE);
    assert_int_equal(outcomes[2].result, PM_INGEST_DUPLICATE);

    const struct pm_database database = estimates(place);
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

static void assert_refused(struct place *place, const struct pm_profile *profile, const char *what)
{
    /* Only it: a good one beside it is stored. */
    const struct pm_point_counts counts = block_counts(0, 8, 8);
    const struct pm_shader_profile good = block_shader(place->arena, 77, 1, &counts, 1);
    const struct pm_profile *profiles[] = {one_shader(place, &good), profile,
                                           one_shader(place, &good)};
    struct pm_ingest_outcome outcomes[3];
    struct pm_error error;
    if (!pm_aggregator_ingest(place->aggregator, profiles, 3, outcomes, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcomes[0].result, PM_INGEST_STORED);
    assert_int_equal(outcomes[2].result, PM_INGEST_STORED);
    assert_int_equal(outcomes[1].result, PM_INGEST_REFUSED);
    if (!strstr(outcomes[1].reason.message, what))
        fail_msg("\"%s\" does not say \"%s\"", outcomes[1].reason.message, what);
}

static void test_refuses_one_alone(void **state)
{
    struct place *place = *state;
    struct pm_point_counts points[] = {block_counts(0, 100, 100), block_counts(1, 100, 20)};
    const struct pm_shader_profile good = block_shader(place->arena, 1, 2, points, 2);
    store(place, one_shader(place, &good));

    const struct pm_shader_profile other_space = block_shader(place->arena, 1, 3, points, 2);
    struct pm_profile *refused = one_shader(place, &other_space);
    assert_refused(place, refused, "space: 3 does not agree with the 2");
    points[1].counts[PM_BLOCK_UNIFORM_LANES] = 21;
    struct pm_shader_profile shaders[] = {block_shader(place->arena, 5, 2, points, 1),
                                          block_shader(place->arena, 2, 2, points, 2)};
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shaders[1].key, text);
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    assert_refused(place, profile, text);
    shaders[1] = shaders[0];
    profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    assert_refused(place, profile, "twice");
    shaders[1].environment.subgroup_size = 32;
    shaders[1].space = 3;
    profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    assert_refused(place, profile, "in one profile");
    profile->game = "";
    assert_refused(place, profile, "game");

    /* Nothing of a refused one is kept: not its id, not its shaders, not their spaces. */
    refused->shaders = pm_arena_dup(place->arena, &good, sizeof(good));
    store(place, refused);
    shaders[0].space = shaders[1].space = 9;
    store(place, profile_of(place->arena, &place->random, "game", shaders, 2));
    const struct pm_database database = estimates(place);
    assert_int_equal(database.shader_count, 4); /* 1, 77, and 5 for two subgroup sizes */
}

static void test_spaces_are_per_game(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 8);
    const struct pm_shader_profile two = block_shader(place->arena, 1, 2, &point, 1);
    const struct pm_shader_profile three = block_shader(place->arena, 1, 3, &point, 1);
    store(place, one_shader(place, &two));
    store(place, profile_of(place->arena, &place->random, "other", &three, 1));
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
    struct pm_aggregator *grouped = open_or_fail(path, false);
    for (size_t i = 0; i < PROFILES; i++) {
        profiles[i] = random_profile(place->arena, &place->random, "game", 6, 40);
        store(place, profiles[i]);
    }
    assert_true(pm_aggregator_ingest(grouped, profiles, PROFILES, outcomes, &error));
    const struct pm_database one = estimates(place);
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
            writers[i].profiles[j] = one_shader(place, &shader);
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
    const struct pm_database database = estimates(place);
    uint32_t sessions = 0;
    for (size_t i = 0; i < database.shader_count; i++)
        sessions += database.shaders[i].points[0].sessions;
    assert_int_equal(sessions, 80);
}

/* ---- curation ---- */

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

static bool lacks(const struct pm_shader_estimates *shader, uint32_t point)
{
    return shader->deficit && (shader->deficit[point / 8] >> (point % 8) & 1) != 0;
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
        store(place, one_shader(place, &shader));
    struct pm_database database = estimates(place);
    assert_true(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[0]));
    assert_false(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[1]));
    store(place, one_shader(place, &shader));
    database = estimates(place);
    assert_true(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[1]));
    assert_false(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[2]));
    assert_false(
        pm_aggregator_is_covered(place->aggregator, PM_KIND_BLOCK, &database.shaders[0].points[3]));

    reopen(place, true);
    database = published(place, etag);
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
    store(place, one_shader(place, &more));
    database = published(place, etag);
    assert_true(database.shaders[0].published);
    assert_null(database.shaders[0].deficit);
    assert_true(database.shaders[0].points[3].measures[PM_MEASURE_FREQUENCY].ratio == 0.5);

    reopen(place, false);
    database = published(place, etag);
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
            store(place, one_shader(place, &shader));
        database = published(place, etag);
        /* Every interval is narrow if and only if it is published. */
        const struct pm_database all = estimates(place);
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
    assert_in_range(sessions, 20, 60);
}

static void test_occluded_profiles_stand_in(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts both[] = {block_counts(0, 100, 100), block_counts(1, 100, 50)};
    struct pm_shader_profile occluded = block_shader(place->arena, 1, 2, both, 2);
    occluded.flags = PM_PROFILE_OCCLUDED;
    reopen(place, true);
    store(place, one_shader(place, &occluded));
    const struct pm_point_counts half[] = {block_counts(0, 100, 100)};
    struct pm_shader_profile plain = block_shader(place->arena, 1, 2, half, 1);
    store(place, one_shader(place, &plain));
    struct pm_database database = estimates(place);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].flags, PM_PROFILE_OCCLUDED);
    assert_int_equal(database.shaders[0].points[0].sessions, 2);
    /* Once the others cover it, they alone count. */
    const struct pm_point_counts other[] = {block_counts(1, 100, 10)};
    plain = block_shader(place->arena, 1, 2, other, 1);
    store(place, one_shader(place, &plain));
    database = estimates(place);
    assert_int_equal(database.shaders[0].flags, 0);
    assert_int_equal(database.shaders[0].points[0].sessions, 1);
    assert_true(database.shaders[0].points[1].measures[PM_MEASURE_FREQUENCY].ratio == 0.1);
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
    store(place, one_shader(place, &shader));
    published(place, first);
    assert_int_equal(strlen(first), 64);
    published(place, second);
    assert_string_equal(first, second);
    const struct pm_shader_profile other = block_shader(place->arena, 2, 3, &point, 1);
    store(place, one_shader(place, &other));
    const struct pm_database database = published(place, second);
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
        store(place, one_shader(place, &shader));
        if (i == 1)
            published(place, first);
    }
    pm_aggregator_interrupt(place->aggregator, true);
    assert_false(pm_aggregator_curate(place->aggregator, "game", &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_true(pm_aggregator_publication(place->aggregator, &publication, second, NULL, &error));
    assert_string_equal(first, second);
    pm_aggregator_interrupt(place->aggregator, false);
    assert_int_equal(published(place, second).shader_count, 2);
    assert_string_not_equal(first, second);
}

static void test_histogram_shows_scenes(void **state)
{
    struct place *place = *state;
    uint64_t bins[PM_HISTOGRAM_BINS];
    for (int i = 0; i < 10; i++) {
        const struct pm_point_counts point = block_counts(0, 100, i < 7 ? 12 : 88);
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
        struct pm_profile *profile = one_shader(place, &shader);
        profile->scene = i < 7 ? "cave" : "sky";
        store(place, profile);
    }
    const struct pm_database database = estimates(place);
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

/* A profile that lacks nothing of what the decoder allows, yet is built to make memory run out, is
 * refused. */
static void test_bounds_spaces(void **state)
{
    struct place *place = *state;
    struct pm_shader_profile *shaders = pm_arena_zalloc(place->arena, 8, sizeof(*shaders));
    for (uint64_t i = 0; i < 8; i++)
        shaders[i] = block_shader(place->arena, i, 1u << 20, NULL, 0);
    assert_refused(place, profile_of(place->arena, &place->random, "game", shaders, 8), "in all");
    store(place, profile_of(place->arena, &place->random, "game", shaders, 4));
}

static void test_zero_profiles(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    /* Candidate 0 is zero in three writes of four, in a loop; 1 is never written. */
    const struct pm_point_counts points[] = {zero_counts(0, 64, 32, 24), zero_counts(1, 64, 0, 0)};
    const struct pm_shader_profile shader = zero_shader(place->arena, 1, 2, points, 2);
    for (int i = 0; i < 19; i++)
        store(place, one_shader(place, &shader));
    struct pm_database database = published(place, etag);
    assert_int_equal(database.shaders[0].kind, PM_KIND_ZERO);
    assert_true(lacks(&database.shaders[0], 1));
    for (int i = 0; i < 400 && !database.shaders[0].published; i++) {
        store(place, one_shader(place, &shader));
        database = published(place, etag);
    }
    assert_true(database.shaders[0].published);
    const struct pm_point_estimate *known = database.shaders[0].points;
    assert_true(known[0].measures[PM_MEASURE_ZERO].ratio == 0.75);
    assert_true(known[0].measures[PM_MEASURE_ZERO].ratio_high <= 1);
    assert_true(known[0].measures[PM_MEASURE_WRITES].ratio == 4);
    assert_int_equal(known[1].measures[PM_MEASURE_ZERO].clusters, 0);
    assert_true(known[1].measures[PM_MEASURE_WRITES].ratio == 0);
    assert_true(known[1].measures[PM_MEASURE_WRITES].clusters > 19);

    /* --local: one entry covers both. */
    reopen(place, true);
    const struct pm_shader_profile other = zero_shader(place->arena, 2, 2, points, 2);
    store(place, one_shader(place, &other));
    database = published(place, etag);
    assert_int_equal(database.shader_count, 2);
    assert_true(database.shaders[0].published && database.shaders[1].published);

    /* Block and zero profiles of one shader are two. */
    const struct pm_point_counts block = block_counts(0, 8, 8);
    const struct pm_shader_profile blocks = block_shader(place->arena, 1, 7, &block, 1);
    store(place, one_shader(place, &blocks));
    assert_int_equal(published(place, etag).shader_count, 3);
    struct pm_point_counts wrong = zero_counts(0, 64, 32, 33);
    const struct pm_shader_profile refused = zero_shader(place->arena, 1, 2, &wrong, 1);
    assert_refused(place, one_shader(place, &refused), "zero_writes: 33 is above writes, 32");
}

static void test_profiles_without_quads_stand_in(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    reopen(place, true);
    const struct pm_point_counts points[] = {zero_counts(0, 64, 8, 2), zero_counts(1, 64, 0, 0)};
    struct pm_shader_profile without = zero_shader(place->arena, 1, 2, points, 2);
    without.flags = PM_PROFILE_NO_QUADS;
    store(place, one_shader(place, &without));
    struct pm_database database = published(place, etag);
    assert_true(database.shaders[0].published);
    assert_int_equal(database.shaders[0].flags, PM_PROFILE_NO_QUADS);
    assert_ptr_equal(pm_database_find(&database, &without.key, &without.environment, PM_KIND_ZERO),
                     &database.shaders[0]);
    /* A device that counts both tells how often the second is written. */
    const struct pm_point_counts full[] = {zero_counts(0, 64, 8, 4), zero_counts(1, 64, 8, 8)};
    const struct pm_shader_profile with = zero_shader(place->arena, 1, 2, full, 2);
    store(place, one_shader(place, &with));
    database = published(place, etag);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].flags, 0);
    assert_true(database.shaders[0].points[0].measures[PM_MEASURE_ZERO].ratio == 0.5);
    assert_true(database.shaders[0].points[1].measures[PM_MEASURE_WRITES].ratio == 1);
}

static void test_timing_profiles(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    const struct pm_shader_profile few = timing_shader(place->arena, 1, 7, 7000, 3500);
    store(place, one_shader(place, &few));
    reopen(place, true);
    struct pm_database database = published(place, etag);
    assert_int_equal(database.shaders[0].kind, PM_KIND_TIMING);
    assert_int_equal(database.shaders[0].environment.vendor_id, 0x10005);
    assert_false(database.shaders[0].published);
    const struct pm_shader_profile one = timing_shader(place->arena, 1, 1, 1000, 500);
    store(place, one_shader(place, &one));
    database = published(place, etag);
    assert_true(database.shaders[0].published);
    assert_int_equal(database.shaders[0].points[0].calls, 8);
    assert_true(database.shaders[0].points[0].measures[PM_MEASURE_TIME].ratio == 0.5);
    /* Two sessions on one machine prove nothing. */
    assert_true(database.shaders[0].points[0].measures[PM_MEASURE_TIME].mean_high > 1);
    /* Another driver has its own. */
    struct pm_shader_profile other = timing_shader(place->arena, 1, 9, 1000, 2000);
    other.environment.driver_version = 2;
    store(place, one_shader(place, &other));
    database = published(place, etag);
    assert_int_equal(database.shader_count, 2);
    assert_true(database.shaders[1].points[0].measures[PM_MEASURE_TIME].ratio == 2);
    const struct pm_shader_profile wrong = timing_shader(place->arena, 1, 9, 0, 2000);
    assert_refused(place, one_shader(place, &wrong), "original_ns");

    /* Many do; and without --local they are published only then. */
    reopen(place, false);
    database = published(place, etag);
    assert_false(
        pm_database_find(&database, &few.key, &few.environment, PM_KIND_TIMING)->published);
    for (int i = 0; i < 60; i++)
        store(place, one_shader(place, &few));
    database = published(place, etag);
    const struct pm_shader_estimates *many =
        pm_database_find(&database, &few.key, &few.environment, PM_KIND_TIMING);
    assert_true(many && many->published);
    assert_true(many->points[0].measures[PM_MEASURE_TIME].mean_high < 1);
    many = pm_database_find(&database, &other.key, &other.environment, PM_KIND_TIMING);
    assert_false(many->published);
}

/* What a game would have to load is bounded: what it runs most is kept. */
static void test_database_is_bounded(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    enum { SHADERS = 30, SPACE = 50 };
    pm_aggregator_destroy(place->aggregator);
    const struct pm_aggregator_info info = {.publish_all = true, .database_bytes = 24 << 10};
    place->aggregator = pm_aggregator_open(place->path, &info, NULL);
    assert_non_null(place->aggregator);
    struct pm_shader_profile shaders[SHADERS + 1];
    for (uint64_t i = 0; i < SHADERS; i++) {
        struct pm_point_counts points[SPACE];
        for (uint32_t j = 0; j < SPACE; j++)
            points[j] = zero_counts(j, 8 * (i + 1), i + 1, 1);
        shaders[i] = zero_shader(place->arena, i, SPACE, points, SPACE);
    }
    shaders[SHADERS] = timing_shader(place->arena, SHADERS, 8, 100, 90);
    store(place, profile_of(place->arena, &place->random, "game", shaders, SHADERS + 1));
    const struct pm_database database = published(place, etag);
    assert_in_range(database.shader_count, 4, 12);
    struct pm_buffer encoded;
    pm_buffer_init(&encoded, 1 << 20);
    assert_true(pm_database_encode(&database, &encoded, NULL));
    assert_true(encoded.size <= info.database_bytes);
    pm_buffer_finish(&encoded);
    for (uint64_t i = 0; i <= SHADERS; i++)
        assert_int_equal(pm_database_find(&database, &shaders[i].key, &shaders[i].environment,
                                          shaders[i].kind) != NULL,
                         i + database.shader_count > SHADERS);
    /* All of it can still be looked at. */
    assert_int_equal(estimates(place).shader_count, SHADERS + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sums_and_duplicates),
        TEST(test_refuses_one_alone),
        TEST(test_spaces_are_per_game),
        TEST(test_grouping_does_not_matter),
        TEST(test_threads),
        TEST(test_unknown_game),
        TEST(test_coverage_rule),
        TEST(test_publication_rule),
        TEST(test_occluded_profiles_stand_in),
        TEST(test_etag_and_history),
        TEST(test_interrupted),
        TEST(test_histogram_shows_scenes),
        TEST(test_bounds_spaces),
        TEST(test_zero_profiles),
        TEST(test_profiles_without_quads_stand_in),
        TEST(test_timing_profiles),
        TEST(test_database_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
