#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"
#include "base/stop.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { LARGEST_KEY = 64 << 10 };

char *pm_database_cache_path(const char *game)
{
    char *name = pm_file_safe_name(game), *relative = NULL, *path = NULL;
    const char *folder = secure_getenv("PIECEMEAL_DATABASES");
    if (name && folder)
        path = asprintf(&path, "%s/%s.pmdb", folder, name) >= 0 ? path : NULL;
    else if (name && asprintf(&relative, "databases/%s.pmdb", name) >= 0)
        path = pm_place_path(PM_PLACE_CACHE, relative);
    else
        relative = NULL;
    free(relative);
    free(name);
    return path;
}

/* Beside the game's database; malloc'ed. */
static char *path_beside(const char *game, const char *suffix)
{
    char *database = pm_database_cache_path(game), *path = NULL;
    const size_t length = database ? strlen(database) : 0, own = sizeof(".pmdb") - 1;
    if (length > own && asprintf(&path, "%.*s%s", (int)(length - own), database, suffix) < 0)
        path = NULL;
    free(database);
    return path;
}

char *pm_verdicts_cache_path(const char *game, const char *key_file, struct pm_error *error)
{
    struct pm_buffer key;
    char *path = NULL, suffix[64];
    pm_buffer_init(&key, LARGEST_KEY);
    if (pm_file_read(key_file, &key, error)) {
        const XXH128_hash_t hash = XXH3_128bits(key.data, key.size);
        snprintf(suffix, sizeof(suffix), ".%016" PRIx64 "%016" PRIx64 PM_VERDICTS_SUFFIX,
                 (uint64_t)hash.high64, (uint64_t)hash.low64);
        path = path_beside(game, suffix);
        if (!path)
            pm_fail(error, PM_ERROR_MEMORY, "no place for cached verdicts");
    } else {
        pm_fail_prefix(error, "aggregator.verdict_key_file");
    }
    pm_buffer_finish(&key);
    return path;
}

char *pm_races_cache_path(const char *game)
{
    return path_beside(game, ".pmraces");
}

bool pm_races_cache_load(const char *game, struct pm_arena *arena, struct pm_races *races,
                         struct pm_error *error)
{
    struct pm_buffer body;
    char *path = pm_races_cache_path(game);
    bool loaded = false;
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    if (!path)
        pm_fail(error, PM_ERROR_MEMORY, "no place for cached races");
    else if (access(path, F_OK) != 0)
        pm_fail(error, PM_ERROR_STATE, "%s: no races were pulled yet", path);
    else if (pm_file_read(path, &body, error))
        loaded = (pm_races_body_decode(body.data, body.size, arena, races, error) &&
                  (strcmp(races->game, game) == 0 ||
                   pm_fail(error, PM_ERROR_INPUT, "they are of another game"))) ||
                 pm_fail_prefix(error, "%s", path);
    pm_buffer_finish(&body);
    free(path);
    return loaded;
}

bool pm_database_body_decode(const void *body, size_t size, struct pm_arena *arena,
                             struct pm_database *database, struct pm_error *error)
{
    struct pm_buffer raw;
    pm_buffer_init(&raw, PM_DATABASE_BYTES);
    bool decoded = pm_decompress(body, size, &raw, error) && pm_stop_check(error) &&
                   pm_database_decode(raw.data ? (const void *)raw.data : "", raw.size, arena,
                                      database, error);
    pm_buffer_finish(&raw);
    return decoded;
}

static bool load(const char *path, struct pm_arena *arena, struct pm_database *database,
                 struct pm_error *error)
{
    struct pm_buffer body;
    pm_buffer_init(&body, PM_DATABASE_BODY_BYTES);
    bool loaded = false;
    if (access(path, F_OK) != 0)
        pm_fail(error, PM_ERROR_STATE, "%s: no database was pulled yet", path);
    else if (pm_file_read(path, &body, error))
        loaded = pm_database_body_decode(body.data, body.size, arena, database, error) ||
                 pm_fail_prefix(error, "%s", path);
    pm_buffer_finish(&body);
    return loaded;
}

bool pm_database_cache_load(const char *game, struct pm_arena *arena, struct pm_database *database,
                            struct pm_error *error)
{
    char *path = pm_database_cache_path(game);
    if (!path)
        return pm_fail(error, PM_ERROR_MEMORY, "no place for the cached database");
    const bool loaded = load(path, arena, database, error);
    free(path);
    return loaded;
}

