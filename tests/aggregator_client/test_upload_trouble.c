/* What goes wrong on the way: an aggregator that is away, answers no, or is none, and a full disk.
 */
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include "tests/full_disk.h"
#include "tests/profile/random_profile.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void trouble_is_tried_again_with_the_same_bytes(void **state)
{
    struct world *world = *state;
    static const char page[] = "<html>Sign in to the hotel's network</html>";
    static const char noise[] = "\x16\x03\x01 this is not HTTP at all";
    const struct server_answer script[] = {
        {.status = 500, .body = "oops", .size = 4},
        {.manner = SERVER_CLOSE},
        {.manner = SERVER_RAW, .body = noise, .size = sizeof(noise)},
        {.manner = SERVER_CLOSE_MIDWAY, .status = 200, .body = page, .size = sizeof(page)},
        {.status = 200, .body = page, .size = sizeof(page) - 1},
        {.status = 204},
    };
    server_script(world->server, script, 6);
    free(world_session(world, "A Game", 4, 3, NULL));
    if (!world_upload(world))
        fail_msg("%s", world->error.message);
    assert_int_equal(server_requests(world->server), 6);
    for (size_t i = 1; i < 6; i++)
        world_same_requests(world, 0, i);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    /* The waits grow: the last is at least eight times the shortest possible first. */
    assert_true(server_request(world->server, 5)->at - server_request(world->server, 4)->at > 1.0);
    assert_true(world_logged(world, "HTTP 500: oops"));
}

static void a_repeated_upload_is_acknowledged_by_200(void **state)
{
    struct world *world = *state;
    static const char json[] = "{\"duplicate\": true}";
    server_script(world->server,
                  &(struct server_answer){.status = 200, .body = json, .size = sizeof(json) - 1},
                  1);
    free(world_session(world, "A Game", 4, 3, NULL));
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
}

static void retry_after_is_obeyed(void **state)
{
    struct world *world = *state;
    const struct server_answer script[] = {{.status = 429, .headers = "Retry-After: 2\r\n"},
                                           {.status = 204}};
    server_script(world->server, script, 2);
    free(world_session(world, "A Game", 4, 3, NULL));
    assert_true(world_upload(world));
    double waited = server_request(world->server, 1)->at - server_request(world->server, 0)->at;
    assert_true(waited >= 2.0);

    /* One that is beyond the deadline is not waited for. */
    server_script(world->server,
                  &(struct server_answer){.status = 429, .headers = "Retry-After: 3600\r\n"}, 1);
    free(world_session(world, "A Game", 5, 3, NULL));
    free(world_session(world, "A Game", 6, 3, NULL));
    world->info.deadline_seconds = 1000; /* the test's own is shorter */
    assert_false(world_upload(world));
    assert_int_equal(world->error.code, PM_ERROR_NETWORK);
    assert_int_equal(world->report.sessions_waiting, 2);
    assert_int_equal(server_requests(world->server), 1); /* the other session is not even tried */
}

static void an_aggregator_that_is_away_costs_the_deadline_and_nothing_else(void **state)
{
    struct world *world = *state;
    world->info.deadline_seconds = 2;
    free(world_session(world, "A Game", 4, 3, NULL));
    server_script(world->server, &(struct server_answer){.manner = SERVER_NEVER}, 1);
    assert_false(world_upload(world)); /* comes back */
    assert_int_equal(world->error.code, PM_ERROR_NETWORK);
    assert_int_equal(world->report.sessions_waiting, 1);

    char *url = world->config.aggregator.url;
    world->config.aggregator.url = (char *)"http://127.0.0.1:1"; /* nobody listens */
    assert_false(world_upload(world));
    world->config.aggregator.url = url;
    world->info.deadline_seconds = 60;

    const struct server_request first = *server_request(world->server, 0);
    unsigned char *copy = malloc(first.size);
    memcpy(copy, first.body, first.size);
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    assert_true(world_upload(world));
    assert_int_equal(server_request(world->server, 0)->size, first.size);
    assert_memory_equal(server_request(world->server, 0)->body, copy, first.size);
    free(copy);
}

