/* Batches of uploads in the PostgreSQL storage: ids, games, scenes, numbers of points. Rows
 * of a set are sorted, so that who writes the same ones never waits in a circle. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/clock.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

#define ORIGIN_BYTES 16
#define REMEMBER_SECONDS 10

/* Pointers into a set, in the order that `compare` gives pointers. NULL: out of memory. */
static const void **sorted(struct pm_postgres *postgres, const void *set, size_t count, size_t size,
                           int (*compare)(const void *, const void *), struct pm_error *error)
{
    const void **pointers = calloc(count + 1, sizeof(*pointers));
    if (!pointers) {
        pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for %zu rows", postgres->name, count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        pointers[i] = (const uint8_t *)set + i * size;
    if (count > 1)
        qsort(pointers, count, sizeof(*pointers), compare);
    return pointers;
}

/* ---- ids ---- */

static int compare_uploads(const void *a, const void *b)
{
    const struct pm_storage_upload *left = *(const void *const *)a,
                                   *right = *(const void *const *)b;
    int order = strcmp(left->game, right->game);
    if (order == 0)
        order = (left->day > right->day) - (left->day < right->day);
    return order != 0 ? order : memcmp(left->id, right->id, PM_UPLOAD_ID_BYTES);
}

struct ids {
    struct pm_postgres *postgres;
    struct pm_storage_upload *all;
    bool *known;                       /* of all: it was taken on another day than today */
    struct pm_storage_upload **sorted; /* without those that occur twice */
    size_t count;
};

/* Of game, day, id. */
static struct pm_storage_upload *find_upload(const struct ids *ids, const PGresult *result, int row)
{
    if (PQgetlength(result, row, 2) != PM_UPLOAD_ID_BYTES)
        return NULL;
    const struct pm_storage_upload name = {.game = pm_pg_get(result, row, 0, NULL),
                                           .day = (uint32_t)pm_pg_get_number(result, row, 1),
                                           .id = (const uint8_t *)pm_pg_get(result, row, 2, NULL)};
    const struct pm_storage_upload *wanted = &name;
    struct pm_storage_upload **found =
        bsearch(&wanted, ids->sorted, ids->count, sizeof(*ids->sorted), compare_uploads);
    return found ? *found : NULL;
}

static bool take_id(void *user, const PGresult *result, int row, struct pm_error *error)
{
    struct pm_storage_upload *found = find_upload(user, result, row);
    (void)error;
    if (found)
        found->fresh = true;
    return true;
}

static bool add_ids(const struct ids *ids, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO upload_ids (game, day, id, taken) VALUES ");
    for (size_t i = 0; i < ids->count; i++) {
        pm_pg_row(&query, i == 0);
        pm_pg_text(&query, ids->sorted[i]->game);
        pm_pg_comma(&query);
        pm_pg_count(&query, ids->sorted[i]->day);
        pm_pg_comma(&query);
        pm_pg_bytes(&query, ids->sorted[i]->id, PM_UPLOAD_ID_BYTES);
        pm_pg_comma(&query);
        pm_pg_count(&query, ids->sorted[i]->taken);
        pm_pg_sql(&query, ")");
    }
    pm_pg_sql(&query, " ON CONFLICT DO NOTHING RETURNING game, day, id");
    return pm_pg_select_here(ids->postgres, &query, take_id, (void *)(uintptr_t)ids, error);
}

/* What was taken before may have been committed here, and not where the engine waits for (a standby
 * that lags, and a wait that was cancelled). Whoever is told that it was taken waits for it: a
 * transaction that wrote behind it does. One of a game is enough, being on the same shard. */
static bool touch_known(const struct ids *ids, struct pm_error *error)
{
    const char *game = "";
    bool done = true;
    for (size_t i = 0; done && i < ids->count; i++) {
        const struct pm_storage_upload *upload = ids->sorted[i];
        struct pm_pg_query query;
        if (upload->fresh || strcmp(upload->game, game) == 0)
            continue;
        game = upload->game;
        pm_pg_begin(&query, "UPDATE upload_ids SET taken = taken WHERE game = ");
        pm_pg_text(&query, upload->game);
        pm_pg_sql(&query, " AND day = ");
        pm_pg_count(&query, upload->day);
        pm_pg_sql(&query, " AND id = ");
        pm_pg_bytes(&query, upload->id, PM_UPLOAD_ID_BYTES);
        done = pm_pg_do(ids->postgres, &query, NULL, error);
    }
    return done;
}

/* ---- retries after midnight ---- */

static bool take_known(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct ids *ids = user;
    const struct pm_storage_upload *found = find_upload(ids, result, row);
    (void)error;
    if (found)
        ids->known[found - ids->all] = true;
    return true;
}

/* Of those from `at` on that are of one game and day; *end: behind them. */
static bool ask_known(const struct ids *ids, size_t at, size_t *end, struct pm_error *error)
{
    struct pm_pg_query query;
    const struct pm_storage_upload *first = ids->sorted[at];
    pm_pg_begin(&query, "SELECT game, day, id FROM upload_ids WHERE game = ");
    pm_pg_text(&query, first->game);
    pm_pg_sql(&query, " AND day = ");
    pm_pg_count(&query, first->day);
    pm_pg_sql(&query, " AND id IN (");
    for (*end = at; *end < ids->count && ids->sorted[*end]->day == first->day &&
                    strcmp(ids->sorted[*end]->game, first->game) == 0;
         ++*end) {
        if (*end > at)
            pm_pg_comma(&query);
        pm_pg_bytes(&query, ids->sorted[*end]->id, PM_UPLOAD_ID_BYTES);
    }
    pm_pg_sql(&query, ")");
    return pm_pg_select_here(ids->postgres, &query, take_known, (void *)(uintptr_t)ids, error);
}

/* Caps know the uploads of their own day. Of another's, whoever was taken already is not counted
 * again. */
static bool find_known(const struct ids *ids, struct pm_error *error)
{
    bool done = true;
    for (size_t at = 0; done && at < ids->count;) {
        const struct pm_storage_upload *upload = ids->sorted[at];
        if (upload->caps && upload->caps->day != upload->day)
            done = ask_known(ids, at, &at, error);
        else
            at++;
    }
    return done;
}

/* ---- a batch ---- */

static bool have_days(const struct ids *ids, struct pm_error *error)
{
    for (size_t i = 0; i < ids->count; i++) {
        if (!pm_pg_have_day(ids->postgres, PM_PG_UPLOAD_IDS, ids->sorted[i]->day, error))
            return false;
    }
    return true;
}

static bool begin_batch(struct ids *ids, size_t count, struct pm_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        ids->sorted[i]->fresh = ids->sorted[i]->over = false;
        if (kept == 0 || compare_uploads(&ids->sorted[kept - 1], &ids->sorted[i]) != 0)
            ids->sorted[kept++] = ids->sorted[i];
    }
    ids->count = kept;
    if (!find_known(ids, error) || !have_days(ids, error) ||
        !pm_pg_count_uploads(ids->postgres, ids->all, ids->known, count, error) ||
        !pm_pg_begin_ids(ids->postgres, error))
        return false;
    if (kept == 0 || (add_ids(ids, error) && touch_known(ids, error))) {
        for (size_t i = 0; i < count; i++)
            ids->all[i].over = ids->all[i].over && ids->all[i].fresh;
        return true;
    }
    pm_postgres_rollback(&ids->postgres->storage);
    return false;
}

