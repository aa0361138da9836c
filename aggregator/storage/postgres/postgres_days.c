/* Days of the PostgreSQL storage: each has partitions of its own of the tables that grow by the
 * day, so that forgetting a day is dropping them. They are made when something is first written of
 * the day, and by whoever writes it, on a connection of its own while its writer holds nothing: a
 * partition may wait for all that hold the table (Citus), and two connections of one process that
 * wait for each other are no deadlock that an engine sees. So what a transaction lacks is only put
 * down, and made before the next one begins. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/names.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[PM_PG_TABLES] = {
    [PM_PG_UPLOAD_IDS] = "upload_ids",
    [PM_PG_SAMPLES] = "samples",
    [PM_PG_STATISTICS] = "statistics",
    [PM_PG_CLAIM_MARKS] = "claim_marks",
    [PM_PG_CAPS] = "caps",
    [PM_PG_CAP_UPLOADS] = "cap_uploads",
};

/* ---- what is known to be there ---- */

static bool is_known(const struct pm_pg_days *days, uint32_t day)
{
    for (size_t i = days->count; i > 0; i--) {
        if (days->days[i - 1] == day)
            return true;
    }
    return false;
}

static bool note(struct pm_pg_days *days, uint32_t day)
{
    if (is_known(days, day))
        return true;
    uint32_t *grown = reallocarray(days->days, days->count + 1, sizeof(*grown));
    if (!grown)
        return false;
    days->days = grown;
    days->days[days->count++] = day;
    return true;
}

static void forget(struct pm_pg_days all[static PM_PG_TABLES])
{
    for (size_t i = 0; i < PM_PG_TABLES; i++) {
        free(all[i].days);
        all[i] = (struct pm_pg_days){0};
    }
}

void pm_pg_forget_days(struct pm_postgres *postgres)
{
    forget(postgres->days);
}

void pm_pg_forget_wanted_days(struct pm_postgres *postgres)
{
    forget(postgres->wanted_days);
}

/* ---- making ---- */

static bool take_flag(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    *(bool *)user = !PQgetisnull(result, row, 0);
    return true;
}

static bool is_there(struct pm_postgres *postgres, PGconn *connection, enum pm_pg_table table,
                     uint32_t day, bool *there, struct pm_error *error)
{
    struct pm_pg_query query;
    char sql[512];
    *there = false;
    snprintf(sql, sizeof(sql), "SELECT to_regclass('%s_d%" PRIu32 "')::text", names[table], day);
    pm_pg_begin(&query, sql);
    return pm_pg_select_on(postgres, connection, &query, take_flag, there, error);
}

/* The lease of the schema is whoever's changes it: two do not make the same partition. Nobody waits
 * for it for one that is there. */
static bool make(struct pm_postgres *postgres, PGconn *connection, enum pm_pg_table table,
                 uint32_t day, struct pm_error *error)
{
    bool there;
    char sql[512];
    if (!is_there(postgres, connection, table, day, &there, error))
        return false;
    if (!there && (!pm_pg_hold_schema(postgres, connection, error) ||
                   !is_there(postgres, connection, table, day, &there, error)))
        return false;
    if (there)
        return true;
    snprintf(sql, sizeof(sql), "CREATE TABLE %s_d%" PRIu32 " (LIKE %s INCLUDING STORAGE)",
             names[table], day, names[table]);
    if (!pm_pg_plain(postgres, connection, sql, error))
        return false;
    snprintf(sql, sizeof(sql),
             "ALTER TABLE %s ATTACH PARTITION %s_d%" PRIu32 " FOR VALUES IN (%" PRIu32 ")",
             names[table], names[table], day, day);
    return pm_pg_plain(postgres, connection, sql, error);
}

static bool make_once(struct pm_postgres *postgres, enum pm_pg_table table, uint32_t day,
                      struct pm_error *error)
{
    const struct pm_pg_reader reader = pm_pg_take_reader(postgres, error);
    PGconn *connection = reader.connection;
    if (!connection)
        return false;
    bool done = pm_pg_plain(postgres, connection, "BEGIN", error);
    if (done) {
        done = make(postgres, connection, table, day, error);
        done =
            pm_pg_plain(postgres, connection, done ? "COMMIT" : "ROLLBACK", done ? error : NULL) &&
            done;
    }
    pm_pg_give_reader(postgres, reader);
    return done;
}

static bool no_room(struct pm_postgres *postgres, struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for days", postgres->name);
}

static bool make_day(struct pm_postgres *postgres, enum pm_pg_table table, uint32_t day,
                     struct pm_error *error)
{
    struct pm_error reason = {0};
    bool done = make_once(postgres, table, day, &reason);
    /* The engine may have been away since the kept connections were used last. */
    if (!done && reason.code == PM_ERROR_NETWORK) {
        pm_pg_close_readers(postgres);
        done = make_once(postgres, table, day, &reason);
    }
    if (!done && error)
        *error = reason;
    return done && (note(&postgres->days[table], day) || no_room(postgres, error));
}

bool pm_pg_have_day(struct pm_postgres *postgres, enum pm_pg_table table, uint32_t day,
                    struct pm_error *error)
{
    const bool known = is_known(&postgres->days[table], day);
    if (!postgres->begun)
        return known || make_day(postgres, table, day, error);
    postgres->lacks_day = postgres->lacks_day || !known;
    return note(&postgres->wanted_days[table], day) || no_room(postgres, error);
}

