/* Transactions of the PostgreSQL storage. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/clock.h"

#define COMMIT_SECONDS 10

static bool say(struct pm_postgres *postgres, const char *sql, struct pm_error *error)
{
    return pm_pg_plain(postgres, pm_pg_writer(postgres, error), sql, error);
}

/* BEGIN and what goes with it, and that the tables are still those that this program knows: a newer
 * one may have come since. */
static bool begin_checked(struct pm_postgres *postgres, const char *sql, bool brief,
                          struct pm_error *error)
{
    int64_t version;
    PGconn *writer = pm_pg_writer(postgres, error);
    atomic_store(&postgres->brief, brief ? writer : NULL);
    const bool done = pm_pg_plain_number(postgres, writer, sql, &version, error) &&
                      pm_pg_check_version(postgres, version, error);
    postgres->begun = true; /* what failed may be, too */
    if (done)
        return true;
    pm_postgres_rollback(&postgres->storage);
    return false;
}

#define LAZY "SET LOCAL synchronous_commit = off; "
/* Of folding, too, behind which uploads wait. */
#define SHORT_LOCKS "SET LOCAL lock_timeout = '2s'; "
/* A prepared transaction whose coordinator died may hold a row for hours. Where the engine is
 * distributed, the wait is on another machine, and only the statement's time ends it. */
#define BRIEF SHORT_LOCKS "SET LOCAL statement_timeout = '10s'; "

static const char *const beginnings[2][2] = {
    /* [lazy][brief] */
    {"BEGIN; " PM_PG_SCHEMA_VERSION, "BEGIN; " BRIEF PM_PG_SCHEMA_VERSION},
    {"BEGIN; " LAZY SHORT_LOCKS PM_PG_SCHEMA_VERSION, "BEGIN; " LAZY BRIEF PM_PG_SCHEMA_VERSION}};

/* What is done before any. */
static bool prepare(struct pm_postgres *postgres, struct pm_error *error)
{
    postgres->unsure = false;
    postgres->returned.size = 0;
    if (pm_pg_make_wanted_days(postgres, error))
        return true;
    /* Whoever does not try again wants them no more. */
    if (error->code != PM_ERROR_CONFLICT)
        pm_pg_forget_wanted_days(postgres);
    return false;
}

static bool begin_as(struct pm_postgres *postgres, bool lazy, bool brief, struct pm_error *error)
{
    const char *sql = beginnings[lazy][brief];
    struct pm_error reason = {0};
    bool done = prepare(postgres, &reason);
    /* The engine may have been away since the connection was used last. */
    done =
        done && (begin_checked(postgres, sql, brief, &reason) ||
                 (reason.code == PM_ERROR_NETWORK && begin_checked(postgres, sql, brief, &reason)));
    if (!done) {
        if (error)
            *error = reason;
        return false;
    }
    postgres->lazy = lazy;
    return true;
}

bool pm_pg_begin_upgrade(struct pm_postgres *postgres, struct pm_error *error)
{
    /* Longer than what is open may take. */
    postgres->begun = say(postgres,
                          "BEGIN; SET LOCAL lock_timeout = '130s'; SET LOCAL statement_timeout = 0;"
                          " LOCK TABLE piecemeal_schema IN ACCESS EXCLUSIVE MODE",
                          error);
    if (!postgres->begun && postgres->writer)
        pm_pg_plain(postgres, postgres->writer, "ROLLBACK", NULL);
    return postgres->begun;
}

bool pm_postgres_begin(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_postgres *)storage, false, false, error);
}

bool pm_postgres_begin_lazily(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_postgres *)storage, true, false, error);
}

bool pm_postgres_begin_piece(struct pm_storage *storage, const char *game, int piece,
                             struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_error reason = {0};
    /* Its own writer, since what that knows of the engine holds for the piece's, too. */
    bool done = prepare(postgres, &reason) && pm_pg_writer(postgres, &reason);
    if (done && pm_pg_enter_piece(postgres, game, piece)) {
        done = begin_checked(postgres, LAZY SHORT_LOCKS PM_PG_SCHEMA_VERSION, false, &reason);
        postgres->lazy = done;
        if (done || reason.code != PM_ERROR_NETWORK) {
            if (!done && error)
                *error = reason;
            return done;
        }
    }
    /* Who has no lease, or lost its connection, works without. */
    return pm_postgres_begin_lazily(storage, error);
}

