/* The service while its storage is locked by another process, or takes long; and stopping then. */
#include "tests/aggregator/service/service_place.h"

#include "base/clock.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

#define UPLOADS 20

static const struct pm_storage_operations *real;
static struct pm_storage_operations held; /* real with some that wait or fail */
static atomic_bool locked, hold,
    is_held;                  /* begin_uploads fails; it or list_samples waits, and does so */
static atomic_uint entered;   /* calls of begin_uploads for somebody's */
static atomic_uint begun;     /* those of them while it fails */
static atomic_bool slow;      /* begin_uploads waits, and then does it */
static atomic_bool conflicts; /* begin_uploads does, for the game "busy" */
static atomic_int conflict;   /* the code of that */
static atomic_uint rehearsed; /* calls of it for nobody's */
static atomic_uint added;     /* calls of add_blobs */
static atomic_uint arrived;   /* senders of a group whose bodies are waited for */

static void wait_while_held(void)
{
    uint64_t until = 0;
    while (atomic_load(&hold)) {
        atomic_store(&is_held, true);
        if (!patience(&until))
            abort();
    }
}

static bool begin_locked(struct pm_storage *storage, struct pm_storage_upload *uploads,
                         size_t count, struct pm_error *error)
{
    const bool is_rehearsal = count == 1 && !*uploads->game;
    atomic_fetch_add(&rehearsed, is_rehearsal);
    atomic_fetch_add(&entered, !is_rehearsal);
    for (size_t i = 0; i < count && atomic_load(&conflicts); i++) {
        if (strcmp(uploads[i].game, "busy") == 0)
            return pm_fail(error, (enum pm_code)atomic_load(&conflict), "another came between");
    }
    if (atomic_load(&slow) && !is_rehearsal)
        wait_while_held();
    if (!atomic_load(&locked))
        return real->begin_uploads(storage, uploads, count, error);
    atomic_fetch_add(&begun, !is_rehearsal);
    wait_while_held();
    return pm_fail(error, PM_ERROR_STATE, "another process is writing to it");
}

static bool list_slowly(struct pm_storage *storage, const char *game, pm_storage_visit_part visit,
                        void *user, struct pm_error *error)
{
    wait_while_held();
    return real->list_samples(storage, game, visit, user, error);
}

static bool add_slowly(struct pm_storage *storage, const struct pm_storage_blob *blobs,
                       size_t count, struct pm_error *error)
{
    atomic_fetch_add(&added, 1);
    wait_while_held();
    return real->add_blobs(storage, blobs, count, error);
}

static int set_up(void **state)
{
    struct place *place = place_create(5);
    place->keeping.samples_bytes = 1;
    place->serving.curate_seconds = 3600;
    place_open(place);
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    real = storage->operations;
    held = *real;
    held.begin_uploads = begin_locked;
    storage->operations = &held;
    atomic_store(&locked, false);
    atomic_store(&hold, false);
    atomic_store(&slow, false);
    atomic_store(&conflicts, false);
    atomic_store(&conflict, PM_ERROR_CONFLICT);
    atomic_store(&is_held, false);
    atomic_store(&entered, 0);
    atomic_store(&begun, 0);
    atomic_store(&rehearsed, 0);
    atomic_store(&added, 0);
    *state = place;
    return 0;
}

struct sender {
    struct place *place;
    const struct pm_profile *profile;
    pthread_t thread;
    atomic_bool goes; /* its body (gather) */
    long status;
};

static void *send_upload(void *user)
{
    struct sender *sender = user;
    sender->status = http_upload(sender->place->port, NULL, sender->profile);
    return NULL;
}

static long queued(const struct place *place)
{
    return http_metric(place->port, "piecemeal_queue_depth");
}

static void wait_for_turn(void *user)
{
    struct sender *sender = user;
    atomic_fetch_add(&arrived, 1);
    for (uint64_t until = 0; !atomic_load(&sender->goes);) {
        if (!patience(&until))
            abort();
    }
}

static void *send_in_turn(void *user)
{
    struct sender *sender = user;
    struct pm_buffer bytes;
    http_encode(sender->profile, &bytes);
    struct reply reply = place_send(sender->place, (struct request){.body = bytes.data,
                                                                    .size = bytes.size,
                                                                    .before_body = wait_for_turn,
                                                                    .user = sender});
    pm_buffer_finish(&bytes);
    sender->status = reply.status;
    reply_finish(&reply);
    return NULL;
}

/* The first waits in the storage, and the others become a group behind it, in their order. The
 * service has taken the headers of all of them before: who comes while another has waited for five
 * seconds is refused, and a busy machine may take as long over so many. */
