/*
 * The client's side of the aggregator: consent, upload, pull (DESIGN: A profile; Wire). Runs in piecemeal-sync and
 * `piecemeal run`, never inside a game.
 *
 * Thread safety: one thread at a time per struct pm_client; consent functions are safe across processes.
 */
#pragma once

#include "aggregator_client/disk/database_cache.h"
#include "aggregator_client/disk/spool.h"
#include "base/config.h"
#include "base/names.h"
#include "profile/database.h"

/* ---- consent: what `piecemeal consent` wrote, in $PLACE_CONFIG/consent.json, 0600 ---- */
enum pm_consent { PM_CONSENT_UNASKED, PM_CONSENT_GRANTED, PM_CONSENT_REVOKED };
/* No file: unasked. A file that cannot be understood is an error, and no consent. */
bool pm_consent_read(enum pm_consent *consent, struct pm_error *error);
bool pm_consent_write(enum pm_consent consent, struct pm_error *error);

/* ---- sync ---- */
struct pm_sync_report {
    size_t sessions_uploaded; /* acknowledged, and gone from the spool */
    size_t sessions_waiting;  /* ended, and still in the spool */
    char waits_for[512];     /* why the first of them does; "" where none does */
    char away[256];           /* the aggregator that did not answer; "": none was asked in vain */
    size_t sessions_damaged;  /* with a torn tail, or not readable at all */
    size_t sessions_refused;  /* moved to spool/refused */
    size_t uploads_again;     /* that were refused earlier, and are taken now */
    size_t shaders_uploaded;
    bool database_pulled, database_unchanged; /* of any game */
    char not_pulled[512];     /* why the first that was not pulled was not, though nothing failed; "": none */
};

struct pm_sync_info {
    /* aggregator.*, consent_withheld: for `game` and `games`, or where both are NULL for every game. NULL, and for
     * other games: each game's own (pm_config_load_waiting). Where it has no url, the game's own url. A game's own configuration can
     * withhold consent whatever this one says. */
    const struct pm_config *config;
    struct pm_log *log;
    const char *spool_folder;  /* NULL: the default */
    const char *game;          /* whose database to pull; NULL: every game in the cache and spool */
    const struct pm_names *games; /* that the configuration is for, too; NULL: none */
    bool replaces; /* config is of a file that stands for the own ones of `game` and `games`, which
                      then need not be readable */
    char *const *environment;  /* what other games go by; NULL: environ */
    uint32_t deadline_seconds; /* give up after; 0: 30 */
    uint32_t retry_seconds;    /* begin no other try after; 0: the deadline */
};

/* Merges each ended session into one upload (one for each game, where a process had several; some
 * where one would be too large), which it keeps beside the file before it first sends it, so that a
 * retry after a crash sends the same id and bytes; uploads it with retries and exponential backoff
 * with jitter (Retry-After is obeyed), and removes the session once it is acknowledged (200, 204)
 * or refused (400, 413: moved to spool/refused, with the reason beside it, and sent again when the
 * aggregator says that what refused it has changed: sync_refused.h). One that is not taken waits,
 * and the others are sent; an aggregator that does not answer, or fails at two in a row, is left
 * alone, and the others are not (servers.h). Without consent or without a url nothing leaves, which
 * is no error; consent is read again before each session and each request. One process at a time: a
 * second one waits for the first.
 *
 * false: something could not be sent (PM_ERROR_NETWORK), or the spool could not be used; *error is
 * the first that went wrong, and only what else did is logged; *report says what was done before.
 * What *report had is added to. */
bool pm_sync_upload(const struct pm_sync_info *info, struct pm_sync_report *report, struct pm_error *error);

/* Pulls the game's PGO database into the cache by ETag; what the aggregator answers is decoded
 * before it replaces the old one. An aggregator that *report says is away is not asked, which is no
 * error. It tells the aggregator which game is played, so it needs consent as an upload does, but a
 * configuration that withholds uploads does not withhold it. A game the aggregator does not know is
 * no error. */
bool pm_sync_pull(const struct pm_sync_info *info, struct pm_sync_report *report, struct pm_error *error);

/* Whether sync would go there at all: the url, the token file, the certificates' file. Asks nobody. */
bool pm_sync_check(const struct pm_config *config, struct pm_error *error);

/* Appends, as JSON, exactly what pm_sync_upload would send: per upload where to, how many bytes, whether it would be
 * sent at all and why not, and every number in it. Writes nothing. */
bool pm_sync_dry_run(const struct pm_sync_info *info, struct pm_buffer *out, struct pm_error *error);
