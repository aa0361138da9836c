/* What tokens say that a shader is, and that a token's day is one cluster. The clock is the test's.
 */
#include "aggregator/trust/votes.h"
#include "tests/aggregator/trust/trust_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* ---- claims ---- */

/* Five liars were first. No honest upload is refused, and as soon as more honest tokens than liars
 * come on one day, what those said goes. */
static void test_majority_corrects_the_first_claim(void **state)
{
    struct place *place = *state;
    uint32_t space;
    trust_open(place, 4, 3);
    for (unsigned i = 1; i <= 5; i++)
        assert_int_equal(trust_send(place, "game", 100 + i, 1, 7, 1000).result, PM_INGEST_STORED);
    trust_known(place, "game", 1, &space);
    assert_int_equal(space, 7);
    place->now += DAY;
    for (unsigned i = 1; i <= 5; i++)
        assert_int_equal(trust_send(place, "game", i, 1, 2, 100).result, PM_INGEST_STORED);
    trust_known(place, "game", 1, &space);
    assert_int_equal(space, 7); /* no more than those were */
    place->now += DAY;
    assert_int_equal(pm_aggregator_disagreements(place->aggregator), 0); /* none on one day */
    for (unsigned i = 1; i <= 6; i++) {
        assert_int_equal(trust_send(place, "game", i, 1, 2, 100).result, PM_INGEST_STORED);
        assert_int_equal(trust_send(place, "game", 100 + i % 5, 1, 7, 1000).result,
                         PM_INGEST_STORED);
    }
    for (unsigned later = 0; later < 2; later++) { /* as it waits, and as it is folded */
        const struct pm_ratio found = trust_known(place, "game", 1, &space);
        assert_int_equal(space, 2);
        assert_int_equal(found.clusters, 6);
        assert_true(fabs(found.mean - 0.1) < 1e-6);
        place->now += DAY;
    }
    assert_int_equal(pm_aggregator_disagreements(place->aggregator), 1);
}

/* Few cannot do away with what many said, and one token has one voice. */
static void test_standing_claim(void **state)
{
    struct place *place = *state;
    uint32_t space;
    trust_open(place, 4, 3);
    for (unsigned i = 1; i <= 20; i++)
        trust_send(place, "game", i, 1, 2, 100);
    for (unsigned day = 0; day < 3; day++) {
        place->now += DAY;
        trust_send(place, "game", 1, 1, 2, 100);
        for (unsigned i = 101; i <= 119; i++)
            assert_int_equal(trust_send(place, "game", i, 1, 3, 100).result, PM_INGEST_STORED);
    }
    trust_known(place, "game", 1, &space);
    assert_int_equal(space, 2);
    assert_int_equal(trust_clusters(place, "game", 1), 23);

    /* Shader 2: few tokens claim many spaces, and keep no true one out. */
    for (uint32_t i = 4; i <= 16; i++)
        trust_send(place, "game", 30 + i / 4, 2, i, 100);
    for (unsigned i = 41; i <= 43; i++)
        trust_send(place, "game", i, 2, 2, 100);
    trust_known(place, "game", 2, &space);
    assert_int_equal(space, 2);
    place->now += DAY;
    trust_known(place, "game", 2, &space);
    assert_int_equal(space, 2);
}

/* One upload, whose shader has a block that runs at most once, if it says so. */
static void send_once(struct place *place, unsigned from, bool says_so, uint64_t lanes)
{
    static const uint8_t once = 1;
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    const struct pm_point_counts point = block_counts(0, 1000, lanes);
    struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    shader.at_most_once = says_so ? &once : NULL;
    const struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &shader, 1);
    const struct pm_ingest_source source = trust_token(from), *sources = &source;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

/* Who leaves out that a block runs at most once cannot make it run sixteen times. */
static void test_facts_are_a_claim(void **state)
{
    struct place *place = *state;
    uint32_t space;
    trust_open(place, 4, 3);
    for (unsigned i = 0; i < 5; i++)
        send_once(place, 100 + i, false, 16000);
    for (unsigned i = 0; i < 20; i++)
        send_once(place, i + 1, true, 100);
    for (unsigned later = 0; later < 2; later++) {
        const struct pm_ratio found = trust_known(place, "game", 1, &space);
        assert_int_equal(found.clusters, 20);
        assert_true(fabs(found.mean - 0.1) < 1e-6);
        assert_true(found.mean_high < 1);
        place->now += DAY;
    }
    /* On another day they are the only ones, and still fewer than those were. */
    for (unsigned i = 0; i < 19; i++)
        send_once(place, 100 + i, false, 16000);
    place->now += DAY;
    assert_int_equal(trust_clusters(place, "game", 1), 20);
}

/* Whoever has the words knows: the majority of a day does not count against it. */
static void test_known_shader(void **state)
{
    static const uint8_t once = 1;
    struct place *place = *state;
    uint32_t space;
    bool replaced;
    struct pm_error error;
    struct pm_shader_profile shader = {
        .key = key_of(1), .kind = PM_KIND_BLOCK, .space = 1, .at_most_once = &once};
    trust_open(place, 4, 3);
    for (unsigned i = 1; i <= 6; i++)
        trust_send(place, "game", i, 1, 7, 100);
    place->now += DAY;
    trust_known(place, "game", 1, &space);
    assert_int_equal(space, 7);
    assert_true(pm_aggregator_know_shader(place->aggregator, "game", &shader, &replaced, &error));
    assert_true(replaced);
    for (unsigned day = 0; day < 70; day += 23) {
        for (unsigned i = 0; i < 9; i++)
            send_once(place, 100 + i, false, 16000);
        for (unsigned i = 0; i < 9; i++)
            trust_send(place, "game", 200 + i, 1, 7, 100);
        send_once(place, 1, true, 100);
        place->now += (int64_t)23 * DAY;
        bool expired;
        assert_true(pm_aggregator_upkeep(place->aggregator, &expired, &error));
        const struct pm_ratio found = trust_known(place, "game", 1, &space);
        assert_int_equal(space, 1);
        assert_in_range(found.clusters, 1, 3);
        assert_true(fabs(found.mean - 0.1) < 1e-6);
    }
    assert_true(pm_aggregator_know_shader(place->aggregator, "game", &shader, &replaced, &error));
    assert_false(replaced);
}

