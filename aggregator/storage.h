/*
 * Where the aggregator keeps its statistics: an interface from the first day (DESIGN, Storage). SQLite implements it
 * in storage_sqlite.c; a distributed store comes later and must fit behind it.
 *
 * A blob is one shader's counters (statistics.h encodes them); the storage merges blobs by the function it is given
 * and never looks inside.
 *
 * Thread safety: one writer thread (transaction functions); read functions from any thread.
 */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

struct pm_storage;

/* What a blob belongs to. */
struct pm_storage_key {
    const char *game;
    const char *scene;
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags;
    uint32_t day; /* days since the epoch, UTC */
};

/* Appends merge(old, added) to *out. Must be commutative and associative. */
typedef bool (*pm_storage_merge)(const void *old, size_t old_size, const void *added, size_t added_size,
                                 struct pm_buffer *out, struct pm_error *error);

struct pm_storage_operations {
    void (*destroy)(struct pm_storage *storage);
    bool (*begin)(struct pm_storage *storage, struct pm_error *error);
    bool (*commit)(struct pm_storage *storage, struct pm_error *error); /* durable when it returns */
    void (*rollback)(struct pm_storage *storage);
    /* *fresh is false when the id was seen before (also in this transaction). */
    bool (*add_upload_id)(struct pm_storage *storage, const uint8_t id[static PM_UPLOAD_ID_BYTES],
                          uint32_t day, bool *fresh, struct pm_error *error);
    bool (*add_blob)(struct pm_storage *storage, const struct pm_storage_key *key, const void *blob,
                     size_t size, struct pm_error *error);
    /* Every blob of a game, grouped: all days and scenes of one (key, environment, kind, flags) are adjacent. */
    bool (*read_game)(struct pm_storage *storage, const char *game,
                      bool (*visit)(void *user, const struct pm_storage_key *key, const void *blob,
                                    size_t size, struct pm_error *error),
                      void *user, struct pm_error *error);
    bool (*list_games)(struct pm_storage *storage,
                       bool (*visit)(void *user, const char *game, struct pm_error *error), void *user,
                       struct pm_error *error);
    bool (*put_database)(struct pm_storage *storage, const char *game, const char *etag, const void *body,
                         size_t size, struct pm_error *error);
    /* PM_ERROR_STATE when there is none. etag: up to 64 bytes with terminator. */
    bool (*get_database)(struct pm_storage *storage, const char *game, char etag[static 65],
                         struct pm_buffer *body, struct pm_error *error);
    /* One sample of a game's coverage over time (the report's and the dashboard's curve). */
    bool (*add_coverage)(struct pm_storage *storage, const char *game, int64_t time, uint64_t uploads,
                         uint64_t points_covered, uint64_t points, struct pm_error *error);
    bool (*read_coverage)(struct pm_storage *storage, const char *game,
                          bool (*visit)(void *user, int64_t time, uint64_t uploads,
                                        uint64_t points_covered, uint64_t points),
                          void *user, struct pm_error *error);
};

struct pm_storage {
    const struct pm_storage_operations *operations;
};

/* WAL, synchronous=FULL. path is created when missing. */
struct pm_storage *pm_storage_sqlite_open(const char *path, pm_storage_merge merge, struct pm_error *error);
