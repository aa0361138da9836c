/*
 * For tests of games with many pipelines on the null driver: levels of shaders that differ, each
 * with several pipelines that differ in state only.
 */
#pragma once

#include "tests/layer/layered.h"

struct level {
    VkPipeline *pipelines; /* shader after shader */
    uint32_t count;
    bool dynamic; /* they are made for dynamic rendering */
};

/* Shaders `first` … `first + shaders - 1`, of which equal numbers are equal shaders, with so many
 * pipelines each. */
void level_make(struct level *level, struct pm_harness *harness, uint32_t first, uint32_t shaders,
                uint32_t states);
/* The same for dynamic rendering, with the chain that says what is rendered to. */
void level_make_dynamic(struct level *level, struct pm_harness *harness, uint32_t first,
                        uint32_t shaders, uint32_t states);
void level_destroy(struct level *level, struct pm_harness *harness);

/* Records one draw with each pipeline, between begin and end. */
void level_record(const struct level *level, struct pm_harness *harness, VkCommandBuffer buffer);

/* A recording of that, to be submitted again and again. */
VkCommandBuffer level_keep(const struct level *level, struct pm_harness *harness);

/* A frame that is recorded anew: all of it, submitted and through. */
void level_frame(const struct level *level, struct pm_harness *harness, VkCommandBuffer buffer);