/* One upload of shader 1, of whose sixteen points these run at most once. */
static void send_map(struct place *place, unsigned from, const uint8_t map[2], uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_point_counts points[16];
    for (uint32_t i = 0; i < 16; i++)
        points[i] = block_counts(i, 1000, lanes);
    struct pm_shader_profile shader = block_shader(place->arena, 1, 16, points, 16);
    shader.at_most_once = map;
    const struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &shader, 1);
    const struct pm_ingest_source source = trust_token(from), *sources = &source;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

static bool count_claim(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    static const uint8_t of_points[PM_SCOPE_BYTES];
    (void)error;
    *(unsigned *)user += memcmp(claim->scope, of_points, sizeof(of_points)) == 0;
    return true;
}

/* However many lies of few there are, whatever their numbers: what many said stands among them, and
 * the storage keeps few of them. */
static void test_many_lies(void **state)
{
    enum { LIES = 12, HONEST = 20, DAYS = 8 };
    static const uint8_t honest[2] = {0x35, 0x11};
    uint8_t lies[LIES][2];
    struct place *place = *state;
    struct pm_storage *storage;
    struct pm_error error;
    uint32_t space;
    unsigned count = 0, claims = 0;
    trust_open(place, 4, 3);
    for (unsigned i = 1; i < 65536 && count < LIES; i++) {
        const uint8_t map[2] = {(uint8_t)i, (uint8_t)(i >> 8)};
        if (pm_facts_of(map, 16) < pm_facts_of(honest, 16))
            memcpy(lies[count++], map, sizeof(map));
    }
    assert_int_equal(count, LIES);
    for (unsigned day = 0; day < DAYS; day++) {
        for (unsigned i = 1; i <= HONEST; i++)
            send_map(place, i, honest, 100);
        for (unsigned i = 0; day > 0 && day < 4 && i < 4; i++)
            send_map(place, 101, lies[4 * (day - 1) + i], 900);
        place->now += DAY;
        const struct pm_ratio found = trust_known(place, "game", 1, &space);
        assert_int_equal(found.clusters, HONEST * (day + 1));
        assert_true(fabs(found.mean - 0.1) < 1e-6);
    }
    /* A day on which more lie than not: fewer than what many said on another. */
    for (unsigned i = 1; i <= 2; i++)
        send_map(place, i, honest, 100);
    for (unsigned i = 101; i <= 103; i++)
        send_map(place, i, lies[0], 900);
    place->now += DAY;
    assert_int_equal(trust_known(place, "game", 1, &space).clusters, HONEST * DAYS + 2);
    storage = pm_aggregator_storage(place->aggregator);
    if (!storage->operations->read_claims(storage, "game", count_claim, &claims, &error))
        fail_msg("%s", error.message);
    assert_in_range(claims, 2, 8);
}

/* ---- one cluster a day ---- */

/* What a token sends on one day is one pair, whatever comes in between, until the day has ended and
 * after; a fleet's uploads are of as many players. */
static void test_a_day_is_one_cluster(void **state)
{
    struct place *place = *state;
    uint32_t space;
    trust_open(place, 4, 3);
    trust_send(place, "game", 1, 1, 2, 0);
    assert_int_equal(trust_clusters(place, "game", 1), 1);
    for (unsigned i = 0; i < 3; i++)
        trust_send(place, "game", 1, 1, 2, 1000);
    for (unsigned i = 2; i <= 4; i++)
        trust_send(place, "game", i, 1, 2, 0);
    for (unsigned later = 0; later < 3; later++) {
        const struct pm_ratio found = trust_known(place, "game", 1, &space);
        assert_int_equal(found.clusters, 4);
        assert_true(fabs(found.mean - 0.75 / 4) < 1e-6);
        assert_int_equal(place_rows_that_wait(place) > 0, later == 0);
        place->now += DAY;
    }
    const struct pm_point_counts points[2] = {block_counts(0, 1000, 0), block_counts(1, 1000, 0)};
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
    struct pm_ingest_source fleet = trust_token(50);
    const struct pm_ingest_source *sources = &fleet;
    fleet.fleet = true;
    for (unsigned i = 0; i < 9; i++) {
        struct pm_ingest_outcome outcome;
        const struct pm_profile *profile = place_profile(place, &shader);
        assert_true(
            pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
        assert_false(outcome.uncounted);
    }
    assert_int_equal(trust_clusters(place, "game", 1), 13);
}

/* The marks go with the day, also of a game that nobody curates. */
static void test_day_marks_go(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    trust_open(place, 4, 3);
    for (unsigned i = 1; i <= 4; i++)
        trust_send(place, "game", i, 1, 2, 500);
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_true(place_rows_that_wait(place) > 0);
    place->now += DAY;
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_int_equal(place_rows_that_wait(place), 0);
    assert_int_equal(trust_clusters(place, "game", 1), 4);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, trust_set_up, trust_tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_majority_corrects_the_first_claim),
        TEST(test_standing_claim),
        TEST(test_facts_are_a_claim),
        TEST(test_known_shader),
        TEST(test_many_lies),
        TEST(test_a_day_is_one_cluster),
        TEST(test_day_marks_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