bool pm_postgres_begin_uploads(struct pm_storage *storage, struct pm_storage_upload *uploads,
                               size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    const void **pointers =
        sorted(postgres, uploads, count, sizeof(*uploads), compare_uploads, error);
    struct ids ids = {.postgres = postgres,
                      .all = uploads,
                      .known = calloc(count + 1, sizeof(bool)),
                      .sorted = (struct pm_storage_upload **)pointers};
    const bool done =
        ids.sorted &&
        (ids.known || pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", postgres->name)) &&
        begin_batch(&ids, count, error);
    free(ids.known);
    free(pointers);
    return done;
}

/* They counted in a transaction of their own, and are taken back in another, once this one is done
 * (postgres_transaction.c). */
bool pm_postgres_return_uploads(struct pm_storage *storage, const struct pm_storage_upload *uploads,
                                size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        struct pm_pg_query query;
        pm_pg_begin(&query, "DELETE FROM upload_ids WHERE game = ");
        pm_pg_text(&query, uploads[i].game);
        pm_pg_sql(&query, " AND day = ");
        pm_pg_count(&query, uploads[i].day);
        pm_pg_sql(&query, " AND id = ");
        pm_pg_bytes(&query, uploads[i].id, PM_UPLOAD_ID_BYTES);
        done = pm_pg_do(postgres, &query, NULL, error);
        if (done && uploads[i].caps && !uploads[i].over)
            done =
                pm_buffer_append(&postgres->returned, uploads[i].caps, sizeof(*uploads[i].caps)) ||
                pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", postgres->name);
    }
    return done;
}

