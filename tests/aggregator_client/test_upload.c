#include "aggregator_client/spool_format.h"
#include "base/file.h"
#include "base/random.h"
#include "cmocka_includes.h"
#include "patience.h"
#include "random_profile.h"
#include "world.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPOOL "data/piecemeal/spool"

static bool upload(struct world *world)
{
    world->report = (struct pm_sync_report){0};
    world->error = (struct pm_error){0};
    return pm_sync_upload(&world->info, &world->report, &world->error);
}

static void decode(const struct server_request *request, struct pm_arena *arena,
                   struct pm_profile *profile)
{
    struct pm_buffer wire;
    struct pm_error error = {0};
    pm_buffer_init(&wire, 1 << 24);
    if (!pm_decompress(request->body, request->size, &wire, &error) ||
        !pm_profile_decode(wire.data, wire.size, NULL, arena, profile, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&wire);
}

static void assert_same_requests(struct world *world, size_t a, size_t b)
{
    const struct server_request *x = server_request(world->server, a);
    const struct server_request *y = server_request(world->server, b);
    assert_int_equal(x->size, y->size);
    assert_memory_equal(x->body, y->body, x->size);
}

static void a_session_is_merged_sent_and_removed(void **state)
{
    struct world *world = *state;
    struct pm_profile_merge *merge = pm_profile_merge_create();
    char *path = world_session(world, "A Game", 1, 9, merge);
    if (!upload(world))
        fail_msg("%s", world->error.message);
    assert_int_equal(server_requests(world->server), 1);
    const struct server_request *request = server_request(world->server, 0);
    assert_int_equal(strncmp(request->head, "POST /v1/uploads HTTP/1.1\r\n", 27), 0);
    assert_null(strstr(request->head, "Authorization"));
    assert_null(strstr(request->head, "Expect"));

    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile sent, want = {.game = "A Game", .scene = "", .layer_version = "0.1.0"};
    decode(request, arena, &sent);
    want.shaders = pm_profile_merge_shaders(merge, &want.shader_count);
    memcpy(want.upload_id, sent.upload_id, sizeof(want.upload_id));
    assert_true(pm_same_profile(&sent, &want));
    char name[PM_SPOOL_NAME + 1];
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        snprintf(name + 2 * i, 3, "%02x", sent.upload_id[i]);
    assert_non_null(strstr(path, name));

    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world->report.shaders_uploaded, want.shader_count);
    assert_int_equal(world->report.sessions_waiting, 0);
    assert_int_equal(world_count(world, SPOOL, ""), 0);
    assert_true(upload(world)); /* and nothing is left to do */
    assert_int_equal(server_requests(world->server), 1);
    pm_profile_merge_destroy(merge);
    pm_arena_destroy(arena);
    free(path);
}

static void a_live_session_is_left_alone(void **state)
{
    struct world *world = *state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    pm_random_init(&random, 1);
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 20, &world->error);
    struct pm_profile profile = pm_random_profile(&random, arena, 4, 4);
    assert_true(pm_spool_append(writer, &profile, &world->error));
    assert_true(upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 0);
    assert_true(pm_spool_append(writer, &profile, &world->error));
    pm_spool_writer_destroy(writer);
    assert_true(upload(world));
    assert_int_equal(server_requests(world->server), 1);
    pm_arena_destroy(arena);
}

static void write_config(struct world *world, const char *game, const char *text)
{
    char *safe = pm_file_safe_name(game), name[300];
    snprintf(name, sizeof(name), "config/piecemeal/%s.json", safe);
    assert_true(pm_file_write(world_path(world, name), text, strlen(text), &world->error));
    free(safe);
}

