#include "tools/run/local.h"
#include "aggregator/aggregator.h"
#include "aggregator_client/client.h"
#include "aggregator_client/redate.h"
#include "aggregator_client/session_upload.h"
#include "aggregator_client/sync_refused.h"
#include "base/file.h"
#include "base/random.h"
#include "tools/common/tool.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { GAMES_MOST = 256 };

struct taking {
    struct pm_aggregator *aggregator;
    struct pm_log *log;
    struct pm_local_report *report;
    char *games[GAMES_MOST];
    size_t game_count;
};

#define PLACE "local"
#define SPOOLS PLACE "/spool"

/* ---- the folders ---- */

/* Makes a folder of the data's place and has the variable name it. */
static bool enter_folder(const char *variable, const char *name, char **folder,
                         struct pm_error *error)
{
    *folder = pm_place_path(PM_PLACE_DATA, name);
    return (*folder || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
           pm_make_folder(*folder, error) &&
           (setenv(variable, *folder, 1) == 0 ||
            pm_fail_errno(error, errno, "setting %s", variable));
}

/* The folder's lock, shared or not; -1: somebody holds it, or there is no such folder. */
static int lock_folder(const char *folder, int how)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, how | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool pm_local_begin(struct pm_local_run *run, struct pm_error *error)
{
    char name[64], *databases = NULL;
    uint64_t random;
    *run = (struct pm_local_run){.lock = -1};
    if (!pm_random_system(&random, sizeof(random)))
        return pm_fail(error, PM_ERROR_IO, "the system gives no random numbers");
    snprintf(name, sizeof(name), SPOOLS "/%016" PRIx64, random);
    const bool ok = enter_folder("PIECEMEAL_SPOOL", name, &run->spool, error) &&
                    enter_folder("PIECEMEAL_DATABASES", "local/databases", &databases, error);
    if (ok)
        run->lock = lock_folder(run->spool, LOCK_EX);
    free(databases);
    return ok;
}

size_t pm_local_live(const struct pm_local_run *run)
{
    struct pm_spool_session *sessions = NULL;
    size_t count = 0, live = 0;
    if (!pm_spool_list(run->spool, &sessions, &count, NULL))
        return 0;
    for (size_t i = 0; i < count; i++)
        live += sessions[i].live;
    pm_spool_list_free(sessions, count);
    return live;
}

void pm_local_end(struct pm_local_run *run)
{
    /* A process that writes its first checkpoint later makes the folder again. */
    if (run->spool)
        rmdir(run->spool);
    if (run->lock >= 0)
        close(run->lock);
    free(run->spool);
    *run = (struct pm_local_run){.lock = -1};
}

/* ---- taking in ---- */

static bool remember_game(struct taking *taking, const char *game, struct pm_error *error)
{
    for (size_t i = 0; i < taking->game_count; i++)
        if (!strcmp(taking->games[i], game))
            return true;
    if (taking->game_count == GAMES_MOST)
        return pm_fail(error, PM_ERROR_LIMIT, "more than %d games in the local spool", GAMES_MOST);
    char *copy = strdup(game);
    if (!copy)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    taking->games[taking->game_count++] = copy;
    return true;
}

/* One upload of a session: one cluster, as it would be elsewhere. */
static bool ingest_once(struct taking *taking, const struct pm_session_upload *upload,
                        struct pm_ingest_outcome *outcome, struct pm_error *error)
{
    struct pm_buffer wire;
    struct pm_profile profile;
    const struct pm_profile *const profiles[] = {&profile};
    struct pm_arena *arena = pm_arena_create(0);
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    bool ok = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && pm_decompress(upload->body.data, upload->body.size, &wire, error) &&
         pm_profile_decode(wire.data, wire.size, NULL, arena, &profile, error) &&
         pm_aggregator_ingest(taking->aggregator, profiles, 1, outcome, error);
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
    return ok;
}

static bool is_kept(const struct pm_ingest_outcome *outcome)
{
    return outcome->result == PM_INGEST_STORED || outcome->result == PM_INGEST_DUPLICATE;
}

/* What is refused and is of a day that cannot be gets another one, as a sync does it. */
static bool ingest(struct taking *taking, struct pm_session_upload *upload,
                   struct pm_ingest_outcome *outcome, struct pm_error *error)
{
    const int64_t now = (int64_t)time(NULL);
    bool ok = ingest_once(taking, upload, outcome, error);
    if (ok && outcome->result == PM_INGEST_REFUSED && pm_upload_redate(&upload->body, now, now))
        ok = ingest_once(taking, upload, outcome, error);
    if (ok && is_kept(outcome))
        return remember_game(taking, upload->game, error);
    if (ok)
        pm_log_warning(taking->log, "a session of %s was refused: %s", upload->game,
                       outcome->reason.message);
    return ok;
}

/* A session of which nothing can be made, or which the aggregator refuses: another version may take
 * it, so that it is kept as sync keeps what is refused. */
static bool set_aside(const char *path, const struct pm_error *why, struct pm_error *error)
{
    char *place = pm_place_path(PM_PLACE_DATA, PLACE);
    const bool kept = (place || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
                      pm_refused_keep(place, path, why->message, &(struct pm_refusal){0}, 1, error);
    if (kept)
        pm_refused_trim(place, 0);
    free(place);
    return kept;
}

static bool take_session(struct taking *taking, const struct pm_spool_session *file,
                         struct pm_error *error)
{
    struct pm_session session;
    struct pm_error why = {0};
    if (!pm_session_build(&session, file->path, &why)) {
        if (why.code != PM_ERROR_INPUT && why.code != PM_ERROR_LIMIT)
            return pm_fail(error, why.code, "%s", why.message);
        pm_log_warning(taking->log, "%s", why.message);
        taking->report->damaged++;
        return set_aside(file->path, &why, error);
    }
    if (session.damaged_at != UINT64_MAX) {
        pm_log_warning(taking->log, "%s", session.damage.message);
        taking->report->damaged++;
    }
    bool ok = true;
    unsigned refused = 0;
    for (unsigned i = 0; ok && i < session.count; i++) {
        struct pm_ingest_outcome outcome = {0};
        ok = ingest(taking, &session.uploads[i], &outcome, error);
        if (ok && !is_kept(&outcome)) {
            why = outcome.reason;
            refused++;
        }
    }
    if (ok && refused > 0)
        ok = set_aside(file->path, &why, error);
    else if (ok && unlink(file->path) != 0 && errno != ENOENT)
        ok = pm_fail_errno(error, errno, "%s", file->path);
    if (ok && (refused == 0 || refused < session.count)) {
        taking->report->checkpoints += session.checkpoints;
        taking->report->sessions++;
    }
    pm_session_finish(&session);
    return ok;
}

static bool place_database(struct taking *taking, const char *game, struct pm_error *error)
{
    struct pm_buffer body;
    char etag[PM_ETAG_TEXT];
    char *path = pm_database_cache_path(game);
    pm_buffer_init(&body, 2 * PM_DATABASE_BYTES);
    bool ok = (path || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
              pm_aggregator_curate(taking->aggregator, game, error) &&
              pm_aggregator_database(taking->aggregator, game, etag, &body, error) &&
              pm_file_write(path, body.data, body.size, error) &&
              pm_database_cache_pack(path, error);
    pm_buffer_finish(&body);
    free(path);
    return ok;
}

static bool take_folder(struct taking *taking, const char *folder, struct pm_error *error)
{
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    if (!pm_spool_list(folder, &sessions, &count, error))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (!sessions[i].live)
            ok = take_session(taking, &sessions[i], error);
    pm_spool_list_free(sessions, count);
    return ok;
}

/* A spool among those of runs; where its run is over it goes when it is empty. */
static bool take_left_folder(struct taking *taking, const char *folder, struct pm_error *error)
{
    const int lock = lock_folder(folder, LOCK_SH);
    if (lock < 0)
        return true;
    const bool ok = take_folder(taking, folder, error);
    rmdir(folder);
    close(lock);
    return ok;
}

/* What runs left that are over, and what somebody put among their spools. */
static bool take_left(struct taking *taking, struct pm_error *error)
{
    char *place = pm_place_path(PM_PLACE_DATA, SPOOLS);
    if (!place)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool ok = take_folder(taking, place, error);
    DIR *directory = ok ? opendir(place) : NULL;
    for (struct dirent *entry; directory && ok && (entry = readdir(directory));) {
        char *folder = NULL;
        if (entry->d_name[0] == '.')
            continue;
        if (asprintf(&folder, "%s/%s", place, entry->d_name) < 0) {
            ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
            break;
        }
        ok = take_left_folder(taking, folder, error);
        free(folder);
    }
    if (directory)
        closedir(directory);
    free(place);
    return ok;
}

static bool take_all(struct taking *taking, const struct pm_local_run *run, struct pm_error *error)
{
    bool ok = run ? take_folder(taking, run->spool, error) : take_left(taking, error);
    /* All of them, whatever failed: their sessions are gone. */
    for (size_t i = 0; i < taking->game_count; i++) {
        struct pm_error why = {0};
        if (place_database(taking, taking->games[i], &why))
            continue;
        if (ok && error)
            *error = why;
        else
            pm_log_error(taking->log, "%s", why.message);
        ok = false;
    }
    taking->report->games = taking->game_count;
    return ok;
}

bool pm_local_take_in(const struct pm_local_run *run, struct pm_log *log,
                      struct pm_local_report *report, struct pm_error *error)
{
    struct taking taking = {.log = log, .report = report};
    *report = (struct pm_local_report){0};
    char *path = pm_tool_local_storage();
    struct pm_aggregator_info info = {.log = log,
                                      .publish_all = true,
                                      .half_life_days = PM_HALF_LIFE_DAYS,
                                      .retention_days = PM_RETENTION_DAYS};
    if (path)
        taking.aggregator = pm_aggregator_open(path, &info, error);
    else
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    free(path);
    bool ok = taking.aggregator && take_all(&taking, run, error);
    pm_aggregator_destroy(taking.aggregator);
    for (size_t i = 0; i < taking.game_count; i++)
        free(taking.games[i]);
    return ok;
}
