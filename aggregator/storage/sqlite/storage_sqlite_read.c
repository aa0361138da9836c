/* The read functions of the SQLite storage. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "aggregator/storage/fail.h"
#include "aggregator/storage/seal.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The parameters of a SELECT; NULL where it has none. ?1, ?2 and ?3. */
struct parameters {
    const char *game;
    const struct pm_shader_key *key;
    const char *scene;
    uint32_t most; /* ?4 */
};

static int bind(sqlite3_stmt *statement, const struct parameters *parameters)
{
    int code = SQLITE_OK;
    if (parameters->game)
        code = sqlite3_bind_text(statement, 1, parameters->game, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && parameters->key)
        code = sqlite3_bind_blob(statement, 2, parameters->key->bytes, PM_SHADER_KEY_BYTES,
                                 SQLITE_STATIC);
    if (code == SQLITE_OK && parameters->scene)
        code = sqlite3_bind_text(statement, 3, parameters->scene, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && parameters->most > 0)
        code = sqlite3_bind_int64(statement, 4, parameters->most);
    return code;
}

/* Runs one SELECT; false from row stops it. */
static bool select_rows(struct pm_sqlite *sqlite, const char *sql,
                        const struct parameters *parameters,
                        bool (*row)(void *user, sqlite3_stmt *statement, struct pm_error *error),
                        void *user, struct pm_error *error)
{
    sqlite3 *db = pm_sqlite_take_reader(sqlite, error);
    if (!db)
        return false;
    sqlite3_stmt *statement = NULL;
    bool done = true, ended = false;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = bind(statement, parameters);
    while (done && !ended && code == SQLITE_OK) {
        switch (sqlite3_step(statement)) {
        case SQLITE_ROW:
            done = row(user, statement, error);
            break;
        case SQLITE_DONE:
            ended = true;
            break;
        default:
            code = sqlite3_errcode(db);
        }
    }
    if (code != SQLITE_OK)
        done = pm_sqlite_fail(sqlite->path, db, "cannot read the database", error);
    sqlite3_finalize(statement);
    pm_sqlite_give_reader(sqlite, db);
    return done;
}

/* ---- blobs ---- */

struct blob_visit {
    struct pm_sqlite *sqlite;
    const char *game;
    pm_storage_visit_blob visit;
    void *user;
};

static bool blob_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct blob_visit *visit = user;
    struct pm_storage_key key = {.game = visit->game};
    const void *shader = sqlite3_column_blob(statement, 0);
    const void *environment = sqlite3_column_blob(statement, 1);
    const char *scene = (const char *)sqlite3_column_text(statement, 5);
    if (!shader || sqlite3_column_bytes(statement, 0) != PM_SHADER_KEY_BYTES || !environment ||
        !pm_sqlite_unpack_environment(environment, sqlite3_column_bytes(statement, 1),
                                      &key.environment))
        return pm_fail(error, PM_ERROR_INPUT, "%s: a row of statistics has a damaged key",
                       visit->sqlite->path);
    memcpy(key.key.bytes, shader, PM_SHADER_KEY_BYTES);
    key.kind = (enum pm_kind)sqlite3_column_int(statement, 2);
    key.flags = (uint32_t)sqlite3_column_int64(statement, 3);
    key.day = (uint32_t)sqlite3_column_int64(statement, 4);
    key.scene = scene ? scene : "";
    const void *d = sqlite3_column_blob(statement, 6);
    size_t size;
    const void *blob = pm_seal_check(pm_seal_of(&key), d ? d : "",
                                     (size_t)sqlite3_column_bytes(statement, 6), &size);
    if (!visit->visit(visit->user, &key, blob, size, error))
        return pm_fail_prefix(error, "%s", visit->sqlite->path);
    return true;
}

#define BLOBS_OF                                                                                   \
    "SELECT key, environment, kind, flags, day, scene, d FROM statistics WHERE game = ?1"
#define BLOBS_SORTED " ORDER BY key, environment, kind, flags, day, scene"

bool pm_sqlite_read_game(struct pm_storage *storage, const char *game, const char *scene,
                         pm_storage_visit_blob visit, void *user, struct pm_error *error)
{
    struct blob_visit all = {(struct pm_sqlite *)storage, game, visit, user};
    return select_rows(all.sqlite,
                       scene ? BLOBS_OF " AND scene = ?3" BLOBS_SORTED : BLOBS_OF BLOBS_SORTED,
                       &(struct parameters){.game = game, .scene = scene}, blob_row, &all, error);
}

