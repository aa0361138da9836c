/* What storages of earlier schemas were filled with, and are held against. */
#pragma once

#include "tests/aggregator/support.h"

#define OLD_GAME "Old \"game\""
enum { OLD_UPLOADS = 6, OLD_SPACE = 5 };
/* Ids of uploads are drawn by the number of the schema; those in a PostgreSQL by this one. */
enum { OLD_POSTGRES = 8 };

/* One shader's blocks, and another's zeros. Uploads differ, and each has all points. */
static inline struct pm_profile *old_upload(struct pm_arena *arena, struct pm_random *random,
                                            uint64_t upload)
{
    struct pm_point_counts blocks[OLD_SPACE], zeros[OLD_SPACE];
    struct pm_shader_profile shaders[2];
    for (uint32_t i = 0; i < OLD_SPACE; i++) {
        blocks[i] = block_counts(i, 1000, 1000 * i / OLD_SPACE + upload);
        zeros[i] = zero_counts(i, 1000, 100 + upload, 20 * i);
    }
    shaders[0] = block_shader(arena, 1, OLD_SPACE, blocks, OLD_SPACE);
    shaders[1] = zero_shader(arena, 2, OLD_SPACE, zeros, OLD_SPACE);
    return profile_of(arena, random, OLD_GAME, shaders, 2);
}
