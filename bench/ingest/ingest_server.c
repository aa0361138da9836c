#include "bench/ingest/ingest_server.h"

#include "aggregator/service/dev_tls.h"
#include "aggregator/statistics/statistics.h"
#include "aggregator/trust/claims.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEMPLATES = 16, SHADERS_A_COMMIT = 2000 };

/* ---- what is stored before ---- */

/* The statistics of one shader that SERVER_FILLED_UPLOADS sessions measured in full. */
static bool make_template(uint32_t number, uint32_t space, struct pm_buffer *out,
                          struct pm_error *error)
{
    struct pm_random random;
    struct pm_statistics statistics;
    uint32_t *points = calloc(space, sizeof(*points));
    struct pm_point_counts *counts = calloc(space, sizeof(*counts));
    bool done = points && counts;
    pm_random_init(&random, number);
    pm_statistics_init(&statistics);
    for (uint32_t i = 0; done && i < space; i++)
        points[i] = i;
    for (uint32_t i = 0; done && i < SERVER_FILLED_UPLOADS; i++) {
        const struct pm_shader_profile shader = {
            .kind = PM_KIND_BLOCK, .space = space, .points = counts, .point_count = space};
        bodies_counts(&random, number, points, space, counts);
        done = pm_statistics_add_profile(&statistics, &shader, error);
    }
    done = done && pm_statistics_encode(&statistics, out, error);
    pm_statistics_finish(&statistics);
    free(points);
    free(counts);
    return done;
}

/* As at any time of a day but its first minutes: enough tokens have made it, of the number of
 * points and of the environment. */
static bool put_claims(struct pm_storage *storage, const struct pm_storage_key *key, uint32_t space,
                       struct pm_error *error)
{
    const uint32_t today = (uint32_t)(time(NULL) / 86400);
    struct pm_storage_claim claim = {.game = key->game,
                                     .key = key->key,
                                     .kind = key->kind,
                                     .space = space,
                                     .tokens = PM_MIN_TOKENS,
                                     .day = today};
    if (!storage->operations->put_claims(storage, &claim, 1, error))
        return false;
    pm_claims_scope(&key->environment, true, "", claim.scope);
    return storage->operations->put_claims(storage, &claim, 1, error);
}

static bool fill_game(struct pm_storage *storage, const struct bodies_info *bodies, uint32_t game,
                      uint32_t shaders, const struct pm_buffer *templates, struct pm_error *error)
{
    char name[BODIES_GAME_BYTES];
    bodies_game(game, name);
    if (!storage->operations->begin(storage, error) ||
        !pm_storage_add_game(storage, name, SERVER_FILLED_UPLOADS, error))
        return false;
    for (uint32_t i = 0; i < shaders; i++) {
        const struct pm_buffer *blob = &templates[i % TEMPLATES];
        const struct pm_storage_key key = {.game = name,
                                           .scene = "",
                                           .key = bodies_key(game, i),
                                           .environment = {.subgroup_size = 32},
                                           .kind = PM_KIND_BLOCK,
                                           .day = 1};
        if (!put_claims(storage, &key, bodies->points, error) ||
            !pm_storage_put_space(storage, name, &key.key, key.kind, bodies->points, error) ||
            !pm_storage_add_blob(storage, &key, blob->data, blob->size, error))
            return false;
        if (i % SHADERS_A_COMMIT == SHADERS_A_COMMIT - 1 &&
            (!storage->operations->commit(storage, error) ||
             !storage->operations->begin(storage, error)))
            return false;
    }
    return storage->operations->commit(storage, error);
}

static bool fill(const struct server_info *info, struct pm_error *error)
{
    const struct bodies_info *bodies = info->bodies;
    struct pm_buffer templates[TEMPLATES];
    uint64_t left = info->stored_points / bodies->points; /* shaders */
    struct pm_storage *storage = pm_aggregator_open_storage(info->storage, error);
    bool done = storage != NULL;
    for (uint32_t i = 0; i < TEMPLATES; i++) {
        pm_buffer_init(&templates[i], (size_t)64 << 20);
        done = done && make_template(i, bodies->points, &templates[i], error);
    }
    for (uint32_t game = 0; done && left > 0 && game < bodies->games; game++) {
        const uint32_t shaders = left < bodies->shaders ? (uint32_t)left : bodies->shaders;
        done = fill_game(storage, bodies, game, shaders, templates, error);
        left -= shaders;
    }
    for (uint32_t i = 0; i < TEMPLATES; i++)
        pm_buffer_finish(&templates[i]);
    if (storage)
        storage->operations->destroy(storage);
    return done;
}

