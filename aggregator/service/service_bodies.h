/*
 * Bodies of PGO databases, kept for those who pull them: PM_BODIES at most, and beside the one used
 * last no more than fit in PM_BODIES_BYTES, those used last. One that is being sent lives until it
 * was.
 *
 * Thread safety: the caller holds `mutex` from find to keep, so that a body that many ask for is
 * read once.
 */
#pragma once

#include "aggregator/storage/storage.h"
#include <microhttpd.h>
#include <pthread.h>

#define PM_BODIES 64
#define PM_BODIES_BYTES ((size_t)128 << 20)

struct pm_body {
    char *name;
    char etag[PM_ETAG_TEXT];
    struct MHD_Response *response;
    size_t bytes;
    uint64_t used; /* when, in uses; 0: there is none */
};

struct pm_bodies {
    pthread_mutex_t mutex;
    struct pm_body bodies[PM_BODIES];
    size_t bytes; /* of all */
    uint64_t uses;
};

void pm_bodies_init(struct pm_bodies *bodies);
void pm_bodies_finish(struct pm_bodies *bodies);

/* The body of that name and ETag, which stays theirs; NULL when they have none. */
struct MHD_Response *pm_bodies_find(struct pm_bodies *bodies, const char *name, const char *etag);

/* Takes over the response, of so many bytes; one of the same name makes way. It stays at least
 * until the next is kept. false: out of memory, and the response is still the caller's. */
bool pm_bodies_keep(struct pm_bodies *bodies, const char *name, const char *etag,
                    struct MHD_Response *response, size_t bytes);
