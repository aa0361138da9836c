/* Connections of the PostgreSQL storage, and what their errors mean. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of what the engine does for us: a statement that hangs must not hold uploads for ever. */
static const char settings[] = "SET client_min_messages = warning; SET lock_timeout = '10s';"
                               "SET statement_timeout = '120s'; SET synchronous_commit = on;"
                               "SET default_transaction_isolation = 'read committed'";

/* ---- errors ---- */

static bool starts(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

#define CANCELLED "57014" /* its time is over, or an operator ended it */

/* By the SQLSTATE (PostgreSQL's manual, appendix A). */
static enum pm_code code_of(const char *state)
{
    static const struct {
        const char *prefix;
        enum pm_code code;
    } codes[] = {
        {"40", PM_ERROR_CONFLICT},    /* serialization failure, deadlock */
        {"23505", PM_ERROR_CONFLICT}, /* another put it there between */
        {"23514", PM_ERROR_CONFLICT}, /* another dropped the day's partition between */
        {"55P03", PM_ERROR_CONFLICT}, /* a lock that another holds */
        {"53100", PM_ERROR_LIMIT},    /* the disk is full */
        {"53200", PM_ERROR_MEMORY},
        {"XX001", PM_ERROR_INPUT}, /* damaged */
        {"XX002", PM_ERROR_INPUT},
        {"42", PM_ERROR_IO}, /* no right to, or not our tables */
        {"08", PM_ERROR_NETWORK},
        {"57P", PM_ERROR_NETWORK},   /* it is being stopped, or starts */
        {"25006", PM_ERROR_NETWORK}, /* it is a standby now */
    };
    for (size_t i = 0; state && i < sizeof(codes) / sizeof(*codes); i++) {
        if (starts(state, codes[i].prefix))
            return codes[i].code;
    }
    return PM_ERROR_STATE;
}

bool pm_pg_fail(struct pm_postgres *postgres, PGconn *connection, const PGresult *result,
                struct pm_error *error)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *message = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    char text[300];
    if (!message)
        message = connection ? PQerrorMessage(connection) : "out of memory";
    /* libpq's own failures have no state: the connection was lost, which its status does not say
     * yet where that was seen while sending. */
    if (connection && (PQstatus(connection) != CONNECTION_OK || (result && !state)))
        return pm_fail(error, PM_ERROR_NETWORK, "%s: cannot be reached: %.*s", postgres->name,
                       (int)strcspn(message, "\n"), message);
    const size_t size = strcspn(message, "\n");
    snprintf(text, sizeof(text), "%.*s", (int)(size < 280 ? size : 280), message);
    /* Of what takes uploads: a distributed engine waits for a lock elsewhere, or this one is slow.
     */
    if (starts(state, CANCELLED) && connection && connection == atomic_load(&postgres->brief))
        return pm_fail(error, PM_ERROR_TIMEOUT, "%s: a statement took longer than 10 s: %s",
                       postgres->name, text);
    return pm_fail(error, code_of(state), "%s: %s", postgres->name, text);
}

/* Of the writer. A commit that did not wait for its standby is none that may be acknowledged: the
 * engine warns of that, without a code of its own where the wait was cancelled. */
static void take_notice(void *user, const PGresult *result)
{
    struct pm_postgres *postgres = user;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (postgres->committing && severity && strcmp(severity, "WARNING") == 0)
        postgres->unsure = true;
}

void pm_pg_hear_notices(struct pm_postgres *postgres, PGconn *connection)
{
    PQsetNoticeReceiver(connection, take_notice, postgres);
}

static void ignore_notice(void *user, const PGresult *result)
{
    (void)user;
    (void)result;
}

/* ---- connections ---- */

/* So long, at most, do the threads that answer HTTP wait for an engine of which nothing is heard;
 * then they leave it alone for a while, and one of them looks whether it is back. */
#define READER_SECONDS 3
#define AWAY_SECONDS 10
#define WRITER_SECONDS 10

static void set_away_until(struct pm_postgres *postgres, int64_t until)
{
    pthread_mutex_lock(&postgres->readers_mutex);
    postgres->away_until = until;
    pthread_mutex_unlock(&postgres->readers_mutex);
}

static bool fail_away(struct pm_postgres *postgres, struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_NETWORK, "%s: did not answer a moment ago", postgres->name);
}

static PGconn *set_up(struct pm_postgres *postgres, PGconn *connection, struct pm_error *error)
{
    if (PQstatus(connection) != CONNECTION_OK) {
        pm_pg_fail(postgres, connection, NULL, error);
        PQfinish(connection);
        return NULL;
    }
    PQsetNoticeReceiver(connection, ignore_notice, NULL);
    PGresult *result = PQexec(connection, settings);
    const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!done)
        pm_pg_fail(postgres, connection, result, error);
    PQclear(result);
    if (done)
        return connection;
    PQfinish(connection);
    return NULL;
}

