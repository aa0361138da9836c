/* What is sent, and where to; what goes wrong on the way: test_upload_trouble.c. */
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include "base/random.h"
#include "profile/left_alone.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include "tests/profile/random_profile.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void a_session_is_merged_sent_and_removed(void **state)
{
    struct world *world = *state;
    struct pm_profile_merge *merge = pm_profile_merge_create();
    char *path = world_session(world, "A Game", 1, 9, merge);
    /* Its day is that on which it ended, not that on which it is sent. */
    const struct timespec ended[] = {{.tv_sec = 20000 * 86400 + 5}, {.tv_sec = 20000 * 86400 + 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, ended, 0), 0);
    if (!world_upload(world))
        fail_msg("%s", world->error.message);
    assert_int_equal(server_requests(world->server), 1);
    const struct server_request *request = server_request(world->server, 0);
    assert_int_equal(strncmp(request->head, "POST /v1/uploads HTTP/1.1\r\n", 27), 0);
    assert_null(strstr(request->head, "Authorization"));
    assert_null(strstr(request->head, "Expect"));

    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile sent,
        want = {.game = "A Game", .scene = "", .layer_version = "0.1.0", .day = 20000};
    world_decode(request, arena, &sent);
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
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    assert_true(world_upload(world)); /* and nothing is left to do */
    assert_int_equal(server_requests(world->server), 1);
    pm_profile_merge_destroy(merge);
    pm_arena_destroy(arena);
    free(path);
}

/* What the layer noted of the game in the day before; of another game, or long ago, is not of it.
 */
static void an_upload_says_how_many_shaders_were_left_alone(void **state)
{
    struct world *world = *state;
    static const char *const reasons[] = {"SPIR-V word 5: Invalid opcode: 1",
                                          "SPIR-V word 9: Invalid opcode: 2",
                                          "a shader object is a binary, not SPIR-V"};
    struct pm_profile_merge *merge = pm_profile_merge_create();
    for (unsigned char i = 0; i < 3; i++) {
        const struct pm_shader_key digest = {.bytes = {i}};
        pm_left_alone_note(NULL, "A Game", "4", &digest, reasons[i]);
        pm_left_alone_note(NULL, "Another", "4", &digest, reasons[2]);
    }
    char *path = world_session(world, "A Game", 1, 2, merge);
    char *later = world_session(world, "A Game", 2, 2, merge);
    const time_t now = time(NULL);
    const struct timespec ended[] = {{.tv_sec = now + 2 * 86400}, {.tv_sec = now + 2 * 86400}};
    assert_int_equal(utimensat(AT_FDCWD, later, ended, 0), 0);
    if (!world_upload(world))
        fail_msg("%s", world->error.message);
    assert_int_equal(server_requests(world->server), 2);
    uint32_t of_both[PM_LEFT_ALONE_WHYS] = {0}, most = 0;
    for (size_t i = 0; i < 2; i++) {
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile sent;
        world_decode(server_request(world->server, i), arena, &sent);
        for (size_t why = 0; why < PM_LEFT_ALONE_WHYS; why++)
            of_both[why] += sent.left_alone[why];
        most = sent.day > most ? sent.day : most;
        pm_arena_destroy(arena);
    }
    assert_int_equal(most, now / 86400 + 2);
    assert_int_equal(of_both[PM_LEFT_ALONE_INSTRUCTION], 2);
    assert_int_equal(of_both[PM_LEFT_ALONE_BINARY], 1);
    pm_profile_merge_destroy(merge);
    free(path);
    free(later);
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
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 0);
    assert_true(pm_spool_append(writer, &profile, &world->error));
    pm_spool_writer_destroy(writer);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
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
    world_configure(world, "Two", text);
    world->info.game = "One"; /* so that the caller's configuration is only this game's */
    free(world_session(world, "One", 1, 1, NULL));
    free(world_session(world, "Two", 2, 1, NULL));
    free(world_session(world, "Three", 3, 1, NULL));
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_uploaded, 2);
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(server_requests(other), 1);
    assert_int_equal(strncmp(server_request(other, 0)->head, "POST /base/v1/uploads ", 22), 0);
    server_stop(other);
}

