#include "aggregator/service.h"

#include "aggregator/http.h"
#include "aggregator/support.h"
#include "patience.h"
#include <curl/curl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

struct place {
    char *folder, *path;
    struct pm_aggregator *aggregator;
    struct pm_service *service;
    struct pm_service_info info;
    uint16_t port;
    struct pm_arena *arena;
    struct pm_random random;
};

static void start(struct place *place)
{
    struct pm_error error;
    const struct pm_aggregator_info info = {.publish_all = true, .scenes = 2};
    place->aggregator = pm_aggregator_open(place->path, &info, &error);
    if (!place->aggregator)
        fail_msg("%s", error.message);
    place->info.aggregator = place->aggregator;
    place->service = pm_service_create(&place->info, &error);
    if (!place->service)
        fail_msg("%s", error.message);
    place->port = pm_service_port(place->service);
}

static void stop(struct place *place)
{
    pm_service_destroy(place->service);
    pm_aggregator_destroy(place->aggregator);
    place->service = NULL;
    place->aggregator = NULL;
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    place->arena = pm_arena_create(0);
    place->info.curate_seconds = 1;
    pm_random_init(&place->random, 42);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    stop(place);
    pm_arena_destroy(place->arena);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static struct pm_profile *small_profile(struct place *place, uint64_t shader)
{
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile one = block_shader(place->arena, shader, 1, &point, 1);
    return profile_of(place->arena, &place->random, "game", &one, 1);
}

static struct reply send_request(const struct place *place, struct request request)
{
    request.port = place->port;
    if (!request.path)
        request.path = "/v1/uploads";
    return http_send(&request);
}

static void assert_error(struct reply reply, long status, const char *what)
{
    if (reply.status != status || !reply.body || !strstr((char *)reply.body, what) ||
        strncmp((char *)reply.body, "{\"error\":\"", 10) != 0)
        fail_msg("%ld and \"%s\", not %ld and \"%s\"", reply.status,
                 reply.body ? (char *)reply.body : "", status, what);
    reply_finish(&reply);
}

static uint32_t sessions_of_first(struct place *place)
{
    struct pm_database database;
    struct pm_error error;
    if (!pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, &error))
        return 0;
    return database.shaders[0].points[0].sessions;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void pause_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* ---- uploads ---- */

static void test_upload_and_duplicate(void **state)
{
    struct place *place = *state;
    start(place);
    const struct pm_profile *profile = small_profile(place, 1);
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    assert_int_equal(http_upload(place->port, NULL, profile), 200);
    stop(place);
    start(place);
    assert_int_equal(http_upload(place->port, NULL, profile), 200);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    assert_int_equal(sessions_of_first(place), 2);
}

static void test_chunked(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    start(place);
    http_encode(small_profile(place, 1), &bytes);
    struct reply reply = send_request(
        place, (struct request){.body = bytes.data, .size = bytes.size, .chunked = true});
    assert_int_equal(reply.status, 204);
    assert_int_equal(reply.size, 0);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

static void test_garbage(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes, packed;
    struct pm_random random;
    start(place);
    assert_error(send_request(place, (struct request){.body = "garbage", .size = 7}), 400, "zstd");
    assert_error(send_request(place, (struct request){.body = "", .size = 0}), 400, "zstd");
    pm_buffer_init(&packed, 1 << 20);
    assert_true(pm_compress("\xff\xff\xff\xff garbage", 12, &packed, NULL));
    assert_error(send_request(place, (struct request){.body = packed.data, .size = packed.size}),
                 400, "error");
    pm_buffer_finish(&packed);

    /* A good one, cut off anywhere, and with any bit turned. */
    http_encode(small_profile(place, 1), &bytes);
    for (size_t size = 0; size < bytes.size; size += 7) {
        struct reply reply =
            send_request(place, (struct request){.body = bytes.data, .size = size});
        assert_int_equal(reply.status, 400);
        reply_finish(&reply);
    }
    pm_random_init(&random, 5);
    for (int i = 0; i < 100; i++) {
        const uint32_t at = pm_random_below(&random, (uint32_t)bytes.size);
        const unsigned char turned = (unsigned char)(1u << pm_random_below(&random, 8));
        bytes.data[at] ^= turned;
        struct reply reply =
            send_request(place, (struct request){.body = bytes.data, .size = bytes.size});
        assert_true(reply.status == 400 || reply.status == 413);
        reply_finish(&reply);
        bytes.data[at] ^= turned;
    }
    assert_int_equal(sessions_of_first(place), 0);
    struct reply reply =
        send_request(place, (struct request){.body = bytes.data, .size = bytes.size});
    assert_int_equal(reply.status, 204);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

static void test_refusal_names_the_field(void **state)
{
    struct place *place = *state;
    char text[PM_SHADER_KEY_TEXT];
    struct pm_buffer bytes;
    start(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    /* Well-formed, but of another space than is known. */
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile other = block_shader(place->arena, 1, 2, &point, 1);
    http_encode(profile_of(place->arena, &place->random, "game", &other, 1), &bytes);
    pm_shader_key_format(&other.key, text);
    struct reply reply =
        send_request(place, (struct request){.body = bytes.data, .size = bytes.size});
    assert_non_null(strstr((char *)reply.body, text));
    assert_error(reply, 400, "space");
    pm_buffer_finish(&bytes);
}

static void test_too_large(void **state)
{
    struct place *place = *state;
    struct pm_buffer bomb;
    const size_t size = (size_t)9 << 20;
    char *zeros = calloc(size, 1);
    start(place);
    /* By its Content-Length, and found out while it comes in. */
    assert_error(send_request(place, (struct request){.body = zeros, .size = size}), 413,
                 "too large");
    assert_error(
        send_request(place, (struct request){.body = zeros, .size = size, .chunked = true}), 413,
        "too large");
    free(zeros);
    /* A few kilobytes that would become many megabytes. */
    const size_t large = (size_t)64 << 20;
    zeros = calloc(large, 1);
    pm_buffer_init(&bomb, 1 << 20);
    assert_true(pm_compress(zeros, large, &bomb, NULL));
    assert_in_range(bomb.size, 1, 100000);
    assert_error(send_request(place, (struct request){.body = bomb.data, .size = bomb.size}), 413,
                 "decompresses");
    pm_buffer_finish(&bomb);
    free(zeros);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
}

static void test_tokens(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    struct pm_error error;
    char *tokens = join(place->folder, "tokens");
    write_file(tokens, "# ours\nfirst-token\n\n  second-token \r\n");
    place->info.token_file = tokens;
    start(place);
    const struct pm_profile *profile = small_profile(place, 1);
    assert_int_equal(http_upload(place->port, "first-token", profile), 204);
    assert_int_equal(http_upload(place->port, "second-token", profile), 200);
    static const char *const wrong[] = {NULL,
                                        "",
                                        "first-toke",
                                        "first-tokenx",
                                        "# ours",
                                        "First-token",
                                        "first-token\nsecond-token"};
    http_encode(small_profile(place, 2), &bytes);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong) - 1; i++)
        assert_error(
            send_request(
                place, (struct request){.body = bytes.data, .size = bytes.size, .token = wrong[i]}),
            401, "token");
    pm_buffer_finish(&bytes);
    const char *const pull = "/v1/games/other/database";
    assert_error(send_request(place, (struct request){.path = pull, .token = "x"}), 401, "token");
    assert_error(send_request(place, (struct request){.path = pull}), 401, "token");
    assert_error(
        send_request(place,
                     (struct request){.path = pull, .header = "Authorization: Basic first-token"}),
        401, "token");
    assert_error(send_request(place, (struct request){.path = pull, .token = "first-token"}), 404,
                 "other");
    /* Players' tokens do not open the dashboard. */
    assert_error(send_request(place, (struct request){.path = "/v1/games", .token = "first-token"}),
                 403, "closed");
    struct reply reply = send_request(place, (struct request){.path = "/healthz"});
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    stop(place);

    /* A file without tokens, and none at all. */
    const struct pm_aggregator_info info = {0};
    place->aggregator = pm_aggregator_open(place->path, &info, &error);
    place->info.aggregator = place->aggregator;
    write_file(tokens, "# none\n");
    assert_null(pm_service_create(&place->info, &error));
    assert_non_null(strstr(error.message, "no token"));
    unlink(tokens);
    assert_null(pm_service_create(&place->info, &error));
    assert_non_null(strstr(error.message, tokens));
    free(tokens);
    place->info.token_file = NULL;
}

/* ---- reading ---- */

/* Until the background curation has published, which takes a second. */
static struct reply get_database(const struct place *place, const char *game, const char *condition)
{
    char path[300], header[200];
    snprintf(path, sizeof(path), "/v1/games/%s/database", game);
    snprintf(header, sizeof(header), "If-None-Match: %s", condition ? condition : "");
    const struct request request = {.path = path, .header = condition ? header : NULL};
    struct reply reply = send_request(place, request);
    for (uint64_t until = 0; reply.status == 404 && patience(&until);) {
        reply_finish(&reply);
        reply = send_request(place, request);
    }
    return reply;
}

static void test_database_and_etag(void **state)
{
    struct place *place = *state;
    struct pm_database database;
    struct pm_buffer bytes;
    struct pm_error error;
    start(place);
    assert_error(send_request(place, (struct request){.path = "/v1/games/game/database"}), 404,
                 "game");
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    struct reply first = get_database(place, "game", NULL);
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
        struct reply reply = get_database(place, "game", same[i]);
        assert_int_equal(reply.status, 304);
        assert_int_equal(reply.size, 0);
        assert_string_equal(reply.etag, first.etag);
        reply_finish(&reply);
    }
    struct reply reply = get_database(place, "game", "\"other\"");
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.size, first.size);
    assert_memory_equal(reply.body, first.body, first.size);
    reply_finish(&reply);

    /* A new shader changes it, and the cached body with it. */
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 2)), 204);
    reply = get_database(place, "game", first.etag);
    for (uint64_t until = 0; reply.status == 304 && patience(&until);) {
        reply_finish(&reply);
        reply = get_database(place, "game", first.etag);
    }
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
    start(place);
    struct pm_profile *profile = small_profile(place, 1);
    profile->scene = "the \"cave\" & sky";
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    struct reply first = get_database(place, "game", NULL);
    assert_int_equal(first.status, 200);
    const struct request scene = {.path =
                                      "/v1/games/game/database?scene=the%20%22cave%22%20%26%20sky"};
    struct reply reply = send_request(place, scene);
    for (uint64_t until = 0; reply.status == 404 && patience(&until);) {
        reply_finish(&reply);
        reply = send_request(place, scene);
    }
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    assert_error(send_request(place, (struct request){.path = "/v1/games/game/database?scene=sky"}),
                 404, "sky");
    const struct request previous = {.path = "/v1/games/game/database/previous"};
    assert_error(send_request(place, previous), 404, "previous");

    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 2)), 204);
    reply = get_database(place, "game", first.etag);
    for (uint64_t until = 0; reply.status == 304 && patience(&until);) {
        reply_finish(&reply);
        reply = get_database(place, "game", first.etag);
    }
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    reply = send_request(place, previous);
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
    reply = get_database(place, "game%2Fdatabase", NULL);
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
}

