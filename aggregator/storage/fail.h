/*
 * Errors that say which shader they are about, or that something was not read.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* Of what failed to be read: that it is not there, PM_ERROR_STATE, is not what *error (may be NULL)
 * says then. Returns false. */
bool pm_fail_unread(struct pm_error *error);

/* Puts "shader KEY: " before what *error says and returns false. */
bool pm_fail_shader(struct pm_error *error, const struct pm_shader_key *key);
/* The same with "shader KEY, day N: ", of a blob. */
bool pm_fail_blob(struct pm_error *error, const struct pm_storage_key *key);
