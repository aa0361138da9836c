/*
 * Names that many games have: those of engines, of libraries, of examples. The layer adds to them
 * what tells the games apart (layer/core/identity.h); of the shared name's config such a game has a
 * consent that is withheld, and nothing else (base/config.h).
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum pm_shared_name {
    PM_SHARED_NONE,    /* one game's */
    PM_SHARED_ENGINE,  /* an engine's, whose arguments may say where the game is */
    PM_SHARED_LIBRARY, /* of a library, a language's runtime or an example: any program's, with
                          arguments of its own */
};

/* Whose the name of that length is, in any case, with .exe or without, and with what it was built
 * for, as .x86_64, or without. */
enum pm_shared_name pm_shared_name(const char *name, size_t size);

/* The length of the shared name that a game's begins with, "wgpu" of "wgpu (dungeon, Dungeon)". 0:
 * it has none, or nothing was added to it. */
size_t pm_shared_name_in(const char *game);

/* Is the name of that length in the list, which ends with NULL? In any case. */
bool pm_name_is_in(const char *const *list, const char *name, size_t size);

/* Its length without .exe. */
size_t pm_name_stem(const char *name, size_t size);
