/*
 * The limits of a pass (shader_rewrite/partition/schedule/limits.h): a preset by its name, a
 * number of ALU operations, or a file of JSON, {"alu": 64, "outputs": 4, …}. What a file does not
 * name has no limit.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/partition/schedule/limits.h"

/* PM_ERROR_INPUT names the place. */
bool pm_limits_read(const char *name, struct pm_pass_limits *limits, struct pm_error *error);
