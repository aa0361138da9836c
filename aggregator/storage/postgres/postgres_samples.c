/* Samples that wait in the PostgreSQL storage. Rows are named by numbers that are unique, and not
 * in order. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/random.h"
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define ROWS_AT_ONCE 32
#define LARGE_BYTES ((size_t)64 << 10)
#define LARGE_AT_ONCE ((size_t)8 << 20) /* bytes, but for the last row: they are copied */
#define NUMBER_BITS 11 /* of chance; microseconds above them are enough until 2112 */

static int64_t hash_of(const void *data, size_t size)
{
    return (int64_t)XXH3_64bits(data, size);
}

/* In the order of the clocks, nearly, and by chance: two that are the same are a conflict, and made
 * again. */
static int64_t make_number(void)
{
    struct timespec now;
    uint16_t chance = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    pm_random_system(&chance, sizeof(chance));
    const int64_t microseconds = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    return microseconds << NUMBER_BITS | (chance & ((1 << NUMBER_BITS) - 1));
}

/* Rows of which one statement will be made. */
struct rows {
    const struct pm_storage_samples *rows[ROWS_AT_ONCE];
    size_t count, bytes;
};

static bool add_small(struct pm_postgres *postgres, const struct rows *small,
                      struct pm_error *error)
{
    const int64_t number = make_number();
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO samples (game, part, row, day, size, hash, d) VALUES ");
    for (size_t i = 0; i < small->count; i++) {
        const struct pm_storage_samples *row = small->rows[i];
        pm_pg_row(&query, i == 0);
        pm_pg_text(&query, row->game);
        pm_pg_comma(&query);
        pm_pg_count(&query, row->part);
        pm_pg_comma(&query);
        pm_pg_number(&query, number + (int64_t)i);
        pm_pg_comma(&query);
        pm_pg_count(&query, row->day);
        pm_pg_comma(&query);
        pm_pg_count(&query, row->size);
        pm_pg_comma(&query);
        pm_pg_number(&query, hash_of(row->data, row->size));
        pm_pg_comma(&query);
        pm_pg_bytes(&query, row->data, row->size);
        pm_pg_sql(&query, ")");
    }
    return pm_pg_do(postgres, &query, NULL, error);
}

/* Of one game. An engine that is distributed copies these to their machine as they are, where it
 * would write the values of another INSERT out as text. */
static bool add_large(struct pm_postgres *postgres, const struct rows *large,
                      struct pm_error *error)
{
    enum { PART, ROW, DAY, SIZE, HASH, FIELDS };
    int64_t fields[FIELDS][ROWS_AT_ONCE];
    struct pm_pg_blob blobs[ROWS_AT_ONCE];
    const int64_t number = make_number();
    struct pm_pg_query query;
    for (size_t i = 0; i < large->count; i++) {
        const struct pm_storage_samples *row = large->rows[i];
        fields[PART][i] = row->part;
        fields[ROW][i] = number + (int64_t)i;
        fields[DAY][i] = row->day;
        fields[SIZE][i] = (int64_t)row->size;
        fields[HASH][i] = hash_of(row->data, row->size);
        blobs[i] = (struct pm_pg_blob){row->data, row->size};
    }
    pm_pg_begin(&query, "INSERT INTO samples (game, part, row, day, size, hash, d) SELECT ");
    pm_pg_text(&query, large->rows[0]->game);
    pm_pg_sql(&query, ", part, row, day, size, hash, d FROM unnest(");
    for (int field = 0; field < FIELDS; field++) {
        pm_pg_numbers(&query, fields[field], large->count);
        pm_pg_comma(&query);
    }
    pm_pg_blobs(&query, blobs, large->count);
    pm_pg_sql(&query, ") AS large (part, row, day, size, hash, d)");
    return pm_pg_do(postgres, &query, NULL, error);
}

/* Sends what there is, if any, and begins anew. */
static bool flush(struct pm_postgres *postgres, struct rows *rows, bool large,
                  struct pm_error *error)
{
    const bool done = rows->count == 0 || (large ? add_large : add_small)(postgres, rows, error);
    *rows = (struct rows){0};
    return done;
}

/* Sends those before it where it cannot go with them. */
static bool add_row(struct pm_postgres *postgres, struct rows *rows, bool large,
                    const struct pm_storage_samples *row, struct pm_error *error)
{
    const bool full =
        rows->count == ROWS_AT_ONCE ||
        (large && rows->count > 0 &&
         (rows->bytes >= LARGE_AT_ONCE || strcmp(rows->rows[0]->game, row->game) != 0));
    if (full && !flush(postgres, rows, large, error))
        return false;
    rows->rows[rows->count++] = row;
    rows->bytes += row->size;
    return true;
}

