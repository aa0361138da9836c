/*
 * Publishing what curation found of a game and of its scenes.
 *
 * Thread safety: as curate.h.
 */
#pragma once

#include "aggregator/curation/curate.h"

/* What curation tells of the game as a whole. */
struct pm_curate_result {
    uint64_t curated_at; /* seconds since the epoch */
    uint64_t uploads, points, points_covered;
    struct pm_left_alone_count left_alone[PM_LEFT_ALONE_WHYS]; /* left_alone_claims.h */
};

/* Curates the game and publishes it, as pm_aggregator_curate. The observer (NULL: none) and *result
 * (NULL: nobody asks) are told of the game as a whole, not of its scenes. */
bool pm_curate_publish(struct pm_curator *curator, const char *game, pm_curate_observe observe,
                       void *user, struct pm_curate_result *result, struct pm_error *error);

/* Publishes a body of the game under a name (of a scene, or that no scene can have) in the place of
 * the one before. */
bool pm_publish_body(struct pm_curator *curator, const char *game, const char *name,
                     const char *etag, const struct pm_buffer *body, struct pm_error *error);

/* What is published of the game could not be read (*why). May something be published without
 * knowing it? There is nothing, or it will never be read again, which the log then says. false,
 * with *error filled: it may be read the next time, and who was told what by it counts. */
bool pm_publish_anew(struct pm_world *world, const char *game, const struct pm_error *why,
                     struct pm_error *error);

/* As pm_curate_publish where something was forgotten: it is not published any longer, however short
 * the time since the last publication. */
bool pm_curate_publish_at_once(struct pm_curator *curator, const char *game,
                               struct pm_error *error);
