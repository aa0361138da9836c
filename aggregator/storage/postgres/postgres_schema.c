/* The tables of the PostgreSQL storage, and how they come to be. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <stdio.h>

#define SCHEMA_VERSION 1

/* Each step leads from the schema before it to the next. A step that was released is never edited.
 * Every key begins with what rows are distributed by where an engine has several machines: the
 * game; of a token's caps, their mark; of what is published, its ETag. */
static const char *const steps[SCHEMA_VERSION] = {
    /* 1. A game's number of uploads and a scene's are spread over slots, which are added when they
     * are read: who takes in uploads of the same game does not wait for the others. */
    "CREATE TABLE games (game text COLLATE \"C\", slot bigint, uploads bigint NOT NULL,"
    " origin bytea NOT NULL, PRIMARY KEY (game, slot));"
    "CREATE TABLE origins (game text COLLATE \"C\", origin bytea, PRIMARY KEY (game, origin));"
    "CREATE TABLE scenes (game text COLLATE \"C\", scene text COLLATE \"C\", slot bigint,"
    " uploads bigint NOT NULL, day bigint NOT NULL, PRIMARY KEY (game, scene, slot));"
    "CREATE TABLE upload_ids (game text COLLATE \"C\", id bytea, day bigint NOT NULL,"
    " PRIMARY KEY (game, id));"
    "CREATE INDEX upload_ids_by_day ON upload_ids (game, day);"
    "CREATE TABLE epochs (one bigint PRIMARY KEY, day bigint NOT NULL, key bytea NOT NULL);"
    "CREATE TABLE caps (mark bytea, day bigint, n bigint NOT NULL, PRIMARY KEY (mark, day));"
    "CREATE INDEX caps_by_day ON caps (day);"
    "CREATE TABLE samples (game text COLLATE \"C\", part bigint, row bigint GENERATED ALWAYS AS"
    " IDENTITY, day bigint NOT NULL, size bigint NOT NULL, hash bigint NOT NULL, d bytea NOT NULL,"
    " PRIMARY KEY (game, part, row));"
    "ALTER TABLE samples ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE TABLE spaces (game text COLLATE \"C\", key bytea, kind bigint, space bigint NOT NULL,"
    " PRIMARY KEY (game, key, kind));"
    "CREATE TABLE claims (game text COLLATE \"C\", key bytea, kind bigint, scope bytea,"
    " space bigint, tokens bigint NOT NULL, day bigint NOT NULL, last_day bigint NOT NULL,"
    " PRIMARY KEY (game, key, kind, scope, space));"
    "CREATE INDEX claims_by_day ON claims (game, last_day);"
    "CREATE TABLE claim_marks (game text COLLATE \"C\", key bytea, kind bigint, scope bytea,"
    " space bigint, day bigint, mark bytea, PRIMARY KEY (game, key, kind, scope, space, day, "
    "mark));"
    "CREATE INDEX claim_marks_by_day ON claim_marks (game, day);"
    "CREATE TABLE originals (game text COLLATE \"C\", key bytea, original bytea NOT NULL,"
    " day bigint NOT NULL, PRIMARY KEY (game, key));"
    "CREATE TABLE statistics (game text COLLATE \"C\", key bytea, environment bytea, kind bigint,"
    " flags bigint, day bigint, scene text COLLATE \"C\", d bytea NOT NULL,"
    " PRIMARY KEY (game, key, environment, kind, flags, day, scene));"
    "ALTER TABLE statistics ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE INDEX statistics_by_day ON statistics (game, day);"
    "CREATE TABLE databases (game text COLLATE \"C\", scene text COLLATE \"C\", etag text NOT NULL,"
    " previous_etag text, PRIMARY KEY (game, scene));"
    "CREATE TABLE bodies (etag text COLLATE \"C\", part bigint, d bytea NOT NULL,"
    " PRIMARY KEY (etag, part));"
    "ALTER TABLE bodies ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE TABLE coverage (game text COLLATE \"C\", time bigint, row bigint GENERATED ALWAYS AS"
    " IDENTITY, uploads bigint NOT NULL, points_covered bigint NOT NULL, points bigint NOT NULL,"
    " PRIMARY KEY (game, time, row));"
    "CREATE TABLE quarantine (game text COLLATE \"C\", row bigint GENERATED ALWAYS AS IDENTITY,"
    " time bigint NOT NULL, reason text NOT NULL, body_size bigint NOT NULL, body bytea,"
    " PRIMARY KEY (game, row));",
};

static bool run(struct pm_postgres *postgres, const char *sql, struct pm_error *error)
{
    PGconn *connection = pm_pg_writer(postgres, error);
    PGresult *result = connection ? PQexec(connection, sql) : NULL;
    const ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
    const bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!done && connection)
        pm_pg_fail(postgres, connection, result, error);
    PQclear(result);
    return done;
}

static bool take_version(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    *(int64_t *)user = pm_pg_get_number(result, row, 0);
    return true;
}

/* The row is the lease: who has it upgrades, and the others wait for the end of its transaction. */
static bool upgrade(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_pg_query query;
    int64_t version = 0;
    char sql[64];
    pm_pg_begin(&query, "SELECT version FROM piecemeal_schema WHERE one = 1 FOR UPDATE");
    if (!pm_pg_select_here(postgres, &query, take_version, &version, error))
        return false;
    if (version > SCHEMA_VERSION)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "%s: written by a newer Piecemeal (schema %d; this one knows up to %d)",
                       postgres->name, (int)version, SCHEMA_VERSION);
    if (version == SCHEMA_VERSION)
        return true;
    for (; version < SCHEMA_VERSION; version++) {
        if (!run(postgres, steps[version], error))
            return false;
    }
    snprintf(sql, sizeof(sql), "UPDATE piecemeal_schema SET version = %d WHERE one = 1",
             SCHEMA_VERSION);
    return run(postgres, sql, error);
}

static bool prepare(struct pm_postgres *postgres, struct pm_error *error)
{
    bool entered;
    return run(postgres,
               "CREATE TABLE IF NOT EXISTS piecemeal_schema (one bigint PRIMARY KEY,"
               " version bigint NOT NULL);"
               "INSERT INTO piecemeal_schema VALUES (1, 0) ON CONFLICT DO NOTHING",
               error) &&
           pm_pg_enter(postgres, &entered, error) &&
           pm_pg_leave(postgres, entered, upgrade(postgres, error), error);
}

bool pm_postgres_prepare_schema(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_error reason = {0};
    bool done = false;
    /* Two that make the first table at once meet in the engine's catalog. */
    for (int tries = 0; !done && tries < 3; tries++) {
        done = prepare(postgres, &reason);
        if (!done && reason.code != PM_ERROR_CONFLICT)
            break;
    }
    if (!done && error)
        *error = reason;
    return done;
}
