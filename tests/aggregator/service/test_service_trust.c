/* What the service makes of tokens and of uploads that cannot be, over HTTP. */
#include "tests/aggregator/service/service_place.h"

#include "tests/patience.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static char *tokens; /* the file of them */

static int set_up(void **state)
{
    struct place *place = place_create(43);
    tokens = join(place->folder, "tokens");
    write_file(tokens, "token-1\ntoken-2\ntoken-3\ntoken-4\n\tnode-1  fleet \n");
    place->keeping.token_clusters = 2;
    place->keeping.min_tokens = 3;
    place->serving.token_file = tokens;
    place->serving.curate_seconds = 1;
    place_serve(place);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    free(tokens);
    return service_place_destroy(state);
}

static const struct pm_profile *profile(struct place *place, uint32_t space, uint32_t point)
{
    const struct pm_point_counts counts = block_counts(point, 64, 32);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, space, &counts, 1);
    return place_profile(place, &shader);
}

/* Is the shader in the body that clients get? */
static bool is_published(struct place *place)
{
    struct reply reply = http_send(&(struct request){
        .port = place->port, .path = "/v1/games/game/database", .token = "token-4"});
    struct pm_buffer plain;
    struct pm_database database;
    bool found = false;
    pm_buffer_init(&plain, 1 << 20);
    if (reply.status == 200 && pm_decompress(reply.body, reply.size, &plain, NULL) &&
        pm_database_decode(plain.data, plain.size, place->arena, &database, NULL))
        found = database.shader_count == 1 && database.shaders[0].published;
    pm_buffer_finish(&plain);
    reply_finish(&reply);
    return found;
}

/* Each token counts twice at most, and three of them publish. */
static void test_tokens_through_http(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(http_upload(place->port, "token-1", profile(place, 1, 0)), 204);
    assert_int_equal(sessions_of_first(place), 1);
    assert_int_equal(http_upload(place->port, "token-2", profile(place, 1, 0)), 204);
    assert_int_equal(http_upload(place->port, "not a token", profile(place, 1, 0)), 401);
    assert_int_equal(sessions_of_first(place), 2);
    assert_true(pm_aggregator_curate(place->aggregator, "game", NULL));
    assert_false(is_published(place));
    assert_int_equal(http_upload(place->port, "token-3", profile(place, 1, 0)), 204);
    uint64_t until = 0;
    bool found = is_published(place);
    while (!found && patience(&until))
        found = is_published(place);
    assert_true(found);
    assert_int_equal(sessions_of_first(place), 3);
}

static void read_rules(struct place *place, const char *token, char rules[static 40])
{
    struct reply reply = http_send(
        &(struct request){.port = place->port, .path = "/v1/games/game/rules", .token = token});
    assert_int_equal(reply.status, 200);
    memcpy(rules, reply.rules, 40);
    reply_finish(&reply);
}

/* By what a fleet's uploads are refused changes with what is known of shaders; a player's are not
 * refused for that, and nothing of it shows. */
static void test_rules(void **state)
{
    struct place *place = *state;
    char fleet[2][40], player[2][40];
    const struct pm_shader_key key = key_of(1);
    struct pm_error error;
    uint64_t blobs;
    assert_int_equal(http_upload(place->port, "node-1", profile(place, 1, 0)), 204);
    read_rules(place, "node-1", fleet[0]);
    read_rules(place, "token-1", player[0]);
    if (!pm_aggregator_drop(place->aggregator, "game", &key, &blobs, &error))
        fail_msg("%s", error.message);
    read_rules(place, "node-1", fleet[1]);
    read_rules(place, "token-1", player[1]);
    assert_string_not_equal(fleet[0], fleet[1]);
    assert_int_equal(strlen(player[0]), 16);
    assert_string_equal(player[0], player[1]);
    assert_memory_equal(player[0], fleet[0], 16);
}

struct seen {
    size_t count;
    char game[64], reason[600];
    size_t body_size;
};

static bool see(void *user, const struct pm_quarantined *entry, struct pm_error *error)
{
    struct seen *seen = user;
    (void)error;
    if (seen->count++ == 0) {
        snprintf(seen->game, sizeof(seen->game), "%s", entry->game);
        snprintf(seen->reason, sizeof(seen->reason), "%s", entry->reason);
        seen->body_size = entry->body_size;
    }
    return true;
}

