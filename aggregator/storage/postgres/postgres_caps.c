/* Caps of tokens in the PostgreSQL storage. They are counted before the uploads are taken, in a
 * transaction of its own, since they are distributed by their marks and not by games: what becomes
 * of that one can only refuse. An upload is known to the marks that counted it, so that whoever
 * does it again counts it no more. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "base/random.h"
#include <stdlib.h>
#include <string.h>

/* One upload as one mark counts it. */
struct entry {
    const uint8_t *mark, *id;
    uint32_t day, most;
    bool fresh, counts; /* it was not there before; it is within the cap */
};

/* How much a mark's count changes, and what it was before. */
struct cap {
    const uint8_t *mark;
    uint32_t day;
    int64_t uploads, before;
};

struct counting {
    struct pm_postgres *postgres;
    int64_t attempt;       /* tells what this call put there */
    struct entry *entries; /* two an upload, of its game and of all: as uploads came */
    struct entry **sorted; /* without those that occur twice */
    struct cap *caps;      /* sorted */
    size_t entry_count, sorted_count, cap_count;
};

static int compare_marks(const uint8_t *mark, uint32_t day, const uint8_t *other_mark,
                         uint32_t other_day)
{
    const int order = memcmp(mark, other_mark, PM_CAP_BYTES);
    return order != 0 ? order : (day > other_day) - (day < other_day);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = *(const void *const *)a, *right = *(const void *const *)b;
    const int order = compare_marks(left->mark, left->day, right->mark, right->day);
    return order != 0 ? order : memcmp(left->id, right->id, PM_CAP_BYTES);
}

static int compare_caps(const void *a, const void *b)
{
    const struct cap *left = a, *right = b;
    return compare_marks(left->mark, left->day, right->mark, right->day);
}

/* ---- who was counted ---- */

static const uint8_t *mark_of(const PGresult *result, int row, int column)
{
    return PQgetlength(result, row, column) == PM_CAP_BYTES
               ? (const uint8_t *)pm_pg_get(result, row, column, NULL)
               : NULL;
}

static struct entry *find_entry(const struct counting *counting, const struct entry *name)
{
    struct entry **found = bsearch(&name, counting->sorted, counting->sorted_count,
                                   sizeof(*counting->sorted), compare_entries);
    return found ? *found : NULL;
}

static bool take_entry(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct counting *counting = user;
    const struct entry name = {.mark = mark_of(result, row, 0),
                               .day = (uint32_t)pm_pg_get_number(result, row, 1),
                               .id = mark_of(result, row, 2)};
    struct entry *entry = name.mark && name.id ? find_entry(counting, &name) : NULL;
    (void)error;
    if (entry) {
        entry->fresh = pm_pg_get_number(result, row, 3) == counting->attempt;
        entry->counts = pm_pg_get_number(result, row, 4) != 0;
    }
    return true;
}

/* Of all, or of those that are fresh and beyond their cap. What is there stays what it is but for
 * `counts`. */
static bool put_entries(struct counting *counting, bool beyond, struct pm_error *error)
{
    struct pm_pg_query query;
    bool any = false;
    for (size_t i = 0; i < counting->sorted_count; i++) {
        const struct entry *entry = counting->sorted[i];
        if (beyond && (!entry->fresh || entry->counts))
            continue;
        if (!any)
            pm_pg_begin(&query, "INSERT INTO cap_uploads (mark, day, id, attempt, counts) VALUES ");
        pm_pg_row(&query, !any);
        pm_pg_bytes(&query, entry->mark, PM_CAP_BYTES);
        pm_pg_comma(&query);
        pm_pg_count(&query, entry->day);
        pm_pg_comma(&query);
        pm_pg_bytes(&query, entry->id, PM_CAP_BYTES);
        pm_pg_comma(&query);
        pm_pg_number(&query, counting->attempt);
        pm_pg_comma(&query);
        pm_pg_count(&query, beyond ? 0 : 1);
        pm_pg_sql(&query, ")");
        any = true;
    }
    if (!any)
        return true;
    pm_pg_sql(&query, " ON CONFLICT (mark, day, id) DO UPDATE SET counts = ");
    pm_pg_sql(&query, beyond ? "excluded.counts" : "cap_uploads.counts");
    pm_pg_sql(&query, " RETURNING mark, day, id, attempt, counts");
    return pm_pg_select_here(counting->postgres, &query, take_entry, counting, error);
}

/* ---- how many ---- */