static void gather(const struct place *place, struct sender senders[static UPLOADS])
{
    atomic_store(&arrived, 0);
    for (size_t i = 0; i < UPLOADS; i++)
        pthread_create(&senders[i].thread, NULL, send_in_turn, &senders[i]);
    for (uint64_t until = 0; atomic_load(&arrived) < UPLOADS;)
        assert_true(patience(&until));
    atomic_store(&senders[0].goes, true);
    for (uint64_t until = 0; atomic_load(&begun) == 0;)
        assert_true(patience(&until));
    for (long i = 1; i < UPLOADS; i++) {
        atomic_store(&senders[i].goes, true);
        for (uint64_t until = 0; queued(place) < i;)
            assert_true(patience(&until));
    }
}

/* A storage that another process locks fails a group at once, not each of its uploads after the
 * other, every one of which would wait for the lock. */
static void test_locked_storage(void **state)
{
    struct place *place = *state;
    struct sender senders[UPLOADS];
    atomic_store(&hold, true);
    place_serve(place);
    atomic_store(&locked, true);
    for (size_t i = 0; i < UPLOADS; i++)
        senders[i] = (struct sender){.place = place, .profile = small_profile(place, i)};
    gather(place, senders);
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

/* How often what is kept apart may have been tried again meanwhile: it rests for five seconds, then
 * for twice as long each time. */
static uint32_t rests_in(int64_t nanoseconds)
{
    uint32_t rests = 0;
    for (int64_t rest = 5 * PM_SECOND; nanoseconds >= rest; rest *= 2, rests++)
        nanoseconds -= rest;
    return rests;
}

static struct reply send_profile(struct place *place, const struct pm_profile *profile)
{
    struct pm_buffer bytes;
    http_encode(profile, &bytes);
    struct reply reply =
        place_send(place, (struct request){.body = bytes.data, .size = bytes.size});
    pm_buffer_finish(&bytes);
    return reply;
}

/* What another holds of the storage, however often it is tried, is to come again; what comes
 * together with it is stored, and the service is well. */
static void test_conflicts_to_the_end(void **state)
{
    struct place *place = *state;
    struct sender senders[UPLOADS];
    struct pm_profile *busy = small_profile(place, 100);
    unsigned stored = 0, again = 0;
    busy->game = "busy";
    place_serve(place);
    atomic_store(&conflicts, true);
    const int64_t before = pm_now();
    struct reply reply = send_profile(place, busy);
    assert_true(reply.retry_after > 0);
    assert_error(reply, 429, "held by another");
    const unsigned tries = atomic_load(&entered);
    reply = send_profile(place, busy); /* which waits for nothing, while the first one rests */
    assert_true(reply.retry_after > 0);
    assert_error(reply, 429, "held by another");
    if (rests_in(pm_now() - before) == 0)
        assert_int_equal(atomic_load(&entered), tries);

    /* One that is not known to wait, in the middle of a group. */
    atomic_store(&locked, true);
    atomic_store(&hold, true);
    for (size_t i = 0; i < UPLOADS; i++) {
        struct pm_profile *profile = small_profile(place, i);
        if (i == UPLOADS / 2)
            profile->game = "busy";
        senders[i] = (struct sender){.place = place, .profile = profile};
    }
    gather(place, senders);
    atomic_store(&locked, false);
    atomic_store(&hold, false);
    for (size_t i = 0; i < UPLOADS; i++) {
        pthread_join(senders[i].thread, NULL);
        stored += senders[i].status == 204;
        again += senders[i].status == 429;
    }
    assert_int_equal(again, 1);
    assert_int_equal(senders[UPLOADS / 2].status, 429);
    assert_int_equal(stored, UPLOADS - 2); /* the first was told that the storage is locked */
    assert_true(http_metric(place->port, "piecemeal_commit_conflicts_total") > 0);

    atomic_store(&conflicts, false);
    long status = 429;
    for (uint64_t until = 0; status == 429 && patience(&until);)
        status = http_upload(place->port, NULL, busy);
    assert_int_equal(status, 204);
    assert_int_equal(http_upload(place->port, NULL, senders[UPLOADS / 2].profile), 204);
    assert_int_equal(http_upload(place->port, NULL, busy), 200);
}

/* Where a second upload of a game waits in vain, all of its are kept apart, and those of other
 * games are stored at once. */
static void test_a_game_that_is_held(void **state)
{
    struct place *place = *state;
    struct pm_profile *busy[5];
    place_serve(place);
    atomic_store(&conflicts, true);
    atomic_store(&conflict, PM_ERROR_TIMEOUT); /* which is not tried again at once */
    const int64_t before = pm_now();
    for (size_t i = 0; i < 5; i++) {
        busy[i] = small_profile(place, i);
        busy[i]->game = "busy";
        assert_error(send_profile(place, busy[i]), 429, "takes too long");
        assert_int_equal(http_upload(place->port, NULL, small_profile(place, 100 + i)), 204);
    }
    /* Two of the game, unless others were tried after a rest, and the other game's. */
    const uint32_t tried = atomic_load(&entered) - 5;
    assert_in_range(tried, 2, 2 + rests_in(pm_now() - before));
    assert_int_equal(http_metric(place->port, "piecemeal_commit_conflicts_total"), tried);
    assert_int_equal(http_metric(place->port, "piecemeal_commit_failures_total"), 0);
    assert_int_equal(place_health(place), 200);

    atomic_store(&conflicts, false);
    for (size_t i = 0; i < 5; i++) {
        long status = 429;
        for (uint64_t until = 0; status == 429 && patience(&until);)
            status = http_upload(place->port, NULL, busy[i]);
        assert_int_equal(status, 204);
    }
}

/* The storage is not well then, and it is not said that it cannot be reached. */
static void test_a_standby_that_is_away(void **state)
{
    struct place *place = *state;
    struct pm_profile *busy = small_profile(place, 1);
    busy->game = "busy";
    place_serve(place);
    atomic_store(&conflicts, true);
    atomic_store(&conflict, PM_ERROR_UNSURE);
    assert_error(send_profile(place, busy), 429, "standby");
    assert_int_equal(http_metric(place->port, "piecemeal_commit_failures_total"), 1);
}

/* A service that could not store says so until it can, and finds that out by itself: who asks how
 * it is before he sends it anything hears of it. What it tries leaves nothing behind. */
static void test_is_well_again_without_an_upload(void **state)
{
    struct place *place = *state;
    place_serve(place);
    assert_int_equal(place_health(place), 200);
    atomic_store(&locked, true);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 500);
    /* Also once it tried, in vain. */
    for (uint64_t until = 0; atomic_load(&rehearsed) < 2;)
        assert_true(patience(&until));
    assert_int_equal(place_health(place), 503);
    assert_true(http_metric(place->port, "piecemeal_commit_failures_total") == 1);
    atomic_store(&locked, false);
    for (uint64_t until = 0; place_health(place) != 200;)
        assert_true(patience(&until));
    const unsigned tries = atomic_load(&rehearsed);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    assert_int_equal(atomic_load(&rehearsed), tries);
    place_stop(place);

    sqlite3 *file;
    sqlite3_stmt *ids;
    assert_int_equal(sqlite3_open(place->path, &file), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(file, "SELECT count(*) FROM upload_ids", -1, &ids, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(ids), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(ids, 0), 1);
    sqlite3_finalize(ids);
    sqlite3_close(file);
}

/* Who sends slowly is cut off, also while folding takes long. */
static void test_slow_peer_while_folding(void **state)
{
    struct place *place = *state;
    static const char head[] =
        "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
    char byte;
    held.list_samples = list_slowly;
    place->serving.request_seconds = 1;
    place_serve(place);
    atomic_store(&hold, true);
    /* On a busy machine this one may be too slow, too. */
    const struct pm_profile *profile = small_profile(place, 1);
    long status = http_upload(place->port, NULL, profile);
    for (uint64_t until = 0; status != 204 && status != 200;
         status = http_upload(place->port, NULL, profile))
        assert_true(patience(&until));
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

/* ---- stopping ---- */

static void *stop_service(void *user)
{
    struct place *place = user;
    pm_service_destroy(place->service);
    return NULL;
}

/* Who stops says that it is not ready, and stores what it has: for two seconds it may also wait for
 * an engine. */
static void test_drains(void **state)
{
    struct place *place = *state;
    pthread_t stopper;
    struct sender sender = {.place = place, .profile = small_profile(place, 1)};
    place_serve(place);
    /* The first of a day may take longer than stopping waits. */
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 3)), 204);
    atomic_store(&slow, true);
    atomic_store(&hold, true);
    pthread_create(&sender.thread, NULL, send_upload, &sender);
    for (uint64_t until = 0; !atomic_load(&is_held);)
        assert_true(patience(&until));
    assert_int_equal(place_health(place), 200);
    const int64_t before = pm_now();
    pthread_create(&stopper, NULL, stop_service, place);
    for (uint64_t until = 0; place_health(place) != 503;)
        assert_true(patience(&until));
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 2)), 503);
    atomic_store(&hold, false);
    pthread_join(sender.thread, NULL);
    const bool late = on_postgres() && pm_now() - before >= 2 * PM_SECOND;
    pthread_join(stopper, NULL);
    place->service = NULL;
    assert_true(sender.status == 204 || (late && sender.status == 503));
}

