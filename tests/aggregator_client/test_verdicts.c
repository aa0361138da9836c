/* What an operator signed: how it is written and read, and what of it is taken. */
#include "aggregator_client/disk/database_cache.h"
#include "aggregator_client/signature.h"
#include "base/file.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GAME "A Game"
#define HOUR 3600

static const struct pm_environment here = {8, 0x10005, 3, 13, 0x6403};

/* NAME.pem, and NAME.pub for who checks. */
static void make_key(const struct world *world, const char *name)
{
    char command[1024];
    snprintf(command, sizeof(command),
             "cd '%s' && openssl genpkey -algorithm ed25519 -out %s.pem && "
             "openssl pkey -in %s.pem -pubout -out %s.pub",
             world->folder, name, name, name);
    assert_int_equal(system(command), 0);
}

/* A file of two verdicts. */
static struct pm_buffer make(const struct world *world, const char *key, const char *game,
                             uint64_t serial, int64_t seconds)
{
    const struct pm_signed_verdict verdicts[] = {
        {.key = {{2}}, .environment = here, .faster = true}, {.key = {{1}}, .environment = here}};
    const struct pm_signed_verdicts all = {.game = game,
                                           .serial = serial,
                                           .expires = (uint64_t)(time(NULL) + seconds),
                                           .verdicts = verdicts,
                                           .count = 2};
    uint8_t signature[PM_SIGNATURE_BYTES];
    char file[64];
    struct pm_buffer out;
    struct pm_error error;
    snprintf(file, sizeof(file), "%s.pem", key);
    pm_buffer_init(&out, 1 << 16);
    if (!pm_signed_verdicts_write(&all, &out, &error) ||
        !pm_signature_make(world_path(world, file), out.data, out.size, signature, &error) ||
        !pm_signed_verdicts_close(&out, signature, &error))
        fail_msg("%s", error.message);
    return out;
}

static void written_and_read(void **state)
{
    struct world *world = *state;
    struct pm_signed_verdicts read;
    struct pm_error error;
    const struct pm_shader_key keys[] = {{{1}}, {{2}}, {{3}}};
    const uint64_t now = (uint64_t)time(NULL);
    make_key(world, "operator");
    make_key(world, "other");
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_buffer text = make(world, "operator", GAME, 7, HOUR);
    if (!pm_signed_verdicts_read((char *)text.data, text.size, arena, &read, &error))
        fail_msg("%s", error.message);
    assert_string_equal(read.game, GAME);
    assert_int_equal(read.serial, 7);
    assert_false(pm_signed_verdicts_find(&read, &keys[0], &here, now)->faster);
    assert_true(pm_signed_verdicts_find(&read, &keys[1], &here, now)->faster);
    assert_null(pm_signed_verdicts_find(&read, &keys[2], &here, now));
    assert_null(pm_signed_verdicts_find(&read, &keys[1], &here, now + 2 * HOUR));
    struct pm_environment elsewhere = here;
    elsewhere.driver_version++;
    assert_null(pm_signed_verdicts_find(&read, &keys[1], &elsewhere, now));
    char key[256];
    snprintf(key, sizeof(key), "%s", world_path(world, "operator.pub"));
    assert_true(pm_signature_check(key, text.data, read.signed_bytes, read.signature, &error));
    assert_false(pm_signature_check(world_path(world, "other.pub"), text.data, read.signed_bytes,
                                    read.signature, &error));
    /* Any byte of it changed: not the signature's, or no such file. */
    for (size_t i = 0; i < text.size; i++) {
        text.data[i] ^= 1;
        assert_false(pm_signed_verdicts_read((char *)text.data, text.size, arena, &read, &error) &&
                     pm_signature_check(key, text.data, read.signed_bytes, read.signature, &error));
        text.data[i] ^= 1;
    }
    for (size_t size = 0; size < text.size; size++)
        assert_false(pm_signed_verdicts_read((char *)text.data, size, arena, &read, &error));
    pm_buffer_finish(&text);
    pm_arena_destroy(arena);
}

/* Pulls; the serial of what is there afterwards, 0: nothing. */
static uint64_t pull(struct world *world, int status, const struct pm_buffer *text)
{
    const struct server_answer script[] = {
        {.status = 404},
        {.status = status, .body = text ? text->data : NULL, .size = text ? text->size : 0}};
    struct pm_signed_verdicts read;
    struct pm_buffer there;
    uint64_t serial = 0;
    server_script(world->server, script, 2);
    world->info.game = GAME;
    if (!pm_sync_pull(&world->info, &world->report, &world->error))
        fail_msg("%s", world->error.message);
    const char *key_file = world->config.aggregator.verdict_key_file;
    char *path = key_file ? pm_verdicts_cache_path(GAME, key_file, &world->error) : NULL;
    struct pm_arena *arena = pm_arena_create(0);
    pm_buffer_init(&there, 1 << 16);
    if (path && access(path, F_OK) == 0 && pm_file_read(path, &there, NULL) &&
        pm_signed_verdicts_read((char *)there.data, there.size, arena, &read, NULL))
        serial = read.serial;
    pm_buffer_finish(&there);
    pm_arena_destroy(arena);
    free(path);
    return serial;
}

