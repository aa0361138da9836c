/* Statistics in the PostgreSQL storage. The engine knows no merge function: blobs that are there
 * are held, read, merged here and written, as a set. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/fail.h"
#include "aggregator/storage/seal.h"
#include <stdlib.h>
#include <string.h>

#define BLOBS_AT_ONCE 128

static void pack(const struct pm_environment *environment,
                 uint8_t out[static PM_POSTGRES_ENVIRONMENT_BYTES])
{
    const uint32_t fields[] = {environment->subgroup_size, environment->vendor_id,
                               environment->device_id, environment->driver_id,
                               environment->driver_version};
    /* Big-endian, so that bytes sort as the fields do. */
    for (size_t i = 0; i < PM_POSTGRES_ENVIRONMENT_BYTES; i++)
        out[i] = (uint8_t)(fields[i / 4] >> (24 - i % 4 * 8));
}

static void unpack(const char *bytes, struct pm_environment *environment)
{
    uint32_t fields[PM_POSTGRES_ENVIRONMENT_BYTES / 4] = {0};
    for (size_t i = 0; i < PM_POSTGRES_ENVIRONMENT_BYTES; i++)
        fields[i / 4] = fields[i / 4] << 8 | (uint8_t)bytes[i];
    *environment = (struct pm_environment){.subgroup_size = fields[0],
                                           .vendor_id = fields[1],
                                           .device_id = fields[2],
                                           .driver_id = fields[3],
                                           .driver_version = fields[4]};
}

/* Of key, environment, kind, flags, day, scene; the scene is the answer's. */
static bool take_key(struct pm_postgres *postgres, const PGresult *result, int row,
                     struct pm_storage_key *key, struct pm_error *error)
{
    size_t size;
    const char *environment = pm_pg_get(result, row, 1, &size);
    if (!pm_pg_get_key(postgres, result, row, 0, &key->key, error))
        return false;
    if (size != PM_POSTGRES_ENVIRONMENT_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "%s: a row of statistics has a damaged key",
                       postgres->name);
    unpack(environment, &key->environment);
    key->kind = (enum pm_kind)pm_pg_get_number(result, row, 2);
    key->flags = (uint32_t)pm_pg_get_number(result, row, 3);
    key->day = (uint32_t)pm_pg_get_number(result, row, 4);
    key->scene = pm_pg_get(result, row, 5, NULL);
    return true;
}

/* ---- adding ---- */

/* One blob as it is put together. */
struct sum {
    const struct pm_storage_key *key;
    struct pm_buffer d;
    uint8_t *sealed; /* what is written of it */
    bool old;        /* there is a row of it, which is held */
};

struct sums {
    struct pm_postgres *postgres;
    struct sum all[BLOBS_AT_ONCE]; /* sorted */
    size_t count;
};