static void what_is_refused_for_good_is_set_aside(void **state)
{
    struct world *world = *state;
    static const char why[] = "shader 3: no\x1b[2Jtty\nsecond line";
    const struct server_answer script[] = {
        {.status = 400, .body = why, .size = sizeof(why) - 1}, {.status = 413}, {.status = 204}};
    server_script(world->server, script, 3);
    char *path = world_session(world, "A Game", 1, 2, NULL);
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    utimensat(AT_FDCWD, path, times, 0); /* the oldest, so that it is the first */
    free(world_session(world, "A Game", 2, 2, NULL));
    free(world_session(world, "A Game", 3, 2, NULL));
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_refused, 2);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 0);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_UPLOAD_SUFFIX), 2);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_REASON_SUFFIX), 2);

    char reason[512];
    const char *stem = strrchr(path, '/') + 1;
    snprintf(reason, sizeof(reason), WORLD_SPOOL "/refused/%.32s-0.reason", stem);
    struct pm_buffer text;
    pm_buffer_init(&text, 4096);
    assert_true(pm_file_read(world_path(world, reason), &text, &world->error));
    assert_string_equal((char *)text.data, "/v1/uploads: HTTP 400: shader 3: no?[2Jtty\n");
    pm_buffer_finish(&text);
    free(path);
}

/* Is what was refused sent again, when and as often as it may? */
static void what_is_refused_is_sent_again(void **state)
{
    struct world *world = *state;
    const struct server_answer refusals[] = {
        {.status = 400, .headers = "Piecemeal-Rules: aa.11\r\n"},
        {.status = 413, .headers = "Piecemeal-Rules: aa\r\n"},
        {.status = 400}};
    server_script(world->server, refusals, 3);
    for (uint64_t i = 1; i <= 3; i++) {
        char *path = world_session(world, "A/Game", i, 2, NULL);
        struct timespec times[2];
        for (size_t j = 0; j < 2; j++)
            times[j] = (struct timespec){.tv_sec = (time_t)i};
        utimensat(AT_FDCWD, path, times, 0);
        free(path);
    }
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_refused, 3);
    struct pm_profile first, again;
    struct pm_arena *arena = pm_arena_create(0);
    world_decode(server_request(world->server, 0), arena, &first);

    /* The same rules: it is asked for once, and nothing is sent. */
    const struct server_answer same = {.status = 200, .headers = "Piecemeal-Rules: aa.11\r\n"};
    server_script(world->server, &same, 1);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(
        strncmp(server_request(world->server, 0)->head, "GET /v1/games/A%2FGame/rules HTTP", 33),
        0);

    /* Of the game's shaders something else is known: only what that refused is sent. */
    const struct server_answer changed[] = {
        {.status = 200, .headers = "Piecemeal-Rules: aa.22\r\n"}, {.status = 204}};
    server_script(world->server, changed, 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 2);
    assert_int_equal(world->report.uploads_again, 1);
    world_decode(server_request(world->server, 1), arena, &again);
    assert_true(pm_same_profile(&first, &again));
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_UPLOAD_SUFFIX), 2);

    /* A server that says other rules each time gets it a bounded number of times. */
    size_t sent = 0;
    for (unsigned i = 0; i < 12; i++) {
        char now[64], then[64];
        snprintf(now, sizeof(now), "Piecemeal-Rules: b%u.22\r\n", i);
        snprintf(then, sizeof(then), "Piecemeal-Rules: c%u\r\n", i);
        const struct server_answer moody[] = {{.status = 200, .headers = now},
                                              {.status = 413, .headers = then}};
        server_script(world->server, moody, 2);
        assert_true(world_upload(world));
        sent += server_requests(world->server) == 2;
    }
    assert_int_equal(sent, 7);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_UPLOAD_SUFFIX), 2);
    pm_arena_destroy(arena);
}

