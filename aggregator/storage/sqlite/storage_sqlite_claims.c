/* Claims in the SQLite storage: who said how many points shaders have, and what tokens may send. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include <string.h>

/* ?1 to ?4, and ?5. */
static int bind_subject(sqlite3_stmt *s, const struct pm_storage_claim *claim)
{
    return PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, claim->game),
                           pm_sqlite_bind_key(s, 2, &claim->key),
                           sqlite3_bind_int(s, 3, (int)claim->kind),
                           pm_sqlite_bind_blob(s, 4, claim->scope, PM_SCOPE_BYTES));
}

static int bind_claim(sqlite3_stmt *s, const struct pm_storage_claim *claim)
{
    return PM_SQLITE_BOUND(bind_subject(s, claim),
                           pm_sqlite_bind_count(s, 5, pm_storage_claim_number(claim)));
}

bool pm_sqlite_claim_row(void *user, sqlite3_stmt *statement, struct pm_error *error)
{
    const struct pm_sqlite_claim_visit *visit = user;
    struct pm_storage_claim claim = {
        .game = visit->game,
        .kind = (enum pm_kind)sqlite3_column_int(statement, 1),
        .space = (uint32_t)sqlite3_column_int64(statement, 3),
        .facts = (uint32_t)(sqlite3_column_int64(statement, 3) >> 32),
        .day = (uint32_t)sqlite3_column_int64(statement, 4),
        .tokens = (uint32_t)sqlite3_column_int64(statement, 5),
        .mark = sqlite3_column_blob(statement, 6),
    };
    const void *key = sqlite3_column_blob(statement, 0), *scope = sqlite3_column_blob(statement, 2);
    if (!key || sqlite3_column_bytes(statement, 0) != PM_SHADER_KEY_BYTES || !scope ||
        sqlite3_column_bytes(statement, 2) != PM_SCOPE_BYTES ||
        (claim.mark && sqlite3_column_bytes(statement, 6) != PM_MARK_BYTES))
        return pm_fail(error, PM_ERROR_INPUT, "%s: a claim has a damaged key", visit->sqlite->path);
    memcpy(claim.key.bytes, key, PM_SHADER_KEY_BYTES);
    memcpy(claim.scope, scope, PM_SCOPE_BYTES);
    return visit->visit(visit->user, &claim, error);
}

bool pm_sqlite_find_claims(struct pm_storage *storage, const struct pm_storage_claim *subjects,
                           size_t count, pm_storage_visit_claim visit, void *user,
                           struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_FIND_CLAIMS, error);
    bool done = s != NULL;
    for (size_t i = 0; done && i < count; i++) {
        struct pm_sqlite_claim_visit all = {sqlite, subjects[i].game, visit, user};
        done = pm_sqlite_visit(sqlite, s, bind_subject(s, &subjects[i]), pm_sqlite_claim_row, &all,
                               error);
    }
    return done;
}

bool pm_sqlite_add_marks(struct pm_storage *storage, const struct pm_storage_claim *marks,
                         size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_MARK, error);
    bool done = s != NULL;
    for (size_t i = 0; done && i < count; i++)
        done = pm_sqlite_run(
            sqlite, s,
            PM_SQLITE_BOUND(bind_claim(s, &marks[i]), pm_sqlite_bind_count(s, 6, marks[i].day),
                            pm_sqlite_bind_blob(s, 7, marks[i].mark, PM_MARK_BYTES)),
            NULL, error);
    return done;
}

bool pm_sqlite_put_claims(struct pm_storage *storage, const struct pm_storage_claim *claims,
                          size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_CLAIM, error);
    bool done = s != NULL;
    for (size_t i = 0; done && i < count; i++)
        done = pm_sqlite_run(sqlite, s,
                             PM_SQLITE_BOUND(bind_claim(s, &claims[i]),
                                             pm_sqlite_bind_count(s, 6, claims[i].tokens),
                                             pm_sqlite_bind_count(s, 7, claims[i].day)),
                             NULL, error);
    return done;
}

bool pm_sqlite_drop_claim(struct pm_storage *storage, const struct pm_storage_claim *claim,
                          struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *count = pm_sqlite_prepared(sqlite, PM_SQLITE_DROP_CLAIM, error);
    sqlite3_stmt *marks = pm_sqlite_prepared(sqlite, PM_SQLITE_DROP_MARKS, error);
    return count && marks && pm_sqlite_run(sqlite, count, bind_claim(count, claim), NULL, error) &&
           pm_sqlite_run(sqlite, marks, bind_claim(marks, claim), NULL, error);
}

bool pm_sqlite_settle_marks(struct pm_storage *storage, uint32_t today, uint32_t first,
                            uint32_t rows, uint64_t *settled, bool *left, struct pm_error *error)
{
    static const enum pm_sqlite_statement steps[] = {PM_SQLITE_COUNT_MARKS, PM_SQLITE_END_MARKS,
                                                     PM_SQLITE_END_CAPS};
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        sqlite3_stmt *s = pm_sqlite_prepared(sqlite, steps[i], error);
        if (!s ||
            !pm_sqlite_run(sqlite, s,
                           PM_SQLITE_BOUND(pm_sqlite_bind_count(s, 1, today),
                                           i < 2 ? pm_sqlite_bind_count(s, 2, rows) : SQLITE_OK,
                                           i < 1 ? pm_sqlite_bind_count(s, 3, first) : SQLITE_OK),
                           NULL, error))
            return false;
        if (i == 0)
            *settled = (uint64_t)sqlite3_changes(sqlite->writer);
    }
    *left = *settled > 0;
    return true;
}