static void test_games_and_names(void **state)
{
    struct place *place = *state;
    start(place);
    struct reply reply = send_request(place, (struct request){.path = "/v1/games"});
    assert_string_equal(reply.body, "{\"games\":[],\"total\":0,\"limit\":50,\"offset\":0}");
    reply_finish(&reply);
    struct pm_profile *profile = small_profile(place, 1);
    profile->game = "a/b \"c\" \xc3\xa4";
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    reply = send_request(place, (struct request){.path = "/v1/games"});
    assert_non_null(strstr((char *)reply.body,
                           "{\"games\":[{\"name\":\"a/b \\\"c\\\" \xc3\xa4\",\"uploads\":1,"));
    reply_finish(&reply);
    reply = get_database(place, "a%2Fb%20%22c%22%20%C3%A4", NULL);
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
}

/* A game that was never curated is read when somebody asks for it, not when it is time. */
static void test_game_not_read_yet(void **state)
{
    struct place *place = *state;
    place->info.curate_seconds = 3600;
    start(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    const struct request request = {.path = "/v1/games/game"};
    struct reply reply = send_request(place, request);
    uint64_t until = 0;
    while (reply.status == 503 && patience(&until)) {
        assert_true(reply.retry_after > 0);
        reply_finish(&reply);
        reply = send_request(place, request);
    }
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    assert_error(send_request(place, (struct request){.path = "/v1/games/other"}), 404, "known");
}

static void test_other_requests(void **state)
{
    struct place *place = *state;
    start(place);
    assert_error(send_request(place, (struct request){.path = "/nothing"}), 404, "path");
    assert_error(send_request(place, (struct request){.path = "/v1/games/"}), 404, "path");
    assert_error(send_request(place, (struct request){.path = "/v1/games//database"}), 404, "path");
    assert_error(send_request(place, (struct request){.path = "/v1/uploads"}), 405, "method");
    assert_error(send_request(place, (struct request){.path = "/v1/uploads", .method = "DELETE"}),
                 405, "method");
    assert_error(send_request(place, (struct request){.path = "/v1/games", .body = "x", .size = 1}),
                 405, "method");
    struct reply reply = send_request(place, (struct request){.path = "/healthz"});
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, "{\"status\":\"ok\"}");
    reply_finish(&reply);
}

