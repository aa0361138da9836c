/* What is published, and how much was covered when, in the PostgreSQL storage. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "aggregator/storage/fail.h"
#include "base/names.h"
#include <stdlib.h>
#include <string.h>

#define TRIES 3

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

static bool take_name(void *user, const PGresult *result, int row, struct pm_error *error)
{
    return PQgetisnull(result, row, 0) || pm_names_append(user, pm_pg_get(result, row, 0, NULL)) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for ETags");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool drop_body(struct pm_postgres *postgres, const char *etag, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "DELETE FROM bodies WHERE etag = ");
    pm_pg_text(&query, etag);
    return pm_pg_do(postgres, &query, NULL, error);
}

/* Holds the schema, so that no body is dropped between another's check_body and its commit. One of
 * which another process puts down parts just now goes too: its put_database finds that they are not
 * there, and is tried again with the next curation. */
bool pm_postgres_sweep(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_names bodies = {0}, named = {0};
    struct pm_pg_query query;
    if (!pm_pg_hold_schema(postgres, pm_pg_writer(postgres, error), error))
        return false;
    pm_pg_begin(&query, "SELECT DISTINCT etag FROM bodies");
    bool done = pm_pg_select_here(postgres, &query, take_name, &bodies, error);
    if (done) {
        pm_pg_begin(&query, "SELECT etag FROM databases UNION SELECT previous_etag FROM databases");
        done = pm_pg_select_here(postgres, &query, take_name, &named, error);
    }
    if (done && named.count > 1)
        qsort(named.names, named.count, sizeof(*named.names), compare_names);
    for (size_t i = 0; done && i < bodies.count; i++) {
        if (named.count == 0 || !bsearch(&bodies.names[i], named.names, named.count,
                                         sizeof(*named.names), compare_names))
            done = drop_body(postgres, bodies.names[i], error);
    }
    pm_names_finish(&bodies);
    pm_names_finish(&named);
    return done;
}

static bool put_database(struct pm_postgres *postgres, const char *game, const char *scene,
                         const char *etag, size_t size, struct pm_error *error)
{
    struct pm_pg_query query;
    PGconn *writer = pm_pg_writer(postgres, error);
    /* Uploads wait behind it. */
    if (!pm_pg_plain(postgres, writer, "SET LOCAL lock_timeout = '2s'", error) ||
        !pm_pg_hold_schema(postgres, writer, error) || !check_body(postgres, etag, size, error))
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

static bool take_etag(void *user, const PGresult *result, int row, struct pm_error *error)
{
    size_t size;
    const char *etag = pm_pg_get(result, row, 0, &size);
    if (size >= PM_ETAG_TEXT)
        return pm_fail(error, PM_ERROR_INPUT, "a published database has a damaged ETag");
    memcpy(user, etag, size + 1);
    return true;
}

static bool take_part(void *user, const PGresult *result, int row, struct pm_error *error)
{
    size_t size;
    const char *part = pm_pg_get(result, row, 0, &size);
    return pm_buffer_append(user, part, size) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database of %zu bytes", size);
}

/* "" where there is none. */
static bool find_etag(struct pm_postgres *postgres, const char *game, const char *scene,
                      bool previous, char etag[static PM_ETAG_TEXT], struct pm_error *error)
{
    struct pm_pg_query query;
    *etag = 0;
    pm_pg_begin(&query, previous ? "SELECT previous_etag FROM databases WHERE game = "
                                 : "SELECT etag FROM databases WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " AND scene = ");
    pm_pg_text(&query, scene);
    return pm_pg_select(postgres, &query, take_etag, etag, error);
}

static bool read_body(struct pm_postgres *postgres, const char *etag, struct pm_buffer *body,
                      struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT d FROM bodies WHERE etag = ");
    pm_pg_text(&query, etag);
    pm_pg_sql(&query, " ORDER BY part");
    return pm_pg_select(postgres, &query, take_part, body, error);
}

bool pm_postgres_get_database(struct pm_storage *storage, const char *game, const char *scene,
                              bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                              struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    const size_t before = body ? body->size : 0;
    /* Games and bodies are distributed by other columns, so they are asked for one after the other:
     * between them another may be published, and this one swept away. */
    for (unsigned tries = 0; tries < TRIES; tries++) {
        if (!find_etag(postgres, game, scene, previous, etag, error))
            return pm_fail_unread(error);
        if (!*etag || !body)
            break;
        if (!read_body(postgres, etag, body, error))
            return pm_fail_unread(error);
        if (body->size > before)
            return true;
    }
    if (*etag)
        return !body || pm_fail(error, PM_ERROR_INPUT,
                                "%s: of the published database of \"%s\" nothing is there",
                                postgres->name, game);
    if (*scene)
        return pm_fail(error, PM_ERROR_STATE,
                       "there is no%s database of the scene \"%s\" of the game \"%s\"",
                       previous ? " previous" : "", scene, game);
    return pm_fail(error, PM_ERROR_STATE, "there is no%s database of the game \"%s\" yet",
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
