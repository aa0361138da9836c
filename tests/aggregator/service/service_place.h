/* A place that is served over HTTP by a service in the test's own process. */
#pragma once

#include "tests/aggregator/place.h"
#include "tests/aggregator/service/http.h"
#include <pthread.h>

/* Opens the aggregator unless it is open, and serves it on any free port; place_stop closes both.
 */
void place_serve(struct place *place);
void place_stop(struct place *place);

/* What cmocka calls after a test, in place_destroy's place. */
int service_place_destroy(void **state);

/* A profile of one shader with one point. */
struct pm_profile *small_profile(struct place *place, uint64_t shader);

/* Sends it to the place; without a path, as an upload. */
struct reply place_send(const struct place *place, struct request request);

/* The status of its /healthz. */
long place_health(const struct place *place);

/* place_send, and the reply must be a failure whose words have `what` among them. Finishes it. */
void assert_error(struct reply reply, long status, const char *what);

/* The database of a game, its name as in a path, once the background curation has published one.
 * condition: of If-None-Match; NULL: none. */
struct reply place_database(const struct place *place, const char *game, const char *condition);

/* The same once it is no longer the one of this ETag. */
struct reply place_next_database(const struct place *place, const char *game, const char *etag);

/* The uploads that the first point of the first shader of "game" is known from. */
uint32_t sessions_of_first(struct place *place);

void write_file(const char *path, const char *text);

/* Clients that upload side by side, each some profiles, and count what they were answered. */
#define UPLOADER_PROFILES 20
struct uploader {
    struct place *place;
    pthread_t thread;
    const struct pm_profile *profiles[UPLOADER_PROFILES];
    unsigned stored, refused, other; /* refused: 429 or 503 */
};
void uploaders_start(struct place *place, struct uploader *uploaders, size_t count);
/* Waits for them; how many uploads were stored. */
unsigned uploaders_join(struct uploader *uploaders, size_t count);
