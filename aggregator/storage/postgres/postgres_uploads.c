/* Batches of uploads in the PostgreSQL storage: ids, caps, games, scenes, numbers of points. Rows
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
    const int order = strcmp(left->game, right->game);
    return order != 0 ? order : memcmp(left->id, right->id, PM_UPLOAD_ID_BYTES);
}

struct ids {
    struct pm_storage_upload **uploads; /* sorted, without those that occur twice */
    size_t count;
};

static bool take_id(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct ids *ids = user;
    (void)error;
    if (PQgetlength(result, row, 1) != PM_UPLOAD_ID_BYTES)
        return true;
    const struct pm_storage_upload name = {.game = pm_pg_get(result, row, 0, NULL),
                                           .id = (const uint8_t *)pm_pg_get(result, row, 1, NULL)};
    const struct pm_storage_upload *wanted = &name;
    struct pm_storage_upload **found =
        bsearch(&wanted, ids->uploads, ids->count, sizeof(*ids->uploads), compare_uploads);
    if (found)
        (*found)->fresh = true;
    return true;
}

static bool add_ids(struct pm_postgres *postgres, struct ids *ids, struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO upload_ids (game, id, day) VALUES ");
    for (size_t i = 0; i < ids->count; i++) {
        pm_pg_row(&query, i == 0);
        pm_pg_text(&query, ids->uploads[i]->game);
        pm_pg_comma(&query);
        pm_pg_bytes(&query, ids->uploads[i]->id, PM_UPLOAD_ID_BYTES);
        pm_pg_comma(&query);
        pm_pg_count(&query, ids->uploads[i]->day);
        pm_pg_sql(&query, ")");
    }
    pm_pg_sql(&query, " ON CONFLICT DO NOTHING RETURNING game, id");
    return pm_pg_select_here(postgres, &query, take_id, ids, error);
}

/* ---- caps ---- */

/* Uploads that one mark would count, and how many were before them. */
struct cap {
    const uint8_t *mark;
    uint32_t day, most;
    int64_t uploads, before;
};

static int compare_caps(const void *a, const void *b)
{
    const struct cap *left = a, *right = b;
    const int order = memcmp(left->mark, right->mark, PM_CAP_BYTES);
    return order != 0 ? order : (left->day > right->day) - (left->day < right->day);
}

struct caps {
    struct cap *all;
    size_t count;
};

static struct cap *find_cap(const struct caps *caps, const uint8_t *mark, uint32_t day)
{
    const struct cap name = {.mark = mark, .day = day};
    return caps->count == 0 ? NULL
                            : bsearch(&name, caps->all, caps->count, sizeof(name), compare_caps);
}

static bool take_cap(void *user, const PGresult *result, int row, struct pm_error *error)
{
    (void)error;
    struct cap *cap = PQgetlength(result, row, 0) == PM_CAP_BYTES
                          ? find_cap(user, (const uint8_t *)pm_pg_get(result, row, 0, NULL),
                                     (uint32_t)pm_pg_get_number(result, row, 1))
                          : NULL;
    if (cap)
        cap->before = pm_pg_get_number(result, row, 2) - cap->uploads;
    return true;
}

/* Sums what is of one mark, since a set may change a row but once. */
static void sum_caps(struct caps *caps)
{
    size_t kept = 0;
    if (caps->count > 1)
        qsort(caps->all, caps->count, sizeof(*caps->all), compare_caps);
    for (size_t i = 0; i < caps->count; i++) {
        if (kept > 0 && compare_caps(&caps->all[kept - 1], &caps->all[i]) == 0)
            caps->all[kept - 1].uploads += caps->all[i].uploads;
        else
            caps->all[kept++] = caps->all[i];
    }
    caps->count = kept;
}

/* Adds cap.uploads of each, which may be less than 0, and learns what was before. */
static bool raise_caps(struct pm_postgres *postgres, struct caps *caps, struct pm_error *error)
{
    struct pm_pg_query query;
    sum_caps(caps);
    if (caps->count == 0)
        return true;
    pm_pg_begin(&query, "INSERT INTO caps (mark, day, n) VALUES ");
    for (size_t i = 0; i < caps->count; i++) {
        pm_pg_row(&query, i == 0);
        pm_pg_bytes(&query, caps->all[i].mark, PM_CAP_BYTES);
        pm_pg_comma(&query);
        pm_pg_count(&query, caps->all[i].day);
        pm_pg_comma(&query);
        pm_pg_number(&query, caps->all[i].uploads);
        pm_pg_sql(&query, ")");
    }
    pm_pg_sql(&query, " ON CONFLICT (mark, day) DO UPDATE SET n = caps.n + excluded.n"
                      " RETURNING mark, day, n");
    return pm_pg_select_here(postgres, &query, take_cap, caps, error);
}

