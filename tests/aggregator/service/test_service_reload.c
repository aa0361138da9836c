/* The files of tokens, certificate and key, read again while the service serves. */
#include "aggregator/service/dev_tls.h"
#include "base/file.h"
#include "tests/aggregator/service/service_place.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

/* Those of the test's place, and what the log said last. */
static struct {
    char *tokens, *readers, *certificate, *key;
    char said[1024];
} files;

static void note(void *user, enum pm_log_level level, const char *message)
{
    (void)user;
    (void)level;
    snprintf(files.said, sizeof(files.said), "%s", message);
}

static int set_up(void **state)
{
    struct place *place = place_create(42);
    struct pm_error error;
    files.tokens = join(place->folder, "tokens");
    files.readers = join(place->folder, "readers");
    files.certificate = join(place->folder, "certificate.pem");
    files.key = join(place->folder, "key.pem");
    place->serving.log = pm_log_create(NULL, -1, PM_LOG_INFO, &error);
    pm_log_set_callback(place->serving.log, note, NULL);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    struct pm_log *log = place->serving.log;
    service_place_destroy(state);
    pm_log_destroy(log);
    free(files.tokens);
    free(files.readers);
    free(files.certificate);
    free(files.key);
    return 0;
}

static void reload(struct place *place, bool fine, const char *said)
{
    assert_true(pm_service_reload(place->service) == fine);
    if (!strstr(files.said, said))
        fail_msg("the log says \"%s\", not \"%s\"", files.said, said);
}

static long upload(struct place *place, const char *token)
{
    return http_upload(place->port, token, small_profile(place, 1));
}

/* ---- tokens ---- */

static void test_tokens(void **state)
{
    struct place *place = *state;
    write_file(files.tokens, "anna\nbert\n");
    place->serving.token_file = files.tokens;
    place_serve(place);
    assert_int_equal(upload(place, "bert"), 204);
    assert_int_equal(upload(place, "carl"), 401);
    write_file(files.tokens, "# without anna\ncarl\r\n  bert \n");
    assert_int_equal(upload(place, "carl"), 401);
    reload(place, true, "tokens: 2 tokens, 1 of them new; 1 are withdrawn");
    assert_int_equal(upload(place, "anna"), 401);
    assert_int_equal(upload(place, "bert"), 204);
    assert_int_equal(upload(place, "carl"), 204);
}

static void test_bad_tokens(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", "tokens: has no token"},
        {"# nobody\n", "tokens: has no token"},
        {"carl\nda vid\n", "tokens:2: a token is of"},
        {"carl\n\n\x01\x02\x03", "tokens:3: a token is of"},
        {"carl\xc3\xa9\n", "tokens:1: a token is of"},
    };
    write_file(files.tokens, "bert\n");
    place->serving.token_file = files.tokens;
    place_serve(place);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        write_file(files.tokens, bad[i].text);
        reload(place, false, bad[i].said);
        assert_non_null(strstr(files.said, "that were read before stay"));
        assert_int_equal(upload(place, "bert"), 204);
        assert_int_equal(upload(place, "carl"), 401);
    }
    unlink(files.tokens);
    reload(place, false, "No such file");
    assert_int_equal(upload(place, "bert"), 204);
    write_file(files.tokens, "carl\n");
    reload(place, true, "1 tokens");
    assert_int_equal(upload(place, "bert"), 401);
    assert_int_equal(upload(place, "carl"), 204);
}

/* A bad file holds up none of the others. */
static void test_readers(void **state)
{
    struct place *place = *state;
    const struct request status = {.path = "/v1/status", .token = "rita"};
    write_file(files.tokens, "bert\n");
    write_file(files.readers, "ruth\n");
    place->serving.token_file = files.tokens;
    place->serving.dashboard_token_file = files.readers;
    place_serve(place);
    assert_error(place_send(place, status), 401, "token");
    write_file(files.tokens, "");
    write_file(files.readers, "rita\n");
    reload(place, false, "readers: 1 tokens");
    struct reply reply = place_send(place, status);
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    assert_int_equal(upload(place, "bert"), 204);
}

/* Of a token that stays, what it may and what it sent is known as before. */
static void test_limits_go_on(void **state)
{
    struct place *place = *state;
    write_file(files.tokens, "anna\nbert\n");
    place->serving.token_file = files.tokens;
    place->serving.token_rate = 2;
    place->keeping.token_clusters = 1;
    place_serve(place);
    assert_int_equal(upload(place, "anna"), 204);
    write_file(files.tokens, "carl\nanna\n");
    reload(place, true, "2 tokens");
    assert_int_equal(upload(place, "anna"), 204);
    assert_int_equal(sessions_of_first(place), 1);
    reload(place, true, "2 tokens, 0 of them new");
    assert_int_equal(upload(place, "anna"), 429);
    assert_int_equal(upload(place, "carl"), 204);
    assert_int_equal(sessions_of_first(place), 2);
}

static void send_all(int fd, const void *data, size_t size)
{
    assert_int_equal(send(fd, data, size, MSG_NOSIGNAL), (ssize_t)size);
}

