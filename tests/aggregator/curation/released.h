/* For tests of what is published, and when: a place where several tokens have to vouch, a clock
 * that is the test's, and what may be pulled. */
#pragma once

#include "tests/aggregator/place.h"

#define RELEASE_MORNING (20000 * DAY + HOUR)
#define RELEASE_TOKENS 3 /* that are enough */

/* cmocka's; the state is the place, in which whatever is covered is known well enough. Ends with
 * place_destroy. */
int release_set_up(void **state);

/* One upload of shaders 1 and 2 by a token. Of the second, point 1 has not run: it stays in the
 * deficit. lanes: of 64. */
void release_send(struct place *place, uint8_t token, uint64_t lanes);
/* One of another shader. */
void release_send_shader(struct place *place, uint8_t token,
                         const struct pm_shader_profile *shader);

/* What may be pulled: the current database, the one before, and the same of the scene. */
struct release_view {
    struct pm_buffer bodies[4];
    char etags[4][PM_ETAG_TEXT];
};

/* After a curation. */
void release_look(struct place *place, struct release_view *view);
void release_view_finish(struct release_view *view);
bool release_is_same(const struct release_view *a, const struct release_view *b, int which);

/* A shader of the current database, until the next call; NULL: it has none. */
const struct pm_shader_estimates *
release_shader_of(struct place *place, const struct release_view *view, uint64_t number);
