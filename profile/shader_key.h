/*
 * The shader key: a 192-bit tag of a shader, the same on every machine (DESIGN, Contracts; the paper's section
 * 7.3 has the same width). BLAKE2b-192 over the key version, the canonicalization recipe and SPIRV-Tools version,
 * and the words of the canonical module, little-endian.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_SHADER_KEY_BYTES 24
#define PM_SHADER_KEY_VERSION 1u
#define PM_SHADER_KEY_TEXT 49 /* 48 hexadecimal digits and a terminator */

struct pm_shader_key {
    uint8_t bytes[PM_SHADER_KEY_BYTES];
};

/* recipe: what pm_canonicalize_recipe() names; words: the canonical module, count 32-bit words, host order. */
struct pm_shader_key pm_shader_key_compute(const char *recipe, const uint32_t *words, size_t count);

bool pm_shader_key_equal(const struct pm_shader_key *a, const struct pm_shader_key *b);
/* All zeros, which stands for no key where one may be missing. */
bool pm_shader_key_is_none(const struct pm_shader_key *key);
void pm_shader_key_format(const struct pm_shader_key *key, char text[static PM_SHADER_KEY_TEXT]);
bool pm_shader_key_parse(const char *text, struct pm_shader_key *key);

/* What the local cache maps to a key: raw words, stage, entry point, and the specialization values the module
 * uses, sorted by SpecId with defaults applied. A digest of them, BLAKE2b-192 too. values: count pairs. */
struct pm_spec_value {
    uint32_t spec_id;
    uint32_t size; /* bytes: 4 or 8 (a bool is 4, 8 and 16-bit values are widened to 4) */
    uint64_t bits;
};
struct pm_shader_key pm_raw_digest_compute(const uint32_t *words, size_t word_count, uint32_t stage,
                                           const char *entry_point, const struct pm_spec_value *values,
                                           size_t value_count);