bool pm_postgres_commit_uploads(struct pm_storage *storage, struct pm_storage_batch *batch,
                                struct pm_error *error)
{
    if (pm_postgres_put_spaces(storage, batch->spaces, batch->space_count, error) &&
        pm_postgres_add_marks(storage, batch->marks, batch->mark_count, error) &&
        pm_postgres_put_originals(storage, batch->originals, batch->original_count, error) &&
        pm_postgres_add_games(storage, batch->games, batch->game_count, error) &&
        pm_postgres_add_scenes(storage, batch->scenes, batch->scene_count, error) &&
        pm_postgres_add_samples(storage, batch->samples, batch->sample_count, error))
        return pm_postgres_commit(storage, error);
    pm_postgres_rollback(storage);
    return false;
}

/* ---- games ---- */

static int compare_games(const void *a, const void *b)
{
    const struct pm_storage_game *left = *(const void *const *)a, *right = *(const void *const *)b;
    return strcmp(left->name, right->name);
}

bool pm_postgres_add_games(struct pm_storage *storage, const struct pm_storage_game *games,
                           size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_pg_query query;
    const void **pointers =
        count > 0 ? sorted(postgres, games, count, sizeof(*games), compare_games, error) : NULL;
    uint8_t(*origins)[ORIGIN_BYTES] = calloc(count + 1, sizeof(*origins));
    if (count == 0 || !pointers || !origins ||
        !pm_random_system(origins, count * sizeof(*origins))) {
        free(origins);
        free(pointers);
        return count == 0 ||
               pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for games", postgres->name);
    }
    if (!pm_pg_writer(postgres, error)) {
        free(origins);
        free(pointers);
        return false;
    }
    pm_pg_begin(&query, "INSERT INTO games (game, slot, uploads, origin) VALUES ");
    for (size_t i = 0; i < count; i++) {
        const struct pm_storage_game *game = pointers[i];
        pm_pg_row(&query, i == 0);
        pm_pg_text(&query, game->name);
        pm_pg_comma(&query);
        pm_pg_count(&query, postgres->slot);
        pm_pg_comma(&query);
        pm_pg_count(&query, game->uploads);
        pm_pg_comma(&query);
        pm_pg_bytes(&query, origins[i], ORIGIN_BYTES);
        pm_pg_sql(&query, ")");
    }
    pm_pg_sql(&query, " ON CONFLICT (game, slot) DO UPDATE"
                      " SET uploads = games.uploads + excluded.uploads");
    const bool done = pm_pg_do(postgres, &query, NULL, error);
    free(origins);
    free(pointers);
    return done;
}

/* ---- scenes ---- */

static bool take_flag(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    *(int64_t *)user = pm_pg_get_number(result, row, 0);
    return true;
}

static bool find_scene(struct pm_postgres *postgres, struct pm_storage_scene *scene,
                       struct pm_error *error)
{
    struct pm_pg_query query;
    int64_t found = 0;
    pm_pg_begin(&query, "SELECT count(*) FROM scenes WHERE game = ");
    pm_pg_text(&query, scene->game);
    pm_pg_sql(&query, " AND scene = ");
    pm_pg_text(&query, scene->name);
    const bool done = pm_pg_select_here(postgres, &query, take_flag, &found, error);
    scene->known = found > 0;
    return done;
}

