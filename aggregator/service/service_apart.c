#include "aggregator/service/service_apart.h"

#include "aggregator/service/service_state.h"
#include "base/clock.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Twice as long each time; the first is less than clients are told to wait. */
#define FIRST_REST_NS (INT64_C(5) * PM_SECOND)
#define LAST_REST_NS (INT64_C(60) * PM_SECOND)
#define FORGET_NS (INT64_C(60) * PM_SECOND)

/* ---- lists ---- */

static uint64_t hash_of(const char *game)
{
    return XXH3_64bits(game, strlen(game));
}

static struct pm_apart_entry *find_upload(struct pm_apart *apart, const struct pm_profile *profile)
{
    for (size_t i = 0; i < apart->upload_count; i++) {
        if (memcmp(apart->uploads[i].id, profile->upload_id, PM_UPLOAD_ID_BYTES) == 0)
            return &apart->uploads[i];
    }
    return NULL;
}

static struct pm_apart_entry *find_game(struct pm_apart_entry *entries, size_t count, uint64_t game)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].game == game)
            return &entries[i];
    }
    return NULL;
}

/* An upload or its game; NULL: neither is known to wait. */
static struct pm_apart_entry *find(struct pm_apart *apart, const struct pm_profile *profile)
{
    struct pm_apart_entry *game =
        find_game(apart->games, apart->game_count, hash_of(profile->game));
    return game ? game : find_upload(apart, profile);
}

static void drop(struct pm_apart_entry *entries, size_t *count, struct pm_apart_entry *entry)
{
    if (entry)
        *entry = entries[--*count];
}

/* In the place of who was seen longest ago, where all are taken. */
static void add(struct pm_apart_entry *entries, size_t *count, size_t most,
                const struct pm_apart_entry *entry)
{
    if (*count < most) {
        entries[(*count)++] = *entry;
        return;
    }
    size_t oldest = 0;
    for (size_t i = 1; i < most; i++)
        oldest = entries[i].seen < entries[oldest].seen ? i : oldest;
    entries[oldest] = *entry;
}

static void forget_old(struct pm_apart_entry *entries, size_t *count)
{
    const int64_t before = pm_now() - FORGET_NS;
    for (size_t i = *count; i-- > 0;) {
        if (entries[i].seen < before)
            drop(entries, count, &entries[i]);
    }
}

/* ---- groups ---- */

struct known {
    struct pm_request *request;
    int64_t waited;
    size_t at; /* in the group */
};

static int compare_known(const void *a, const void *b)
{
    const struct known *left = a, *right = b;
    if (left->waited != right->waited)
        return (left->waited > right->waited) - (left->waited < right->waited);
    return (left->at > right->at) - (left->at < right->at);
}

size_t pm_apart_sort(struct pm_apart *apart, struct pm_request **group, size_t count)
{
    const int64_t now = pm_now();
    size_t others = 0, waiting = 0;
    forget_old(apart->uploads, &apart->upload_count);
    forget_old(apart->games, &apart->game_count);
    if (apart->upload_count + apart->game_count == 0) {
        apart->until = apart->rest = 0;
        return 0;
    }
    struct known known[PM_COMMIT_GROUP];
    for (size_t i = 0; i < count; i++) {
        struct pm_apart_entry *entry = find(apart, &group[i]->profile);
        if (entry) {
            entry->seen = now;
            known[waiting++] = (struct known){group[i], entry->waited, i};
        } else {
            group[others++] = group[i];
        }
    }
    if (waiting > 1)
        qsort(known, waiting, sizeof(*known), compare_known);
    for (size_t i = 0; i < waiting; i++)
        group[others + i] = known[i].request;
    return waiting;
}

void pm_apart_game_last(const char *game, struct pm_request **group, size_t count)
{
    struct pm_request *last[PM_COMMIT_GROUP];
    size_t others = 0, of_game = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(group[i]->profile.game, game) == 0)
            last[of_game++] = group[i];
        else
            group[others++] = group[i];
    }
    if (of_game > 0)
        memcpy(group + others, last, of_game * sizeof(*last));
}

/* ---- notes ---- */

/* Was it known? */
static bool note_wait(struct pm_apart *apart, const struct pm_profile *profile)
{
    struct pm_apart_entry entry = {
        .game = hash_of(profile->game), .seen = pm_now(), .waited = pm_now()};
    struct pm_apart_entry *known = find(apart, profile);
    memcpy(entry.id, profile->upload_id, sizeof(entry.id));
    if (known) {
        known->seen = known->waited = entry.seen;
        return true;
    }
    if (find_game(apart->uploads, apart->upload_count, entry.game))
        add(apart->games, &apart->game_count, PM_APART_GAMES, &entry);
    add(apart->uploads, &apart->upload_count, PM_APART_UPLOADS, &entry);
    return false;
}

void pm_apart_note(struct pm_apart *apart, const struct pm_profile *profile,
                   const struct pm_error *reason)
{
    if (reason) {
        if (note_wait(apart, profile))
            apart->rest = 2 * apart->rest < LAST_REST_NS ? 2 * apart->rest : LAST_REST_NS;
        if (apart->rest < FIRST_REST_NS)
            apart->rest = FIRST_REST_NS;
        apart->until = pm_now() + apart->rest;
        apart->reason = *reason;
    } else if (apart->upload_count + apart->game_count > 0 && find(apart, profile)) {
        drop(apart->uploads, &apart->upload_count, find_upload(apart, profile));
        drop(apart->games, &apart->game_count,
             find_game(apart->games, apart->game_count, hash_of(profile->game)));
        apart->until = apart->rest = 0;
    }
}

bool pm_apart_knows(struct pm_apart *apart, const struct pm_profile *profile)
{
    return apart->upload_count > 0 && find(apart, profile);
}

bool pm_apart_is_due(const struct pm_apart *apart)
{
    return pm_now() >= apart->until;
}
