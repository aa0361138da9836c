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

bool pm_room_make(struct pm_group *group, bool *made, struct pm_error *error)
{
    struct pm_storage *storage = group->world->storage;
    struct games games = {0};
    uint64_t blobs;
    *made = false;
    if (group->made_room)
        return true;
    bool done = storage->operations->list_games(storage, visit_game, &games, error);
    bool *vouched = calloc(games.count + 1, sizeof(*vouched));
    done = done && (vouched || pm_fail(error, PM_ERROR_MEMORY, "out of memory for games")) &&
           pm_claims_are_vouched(group->claims, (const char *const *)games.names, games.count,
                                 vouched, error);
    const size_t chosen = done ? choose(group, &games, vouched) : games.count;
    if (done && chosen < games.count) {
        done = storage->operations->drop(storage, games.names[chosen], NULL, &blobs, error);
        *made = group->made_room = done;
    }
    for (size_t i = 0; i < games.count; i++)
        free(games.names[i]);
    free(games.names);
    free(games.uploads);
    free(vouched);
    return done;
}