static void nothing_leaves_without_consent(void **state)
{
    struct world *world = *state;
    free(world_session(world, "A Game", 1, 2, NULL));
    assert_true(pm_consent_write(PM_CONSENT_REVOKED, &world->error));
    assert_true(upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    assert_true(upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);

    /* A consent file that cannot be understood is no consent. */
    const char *consent = world_path(world, "config/piecemeal/consent.json");
    static const char *const damaged[] = {"",
                                          "{",
                                          "{\"upload\": true}",
                                          "{\"upload\": \"Granted\"}",
                                          "{\"UPLOAD\": \"granted\"}",
                                          "\"granted\"",
                                          "[\"granted\"]"};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        assert_true(pm_file_write(consent, damaged[i], strlen(damaged[i]), &world->error));
        assert_false(upload(world));
        assert_int_equal(world->error.code, PM_ERROR_INPUT);
    }
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));

    world->config.consent_withheld = true; /* the configuration withholds it… */
    assert_true(upload(world));
    world->config.consent_withheld = false;
    write_config(world, "A Game", "{\"consent\": {\"upload\": false}}"); /* …or the game's own */
    assert_true(upload(world));
    write_config(world, "A Game", "{\"consent\": {\"upload\": fals}}"); /* …even a bad one */
    assert_true(upload(world));
    assert_true(world_logged(world, "A%20Game.json:1:24: expected a value"));
    write_config(world, "A Game", "{}");
    setenv("PIECEMEAL_CONSENT_UPLOAD", "false", 1); /* …or the environment */
    assert_true(upload(world));
    unsetenv("PIECEMEAL_CONSENT_UPLOAD");
    char *url = world->config.aggregator.url;
    world->config.aggregator.url = NULL; /* or there is no url */
    assert_true(upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);
    world->config.aggregator.url = url;
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world_count(world, SPOOL, PM_SPOOL_SUFFIX), 1);

    assert_true(upload(world));
    assert_int_equal(server_requests(world->server), 1);
}

/* consent.upload was false in the game's own process, of which a later sync knows nothing. */
static void what_was_recorded_without_consent_never_leaves(void **state)
{
    struct world *world = *state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    pm_random_init(&random, 3);
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 20, &world->error);
    struct pm_profile profile = pm_random_profile(&random, arena, 4, 4);
    pm_spool_writer_withhold(writer);
    assert_true(pm_spool_append(writer, &profile, &world->error));
    pm_spool_writer_destroy(writer);
    assert_true(upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 1);
    struct pm_buffer out;
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_sync_dry_run(&world->info, &out, &world->error));
    assert_non_null(strstr((char *)out.data, "consent.upload was false when it was recorded"));
    assert_null(strstr((char *)out.data, "\"would_be_sent\":\ttrue"));
    pm_buffer_finish(&out);
    pm_arena_destroy(arena);
}

static void each_game_goes_where_its_own_configuration_says(void **state)
{
    struct world *world = *state;
    struct server *other = server_start();
    server_script(other, &(struct server_answer){.status = 204}, 1);
    char text[200];
    snprintf(text, sizeof(text), "{\"aggregator\": {\"url\": \"http://localhost:%u/base/\"}}",
             server_port(other));
    write_config(world, "Two", text);
    world->info.game = "One"; /* so that the caller's configuration is only this game's */
    free(world_session(world, "One", 1, 1, NULL));
    free(world_session(world, "Two", 2, 1, NULL));
    free(world_session(world, "Three", 3, 1, NULL));
    assert_true(upload(world));
    assert_int_equal(world->report.sessions_uploaded, 2);
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(server_requests(other), 1);
    assert_int_equal(strncmp(server_request(other, 0)->head, "POST /base/v1/uploads ", 22), 0);
    server_stop(other);
}

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
    if (!upload(world))
        fail_msg("%s", world->error.message);
    assert_int_equal(server_requests(world->server), 6);
    for (size_t i = 1; i < 6; i++)
        assert_same_requests(world, 0, i);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, SPOOL, ""), 0);
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
    assert_true(upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world_count(world, SPOOL, ""), 0);
}

