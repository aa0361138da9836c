/* Where the service listens, under which certificate, and for whose tokens. */
#include "tests/aggregator/service/service_place.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(42);
    place->keeping.scenes = 2;
    place->serving.curate_seconds = 1;
    *state = place;
    return 0;
}

static void test_addresses(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    place_serve(place);
    struct pm_service_info info = place->serving;
    info.port = place->port;
    assert_null(pm_service_create(&info, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_non_null(strstr(error.message, "listen"));
    info.address = "nonsense";
    assert_null(pm_service_create(&info, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    info.address = NULL;
    char *nonsense = join(place->folder, "nonsense");
    write_file(nonsense, "no certificate");
    info.certificate_file = nonsense;
    assert_null(pm_service_create(&info, &error));
    assert_non_null(strstr(error.message, "both"));
    info.key_file = nonsense;
    info.port = 0;
    assert_null(pm_service_create(&info, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    free(nonsense);
}

static void test_tls(void **state)
{
    struct place *place = *state;
    char *certificate = join(place->folder, "cert.pem"), *key = join(place->folder, "key.pem");
    char *command = NULL;
    assert_true(asprintf(&command,
                         "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
                         "-addext subjectAltName=DNS:localhost -keyout %s -out %s 2>%s/openssl.log",
                         key, certificate, place->folder) > 0);
    assert_int_equal(system(command), 0);
    place->serving.certificate_file = certificate;
    place->serving.key_file = key;
    place_serve(place);
    struct reply reply =
        place_send(place, (struct request){.path = "/healthz", .ca_file = certificate});
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    struct pm_buffer bytes;
    http_encode(small_profile(place, 1), &bytes);
    reply = place_send(
        place, (struct request){.body = bytes.data, .size = bytes.size, .ca_file = certificate});
    assert_int_equal(reply.status, 204);
    reply_finish(&reply);
    reply = place_send(place, (struct request){.path = "/healthz"});
    assert_int_not_equal(reply.status, 200);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    place_stop(place);
    free(certificate);
    free(key);
    free(command);
}

static void test_tokens(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    struct pm_error error;
    char *tokens = join(place->folder, "tokens");
    write_file(tokens, "# ours\nfirst-token\n\n  second-token \r\n");
    place->serving.token_file = tokens;
    place_serve(place);
    const struct pm_profile *profile = small_profile(place, 1);
    assert_int_equal(http_upload(place->port, "first-token", profile), 204);
    assert_int_equal(http_upload(place->port, "second-token", profile), 200);
    static const char *const wrong[] = {NULL,
                                        "",
                                        "first-toke",
                                        "first-tokenx",
                                        "# ours",
                                        "First-token",
                                        "first-token\nsecond-token"};
    http_encode(small_profile(place, 2), &bytes);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong) - 1; i++)
        assert_error(
            place_send(place,
                       (struct request){.body = bytes.data, .size = bytes.size, .token = wrong[i]}),
            401, "token");
    pm_buffer_finish(&bytes);
    const char *const pull = "/v1/games/other/database";
    assert_error(place_send(place, (struct request){.path = pull, .token = "x"}), 401, "token");
    assert_error(place_send(place, (struct request){.path = pull}), 401, "token");
    assert_error(place_send(place, (struct request){.path = pull,
                                                    .header = "Authorization: Basic first-token"}),
                 401, "token");
    assert_error(place_send(place, (struct request){.path = pull, .token = "first-token"}), 404,
                 "other");
    /* Players' tokens do not open the dashboard. */
    assert_error(place_send(place, (struct request){.path = "/v1/games", .token = "first-token"}),
                 403, "closed");
    struct reply reply = place_send(place, (struct request){.path = "/healthz"});
    assert_int_equal(reply.status, 200);
    reply_finish(&reply);
    place_stop(place);

    /* A file without tokens, and none at all. */
    place_open(place);
    place->serving.aggregator = place->aggregator;
    write_file(tokens, "# none\n");
    assert_null(pm_service_create(&place->serving, &error));
    assert_non_null(strstr(error.message, "no token"));
    unlink(tokens);
    assert_null(pm_service_create(&place->serving, &error));
    assert_non_null(strstr(error.message, tokens));
    free(tokens);
    place->serving.token_file = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_addresses),
        TEST(test_tls),
        TEST(test_tokens),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_listening", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
