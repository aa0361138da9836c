/*
 * What a session came to, in one sentence: what was sampled and used, or what stood in the way.
 *
 * Thread safety: no state but the files'.
 */
#pragma once

#include "profile/session_status.h"

/* The fullest sentence has room. */
enum { PM_SENTENCE_TEXT = 1024 };

/* Of one session on one device. left_alone: shaders that the layer could make nothing of. next:
 * what the reader does next; NULL: nothing is said of it. */
void pm_sentence(const struct pm_session_status *status, size_t left_alone, const char *next,
                 char text[static PM_SENTENCE_TEXT]);

/* How many shaders of the game were left alone (profile/left_alone.h), of those that were noted at
 * `since` (pm_wall_seconds) or later; 0 where that is not known. */
size_t pm_sentence_left_alone(const char *game, double since);

/* Nothing was sampled, since copies of shaders were not there in time, as on a machine that is
 * busy, or when a program records once what it draws; of the latter it may be chance, too. */
bool pm_sentence_is_late(const struct pm_session_status *status);

/* When nothing was sampled: maybe since nothing was chosen of what the program submits again. */
bool pm_sentence_is_chance(const struct pm_session_status *status);

/* A few words, for a line of an overlay. */
void pm_sentence_short(const struct pm_session_status *status, char text[static PM_SENTENCE_TEXT]);

/* The device of the game's sessions, of those that began at `since` (pm_wall_seconds) or later,
 * that had most to do, or where several had as much the latest. game NULL: of any. since: where it
 * is not 0 and this process's run has a name, those of other runs are left out. false: there is
 * none. */
bool pm_sentence_of(const char *game, double since, struct pm_session_status *status);
