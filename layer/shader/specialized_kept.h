/*
 * What earlier sessions on this machine kept of specialized shaders (profile/verdicts.h): how long
 * they take, and how one is made again without canonicalizing and specializing anything. Its words
 * are in the store of words (profile/words_store.h), and are believed only when they have the key
 * that the verdict names.
 *
 * Thread safety: any thread, but for creating and destroying.
 */
#pragma once

#include "layer/shader/specialized.h"

struct pm_specialized_kept;

/* NULL: out of memory. */
struct pm_specialized_kept *pm_specialized_kept_create(struct pm_device *device);
/* Saves what is new. NULL is allowed. */
void pm_specialized_kept_destroy(struct pm_specialized_kept *kept);

/* What an earlier session's trial said of a shader; a faster one is UNDECIDED where this session is
 * among those that try it again. false: nothing. */
bool pm_specialized_kept_timing(struct pm_specialized_kept *kept,
                                const struct pm_specialized_shader *shader,
                                enum pm_timing_verdict *timing);

/* Whether this machine is the one of twenty (optimize.doubt_share) that tries a shader of which the
 * database says that it is slower, so that a lie dies. Reads a small file. */
bool pm_specialized_kept_doubts(const struct pm_specialized_kept *kept,
                                const struct pm_shader_key *key);

/* A shader was made, and the driver took so many nanoseconds for its pipeline
 * (struct pm_making_cost). Writes its words:
 * compile threads only. */
void pm_specialized_kept_made(struct pm_specialized_kept *kept,
                              const struct pm_specialized_shader *shader, int64_t took);
/* The same of one that pm_specialized_kept_load gave; writes nothing. */
void pm_specialized_kept_took(struct pm_specialized_kept *kept,
                              const struct pm_specialized_shader *shader, int64_t took);
/* Brings it to the disk, but not every second, and makes room there. Compile threads only. */
void pm_specialized_kept_save(struct pm_specialized_kept *kept);

/* Whether there may be any shader to load. */
bool pm_specialized_kept_any(const struct pm_specialized_kept *kept);

/* Nanoseconds that all take which were found faster. */
int64_t pm_specialized_kept_take(const struct pm_specialized_kept *kept);

/* The shader of an original, or of a base, and what its pipeline costs:
 * - that was found faster, or that an operator signed as faster, and is used without a trial,
 * - or that is tried over sessions, for the first time or again: then it says with which side,
 *   whether that needs the shader or not,
 * - or that won a contest of A-Z testing, and is tried again within this session.
 * Only what was made when as much was known as is now (of), first what is for known words, and that
 * for pipelines of which the same may be read. Fills in all of *shader but its entry of the
 * journal. Reads a file. false: there is none. */
bool pm_specialized_kept_load(struct pm_specialized_kept *kept,
                              const struct pm_shader_key *original,
                              const struct pm_environment *environment, enum pm_specialized_use use,
                              enum pm_uniform_reads reads, uint32_t of,
                              struct pm_specialized_shader *shader, struct pm_making_cost *cost);
