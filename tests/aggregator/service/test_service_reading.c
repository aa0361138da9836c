/* What the service gives to read: databases, their scenes and ETags, and games. */
#include "tests/aggregator/service/service_place.h"

#include "tests/patience.h"
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(42);
    place->keeping.scenes = 2;
    place->serving.curate_seconds = 1;
    *state = place;
    return 0;
}

static void test_database_and_etag(void **state)
{
    struct place *place = *state;
    struct pm_database database;
    struct pm_buffer bytes;
    struct pm_error error;
    place_serve(place);
    assert_error(place_send(place, (struct request){.path = "/v1/games/game/database"}), 404,
                 "game");
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    struct reply first = place_database(place, "game", NULL);
    assert_int_equal(first.status, 200);
    assert_int_equal(strlen(first.etag), 66);
    pm_buffer_init(&bytes, 1 << 20);
    assert_true(pm_decompress(first.body, first.size, &bytes, &error));
    assert_true(pm_database_decode(bytes.data, bytes.size, place->arena, &database, &error));
    assert_int_equal(database.shader_count, 1);
    assert_true(database.shaders[0].published);
    pm_buffer_finish(&bytes);

    char weak[200];
    snprintf(weak, sizeof(weak), "\"other\", W/%s", first.etag);
    const char *const same[] = {first.etag, weak, "*"};
    for (size_t i = 0; i < 3; i++) {
        struct reply reply = place_database(place, "game", same[i]);
        assert_int_equal(reply.status, 304);
        assert_int_equal(reply.size, 0);
        assert_string_equal(reply.etag, first.etag);
        reply_finish(&reply);
    }
    struct reply reply = place_database(place, "game", "\"other\"");
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.size, first.size);
    assert_memory_equal(reply.body, first.body, first.size);
    reply_finish(&reply);

    /* A new shader changes it, and the cached body with it. */
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 2)), 204);
    reply = place_next_database(place, "game", first.etag);
    assert_int_equal(reply.status, 200);
    assert_string_not_equal(reply.etag, first.etag);
    assert_true(reply.size > first.size);
    reply_finish(&reply);
    reply_finish(&first);
}

/* A scene has a database of its own, and every database the one before it. */
static void test_previous_and_scenes(void **state)
{
    struct place *place = *state;
    place_serve(place);
    struct pm_profile *profile = small_profile(place, 1);
    profile->scene = "the \"cave\" & sky";
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    struct reply first = place_database(place, "game", NULL);
    assert_int_equal(first.status, 200);
    const struct request scene = {.path =
                                      "/v1/games/game/database?scene=the%20%22cave%22%20%26%20sky"};
    struct reply reply = place_send(place, scene);
    for (uint64_t until = 0; reply.status == 404 && patience(&until);) {
        reply_finish(&reply);
        reply = place_send(place, scene);
    }
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    assert_error(place_send(place, (struct request){.path = "/v1/games/game/database?scene=sky"}),
                 404, "sky");
    const struct request previous = {.path = "/v1/games/game/database/previous"};
    assert_error(place_send(place, previous), 404, "previous");

    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 2)), 204);
    reply = place_next_database(place, "game", first.etag);
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    reply = place_send(place, previous);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.etag, first.etag);
    assert_int_equal(reply.size, first.size);
    assert_memory_equal(reply.body, first.body, first.size);
    reply_finish(&reply);
    reply_finish(&first);
    /* A game may be called like a part of a path. */
    profile = small_profile(place, 1);
    profile->game = "game/database";
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    reply = place_database(place, "game%2Fdatabase", NULL);
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
}

static void test_games_and_names(void **state)
{
    struct place *place = *state;
    place_serve(place);
    struct reply reply = place_send(place, (struct request){.path = "/v1/games"});
    assert_string_equal(reply.body, "{\"games\":[],\"total\":0,\"limit\":50,\"offset\":0}");
    reply_finish(&reply);
    struct pm_profile *profile = small_profile(place, 1);
    profile->game = "a/b \"c\" \xc3\xa4";
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    reply = place_send(place, (struct request){.path = "/v1/games"});
    assert_non_null(strstr((char *)reply.body,
                           "{\"games\":[{\"name\":\"a/b \\\"c\\\" \xc3\xa4\",\"uploads\":1,"));
    reply_finish(&reply);
    reply = place_database(place, "a%2Fb%20%22c%22%20%C3%A4", NULL);
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
}

/* A game that was never curated is read when somebody asks for it, not when it is time. */
static void test_game_not_read_yet(void **state)
{
    struct place *place = *state;
    place->serving.curate_seconds = 3600;
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    const struct request request = {.path = "/v1/games/game"};
    struct reply reply = place_send(place, request);
    uint64_t until = 0;
    while (reply.status == 503 && patience(&until)) {
        assert_true(reply.retry_after > 0);
        reply_finish(&reply);
        reply = place_send(place, request);
    }
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    assert_error(place_send(place, (struct request){.path = "/v1/games/other"}), 404, "known");
}

enum { GAMES = 60 };

static void store_games(struct place *place)
{
    char name[16];
    place_open(place);
    for (unsigned i = 0; i < GAMES; i++) {
        snprintf(name, sizeof(name), "game-%02u", i);
        place_store(place, random_profile(place->arena, &place->random, name, 40, 100));
    }
}

static long curations(const struct place *place)
{
    return http_metric(place->port, "piecemeal_curation_duration_seconds_count");
}

static long ask(struct place *place, const char *path)
{
    struct reply reply = place_send(place, (struct request){.path = path});
    const long status = reply.status;
    reply_finish(&reply);
    return status;
}

static void wait_for(struct place *place, const char *path)
{
    long status = 503;
    for (uint64_t until = 0; status == 503 && patience(&until);)
        status = ask(place, path);
    assert_int_equal(status, 200);
}

/* A page does not wait for the curation of all games, as after the start, nor for its rests; also
 * that of a game that comes meanwhile. */
static void test_who_waits_comes_first(void **state)
{
    struct place *place = *state;
    store_games(place);
    place_serve(place);
    wait_for(place, "/v1/games/game-59");
    assert_in_range(curations(place), 1, GAMES / 3);
    struct pm_profile *profile = small_profile(place, 1);
    profile->game = "new";
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    wait_for(place, "/v1/games/new");
    assert_in_range(curations(place), 2, GAMES / 2);
}

static const struct pm_storage_operations *real;

/* The first game is damaged, which takes a while to see. */
static bool read_damaged(struct pm_storage *storage, const char *game, const char *scene,
                         pm_storage_visit_blob visit, void *user, struct pm_error *error)
{
    if (strcmp(game, "game-00") != 0)
        return real->read_game(storage, game, scene, visit, user, error);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return pm_fail(error, PM_ERROR_INPUT, "a blob is damaged");
}

/* Who waits for a game that cannot be curated keeps no other from it. */
static void test_who_waits_in_vain(void **state)
{
    struct place *place = *state;
    store_games(place);
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    real = storage->operations;
    struct pm_storage_operations damaged = *real;
    damaged.read_game = read_damaged;
    storage->operations = &damaged;
    place_serve(place);
    long status = 404;
    for (uint64_t until = 0; status == 404 && patience(&until);) {
        assert_int_equal(ask(place, "/v1/games/game-00"), 503);
        status = ask(place, "/v1/games/game-02/database");
    }
    place_stop(place); /* before its operations go */
    assert_int_equal(status, 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_database_and_etag),     TEST(test_previous_and_scenes),
        TEST(test_games_and_names),       TEST(test_game_not_read_yet),
        TEST(test_who_waits_comes_first), TEST(test_who_waits_in_vain),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_reading", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
