/* What is published, and how much was covered when, in the PostgreSQL storage. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <string.h>

bool pm_postgres_put_part(struct pm_storage *storage, const char *etag, uint32_t part,
                          const void *data, size_t size, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO bodies (etag, part, d) VALUES (");
    pm_pg_text(&query, etag);
    pm_pg_comma(&query);
    pm_pg_count(&query, part);
    pm_pg_comma(&query);
    pm_pg_bytes(&query, data, size);
    pm_pg_sql(&query, ") ON CONFLICT DO NOTHING");
    return pm_pg_do((struct pm_postgres *)storage, &query, NULL, error);
}

static bool take_number(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    *(int64_t *)user = pm_pg_get_number(result, row, 0);
    return true;
}

/* Is all of the body there? */
static bool check_body(struct pm_postgres *postgres, const char *etag, size_t size,
                       struct pm_error *error)
{
    struct pm_pg_query query;
    int64_t found = -1;
    pm_pg_begin(&query, "SELECT coalesce(sum(length(d)), 0)::bigint FROM bodies WHERE etag = ");
    pm_pg_text(&query, etag);
    if (!pm_pg_select_here(postgres, &query, take_number, &found, error))
        return false;
    return found == (int64_t)size ||
           pm_fail(error, PM_ERROR_STATE,
                   "%s: of the body that is to be published %lld of %zu bytes are there: another "
                   "process published meanwhile",
                   postgres->name, (long long)found, size);
}

/* A body of which another process puts down parts just now goes too: its put_database finds that
 * they are not there, and is tried again with the next curation. */
bool pm_postgres_sweep(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "DELETE FROM bodies WHERE etag NOT IN (SELECT etag FROM databases"
                        " UNION ALL SELECT previous_etag FROM databases"
                        " WHERE previous_etag IS NOT NULL)");
    return pm_pg_do(postgres, &query, NULL, error);
}

static bool put_database(struct pm_postgres *postgres, const char *game, const char *scene,
                         const char *etag, size_t size, struct pm_error *error)
{
    struct pm_pg_query query;
    if (!check_body(postgres, etag, size, error))
        return false;
    pm_pg_begin(&query, "INSERT INTO databases (game, scene, etag) SELECT ");
    pm_pg_text(&query, game);
    pm_pg_comma(&query);
    pm_pg_text(&query, scene);
    pm_pg_comma(&query);
    pm_pg_text(&query, etag);
    pm_pg_sql(&query, " WHERE EXISTS (SELECT 1 FROM games WHERE game = $1)"
                      " ON CONFLICT (game, scene) DO UPDATE SET previous_etag = databases.etag,"
                      " etag = excluded.etag");
    return pm_pg_do(postgres, &query, NULL, error) && pm_postgres_sweep(postgres, error);
}

bool pm_postgres_put_database(struct pm_storage *storage, const char *game, const char *scene,
                              const char *etag, size_t size, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    bool entered;
    return pm_pg_enter(postgres, &entered, error) &&
           pm_pg_leave(postgres, entered, put_database(postgres, game, scene, etag, size, error),
                       error);
}

struct found_database {
    char *etag;
    struct pm_buffer *body;
    bool found;
};

/* One row, or, with the body, one a part of it. */
static bool take_database(void *user, const PGresult *result, int row, struct pm_error *error)
{
    struct found_database *database = user;
    size_t size;
    const char *etag = pm_pg_get(result, row, 0, &size);
    if (PQgetisnull(result, row, 0))
        return true; /* there was no previous one */
    if (size >= PM_ETAG_TEXT)
        return pm_fail(error, PM_ERROR_INPUT, "a published database has a damaged ETag");
    memcpy(database->etag, etag, size + 1);
    database->found = true;
    if (!database->body)
        return true;
    const char *body = pm_pg_get(result, row, 1, &size);
    return pm_buffer_append(database->body, body, size) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database of %zu bytes", size);
}

