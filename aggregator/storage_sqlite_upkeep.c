/*
 * What the SQLite storage keeps about uploads beside their sums, and what it forgets: claims of
 * how many points shaders have, quarantine, retention.
 */
#include "aggregator/storage_sqlite_private.h"

#include <string.h>

/* Games of which nothing is left: at most ?2 of them, always the same ones in one transaction. */
#define EMPTY_GAMES                                                                                \
    "(SELECT name FROM games WHERE"                                                                \
    " NOT EXISTS (SELECT 1 FROM statistics WHERE statistics.game = games.name)"                    \
    " AND NOT EXISTS (SELECT 1 FROM samples WHERE samples.game = games.name)"                      \
    " ORDER BY name LIMIT ?2)"

static const char *const sql[PM_SQLITE_UPKEEP_STATEMENTS] = {
    [PM_SQLITE_FIND_CLAIMS] = "SELECT key, kind, space, tokens, day, marks_day, marks, scope"
                              " FROM claims WHERE game = ?1 AND key = ?2 AND kind = ?3"
                              " AND scope = ?4",
    [PM_SQLITE_PUT_CLAIM] =
        "INSERT OR REPLACE INTO claims VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [PM_SQLITE_DROP_CLAIM] = "DELETE FROM claims WHERE game = ?1 AND key = ?2 AND kind = ?3"
                             " AND scope = ?4 AND space = ?5",
    [PM_SQLITE_FORGET_BLOBS] = "DELETE FROM statistics WHERE game = ?1 AND key = ?2 AND kind = ?3",
    [PM_SQLITE_REPLACE_SPACE] = "INSERT OR REPLACE INTO spaces VALUES (?1, ?2, ?3, ?4)",
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
        " AND c.key = spaces.key AND c.kind = spaces.kind AND c.marks_day >= ?1)",
    [PM_SQLITE_PRUNE_CLAIMS] =
        "DELETE FROM claims WHERE (game, key, kind, scope, space) IN"
        " (SELECT game, key, kind, scope, space FROM claims WHERE marks_day < ?1"
        " ORDER BY marks_day, game, key, kind, scope, space LIMIT ?2)",
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
    [PM_SQLITE_EMPTY_COVERAGE] =
        "DELETE FROM coverage WHERE rowid IN"
        " (SELECT rowid FROM coverage WHERE game IN " EMPTY_GAMES " LIMIT ?2)",
    [PM_SQLITE_EMPTY_DATABASES] = "DELETE FROM databases WHERE game IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_ORIGINS] = "DELETE FROM origins WHERE game IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_GAMES] = "DELETE FROM games WHERE name IN " EMPTY_GAMES,
    [PM_SQLITE_EMPTY_BODIES] = PM_SQLITE_SWEEP,
    [PM_SQLITE_BLANK_MARKS] =
        "UPDATE claims SET marks = NULL WHERE (game, key, kind, scope, space) IN"
        " (SELECT game, key, kind, scope, space FROM claims"
        " WHERE marks_day <> ?1 AND marks IS NOT NULL LIMIT ?2)",
};

/* ---- statements ---- */

static sqlite3_stmt *prepared(struct pm_sqlite *sqlite, enum pm_sqlite_upkeep which,
                              struct pm_error *error)
{
    if (!sqlite->upkeep[which] &&
        sqlite3_prepare_v3(sqlite->writer, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &sqlite->upkeep[which], NULL) != SQLITE_OK) {
        pm_sqlite_fail(sqlite->path, sqlite->writer, "cannot prepare a statement", error);
        return NULL;
    }
    return sqlite->upkeep[which];
}

