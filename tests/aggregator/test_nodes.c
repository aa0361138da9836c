/*
 * Several processes on one PostgreSQL (with_postgres.sh), which are killed, and so are the
 * engine's: every upload that is acknowledged is counted, once, and what is published is what one
 * process on a SQLite file publishes of the same uploads, to the byte.
 *
 * Where the PostgreSQL has a standby that it waits for (with_postgres.sh --standby), the first ends
 * for good among the kills, and the standby takes its place.
 *
 *   test_aggregator_nodes [KILLS UPLOADS [NODES]]
 */
#include "tests/aggregator/place.h"

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

enum { NODES_MOST = 8, GAMES = 25, SHADERS = 12, SPACE = 20, GROUP = 5, FOLDING = 10 };
#define NOON (20000 * INT64_C(86400) + 43200)

static unsigned kills = 8, uploads = 240, nodes = 3;
static unsigned
    killed_elsewhere; /* of the kills, those on machines that tables are distributed to */
static char games[GAMES][16];

static const struct pm_profile *upload_of(struct place *place, unsigned number)
{
    struct pm_random random;
    pm_random_init(&random, 1000 + number);
    return random_profile(place->arena, &random, games[number % GAMES], SHADERS, SPACE);
}

static bool was_taken(enum pm_ingest_result result)
{
    return result == PM_INGEST_STORED || result == PM_INGEST_DUPLICATE;
}

/* ---- a node ---- */

static void rest(unsigned milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

/* Until the engine is there. */
static void open_patiently(struct place *place)
{
    struct pm_error error;
    while (!place->aggregator) {
        place->aggregator = pm_aggregator_open(place->path, &place->keeping, &error);
        if (!place->aggregator)
            rest(50);
    }
}

/* Sends them until all are acknowledged. Every other group, one that another node sends is sent
 * here too. */
static void send_group(struct place *place, unsigned first, unsigned node)
{
    const struct pm_profile *profiles[GROUP + 1];
    struct pm_ingest_outcome outcomes[GROUP + 1];
    struct pm_error error;
    size_t count = 0;
    for (unsigned i = first; i < first + GROUP && i * nodes + node < uploads; i++)
        profiles[count++] = upload_of(place, i * nodes + node);
    if (first / GROUP % 2 == 1)
        profiles[count++] = upload_of(place, (first * nodes + (node + 1) % nodes) % uploads);
    while (!pm_aggregator_ingest(place->aggregator, profiles, count, outcomes, &error))
        rest(20);
    for (size_t i = 0; i < count; i++) {
        if (!was_taken(outcomes[i].result)) {
            fprintf(stderr, "refused: %s\n", outcomes[i].reason.message);
            _exit(1);
        }
    }
}

static int64_t noon(void *user)
{
    (void)user;
    return NOON;
}

/* next: of its own uploads, behind the acknowledged ones; outlives the process. */
static void run_node(const char *url, unsigned node, atomic_uint *next)
{
    struct place *place = calloc(1, sizeof(*place));
    struct pm_error error;
    place->path = strdup(url);
    place->arena = pm_arena_create(0);
    place->keeping.publish_all = true;
    place->keeping.clock = noon;
    open_patiently(place);
    for (unsigned first; (first = atomic_load(next)) * nodes + node < uploads;) {
        send_group(place, first, node);
        atomic_store(next, first + GROUP);
        if (first / GROUP % FOLDING == node)
            pm_aggregator_fold(place->aggregator, NULL, &error);
    }
    pm_aggregator_destroy(place->aggregator);
    pm_arena_destroy(place->arena);
    free(place->path);
    free(place);
}

static pid_t start_node(const char *url, unsigned node, atomic_uint *next)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run_node(url, node, next);
        _exit(0);
    }
    return pid;
}

/* ---- what befalls them ---- */

/* A process of the engine that serves a node; one of a machine that it distributes tables to. */
static const char here[] = "SELECT pid FROM pg_stat_activity WHERE application_name = 'piecemeal'"
                           " ORDER BY random() LIMIT 1",
                  elsewhere[] =
                      "SELECT result FROM run_command_on_workers('SELECT pid FROM pg_stat_activity"
                      " WHERE application_name LIKE ''citus_internal%'' AND state <> ''idle''"
                      " ORDER BY random() LIMIT 1') WHERE success AND result <> ''"
                      " ORDER BY random() LIMIT 1";

