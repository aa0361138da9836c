/*
 * What a session has of each shader and what went by (went_by.h), for the log.
 *
 * Thread safety: any thread, while the records live.
 */
#pragma once

#include "base/log.h"
#include "layer/shader/shader_record.h"

/* Says of each record what there is of it, and what went by: a line of the log each. unknown: of
 * the calls of all pipelines that went by before their shaders' points were known, how many; of
 * some shaders they may not be yet. */
void pm_records_say_gone(struct pm_shader_records *records, uint32_t unknown, struct pm_log *log);
