/*
 * What specialize_zero makes of a shader by the PGO database, once however many pipelines use it,
 * and whether it may be used: not without a published zero profile, not when the journal holds it
 * back (HAZARDS 22), not when an earlier session's trial on this machine found it no faster
 * (HAZARDS 21, profile/verdicts.h); and where there was none, not when a published timing profile
 * of this very module on this device says that it is slower.
 *
 * Ownership: a shader belongs to its table and lives until that is destroyed. Thread safety: any
 * thread, at any time. Getting one takes as long as a compiler does: compile threads only.
 */
#pragma once

#include "layer/shader/shader_record.h"
#include "profile/journal.h"
#include "shader_rewrite/shader_rewrite.h"

/* What is known of the specialized module's time over the original's when the session begins: by
 * this machine's own verdict, else by the database. */
enum pm_timing_verdict { PM_TIMING_UNDECIDED, PM_TIMING_FASTER, PM_TIMING_SLOWER };

struct pm_specialized_shader {
    const struct pm_shader_record *record; /* what it was made of */
    struct pm_shader_key key;              /* of the specialized module's words */
    struct pm_environment environment;     /* of its timing profiles */
    struct pm_specialized module;
    enum pm_timing_verdict timing; /* UNDECIDED or FASTER */
    struct pm_journal_entry *entry;
};

struct pm_specialized_shaders;

/* NULL: out of memory. The journal must outlive it. */
struct pm_specialized_shaders *pm_specialized_shaders_create(struct pm_device *device,
                                                             struct pm_journal *journal);
/* NULL is allowed. */
void pm_specialized_shaders_destroy(struct pm_specialized_shaders *shaders);

/* The specialized shader of a pipeline's stage; NULL: there is none to use, and why was logged. */
const struct pm_specialized_shader *
pm_specialized_shaders_get(struct pm_specialized_shaders *shaders,
                           const struct pm_shader_request *request);
