/* Deleting from the SQLite storage: a game, or a shader of it. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

/* What is known of a shader, and the rest of what is known of a game. Both lists are run in order,
 * the second only for a whole game. */
static const char *const of_shader[] = {
    "DELETE FROM statistics WHERE game = ?1 AND (?2 IS NULL OR key = ?2)",
    "DELETE FROM spaces WHERE game = ?1 AND (?2 IS NULL OR key = ?2)",
    "DELETE FROM claims WHERE game = ?1 AND (?2 IS NULL OR key = ?2)",
    "DELETE FROM claim_marks WHERE game = ?1 AND (?2 IS NULL OR key = ?2)",
    "DELETE FROM originals WHERE game = ?1 AND (?2 IS NULL OR key = ?2 OR original = ?2)",
    "DELETE FROM shader_names WHERE game = ?1 AND (?2 IS NULL OR key = ?2)",
};
static const char *const of_game[] = {
    "DELETE FROM samples WHERE game = ?1",    "DELETE FROM databases WHERE game = ?1",
    "DELETE FROM scenes WHERE game = ?1",     "DELETE FROM coverage WHERE game = ?1",
    "DELETE FROM quarantine WHERE game = ?1", "DELETE FROM origins WHERE game = ?1",
    "DELETE FROM games WHERE name = ?1",      PM_SQLITE_SWEEP,
};

static bool delete_rows(struct pm_sqlite *sqlite, const char *sql, const char *game,
                        const struct pm_shader_key *key, struct pm_error *error)
{
    sqlite3 *db = sqlite->writer;
    sqlite3_stmt *statement = NULL;
    bool done = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                (sqlite3_bind_parameter_count(statement) == 0 ||
                 sqlite3_bind_text(statement, 1, game, -1, SQLITE_STATIC) == SQLITE_OK);
    if (done && key)
        done = sqlite3_bind_blob(statement, 2, key->bytes, PM_SHADER_KEY_BYTES, SQLITE_STATIC) ==
               SQLITE_OK;
    done = done && sqlite3_step(statement) == SQLITE_DONE;
    if (!done)
        pm_sqlite_fail(sqlite->path, db, "cannot delete from the database", error);
    sqlite3_finalize(statement);
    return done;
}

bool pm_sqlite_drop(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                    uint64_t *blobs, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3 *db = sqlite->writer;
    bool done = true;
    sqlite->dropped = true;
    /* Free pages would hold what was there until they are written to again. */
    sqlite3_exec(db, "PRAGMA secure_delete = ON", NULL, NULL, NULL);
    for (size_t i = 0; done && i < sizeof(of_shader) / sizeof(*of_shader); i++) {
        done = delete_rows(sqlite, of_shader[i], game, key, error);
        if (done && i == 0)
            *blobs = (uint64_t)sqlite3_changes(db);
    }
    for (size_t i = 0; done && !key && i < sizeof(of_game) / sizeof(*of_game); i++)
        done = delete_rows(sqlite, of_game[i], game, NULL, error);
    sqlite3_exec(db, "PRAGMA secure_delete = FAST", NULL, NULL, NULL);
    pm_spaces_forget(&sqlite->spaces);
    return done;
}
