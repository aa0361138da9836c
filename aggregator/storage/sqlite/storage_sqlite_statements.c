/* What the SQLite storage's writer says, and how it is said: prepared once, bound, run. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

/* Games of which nothing is left: at most ?2 of them, always the same ones in one transaction. */
#define EMPTY_GAMES                                                                                \
    "(SELECT name FROM games WHERE"                                                                \
    " NOT EXISTS (SELECT 1 FROM statistics WHERE statistics.game = games.name)"                    \
    " AND NOT EXISTS (SELECT 1 FROM samples WHERE samples.game = games.name)"                      \
    " ORDER BY name LIMIT ?2)"

/* Claims that were made on days that are not ?1, and by how many: at most ?2, always the same ones
 * in one transaction. */
#define ENDED_MARKS                                                                                \
    "(SELECT game, key, kind, scope, space, day, count(*) AS n FROM claim_marks"                   \
    " WHERE day <> ?1 GROUP BY day, game, key, kind, scope, space"                                 \
    " ORDER BY day, game, key, kind, scope, space LIMIT ?2)"

/* Of a claim and the count of a day that has ended: what stays. */
#define BETTER(column)                                                                             \
    "CASE WHEN excluded.tokens >= tokens OR day < ?3 THEN excluded." column " ELSE " column " END"