static void retry_after_is_obeyed(void **state)
{
    struct world *world = *state;
    const struct server_answer script[] = {{.status = 429, .headers = "Retry-After: 2\r\n"},
                                           {.status = 204}};
    server_script(world->server, script, 2);
    free(world_session(world, "A Game", 4, 3, NULL));
    assert_true(upload(world));
    double waited = server_request(world->server, 1)->at - server_request(world->server, 0)->at;
    assert_true(waited >= 2.0);

    /* One that is beyond the deadline is not waited for. */
    server_script(world->server,
                  &(struct server_answer){.status = 429, .headers = "Retry-After: 3600\r\n"}, 1);
    free(world_session(world, "A Game", 5, 3, NULL));
    free(world_session(world, "A Game", 6, 3, NULL));
    world->info.deadline_seconds = 1000; /* the test's own is shorter */
    assert_false(upload(world));
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
    assert_false(upload(world)); /* comes back */
    assert_int_equal(world->error.code, PM_ERROR_NETWORK);
    assert_int_equal(world->report.sessions_waiting, 1);

    char *url = world->config.aggregator.url;
    world->config.aggregator.url = (char *)"http://127.0.0.1:1"; /* nobody listens */
    assert_false(upload(world));
    world->config.aggregator.url = url;
    world->info.deadline_seconds = 60;

    const struct server_request first = *server_request(world->server, 0);
    unsigned char *copy = malloc(first.size);
    memcpy(copy, first.body, first.size);
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    assert_true(upload(world));
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
    assert_true(upload(world));
    assert_int_equal(world->report.sessions_refused, 2);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, SPOOL, PM_SPOOL_SUFFIX), 0);
    assert_int_equal(world_count(world, SPOOL "/refused", PM_SPOOL_UPLOAD_SUFFIX), 2);
    assert_int_equal(world_count(world, SPOOL "/refused", PM_SPOOL_REASON_SUFFIX), 2);

    char reason[512];
    const char *stem = strrchr(path, '/') + 1;
    snprintf(reason, sizeof(reason), SPOOL "/refused/%.32s-0.reason", stem);
    struct pm_buffer text;
    pm_buffer_init(&text, 4096);
    assert_true(pm_file_read(world_path(world, reason), &text, &world->error));
    assert_string_equal((char *)text.data, "/v1/uploads: HTTP 400: shader 3: no?[2Jtty\n");
    pm_buffer_finish(&text);
    free(path);
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
    assert_false(upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world->report.sessions_waiting, 2);
    assert_non_null(
        strstr(server_request(world->server, 0)->head, "\r\nAuthorization: Bearer s3cret\r\n"));
    assert_non_null(strstr(world->error.message, "HTTP 401"));

    assert_true(
        pm_file_write(world->config.aggregator.token_file, "bad token\n", 10, &world->error));
    assert_false(upload(world));
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
        if (upload(world))
            fail_msg("%s was taken", urls[i]);
        if (world->error.code != PM_ERROR_INPUT)
            fail_msg("%s: %s", urls[i], world->error.message);
    }
    world->config.aggregator.url = url;
}

static void torn_and_unreadable_sessions(void **state)
{
    struct world *world = *state;
    char *torn = world_session(world, "A Game", 1, 3, NULL);
    struct stat status;
    assert_int_equal(stat(torn, &status), 0);
    assert_int_equal(truncate(torn, status.st_size - 5), 0);
    char *unreadable = world_session(world, "A Game", 2, 3, NULL);
    assert_true(pm_file_write(unreadable, "nonsense of some length", 23, &world->error));
    char *empty = world_session(world, "A Game", 3, 1, NULL);
    assert_int_equal(truncate(empty, PM_SPOOL_HEADER), 0);
    assert_true(upload(world));
    assert_int_equal(world->report.sessions_damaged, 2);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world_count(world, SPOOL, ""), 1); /* the folder of the refused */
    assert_int_equal(world_count(world, SPOOL "/refused", PM_SPOOL_SUFFIX), 1);
    assert_true(world_logged(world, "this is no spool file"));
    free(torn);
    free(unreadable);
    free(empty);
}

