/* From clusters of variants to races that are published: who counts, what days and tokens do, and
 * what is forgotten. On either storage; the clock is the test's. */
#include "aggregator/curation/publish_races.h"
#include "profile/variant_point.h"
#include "tests/aggregator/players.h"
#include <math.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define MORNING (20000 * DAY + HOUR)
enum { PLAYERS = 80 };

static int set_up(void **state)
{
    struct place *place = place_create(78);
    place->now = MORNING;
    place->keeping.publish_all = false;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.min_tokens = PM_MIN_TOKENS;
    place->keeping.token_clusters = PM_TOKEN_CLUSTERS;
    place->keeping.publish_seconds = HOUR;
    place_open(place);
    *state = place;
    return 0;
}

/* token 0: none. */
static void put_all(struct place *place, unsigned token, const struct pm_shader_profile *shaders,
                    size_t count)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {0};
    const struct pm_ingest_source *sources = token > 0 ? &source : NULL;
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", shaders, count);
    profile->day = (uint32_t)(place->now / DAY);
    const struct pm_profile *profiles = profile;
    memcpy(source.digest, &token, sizeof(token));
    if (!pm_aggregator_ingest_from(place->aggregator, &profiles, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

static void put(struct place *place, unsigned token, const struct pm_shader_profile *shader)
{
    put_all(place, token, shader, 1);
}

static void curate(struct place *place)
{
    struct pm_error error;
    if (!pm_aggregator_curate(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
}

/* NULL: nothing is published of the shader in the environment. */
static const struct pm_race *published_in(struct place *place, uint64_t shader,
                                          const struct pm_environment *in,
                                          char etag[static PM_ETAG_TEXT])
{
    struct pm_races races;
    struct pm_error error = {0};
    const struct pm_shader_key key = key_of(shader);
    if (!pm_races_published(pm_aggregator_storage(place->aggregator), "game", place->arena, &races,
                            etag, &error)) {
        assert_int_equal(error.code, PM_ERROR_STATE);
        return NULL;
    }
    return pm_races_find(&races, &key, in);
}

static const struct pm_race *published(struct place *place, uint64_t shader,
                                       char etag[static PM_ETAG_TEXT])
{
    const struct pm_environment in = players_environment();
    return published_in(place, shader, &in, etag);
}

static const struct pm_race *race_of(struct place *place, uint64_t shader)
{
    char etag[PM_ETAG_TEXT];
    return published(place, shader, etag);
}

/* A day of so many players, and the next morning. */
static const struct pm_race *day(struct place *place, unsigned players, uint64_t shader,
                                 const struct truth *truth)
{
    const struct pm_race *race = race_of(place, shader);
    for (unsigned player = 1; player <= players; player++) {
        const struct pm_shader_profile profile = players_measure(place, shader, truth, race);
        put(place, player, &profile);
    }
    curate(place);
    place->now += DAY;
    curate(place);
    return race_of(place, shader);
}

/* Clusters of a point in both halves, by the storage. */
struct halves {
    uint32_t point;
    uint64_t clusters[2];
};

static bool visit(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                  struct pm_error *error)
{
    struct halves *halves = user;
    struct pm_statistics statistics;
    if (key->kind != PM_KIND_VARIANT)
        return true;
    pm_statistics_init(&statistics);
    const bool done = pm_statistics_decode(blob, size, &statistics, error);
    const struct pm_point_statistics *point =
        done ? pm_statistics_find(&statistics, halves->point) : NULL;
    if (point)
        halves->clusters[(key->flags & PM_PROFILE_HELD_OUT) != 0] +=
            point->measures[PM_MEASURE_SAID].n;
    pm_statistics_finish(&statistics);
    return done;
}

static struct halves halves_of(struct place *place, uint32_t variant)
{
    struct halves halves = {.point = players_point(variant)};
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    assert_true(storage->operations->read_game(storage, "game", NULL, visit, &halves, NULL));
    return halves;
}

/* However many uploads, a token's day is one cluster, and in one half; of many tokens half is held
 * out. */
static void test_clusters(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = pm_variant_counts(players_point(2), 8, -0.05);
    const struct pm_shader_profile shader = players_profile(place, 1, &point, 1);
    for (unsigned token = 1; token <= 64; token++)
        for (int upload = 0; upload < 3; upload++)
            put(place, token, &shader);
    place->now += DAY;
    curate(place);
    const struct halves halves = halves_of(place, 2);
    assert_int_equal(halves.clusters[0] + halves.clusters[1], 64);
    assert_in_range(halves.clusters[0], 16, 48);
    /* Uploads without a token are each one, and are halved, too. */
    for (int upload = 0; upload < 64; upload++)
        put(place, 0, &shader);
    curate(place);
    const struct halves more = halves_of(place, 2);
    assert_int_equal(more.clusters[0] + more.clusters[1], 128);
    assert_in_range(more.clusters[0] - halves.clusters[0], 16, 48);
}

/* The right one wins, and its gain holds; one with as many days behind it is no surer of it. */
static void test_winner(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.92)}};
    const struct pm_race *race = NULL;
    for (int i = 0; i < 10 && (!race || race->winner == 0); i++)
        race = day(place, PLAYERS, 1, &truth);
    assert_non_null(race);
    assert_int_equal(race->winner, players_point(7));
    assert_true(race->low <= log(0.92) && log(0.92) <= race->high);
    /* It is forgotten with its shader. */
    uint64_t blobs;
    const struct pm_shader_key key = key_of(1);
    assert_true(pm_aggregator_drop(place->aggregator, "game", &key, &blobs, NULL));
    assert_true(blobs > 0);
    assert_null(race_of(place, 1));
}

/* On another GPU, or with another driver, another one wins, and what wins elsewhere is slower
 * there: together they would have none. */
static void test_each_environment_has_its_own(void **state)
{
    enum { ENVIRONMENTS = 3, DAYS = 10 };
    static const uint32_t winners[ENVIRONMENTS] = {7, 3, 11};
    struct place *place = *state;
    struct pm_environment in[ENVIRONMENTS];
    struct truth truths[ENVIRONMENTS] = {0};
    const struct pm_race *races[ENVIRONMENTS] = {NULL};
    char etag[PM_ETAG_TEXT];
    for (int e = 0; e < ENVIRONMENTS; e++) {
        in[e] = players_environment();
        for (int other = 0; other < ENVIRONMENTS; other++)
            truths[e].logs[winners[other]] = log(other == e ? 0.92 : 1.05);
    }
    in[1].device_id++;
    in[2].driver_version++;
    for (int i = 0; i < DAYS; i++) {
        for (unsigned e = 0; e < ENVIRONMENTS; e++) {
            for (unsigned player = 1; player <= PLAYERS; player++) {
                struct pm_shader_profile profile = players_measure(place, 1, &truths[e], races[e]);
                profile.environment = in[e];
                put(place, e * PLAYERS + player, &profile);
            }
        }
        place->now += DAY;
        curate(place);
        for (int e = 0; e < ENVIRONMENTS; e++)
            races[e] = published_in(place, 1, &in[e], etag);
    }
    for (int e = 0; e < ENVIRONMENTS; e++) {
        assert_non_null(races[e]);
        assert_int_equal(races[e]->winner, players_point(winners[e]));
        assert_true(races[e]->low <= log(0.92) && log(0.92) <= races[e]->high);
    }
}

/* An arm of so many clusters in each half, of one day, alternately this much above and below. */
static void set_arm(struct pm_gathered_arm *arm, struct pm_race_day days[2], uint32_t variant,
                    double log_ratio)
{
    enum { CLUSTERS = 200 };
    const double apart = 0.02;
    arm->point = players_point(variant);
    for (unsigned i = 0; i < 2; i++) {
        days[i] = (struct pm_race_day){.day = 20000, .n = CLUSTERS};
        arm->halves[i] =
            (struct pm_race_half){.sums = {CLUSTERS, CLUSTERS * log_ratio,
                                           CLUSTERS * (log_ratio * log_ratio + apart * apart)},
                                  .days = &days[i],
                                  .count = 1};
    }
}

/* The race of four variants, by these logarithms. */
enum { ARMS = 4 };
static struct pm_race judge(struct place *place, const uint32_t *variants, const double *logs)
{
    struct pm_gathered_arm arms[ARMS];
    struct pm_race_day days[ARMS][2];
    struct pm_gathered_race race = {.key = key_of(1),
                                    .environment = players_environment(),
                                    .vouched_day = 20000,
                                    .arms = arms,
                                    .count = ARMS};
    const struct pm_race_gathering gathering = {.races = &race, .count = 1};
    struct pm_races races = {0};
    const uint32_t *vouched_days;
    struct pm_error error;
    for (unsigned i = 0; i < ARMS; i++)
        set_arm(&arms[i], days[i], variants[i], logs[i]);
    if (!pm_races_judge(&gathering, pm_aggregator_curator(place->aggregator), NULL, place->arena,
                        &races, &vouched_days, &error))
        fail_msg("%s", error.message);
    assert_int_equal(races.race_count, 1);
    return races.races[0];
}

/* A winner by few percent stays one while its pairs are not measured yet, and these are asked for.
 */
static void test_winner_stays_beside_pairs(void **state)
{
    static const uint32_t variants[ARMS] = {5, 6, 7, 8};
    static const double logs[ARMS] = {-0.03, -0.005, -0.004, 0.001};
    const struct pm_race race = judge(*state, variants, logs);
    assert_true(race.variant_count > ARMS);
    assert_int_equal(race.winner, players_point(5));
    assert_true(race.low < -0.03 && -0.03 < race.high);
    assert_true(race.high < 0);
}

/* Whether it is of two recipes, of which the truth says that they are faster. */
static bool is_faster_pair(uint32_t point, const struct truth *truth)
{
    struct pm_variant_id id;
    return pm_variant_id_of(point, &id) && id.second.number != 0 &&
           truth->logs[id.first.number - 1] < 0 && truth->logs[id.second.number - 1] < 0;
}

/* The race until a pair wins it, on so many days at most. NULL: none did. *recipes: days on which
 * the fastest recipe, the 7th, had won. */
static const struct pm_race *until_pair_wins(struct place *place, const struct truth *truth,
                                             int days, int *recipes)
{
    *recipes = 0;
    for (int i = 0; i < days; i++) {
        const struct pm_race *race = day(place, PLAYERS, 1, truth);
        struct pm_variant_id id;
        if (!race || race->winner == 0)
            continue;
        assert_true(pm_variant_id_of(race->winner, &id));
        if (id.second.number != 0)
            return race;
        assert_int_equal(race->winner, players_point(7));
        ++*recipes;
    }
    return NULL;
}

/* What the race asks for is measured, and a pair that is faster than its recipes wins and is
 * published, with what it gains; a recipe had won before. */
static void test_pair_wins(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.94), [11] = log(0.95)}, .pairs = true};
    const double together = log(0.94) + log(0.95);
    int recipes;
    const struct pm_race *race = until_pair_wins(place, &truth, 20, &recipes);
    assert_non_null(race);
    assert_true(recipes > 0);
    assert_true(is_faster_pair(race->winner, &truth));
    assert_true(race->low <= together && together <= race->high);
    assert_true(race->high < 0);
    const struct pm_race_variant *pair = pm_race_find_variant(race, race->winner);
    assert_non_null(pair);
    assert_true(pair->clusters > 0 && !pair->lost);
    assert_true(pair->log_time < pm_race_find_variant(race, players_point(7))->log_time);
}

