/*
 * Two servers under load on a primary and its standby (with_postgres.sh --standby), which takes its
 * place. Then the first comes back as the primary that it was, takes writes, waits for no standby,
 * and is the first host of the URL: nothing is acknowledged by it, by servers that ran all along
 * and by one that is started anew, nor while it is all that there is.
 */
#include "tests/aggregator/service/engine.h"
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

enum { SERVERS = 2 };

static void rest(unsigned milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

/* What one statement answers of the engine in a folder; -1: it cannot be reached. */
static long ask(const char *folder, const char *sql)
{
    char url[400];
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=piecemeal", folder);
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, sql);
    const long answer =
        PQresultStatus(result) == PGRES_TUPLES_OK ? atol(PQgetvalue(result, 0, 0)) : -1;
    PQclear(result);
    PQfinish(connection);
    return answer;
}

static void promote(const char *standby)
{
    unsigned tries = 0;
    while (ask(standby, "SELECT (NOT pg_is_in_recovery() OR pg_promote(true, 60))::int") != 1) {
        assert_true(++tries < 600);
        rest(100);
    }
}

/* So that servers connect again. */
static void cut_connections(const char *folder)
{
    assert_true(ask(folder, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                            " WHERE application_name = 'piecemeal'") > 0);
}

/* Uploads that it has. */
static long count_ids(const char *folder)
{
    return ask(folder, "SELECT count(*) FROM upload_ids");
}

static void wait_all(struct load *loads[static SERVERS], long status, unsigned more)
{
    for (unsigned i = 0; i < SERVERS; i++)
        load_wait(loads[i], status, more);
}

/* Who knows of the new primary says why it does not write to the old one. */
static void assert_refused(struct pm_aggregator *knowing)
{
    struct pm_error error = {0};
    assert_false(pm_aggregator_rehearse(knowing, &error));
    assert_int_equal(error.code, PM_ERROR_NETWORK);
    if (!strstr(error.message, "is on timeline 1, and a standby that took its place on 2"))
        fail_msg("%s", error.message);
}

static void test_a_predecessor_is_fenced(void **state)
{
    (void)state;
    const char *url = getenv("PM_TEST_STORAGE"), *place = getenv("PM_TEST_ENGINE"),
               *standby_place = getenv("PM_TEST_STANDBY");
    const struct pm_aggregator_info info = {.publish_all = true};
    struct engine primary, standby;
    struct server servers[SERVERS];
    struct load *loads[SERVERS], *late;
    struct load_sum sum = {0};
    struct pm_error error = {0};
    engine_find(&primary, place);
    engine_find(&standby, standby_place);
    for (unsigned i = 0; i < SERVERS; i++) {
        servers[i] = server_start(url);
        loads[i] = load_start(&servers[i], (uint64_t)time(NULL) + i);
    }
    wait_all(loads, 204, 50);
    engine_end(&primary);
    promote(standby_place);
    wait_all(loads, 204, 50);

    engine_add_option(&primary, "synchronous_standby_names=");
    engine_start(&primary);
    const long before = count_ids(place);
    assert_true(before > 0);
    assert_int_equal(ask(place, "SELECT pg_is_in_recovery()::int"), 0);
    for (unsigned i = 0; i < 3; i++) {
        cut_connections(standby_place);
        wait_all(loads, 204, 20);
    }
    struct server anew = server_start(url);
    late = load_start(&anew, (uint64_t)time(NULL) + SERVERS);
    load_wait(late, 204, 50);
    struct pm_aggregator *knowing = pm_aggregator_open(url, &info, &error);
    assert_non_null(knowing);

    /* The old one is all that there is. */
    engine_end(&standby);
    wait_all(loads, 429, 20);
    load_wait(late, 429, 20);
    assert_refused(knowing);
    assert_int_equal(count_ids(place), before);
    engine_start(&standby);
    wait_all(loads, 204, 20);
    load_wait(late, 204, 20);
    uint64_t until = 0; /* a connection of before may be lost first */
    bool well;
    while (!(well = pm_aggregator_rehearse(knowing, &error)) && patience(&until)) {
    }
    assert_true(well);
    pm_aggregator_destroy(knowing);

    unsigned others = 0;
    load_stop(late, false);
    for (unsigned i = 0; i < SERVERS; i++)
        load_stop(loads[i], false);
    for (unsigned i = 0; i < SERVERS; i++)
        others += load_others(loads[i]);
    others += load_others(late);
    for (unsigned i = 0; i < SERVERS; i++)
        load_check(loads[i], &servers[(i + 1) % SERVERS], &sum);
    load_check(late, &servers[0], &sum);
    server_end(&anew, SIGTERM);
    for (unsigned i = 0; i < SERVERS; i++)
        server_end(&servers[i], SIGTERM);
    assert_int_equal(count_ids(place), before);
    printf("acknowledged %u, all there; the old primary has the %ld of before\n", sum.confirmed,
           before);
    load_check_stored(url, &sum);
    engine_finish(&primary);
    engine_finish(&standby);
    assert_int_equal(others, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_predecessor_is_fenced)};
    if (!getenv("PM_TEST_STANDBY")) {
        printf("skipped: needs a PostgreSQL with a standby (with_postgres.sh --standby)\n");
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_fenced", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
