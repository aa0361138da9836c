#include "base/file.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The body of a database with one shader, whose entry_lanes tell which it is. */
static struct pm_buffer make_body(const char *game, uint64_t mark)
{
    struct pm_point_estimate points[2] = {{.calls = 3}, {.calls = 4}};
    struct pm_shader_estimates shader = {.key = {{1, 2, 3}},
                                         .environment = {.subgroup_size = 8},
                                         .kind = PM_KIND_BLOCK,
                                         .space = 2,
                                         .published = true,
                                         .points = points,
                                         .entry_lanes = mark};
    struct pm_database database = {game, 77, &shader, 1};
    struct pm_buffer wire, body;
    pm_buffer_init(&wire, 1 << 16);
    pm_buffer_init(&body, 1 << 16);
    if (!pm_database_encode(&database, &wire, NULL) ||
        !pm_compress(wire.data, wire.size, &body, NULL))
        abort();
    pm_buffer_finish(&wire);
    return body;
}

static bool pull(struct world *world, const char *game)
{
    world->report = (struct pm_sync_report){0};
    world->error = (struct pm_error){0};
    world->info.game = game;
    return pm_sync_pull(&world->info, &world->report, &world->error);
}

/* The mark of the cached database; 0: there is none. */
static uint64_t cached(const char *game)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_database database;
    struct pm_error error = {0};
    uint64_t mark = 0;
    if (pm_database_cache_load(game, arena, &database, &error))
        mark = database.shaders[0].entry_lanes;
    else
        assert_int_equal(error.code, PM_ERROR_STATE);
    pm_arena_destroy(arena);
    return mark;
}

static void a_database_is_pulled_once_and_then_asked_for_by_its_tag(void **state)
{
    struct world *world = *state;
    struct pm_buffer first = make_body("A Game", 1), second = make_body("A Game", 2);
    const struct server_answer script[] = {
        {.status = 200, .headers = "ETag: \"one\"\r\n", .body = first.data, .size = first.size},
        {.status = 304},
        {.status = 200, .headers = "etag:\"two\"  \r\n", .body = second.data, .size = second.size},
        {.status = 304},
    };
    server_script(world->server, script, 4);
    assert_int_equal(cached("A Game"), 0);
    if (!pull(world, "A Game"))
        fail_msg("%s", world->error.message);
    assert_true(world->report.database_pulled);
    assert_int_equal(cached("A Game"), 1);
    const char *head = server_request(world->server, 0)->head;
    assert_int_equal(strncmp(head, "GET /v1/games/A%20Game/database HTTP/1.1\r\n", 42), 0);
    assert_null(strstr(head, "If-None-Match"));

    assert_true(pull(world, "A Game"));
    assert_true(world->report.database_unchanged);
    assert_false(world->report.database_pulled);
    head = server_request(world->server, 1)->head;
    assert_non_null(strstr(head, "\r\nIf-None-Match: \"one\"\r\n"));
    assert_true(pull(world, "A Game"));
    assert_int_equal(cached("A Game"), 2);

    /* The tag of a cached database that is damaged is not sent: a 304 would keep the damage. */
    char *path = pm_database_cache_path("A Game");
    assert_true(pm_file_write(path, "damaged", 7, &world->error));
    const struct server_answer again[] = {script[2]};
    server_script(world->server, again, 1);
    assert_true(pull(world, "A Game"));
    assert_null(strstr(server_request(world->server, 0)->head, "If-None-Match"));
    assert_int_equal(cached("A Game"), 2);
    free(path);
    pm_buffer_finish(&first);
    pm_buffer_finish(&second);
}

