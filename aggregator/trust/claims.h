/*
 * What of a shader may be published: how many distinct tokens sent it. A claim is a number of
 * points with the marks (sources.h) of the tokens that sent it in the running epoch, and the
 * largest number of them that one epoch of the retention had; marks are counted up to min_tokens,
 * and only their number is kept when their epoch has ended. Marks are a set, to which several
 * processes may add at a time. What the shader is, is decided elsewhere (votes.h).
 *
 * Claims have scopes. A published estimate is one of an environment, and of the database of all
 * scenes or of one, and of profiles without flags or not; each upload claims for these, and what is
 * published has min_tokens of its own. Else a GPU, a driver or a scene's name that only one player
 * has would show what this player sent. Which shader a timed one was specialized from is a claim of
 * its own, too. And whoever names a scene claims that the game has it: what fewer name is kept as
 * of no scene, so that invented names take no true one's place.
 *
 * Thread safety: one thread at a time (the world's write mutex).
 */
#pragma once

#include "aggregator/storage/world.h"
#include "aggregator/trust/claims_subject.h"
#include "aggregator/trust/sources.h"

/* Claims of one shader and scope that are kept. A token makes one an epoch, so it takes as many
 * lying tokens to keep a true one out; those of earlier epochs that do not stand make room. */
#define PM_CLAIMS_OF_SHADER 8

/* What claims are judged by, and what need not be asked of the storage again, in this epoch. */
struct pm_claims;

/* min_tokens: distinct tokens that a claim needs; 0 and 1: none. world and sources stay the
 * caller's and live longer. NULL: out of memory. */
struct pm_claims *pm_claims_create(struct pm_world *world, struct pm_sources *sources,
                                   uint32_t min_tokens);
void pm_claims_destroy(struct pm_claims *claims);
/* Forgets what it knows: after another writer of the storage, or an epoch, may have changed it. */
void pm_claims_forget(struct pm_claims *claims);
/* Makes the day the running epoch, if it is not yet: for claims and sources. false: as
 * pm_sources_begin. */
bool pm_claims_begin_epoch(struct pm_claims *claims, uint32_t day, struct pm_error *error);

/* ---- a group of uploads ----
 *
 * Before its claims are noted, those that may be are expected, so that the storage is asked once.
 */

/* Are claims of the source for the shader and scene already counted as often as they can be? Else
 * they are expected. *full: nothing would be noted. */
bool pm_claims_expect(struct pm_claims *claims, const char *game, const char *scene,
                      const struct pm_shader_profile *shader, bool *full, struct pm_error *error);
bool pm_claims_expect_original(struct pm_claims *claims, const char *game,
                               const struct pm_shader_profile *shader, struct pm_error *error);
/* scene "": that there is the game. */
bool pm_claims_expect_scene(struct pm_claims *claims, const char *game, const char *scene,
                            struct pm_error *error);
/* Asks the storage what is known of all that is expected. */
bool pm_claims_look(struct pm_claims *claims, struct pm_error *error);
/* The marks that were noted since; valid until the end. */
const struct pm_storage_claim *pm_claims_marks(const struct pm_claims *claims, size_t *count);
/* Forgets what the storage said: after each group, whatever became of it. */
void pm_claims_end(struct pm_claims *claims);

/* Notes that the source sent a profile of the shader and scene in the epoch `today`. */
bool pm_claims_note(struct pm_claims *claims, const char *game, const char *scene,
                    const struct pm_shader_profile *shader, const struct pm_ingest_source *source,
                    uint32_t today, struct pm_error *error);

/* Notes that the source sent a timing profile, of a shader that it says was specialized from
 * shader->original. *stands: min_tokens distinct tokens have said so, in one epoch of the
 * retention; *day: the last such epoch. source NULL: nobody vouches, so it stands only where no
 * token has to. */
bool pm_claims_note_original(struct pm_claims *claims, const char *game,
                             const struct pm_shader_profile *shader,
                             const struct pm_ingest_source *source, uint32_t today, bool *stands,
                             uint32_t *day, struct pm_error *error);

/* Which of the games too few tokens vouch for: false at their index. In a transaction. */
bool pm_claims_are_vouched(struct pm_claims *claims, const char *const *games, size_t count,
                           bool *vouched, struct pm_error *error);

/* Notes that the source named a scene ("": the game itself) of the game in the epoch `today`.
 * *stands: min_tokens distinct tokens have, in one epoch of the retention. source NULL: as for an
 * original. */
bool pm_claims_note_scene(struct pm_claims *claims, const char *game, const char *scene,
                          const struct pm_ingest_source *source, uint32_t today, bool *stands,
                          struct pm_error *error);

/* Something else that is said of a game, such as that it has so many shaders of a kind. What is
 * said often enough is read from the storage (read_claims): of no key and kind 0, in this scope.
 * Also where no token has to vouch it is put down. */
struct pm_claims_thing {
    const char *name; /* not "" */
    uint32_t number;  /* not 0 */
};
void pm_claims_thing_scope(const struct pm_claims_thing *thing,
                           uint8_t scope[static PM_SCOPE_BYTES]);
bool pm_claims_expect_thing(struct pm_claims *claims, const char *game,
                            const struct pm_claims_thing *thing, struct pm_error *error);
/* source NULL: as for an original. */
bool pm_claims_note_thing(struct pm_claims *claims, const char *game,
                          const struct pm_claims_thing *thing,
                          const struct pm_ingest_source *source, uint32_t today,
                          struct pm_error *error);
