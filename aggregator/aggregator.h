/*
 * The aggregator as a library: takes piecemeal profiles, keeps statistics per point, curates PGO
 * databases (paper, section 3.4; DESIGN, Estimates and PGO database). `piecemeal serve` puts HTTP
 * around it (service.h); `piecemeal run --local` calls it directly. The rooms below hold what it is
 * made of; most calls here lead straight into one.
 *
 * Thread safety: any thread; calls that write are serialized inside.
 */
#pragma once

#include "aggregator/intake/outcome.h"
#include "aggregator/intake/prepare.h"
#include "aggregator/storage/storage.h"
#include "aggregator/trust/sources.h"
#include "base/log.h"
#include "profile/database.h"

struct pm_aggregator;

/* What services and tools go by unless told otherwise. */
#define PM_HALF_LIFE_DAYS 14
#define PM_RETENTION_DAYS 60
#define PM_TOKEN_CLUSTERS 4
#define PM_MIN_TOKENS 5
#define PM_PUBLISH_SECONDS 3600

struct pm_aggregator_info {
    struct pm_storage *storage;  /* becomes the aggregator's, also when creating it fails */
    struct pm_log *log;          /* stays the caller's; may be NULL */
    bool publish_all;            /* --local, --dev: every covered shader whatever its intervals */
    double half_width_absolute;  /* 0: 0.05 */
    double half_width_relative;  /* 0: 0.10 */
    uint32_t sessions_for_never; /* entries after which a point that never ran is covered; 0: 20; 1
                                    under publish_all */
    uint32_t pairs_for_timing;   /* timed pairs after which a timing is covered; 0: 8 */
    uint32_t scenes;             /* most scenes of a game that get a database of their own, those
                                    with the most statistics first; 0: none */
    uint32_t max_games;      /* that may be known: an upload to a further one is refused; 0: any */
    uint32_t max_scenes;     /* of a game: what names a further one is kept as of none; 0: any */
    uint64_t samples_bytes;  /* of uploads that may wait to be folded; ingesting waits at twice as
                                many; 0: a quarter of what the storage takes, at least 256 MiB */
    size_t fold_bytes;       /* of sums that folding makes before it writes them; 0: 256 MiB */
    size_t database_bytes;   /* most bytes of a database before compression; 0, and at most:
                                PM_DATABASE_BYTES */
    uint32_t half_life_days; /* after which a cluster weighs half (ageing.h); 0: never */
    uint32_t retention_days; /* what is older is neither shown nor kept; 0: kept for ever */
    uint32_t token_clusters; /* clusters of one token, game and epoch that count; 0: all (sources.h)
                              */
    uint32_t min_tokens;     /* distinct tokens of one epoch before a shader is published, in one
                                environment, and of a scene for its database (claims.h); 0 and 1:
                                whoever sent it, also without a token */
    uint32_t publish_seconds; /* least between two publications of a game, which then also wait for
                                 new contributors and are quantized (curation/release.h); 0: with
                                 every curation */
    const char *epoch_file; /* where the epoch's key survives restarts (sources.h); NULL: nowhere */
    int64_t (*clock)(void *user); /* seconds since the epoch; NULL: the system's */
    void *clock_user;
};

struct pm_aggregator *pm_aggregator_create(const struct pm_aggregator_info *info,
                                           struct pm_error *error);
/* NULL is allowed. */
void pm_aggregator_destroy(struct pm_aggregator *aggregator);

/* What most callers start with: an aggregator on a SQLite file, or on the PostgreSQL of a URL
 * (postgresql://…). info->storage is not read. */
struct pm_aggregator *pm_aggregator_open(const char *where, const struct pm_aggregator_info *info,
                                         struct pm_error *error);

/* The storage alone. */
struct pm_storage *pm_aggregator_open_storage(const char *where, struct pm_error *error);

/* Is it the URL of an engine, and no file? */
bool pm_aggregator_is_remote(const char *where);

/* How uploads are kept: what they say is first put down as it is, durably, and waits; folding
 * brings what waits into the statistics, many uploads at once (samples.h, storage.h). Curation and
 * all functions below that show a game's statistics fold what waits of it first. */

/* Adds profiles in one durable transaction, each one cluster. outcomes[i] says what became of each;
 * a refused profile leaves the others alone. false: nothing was stored (PM_ERROR_LIMIT: the storage
 * is full), outcomes are void. */