static const char *const sql[PM_SQLITE_STATEMENTS] = {
    [PM_SQLITE_BEGIN] = "BEGIN IMMEDIATE",
    [PM_SQLITE_COMMIT] = "COMMIT",
    [PM_SQLITE_ROLLBACK] = "ROLLBACK",
    [PM_SQLITE_ADD_UPLOAD_ID] = "INSERT OR IGNORE INTO upload_ids VALUES (?1, ?2)",
    [PM_SQLITE_DROP_UPLOAD_ID] = "DELETE FROM upload_ids WHERE id = ?1",
    [PM_SQLITE_RAISE_CAP] = "INSERT INTO caps VALUES (?1, ?2, 1)"
                            " ON CONFLICT DO UPDATE SET n = n + 1 WHERE n < ?3",
    [PM_SQLITE_LOWER_CAP] = "UPDATE caps SET n = n - 1 WHERE day = ?1 AND mark = ?2",
    [PM_SQLITE_ADD_UPLOADS] = "INSERT INTO games VALUES (?1, ?2, seal(?1, ?2))"
                              " ON CONFLICT DO UPDATE SET uploads = uploads + excluded.uploads,"
                              " seal = seal(name, uploads + excluded.uploads)",
    [PM_SQLITE_COUNT_SCENE] = "UPDATE scenes SET uploads = uploads + ?3, day = max(day, ?4),"
                              " seal = seal(game, scene, uploads + ?3, max(day, ?4))"
                              " WHERE game = ?1 AND scene = ?2",
    [PM_SQLITE_ADD_SCENE] = "INSERT INTO scenes SELECT ?1, ?2, ?3, ?4, seal(?1, ?2, ?3, ?4)"
                            " WHERE (SELECT count(*) FROM scenes WHERE game = ?1) < ?5",
    [PM_SQLITE_FIND_SCENE] = "SELECT 1 FROM scenes WHERE game = ?1 AND scene = ?2",
    [PM_SQLITE_FIND_SPACE] = "SELECT space FROM spaces WHERE game = ?1 AND key = ?2 AND kind = ?3",
    [PM_SQLITE_PUT_SPACE] = "INSERT INTO spaces VALUES (?1, ?2, ?3, ?4, seal(?1, ?2, ?3, ?4))",
    [PM_SQLITE_ADD_BLOB] = "INSERT INTO statistics VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                           " ON CONFLICT DO UPDATE SET d = merge(d, excluded.d, ?9)",
    [PM_SQLITE_FIND_BODY] = "SELECT total(length(d)) FROM bodies WHERE etag = ?1",
    [PM_SQLITE_PUT_PART] = "INSERT OR IGNORE INTO bodies VALUES (?1, ?2, ?3)",
    [PM_SQLITE_PUT_DATABASE] =
        "INSERT INTO databases (game, scene, etag, seal)"
        " SELECT ?1, ?2, ?3, seal(?1, ?2, ?3, NULL)"
        " WHERE EXISTS (SELECT 1 FROM games WHERE name = ?1)"
        " ON CONFLICT DO UPDATE SET previous_etag = etag,"
        " etag = excluded.etag, seal = seal(game, scene, excluded.etag, etag)",
    [PM_SQLITE_SWEEP_BODIES] = PM_SQLITE_SWEEP,
    [PM_SQLITE_ADD_SAMPLES] =
        "INSERT INTO samples (game, part, size, day, d, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [PM_SQLITE_DELETE_SAMPLES] = "DELETE FROM samples WHERE game = ?1 AND part = ?2 AND row = ?3",
    [PM_SQLITE_DATA_VERSION] = "PRAGMA data_version",
    [PM_SQLITE_ADD_COVERAGE] =
        "INSERT INTO coverage SELECT ?1, ?2, ?3, ?4, ?5, seal(?1, ?2, ?3, ?4, ?5)"
        " WHERE EXISTS (SELECT 1 FROM games WHERE name = ?1)",
    /* ?2: a time in seconds. A week is looked at, so that a pause of the service leaves nothing. */
    [PM_SQLITE_THIN_COVERAGE] =
        "DELETE FROM coverage WHERE game = ?1 AND time >= ?2 - 777600 AND time < ?2 - 172800"
        " AND rowid NOT IN (SELECT min(rowid) FROM coverage WHERE game = ?1 AND time >= ?2 - 777600"
        " AND time < ?2 - 172800 GROUP BY time / 3600)",
    [PM_SQLITE_ADD_ORIGIN] = "INSERT OR IGNORE INTO origins VALUES (?1, ?2)",
    /* Claims, quarantine and retention. */
    [PM_SQLITE_FIND_CLAIMS] =
        "SELECT key, kind, scope, space, day, tokens, NULL AS mark FROM claims"
        " WHERE game = ?1 AND key = ?2 AND kind = ?3 AND scope = ?4"
        " UNION ALL SELECT key, kind, scope, space, day, 1, mark FROM claim_marks"
        " WHERE game = ?1 AND key = ?2 AND kind = ?3 AND scope = ?4 ORDER BY space, day, mark",
    [PM_SQLITE_ADD_MARK] = "INSERT OR IGNORE INTO claim_marks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [PM_SQLITE_PUT_CLAIM] =
        "INSERT OR REPLACE INTO claims VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, NULL,"
        " seal(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7))",
    [PM_SQLITE_DROP_CLAIM] = "DELETE FROM claims WHERE game = ?1 AND key = ?2 AND kind = ?3"
                             " AND scope = ?4 AND space = ?5",
    [PM_SQLITE_DROP_MARKS] = "DELETE FROM claim_marks WHERE game = ?1 AND key = ?2 AND kind = ?3"
                             " AND scope = ?4 AND space = ?5",
    /* ?1: today; ?2: rows; ?3: the first day that counts. */
    [PM_SQLITE_COUNT_MARKS] =
        "INSERT INTO claims SELECT game, key, kind, scope, space, n, day, day, NULL,"
        " seal(game, key, kind, scope, space, n, day, day)"
        " FROM " ENDED_MARKS
        " WHERE true ON CONFLICT DO UPDATE SET tokens = " BETTER("tokens") ", day = " BETTER(
            "day") ", marks_day = max(marks_day, excluded.marks_day),"
                   " seal = seal(game, key, kind, scope, space, " BETTER("tokens") ", " BETTER(
                       "day") ", max(marks_day, excluded.marks_day))",
    [PM_SQLITE_END_MARKS] = "DELETE FROM claim_marks WHERE (game, key, kind, scope, space, day) IN"
                            " (SELECT game, key, kind, scope, space, day FROM " ENDED_MARKS ")",
    [PM_SQLITE_END_CAPS] = "DELETE FROM caps WHERE day <> ?1",
    [PM_SQLITE_FORGET_BLOBS] = "DELETE FROM statistics WHERE game = ?1 AND key = ?2 AND kind = ?3",
    [PM_SQLITE_REPLACE_SPACE] =
        "INSERT OR REPLACE INTO spaces VALUES (?1, ?2, ?3, ?4, seal(?1, ?2, ?3, ?4))",
    [PM_SQLITE_PUT_ORIGINAL] = "INSERT INTO originals VALUES (?1, ?2, ?3, ?4, seal(?1, ?2, ?3, ?4))"
                               " ON CONFLICT DO UPDATE SET day = excluded.day,"
                               " seal = seal(game, key, original, excluded.day)"
                               " WHERE original = excluded.original AND day < excluded.day",
    [PM_SQLITE_PUT_NAME] =
        "INSERT OR REPLACE INTO shader_names VALUES (?1, ?2, ?3, seal(?1, ?2, ?3))",
    [PM_SQLITE_ADD_QUARANTINED] =
        "INSERT INTO quarantine (time, game, reason, body_size, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    [PM_SQLITE_QUARANTINE_SIZE] = "SELECT count(*), ifnull(sum(body_size), 0) FROM quarantine",
    [PM_SQLITE_DROP_QUARANTINED] = "DELETE FROM quarantine WHERE id = (SELECT min(id) FROM"
                                   " quarantine)",
    [PM_SQLITE_PRUNE_BLOBS] = "DELETE FROM statistics WHERE rowid IN"
                              " (SELECT rowid FROM statistics WHERE day < ?1 LIMIT ?2)",
    [PM_SQLITE_PRUNE_IDS] = "DELETE FROM upload_ids WHERE id IN"
                            " (SELECT id FROM upload_ids WHERE day < ?1 LIMIT ?2)",
    /* Samples of a shader that has no statistics may still wait: it then has a claim of late. */
    [PM_SQLITE_PRUNE_SPACES] =
        "DELETE FROM spaces WHERE (game, key, kind) IN (SELECT game, key, kind FROM claims"
        " WHERE marks_day < ?1 ORDER BY marks_day, game, key, kind, scope, space LIMIT ?2)"
        " AND NOT EXISTS (SELECT 1 FROM statistics AS s WHERE s.game = spaces.game"
        " AND s.key = spaces.key AND s.kind = spaces.kind)"
        " AND NOT EXISTS (SELECT 1 FROM claims AS c WHERE c.game = spaces.game"
        " AND c.key = spaces.key AND c.kind = spaces.kind AND c.marks_day >= ?1)"
        " AND NOT EXISTS (SELECT 1 FROM claim_marks AS m WHERE m.game = spaces.game"
        " AND m.key = spaces.key AND m.kind = spaces.kind)",
    [PM_SQLITE_PRUNE_CLAIMS] =
        "DELETE FROM claims WHERE (game, key, kind, scope, space) IN"
        " (SELECT game, key, kind, scope, space FROM claims WHERE marks_day < ?1"
        " ORDER BY marks_day, game, key, kind, scope, space LIMIT ?2)",
    [PM_SQLITE_PRUNE_ORIGINALS] = "DELETE FROM originals WHERE (game, key) IN"
                                  " (SELECT game, key FROM originals WHERE day < ?1 LIMIT ?2)",
    [PM_SQLITE_PRUNE_SCENES] = "DELETE FROM scenes WHERE (game, scene) IN"
                               " (SELECT game, scene FROM scenes WHERE day < ?1 LIMIT ?2)",
    [PM_SQLITE_PRUNE_QUARANTINE] = "DELETE FROM quarantine WHERE id IN"
                                   " (SELECT id FROM quarantine WHERE time < ?1 * 86400 LIMIT ?2)",
    [PM_SQLITE_PRUNE_COVERAGE] =
        "DELETE FROM coverage WHERE rowid IN (SELECT c.rowid FROM games CROSS JOIN coverage AS c"
        " ON c.game = games.name WHERE c.time < ?1 * 86400 LIMIT ?2)",
    [PM_SQLITE_EMPTY_SPACES] =
        "DELETE FROM spaces WHERE (game, key, kind) IN"
        " (SELECT game, key, kind FROM spaces WHERE game IN " EMPTY_GAMES " LIMIT ?2)",
    [PM_SQLITE_EMPTY_CLAIMS] =
        "DELETE FROM claims WHERE (game, key, kind, scope, space) IN"
        " (SELECT game, key, kind, scope, space FROM claims WHERE game IN " EMPTY_GAMES
        " LIMIT ?2)",
    [PM_SQLITE_EMPTY_MARKS] =
        "DELETE FROM claim_marks WHERE (game, key, kind, scope, space, day, mark) IN"
        " (SELECT game, key, kind, scope, space, day, mark FROM claim_marks"
        " WHERE game IN " EMPTY_GAMES " LIMIT ?2)",
    [PM_SQLITE_EMPTY_ORIGINALS] =
        "DELETE FROM originals WHERE (game, key) IN"
        " (SELECT game, key FROM originals WHERE game IN " EMPTY_GAMES " LIMIT ?2)",
    [PM_SQLITE_EMPTY_NAMES] =
        "DELETE FROM shader_names WHERE (game, key) IN"
        " (SELECT game, key FROM shader_names WHERE game IN " EMPTY_GAMES " LIMIT ?2)",
    [PM_SQLITE_EMPTY_COVERAGE] =
        "DELETE FROM coverage WHERE rowid IN"
        " (SELECT rowid FROM coverage WHERE game IN " EMPTY_GAMES " LIMIT ?2)",
    [PM_SQLITE_EMPTY_SCENES] = "DELETE FROM scenes WHERE game IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_DATABASES] = "DELETE FROM databases WHERE game IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_ORIGINS] = "DELETE FROM origins WHERE game IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_GAMES] = "DELETE FROM games WHERE name IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_BODIES] = PM_SQLITE_SWEEP,
};

