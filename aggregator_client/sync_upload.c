#include "aggregator_client/redate.h"
#include "aggregator_client/servers.h"
#include "aggregator_client/session_upload.h"
#include "aggregator_client/sync_races.h"
#include "aggregator_client/sync_refused.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { RULES_BYTES = 4096 };

struct sync {
    const struct pm_sync_info *info;
    struct pm_sync_report *report;
    char *folder;
    struct pm_retry retry;
    struct pm_servers servers;
    struct pm_error *error; /* the first failure */
    bool failed;
    int64_t date; /* of the latest answer that said one; 0: none did */
};

static const char no_consent[] = "there is no consent: `piecemeal consent grant`";

/* The first is said by who called us. */
static void note_failure(struct sync *sync, const struct pm_error *why)
{
    if (!sync->failed && sync->error)
        *sync->error = *why;
    else
        pm_log_error(sync->info->log, "%s", why->message);
    sync->failed = true;
}

static void note_waiting(struct sync *sync, const char *why)
{
    char *first = sync->report->waits_for;
    if (first[0] == '\0')
        snprintf(first, sizeof(sync->report->waits_for), "%s", why);
}

/* Read before each thing that leaves: it may be revoked while a sync waits or is at work. */
static bool is_granted(struct sync *sync)
{
    enum pm_consent consent;
    struct pm_error why = {0};
    if (!pm_consent_read(&consent, &why)) {
        note_failure(sync, &why);
        return false;
    }
    if (consent != PM_CONSENT_GRANTED)
        note_waiting(sync, no_consent);
    return consent == PM_CONSENT_GRANTED;
}

/* A server that does not know of races would refuse an upload that has something of them whole.
 * false: it did not say. */
static bool fit(struct sync *sync, struct pm_http *http, struct pm_session_upload *upload,
                enum pm_trouble *trouble, struct pm_error *why)
{
    bool takes;
    if (!pm_session_upload_has_variants(upload))
        return true;
    pm_retry_restart(&sync->retry);
    if (!pm_sync_pull_races(sync->info, http, &sync->retry, upload->game, &takes, trouble, why))
        return false;
    if (!takes) {
        pm_session_upload_leave_variants(upload);
        pm_log_info(sync->info->log,
                    "the aggregator knows nothing of races: what was measured of variants stays");
    }
    return true;
}

static bool write_file(const char *path, const struct pm_buffer *body, struct pm_error *error)
{
    return pm_file_write(path, body->data ? (const void *)body->data : "", body->size, error);
}

/* Is this what an earlier sync was about to send of the same game? */
static bool is_upload_of(const struct pm_buffer *body, const char *game)
{
    struct pm_buffer wire;
    struct pm_profile profile;
    struct pm_arena *arena = pm_arena_create(0);
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    bool same = arena && pm_decompress(body->data, body->size, &wire, NULL) &&
                pm_profile_decode(wire.data, wire.size, NULL, arena, &profile, NULL) &&
                strcmp(profile.game, game) == 0;
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
    return same;
}

bool pm_session_upload_take_kept(struct pm_session_upload *upload, const char *kept,
                                 bool *acknowledged)
{
    struct pm_buffer body;
    pm_buffer_init(&body, pm_profile_limits_default.decompressed_bytes);
    const bool there = access(kept, F_OK) == 0 && pm_file_read(kept, &body, NULL);
    *acknowledged = there && body.size == 0;
    /* One that is too large is an earlier version's, which nobody took: it is several now. */
    bool take =
        *acknowledged || (there && body.size <= pm_profile_limits_default.compressed_bytes &&
                          is_upload_of(&body, upload->game));
    if (take && !*acknowledged) {
        struct pm_buffer built = upload->body;
        upload->body = body;
        body = built;
    }
    pm_buffer_finish(&body);
    return take;
}

static const char not_now[] = "the aggregator does not take it now";

/* An upload waits, and perhaps all that goes there. */
static void note_trouble(struct sync *sync, struct pm_server *server, enum pm_trouble trouble,
                         const struct pm_game_settings *settings, const struct pm_error *why)
{
    note_failure(sync, why);
    pm_server_failed(server, trouble);
    if (server->given_up && why->code == PM_ERROR_NETWORK)
        snprintf(sync->report->away, sizeof(sync->report->away), "%s",
                 settings->server->aggregator.url);
}

static void note_date(struct sync *sync, int64_t date)
{
    if (date > 0)
        sync->date = date;
}

