/* One statement of the PostgreSQL storage, with its parameters, and what is answered. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/clock.h"
#include <endian.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define QUERY_CAP ((size_t)1 << 28)
/* Of PostgreSQL's catalog pg_type. */
enum {
    TYPE_BYTEA = 17,
    TYPE_BIGINT = 20,
    TYPE_TEXT = 25,
    TYPE_BYTEA_ARRAY = 1001,
    TYPE_BIGINT_ARRAY = 1016
};

void pm_pg_begin(struct pm_pg_query *query, const char *sql)
{
    *query = (struct pm_pg_query){.arena = pm_arena_create(0)};
    pm_buffer_init(&query->sql, QUERY_CAP);
    pm_buffer_init(&query->types, QUERY_CAP);
    pm_buffer_init(&query->values, QUERY_CAP);
    pm_buffer_init(&query->lengths, QUERY_CAP);
    pm_buffer_init(&query->formats, QUERY_CAP);
    query->failed = !query->arena;
    pm_pg_sql(query, sql);
}

void pm_pg_finish(struct pm_pg_query *query)
{
    pm_buffer_finish(&query->sql);
    pm_buffer_finish(&query->types);
    pm_buffer_finish(&query->values);
    pm_buffer_finish(&query->lengths);
    pm_buffer_finish(&query->formats);
    pm_arena_destroy(query->arena);
}

void pm_pg_sql(struct pm_pg_query *query, const char *sql)
{
    query->failed = query->failed || !pm_buffer_append(&query->sql, sql, strlen(sql));
}

static void add(struct pm_pg_query *query, Oid type, const char *value, size_t size)
{
    const int length = (int)size, format = 1;
    query->count++;
    query->failed = query->failed || size > INT32_MAX ||
                    !pm_buffer_append(&query->types, &type, sizeof(type)) ||
                    !pm_buffer_append(&query->values, &value, sizeof(value)) ||
                    !pm_buffer_append(&query->lengths, &length, sizeof(length)) ||
                    !pm_buffer_append(&query->formats, &format, sizeof(format)) ||
                    !pm_buffer_printf(&query->sql, "$%d", query->count);
}

void pm_pg_text(struct pm_pg_query *query, const char *text)
{
    add(query, TYPE_TEXT, text, strlen(text));
}

void pm_pg_bytes(struct pm_pg_query *query, const void *data, size_t size)
{
    add(query, TYPE_BYTEA, data, data ? size : 0);
}

void pm_pg_number(struct pm_pg_query *query, int64_t number)
{
    uint64_t *value = query->failed ? NULL : pm_arena_zalloc(query->arena, sizeof(*value), 1);
    if (!value) {
        query->failed = true;
        return;
    }
    *value = htobe64((uint64_t)number);
    add(query, TYPE_BIGINT, (const char *)value, sizeof(*value));
}