sqlite3_stmt *pm_sqlite_prepared(struct pm_sqlite *sqlite, enum pm_sqlite_statement which,
                                 struct pm_error *error)
{
    if (!sqlite->statements[which] &&
        sqlite3_prepare_v3(sqlite->writer, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &sqlite->statements[which], NULL) != SQLITE_OK) {
        pm_sqlite_fail(sqlite->path, sqlite->writer, "cannot prepare a statement", error);
        return NULL;
    }
    return sqlite->statements[which];
}

/* ---- binding ---- */

int pm_sqlite_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

int pm_sqlite_bind_blob(sqlite3_stmt *statement, int at, const void *data, size_t size)
{
    return sqlite3_bind_blob64(statement, at, data, size, SQLITE_STATIC);
}

int pm_sqlite_bind_key(sqlite3_stmt *statement, int at, const struct pm_shader_key *key)
{
    return pm_sqlite_bind_blob(statement, at, key->bytes, PM_SHADER_KEY_BYTES);
}

int pm_sqlite_bind_count(sqlite3_stmt *statement, int at, uint64_t count)
{
    return sqlite3_bind_int64(statement, at, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

int pm_sqlite_bound(const int *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (codes[i] != SQLITE_OK)
            return codes[i];
    }
    return SQLITE_OK;
}

/* ---- running ---- */

/* Fills *error with what the last step failed for. */
static bool fail(struct pm_sqlite *sqlite, struct pm_error *error)
{
    struct pm_error reason;
    if (sqlite->merge_error.code != PM_OK) {
        if (error)
            *error = sqlite->merge_error;
        return pm_fail_prefix(error, "%s", sqlite->path);
    }
    pm_sqlite_fail(sqlite->path, sqlite->writer, "cannot write to the database", &reason);
    sqlite->full = sqlite->full || reason.code == PM_ERROR_LIMIT;
    if (error)
        *error = reason;
    return false;
}

bool pm_sqlite_visit(struct pm_sqlite *sqlite, sqlite3_stmt *statement, int bound,
                     pm_sqlite_row row, void *user, struct pm_error *error)
{
    bool done = true;
    int code = bound == SQLITE_OK ? SQLITE_ROW : bound;
    sqlite->merge_error.code = PM_OK;
    while (done && code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW && row)
            done = row(user, statement, error);
    }
    if (done && code != SQLITE_DONE)
        done = fail(sqlite, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

static bool take_number(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    (void)error;
    *(int64_t *)user = sqlite3_column_int64(statement, 0);
    return true;
}

bool pm_sqlite_run(struct pm_sqlite *sqlite, sqlite3_stmt *statement, int bound, int64_t *value,
                   struct pm_error *error)
{
    return pm_sqlite_visit(sqlite, statement, bound, value ? take_number : NULL, value, error);
}
