/* Several processes on one PostgreSQL (with_postgres.sh) that forget what is past retention at the
 * same time, as servers do after midnight, one of which is killed meanwhile: the others are done,
 * nothing fails, and what is to be kept is kept. */
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
#define DAY INT64_C(86400)

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

/* Days that have partitions, older than this one. */
static long count_older(const char *url, int64_t day)
{
    char sql[200];
    PGconn *connection = PQconnectdb(url);
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema AND tablename ~"
             " '_d[1-9][0-9]*$' AND substring(tablename FROM '[0-9]+$')::int < %lld",
             (long long)day);
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(connection));
    const long count = atol(PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(connection);
    return count;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forgotten_by_several)};
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    return cmocka_run_group_tests_name("pruned", tests, NULL, NULL);
}
