/* What a test does to the file of a storage that nobody has open. */
#pragma once

#include <sqlite3.h>

#include "tests/cmocka_includes.h"

static inline void sql_run(const char *path, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}
