/* Uploads by tokens, and what comes of them: what the tests of whom is believed share. The clock is
 * the test's. */
#pragma once

#include "tests/aggregator/place.h"

#define MORNING (20000 * DAY + 1000)

extern char *trust_epoch_file; /* the file where the epoch's key survives */

int trust_set_up(void **state);
int trust_tear_down(void **state);
/* Takes so many uploads of a token and day, and publishes what so many tokens sent. */
void trust_open(struct place *place, uint32_t clusters, uint32_t min_tokens);
struct pm_ingest_source trust_token(unsigned number);

/* One upload of a game by a token (0: none), of one shader with this space and share of lanes. */
struct pm_ingest_outcome trust_send(struct place *place, const char *game, unsigned from,
                                    uint64_t shader_number, uint32_t space, uint64_t lanes);

/* What is known of the shader's first point; *space: 0 when it is not there. */
struct pm_ratio trust_known(struct place *place, const char *game, uint64_t shader_number,
                            uint32_t *space);
/* How many clusters of it count. */
uint32_t trust_clusters(struct place *place, const char *game, uint64_t shader_number);

/* The number of shaders in the published database, and how many of them are published. */
size_t trust_published(struct place *place, const char *game, size_t *in_all);