/* Pairs that gain less than the faster of their recipes are measured as well, and win nothing. */
static void test_pair_gains_less(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.94), [11] = log(0.97)},
                                .pairs = true,
                                .together = log(0.96) - log(0.94) - log(0.97)};
    int recipes;
    assert_null(until_pair_wins(place, &truth, 8, &recipes));
    assert_true(recipes > 0);
    const struct pm_race *race = race_of(place, 1);
    double clusters = 0;
    for (size_t i = 0; i < race->variant_count; i++)
        if (is_faster_pair(race->variants[i].point, &truth))
            clusters += race->variants[i].clusters;
    assert_true(clusters > 0);
}

/* On no day is a winner taken back for a pair that is about as fast, or that is not shown yet. */
static void test_winner_stays(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.94), [11] = log(0.97)},
                                .pairs = true,
                                .together = log(0.928) - log(0.94) - log(0.97)};
    bool won = false;
    double clusters = 0;
    for (int i = 0; i < 16; i++) {
        const struct pm_race *race = day(place, PLAYERS, 1, &truth);
        assert_true(!won || race->winner == players_point(7));
        won |= race && race->winner != 0;
        for (size_t v = 0; race && v < race->variant_count; v++)
            if (is_faster_pair(race->variants[v].point, &truth))
                clusters += race->variants[v].clusters;
    }
    assert_true(won && clusters > 0);
}

