/* What the PostgreSQL storage forgets. Game by game, so that each statement is of one; and of some
 * games a transaction, since other statements of this process wait until it ends. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of which a transaction may end the work, so that it takes about a tenth of a second. */
#define PRUNED_GAMES 12
#define SETTLED_GAMES 60

static bool run_of_game(struct pm_postgres *postgres, const char *sql, const char *game,
                        const int64_t *numbers, size_t count, uint64_t *changed,
                        struct pm_error *error)
{
    struct pm_pg_query query;
    /* The statement names $1, the game, and $2… by itself: they are put behind it in a comment. */
    pm_pg_begin(&query, sql);
    pm_pg_sql(&query, " -- ");
    pm_pg_text(&query, game);
    for (size_t i = 0; i < count; i++)
        pm_pg_number(&query, numbers[i]);
    return pm_pg_do(postgres, &query, changed, error);
}

/* ---- retention ---- */

/* $1 the game, $2 the first day that is kept, $3 rows. */
#define OLD(table, columns, old)                                                                   \
    "DELETE FROM " table " WHERE game = $1 AND (" columns ") IN (SELECT " columns " FROM " table   \
    " WHERE game = $1 AND " old " ORDER BY " columns " LIMIT $3)"

static const char *const prunes[] = {
    OLD("upload_ids", "day, id", "day = 0 AND taken < $2"),
    /* Samples of a shader that has no statistics may still wait: it then has a claim of late. */
    "DELETE FROM spaces AS s WHERE game = $1 AND (key, kind) IN (SELECT key, kind FROM claims"
    " WHERE game = $1 AND last_day < $2 ORDER BY last_day, key, kind, scope, space LIMIT $3)"
    " AND NOT EXISTS (SELECT 1 FROM statistics AS o WHERE o.game = $1 AND o.key = s.key"
    " AND o.kind = s.kind)"
    " AND NOT EXISTS (SELECT 1 FROM claims AS c WHERE c.game = $1 AND c.key = s.key"
    " AND c.kind = s.kind AND c.last_day >= $2)"
    " AND NOT EXISTS (SELECT 1 FROM claim_marks AS m WHERE m.game = $1 AND m.key = s.key"
    " AND m.kind = s.kind)",
    "DELETE FROM claims WHERE game = $1 AND (key, kind, scope, space) IN (SELECT key, kind, scope,"
    " space FROM claims WHERE game = $1 AND last_day < $2 ORDER BY last_day, key, kind, scope,"
    " space LIMIT $3)",
    OLD("originals", "key", "day < $2"),
    "DELETE FROM scenes WHERE game = $1 AND scene IN (SELECT scene FROM scenes WHERE game = $1"
    " GROUP BY scene HAVING max(day) < $2 LIMIT $3)",
    OLD("quarantine", "row", "time < $2 * 86400"),
    OLD("coverage", "time, row", "time < $2 * 86400"),
};
enum { PRUNE_SPACES = 1, PRUNE_QUARANTINE = 5 };

/* Of a game that has neither statistics nor samples, nor ids that would be found by nobody else,
 * all; $2 and $3 as above. */
#define NOTHING_LEFT                                                                               \
    " AND NOT EXISTS (SELECT 1 FROM statistics AS o WHERE o.game = $1)"                            \
    " AND NOT EXISTS (SELECT 1 FROM samples AS o WHERE o.game = $1)"                               \
    " AND NOT EXISTS (SELECT 1 FROM upload_ids AS o WHERE o.game = $1 AND o.day = 0)"              \
    " AND $2::bigint >= 0"                                                                         \
    " AND $3::bigint >= 0"
static const char *const empties[] = {
    "DELETE FROM spaces WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM claims WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM claim_marks WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM originals WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM shader_names WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM coverage WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM scenes WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM databases WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM origins WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM leases WHERE game = $1" NOTHING_LEFT,
    "DELETE FROM games WHERE game = $1" NOTHING_LEFT,
};

static bool run_list(struct pm_postgres *postgres, const char *const *list, size_t count,
                     const char *game, uint32_t first, uint64_t rows, uint64_t *deleted,
                     struct pm_error *error)
{
    for (size_t i = 0; i < count && *deleted < rows; i++) {
        const int64_t numbers[] = {first, (int64_t)(rows - *deleted)};
        uint64_t changed = 0;
        if (!run_of_game(postgres, list[i], game, numbers, 2, &changed, error))
            return false;
        if (list != prunes || i != PRUNE_SPACES)
            *deleted += changed;
    }
    return true;
}

static bool take_any(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)result;
    (void)row;
    (void)error;
    *(bool *)user = true;
    return true;
}

/* Most games are not, which one statement says. */
static bool is_empty(struct pm_postgres *postgres, const char *game, uint32_t first, bool *empty,
                     struct pm_error *error)
{
    struct pm_pg_query query;
    *empty = false;
    pm_pg_begin(&query, "SELECT 1 FROM games WHERE game = $1" NOTHING_LEFT " LIMIT 1 -- ");
    pm_pg_text(&query, game);
    pm_pg_number(&query, first);
    pm_pg_number(&query, 0);
    return pm_pg_select_here(postgres, &query, take_any, empty, error);
}