static uint64_t pull_made(struct world *world, const char *key, const char *game, uint64_t serial,
                          int64_t seconds)
{
    struct pm_buffer text = make(world, key, game, serial, seconds);
    const uint64_t there = pull(world, 200, &text);
    pm_buffer_finish(&text);
    return there;
}

static void only_what_is_signed_is_taken(void **state)
{
    struct world *world = *state;
    make_key(world, "operator");
    make_key(world, "other");
    /* Nobody who names no key is given any. */
    assert_int_equal(pull_made(world, "operator", GAME, 1, HOUR), 0);
    assert_int_equal(server_requests(world->server), 1);
    world->config.aggregator.verdict_key_file = strdup(world_path(world, "operator.pub"));
    assert_int_equal(pull_made(world, "other", GAME, 1, HOUR), 0);
    assert_true(world_logged(world, "it is not signed with this key"));
    assert_int_equal(pull_made(world, "operator", "Another", 1, HOUR), 0);
    assert_int_equal(pull_made(world, "operator", GAME, 1, -1), 0);
    assert_true(world_logged(world, "they have ended"));
    assert_int_equal(pull_made(world, "operator", GAME, 5, HOUR), 5);
    assert_non_null(
        strstr(server_request(world->server, 1)->head, "GET /v1/games/A%20Game/verdicts HTTP/1.1"));
    /* What was, said again. */
    assert_int_equal(pull_made(world, "operator", GAME, 4, HOUR), 5);
    assert_true(world_logged(world, "is before that of those here"));
    assert_int_equal(pull_made(world, "operator", GAME, 6, HOUR), 6);
    struct pm_buffer text = make(world, "operator", GAME, 7, HOUR);
    text.data[text.size / 2] ^= 1;
    assert_int_equal(pull(world, 200, &text), 6);
    pm_buffer_finish(&text);
    assert_int_equal(pull(world, 404, NULL), 6);
}

#define CACHE "cache/piecemeal/databases"

/* Another operator's file is none of this one's, whatever its serial; and a file that was damaged
 * says nothing of serials. */
static void another_key_begins_anew(void **state)
{
    struct world *world = *state;
    char *const files[] = {strdup(world_path(world, "operator.pub")),
                           strdup(world_path(world, "other.pub"))};
    char **const key_file = &world->config.aggregator.verdict_key_file;
    struct pm_buffer there;
    make_key(world, "operator");
    make_key(world, "other");
    *key_file = files[0];
    /* What an earlier version left, and what is another game's. */
    assert_true(pm_make_folder(world_path(world, CACHE), &world->error));
    assert_true(pm_file_write(world_path(world, CACHE "/A%20Game.verdicts"), "", 0, &world->error));
    assert_true(
        pm_file_write(world_path(world, CACHE "/A%20Game.b.verdicts"), "", 0, &world->error));
    assert_int_equal(pull_made(world, "operator", GAME, 1000, HOUR), 1000);
    assert_int_equal(world_count(world, CACHE, ".verdicts"), 2);
    *key_file = files[1];
    assert_int_equal(pull_made(world, "operator", GAME, 1001, HOUR), 0);
    assert_int_equal(world_count(world, CACHE, ".verdicts"), 1);
    assert_int_equal(pull_made(world, "other", GAME, 1, HOUR), 1);
    /* The key at the same place is another one. */
    make_key(world, "other");
    assert_int_equal(pull(world, 404, NULL), 0);
    assert_int_equal(pull_made(world, "other", GAME, 1, HOUR), 1);
    assert_int_equal(world_count(world, CACHE, ".verdicts"), 2);
    /* A digit more than was signed. */
    char *path = pm_verdicts_cache_path(GAME, *key_file, &world->error);
    pm_buffer_init(&there, 1 << 16);
    assert_true(pm_file_read(path, &there, &world->error));
    char *serial = strstr((char *)there.data, "serial 1");
    assert_non_null(serial);
    serial[7] = '9';
    assert_true(pm_file_write(path, there.data, there.size, &world->error));
    assert_int_equal(pull_made(world, "other", GAME, 2, HOUR), 2);
    pm_buffer_finish(&there);
    free(path);
    *key_file = NULL;
    free(files[0]);
    free(files[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {TEST(written_and_read), TEST(only_what_is_signed_is_taken),
                                       TEST(another_key_begins_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
