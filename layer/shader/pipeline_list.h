/*
 * Pipelines that are remembered, each once, in the order in which they came.
 *
 * Ownership: the list has a reference of each. Thread safety: as the owner's.
 */
#pragma once

#include "layer/shader/pipeline.h"

struct pm_pipeline_list {
    struct pm_pipeline **items;
    uint32_t count, room;
};

/* One that it has already stays where it is. Those that the game has destroyed make room first.
 * false: out of memory. */
bool pm_pipeline_list_put(struct pm_pipeline_list *list, struct pm_pipeline *pipeline);

/* The first that the game has not destroyed, whose reference becomes the caller's; NULL: none. */
struct pm_pipeline *pm_pipeline_list_take(struct pm_pipeline_list *list);

/* Lets go of all. */
void pm_pipeline_list_finish(struct pm_pipeline_list *list);