bool pm_postgres_find_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes,
                             size_t count, struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_storage_scene *before = i > 0 ? &scenes[i - 1] : NULL;
        if (*scenes[i].name == 0)
            scenes[i].known = false;
        else if (before && strcmp(before->name, scenes[i].name) == 0 &&
                 strcmp(before->game, scenes[i].game) == 0)
            scenes[i].known = before->known;
        else
            done = find_scene((struct pm_postgres *)storage, &scenes[i], error);
    }
    return done;
}

/* One that is not known becomes so where there is room for it. */
static bool add_scene(struct pm_postgres *postgres, struct pm_storage_scene *scene,
                      struct pm_error *error)
{
    struct pm_pg_query query;
    uint64_t changed = 0;
    if (!pm_pg_writer(postgres, error))
        return false;
    pm_pg_begin(&query, "INSERT INTO scenes (game, scene, slot, uploads, day) SELECT ");
    pm_pg_text(&query, scene->game);
    pm_pg_comma(&query);
    pm_pg_text(&query, scene->name);
    pm_pg_comma(&query);
    pm_pg_count(&query, postgres->slot);
    pm_pg_comma(&query);
    pm_pg_count(&query, scene->uploads);
    pm_pg_comma(&query);
    pm_pg_count(&query, scene->day);
    pm_pg_sql(&query, " WHERE EXISTS (SELECT 1 FROM scenes WHERE game = $1 AND scene = $2)"
                      " OR (SELECT count(DISTINCT scene) FROM scenes WHERE game = $1) < ");
    pm_pg_count(&query, scene->most);
    pm_pg_sql(&query, " ON CONFLICT (game, scene, slot) DO UPDATE SET"
                      " uploads = scenes.uploads + excluded.uploads,"
                      " day = greatest(scenes.day, excluded.day)");
    const bool done = pm_pg_do(postgres, &query, &changed, error);
    scene->known = changed > 0;
    return done;
}

bool pm_postgres_add_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes,
                            size_t count, struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = add_scene((struct pm_postgres *)storage, &scenes[i], error);
    return done;
}

/* ---- numbers of points ---- */

static int compare_spaces(const void *a, const void *b)
{
    const struct pm_storage_space *left = *(const void *const *)a, *right = *(const void *const *)b;
    int order = strcmp(left->game, right->game);
    if (order == 0)
        order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    return order != 0 ? order : (left->kind > right->kind) - (left->kind < right->kind);
}

struct asked {
    struct pm_postgres *postgres;
    struct pm_storage_space **spaces; /* sorted; those of one shader are adjacent */
    size_t count;
};

static bool take_space(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct asked *asked = user;
    struct pm_storage_space name = {.game = pm_pg_get(result, row, 0, NULL),
                                    .kind = (enum pm_kind)pm_pg_get_number(result, row, 2)};
    const struct pm_storage_space *wanted = &name;
    if (!pm_pg_get_key(asked->postgres, result, row, 1, &name.key, error))
        return false;
    struct pm_storage_space **found =
        bsearch(&wanted, asked->spaces, asked->count, sizeof(*asked->spaces), compare_spaces);
    if (!found)
        return true;
    while (found > asked->spaces && compare_spaces(found - 1, found) == 0)
        found--;
    struct pm_storage_space **const first = found;
    for (; found < asked->spaces + asked->count && compare_spaces(first, found) == 0; found++)
        (*found)->space = (uint32_t)pm_pg_get_number(result, row, 3);
    return true;
}