static int compare_keys(const struct pm_storage_key *a, const struct pm_storage_key *b)
{
    int order = strcmp(a->game, b->game);
    if (order == 0)
        order = memcmp(a->key.bytes, b->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = memcmp(&a->environment, &b->environment, sizeof(a->environment));
    if (order == 0)
        order = (a->kind > b->kind) - (a->kind < b->kind);
    if (order == 0)
        order = (a->flags > b->flags) - (a->flags < b->flags);
    if (order == 0)
        order = (a->day > b->day) - (a->day < b->day);
    return order != 0 ? order : strcmp(a->scene, b->scene);
}

static int compare_sums(const void *a, const void *b)
{
    return compare_keys(((const struct sum *)a)->key, ((const struct sum *)b)->key);
}

static int compare_blobs(const void *a, const void *b)
{
    const struct pm_storage_blob *left = *(const void *const *)a, *right = *(const void *const *)b;
    int order = strcmp(left->key.game, right->key.game);
    if (order == 0)
        order = (left->key.day > right->key.day) - (left->key.day < right->key.day);
    return order != 0 ? order : compare_keys(&left->key, &right->key);
}

/* stored: what is added to; else what there is is added to. */
static bool add(struct sums *sums, struct sum *sum, const void *data, size_t size, bool stored,
                struct pm_error *error)
{
    const struct pm_postgres *postgres = sums->postgres;
    const void *here = sum->d.data ? sum->d.data : (const uint8_t *)"";
    struct pm_buffer merged;
    pm_buffer_init(&merged, PM_STATISTICS_BLOB_CAP);
    if (!postgres->merge(stored ? data : here, stored ? size : sum->d.size, stored ? here : data,
                         stored ? sum->d.size : size, &merged, error)) {
        pm_buffer_finish(&merged);
        return pm_fail_prefix(error, "%s", postgres->name);
    }
    pm_buffer_finish(&sum->d);
    sum->d = merged;
    return true;
}

static bool take_old(void *user, const PGresult *result, int row, struct pm_error *error)
{
    struct sums *sums = user;
    struct pm_storage_key key = {.game = sums->all[0].key->game};
    size_t size;
    const char *d = pm_pg_get(result, row, 6, &size);
    const struct sum name = {.key = &key};
    if (!take_key(sums->postgres, result, row, &key, error))
        return false;
    const void *data = pm_seal_check(pm_seal_of(&key), d, size, &size);
    if (!data) {
        pm_seal_fail(error);
        pm_fail_blob(error, &key);
        return pm_fail_prefix(error, "%s", sums->postgres->name);
    }
    struct sum *sum = bsearch(&name, sums->all, sums->count, sizeof(name), compare_sums);
    if (sum)
        sum->old = true;
    return !sum || add(sums, sum, data, size, true, error);
}

static void add_name(struct pm_pg_query *query, const struct pm_storage_key *key,
                     const uint8_t environment[static PM_POSTGRES_ENVIRONMENT_BYTES])
{
    pm_pg_key(query, &key->key);
    pm_pg_comma(query);
    pm_pg_bytes(query, environment, PM_POSTGRES_ENVIRONMENT_BYTES);
    pm_pg_comma(query);
    pm_pg_count(query, (uint64_t)key->kind);
    pm_pg_comma(query);
    pm_pg_count(query, key->flags);
    pm_pg_comma(query);
    pm_pg_count(query, key->day);
    pm_pg_comma(query);
    pm_pg_text(query, key->scene);
}

typedef uint8_t environments[BLOBS_AT_ONCE][PM_POSTGRES_ENVIRONMENT_BYTES];

/* Their seals before them. */
static bool seal_sums(struct sums *sums, struct pm_error *error)
{
    for (size_t i = 0; i < sums->count; i++) {
        struct sum *sum = &sums->all[i];
        sum->sealed = malloc(sum->d.size + PM_SEAL_BYTES);
        if (!sum->sealed)
            return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", sums->postgres->name);
        memcpy(sum->sealed + PM_SEAL_BYTES, sum->d.data, sum->d.size);
        pm_seal_make(pm_seal_of(sum->key), sum->d.data, sum->d.size, sum->sealed);
    }
    return true;
}

/* Those that there are rows of, or the others. */
static bool write_some(struct sums *sums, environments *packed, bool old, struct pm_error *error)
{
    struct pm_pg_query query;
    uint64_t rows = 0, changed = 0;
    for (size_t i = 0; i < sums->count; i++) {
        const struct sum *sum = &sums->all[i];
        if (sum->old != old)
            continue;
        if (rows == 0)
            pm_pg_begin(&query, "INSERT INTO statistics (game, key, environment, kind, flags, day,"
                                " scene, d) VALUES ");
        pm_pg_row(&query, rows++ == 0);
        pm_pg_text(&query, sum->key->game);
        pm_pg_comma(&query);
        add_name(&query, sum->key, (*packed)[i]);
        pm_pg_comma(&query);
        pm_pg_bytes(&query, sum->sealed, sum->d.size + PM_SEAL_BYTES);
        pm_pg_sql(&query, ")");
    }
    if (rows == 0)
        return true;
    pm_pg_sql(&query, " ON CONFLICT (game, key, environment, kind, flags, day, scene) DO ");
    pm_pg_sql(&query, old ? "UPDATE SET d = excluded.d" : "NOTHING");
    if (!pm_pg_do(sums->postgres, &query, &changed, error))
        return false;
    /* One that was not there when it was asked for. */
    return changed == rows ||
           pm_fail(error, PM_ERROR_CONFLICT, "%s: another added to the same statistics",
                   sums->postgres->name);
}

/* Of one game and day. */
static bool write_sums(struct sums *sums, struct pm_error *error)
{
    environments packed;
    struct pm_pg_query query;
    const struct pm_storage_key *first = sums->all[0].key;
    pm_pg_begin(&query, "SELECT key, environment, kind, flags, day, scene, d FROM statistics AS s"
                        " JOIN (VALUES ");
    for (size_t i = 0; i < sums->count; i++) {
        pack(&sums->all[i].key->environment, packed[i]);
        pm_pg_row(&query, i == 0);
        add_name(&query, sums->all[i].key, packed[i]);
        pm_pg_sql(&query, ")");
    }
    pm_pg_sql(&query, ") AS asked (key, environment, kind, flags, day, scene)"
                      " USING (key, environment, kind, flags, day, scene) WHERE game = ");
    pm_pg_text(&query, first->game);
    pm_pg_sql(&query, " AND day = ");
    pm_pg_count(&query, first->day);
    pm_pg_sql(&query, " ORDER BY key, environment, kind, flags, day, scene FOR UPDATE OF s");
    return pm_pg_select_here(sums->postgres, &query, take_old, sums, error) &&
           seal_sums(sums, error) && write_some(sums, &packed, true, error) &&
           write_some(sums, &packed, false, error);
}

/* Puts together what is of one key. */
static bool gather(struct sums *sums, const struct pm_storage_blob *blob, struct pm_error *error)
{
    struct sum *last = sums->count > 0 ? &sums->all[sums->count - 1] : NULL;
    if (last && compare_keys(last->key, &blob->key) == 0)
        return add(sums, last, blob->data, blob->size, false, error);
    last = &sums->all[sums->count++];
    last->key = &blob->key;
    pm_buffer_init(&last->d, PM_STATISTICS_BLOB_CAP);
    return pm_buffer_append(&last->d, blob->data, blob->size) ||
           pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for statistics",
                   sums->postgres->name);
}

