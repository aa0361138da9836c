/* The service with somebody who takes all that there is: connections, memory, the storage. The
 * others go on. */
#include "aggregator/service/service_shares.h"
#include "tests/aggregator/service/service_place.h"
#include "tests/patience.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    *state = place_create(43);
    return 0;
}

/* A connection from an address of this machine; with a second's patience for what comes back. */
static int connect_from(const struct place *place, const char *from)
{
    const struct timeval patience = {.tv_sec = 20};
    struct sockaddr_in own = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    own.sin_addr.s_addr = inet_addr(from);
    to.sin_port = htons(place->port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* The status of what comes back; 0: nothing. */
static int read_status(int fd)
{
    char text[64] = "";
    size_t size = 0;
    while (size < 12) {
        const ssize_t got = recv(fd, text + size, sizeof(text) - 1 - size, 0);
        if (got <= 0)
            return 0;
        size += (size_t)got;
    }
    return atoi(text + 9);
}

static int ask_health(const struct place *place, const char *from)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const int fd = connect_from(place, from);
    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);
    const int status = read_status(fd);
    close(fd);
    return status;
}

/* 900 idle connections of one address: others connect and are answered at once, although every
 * place that there is could have been taken, and nobody has been idle for long enough to be cut
 * off. */
static void test_connections_of_an_address(void **state)
{
    struct place *place = *state;
    enum { IDLE = 900, MOST = 1024, OWN = 64 };
    static int fds[IDLE];
    place->serving.connections = 512;
    place->serving.address_connections = OWN;
    place->serving.request_seconds = 3600;
    place_serve(place);
    for (size_t i = 0; i < IDLE; i++)
        fds[i] = connect_from(place, "127.0.0.2");
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask_health(place, "127.0.0.3"), 200);
    assert_in_range(http_metric(place->port, "piecemeal_connections"), OWN, OWN + 16);
    assert_true(http_metric(place->port, "piecemeal_connections_refused_total") > 0);
    for (size_t i = 0; i < IDLE; i++)
        close(fds[i]);
    /* Its places are free again. */
    int status = 0;
    for (uint64_t until = 0; status != 200 && patience(&until);)
        status = ask_health(place, "127.0.0.2");
    assert_int_equal(status, 200);
}

/* Those that go away in the middle of a request leave their places at once, and not when they have
 * had the time that a request may take: also where the last bytes and the end come together. */
static void test_gone_in_the_middle(void **state)
{
    static const char part[] = "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Le";
    struct place *place = *state;
    enum { ROUNDS = 200 };
    place->serving.address_connections = 16;
    place->serving.request_seconds = 3600;
    place_serve(place);
    for (int i = 0; i < ROUNDS; i++) {
        const int fd = connect_from(place, "127.0.0.2");
        send(fd, part, sizeof(part) - 1, MSG_NOSIGNAL);
        close(fd);
    }
    long left = 0;
    for (uint64_t until = 0; (left = http_metric(place->port, "piecemeal_connections")) > 1;)
        if (!patience(&until))
            break;
    assert_int_equal(left, 1); /* who asks */
    assert_int_equal(ask_health(place, "127.0.0.2"), 200);
}

static void write_tokens(struct place *place)
{
    char *path = join(place->folder, "tokens");
    write_file(path, "greedy\nhonest\n");
    place->serving.token_file = pm_arena_strdup(place->arena, path);
    free(path);
}