/* Of at most PM_POSTGRES_ROWS distinct ones of one game, from `at` on; *end: behind them. */
static bool find_some(struct asked *asked, size_t at, size_t *end, struct pm_error *error)
{
    struct pm_pg_query query;
    size_t rows = 0, i = at;
    pm_pg_begin(&query, "SELECT game, key, kind, space FROM spaces AS s JOIN (VALUES ");
    for (; i < asked->count && rows < PM_POSTGRES_ROWS &&
           strcmp(asked->spaces[i]->game, asked->spaces[at]->game) == 0;
         i++) {
        if (i > at && compare_spaces(&asked->spaces[i - 1], &asked->spaces[i]) == 0)
            continue;
        pm_pg_row(&query, rows++ == 0);
        pm_pg_key(&query, &asked->spaces[i]->key);
        pm_pg_comma(&query);
        pm_pg_count(&query, (uint64_t)asked->spaces[i]->kind);
        pm_pg_sql(&query, ")");
    }
    while (i < asked->count && compare_spaces(&asked->spaces[i - 1], &asked->spaces[i]) == 0)
        i++;
    *end = i;
    pm_pg_sql(&query, ") AS asked (key, kind) USING (key, kind) WHERE game = ");
    pm_pg_text(&query, asked->spaces[at]->game);
    /* What is folded must stay of these numbers until it is committed. */
    if (asked->postgres->lazy)
        pm_pg_sql(&query, " ORDER BY key, kind FOR SHARE OF s");
    return pm_pg_select_here(asked->postgres, &query, take_space, asked, error);
}

/* What another process changed is seen after a while: until then uploads are taken and refused as
 * before, and folding, which asks the engine, leaves out what does not agree. */
static void age_spaces(struct pm_postgres *postgres)
{
    const int64_t now = pm_now();
    if (now - postgres->spaces_since < REMEMBER_SECONDS * PM_SECOND)
        return;
    pm_spaces_forget(&postgres->spaces);
    postgres->spaces_since = now;
}

static void remember_space(struct pm_postgres *postgres, const struct pm_storage_space *space)
{
    if (space->space != 0)
        pm_spaces_remember(&postgres->spaces, space->game, &space->key, space->kind, space->space);
}

bool pm_postgres_find_spaces(struct pm_storage *storage, struct pm_storage_space *spaces,
                             size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    const bool may_know = postgres->begun && !postgres->lazy;
    const void **pointers = calloc(count + 1, sizeof(*pointers));
    struct asked asked = {postgres, (struct pm_storage_space **)pointers, 0};
    if (!pointers)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for %zu shaders", postgres->name,
                       count);
    age_spaces(postgres);
    for (size_t i = 0; i < count; i++) {
        struct pm_storage_space *space = &spaces[i];
        space->space =
            may_know ? pm_spaces_find(&postgres->spaces, space->game, &space->key, space->kind) : 0;
        if (space->space == 0)
            asked.spaces[asked.count++] = space;
    }
    if (asked.count > 1)
        qsort(pointers, asked.count, sizeof(*pointers), compare_spaces);
    bool done = true;
    for (size_t at = 0; done && at < asked.count;)
        done = find_some(&asked, at, &at, error);
    for (size_t i = 0; done && may_know && i < asked.count; i++)
        remember_space(postgres, asked.spaces[i]);
    free(pointers);
    return done;
}

bool pm_postgres_put_spaces(struct pm_storage *storage, const struct pm_storage_space *spaces,
                            size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    const void **pointers = sorted(postgres, spaces, count, sizeof(*spaces), compare_spaces, error);
    bool done = pointers != NULL;
    for (size_t at = 0; done && at < count;) {
        struct pm_pg_query query;
        const size_t first = at;
        pm_pg_begin(&query, "INSERT INTO spaces (game, key, kind, space) VALUES ");
        for (; at < count && at - first < PM_POSTGRES_ROWS; at++) {
            const struct pm_storage_space *space = pointers[at];
            pm_pg_row(&query, at == first);
            pm_pg_text(&query, space->game);
            pm_pg_comma(&query);
            pm_pg_key(&query, &space->key);
            pm_pg_comma(&query);
            pm_pg_count(&query, (uint64_t)space->kind);
            pm_pg_comma(&query);
            pm_pg_count(&query, space->space);
            pm_pg_sql(&query, ")");
        }
        /* One that another put meanwhile may be another one: a conflict. */
        done = pm_pg_do(postgres, &query, NULL, error);
        for (size_t i = first; done && postgres->begun && i < at; i++)
            remember_space(postgres, pointers[i]);
    }
    free(pointers);
    return done;
}