static bool add_some(struct pm_postgres *postgres, const struct pm_storage_blob *const *blobs,
                     size_t count, size_t *at, struct pm_error *error)
{
    struct sums *sums = calloc(1, sizeof(*sums));
    bool done = sums || pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", postgres->name);
    const size_t first = *at;
    if (done)
        sums->postgres = postgres;
    while (done && *at < count && sums->count < BLOBS_AT_ONCE &&
           blobs[*at]->key.day == blobs[first]->key.day &&
           strcmp(blobs[*at]->key.game, blobs[first]->key.game) == 0)
        done = gather(sums, blobs[(*at)++], error);
    done = done && write_sums(sums, error);
    for (size_t i = 0; sums && i < sums->count; i++) {
        pm_buffer_finish(&sums->all[i].d);
        free(sums->all[i].sealed);
    }
    free(sums);
    return done;
}

bool pm_postgres_add_blobs(struct pm_storage *storage, const struct pm_storage_blob *blobs,
                           size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    const struct pm_storage_blob **all = calloc(count + 1, sizeof(*all));
    bool entered, done = true;
    if (!all)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", postgres->name);
    for (size_t i = 0; done && i < count; i++) {
        all[i] = &blobs[i];
        done = pm_pg_have_day(postgres, PM_PG_STATISTICS, blobs[i].key.day, error);
    }
    if (done && count > 1)
        qsort(all, count, sizeof(*all), compare_blobs);
    if (done && !postgres->lacks_day && (done = pm_pg_enter(postgres, &entered, error))) {
        for (size_t at = 0; done && at < count;)
            done = add_some(postgres, all, count, &at, error);
        done = pm_pg_leave(postgres, entered, done, error);
    }
    free(all);
    return done;
}