bool pm_aggregator_ingest(struct pm_aggregator *aggregator,
                          const struct pm_profile *const *profiles, size_t count,
                          struct pm_ingest_outcome *outcomes, struct pm_error *error);

/* The same with the sources of the profiles: sources[i], and sources, may be NULL, for one without
 * a token, to whom no cap applies. A profile that cannot be goes to the quarantine. */
bool pm_aggregator_ingest_from(struct pm_aggregator *aggregator,
                               const struct pm_profile *const *profiles,
                               const struct pm_ingest_source *const *sources, size_t count,
                               struct pm_ingest_outcome *outcomes, struct pm_error *error);

/* Puts an upload into quarantine that was refused before it became a profile. game: "" when it
 * could not be read. body: without the upload's id; NULL: only the reason is kept. It is written
 * with the next upkeep, and lost without one; of many at once only the latest are kept. */
void pm_aggregator_quarantine_add(struct pm_aggregator *aggregator, const char *game,
                                  const char *reason, const void *body, size_t body_size);

/* Shows the quarantine, what waits to be written included, the newest entry first; game NULL: of
 * all games. Writes nothing. `visit` may be called under a lock: it must not come back here. */
bool pm_aggregator_quarantine(struct pm_aggregator *aggregator, const char *game,
                              pm_visit_quarantined visit, void *user, struct pm_error *error);

/* What has to be done now and then: writes the quarantine, begins a new epoch, blanks the marks of
 * others, and deletes what is past retention once the clock is trusted; both in small transactions
 * and for about a second each. *expired: it deleted statistics, so that every database is to be
 * curated anew. */
bool pm_aggregator_upkeep(struct pm_aggregator *aggregator, bool *expired, struct pm_error *error);

/* pm_aggregator_ingest_from in two steps, the first of which any number of threads may do at a
 * time: it checks all that can be told without the storage. NULL: *error says why; PM_ERROR_INPUT
 * and PM_ERROR_UNSUPPORTED: the profile is to be refused, and is in quarantine. The profile stays
 * the caller's and must outlive what was prepared, which pm_prepared_destroy ends. */
struct pm_prepared *pm_aggregator_prepare(struct pm_aggregator *aggregator,
                                          const struct pm_profile *profile, struct pm_error *error);
/* Those that are NULL are left out, and so are their outcomes. */
bool pm_aggregator_ingest_prepared(struct pm_aggregator *aggregator,
                                   struct pm_prepared *const *prepared,
                                   const struct pm_ingest_source *const *sources, size_t count,
                                   struct pm_ingest_outcome *outcomes, struct pm_error *error);

/* Would an upload be stored? Writes what comes to nothing, and commits it as uploads are. */
bool pm_aggregator_rehearse(struct pm_aggregator *aggregator, struct pm_error *error);

/* Brings what waits into the statistics: of one game (NULL: of all), or only as much as it takes to
 * keep within the limit, nothing most times: for a thread that calls it again and again. */
bool pm_aggregator_fold(struct pm_aggregator *aggregator, const char *game, struct pm_error *error);
bool pm_aggregator_fold_some(struct pm_aggregator *aggregator, struct pm_error *error);

/* Computes the game's database from its statistics and publishes it, atomically; the ETag changes
 * when anything but the time of curation did, and what was published before stays as the previous
 * one. Then the same of its scenes, each from the profiles of that scene alone. What does not fit
 * database_bytes is left out, the shaders that fewest sessions entered first. Adds a sample to the
 * game's coverage history.
 * PM_ERROR_STATE: the game is not known. */
bool pm_aggregator_curate(struct pm_aggregator *aggregator, const char *game,
                          struct pm_error *error);

/* Holds the place for one server: a descriptor to close after the aggregator was destroyed; -1:
 * PM_ERROR_STATE: another has it. *fd is -1 also for what servers share. */
bool pm_aggregator_hold(const char *where, int *fd, struct pm_error *error);

/* For who stops and does not want to wait for what takes long. While this is set, folding, curating
 * and reading estimates give up soon, with PM_ERROR_STATE: what was not folded still waits, what
 * was published stays. Uploads are taken as ever, but whoever waits for another process that has
 * the storage locked waits for two more seconds from now on, all together. */
void pm_aggregator_interrupt(struct pm_aggregator *aggregator, bool set);
bool pm_aggregator_is_interrupted(const struct pm_aggregator *aggregator);

