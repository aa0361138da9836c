/*
 * Shaders that are left alone: those of a game that the layer could make nothing of, and why. The
 * layer notes them; `doctor`, `run` and `db show` count them. They never leave the machine; an
 * upload says how many there are of each of a few kinds of reasons (left_alone_why.h).
 *
 * On the disk a text file a game, $PLACE_DATA/left_alone/<safe name of game>: the recipe of the
 * build that says so, the game, then a line a shader. What one build can make nothing of another
 * may: a file of another recipe is begun anew. Lines are appended whole, by any number of
 * processes, up to a cap.
 *
 * Thread safety: no state; any thread, any process.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "profile/left_alone_why.h"
#include "profile/shader_key.h"
#include <stdint.h>

struct pm_left_alone_reason {
    const char *text;
    size_t shaders;
};

struct pm_left_alone {
    const char *game;
    size_t shaders;
    const struct pm_left_alone_reason *reasons; /* the most frequent first */
    size_t reason_count;
    uint32_t whys[PM_LEFT_ALONE_WHYS]; /* shaders, of each kind of reason */
};

/* Notes a shader. folder NULL: the default place. recipe: pm_canonicalize_recipe(). What cannot be
 * written is not counted. */
void pm_left_alone_note(const char *folder, const char *game, const char *recipe,
                        const struct pm_shader_key *digest, const char *reason);

/* Those of one game; all 0 where there are none. What *out points to is the arena's. since: only
 * those that were noted from that second of the Unix clock on. */
bool pm_left_alone_read(const char *folder, const char *game, int64_t since, struct pm_arena *arena,
                        struct pm_left_alone *out, struct pm_error *error);

/* Calls visit for each game that has some. */
bool pm_left_alone_each(const char *folder, int64_t since,
                        void (*visit)(void *user, const struct pm_left_alone *left), void *user,
                        struct pm_error *error);

/* "3 shaders are left alone: Unknown extension 'X' (2), …", of at most a few reasons; the arena's.
 * NULL: out of memory. */
char *pm_left_alone_describe(const struct pm_left_alone *left, struct pm_arena *arena);
