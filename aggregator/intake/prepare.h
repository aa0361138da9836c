/*
 * Taking a profile in, as far as it can be done without the storage: it is checked, and becomes the
 * samples that are put down.
 *
 * Thread safety: any number of threads at a time; what was prepared belongs to one of them.
 */
#pragma once

#include "aggregator/intake/samples.h"
#include "aggregator/trust/quarantine.h"

/* A profile as it is put down. */
struct pm_prepared {
    const struct pm_profile *profile; /* the caller's */
    struct pm_buffer samples;         /* of one part behind those of the part before */
    size_t ends[PM_SAMPLE_PARTS];     /* where in it */
};

/* As pm_aggregator_prepare. quarantine: takes what cannot be. */
struct pm_prepared *pm_ingest_prepare(struct pm_quarantine *quarantine,
                                      const struct pm_profile *profile, struct pm_error *error);
/* NULL is allowed. */
void pm_prepared_destroy(struct pm_prepared *prepared);
/* Bytes of memory. */
size_t pm_prepared_bytes(const struct pm_prepared *prepared);
