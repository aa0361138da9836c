/* What the service refuses to speak: old TLS, requests whose end is in doubt, and browsers that
 * another site's page sends to a server without tokens. */
#include "aggregator/service/dev_tls.h"
#include "tests/aggregator/service/service_place.h"
#include <curl/curl.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    *state = place_create(44);
    return 0;
}

/* Sends it; what comes back until the server closes or the answer's head is there. */
static void exchange(const struct place *place, const char *request, char reply[static 1024])
{
    const struct timeval patience = {.tv_sec = 20};
    const int fd = http_connect(place->port);
    size_t size = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    send(fd, request, strlen(request), MSG_NOSIGNAL);
    reply[0] = 0;
    while (size < 1023 && !strstr(reply, "\r\n\r\n")) {
        const ssize_t got = recv(fd, reply + size, 1023 - size, 0);
        if (got <= 0)
            break;
        size += (size_t)got;
        reply[size] = 0;
    }
    close(fd);
}

static int status_of(const struct place *place, const char *request)
{
    char reply[1024];
    exchange(place, request, reply);
    return strlen(reply) > 9 ? atoi(reply + 9) : 0;
}

static void test_headers(void **state)
{
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
        {"GET /healthz HTTP/1.1\r\n\r\n", 400},
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400},
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX : 1\r\n\r\n", 400},
        {"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n", 400},
        {"POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
         "Content-Length: 5\r\n\r\nabcde",
         400},
        {"POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
         "Content-Length: 4\r\n\r\nabcd",
         400},
        {"POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
         "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
         400},
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
         "Content-Length: 3\r\n\r\n",
         400},
    };
    struct place *place = *state;
    place_serve(place);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const int status = status_of(place, cases[i].request);
        if (status != cases[i].status)
            fail_msg("%d, not %d: %s", status, cases[i].status, cases[i].request);
    }
    /* What a proxy took for a request of its own is none: the connection ends. */
    char reply[1024];
    exchange(place,
             "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
             "Content-Length: 46\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
             reply);
    assert_null(strstr(reply, "200 OK"));
}

#define UPLOAD(host, more)                                                                         \
    "POST /v1/uploads HTTP/1.1\r\nHost: " host "\r\n" more "Content-Length: 1\r\n\r\nx"

/* On every route, not only the dashboard's. */
static void test_site(void **state)
{
    static const char *const paths[] = {"/",           "/healthz",        "/metrics",
                                        "/v1/uploads", "/v1/games",       "/v1/games/g/database",
                                        "/nowhere",    "/v1/openapi.json"};
    struct place *place = *state;
    char request[256];
    place_serve(place);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: rebound.example:%u\r\n\r\n",
                 paths[i], place->port);
        assert_int_equal(status_of(place, request), 403);
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                 paths[i], place->port);
        assert_int_not_equal(status_of(place, request), 403);
    }
    /* 400: the upload is read, and is none. */
    assert_int_equal(status_of(place, UPLOAD("rebound.example", "")), 403);
    assert_int_equal(status_of(place, UPLOAD("localhost:1", "")), 400);
    assert_int_equal(status_of(place, UPLOAD("localhost:1", "Origin: http://evil.example\r\n")),
                     403);
    assert_int_equal(status_of(place, UPLOAD("localhost:1", "Origin: null\r\n")), 403);
    assert_int_equal(status_of(place, UPLOAD("localhost:1", "Origin: http://localhost:1\r\n")),
                     400);
}

/* Where only readers need a token, pages could still upload and pull without. */
static void test_site_with_readers(void **state)
{
    static const struct {
        const char *path;
        int status;
    } cases[] = {{"/healthz", 200},   {"/v1/games", 401},
                 {"/metrics", 401},   {"/v1/games/g/database", 403},
                 {"/nowhere", 403},   {"/v1/games/g/races", 403},
                 {"/v1/uploads", 403}};
    struct place *place = *state;
    char *path = join(place->folder, "readers"), request[256];
    write_file(path, "reader\n");
    place->serving.dashboard_token_file = path;
    place_serve(place);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: rebound.example\r\n\r\n",
                 cases[i].path);
        assert_int_equal(status_of(place, request), cases[i].status);
    }
    assert_int_equal(status_of(place, UPLOAD("rebound.example", "")), 403);
    assert_int_equal(status_of(place, UPLOAD("localhost", "Origin: http://evil.example\r\n")), 403);
    assert_int_equal(status_of(place, UPLOAD("localhost", "")), 400);
    free(path);
}

