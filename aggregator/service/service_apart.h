/*
 * Uploads that wait for what another holds: a row of the engine, by a prepared transaction whose
 * coordinator died, say. Whoever is committed together with one of them would wait too, so that the
 * committer remembers the last of them, keeps them apart, and waits for one of them now and then.
 * Where a second upload of a game waits, a row of the game may be held: then all of the game's are
 * kept apart. Who neither came nor was waited for in a minute is forgotten.
 *
 * Thread safety: one thread, the committer's.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

#define PM_APART_UPLOADS 64
#define PM_APART_GAMES 16

struct pm_request;

struct pm_apart_entry {
    uint8_t id[PM_UPLOAD_ID_BYTES]; /* of an upload */
    uint64_t game;                  /* a hash */
    int64_t seen, waited;           /* pm_now() */
};

/* Begins as 0. */
struct pm_apart {
    struct pm_apart_entry uploads[PM_APART_UPLOADS], games[PM_APART_GAMES];
    size_t upload_count, game_count;
    int64_t until, rest;    /* pm_now(): none of them is waited for before; the last rest */
    struct pm_error reason; /* of the last that waited */
};

/* Moves the requests whose uploads are known to wait to the end of the group, who was not waited
 * for longest first; how many. The others keep their order. */
size_t pm_apart_sort(struct pm_apart *apart, struct pm_request **group, size_t count);

/* Moves what is of this game behind the others; all keep their order. */
void pm_apart_game_last(const char *game, struct pm_request **group, size_t count);

/* The upload had to wait in vain, for this reason; NULL: it had not. */
void pm_apart_note(struct pm_apart *apart, const struct pm_profile *profile,
                   const struct pm_error *reason);

/* Is the upload, or its game, known to wait? */
bool pm_apart_knows(struct pm_apart *apart, const struct pm_profile *profile);

/* Is one of them to be waited for just now? */
bool pm_apart_is_due(const struct pm_apart *apart);