/* What is being folded in waits again, whole. */
static void test_stop_while_folding(void **state)
{
    struct place *place = *state;
    struct pm_shader_profile shaders[UPLOADS];
    const struct pm_point_counts point = block_counts(0, 8, 4);
    pthread_t stopper;
    for (uint64_t i = 0; i < UPLOADS; i++)
        shaders[i] = block_shader(place->arena, i, 1, &point, 1);
    const struct pm_profile *profile =
        profile_of(place->arena, &place->random, "game", shaders, UPLOADS);
    held.add_blobs = add_slowly;
    atomic_store(&hold, true);
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    for (uint64_t until = 0; !atomic_load(&is_held);)
        assert_true(patience(&until));
    pthread_create(&stopper, NULL, stop_service, place);
    for (uint64_t until = 0; !pm_aggregator_is_interrupted(place->aggregator);)
        assert_true(patience(&until));
    atomic_store(&hold, false);
    pthread_join(stopper, NULL);
    place->service = NULL;
    assert_int_equal(atomic_load(&added), 1);
    assert_int_equal(place_rows_that_wait(place), 1);
    place_serve(place);
    assert_int_equal(sessions_of_first(place), 1);
    assert_int_equal(place_rows_that_wait(place), 0);
    assert_int_equal(http_upload(place->port, NULL, profile), 200);
}