/* Where a token is asked for, no other site's page has it. */
static void test_site_with_tokens(void **state)
{
    struct place *place = *state;
    char *path = join(place->folder, "tokens");
    write_file(path, "token\n");
    place->serving.token_file = path;
    place_serve(place);
    assert_int_equal(status_of(place, "GET /healthz HTTP/1.1\r\nHost: pgo.example\r\n\r\n"), 200);
    assert_int_equal(status_of(place, UPLOAD("pgo.example", "Authorization: Bearer token\r\n")),
                     400);
    free(path);
}

/* ---- TLS ---- */

/* Can they agree, with a client of these priorities? */
static bool shake_hands(const struct place *place, const char *priorities)
{
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    const int fd = http_connect(place->port);
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT), 0);
    const char *at;
    if (gnutls_priority_set_direct(session, priorities, &at) != 0)
        fail_msg("priorities: %s", at);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, fd);
    gnutls_handshake_set_timeout(session, 20000);
    int code;
    do
        code = gnutls_handshake(session);
    while (code < 0 && !gnutls_error_is_fatal(code));
    /* In TLS 1.3 the server's refusal may come after the client's end of the handshake. */
    char byte;
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const bool done = code == 0 && gnutls_record_send(session, request, sizeof(request) - 1) > 0 &&
                      gnutls_record_recv(session, &byte, 1) == 1;
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    close(fd);
    return done;
}

static void test_tls(void **state)
{
    struct place *place = *state;
    struct pm_dev_tls tls;
    struct pm_error error;
    char *path = join(place->folder, "cert.pem");
    if (!pm_dev_tls_create(&tls, "127.0.0.1", path, &error))
        fail_msg("%s", error.message);
    place->serving.certificate = tls.certificate;
    place->serving.key = tls.key;
    place_serve(place);
    assert_true(shake_hands(place, "NORMAL"));
    assert_true(shake_hands(place, "NORMAL:-VERS-ALL:+VERS-TLS1.3"));
    assert_true(shake_hands(place, "NORMAL:-VERS-ALL:+VERS-TLS1.2"));
    assert_false(shake_hands(place, "LEGACY:-VERS-ALL:+VERS-TLS1.1"));
    assert_false(shake_hands(place, "LEGACY:-VERS-ALL:+VERS-TLS1.0"));
    /* No code book, no key exchange without forward secrecy. */
    assert_false(shake_hands(place, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC"));
    assert_false(shake_hands(place, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA"));
    pm_dev_tls_finish(&tls);
    free(path);
}

/* The dashboard says never to come without TLS again, where the certificate has a name of its own;
 * one for trials would take localhost from everything else. */
static void test_strict_transport(void **state)
{
    struct place *place = *state;
    struct pm_dev_tls tls;
    struct pm_error error;
    char *path = join(place->folder, "cert.pem"), *key = join(place->folder, "key.pem");
    if (!pm_dev_tls_create(&tls, "127.0.0.1", path, &error))
        fail_msg("%s", error.message);
    write_file(key, tls.key);
    place->serving.certificate_file = path;
    place->serving.key_file = key;
    place_serve(place);
    for (int trial = 0; trial < 2; trial++) {
        char url[64], *headers = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&headers, &size);
        CURL *curl = curl_easy_init();
        snprintf(url, sizeof(url), "https://localhost:%u/", place->port);
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_CAINFO, path);
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, out);
        assert_int_equal(curl_easy_perform(curl), CURLE_OK);
        curl_easy_cleanup(curl);
        fclose(out);
        const bool strict = strcasestr(headers, "Strict-Transport-Security: max-age=") != NULL;
        assert_int_equal(strict, trial == 0);
        free(headers);
        place_stop(place);
        place->serving.certificate_file = place->serving.key_file = NULL;
        place->serving.certificate = tls.certificate;
        place->serving.key = tls.key;
        place_serve(place);
    }
    pm_dev_tls_finish(&tls);
    free(path);
    free(key);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_headers),           TEST(test_site), TEST(test_site_with_tokens),
        TEST(test_site_with_readers), TEST(test_tls),  TEST(test_strict_transport),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_strict", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
