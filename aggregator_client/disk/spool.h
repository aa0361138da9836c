/*
 * The spool: a bounded ring of files on disk between the layer (which writes, off the game's threads) and
 * piecemeal-sync (which reads, merges a session's checkpoints, uploads, and removes). One file a session
 * ($PLACE_DATA/spool/<upload id in hexadecimal>.pmspool), held under flock(2) by the writing process for as long as it
 * lives: an unlocked file is a session that ended, however it ended. No Vulkan, no network.
 *
 * A file is a header (magic, format version) and records; a record is length, checksum (of the length too) and one
 * checkpoint: the protobuf encoding of a struct pm_profile with what was counted since the checkpoint before. A
 * record is on disk (fdatasync) when pm_spool_append returns. A torn tail (kill -9, full disk) loses only the record
 * that was being written: a reader takes every whole record before it and says at which byte it stopped.
 *
 * Thread safety: a writer belongs to one thread at a time; reader functions may run in other processes meanwhile.
 */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "profile/profile.h"

struct pm_spool_writer;

/* folder NULL: what PIECEMEAL_SPOOL names (`piecemeal run --local` sets it), else the default.
 * cap_bytes bounds the whole folder: what was refused goes first, then the oldest ended sessions,
 * no more of them than it takes; where all of them would not be enough they stay, and the append
 * fails with PM_ERROR_LIMIT. The file is created at the first append. */
struct pm_spool_writer *pm_spool_writer_create(const char *folder, uint64_t cap_bytes,
                                               struct pm_error *error);
/* Marks the session as one that is never uploaded, whatever is said later: consent.upload was false while it was
 * recorded. Before the first append. */
void pm_spool_writer_withhold(struct pm_spool_writer *writer);
/* Closes; the session is ended. */
void pm_spool_writer_destroy(struct pm_spool_writer *writer);
bool pm_spool_append(struct pm_spool_writer *writer, const struct pm_profile *checkpoint,
                     struct pm_error *error);
/* After fork(2) in the child: drops the descriptors without touching the file. */
void pm_spool_writer_abandon(struct pm_spool_writer *writer);

/* The sessions of a folder, oldest first. */
struct pm_spool_session {
    char *path;
    uint64_t bytes;
    int64_t modified; /* seconds since the epoch */
    bool live;        /* its process still runs */
};
bool pm_spool_list(const char *folder, struct pm_spool_session **sessions, size_t *count,
                   struct pm_error *error);
void pm_spool_list_free(struct pm_spool_session *sessions, size_t count);

/* Was it recorded while consent was withheld? true also for a file that cannot be read. */
bool pm_spool_is_withheld(const char *path);

/* Calls visit for every whole record, in order; what visit gets lives until it returns; visit returning false stops.
 * A torn or damaged record ends the reading: true is returned, *damaged_at is its byte offset (or UINT64_MAX) and
 * *error says what is wrong. false: the file could not be read at all (or visit stopped it), or has a record that is
 * whole and is none that this version knows. */
bool pm_spool_read(const char *path,
                   bool (*visit)(void *user, const struct pm_profile *checkpoint, struct pm_error *error),
                   void *user, uint64_t *damaged_at, struct pm_error *error);

/* The same over bytes in memory: what the fuzzer feeds. */
bool pm_spool_parse(const void *data, size_t size,
                    bool (*visit)(void *user, const struct pm_profile *checkpoint, struct pm_error *error),
                    void *user, uint64_t *damaged_at, struct pm_error *error);