PGconn *pm_pg_connect_to(struct pm_postgres *postgres, const struct pm_pg_host *host,
                         unsigned seconds, struct pm_error *error)
{
    char timeout[16];
    snprintf(timeout, sizeof(timeout), "%u", seconds);
    /* What the URL says goes before what precedes it. A machine that is gone without a word is
     * noticed within half a minute. */
    const char *const names[] = {"connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "application_name",
                                 "target_session_attrs",
                                 "dbname",
                                 "host",
                                 "hostaddr",
                                 "port",
                                 NULL};
    const char *const values[] = {timeout,    "10",          "5",          "3",
                                  "30000",    "piecemeal",   "read-write", postgres->url,
                                  host->host, host->address, host->port,   NULL};
    return set_up(postgres, PQconnectdbParams(names, values, 1), error);
}

PGconn *pm_pg_writer(struct pm_postgres *postgres, struct pm_error *error)
{
    if (postgres->writer && PQstatus(postgres->writer) == CONNECTION_OK &&
        (postgres->begun || !pm_pg_is_replaced(postgres)))
        return postgres->writer;
    if (postgres->begun) {
        pm_fail(error, PM_ERROR_NETWORK, "%s: the connection was lost", postgres->name);
        return NULL;
    }
    pm_pg_close_writer(postgres);
    postgres->writer = pm_pg_connect_newest(postgres, WRITER_SECONDS, &postgres->timeline, error);
    if (postgres->writer) {
        set_away_until(postgres, 0);
        pm_pg_hear_notices(postgres, postgres->writer);
        postgres->slot = (unsigned)PQbackendPID(postgres->writer) % PM_POSTGRES_SLOTS;
    }
    return postgres->writer;
}

void pm_pg_close_writer(struct pm_postgres *postgres)
{
    PQfinish(postgres->writer);
    postgres->writer = NULL;
}

/* false: nothing is heard of the engine. */
static bool connect_reader(struct pm_postgres *postgres, struct pm_pg_reader *reader,
                           struct pm_error *error)
{
    const int64_t now = pm_now();
    reader->connection = pm_pg_connect(postgres, READER_SECONDS, &reader->timeline, error);
    /* Who is refused at once waits for nothing, and may ask again. */
    const bool answers = reader->connection || pm_now() - now < PM_SECOND;
    set_away_until(postgres, answers ? 0 : pm_now() + AWAY_SECONDS * PM_SECOND);
    if (!answers)
        pm_pg_close_readers(postgres);
    return answers;
}

struct pm_pg_reader pm_pg_take_reader(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_pg_reader reader = {0};
    const int64_t now = pm_now();
    pthread_mutex_lock(&postgres->readers_mutex);
    const bool away = now < postgres->away_until;
    if (!away && postgres->reader_count > 0)
        reader = postgres->readers[--postgres->reader_count];
    else if (postgres->away_until != 0 && !away) /* for all others, while this one looks */
        postgres->away_until = now + AWAY_SECONDS * PM_SECOND;
    pthread_mutex_unlock(&postgres->readers_mutex);
    if (away)
        fail_away(postgres, error);
    else if (!reader.connection)
        connect_reader(postgres, &reader, error);
    return reader;
}

bool pm_pg_is_there(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_pg_reader reader = {0};
    pthread_mutex_lock(&postgres->readers_mutex);
    const bool away = pm_now() < postgres->away_until;
    pthread_mutex_unlock(&postgres->readers_mutex);
    if (away)
        return fail_away(postgres, error);
    const bool there = connect_reader(postgres, &reader, error);
    pm_pg_give_reader(postgres, reader);
    return there;
}

bool pm_pg_is_current(struct pm_postgres *postgres, struct pm_pg_reader reader)
{
    return reader.timeline >= atomic_load(&postgres->newest);
}

void pm_pg_give_reader(struct pm_postgres *postgres, struct pm_pg_reader reader)
{
    const bool usable = reader.connection && PQstatus(reader.connection) == CONNECTION_OK &&
                        PQtransactionStatus(reader.connection) == PQTRANS_IDLE;
    if (usable)
        PQsetNoticeReceiver(reader.connection, ignore_notice, NULL);
    pthread_mutex_lock(&postgres->readers_mutex);
    /* Whoever sees a newer engine closes what is kept, under the mutex, after it said so. */
    if (usable && pm_pg_is_current(postgres, reader) &&
        postgres->reader_count < PM_POSTGRES_IDLE_READERS) {
        postgres->readers[postgres->reader_count++] = reader;
        reader.connection = NULL;
    }
    pthread_mutex_unlock(&postgres->readers_mutex);
    PQfinish(reader.connection);
}

void pm_pg_close_readers(struct pm_postgres *postgres)
{
    pthread_mutex_lock(&postgres->readers_mutex);
    while (postgres->reader_count > 0)
        PQfinish(postgres->readers[--postgres->reader_count].connection);
    pthread_mutex_unlock(&postgres->readers_mutex);
}
