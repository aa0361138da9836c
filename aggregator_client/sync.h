/*
 * What uploading, pulling and the dry run share. Private to aggregator_client/.
 *
 * Thread safety: no state but what the caller holds.
 */
#pragma once

#include "aggregator_client/client.h"
#include "aggregator_client/http.h"
#include "aggregator_client/retry.h"

/* What holds for one game: which configuration its requests go by, and may it be uploaded. */
struct pm_game_settings {
    struct pm_config own;           /* the game's own, as pm_config_load_waiting says */
    const struct pm_config *server; /* where aggregator.* comes from: &own or the caller's */
    bool withheld;
    char why[480]; /* why it does not leave; "" when it does */
};
/* A game whose own configuration is bad is withheld, and the log says so. Consent is looked at by
 * the caller. */
bool pm_game_settings_init(struct pm_game_settings *settings, const struct pm_sync_info *info,
                           const char *game, struct pm_error *error);
void pm_game_settings_finish(struct pm_game_settings *settings);

/* The connection of the last request is kept while the next goes by the same configuration. NULL:
 * it cannot be. */
struct pm_http *pm_sync_http(struct pm_http **kept, const struct pm_config *config,
                             struct pm_error *error);

/* Takes the lock file at path, waiting for another process until the deadline. -1: PM_ERROR_STATE
 * or PM_ERROR_IO; else close(2) it. */
int pm_sync_lock(const char *path, const struct pm_retry *retry, struct pm_error *error);

/* Is this an answer that the next try may change: 408, 425, 429, 5xx? */
bool pm_answer_is_temporary(const struct pm_http_answer *answer);

/* Whose trouble an answer is that took and refused nothing. */
enum pm_trouble {
    /* All that goes there: there was none, the token is no good (401, 407), no aggregator is there
     * (3xx, 404, 405), or it is to be left alone for now (429). */
    PM_TROUBLE_SERVER,
    PM_TROUBLE_NOW,    /* another try may change it: perhaps all, perhaps this one alone */
    PM_TROUBLE_UPLOAD, /* any other, and 507, which may be of its game: this one's alone */
};
enum pm_trouble pm_answer_trouble(const struct pm_http_answer *answer);

/* "what: HTTP 418: the first line of the body". Returns false. */
bool pm_answer_fail(const struct pm_http_answer *answer, const char *what, struct pm_error *error);

/* Notes in the cache that there is this game, so that its database is pulled although its sessions are gone from the
 * spool: $PLACE_CACHE/databases/<safe name>.game with the name in it. Losing the note costs only a pull. */
void pm_game_remember(const char *game);
#define PM_GAME_SUFFIX ".game"
