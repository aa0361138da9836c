/*
 * A serving process that dies at random moments under load, with and without space left on its
 * disk, and while it starts; and one that is told to stop. With with_postgres.sh its storage is a
 * PostgreSQL, whose disk is no matter here.
 *   test_aggregator_service_crash [KILLS]
 */
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define MOST_ACKNOWLEDGED 200 /* a round, before the kill */
#define MOST_DELAY 20000      /* microseconds from the last of them to the kill */
#define STARTING 8            /* every so many rounds it is also killed while it starts … */
#define STARTING_DELAY 60000  /* … within so many microseconds */

static unsigned kills = 8;

static void print_sum(const char *what, unsigned count, uint64_t seed, const struct load_sum *sum)
{
    printf("%u %s (seed %llu): acknowledged %u; not: %u that were kept, %u that were not\n", count,
           what, (unsigned long long)seed, sum->confirmed, sum->kept, sum->lost);
}

static uint64_t seeded(struct pm_random *random)
{
    const uint64_t seed = (uint64_t)time(NULL);
    pm_random_init(random, seed);
    return seed;
}

/* The server has ended: asks another what it has of this load, which is freed. */
static void check_again(const char *path, struct load *load, struct load_sum *sum)
{
    struct server server = server_start(path);
    load_check(load, &server, sum);
    server_end(&server, SIGTERM);
}

/* What was acknowledged is stored, once; frees both. */
static void check_all(char *folder, char *path, const struct load_sum *sum)
{
    load_check_stored(path, sum);
    free(path);
    remove_folder(folder);
}

static void test_kill(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = fresh_storage(folder);
    struct pm_random random;
    struct load_sum sum = {0};
    const uint64_t seed = seeded(&random);
    for (unsigned i = 0; i < kills; i++) {
        struct server server = server_start(path);
        struct load *load = load_start(&server, pm_random_next(&random));
        load_wait(load, 204, 1 + (unsigned)pm_random_below(&random, MOST_ACKNOWLEDGED));
        usleep((unsigned)pm_random_below(&random, MOST_DELAY));
        server_end(&server, SIGKILL);
        load_stop(load, true);
        if (i % STARTING == STARTING - 1)
            server_start_and_kill(path, (unsigned)pm_random_below(&random, STARTING_DELAY));
        check_again(path, load, &sum);
    }
    print_sum("kills", kills, seed, &sum);
    assert_true(sum.confirmed >= kills && sum.lost > 0);
    check_all(folder, path, &sum);
}

/* Of the storage's files. */
static uint32_t largest_file(const char *path)
{
    uint32_t largest = 0;
    static const char *const suffixes[] = {"", "-wal"};
    for (size_t i = 0; i < 2; i++) {
        char *file = NULL;
        struct stat status;
        assert_true(asprintf(&file, "%s%s", path, suffixes[i]) > 0);
        if (stat(file, &status) == 0 && status.st_size > largest)
            largest = (uint32_t)status.st_size;
        free(file);
    }
    return largest;
}

/* A limit on file sizes stands for a full disk: it is reached at whatever write is next, and can be
 * taken back while the server runs. */
static void test_full(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = fresh_storage(folder);
    struct pm_random random;
    struct load_sum sum = {0};
    const uint64_t seed = seeded(&random);
    const unsigned rounds = kills / 2;
    for (unsigned i = 0; i < rounds; i++) {
        struct server server = server_start(path);
        struct load *load = load_start(&server, pm_random_next(&random));
        load_wait(load, 204, 1 + (unsigned)pm_random_below(&random, MOST_ACKNOWLEDGED));
        server_limit_files(&server, pm_random_below(&random, largest_file(path) + 1));
        load_wait(load, 507, 1 + (unsigned)pm_random_below(&random, 20));
        const bool recover = i % 2 == 0;
        if (recover) {
            server_limit_files(&server, UINT64_MAX);
            load_wait(load, 204, 20);
        }
        usleep((unsigned)pm_random_below(&random, MOST_DELAY));
        server_end(&server, SIGKILL);
        load_stop(load, true);
        check_again(path, load, &sum);
    }
    print_sum("kills with a full disk", rounds, seed, &sum);
    check_all(folder, path, &sum);
}

/* Told to stop under load, and told again while it does: what was accepted is committed and
 * answered. */
static void test_stop(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    char *folder = make_folder(), *path = fresh_storage(folder);
    struct pm_random random;
    struct load_sum sum = {0};
    const uint64_t seed = seeded(&random);
    for (unsigned i = 0; i < 4; i++) {
        struct server server = server_start(path);
        struct load *load = load_start(&server, pm_random_next(&random));
        load_wait(load, 204, 1 + (unsigned)pm_random_below(&random, MOST_ACKNOWLEDGED));
        usleep((unsigned)pm_random_below(&random, MOST_DELAY));
        kill(server.pid, signals[i % 2]);
        if (i >= 2) {
            usleep((unsigned)pm_random_below(&random, MOST_DELAY));
            kill(server.pid, signals[(i + 1) % 2]);
        }
        server_wait(&server);
        load_stop(load, true);
        check_again(path, load, &sum);
    }
    print_sum("stops", 4, seed, &sum);
    /* Whoever was read in full had an answer. */
    assert_int_equal(sum.kept, 0);
    check_all(folder, path, &sum);
}

/* Told to stop while another process has the storage locked: what could not be committed any more
 * is answered with 503, and sent again later. */
static void test_stop_locked(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = fresh_storage(folder);
    struct pm_random random;
    struct load_sum sum = {0};
    sqlite3 *other;
    const uint64_t seed = seeded(&random);
    struct server server = server_start(path);
    struct load *load = load_start(&server, pm_random_next(&random));
    load_wait(load, 204, 20);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    sqlite3_busy_timeout(other, 60000);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    /* An upload that the server has now cannot be committed. */
    for (uint64_t until = 0;
         http_metric(server.port, "piecemeal_upload_memory_bytes") <= 0 && patience(&until);) {
    }
    kill(server.pid, SIGTERM);
    server_wait(&server);
    load_stop(load, true);
    sqlite3_close(other);
    assert_true(load_answers(load, 503) > 0);
    check_again(path, load, &sum);
    print_sum("stop while locked", 1, seed, &sum);
    assert_int_equal(sum.kept, 0);
    check_all(folder, path, &sum);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill), cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_stop),
                                       cmocka_unit_test(test_stop_locked)};
    const struct CMUnitTest of_postgres[] = {cmocka_unit_test(test_kill),
                                             cmocka_unit_test(test_stop)};
    if (count > 1)
        kills = (unsigned)atoi(arguments[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = on_postgres() ? cmocka_run_group_tests(of_postgres, NULL, NULL)
                                     : cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
