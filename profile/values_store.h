/*
 * The values that words of push constants and uniforms had on this machine, from session to
 * session: what the layer makes versions of shaders for (docs/specialized.md). They never leave the
 * machine.
 *
 * On the disk a text file a game, $PLACE_DATA/values/<safe name of game>: a first line with a
 * version and the recipe of the build that wrote it, then a line a word that was loaded. It is
 * replaced whole (rename); what another process wrote meanwhile of other shaders stays. It is
 * bounded: of shaders that do not fit those that were not seen for longest go. Lines that make no
 * sense are left out; any numbers are advice, since whoever uses a value compares it first.
 *
 * Thread safety: any thread may use a store at any time, but for closing it.
 */
#pragma once

#include "base/error.h"
#include "profile/word_values.h"

struct pm_values_store;

/* Reads what there is of the game. folder NULL: the default place. recipe:
 * pm_canonicalize_recipe(); what another one has written is forgotten. NULL: out of memory. */
struct pm_values_store *pm_values_store_open(const char *folder, const char *game,
                                             const char *recipe);
/* NULL is allowed. Writes nothing. */
void pm_values_store_close(struct pm_values_store *store);

/* Whether there was anything when it was opened. */
bool pm_values_store_has_any(const struct pm_values_store *store);

/* Whether anything was kept of a shader. */
bool pm_values_store_knows(const struct pm_values_store *store, const struct pm_shader_key *key);

/* The words of a shader with so many points, as the sessions before left them: `space` of them,
 * valid as long as the store. NULL: nothing is known. */
const struct pm_word_values *pm_values_store_find(const struct pm_values_store *store,
                                                  const struct pm_shader_key *key, uint32_t space);

/* What this session has seen of a shader, since it began: what will be written is that on top of
 * what was found. false: out of memory, or too many shaders. */
bool pm_values_store_put(struct pm_values_store *store, const struct pm_shader_key *key,
                         uint32_t space, const struct pm_word_values *words);

/* Brings it to the disk, where something was put since the last time. */
bool pm_values_store_save(struct pm_values_store *store, struct pm_error *error);
