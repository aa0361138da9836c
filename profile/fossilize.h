/*
 * What the layer and the tools have to know of a Fossilize database's names.
 *
 * Thread safety: no state.
 */
#pragma once

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PM_FOSSILIZE_VERSION = 6,
    PM_FOSSILIZE_HASH_TEXT = 17, /* with the end */
};

/* Where a hash begins, and how it takes a word: Fossilize's own hasher, FNV-1 over whole words. */
#define PM_FOSSILIZE_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t pm_fossilize_hash(uint64_t hash, uint32_t word)
{
    return (hash * UINT64_C(0x100000001b3)) ^ word;
}

/* What its tools call a shader module: over the words and then the module's flags, of which there
 * are none. */
static inline uint64_t pm_fossilize_hash_module(const uint32_t *words, size_t count)
{
    uint64_t hash = PM_FOSSILIZE_HASH_BEGIN;
    for (size_t i = 0; i < count; i++)
        hash = pm_fossilize_hash(hash, words[i]);
    return pm_fossilize_hash(hash, 0);
}

/* Over a text's bytes: a name for an object that is described by the text. */
static inline uint64_t pm_fossilize_hash_text(const char *text)
{
    uint64_t hash = PM_FOSSILIZE_HASH_BEGIN;
    for (; *text; text++)
        hash = pm_fossilize_hash(hash, (unsigned char)*text);
    return hash;
}
