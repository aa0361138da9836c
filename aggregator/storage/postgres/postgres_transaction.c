/* Transactions of the PostgreSQL storage. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

static bool say(struct pm_postgres *postgres, const char *sql, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, sql);
    return pm_pg_do(postgres, &query, NULL, error);
}

static bool begin_as(struct pm_postgres *postgres, bool durable, struct pm_error *error)
{
    struct pm_error reason = {0};
    postgres->unsure = false;
    /* The engine may have been away since the connection was used last. */
    if (!say(postgres, "BEGIN", &reason) &&
        (reason.code != PM_ERROR_NETWORK || !say(postgres, "BEGIN", &reason))) {
        if (error)
            *error = reason;
        return false;
    }
    postgres->begun = true;
    postgres->lazy = !durable;
    if (durable || say(postgres, "SET LOCAL synchronous_commit = off", error))
        return true;
    pm_postgres_rollback(&postgres->storage);
    return false;
}

bool pm_postgres_begin(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_postgres *)storage, true, error);
}

bool pm_postgres_begin_lazily(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_postgres *)storage, false, error);
}

bool pm_postgres_commit(struct pm_storage *storage, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    if (!say(postgres, "COMMIT", error)) {
        pm_postgres_rollback(storage);
        return false;
    }
    postgres->begun = false;
    return !postgres->unsure ||
           pm_fail(error, PM_ERROR_STATE,
                   "%s: a commit did not reach the standby, and is not counted on", postgres->name);
}

void pm_postgres_rollback(struct pm_storage *storage)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    pm_spaces_forget(&postgres->spaces);
    if (postgres->begun && postgres->writer &&
        PQtransactionStatus(postgres->writer) != PQTRANS_IDLE)
        say(postgres, "ROLLBACK", NULL);
    postgres->begun = false;
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
