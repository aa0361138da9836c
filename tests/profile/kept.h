/* For tests of what is kept of trials (profile/verdicts.h), in the folder of journals.h: sessions
 * that keep something of a variant, which is named by a letter. */
#pragma once

#include "profile/verdicts.h"

#define KEPT_GAME "A Game"
#define KEPT_LAYER "1.2.3"
enum { KEPT_NOW = 1700000000, KEPT_DAY = 24 * 60 * 60 };

extern const struct pm_environment kept_gpu;

/* A session of the game. *damaged as of pm_verdicts_open. */
struct pm_verdicts *kept_open(struct pm_error *damaged);

/* What may be kept of it: a verdict of KEPT_NOW on passes, with an interval of a tenth. Its
 * original is named by the next letter. */
struct pm_kept_variant kept_variant(uint8_t name, enum pm_verdict verdict, double ratio);

/* Puts and saves it, or a trial of it. */
void kept_put(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);
void kept_put_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);

/* pm_verdicts_find and pm_verdicts_add_half of the variant that is named there. */
bool kept_find(struct pm_verdicts *verdicts, const struct pm_kept_variant *named,
               const struct pm_environment *environment, struct pm_kept_variant *found);
bool kept_add_half(struct pm_verdicts *verdicts, const struct pm_kept_variant *named,
                   const struct pm_session_half *half, struct pm_kept_variant *found);

/* A session that tries variant 'a' and finds this; what is kept after it. */
struct pm_kept_variant kept_try(enum pm_verdict verdict, double ratio);

/* The next session finds just that. */
void kept_assert(const struct pm_kept_variant *expected);