static bool take_cap(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct counting *counting = user;
    const struct cap name = {.mark = mark_of(result, row, 0),
                             .day = (uint32_t)pm_pg_get_number(result, row, 1)};
    struct cap *cap =
        name.mark ? bsearch(&name, counting->caps, counting->cap_count, sizeof(name), compare_caps)
                  : NULL;
    (void)error;
    if (cap)
        cap->before = pm_pg_get_number(result, row, 2) - cap->uploads;
    return true;
}

/* Adds `uploads` of each, which may be less than 0, and learns what was before. A set may change a
 * row but once: what is of one mark is summed. */
static bool raise_caps(struct counting *counting, struct pm_error *error)
{
    struct cap *caps = counting->caps;
    struct pm_pg_query query;
    size_t kept = 0;
    if (counting->cap_count == 0)
        return true;
    qsort(caps, counting->cap_count, sizeof(*caps), compare_caps);
    for (size_t i = 0; i < counting->cap_count; i++) {
        if (kept > 0 && compare_caps(&caps[kept - 1], &caps[i]) == 0)
            caps[kept - 1].uploads += caps[i].uploads;
        else
            caps[kept++] = caps[i];
    }
    counting->cap_count = kept;
    pm_pg_begin(&query, "INSERT INTO caps (mark, day, n) VALUES ");
    for (size_t i = 0; i < kept; i++) {
        pm_pg_row(&query, i == 0);
        pm_pg_bytes(&query, caps[i].mark, PM_CAP_BYTES);
        pm_pg_comma(&query);
        pm_pg_count(&query, caps[i].day);
        pm_pg_comma(&query);
        pm_pg_number(&query, caps[i].uploads);
        pm_pg_sql(&query, ")");
    }
    pm_pg_sql(&query, " ON CONFLICT (mark, day) DO UPDATE SET n = caps.n + excluded.n"
                      " RETURNING mark, day, n");
    return pm_pg_select_here(counting->postgres, &query, take_cap, counting, error);
}

static void change_cap(struct counting *counting, const struct entry *entry, int64_t uploads)
{
    counting->caps[counting->cap_count++] =
        (struct cap){.mark = entry->mark, .day = entry->day, .uploads = uploads};
}

/* One after the other, as they came. */
static bool take_turn(const struct counting *counting, const struct entry *entry)
{
    const struct cap name = {.mark = entry->mark, .day = entry->day};
    struct cap *cap =
        bsearch(&name, counting->caps, counting->cap_count, sizeof(name), compare_caps);
    return cap && cap->before++ < (int64_t)entry->most;
}

/* Of an upload that was counted by one of its marks and is beyond the other, neither counts. */
static bool take_turns(struct counting *counting, struct pm_error *error)
{
    for (size_t i = 0; i < counting->sorted_count; i++) {
        if (counting->sorted[i]->fresh)
            change_cap(counting, counting->sorted[i], 1);
    }
    if (!raise_caps(counting, error))
        return false;
    size_t beyond = 0;
    for (size_t i = 0; i < counting->entry_count; i += 2) {
        struct entry *of_game = &counting->entries[i], *of_all = &counting->entries[i + 1];
        if (!of_game->fresh || !of_all->fresh)
            continue;
        const bool counts = take_turn(counting, of_game) && take_turn(counting, of_all);
        of_game->counts = of_all->counts = counts;
        beyond += !counts;
    }
    if (beyond == 0)
        return true;
    counting->cap_count = 0;
    for (size_t i = 0; i < counting->sorted_count; i++) {
        if (counting->sorted[i]->fresh && !counting->sorted[i]->counts)
            change_cap(counting, counting->sorted[i], -1);
    }
    return put_entries(counting, true, error) && raise_caps(counting, error);
}

/* ---- a batch ---- */

static void add_entries(struct counting *counting, const struct pm_storage_cap *cap)
{
    counting->entries[counting->entry_count++] = (struct entry){
        .mark = cap->of_game, .id = cap->id_of_game, .day = cap->day, .most = cap->most_of_game};
    counting->entries[counting->entry_count++] = (struct entry){
        .mark = cap->of_all, .id = cap->id_of_all, .day = cap->day, .most = cap->most};
}

