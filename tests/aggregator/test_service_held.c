/* The service while its storage is locked by another process, or takes long. */
#include "aggregator/http.h"
#include "aggregator/service.h"
#include "aggregator/support.h"
#include "patience.h"
#include <curl/curl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define UPLOADS 20

struct place {
    char *folder, *path;
    struct pm_aggregator *aggregator;
    struct pm_service *service;
    struct pm_storage_operations held; /* with some that wait or fail */
    uint16_t port;
    struct pm_arena *arena;
    struct pm_random random;
};

static const struct pm_storage_operations *real;
static atomic_bool locked, hold,
    is_held;              /* begin fails; begin or list_samples waits, and does so */
static atomic_uint begun; /* calls of begin while it fails */

static void wait_while_held(void)
{
    uint64_t until = 0;
    while (atomic_load(&hold)) {
        atomic_store(&is_held, true);
        if (!patience(&until))
            abort();
    }
}

static bool begin_locked(struct pm_storage *storage, struct pm_error *error)
{
    if (!atomic_load(&locked))
        return real->begin(storage, error);
    atomic_fetch_add(&begun, 1);
    wait_while_held();
    return pm_fail(error, PM_ERROR_STATE, "another process is writing to it");
}

static bool list_slowly(struct pm_storage *storage, const char *game, pm_storage_visit_part visit,
                        void *user, struct pm_error *error)
{
    wait_while_held();
    return real->list_samples(storage, game, visit, user, error);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    place->arena = pm_arena_create(0);
    pm_random_init(&place->random, 5);
    const struct pm_aggregator_info info = {.publish_all = true, .samples_bytes = 1};
    struct pm_error error;
    place->aggregator = pm_aggregator_open(place->path, &info, &error);
    if (!place->aggregator)
        fail_msg("%s", error.message);
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    real = storage->operations;
    place->held = *real;
    place->held.begin = begin_locked;
    storage->operations = &place->held;
    atomic_store(&locked, false);
    atomic_store(&hold, false);
    atomic_store(&is_held, false);
    atomic_store(&begun, 0);
    *state = place;
    return 0;
}

static void start(struct place *place)
{
    const struct pm_service_info info = {
        .aggregator = place->aggregator, .curate_seconds = 3600, .request_seconds = 1};
    struct pm_error error;
    place->service = pm_service_create(&info, &error);
    if (!place->service)
        fail_msg("%s", error.message);
    place->port = pm_service_port(place->service);
}

static int tear_down(void **state)
{
    struct place *place = *state;
    pm_service_destroy(place->service);
    pm_aggregator_destroy(place->aggregator);
    pm_arena_destroy(place->arena);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

struct sender {
    struct place *place;
    const struct pm_profile *profile;
    pthread_t thread;
    long status;
};

static void *send_upload(void *user)
{
    struct sender *sender = user;
    sender->status = http_upload(sender->place->port, NULL, sender->profile);
    return NULL;
}

static const struct pm_profile *profile(struct place *place, uint64_t number)
{
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, number, 1, &point, 1);
    return profile_of(place->arena, &place->random, "game", &shader, 1);
}

static int queued(struct place *place)
{
    static const char name[] = "\npiecemeal_queue_depth ";
    struct reply reply = http_send(&(struct request){.port = place->port, .path = "/metrics"});
    const char *found = reply.body ? strstr((char *)reply.body, name) : NULL;
    const int count = found ? atoi(found + sizeof(name) - 1) : -1;
    reply_finish(&reply);
    return count;
}

/* A storage that another process locks fails a group at once, not each of its uploads after the
 * other, every one of which would wait for the lock. */
static void test_locked_storage(void **state)
{
    struct place *place = *state;
    struct sender senders[UPLOADS];
    atomic_store(&hold, true);
    start(place);
    atomic_store(&locked, true);
    for (size_t i = 0; i < UPLOADS; i++) {
        senders[i] = (struct sender){.place = place, .profile = profile(place, i)};
        pthread_create(&senders[i].thread, NULL, send_upload, &senders[i]);
        /* The first waits in the storage, the others become a group behind it. */
        for (uint64_t until = 0; atomic_load(&begun) == 0;)
            assert_true(patience(&until));
    }
    for (uint64_t until = 0; queued(place) < UPLOADS - 1;)
        assert_true(patience(&until));
    atomic_store(&hold, false);
    for (size_t i = 0; i < UPLOADS; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].status, 500);
    }
    assert_int_equal(atomic_load(&begun), 2);
    atomic_store(&locked, false);
    for (size_t i = 0; i < UPLOADS; i++)
        assert_int_equal(http_upload(place->port, NULL, senders[i].profile), 204);
}

/* Who sends slowly is cut off, also while folding takes long. */
static void test_slow_peer_while_folding(void **state)
{
    struct place *place = *state;
    static const char head[] =
        "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
    char byte;
    place->held.list_samples = list_slowly;
    start(place);
    atomic_store(&hold, true);
    assert_int_equal(http_upload(place->port, NULL, profile(place, 1)), 204);
    for (uint64_t until = 0; !atomic_load(&is_held);)
        assert_true(patience(&until));
    const int fd = http_connect(place->port);
    assert_int_equal(send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL), sizeof(head) - 1);
    /* Not so slowly that libmicrohttpd would mind. */
    bool more = true, is_cut = false;
    for (uint64_t until = 0, i = 1; !is_cut && more; i++) {
        more = patience(&until);
        if (i % 100 == 0)
            is_cut = send(fd, "x", 1, MSG_NOSIGNAL) < 0;
        is_cut = is_cut || recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
    }
    const bool was_held = atomic_load(&hold);
    atomic_store(&hold, false);
    close(fd);
    assert_true(is_cut);
    assert_true(was_held);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_locked_storage),
        TEST(test_slow_peer_while_folding),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_held", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