/* ---- bounds ---- */

static void test_half_sent(void **state)
{
    struct place *place = *state;
    static const char half[] =
        "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf";
    int fds[40];
    place->info.request_seconds = 4;
    start(place);
    for (size_t i = 0; i < 40; i++) {
        fds[i] = http_connect(place->port);
        const size_t size = i % 2 ? sizeof(half) - 1 : i;
        assert_int_equal(send(fds[i], half, size, MSG_NOSIGNAL), size);
    }
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    /* A byte now and then does not buy more time. */
    uint64_t until = 0;
    bool closed = false;
    while (!closed && patience(&until)) {
        char byte;
        send(fds[1], "x", 1, MSG_NOSIGNAL);
        pause_ms(200);
        closed = recv(fds[1], &byte, 1, MSG_DONTWAIT) == 0;
    }
    assert_true(closed);
    for (size_t i = 0; i < 40; i++)
        close(fds[i]);
    /* Stopping with a request that is half there, too. */
    fds[0] = http_connect(place->port);
    assert_int_equal(send(fds[0], half, sizeof(half) - 1, MSG_NOSIGNAL), sizeof(half) - 1);
    stop(place);
    close(fds[0]);
}

struct uploader {
    struct place *place;
    pthread_t thread;
    const struct pm_profile *profiles[20];
    unsigned stored, refused, other;
};