/* The configuration of a game that was just played, as PIECEMEAL_CONFIG names it, is no other's. */
static void what_else_waits_goes_by_its_own_configuration(void **state)
{
    struct world *world = *state;
    char text[200];
    snprintf(text, sizeof(text), "{\"aggregator\": {\"url\": \"http://localhost:%u\"}}",
             server_port(world->server));
    world_configure(world, "played", text);
    world_configure(world, "Withheld", "{\"consent\": {\"upload\": false}}");
    setenv("PIECEMEAL_CONFIG", world_path(world, "config/piecemeal/played.json"), 1);
    char *played[] = {(char[]){"One"}};
    const struct pm_names games = {played, 1};
    free(world_session(world, "Withheld", 1, 1, NULL));
    free(world_session(world, "Nowhere", 2, 1, NULL));
    world->info.game = "Another";
    world->info.games = &games;
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 2);
    free(world_session(world, "One", 3, 1, NULL));
    world->info.game = NULL;
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world->report.sessions_waiting, 2);
    /* Which withholds also what goes by another. */
    world->info.games = NULL;
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 2);
    assert_int_equal(world->report.sessions_waiting, 1);
    unsetenv("PIECEMEAL_CONFIG");
}

/* A session that is the oldest but for those made with a smaller age. */
static void record_aged(struct world *world, const char *game, uint64_t seed, time_t age)
{
    char *path = world_session(world, game, seed, 1, NULL);
    const struct timespec times[2] = {{.tv_sec = age}, {.tv_sec = age}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

/* The oldest session's aggregator is away, or does not know who asks: that of another game is sent
 * all the same, with time left for it. */
static void one_aggregator_does_not_keep_back_another(void **state)
{
    struct world *world = *state;
    char text[200];
    world->info.game = "Two";
    world_configure(world, "One", "{\"aggregator\": {\"url\": \"http://127.0.0.1:1\"}}");
    world->info.deadline_seconds = 4;
    record_aged(world, "One", 1, 1);
    record_aged(world, "One", 2, 2);
    record_aged(world, "Two", 3, 3);
    assert_false(world_upload(world));
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world->report.sessions_waiting, 2);
    assert_int_equal(server_requests(world->server), 1);
    assert_string_equal(world->report.away, "http://127.0.0.1:1");

    struct server *other = server_start();
    snprintf(text, sizeof(text), "{\"aggregator\": {\"url\": \"http://localhost:%u\"}}",
             server_port(other));
    world_configure(world, "One", text);
    static const int statuses[] = {302, 401, 404, 429};
    for (int i = 0; i < 4; i++) {
        const struct server_answer answer = {
            .status = statuses[i],
            .headers = "Retry-After: 3600\r\nLocation: http://127.0.0.1:1/\r\n"};
        server_script(other, &answer, 1);
        record_aged(world, "Two", (uint64_t)(4 + i), 4 + i);
        assert_false(world_upload(world));
        assert_int_equal(world->report.sessions_uploaded, 1);
        assert_int_equal(world->report.sessions_waiting, 2);
        assert_int_equal(server_requests(other), 1); /* not for each of its sessions */
    }
    server_stop(other);
}

/* One upload that the aggregator does not take is left, and those behind it are sent; one that
 * fails twice is left alone. */
static void one_upload_does_not_keep_back_the_others(void **state)
{
    struct world *world = *state;
    for (int i = 1; i <= 3; i++)
        record_aged(world, "A Game", (uint64_t)i, i);
    /* Somebody between does not like the first, whenever it comes. */
    const struct server_answer forbidden[] = {{.status = 403}, {.status = 204}};
    server_script(world->server, forbidden, 2);
    assert_false(world_upload(world));
    assert_int_equal(world->report.sessions_uploaded, 2);
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_string_equal(world->report.away, "");

    /* The aggregator fails at the oldest, which is tried once. */
    record_aged(world, "A Game", 4, 4);
    record_aged(world, "A Game", 5, 5);
    const struct server_answer poison = {.status = 500, .headers = "Retry-After: 3600\r\n"};
    const struct server_answer one[] = {poison, {.status = 204}};
    server_script(world->server, one, 2);
    assert_false(world_upload(world));
    assert_int_equal(world->report.sessions_uploaded, 2);
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(server_requests(world->server), 3);

    /* There is no room for further games, of which both of these are. */
    record_aged(world, "A Game", 6, 6);
    record_aged(world, "A Game", 7, 7);
    const struct server_answer full = {.status = 507, .headers = "Retry-After: 3600\r\n"};
    const struct server_answer new_games[] = {full, full, {.status = 204}};
    server_script(world->server, new_games, 3);
    assert_false(world_upload(world));
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world->report.sessions_waiting, 2);

    /* At all of them: it is asked no more after the second. */
    record_aged(world, "A Game", 8, 8);
    server_script(world->server, &poison, 1);
    assert_false(world_upload(world));
    assert_int_equal(world->report.sessions_waiting, 3);
    assert_int_equal(server_requests(world->server), 2);
    assert_string_equal(world->report.away, world->config.aggregator.url);
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
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_damaged, 2);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 1); /* the folder of the refused */
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_SUFFIX), 1);
    assert_true(world_logged(world, "this is no spool file"));
    free(torn);
    free(unreadable);
    free(empty);
}

