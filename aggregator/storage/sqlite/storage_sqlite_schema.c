/* Connections and the schema of the SQLite storage. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

/* "PMag" */
#define APPLICATION_ID 0x504d6167
#define SCHEMA_VERSION 15
/* The tables that are read have not changed since, but for marks. */
#define TABLES_VERSION 5

#define TEXT_OF(x) #x
#define NUMBER(x) TEXT_OF(x)

/* Each step leads from the schema before it to the next; an empty file takes them all. A step that
 * was released is never edited. */
static const char *const steps[SCHEMA_VERSION] = {
    /* 1 */
    "CREATE TABLE games (name TEXT PRIMARY KEY, uploads INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE upload_ids (id BLOB PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE spaces (game TEXT, key BLOB, kind INTEGER, space INTEGER NOT NULL,"
    " PRIMARY KEY (game, key, kind)) WITHOUT ROWID;"
    "CREATE TABLE statistics (game TEXT NOT NULL, key BLOB NOT NULL, environment BLOB NOT NULL,"
    " kind INTEGER NOT NULL, flags INTEGER NOT NULL, day INTEGER NOT NULL, scene TEXT NOT NULL,"
    " d BLOB NOT NULL, PRIMARY KEY (game, key, environment, kind, flags, day, scene));"
    "CREATE TABLE databases (game TEXT PRIMARY KEY, etag TEXT NOT NULL, body BLOB NOT NULL);"
    "CREATE TABLE coverage (game TEXT NOT NULL, time INTEGER NOT NULL, uploads INTEGER NOT NULL,"
    " points_covered INTEGER NOT NULL, points INTEGER NOT NULL);"
    "CREATE INDEX coverage_by_game ON coverage (game, time);"
    "PRAGMA application_id = " NUMBER(APPLICATION_ID) ";",
    /* 2: databases of scenes, and the previous of each; their bodies, in parts; origins. */
    "ALTER TABLE databases RENAME TO databases_1;"
    "CREATE TABLE databases (game TEXT NOT NULL, scene TEXT NOT NULL, etag TEXT NOT NULL,"
    " previous_etag TEXT, PRIMARY KEY (game, scene)) WITHOUT ROWID;"
    "CREATE TABLE bodies (etag TEXT NOT NULL, part INTEGER NOT NULL, d BLOB NOT NULL,"
    " PRIMARY KEY (etag, part));"
    "INSERT INTO databases (game, scene, etag) SELECT game, '', etag FROM databases_1;"
    "INSERT OR IGNORE INTO bodies SELECT etag, 0, body FROM databases_1;"
    "DROP TABLE databases_1;"
    "CREATE TABLE origins (game TEXT NOT NULL, origin BLOB NOT NULL, PRIMARY KEY (game, origin))"
    " WITHOUT ROWID;"
    "INSERT INTO origins SELECT name, randomblob(16) FROM games;"
    "CREATE TRIGGER game_origin AFTER INSERT ON games"
    " BEGIN INSERT INTO origins VALUES (new.name, randomblob(16)); END;"
    /* also: what retention deletes by; who said how many points a shader has; quarantine. */
    "CREATE INDEX statistics_by_day ON statistics (day);"
    "CREATE INDEX upload_ids_by_day ON upload_ids (day);"
    "CREATE TABLE claims (game TEXT NOT NULL, key BLOB NOT NULL, kind INTEGER NOT NULL,"
    " scope BLOB NOT NULL, space INTEGER NOT NULL, tokens INTEGER NOT NULL, day INTEGER NOT NULL,"
    " marks_day INTEGER NOT NULL, marks BLOB, PRIMARY KEY (game, key, kind, scope, space)) WITHOUT "
    "ROWID;"
    "CREATE INDEX claims_by_day ON claims (marks_day);"
    "CREATE TABLE quarantine (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, game TEXT NOT NULL,"
    " reason TEXT NOT NULL, body_size INTEGER NOT NULL, body BLOB);"
    /* also: samples that wait. Rows are in order of arrival, so that adding some writes where the
     * ones before were written; the index, which also tells their sizes, finds those of a part. */
    "CREATE TABLE samples (row INTEGER PRIMARY KEY AUTOINCREMENT, game TEXT NOT NULL,"
    " part INTEGER NOT NULL, size INTEGER NOT NULL, day INTEGER NOT NULL, d BLOB NOT NULL);"
    "CREATE INDEX samples_by_part ON samples (game, part, row, size);",
    /* 3: which scenes a game has, and how many uploads named each; of those before only the days on
     * which some did are known. */
    "CREATE TABLE scenes (game TEXT NOT NULL, scene TEXT NOT NULL, uploads INTEGER NOT NULL,"
    " day INTEGER NOT NULL, PRIMARY KEY (game, scene)) WITHOUT ROWID;"
    "INSERT INTO scenes SELECT game, scene, count(DISTINCT day), max(day) FROM statistics"
    " WHERE scene <> '' GROUP BY game, scene;",
    /* 4: what tells that a row of samples is what was written; NULL: it was written before. */
    "ALTER TABLE samples ADD COLUMN hash INTEGER;",
    /* 5: which of the game's shaders the timed ones were specialized from. */
    "CREATE TABLE originals (game TEXT NOT NULL, key BLOB NOT NULL, original BLOB NOT NULL,"
    " day INTEGER NOT NULL, PRIMARY KEY (game, key)) WITHOUT ROWID;"
    "CREATE INDEX originals_by_day ON originals (day);",
    /* 6: samples and statistics may say how many candidates are left out, which nobody before can
     * read; the tables are the same. */
    "",
    /* 7: so with statistics of constants. */
    "",
    /* 8: the marks of claims are a set, of which claims keep the counts of days that have ended
     * (their column of marks is no more in use); how often tokens counted today. */
    "CREATE TABLE claim_marks (game TEXT NOT NULL, key BLOB NOT NULL, kind INTEGER NOT NULL,"
    " scope BLOB NOT NULL, space INTEGER NOT NULL, day INTEGER NOT NULL, mark BLOB NOT NULL,"
    " PRIMARY KEY (game, key, kind, scope, space, day, mark)) WITHOUT ROWID;"
    "CREATE INDEX claim_marks_by_day ON claim_marks (day);"
    "INSERT OR IGNORE INTO claim_marks"
    " WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
    " WHERE 8 * (i + 1) < (SELECT ifnull(max(length(marks)), 0) FROM claims))"
    " SELECT game, key, kind, scope, space, marks_day, substr(marks, 8 * i + 1, 8)"
    " FROM claims JOIN n ON 8 * i < length(marks);"
    "UPDATE claims SET marks = NULL WHERE marks IS NOT NULL;"
    "CREATE TABLE caps (day INTEGER NOT NULL, mark BLOB NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY (day, mark)) WITHOUT ROWID;",
    /* 9: blobs are sealed (seal.h), which nobody before can read; the tables are the same. */
    "",
    /* 10: samples may wait under marks, and claims of numbers of points have facts with them, which
     * nobody before can read; the tables are the same. */
    "",
    /* 11: rows beside the blobs are sealed, too (storage_sqlite_seal.c). What a second index has
     * all of again needs no seal: SQLite's own check holds them against each other. */
    "ALTER TABLE games ADD COLUMN seal INTEGER;"
    "ALTER TABLE scenes ADD COLUMN seal INTEGER;"
    "ALTER TABLE spaces ADD COLUMN seal INTEGER;"
    "ALTER TABLE claims ADD COLUMN seal INTEGER;"
    "ALTER TABLE originals ADD COLUMN seal INTEGER;"
    "ALTER TABLE databases ADD COLUMN seal INTEGER;"
    "ALTER TABLE coverage ADD COLUMN seal INTEGER;"
    "UPDATE games SET seal = seal(name, uploads);"
    "UPDATE scenes SET seal = seal(game, scene, uploads, day);"
    "UPDATE spaces SET seal = seal(game, key, kind, space);"
    "UPDATE claims SET seal = seal(game, key, kind, scope, space, tokens, day, marks_day);"
    "UPDATE originals SET seal = seal(game, key, original, day);"
    "UPDATE databases SET seal = seal(game, scene, etag, previous_etag);"
    "UPDATE coverage SET seal = seal(game, time, uploads, points_covered, points);"
    "CREATE INDEX origins_by_origin ON origins (origin);"
    "DROP INDEX samples_by_part;"
    "CREATE INDEX samples_by_part ON samples (game, part, row, size, day);",
    /* 12: samples and statistics may be of variants (races.h), and those of timings may have
     * spreads, which nobody before can read; the
     * tables are the same. */
    "",
    /* 13: what people call shaders. */
    ("CREATE TABLE shader_names (game TEXT NOT NULL, key BLOB NOT NULL, name TEXT NOT NULL,"
     " seal INTEGER NOT NULL, PRIMARY KEY (game, key)) WITHOUT ROWID;"),
    /* 14: samples and statistics may be of turns, which nobody before can read; the tables are the
     * same. */
    "",
    /* 15: samples may say that lanes were counted alone, which nobody before can read; the tables
     * are the same. */
    "",
};

