/*
 * Two servers under load on one PostgreSQL (with_postgres.sh), which ends as if its machine had and
 * comes back: whoever uploads meanwhile is told when to come again, and nothing else; what was
 * acknowledged is there afterwards, once.
 *   test_aggregator_service_away [SECONDS]
 */
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

enum { SERVERS = 2, MOST_ARGUMENTS = 64 };

static unsigned seconds = 3;

/* ---- the engine ---- */

/* As it was started by whoever did. */
struct engine {
    pid_t pid;
    char program[400], log[400];
    struct pm_buffer command; /* its arguments, each with a terminator */
    uid_t user;
    gid_t group;
};

static void engine_find(struct engine *engine)
{
    char path[100];
    struct stat status;
    engine->pid = (pid_t)atol(getenv("PM_TEST_ENGINE_PID"));
    snprintf(engine->log, sizeof(engine->log), "%s/log", getenv("PM_TEST_ENGINE"));
    snprintf(path, sizeof(path), "/proc/%d", (int)engine->pid);
    assert_int_equal(stat(path, &status), 0);
    engine->user = status.st_uid;
    engine->group = status.st_gid;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)engine->pid);
    const ssize_t size = readlink(path, engine->program, sizeof(engine->program) - 1);
    assert_true(size > 0);
    engine->program[size] = 0;
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)engine->pid);
    pm_buffer_init(&engine->command, 1 << 16);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char block[4096];
    for (ssize_t got; (got = read(fd, block, sizeof(block))) > 0;)
        assert_true(pm_buffer_append(&engine->command, block, (size_t)got));
    close(fd);
}

static bool engine_is_there(void)
{
    return PQping(getenv("PM_TEST_STORAGE")) == PQPING_OK;
}

/* All of its processes at once, and nothing is written any more but its log: it has to recover. */
static void engine_end(struct engine *engine)
{
    uint64_t until = 0;
    assert_int_equal(kill(engine->pid, SIGQUIT), 0);
    while (PQping(getenv("PM_TEST_STORAGE")) != PQPING_NO_RESPONSE && patience(&until)) {
    }
    assert_false(engine_is_there());
}

static void engine_run(const struct engine *engine)
{
    char *arguments[MOST_ARGUMENTS + 1] = {0};
    size_t count = 0;
    for (size_t at = 0; at < engine->command.size && count < MOST_ARGUMENTS;
         at += strlen((char *)engine->command.data + at) + 1)
        arguments[count++] = (char *)engine->command.data + at;
    const int log = open(engine->log, O_WRONLY | O_APPEND | O_CLOEXEC);
    dup2(log, 1);
    dup2(log, 2);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    if (geteuid() == 0 &&
        (setgroups(0, NULL) != 0 || setgid(engine->group) != 0 || setuid(engine->user) != 0))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGQUIT); /* a test that fails leaves none behind */
    execv(engine->program, arguments);
    _exit(127);
}

/* Again and again, until what is left of the one before is gone. */
static void engine_start(struct engine *engine)
{
    uint64_t until = 0;
    engine->pid = 0;
    while (!engine_is_there() && patience(&until)) {
        if (engine->pid != 0 && waitpid(engine->pid, NULL, WNOHANG) != engine->pid)
            continue;
        engine->pid = fork();
        assert_true(engine->pid >= 0);
        if (engine->pid == 0)
            engine_run(engine);
    }
    assert_true(engine_is_there());
}

/* ---- the servers ---- */

static long health(const struct server *server)
{
    struct reply reply = http_send(&(struct request){.port = server->port, .path = "/healthz"});
    const long status = reply.status;
    reply_finish(&reply);
    return status;
}

static void rest(unsigned milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

static void test_away_under_load(void **state)
{
    (void)state;
    struct engine engine = {0};
    char *url = getenv("PM_TEST_STORAGE");
    struct server servers[SERVERS];
    struct load *loads[SERVERS];
    struct load_sum sum = {0};
    unsigned others = 0, unadvised = 0, refused = 0;
    engine_find(&engine);
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
        assert_int_equal(health(&servers[i]), 503);
    }
    while (time(NULL) < since + (time_t)seconds)
        rest(100);
    engine_start(&engine);
    for (unsigned i = 0; i < SERVERS; i++)
        load_wait(loads[i], 204, 50);
    for (unsigned i = 0; i < SERVERS; i++) {
        assert_int_equal(health(&servers[i]), 200);
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
    kill(engine.pid, SIGINT);
    waitpid(engine.pid, NULL, 0);
    pm_buffer_finish(&engine.command);
    assert_int_equal(others, 0);
    assert_int_equal(unadvised, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_away_under_load)};
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