/* Stops while another process has the storage locked, and nobody is told what is not so. Whether it
 * took less than the ten seconds that are waited for a lock else, and somebody was told that it
 * stops. */
static bool stops_promptly(struct place *place)
{
    struct sender senders[UPLOADS];
    sqlite3 *other;
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    assert_int_equal(sqlite3_open(place->path, &other), SQLITE_OK);
    sqlite3_busy_timeout(other, 30000); /* the upload may be being folded in */
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    const unsigned before_them = atomic_load(&entered);
    for (size_t i = 0; i < UPLOADS; i++) {
        senders[i] = (struct sender){.place = place, .profile = small_profile(place, 1)};
        pthread_create(&senders[i].thread, NULL, send_upload, &senders[i]);
    }
    /* Some, or on a busy machine all, are in the group that waits for the lock. */
    for (uint64_t until = 0; queued(place) < 1 && atomic_load(&entered) == before_them;)
        assert_true(patience(&until));
    const int64_t before = pm_now();
    pm_service_destroy(place->service);
    place->service = NULL;
    const int64_t after = pm_now();
    sqlite3_close(other);
    for (size_t i = 0; i < UPLOADS; i++)
        pthread_join(senders[i].thread, NULL);
    place_serve(place);
    bool told = false;
    for (size_t i = 0; i < UPLOADS; i++) {
        /* Who came when it listened no more has no answer. On a busy machine the first may have
         * waited for so long that others are to come again, or for the lock to the end. */
        const long status = senders[i].status;
        assert_true(status == 0 || status == 429 || status == 500 || status == 503);
        told = told || status == 503;
        assert_int_equal(http_upload(place->port, NULL, senders[i].profile), 204);
    }
    return told && after - before < 8 * PM_SECOND;
}

/* A machine that stands still for seconds may do better with the next attempt. */
static void test_stop_while_locked(void **state)
{
    struct place *place = *state;
    bool prompt = false;
    for (int i = 0; i < 3 && !prompt; i++) {
        prompt = stops_promptly(place);
        place_stop(place);
    }
    assert_true(prompt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_conflicts_to_the_end),
        TEST(test_a_game_that_is_held),
        TEST(test_a_standby_that_is_away),
        TEST(test_locked_storage),
        TEST(test_is_well_again_without_an_upload),
        TEST(test_slow_peer_while_folding),
        TEST(test_drains),
        TEST(test_stop_while_folding),
        TEST(test_stop_while_locked),
    };
    /* What holds up a PostgreSQL is test_service_orphan.c's, and that it is away
     * test_service_away.c's. */
    const struct CMUnitTest of_postgres[] = {
        TEST(test_conflicts_to_the_end),
        TEST(test_a_standby_that_is_away),
        TEST(test_locked_storage),
        TEST(test_slow_peer_while_folding),
        TEST(test_drains),
        TEST(test_stop_while_folding),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = on_postgres()
                           ? cmocka_run_group_tests_name("service_held", of_postgres, NULL, NULL)
                           : cmocka_run_group_tests_name("service_held", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
