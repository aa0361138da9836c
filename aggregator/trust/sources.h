/*
 * Who may count how often, without keeping who (paper, section 3.4: a service that many clients
 * feed must not be owned by one of them).
 *
 * A source is a digest of a bearer token. Nothing is ever kept of it but marks: its keyed BLAKE2b,
 * with the name of what it marks. The key is random, lasts one epoch (a UTC day), and is then
 * overwritten; it never goes to the storage. So marks of one game or shader cannot be told to
 * belong to the same token as marks of another, nor those of one day to those of the next, by
 * whoever gets at the storage, and not by us either once the day has ended.
 *
 * - Of one token, game and epoch only so many clusters count: an upload beyond them is
 * acknowledged, and adds nothing. A token may spread over PM_SOURCES_GAMES times as many clusters
 * in all. The storage counts them by marks (storage.h, caps) and knows an upload that was counted
 * by a mark too, which is another one for its game than for all, so that a retry is not counted
 * again. They are deleted once their day, and where several processes share a storage the next one,
 * has ended.
 * - Distinct tokens of a shader are counted by marks in the storage (claims.h), within an epoch:
 *   across epochs the same token cannot be told from another.
 *
 * Restarts: the key is in memory, and in a file beside the storage (0600) that is written at the
 * beginning of an epoch. Without the file, a restart begins a new epoch: tokens then count anew,
 * and as others than before. Where several processes share a storage, they share the key
 * too, in a table of it that holds but one: whoever has that can test for a token, on its day.
 *
 * Thread safety: one thread at a time (the aggregator's write mutex).
 */
#pragma once

#include "aggregator/storage/storage.h"
#include "base/log.h"

/* Whom a profile is from, as far as the aggregator may know: a digest of the token, which it keeps
 * no longer than the call. */
#define PM_SOURCE_BYTES 16
struct pm_ingest_source {
    uint8_t digest[PM_SOURCE_BYTES];
    bool fleet; /* the operator's own, of many players: each upload is a cluster, and none is
                   beyond a cap */
};

#define PM_SOURCES_GAMES 64

struct pm_sources;

/* file: where the epoch survives restarts; NULL: in the storage, if that shares epochs, else
 * nowhere. The storage stays the caller's and lives longer. clusters: of one token, game and epoch;
 * 0: all. NULL: out of memory. */
struct pm_sources *pm_sources_create(const char *file, struct pm_storage *storage,
                                     uint32_t clusters, struct pm_log *log);
/* Writes the file. NULL is allowed. */
void pm_sources_destroy(struct pm_sources *sources);

/* Begins the epoch of this day, if it is not the one that runs. false: the system gives no random
 * key; nothing can be marked then. */
bool pm_sources_begin(struct pm_sources *sources, uint32_t day, struct pm_error *error);
/* Writes the file if there is something new; a failure is logged, once. */
void pm_sources_save(struct pm_sources *sources);

/* By what the storage counts the source's clusters of the game, of which this upload is one; id:
 * PM_UPLOAD_ID_BYTES. false: it need not, since all count. */
bool pm_sources_cap(const struct pm_sources *sources, const struct pm_ingest_source *source,
                    const char *game, const uint8_t *id, struct pm_storage_cap *cap);

/* Do its samples wait under a mark? */
bool pm_sources_has_mark(const struct pm_sources *sources, const struct pm_ingest_source *source);
/* What the samples of the source's upload to the game wait under until the day has ended. false:
 * nothing, since each of its uploads is a cluster. */
bool pm_sources_sample_mark(const struct pm_sources *sources, const struct pm_ingest_source *source,
                            const char *game, uint8_t mark[static PM_MARK_BYTES]);

/* What a claim of this scope (claims.h) keeps of a source. */
void pm_sources_mark(const struct pm_sources *sources, const struct pm_ingest_source *source,
                     const char *game, const struct pm_shader_key *key, enum pm_kind kind,
                     const uint8_t scope[static PM_SCOPE_BYTES],
                     uint8_t mark[static PM_MARK_BYTES]);
