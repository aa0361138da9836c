/*
 * What the parts of the shader records share (shader_record.h): the table (shader_record.c), how a
 * shader becomes canonical (shader_record_words.c), what is made of it then (shader_record_make.c),
 * and the instrumented modules (shader_record_instrument.c).
 *
 * Thread safety: as it says there.
 */
#pragma once

#include "layer/shader/shader_record.h"
#include "layer/shader/spec_values.h"
#include "profile/shader_store.h"

struct pm_raw_shader; /* shader_record.c */

enum { PM_RAW_CHAINS = 256 };

struct pm_shader_records {
    struct pm_device *device;
    struct pm_shader_store *store; /* NULL: none, and every shader is canonicalized anew */
    pthread_mutex_t lock;          /* the two lists; taken inside a raw's lock, not around it */
    /* Searched on compile threads only. Of records there are as many as limits.variants at most. */
    struct pm_raw_shader *raws[PM_RAW_CHAINS]; /* by the digest's first byte */
    struct pm_shader_record *records;
};

/* A request with what it takes to look it up. */
struct pm_asked_shader {
    const struct pm_shader_request *request;
    struct pm_words words;     /* of its module */
    struct pm_spec_values set; /* by its stage */
};

/* The canonical module of a shader: of an earlier session, or made now and kept. */
bool pm_shader_records_canonicalize(struct pm_shader_records *records,
                                    const struct pm_shader_key *digest,
                                    const struct pm_asked_shader *asked, struct pm_words *canonical,
                                    struct pm_error *error);
/* On the drivers that need no hiding casts to compute the same bits, and where there are none. */
bool pm_shader_may_do_without_casts(const struct pm_device *device, const struct pm_words *original,
                                    struct pm_error *error);

/* A record of a canonical module, which is consumed; in no list yet. NULL: *error says why. */
struct pm_shader_record *pm_shader_record_make(struct pm_device *device,
                                               const struct pm_shader_key *key,
                                               const struct pm_shader_request *request,
                                               struct pm_words *canonical, struct pm_error *error);
void pm_shader_record_destroy(struct pm_shader_record *record);

/* `count` batches of which nothing is instrumented yet. NULL: out of memory. */
struct pm_record_batch *pm_record_batches_create(uint32_t count);
/* NULL is allowed. */
void pm_record_batches_destroy(struct pm_record_batch *batches, uint32_t count);