bool pm_postgres_replace_space(struct pm_storage *storage, const char *game,
                               const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                               struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_pg_query query;
    bool entered;
    if (!pm_pg_enter(postgres, &entered, error))
        return false;
    pm_spaces_forget(&postgres->spaces);
    /* Whoever folds holds the number of points while it adds (postgres_uploads.c, find_some). */
    pm_pg_begin(&query, "INSERT INTO spaces (game, key, kind, space) VALUES (");
    pm_pg_text(&query, game);
    pm_pg_comma(&query);
    pm_pg_key(&query, key);
    pm_pg_comma(&query);
    pm_pg_count(&query, (uint64_t)kind);
    pm_pg_comma(&query);
    pm_pg_count(&query, space);
    pm_pg_sql(&query, ") ON CONFLICT (game, key, kind) DO UPDATE SET space = excluded.space");
    bool done = pm_pg_do(postgres, &query, NULL, error);
    if (done) {
        pm_pg_begin(&query, "DELETE FROM statistics WHERE game = ");
        pm_pg_text(&query, game);
        pm_pg_sql(&query, " AND key = ");
        pm_pg_key(&query, key);
        pm_pg_sql(&query, " AND kind = ");
        pm_pg_count(&query, (uint64_t)kind);
        done = pm_pg_do(postgres, &query, NULL, error);
    }
    return pm_pg_leave(postgres, entered, done, error);
}

/* ---- reading ---- */

struct blob_visit {
    struct pm_postgres *postgres;
    const char *game;
    pm_storage_visit_blob visit;
    void *user;
};

static bool take_blob(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct blob_visit *visit = user;
    struct pm_storage_key key = {.game = visit->game};
    size_t size;
    const char *d = pm_pg_get(result, row, 6, &size);
    if (!take_key(visit->postgres, result, row, &key, error))
        return false;
    const void *data = pm_seal_check(pm_seal_of(&key), d, size, &size);
    return visit->visit(visit->user, &key, data, size, error) ||
           pm_fail_prefix(error, "%s", visit->postgres->name);
}

static bool read_blobs(struct pm_storage *storage, const char *game, const char *scene,
                       const struct pm_shader_key *key, pm_storage_visit_blob visit, void *user,
                       struct pm_error *error)
{
    struct blob_visit all = {(struct pm_postgres *)storage, game, visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT key, environment, kind, flags, day, scene, d FROM statistics"
                        " WHERE game = ");
    pm_pg_text(&query, game);
    if (scene) {
        pm_pg_sql(&query, " AND scene = ");
        pm_pg_text(&query, scene);
    }
    if (key) {
        pm_pg_sql(&query, " AND key = ");
        pm_pg_key(&query, key);
    }
    pm_pg_sql(&query, " ORDER BY key, environment, kind, flags, day, scene");
    return pm_pg_select(all.postgres, &query, take_blob, &all, error);
}

bool pm_postgres_read_game(struct pm_storage *storage, const char *game, const char *scene,
                           pm_storage_visit_blob visit, void *user, struct pm_error *error)
{
    return read_blobs(storage, game, scene, NULL, visit, user, error);
}

bool pm_postgres_read_shader(struct pm_storage *storage, const char *game,
                             const struct pm_shader_key *key, pm_storage_visit_blob visit,
                             void *user, struct pm_error *error)
{
    return read_blobs(storage, game, NULL, key, visit, user, error);
}
