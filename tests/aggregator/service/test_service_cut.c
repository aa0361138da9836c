/*
 * Clients that go away at every byte of a request: by closing, and by a reset. What was not sent in
 * full is never counted; what was may be; sent again it is counted once.
 */
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include <curl/curl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

enum body { WITH_LENGTH, CHUNKED, WITH_EXPECT };

static void make_request(const struct pm_profile *profile, enum body how, struct pm_buffer *out)
{
    static const char *const heads[] = {
        [WITH_LENGTH] = "Content-Length: %zu\r\n\r\n",
        [CHUNKED] = "Transfer-Encoding: chunked\r\n\r\n%zx\r\n",
        [WITH_EXPECT] = "Expect: 100-continue\r\nContent-Length: %zu\r\n\r\n",
    };
    struct pm_buffer body;
    char head[100];
    http_encode(profile, &body);
    pm_buffer_init(out, 1 << 16);
    snprintf(head, sizeof(head), heads[how], body.size);
    assert_true(pm_buffer_append_string(out, "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\n") &&
                pm_buffer_append_string(out, head) && pm_buffer_append(out, body.data, body.size) &&
                (how != CHUNKED || pm_buffer_append_string(out, "\r\n0\r\n\r\n")));
    pm_buffer_finish(&body);
}

static void send_part(uint16_t port, const struct pm_buffer *request, size_t size, bool reset)
{
    const struct linger none = {.l_onoff = 1};
    const int fd = http_connect(port);
    if (size > 0)
        assert_int_equal(send(fd, request->data, size, MSG_NOSIGNAL), size);
    if (reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(fd);
}

static void cut_everywhere(const struct server *server, struct pm_arena *arena,
                           struct pm_random *random, enum body how, struct load_sum *sum)
{
    bool ended = false;
    for (size_t at = 0; !ended; at++) {
        const struct pm_profile *profile = load_profile(arena, random, &sum->lanes);
        struct pm_buffer request;
        make_request(profile, how, &request);
        const size_t size = request.size; /* of each another, by what it compresses to */
        ended = at >= size;
        at = ended ? size : at;
        sum->uploads++;
        send_part(server->port, &request, at, at % 2 == 1);
        pm_buffer_finish(&request);
        const long status = http_upload(server->port, NULL, profile);
        /* A chunked body is whole before the empty line that ends it. */
        const bool whole = at == size || (how == CHUNKED && at + 2 >= size);
        assert_true(status == 204 || (status == 200 && whole));
        assert_int_equal(http_upload(server->port, NULL, profile), 200);
    }
}

static void test_cut(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = join(folder, "test.db");
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    struct load_sum sum = {0};
    struct server server = server_start(path);
    pm_random_init(&random, 1);
    for (enum body how = WITH_LENGTH; how <= WITH_EXPECT; how++)
        cut_everywhere(&server, arena, &random, how, &sum);
    printf("cut at %u places\n", sum.uploads);
    server_end(&server, SIGTERM);
    load_check_stored(path, &sum);
    pm_arena_destroy(arena);
    free(path);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut)};
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
