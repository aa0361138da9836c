/* Where a test of a storage happens: a folder with a fresh one, and short words for what
 * is put into it and read from it. What fails in here fails the test. */
#pragma once

#include "aggregator/storage/postgres/storage_postgres.h"
#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "tests/aggregator/support.h"

struct storage_place {
    char *folder, *path;
    struct pm_storage *storage;
};

/* What cmocka calls before and after a test. */
int storage_place_create(void **state);
int storage_place_destroy(void **state);

void storage_place_reopen(struct storage_place *place);
struct pm_storage *storage_place_open(const char *path);

/* A merge that is easy to see through: decimal numbers are added; what begins with x is none. */
bool add_numbers(const void *old, size_t old_size, const void *added, size_t added_size,
                 struct pm_buffer *out, struct pm_error *error);

/* Of the game "game". */
struct pm_storage_key blob_key(uint64_t shader, uint32_t day, const char *scene);
void add_blob(struct pm_storage *storage, struct pm_storage_key key, const char *blob);
/* In parts of two bytes. size: of the whole body, of which some may be missing. */
void put_database(struct pm_storage *storage, const char *scene, const char *etag, const char *body,
                  size_t size);

/* Visitors that append to a struct pm_buffer as text. */
bool append_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                 struct pm_error *error);
bool append_game(void *user, const char *game, uint64_t uploads, struct pm_error *error);
bool append_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                  struct pm_error *error);
bool append_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered, uint64_t points);
bool append_origin(void *user, const void *origin, size_t size, struct pm_error *error);

/* Every blob of a game as one text. */
void assert_blobs(struct pm_storage *storage, const char *game, const char *expected);
