/*
 * Two servers on one PostgreSQL (with_postgres.sh) behind haproxy, with the configuration that
 * docs/operating.md has, and clients that speak TLS to it: uploads go on while a server is away,
 * and a server that is not well gets none.
 */
#include "aggregator/service/dev_tls.h"
#include "tests/aggregator/place.h"
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include "tests/patience.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

#define HAPROXY "/usr/sbin/haproxy"
#define TOKEN "token-1"
enum { SERVERS = 2, SOME = 20, MOST = 20000 };

struct site {
    struct place *place; /* profiles; its storage is the servers' */
    char *certificate;
    PGconn *engine;
    struct server servers[SERVERS];
    pid_t balancer;
    uint16_t port;
    /* Uploads, one after the other, each until it is taken. */
    pthread_t thread;
    bool sends; /* there is the thread */
    atomic_bool stop;
    atomic_uint taken;
    atomic_uint unanswered, later, others; /* answers: none, or haproxy's 502; 429, 503; others */
    const struct pm_profile *profiles[MOST];
};

/* ---- the configuration ---- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The indented lines from "    defaults" on; malloc'ed. */
static char *documented(void)
{
    char *text = read_text(OPERATING), *begin = strstr(text, "\n    defaults\n");
    if (!begin)
        fail_msg("%s has no configuration of haproxy", OPERATING);
    char *end = begin + 1;
    while (strncmp(end, "    ", 4) == 0)
        end = strchr(end, '\n') + 1;
    *end = 0;
    memmove(text, begin + 1, strlen(begin + 1) + 1);
    return text;
}

/* Each time: it must be there once. Takes the text. */
static char *put(char *text, const char *what, const char *other)
{
    char *at = strstr(text, what), *out = NULL;
    if (!at || strstr(at + 1, what))
        fail_msg("\"%s\" is not there once in:\n%s", what, text);
    *at = 0;
    assert_true(asprintf(&out, "%s%s%s", text, other, at + strlen(what)) > 0);
    free(text);
    return out;
}

static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static void write_text(const char *path, const char *text, const char *more)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", text, more);
    fclose(file);
}

static char *configure(struct site *site)
{
    struct pm_dev_tls tls;
    struct pm_error error;
    char *path = join(site->place->folder, "haproxy.cfg"),
         *pair = join(site->place->folder, "pgo.pem");
    char address[200];
    site->certificate = join(site->place->folder, "certificate.pem");
    if (!pm_dev_tls_create(&tls, NULL, site->certificate, &error))
        fail_msg("%s", error.message);
    write_text(pair, tls.certificate, tls.key);
    pm_dev_tls_finish(&tls);
    site->port = free_port();
    char *text = documented();
    snprintf(address, sizeof(address), " 127.0.0.1:%u ", site->port);
    text = put(text, " :443 ", address);
    text = put(text, "/etc/haproxy/pgo.pem", pair);
    for (unsigned i = 0; i < SERVERS; i++) {
        static const char *const documented_as[SERVERS] = {"127.0.0.1:8371", "127.0.0.1:8372"};
        snprintf(address, sizeof(address), "127.0.0.1:%u", site->servers[i].port);
        text = put(text, documented_as[i], address);
    }
    write_text(path, text, "");
    free(text);
    free(pair);
    return path;
}

static void start_balancer(struct site *site)
{
    char *path = configure(site);
    site->balancer = fork();
    assert_true(site->balancer >= 0);
    if (site->balancer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(HAPROXY, "haproxy", "-db", "-f", path, (char *)NULL);
        _exit(127);
    }
    free(path);
}

/* ---- clients ---- */

static struct reply send_through(const struct site *site, const struct pm_profile *profile)
{
    struct request request = {
        .port = site->port, .ca_file = site->certificate, .path = "/healthz", .token = TOKEN};
    struct pm_buffer bytes = {0};
    if (profile) {
        http_encode(profile, &bytes);
        request.path = "/v1/uploads";
        request.body = bytes.data;
        request.size = bytes.size;
    }
    const struct reply reply = http_send(&request);
    pm_buffer_finish(&bytes);
    return reply;
}

static long status_through(const struct site *site, const struct pm_profile *profile)
{
    struct reply reply = send_through(site, profile);
    const long status = reply.status;
    reply_finish(&reply);
    return status;
}

/* false: stopped before it was. */
static bool send_until_taken(struct site *site, const struct pm_profile *profile)
{
    uint64_t until = 0;
    long status;
    while ((status = status_through(site, profile)) != 204 && status != 200 &&
           !atomic_load(&site->stop) && patience(&until)) {
        if (status == 0 || status == 502)
            atomic_fetch_add(&site->unanswered, 1);
        else if (status == 429 || status == 503)
            atomic_fetch_add(&site->later, 1);
        else if (atomic_fetch_add(&site->others, 1) == 0)
            printf("answered with %ld\n", status);
    }
    return status == 204 || status == 200;
}

static void *send_all(void *user)
{
    struct site *site = user;
    struct place *place = site->place;
    for (unsigned i = 0; i < MOST && !atomic_load(&site->stop); i++) {
        site->profiles[i] = random_profile(place->arena, &place->random, "game", 1, 4);
        if (!send_until_taken(site, site->profiles[i]))
            break;
        atomic_fetch_add(&site->taken, 1);
    }
    return NULL;
}

static void wait_taken(struct site *site, unsigned more)
{
    const unsigned goal = atomic_load(&site->taken) + more;
    uint64_t until = 0;
    while (atomic_load(&site->taken) < goal && patience(&until)) {
    }
    assert_true(atomic_load(&site->taken) >= goal);
}

