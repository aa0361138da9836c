/*
 * Which engine is the one to write to. A standby that is promoted begins a new timeline
 * (PostgreSQL's manual, 26.3.5), with a higher number than that of the primary whose place it
 * takes. If the latter comes back as what it was, it takes writes, too, and what it took would be
 * lost. So of all hosts of the URL the one of the highest timeline is taken, and none of a lower
 * one than was seen.
 */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <stdlib.h>
#include <string.h>

/* Readable without any right; asks the engine's memory, not the last checkpoint. */
static const char read_timeline[] =
    "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint";

/* ---- hosts ---- */

/* Of a list with commas, its entry `at`, of one alone the same for all; malloc'ed. NULL: it is not
 * there, or libpq's default. */
static char *entry_of(const char *list, unsigned at)
{
    if (!list || !*list)
        return NULL;
    if (!strchr(list, ','))
        at = 0;
    for (; at > 0 && list; at--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    const size_t size = list ? strcspn(list, ",") : 0;
    return size > 0 ? strndup(list, size) : NULL;
}

static const char *option_of(const PQconninfoOption *options, const char *name)
{
    for (; options && options->keyword; options++) {
        if (strcmp(options->keyword, name) == 0)
            return options->val;
    }
    return NULL;
}

static unsigned count_entries(const char *list)
{
    unsigned count = 1;
    for (; list && *list; list++)
        count += *list == ',';
    return count;
}

/* ---- timelines ---- */

/* An engine that is not PostgreSQL itself may have none: 0. */
static bool ask_timeline(struct pm_postgres *postgres, PGconn *connection, int64_t *timeline,
                         struct pm_error *error)
{
    PGresult *result = PQexec(connection, read_timeline);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool done = PQresultStatus(result) == PGRES_TUPLES_OK;
    *timeline = done ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    if (!done && state && (strncmp(state, "42", 2) == 0 || strcmp(state, "0A000") == 0))
        done = true;
    if (!done)
        pm_pg_fail(postgres, connection, result, error);
    PQclear(result);
    return done;
}

/* Remembers it, if it is the highest so far. */
static void see(struct pm_postgres *postgres, int64_t timeline)
{
    int_fast64_t before = atomic_load(&postgres->newest);
    while (timeline > before) {
        if (!atomic_compare_exchange_weak(&postgres->newest, &before, timeline))
            continue;
        if (before > 0)
            pm_pg_close_readers(postgres); /* they may be of the other engine */
        return;
    }
}

bool pm_pg_is_replaced(struct pm_postgres *postgres)
{
    return postgres->timeline < atomic_load(&postgres->newest);
}

bool pm_pg_fail_replaced(struct pm_postgres *postgres, int64_t timeline, struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_NETWORK,
                   "%s: the engine that answers is on timeline %lld, and a standby that took its "
                   "place on %lld: it is not written to",
                   postgres->name, (long long)timeline, (long long)atomic_load(&postgres->newest));
}

/* ---- connecting ---- */

static PGconn *connect_and_ask(struct pm_postgres *postgres, const struct pm_pg_host *host,
                               unsigned seconds, int64_t *timeline, struct pm_error *error)
{
    PGconn *connection = pm_pg_connect_to(postgres, host, seconds, error);
    if (!connection || ask_timeline(postgres, connection, timeline, error))
        return connection;
    PQfinish(connection);
    return NULL;
}

/* NULL when that is behind what was seen. */
static PGconn *accept(struct pm_postgres *postgres, PGconn *connection, int64_t timeline,
                      struct pm_error *error)
{
    if (!connection)
        return NULL;
    see(postgres, timeline);
    if (timeline >= atomic_load(&postgres->newest))
        return connection;
    PQfinish(connection);
    pm_pg_fail_replaced(postgres, timeline, error);
    return NULL;
}

PGconn *pm_pg_connect_newest(struct pm_postgres *postgres, unsigned seconds, int64_t *timeline,
                             struct pm_error *error)
{
    PQconninfoOption *options = PQconninfoParse(postgres->url, NULL);
    const char *hosts = option_of(options, "host"), *addresses = option_of(options, "hostaddr"),
               *ports = option_of(options, "port");
    const unsigned count = count_entries(addresses ? addresses : hosts);
    PGconn *best = NULL;
    struct pm_error first = {0};
    *timeline = -1;
    for (unsigned i = 0; i < count; i++) {
        const struct pm_pg_host host = {entry_of(hosts, i), entry_of(addresses, i),
                                        entry_of(ports, i)};
        struct pm_error reason = {0};
        int64_t its = 0;
        PGconn *connection = connect_and_ask(postgres, &host, seconds, &its, &reason);
        if (!connection && first.code == PM_OK)
            first = reason;
        if (connection && its > *timeline) {
            PQfinish(best);
            best = connection;
            *timeline = its;
        } else {
            PQfinish(connection);
        }
        free(host.host);
        free(host.address);
        free(host.port);
    }
    PQconninfoFree(options);
    if (!best && error)
        *error = first;
    return accept(postgres, best, *timeline, error);
}

PGconn *pm_pg_connect(struct pm_postgres *postgres, unsigned seconds, int64_t *timeline,
                      struct pm_error *error)
{
    PGconn *connection =
        connect_and_ask(postgres, &(struct pm_pg_host){0}, seconds, timeline, error);
    if (connection && *timeline >= atomic_load(&postgres->newest))
        return accept(postgres, connection, *timeline, error);
    if (!connection)
        return NULL;
    PQfinish(connection);
    return pm_pg_connect_newest(postgres, seconds, timeline, error);
}