/* A launcher and its game in one process: one session, two uploads, and no part of it twice. */
static void several_games_in_one_session(void **state)
{
    struct world *world = *state;
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 24, &world->error);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    pm_random_init(&random, 12);
    for (int i = 0; i < 6; i++) {
        struct pm_profile profile = pm_random_profile(&random, arena, 4, 6);
        profile.game = i % 2 ? "Launcher" : "Game";
        assert_true(pm_spool_append(writer, &profile, &world->error));
    }
    pm_spool_writer_destroy(writer);
    const struct server_answer script[] = {{.status = 204}, {.status = 403}, {.status = 204}};
    server_script(world->server, script, 3);
    assert_false(upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(server_requests(world->server), 2);
    assert_true(upload(world));
    assert_int_equal(server_requests(world->server), 3);
    assert_same_requests(world, 1, 2);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, SPOOL, ""), 0);
    struct pm_profile first, second;
    decode(server_request(world->server, 0), arena, &first);
    decode(server_request(world->server, 1), arena, &second);
    assert_string_equal(first.game, "Game");
    assert_string_equal(second.game, "Launcher");
    assert_memory_not_equal(first.upload_id, second.upload_id, PM_UPLOAD_ID_BYTES);
    pm_arena_destroy(arena);
}

static pid_t start_sync(const struct world *world, const char *deadline)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int out = open(world_path(world, "sync.out"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(out, 1);
        dup2(out, 2);
        setenv("PIECEMEAL_AGGREGATOR_URL", world->config.aggregator.url, 1);
        execl(getenv("PM_SYNC"), "piecemeal-sync", "--game", "A Game", "--deadline", deadline,
              NULL);
        _exit(127);
    }
    return child;
}