/* Uploads that came to a server, whatever it answered. */
static long came_to(const struct server *server)
{
    static const char *const results[] = {"stored", "duplicate", "busy", "stopping", "failed"};
    long sum = 0;
    for (unsigned i = 0; i < sizeof(results) / sizeof(*results); i++) {
        char name[80];
        snprintf(name, sizeof(name), "piecemeal_uploads_total{result=\"%s\"}", results[i]);
        const long number = http_metric_as(server->port, TOKEN, name);
        assert_true(number >= 0);
        sum += number;
    }
    return sum;
}

static void wait_came_to(struct site *site, const struct server *server)
{
    const long before = came_to(server);
    uint64_t until = 0;
    while (came_to(server) < before + SOME && patience(&until)) {
    }
    assert_true(came_to(server) >= before + SOME);
    assert_int_equal(atomic_load(&site->others), 0);
}

/* ---- a server that is not well ---- */

static void say(const struct site *site, const char *sql)
{
    PGresult *result = PQexec(site->engine, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(site->engine));
    PQclear(result);
}

static void wait_health(const struct server *server, long status)
{
    uint64_t until = 0;
    while (server_health(server) != status && patience(&until)) {
    }
    assert_int_equal(server_health(server), status);
}

/* The engine lets only one of them in. */
static void check_unwell(struct site *site)
{
    struct server *unwell = &site->servers[1];
    say(site, "ALTER ROLE other NOLOGIN");
    say(site, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'other'");
    wait_health(unwell, 503);
    /* It is asked every two seconds, and believed the third time. */
    uint64_t until = 0;
    long before = -1;
    for (unsigned quiet = 0; quiet < SOME && patience(&until);) {
        const long now = came_to(unwell);
        wait_taken(site, 1);
        quiet = now == before ? quiet + 1 : 0;
        before = now;
    }
    wait_taken(site, 5 * SOME);
    assert_int_equal(came_to(unwell), before);
    say(site, "ALTER ROLE other LOGIN");
    wait_health(unwell, 200);
    wait_came_to(site, unwell);
}

/* ---- the test ---- */

static void start_servers(struct site *site)
{
    char *url = getenv("PM_TEST_STORAGE"), *as = strstr(url, "user=piecemeal"), *other;
    char *tokens = join(site->place->folder, "tokens");
    write_text(tokens, TOKEN, "\n");
    assert_non_null(as);
    assert_true(asprintf(&other, "%.*suser=other%s", (int)(as - url), url, as + 14) > 0);
    site->engine = PQconnectdb(url);
    say(site, "CREATE ROLE other LOGIN SUPERUSER");
    site->servers[0] = server_start_balanced(url, tokens);
    site->servers[1] = server_start_balanced(other, tokens);
    free(tokens);
    free(other);
}

static int set_up(void **state)
{
    struct site *site = calloc(1, sizeof(*site));
    assert_non_null(site);
    *state = site;
    site->place = place_create(91);
    return 0;
}

/* Also after a test that failed: then no thread uploads any more, and nothing is left running. */
static int tear_down(void **state)
{
    struct site *site = *state;
    atomic_store(&site->stop, true);
    if (site->balancer != 0)
        kill(site->balancer, SIGKILL); /* an upload that waits for an answer ends */
    if (site->sends)
        pthread_join(site->thread, NULL);
    if (site->balancer != 0)
        waitpid(site->balancer, NULL, 0);
    for (unsigned i = 0; i < SERVERS; i++) {
        if (site->servers[i].pid != 0)
            server_end(&site->servers[i], SIGKILL);
    }
    PQfinish(site->engine);
    free(site->certificate);
    place_destroy((void **)&site->place);
    free(site);
    return 0;
}

static void end(struct server *server, int signal_number)
{
    server_end(server, signal_number);
    server->pid = 0;
}

static void test_uploads_go_on(void **state)
{
    struct site *site = *state;
    uint64_t until = 0;
    start_servers(site);
    start_balancer(site);
    while (status_through(site, NULL) != 200 && patience(&until)) {
    }
    assert_int_equal(pthread_create(&site->thread, NULL, send_all, site), 0);
    site->sends = true;
    wait_came_to(site, &site->servers[0]);
    wait_came_to(site, &site->servers[1]);
    assert_int_equal(atomic_load(&site->unanswered) + atomic_load(&site->later), 0);
    check_unwell(site);
    const unsigned later = atomic_load(&site->later);

    end(&site->servers[0], SIGKILL);
    wait_taken(site, 5 * SOME);
    assert_int_equal(atomic_load(&site->later), later);
    assert_true(atomic_load(&site->unanswered) <= 1); /* the one that it had */
    printf("%u taken, %u without an answer, %u told to come again\n", atomic_load(&site->taken),
           atomic_load(&site->unanswered), atomic_load(&site->later));

    atomic_store(&site->stop, true);
    pthread_join(site->thread, NULL);
    site->sends = false;
    assert_int_equal(atomic_load(&site->others), 0);
    for (unsigned i = 0; i < atomic_load(&site->taken); i++)
        assert_int_equal(http_upload(site->servers[1].port, TOKEN, site->profiles[i]), 200);
    end(&site->servers[1], SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_uploads_go_on, set_up, tear_down)};
    if (!on_postgres() || access(HAPROXY, X_OK) != 0) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh) and %s\n", HAPROXY);
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_balanced", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