static void what_is_refused_is_kept_for_a_bounded_time(void **state)
{
    struct world *world = *state;
    server_script(world->server,
                  &(struct server_answer){.status = 400, .headers = "Piecemeal-Rules: aa\r\n"}, 1);
    for (uint64_t i = 1; i <= 70; i++)
        free(world_session(world, "A Game", i, 1, NULL));
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_refused, 70);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_UPLOAD_SUFFIX), 64);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_REASON_SUFFIX), 64);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", ".rules"), 64);

    char *command = NULL;
    assert_true(asprintf(&command,
                         "find '%s/refused' -name '*.upload' -exec touch -d '31 days ago' {} +",
                         world->spool) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    char now[128];
    server_script(world->server,
                  &(struct server_answer){.status = 404, .headers = world_headers(now, 0)}, 1);
    assert_true(world_upload(world));
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", ""), 0);
}

static void a_wrong_token_stops_at_once(void **state)
{
    struct world *world = *state;
    const char *token = world_path(world, "token");
    assert_true(pm_file_write(token, "s3cret\nmore\n", 12, &world->error));
    world->config.aggregator.token_file = strdup(token);
    server_script(world->server, &(struct server_answer){.status = 401}, 1);
    free(world_session(world, "A Game", 1, 2, NULL));
    free(world_session(world, "A Game", 2, 2, NULL));
    assert_false(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world->report.sessions_waiting, 2);
    assert_non_null(
        strstr(server_request(world->server, 0)->head, "\r\nAuthorization: Bearer s3cret\r\n"));
    assert_non_null(strstr(world->error.message, "HTTP 401"));

    assert_true(
        pm_file_write(world->config.aggregator.token_file, "bad token\n", 10, &world->error));
    assert_false(world_upload(world));
    assert_non_null(strstr(world->error.message, "the first line is no token"));
}

static void unsafe_addresses_are_refused(void **state)
{
    struct world *world = *state;
    static const char *const urls[] = {"http://pgo.example.org",
                                       "ftp://127.0.0.1/",
                                       "file:///etc/passwd",
                                       "https://user:secret@example.org",
                                       "https://example.org/?q=1",
                                       "http://127.0.0.1.example.org",
                                       "not a url",
                                       "https://"};
    free(world_session(world, "A Game", 1, 2, NULL));
    char *url = world->config.aggregator.url;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        world->config.aggregator.url = (char *)urls[i];
        if (world_upload(world))
            fail_msg("%s was taken", urls[i]);
        if (world->error.code != PM_ERROR_INPUT)
            fail_msg("%s: %s", urls[i], world->error.message);
    }
    world->config.aggregator.url = url;
}

/* What could not be put down before it is sent is not sent: a sync that is killed after it would
 * send something else under the same id. */
static void a_full_disk_costs_a_sync_and_nothing_else(void **state)
{
    struct world *world = *state;
    free(world_session(world, "A Game", 4, 3, NULL)); /* makes the folder */
    if (!full_disk_namespace() || !full_disk_mount(world->spool, 128)) {
        print_message("cannot mount a tmpfs here (%s)\n", strerror(errno));
        skip();
    }
    char filler[200];
    snprintf(filler, sizeof(filler), "%s/filler", world->spool);
    free(world_session(world, "A Game", 5, 3, NULL));
    assert_true(full_disk_fill(filler, 0));
    assert_false(world_upload(world));
    assert_non_null(strstr(world->error.message, "No space left"));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 1);
    assert_int_equal(unlink(filler), 0);
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    if (!world_upload(world))
        fail_msg("%s", world->error.message);
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    umount2(world->spool, MNT_DETACH);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(trouble_is_tried_again_with_the_same_bytes),
        TEST(a_repeated_upload_is_acknowledged_by_200),
        TEST(retry_after_is_obeyed),
        TEST(an_aggregator_that_is_away_costs_the_deadline_and_nothing_else),
        TEST(what_is_refused_for_good_is_set_aside),
        TEST(what_is_refused_is_sent_again),
        TEST(what_is_refused_is_kept_for_a_bounded_time),
        TEST(a_wrong_token_stops_at_once),
        TEST(unsafe_addresses_are_refused),
        TEST(a_full_disk_costs_a_sync_and_nothing_else),
    };
    return cmocka_run_group_tests_name("upload_trouble", tests, NULL, NULL);
}
