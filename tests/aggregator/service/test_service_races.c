/* Races of variants over HTTP: a population that measures what it is asked to, day by day. The
 * clock is the test's. */
#include "profile/races.h"
#include "profile/variant_point.h"
#include "tests/aggregator/players.h"
#include "tests/aggregator/service/service_place.h"
#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define MORNING (20000 * DAY + HOUR)

enum { PLAYERS = 200, PAIRS = 16 };

static int set_up(void **state)
{
    struct place *place = place_create(77);
    char *file = join(place->folder, "tokens"), text[PLAYERS * 8 + 32] = "hostile\n";
    for (int i = 0; i < PLAYERS; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "p%d\n", i);
    write_file(file, text);
    place->serving.token_file = pm_arena_strdup(place->arena, file);
    free(file);
    place->now = MORNING;
    place->keeping.publish_all = false;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.token_clusters = PM_TOKEN_CLUSTERS;
    place->keeping.min_tokens = PM_MIN_TOKENS;
    place->keeping.publish_seconds = HOUR;
    place->serving.curate_seconds = 86400;
    place_serve(place);
    *state = place;
    return 0;
}

/* ---- what the server says ---- */

/* The races as a player sees them; memory is the arena's. */
static struct pm_races pull(struct place *place, const char *game, char etag[static 80])
{
    char path[100];
    struct pm_races races;
    struct pm_error error = {0};
    snprintf(path, sizeof(path), "/v1/games/%s/races", game);
    struct reply reply = place_send(place, (struct request){.path = path, .token = "p0"});
    assert_int_equal(reply.status, 200);
    if (!pm_races_body_decode(reply.body, reply.size, place->arena, &races, &error))
        fail_msg("%s", error.message);
    assert_string_equal(races.game, game);
    snprintf(etag, 80, "%s", reply.etag);
    reply_finish(&reply);
    return races;
}

static const struct pm_race *race_of(struct place *place, uint64_t shader)
{
    static struct pm_races races;
    char etag[80];
    const struct pm_shader_key key = key_of(shader);
    const struct pm_environment in = players_environment();
    races = pull(place, "game", etag);
    return pm_races_find(&races, &key, &in);
}

/* ---- players ---- */

static void put(struct place *place, const char *token, const struct pm_shader_profile *shader)
{
    struct pm_profile *profile = place_profile(place, shader);
    profile->day = (uint32_t)(place->now / DAY);
    assert_int_equal(http_upload(place->port, token, profile), 204);
}

static void play(struct place *place, int player, uint64_t shader, const struct truth *truth,
                 const struct pm_race *race)
{
    const struct pm_shader_profile profile = players_measure(place, shader, truth, race);
    char token[16];
    snprintf(token, sizeof(token), "p%d", player);
    put(place, token, &profile);
}

/* One token, as often as it may and more. */
static void lie(struct place *place, uint64_t shader)
{
    for (int i = 0; i < 2 * PM_TOKEN_CLUSTERS; i++) {
        const struct pm_shader_profile profile = players_lie(place, shader);
        put(place, "hostile", &profile);
    }
}

/* A day of the population, and the curation of the next morning. */
static const struct pm_race *day(struct place *place, uint64_t shader, const struct truth *truth,
                                 bool hostile)
{
    const struct pm_race *race = race_of(place, shader);
    for (int player = 0; player < PLAYERS; player++)
        play(place, player, shader, truth, race);
    if (hostile)
        lie(place, shader);
    struct pm_error error = {0};
    for (int time = 0; time < 2; time++) {
        if (!pm_aggregator_curate(place->aggregator, "game", &error))
            fail_msg("%s", error.message);
        place->now += time == 0 ? DAY : 0;
    }
    return race_of(place, shader);
}

/* ---- tests ---- */

/* The right one wins, with its gain from clusters that did not choose it; the measurements go to
 * it; what is slow has lost; and what comes next are pairs. */
