/*
 * Two servers under load on one PostgreSQL (with_postgres.sh), which ends as if its machine had and
 * comes back: whoever uploads meanwhile is told when to come again, and nothing else; what was
 * acknowledged is there afterwards, once. And one server on a PostgreSQL that does not answer:
 * whoever pulls is told the same.
 *
 *   test_aggregator_service_away [SECONDS]
 */
#include "base/clock.h"
#include "tests/aggregator/service/engine.h"
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/cmocka_includes.h"

enum { SERVERS = 2 };

static unsigned seconds = 3;

/* ---- the servers ---- */

static void rest(unsigned milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

enum { PULLS = 6, CONNECT_SECONDS = 2 }; /* the fewest that libpq waits */

enum { BACKENDS = 50 };

/* The engine and all that serves the servers' connections, which are kept; none says anything. */
static size_t silence(const struct engine *engine, PGconn *connection, pid_t pids[static BACKENDS])
{
    PGresult *result = PQexec(connection, "SELECT pid FROM pg_stat_activity WHERE application_name"
                                          " = 'piecemeal' LIMIT 49");
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    const size_t count = (size_t)PQntuples(result) + 1;
    pids[0] = engine->pid;
    for (size_t i = 1; i < count; i++)
        pids[i] = (pid_t)atoi(PQgetvalue(result, (int)i - 1, 0));
    PQclear(result);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(kill(pids[i], SIGSTOP), 0);
    return count;
}

/* The status; *advised: it says when to come again. */
static long pull(const struct server *server, bool *advised)
{
    struct reply reply =
        http_send(&(struct request){.port = server->port, .path = "/v1/games/game/database"});
    const long status = reply.status;
    *advised = reply.retry_after > 0;
    reply_finish(&reply);
    return status;
}

/* Nobody waits behind those who pull: an engine of which nothing is heard is left alone. */
static void test_no_answer(void **state)
{
    (void)state;
    struct engine engine;
    char url[400];
    uint64_t until = 0;
    unsigned told = 0;
    pid_t pids[BACKENDS];
    bool advised;
    snprintf(url, sizeof(url), "%s&connect_timeout=%d", getenv("PM_TEST_STORAGE"), CONNECT_SECONDS);
    engine_find(&engine, getenv("PM_TEST_ENGINE"));
    PGconn *connection = PQconnectdb(url);
    struct server server = server_start(url);
    assert_int_equal(pull(&server, &advised), 404);
    const size_t count = silence(&engine, connection, pids);
    while (pull(&server, &advised) == 404 && patience(&until)) {
    }
    const int64_t since = pm_now();
    for (unsigned i = 0; i < PULLS; i++)
        told += pull(&server, &advised) == 503 && advised;
    const int64_t took = pm_now() - since;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(kill(pids[i], SIGCONT), 0);
    assert_int_equal(told, PULLS);
    /* Did each wait, it would be longer. */
    assert_true(took < PULLS * CONNECT_SECONDS * PM_SECOND);
    until = 0;
    while (pull(&server, &advised) != 404 && patience(&until)) {
    }
    assert_int_equal(pull(&server, &advised), 404);
    server_end(&server, SIGTERM);
    PQfinish(connection);
    pm_buffer_finish(&engine.command);
}

static void test_away_under_load(void **state)
{
    (void)state;
    struct engine engine;
    char *url = getenv("PM_TEST_STORAGE");
    struct server servers[SERVERS];
    struct load *loads[SERVERS];
    struct load_sum sum = {0};
    unsigned others = 0, unadvised = 0, refused = 0;
    engine_find(&engine, getenv("PM_TEST_ENGINE"));
    for (unsigned i = 0; i < SERVERS; i++) {
        servers[i] = server_start(url);
        loads[i] = load_start(&servers[i], (uint64_t)time(NULL) + i);
    }
    for (unsigned i = 0; i < SERVERS; i++)
        load_wait(loads[i], 204, 50);
    engine_end(&engine);
    const time_t since = time(NULL);
    for (unsigned i = 0; i < SERVERS; i++) {
        load_wait(loads[i], 429, 20);
        assert_int_equal(server_health(&servers[i]), 503);
    }
    while (time(NULL) < since + (time_t)seconds)
        rest(100);
    engine_start(&engine);
    for (unsigned i = 0; i < SERVERS; i++)
        load_wait(loads[i], 204, 50);
    for (unsigned i = 0; i < SERVERS; i++) {
        assert_int_equal(server_health(&servers[i]), 200);
        load_stop(loads[i], false);
        others += load_others(loads[i]);
        unadvised += load_unadvised(loads[i]);
        refused += load_answers(loads[i], 429);
    }
    /* The other server is asked. */
    for (unsigned i = 0; i < SERVERS; i++)
        load_check(loads[i], &servers[(i + 1) % SERVERS], &sum);
    for (unsigned i = 0; i < SERVERS; i++)
        server_end(&servers[i], SIGTERM);
    printf("away for %u s: acknowledged %u, all there; told to come again %u, of which %u had been "
           "committed; answered otherwise %u\n",
           seconds, sum.confirmed, refused, sum.kept, others);
    load_check_stored(url, &sum);
    engine_finish(&engine);
    assert_int_equal(others, 0);
    assert_int_equal(unadvised, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_answer),
                                       cmocka_unit_test(test_away_under_load)};
    if (!getenv("PM_TEST_ENGINE_PID")) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    if (argc > 1)
        seconds = (unsigned)atoi(argv[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_away", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