/* Of those that are alike the first of the list of recipes wins, as in contests, though a later one
 * is of a lower version. Variants are published by their points. */
static void test_alike(void **state)
{
    static const uint32_t variants[ARMS] = {15, 13, 7, 8};
    static const double logs[ARMS] = {-0.05, -0.05, 0, 0.001};
    const struct pm_race race = judge(*state, variants, logs);
    assert_true(players_point(15) < players_point(13));
    assert_int_equal(race.winner, players_point(13));
    for (size_t i = 1; i < race.variant_count; i++)
        assert_true(race.variants[i - 1].point < race.variants[i].point);
}

/* Whatever one token says, and however often one looks: of many races of equals none has a winner.
 * By the rules one in twenty might ever have one. */
static void test_one_token_decides_nothing(void **state)
{
    enum { SHADERS = 12, DAYS = 5 };
    struct place *place = *state;
    const struct truth truth = {0};
    unsigned winners = 0;
    for (int i = 0; i < DAYS; i++) {
        struct pm_shader_profile shaders[SHADERS];
        const struct pm_race *races[SHADERS];
        for (uint64_t shader = 0; shader < SHADERS; shader++)
            races[shader] = race_of(place, shader);
        for (unsigned player = 1; player <= PLAYERS; player++) {
            for (uint64_t shader = 0; shader < SHADERS; shader++)
                shaders[shader] = players_measure(place, shader, &truth, races[shader]);
            put_all(place, player, shaders, SHADERS);
        }
        for (int upload = 0; upload < 6; upload++) {
            for (uint64_t shader = 0; shader < SHADERS; shader++)
                shaders[shader] = players_lie(place, shader);
            put_all(place, 1000, shaders, SHADERS);
        }
        curate(place);
        place->now += DAY;
        curate(place);
        for (uint64_t shader = 0; shader < SHADERS; shader++) {
            const struct pm_race *race = race_of(place, shader);
            assert_non_null(race);
            winners += race->winner != 0;
        }
    }
    assert_int_equal(winners, 0);
}