static void *upload_all(void *user)
{
    struct uploader *uploader = user;
    for (size_t i = 0; i < 20; i++) {
        const long status = http_upload(uploader->place->port, NULL, uploader->profiles[i]);
        uploader->stored += status == 204;
        uploader->refused += status == 429 || status == 503;
        uploader->other += status != 204 && status != 429 && status != 503;
    }
    return NULL;
}

static void start_uploaders(struct place *place, struct uploader *uploaders, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uploaders[i] = (struct uploader){.place = place};
        for (size_t j = 0; j < 20; j++)
            uploaders[i].profiles[j] = small_profile(place, 1);
        assert_int_equal(pthread_create(&uploaders[i].thread, NULL, upload_all, &uploaders[i]), 0);
    }
}

static void test_many_at_once(void **state)
{
    struct place *place = *state;
    struct uploader uploaders[8];
    start(place);
    start_uploaders(place, uploaders, 8);
    for (size_t i = 0; i < 8; i++) {
        pthread_join(uploaders[i].thread, NULL);
        assert_int_equal(uploaders[i].stored, 20);
    }
    assert_int_equal(sessions_of_first(place), 160);
}

/* What was acknowledged before the end is there, and nothing else. */
static void test_stops_gracefully(void **state)
{
    struct place *place = *state;
    struct uploader uploaders[4];
    unsigned stored = 0;
    start(place);
    start_uploaders(place, uploaders, 4);
    pause_ms(60);
    stop(place);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(uploaders[i].thread, NULL);
        stored += uploaders[i].stored;
    }
    start(place);
    assert_int_equal(sessions_of_first(place), stored);
}

