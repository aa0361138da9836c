/*
 * Errors that say which shader they are about.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* Puts "shader KEY: " before what *error says and returns false. */
bool pm_fail_shader(struct pm_error *error, const struct pm_shader_key *key);
/* The same with "shader KEY, day N: ", of a blob. */
bool pm_fail_blob(struct pm_error *error, const struct pm_storage_key *key);