/* Sends what lies at `kept`. */
static enum pm_fate send_one(struct sync *sync, struct pm_server *server,
                             const struct pm_game_settings *settings,
                             struct pm_session_upload *upload, const char *kept)
{
    struct pm_error why = {0};
    struct pm_refusal refusal = {0};
    const enum pm_fate fate = pm_sync_send(sync->info->log, &sync->retry, server->http,
                                           &upload->body, kept, &refusal, &why);
    note_date(sync, refusal.date);
    if (fate == PM_FATE_WAITING) {
        note_trouble(sync, server, refusal.trouble, settings, &why);
        note_waiting(sync, not_now);
        return fate;
    }
    pm_server_took(server);
    if (fate == PM_FATE_ACKNOWLEDGED) {
        pm_game_remember(upload->game);
        return fate;
    }
    pm_log_error(sync->info->log, "an upload of %s was refused: %s", upload->game, why.message);
    if (pm_refused_keep(sync->folder, kept, why.message, &refusal, 1, &why))
        return fate;
    note_failure(sync, &why);
    return PM_FATE_WAITING;
}

/* One upload of a session; the session's file is locked by us. */
static enum pm_fate upload_one(struct sync *sync, struct pm_session_upload *upload,
                               const char *kept)
{
    struct pm_game_settings settings;
    struct pm_error why = {0};
    bool acknowledged;
    bool known = pm_session_upload_take_kept(upload, kept, &acknowledged);
    if (acknowledged)
        return PM_FATE_ACKNOWLEDGED;
    if (!pm_game_settings_init(&settings, sync->info, upload->game, &why)) {
        note_failure(sync, &why);
        return PM_FATE_WAITING;
    }
    enum pm_fate fate = PM_FATE_WAITING;
    struct pm_server *server = NULL;
    enum pm_trouble trouble;
    if (settings.withheld) {
        note_waiting(sync, settings.why);
    } else if (!(server = pm_servers_find(&sync->servers, settings.server, &why))) {
        note_failure(sync, &why);
    } else if (server->given_up) {
        note_waiting(sync, not_now);
    } else if (!known && !fit(sync, server->http, upload, &trouble, &why)) {
        note_trouble(sync, server, trouble, &settings, &why);
        note_waiting(sync, not_now);
    } else if (!known && upload->shaders == 0) {
        fate = PM_FATE_ACKNOWLEDGED; /* nothing is left of it */
    } else if (!known && !write_file(kept, &upload->body, &why)) {
        note_failure(sync, &why);
    } else {
        fate = send_one(sync, server, &settings, upload, kept);
    }
    pm_game_settings_finish(&settings);
    return fate;
}

/* The session goes first and for sure: what lies beside it alone is never sent, but a session alone
 * is. */
static bool remove_session(struct sync *sync, const char *path, struct pm_error *error)
{
    if (unlink(path) != 0)
        return pm_fail_errno(error, errno, "%s: cannot remove", path);
    bool synced = pm_folder_sync(sync->folder, error);
    pm_spool_remove_uploads(path);
    return synced;
}

static void upload_parts(struct sync *sync, struct pm_session *session, const char *path)
{
    unsigned done = 0, refused = 0;
    size_t shaders = 0;
    struct pm_error why = {0};
    for (unsigned part = 0; part < session->count; part++) {
        char *kept = pm_spool_upload_path(path, part);
        enum pm_fate fate =
            kept ? upload_one(sync, &session->uploads[part], kept) : PM_FATE_WAITING;
        if (fate == PM_FATE_ACKNOWLEDGED)
            shaders += session->uploads[part].shaders;
        refused += fate == PM_FATE_REFUSED;
        done += fate != PM_FATE_WAITING;
        /* Empty: acknowledged. Only where other parts may keep the session here. */
        if (fate != PM_FATE_WAITING && session->count > 1 &&
            !write_file(kept, &(struct pm_buffer){0}, &why))
            note_failure(sync, &why);
        free(kept);
    }
    if (done < session->count) {
        sync->report->sessions_waiting++;
    } else if (!remove_session(sync, path, &why)) {
        note_failure(sync, &why);
    } else {
        sync->report->shaders_uploaded += shaders;
        sync->report->sessions_refused += refused > 0;
        sync->report->sessions_uploaded += session->count > refused;
    }
}

