/* What was measured of variants goes to servers that know of races, and to no other; and races are
 * pulled. */
#include "aggregator_client/disk/spool_format.h"
#include "aggregator_client/sync_races.h"
#include "profile/variant_point.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAME "A Game"

/* Records an ended session, of a block profile too where `both`. */
static void record(bool both)
{
    struct pm_error error = {0};
    const struct pm_point_counts measured = pm_variant_counts(16 | 1 << 6, 16, -0.05);
    const struct pm_point_counts block = {
        .calls = 1, .entry_lanes = 64, .entry_subgroups = 8, .counts = {64, 64, 8}};
    const struct pm_shader_profile shaders[] = {{.key = {{1}},
                                                 .environment = {8, 0x10005, 3, 13, 0x6403},
                                                 .kind = PM_KIND_VARIANT,
                                                 .space = PM_VARIANT_SPACE,
                                                 .points = &measured,
                                                 .point_count = 1},
                                                {.key = {{2}},
                                                 .environment = {.subgroup_size = 8},
                                                 .kind = PM_KIND_BLOCK,
                                                 .space = 1,
                                                 .points = &block,
                                                 .point_count = 1}};
    const struct pm_profile profile = {.game = GAME,
                                       .scene = "",
                                       .layer_version = "0.1.0",
                                       .shaders = shaders,
                                       .shader_count = both ? 2 : 1};
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 20, &error);
    if (!writer || !pm_spool_append(writer, &profile, &error) ||
        !pm_spool_append(writer, &profile, &error))
        fail_msg("%s", error.message);
    pm_spool_writer_destroy(writer);
}

/* The body of a list of races with one of them, and a day that tells which. */
static struct pm_buffer make_races(const char *game, uint32_t day)
{
    const struct pm_race_variant variant = {16 | 1 << 6, 1, -0.05, 30, false};
    const struct pm_race race = {.key = {{1}},
                                 .environment = {8, 0x10005, 3, 13, 0x6403},
                                 .as_of_day = day,
                                 .variants = &variant,
                                 .variant_count = 1};
    const struct pm_races races = {game, 77, &race, 1};
    struct pm_buffer body;
    pm_buffer_init(&body, 1 << 16);
    if (!pm_races_body_encode(&races, &body, NULL))
        abort();
    return body;
}

/* The day of the cached races; 0: there are none. */
static uint32_t cached(void)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_races races;
    const uint32_t day =
        pm_races_cache_load(GAME, arena, &races, NULL) ? races.races[0].as_of_day : 0;
    pm_arena_destroy(arena);
    return day;
}

static bool asks_for(struct world *world, size_t request, const char *line)
{
    return strncmp(server_request(world->server, request)->head, line, strlen(line)) == 0;
}

#define ASKED "GET /v1/games/A%20Game/races HTTP/1.1\r\n"
#define SENT "POST /v1/uploads HTTP/1.1\r\n"

/* How many shaders the request sent, and how many variants of the first two points. */
static size_t sent(struct world *world, size_t request, uint64_t *pairs)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile profile;
    world_decode(server_request(world->server, request), arena, &profile);
    const size_t count = profile.shader_count;
    *pairs = 0;
    for (size_t i = 0; i < count; i++)
        *pairs += profile.shaders[i].kind == PM_KIND_VARIANT
                      ? profile.shaders[i].points[0].entry_lanes
                      : 0;
    pm_arena_destroy(arena);
    return count;
}

static void a_server_that_knows_races_gets_them(void **state)
{
    struct world *world = *state;
    struct pm_buffer body = make_races(GAME, 5);
    const struct server_answer script[] = {
        {.status = 200, .headers = "ETag: \"one\"\r\n", .body = body.data, .size = body.size},
        {.status = 204}};
    uint64_t pairs;
    record(true);
    server_script(world->server, script, 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 2);
    assert_true(asks_for(world, 0, ASKED));
    assert_true(asks_for(world, 1, SENT));
    assert_int_equal(sent(world, 1, &pairs), 2);
    assert_int_equal(pairs, 32);
    assert_int_equal(cached(), 5);
    /* The next one is asked by what is there. */
    record(true);
    server_script(world->server, (struct server_answer[]){{.status = 304}, {.status = 204}}, 2);
    assert_true(world_upload(world));
    assert_non_null(
        strstr(server_request(world->server, 0)->head, "\r\nIf-None-Match: \"one\"\r\n"));
    assert_int_equal(sent(world, 1, &pairs), 2);
    assert_int_equal(cached(), 5);
    pm_buffer_finish(&body);
}

