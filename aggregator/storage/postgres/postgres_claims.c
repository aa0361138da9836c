/* Claims in the PostgreSQL storage: sets of marks, and counts of days that have ended. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <stdlib.h>
#include <string.h>

static void add_subject(struct pm_pg_query *query, const struct pm_storage_claim *claim)
{
    pm_pg_key(query, &claim->key);
    pm_pg_comma(query);
    pm_pg_count(query, (uint64_t)claim->kind);
    pm_pg_comma(query);
    pm_pg_bytes(query, claim->scope, PM_SCOPE_BYTES);
}

static void add_claim(struct pm_pg_query *query, const struct pm_storage_claim *claim)
{
    pm_pg_text(query, claim->game);
    pm_pg_comma(query);
    add_subject(query, claim);
    pm_pg_comma(query);
    pm_pg_count(query, pm_storage_claim_number(claim));
    pm_pg_comma(query);
}

/* By all that a mark is. */
static int compare(const void *a, const void *b)
{
    const struct pm_storage_claim *left = a, *right = b;
    int order = strcmp(left->game, right->game);
    if (order == 0)
        order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = (left->kind > right->kind) - (left->kind < right->kind);
    if (order == 0)
        order = memcmp(left->scope, right->scope, PM_SCOPE_BYTES);
    if (order == 0)
        order = (pm_storage_claim_number(left) > pm_storage_claim_number(right)) -
                (pm_storage_claim_number(left) < pm_storage_claim_number(right));
    if (order == 0)
        order = (left->day > right->day) - (left->day < right->day);
    if (order == 0 && left->mark && right->mark)
        order = memcmp(left->mark, right->mark, PM_MARK_BYTES);
    return order;
}

/* A copy, sorted, of which the caller frees. NULL: out of memory. */
static struct pm_storage_claim *sorted(const struct pm_storage_claim *claims, size_t count,
                                       struct pm_error *error)
{
    struct pm_storage_claim *copy = calloc(count + 1, sizeof(*copy));
    if (!copy) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu claims", count);
        return NULL;
    }
    if (count > 0)
        memcpy(copy, claims, count * sizeof(*copy));
    if (count > 1)
        qsort(copy, count, sizeof(*copy), compare);
    return copy;
}

/* ---- reading ---- */

struct claim_visit {
    struct pm_postgres *postgres;
    const char *game;
    pm_storage_visit_claim visit;
    void *user;
};

/* Of key, kind, scope, space, day, tokens, mark. */
static bool take_claim(void *user, const PGresult *result, int row, struct pm_error *error)
{
    const struct claim_visit *visit = user;
    struct pm_storage_claim claim = {.game = visit->game,
                                     .kind = (enum pm_kind)pm_pg_get_number(result, row, 1),
                                     .space = (uint32_t)pm_pg_get_number(result, row, 3),
                                     .facts = (uint32_t)(pm_pg_get_number(result, row, 3) >> 32),
                                     .day = (uint32_t)pm_pg_get_number(result, row, 4),
                                     .tokens = (uint32_t)pm_pg_get_number(result, row, 5)};
    size_t scope, mark;
    const void *scope_bytes = pm_pg_get(result, row, 2, &scope);
    const void *mark_bytes = pm_pg_get(result, row, 6, &mark);
    if (!pm_pg_get_key(visit->postgres, result, row, 0, &claim.key, error))
        return false;
    if (scope != PM_SCOPE_BYTES || (!PQgetisnull(result, row, 6) && mark != PM_MARK_BYTES))
        return pm_fail(error, PM_ERROR_INPUT, "%s: a claim has a damaged key",
                       visit->postgres->name);
    memcpy(claim.scope, scope_bytes, PM_SCOPE_BYTES);
    claim.mark = PQgetisnull(result, row, 6) ? NULL : mark_bytes;
    return visit->visit(visit->user, &claim, error);
}

#define COUNTS "SELECT key, kind, scope, space, day, tokens, NULL::bytea FROM claims "
#define CLAIMS_SORTED " ORDER BY 1, 2, 3, 4, 5"

static bool is_same(const struct pm_storage_claim *a, const struct pm_storage_claim *b)
{
    return pm_shader_key_equal(&a->key, &b->key) && a->kind == b->kind &&
           memcmp(a->scope, b->scope, PM_SCOPE_BYTES) == 0;
}

/* Joined with what is asked for, so that each is looked up; a long IN would be held against every
 * row. */
static void add_subjects(struct pm_pg_query *query, const struct pm_storage_claim *subjects,
                         size_t count)
{
    pm_pg_sql(query, "JOIN (VALUES ");
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && is_same(&subjects[i - 1], &subjects[i]))
            continue;
        pm_pg_row(query, i == 0);
        add_subject(query, &subjects[i]);
        pm_pg_sql(query, ")");
    }
    pm_pg_sql(query, ") AS asked (key, kind, scope) USING (key, kind, scope) WHERE game = ");
    pm_pg_text(query, subjects->game);
}