/* An upload whose token is withdrawn while it comes in was let in. */
static void test_upload_goes_on(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    char head[200], answer[200] = {0};
    write_file(files.tokens, "anna\n");
    place->serving.token_file = files.tokens;
    place_serve(place);
    http_encode(small_profile(place, 1), &bytes);
    snprintf(head, sizeof(head),
             "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
             "Authorization: Bearer anna\r\nExpect: 100-continue\r\n\r\n",
             bytes.size);
    const int fd = http_connect(place->port);
    send_all(fd, head, strlen(head));
    /* The answer to it tells that the head was read. */
    assert_true(recv(fd, answer, sizeof(answer) - 1, 0) > 0);
    assert_non_null(strstr(answer, " 100 "));
    write_file(files.tokens, "bert\n");
    reload(place, true, "1 tokens");
    assert_int_equal(upload(place, "anna"), 401);
    send_all(fd, bytes.data, bytes.size);
    assert_true(recv(fd, answer, sizeof(answer) - 1, 0) > 0);
    assert_non_null(strstr(answer, " 204 "));
    close(fd);
    pm_buffer_finish(&bytes);
}

/* ---- certificates ---- */

/* Makes a certificate that is good, or has ended, and puts it and its key into files. */
static void make_certificate(const char *certificate, const char *key, bool ended)
{
    struct pm_dev_tls tls;
    struct pm_error error;
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t private_key;
    gnutls_datum_t text;
    if (!pm_dev_tls_create(&tls, NULL, certificate, &error))
        fail_msg("%s", error.message);
    write_file(key, tls.key);
    if (ended) {
        const gnutls_datum_t old = {(unsigned char *)tls.certificate,
                                    (unsigned)strlen(tls.certificate)};
        const gnutls_datum_t pem = {(unsigned char *)tls.key, (unsigned)strlen(tls.key)};
        gnutls_x509_crt_init(&crt);
        gnutls_x509_privkey_init(&private_key);
        assert_int_equal(gnutls_x509_crt_import(crt, &old, GNUTLS_X509_FMT_PEM), 0);
        assert_int_equal(gnutls_x509_privkey_import(private_key, &pem, GNUTLS_X509_FMT_PEM), 0);
        assert_int_equal(gnutls_x509_crt_set_expiration_time(crt, time(NULL) - 86400), 0);
        assert_int_equal(gnutls_x509_crt_sign2(crt, crt, private_key, GNUTLS_DIG_SHA256, 0), 0);
        assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text), 0);
        write_file(certificate, (const char *)text.data);
        gnutls_free(text.data);
        gnutls_x509_crt_deinit(crt);
        gnutls_x509_privkey_deinit(private_key);
    }
    pm_dev_tls_finish(&tls);
}

/* A file as it is now, under another name. */
static char *keep_copy(struct place *place, const char *path, const char *name)
{
    char *copy = join(place->folder, name);
    struct pm_buffer text;
    struct pm_error error;
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(path, &text, &error));
    write_file(copy, (const char *)text.data);
    pm_buffer_finish(&text);
    return copy;
}

static long health(const struct place *place, const char *ca_file)
{
    struct reply reply =
        place_send(place, (struct request){.path = "/healthz", .ca_file = ca_file});
    const long status = reply.status;
    reply_finish(&reply);
    return status;
}

static size_t ignore(char *data, size_t size, size_t count, void *user)
{
    (void)data;
    (void)user;
    return size * count;
}

/* Over the connection that the handle has. connections: how many it must have made for it. */
static void ask_again(CURL *curl, long connections)
{
    long status = 0, made = -1;
    assert_int_equal(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &made);
    assert_int_equal(status, 200);
    assert_int_equal(made, connections);
}

static CURL *connect_tls(const struct place *place, const char *ca_file)
{
    char url[100];
    CURL *curl = curl_easy_init();
    snprintf(url, sizeof(url), "https://localhost:%u/healthz", place->port);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    ask_again(curl, 1);
    return curl;
}

static void test_certificate(void **state)
{
    struct place *place = *state;
    make_certificate(files.certificate, files.key, false);
    char *first = keep_copy(place, files.certificate, "first.pem");
    place->serving.certificate_file = files.certificate;
    place->serving.key_file = files.key;
    place_serve(place);
    CURL *held = connect_tls(place, first);
    make_certificate(files.certificate, files.key, false);
    char *second = keep_copy(place, files.certificate, "second.pem");
    assert_int_equal(health(place, first), 200);
    assert_int_equal(health(place, second), 0);
    reload(place, true, "who connects from now on sees it");
    assert_int_equal(health(place, first), 0);
    assert_int_equal(health(place, second), 200);
    ask_again(held, 0);
    /* Once more: who holds the first one's last connection is not cut off either. */
    reload(place, true, "who connects from now on sees it");
    ask_again(held, 0);
    assert_int_equal(health(place, second), 200);
    curl_easy_cleanup(held);
    free(first);
    free(second);
}

