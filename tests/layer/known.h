/*
 * For tests of what the layer does with shaders that the PGO database knows well, so that they lack
 * no samples.
 */
#pragma once

#include "tests/layer/layered.h"

#include "profile/profile.h"

struct known_shader {
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t space; /* points */
};

/* The shaders that the test's spool has calls of, each once of each kind, in no order; the spool is
 * empty then. Returns how many there are, `most` at most. */
size_t known_take(struct known_shader *shaders, size_t most);

/* From the next session on the game's database is of these, sorted here, and nothing of them lacks
 * samples. */
void known_place(const char *game, struct known_shader *shaders, size_t count);
