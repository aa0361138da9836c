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
#define UPLOADS 60 /* a thread's, a round */

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

struct uploader {
    pthread_t thread;
    uint16_t port;
    const struct pm_profile *profiles[UPLOADS];
    long statuses[UPLOADS]; /* 0: no answer */
};

static void *upload_all(void *user)
{
    struct uploader *uploader = user;
    for (size_t i = 0; i < UPLOADS; i++)
        uploader->statuses[i] = http_upload(uploader->port, NULL, uploader->profiles[i]);
    return NULL;
}

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

static void test_kill(void **state)
{
    (void)state;
    char *folder = make_folder(), *path = join(folder, "test.db");
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    struct uploader *uploaders = calloc(THREADS, sizeof(*uploaders));
    uint64_t sum = 0;
    unsigned acknowledged = 0, kept = 0, lost = 0;
    pm_random_init(&random, (uint64_t)time(NULL));
    for (int round = 0; round < ROUNDS; round++) {
        struct server server = start_server(path);
        for (size_t i = 0; i < THREADS; i++) {
            uploaders[i].port = server.port;
            for (size_t j = 0; j < UPLOADS; j++)
                uploaders[i].profiles[j] = one_profile(arena, &random, &sum);
            assert_int_equal(pthread_create(&uploaders[i].thread, NULL, upload_all, &uploaders[i]),
                             0);
        }
        const struct timespec moment = {0, (long)(5 + pm_random_below(&random, 400)) * 1000000};
        nanosleep(&moment, NULL);
        end_server(&server, SIGKILL);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(uploaders[i].thread, NULL);

        /* Asked again, it says what it has. */
        server = start_server(path);
        for (size_t i = 0; i < THREADS; i++) {
            for (size_t j = 0; j < UPLOADS; j++) {
                const long again = http_upload(server.port, NULL, uploaders[i].profiles[j]);
                assert_true(uploaders[i].statuses[j] == 204 || uploaders[i].statuses[j] == 0);
                if (uploaders[i].statuses[j] == 204) {
                    assert_int_equal(again, 200);
                    acknowledged++;
                } else {
                    assert_true(again == 200 || again == 204);
                    kept += again == 200;
                    lost += again == 204;
                }
            }
        }
        end_server(&server, 0);
    }
    printf("acknowledged %u; not: %u that were kept, %u that were not\n", acknowledged, kept, lost);
    assert_true(acknowledged > 0 && lost > 0);

    /* All have been counted now, each once. */
    struct pm_error error;
    struct pm_database database;
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_aggregator *aggregator = pm_aggregator_open(path, &info, &error);
    assert_non_null(aggregator);
    assert_true(pm_aggregator_estimates(aggregator, "game", arena, &database, &error));
    assert_int_equal(database.shader_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(database.shaders[i].entry_lanes, sum);
        for (uint32_t j = 0; j < 20; j++)
            assert_int_equal(database.shaders[i].points[j].sessions, ROUNDS * THREADS * UPLOADS);
    }
    pm_aggregator_destroy(aggregator);
    pm_arena_destroy(arena);
    free(uploaders);
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
