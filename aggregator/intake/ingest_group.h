/*
 * What a group of uploads says, game by game, until it is written at the group's end, as sets:
 * how many uploads there were, of which scenes, and rows of samples, by parts (samples.h) where the
 * group has much of the game.
 *
 * Thread safety: one thread, under the write mutex, between begin and commit of the storage.
 */
#pragma once

#include "aggregator/intake/prepare.h"
#include "aggregator/trust/claims.h"
#include <uthash.h>

/* How much may become known, and when it was last logged that it is too little. */
struct pm_ingest_limits {
    uint32_t max_games, max_scenes;   /* scenes: of a game; UINT32_MAX: any */
    uint32_t told_games, told_scenes; /* days since the epoch */
};

/* Uploads of a group that name one scene. */
struct pm_group_scene {
    UT_hash_handle hh;
    const char *name; /* a profile's */
    uint64_t uploads;
    bool stands; /* it may become known */
};

/* What a group of uploads says of one game. */
struct pm_group_game {
    UT_hash_handle hh;
    const char *name; /* a profile's */
    bool has_room;    /* it is known, or may become so */
    uint64_t uploads;
    struct pm_group_scene *scenes;
    struct pm_buffer parts[2][PM_SAMPLE_PARTS]; /* without marks, and with */
};

struct pm_group {
    struct pm_world *world;
    struct pm_claims *claims;
    struct pm_ingest_limits *limits;
    uint32_t day;
    struct pm_group_game *games;
    bool counted;                    /* games_left is known */
    bool made_room;                  /* a game was forgotten for another (room.h) */
    uint64_t games_left;             /* that may become known */
    uint64_t bytes;                  /* of samples that are collected, without marks */
    struct pm_storage_samples *rows; /* that are complete; their data is malloc'ed */
    size_t row_count, rows_allocated;
    struct pm_storage_game *counts; /* these two: of the batch */
    struct pm_storage_scene *named;
    size_t named_count;
};

/* Begins as {.world, .claims, .limits, .day}. */
void pm_group_finish(struct pm_group *group);

/* name: lives as long as the group. NULL: the storage failed, or memory is short. */
struct pm_group_game *pm_group_find(struct pm_group *group, const char *name,
                                    struct pm_error *error);
/* Logs that there is no room for more games. */
void pm_group_tell_no_room(struct pm_group *group);

/* An upload named the scene (not "", lives as long). stands: the scene may become known. */
bool pm_group_name_scene(struct pm_group_game *game, const char *name, bool stands,
                         struct pm_error *error);
/* Takes an upload's samples. mark: that they wait under; NULL: none. */
bool pm_group_append(struct pm_group *group, struct pm_group_game *game,
                     const struct pm_prepared *prepared, const uint8_t *mark,
                     struct pm_error *error);
/* Puts games, scenes and samples into the batch; they stay the group's. */
bool pm_group_collect(struct pm_group *group, struct pm_storage_batch *batch,
                      struct pm_error *error);
/* The batch is committed: says in the log what had no room. */
void pm_group_committed(struct pm_group *group);
