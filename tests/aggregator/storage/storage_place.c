#include "tests/aggregator/storage/storage_place.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

bool add_numbers(const void *old, size_t old_size, const void *added, size_t added_size,
                 struct pm_buffer *out, struct pm_error *error)
{
    char text[2][32] = {{0}};
    if (old_size > 30 || added_size > 30 || (added_size > 0 && *(const char *)added == 'x'))
        return pm_fail(error, PM_ERROR_INPUT, "these are no numbers");
    memcpy(text[0], old, old_size);
    memcpy(text[1], added, added_size);
    return pm_buffer_printf(out, "%ld", atol(text[0]) + atol(text[1]));
}

struct pm_storage *storage_place_open(const char *path)
{
    struct pm_error error;
    struct pm_storage *storage = pm_storage_postgres_is_url(path)
                                     ? pm_storage_postgres_open(path, add_numbers, &error)
                                     : pm_storage_sqlite_open(path, add_numbers, &error);
    if (!storage)
        fail_msg("%s", error.message);
    return storage;
}

int storage_place_create(void **state)
{
    struct storage_place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = fresh_storage(place->folder);
    place->storage = storage_place_open(place->path);
    *state = place;
    return 0;
}

int storage_place_destroy(void **state)
{
    struct storage_place *place = *state;
    if (place->storage)
        place->storage->operations->destroy(place->storage);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

void storage_place_reopen(struct storage_place *place)
{
    place->storage->operations->destroy(place->storage);
    place->storage = storage_place_open(place->path);
}

struct pm_storage_key blob_key(uint64_t shader, uint32_t day, const char *scene)
{
    return (struct pm_storage_key){.game = "game",
                                   .scene = scene,
                                   .key = key_of(shader),
                                   .environment = {.subgroup_size = 8},
                                   .kind = PM_KIND_BLOCK,
                                   .day = day};
}

void add_blob(struct pm_storage *storage, struct pm_storage_key key, const char *blob)
{
    struct pm_error error;
    if (!pm_storage_add_blob(storage, &key, blob, strlen(blob), &error))
        fail_msg("%s", error.message);
}

bool append_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                 struct pm_error *error)
{
    (void)error;
    struct pm_buffer *out = user;
    assert_int_equal(key->environment.subgroup_size, 8);
    assert_int_equal(key->kind, PM_KIND_BLOCK);
    return pm_buffer_printf(out, "%02x/%u/%s/%u=%.*s ", key->key.bytes[0], key->day, key->scene,
                            key->flags, (int)size, (const char *)blob);
}

void assert_blobs(struct pm_storage *storage, const char *game, const char *expected)
{
    struct pm_buffer all;
    struct pm_error error;
    pm_buffer_init(&all, 1 << 20);
    if (!storage->operations->read_game(storage, game, NULL, append_blob, &all, &error))
        fail_msg("%s", error.message);
    assert_string_equal(all.data ? (const char *)all.data : "", expected);
    pm_buffer_finish(&all);
}

bool append_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    (void)error;
    return pm_buffer_printf(user, "%s=%llu ", game, (unsigned long long)uploads);
}

bool append_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                  struct pm_error *error)
{
    (void)error;
    return pm_buffer_printf(user, "%s=%u/%u ", scene, (unsigned)uploads, day);
}

bool append_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered, uint64_t points)
{
    return pm_buffer_printf(user, "%lld:%llu:%llu/%llu ", (long long)time,
                            (unsigned long long)uploads, (unsigned long long)covered,
                            (unsigned long long)points);
}

bool append_origin(void *user, const void *origin, size_t size, struct pm_error *error)
{
    (void)error;
    return pm_buffer_append(user, origin, size);
}

void put_database(struct pm_storage *storage, const char *scene, const char *etag, const char *body,
                  size_t size)
{
    struct pm_error error;
    for (uint32_t at = 0; at < size; at += 2)
        assert_true(storage->operations->put_part(storage, etag, at / 2, body + at,
                                                  size - at < 2 ? size - at : 2, &error));
    if (!storage->operations->put_database(storage, "game", scene, etag, size, &error))
        fail_msg("%s", error.message);
}
