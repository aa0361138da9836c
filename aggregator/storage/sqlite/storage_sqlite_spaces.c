/*
 * Numbers of points, remembered: a table of fixed size in which a new entry takes the place of an
 * old one. An entry is known by a digest of 128 bits of game, key and kind, seeded at random, so
 * that nobody can make two of them meet.
 */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "base/random.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SETS = 1 << 18, WAYS = 4 };

struct pm_sqlite_space {
    uint64_t digest[2];
    uint32_t space; /* 0: nothing here */
};

void pm_sqlite_spaces_forget(struct pm_sqlite *sqlite)
{
    free(sqlite->spaces);
    sqlite->spaces = NULL;
}

static XXH128_hash_t digest(const struct pm_sqlite *sqlite, const char *game,
                            const struct pm_shader_key *key, enum pm_kind kind)
{
    struct {
        uint8_t key[PM_SHADER_KEY_BYTES];
        uint64_t kind;
        XXH128_hash_t game;
    } name = {.kind = (uint64_t)kind};
    memcpy(name.key, key->bytes, sizeof(name.key));
    name.game = XXH3_128bits_withSeed(game, strlen(game), sqlite->spaces_seed);
    return XXH3_128bits_withSeed(&name, sizeof(name), sqlite->spaces_seed);
}

uint32_t pm_sqlite_spaces_find(const struct pm_sqlite *sqlite, const char *game,
                               const struct pm_shader_key *key, enum pm_kind kind)
{
    if (!sqlite->spaces)
        return 0;
    const XXH128_hash_t wanted = digest(sqlite, game, key, kind);
    const struct pm_sqlite_space *set = &sqlite->spaces[wanted.low64 % SETS * WAYS];
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].digest[0] == wanted.low64 && set[i].digest[1] == wanted.high64)
            return set[i].space;
    }
    return 0;
}

void pm_sqlite_spaces_remember(struct pm_sqlite *sqlite, const char *game,
                               const struct pm_shader_key *key, enum pm_kind kind, uint32_t space)
{
    /* Of pages that are never written the system gives no memory: a small storage has a small
     * table. */
    if (!sqlite->spaces &&
        (!pm_random_system(&sqlite->spaces_seed, sizeof(sqlite->spaces_seed)) ||
         !(sqlite->spaces = calloc((size_t)SETS * WAYS, sizeof(*sqlite->spaces)))))
        return;
    const XXH128_hash_t name = digest(sqlite, game, key, kind);
    struct pm_sqlite_space *set = &sqlite->spaces[name.low64 % SETS * WAYS];
    unsigned at = (unsigned)(name.high64 % WAYS); /* any, unless one is free or is this one */
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].space == 0 ||
            (set[i].digest[0] == name.low64 && set[i].digest[1] == name.high64)) {
            at = i;
            break;
        }
    }
    set[at] = (struct pm_sqlite_space){{name.low64, name.high64}, space};
}
