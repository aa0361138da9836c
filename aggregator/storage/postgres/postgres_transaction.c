/* Transactions of the PostgreSQL storage. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

static bool say(struct pm_postgres *postgres, const char *sql, struct pm_error *error)
{
    return pm_pg_plain(postgres, pm_pg_writer(postgres, error), sql, error);
}

static bool begin_as(struct pm_postgres *postgres, bool durable, struct pm_error *error)
{
    const char *sql = durable ? "BEGIN" : "BEGIN; SET LOCAL synchronous_commit = off";
    struct pm_error reason = {0};
    postgres->unsure = false;
    postgres->returned.size = 0;
    /* The engine may have been away since the connection was used last. */
    if (!say(postgres, sql, &reason) &&
        (reason.code != PM_ERROR_NETWORK || !say(postgres, sql, &reason))) {
        if (error)
            *error = reason;
        return false;
    }
    postgres->begun = true;
    postgres->lazy = !durable;
    return true;
}

bool pm_postgres_begin(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_postgres *)storage, true, error);
}

bool pm_postgres_begin_lazily(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_postgres *)storage, false, error);
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

bool pm_postgres_commit(struct pm_storage *storage, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    postgres->committing = true;
    const bool done = say(postgres, "COMMIT", error);
    postgres->committing = false;
    if (!done) {
        pm_postgres_rollback(storage);
        return false;
    }
    postgres->begun = false;
    if (postgres->unsure)
        return pm_fail(error, PM_ERROR_STATE,
                       "%s: a commit did not reach the standby, and is not counted on",
                       postgres->name);
    return_caps(postgres);
    return true;
}

void pm_postgres_rollback(struct pm_storage *storage)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    pm_spaces_forget(&postgres->spaces);
    pm_pg_forget_days(postgres);
    if (postgres->begun && postgres->writer &&
        PQtransactionStatus(postgres->writer) != PQTRANS_IDLE)
        say(postgres, "ROLLBACK", NULL);
    postgres->begun = false;
}

bool pm_pg_begin_next(struct pm_postgres *postgres, struct pm_error *error)
{
    if (!postgres->begun)
        return pm_postgres_begin(&postgres->storage, error);
    if (!say(postgres, "COMMIT; BEGIN", error)) {
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
