/*
 * A prepared transaction whose coordinator died (with_postgres.sh): it holds what it wrote until
 * somebody ends it. Whoever sends an upload of it again is told when to come again, soon; all
 * others' uploads go on, and the service is well.
 */
#include "tests/aggregator/service/service_place.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cmocka_includes.h"

/* PROMPT_SECONDS: a wait of 2 s for one that is known to wait, which may be under way, and a busy
 * machine. */
enum { OTHERS = 20, HELD = 5, SOON_SECONDS = 10, PROMPT_SECONDS = 4 };

/* ---- the orphan ---- */

/* Of the upload whose id it holds, in hexadecimal digits. */
static char orphan[2 * PM_UPLOAD_ID_BYTES + 1];

static void say(const struct place *place, const char *sql)
{
    PGconn *connection = PQconnectdb(place->path);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

/* As one that had taken the upload: all: and counted uploads of its game in whatever slot. */
static void leave_orphan(const struct place *place, const struct pm_profile *profile, bool all)
{
    char sql[1000];
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        snprintf(orphan + 2 * i, 3, "%02x", profile->upload_id[i]);
    snprintf(sql, sizeof(sql),
             "BEGIN; SELECT version FROM piecemeal_schema;"
             "INSERT INTO upload_ids (game, day, id, taken) VALUES ('%s', %u, '\\x%s', %u);"
             "INSERT INTO games (game, slot, uploads, origin) SELECT '%s', n, 1, '\\x00'"
             " FROM generate_series(0, %d) AS n ON CONFLICT (game, slot) DO UPDATE"
             " SET uploads = games.uploads + 1;"
             "PREPARE TRANSACTION '%s'",
             profile->game, profile->day, orphan, profile->day, profile->game, all ? 15 : -1,
             orphan);
    say(place, sql);
}

static void end_orphan(const struct place *place, const char *how)
{
    char sql[100];
    snprintf(sql, sizeof(sql), "%s PREPARED '%s'", how, orphan);
    say(place, sql);
}

/* ---- uploads ---- */

static struct pm_profile *upload_of(struct place *place, const char *game)
{
    struct pm_profile *profile = small_profile(place, 1);
    profile->game = game;
    profile->day = (uint32_t)(time(NULL) / 86400);
    return profile;
}

struct sender {
    struct place *place;
    const struct pm_profile *profile;
    pthread_t thread;
    long status;
    int retry_after;
    time_t took;
};

static void *send_one(void *user)
{
    struct sender *sender = user;
    struct pm_buffer bytes;
    const time_t before = time(NULL);
    http_encode(sender->profile, &bytes);
    struct reply reply =
        place_send(sender->place, (struct request){.body = bytes.data, .size = bytes.size});
    sender->status = reply.status;
    sender->retry_after = reply.retry_after;
    sender->took = time(NULL) - before;
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    return NULL;
}

/* The first of them is the orphan's, the others are all stored, though they came together. */
static void send_all(struct sender *senders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_one, &senders[i]), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(senders[i].thread, NULL);
    assert_int_equal(senders[0].status, 429);
    assert_true(senders[0].retry_after > 0);
    for (size_t i = 0; i < count; i++)
        assert_true(senders[i].took < SOON_SECONDS);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(senders[i].status, 204);
}

static long again(const struct sender *sender)
{
    long status = 429;
    for (uint64_t until = 0; status == 429 && patience(&until);)
        status = http_upload(sender->place->port, NULL, sender->profile);
    return status;
}

static uint64_t count_uploads(const struct place *place, const char *game)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct pm_error error;
    uint64_t uploads;
    bool known;
    if (!storage->operations->find_game(storage, game, &known, &uploads, &error))
        fail_msg("%s", error.message);
    return uploads;
}

static void begin(struct place *place, struct sender *senders, const char *const games[])
{
    place->serving.curate_seconds = 3600;
    place_serve(place);
    for (size_t i = 0; i <= OTHERS; i++)
        senders[i] = (struct sender){.place = place, .profile = upload_of(place, games[i > 0])};
    /* The day is known. */
    assert_int_equal(http_upload(place->port, NULL, upload_of(place, games[0])), 204);
    assert_int_equal(http_upload(place->port, NULL, upload_of(place, games[1])), 204);
}

static void test_an_upload_that_is_held(void **state)
{
    struct place *place = *state;
    struct sender senders[OTHERS + 1];
    begin(place, senders, (const char *const[]){"game", "game"});
    leave_orphan(place, senders[0].profile, false);
    send_all(senders, OTHERS + 1);
    assert_int_equal(place_health(place), 200);
    assert_true(http_metric(place->port, "piecemeal_commit_conflicts_total") > 0);
    assert_int_equal(http_metric(place->port, "piecemeal_commit_failures_total"), 0);

    /* It is known to wait, and others come. */
    for (size_t i = 1; i <= OTHERS; i++)
        senders[i].profile = upload_of(place, "game");
    send_all(senders, OTHERS + 1);

    end_orphan(place, "ROLLBACK");
    assert_int_equal(again(&senders[0]), 204);
    assert_int_equal(again(&senders[0]), 200);
    assert_int_equal(count_uploads(place, "game"), 2 + 2 * OTHERS + 1);
}

static void test_a_game_that_is_held(void **state)
{
    struct place *place = *state;
    struct sender senders[OTHERS + 1], held[HELD];
    begin(place, senders, (const char *const[]){"game", "other"});
    leave_orphan(place, senders[0].profile, true);
    send_all(senders, OTHERS + 1);
    assert_int_equal(place_health(place), 200);

    /* New ones of the game come again and again, and hold nobody up once that is known. */
    for (size_t i = 0; i < HELD; i++) {
        held[i] = (struct sender){.place = place, .profile = upload_of(place, "game")};
        send_one(&held[i]);
        assert_int_equal(held[i].status, 429);
    }
    assert_true(held[HELD - 1].took <= PROMPT_SECONDS);
    for (size_t i = 1; i <= OTHERS; i++)
        senders[i].profile = upload_of(place, "other");
    for (size_t i = 0; i < HELD; i++)
        assert_int_equal(pthread_create(&held[i].thread, NULL, send_one, &held[i]), 0);
    send_all(senders, OTHERS + 1);
    for (size_t i = 0; i < HELD; i++)
        pthread_join(held[i].thread, NULL);
    for (size_t i = 1; i <= OTHERS; i++)
        assert_true(senders[i].took <= PROMPT_SECONDS);

    end_orphan(place, "ROLLBACK");
    assert_int_equal(again(&senders[0]), 204);
    for (size_t i = 0; i < HELD; i++)
        assert_int_equal(again(&held[i]), 204);
    assert_int_equal(count_uploads(place, "game"), 2 + HELD);
    assert_int_equal(count_uploads(place, "other"), 1 + 2 * OTHERS);
}

/* What it took counts once it is committed after all. */
static void test_an_orphan_that_is_committed(void **state)
{
    struct place *place = *state;
    struct sender senders[OTHERS + 1];
    begin(place, senders, (const char *const[]){"game", "other"});
    leave_orphan(place, senders[0].profile, false);
    send_all(senders, OTHERS + 1);
    end_orphan(place, "COMMIT");
    assert_int_equal(again(&senders[0]), 200);
}

static int set_up(void **state)
{
    *state = place_create(9);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_an_upload_that_is_held),
                                       TEST(test_a_game_that_is_held),
                                       TEST(test_an_orphan_that_is_committed)};
    if (!on_postgres() || getenv("PM_TEST_CITUS")) {
        printf("skipped: needs one PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_orphan", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