/* A whole record that this version cannot read is another's, and no torn tail: nothing of the
 * session is sent, and nothing of it is lost. */
static void a_later_versions_session_is_set_aside(void **state)
{
    struct world *world = *state;
    char *path = world_session(world, "A Game", 1, 2, NULL);
    struct pm_buffer before, after;
    pm_buffer_init(&before, 1 << 20);
    pm_buffer_init(&after, 1 << 20);
    assert_true(pm_file_read(path, &before, &world->error));
    uint8_t header[PM_SPOOL_RECORD_HEADER];
    static const char record[] = "\xff\xff no profile as it is today";
    pm_spool_record_header_fill(header, before.size, record, sizeof record);
    assert_true(pm_buffer_append(&before, header, sizeof header) &&
                pm_buffer_append(&before, record, sizeof record));
    assert_true(pm_file_write(path, before.data, before.size, &world->error));
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_damaged, 1);
    assert_int_equal(world->report.sessions_uploaded, 0);
    char name[512];
    snprintf(name, sizeof name, WORLD_SPOOL "/refused%s", strrchr(path, '/'));
    assert_true(pm_file_read(world_path(world, name), &after, &world->error));
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 0);
    pm_buffer_finish(&before);
    pm_buffer_finish(&after);
    free(path);
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
    assert_false(world_upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(server_requests(world->server), 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 3);
    world_same_requests(world, 1, 2);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    struct pm_profile first, second;
    world_decode(server_request(world->server, 0), arena, &first);
    world_decode(server_request(world->server, 1), arena, &second);
    assert_string_equal(first.game, "Game");
    assert_string_equal(second.game, "Launcher");
    assert_memory_not_equal(first.upload_id, second.upload_id, PM_UPLOAD_ID_BYTES);
    pm_arena_destroy(arena);
}

/* A shader whose counts do not compress. */
static struct pm_shader_profile noisy_shader(struct pm_random *random, struct pm_arena *arena,
                                             uint8_t name, uint32_t points)
{
    struct pm_point_counts *list = pm_arena_zalloc(arena, points, sizeof(*list));
    assert_non_null(list);
    for (uint32_t i = 0; i < points; i++) {
        const uint64_t most = pm_random_next(random) >> 8;
        list[i] = (struct pm_point_counts){.point = i,
                                           .calls = (uint32_t)pm_random_next(random) >> 8,
                                           .entry_lanes = most,
                                           .entry_subgroups = most >> 5,
                                           .counts = {most, most >> 3, most >> 4}};
    }
    return (struct pm_shader_profile){.key = {{name}},
                                      .environment = {.subgroup_size = 32},
                                      .kind = PM_KIND_BLOCK,
                                      .space = points,
                                      .points = list,
                                      .point_count = points};
}

/* What an earlier version was about to send: all of it in one. */
static void keep_whole(struct world *world, struct pm_profile_merge *merge)
{
    struct pm_spool_session *sessions;
    struct pm_buffer wire, body;
    size_t count;
    struct pm_profile whole = {.game = "A Game", .scene = "", .layer_version = "0.1.0"};
    whole.shaders = pm_profile_merge_shaders(merge, &whole.shader_count);
    pm_buffer_init(&wire, 1 << 25);
    pm_buffer_init(&body, 1 << 25);
    assert_true(pm_profile_encode(&whole, &wire, &world->error));
    assert_true(pm_compress(wire.data, wire.size, &body, &world->error));
    assert_true(body.size > pm_profile_limits_default.compressed_bytes);
    assert_true(pm_spool_list(NULL, &sessions, &count, &world->error));
    assert_int_equal(count, 1);
    char *kept = pm_spool_upload_path(sessions[0].path, 0);
    assert_true(pm_file_write(kept, body.data, body.size, &world->error));
    free(kept);
    pm_spool_list_free(sessions, count);
    pm_buffer_finish(&wire);
    pm_buffer_finish(&body);
}