static void test_busy(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    /* No memory for any upload, and then none in the queue. */
    place->info.memory_bytes = 8;
    start(place);
    http_encode(small_profile(place, 1), &bytes);
    struct reply reply =
        send_request(place, (struct request){.body = bytes.data, .size = bytes.size});
    assert_in_range(reply.retry_after, 1, 60);
    assert_error(reply, 429, "later");
    stop(place);
    place->info.memory_bytes = 0;
    place->info.queue = 1;
    start(place);
    struct uploader uploaders[8];
    start_uploaders(place, uploaders, 8);
    unsigned stored = 0;
    for (size_t i = 0; i < 8; i++) {
        pthread_join(uploaders[i].thread, NULL);
        stored += uploaders[i].stored;
        assert_int_equal(uploaders[i].other, 0);
    }
    assert_int_equal(sessions_of_first(place), stored);
    pm_buffer_finish(&bytes);
}

/* A limit on file sizes stands for a full disk. */
static void test_full_disk(void **state)
{
    struct place *place = *state;
    struct rlimit before, limit;
    struct pm_buffer bytes;
    start(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1000)), 204);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 64 << 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    http_encode(random_profile(place->arena, &place->random, "game", 20, 400), &bytes);
    const struct request request = {.body = bytes.data, .size = bytes.size};
    struct reply full = send_request(place, request);
    struct reply health = send_request(place, (struct request){.path = "/healthz"});
    setrlimit(RLIMIT_FSIZE, &before);
    assert_error(full, 507, "full");
    assert_error(health, 503, "could not be stored");
    struct reply reply = send_request(place, request);
    assert_int_equal(reply.status, 204);
    reply_finish(&reply);
    reply = send_request(place, (struct request){.path = "/healthz"});
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

/* ---- listening ---- */

static void test_addresses(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    start(place);
    struct pm_service_info info = place->info;
    info.port = place->port;
    assert_null(pm_service_create(&info, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_non_null(strstr(error.message, "listen"));
    info.address = "nonsense";
    assert_null(pm_service_create(&info, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    info.address = NULL;
    info.certificate_file = place->path;
    assert_null(pm_service_create(&info, &error));
    assert_non_null(strstr(error.message, "both"));
    info.key_file = place->path;
    info.port = 0;
    assert_null(pm_service_create(&info, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
}

static void test_tls(void **state)
{
    struct place *place = *state;
    char *certificate = join(place->folder, "cert.pem"), *key = join(place->folder, "key.pem");
    char *command = NULL;
    assert_true(asprintf(&command,
                         "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
                         "-addext subjectAltName=DNS:localhost -keyout %s -out %s 2>%s/openssl.log",
                         key, certificate, place->folder) > 0);
    assert_int_equal(system(command), 0);
    place->info.certificate_file = certificate;
    place->info.key_file = key;
    start(place);
    struct reply reply =
        send_request(place, (struct request){.path = "/healthz", .ca_file = certificate});
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    struct pm_buffer bytes;
    http_encode(small_profile(place, 1), &bytes);
    reply = send_request(
        place, (struct request){.body = bytes.data, .size = bytes.size, .ca_file = certificate});
    assert_int_equal(reply.status, 204);
    reply_finish(&reply);
    reply = send_request(place, (struct request){.path = "/healthz"});
    assert_int_not_equal(reply.status, 200);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    stop(place);
    free(certificate);
    free(key);
    free(command);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_upload_and_duplicate),
        TEST(test_chunked),
        TEST(test_garbage),
        TEST(test_refusal_names_the_field),
        TEST(test_too_large),
        TEST(test_tokens),
        TEST(test_database_and_etag),
        TEST(test_previous_and_scenes),
        TEST(test_games_and_names),
        TEST(test_game_not_read_yet),
        TEST(test_other_requests),
        TEST(test_half_sent),
        TEST(test_many_at_once),
        TEST(test_stops_gracefully),
        TEST(test_busy),
        TEST(test_full_disk),
        TEST(test_addresses),
        TEST(test_tls),
    };
    signal(SIGXFSZ, SIG_IGN);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
