/* Checksums of rows that are no blobs: against what disks and other programs do to the file, not
 * against who knows it. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Of the values and their types, one after the other. Integers are of 64 bits, whatever bytes the
 * file takes for them. */
static void seal(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++) {
        const uint64_t type = (uint64_t)sqlite3_value_type(values[i]);
        if (type == SQLITE_INTEGER) {
            const int64_t value = sqlite3_value_int64(values[i]);
            hash = XXH3_64bits_withSeed(&value, sizeof(value), hash + type);
        } else if (type != SQLITE_NULL) {
            const void *data = sqlite3_value_blob(values[i]);
            const int size = sqlite3_value_bytes(values[i]);
            hash = XXH3_64bits_withSeed(size > 0 ? data : "", (size_t)size, hash + type);
        } else {
            hash = XXH3_64bits_withSeed("", 0, hash + type);
        }
    }
    sqlite3_result_int64(context, (int64_t)hash);
}

bool pm_sqlite_let_seal(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "seal", -1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                      seal, NULL, NULL, NULL) == SQLITE_OK;
}

/* Each says of its rows that are not what was written whose they are. */
static const char *const checks[] = {
    "SELECT 'the number of uploads of game ' || quote(name) FROM games"
    " WHERE seal IS NOT seal(name, uploads)",
    "SELECT 'scene ' || quote(scene) || ' of game ' || quote(game) FROM scenes"
    " WHERE seal IS NOT seal(game, scene, uploads, day)",
    "SELECT 'the number of points of shader ' || quote(key) || ' of game ' || quote(game)"
    " FROM spaces WHERE seal IS NOT seal(game, key, kind, space)",
    "SELECT 'a claim about shader ' || quote(key) || ' of game ' || quote(game) FROM claims"
    " WHERE seal IS NOT seal(game, key, kind, scope, space, tokens, day, marks_day)",
    "SELECT 'the original of shader ' || quote(key) || ' of game ' || quote(game) FROM originals"
    " WHERE seal IS NOT seal(game, key, original, day)",
    "SELECT 'the name of shader ' || quote(key) || ' of game ' || quote(game) FROM shader_names"
    " WHERE seal IS NOT seal(game, key, name)",
    "SELECT 'what is published of game ' || quote(game) || ', scene ' || quote(scene)"
    " FROM databases WHERE seal IS NOT seal(game, scene, etag, previous_etag)",
    "SELECT 'the coverage of game ' || quote(game) || ' at ' || quote(time) FROM coverage"
    " WHERE seal IS NOT seal(game, time, uploads, points_covered, points)",
};

unsigned pm_sqlite_check_seals(const char *path, sqlite3 *db,
                               void (*say)(void *user, const char *sentence), void *user)
{
    unsigned found = 0;
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        sqlite3_stmt *statement = NULL;
        struct pm_error error;
        char sentence[512];
        int code = sqlite3_prepare_v2(db, checks[i], -1, &statement, NULL);
        while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *what = (const char *)sqlite3_column_text(statement, 0);
            snprintf(sentence, sizeof(sentence),
                     "%.400s is not what was written (its checksum says so)",
                     what ? what : "a row");
            say(user, sentence);
            found++;
            code = SQLITE_OK;
        }
        if (code != SQLITE_DONE) {
            pm_sqlite_fail(path, db, "cannot check the database", &error);
            say(user, error.message);
            found++;
        }
        sqlite3_finalize(statement);
    }
    return found;
}