/* What one upload would not hold goes in several, each of which aggregators take. */
static void a_large_session_goes_in_several_uploads(void **state)
{
    enum { SHADERS = 24, POINTS = 20000 };
    struct world *world = *state;
    const struct pm_shader_key digest = {.bytes = {1}};
    pm_left_alone_note(NULL, "A Game", "4", &digest, "SPIR-V word 5: Invalid opcode: 1");
    struct pm_spool_writer *writer =
        pm_spool_writer_create(NULL, (uint64_t)256 << 20, &world->error);
    struct pm_random random;
    pm_random_init(&random, 5);
    struct pm_profile_merge *merge = pm_profile_merge_create();
    for (unsigned i = 0; i < SHADERS; i++) {
        struct pm_arena *arena = pm_arena_create(0);
        const struct pm_shader_profile shader =
            noisy_shader(&random, arena, (uint8_t)(1 + i), POINTS);
        const struct pm_profile profile = {.game = "A Game",
                                           .scene = "",
                                           .layer_version = "0.1.0",
                                           .shaders = &shader,
                                           .shader_count = 1};
        if (!pm_spool_append(writer, &profile, &world->error))
            fail_msg("%s", world->error.message);
        assert_true(pm_profile_merge_add(merge, &profile, &world->error));
        pm_arena_destroy(arena);
    }
    pm_spool_writer_destroy(writer);
    keep_whole(world, merge);
    pm_profile_merge_destroy(merge);
    const struct server_answer script[] = {{.status = 204}, {.status = 403}, {.status = 204}};
    server_script(world->server, script, 3);
    assert_false(world_upload(world)); /* one of them waits, and no part is sent twice */
    assert_int_equal(world->report.sessions_waiting, 1);
    const size_t first = server_requests(world->server);
    assert_true(world_upload(world));
    const size_t count = server_requests(world->server);
    assert_int_equal(count, first + 1);
    world_same_requests(world, 1, count - 1);
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    uint8_t ids[128][PM_UPLOAD_ID_BYTES];
    unsigned seen[SHADERS] = {0}, left = 0;
    assert_in_range(count - 1, 2, 128);
    for (size_t i = 0; i < count - 1; i++) {
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile sent;
        assert_true(server_request(world->server, i)->size <=
                    pm_profile_limits_default.compressed_bytes);
        world_decode(server_request(world->server, i), arena, &sent);
        memcpy(ids[i], sent.upload_id, PM_UPLOAD_ID_BYTES);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(ids[i], ids[j], PM_UPLOAD_ID_BYTES);
        for (size_t j = 0; j < sent.shader_count; j++)
            seen[sent.shaders[j].key.bytes[0] - 1]++;
        left += sent.left_alone[PM_LEFT_ALONE_INSTRUCTION];
        pm_arena_destroy(arena);
    }
    for (size_t i = 0; i < SHADERS; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(left, 1);
}

/* What is never to be sent does not wait for ever. */
static void what_no_upload_holds_is_set_aside(void **state)
{
    struct world *world = *state;
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 24, &world->error);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    pm_random_init(&random, 12);
    for (int i = 0; i <= PM_SPOOL_PARTS; i++) {
        char game[16];
        struct pm_profile profile = pm_random_profile(&random, arena, 2, 2);
        snprintf(game, sizeof(game), "Game %d", i);
        profile.game = game;
        assert_true(pm_spool_append(writer, &profile, &world->error));
    }
    pm_spool_writer_destroy(writer);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 0);
    assert_int_equal(world->report.sessions_damaged, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_SUFFIX), 1);
    assert_true(world_logged(world, "more than 128 games and scenes in one process"));
    pm_arena_destroy(arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_merged_sent_and_removed),
        TEST(an_upload_says_how_many_shaders_were_left_alone),
        TEST(a_live_session_is_left_alone),
        TEST(each_game_goes_where_its_own_configuration_says),
        TEST(what_else_waits_goes_by_its_own_configuration),
        TEST(one_aggregator_does_not_keep_back_another),
        TEST(one_upload_does_not_keep_back_the_others),
        TEST(torn_and_unreadable_sessions),
        TEST(a_later_versions_session_is_set_aside),
        TEST(several_games_in_one_session),
        TEST(a_large_session_goes_in_several_uploads),
        TEST(what_no_upload_holds_is_set_aside),
    };
    return cmocka_run_group_tests_name("upload", tests, NULL, NULL);
}