bool pm_sqlite_read_shader(struct pm_storage *storage, const char *game,
                           const struct pm_shader_key *key, pm_storage_visit_blob visit, void *user,
                           struct pm_error *error)
{
    struct blob_visit all = {(struct pm_sqlite *)storage, game, visit, user};
    return select_rows(all.sqlite, BLOBS_OF " AND key = ?2" BLOBS_SORTED,
                       &(struct parameters){.game = game, .key = key}, blob_row, &all, error);
}

/* ---- scenes and origins ---- */

struct scene_visit {
    pm_storage_visit_scene visit;
    void *user;
};

static bool scene_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct scene_visit *visit = user;
    const char *scene = (const char *)sqlite3_column_text(statement, 0);
    return visit->visit(visit->user, scene ? scene : "",
                        (uint64_t)sqlite3_column_int64(statement, 1),
                        (uint32_t)sqlite3_column_int64(statement, 2), error);
}

bool pm_sqlite_list_scenes(struct pm_storage *storage, const char *game, uint32_t most,
                           pm_storage_visit_scene visit, void *user, struct pm_error *error)
{
    struct scene_visit all = {visit, user};
    return select_rows((struct pm_sqlite *)storage,
                       "SELECT scene, uploads, day FROM scenes WHERE game = ?1"
                       " ORDER BY uploads DESC, scene LIMIT ?4",
                       &(struct parameters){.game = game, .most = most}, scene_row, &all, error);
}

struct origin_visit {
    pm_storage_visit_origin visit;
    void *user;
};

static bool origin_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct origin_visit *visit = user;
    const void *origin = sqlite3_column_blob(statement, 0);
    return visit->visit(visit->user, origin ? origin : "",
                        (size_t)sqlite3_column_bytes(statement, 0), error);
}

bool pm_sqlite_read_origins(struct pm_storage *storage, const char *game,
                            pm_storage_visit_origin visit, void *user, struct pm_error *error)
{
    struct origin_visit all = {visit, user};
    return select_rows((struct pm_sqlite *)storage,
                       "SELECT origin FROM origins WHERE game = ?1 ORDER BY origin",
                       &(struct parameters){.game = game}, origin_row, &all, error);
}

/* ---- games ---- */

struct game_visit {
    pm_storage_visit_game visit;
    void *user;
};

static bool game_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct game_visit *visit = user;
    const char *name = (const char *)sqlite3_column_text(statement, 0);
    return visit->visit(visit->user, name ? name : "", (uint64_t)sqlite3_column_int64(statement, 1),
                        error);
}

bool pm_sqlite_list_games(struct pm_storage *storage, pm_storage_visit_game visit, void *user,
                          struct pm_error *error)
{
    struct game_visit all = {visit, user};
    return select_rows((struct pm_sqlite *)storage, "SELECT name, uploads FROM games ORDER BY name",
                       &(struct parameters){0}, game_row, &all, error);
}

struct game_found {
    bool known;
    uint64_t uploads;
};

static bool found_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    (void)error;
    *(struct game_found *)user =
        (struct game_found){true, (uint64_t)sqlite3_column_int64(statement, 0)};
    return true;
}

bool pm_sqlite_find_game(struct pm_storage *storage, const char *game, bool *known,
                         uint64_t *uploads, struct pm_error *error)
{
    struct game_found found = {0};
    const bool done =
        select_rows((struct pm_sqlite *)storage, "SELECT uploads FROM games WHERE name = ?1",
                    &(struct parameters){.game = game}, found_row, &found, error);
    *known = found.known;
    *uploads = found.uploads;
    return done;
}

static bool count_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    (void)error;
    *(uint64_t *)user = (uint64_t)sqlite3_column_int64(statement, 0);
    return true;
}

bool pm_sqlite_count_games(struct pm_storage *storage, uint64_t *games, struct pm_error *error)
{
    *games = 0;
    return select_rows((struct pm_sqlite *)storage, "SELECT count(*) FROM games",
                       &(struct parameters){0}, count_row, games, error);
}

/* ---- databases ---- */