/* ---- the process ---- */

struct pm_aggregator_info server_aggregator(void)
{
    return (struct pm_aggregator_info){.half_life_days = PM_HALF_LIFE_DAYS,
                                       .retention_days = PM_RETENTION_DAYS,
                                       .token_clusters = PM_TOKEN_CLUSTERS,
                                       .min_tokens = PM_MIN_TOKENS};
}

static bool serve(const struct server_info *info, int control, int answer, struct pm_error *error)
{
    if (info->stored_points > 0 && !fill(info, error))
        return false;
    struct pm_service_info with = info->service;
    struct pm_aggregator_info aggregator = server_aggregator();
    struct pm_dev_tls tls = {0};
    if (info->tls && !pm_dev_tls_create(&tls, NULL, SERVER_CERTIFICATE, error))
        return false;
    with.certificate = tls.certificate;
    with.key = tls.key;
    aggregator.log = with.log = pm_log_create(NULL, STDERR_FILENO, PM_LOG_WARNING, error);
    with.aggregator = pm_aggregator_open(info->storage, &aggregator, error);
    struct pm_service *service = with.aggregator ? pm_service_create(&with, error) : NULL;
    if (service) {
        const uint16_t port = pm_service_port(service);
        char byte;
        if (write(answer, &port, sizeof(port)) == sizeof(port))
            while (read(control, &byte, 1) > 0) {
            }
    }
    pm_service_destroy(service);
    pm_aggregator_destroy(with.aggregator);
    pm_log_destroy(with.log);
    pm_dev_tls_finish(&tls);
    return service != NULL;
}

bool server_start(struct server *server, const struct server_info *info, struct pm_error *error)
{
    int control[2], answer[2];
    if (pipe(control) != 0 || pipe(answer) != 0)
        return pm_fail(error, PM_ERROR_IO, "no pipe");
    server->pid = fork();
    if (server->pid == 0) {
        struct pm_error failed = {0};
        close(control[1]);
        close(answer[0]);
        signal(SIGPIPE, SIG_IGN);
        const bool done = serve(info, control[0], answer[1], &failed);
        if (!done)
            fprintf(stderr, "ingest: the server: %s\n", failed.message);
        _exit(done ? 0 : 1);
    }
    close(control[0]);
    close(answer[1]);
    server->control = control[1];
    server->engine = info->engine;
    const bool started = server->pid > 0 && read(answer[0], &server->port, sizeof(server->port)) ==
                                                (ssize_t)sizeof(server->port);
    close(answer[0]);
    if (!started) {
        server_stop(server);
        return pm_fail(error, PM_ERROR_IO, "the server did not start");
    }
    return true;
}

static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const size_t got = fread(text, 1, size - 1, file);
    text[got] = 0;
    fclose(file);
    return got > 0;
}

/* Seconds. */
static bool read_cpu(pid_t pid, double *cpu)
{
    char text[4096];
    unsigned long user, system;
    const char *at;
    if (!read_proc(pid, "stat", text, sizeof(text)) || !(at = strrchr(text, ')')) ||
        sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return false;
    *cpu += (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

/* Of a process and those that it started and that still run. */
static void read_cpu_of_all(pid_t pid, double *cpu)
{
    char name[64], text[4096];
    snprintf(name, sizeof(name), "task/%d/children", (int)pid);
    read_cpu(pid, cpu);
    if (!read_proc(pid, name, text, sizeof(text)))
        return;
    for (char *at = text, *end; (pid = (pid_t)strtol(at, &end, 10)) > 0; at = end)
        read_cpu(pid, cpu);
}

bool server_usage(const struct server *server, struct server_usage *usage, struct pm_error *error)
{
    char text[4096];
    const char *at;
    if (!read_cpu(server->pid, &usage->cpu))
        return pm_fail(error, PM_ERROR_IO, "the server has ended");
    if (server->engine != 0)
        read_cpu_of_all(server->engine, &usage->engine_cpu);
    if (read_proc(server->pid, "status", text, sizeof(text)) && (at = strstr(text, "\nVmRSS:")))
        usage->resident = strtoull(at + strlen("\nVmRSS:"), NULL, 10) * 1024;
    if (read_proc(server->pid, "io", text, sizeof(text)) && (at = strstr(text, "\nwrite_bytes:")))
        usage->written = strtoull(at + strlen("\nwrite_bytes:"), NULL, 10);
    return true;
}

bool server_stop(struct server *server)
{
    int status = 1;
    if (server->control >= 0)
        close(server->control);
    server->control = -1;
    if (server->pid > 0)
        waitpid(server->pid, &status, 0);
    server->pid = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
