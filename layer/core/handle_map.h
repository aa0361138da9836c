/*
 * A map from a non-dispatchable handle to what the layer remembers of it. Vulkan lets a driver give
 * equal handles to identical objects, each of which is destroyed on its own: an entry counts how
 * often its handle was put.
 *
 * Thread safety: none; the owner of a map has a lock for it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pm_handle_entry;

struct pm_handle_map {
    struct pm_handle_entry *entries; /* NULL while empty */
};

/* Remembers value for handle. When the handle is known already its count is raised and *replaced
 * gets the old value, else *replaced is NULL. false: out of memory, and nothing changed. */
bool pm_handle_map_put(struct pm_handle_map *map, uint64_t handle, void *value, void **replaced);

/* NULL: unknown. */
void *pm_handle_map_find(const struct pm_handle_map *map, uint64_t handle);

/* Lowers the handle's count; at zero it is forgotten and its value returned, for the caller to
 * release. NULL: unknown, or still in use by an identical object. */
void *pm_handle_map_remove(struct pm_handle_map *map, uint64_t handle);

/* Removes some entry whatever its count and returns its value; NULL when the map is empty. */
void *pm_handle_map_pop(struct pm_handle_map *map);