static void garbage_never_replaces_what_there_is(void **state)
{
    struct world *world = *state;
    struct pm_buffer good = make_body("A Game", 1), other = make_body("Another", 9);
    server_script(world->server,
                  &(struct server_answer){.status = 200, .body = good.data, .size = good.size}, 1);
    assert_true(pull(world, "A Game"));
    world->info.deadline_seconds = 1;
    static const char page[] = "<html>hello</html>";
    const struct server_answer bad[] = {
        {.status = 200, .body = page, .size = sizeof(page) - 1},
        {.status = 200},
        {.status = 200, .body = other.data, .size = other.size},
        {.status = 200, .body = good.data, .size = good.size - 3},
        {.manner = SERVER_CLOSE_MIDWAY, .status = 200, .body = good.data, .size = good.size},
        {.manner = SERVER_RAW, .body = page, .size = sizeof(page) - 1},
        {.manner = SERVER_CLOSE},
        {.manner = SERVER_NEVER},
        {.status = 204},
        {.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"},
        {.status = 401},
        {.status = 503},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        server_script(world->server, &bad[i], 1);
        if (pull(world, "A Game"))
            fail_msg("answer %zu was taken", i);
        if (world->error.code != PM_ERROR_NETWORK)
            fail_msg("answer %zu: %s", i, world->error.message);
        assert_int_equal(cached("A Game"), 1);
    }
    /* A game that is not known is no failure. */
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    assert_true(pull(world, "A Game"));
    assert_false(world->report.database_pulled);
    assert_int_equal(cached("A Game"), 1);
    pm_buffer_finish(&good);
    pm_buffer_finish(&other);
}

/* What is whole and cannot be read, as of a later version, is asked for once, and other games' are
 * pulled. */
static void a_later_versions_database_costs_its_game_alone(void **state)
{
    struct world *world = *state;
    static const char later[] = "\xff\xff no database as it is today";
    struct pm_buffer bad, good = make_body("Two", 5);
    pm_buffer_init(&bad, 1 << 16);
    assert_true(pm_compress(later, sizeof later, &bad, &world->error));
    free(world_session(world, "One", 1, 1, NULL));
    usleep(20000);
    free(world_session(world, "Two", 2, 1, NULL));
    const struct server_answer script[] = {{.status = 200, .body = bad.data, .size = bad.size},
                                           {.status = 200, .body = good.data, .size = good.size}};
    server_script(world->server, script, 2);
    assert_false(pull(world, NULL));
    assert_int_equal(server_requests(world->server), 2);
    assert_int_equal(world->error.code, PM_ERROR_INPUT);
    assert_string_equal(world->report.away, "");
    assert_int_equal(cached("One"), 0);
    assert_int_equal(cached("Two"), 5);
    pm_buffer_finish(&bad);
    pm_buffer_finish(&good);
}

static void a_passing_trouble_is_tried_again(void **state)
{
    struct world *world = *state;
    struct pm_buffer good = make_body("A Game", 3);
    const struct server_answer script[] = {{.status = 503},
                                           {.manner = SERVER_CLOSE},
                                           {.status = 200, .body = good.data, .size = good.size}};
    server_script(world->server, script, 3);
    assert_true(pull(world, "A Game"));
    assert_int_equal(cached("A Game"), 3);
    pm_buffer_finish(&good);
}

static void names_cannot_leave_their_place(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *game, *path;
    } cases[] = {{"...", "GET /v1/games/.../database "},
                 {"a/../../b?c#d", "GET /v1/games/a%2F..%2F..%2Fb%3Fc%23d/database "},
                 {"\xC3\xA4", "GET /v1/games/%C3%A4/database "}};
    for (size_t i = 0; i < 3; i++) {
        struct pm_buffer body = make_body(cases[i].game, 5 + i);
        server_script(world->server,
                      &(struct server_answer){.status = 200, .body = body.data, .size = body.size},
                      1);
        if (!pull(world, cases[i].game))
            fail_msg("%s", world->error.message);
        const char *head = server_request(world->server, 0)->head;
        if (strncmp(head, cases[i].path, strlen(cases[i].path)) != 0)
            fail_msg("%s", head);
        assert_int_equal(cached(cases[i].game), 5 + i);
        pm_buffer_finish(&body);
    }
    assert_int_equal(world_count(world, "cache/piecemeal/databases", ".pmdb"), 3);
}

static void every_game_that_was_seen_is_pulled(void **state)
{
    struct world *world = *state;
    struct pm_buffer body = make_body("Old", 1);
    server_script(world->server,
                  &(struct server_answer){.status = 200, .body = body.data, .size = body.size}, 1);
    assert_true(pull(world, "Old"));
    free(world_session(world, "New", 1, 2, NULL));
    free(world_session(world, "New", 2, 2, NULL));
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    assert_true(pull(world, NULL));
    assert_int_equal(server_requests(world->server), 2);
    bool old = false, new = false;
    for (size_t i = 0; i < 2; i++) {
        old = old || strstr(server_request(world->server, i)->head, "/games/Old/");
        new = new || strstr(server_request(world->server, i)->head, "/games/New/");
    }
    assert_true(old && new);
    pm_buffer_finish(&body);

    /* Once its sessions are uploaded and gone from the spool, a game is still pulled. */
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    assert_true(pm_sync_upload(&world->info, &world->report, &world->error));
    assert_int_equal(world->report.sessions_uploaded, 2);
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    assert_true(pull(world, NULL));
    assert_int_equal(server_requests(world->server), 2);
}

static void nothing_is_asked_without_consent(void **state)
{
    struct world *world = *state;
    assert_true(pm_consent_write(PM_CONSENT_REVOKED, &world->error));
    assert_true(pull(world, "A Game"));
    assert_int_equal(server_requests(world->server), 0);
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));
    world->config.consent_withheld = true; /* of uploads; a database may still be asked for */
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    assert_true(pull(world, "A Game"));
    assert_int_equal(server_requests(world->server), 1);
}

/* A server with a certificate of its own: trusted where ca_file names it, and only there. */
static void only_trusted_certificates_are_talked_to(void **state)
{
    struct world *world = *state;
    int port[2];
    assert_int_equal(pipe(port), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(port[1], 1);
        execl("/bin/bash", "bash", getenv("PM_TLS_SERVER"), world->folder, NULL);
        _exit(127);
    }
    close(port[1]);
    FILE *from = fdopen(port[0], "r");
    int number = 0;
    assert_int_equal(fscanf(from, "%d", &number), 1);
    free(world->config.aggregator.url);
    assert_true(asprintf(&world->config.aggregator.url, "https://localhost:%d", number) > 0);

    assert_false(pull(world, "A Game"));
    assert_int_equal(world->error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(world->error.message, "certificate"));
    world->config.aggregator.ca_file = strdup("/nonexistent.pem");
    assert_false(pull(world, "A Game"));
    assert_int_equal(world->error.code, PM_ERROR_INPUT);
    free(world->config.aggregator.ca_file);
    world->config.aggregator.ca_file = strdup(world_path(world, "tls/certificate.pem"));
    if (!pull(world, "A Game")) /* answered 404 */
        fail_msg("%s", world->error.message);
    assert_non_null(strstr(world->report.not_pulled, "the aggregator knows nothing"));
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    fclose(from);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_database_is_pulled_once_and_then_asked_for_by_its_tag),
        TEST(garbage_never_replaces_what_there_is),
        TEST(a_later_versions_database_costs_its_game_alone),
        TEST(a_passing_trouble_is_tried_again),
        TEST(names_cannot_leave_their_place),
        TEST(every_game_that_was_seen_is_pulled),
        TEST(nothing_is_asked_without_consent),
        TEST(only_trusted_certificates_are_talked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
