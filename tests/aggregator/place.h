/*
 * Where a test of the aggregator happens: a folder with a storage, an aggregator on it that is
 * opened as the test says, and memory and random numbers for profiles. Every test has one of its
 * own; what fails in here fails the test.
 */
#pragma once

#include "aggregator/service/service.h"
#include "tests/aggregator/support.h"

struct place {
    char *folder, *path; /* path: of the storage */
    int64_t now;         /* what the aggregator's clock says; 0 at opening: the system's */
    struct pm_aggregator_info keeping; /* how it is opened; the clock is set then */
    struct pm_aggregator *aggregator;
    struct pm_arena *arena;
    struct pm_random random;
    /* Only where it is served (service_place.h). */
    struct pm_service_info serving;
    struct pm_service *service;
    uint16_t port;
};

/* Everything but the aggregator, which publishes all unless told otherwise. */
struct place *place_create(uint64_t seed);

/* Opens the aggregator, the open one closed first. */
void place_open(struct place *place);
void place_reopen(struct place *place, bool publish_all);
void place_close(struct place *place);

/* What cmocka calls after a test; closes, and deletes the folder. */
int place_destroy(void **state);

/* A profile of this one shader for "game", with a random upload id. */
struct pm_profile *place_profile(struct place *place, const struct pm_shader_profile *shader);

/* The outcome of an upload; the second is for one that must be stored. */
struct pm_ingest_outcome place_ingest(struct place *place, const struct pm_profile *profile);
void place_store(struct place *place, const struct pm_profile *profile);

/* What is known of "game", and what is published of it after a curation; memory is the arena's. */
struct pm_database place_estimates(struct place *place);
struct pm_database place_published(struct place *place, const char *game,
                                   char etag[static PM_ETAG_TEXT]);

/* Is the point in the published deficit of its shader? */
bool lacks(const struct pm_shader_estimates *shader, uint32_t point);

/* The profile is refused with these words, and a good one beside it is stored. */
void place_refuses(struct place *place, const struct pm_profile *profile, const char *words);

/* Rows of samples that wait to be folded, of all games. */
uint64_t place_rows_that_wait(struct place *place);