static void sort_entries(struct counting *counting)
{
    size_t kept = 0;
    for (size_t i = 0; i < counting->entry_count; i++)
        counting->sorted[i] = &counting->entries[i];
    qsort(counting->sorted, counting->entry_count, sizeof(*counting->sorted), compare_entries);
    for (size_t i = 0; i < counting->entry_count; i++) {
        if (kept == 0 || compare_entries(&counting->sorted[kept - 1], &counting->sorted[i]) != 0)
            counting->sorted[kept++] = counting->sorted[i];
    }
    counting->sorted_count = kept;
}

static bool init(struct counting *counting, struct pm_postgres *postgres, size_t uploads,
                 struct pm_error *error)
{
    *counting = (struct counting){.postgres = postgres,
                                  .entries = calloc(2 * uploads + 1, sizeof(struct entry)),
                                  .sorted = calloc(2 * uploads + 1, sizeof(struct entry *)),
                                  .caps = calloc(2 * uploads + 1, sizeof(struct cap))};
    if (!counting->entries || !counting->sorted || !counting->caps)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for caps", postgres->name);
    return pm_random_system(&counting->attempt, sizeof(counting->attempt)) ||
           pm_fail(error, PM_ERROR_STATE, "the system gives no random bytes");
}

static void finish(struct counting *counting)
{
    free(counting->entries);
    free(counting->sorted);
    free(counting->caps);
}

/* Days on which something is counted are few: mostly one. */
static bool have_days(struct counting *counting, struct pm_error *error)
{
    for (size_t i = 0; i < counting->sorted_count; i++) {
        if (!pm_pg_have_day(counting->postgres, PM_PG_CAPS, counting->sorted[i]->day, error) ||
            !pm_pg_have_day(counting->postgres, PM_PG_CAP_UPLOADS, counting->sorted[i]->day, error))
            return false;
    }
    return true;
}

static bool count_entries(struct counting *counting, struct pm_error *error)
{
    struct pm_postgres *postgres = counting->postgres;
    if (!have_days(counting, error) || !pm_pg_begin_caps(postgres, error))
        return false;
    if (put_entries(counting, false, error) && take_turns(counting, error))
        return true;
    pm_postgres_rollback(&postgres->storage);
    return false;
}

bool pm_pg_count_uploads(struct pm_postgres *postgres, struct pm_storage_upload *uploads,
                         const bool *known, size_t count, struct pm_error *error)
{
    struct counting counting;
    bool done = init(&counting, postgres, count, error);
    for (size_t i = 0; done && i < count; i++) {
        if (uploads[i].caps && !known[i])
            add_entries(&counting, uploads[i].caps);
    }
    if (done && counting.entry_count > 0) {
        sort_entries(&counting);
        done = count_entries(&counting, error);
    }
    /* What occurs twice is as the first of it. */
    const struct entry *entry = counting.entries;
    for (size_t i = 0; done && i < count; i++) {
        if (!uploads[i].caps || known[i])
            continue;
        const struct entry *of_game = find_entry(&counting, entry),
                           *of_all = find_entry(&counting, entry + 1);
        uploads[i].over = !of_game || !of_all || !of_game->counts || !of_all->counts;
        entry += 2;
    }
    finish(&counting);
    return done;
}

/* ---- what was refused ---- */

static bool drop_entry(struct pm_postgres *postgres, const struct entry *entry,
                       struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "DELETE FROM cap_uploads WHERE mark = ");
    pm_pg_bytes(&query, entry->mark, PM_CAP_BYTES);
    pm_pg_sql(&query, " AND day = ");
    pm_pg_count(&query, entry->day);
    pm_pg_sql(&query, " AND id = ");
    pm_pg_bytes(&query, entry->id, PM_CAP_BYTES);
    return pm_pg_do(postgres, &query, NULL, error);
}

static bool return_all(struct counting *counting, struct pm_error *error)
{
    for (size_t i = 0; i < counting->sorted_count; i++) {
        if (!drop_entry(counting->postgres, counting->sorted[i], error))
            return false;
        change_cap(counting, counting->sorted[i], -1);
    }
    return raise_caps(counting, error);
}

bool pm_pg_return_caps(struct pm_postgres *postgres, const struct pm_storage_cap *caps,
                       size_t count, struct pm_error *error)
{
    struct counting counting;
    bool done = init(&counting, postgres, count, error);
    for (size_t i = 0; done && i < count; i++)
        add_entries(&counting, &caps[i]);
    if (done)
        sort_entries(&counting);
    done = done && pm_postgres_begin_lazily(&postgres->storage, error) &&
           pm_storage_end(&postgres->storage, return_all(&counting, error), error);
    finish(&counting);
    return done;
}
