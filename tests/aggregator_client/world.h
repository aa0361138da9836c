/*
 * A world of its own for a test: home folders, a spool, an aggregator, consent granted.
 */
#pragma once

#include "aggregator_client/client.h"
#include "base/random.h"
#include "tests/aggregator_client/http_server.h"

struct world {
    char folder[128];
    char *spool;
    struct server *server;
    struct pm_config config; /* its url is the server's */
    struct pm_log *log;      /* to folder/log */
    struct pm_sync_info info;
    struct pm_sync_report report;
    struct pm_error error;
};

int world_make(void **state);
int world_remove(void **state);

/* Records an ended session of `checkpoints` checkpoints; the sums of all of them go to `merge`
 * where it is not NULL. Returns its path (malloc'ed). */
char *world_session(struct world *world, const char *game, uint64_t seed, int checkpoints,
                    struct pm_profile_merge *merge);

/* A path in the world's folder; static storage, good until the next call. */
const char *world_path(const struct world *world, const char *name);

/* Files directly in a folder of the world whose name ends so; -1: no such folder. */
int world_count(const struct world *world, const char *folder, const char *suffix);

/* Does the log have this in it? */
bool world_logged(const struct world *world, const char *text);

#define WORLD_SPOOL "data/piecemeal/spool" /* a folder of it */

/* Sends what there is; the report and the error are the world's, new each time. */
bool world_upload(struct world *world);

/* The configuration file of a game. */
void world_configure(struct world *world, const char *game, const char *text);

/* The headers of an answer of a server whose clock is so many days before ours. */
const char *world_headers(char text[static 128], int days);

/* The profile that was uploaded, in the arena. */
void world_decode(const struct server_request *request, struct pm_arena *arena,
                  struct pm_profile *profile);

/* Two requests to the world's server had the same bytes. */
void world_same_requests(struct world *world, size_t a, size_t b);
