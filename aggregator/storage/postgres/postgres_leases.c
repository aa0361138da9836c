/* Leases in the PostgreSQL storage: a row that is held by a transaction on a connection of its own,
 * which becomes the transaction of the work itself where that says so (begin_piece). Who ends loses
 * the connection, and with it the lease, and nothing else. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <stdlib.h>
#include <string.h>

struct pm_pg_lease {
    struct pm_pg_lease *next;
    struct pm_pg_reader reader;
    int piece;
    char game[];
};

static void add_lease(struct pm_pg_query *query, const char *game, int piece)
{
    pm_pg_text(query, game);
    pm_pg_sql(query, " AND piece = ");
    pm_pg_number(query, piece);
}

static bool take_row(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)result;
    (void)row;
    (void)error;
    *(bool *)user = true;
    return true;
}

/* In a transaction that goes on if the lease is held then. */
static bool try_row(struct pm_postgres *postgres, PGconn *connection, const char *game, int piece,
                    bool *taken, struct pm_error *error)
{
    struct pm_pg_query query;
    *taken = false;
    if (!pm_pg_plain(postgres, connection, "BEGIN", error))
        return false;
    pm_pg_begin(&query, "SELECT 1 FROM leases WHERE game = ");
    add_lease(&query, game, piece);
    pm_pg_sql(&query, " FOR UPDATE SKIP LOCKED");
    const bool done = pm_pg_select_on(postgres, connection, &query, take_row, taken, error);
    return (done && *taken) ||
           (pm_pg_plain(postgres, connection, "ROLLBACK", done ? error : NULL) && done);
}

/* In a transaction of its own, so that nobody waits for it. *added: it was not there. */
static bool add_row(struct pm_postgres *postgres, PGconn *connection, const char *game, int piece,
                    bool *added, struct pm_error *error)
{
    struct pm_pg_query query;
    *added = false;
    pm_pg_begin(&query, "INSERT INTO leases (game, piece) VALUES (");
    pm_pg_text(&query, game);
    pm_pg_comma(&query);
    pm_pg_number(&query, piece);
    pm_pg_sql(&query, ") ON CONFLICT DO NOTHING RETURNING piece");
    return pm_pg_select_on(postgres, connection, &query, take_row, added, error);
}

static bool try_lease(struct pm_postgres *postgres, PGconn *connection, const char *game, int piece,
                      bool *taken, struct pm_error *error)
{
    bool added;
    return try_row(postgres, connection, game, piece, taken, error) &&
           (*taken || (add_row(postgres, connection, game, piece, &added, error) &&
                       (!added || try_row(postgres, connection, game, piece, taken, error))));
}

bool pm_postgres_take_lease(struct pm_storage *storage, const char *game, int piece, bool *taken,
                            struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_error reason = {0};
    struct pm_pg_lease *lease = calloc(1, sizeof(*lease) + strlen(game) + 1);
    bool done = lease != NULL;
    *taken = false;
    if (!lease)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for a lease", postgres->name);
    strcpy(lease->game, game);
    lease->piece = piece;
    /* The engine may have been away since the kept connections were used last. */
    for (unsigned tries = 0; tries < 2; tries++) {
        lease->reader = pm_pg_take_reader(postgres, &reason);
        done = lease->reader.connection &&
               try_lease(postgres, lease->reader.connection, game, piece, taken, &reason);
        if (done)
            break;
        pm_pg_give_reader(postgres, lease->reader);
        lease->reader.connection = NULL;
        if (reason.code != PM_ERROR_NETWORK)
            break;
        pm_pg_close_readers(postgres);
    }
    if (done && *taken) {
        pthread_mutex_lock(&postgres->readers_mutex);
        lease->next = postgres->leases;
        postgres->leases = lease;
        pthread_mutex_unlock(&postgres->readers_mutex);
        return true;
    }
    pm_pg_give_reader(postgres, lease->reader);
    free(lease);
    if (!done && error)
        *error = reason;
    return done;
}

/* Of those that are held, which it is no longer; NULL: it was not. */
static struct pm_pg_lease *take_out(struct pm_postgres *postgres, const char *game, int piece)
{
    struct pm_pg_lease **at, *lease;
    pthread_mutex_lock(&postgres->readers_mutex);
    for (at = &postgres->leases; *at; at = &(*at)->next) {
        if ((*at)->piece == piece && strcmp((*at)->game, game) == 0)
            break;
    }
    lease = *at;
    if (lease)
        *at = lease->next;
    pthread_mutex_unlock(&postgres->readers_mutex);
    return lease;
}

static void end_lease(struct pm_postgres *postgres, struct pm_pg_lease *lease)
{
    pm_pg_plain(postgres, lease->reader.connection, "ROLLBACK", NULL);
    pm_pg_give_reader(postgres, lease->reader);
    free(lease);
}

void pm_postgres_drop_lease(struct pm_storage *storage, const char *game, int piece)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_pg_lease *lease = take_out(postgres, game, piece);
    if (lease)
        end_lease(postgres, lease);
}

/* ---- as the transaction of the work ---- */

bool pm_pg_enter_piece(struct pm_postgres *postgres, const char *game, int piece)
{
    struct pm_pg_lease *lease = take_out(postgres, game, piece);
    if (!lease)
        return false;
    if (PQstatus(lease->reader.connection) != CONNECTION_OK ||
        !pm_pg_is_current(postgres, lease->reader)) {
        end_lease(postgres, lease);
        return false;
    }
    pm_pg_hear_notices(postgres, lease->reader.connection);
    postgres->piece = lease;
    postgres->own_writer = postgres->writer;
    postgres->writer = lease->reader.connection;
    postgres->begun = true;
    return true;
}

void pm_pg_leave_piece(struct pm_postgres *postgres)
{
    struct pm_pg_lease *lease = postgres->piece;
    if (!lease)
        return;
    lease->reader.connection = postgres->writer; /* NULL: it was closed */
    postgres->writer = postgres->own_writer;
    postgres->own_writer = NULL;
    postgres->piece = NULL;
    pm_pg_give_reader(postgres, lease->reader);
    free(lease);
}

void pm_pg_close_leases(struct pm_postgres *postgres)
{
    while (postgres->leases) {
        struct pm_pg_lease *lease = postgres->leases;
        postgres->leases = lease->next;
        PQfinish(lease->reader.connection);
        free(lease);
    }
}

bool pm_pg_hold_schema(struct pm_postgres *postgres, PGconn *connection, struct pm_error *error)
{
    return pm_pg_plain(postgres, connection,
                       "SET LOCAL idle_in_transaction_session_timeout = '10s';"
                       " " PM_PG_SCHEMA_VERSION " FOR UPDATE",
                       error);
}