/* One of them ends as if the machine had; then the engine there ends all of them and recovers. */
static void kill_backend(struct pm_random *random)
{
    const bool distributed = getenv("PM_TEST_CITUS") && pm_random_below(random, 2) == 0;
    PGconn *connection = PQconnectdb(getenv("PM_TEST_STORAGE"));
    PGresult *result = PQexec(connection, distributed ? elsewhere : here);
    killed_elsewhere +=
        distributed && PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        kill((pid_t)atol(PQgetvalue(result, 0, 0)), SIGKILL);
    PQclear(result);
    PQfinish(connection);
}

/* false: it cannot be reached, as while it recovers from a process of its own that was killed. */
static bool promote(void)
{
    char url[400];
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=piecemeal",
             getenv("PM_TEST_STANDBY"));
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, "SELECT NOT pg_is_in_recovery() OR pg_promote(true, 60)");
    const bool done = PQresultStatus(result) == PGRES_TUPLES_OK && *PQgetvalue(result, 0, 0) == 't';
    PQclear(result);
    PQfinish(connection);
    return done;
}

/* The first engine and all its processes end, and stay down; the standby goes on. */
static void fail_over(void)
{
    kill((pid_t)atol(getenv("PM_TEST_ENGINE_PID")), SIGKILL);
    unsigned tries = 0;
    while (!promote()) {
        assert_true(++tries < 600);
        rest(100);
    }
    printf("the standby took over\n");
}

static bool all_ended(pid_t pids[static NODES_MOST])
{
    bool all = true;
    for (unsigned i = 0; i < nodes; i++) {
        int status;
        if (pids[i] != 0 && waitpid(pids[i], &status, WNOHANG) == pids[i]) {
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            pids[i] = 0;
        }
        all = all && pids[i] == 0;
    }
    return all;
}

/* How many kills there were. */
static unsigned torment(const char *url, pid_t pids[static NODES_MOST], atomic_uint *next)
{
    struct pm_random random;
    unsigned done = 0;
    bool has_standby = getenv("PM_TEST_STANDBY") != NULL;
    pm_random_init(&random, 5);
    while (!all_ended(pids)) {
        rest(20 + (unsigned)pm_random_below(&random, 100));
        if (done >= kills)
            continue;
        if (has_standby && done >= kills / 2) {
            fail_over();
            has_standby = false;
            done++;
            continue;
        }
        const unsigned node = (unsigned)pm_random_below(&random, nodes);
        if (pm_random_below(&random, 4) == 0) {
            kill_backend(&random);
            done++;
        } else if (pids[node] != 0) {
            kill(pids[node], SIGKILL);
            waitpid(pids[node], NULL, 0);
            pids[node] = start_node(url, node, &next[node]);
            done++;
        }
    }
    return done;
}

/* ---- what is left ---- */

static void assert_same(struct place *one, struct place *other)
{
    for (unsigned i = 0; i < GAMES; i++) {
        struct pm_buffer bodies[2];
        char etags[2][PM_ETAG_TEXT];
        struct place *const places[] = {one, other};
        uint64_t counted[2];
        for (unsigned j = 0; j < 2; j++) {
            struct pm_storage *storage = pm_aggregator_storage(places[j]->aggregator);
            struct pm_error error;
            bool known;
            pm_buffer_init(&bodies[j], 1 << 24);
            if (!pm_aggregator_curate(places[j]->aggregator, games[i], &error) ||
                !pm_aggregator_database(places[j]->aggregator, games[i], etags[j], &bodies[j],
                                        &error) ||
                !storage->operations->find_game(storage, games[i], &known, &counted[j], &error))
                fail_msg("%s", error.message);
        }
        assert_int_equal(counted[0], counted[1]);
        assert_string_equal(etags[0], etags[1]);
        assert_int_equal(bodies[0].size, bodies[1].size);
        assert_memory_equal(bodies[0].data, bodies[1].data, bodies[0].size);
        pm_buffer_finish(&bodies[0]);
        pm_buffer_finish(&bodies[1]);
    }
}