bool pm_postgres_add_samples(struct pm_storage *storage, const struct pm_storage_samples *rows,
                             size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct rows some[2] = {0}; /* [large] */
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = pm_pg_have_day(postgres, PM_PG_SAMPLES, rows[i].day, error);
    if (postgres->lacks_day)
        return done;
    for (size_t i = 0; done && i < count; i++) {
        const bool large = rows[i].size >= LARGE_BYTES;
        done = add_row(postgres, &some[large], large, &rows[i], error);
    }
    return done && flush(postgres, &some[false], false, error) &&
           flush(postgres, &some[true], true, error);
}

bool pm_postgres_delete_samples(struct pm_storage *storage, const char *game, unsigned part,
                                const uint64_t *rows, size_t count, uint64_t *deleted,
                                struct pm_error *error)
{
    bool done = true;
    *deleted = 0;
    for (size_t at = 0; done && at < count;) {
        struct pm_pg_query query;
        const size_t first = at;
        uint64_t changed = 0;
        pm_pg_begin(&query, "DELETE FROM samples WHERE game = ");
        pm_pg_text(&query, game);
        pm_pg_sql(&query, " AND part = ");
        pm_pg_count(&query, part);
        pm_pg_sql(&query, " AND row IN (");
        for (; at < count && at - first < PM_POSTGRES_ROWS; at++) {
            if (at > first)
                pm_pg_comma(&query);
            pm_pg_count(&query, rows[at]);
        }
        pm_pg_sql(&query, ")");
        done = pm_pg_do((struct pm_postgres *)storage, &query, &changed, error);
        *deleted += changed;
    }
    return done;
}

/* ---- reading ---- */

struct samples_visit {
    const char *game;
    unsigned part;
    size_t left;
    pm_storage_visit_samples visit;
    void *user;
    uint64_t last; /* the row that was visited last */
    bool any;
};

static bool take_row(void *user, const PGresult *result, int row, struct pm_error *error)
{
    struct samples_visit *visit = user;
    struct pm_storage_samples samples = {.game = visit->game,
                                         .part = visit->part,
                                         .row = (uint64_t)pm_pg_get_number(result, row, 0),
                                         .day = (uint32_t)pm_pg_get_number(result, row, 1)};
    samples.data = pm_pg_get(result, row, 3, &samples.size);
    samples.damaged = pm_pg_get_number(result, row, 2) != hash_of(samples.data, samples.size);
    return visit->visit(visit->user, &samples, error);
}

/* Only as many rows are asked for as are wanted: their sizes are known beside them. */
bool pm_postgres_read_samples(struct pm_storage *storage, const char *game, unsigned part,
                              size_t bytes, pm_storage_visit_samples visit, void *user,
                              struct pm_error *error)
{
    struct samples_visit all = {.game = game, .part = part, .visit = visit, .user = user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT row, day, hash, d FROM (SELECT row, day, hash, d,"
                        " sum(size) OVER (ORDER BY row) - size AS before FROM samples"
                        " WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " AND part = ");
    pm_pg_count(&query, part);
    pm_pg_sql(&query, ") AS waiting WHERE before < ");
    pm_pg_count(&query, bytes);
    pm_pg_sql(&query, " ORDER BY row");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_row, &all, error);
}

struct part_visit {
    pm_storage_visit_part visit;
    void *user;
};

static bool take_part(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct part_visit *visit = user;
    return visit->visit(visit->user, pm_pg_get(result, row, 0, NULL),
                        (unsigned)pm_pg_get_number(result, row, 1),
                        (uint64_t)pm_pg_get_number(result, row, 2),
                        (uint64_t)pm_pg_get_number(result, row, 3), error);
}

bool pm_postgres_list_samples(struct pm_storage *storage, const char *game,
                              pm_storage_visit_part visit, void *user, struct pm_error *error)
{
    struct part_visit all = {visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, "SELECT game, part, count(*), sum(size)::bigint FROM samples");
    if (game) {
        pm_pg_sql(&query, " WHERE game = ");
        pm_pg_text(&query, game);
    }
    pm_pg_sql(&query, " GROUP BY game, part ORDER BY game, part");
    return pm_pg_select((struct pm_postgres *)storage, &query, take_part, &all, error);
}
