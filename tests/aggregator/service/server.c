#include "tests/aggregator/service/server.h"

#include "aggregator/aggregator.h"
#include "aggregator/statistics/statistics.h"
#include "tests/aggregator/service/http.h"
#include "tests/patience.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define POINTS 20
#define STATUSES 600
#define REFUSED_MICROSECONDS 1000 /* a full disk answers so fast that nothing else would be */
#define LATER_MICROSECONDS 50000  /* who is told to come again later does not come at once */

/* ---- the process ---- */

#define USUAL                                                                                      \
    PIECEMEAL, "piecemeal", "serve", "--storage", path, "--port", "0", "--curate-seconds", "1",    \
        "--log-level", "error", "--address-connections", "0" /* clients of a test have one */

static void run(const char *path, const char *token_file)
{
    if (token_file)
        execl(USUAL, "--token-file", token_file, "--dashboard-token-file", token_file,
              "--address-rate", "0", "--address-mib", "0", "--token-rate", "0", (char *)NULL);
    else
        execl(USUAL, "--dev", (char *)NULL);
    _exit(127);
}

/* Returns in the parent, with the end to read its standard output from. token_file NULL: none. */
static pid_t spawn(const char *path, const char *token_file, int *output)
{
    int out[2];
    assert_int_equal(pipe(out), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(out[1], 1);
        for (int fd = 3; fd < 256; fd++)
            close(fd);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
        run(path, token_file);
    }
    close(out[1]);
    *output = out[0];
    return pid;
}

static struct server start(const char *path, const char *token_file)
{
    char line[128] = {0};
    unsigned port = 0;
    int output;
    struct server server = {.pid = spawn(path, token_file, &output)};
    for (size_t at = 0;
         at + 1 < sizeof(line) && read(output, line + at, 1) == 1 && line[at] != '\n'; at++) {
    }
    close(output);
    assert_int_equal(sscanf(line, "listening on %*s port %u", &port), 1);
    server.port = (uint16_t)port;
    return server;
}

struct server server_start(const char *path)
{
    return start(path, NULL);
}

struct server server_start_balanced(const char *path, const char *token_file)
{
    return start(path, token_file);
}

void server_start_and_kill(const char *path, unsigned microseconds)
{
    int output;
    struct server server = {.pid = spawn(path, NULL, &output)};
    usleep(microseconds);
    server_end(&server, SIGKILL);
    close(output);
}

long server_health(const struct server *server)
{
    struct reply reply = http_send(&(struct request){.port = server->port, .path = "/healthz"});
    const long status = reply.status;
    reply_finish(&reply);
    return status;
}

void server_end(struct server *server, int signal_number)
{
    int status;
    kill(server->pid, signal_number);
    if (signal_number != SIGKILL) {
        server_wait(server);
        return;
    }
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
}

void server_wait(struct server *server)
{
    uint64_t until = 0;
    int status;
    pid_t ended;
    while ((ended = waitpid(server->pid, &status, WNOHANG)) == 0 && patience(&until)) {
    }
    assert_int_equal(ended, server->pid);
    assert_int_equal(status, 0);
}

