#include "aggregator/trust/claims_group.h"

#include "aggregator/statistics/ageing.h"
#include <stdlib.h>
#include <string.h>

static size_t make_name(const struct pm_storage_claim *subject, uint8_t *name)
{
    uint8_t *at = name;
    const size_t size = strlen(subject->game);
    memcpy(at, subject->key.bytes, PM_SHADER_KEY_BYTES);
    at += PM_SHADER_KEY_BYTES;
    *at++ = (uint8_t)subject->kind;
    memcpy(at, subject->scope, PM_SCOPE_BYTES);
    at += PM_SCOPE_BYTES;
    memcpy(at, subject->game, size);
    return (size_t)(at - name) + size;
}

struct pm_found *pm_claims_find(struct pm_claims *claims, const struct pm_storage_claim *subject,
                                struct pm_error *error)
{
    const size_t most = PM_SHADER_KEY_BYTES + 1 + PM_SCOPE_BYTES + strlen(subject->game) + 1;
    struct pm_found *found, *made = calloc(1, sizeof(*made) + most);
    if (!made) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
        return NULL;
    }
    made->name_size = make_name(subject, made->name);
    HASH_FIND(hh, claims->group, made->name, made->name_size, found);
    if (found) {
        free(made);
        return found;
    }
    made->room = (size_t)(claims->min_tokens > 1 ? claims->min_tokens : 1) * PM_MARK_BYTES;
    made->marks = malloc(PM_CLAIMS_OF_SHADER * made->room);
    if (!made->marks) {
        free(made);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u tokens", claims->min_tokens);
        return NULL;
    }
    made->subject = *subject;
    made->subject.game = (const char *)made->name + (made->name_size - strlen(subject->game));
    HASH_ADD_KEYPTR(hh, claims->group, made->name, made->name_size, made);
    return made;
}

void pm_claims_end(struct pm_claims *claims)
{
    struct pm_found *found, *next;
    HASH_ITER(hh, claims->group, found, next)
    {
        HASH_DEL(claims->group, found);
        free(found->marks);
        free(found);
    }
    claims->mark_count = 0;
}

static uint8_t *marks_of(const struct pm_found *found, const struct pm_counted *counted)
{
    return found->marks + (size_t)(counted - found->all) * found->room;
}

/* So many made the claim on one day. What is of before the retention counts for nothing. */
static void offer(const struct pm_claims *claims, struct pm_counted *counted, uint32_t tokens,
                  uint32_t day)
{
    const uint32_t first = pm_ageing_first_day(claims->epoch, claims->world->retention_days);
    const bool old = day < first, was_old = counted->day < first;
    if (was_old == old
            ? tokens > counted->tokens || (tokens == counted->tokens && day > counted->day)
            : was_old) {
        counted->tokens = tokens;
        counted->day = day;
    }
}

static void count_mark(const struct pm_claims *claims, struct pm_found *found,
                       struct pm_counted *counted, const uint8_t mark[static PM_MARK_BYTES],
                       uint32_t day)
{
    if (counted->last_day != day)
        counted->last = 0;
    counted->last_day = day;
    offer(claims, counted, ++counted->last, day);
    if (day != claims->epoch || (counted->of_today + 1) * PM_MARK_BYTES > found->room)
        return;
    memcpy(marks_of(found, counted) + counted->of_today++ * PM_MARK_BYTES, mark, PM_MARK_BYTES);
}

static struct pm_counted *counted_of(struct pm_found *found, uint32_t space)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->all[i].space == space)
            return &found->all[i];
    }
    if (found->count == PM_CLAIMS_OF_SHADER)
        return NULL;
    found->all[found->count] = (struct pm_counted){.space = space};
    return &found->all[found->count++];
}

static bool visit(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    struct pm_claims *claims = user;
    struct pm_found *found = pm_claims_find(claims, claim, error);
    struct pm_counted *counted = found ? counted_of(found, claim->space) : NULL;
    if (counted && claim->mark)
        count_mark(claims, found, counted, claim->mark, claim->day);
    else if (counted)
        offer(claims, counted, claim->tokens, claim->day);
    return found != NULL;
}

bool pm_claims_look(struct pm_claims *claims, struct pm_error *error)
{
    struct pm_storage *storage = claims->world->storage;
    struct pm_found *found, *next;
    size_t count = 0;
    struct pm_storage_claim *subjects = calloc(HASH_COUNT(claims->group) + 1, sizeof(*subjects));
    if (!subjects)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
    HASH_ITER(hh, claims->group, found, next)
    {
        if (!found->known)
            subjects[count++] = found->subject;
        found->known = true;
    }
    const bool done = count == 0 || storage->operations->find_claims(storage, subjects, count,
                                                                     visit, claims, error);
    free(subjects);
    return done;
}