static bool is_full(int saved_errno)
{
    return saved_errno == ENOSPC || saved_errno == EDQUOT || saved_errno == EFBIG;
}

/* SQLite calls only ENOSPC full, and keeps an errno only per file; a quota or a limit on file sizes
 * is no different to us. saved_errno: what it was, or 0. */
static bool wrote_to_full(const char *path, sqlite3 *db, int *saved_errno)
{
    sqlite3_file *wal = NULL;
    struct statvfs status;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, saved_errno) == SQLITE_OK &&
        is_full(*saved_errno))
        return true;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == SQLITE_OK && wal &&
        wal->pMethods &&
        wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, saved_errno) == SQLITE_OK &&
        is_full(*saved_errno))
        return true;
    *saved_errno = sqlite3_system_errno(db);
    return is_full(*saved_errno) || (statvfs(path, &status) == 0 && status.f_bavail == 0);
}

bool pm_sqlite_fail(const char *path, sqlite3 *db, const char *what, struct pm_error *error)
{
    int saved_errno = 0;
    switch (db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM) {
    case SQLITE_FULL:
        return pm_fail(error, PM_ERROR_LIMIT, "%s: %s: there is no space left", path, what);
    case SQLITE_IOERR:
        if (wrote_to_full(path, db, &saved_errno))
            return pm_fail(error, PM_ERROR_LIMIT, "%s: %s: there is no space left (%s)", path, what,
                           strerror(saved_errno ? saved_errno : ENOSPC));
        break;
    case SQLITE_NOTADB:
        return pm_fail(error, PM_ERROR_INPUT, "%s: %s: this file is not a Piecemeal database", path,
                       what);
    case SQLITE_CORRUPT:
        return pm_fail(error, PM_ERROR_INPUT, "%s: %s: the database is damaged (%s)", path, what,
                       sqlite3_errmsg(db));
    case SQLITE_NOMEM:
        return pm_fail(error, PM_ERROR_MEMORY, "%s: %s: out of memory", path, what);
    case SQLITE_BUSY:
        return pm_fail(error, PM_ERROR_STATE, "%s: %s: another process is writing to it", path,
                       what);
    case SQLITE_CANTOPEN:
        saved_errno = sqlite3_system_errno(db);
        break;
    default:
        break;
    }
    if (saved_errno != 0)
        return pm_fail_errno(error, saved_errno, "%s: %s: %s", path, what, sqlite3_errmsg(db));
    return pm_fail(error, PM_ERROR_IO, "%s: %s: %s", path, what, sqlite3_errmsg(db));
}

