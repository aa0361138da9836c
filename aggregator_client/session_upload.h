/*
 * What a session becomes on its way out: its checkpoints merged into one upload for each (game,
 * scene, layer version) it had, which is nearly always one; into several where one would be larger
 * than aggregators take, each of some of the shaders. What `run --local` takes in, too.
 *
 * Thread safety: no state but what the caller holds.
 */
#pragma once

#include "aggregator_client/disk/spool.h"
#include "aggregator_client/disk/spool_format.h"

struct pm_session_upload {
    char *game;
    struct pm_buffer body; /* what is POSTed: zstd of the protobuf encoding */
    size_t shaders;
    /* The same without what was measured of variants, for a server that does not know of it
     * (sync_races.h); empty where nothing was, or nothing else. */
    struct pm_buffer plain;
    size_t plain_shaders;
};

struct pm_session {
    struct pm_session_upload uploads[PM_SPOOL_PARTS];
    unsigned count;      /* 0: nothing was counted in it */
    size_t checkpoints;  /* that were merged */
    bool withheld;       /* consent.upload was false when it was recorded */
    uint64_t damaged_at; /* bytes, as of pm_spool_read; UINT64_MAX: nowhere */
    struct pm_error damage;
};

/* Reads the session at path. The ids follow from the session's name, so that building it again
 * gives the same. false: it could not be read, or two checkpoints contradict each other
 * (PM_ERROR_INPUT), or it cannot be sent (PM_ERROR_LIMIT). */
bool pm_session_build(struct pm_session *session, const char *path, struct pm_error *error);
void pm_session_finish(struct pm_session *session);

/* Whether something was measured of variants. */
static inline bool pm_session_upload_has_variants(const struct pm_session_upload *upload)
{
    return upload->plain_shaders < upload->shaders;
}
/* Leaves that out. */
void pm_session_upload_leave_variants(struct pm_session_upload *upload);

/* Takes the bytes that an earlier sync wrote to the file `kept` before it first sent them, in place
 * of those just built (a later version may build others). false: there is no such file, or it is
 * none of this upload, or too large. *acknowledged: it needs not be sent again. */
bool pm_session_upload_take_kept(struct pm_session_upload *upload, const char *kept,
                                 bool *acknowledged);
