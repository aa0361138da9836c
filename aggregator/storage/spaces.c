#include "aggregator/storage/spaces.h"

#include "base/random.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SETS = 1 << 18, WAYS = 4 };

struct pm_space_entry {
    uint64_t digest[2];
    uint32_t space; /* 0: nothing here */
};

void pm_spaces_forget(struct pm_spaces *spaces)
{
    free(spaces->entries);
    spaces->entries = NULL;
}

static XXH128_hash_t digest(const struct pm_spaces *spaces, const char *game,
                            const struct pm_shader_key *key, enum pm_kind kind)
{
    struct {
        uint8_t key[PM_SHADER_KEY_BYTES];
        uint64_t kind;
        XXH128_hash_t game;
    } name = {.kind = (uint64_t)kind};
    memcpy(name.key, key->bytes, sizeof(name.key));
    name.game = XXH3_128bits_withSeed(game, strlen(game), spaces->seed);
    return XXH3_128bits_withSeed(&name, sizeof(name), spaces->seed);
}

uint32_t pm_spaces_find(const struct pm_spaces *spaces, const char *game,
                        const struct pm_shader_key *key, enum pm_kind kind)
{
    if (!spaces->entries)
        return 0;
    const XXH128_hash_t wanted = digest(spaces, game, key, kind);
    const struct pm_space_entry *set = &spaces->entries[wanted.low64 % SETS * WAYS];
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].digest[0] == wanted.low64 && set[i].digest[1] == wanted.high64)
            return set[i].space;
    }
    return 0;
}

void pm_spaces_remember(struct pm_spaces *spaces, const char *game, const struct pm_shader_key *key,
                        enum pm_kind kind, uint32_t space)
{
    /* Of pages that are never written the system gives no memory: a small storage has a small
     * table. */
    if (!spaces->entries &&
        (!pm_random_system(&spaces->seed, sizeof(spaces->seed)) ||
         !(spaces->entries = calloc((size_t)SETS * WAYS, sizeof(*spaces->entries)))))
        return;
    const XXH128_hash_t name = digest(spaces, game, key, kind);
    struct pm_space_entry *set = &spaces->entries[name.low64 % SETS * WAYS];
    unsigned at = (unsigned)(name.high64 % WAYS); /* any, unless one is free or is this one */
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].space == 0 ||
            (set[i].digest[0] == name.low64 && set[i].digest[1] == name.high64)) {
            at = i;
            break;
        }
    }
    set[at] = (struct pm_space_entry){{name.low64, name.high64}, space};
}
