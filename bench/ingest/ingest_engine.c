#include "bench/ingest/ingest_engine.h"

#include <libpq-fe.h>
#include <stdlib.h>

bool engine_usage(const char *url, struct engine_usage *usage, struct pm_error *error)
{
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'),"
                                          " pg_database_size(current_database())");
    const bool done = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (done) {
        usage->log = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
        usage->tables = strtoull(PQgetvalue(result, 0, 1), NULL, 10);
    } else {
        pm_fail(error, PM_ERROR_NETWORK, "%s: %s", url, PQerrorMessage(connection));
    }
    PQclear(result);
    PQfinish(connection);
    return done;
}