static int exit_status(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/* Killed while the aggregator holds the upload, which it may have counted already: the next one
 * says the same. */
static void a_killed_sync_repeats_itself_exactly(void **state)
{
    struct world *world = *state;
    free(world_session(world, "A Game", 7, 5, NULL));
    const struct server_answer script[] = {
        {.manner = SERVER_NEVER}, {.status = 204}, {.status = 404}};
    server_script(world->server, script, 3);
    pid_t child = start_sync(world, "60");
    uint64_t until = 0;
    while (server_requests(world->server) == 0 && patience(&until))
        ;
    assert_int_equal(server_requests(world->server), 1);
    kill(child, SIGKILL);
    assert_int_equal(exit_status(child), 1000 + SIGKILL);
    assert_int_equal(world_count(world, SPOOL, PM_SPOOL_UPLOAD_SUFFIX), 1);
    assert_int_equal(exit_status(start_sync(world, "60")), 0);
    assert_int_equal(server_requests(world->server), 3); /* and the pull */
    assert_same_requests(world, 0, 1);
    assert_int_equal(world_count(world, SPOOL, ""), 0);
}

/* Killed again and again at any moment: in the end every session was sent, and whatever was sent
 * twice was the same bytes under the same id, which an aggregator counts once. */
static void killed_syncs_lose_nothing_and_contradict_nothing(void **state)
{
    enum { SESSIONS = 10, LONGEST_WAIT = 12 /* milliseconds */ };
    struct world *world = *state;
    struct pm_random random;
    pm_random_init(&random, 5);
    for (uint64_t i = 0; i < SESSIONS; i++)
        free(world_session(world, "A Game", 100 + i, 3, NULL));
    int killed = 0;
    for (int round = 0; world_count(world, SPOOL, PM_SPOOL_SUFFIX) > 0 && round < 300; round++) {
        pid_t child = start_sync(world, "20");
        /* At the first request from now on or the second, on machines of any speed; every other one
         * earlier, if its time is up. */
        const size_t requests = server_requests(world->server) + 1 + pm_random_below(&random, 2);
        uint32_t wait = round % 2 ? pm_random_below(&random, LONGEST_WAIT) : UINT32_MAX;
        uint64_t until = 0;
        while (server_requests(world->server) < requests && !has_ended(child) && wait-- > 0 &&
               patience(&until))
            ;
        kill(child, SIGKILL);
        killed += exit_status(child) == 1000 + SIGKILL;
    }
    assert_true(upload(world)); /* undisturbed, and tidies up */
    assert_int_equal(world_count(world, SPOOL, ""), 0);
    assert_true(killed > 3);
    struct pm_arena *arena = pm_arena_create(0);
    size_t different = 0, posts[512], count = 0;
    for (size_t i = 0; i < server_requests(world->server); i++) {
        if (strncmp(server_request(world->server, i)->head, "POST", 4) == 0)
            posts[count++] = i;
    }
    for (size_t i = 0; i < count; i++) {
        struct pm_profile profile, other;
        bool repeated = false;
        decode(server_request(world->server, posts[i]), arena, &profile);
        for (size_t k = 0; k < i; k++) {
            decode(server_request(world->server, posts[k]), arena, &other);
            if (memcmp(profile.upload_id, other.upload_id, PM_UPLOAD_ID_BYTES) == 0) {
                repeated = true;
                assert_same_requests(world, posts[k], posts[i]);
            }
        }
        different += !repeated;
    }
    assert_int_equal(different, SESSIONS);
    pm_arena_destroy(arena);
}

static void two_at_once_send_nothing_twice(void **state)
{
    enum { SESSIONS = 12, PROCESSES = 4 };
    struct world *world = *state;
    for (uint64_t i = 0; i < SESSIONS; i++)
        free(world_session(world, "A Game", i, 3, NULL));
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    /* The pull is answered 204 too, which is no database: they fail in the end, with 1. */
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start_sync(world, "4");
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(exit_status(children[i]), 1);
    assert_true(upload(world)); /* what their deadline was too short for */
    struct pm_arena *arena = pm_arena_create(0);
    uint8_t ids[SESSIONS][PM_UPLOAD_ID_BYTES];
    size_t posts = 0;
    for (size_t i = 0; i < server_requests(world->server); i++) {
        const struct server_request *request = server_request(world->server, i);
        if (strncmp(request->head, "POST", 4) != 0)
            continue;
        struct pm_profile profile;
        assert_true(posts < SESSIONS);
        decode(request, arena, &profile);
        memcpy(ids[posts], profile.upload_id, PM_UPLOAD_ID_BYTES);
        for (size_t k = 0; k < posts; k++)
            assert_memory_not_equal(ids[k], ids[posts], PM_UPLOAD_ID_BYTES);
        posts++;
    }
    assert_int_equal(posts, SESSIONS);
    assert_int_equal(world_count(world, SPOOL, ""), 0);
    pm_arena_destroy(arena);
}

static void consent_is_kept_private(void **state)
{
    struct world *world = *state;
    enum pm_consent consent;
    struct stat status;
    assert_true(pm_consent_read(&consent, &world->error));
    assert_int_equal(consent, PM_CONSENT_GRANTED);
    assert_int_equal(stat(world_path(world, "config/piecemeal/consent.json"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(pm_consent_write(PM_CONSENT_REVOKED, &world->error));
    assert_true(pm_consent_read(&consent, &world->error));
    assert_int_equal(consent, PM_CONSENT_REVOKED);
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    assert_true(pm_consent_read(&consent, &world->error));
    assert_int_equal(consent, PM_CONSENT_UNASKED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_merged_sent_and_removed),
        TEST(a_live_session_is_left_alone),
        TEST(nothing_leaves_without_consent),
        TEST(what_was_recorded_without_consent_never_leaves),
        TEST(each_game_goes_where_its_own_configuration_says),
        TEST(trouble_is_tried_again_with_the_same_bytes),
        TEST(a_repeated_upload_is_acknowledged_by_200),
        TEST(retry_after_is_obeyed),
        TEST(an_aggregator_that_is_away_costs_the_deadline_and_nothing_else),
        TEST(what_is_refused_for_good_is_set_aside),
        TEST(a_wrong_token_stops_at_once),
        TEST(unsafe_addresses_are_refused),
        TEST(torn_and_unreadable_sessions),
        TEST(several_games_in_one_session),
        TEST(a_killed_sync_repeats_itself_exactly),
        TEST(killed_syncs_lose_nothing_and_contradict_nothing),
        TEST(two_at_once_send_nothing_twice),
        TEST(consent_is_kept_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