bool pm_postgres_find_claims(struct pm_storage *storage, const struct pm_storage_claim *subjects,
                             size_t count, pm_storage_visit_claim visit, void *user,
                             struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_storage_claim *all = sorted(subjects, count, error);
    bool done = all != NULL;
    for (size_t at = 0, end; done && at < count; at = end) {
        struct claim_visit here = {postgres, all[at].game, visit, user};
        struct pm_pg_query query;
        for (end = at; end < count && end - at < PM_POSTGRES_ROWS &&
                       strcmp(all[end].game, all[at].game) == 0;)
            end++;
        pm_pg_begin(&query, COUNTS);
        add_subjects(&query, all + at, end - at);
        pm_pg_sql(&query, " UNION ALL SELECT key, kind, scope, space, day, 1, mark"
                          " FROM claim_marks ");
        add_subjects(&query, all + at, end - at);
        pm_pg_sql(&query, CLAIMS_SORTED ", 7");
        done = pm_pg_select_here(postgres, &query, take_claim, &here, error);
    }
    free(all);
    return done;
}

bool pm_postgres_read_claims(struct pm_storage *storage, const char *game,
                             pm_storage_visit_claim visit, void *user, struct pm_error *error)
{
    struct claim_visit all = {(struct pm_postgres *)storage, game, visit, user};
    struct pm_pg_query query;
    pm_pg_begin(&query, COUNTS "WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " UNION ALL SELECT key, kind, scope, space, day, count(*), NULL"
                      " FROM claim_marks WHERE game = ");
    pm_pg_text(&query, game);
    pm_pg_sql(&query, " GROUP BY key, kind, scope, space, day" CLAIMS_SORTED);
    return pm_pg_select(all.postgres, &query, take_claim, &all, error);
}

/* ---- writing ---- */

bool pm_postgres_add_marks(struct pm_storage *storage, const struct pm_storage_claim *marks,
                           size_t count, struct pm_error *error)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    struct pm_storage_claim *all = count > 0 ? sorted(marks, count, error) : NULL;
    bool done = all || count == 0;
    for (size_t i = 0; done && i < count; i++)
        done = pm_pg_have_day(postgres, PM_PG_CLAIM_MARKS, all[i].day, error);
    for (size_t at = 0; done && !postgres->lacks_day && at < count;) {
        struct pm_pg_query query;
        const size_t first = at;
        pm_pg_begin(&query, "INSERT INTO claim_marks (game, key, kind, scope, space, day, mark)"
                            " VALUES ");
        for (; at < count && at - first < PM_POSTGRES_ROWS; at++) {
            pm_pg_row(&query, at == first);
            add_claim(&query, &all[at]);
            pm_pg_count(&query, all[at].day);
            pm_pg_comma(&query);
            pm_pg_bytes(&query, all[at].mark, PM_MARK_BYTES);
            pm_pg_sql(&query, ")");
        }
        pm_pg_sql(&query, " ON CONFLICT DO NOTHING");
        done = pm_pg_do(postgres, &query, NULL, error);
    }
    free(all);
    return done;
}

bool pm_postgres_put_claims(struct pm_storage *storage, const struct pm_storage_claim *claims,
                            size_t count, struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        struct pm_pg_query query;
        pm_pg_begin(&query, "INSERT INTO claims (game, key, kind, scope, space, tokens, day,"
                            " last_day) VALUES (");
        add_claim(&query, &claims[i]);
        pm_pg_count(&query, claims[i].tokens);
        pm_pg_comma(&query);
        pm_pg_count(&query, claims[i].day);
        pm_pg_comma(&query);
        pm_pg_count(&query, claims[i].day);
        pm_pg_sql(&query, ") ON CONFLICT (game, key, kind, scope, space) DO UPDATE SET"
                          " tokens = excluded.tokens, day = excluded.day,"
                          " last_day = excluded.last_day");
        done = pm_pg_do((struct pm_postgres *)storage, &query, NULL, error);
    }
    return done;
}

bool pm_postgres_drop_claim(struct pm_storage *storage, const struct pm_storage_claim *claim,
                            struct pm_error *error)
{
    static const char *const from[] = {"DELETE FROM claims", "DELETE FROM claim_marks"};
    bool done = true;
    for (size_t i = 0; done && i < sizeof(from) / sizeof(*from); i++) {
        struct pm_pg_query query;
        pm_pg_begin(&query, from[i]);
        pm_pg_sql(&query, " WHERE game = ");
        pm_pg_text(&query, claim->game);
        pm_pg_sql(&query, " AND (key, kind, scope) = (");
        add_subject(&query, claim);
        pm_pg_sql(&query, ") AND space = ");
        pm_pg_count(&query, pm_storage_claim_number(claim));
        done = pm_pg_do((struct pm_postgres *)storage, &query, NULL, error);
    }
    return done;
}

/* ---- epochs ---- */

static bool take_key(void *user, const PGresult *result, int row, struct pm_error *error)
{
    size_t size;
    const char *key = pm_pg_get(result, row, 0, &size);
    if (size != PM_EPOCH_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "the epoch's key is damaged");
    memcpy(user, key, size);
    return true;
}

bool pm_postgres_take_epoch(struct pm_storage *storage, uint32_t day,
                            uint8_t key[static PM_EPOCH_BYTES], struct pm_error *error)
{
    struct pm_pg_query query;
    pm_pg_begin(&query, "INSERT INTO epochs AS e (one, day, key) VALUES (1, ");
    pm_pg_count(&query, day);
    pm_pg_comma(&query);
    pm_pg_bytes(&query, key, PM_EPOCH_BYTES);
    pm_pg_sql(&query, ") ON CONFLICT (one) DO UPDATE SET day = greatest(e.day, excluded.day),"
                      " key = CASE WHEN excluded.day > e.day THEN excluded.key ELSE e.key END"
                      " RETURNING key");
    return pm_pg_select_here((struct pm_postgres *)storage, &query, take_key, key, error);
}