static bool prune_game(struct pm_postgres *postgres, const char *game, uint32_t first,
                       uint32_t rows, uint64_t *deleted, bool *emptied, struct pm_error *error)
{
    const uint64_t before = *deleted;
    bool empty;
    if (!run_list(postgres, prunes, sizeof(prunes) / sizeof(*prunes), game, first, rows, deleted,
                  error))
        return false;
    if (*deleted > before || first == 0)
        return true;
    if (!is_empty(postgres, game, first, &empty, error))
        return false;
    /* The schema before any row of databases, as who publishes does. */
    *emptied = *emptied || empty;
    return !empty || (pm_pg_hold_schema(postgres, pm_pg_writer(postgres, error), error) &&
                      run_list(postgres, empties, sizeof(empties) / sizeof(*empties), game, first,
                               UINT32_MAX, deleted, error));
}

/* Days go in a transaction of their own: until it ends nobody writes to the tables. */
static bool prune(struct pm_postgres *postgres, uint32_t first, uint32_t rows, uint64_t *deleted,
                  struct pm_error *error)
{
    struct pm_pg_round *round = &postgres->pruning;
    bool done = true, emptied = false;
    if (round->reached == 0)
        done = pm_pg_drop_days(postgres, PM_PG_STATISTICS, first, false, deleted, error) &&
               pm_pg_drop_days(postgres, PM_PG_UPLOAD_IDS, first, false, deleted, error) &&
               pm_pg_drop_days(postgres, PM_PG_SAMPLES, first, true, deleted, error);
    if (!done || *deleted > 0)
        return done;
    if (round->reached == 0)
        done = run_list(postgres, prunes + PRUNE_QUARANTINE, 1, "", first, rows, deleted, error);
    for (unsigned i = 0; done && i < PRUNED_GAMES && round->reached < round->games.count; i++) {
        const uint64_t before = *deleted;
        if (*deleted >= rows)
            break;
        done = prune_game(postgres, round->games.names[round->reached], first, rows, deleted,
                          &emptied, error);
        /* Of which something was deleted, there may be more. */
        round->reached += done && *deleted == before;
    }
    return done && (!emptied || pm_postgres_sweep(postgres, error));
}

bool pm_postgres_prune(struct pm_storage *storage, uint32_t first, uint32_t rows, uint64_t *deleted,
                       bool *left, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_pg_round *round = &postgres->pruning;
    bool entered;
    pm_spaces_forget(&postgres->spaces);
    *deleted = 0;
    if (!pm_pg_enter_round(storage, round, first, error) || !pm_pg_enter(postgres, &entered, error))
        return false;
    const bool done = prune(postgres, first, rows, deleted, error);
    *left = round->reached < round->games.count || *deleted >= rows;
    return pm_pg_leave(postgres, entered, done, error);
}

/* ---- epochs ---- */

/* 1: the game; 2: today; 3: rows; 4: the first day that counts. What is counted is deleted,
 * exactly. Without parameters: Citus does it in several steps, of which some have none. */
#define SETTLE                                                                                     \
    "WITH ended AS (SELECT key, kind, scope, space, day FROM claim_marks WHERE game = %1$s"        \
    " AND day <> %2$" PRIu32                                                                       \
    " GROUP BY key, kind, scope, space, day ORDER BY day, key, kind, scope, space"                 \
    " LIMIT %3$" PRIu64 "),"                                                                       \
    " gone AS (DELETE FROM claim_marks WHERE game = %1$s AND (key, kind, scope, space, day) IN"    \
    " (SELECT key, kind, scope, space, day FROM ended) RETURNING key, kind, scope, space, day),"   \
    " counted AS (SELECT key, kind, scope, space, day, count(*) AS n,"                             \
    " row_number() OVER (PARTITION BY key, kind, scope, space ORDER BY (day >= %4$" PRIu32         \
    ") DESC,"                                                                                      \
    " count(*) DESC, day DESC) AS rank FROM gone GROUP BY key, kind, scope, space, day)"           \
    " INSERT INTO claims AS c (game, key, kind, scope, space, tokens, day, last_day)"              \
    " SELECT %1$s, key, kind, scope, space, n, day, day FROM counted WHERE rank = 1"               \
    " ORDER BY key, kind, scope, space"                                                            \
    " ON CONFLICT (game, key, kind, scope, space) DO UPDATE SET"                                   \
    " tokens = CASE WHEN excluded.tokens >= c.tokens OR c.day < %4$" PRIu32                        \
    " THEN excluded.tokens"                                                                        \
    " ELSE c.tokens END,"                                                                          \
    " day = CASE WHEN excluded.tokens >= c.tokens OR c.day < %4$" PRIu32                           \
    " THEN excluded.day ELSE c.day END,"                                                           \
    " last_day = greatest(c.last_day, excluded.last_day)"