/* ---- packed ---- */

/* false: there is no file. */
static bool source_of(const char *path, struct pm_packed_source *source)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    *source = (struct pm_packed_source){.bytes = (uint64_t)status.st_size,
                                        .inode = (uint64_t)status.st_ino,
                                        .seconds = status.st_mtim.tv_sec,
                                        .nanoseconds = status.st_mtim.tv_nsec};
    return true;
}

/* <path without .pmdb>.pmpack; malloc'ed. */
static char *packed_path(const char *path)
{
    const size_t length = strlen(path), suffix = sizeof(".pmdb") - 1;
    char *packed = NULL;
    return length > suffix && asprintf(&packed, "%.*s.pmpack", (int)(length - suffix), path) >= 0
               ? packed
               : NULL;
}

/* Into *out. Who replaces the file meanwhile packs it, too. */
static bool pack(const char *path, const struct pm_packed_source *source, struct pm_buffer *out,
                 struct pm_error *error)
{
    struct pm_database database;
    struct pm_arena *arena = pm_arena_create(PM_DATABASE_MEMORY_BYTES);
    if (!arena)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a database");
    struct pm_packed_source after;
    const bool packed =
        load(path, arena, &database, error) && pm_stop_check(error) &&
        pm_database_pack(&database, source, out, error) && pm_stop_check(error) &&
        ((source_of(path, &after) && memcmp(&after, source, sizeof(after)) == 0) ||
         pm_fail(error, PM_ERROR_STATE, "%s: it was replaced while it was read", path));
    pm_arena_destroy(arena);
    return packed;
}

bool pm_database_cache_pack(const char *path, struct pm_error *error)
{
    struct pm_packed_source source = {0};
    struct pm_buffer bytes;
    char *packed = packed_path(path);
    pm_buffer_init(&bytes, PM_DATABASE_MEMORY_BYTES);
    bool done = packed || pm_fail(error, PM_ERROR_MEMORY, "%s: no packed database's name", path);
    source_of(path, &source);
    done = done && pack(path, &source, &bytes, error) &&
           pm_file_put(packed, bytes.data, bytes.size, error);
    pm_buffer_finish(&bytes);
    free(packed);
    return done;
}

static struct pm_packed_database *make_and_open(const char *path, const char *packed,
                                                const struct pm_packed_source *source,
                                                struct pm_error *error)
{
    struct pm_packed_database *opened = NULL;
    struct pm_buffer bytes;
    pm_buffer_init(&bytes, PM_DATABASE_MEMORY_BYTES);
    if (pack(path, source, &bytes, error)) {
        /* Where it cannot be kept it is used all the same. */
        if (pm_file_put(packed, bytes.data, bytes.size, NULL))
            opened = pm_packed_database_map(packed, source, error);
        if (!opened)
            opened = pm_packed_database_take(&bytes, source, error);
    }
    pm_buffer_finish(&bytes);
    return opened;
}

struct pm_packed_database *pm_database_cache_map(const char *game, bool *unpacked)
{
    struct pm_packed_database *mapped = NULL;
    struct pm_packed_source source;
    char *path = pm_database_cache_path(game), *packed = path ? packed_path(path) : NULL;
    const bool cached = packed && source_of(path, &source);
    if (cached)
        mapped = pm_packed_database_map(packed, &source, NULL);
    *unpacked = cached && !mapped;
    free(packed);
    free(path);
    return mapped;
}

struct pm_packed_database *pm_database_cache_open(const char *game, struct pm_error *error)
{
    struct pm_packed_database *opened = NULL;
    struct pm_packed_source source;
    char *path = pm_database_cache_path(game), *packed = path ? packed_path(path) : NULL;
    if (!packed)
        pm_fail(error, PM_ERROR_MEMORY, "no place for the cached database");
    else if (!source_of(path, &source))
        pm_fail(error, PM_ERROR_STATE, "%s: no database was pulled yet", path);
    else if (!(opened = pm_packed_database_map(packed, &source, NULL)))
        opened = make_and_open(path, packed, &source, error);
    free(packed);
    free(path);
    return opened;
}