static void test_the_right_variant_wins(void **state)
{
    struct place *place = *state;
    struct truth truth = {.logs = {[7] = log(0.90), [3] = log(0.96), [12] = log(1.15)}};
    const struct pm_race *race = NULL;
    int days = 0;
    while (days < 10 && (!race || race->winner == 0)) {
        race = day(place, 1, &truth, true);
        days++;
    }
    assert_non_null(race);
    assert_int_equal(race->winner, players_point(7));
    assert_true(race->low <= log(0.90) && log(0.90) <= race->high && race->high < -0.01);
    assert_true(race->as_of_day > 0);
    const struct pm_race_variant *winner = pm_race_find_variant(race, players_point(7));
    assert_false(winner->lost);
    for (size_t i = 0; i < race->variant_count; i++)
        assert_true(race->variants[i].share <= winner->share);
    assert_true(pm_race_find_variant(race, players_point(12))->lost);
    /* The winner with the next best. */
    struct pm_variant_id pair, second;
    uint32_t point;
    assert_true(pm_variant_id_of(players_point(7), &pair) &&
                pm_variant_id_of(players_point(3), &second));
    pair.second = second.first;
    assert_true(pm_variant_point(&pair, &point));
    const struct pm_race_variant *next = pm_race_find_variant(race, point);
    assert_non_null(next);
    assert_true(next->share > 0 && next->clusters == 0);
}

/* Among equals none wins, however often one looks and whatever one token says. */
static void test_equals_have_no_winner(void **state)
{
    struct place *place = *state;
    const struct truth truth = {0};
    for (int i = 0; i < 8; i++) {
        const struct pm_race *race = day(place, 1, &truth, true);
        if (race && race->winner != 0)
            fail_msg("a winner on day %d", i);
    }
}

/* Nothing is said before enough tokens have spoken, nor of a day that goes on. */
static void test_days_and_tokens(void **state)
{
    struct place *place = *state;
    const struct truth truth = {.logs = {[7] = log(0.90)}};
    char first[80], second[80];
    assert_int_equal(pull(place, "nobody", first).race_count, 0);
    for (int player = 0; player < PM_MIN_TOKENS - 1; player++)
        play(place, player, 1, &truth, NULL);
    for (int player = 0; player < PLAYERS; player++)
        play(place, player, 2, &truth, NULL);
    assert_true(pm_aggregator_curate(place->aggregator, "game", NULL));
    assert_int_equal(pull(place, "game", first).race_count, 0);
    place->now += DAY;
    assert_true(pm_aggregator_curate(place->aggregator, "game", NULL));
    assert_null(race_of(place, 1));
    const struct pm_race *race = race_of(place, 2);
    assert_non_null(race);
    uint32_t clusters = 0;
    for (size_t i = 0; i < race->variant_count; i++)
        clusters += race->variants[i].clusters;
    assert_in_range(clusters, PLAYERS, PLAYERS * PLAYERS_TRIED);
    /* The same again has the same name. */
    pull(place, "game", first);
    place->now += 2 * HOUR;
    assert_true(pm_aggregator_curate(place->aggregator, "game", NULL));
    pull(place, "game", second);
    assert_string_equal(first, second);
    char header[120];
    snprintf(header, sizeof(header), "If-None-Match: %s", first);
    struct reply reply = place_send(
        place, (struct request){.path = "/v1/games/game/races", .token = "p1", .header = header});
    assert_int_equal(reply.status, 304);
    reply_finish(&reply);
    reply = place_send(place, (struct request){.path = "/v1/games/game/races"});
    assert_int_equal(reply.status, 401);
    reply_finish(&reply);
}

/* Who chooses is the server's lot alone, and what no recipe makes is no variant. */
static void test_what_cannot_be(void **state)
{
    struct place *place = *state;
    struct pm_point_counts point = pm_variant_counts(players_point(1), PAIRS, -0.1);
    struct pm_shader_profile shader = players_profile(place, 1, &point, 1);
    struct pm_ingest_outcome outcome;
    put(place, "p0", &shader);
    shader.flags = PM_PROFILE_HELD_OUT;
    struct pm_buffer wire;
    struct pm_error error = {0};
    pm_buffer_init(&wire, 1 << 20);
    assert_false(pm_profile_encode(place_profile(place, &shader), &wire, &error));
    assert_non_null(strstr(error.message, "field flags"));
    shader.flags = 0;
    point.point = 0;
    shader = players_profile(place, 1, &point, 1);
    assert_false(pm_profile_encode(place_profile(place, &shader), &wire, &error));
    assert_non_null(strstr(error.message, "no recipe makes such a variant"));
    point = pm_variant_counts(players_point(1), PAIRS, -0.1);
    point.counts[PM_VARIANT_SAID] = point.counts[PM_VARIANT_MOST] + 1;
    shader = players_profile(place, 1, &point, 1);
    outcome = place_ingest(place, place_profile(place, &shader));
    assert_int_equal(outcome.result, PM_INGEST_REFUSED);
    pm_buffer_finish(&wire);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_right_variant_wins),
        TEST(test_equals_have_no_winner),
        TEST(test_days_and_tokens),
        TEST(test_what_cannot_be),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_races", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
