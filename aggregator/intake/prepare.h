/*
 * Taking a profile in, as far as it can be done without the storage: it is checked, and becomes the
 * samples that are put down.
 *
 * Thread safety: any number of threads at a time; what was prepared belongs to one of them.
 */
#pragma once

#include "aggregator/intake/samples.h"
#include "aggregator/trust/quarantine.h"

/* A profile as it is put down: without shaders of which no point was measured, which say nothing
 * and would cost as much as others. */
struct pm_prepared {
    const struct pm_profile *profile;  /* the caller's, or `measured` */
    struct pm_profile measured;        /* the same with fewer shaders */
    struct pm_shader_profile *shaders; /* of that; NULL: none is left out */
    struct pm_buffer samples;          /* of one part behind those of the part before */
    size_t ends[PM_SAMPLE_PARTS];      /* where in it */
};

/* As pm_aggregator_prepare. quarantine: takes what cannot be. */
struct pm_prepared *pm_ingest_prepare(struct pm_quarantine *quarantine,
                                      const struct pm_profile *profile, struct pm_error *error);
/* NULL is allowed. */
void pm_prepared_destroy(struct pm_prepared *prepared);
/* Bytes of memory. */
size_t pm_prepared_bytes(const struct pm_prepared *prepared);
/* Claims (claims.h) that it makes at most, of each shader and scope. */
size_t pm_prepared_claims(const struct pm_prepared *prepared);