static void upload_session(struct sync *sync, const char *path)
{
    struct pm_error why = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
        /* Its process lives, or another has just removed it. */
        if (fd >= 0)
            close(fd);
        return;
    }
    struct pm_session session;
    if (!pm_session_build(&session, path, &why)) {
        if (why.code == PM_ERROR_INPUT || why.code == PM_ERROR_LIMIT) {
            pm_log_error(sync->info->log, "%s", why.message);
            sync->report->sessions_damaged++;
            if (!pm_refused_keep(sync->folder, path, why.message, &(struct pm_refusal){0}, 1, &why))
                note_failure(sync, &why);
        } else {
            sync->report->sessions_waiting++;
            note_failure(sync, &why);
        }
    } else {
        if (session.damaged_at != UINT64_MAX) {
            pm_log_warning(sync->info->log, "%s; what is before it is taken",
                           session.damage.message);
            sync->report->sessions_damaged++;
        }
        if (session.withheld) {
            note_waiting(sync, "consent.upload was false when it was recorded");
            sync->report->sessions_waiting++;
        } else {
            upload_parts(sync, &session, path);
        }
        pm_session_finish(&session);
    }
    close(fd);
}

/* ---- what was refused ---- */

struct again {
    struct sync *sync;
    char *game;            /* that was asked for last */
    struct pm_refusal now; /* by what its uploads would be; no rules: it does not say */
    unsigned sent;
};

/* By what are uploads of the game refused now? Asked once a game that follows itself. */
static void ask_rules(struct again *again, struct pm_http *http, const char *game)
{
    struct sync *sync = again->sync;
    struct pm_http_answer answer = {0};
    struct pm_error why = {0};
    char *escaped = NULL, *target = NULL;
    if (again->game && strcmp(again->game, game) == 0)
        return;
    free(again->game);
    again->game = strdup(game);
    again->now = (struct pm_refusal){0};
    escaped = pm_http_escape(game);
    if (!escaped || asprintf(&target, "/v1/games/%s/rules", escaped) < 0)
        target = NULL;
    const uint32_t left = pm_retry_left(&sync->retry);
    if (target && left > 0 &&
        pm_http_request(http, target, NULL, "", RULES_BYTES, left, &answer, &why) &&
        answer.status == 200) {
        memcpy(again->now.rules, answer.rules, sizeof(again->now.rules));
        again->now.date = answer.date;
    }
    note_date(sync, answer.date);
    pm_buffer_finish(&answer.body);
    free(escaped);
    free(target);
}

/* Sends it, and what it was refused by is no more. */
static void send_again(struct sync *sync, struct pm_server *server,
                       const struct pm_game_settings *settings, const char *path, unsigned tries)
{
    struct pm_buffer body;
    struct pm_error why = {0};
    struct pm_refusal refusal = {0};
    pm_buffer_init(&body, pm_profile_limits_default.decompressed_bytes);
    if (!pm_file_read(path, &body, &why)) {
        note_failure(sync, &why);
        pm_buffer_finish(&body);
        return;
    }
    const enum pm_fate fate =
        pm_sync_send(sync->info->log, &sync->retry, server->http, &body, path, &refusal, &why);
    note_date(sync, refusal.date);
    if (fate != PM_FATE_WAITING)
        pm_server_took(server);
    switch (fate) {
    case PM_FATE_ACKNOWLEDGED:
        pm_spool_refused_remove(path);
        sync->report->uploads_again++;
        break;
    case PM_FATE_REFUSED:
        pm_log_info(sync->info->log, "an upload was refused again: %s", why.message);
        if (!pm_refused_keep(sync->folder, path, why.message, &refusal, tries + 1, &why))
            note_failure(sync, &why);
        break;
    case PM_FATE_WAITING:
        note_trouble(sync, server, refusal.trouble, settings, &why);
        break;
    }
    pm_buffer_finish(&body);
}

/* Is what refused it another now, or was it of a day that was to come, and can be of one that is?
 */
static bool may_be_taken(const struct again *again, const struct pm_refused_upload *upload)
{
    return again->now.rules[0] &&
           (!pm_refused_rules_are_same(upload->refusal.rules, again->now.rules) ||
            (pm_day_is_ahead(upload->day, upload->refusal.date) &&
             !pm_day_is_ahead(upload->day, again->now.date)) ||
            pm_day_anew(upload->day, (int64_t)time(NULL), again->now.date) != upload->day);
}

