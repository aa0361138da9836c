/*
 * A shader record's batches (shader_record.h), each of which is instrumented when it is asked for.
 *
 * Thread safety: as the record's.
 */
#pragma once

#include "layer/shader/shader_record.h"

struct pm_kept_modules; /* kept_modules.h */

/* `count` batches of which nothing is instrumented yet; what will be lies in kept, which outlives
 * them. NULL: out of memory. */
struct pm_record_batches *pm_record_batches_create(struct pm_kept_modules *kept, uint32_t count);
/* NULL is allowed. */
void pm_record_batches_destroy(struct pm_record_batches *batches);