static bool settle(struct pm_postgres *postgres, const char *game, uint32_t today, uint32_t first,
                   uint64_t rows, uint64_t *settled, struct pm_error *error)
{
    PGconn *connection = pm_pg_writer(postgres, error);
    char *name = connection ? PQescapeLiteral(connection, game, strlen(game)) : NULL, *sql = NULL;
    struct pm_pg_query query;
    if (!connection)
        return false;
    if (!name || asprintf(&sql, SETTLE, name, today, rows, first) < 0) {
        PQfreemem(name);
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for a statement", postgres->name);
    }
    pm_pg_begin(&query, sql);
    const bool done = pm_pg_do(postgres, &query, settled, error);
    free(sql);
    PQfreemem(name);
    return done;
}

static bool settle_games(struct pm_postgres *postgres, uint32_t today, uint32_t first,
                         uint32_t rows, uint64_t *settled, struct pm_error *error)
{
    struct pm_pg_round *round = &postgres->settling;
    for (unsigned i = 0;
         i < SETTLED_GAMES && round->reached < round->games.count && *settled < rows; i++) {
        uint64_t changed = 0;
        if (!settle(postgres, round->games.names[round->reached], today, first, rows - *settled,
                    &changed, error))
            return false;
        *settled += changed;
        round->reached += changed == 0;
    }
    return true;
}

/* Where a clock is behind, somebody may still count for the day before. */
static bool drop_settled_days(struct pm_postgres *postgres, uint32_t today, struct pm_error *error)
{
    uint64_t dropped = 0;
    const uint32_t kept = today > 0 ? today - 1 : 0;
    return pm_pg_drop_days(postgres, PM_PG_CAPS, kept, false, &dropped, error) &&
           pm_pg_drop_days(postgres, PM_PG_CAP_UPLOADS, kept, false, &dropped, error) &&
           pm_pg_drop_days(postgres, PM_PG_CLAIM_MARKS, kept, true, &dropped, error) &&
           pm_pg_drop_days(postgres, PM_PG_SAMPLES, kept, true, &dropped, error);
}

bool pm_postgres_settle_marks(struct pm_storage *storage, uint32_t today, uint32_t first,
                              uint32_t rows, uint64_t *settled, bool *left, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_pg_round *round = &postgres->settling;
    bool entered;
    *settled = 0;
    if (!pm_pg_enter_round(storage, round, today, error) || !pm_pg_enter(postgres, &entered, error))
        return false;
    bool done = settle_games(postgres, today, first, rows, settled, error);
    *left = round->reached < round->games.count;
    if (done && !*left)
        done = drop_settled_days(postgres, today, error);
    return pm_pg_leave(postgres, entered, done, error);
}

/* ---- dropping ---- */

static const char *const of_shader[] = {
    "DELETE FROM statistics WHERE game = $1 AND key = $2",
    "DELETE FROM spaces WHERE game = $1 AND key = $2",
    "DELETE FROM claims WHERE game = $1 AND key = $2",
    "DELETE FROM claim_marks WHERE game = $1 AND key = $2",
    "DELETE FROM originals WHERE game = $1 AND (key = $2 OR original = $2)",
    "DELETE FROM shader_names WHERE game = $1 AND key = $2",
};
static const char *const of_game[] = {
    "DELETE FROM statistics WHERE game = $1", "DELETE FROM spaces WHERE game = $1",
    "DELETE FROM claims WHERE game = $1",     "DELETE FROM claim_marks WHERE game = $1",
    "DELETE FROM originals WHERE game = $1",  "DELETE FROM samples WHERE game = $1",
    "DELETE FROM databases WHERE game = $1",  "DELETE FROM scenes WHERE game = $1",
    "DELETE FROM coverage WHERE game = $1",   "DELETE FROM quarantine WHERE game = $1",
    "DELETE FROM origins WHERE game = $1",    "DELETE FROM leases WHERE game = $1",
    "DELETE FROM games WHERE game = $1",      "DELETE FROM shader_names WHERE game = $1",
};

static bool drop(struct pm_postgres *postgres, const char *game, const struct pm_shader_key *key,
                 uint64_t *blobs, struct pm_error *error)
{
    const char *const *list = key ? of_shader : of_game;
    const size_t count =
        key ? sizeof(of_shader) / sizeof(*of_shader) : sizeof(of_game) / sizeof(*of_game);
    if (!key && !pm_pg_hold_schema(postgres, pm_pg_writer(postgres, error), error))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct pm_pg_query query;
        pm_pg_begin(&query, list[i]);
        pm_pg_sql(&query, " -- ");
        pm_pg_text(&query, game);
        if (key)
            pm_pg_key(&query, key);
        if (!pm_pg_do(postgres, &query, i == 0 ? blobs : NULL, error))
            return false;
    }
    return key || pm_postgres_sweep(postgres, error);
}

bool pm_postgres_drop(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                      uint64_t *blobs, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    bool entered;
    pm_spaces_forget(&postgres->spaces);
    return pm_pg_enter(postgres, &entered, error) &&
           pm_pg_leave(postgres, entered, drop(postgres, game, key, blobs, error), error);
}
