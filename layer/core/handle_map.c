#include "layer/core/handle_map.h"
#include <stdlib.h>

/* uthash reports a failed allocation instead of ending the process, which is the game's. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element), (failed = true))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <uthash.h>

struct pm_handle_entry {
    uint64_t handle;
    void *value;
    uint32_t count;
    UT_hash_handle hh;
};

static struct pm_handle_entry *find(const struct pm_handle_map *map, uint64_t handle)
{
    struct pm_handle_entry *entry = NULL;
    HASH_FIND(hh, map->entries, &handle, sizeof handle, entry);
    return entry;
}

bool pm_handle_map_put(struct pm_handle_map *map, uint64_t handle, void *value, void **replaced)
{
    *replaced = NULL;
    struct pm_handle_entry *entry = find(map, handle);
    if (entry) {
        *replaced = entry->value;
        entry->value = value;
        entry->count++;
        return true;
    }
    entry = calloc(1, sizeof *entry);
    if (!entry)
        return false;
    entry->handle = handle;
    entry->value = value;
    entry->count = 1;
    bool failed = false;
    HASH_ADD(hh, map->entries, handle, sizeof entry->handle, entry);
    if (failed)
        free(entry);
    return !failed;
}

void *pm_handle_map_find(const struct pm_handle_map *map, uint64_t handle)
{
    const struct pm_handle_entry *entry = find(map, handle);
    return entry ? entry->value : NULL;
}

static void *forget(struct pm_handle_map *map, struct pm_handle_entry *entry)
{
    void *value = entry->value;
    HASH_DELETE(hh, map->entries, entry);
    free(entry);
    return value;
}

void *pm_handle_map_remove(struct pm_handle_map *map, uint64_t handle)
{
    struct pm_handle_entry *entry = find(map, handle);
    if (!entry || --entry->count != 0)
        return NULL;
    return forget(map, entry);
}

void *pm_handle_map_pop(struct pm_handle_map *map)
{
    return map->entries ? forget(map, map->entries) : NULL;
}
#pragma GCC diagnostic pop