/* A body that is never there in full. */
static int stall(const struct place *place, const char *from, const char *token, size_t bytes)
{
    char head[256];
    const int fd = connect_from(place, from);
    snprintf(head, sizeof(head),
             "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
             "Content-Length: %zu\r\n\r\n",
             token, bytes + 1);
    char *body = calloc(1, bytes);
    send(fd, head, strlen(head), MSG_NOSIGNAL);
    for (size_t at = 0; at < bytes;) {
        const ssize_t sent = send(fd, body + at, bytes - at, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        at += (size_t)sent;
    }
    free(body);
    return fd;
}

static long upload_large(struct place *place, const char *token, size_t points)
{
    struct pm_point_counts *counts = calloc(points, sizeof(*counts));
    struct pm_buffer bytes;
    for (size_t i = 0; i < points; i++)
        counts[i] = block_counts((uint32_t)i, 8 + i * 77777, 4 + i);
    const struct pm_shader_profile shader =
        block_shader(place->arena, 1, (uint32_t)points, counts, points);
    http_encode(place_profile(place, &shader), &bytes);
    struct reply reply =
        place_send(place, (struct request){.token = token, .body = bytes.data, .size = bytes.size});
    const long status = reply.status;
    if (status == 429)
        assert_non_null(strstr((char *)reply.body, "\"field\":\"token\""));
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    free(counts);
    return status;
}

/* As many shaders of one point. */
static long upload_shaders(struct place *place, const char *token, size_t count)
{
    struct pm_shader_profile *shaders = calloc(count, sizeof(*shaders));
    const struct pm_point_counts point = block_counts(0, 8, 4);
    struct pm_buffer bytes;
    for (size_t i = 0; i < count; i++)
        shaders[i] = block_shader(place->arena, i, 1, &point, 1);
    http_encode(profile_of(place->arena, &place->random, "game", shaders, count), &bytes);
    struct reply reply =
        place_send(place, (struct request){.token = token, .body = bytes.data, .size = bytes.size});
    const long status = reply.status;
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    free(shaders);
    return status;
}

/* What an upload claims takes memory while it is stored, however few points it has. */
static void test_claims_of_a_token(void **state)
{
    struct place *place = *state;
    write_tokens(place);
    place->serving.token_bytes = (size_t)2 << 20;
    place_serve(place);
    assert_int_equal(upload_shaders(place, "greedy", 1000), 204);
    assert_int_equal(upload_shaders(place, "greedy", 4000), 429);
    assert_int_equal(upload_shaders(place, "greedy", 1000), 204);
}

#define STALLED_BYTES ((size_t)(4 << 20) - 1)

/* One token with 64 stalled bodies of 4 MiB has 8 of them; nobody else is told to wait. */
static void test_bytes_of_a_token(void **state)
{
    struct place *place = *state;
    enum { STALLED = 64 };
    int fds[STALLED];
    write_tokens(place);
    place->serving.memory_bytes = (size_t)256 << 20;
    place->serving.token_bytes = (size_t)32 << 20;
    place->serving.request_seconds = 3600;
    place_serve(place);
    for (size_t i = 0; i < STALLED; i++)
        fds[i] = stall(place, "127.0.0.2", "greedy", STALLED_BYTES);
    assert_int_equal(upload_large(place, "honest", 1000), 204);
    assert_int_equal(upload_large(place, "greedy", 1000), 429);
    for (size_t i = 0; i < STALLED; i++)
        close(fds[i]);
    long status = 0;
    for (uint64_t until = 0; status != 204 && patience(&until);)
        status = upload_large(place, "greedy", 1000);
    assert_int_equal(status, 204);
}

/* Where no limit keeps one from having it all, whoever holds most is cut off for who comes. */
static void test_shedding(void **state)
{
    struct place *place = *state;
    enum { STALLED = 4 };
    int fds[STALLED];
    write_tokens(place);
    place->serving.memory_bytes = (size_t)16 << 20;
    place->serving.request_seconds = 3600;
    place_serve(place);
    for (size_t i = 0; i < STALLED; i++)
        fds[i] = stall(place, "127.0.0.2", "greedy", STALLED_BYTES);
    unsigned tries = 0;
    long status = 0;
    for (uint64_t until = 0; status != 204 && patience(&until); tries++) {
        struct pm_buffer bytes;
        http_encode(small_profile(place, 7), &bytes);
        struct reply reply = place_send(
            place, (struct request){.token = "honest", .body = bytes.data, .size = bytes.size});
        status = reply.status;
        reply_finish(&reply);
        pm_buffer_finish(&bytes);
    }
    assert_int_equal(status, 204);
    for (size_t i = 0; i < STALLED; i++)
        close(fds[i]);
}

/* A token that has stored a day's bytes waits; the others do not. */
static void test_stored_of_a_token(void **state)
{
    struct place *place = *state;
    write_tokens(place);
    place->serving.token_day_bytes = (size_t)1 << 20;
    place_serve(place);
    unsigned stored = 0;
    while (stored < 100 && upload_large(place, "greedy", 2000) == 204)
        stored++;
    assert_in_range(stored, 1, 3);
    assert_int_equal(upload_large(place, "honest", 2000), 204);
}

/* ---- without a service ---- */

static size_t name_of(const char *text, uint8_t name[static 16])
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    const void *bytes = NULL;
    size_t size;
    if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1) {
        size = pm_share_address((struct sockaddr *)&six, &bytes);
    } else {
        assert_int_equal(inet_pton(AF_INET, text, &four.sin_addr), 1);
        size = pm_share_address((struct sockaddr *)&four, &bytes);
    }
    memcpy(name, bytes, size);
    return size;
}