sqlite3 *pm_sqlite_connect(const char *path, int flags, struct pm_error *error)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        pm_sqlite_fail(path, db, "cannot open the database", error);
        sqlite3_close(db);
        return NULL;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, PM_SQLITE_BUSY_MILLISECONDS);
    /* A file to import may come from anywhere: what its schema calls gets no rights. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (!pm_sqlite_let_seal(db)) {
        pm_sqlite_fail(path, db, "cannot open the database", error);
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

static bool read_number(const char *path, sqlite3 *db, const char *sql, int64_t *value,
                        struct pm_error *error)
{
    sqlite3_stmt *statement = NULL;
    const bool done = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                      sqlite3_step(statement) == SQLITE_ROW;
    if (done)
        *value = sqlite3_column_int64(statement, 0);
    else
        pm_sqlite_fail(path, db, "cannot read the database", error);
    sqlite3_finalize(statement);
    return done;
}

static bool execute(const char *path, sqlite3 *db, const char *sql, struct pm_error *error)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           pm_sqlite_fail(path, db, "cannot prepare the database", error);
}

static bool upgrade(const char *path, sqlite3 *db, int64_t version, struct pm_error *error)
{
    if (version == SCHEMA_VERSION)
        return true;
    for (; version < SCHEMA_VERSION; version++) {
        if (!execute(path, db, steps[version], error))
            return false;
    }
    return execute(path, db, "PRAGMA user_version = " NUMBER(SCHEMA_VERSION), error);
}

bool pm_sqlite_read_version(const char *path, sqlite3 *db, int64_t *version, struct pm_error *error)
{
    int64_t application, tables;
    if (!read_number(path, db, "PRAGMA application_id", &application, error) ||
        !read_number(path, db, "PRAGMA user_version", version, error) ||
        !read_number(path, db, "SELECT count(*) FROM sqlite_schema", &tables, error))
        return false;
    if (application == 0 && *version == 0 && tables == 0)
        return true;
    if (application != APPLICATION_ID)
        return pm_fail(error, PM_ERROR_INPUT, "%s: this is a database of another program", path);
    if (*version > SCHEMA_VERSION)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "%s: written by a newer Piecemeal (schema %d; this one knows up to %d)",
                       path, (int)*version, SCHEMA_VERSION);
    if (*version < 1)
        return pm_fail(error, PM_ERROR_INPUT, "%s: has schema %d, which never was", path,
                       (int)*version);
    return true;
}

int64_t pm_sqlite_newest_version(void)
{
    return SCHEMA_VERSION;
}

bool pm_sqlite_has_marks(int64_t version)
{
    return version >= 8;
}

bool pm_sqlite_has_names(int64_t version)
{
    return version >= 13;
}

int64_t pm_sqlite_oldest_readable_version(void)
{
    return TABLES_VERSION;
}

/* Under the write lock, so that two processes do not both create or upgrade it. */
static bool create_or_check(const char *path, sqlite3 *db, struct pm_error *error)
{
    int64_t version;
    return pm_sqlite_read_version(path, db, &version, error) && upgrade(path, db, version, error);
}