const struct pm_storage_claim *pm_claims_marks(const struct pm_claims *claims, size_t *count)
{
    for (size_t i = 0; i < claims->mark_count; i++)
        claims->marks[i].mark = claims->mark_bytes[i];
    *count = claims->mark_count;
    return claims->marks;
}

/* ---- one claim ---- */

/* Did the token make a claim in this epoch? */
static bool is_marked(const struct pm_found *found, const uint8_t mark[static PM_MARK_BYTES])
{
    for (size_t i = 0; i < found->count; i++) {
        const struct pm_counted *counted = &found->all[i];
        for (size_t j = 0; j < counted->of_today; j++) {
            if (memcmp(marks_of(found, counted) + j * PM_MARK_BYTES, mark, PM_MARK_BYTES) == 0)
                return true;
        }
    }
    return false;
}

bool pm_claim_stands(const struct pm_claims *claims, const struct pm_counted *counted)
{
    return counted->tokens >= claims->min_tokens &&
           counted->day >= pm_ageing_first_day(claims->epoch, claims->world->retention_days);
}

/* Makes a place for one more claim, if it can. */
static bool make_place(struct pm_claims *claims, struct pm_found *found, struct pm_error *error)
{
    struct pm_storage *storage = claims->world->storage;
    for (size_t i = 0; i < found->count; i++) {
        struct pm_counted *counted = &found->all[i];
        struct pm_storage_claim claim = found->subject;
        if (counted->last_day == claims->epoch || pm_claim_stands(claims, counted))
            continue;
        claim.space = counted->space;
        *counted = found->all[--found->count];
        memcpy(marks_of(found, counted), marks_of(found, &found->all[found->count]), found->room);
        return storage->operations->drop_claim(storage, &claim, error);
    }
    return true;
}

/* The claim of this space, a new one if need be. NULL: there is no place, or the storage failed. */
static struct pm_counted *place(struct pm_claims *claims, struct pm_found *found, uint32_t space,
                                bool *done, struct pm_error *error)
{
    struct pm_counted *counted = counted_of(found, space);
    *done = counted || make_place(claims, found, error);
    return counted || !*done ? counted : counted_of(found, space);
}

static bool add_mark(struct pm_claims *claims, struct pm_found *found, struct pm_counted *counted,
                     const uint8_t mark[static PM_MARK_BYTES], struct pm_error *error)
{
    /* There are as many marks as are counted. */
    if ((counted->of_today + 1) * PM_MARK_BYTES > found->room)
        return true;
    if (claims->mark_count == claims->marks_allocated) {
        const size_t room = claims->marks_allocated ? 2 * claims->marks_allocated : 256;
        struct pm_storage_claim *marks = reallocarray(claims->marks, room, sizeof(*marks));
        claims->marks = marks ? marks : claims->marks;
        void *bytes = marks ? reallocarray(claims->mark_bytes, room, PM_MARK_BYTES) : NULL;
        if (!bytes)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu claims", room);
        claims->mark_bytes = bytes;
        claims->marks_allocated = room;
    }
    struct pm_storage_claim *claim = &claims->marks[claims->mark_count];
    *claim = found->subject;
    claim->space = counted->space;
    claim->day = claims->epoch;
    memcpy(claims->mark_bytes[claims->mark_count++], mark, PM_MARK_BYTES);
    count_mark(claims, found, counted, mark, claims->epoch);
    return true;
}

bool pm_claims_add(struct pm_claims *claims, const struct pm_subject *subject,
                   const struct pm_ingest_source *source, struct pm_counted **counted,
                   struct pm_error *error)
{
    const struct pm_storage_claim name = pm_subject_name(subject);
    uint8_t mark[PM_MARK_BYTES] = {0};
    bool done;
    struct pm_found *found = pm_claims_find(claims, &name, error);
    if (!found || (!found->known && !pm_claims_look(claims, error)))
        return false;
    if (source)
        pm_sources_mark(claims->sources, source, subject->game, &name.key, name.kind, name.scope,
                        mark);
    const bool marked = is_marked(found, mark);
    *counted = place(claims, found, subject->shader->space, &done, error);
    return done && (!*counted || marked || add_mark(claims, found, *counted, mark, error));
}
