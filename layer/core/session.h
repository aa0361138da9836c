/*
 * What this session is for, by the game's configuration and its PGO database, and the journal that
 * it keeps of the specialized variants it puts to use (HAZARDS 22).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* Whether it is ever going to sample. */
bool pm_session_samples(const struct pm_instance *instance);

/* Whether it may use variants for values that this machine has seen: optimize.constants, and
 * earlier sessions have kept some. */
bool pm_session_knows_values(const struct pm_instance *instance);

/* Whether it may look for faster variants of shaders (A-Z testing): optimize.variants, and
 * sampler.kinds has timing. */
bool pm_session_tests_variants(const struct pm_instance *instance);

/* Whether it may run compute shaders in several passes: optimize.partition. */
bool pm_session_partitions(const struct pm_instance *instance);

/* Whether it may use specialized variants: optimize.zero, and the database has a published zero
 * profile; optimize.blocks, and it has one of blocks; either, and it is not packed yet; or the
 * above. */
bool pm_session_optimizes(const struct pm_instance *instance);

/* Whether it is to try anything: sampler.kinds has timing, and variants may be used. */
bool pm_session_tries(const struct pm_instance *instance);

/* Where draws by lot begin: sampler.seed, else a random number, another one at each call. */
uint64_t pm_session_seed(const struct pm_instance *instance);

/* The journal of the game's specialized variants, opened at the first call; what it found is
 * logged. NULL: it cannot be kept, so no variant may be used. */
struct pm_journal *pm_session_journal(struct pm_instance *instance);

/* What this machine's own trials of the game said in earlier sessions (profile/verdicts.h), read at
 * the first call. NULL: they cannot be kept. */
struct pm_verdicts *pm_session_verdicts(struct pm_instance *instance);

/* The values that words of the game's push constants and uniforms had on this machine, read at the
 * first call. recipe: pm_canonicalize_recipe(). NULL: out of memory. */
struct pm_values_store *pm_session_values(struct pm_instance *instance, const char *recipe);

/* Of all shaders of the device, whatever they were made with. */
struct pm_environment pm_session_device_environment(const struct pm_device *device);

/* The environment that a verdict on a shader of such an environment is kept by. Mesa's software
 * driver has one driverVersion for all its releases, so what the driver says of itself is in it. */
struct pm_environment pm_session_environment(const struct pm_device *device,
                                             const struct pm_environment *environment);
