/*
 * kill -9 of a serving process at random moments under load: what was acknowledged is there, once,
 * and what was not is there once or not at all.
 */
#include "aggregator/http.h"
#include "aggregator/service.h"
#include "aggregator/support.h"
#include <curl/curl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define ROUNDS 8
#define THREADS 4
#define MOST_ACKNOWLEDGED 200 /* a round, before the kill */
#define MOST_UPLOADS 4096     /* a thread's, a round */

/* ---- the process that dies: this program, started again ---- */

static int serve(const char *path)
{
    struct pm_error error;
    struct pm_aggregator_info info = {.publish_all = true};
    struct pm_aggregator *aggregator = pm_aggregator_open(path, &info, &error);
    const struct pm_service_info service_info = {.aggregator = aggregator, .curate_seconds = 1};
    struct pm_service *service = aggregator ? pm_service_create(&service_info, &error) : NULL;
    if (!service) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%u\n", pm_service_port(service));
    fflush(stdout);
    /* The end of the test is the end of this. */
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
    pm_service_destroy(service);
    pm_aggregator_destroy(aggregator);
    return 0;
}

struct server {
    pid_t pid;
    int input;
    uint16_t port;
};

static struct server start_server(const char *path)
{
    int in[2], out[2];
    char line[16] = {0};
    struct server server;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    server.pid = fork();
    if (server.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        execl("/proc/self/exe", "test_service_crash", "serve", path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    for (size_t at = 0;
         at + 1 < sizeof(line) && read(out[0], line + at, 1) == 1 && line[at] != '\n'; at++) {
    }
    close(out[0]);
    server.input = in[1];
    server.port = (uint16_t)atoi(line);
    assert_int_not_equal(server.port, 0);
    return server;
}

static void end_server(struct server *server, int signal_number)
{
    int status;
    if (signal_number)
        kill(server->pid, signal_number);
    close(server->input);
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
    if (!signal_number)
        assert_int_equal(status, 0);
}

/* ---- the load ---- */

/* How many uploads of a round have been acknowledged; the kill waits for its number of them, so
 * that a fast machine is killed as much in the middle as a slow one. */
struct round {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned acknowledged;
};

struct uploader {
    pthread_t thread;
    uint16_t port;
    struct round *round;
    struct pm_arena *arena;
    struct pm_random random;
    uint64_t sum;
    size_t count;
    const struct pm_profile *profiles[MOST_UPLOADS];
    long statuses[MOST_UPLOADS]; /* 0: no answer */
};

static const struct pm_profile *one_profile(struct pm_arena *arena, struct pm_random *random,
                                            uint64_t *sum)
{
    struct pm_point_counts points[20];
    const uint64_t x = 1 + pm_random_below(random, 1000000);
    for (uint32_t i = 0; i < 20; i++)
        points[i] = block_counts(i, x, x / (i + 1));
    const struct pm_shader_profile shaders[] = {block_shader(arena, 1, 20, points, 20),
                                                block_shader(arena, 2, 20, points, 20)};
    *sum += x;
    return profile_of(arena, random, "game", shaders, 2);
}

/* Until the server has been gone for one upload. */
static void *upload_all(void *user)
{
    struct uploader *uploader = user;
    for (unsigned unanswered = 0; unanswered < 2 && uploader->count < MOST_UPLOADS;) {
        const size_t i = uploader->count++;
        uploader->profiles[i] = one_profile(uploader->arena, &uploader->random, &uploader->sum);
        uploader->statuses[i] = http_upload(uploader->port, NULL, uploader->profiles[i]);
        unanswered += uploader->statuses[i] == 0;
        pthread_mutex_lock(&uploader->round->mutex);
        uploader->round->acknowledged += uploader->statuses[i] == 204;
        pthread_cond_signal(&uploader->round->changed);
        pthread_mutex_unlock(&uploader->round->mutex);
    }
    return NULL;
}

struct tally {
    uint64_t sum;
    unsigned acknowledged, kept, lost;
};

static void one_round(const char *path, struct pm_random *random, struct tally *tally)
{
    struct round round = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    struct uploader *uploaders = calloc(THREADS, sizeof(*uploaders));
    const unsigned kill_at = 1 + (unsigned)pm_random_below(random, MOST_ACKNOWLEDGED);
    struct server server = start_server(path);
    assert_non_null(uploaders);
    for (size_t i = 0; i < THREADS; i++) {
        struct uploader *uploader = &uploaders[i];
        uploader->port = server.port;
        uploader->round = &round;
        uploader->arena = pm_arena_create(0);
        pm_random_init(&uploader->random, pm_random_next(random));
        assert_int_equal(pthread_create(&uploader->thread, NULL, upload_all, uploader), 0);
    }
    pthread_mutex_lock(&round.mutex);
    while (round.acknowledged < kill_at)
        pthread_cond_wait(&round.changed, &round.mutex);
    pthread_mutex_unlock(&round.mutex);
    end_server(&server, SIGKILL);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(uploaders[i].thread, NULL);

    /* Asked again, it says what it has. */
    server = start_server(path);
    for (size_t i = 0; i < THREADS; i++) {
        const struct uploader *uploader = &uploaders[i];
        for (size_t j = 0; j < uploader->count; j++) {
            const long again = http_upload(server.port, NULL, uploader->profiles[j]);
            assert_true(uploader->statuses[j] == 204 || uploader->statuses[j] == 0);
            if (uploader->statuses[j] == 204) {
                assert_int_equal(again, 200);
                tally->acknowledged++;
            } else {
                assert_true(again == 200 || again == 204);
                tally->kept += again == 200;
                tally->lost += again == 204;
            }
        }
        tally->sum += uploader->sum;
        pm_arena_destroy(uploader->arena);
    }
    end_server(&server, 0);
    free(uploaders);
}

static void test_kill(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = join(folder, "test.db");
    struct pm_random random;
    struct tally tally = {0};
    pm_random_init(&random, (uint64_t)time(NULL));
    for (int i = 0; i < ROUNDS; i++)
        one_round(path, &random, &tally);
    printf("acknowledged %u; not: %u that were kept, %u that were not\n", tally.acknowledged,
           tally.kept, tally.lost);
    assert_true(tally.acknowledged >= ROUNDS && tally.lost > 0);

    /* All have been counted now, each once. */
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error error;
    struct pm_database database;
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_aggregator *aggregator = pm_aggregator_open(path, &info, &error);
    assert_non_null(aggregator);
    assert_true(pm_aggregator_estimates(aggregator, "game", NULL, arena, &database, &error));
    assert_int_equal(database.shader_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(database.shaders[i].entry_lanes, tally.sum);
        for (uint32_t j = 0; j < 20; j++)
            assert_int_equal(database.shaders[i].points[j].sessions,
                             tally.acknowledged + tally.kept + tally.lost);
    }
    pm_aggregator_destroy(aggregator);
    pm_arena_destroy(arena);
    free(path);
    remove_folder(folder);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    if (count == 3 && strcmp(arguments[1], "serve") == 0)
        return serve(arguments[2]);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
