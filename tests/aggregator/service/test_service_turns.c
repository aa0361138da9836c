/*
 * Three servers on one PostgreSQL (with_postgres.sh): what comes is folded, curated and published
 * by one of them, and the others leave it alone. One that is killed in its turn loses it, and
 * another one does it. What fails is tried again. What is published is what one process publishes
 * from a file.
 */
#include "tests/aggregator/place.h"
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cmocka_includes.h"

enum { SERVERS = 3, ROUNDS = 4, SHADERS = 5, SPACE = 10, LOOKS = 10 };

struct nodes {
    struct place *place; /* where a file is, which has the same uploads */
    PGconn *engine;
    struct server servers[SERVERS];
    bool killed[SERVERS];
    unsigned uploads;
};

static void rest(unsigned milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

/* What one statement answers, which the caller clears. */
static PGresult *ask(const struct nodes *nodes, const char *sql)
{
    PGresult *result = PQexec(nodes->engine, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(nodes->engine));
    return result;
}

static void say(const struct nodes *nodes, const char *sql)
{
    PQclear(ask(nodes, sql));
}

/* How often the game was curated when it had so many uploads. */
static long curated(const struct nodes *nodes, unsigned uploads)
{
    char sql[100];
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM coverage WHERE uploads = %u", uploads);
    PGresult *result = ask(nodes, sql);
    const long count = atol(PQgetvalue(result, 0, 0));
    PQclear(result);
    return count;
}

static void wait_curated(const struct nodes *nodes, long times)
{
    uint64_t until = 0;
    while (curated(nodes, nodes->uploads) < times && patience(&until)) {
    }
    assert_int_equal(curated(nodes, nodes->uploads), times);
}

/* To one of them, and into the file. */
static void upload(struct nodes *nodes, const struct server *server)
{
    struct place *place = nodes->place;
    const struct pm_profile *profile =
        random_profile(place->arena, &place->random, "game", SHADERS, SPACE);
    assert_int_equal(http_upload(server->port, NULL, profile), 204);
    place_store(place, profile);
    nodes->uploads++;
}

/* ---- the turn ---- */

/* Who holds a lease at this moment, as bits. Who only looks whether it is free does, too. */
static unsigned holders(const struct nodes *nodes)
{
    PGresult *result =
        ask(nodes, "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
                   " WHERE relation = 'leases'::regclass AND mode = 'RowShareLock' AND granted");
    unsigned bits = 0, number;
    for (int i = 0; i < PQntuples(result); i++) {
        if (sscanf(PQgetvalue(result, i, 0), "node-%u", &number) == 1)
            bits |= 1u << number;
    }
    PQclear(result);
    return bits;
}

/* The one that holds it at every look; SERVERS: there is none, or more than one. */
static unsigned look(const struct nodes *nodes)
{
    unsigned all = ~0u, number = 0;
    for (unsigned i = 0; i < LOOKS && all != 0; i++, rest(20))
        all &= holders(nodes);
    while (number < SERVERS && all != 1u << number)
        number++;
    return number;
}

static unsigned wait_holder(const struct nodes *nodes)
{
    uint64_t until = 0;
    unsigned found;
    while ((found = look(nodes)) == SERVERS && patience(&until)) {
    }
    assert_true(found < SERVERS);
    return found;
}

/* ---- what is published ---- */

static struct pm_buffer plain_body(const struct nodes *nodes, const void *body, size_t size)
{
    struct pm_buffer plain, timeless;
    struct pm_database database;
    struct pm_error error;
    pm_buffer_init(&plain, 1 << 24);
    pm_buffer_init(&timeless, 1 << 24);
    if (!pm_decompress(body, size, &plain, &error) ||
        !pm_database_decode(plain.data, plain.size, nodes->place->arena, &database, &error))
        fail_msg("%s", error.message);
    assert_int_equal(database.shader_count, SHADERS);
    database.curated_at = 0;
    if (!pm_database_encode(&database, &timeless, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&plain);
    return timeless;
}

/* But for the time of curation, to the byte. */
static void assert_published(const struct nodes *nodes)
{
    struct pm_aggregator *aggregator = nodes->place->aggregator;
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    struct pm_error error;
    pm_buffer_init(&body, 1 << 24);
    if (!pm_aggregator_curate(aggregator, "game", &error) ||
        !pm_aggregator_database(aggregator, "game", etag, &body, &error))
        fail_msg("%s", error.message);
    struct pm_buffer wanted = plain_body(nodes, body.data, body.size);
    for (unsigned i = 0; i < SERVERS; i++) {
        if (nodes->killed[i])
            continue;
        struct reply reply = http_send(
            &(struct request){.port = nodes->servers[i].port, .path = "/v1/games/game/database"});
        assert_int_equal(reply.status, 200);
        struct pm_buffer found = plain_body(nodes, reply.body, reply.size);
        assert_int_equal(found.size, wanted.size);
        assert_memory_equal(found.data, wanted.data, wanted.size);
        pm_buffer_finish(&found);
        reply_finish(&reply);
    }
    pm_buffer_finish(&wanted);
    pm_buffer_finish(&body);
}

/* ---- tests ---- */

static int set_up(void **state)
{
    struct nodes *nodes = calloc(1, sizeof(*nodes));
    char url[500];
    assert_non_null(nodes);
    nodes->place = place_create(31);
    nodes->engine = PQconnectdb(nodes->place->path);
    for (unsigned i = 0; i < SERVERS; i++) {
        snprintf(url, sizeof(url), "%s&application_name=node-%u", nodes->place->path, i);
        nodes->servers[i] = server_start(url);
    }
    free(nodes->place->path);
    nodes->place->path = join(nodes->place->folder, "test.db");
    place_open(nodes->place);
    *state = nodes;
    return 0;
}

static int tear_down(void **state)
{
    struct nodes *nodes = *state;
    for (unsigned i = 0; i < SERVERS; i++) {
        if (!nodes->killed[i])
            server_end(&nodes->servers[i], SIGTERM);
    }
    PQfinish(nodes->engine);
    place_destroy((void **)&nodes->place);
    free(nodes);
    return 0;
}

static void test_done_by_one(void **state)
{
    struct nodes *nodes = *state;
    upload(nodes, &nodes->servers[0]);
    wait_curated(nodes, SERVERS); /* each does once what it never did */
    for (unsigned i = 0; i < ROUNDS; i++) {
        upload(nodes, &nodes->servers[i % SERVERS]);
        wait_curated(nodes, 1);
        rest(2500); /* more than a second: all had a look at it */
        assert_int_equal(curated(nodes, nodes->uploads), 1);
    }
    assert_published(nodes);
}

/* Publishing waits here while the turn is held. */
static void test_killed_in_its_turn(void **state)
{
    struct nodes *nodes = *state;
    upload(nodes, &nodes->servers[0]);
    wait_curated(nodes, SERVERS);
    unsigned last = 0;
    for (unsigned kills = 0; kills + 1 < SERVERS; kills++) {
        say(nodes, "BEGIN");
        say(nodes, "LOCK TABLE coverage IN SHARE MODE");
        upload(nodes, &nodes->servers[last]);
        const unsigned holder = wait_holder(nodes);
        assert_false(nodes->killed[holder]);
        nodes->killed[holder] = true;
        server_end(&nodes->servers[holder], SIGKILL);
        say(nodes, "ROLLBACK");
        printf("node-%u was killed in its turn\n", holder);
        wait_curated(nodes, 1);
        assert_published(nodes);
        while (nodes->killed[last])
            last++;
    }
}

static long failures(const struct nodes *nodes)
{
    long sum = 0;
    for (unsigned i = 0; i < SERVERS; i++)
        sum += http_metric(nodes->servers[i].port, "piecemeal_curation_failures_total");
    return sum;
}

/* What the storage does not take for a while is done later, though nothing comes any more. */
static void test_tried_again(void **state)
{
    struct nodes *nodes = *state;
    uint64_t until = 0;
    upload(nodes, &nodes->servers[0]);
    wait_curated(nodes, SERVERS);
    say(nodes, "ALTER TABLE coverage RENAME TO away");
    upload(nodes, &nodes->servers[0]);
    while (failures(nodes) < SERVERS && patience(&until)) {
    }
    say(nodes, "ALTER TABLE away RENAME TO coverage");
    wait_curated(nodes, 1);
    assert_published(nodes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_done_by_one), TEST(test_killed_in_its_turn),
                                       TEST(test_tried_again)};
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_turns", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
