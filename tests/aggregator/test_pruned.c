/* Forgetting on a PostgreSQL (with_postgres.sh). Several processes that forget what is past
 * retention at the same time, as servers do after midnight, one of which is killed meanwhile: the
 * others are done, nothing fails, and what is to be kept is kept. And uploads go on meanwhile. */
#include "tests/aggregator/place.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

enum { NODES = 4, ROUNDS = 6, DAYS = 5, RETENTION = 60, SHADERS = 3, SPACE = 8 };

static int64_t read_clock(void *user)
{
    return *(const int64_t *)user;
}

static bool forget_all(const char *url, int64_t now, struct pm_error *error)
{
    struct pm_aggregator_info info = {
        .publish_all = true, .retention_days = RETENTION, .clock = read_clock, .clock_user = &now};
    struct pm_aggregator *aggregator = pm_aggregator_open(url, &info, error);
    bool done = aggregator != NULL;
    for (bool expired = true; done && expired;)
        done = pm_aggregator_upkeep(aggregator, &expired, error);
    pm_aggregator_destroy(aggregator);
    return done;
}

static pid_t start_node(const char *url, int64_t now, atomic_uint *ready)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct pm_error error = {0};
        atomic_fetch_add(ready, 1);
        while (atomic_load(ready) < NODES)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        const bool done = forget_all(url, now, &error);
        if (!done)
            fprintf(stderr, "%s\n", error.message);
        _exit(done ? 0 : 1);
    }
    return pid;
}

/* The number that a statement answers; 0 without one. */
static long number_of(const char *url, const char *sql)
{
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s", PQerrorMessage(connection));
    const long number = PQntuples(result) > 0 ? atol(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    PQfinish(connection);
    return number;
}

/* Days that have partitions, older than this one. */
static long count_older(const char *url, int64_t day)
{
    char sql[200];
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema AND tablename ~"
             " '_d[1-9][0-9]*$' AND substring(tablename FROM '[0-9]+$')::int < %lld",
             (long long)day);
    return number_of(url, sql);
}

static void fill(struct place *place, int64_t day)
{
    struct pm_error error;
    for (unsigned i = 0; i < DAYS; i++) {
        place->now = (day + i) * DAY;
        place_open(place);
        place_store(place, random_profile(place->arena, &place->random, "game", SHADERS, SPACE));
        if (!pm_aggregator_fold(place->aggregator, NULL, &error))
            fail_msg("%s", error.message);
    }
    place_close(place);
}

/* One of them is killed after so many microseconds. */
static void forget_at_once(const struct place *place, int64_t day, unsigned microseconds,
                           atomic_uint *ready)
{
    pid_t pids[NODES];
    atomic_store(ready, 0);
    for (unsigned i = 0; i < NODES; i++)
        pids[i] = start_node(place->path, day * DAY, ready);
    while (atomic_load(ready) < NODES)
        usleep(100);
    usleep(microseconds);
    kill(pids[0], SIGKILL);
    waitpid(pids[0], NULL, 0);
    for (unsigned i = 1; i < NODES; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
}

static void test_forgotten_by_several(void **state)
{
    (void)state;
    struct place *place = place_create(12);
    int64_t day = 20000;
    atomic_uint *ready =
        mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ready != MAP_FAILED);
    place->keeping.retention_days = RETENTION;
    for (unsigned i = 0; i < ROUNDS; i++, day += DAYS + RETENTION) {
        fill(place, day);
        assert_true(count_older(place->path, day + DAYS) > 0);
        /* All but the last of the days are forgotten. */
        const int64_t today = day + DAYS - 1 + RETENTION - 1;
        forget_at_once(place, today, (unsigned)pm_random_below(&place->random, 60000), ready);
        assert_int_equal(count_older(place->path, day + DAYS - 1), 0);
        place->now = today * DAY;
        place_open(place);
        assert_int_equal(place_estimates(place).shader_count, SHADERS);
        place_close(place);
    }
    munmap(ready, sizeof(*ready));
    place_destroy((void **)&place);
}

/* What a transaction locks or takes long for, all uploads wait for: it drops days or goes over
 * games, and over some of them only. */
static void test_some_games_a_transaction(void **state)
{
    (void)state;
    static const char set_up[] =
        "INSERT INTO games SELECT 'game-' || g, 0, 1, '\\x00' FROM generate_series(1, 40) AS g;"
        "CREATE TABLE statistics_d20000 PARTITION OF statistics FOR VALUES IN (20000);"
        "INSERT INTO statistics SELECT game, '\\x01', '\\x02', 1, 0, 20000, '', '\\x03' FROM games;"
        "CREATE TABLE statistics_d19000 PARTITION OF statistics FOR VALUES IN (19000);"
        "CREATE TABLE seen (transaction bigint, locked boolean);"
        "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO seen SELECT txid_current(), EXISTS (SELECT 1 FROM pg_locks WHERE pid ="
        " pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relation ="
        " 'statistics'::regclass); RETURN NULL; END $$;"
        "CREATE TRIGGER see AFTER DELETE ON claims EXECUTE FUNCTION see()";
    struct place *place = place_create(13);
    struct pm_error error;
    bool expired;
    place->now = 20000 * DAY;
    place->keeping.retention_days = RETENTION;
    place_open(place);
    number_of(place->path, set_up);
    do {
        if (!pm_aggregator_upkeep(place->aggregator, &expired, &error))
            fail_msg("%s", error.message);
    } while (number_of(place->path, "SELECT count(*) FROM seen") < 40);
    assert_int_equal(count_older(place->path, 20000), 0);
    assert_int_equal(number_of(place->path, "SELECT count(*) FROM seen WHERE locked"), 0);
    assert_in_range(number_of(place->path, "SELECT max(n) FROM (SELECT count(*) AS n FROM seen"
                                           " GROUP BY transaction) AS transactions"),
                    1, 20);
    place_destroy((void **)&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forgotten_by_several),
                                       cmocka_unit_test(test_some_games_a_transaction)};
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    return cmocka_run_group_tests_name("pruned", tests, NULL, NULL);
}
