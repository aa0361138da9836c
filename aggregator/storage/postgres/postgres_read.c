/* Games, scenes, origins, originals and what is set aside, in the PostgreSQL storage. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <string.h>

/* ---- games ---- */

struct game_visit {
    pm_storage_visit_game visit;
    void *user;
};

static bool take_game(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct game_visit *visit = user;
    return visit->visit(visit->user, pm_pg_get(result, row, 0, NULL),
                        (uint64_t)pm_pg_get_number(result, row, 1), error);
}

bool pm_postgres_list_games(struct pm_storage *storage, pm_storage_visit_game visit, void *user,
                            struct pm_error *error)
{
    struct game_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT game, sum(uploads)::bigint FROM games GROUP BY game ORDER BY game");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_game, &all, error);
}

struct found_game {
    int64_t slots, uploads;
};

static bool take_found(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    *(struct found_game *)user =
        (struct found_game){pm_pg_get_number(result, row, 0), pm_pg_get_number(result, row, 1)};
    return true;
}

bool pm_postgres_find_game(struct pm_storage *storage, const char *game, bool *known,
                           uint64_t *uploads, struct pm_error *error)
{
    struct found_game found = {0};
    struct pm_pg_query query;
    pm_pg_begin(&query,
                "SELECT count(*), coalesce(sum(uploads), 0)::bigint FROM games WHERE game = ");
    pm_pg_text(&query, game);
    const bool done =
        pm_pg_select((struct pm_postgres *)storage, &query, take_found, &found, error);
    *known = found.slots > 0;
    *uploads = (uint64_t)found.uploads;
    return done;
}

static bool take_number(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    *(uint64_t *)user = (uint64_t)pm_pg_get_number(result, row, 0);
    return true;
}

bool pm_postgres_count_games(struct pm_storage *storage, uint64_t *games, struct pm_error *error)
{
    struct pm_pg_query query;
    *games = 0;
    pm_pg_begin(&query, "SELECT count(DISTINCT game) FROM games");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_number, games, error);
}

bool pm_postgres_read_bytes(struct pm_storage *storage, uint64_t *bytes, struct pm_error *error)
{
    struct pm_pg_query query;
    *bytes = 0;
    pm_pg_begin(&query, "SELECT pg_database_size(current_database())");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_number, bytes, error);
}

/* ---- scenes and origins ---- */

struct scene_visit {
    pm_storage_visit_scene visit;
    void *user;
};

static bool take_scene(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct scene_visit *visit = user;
    return visit->visit(visit->user, pm_pg_get(result, row, 0, NULL),
                        (uint64_t)pm_pg_get_number(result, row, 1),
                        (uint32_t)pm_pg_get_number(result, row, 2), error);
}

bool pm_postgres_list_scenes(struct pm_storage *storage, const char *game, uint32_t most,
                             pm_storage_visit_scene visit, void *user, struct pm_error *error)
{
    struct scene_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT scene, sum(uploads)::bigint, max(day) FROM scenes WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " GROUP BY scene ORDER BY 2 DESC, 1 LIMIT ");
    pm_pg_count(&query, most);
    return pm_pg_select((struct pm_postgres *)storage, &query, take_scene, &all, error);
}

bool pm_postgres_add_origin(struct pm_storage *storage, const char *game, const void *origin,
                            size_t size, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO origins (game, origin) VALUES (");
    pm_pg_text(&query, game);
    pm_pg_comma(&query);
    pm_pg_bytes(&query, origin, size);
    pm_pg_sql(&query, ") ON CONFLICT DO NOTHING");
    return pm_pg_do((struct pm_postgres *)storage, &query, NULL, error);
}

struct origin_visit {
    pm_storage_visit_origin visit;
    void *user;
};

static bool take_origin(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct origin_visit *visit = user;
    size_t size;
    const char *origin = pm_pg_get(result, row, 0, &size);
    return visit->visit(visit->user, origin, size, error);
}

bool pm_postgres_read_origins(struct pm_storage *storage, const char *game,
                              pm_storage_visit_origin visit, void *user, struct pm_error *error)
{
    struct origin_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT origin FROM origins WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " UNION SELECT origin FROM games WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " ORDER BY origin");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_origin, &all, error);
}

/* ---- originals ---- */

bool pm_postgres_put_originals(struct pm_storage *storage,
                               const struct pm_storage_original *originals, size_t count,
                               struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        struct pm_pg_query query;
        pm_pg_begin(&query, "INSERT INTO originals AS o (game, key, original, day) VALUES (");
        pm_pg_text(&query, originals[i].game);
        pm_pg_comma(&query);
        pm_pg_key(&query, &originals[i].key);
        pm_pg_comma(&query);
        pm_pg_key(&query, &originals[i].original);
        pm_pg_comma(&query);
        pm_pg_count(&query, originals[i].day);
        pm_pg_sql(&query, ") ON CONFLICT (game, key) DO UPDATE SET day = excluded.day"
                          " WHERE o.original = excluded.original AND o.day < excluded.day");
        done = pm_pg_do((struct pm_postgres *)storage, &query, NULL, error);
    }
    return done;
}

