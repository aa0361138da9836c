/*
 * A VkPipelineCache that is kept on disk, for specialized variants (HAZARDS 17): they are a pure
 * function of the shader and the PGO database, so the next session's are found in it. One file for
 * each game and device, `<vendor>-<device>.cache` in $PLACE_CACHE/pipelines/<safe name of game>/.
 *
 * A file that is not of exactly this driver, or is damaged (drivers have been seen to crash on
 * damaged data, so it has a checksum of ours), is ignored. It is replaced whole; of several
 * processes the last one wins. When the driver's data is larger than limits.pipeline_cache_mib the
 * file is removed, so that the next session begins anew with what it uses itself.
 *
 * Thread safety: any thread, but for creating and destroying. Getting the cache reads a file and
 * saving writes one: compile threads, and whoever destroys the device.
 *
 * What A-Z testing measures has a cache that is not kept: there is no end of that, and most of it
 * loses.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_pipeline_cache;

/* kept: on the disk; else it is the session's alone. NULL: out of memory. Touches no disk yet. */
struct pm_pipeline_cache *pm_pipeline_cache_create(struct pm_device *device, bool kept);
/* Saves it. NULL is allowed. */
void pm_pipeline_cache_destroy(struct pm_pipeline_cache *cache);

/* The cache, made and read at the first call. VK_NULL_HANDLE when the driver makes none. */
VkPipelineCache pm_pipeline_cache_get(struct pm_pipeline_cache *cache);

/* Makes it where it takes no long to read, for whoever creates the device. */
void pm_pipeline_cache_prepare(struct pm_pipeline_cache *cache);
/* The cache if it is made, and nobody is saving it: for a game's own threads. VK_NULL_HANDLE else.
 */
VkPipelineCache pm_pipeline_cache_now(struct pm_pipeline_cache *cache);

/* One that is the session's alone is made anew where it has become larger than
 * limits.pipeline_cache_mib: for who alone makes pipelines through it, between two. */
void pm_pipeline_cache_bound(struct pm_pipeline_cache *cache);

/* A pipeline was made through it. */
void pm_pipeline_cache_grown(struct pm_pipeline_cache *cache);

/* Writes the file when something was made since it was last written, but not every second. */
void pm_pipeline_cache_save(struct pm_pipeline_cache *cache);