bool pm_postgres_get_database(struct pm_storage *storage, const char *game, const char *scene,
                              bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                              struct pm_error *error)
{
    static const char *const queries[2][2] = {
        {"SELECT etag FROM databases AS o WHERE o.game = ",
         "SELECT o.etag, d FROM databases AS o JOIN bodies ON bodies.etag = o.etag"
         " WHERE o.game = "},
        {"SELECT previous_etag FROM databases AS o WHERE o.game = ",
         "SELECT o.previous_etag, d FROM databases AS o JOIN bodies ON bodies.etag ="
         " o.previous_etag WHERE o.game = "},
    };
    struct found_database database = {.etag = etag, .body = body};
    struct pm_pg_query query;
    pm_pg_begin(&query, queries[previous][body != NULL]);
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " AND o.scene = ");
    pm_pg_text(&query, scene);
    if (body)
        pm_pg_sql(&query, " ORDER BY part");
    if (!pm_pg_select((struct pm_postgres *)storage, &query, take_database, &database, error))
        return false;
    if (!database.found && *scene)
        return pm_fail(error, PM_ERROR_STATE,
                       "there is no%s database of the scene \"%s\" of the game \"%s\"",
                       previous ? " previous" : "", scene, game);
    return database.found ||
           pm_fail(error, PM_ERROR_STATE, "there is no%s database of the game \"%s\" yet",
                   previous ? " previous" : "", game);
}

/* ---- coverage ---- */

static bool add_coverage(struct pm_postgres *postgres, const char *game, int64_t time,
                         const uint64_t counts[static 3], struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query,
                "INSERT INTO coverage (game, time, uploads, points_covered, points) SELECT ");
    pm_pg_text(&query, game);
    pm_pg_comma(&query);
    pm_pg_number(&query, time);
    for (int i = 0; i < 3; i++) {
        pm_pg_comma(&query);
        pm_pg_count(&query, counts[i]);
    }
    pm_pg_sql(&query, " WHERE EXISTS (SELECT 1 FROM games WHERE game = $1)");
    if (!pm_pg_do(postgres, &query, NULL, error))
        return false;
    /* A week is looked at, so that a pause of the service leaves nothing. */
    pm_pg_begin(&query, "DELETE FROM coverage WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " AND time >= ");
    pm_pg_number(&query, time - 777600);
    pm_pg_sql(&query, " AND time < ");
    pm_pg_number(&query, time - 172800);
    pm_pg_sql(&query, " AND row NOT IN (SELECT min(row) FROM coverage WHERE game = $1"
                      " AND time >= $2 AND time < $3 GROUP BY time / 3600)");
    return pm_pg_do(postgres, &query, NULL, error);
}

bool pm_postgres_add_coverage(struct pm_storage *storage, const char *game, int64_t time,
                              uint64_t uploads, uint64_t points_covered, uint64_t points,
                              struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    const uint64_t counts[] = {uploads, points_covered, points};
    bool entered;
    return pm_pg_enter(postgres, &entered, error) &&
           pm_pg_leave(postgres, entered, add_coverage(postgres, game, time, counts, error), error);
}

struct coverage_visit {
    pm_storage_visit_coverage visit;
    void *user;
};

static bool take_coverage(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct coverage_visit *visit = user;
    if (visit->visit(visit->user, pm_pg_get_number(result, row, 0),
                     (uint64_t)pm_pg_get_number(result, row, 1),
                     (uint64_t)pm_pg_get_number(result, row, 2),
                     (uint64_t)pm_pg_get_number(result, row, 3)))
        return true;
    return pm_fail(error, PM_ERROR_STATE, "the visitor stopped");
}

bool pm_postgres_read_coverage(struct pm_storage *storage, const char *game,
                               pm_storage_visit_coverage visit, void *user, struct pm_error *error)
{
    struct coverage_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT time, uploads, points_covered, points FROM coverage WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " ORDER BY time, row");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_coverage, &all, error);
}