/* has_body: the upload is kept with the reason. */
static void assert_quarantined(struct place *place, size_t count, const char *game,
                               const char *reason, bool has_body)
{
    struct seen seen = {0};
    struct pm_error error;
    uint64_t until = 0;
    /* Another thread may be writing it just then, and it is shown after that. */
    while (seen.count < count && patience(&until)) {
        seen.count = 0;
        if (!pm_aggregator_quarantine(place->aggregator, NULL, see, &seen, &error))
            fail_msg("%s", error.message);
    }
    assert_int_equal(seen.count, count);
    assert_string_equal(seen.game, game);
    assert_int_equal(seen.body_size > 0, has_body);
    if (!strstr(seen.reason, reason))
        fail_msg("\"%s\" does not say \"%s\"", seen.reason, reason);
}

static long post(const struct place *place, const struct pm_buffer *body, char *message,
                 size_t size)
{
    struct reply reply = http_send(&(struct request){.port = place->port,
                                                     .path = "/v1/uploads",
                                                     .token = "token-1",
                                                     .body = body->data,
                                                     .size = body->size});
    const long status = reply.status;
    snprintf(message, size, "%s", reply.body ? (const char *)reply.body : "");
    reply_finish(&reply);
    return status;
}

/* What already the reader refuses goes there too, but for the bytes, which have the upload's id in
 * them: here a point outside its space, made by putting 345 for 12345. */
static void test_refused_by_the_reader(void **state)
{
    struct place *place = *state;
    struct pm_buffer encoded, body;
    struct pm_error error;
    char message[1024];
    const uint8_t large[] = {0xb9, 0x60}, small[] = {0xd9, 0x02};
    pm_buffer_init(&encoded, 1 << 20);
    pm_buffer_init(&body, 1 << 20);
    assert_true(pm_profile_encode(profile(place, 12345, 5000), &encoded, &error));
    uint8_t *at = memmem(encoded.data, encoded.size, large, sizeof(large));
    assert_non_null(at);
    memcpy(at, small, sizeof(small));
    assert_true(pm_compress(encoded.data, encoded.size, &body, &error));
    assert_int_equal(post(place, &body, message, sizeof(message)), 400);
    assert_non_null(strstr(message, "point"));
    assert_quarantined(place, 1, "game", "point", false);

    /* What is no profile at all is only refused. */
    encoded.size = body.size = 0;
    assert_true(pm_buffer_append(&encoded, "\xff\xff\xff\xff", 4));
    assert_true(pm_compress(encoded.data, encoded.size, &body, &error));
    assert_int_equal(post(place, &body, message, sizeof(message)), 400);
    assert_quarantined(place, 1, "game", "point", false);
    pm_buffer_finish(&encoded);
    pm_buffer_finish(&body);
}

/* How many points a shader has is put to the vote of the day, and refuses nobody. */
static void test_put_to_the_vote(void **state)
{
    struct place *place = *state;
    assert_int_equal(http_upload(place->port, "token-1", profile(place, 3, 0)), 204);
    assert_int_equal(http_upload(place->port, "token-2", profile(place, 4, 0)), 204);
    assert_int_equal(http_upload(place->port, "token-3", profile(place, 4, 0)), 204);
    assert_int_equal(sessions_of_first(place), 2);
    assert_int_equal(place_estimates(place).shaders[0].space, 4);
}

/* Each upload of a fleet's node is another player's. */
static void test_fleet(void **state)
{
    struct place *place = *state;
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(http_upload(place->port, "node-1", profile(place, 3, 0)), 204);
    assert_int_equal(sessions_of_first(place), 9);
}

/* What an operator signed is served as it is, to who may pull databases. */
static void test_verdicts(void **state)
{
    struct place *place = *state;
    char *file = join(place->folder, "game.verdicts");
    write_file(file, "piecemeal verdicts 1\nas it is\n");
    place_stop(place);
    place->serving.verdicts_folder = place->folder;
    place_serve(place);
    struct reply reply =
        place_send(place, (struct request){.path = "/v1/games/game/verdicts", .token = "token-1"});
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.size, 30);
    assert_memory_equal(reply.body, "piecemeal verdicts 1\nas it is\n", reply.size);
    reply_finish(&reply);
    assert_error(place_send(place, (struct request){.path = "/v1/games/game/verdicts"}), 401,
                 "token");
    static const char *const none[] = {"/v1/games/other/verdicts", "/v1/games/..%2ftokens/verdicts",
                                       "/v1/games/%2e%2e%2fgame/verdicts"};
    for (size_t i = 0; i < 3; i++)
        assert_error(place_send(place, (struct request){.path = none[i], .token = "token-1"}), 404,
                     "nobody signed");
    free(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tokens_through_http), TEST(test_rules), TEST(test_refused_by_the_reader),
        TEST(test_put_to_the_vote),     TEST(test_fleet), TEST(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