static void an_older_server_gets_the_rest(void **state)
{
    struct world *world = *state;
    uint64_t pairs;
    record(true);
    server_script(world->server, (struct server_answer[]){{.status = 404}, {.status = 204}}, 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 2);
    assert_int_equal(sent(world, 1, &pairs), 1);
    assert_int_equal(pairs, 0);
    assert_int_equal(world->report.shaders_uploaded, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    /* Where nothing else was recorded there is nothing to send. */
    record(false);
    server_script(world->server, (struct server_answer[]){{.status = 404}, {.status = 500}}, 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    assert_int_equal(world->report.sessions_refused, 0);
}

/* Only 404 says that a server knows of no races. A token that is no good, a redirection and
 * somebody else's page say nothing, and a session of variants alone waits as any other does. */
static void what_says_nothing_of_races_costs_nothing(void **state)
{
    struct world *world = *state;
    struct pm_buffer body = make_races(GAME, 5), other = make_races("another", 5);
    const struct server_answer nothing[] = {
        {.status = 401},
        {.status = 403},
        {.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"},
        {.status = 204},
        {.status = 200, .body = (uint8_t *)"<html>", .size = 6},
        {.status = 200, .body = other.data, .size = other.size},
        {.status = 500},
    };
    uint64_t pairs;
    record(false);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        server_script(world->server, (struct server_answer[]){nothing[i], {.status = 204}}, 2);
        if (world_upload(world))
            fail_msg("answer %zu was taken", i);
        assert_int_equal(world->error.code, PM_ERROR_NETWORK);
        assert_int_equal(server_requests(world->server), 1);
        assert_int_equal(world->report.sessions_waiting, 1);
        assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 1);
        assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_UPLOAD_SUFFIX), 0);
        assert_int_equal(cached(), 0);
    }
    server_script(world->server,
                  (struct server_answer[]){{.status = 200, .body = body.data, .size = body.size},
                                           {.status = 204}},
                  2);
    assert_true(world_upload(world));
    assert_int_equal(sent(world, 1, &pairs), 1);
    assert_int_equal(pairs, 32);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    pm_buffer_finish(&body);
    pm_buffer_finish(&other);
}

/* Who does not say is asked again, and nothing is lost; then the same bytes are sent as ever. */
static void a_server_that_does_not_say(void **state)
{
    struct world *world = *state;
    uint64_t pairs;
    record(true);
    server_script(world->server, (struct server_answer[]){{.status = 503}, {.status = 204}}, 2);
    assert_false(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 1);
    struct pm_buffer body = make_races(GAME, 6);
    server_script(world->server,
                  (struct server_answer[]){{.status = 200, .body = body.data, .size = body.size},
                                           {.status = 401},
                                           {.status = 204}},
                  3);
    assert_false(world_upload(world));
    assert_int_equal(server_requests(world->server), 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 3);
    assert_int_equal(sent(world, 2, &pairs), 2);
    world_same_requests(world, 1, 2);
    pm_buffer_finish(&body);
}

static void races_are_pulled_where_variants_are_tested(void **state)
{
    struct world *world = *state;
    struct pm_buffer body = make_races(GAME, 7), other = make_races("another", 8);
    world->info.game = GAME;
    server_script(world->server, (struct server_answer[]){{.status = 404}, {.status = 404}}, 2);
    assert_true(pm_sync_pull(&world->info, &world->report, &world->error));
    assert_int_equal(server_requests(world->server), 1);
    world->config.optimize.variants = true;
    server_script(world->server,
                  (struct server_answer[]){{.status = 404},
                                           {.status = 200, .body = body.data, .size = body.size},
                                           {.status = 404},
                                           {.status = 200, .body = other.data, .size = other.size}},
                  4);
    assert_true(pm_sync_pull(&world->info, &world->report, &world->error));
    assert_int_equal(server_requests(world->server), 2);
    assert_true(asks_for(world, 1, ASKED));
    assert_int_equal(cached(), 7);
    assert_true(pm_sync_pull(&world->info, &world->report, &world->error));
    assert_int_equal(cached(), 7);
    assert_true(world_logged(world, "they are of another game"));
    pm_buffer_finish(&body);
    pm_buffer_finish(&other);
}

/* It says which game is played, and the session that it is asked for may have several. */
static void nothing_is_asked_once_consent_is_revoked(void **state)
{
    struct world *world = *state;
    struct pm_http *http = pm_http_create(&world->config, &world->error);
    struct pm_retry retry;
    enum pm_trouble trouble;
    bool takes;
    pm_retry_init(&retry, 0, 0);
    assert_true(pm_consent_write(PM_CONSENT_REVOKED, &world->error));
    assert_false(
        pm_sync_pull_races(&world->info, http, &retry, GAME, &takes, &trouble, &world->error));
    assert_int_equal(world->error.code, PM_ERROR_STATE);
    assert_int_equal(server_requests(world->server), 0);
    pm_http_destroy(http);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_that_knows_races_gets_them),
        TEST(an_older_server_gets_the_rest),
        TEST(what_says_nothing_of_races_costs_nothing),
        TEST(a_server_that_does_not_say),
        TEST(races_are_pulled_where_variants_are_tested),
        TEST(nothing_is_asked_once_consent_is_revoked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
