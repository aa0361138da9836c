/*
 * What is made of a shader by the PGO database (specialize.h), or the passes that it is cut into
 * (passes.h), once however many pipelines use it, and whether it may be used: not without a
 * published profile (passes need none), not when the journal holds it back (HAZARDS 22), not when
 * an earlier session's trial on this machine found it no faster (HAZARDS 21, profile/verdicts.h);
 * and where there was none, not when a published timing profile of this very module on this device
 * says that it is slower, unless this machine is one of those that doubt it. What is published
 * never makes one faster (HAZARDS 24): that takes a trial. With debug.recipe (recipe_shader.h) a
 * recipe's variant is all that is made, whatever was found.
 *
 * Ownership: a shader belongs to its table and lives until that is destroyed. Thread safety: any
 * thread, at any time. Getting one takes as long as a compiler does: compile threads only.
 */
#pragma once

#include "layer/shader/shader_record.h"
#include "layer/shader/specialized.h"

struct pm_specialized_shaders;

/* NULL: out of memory. The journal must outlive it. */
struct pm_specialized_shaders *pm_specialized_shaders_create(struct pm_device *device,
                                                             struct pm_journal *journal);
/* NULL is allowed. */
void pm_specialized_shaders_destroy(struct pm_specialized_shaders *shaders);

/* The one that an earlier session on this machine found faster or made and an operator signed as
 * faster, or that is tried over sessions, where it can be had without making anything, and what
 * that costs. Reads two small files at most. NULL: there is none, or only later. */
const struct pm_specialized_shader *
pm_specialized_shaders_proven(struct pm_specialized_shaders *shaders,
                              const struct pm_shader_request *request, enum pm_specialized_use use,
                              struct pm_making_cost *cost);
/* Likewise the one that an earlier session made of a specialized shader by a recipe, and found
 * faster than that. */
const struct pm_specialized_shader *
pm_specialized_shaders_over(struct pm_specialized_shaders *shaders,
                            const struct pm_specialized_shader *base, struct pm_making_cost *cost);
/* Nanoseconds that all of them take which were found faster. */
int64_t pm_specialized_shaders_take(const struct pm_specialized_shaders *shaders);
/* The parts of the shader's variants that optimize.withhold withholds (enum pm_part). Takes as long
 * as finding its key out does. */
uint32_t pm_specialized_shaders_withheld(const struct pm_specialized_shaders *shaders,
                                         const struct pm_shader_request *request);
/* Whether there may be any of these. */
bool pm_specialized_shaders_any_proven(const struct pm_specialized_shaders *shaders);

/* The driver's thread made a pipeline with it in so many nanoseconds of processor time, which later
 * sessions are to know, and with which push constants it may run; on a game's own thread or on a
 * compile thread. Not of what runs in several passes. */
void pm_specialized_shaders_took(struct pm_specialized_shaders *shaders,
                                 const struct pm_specialized_shader *shader, int64_t took,
                                 bool own_thread);
/* Brings that to the disk. Compile threads only. */
void pm_specialized_shaders_save(struct pm_specialized_shaders *shaders);

/* The specialized shader of a pipeline's stage; NULL: there is none to use, and why was logged. */
const struct pm_specialized_shader *
pm_specialized_shaders_get(struct pm_specialized_shaders *shaders,
                           const struct pm_shader_request *request, enum pm_specialized_use use);
