/*
 * What `piecemeal db show` says to people: a shader a line, by its name, the hottest first, in
 * plain words.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/common/estimates.h"
#include <stdio.h>

/* store: the shader store's folder; NULL: the layer's. */
bool pm_db_people(const struct pm_estimates *estimates, const char *store, FILE *out,
                  struct pm_error *error);
