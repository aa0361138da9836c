/*
 * Numbers of points that a storage remembers, so that an upload's shaders need not each be looked
 * up: a table of fixed size in which a new entry takes the place of an old one. An entry is known
 * by a digest of 128 bits of game, key and kind, seeded at random, so that nobody can make two of
 * them meet.
 *
 * Thread safety: one thread at a time.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* Begins as {0}, ends with pm_spaces_forget. */
struct pm_spaces {
    struct pm_space_entry *entries;
    uint64_t seed;
};

/* 0: it is not known here. */
uint32_t pm_spaces_find(const struct pm_spaces *spaces, const char *game,
                        const struct pm_shader_key *key, enum pm_kind kind);
void pm_spaces_remember(struct pm_spaces *spaces, const char *game, const struct pm_shader_key *key,
                        enum pm_kind kind, uint32_t space);
void pm_spaces_forget(struct pm_spaces *spaces);