struct database_row {
    char *etag;
    struct pm_buffer *body;
    bool found;
};

static bool database_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    struct database_row *row = user;
    const char *etag = (const char *)sqlite3_column_text(statement, 0);
    if (!etag && sqlite3_column_type(statement, 0) == SQLITE_NULL)
        return true; /* there was no previous one */
    /* One row, or, with the body, one a part of it. */
    if (!etag || strlen(etag) >= PM_ETAG_TEXT)
        return pm_fail(error, PM_ERROR_INPUT, "a published database has a damaged ETag");
    memcpy(row->etag, etag, strlen(etag) + 1);
    row->found = true;
    if (!row->body)
        return true;
    const void *body = sqlite3_column_blob(statement, 1);
    const size_t size = (size_t)sqlite3_column_bytes(statement, 1);
    if (size > 0 && (!body || !pm_buffer_append(row->body, body, size)))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database of %zu bytes", size);
    return true;
}

#define FROM_DATABASES " FROM databases WHERE game = ?1 AND scene = ?3"
#define WITH_BODY(etag)                                                                            \
    "SELECT databases." etag ", d FROM databases JOIN bodies ON bodies.etag = databases." etag     \
    " WHERE game = ?1 AND scene = ?3 ORDER BY part"

bool pm_sqlite_get_database(struct pm_storage *storage, const char *game, const char *scene,
                            bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                            struct pm_error *error)
{
    static const char *const queries[2][2] = {
        {"SELECT etag" FROM_DATABASES, WITH_BODY("etag")},
        {"SELECT previous_etag" FROM_DATABASES, WITH_BODY("previous_etag")},
    };
    struct database_row row = {.etag = etag, .body = body};
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    if (!select_rows(sqlite, queries[previous][body != NULL],
                     &(struct parameters){.game = game, .scene = scene}, database_row, &row, error))
        return pm_fail_unread(error);
    if (!row.found && *scene)
        return pm_fail(error, PM_ERROR_STATE,
                       "there is no%s database of the scene \"%s\" of the game \"%s\"",
                       previous ? " previous" : "", scene, game);
    if (!row.found)
        return pm_fail(error, PM_ERROR_STATE, "there is no%s database of the game \"%s\" yet",
                       previous ? " previous" : "", game);
    return true;
}

/* ---- coverage ---- */

struct coverage_visit {
    pm_storage_visit_coverage visit;
    void *user;
};

static bool coverage_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct coverage_visit *visit = user;
    if (visit->visit(visit->user, sqlite3_column_int64(statement, 0),
                     (uint64_t)sqlite3_column_int64(statement, 1),
                     (uint64_t)sqlite3_column_int64(statement, 2),
                     (uint64_t)sqlite3_column_int64(statement, 3)))
        return true;
    return pm_fail(error, PM_ERROR_STATE, "the visitor stopped");
}

bool pm_sqlite_read_coverage(struct pm_storage *storage, const char *game,
                             pm_storage_visit_coverage visit, void *user, struct pm_error *error)
{
    struct coverage_visit all = {visit, user};
    return select_rows((struct pm_sqlite *)storage,
                       "SELECT time, uploads, points_covered, points FROM coverage WHERE game = ?1"
                       " ORDER BY time, rowid",
                       &(struct parameters){.game = game}, coverage_row, &all, error);
}

/* ---- size ---- */

bool pm_sqlite_read_bytes(struct pm_storage *storage, uint64_t *bytes, struct pm_error *error)
{
    static const char *const suffixes[] = {"", "-wal"};
    const struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    *bytes = 0;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        struct stat status;
        char path[PATH_MAX];
        const int length = snprintf(path, sizeof(path), "%s%s", sqlite->path, suffixes[i]);
        if (length < 0 || (size_t)length >= sizeof(path))
            return pm_fail(error, PM_ERROR_INPUT, "%s: the path is too long", sqlite->path);
        if (stat(path, &status) == 0)
            *bytes += (uint64_t)status.st_size;
        else if (errno != ENOENT)
            return pm_fail_errno(error, errno, "%s: cannot be looked at", path);
    }
    return true;
}

/* ---- claims and quarantine ---- */

#define CLAIMS "SELECT key, kind, scope, space, day, tokens, NULL FROM claims WHERE game = ?1"
#define MARKED                                                                                     \
    "SELECT key, kind, scope, space, day, count(*), NULL FROM claim_marks WHERE game = ?1"         \
    " GROUP BY key, kind, scope, space, day"