/* A token of which this fails counts a refused upload too often, and no more than that. */
static void return_caps(struct pm_postgres *postgres)
{
    struct pm_buffer returned = postgres->returned;
    if (returned.size == 0)
        return;
    pm_buffer_init(&postgres->returned, PM_PG_RETURNED_CAP);
    pm_pg_return_caps(postgres, (const struct pm_storage_cap *)(const void *)returned.data,
                      returned.size / sizeof(struct pm_storage_cap), NULL);
    pm_buffer_finish(&returned);
}

/* The engine's own limits do not hold while a commit waits for its standby. */
static bool say_commit(struct pm_postgres *postgres, struct pm_error *error)
{
    const int64_t until = pm_now() + COMMIT_SECONDS * PM_SECOND,
                  hurry = atomic_load(&postgres->hurry);
    postgres->committing = true;
    const bool done = pm_pg_plain_until(postgres, pm_pg_writer(postgres, error), "COMMIT",
                                        hurry < until ? hurry : until, error);
    postgres->committing = false;
    return done;
}

/* What begin leaves, once it is committed or rolled back. */
static void end(struct pm_postgres *postgres, bool committed)
{
    postgres->begun = false;
    pm_pg_end_rounds(postgres, committed);
    atomic_store(&postgres->brief, NULL);
    pm_pg_leave_piece(postgres);
}

bool pm_postgres_commit(struct pm_storage *storage, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    if (postgres->lacks_day) {
        pm_postgres_rollback(storage);
        return pm_fail(error, PM_ERROR_CONFLICT, "%s: days have no partitions yet", postgres->name);
    }
    const bool done = (!pm_pg_is_replaced(postgres) ||
                       pm_pg_fail_replaced(postgres, postgres->timeline, error)) &&
                      say_commit(postgres, error);
    if (!done) {
        pm_postgres_rollback(storage);
        return false;
    }
    end(postgres, true);
    pm_pg_forget_wanted_days(postgres);
    if (postgres->unsure) {
        pm_pg_close_writer(postgres); /* the standby may be the primary by now */
        return pm_fail(error, PM_ERROR_UNSURE,
                       "%s: a commit did not reach the standby, and is not counted on",
                       postgres->name);
    }
    if (pm_pg_is_replaced(postgres))
        return pm_pg_fail_replaced(postgres, postgres->timeline, error);
    return_caps(postgres);
    return true;
}

void pm_postgres_rollback(struct pm_storage *storage)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    pm_spaces_forget(&postgres->spaces);
    pm_pg_forget_days(postgres);
    postgres->lacks_day = false;
    if (postgres->begun && postgres->writer &&
        PQtransactionStatus(postgres->writer) != PQTRANS_IDLE)
        say(postgres, "ROLLBACK", NULL);
    end(postgres, false);
}

bool pm_pg_begin_caps(struct pm_postgres *postgres, struct pm_error *error)
{
    return begin_as(postgres, true, true, error);
}

bool pm_pg_begin_ids(struct pm_postgres *postgres, struct pm_error *error)
{
    if (!postgres->begun)
        return begin_as(postgres, false, true, error);
    if (!begin_checked(postgres, "COMMIT; BEGIN; " BRIEF PM_PG_SCHEMA_VERSION, true, error)) {
        pm_postgres_rollback(&postgres->storage);
        return false;
    }
    postgres->lazy = false;
    return true;
}

bool pm_pg_enter(struct pm_postgres *postgres, bool *entered, struct pm_error *error)
{
    *entered = !postgres->begun;
    return !*entered || pm_postgres_begin(&postgres->storage, error);
}

bool pm_pg_leave(struct pm_postgres *postgres, bool entered, bool done, struct pm_error *error)
{
    return entered ? pm_storage_end(&postgres->storage, done, error) : done;
}