static bool are_one(const char *one, const char *other)
{
    uint8_t left[16], right[16];
    const size_t size = name_of(one, left);
    return size == name_of(other, right) && memcmp(left, right, size) == 0;
}

static void test_who_is_one(void **state)
{
    (void)state;
    assert_true(are_one("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_false(are_one("2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert_false(are_one("192.0.2.1", "192.0.2.2"));
    assert_true(are_one("::ffff:192.0.2.1", "192.0.2.1"));
    const void *bytes = NULL;
    assert_int_equal(pm_share_address(NULL, &bytes), 0);
}

static void test_shares(void **state)
{
    struct pm_shares shares = {.most_connections = 2, .most_bytes = {[PM_SHARE_TOKEN] = 100}};
    (void)state;
    assert_true(pm_shares_init(&shares));
    struct pm_share *one = pm_shares_take(&shares, PM_SHARE_ADDRESS, "a", 1, true);
    assert_true(pm_shares_may_connect(&shares, "a", 1));
    struct pm_share *two = pm_shares_take(&shares, PM_SHARE_ADDRESS, "a", 1, true);
    assert_ptr_equal(one, two);
    assert_false(pm_shares_may_connect(&shares, "a", 1));
    assert_true(pm_shares_may_connect(&shares, "b", 1));
    pm_shares_drop(&shares, one, true);
    assert_true(pm_shares_may_connect(&shares, "a", 1));
    struct pm_share *token = pm_shares_take(&shares, PM_SHARE_TOKEN, "a", 1, false);
    assert_ptr_not_equal(token, two);
    assert_true(pm_share_hold(&shares, token, 60));
    assert_false(pm_share_hold(&shares, token, 41));
    assert_true(pm_share_hold(&shares, token, 40));
    pm_share_release(token, 41);
    assert_true(pm_share_hold(&shares, token, 41));
    assert_true(pm_share_hold(&shares, two, SIZE_MAX / 2));
    assert_true(pm_share_hold(&shares, NULL, SIZE_MAX));
    pm_shares_drop(&shares, token, false);
    pm_shares_drop(&shares, two, true);
    assert_null(pm_shares_take(&shares, PM_SHARE_TOKEN, "", 0, false));
    pm_shares_finish(&shares);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_one),
        cmocka_unit_test(test_shares),
        TEST(test_connections_of_an_address),
        TEST(test_gone_in_the_middle),
        TEST(test_bytes_of_a_token),
        TEST(test_claims_of_a_token),
        TEST(test_shedding),
        TEST(test_stored_of_a_token),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_shares", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