void server_limit_files(const struct server *server, uint64_t bytes)
{
    struct rlimit limit;
    assert_int_equal(prlimit(server->pid, RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = bytes == UINT64_MAX ? limit.rlim_max : (rlim_t)bytes;
    assert_int_equal(prlimit(server->pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

/* ---- the load ---- */

struct uploader {
    pthread_t thread;
    struct load *load;
    struct pm_arena *arena;
    struct pm_random random;
    uint64_t lanes;
    size_t count;
    const struct pm_profile *profiles[LOAD_MOST_UPLOADS];
    long statuses[LOAD_MOST_UPLOADS]; /* 0: no answer */
};

struct load {
    uint16_t port;
    atomic_bool stop;
    atomic_uint answers[STATUSES]; /* by status */
    atomic_uint begun, unadvised, others;
    char other[300]; /* the first of the others' */
    struct uploader uploaders[LOAD_THREADS];
};

const struct pm_profile *load_profile(struct pm_arena *arena, struct pm_random *random,
                                      uint64_t *lanes)
{
    struct pm_point_counts points[POINTS];
    const uint64_t x = 1 + pm_random_below(random, 1000000);
    for (uint32_t i = 0; i < POINTS; i++)
        points[i] = block_counts(i, x, x / (i + 1));
    const struct pm_shader_profile shaders[] = {block_shader(arena, 1, POINTS, points, POINTS),
                                                block_shader(arena, 2, POINTS, points, POINTS)};
    *lanes += x;
    return profile_of(arena, random, "game", shaders, 2);
}

static void note_other(struct load *load, const struct reply *reply)
{
    if (atomic_fetch_add(&load->others, 1) == 0)
        snprintf(load->other, sizeof(load->other), "%ld: %.*s", reply->status, (int)reply->size,
                 reply->size > 0 ? (const char *)reply->body : "");
}

static long upload(struct load *load, const struct pm_profile *profile)
{
    struct pm_buffer bytes;
    http_encode(profile, &bytes);
    struct reply reply = http_send(&(struct request){
        .port = load->port, .path = "/v1/uploads", .body = bytes.data, .size = bytes.size});
    const long status = reply.status;
    atomic_fetch_add(&load->unadvised, status == 429 && reply.retry_after <= 0);
    if (status != 204 && status != 429)
        note_other(load, &reply);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    return status;
}

static void *upload_all(void *user)
{
    struct uploader *uploader = user;
    struct load *load = uploader->load;
    unsigned unanswered = 0;
    while (unanswered < 2 && uploader->count < LOAD_MOST_UPLOADS && !atomic_load(&load->stop)) {
        const size_t i = uploader->count++;
        atomic_fetch_add(&load->begun, 1);
        uploader->profiles[i] = load_profile(uploader->arena, &uploader->random, &uploader->lanes);
        uploader->statuses[i] = upload(load, uploader->profiles[i]);
        unanswered += uploader->statuses[i] == 0;
        atomic_fetch_add(&load->answers[uploader->statuses[i]], 1);
        if (uploader->statuses[i] != 204)
            usleep(uploader->statuses[i] == 429 ? LATER_MICROSECONDS : REFUSED_MICROSECONDS);
    }
    return NULL;
}

struct load *load_start(const struct server *server, uint64_t seed)
{
    struct load *load = calloc(1, sizeof(*load));
    struct pm_random random;
    assert_non_null(load);
    pm_random_init(&random, seed);
    load->port = server->port;
    for (size_t i = 0; i < LOAD_THREADS; i++) {
        struct uploader *uploader = &load->uploaders[i];
        uploader->load = load;
        uploader->arena = pm_arena_create(0);
        pm_random_init(&uploader->random, pm_random_next(&random));
        assert_int_equal(pthread_create(&uploader->thread, NULL, upload_all, uploader), 0);
    }
    return load;
}

void load_wait(struct load *load, long status, unsigned more)
{
    const unsigned goal = atomic_load(&load->answers[status]) + more;
    uint64_t until = 0;
    while (atomic_load(&load->answers[status]) < goal && patience(&until)) {
    }
    assert_true(atomic_load(&load->answers[status]) >= goal);
}

void load_stop(struct load *load, bool gone)
{
    if (!gone)
        atomic_store(&load->stop, true);
    for (size_t i = 0; i < LOAD_THREADS; i++)
        pthread_join(load->uploaders[i].thread, NULL);
}

unsigned load_answers(const struct load *load, long status)
{
    return atomic_load(&load->answers[status]);
}

unsigned load_begun(const struct load *load)
{
    return atomic_load(&load->begun);
}

unsigned load_unadvised(const struct load *load)
{
    return atomic_load(&load->unadvised);
}

unsigned load_others(const struct load *load)
{
    const unsigned others = atomic_load(&load->others);
    if (others > 0)
        printf("%u others, the first %s\n", others, load->other);
    return others;
}

static void check_upload(const struct uploader *uploader, size_t i, const struct server *server,
                         bool copy, struct load_sum *sum)
{
    const long before = uploader->statuses[i];
    const long again = http_upload(server->port, NULL, uploader->profiles[i]);
    assert_true(before == 204 || before == 0 || before == 429 || before == 503 || before == 507);
    assert_true(again == 200 || again == 204);
    /* Who was refused was not counted; who had no answer may have been, and so may who is to come
     * again, where an engine went away while it committed. */
    assert_true(before == 0 || before == 204 || before == 429 || again == 204);
    assert_true(copy || before != 204 || again == 200);
    sum->confirmed += before == 204 && again == 200;
    sum->missing += before == 204 && again == 204;
    sum->kept += before != 204 && again == 200;
    sum->lost += before != 204 && again == 204;
}

static void check_all(struct load *load, const struct server *server, bool copy,
                      struct load_sum *sum)
{
    for (size_t i = 0; i < LOAD_THREADS; i++) {
        struct uploader *uploader = &load->uploaders[i];
        for (size_t j = 0; j < uploader->count; j++)
            check_upload(uploader, j, server, copy, sum);
        sum->lanes += uploader->lanes;
        sum->uploads += (unsigned)uploader->count;
        pm_arena_destroy(uploader->arena);
    }
    free(load);
}

void load_check(struct load *load, const struct server *server, struct load_sum *sum)
{
    check_all(load, server, false, sum);
}

void load_check_copy(struct load *load, const struct server *server, struct load_sum *sum)
{
    check_all(load, server, true, sum);
}

/* ---- what is stored ---- */

struct stored {
    uint64_t lanes[2], sessions[2][POINTS]; /* by shader */
};

static bool add_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                     struct pm_error *error)
{
    struct stored *stored = user;
    const struct pm_shader_key first = key_of(1);
    const size_t shader = memcmp(&key->key, &first, sizeof(first)) == 0 ? 0 : 1;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    if (!pm_statistics_decode(blob, size, &statistics, error))
        return false;
    stored->lanes[shader] += (uint64_t)pm_wide_value(&statistics.entry_lanes);
    for (size_t i = 0; i < statistics.count; i++)
        stored->sessions[shader][statistics.points[i].point] += statistics.points[i].sessions;
    pm_statistics_finish(&statistics);
    return true;
}

void load_check_stored(const char *path, const struct load_sum *sum)
{
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_error error = {0};
    struct stored stored = {0};
    struct pm_aggregator *aggregator = pm_aggregator_open(path, &info, &error);
    if (!aggregator)
        fail_msg("%s", error.message);
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    if (!pm_aggregator_fold(aggregator, "game", &error) ||
        !storage->operations->read_game(storage, "game", NULL, add_blob, &stored, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(stored.lanes[i], sum->lanes);
        for (size_t j = 0; j < POINTS; j++)
            assert_int_equal(stored.sessions[i][j], sum->uploads);
    }
    pm_aggregator_destroy(aggregator);
}