void pm_pg_count(struct pm_pg_query *query, uint64_t count)
{
    pm_pg_number(query, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

void pm_pg_row(struct pm_pg_query *query, bool first)
{
    pm_pg_sql(query, first ? "(" : ", (");
}

void pm_pg_comma(struct pm_pg_query *query)
{
    pm_pg_sql(query, ", ");
}

void pm_pg_key(struct pm_pg_query *query, const struct pm_shader_key *key)
{
    pm_pg_bytes(query, key->bytes, PM_SHADER_KEY_BYTES);
}

/* ---- arrays ---- */

/* As the engine sends and takes them (array_recv): of one dimension, without NULLs; what precedes
 * its elements, of which each has its size before it. Big-endian. */
struct array_header {
    uint32_t dimensions, nulls, type, count, first;
};

/* `bytes` is what all elements take, with their sizes. NULL: out of memory. */
static char *begin_array(struct pm_pg_query *query, Oid array_type, Oid type, size_t count,
                         size_t bytes)
{
    const struct array_header header = {.dimensions = htobe32(1),
                                        .type = htobe32(type),
                                        .count = htobe32((uint32_t)count),
                                        .first = htobe32(1)};
    const size_t size = sizeof(header) + bytes;
    char *array = query->failed || size > QUERY_CAP ? NULL : pm_arena_alloc(query->arena, size);
    if (!array) {
        query->failed = true;
        return NULL;
    }
    memcpy(array, &header, sizeof(header));
    add(query, array_type, array, size);
    return array + sizeof(header);
}

static char *put_element(char *at, const void *data, size_t size)
{
    const uint32_t length = htobe32((uint32_t)size);
    memcpy(at, &length, sizeof(length));
    if (size > 0)
        memcpy(at + sizeof(length), data, size);
    return at + sizeof(length) + size;
}

void pm_pg_numbers(struct pm_pg_query *query, const int64_t *numbers, size_t count)
{
    char *at = begin_array(query, TYPE_BIGINT_ARRAY, TYPE_BIGINT, count,
                           count * (sizeof(uint32_t) + sizeof(*numbers)));
    for (size_t i = 0; at && i < count; i++) {
        const uint64_t number = htobe64((uint64_t)numbers[i]);
        at = put_element(at, &number, sizeof(number));
    }
}

void pm_pg_blobs(struct pm_pg_query *query, const struct pm_pg_blob *blobs, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += sizeof(uint32_t) + blobs[i].size;
    char *at = begin_array(query, TYPE_BYTEA_ARRAY, TYPE_BYTEA, count, bytes);
    for (size_t i = 0; at && i < count; i++)
        at = put_element(at, blobs[i].data, blobs[i].size);
}

/* ---- answers ---- */

int64_t pm_pg_get_number(const PGresult *result, int row, int column)
{
    uint64_t value = 0;
    if (!PQgetisnull(result, row, column) && PQgetlength(result, row, column) == sizeof(value))
        memcpy(&value, PQgetvalue(result, row, column), sizeof(value));
    return (int64_t)be64toh(value);
}

const char *pm_pg_get(const PGresult *result, int row, int column, size_t *size)
{
    if (size)
        *size = (size_t)PQgetlength(result, row, column);
    return PQgetvalue(result, row, column);
}

bool pm_pg_get_key(struct pm_postgres *postgres, const PGresult *result, int row, int column,
                   struct pm_shader_key *key, struct pm_error *error)
{
    size_t size;
    const char *bytes = pm_pg_get(result, row, column, &size);
    if (size != PM_SHADER_KEY_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "%s: a row has a damaged key", postgres->name);
    memcpy(key->bytes, bytes, size);
    return true;
}

/* ---- running ---- */

static bool is_answer(const PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_SINGLE_TUPLE;
}

static bool is_ready(struct pm_postgres *postgres, struct pm_pg_query *query,
                     struct pm_error *error)
{
    atomic_fetch_add(&postgres->statements, 1);
    if (query->sql.size == 0 || query->sql.data[query->sql.size - 1] != 0)
        query->failed = query->failed || !pm_buffer_append(&query->sql, "", 1);
    return !query->failed ||
           pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for a statement", postgres->name);
}

PGresult *pm_pg_run(struct pm_postgres *postgres, PGconn *connection, struct pm_pg_query *query,
                    struct pm_error *error)
{
    PGresult *result = NULL;
    if (connection && is_ready(postgres, query, error)) {
        result = PQexecParams(connection, (const char *)query->sql.data, query->count,
                              (const Oid *)(const void *)query->types.data,
                              (const char *const *)(const void *)query->values.data,
                              (const int *)(const void *)query->lengths.data,
                              (const int *)(const void *)query->formats.data, 1);
        if (!is_answer(result)) {
            pm_pg_fail(postgres, connection, result, error);
            PQclear(result);
            result = NULL;
        }
    }
    pm_pg_finish(query);
    return result;
}

bool pm_pg_do(struct pm_postgres *postgres, struct pm_pg_query *query, uint64_t *changed,
              struct pm_error *error)
{
    PGresult *result = pm_pg_run(postgres, pm_pg_writer(postgres, error), query, error);
    if (!result)
        return false;
    if (changed)
        *changed = strtoull(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    return true;
}

static bool visit_all(const PGresult *result, pm_pg_visit visit, void *user, struct pm_error *error)
{
    bool done = true;
    for (int row = 0; done && row < PQntuples(result); row++)
        done = visit(user, result, row, error);
    return done;
}

bool pm_pg_select_on(struct pm_postgres *postgres, PGconn *connection, struct pm_pg_query *query,
                     pm_pg_visit visit, void *user, struct pm_error *error)
{
    PGresult *result = pm_pg_run(postgres, connection, query, error);
    if (!result)
        return false;
    const bool done = !visit || visit_all(result, visit, user, error);
    PQclear(result);
    return done;
}

bool pm_pg_select_here(struct pm_postgres *postgres, struct pm_pg_query *query, pm_pg_visit visit,
                       void *user, struct pm_error *error)
{
    return pm_pg_select_on(postgres, pm_pg_writer(postgres, error), query, visit, user, error);
}

bool pm_pg_plain_number(struct pm_postgres *postgres, PGconn *connection, const char *sql,
                        int64_t *number, struct pm_error *error)
{
    atomic_fetch_add(&postgres->statements, 1);
    PGresult *result = connection ? PQexec(connection, sql) : NULL;
    const bool done = result && is_answer(result);
    if (!done && connection)
        pm_pg_fail(postgres, connection, result, error);
    if (done && number)
        *number = PQntuples(result) > 0 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return done;
}

bool pm_pg_plain(struct pm_postgres *postgres, PGconn *connection, const char *sql,
                 struct pm_error *error)
{
    return pm_pg_plain_number(postgres, connection, sql, NULL, error);
}

static void cancel(PGconn *connection)
{
    char reason[256];
    PGcancel *cancel = PQgetCancel(connection);
    if (cancel)
        PQcancel(cancel, reason, sizeof(reason));
    PQfreeCancel(cancel);
}

/* false: it has not answered by then. */
static bool wait_until(PGconn *connection, int64_t until)
{
    struct pollfd waiting = {.fd = PQsocket(connection), .events = POLLIN};
    while (PQisBusy(connection)) {
        const int64_t left = until - pm_now();
        if (left <= 0)
            return false;
        if (poll(&waiting, 1, (int)(left / PM_MILLISECOND) + 1) > 0 &&
            PQconsumeInput(connection) != 1)
            return true; /* it says what is wrong */
    }
    return true;
}

bool pm_pg_plain_until(struct pm_postgres *postgres, PGconn *connection, const char *sql,
                       int64_t until, struct pm_error *error)
{
    const int64_t time = until - pm_now();
    PGresult *result;
    bool done = true;
    if (!connection)
        return false;
    atomic_fetch_add(&postgres->statements, 1);
    if (PQsendQuery(connection, sql) != 1)
        return pm_pg_fail(postgres, connection, NULL, error);
    if (!wait_until(connection, until)) {
        cancel(connection);
        if (!wait_until(connection, pm_now() + (time > PM_SECOND ? time : PM_SECOND))) {
            pm_pg_close_writer(postgres);
            return pm_fail(error, PM_ERROR_NETWORK, "%s: it answers no more", postgres->name);
        }
    }
    while ((result = PQgetResult(connection))) {
        if (done && !is_answer(result))
            done = pm_pg_fail(postgres, connection, result, error);
        PQclear(result);
    }
    return done;
}

static bool send_query(struct pm_postgres *postgres, PGconn *connection, struct pm_pg_query *query,
                       struct pm_error *error)
{
    if (!is_ready(postgres, query, error))
        return false;
    return (PQsendQueryParams(connection, (const char *)query->sql.data, query->count,
                              (const Oid *)(const void *)query->types.data,
                              (const char *const *)(const void *)query->values.data,
                              (const int *)(const void *)query->lengths.data,
                              (const int *)(const void *)query->formats.data, 1) == 1 &&
            PQsetSingleRowMode(connection) == 1) ||
           pm_pg_fail(postgres, connection, NULL, error);
}

/* So long is nothing heard before it is asked whether the engine is there: it may be slow. */
#define SILENT_SECONDS 3

/* The next answer, NULL after the last; also NULL, with an error, where the engine is not there. */
static PGresult *next_answer(struct pm_postgres *postgres, PGconn *connection, bool *done,
                             struct pm_error *error)
{
    while (PQisBusy(connection) && !wait_until(connection, pm_now() + SILENT_SECONDS * PM_SECOND)) {
        struct pm_error reason;
        if (pm_pg_is_there(postgres, &reason))
            continue;
        if (*done && error)
            *error = reason;
        *done = false;
        return NULL;
    }
    return PQgetResult(connection);
}

/* *seen: something was visited. */
static bool select_once(struct pm_postgres *postgres, struct pm_pg_query *query, pm_pg_visit visit,
                        void *user, bool *seen, struct pm_error *error)
{
    const struct pm_pg_reader reader = pm_pg_take_reader(postgres, error);
    PGconn *connection = reader.connection;
    PGresult *result;
    bool done = connection && send_query(postgres, connection, query, error);
    while (connection && (result = next_answer(postgres, connection, &done, error))) {
        if (done && !is_answer(result)) {
            done = pm_pg_fail(postgres, connection, result, error);
        } else if (done) {
            *seen = *seen || PQntuples(result) > 0;
            done = visit_all(result, visit, user, error);
            if (!done)
                cancel(connection); /* who stops in the middle lets the rest go */
        }
        PQclear(result);
    }
    pm_pg_give_reader(postgres, reader);
    return done;
}

bool pm_pg_select(struct pm_postgres *postgres, struct pm_pg_query *query, pm_pg_visit visit,
                  void *user, struct pm_error *error)
{
    struct pm_error reason = {0};
    bool seen = false;
    bool done = select_once(postgres, query, visit, user, &seen, &reason);
    /* The engine may have been away since the kept connections were used last. */
    if (!done && !seen && reason.code == PM_ERROR_NETWORK) {
        pm_pg_close_readers(postgres);
        done = select_once(postgres, query, visit, user, &seen, &reason);
    }
    pm_pg_finish(query);
    if (!done && error)
        *error = reason;
    return done;
}