bool pm_sqlite_prepare_schema(const char *path, sqlite3 *db, struct pm_error *error)
{
    /* The page size must come before the first write; blobs are a few kilobytes. Reading first
     * tells a file that is no database before anything touches it. */
    int64_t tables;
    if (!read_number(path, db, "SELECT count(*) FROM sqlite_schema", &tables, error) ||
        !execute(path, db, "PRAGMA page_size = " NUMBER(PM_SQLITE_PAGE_BYTES) "; BEGIN IMMEDIATE",
                 error))
        return false;
    if (!create_or_check(path, db, error)) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    /* Debian's SQLite writes zeros over what is deleted: FAST, only where
     * that costs no more writing; samples come and go. */
    return execute(path, db,
                   "COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                   "PRAGMA cache_size = -65536;"
                   "PRAGMA journal_size_limit = 268435456; PRAGMA secure_delete = FAST",
                   error);
}

void pm_sqlite_pack_environment(const struct pm_environment *environment,
                                uint8_t out[static PM_SQLITE_ENVIRONMENT_BYTES])
{
    const uint32_t fields[] = {environment->subgroup_size, environment->vendor_id,
                               environment->device_id, environment->driver_id,
                               environment->driver_version};
    for (size_t i = 0; i < PM_SQLITE_ENVIRONMENT_BYTES; i++)
        out[i] = (uint8_t)(fields[i / 4] >> (24 - i % 4 * 8));
}

bool pm_sqlite_unpack_environment(const void *data, int size, struct pm_environment *environment)
{
    const uint8_t *bytes = data;
    uint32_t fields[PM_SQLITE_ENVIRONMENT_BYTES / 4] = {0};
    if (size != PM_SQLITE_ENVIRONMENT_BYTES)
        return false;
    for (size_t i = 0; i < PM_SQLITE_ENVIRONMENT_BYTES; i++)
        fields[i / 4] = fields[i / 4] << 8 | bytes[i];
    *environment = (struct pm_environment){.subgroup_size = fields[0],
                                           .vendor_id = fields[1],
                                           .device_id = fields[2],
                                           .driver_id = fields[3],
                                           .driver_version = fields[4]};
    return true;
}
