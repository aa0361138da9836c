/*
 * What is made of a canonical module: a shader record (shader_record.h).
 *
 * Thread safety: any thread. As slow as a compiler: compile threads only.
 */
#pragma once

#include "layer/shader/shader_record.h"

struct pm_kept_modules; /* kept_modules.h */

/* A record of a canonical module, which is consumed; in no list yet. What is instrumented of it
 * lies in kept, which outlives it. NULL: *error says why. */
struct pm_shader_record *pm_shader_record_make(struct pm_device *device,
                                               struct pm_kept_modules *kept,
                                               const struct pm_shader_key *key,
                                               const struct pm_shader_request *request,
                                               struct pm_words *canonical, struct pm_error *error);
void pm_shader_record_destroy(struct pm_shader_record *record);