#define CLAIMS_SORTED " ORDER BY 1, 2, 3, 4, 5"

bool pm_sqlite_read_claims(struct pm_storage *storage, const char *game,
                           pm_storage_visit_claim visit, void *user, struct pm_error *error)
{
    struct pm_sqlite_claim_visit all = {(struct pm_sqlite *)storage, game, visit, user};
    return select_rows(all.sqlite,
                       all.sqlite->has_marks ? CLAIMS " UNION ALL " MARKED CLAIMS_SORTED
                                             : CLAIMS CLAIMS_SORTED,
                       &(struct parameters){.game = game}, pm_sqlite_claim_row, &all, error);
}

struct original_visit {
    pm_storage_visit_original visit;
    void *user;
};

static bool original_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct original_visit *visit = user;
    const uint32_t day = (uint32_t)sqlite3_column_int64(statement, 2);
    struct pm_shader_key keys[2]; /* of the timed shader, of the original */
    for (int i = 0; i < 2; i++) {
        const void *key = sqlite3_column_blob(statement, i);
        /* What is no blob is sorted otherwise, whatever it has inside. */
        if (!key || sqlite3_column_type(statement, i) != SQLITE_BLOB ||
            sqlite3_column_bytes(statement, i) != PM_SHADER_KEY_BYTES)
            return visit->visit(visit->user, NULL, NULL, day, error);
        memcpy(keys[i].bytes, key, PM_SHADER_KEY_BYTES);
    }
    return visit->visit(visit->user, &keys[0], &keys[1], day, error);
}

bool pm_sqlite_read_originals(struct pm_storage *storage, const char *game,
                              pm_storage_visit_original visit, void *user, struct pm_error *error)
{
    struct original_visit all = {visit, user};
    return select_rows((struct pm_sqlite *)storage,
                       "SELECT key, original, day FROM originals WHERE game = ?1 ORDER BY key",
                       &(struct parameters){.game = game}, original_row, &all, error);
}

struct name_visit {
    pm_storage_visit_name visit;
    void *user;
};

static bool name_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct name_visit *visit = user;
    const void *bytes = sqlite3_column_blob(statement, 0);
    const char *name = (const char *)sqlite3_column_text(statement, 1);
    struct pm_shader_key key;
    if (!bytes || !name || sqlite3_column_bytes(statement, 0) != PM_SHADER_KEY_BYTES)
        return true; /* --check says so */
    memcpy(key.bytes, bytes, PM_SHADER_KEY_BYTES);
    return visit->visit(visit->user, &key, name, error);
}

bool pm_sqlite_read_names(struct pm_storage *storage, const char *game, pm_storage_visit_name visit,
                          void *user, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    struct name_visit all = {visit, user};
    return !sqlite->has_names ||
           select_rows(sqlite, "SELECT key, name FROM shader_names WHERE game = ?1 ORDER BY key",
                       &(struct parameters){.game = game}, name_row, &all, error);
}

struct quarantine_visit {
    pm_visit_quarantined visit;
    void *user;
};

static bool quarantine_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct quarantine_visit *visit = user;
    const char *game = (const char *)sqlite3_column_text(statement, 1);
    const char *reason = (const char *)sqlite3_column_text(statement, 2);
    const struct pm_quarantined entry = {
        .time = sqlite3_column_int64(statement, 0),
        .game = game ? game : "",
        .reason = reason ? reason : "",
        .body = sqlite3_column_blob(statement, 3),
        .body_size = (size_t)sqlite3_column_bytes(statement, 3),
    };
    return visit->visit(visit->user, &entry, error);
}

#define QUARANTINED "SELECT time, game, reason, body FROM quarantine"

bool pm_sqlite_read_quarantine(struct pm_storage *storage, const char *game,
                               pm_visit_quarantined visit, void *user, struct pm_error *error)
{
    struct quarantine_visit all = {visit, user};
    return select_rows((struct pm_sqlite *)storage,
                       game ? QUARANTINED " WHERE game = ?1 ORDER BY id DESC"
                            : QUARANTINED " ORDER BY id DESC",
                       &(struct parameters){.game = game}, quarantine_row, &all, error);
}
