/*
 * What the layer knows of one distinct shader in this session: its canonical module and key, its
 * points of each kind, the split of these into batches of one kind each, and the instrumented
 * module of each batch. That is made once however many pipelines use the shader, unless so much was
 * made since that its words are no longer kept (kept_modules.h). Two records differ in their key or
 * environment.
 *
 * Ownership: records belong to their table and live until it is destroyed; what points into them
 * stays valid until then. Only shaders that are sampled or specialized get one. Thread safety: any
 * thread, at any time. Getting a record and instrumenting take as long as a compiler does: compile
 * threads only.
 */
#pragma once

#include "layer/core/layer.h"
#include "layer/shader/constant_values.h"
#include "layer/shader/owed.h"
#include "layer/shader/record_points.h"
#include "layer/shader/shader_words.h"
#include "layer/shader/went_by.h"
#include "sampler/sampler.h"

struct pm_shader_records;
struct pm_shader_store; /* profile/shader_store.h */

/* What a session has of a batch, by whatever pipeline. */
struct pm_batch_use {
    _Atomic uint32_t variants; /* in their pipelines' tables, or being made */
    _Atomic uint32_t calls;    /* that were sampled */
    _Atomic uint64_t read;     /* calls whose counts were read */
};

struct pm_shader_record {
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_stage stage;
    char *entry_point; /* of the canonical module */
    struct pm_words canonical;
    struct pm_record_points points[PM_RECORD_KINDS];
    struct pm_shader_sampler *sampler; /* its spaces are `points`; NULL: there are none */
    uint32_t batch_count;              /* of all kinds */
    struct pm_record_batches *batches; /* the record's own */
    struct pm_batch_use *use;          /* by batch */
    struct pm_batch_use whole;         /* of all batches */
    uint32_t in_table;                 /* variants that are made, and not retired; under the
                                          budget's lock (variant_table.h) */
    struct pm_constant_values *values; /* of words; NULL: that kind is not measured */
    _Atomic uint64_t made_words;       /* in its variants' modules, of all there were */
    _Atomic uint32_t made;             /* variants, of all there were */
    struct pm_gone_calls gone;         /* chosen calls that found none */
    _Atomic bool ran_out;              /* of limits.synchronous_words */
    _Atomic bool pipeline_kept;        /* pipeline_keep.h */
    _Atomic bool told;                 /* something of it was sampled, or a recording holds a call
                                          of it twice (frame/predicated.h), or did */
    _Atomic uint32_t untold;           /* times that a recording with such a call went outside
                                          windows, and nothing of it was sampled */
    bool lacks;                        /* the database does not know it, or lacks points of it */
    struct pm_shader_record *next;
    _Alignas(PM_CACHE_LINE) struct pm_owed owed; /* to all pipelines that share its points */
};

/* A driver may take seconds for each of its variants. */
static inline bool pm_shader_record_is_large(const struct pm_shader_record *record)
{
    return record->canonical.count > 16384;
}

/* NULL: out of memory. */
struct pm_shader_records *pm_shader_records_create(struct pm_device *device);
void pm_shader_records_destroy(struct pm_shader_records *records);

/* Where shaders are kept; NULL: nowhere. */
struct pm_shader_store *pm_shader_records_store(const struct pm_shader_records *records);

/* A shader's key, found out at the cost of canonicalizing it unless that was done before on this
 * machine; no record is made or kept. false: it can have none; *first as below. */
bool pm_shader_records_key(struct pm_shader_records *records,
                           const struct pm_shader_request *request, struct pm_shader_key *key,
                           bool *first, struct pm_error *error);

/* The same at no such cost: false where it is not known yet, or somebody is about to find out and
 * the request does not wait. Reads a small file at most. */
bool pm_shader_records_known(struct pm_shader_records *records,
                             const struct pm_shader_request *request, struct pm_shader_key *key);

/* Whether the driver may have variants of a shader whose key is known, though it was not
 * canonicalized in this session: another one with casts may have the same key (hiding_casts.h).
 * Most drivers may, at no cost; of the others false also where somebody is about to find out
 * and the request does not wait. Reads the words at most. */
bool pm_shader_records_allow(struct pm_shader_records *records,
                             const struct pm_shader_request *request);

/* The record of a shader, canonicalized now or taken from this session or the shader store. NULL:
 * it can have none, which is remembered; *first says whether this is the first time it was found
 * out, so that it is logged once. */
struct pm_shader_record *pm_shader_records_get(struct pm_shader_records *records,
                                               const struct pm_shader_request *request, bool *first,
                                               struct pm_error *error);

/* Calls visit for every record. */
void pm_shader_records_each(struct pm_shader_records *records,
                            void (*visit)(void *user, struct pm_shader_record *record), void *user);

/* The points of a batch's kind. */
const struct pm_record_points *pm_shader_record_points(const struct pm_shader_record *record,
                                                       uint32_t batch);

/* The instrumented module of a batch; owned by the record, but for its words, which the caller has
 * to free. may_force_early_tests: shader_rewrite.h. NULL: it cannot be instrumented; *first as
 * above. */
const struct pm_instrumented *
pm_shader_record_instrument(const struct pm_device *device, struct pm_shader_record *record,
                            uint32_t batch, bool may_force_early_tests, bool *first,
                            struct pm_words *words, struct pm_error *error);

/* What a session has of a record. */
struct pm_record_sum {
    uint32_t points, read; /* of all kinds; those of batches of which counts were read */
    uint64_t calls;        /* whose counts were read */
};
void pm_shader_record_sum(const struct pm_shader_record *record, struct pm_record_sum *sum);

/* How many copies of its counters an instrumented shader spreads its updates over; units: 64-bit
 * ones of a copy. */
uint32_t pm_shader_record_slots(const struct pm_device *device, uint32_t units);
