#include "aggregator/intake/room.h"

#include "base/random.h"
#include <stdlib.h>
#include <string.h>

struct games {
    char **names;
    uint64_t *uploads;
    size_t count;
};

static bool visit_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    struct games *games = user;
    char **names = reallocarray(games->names, games->count + 1, sizeof(*names));
    games->names = names ? names : games->names;
    uint64_t *counts = reallocarray(games->uploads, games->count + 1, sizeof(*counts));
    games->uploads = counts ? counts : games->uploads;
    char *name = strdup(game);
    if (!names || !counts || !name) {
        free(name);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu games", games->count);
    }
    games->names[games->count] = name;
    games->uploads[games->count++] = uploads;
    return true;
}

/* The one that goes; games->count: none may. */
static size_t choose(const struct pm_group *group, const struct games *games, const bool *vouched)
{
    size_t chosen = games->count, alike = 0;
    for (size_t i = 0; i < games->count; i++) {
        struct pm_group_game *here;
        HASH_FIND_STR(group->games, games->names[i], here);
        if (vouched[i] || here)
            continue;
        const bool fewer = chosen == games->count || games->uploads[i] < games->uploads[chosen];
        if (!fewer && games->uploads[i] > games->uploads[chosen])
            continue;
        alike = fewer ? 1 : alike + 1;
        /* Each of those that are alike with the same chance. */
        uint64_t number = 0;
        if (fewer || (pm_random_system(&number, sizeof(number)) && number % alike == 0))
            chosen = i;
    }
    return chosen;
}

static void games_finish(struct games *games)
{
    for (size_t i = 0; i < games->count; i++)
        free(games->names[i]);
    free(games->names);
    free(games->uploads);
}

/* All games, and which of them enough tokens vouch for; malloc'ed. */
static bool find_games(struct pm_storage *storage, struct pm_claims *claims, struct games *games,
                       bool **vouched, struct pm_error *error)
{
    *vouched = NULL;
    if (!storage->operations->list_games(storage, visit_game, games, error))
        return false;
    *vouched = calloc(games->count + 1, sizeof(**vouched));
    return (*vouched || pm_fail(error, PM_ERROR_MEMORY, "out of memory for games")) &&
           pm_claims_are_vouched(claims, (const char *const *)games->names, games->count, *vouched,
                                 error);
}

bool pm_room_make(struct pm_group *group, bool *made, struct pm_error *error)
{
    struct pm_storage *storage = group->world->storage;
    struct games games = {0};
    uint64_t blobs;
    *made = false;
    if (group->made_room)
        return true;
    bool *vouched;
    bool done = find_games(storage, group->claims, &games, &vouched, error);
    const size_t chosen = done ? choose(group, &games, vouched) : games.count;
    if (done && chosen < games.count) {
        done = storage->operations->drop(storage, games.names[chosen], NULL, &blobs, error);
        *made = group->made_room = done;
    }
    games_finish(&games);
    free(vouched);
    return done;
}

bool pm_room_count(struct pm_storage *storage, struct pm_claims *claims, uint64_t *unvouched,
                   struct pm_error *error)
{
    struct games games = {0};
    bool *vouched;
    const bool done = find_games(storage, claims, &games, &vouched, error);
    *unvouched = 0;
    for (size_t i = 0; done && i < games.count; i++)
        *unvouched += !vouched[i];
    games_finish(&games);
    free(vouched);
    return done;
}