bool pm_pg_make_wanted_days(struct pm_postgres *postgres, struct pm_error *error)
{
    for (unsigned table = 0; table < PM_PG_TABLES; table++) {
        const struct pm_pg_days *wanted = &postgres->wanted_days[table];
        for (size_t i = 0; i < wanted->count; i++) {
            if (!is_known(&postgres->days[table], wanted->days[i]) &&
                !make_day(postgres, (enum pm_pg_table)table, wanted->days[i], error))
                return false;
        }
    }
    return true;
}

/* ---- dropping ---- */

struct dropping {
    struct pm_postgres *postgres;
    struct pm_names partitions;
    uint32_t first;
};

/* The day is behind "_d" in its name; 0, of what says no day, stays. */
static bool take_partition(void *user, const PGresult *result, int row, struct pm_error *error)
{
    struct dropping *dropping = user;
    const char *name = pm_pg_get(result, row, 0, NULL), *day = strrchr(name, '_');
    char *end;
    if (!day || day[1] != 'd')
        return true;
    const unsigned long number = strtoul(day + 2, &end, 10);
    return *end != 0 || end == day + 2 || number == 0 || number >= dropping->first ||
           pm_names_append(&dropping->partitions, name) ||
           pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", dropping->postgres->name);
}

static bool is_empty(struct pm_postgres *postgres, const char *partition, bool *empty,
                     struct pm_error *error)
{
    struct pm_pg_query query;
    bool any = false;
    pm_pg_begin(&query, "SELECT 1 FROM ");
    pm_pg_sql(&query, partition);
    pm_pg_sql(&query, " LIMIT 1");
    const bool done = pm_pg_select_here(postgres, &query, take_flag, &any, error);
    *empty = !any;
    return done;
}

/* Detached, nobody writes to it any more. Whoever reads just now is not waited for long: those that
 * come behind us would wait, too. */
static bool drop(struct pm_postgres *postgres, enum pm_pg_table table, const char *partition,
                 bool only_empty, bool *dropped, struct pm_error *error)
{
    char sql[400];
    bool empty = true;
    snprintf(sql, sizeof(sql), "ALTER TABLE %s DETACH PARTITION %s", names[table], partition);
    if (!pm_pg_plain(postgres, postgres->writer, "SET LOCAL lock_timeout = '500ms'", error) ||
        !pm_pg_plain(postgres, postgres->writer, sql, error) ||
        (only_empty && !is_empty(postgres, partition, &empty, error)))
        return false;
    *dropped = empty;
    snprintf(sql, sizeof(sql), "DROP TABLE %s", partition);
    return !empty || pm_pg_plain(postgres, postgres->writer, sql, error);
}

/* What cannot be dropped now is the next time. */
static bool drop_one(struct pm_postgres *postgres, enum pm_pg_table table, const char *partition,
                     bool only_empty, bool *dropped, struct pm_error *error)
{
    struct pm_error reason = {0};
    *dropped = false;
    if (!pm_pg_plain(postgres, postgres->writer, "SAVEPOINT day", error))
        return false;
    const bool done = drop(postgres, table, partition, only_empty, dropped, &reason);
    if (!done && reason.code != PM_ERROR_CONFLICT) {
        if (error)
            *error = reason;
        return false;
    }
    *dropped = done && *dropped;
    return *dropped || pm_pg_plain(postgres, postgres->writer, "ROLLBACK TO SAVEPOINT day", error);
}

static bool list_partitions(struct dropping *dropping, enum pm_pg_table table,
                            struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT c.relname::text FROM pg_inherits AS i JOIN pg_class AS c ON c.oid ="
                        " i.inhrelid WHERE i.inhparent = to_regclass('");
    pm_pg_sql(&query, names[table]);
    pm_pg_sql(&query, "')");
    return pm_pg_select_here(dropping->postgres, &query, take_partition, dropping, error);
}

/* Another may drop the same just now: who has the lease of the schema sees what is left. */
static bool list_dropped(struct dropping *dropping, enum pm_pg_table table, struct pm_error *error)
{
    if (!list_partitions(dropping, table, error))
        return false;
    if (dropping->partitions.count == 0)
        return true;
    pm_names_finish(&dropping->partitions);
    return pm_pg_hold_schema(dropping->postgres, pm_pg_writer(dropping->postgres, error), error) &&
           list_partitions(dropping, table, error);
}

bool pm_pg_drop_days(struct pm_postgres *postgres, enum pm_pg_table table, uint32_t first,
                     bool only_empty, uint64_t *dropped, struct pm_error *error)
{
    struct dropping dropping = {.postgres = postgres, .first = first};
    bool done = list_dropped(&dropping, table, error);
    if (dropping.partitions.count > 0)
        pm_pg_forget_days(postgres);
    for (size_t i = 0; done && i < dropping.partitions.count; i++) {
        bool gone;
        done = drop_one(postgres, table, dropping.partitions.names[i], only_empty, &gone, error);
        *dropped += done && gone;
    }
    pm_names_finish(&dropping.partitions);
    return done;
}