static void test_nothing_lost_nothing_twice(void **state)
{
    (void)state;
    if (!on_postgres())
        skip();
    struct place *engine = place_create(1), *file = place_create(1);
    pid_t pids[NODES_MOST] = {0};
    atomic_uint *next = mmap(NULL, nodes * sizeof(*next), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(next != MAP_FAILED);
    for (unsigned i = 0; i < nodes; i++)
        pids[i] = start_node(engine->path, i, &next[i]);
    const unsigned done = torment(engine->path, pids, next);
    printf("%u kills (%u of machines that are distributed to), %u uploads\n", done,
           killed_elsewhere, uploads);
    assert_true(done >= kills / 2);
    assert_true(!getenv("PM_TEST_STANDBY") || done > kills / 2);

    free(file->path);
    file->path = join(file->folder, "test.db");
    engine->now = file->now = NOON;
    place_open(file);
    for (unsigned i = 0; i < uploads; i++)
        place_store(file, upload_of(file, i));
    engine->keeping.clock = noon;
    open_patiently(engine);
    assert_same(engine, file);
    munmap(next, nodes * sizeof(*next));
    place_destroy((void **)&engine);
    place_destroy((void **)&file);
}

/* ---- work is done once ---- */

enum { PARTS = 17, SOME = 3, HOT = 600 };

static void take_parts(struct pm_storage *storage, int first, int end)
{
    for (int i = first; i < end; i++) {
        struct pm_error error;
        bool taken;
        assert_true(storage->operations->take_lease(storage, games[0], i, &taken, &error) && taken);
    }
}

static void drop_parts(struct pm_storage *storage, int first, int end)
{
    for (int i = first; i < end; i++)
        storage->operations->drop_lease(storage, games[0], i);
}

/* What another process folds is left to it by who only makes room; who wants it folded waits. */
static void test_a_part_is_folded_by_one(void **state)
{
    (void)state;
    if (!on_postgres())
        skip();
    struct place *place = place_create(3);
    struct pm_error error;
    bool taken;
    place->now = NOON;
    place->keeping.samples_bytes = 1;
    place_open(place);
    for (unsigned i = 0; i < SOME; i++)
        place_store(place, upload_of(place, GAMES * i)); /* all of games[0] */
    struct pm_storage *other = pm_aggregator_open_storage(place->path, &error);
    assert_non_null(other);
    take_parts(other, 0, PARTS);
    const uint64_t waiting = place_rows_that_wait(place);
    assert_true(waiting > 0);
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_int_equal(place_rows_that_wait(place), waiting);
    drop_parts(other, 0, PARTS);
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_int_equal(place_rows_that_wait(place), 0);

    place_store(place, upload_of(place, GAMES * SOME));
    const pid_t pid = fork();
    if (pid == 0) { /* one that ends while it folds */
        struct pm_storage *third = pm_aggregator_open_storage(place->path, &error);
        for (int i = 0; third && i < PARTS; i++)
            third->operations->take_lease(third, games[0], i, &taken, &error);
        rest(500);
        _exit(0);
    }
    rest(300);
    assert_true(pm_aggregator_fold(place->aggregator, games[0], &error));
    assert_int_equal(place_rows_that_wait(place), 0);
    waitpid(pid, NULL, 0);
    other->operations->destroy(other);
    place_destroy((void **)&place);
}

/* Many uploads of one game that come at once are spread over its parts: while another process folds
 * some of these, this one folds the rest. */
static void test_a_hot_game_is_folded_by_several(void **state)
{
    (void)state;
    if (!on_postgres())
        skip();
    struct place *place = place_create(5);
    const struct pm_profile *profiles[HOT];
    struct pm_ingest_outcome outcomes[HOT];
    struct pm_error error;
    place->now = NOON;
    place->keeping.samples_bytes = 1;
    place_open(place);
    for (unsigned i = 0; i < HOT; i++)
        profiles[i] = upload_of(place, GAMES * i);
    if (!pm_aggregator_ingest(place->aggregator, profiles, HOT, outcomes, &error))
        fail_msg("%s", error.message);
    const uint64_t waiting = place_rows_that_wait(place);
    assert_in_range(waiting, SOME, PARTS);
    struct pm_storage *other = pm_aggregator_open_storage(place->path, &error);
    assert_non_null(other);
    take_parts(other, 0, PARTS / 2);
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    const uint64_t left = place_rows_that_wait(place);
    assert_in_range(left, 1, waiting - 1);
    drop_parts(other, 0, PARTS / 2);
    take_parts(other, PARTS / 2, PARTS);
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_int_equal(place_rows_that_wait(place), 0);
    other->operations->destroy(other);
    place_destroy((void **)&place);
}

/* ---- a standby that lags ---- */

/* What one statement answers, of the primary or the standby; 0 without a row. */
static long ask(const char *folder, const char *sql)
{
    char url[400];
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=piecemeal", folder);
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    const long answer = PQntuples(result) > 0 ? atol(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    PQfinish(connection);
    return answer;
}

struct sending {
    struct place *place;
    const struct pm_profile *profile;
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    atomic_bool done;
    bool stored;
};

static void *send_one(void *user)
{
    struct sending *sending = user;
    sending->stored = pm_aggregator_ingest(sending->place->aggregator, &sending->profile, 1,
                                           &sending->outcome, &sending->error);
    atomic_store(&sending->done, true);
    return NULL;
}

/* The process whose commit waits; 0: there is none. */
static long wait_for_standby(const char *primary)
{
    long backend = 0;
    for (unsigned tries = 0; tries < 300; tries++, rest(20)) {
        backend = ask(primary, "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                               " AND backend_type = 'client backend'");
        if (backend != 0)
            break;
    }
    return backend;
}

/* Nothing is acknowledged that the standby has not, though it is committed here. */
static void test_a_standby_that_lags(void **state)
{
    (void)state;
    const char *primary = getenv("PM_TEST_ENGINE"), *standby = getenv("PM_TEST_STANDBY");
    if (!standby)
        skip();
    struct place *place = place_create(4);
    pthread_t thread;
    place->now = NOON;
    place_open(place);
    place_store(place, upload_of(place, 0));
    struct sending sending = {.place = place, .profile = upload_of(place, GAMES)};
    const pid_t receiver = (pid_t)ask(standby, "SELECT pid FROM pg_stat_wal_receiver");
    assert_true(receiver > 0 && kill(receiver, SIGSTOP) == 0);
    assert_int_equal(pthread_create(&thread, NULL, send_one, &sending), 0);
    const long backend = wait_for_standby(primary);
    char sql[100];
    snprintf(sql, sizeof(sql), "SELECT pg_cancel_backend(%ld)::int", backend);
    assert_int_equal(ask(primary, sql), 1);
    pthread_join(thread, NULL);
    if (sending.stored)
        kill(receiver, SIGCONT); /* or nothing could end */
    assert_false(sending.stored);
    assert_non_null(strstr(sending.error.message, "did not reach the standby"));
    assert_int_equal(sending.error.code, PM_ERROR_UNSURE); /* clients are told to come again */

    /* It is there, and still nobody is told so. */
    atomic_store(&sending.done, false);
    assert_int_equal(pthread_create(&thread, NULL, send_one, &sending), 0);
    const bool waited = wait_for_standby(primary) != 0;
    rest(300);
    const bool waits = waited && !atomic_load(&sending.done);
    assert_int_equal(kill(receiver, SIGCONT), 0);
    assert_true(waits);
    pthread_join(thread, NULL);
    assert_true(sending.stored);
    assert_int_equal(sending.outcome.result, PM_INGEST_DUPLICATE);

    /* And nobody ends the wait: others' uploads are not to wait as long as that lasts. */
    sending.profile = upload_of(place, 2 * GAMES);
    assert_int_equal(kill(receiver, SIGSTOP), 0);
    const time_t before = time(NULL);
    send_one(&sending);
    const time_t took = time(NULL) - before;
    assert_int_equal(kill(receiver, SIGCONT), 0);
    assert_false(sending.stored);
    assert_int_equal(sending.error.code, PM_ERROR_UNSURE);
    assert_in_range(took, 9, 25);
    send_one(&sending);
    assert_true(sending.stored);
    assert_int_equal(sending.outcome.result, PM_INGEST_DUPLICATE);
    place_destroy((void **)&place);
}

/* ---- a deadlock ---- */

/* Another holds the upload's id, and then waits for what the upload holds: the upload, which waited
 * first, is chosen to give way, and is tried again. */
static void test_a_deadlock(void **state)
{
    (void)state;
    if (!on_postgres() || getenv("PM_TEST_CITUS"))
        skip();
    struct place *place = place_create(7);
    const char *engine = getenv("PM_TEST_ENGINE");
    const char *count = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'";
    /* In the engine: who gives way is decided a second after the upload began to wait. */
    const char *lock_next =
        "DO $$BEGIN FOR i IN 1 .. 30000 LOOP PERFORM pg_stat_clear_snapshot();"
        " EXIT WHEN EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock');"
        " PERFORM pg_sleep(0.01); END LOOP;"
        " LOCK TABLE piecemeal_schema IN ACCESS EXCLUSIVE MODE; END$$; ROLLBACK";
    struct sending sending = {.place = place, .profile = upload_of(place, 0)};
    char sql[300], id[2 * PM_UPLOAD_ID_BYTES + 1];
    pthread_t thread;
    place->now = NOON;
    place_open(place);
    place_store(place, upload_of(place, GAMES)); /* the day has its partition */
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", sending.profile->upload_id[i]);
    snprintf(sql, sizeof(sql), "BEGIN; INSERT INTO upload_ids VALUES ('%s', %u, '\\x%s', 20000)",
             games[0], sending.profile->day, id);
    const long before = ask(engine, count);
    PGconn *other = PQconnectdb(place->path);
    PGresult *result = PQexec(other, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s", PQerrorMessage(other));
    PQclear(result);
    assert_int_equal(PQsendQuery(other, lock_next), 1);
    assert_int_equal(pthread_create(&thread, NULL, send_one, &sending), 0);
    while ((result = PQgetResult(other)))
        PQclear(result);
    pthread_join(thread, NULL);
    PQfinish(other);
    if (!sending.stored)
        fail_msg("%s", sending.error.message);
    assert_int_equal(sending.outcome.result, PM_INGEST_STORED);
    for (unsigned tries = 0; tries < 100 && ask(engine, count) == before; tries++)
        rest(50);
    assert_int_equal(ask(engine, count), before + 1);
    place_destroy((void **)&place);
}

/* ---- a disk that is full ---- */

/* Takes all that is left of it; the file to be removed, which the caller frees. */
static char *fill_disk(void)
{
    static const uint8_t block[4096] = {1};
    char *path = join(getenv("PM_TEST_ENGINE"), "filling");
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, block, sizeof(block)) > 0) {
    }
    assert_int_equal(errno, ENOSPC);
    close(fd);
    return path;
}

/* What finds no room is not kept, and is told apart from an engine that is away. */
static void test_a_disk_that_is_full(void **state)
{
    (void)state;
    if (!getenv("PM_TEST_SMALL"))
        skip();
    struct place *place = place_create(6);
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    bool known;
    uint64_t counted;
    unsigned stored = 0;
    place->now = NOON;
    place_open(place);
    place_store(place, upload_of(place, stored++));
    char *filling = fill_disk();
    const struct pm_profile *profile;
    while ((profile = upload_of(place, GAMES * stored)) &&
           pm_aggregator_ingest(place->aggregator, &profile, 1, &outcome, &error))
        assert_true(++stored < 5000);
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    unlink(filling);
    free(filling);
    place_store(place, profile);
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    assert_true(storage->operations->find_game(storage, games[0], &known, &counted, &error));
    assert_int_equal(counted, stored + 1);
    place_destroy((void **)&place);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_part_is_folded_by_one),
                                       cmocka_unit_test(test_a_hot_game_is_folded_by_several),
                                       cmocka_unit_test(test_a_standby_that_lags),
                                       cmocka_unit_test(test_a_deadlock),
                                       cmocka_unit_test(test_a_disk_that_is_full),
                                       cmocka_unit_test(test_nothing_lost_nothing_twice)};
    if (argc >= 3) {
        kills = (unsigned)atoi(argv[1]);
        uploads = (unsigned)atoi(argv[2]);
    }
    if (argc == 4)
        nodes = (unsigned)atoi(argv[3]);
    if (nodes < 1 || nodes > NODES_MOST)
        return 2;
    for (unsigned i = 0; i < GAMES; i++)
        snprintf(games[i], sizeof(games[i]), "game-%u", i);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
