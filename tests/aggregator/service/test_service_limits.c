/* The service against who asks too often, too slowly, or without a token; and its own certificate.
 */
#include "aggregator/service/dev_tls.h"
#include "tests/aggregator/service/service_place.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    *state = place_create(42);
    return 0;
}

/* As many shaders of as many points. */
static struct reply upload_many(struct place *place, const char *token, uint32_t space,
                                uint32_t shaders, uint32_t points)
{
    struct pm_point_counts counts[2] = {block_counts(0, 8, 4), block_counts(1, 8, 4)};
    struct pm_shader_profile all[2];
    struct pm_buffer bytes;
    for (uint32_t i = 0; i < shaders; i++)
        all[i] = block_shader(place->arena, i + 1, space, counts, points);
    http_encode(profile_of(place->arena, &place->random, "game", all, shaders), &bytes);
    const struct request request = {.port = place->port,
                                    .path = "/v1/uploads",
                                    .token = token,
                                    .body = bytes.data,
                                    .size = bytes.size};
    const struct reply reply = http_send(&request);
    pm_buffer_finish(&bytes);
    return reply;
}

static struct reply upload(struct place *place, const char *token, uint32_t space)
{
    return upload_many(place, token, space, 1, 1);
}

/* field NULL: a success. */
static void assert_answer(struct reply reply, long status, const char *field)
{
    char wanted[200];
    snprintf(wanted, sizeof(wanted), "\"field\":\"%s\"", field ? field : "");
    if (reply.status != status || (field && (!reply.body || !strstr((char *)reply.body, wanted))))
        fail_msg("%ld and \"%s\", not %ld and %s", reply.status,
                 reply.body ? (char *)reply.body : "", status, wanted);
    if (status == 429)
        assert_in_range(reply.retry_after, 1, 60);
    reply_finish(&reply);
}

static void write_tokens(struct place *place, char **path)
{
    *path = join(place->folder, "tokens");
    FILE *file = fopen(*path, "w");
    for (int i = 0; i < 3000; i++)
        fprintf(file, "token-%d\n", i);
    fclose(file);
    place->serving.token_file = *path;
}

static void test_rate_of_a_token(void **state)
{
    struct place *place = *state;
    char *path;
    write_tokens(place, &path);
    place->serving.token_rate = 3;
    place_serve(place);
    for (int i = 0; i < 3; i++)
        assert_answer(upload(place, "token-7", 1), 204, NULL);
    assert_answer(upload(place, "token-7", 1), 429, "token");
    assert_answer(upload(place, "token-2999", 1), 204, NULL);
    assert_answer(upload(place, "token-3000", 1), 401, "authorization");
    assert_answer(upload(place, NULL, 1), 401, "authorization");
    free(path);
}

/* Also of one that only guesses at tokens. What is no upload is not counted. */
static void test_rate_of_an_address(void **state)
{
    struct place *place = *state;
    char *path;
    write_tokens(place, &path);
    place->serving.address_rate = 4;
    place_serve(place);
    for (int i = 0; i < 2; i++) {
        assert_answer(upload(place, "token-1", 1), 204, NULL);
        assert_answer(upload(place, "wrong", 1), 401, "authorization");
    }
    assert_answer(upload(place, "token-1", 1), 429, "address");
    assert_answer(upload(place, "wrong", 1), 429, "address");
    for (int i = 0; i < 20; i++)
        assert_answer(http_send(&(struct request){.port = place->port, .path = "/healthz"}), 200,
                      NULL);
    free(path);
}

static struct reply pull(struct place *place, const char *path, const char *token)
{
    return http_send(&(struct request){.port = place->port, .path = path, .token = token});
}

/* On every route that asks for a token, and a known one is not told from others any more. What
 * names no token guesses at none. */
static void test_rate_of_guesses(void **state)
{
    struct place *place = *state;
    char *path;
    write_tokens(place, &path);
    place->serving.dashboard_token_file = path;
    place->serving.address_rate = 3;
    place_serve(place);
    assert_answer(pull(place, "/v1/games", "token-1"), 200, NULL);
    for (int i = 0; i < 5; i++)
        assert_answer(pull(place, "/v1/games/game/database", NULL), 401, "authorization");
    assert_answer(pull(place, "/v1/games/game/database", "wrong"), 401, "authorization");
    assert_answer(pull(place, "/v1/games", "wrong"), 401, "authorization");
    assert_answer(pull(place, "/no/such/path", "wrong"), 401, "authorization");
    assert_answer(pull(place, "/v1/games", "wrong"), 429, "address");
    assert_answer(pull(place, "/v1/games", "token-1"), 429, "address");
    assert_answer(upload(place, "token-1", 1), 429, "address");
    assert_answer(pull(place, "/v1/games", NULL), 401, "authorization");
    assert_answer(pull(place, "/healthz", "wrong"), 200, NULL);
    free(path);
}

