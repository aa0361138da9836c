/*
 * The bytes of a spool file. All integers are little-endian.
 *
 *   offset 0   8 bytes   "PMSPOOL\n"
 *          8   u32       format version
 *         12   u32       PM_SPOOL_WITHHELD or 0
 *   then records:
 *          0   u32       length of the payload in bytes, not 0
 *          4   u64       XXH64 over the length's four bytes and the payload; the seed is the
 * record's offset in the file, so that a record is good only where it was written 12   payload the
 * protobuf encoding of one checkpoint
 *
 * Private to aggregator_client/. Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PM_SPOOL_VERSION 1u
/* Never uploaded. Far from 0, so that no flipped bit lets it go. */
#define PM_SPOOL_WITHHELD 0xC3A5965Au
#define PM_SPOOL_SUFFIX ".pmspool"
/* A file that is being made; it gets its name once it is locked and has its header. */
#define PM_SPOOL_NEW_SUFFIX ".new"
/* What is about to be sent, beside its session (session_upload.h). */
#define PM_SPOOL_UPLOAD_SUFFIX ".upload"
#define PM_SPOOL_REFUSED "refused"
#define PM_SPOOL_REASON_SUFFIX ".reason"
#define PM_SPOOL_RULES_SUFFIX ".rules"

/* A session's name is the upload id it will have, in hexadecimal. */
#define PM_SPOOL_NAME (2 * PM_UPLOAD_ID_BYTES)

/* A process with several games in it (a launcher), or with several scenes, makes one upload of
 * each; so many at most. A session has 64 scenes (layer/frame/scene.h). */
enum { PM_SPOOL_PARTS = 128 };

enum { PM_SPOOL_HEADER = 16, PM_SPOOL_RECORD_HEADER = 12 };

void pm_spool_header_fill(uint8_t header[static PM_SPOOL_HEADER], uint32_t flags);

/* Fills the header of a record at `offset` of its file. */
void pm_spool_record_header_fill(uint8_t header[static PM_SPOOL_RECORD_HEADER], uint64_t offset,
                                 const void *payload, uint32_t length);

/* The default folder when folder is NULL, else a copy; malloc'ed, NULL when out of memory (or there
 * is no home). */
char *pm_spool_folder(const char *folder);

/* Bytes that everything in the folder takes, its refused uploads included. */
uint64_t pm_spool_folder_bytes(const char *folder);

/* Where the session's upload number `part` lies; malloc'ed. */
char *pm_spool_upload_path(const char *path, unsigned part);

/* Removes the uploads beside a session. */
void pm_spool_remove_uploads(const char *path);

/* Bytes that they take. */
uint64_t pm_spool_uploads_bytes(const char *path);

/* Removes a session and then what lies beside it, unless a process holds it. */
bool pm_spool_remove_ended(const char *path);

/* path with its suffix replaced; malloc'ed. */
char *pm_spool_beside(const char *path, const char *suffix);

/* What lies in the folder of the refused, with what lies beside it, the oldest first. */
struct pm_spool_refused {
    char *path;
    uint64_t bytes;
    struct timespec modified;
};
struct pm_spool_all_refused {
    struct pm_spool_refused *list;
    size_t count;
    uint64_t bytes;
};
struct pm_spool_all_refused pm_spool_refused_find(const char *spool);
void pm_spool_refused_finish(struct pm_spool_all_refused *all);

/* Removes one with what lies beside it. */
void pm_spool_refused_remove(const char *path);