struct original_visit {
    pm_storage_visit_original visit;
    void *user;
};

static bool take_original(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct original_visit *visit = user;
    const uint32_t day = (uint32_t)pm_pg_get_number(result, row, 2);
    struct pm_shader_key keys[2]; /* of the timed shader, of the original */
    for (int i = 0; i < 2; i++) {
        size_t size;
        const char *key = pm_pg_get(result, row, i, &size);
        if (size != PM_SHADER_KEY_BYTES)
            return visit->visit(visit->user, NULL, NULL, day, error);
        memcpy(keys[i].bytes, key, size);
    }
    return visit->visit(visit->user, &keys[0], &keys[1], day, error);
}

bool pm_postgres_read_originals(struct pm_storage *storage, const char *game,
                                pm_storage_visit_original visit, void *user, struct pm_error *error)
{
    struct original_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT key, original, day FROM originals WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " ORDER BY key");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_original, &all, error);
}

/* ---- names ---- */

bool pm_postgres_put_name(struct pm_storage *storage, const char *game,
                          const struct pm_shader_key *key, const char *name, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO shader_names (game, key, name) VALUES (");
    pm_pg_text(&query, game);
    pm_pg_comma(&query);
    pm_pg_key(&query, key);
    pm_pg_comma(&query);
    pm_pg_text(&query, name);
    pm_pg_sql(&query, ") ON CONFLICT (game, key) DO UPDATE SET name = excluded.name");
    return pm_pg_do((struct pm_postgres *)storage, &query, NULL, error);
}

struct name_visit {
    pm_storage_visit_name visit;
    void *user;
};

static bool take_name(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct name_visit *visit = user;
    struct pm_shader_key key;
    size_t size;
    const char *bytes = pm_pg_get(result, row, 0, &size);
    if (size != PM_SHADER_KEY_BYTES)
        return true;
    memcpy(key.bytes, bytes, size);
    return visit->visit(visit->user, &key, pm_pg_get(result, row, 1, &size), error);
}

bool pm_postgres_read_names(struct pm_storage *storage, const char *game,
                            pm_storage_visit_name visit, void *user, struct pm_error *error)
{
    struct name_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT key, name FROM shader_names WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " ORDER BY key");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_name, &all, error);
}

/* ---- quarantine ---- */

static bool add_quarantined(struct pm_postgres *postgres, const struct pm_quarantined *entry,
                            uint32_t most, uint64_t most_bytes, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO quarantine (game, time, reason, body_size, body) VALUES (");
    pm_pg_text(&query, entry->game);
    pm_pg_comma(&query);
    pm_pg_number(&query, entry->time);
    pm_pg_comma(&query);
    pm_pg_text(&query, entry->reason);
    pm_pg_comma(&query);
    pm_pg_count(&query, entry->body_size);
    pm_pg_comma(&query);
    pm_pg_bytes(&query, entry->body, entry->body_size);
    pm_pg_sql(&query, ")");
    if (!pm_pg_do(postgres, &query, NULL, error))
        return false;
    pm_pg_begin(&query, "DELETE FROM quarantine AS q USING (SELECT game, row, row_number() OVER"
                        " newest AS entries, sum(body_size) OVER newest AS bytes FROM quarantine"
                        " WINDOW newest AS (ORDER BY row DESC)) AS o"
                        " WHERE o.game = q.game AND o.row = q.row AND (o.entries > ");
    pm_pg_count(&query, most);
    pm_pg_sql(&query, " OR o.bytes > ");
    pm_pg_count(&query, most_bytes);
    pm_pg_sql(&query, ")");
    return pm_pg_do(postgres, &query, NULL, error);
}

bool pm_postgres_add_quarantined(struct pm_storage *storage, const struct pm_quarantined *entry,
                                 uint32_t most, uint64_t most_bytes, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    bool entered;
    return pm_pg_enter(postgres, &entered, error) &&
           pm_pg_leave(postgres, entered, add_quarantined(postgres, entry, most, most_bytes, error),
                       error);
}

struct quarantine_visit {
    pm_visit_quarantined visit;
    void *user;
};

static bool take_quarantined(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct quarantine_visit *visit = user;
    struct pm_quarantined entry = {.time = pm_pg_get_number(result, row, 0),
                                   .game = pm_pg_get(result, row, 1, NULL),
                                   .reason = pm_pg_get(result, row, 2, NULL)};
    entry.body = pm_pg_get(result, row, 3, &entry.body_size);
    if (PQgetisnull(result, row, 3))
        entry.body = NULL;
    return visit->visit(visit->user, &entry, error);
}

bool pm_postgres_read_quarantine(struct pm_storage *storage, const char *game,
                                 pm_visit_quarantined visit, void *user, struct pm_error *error)
{
    struct quarantine_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT time, game, reason, body FROM quarantine");
    if (game) {
        pm_pg_sql(&query, " WHERE game = ");
        pm_pg_text(&query, game);
    }
    pm_pg_sql(&query, " ORDER BY row DESC");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_quarantined, &all, error);
}
