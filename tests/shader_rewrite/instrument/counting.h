/*
 * Runs instrumented shaders and reads what they counted, for the tests of instrument_blocks on
 * drivers. A failure ends the test.
 *
 * The shaders under counts/ add 1 to marks[k] (binding 0) wherever they say MARK(k), so that each
 * block's truth is known lane by lane without anything that is tested.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/gpu/gpu.h"

struct counting {
    const char *name;
    enum pm_stage stage;
    struct pm_words canonical;
    struct pm_ir_module *module; /* of it */
    struct pm_block_points points;
};

/* NAME.spv from the tests' shaders, canonicalized. */
void counting_load(struct counting *counting, const char *name, enum pm_stage stage);
void counting_finish(struct counting *counting);

/* How a shader is instrumented and what its counters start with. */
struct counting_way {
    const uint32_t *points;
    uint32_t point_count;
    uint32_t slot_count;
    bool int64_atomics;
    bool may_force_early_tests;
    uint64_t preload; /* in every counter */
};

/* An instrumented shader with its counter memory. */
struct counting_run {
    struct pm_instrumented instrumented;
    struct counting_way way;
    struct pm_gpu_buffer counters;
    VkSpecializationInfo specialization; /* to be given to the shader */
    VkSpecializationMapEntry entries[2];
    uint32_t address[2];
};

void counting_run_begin(struct counting_run *run, struct pm_gpu *gpu,
                        const struct counting *counting, const struct counting_way *way);

/* What was counted: entry lanes, entry subgroups, then PM_COUNTS for each instrumented point, less
 * the preload. totals has room for 2 + PM_COUNTS * point_count. */
void counting_run_read(const struct counting_run *run, uint64_t *totals);
void counting_run_finish(struct counting_run *run, struct pm_gpu *gpu);

/* The points whose block holds MARK(mark); returns how many, at most 8. */
uint32_t counting_points_of_mark(const struct counting *counting, uint32_t mark,
                                 uint32_t points[8]);

/* Asserts what must hold of the counts of all points by the control-flow graph: what enters a block
 * leaves what led there; uniform lanes are lanes; a subgroup has lanes. */
void counting_assert_flow(const struct counting *counting, uint32_t subgroup_size,
                          const uint64_t *totals);