static void add_cap(struct caps *caps, const struct pm_storage_cap *cap, bool of_game,
                    int64_t uploads)
{
    caps->all[caps->count++] = (struct cap){.mark = of_game ? cap->of_game : cap->of_all,
                                            .day = cap->day,
                                            .most = of_game ? cap->most_of_game : cap->most,
                                            .uploads = uploads};
}

/* One after the other, as they came. */
static bool take_turn(const struct caps *caps, const struct pm_storage_cap *cap, bool of_game)
{
    struct cap *found = find_cap(caps, of_game ? cap->of_game : cap->of_all, cap->day);
    return found && found->before++ < (int64_t)found->most;
}

/* Counts those that are not over against their caps of one sort. What is over is taken back. */
static bool count_round(struct pm_postgres *postgres, struct pm_storage_upload *uploads,
                        size_t count, bool of_game, struct caps *caps, bool *over,
                        struct pm_error *error)
{
    caps->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (uploads[i].fresh && uploads[i].caps && !uploads[i].over)
            add_cap(caps, uploads[i].caps, of_game, 1);
    }
    if (!raise_caps(postgres, caps, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        over[i] = uploads[i].fresh && uploads[i].caps && !uploads[i].over &&
                  !take_turn(caps, uploads[i].caps, of_game);
    }
    caps->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!over[i])
            continue;
        uploads[i].over = true;
        add_cap(caps, uploads[i].caps, true, -1);
        if (!of_game)
            add_cap(caps, uploads[i].caps, false, -1);
    }
    return raise_caps(postgres, caps, error);
}

static bool count_uploads(struct pm_postgres *postgres, struct pm_storage_upload *uploads,
                          size_t count, struct pm_error *error)
{
    struct caps caps = {.all = calloc(2 * count + 1, sizeof(*caps.all))};
    bool *over = calloc(count + 1, sizeof(*over));
    const bool done =
        ((caps.all && over) ||
         pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for caps", postgres->name)) &&
        count_round(postgres, uploads, count, true, &caps, over, error) &&
        count_round(postgres, uploads, count, false, &caps, over, error);
    free(over);
    free(caps.all);
    return done;
}

/* ---- a batch ---- */

static bool begin_batch(struct pm_postgres *postgres, struct pm_storage_upload *uploads,
                        size_t count, struct pm_error *error)
{
    const void **pointers =
        sorted(postgres, uploads, count, sizeof(*uploads), compare_uploads, error);
    bool done = pointers != NULL;
    if (done && count > 0) {
        struct ids ids = {.uploads = (struct pm_storage_upload **)pointers};
        for (size_t i = 0; i < count; i++) {
            ids.uploads[i]->fresh = ids.uploads[i]->over = false;
            if (ids.count == 0 ||
                compare_uploads(&ids.uploads[ids.count - 1], &ids.uploads[i]) != 0)
                ids.uploads[ids.count++] = ids.uploads[i];
        }
        done = add_ids(postgres, &ids, error) && count_uploads(postgres, uploads, count, error);
    }
    free(pointers);
    return done;
}

bool pm_postgres_begin_uploads(struct pm_storage *storage, struct pm_storage_upload *uploads,
                               size_t count, struct pm_error *error)
{
    if (!pm_postgres_begin(storage, error))
        return false;
    if (begin_batch((struct pm_postgres *)storage, uploads, count, error))
        return true;
    pm_postgres_rollback(storage);
    return false;
}

bool pm_postgres_return_uploads(struct pm_storage *storage, const struct pm_storage_upload *uploads,
                                size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct caps caps = {.all = calloc(2 * count + 1, sizeof(*caps.all))};
    bool done = caps.all != NULL;
    for (size_t i = 0; done && i < count; i++) {
        struct pm_pg_query query;
        pm_pg_begin(&query, "DELETE FROM upload_ids WHERE game = ");
        pm_pg_text(&query, uploads[i].game);
        pm_pg_sql(&query, " AND id = ");
        pm_pg_bytes(&query, uploads[i].id, PM_UPLOAD_ID_BYTES);
        done = pm_pg_do(postgres, &query, NULL, error);
        if (!uploads[i].caps || uploads[i].over)
            continue;
        add_cap(&caps, uploads[i].caps, true, -1);
        add_cap(&caps, uploads[i].caps, false, -1);
    }
    done = done && raise_caps(postgres, &caps, error);
    free(caps.all);
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
    pm_pg_begin(&query, "SELECT game, key, kind, space FROM spaces WHERE game = ");
    pm_pg_text(&query, asked->spaces[at]->game);
    pm_pg_sql(&query, " AND (key, kind) IN (");
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
    /* What is folded must stay of these numbers until it is committed. */
    pm_pg_sql(&query, asked->postgres->lazy ? ") ORDER BY key, kind FOR SHARE" : ")");
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
