/*
 * A shader record's batches (shader_record.h), each of which is instrumented when it is asked for.
 *
 * Thread safety: as the record's.
 */
#pragma once

#include "layer/shader/shader_record.h"

/* `count` batches of which nothing is instrumented yet. NULL: out of memory. */
struct pm_record_batch *pm_record_batches_create(uint32_t count);
/* NULL is allowed. */
void pm_record_batches_destroy(struct pm_record_batch *batches, uint32_t count);
