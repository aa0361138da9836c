/* How long the SQLite storage waits for other processes that have the file locked. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "base/clock.h"
#include <time.h>

#define WAIT_MOST 10 /* milliseconds between two looks */

/* Milliseconds that were waited before the look of this number, which waits for one more than the
 * one before did, up to WAIT_MOST. */
static uint32_t waited(int look)
{
    const uint32_t n = look < WAIT_MOST ? (uint32_t)look : WAIT_MOST;
    return n * (n + 1) / 2 + ((uint32_t)look - n) * WAIT_MOST;
}

static int wait_on(const struct pm_sqlite *sqlite, uint32_t patience, int look)
{
    const int64_t until = atomic_load(&sqlite->hurry);
    const uint32_t before = waited(look), after = waited(look + 1);
    if (before >= patience || pm_now() >= until)
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = (after - before) * 1000000L}, NULL);
    return 1;
}

static int writer_waits(void *user, int look)
{
    const struct pm_sqlite *sqlite = user;
    return wait_on(sqlite, sqlite->patience, look);
}

static int reader_waits(void *user, int look)
{
    return wait_on(user, PM_SQLITE_BUSY_MILLISECONDS, look);
}

void pm_sqlite_let_writer_wait(struct pm_sqlite *sqlite)
{
    sqlite3_busy_handler(sqlite->writer, writer_waits, sqlite);
}

void pm_sqlite_let_reader_wait(struct pm_sqlite *sqlite, sqlite3 *db)
{
    sqlite3_busy_handler(db, reader_waits, sqlite);
}

void pm_sqlite_hurry(struct pm_storage *storage, int64_t until)
{
    atomic_store(&((struct pm_sqlite *)storage)->hurry, until);
}