/* Variants that a few made up are not in the race, and change nothing for the others. */
static void test_made_up_variants(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.90)}};
    struct pm_point_counts points[500];
    for (uint32_t i = 0; i < 500; i++) {
        /* Of versions that there are not, and pairs that nobody else has measured. */
        const struct pm_variant_id id =
            i < 250 ? (struct pm_variant_id){{1 + i % 50, 2 + i / 50}, {0, 0}}
                    : (struct pm_variant_id){{1 + i % 31, 1}, {1 + i / 31, 1}};
        uint32_t point = 0;
        assert_true(pm_variant_point(&id, &point));
        points[i] = pm_variant_counts(point, 8, -1);
    }
    for (uint32_t i = 1; i < 500; i++) /* ascending */
        for (uint32_t j = i; j > 0 && points[j - 1].point > points[j].point; j--) {
            const struct pm_point_counts swapped = points[j];
            points[j] = points[j - 1];
            points[j - 1] = swapped;
        }
    const struct pm_race *race = NULL;
    for (int i = 0; i < 10 && (!race || race->winner == 0); i++) {
        for (unsigned token = 1000; token < 1000 + PM_MIN_TOKENS - 1; token++) {
            const struct pm_shader_profile profile = players_profile(place, 1, points, 500);
            put(place, token, &profile);
        }
        race = day(place, PLAYERS, 1, &truth);
    }
    assert_non_null(race);
    assert_int_equal(race->winner, players_point(7));
    assert_true(race->variant_count <= PM_RACE_ARMS + PM_RACE_PAIRS);
}

/* Once an hour, and only what enough new tokens have spoken of since. */
static void test_when_it_is_published(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.90)}};
    char first[PM_ETAG_TEXT], second[PM_ETAG_TEXT];
    assert_non_null(day(place, PLAYERS, 1, &truth));
    published(place, 1, first);
    place->now += 3 * HOUR;
    curate(place);
    published(place, 1, second);
    assert_string_equal(first, second);
    /* Of too few nothing of it changes. */
    day(place, PM_MIN_TOKENS - 1, 1, &truth);
    day(place, PM_MIN_TOKENS - 1, 1, &truth);
    published(place, 1, second);
    assert_string_equal(first, second);
    day(place, PLAYERS, 1, &truth);
    day(place, PLAYERS, 1, &truth);
    published(place, 1, second);
    assert_string_not_equal(first, second);
}

/* Databases are as they were: nothing of variants is in them. */
static void test_databases_have_none(void **state)
{
    struct place *place = *state;
    const struct truth truth = {0};
    const struct pm_point_counts block = block_counts(0, 64, 64);
    const struct pm_shader_profile shader = block_shader(place->arena, 2, 1, &block, 1);
    char etag[PM_ETAG_TEXT];
    for (unsigned token = 1; token <= PM_MIN_TOKENS; token++)
        put(place, token, &shader);
    day(place, PLAYERS, 1, &truth);
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].kind, PM_KIND_BLOCK);
    assert_int_equal(place_estimates(place).shader_count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_clusters),
        TEST(test_winner),
        TEST(test_each_environment_has_its_own),
        TEST(test_winner_stays_beside_pairs),
        TEST(test_pair_wins),
        TEST(test_pair_gains_less),
        TEST(test_winner_stays),
        TEST(test_alike),
        TEST(test_made_up_variants),
        TEST(test_one_token_decides_nothing),
        TEST(test_when_it_is_published),
        TEST(test_databases_have_none),
    };
    return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