/* Of how many shaders the tokens of one day claimed different things (votes.h), as far as their day
 * was folded in since the aggregator was opened. Any thread. */
uint64_t pm_aggregator_disagreements(const struct pm_aggregator *aggregator);

/* How many games too few tokens vouch for, so that they may be evicted for others (intake/room.h),
 * as upkeep last counted, about once a minute; 0 where any number of games may be. Any thread. */
uint64_t pm_aggregator_unvouched_games(const struct pm_aggregator *aggregator);

/* The published body (zstd), appended, and its ETag, BLAKE2b-256 of the body in hexadecimal. body
 * NULL: only the ETag. PM_ERROR_STATE: the game is not known, or was never curated. */
bool pm_aggregator_database(struct pm_aggregator *aggregator, const char *game,
                            char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                            struct pm_error *error);

/* The same of any publication. PM_ERROR_STATE also: it never had a previous one. */
struct pm_publication {
    const char *game;
    const char *scene; /* "": the database of all scenes */
    bool previous;     /* the one before the current */
};
bool pm_aggregator_publication(struct pm_aggregator *aggregator,
                               const struct pm_publication *publication,
                               char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                               struct pm_error *error);

/* The full estimates, published or not: what `db show` prints; of one scene where scene is not
 * NULL. Points are never NULL here; memory is the arena's. A shader that has profiles with and
 * without flags shows those without, once they cover it, else all together. PM_ERROR_STATE: the
 * game is not known. */
bool pm_aggregator_estimates(struct pm_aggregator *aggregator, const char *game, const char *scene,
                             struct pm_arena *arena, struct pm_database *database,
                             struct pm_error *error);

/* Adds what another storage has of the game, in one durable transaction: afterwards every sum is
 * exactly what it would be had all its uploads come here. Nothing is added twice: PM_ERROR_STATE
 * when some of it is in the sums here already, and what a game was dropped from and then filled
 * again counts as another (struct pm_storage_operations, add_origin). PM_ERROR_STATE: `source` does
 * not know the game; PM_ERROR_INPUT: it is damaged, or disagrees about a shader's space. Upload ids
 * stay behind: they do not say which game they are of. */
struct pm_imported {
    uint64_t uploads, blobs;
};
bool pm_aggregator_import(struct pm_aggregator *aggregator, struct pm_aggregator *source,
                          const char *game, struct pm_imported *imported, struct pm_error *error);

/* Whoever has a shader's words knows how many points it has and which run at most once: key, kind,
 * space and at_most_once of the profile are read. What uploads say otherwise is left out from then
 * on. *replaced: the number of points was another before, and its statistics are deleted. */
bool pm_aggregator_know_shader(struct pm_aggregator *aggregator, const char *game,
                               const struct pm_shader_profile *shader, bool *replaced,
                               struct pm_error *error);

/* What people call a shader: a line of PM_NAME_BYTES at most. Operators are shown it, from the next
 * curation on; it is in no database. */
bool pm_aggregator_name_shader(struct pm_aggregator *aggregator, const char *game,
                               const struct pm_shader_key *key, const char *name,
                               struct pm_error *error);

/* Forgets a game with all that was published of it, or, when key is not NULL, one of its shaders,
 * and then curates. *blobs: the statistics that went, one a shader, environment, kind, day and
 * scene, and where there are none yet, samples. PM_ERROR_STATE: there was nothing to forget. */
bool pm_aggregator_drop(struct pm_aggregator *aggregator, const char *game,
                        const struct pm_shader_key *key, uint64_t *blobs, struct pm_error *error);

/* A point's part of the coverage rule. It ran (a candidate: was written) in some upload, or its
 * shader was entered in enough sessions; a timing has enough pairs. */
bool pm_aggregator_is_covered(const struct pm_aggregator *aggregator, enum pm_kind kind,
                              const struct pm_point_estimate *point);

/* The other part: are the intervals of all its measures as narrow as asked for (half_width_…)? The
 * point leaves the deficit where both hold. */
bool pm_aggregator_is_well_known(const struct pm_aggregator *aggregator, enum pm_kind kind,
                                 const struct pm_point_estimate *point);

/* For reading games and coverage histories; the aggregator's. */
struct pm_storage *pm_aggregator_storage(struct pm_aggregator *aggregator);
/* For curating with somebody who watches (curation/curate.h, curation/summary.h); the aggregator's.
 */
struct pm_curator;
struct pm_curator *pm_aggregator_curator(struct pm_aggregator *aggregator);
