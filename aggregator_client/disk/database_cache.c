#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

bool pm_database_body_decode(const void *body, size_t size, struct pm_arena *arena,
                             struct pm_database *database, struct pm_error *error)
{
    struct pm_buffer raw;
    pm_buffer_init(&raw, PM_DATABASE_BYTES);
    bool decoded = pm_decompress(body, size, &raw, error) &&
                   pm_database_decode(raw.data ? (const void *)raw.data : "", raw.size, arena,
                                      database, error);
    pm_buffer_finish(&raw);
    return decoded;
}

bool pm_database_cache_load(const char *game, struct pm_arena *arena, struct pm_database *database,
                            struct pm_error *error)
{
    char *path = pm_database_cache_path(game);
    if (!path)
        return pm_fail(error, PM_ERROR_MEMORY, "no place for the cached database");
    struct pm_buffer body;
    pm_buffer_init(&body, PM_DATABASE_BODY_BYTES);
    bool loaded = false;
    if (access(path, F_OK) != 0)
        pm_fail(error, PM_ERROR_STATE, "%s: no database was pulled yet", path);
    else if (pm_file_read(path, &body, error))
        loaded = pm_database_body_decode(body.data, body.size, arena, database, error) ||
                 pm_fail_prefix(error, "%s", path);
    pm_buffer_finish(&body);
    free(path);
    return loaded;
}
