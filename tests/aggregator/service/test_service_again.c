/* A client's uploads that the service refused, and takes once what refused them has changed: the
 * client's own code against the service. */
#include "aggregator_client/client.h"
#include "tests/aggregator/service/service_place.h"
#include "tests/temporary.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/cmocka_includes.h"

struct client {
    char folder[128];
    struct pm_config config;
    struct pm_sync_report report;
};

static void client_make(struct client *client, const struct place *place)
{
    struct pm_error error;
    memset(client, 0, sizeof(*client));
    temporary_make(client->folder, sizeof(client->folder));
    setenv("HOME", client->folder, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_CACHE_HOME");
    pm_config_init(&client->config);
    assert_true(asprintf(&client->config.aggregator.url, "http://127.0.0.1:%u", place->port) > 0);
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &error));
}

static void client_finish(struct client *client)
{
    pm_config_finish(&client->config);
    temporary_remove(client->folder);
}

/* A session of one shader of so many points. */
static void record(struct place *place, uint32_t space)
{
    struct pm_error error;
    const struct pm_point_counts point = block_counts(0, 64, 32);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, space, &point, 1);
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 20, &error);
    assert_non_null(writer);
    if (!pm_spool_append(writer, place_profile(place, &shader), &error))
        fail_msg("%s", error.message);
    pm_spool_writer_destroy(writer);
}

static void sync_once(struct client *client)
{
    struct pm_error error;
    const struct pm_sync_info info = {.config = &client->config, .deadline_seconds = 60};
    client->report = (struct pm_sync_report){0};
    if (!pm_sync_upload(&info, &client->report, &error))
        fail_msg("%s", error.message);
}

static void test_taken_after_all(void **state)
{
    struct place *place = *state;
    struct client client;
    struct pm_error error;
    const struct pm_shader_key key = key_of(1);
    uint64_t blobs;
    place_serve(place);
    client_make(&client, place);
    /* Somebody lied first, whom no token vouches for. */
    const struct pm_point_counts lie = block_counts(0, 64, 32);
    const struct pm_shader_profile lying = block_shader(place->arena, 1, 9, &lie, 1);
    assert_int_equal(http_upload(place->port, NULL, place_profile(place, &lying)), 204);
    record(place, 2);
    sync_once(&client);
    assert_int_equal(client.report.sessions_refused, 1);
    sync_once(&client);
    assert_int_equal(client.report.uploads_again, 0);
    assert_int_equal(http_metric(place->port, "piecemeal_uploads_total{result=\"invalid\"}"), 1);
    if (!pm_aggregator_drop(place->aggregator, "game", &key, &blobs, &error))
        fail_msg("%s", error.message);
    sync_once(&client);
    assert_int_equal(client.report.uploads_again, 1);
    const struct pm_database database = place_estimates(place);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].space, 2);
    assert_int_equal(database.shaders[0].points[0].sessions, 1);
    /* And it is gone from the client. */
    sync_once(&client);
    assert_int_equal(client.report.uploads_again, 0);
    client_finish(&client);
}

/* A session that ended so many seconds from now, by the clock of where it was recorded. */
static void record_ahead(struct place *place, time_t seconds)
{
    struct pm_spool_session *sessions;
    struct pm_error error;
    size_t count;
    record(place, 1);
    assert_true(pm_spool_list(NULL, &sessions, &count, &error));
    assert_int_equal(count, 1);
    const struct timespec then[] = {{.tv_sec = time(NULL) + seconds},
                                    {.tv_sec = time(NULL) + seconds}};
    assert_int_equal(utimensat(AT_FDCWD, sessions[0].path, then, 0), 0);
    pm_spool_list_free(sessions, count);
}

/* Whatever the client's clock says, the service gets all that it recorded, once. */
static void test_clocks_that_are_ahead(void **state)
{
    struct place *place = *state;
    struct client client;
    static const time_t ahead[] = {3600, 86400, 365 * 86400, -15000 * (time_t)86400};
    const uint32_t cases = sizeof(ahead) / sizeof(ahead[0]);
    place_serve(place);
    client_make(&client, place);
    for (uint32_t i = 0; i < cases; i++) {
        record_ahead(place, ahead[i]);
        sync_once(&client);
        assert_int_equal(client.report.sessions_uploaded, 1);
        assert_int_equal(client.report.sessions_refused, 0);
        const struct pm_database database = place_estimates(place);
        assert_int_equal(database.shaders[0].points[0].sessions, i + 1);
    }
    client_finish(&client);
}

static int set_up(void **state)
{
    *state = place_create(44);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken_after_all, set_up, service_place_destroy),
        cmocka_unit_test_setup_teardown(test_clocks_that_are_ahead, set_up, service_place_destroy),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_again", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