static void test_fields(void **state)
{
    struct place *place = *state;
    char field[128], key[PM_SHADER_KEY_TEXT];
    const struct pm_shader_key shader = key_of(1);
    place->serving.limits = pm_profile_limits_default;
    place->serving.limits.compressed_bytes = 1000;
    place_serve(place);
    assert_answer(upload(place, NULL, 1), 204, NULL);
    pm_shader_key_format(&shader, key);
    snprintf(field, sizeof(field), "shaders[%s].space", key);
    assert_answer(upload(place, NULL, 2), 400, field);
    char *zeros = calloc(1001, 1);
    struct request request = {
        .port = place->port, .path = "/v1/uploads", .body = zeros, .size = 1001};
    assert_answer(http_send(&request), 413, "body");
    request.size = 1000;
    assert_answer(http_send(&request), 400, "body");
    request.method = "PUT";
    assert_answer(http_send(&request), 405, "method");
    free(zeros);
}

/* Too much of something is too large, whatever the bytes. */
static void test_too_many(void **state)
{
    struct place *place = *state;
    place->serving.limits = pm_profile_limits_default;
    place->serving.limits.shaders = 1;
    place->serving.limits.points_per_shader = 1;
    place->serving.limits.space = 8;
    place_serve(place);
    assert_answer(upload_many(place, NULL, 8, 1, 1), 204, NULL);
    assert_answer(upload_many(place, NULL, 8, 2, 1), 413, "shaders");
    assert_answer(upload_many(place, NULL, 8, 1, 2), 413, "shaders[0].point");
    assert_answer(upload_many(place, NULL, 9, 1, 1), 413, "shaders[0].space");
}

/* Who holds every connection, and sends nothing or half a request, gets five seconds, not a
 * minute. */
static void test_all_connections_taken(void **state)
{
    struct place *place = *state;
    enum { CONNECTIONS = 32, PEERS = 60 };
    static const char half[] =
        "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf";
    int fds[PEERS];
    place->serving.connections = CONNECTIONS;
    place->serving.request_seconds = 3600;
    place_serve(place);
    for (size_t i = 0; i < PEERS; i++) {
        fds[i] = http_connect(place->port);
        const size_t size = i % 2 ? sizeof(half) - 1 : i % 20;
        assert_int_equal(send(fds[i], half, size, MSG_NOSIGNAL), size);
    }
    long status = 0;
    for (uint64_t until = 0; status != 200 && patience(&until);) {
        struct reply reply = http_send(&(struct request){.port = place->port, .path = "/healthz"});
        status = reply.status;
        reply_finish(&reply);
    }
    assert_int_equal(status, 200);
    assert_answer(upload(place, NULL, 1), 204, NULL);
    for (size_t i = 0; i < PEERS; i++)
        close(fds[i]);
}

static void test_own_certificate(void **state)
{
    struct place *place = *state;
    struct pm_dev_tls tls;
    struct pm_error error;
    char *path = join(place->folder, "cert.pem");
    if (!pm_dev_tls_create(&tls, "127.0.0.2", path, &error))
        fail_msg("%s", error.message);
    assert_int_equal(strlen(tls.fingerprint), 32 * 3 - 1);
    place->serving.certificate = tls.certificate;
    place->serving.key = tls.key;
    place_serve(place);
    struct request request = {.port = place->port, .path = "/healthz", .ca_file = path};
    assert_answer(http_send(&request), 200, NULL);
    request.ca_file = NULL;
    struct reply reply = http_send(&request);
    assert_int_not_equal(reply.status, 200);
    reply_finish(&reply);
    /* Another one is not trusted. */
    pm_dev_tls_finish(&tls);
    assert_true(pm_dev_tls_create(&tls, NULL, path, &error));
    request.ca_file = path;
    reply = http_send(&request);
    assert_int_equal(reply.status, 0);
    reply_finish(&reply);
    pm_dev_tls_finish(&tls);
    assert_null(tls.key);
    assert_false(pm_dev_tls_create(&tls, NULL, "/nowhere/at/all", &error));
    free(path);
}

static long upload_game(struct place *place, const char *game, struct reply *reply)
{
    struct pm_buffer bytes;
    struct pm_profile *profile = small_profile(place, 1);
    profile->game = game;
    http_encode(profile, &bytes);
    *reply = place_send(place, (struct request){.body = bytes.data, .size = bytes.size});
    pm_buffer_finish(&bytes);
    return reply->status;
}

/* A game too many is told so, and to come back when somebody may have made room; the others go on.
 */
static void test_games(void **state)
{
    struct place *place = *state;
    static const char *const games[] = {"one", "two", "three", "one", "two"};
    struct reply reply;
    place->keeping.max_games = 2;
    place_serve(place);
    for (size_t i = 0; i < sizeof(games) / sizeof(*games); i++) {
        const long status = upload_game(place, games[i], &reply);
        assert_int_equal(status, i == 2 ? 507 : 204);
        if (i == 2) {
            assert_int_equal(reply.retry_after, 3600);
            assert_answer(reply, 507, "game");
        } else {
            reply_finish(&reply);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rate_of_a_token), TEST(test_rate_of_an_address),
        TEST(test_rate_of_guesses), TEST(test_fields),
        TEST(test_too_many),        TEST(test_all_connections_taken),
        TEST(test_own_certificate), TEST(test_games),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_limits", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