static void test_bad_certificate(void **state)
{
    struct place *place = *state;
    char *other = join(place->folder, "other.pem"), *lost = join(place->folder, "lost.pem");
    make_certificate(files.certificate, files.key, false);
    char *good = keep_copy(place, files.certificate, "good.pem");
    place->serving.certificate_file = files.certificate;
    place->serving.key_file = files.key;
    place_serve(place);
    make_certificate(files.certificate, lost, false);
    reload(place, false, "certificate.pem with key ");
    assert_non_null(strstr(files.said, "The certificate that was read before stays"));
    write_file(files.certificate, "no certificate");
    reload(place, false, "certificate.pem with key ");
    write_file(files.certificate, "");
    reload(place, false, "certificate.pem: is empty");
    make_certificate(files.certificate, files.key, true);
    reload(place, false, "certificate.pem: ended on ");
    unlink(files.key);
    reload(place, false, "key.pem: ");
    assert_int_equal(health(place, good), 200);
    make_certificate(files.certificate, files.key, false);
    reload(place, true, "valid until");
    assert_int_equal(health(place, files.certificate), 200);
    free(other);
    free(lost);
    free(good);
}

/* ---- under load ---- */

#define SENDERS 4
#define UPLOADS 40

struct sender {
    struct place *place;
    const char *ca_file;
    pthread_t thread;
    struct pm_buffer bodies[UPLOADS];
    atomic_uint *unfinished;
    unsigned stored;
};

static void *send_uploads(void *user)
{
    struct sender *sender = user;
    for (size_t i = 0; i < UPLOADS; i++) {
        struct reply reply =
            place_send(sender->place, (struct request){.token = "anna",
                                                       .ca_file = sender->ca_file,
                                                       .body = sender->bodies[i].data,
                                                       .size = sender->bodies[i].size});
        sender->stored += reply.status == 204;
        reply_finish(&reply);
    }
    atomic_fetch_sub(sender->unfinished, 1);
    return NULL;
}

/* One file with what the two have. */
static void join_files(const char *path, const char *one, const char *other)
{
    struct pm_buffer text;
    struct pm_error error;
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(one, &text, &error) && pm_file_read(other, &text, &error));
    write_file(path, (const char *)text.data);
    pm_buffer_finish(&text);
}

/* Tokens and the certificate change all the time, and are wrong every third time; of who has a
 * token that stays, no upload is lost. */
static void test_load(void **state)
{
    struct place *place = *state;
    struct sender senders[SENDERS];
    atomic_uint unfinished = SENDERS;
    char *trusted = join(place->folder, "trusted.pem");
    make_certificate(files.certificate, files.key, false);
    char *certificate = keep_copy(place, files.certificate, "first.pem");
    char *key = keep_copy(place, files.key, "first.key");
    place->serving.token_file = files.tokens;
    place->serving.certificate_file = files.certificate;
    place->serving.key_file = files.key;
    write_file(files.tokens, "anna\n");
    place_serve(place);
    make_certificate(files.certificate, files.key, false);
    char *other = keep_copy(place, files.certificate, "second.pem");
    char *other_key = keep_copy(place, files.key, "second.key");
    join_files(trusted, certificate, other);
    for (size_t i = 0; i < SENDERS; i++) {
        struct sender *sender = &senders[i];
        *sender = (struct sender){.place = place, .ca_file = trusted, .unfinished = &unfinished};
        for (size_t j = 0; j < UPLOADS; j++)
            http_encode(small_profile(place, 1), &sender->bodies[j]);
        assert_int_equal(pthread_create(&sender->thread, NULL, send_uploads, sender), 0);
    }
    unsigned round = 0;
    for (uint64_t until = 0; atomic_load(&unfinished) > 0 && patience(&until); round++) {
        unlink(files.certificate);
        unlink(files.key);
        assert_int_equal(link(round % 2 ? certificate : other, files.certificate), 0);
        assert_int_equal(link(round % 3 == 0   ? trusted
                              : round % 2 != 0 ? key
                                               : other_key,
                              files.key),
                         0);
        write_file(files.tokens, round % 3 == 1 ? "an na" : round % 2 ? "anna\n" : "bert\nanna\n");
        assert_true(pm_service_reload(place->service) == (round % 3 == 2));
    }
    assert_int_equal(atomic_load(&unfinished), 0);
    for (size_t i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].stored, UPLOADS);
        for (size_t j = 0; j < UPLOADS; j++)
            pm_buffer_finish(&senders[i].bodies[j]);
    }
    assert_int_equal(sessions_of_first(place), SENDERS * UPLOADS);
    print_message("%u reloads during %u uploads\n", round, SENDERS * UPLOADS);
    assert_true(round > 3);
    free(trusted);
    free(certificate);
    free(key);
    free(other);
    free(other_key);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tokens),          TEST(test_bad_tokens),     TEST(test_readers),
        TEST(test_limits_go_on),    TEST(test_upload_goes_on), TEST(test_certificate),
        TEST(test_bad_certificate), TEST(test_load),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_reload", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