/* bound: whether everything could be bound; row: shown each row; NULL: there are none to see. */
static bool run(struct pm_sqlite *sqlite, sqlite3_stmt *statement, bool bound,
                bool (*row)(void *user, sqlite3_stmt *statement, struct pm_error *error),
                void *user, struct pm_error *error)
{
    bool done = true;
    int code = bound ? SQLITE_ROW : SQLITE_ERROR;
    while (done && code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW && row)
            done = row(user, statement, error);
    }
    if (done && code != SQLITE_DONE) {
        struct pm_error reason;
        done =
            pm_sqlite_fail(sqlite->path, sqlite->writer, "cannot write to the database", &reason);
        sqlite->full = sqlite->full || reason.code == PM_ERROR_LIMIT;
        if (error)
            *error = reason;
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

static bool bind_shader(sqlite3_stmt *s, const char *game, const struct pm_shader_key *key,
                        enum pm_kind kind)
{
    return sqlite3_bind_text(s, 1, game, -1, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_bind_blob(s, 2, key->bytes, PM_SHADER_KEY_BYTES, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_bind_int(s, 3, (int)kind) == SQLITE_OK;
}

static bool bind_scope(sqlite3_stmt *s, const uint8_t scope[static PM_SCOPE_BYTES])
{
    return sqlite3_bind_blob(s, 4, scope, PM_SCOPE_BYTES, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_number(sqlite3_stmt *s, int at, uint64_t value)
{
    return sqlite3_bind_int64(s, at, value > INT64_MAX ? INT64_MAX : (int64_t)value) == SQLITE_OK;
}

/* ---- claims ---- */

bool pm_sqlite_claim_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct pm_sqlite_claim_visit *visit = user;
    struct pm_storage_claim claim = {
        .kind = (enum pm_kind)sqlite3_column_int(statement, 1),
        .space = (uint32_t)sqlite3_column_int64(statement, 2),
        .tokens = (uint32_t)sqlite3_column_int64(statement, 3),
        .day = (uint32_t)sqlite3_column_int64(statement, 4),
        .marks_day = (uint32_t)sqlite3_column_int64(statement, 5),
    };
    const void *key = sqlite3_column_blob(statement, 0), *scope = sqlite3_column_blob(statement, 7);
    if (!key || sqlite3_column_bytes(statement, 0) != PM_SHADER_KEY_BYTES || !scope ||
        sqlite3_column_bytes(statement, 7) != PM_SCOPE_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "%s: a claim has a damaged key", visit->sqlite->path);
    memcpy(claim.key.bytes, key, PM_SHADER_KEY_BYTES);
    memcpy(claim.scope, scope, PM_SCOPE_BYTES);
    claim.marks = sqlite3_column_blob(statement, 6);
    claim.marks_size = claim.marks ? (size_t)sqlite3_column_bytes(statement, 6) : 0;
    return visit->visit(visit->user, &claim, error);
}

bool pm_sqlite_find_claims(struct pm_storage *storage, const char *game,
                           const struct pm_shader_key *key, enum pm_kind kind,
                           const uint8_t scope[static PM_SCOPE_BYTES], pm_storage_visit_claim visit,
                           void *user, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    struct pm_sqlite_claim_visit all = {sqlite, visit, user};
    sqlite3_stmt *s = prepared(sqlite, PM_SQLITE_FIND_CLAIMS, error);
    return s && run(sqlite, s, bind_shader(s, game, key, kind) && bind_scope(s, scope),
                    pm_sqlite_claim_row, &all, error);
}

bool pm_sqlite_put_claim(struct pm_storage *storage, const char *game,
                         const struct pm_storage_claim *claim, uint32_t instead,
                         struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    if (instead != 0) {
        sqlite3_stmt *drop = prepared(sqlite, PM_SQLITE_DROP_CLAIM, error);
        if (!drop || !run(sqlite, drop,
                          bind_shader(drop, game, &claim->key, claim->kind) &&
                              bind_scope(drop, claim->scope) && bind_number(drop, 5, instead),
                          NULL, NULL, error))
            return false;
    }
    sqlite3_stmt *s = prepared(sqlite, PM_SQLITE_PUT_CLAIM, error);
    return s && run(sqlite, s,
                    bind_shader(s, game, &claim->key, claim->kind) && bind_scope(s, claim->scope) &&
                        bind_number(s, 5, claim->space) && bind_number(s, 6, claim->tokens) &&
                        bind_number(s, 7, claim->day) && bind_number(s, 8, claim->marks_day) &&
                        sqlite3_bind_blob64(s, 9, claim->marks, claim->marks_size, SQLITE_STATIC) ==
                            SQLITE_OK,
                    NULL, NULL, error);
}

bool pm_sqlite_replace_space(struct pm_storage *storage, const char *game,
                             const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                             struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *forget = prepared(sqlite, PM_SQLITE_FORGET_BLOBS, error);
    sqlite3_stmt *put = prepared(sqlite, PM_SQLITE_REPLACE_SPACE, error);
    pm_sqlite_spaces_forget(sqlite);
    return forget && put &&
           run(sqlite, forget, bind_shader(forget, game, key, kind), NULL, NULL, error) &&
           run(sqlite, put, bind_shader(put, game, key, kind) && bind_number(put, 4, space), NULL,
               NULL, error);
}

/* ---- quarantine ---- */

struct quarantine_size {
    uint64_t entries, bytes;
};

static bool size_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    struct quarantine_size *size = user;
    (void)error;
    size->entries = (uint64_t)sqlite3_column_int64(statement, 0);
    size->bytes = (uint64_t)sqlite3_column_int64(statement, 1);
    return true;
}

bool pm_sqlite_add_quarantined(struct pm_storage *storage, const struct pm_quarantined *entry,
                               uint32_t most, uint64_t most_bytes, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    struct quarantine_size size = {0};
    sqlite3_stmt *add = prepared(sqlite, PM_SQLITE_ADD_QUARANTINED, error);
    sqlite3_stmt *measure = prepared(sqlite, PM_SQLITE_QUARANTINE_SIZE, error);
    sqlite3_stmt *drop = prepared(sqlite, PM_SQLITE_DROP_QUARANTINED, error);
    if (!add || !measure || !drop ||
        !run(sqlite, add,
             sqlite3_bind_int64(add, 1, entry->time) == SQLITE_OK &&
                 sqlite3_bind_text(add, 2, entry->game, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_bind_text(add, 3, entry->reason, -1, SQLITE_STATIC) == SQLITE_OK &&
                 bind_number(add, 4, entry->body_size) &&
                 sqlite3_bind_blob64(add, 5, entry->body, entry->body_size, SQLITE_STATIC) ==
                     SQLITE_OK,
             NULL, NULL, error))
        return false;
    for (;;) {
        if (!run(sqlite, measure, true, size_row, &size, error))
            return false;
        if (size.entries <= most && size.bytes <= most_bytes)
            return true;
        if (!run(sqlite, drop, true, NULL, NULL, error))
            return false;
    }
}

/* ---- retention ---- */

/* At most `rows` rows; *deleted: how many more it was. */
static bool prune_step(struct pm_sqlite *sqlite, enum pm_sqlite_upkeep step, uint32_t first,
                       uint64_t rows, uint64_t *deleted, struct pm_error *error)
{
    sqlite3_stmt *s = prepared(sqlite, step, error);
    const int parameters = s ? sqlite3_bind_parameter_count(s) : 0;
    if (!s || !run(sqlite, s,
                   (parameters < 1 || bind_number(s, 1, first)) &&
                       (parameters < 2 || bind_number(s, 2, rows)),
                   NULL, NULL, error))
        return false;
    if (step == PM_SQLITE_PRUNE_SPACES || step == PM_SQLITE_EMPTY_SPACES)
        pm_sqlite_spaces_forget(sqlite);
    if (step != PM_SQLITE_PRUNE_SPACES)
        *deleted += (uint64_t)sqlite3_changes(sqlite->writer);
    return true;
}

/* Games of which neither statistics nor samples are left: first what may be many rows of each, in
 * as many transactions as it takes, then, where none of it was left, all the rest. */
static bool prune_games(struct pm_sqlite *sqlite, uint32_t rows, uint64_t *deleted,
                        struct pm_error *error)
{
    static const enum pm_sqlite_upkeep steps[] = {
        PM_SQLITE_EMPTY_SPACES,    PM_SQLITE_EMPTY_CLAIMS,  PM_SQLITE_EMPTY_COVERAGE,
        PM_SQLITE_EMPTY_DATABASES, PM_SQLITE_EMPTY_ORIGINS, PM_SQLITE_EMPTY_GAMES,
        PM_SQLITE_EMPTY_BODIES,
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        if (!prune_step(sqlite, steps[i], 0, rows, deleted, error))
            return false;
        if (steps[i] == PM_SQLITE_EMPTY_COVERAGE && *deleted > 0)
            break;
        /* A body that nothing names yet may be one that is being published. */
        if (steps[i] == PM_SQLITE_EMPTY_GAMES && *deleted == 0)
            break;
    }
    return true;
}

bool pm_sqlite_prune(struct pm_storage *storage, uint32_t first, uint32_t rows, uint64_t *deleted,
                     struct pm_error *error)
{
    static const enum pm_sqlite_upkeep steps[] = {
        PM_SQLITE_PRUNE_BLOBS,  PM_SQLITE_PRUNE_IDS,        PM_SQLITE_PRUNE_SPACES,
        PM_SQLITE_PRUNE_CLAIMS, PM_SQLITE_PRUNE_QUARANTINE, PM_SQLITE_PRUNE_COVERAGE,
    };
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    *deleted = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        /* The spaces go by the claims that the next statement deletes: no less of them. */
        const uint64_t left =
            steps[i] == PM_SQLITE_PRUNE_CLAIMS || steps[i] == PM_SQLITE_PRUNE_SPACES
                ? rows
                : rows - *deleted;
        if (!prune_step(sqlite, steps[i], first, left, deleted, error))
            return false;
        if (*deleted >= rows)
            return true;
    }
    return *deleted > 0 || first == 0 || prune_games(sqlite, rows, deleted, error);
}

bool pm_sqlite_blank_marks(struct pm_storage *storage, uint32_t today, uint32_t rows,
                           uint64_t *blanked, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = prepared(sqlite, PM_SQLITE_BLANK_MARKS, error);
    if (!s ||
        !run(sqlite, s, bind_number(s, 1, today) && bind_number(s, 2, rows), NULL, NULL, error))
        return false;
    *blanked = (uint64_t)sqlite3_changes(sqlite->writer);
    return true;
}
