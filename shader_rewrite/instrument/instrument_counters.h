/*
 * Code that counts: what an instrumented shader needs of its module, and the updates of one counter
 * (DESIGN, Counters). The address of the counters is two 32-bit specialization constants; they lie
 * as instrument.h, struct pm_instrumented says.
 */
#pragma once

#include "shader_rewrite/instrument/helper_lanes.h"
#include "shader_rewrite/instrument/instrument.h"
#include "shader_rewrite/ir/device_address.h"

struct pm_counting {
    struct pm_ir_module *module;
    struct pm_ir_instr *entry; /* OpEntryPoint */
    enum pm_stage stage;
    uint32_t slot_count, slot_stride; /* as in struct pm_instrumented */
    bool wide;                        /* 64-bit atomics */
    struct pm_device_address address;

    /* types and constants; ids of the module */
    struct pm_ir_def *boolean, *uint, *uint64, *ballot, *true_constant;
    struct pm_ir_def *subgroup_scope, *memory_scope, *relaxed;
    struct pm_ir_def *place; /* built-in that tells where it runs: FragCoord or WorkgroupId; NULL:
                                one slot, and nobody else asks */
    struct pm_helper_lanes helpers; /* in a fragment shader */
};

/* Readies the module: version, capabilities, extensions, addressing model, types, constants,
 * built-ins. false and PM_ERROR_UNSUPPORTED for an addressing model that cannot hold a buffer's
 * address. */
bool pm_counting_init(struct pm_counting *counting, struct pm_ir_module *module,
                      enum pm_stage stage, const struct pm_instrument_info *info,
                      struct pm_error *error);

/* Whether the invocation is a helper; only in a fragment shader. */
struct pm_ir_def *pm_counting_is_helper(const struct pm_counting *counting,
                                        struct pm_ir_builder *builder);

/* The number of active lanes of the subgroup, a 32-bit unsigned. */
struct pm_ir_def *pm_counting_lanes(const struct pm_counting *counting,
                                    struct pm_ir_builder *builder);

/* True on one of the active lanes of the subgroup. */
struct pm_ir_def *pm_counting_elect(const struct pm_counting *counting,
                                    struct pm_ir_builder *builder);

/* A number that differs between neighbours, tiles of 8 by 8 pixels or workgroups; only with several
 * slots or info->count_copies. */
struct pm_ir_def *pm_counting_place(const struct pm_counting *counting,
                                    struct pm_ir_builder *builder);

/* Where the counters of the slot begin that this lane adds to; for the updates below, in the same
 * or in dominated blocks. */
struct pm_counting_slot {
    struct pm_ir_def *base;  /* pointer to the block of counters */
    struct pm_ir_def *first; /* index of the slot's first counter, in counters; NULL: 0 */
};
struct pm_counting_slot pm_counting_slot(const struct pm_counting *counting,
                                         struct pm_ir_builder *builder);

/* Adds a 32-bit unsigned value to counter `index` of a slot. May end the builder's block and go on
 * in a new one. */
void pm_counting_add(const struct pm_counting *counting, struct pm_ir_builder *builder,
                     struct pm_counting_slot slot, uint32_t index, struct pm_ir_def *value);
/* The same where the counter is told by a 32-bit unsigned. */
void pm_counting_add_at(const struct pm_counting *counting, struct pm_ir_builder *builder,
                        struct pm_counting_slot slot, struct pm_ir_def *index,
                        struct pm_ir_def *value);

/* Puts a 32-bit unsigned value where counter `index`, a 32-bit unsigned, of a slot is, if that is
 * still 0, and gives what was there before, as a 32-bit unsigned. */
struct pm_ir_def *pm_counting_claim_at(const struct pm_counting *counting,
                                       struct pm_ir_builder *builder, struct pm_counting_slot slot,
                                       struct pm_ir_def *index, struct pm_ir_def *value);
