/*
 * What the SQLite storage keeps about uploads beside their sums and claims, and what it forgets:
 * quarantine, retention.
 */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include <string.h>

static int bind_shader(sqlite3_stmt *s, const char *game, const struct pm_shader_key *key,
                       enum pm_kind kind)
{
    return PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game), pm_sqlite_bind_key(s, 2, key),
                           sqlite3_bind_int(s, 3, (int)kind));
}

bool pm_sqlite_replace_space(struct pm_storage *storage, const char *game,
                             const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                             struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *forget = pm_sqlite_prepared(sqlite, PM_SQLITE_FORGET_BLOBS, error);
    sqlite3_stmt *put = pm_sqlite_prepared(sqlite, PM_SQLITE_REPLACE_SPACE, error);
    pm_spaces_forget(&sqlite->spaces);
    return forget && put &&
           pm_sqlite_run(sqlite, forget, bind_shader(forget, game, key, kind), NULL, error) &&
           pm_sqlite_run(sqlite, put,
                         PM_SQLITE_BOUND(bind_shader(put, game, key, kind),
                                         pm_sqlite_bind_count(put, 4, space)),
                         NULL, error);
}

bool pm_sqlite_put_originals(struct pm_storage *storage,
                             const struct pm_storage_original *originals, size_t count,
                             struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = count > 0 ? pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_ORIGINAL, error) : NULL;
    bool done = s || count == 0;
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_storage_original *one = &originals[i];
        done = pm_sqlite_run(sqlite, s,
                             PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, one->game),
                                             pm_sqlite_bind_key(s, 2, &one->key),
                                             pm_sqlite_bind_key(s, 3, &one->original),
                                             pm_sqlite_bind_count(s, 4, one->day)),
                             NULL, error);
    }
    return done;
}

bool pm_sqlite_put_name(struct pm_storage *storage, const char *game,
                        const struct pm_shader_key *key, const char *name, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_NAME, error);
    return s && pm_sqlite_run(sqlite, s,
                              PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game),
                                              pm_sqlite_bind_key(s, 2, key),
                                              pm_sqlite_bind_text(s, 3, name)),
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
    sqlite3_stmt *add = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_QUARANTINED, error);
    sqlite3_stmt *measure = pm_sqlite_prepared(sqlite, PM_SQLITE_QUARANTINE_SIZE, error);
    sqlite3_stmt *drop = pm_sqlite_prepared(sqlite, PM_SQLITE_DROP_QUARANTINED, error);
    if (!add || !measure || !drop ||
        !pm_sqlite_run(sqlite, add,
                       PM_SQLITE_BOUND(sqlite3_bind_int64(add, 1, entry->time),
                                       pm_sqlite_bind_text(add, 2, entry->game),
                                       pm_sqlite_bind_text(add, 3, entry->reason),
                                       pm_sqlite_bind_count(add, 4, entry->body_size),
                                       pm_sqlite_bind_blob(add, 5, entry->body, entry->body_size)),
                       NULL, error))
        return false;
    for (;;) {
        if (!pm_sqlite_visit(sqlite, measure, SQLITE_OK, size_row, &size, error))
            return false;
        if (size.entries <= most && size.bytes <= most_bytes)
            return true;
        if (!pm_sqlite_run(sqlite, drop, SQLITE_OK, NULL, error))
            return false;
    }
}

/* ---- retention ---- */

/* At most `rows` rows; *deleted: how many more it was. */
static bool prune_step(struct pm_sqlite *sqlite, enum pm_sqlite_statement step, uint32_t first,
                       uint64_t rows, uint64_t *deleted, struct pm_error *error)
{
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, step, error);
    const int parameters = s ? sqlite3_bind_parameter_count(s) : 0;
    if (!s || !pm_sqlite_run(
                  sqlite, s,
                  PM_SQLITE_BOUND(parameters < 1 ? SQLITE_OK : pm_sqlite_bind_count(s, 1, first),
                                  parameters < 2 ? SQLITE_OK : pm_sqlite_bind_count(s, 2, rows)),
                  NULL, error))
        return false;
    if (step == PM_SQLITE_PRUNE_SPACES || step == PM_SQLITE_EMPTY_SPACES)
        pm_spaces_forget(&sqlite->spaces);
    if (step != PM_SQLITE_PRUNE_SPACES)
        *deleted += (uint64_t)sqlite3_changes(sqlite->writer);
    return true;
}

/* Games of which neither statistics nor samples are left: first what may be many rows of each, in
 * as many transactions as it takes, then, where none of it was left, all the rest. */
static bool prune_games(struct pm_sqlite *sqlite, uint32_t rows, uint64_t *deleted,
                        struct pm_error *error)
{
    static const enum pm_sqlite_statement steps[] = {
        PM_SQLITE_EMPTY_SPACES,    PM_SQLITE_EMPTY_CLAIMS,    PM_SQLITE_EMPTY_MARKS,
        PM_SQLITE_EMPTY_ORIGINALS, PM_SQLITE_EMPTY_NAMES,     PM_SQLITE_EMPTY_COVERAGE,
        PM_SQLITE_EMPTY_SCENES,    PM_SQLITE_EMPTY_DATABASES, PM_SQLITE_EMPTY_ORIGINS,
        PM_SQLITE_EMPTY_GAMES,     PM_SQLITE_EMPTY_BODIES,
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

static bool prune(struct pm_sqlite *sqlite, uint32_t first, uint32_t rows, uint64_t *deleted,
                  struct pm_error *error)
{
    static const enum pm_sqlite_statement steps[] = {
        PM_SQLITE_PRUNE_BLOBS,      PM_SQLITE_PRUNE_IDS,       PM_SQLITE_PRUNE_SPACES,
        PM_SQLITE_PRUNE_CLAIMS,     PM_SQLITE_PRUNE_ORIGINALS, PM_SQLITE_PRUNE_SCENES,
        PM_SQLITE_PRUNE_QUARANTINE, PM_SQLITE_PRUNE_COVERAGE,
    };
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

bool pm_sqlite_prune(struct pm_storage *storage, uint32_t first, uint32_t rows, uint64_t *deleted,
                     bool *left, struct pm_error *error)
{
    *deleted = 0;
    const bool done = prune((struct pm_sqlite *)storage, first, rows, deleted, error);
    *left = *deleted > 0;
    return done;
}