static bool try_again(void *user, const struct pm_refused_upload *upload)
{
    struct again *again = user;
    struct sync *sync = again->sync;
    struct pm_game_settings settings;
    struct pm_error why = {0};
    if (!is_granted(sync))
        return false;
    if (!pm_game_settings_init(&settings, sync->info, upload->game, &why)) {
        note_failure(sync, &why);
        return false;
    }
    struct pm_server *server =
        settings.withheld ? NULL : pm_servers_find(&sync->servers, settings.server, &why);
    if (server && !server->given_up) {
        ask_rules(again, server->http, upload->game);
        if (may_be_taken(again, upload)) {
            send_again(sync, server, &settings, upload->path, upload->tries);
            again->sent++;
        }
    }
    pm_game_settings_finish(&settings);
    return again->sent < PM_REFUSED_AT_ONCE;
}

static void upload_refused(struct sync *sync)
{
    struct again again = {.sync = sync};
    pm_refused_list(sync->folder, try_again, &again);
    free(again.game);
    pm_refused_trim(sync->folder, sync->date);
}

/* What a sync that was killed left: half-written files, and uploads whose session is gone. Only a
 * sync writes such, and we hold its lock. */
static void remove_orphans(const char *folder)
{
    char *refused = NULL;
    pm_file_remove_leftovers(folder, 0);
    if (asprintf(&refused, "%s/" PM_SPOOL_REFUSED, folder) >= 0)
        pm_file_remove_leftovers(refused, 0);
    free(refused);
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name), tail = strlen(PM_SPOOL_UPLOAD_SUFFIX);
        const char *dash = strrchr(entry->d_name, '-');
        char *session = NULL, *upload = NULL;
        if (length <= tail || strcmp(entry->d_name + length - tail, PM_SPOOL_UPLOAD_SUFFIX) != 0 ||
            !dash)
            continue;
        if (asprintf(&session, "%s/%.*s" PM_SPOOL_SUFFIX, folder, (int)(dash - entry->d_name),
                     entry->d_name) >= 0 &&
            asprintf(&upload, "%s/%s", folder, entry->d_name) >= 0 && access(session, F_OK) != 0 &&
            errno == ENOENT)
            unlink(upload);
        free(session);
        free(upload);
    }
    if (directory)
        closedir(directory);
}

/* may_send: we hold the lock. */
static bool upload_all(struct sync *sync, bool may_send)
{
    struct pm_spool_session *sessions;
    size_t count;
    struct pm_error why = {0};
    if (!pm_spool_list(sync->folder, &sessions, &count, &why)) {
        note_failure(sync, &why);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (sessions[i].live)
            continue;
        if (!may_send)
            note_waiting(sync, no_consent);
        may_send = may_send && is_granted(sync);
        pm_retry_share(&sync->retry, i + 1 < count);
        if (may_send)
            upload_session(sync, sessions[i].path);
        else
            sync->report->sessions_waiting++;
    }
    pm_retry_share(&sync->retry, false);
    pm_spool_list_free(sessions, count);
    return !sync->failed;
}

bool pm_sync_upload(const struct pm_sync_info *info, struct pm_sync_report *report,
                    struct pm_error *error)
{
    struct sync sync = {.info = info, .report = report, .error = error};
    enum pm_consent consent;
    if (!pm_consent_read(&consent, error))
        return false;
    sync.folder = pm_spool_folder(info->spool_folder);
    if (!sync.folder)
        return pm_fail(error, PM_ERROR_MEMORY, "no place for the spool");
    bool uploaded;
    char *lock_path = NULL;
    if (access(sync.folder, F_OK) != 0 && errno == ENOENT) {
        uploaded = true; /* nothing was ever recorded */
    } else if (consent != PM_CONSENT_GRANTED) {
        uploaded = upload_all(&sync, false);
    } else if (asprintf(&lock_path, "%s/.sync.lock", sync.folder) < 0) {
        lock_path = NULL;
        uploaded = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    } else {
        pm_retry_init(&sync.retry, info->deadline_seconds, info->retry_seconds);
        int lock = pm_sync_lock(lock_path, &sync.retry, error);
        uploaded = lock >= 0;
        if (uploaded) {
            remove_orphans(sync.folder);
            upload_all(&sync, true);
            upload_refused(&sync);
            uploaded = !sync.failed;
            close(lock);
        }
    }
    pm_servers_finish(&sync.servers);
    free(lock_path);
    free(sync.folder);
    return uploaded;
}
