/* The service with many clients, slow ones, too many, and a full disk. */
#include "tests/aggregator/service/service_place.h"

#include "tests/patience.h"
#include <curl/curl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(42);
    place->keeping.scenes = 2;
    place->serving.curate_seconds = 1;
    *state = place;
    return 0;
}

static void pause_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void test_half_sent(void **state)
{
    struct place *place = *state;
    static const char half[] =
        "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf";
    int fds[40];
    place->serving.request_seconds = 4;
    place_serve(place);
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
    place_stop(place);
    close(fds[0]);
}

static void test_many_at_once(void **state)
{
    struct place *place = *state;
    struct uploader uploaders[8];
    place_serve(place);
    uploaders_start(place, uploaders, 8);
    assert_int_equal(uploaders_join(uploaders, 8), 8 * UPLOADER_PROFILES);
    assert_int_equal(sessions_of_first(place), 8 * UPLOADER_PROFILES);
}

/* What was acknowledged before the end is there, and nothing else. */
static void test_stops_gracefully(void **state)
{
    struct place *place = *state;
    struct uploader uploaders[4];
    place_serve(place);
    uploaders_start(place, uploaders, 4);
    pause_ms(60);
    place_stop(place);
    const unsigned stored = uploaders_join(uploaders, 4);
    place_serve(place);
    assert_int_equal(sessions_of_first(place), stored);
}

static void test_busy(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    /* No memory for any upload, and then none in the queue. */
    place->serving.memory_bytes = 8;
    place_serve(place);
    http_encode(small_profile(place, 1), &bytes);
    struct reply reply =
        place_send(place, (struct request){.body = bytes.data, .size = bytes.size});
    assert_in_range(reply.retry_after, 1, 60);
    assert_error(reply, 429, "later");
    place_stop(place);
    place->serving.memory_bytes = 0;
    place->serving.queue = 1;
    place_serve(place);
    struct uploader uploaders[8];
    uploaders_start(place, uploaders, 8);
    const unsigned stored = uploaders_join(uploaders, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(uploaders[i].other, 0);
    assert_int_equal(sessions_of_first(place), stored);
    pm_buffer_finish(&bytes);
}

/* A limit on file sizes stands for a full disk. That of a PostgreSQL: test_service_disk.c. */
static void test_full_disk(void **state)
{
    if (on_postgres())
        skip();
    struct place *place = *state;
    struct rlimit before, limit;
    struct pm_buffer bytes;
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1000)), 204);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 64 << 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    http_encode(random_profile(place->arena, &place->random, "game", 20, 400), &bytes);
    const struct request request = {.body = bytes.data, .size = bytes.size};
    struct reply full = place_send(place, request);
    struct reply health = place_send(place, (struct request){.path = "/healthz"});
    setrlimit(RLIMIT_FSIZE, &before);
    assert_error(full, 507, "full");
    assert_error(health, 503, "could not be stored");
    struct reply reply = place_send(place, request);
    assert_int_equal(reply.status, 204);
    reply_finish(&reply);
    reply = place_send(place, (struct request){.path = "/healthz"});
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_half_sent), TEST(test_many_at_once), TEST(test_stops_gracefully),
        TEST(test_busy),      TEST(test_full_disk),
    };
    signal(SIGXFSZ, SIG_IGN);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_load", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
