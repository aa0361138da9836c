/*
 * A canonical module made to count at some of its points (DESIGN, Counters; HAZARDS 1 to 5).
 *
 * A candidate's check is one thing here and in specialize_zero: what instrument_zero counts as a
 * zero write is exactly what the branch that specialize_zero adds would have taken.
 *
 * Ownership: output words are malloc'ed, and freed with pm_instrumented_finish.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"
#include "shader_rewrite/zero/candidates/candidates.h"

struct pm_pass_times;  /* pass.h */
struct pm_flow_points; /* points.h */
struct pm_turn_points; /* likewise */

/* ---- instrument_blocks ---- */

struct pm_instrument_info {
    const uint32_t *points; /* ascending, distinct, each below pm_points_blocks' count */
    uint32_t point_count;   /* may be 0: only the normalization counters */
    uint32_t slot_count;    /* copies of the counters, which updates spread over: 1, 2, 4 … 256 */
    /* Of all points of a module: lanes are counted at these alone, those of others stay 0 and
     * follow (pm_points_flow_rebuild). NULL: at all. Read by instrument_blocks only, as the next
     * is. */
    const struct pm_flow_points *flow;
    /* A point counts lanes alone, in one counter instead of PM_COUNTS. */
    bool lanes_only;
    /* Lanes of a whole subgroup, most likely: those with as many cost least. 0: not known. */
    uint32_t subgroup_size;
    /* No subgroup has more lanes; 0: not known. Read by instrument_blocks only. */
    uint32_t most_lanes;
    bool subgroup_arithmetic; /* these operations in the stage. Likewise */
    /* What is added up in a loop has its value behind it, too: not on drivers with
     * PM_QUIRK_CHOOSES_AGAIN (seen on SwiftShader: the last turn of lanes that left before others
     * was lost). Likewise. */
    bool sums_outlive_loops;
    bool int64_atomics; /* shaderInt64 and shaderBufferInt64Atomics; else 32 bits with carry */
    bool memory_model_device_scope; /* vulkanMemoryModelDeviceScope is enabled */
    bool subgroup_quad;             /* quad operations in the stage; read by instrument_zero only */
    /* What the points are numbers of, of these words (points.h), read by instrument_zero only.
     * NULL: pm_points_zero's, which then are found once more. */
    const struct pm_zero_points *zeros;
    /* What the points are numbers of, of these words; read by instrument_turns only, and needed
     * there. */
    const struct pm_turn_points *turns;
    /* Not the values are looked at but copies of them, so that drivers compute the values as
     * without us (counted_copies.h). Read by instrument_zero only. */
    bool count_copies;
    bool all_candidates; /* zeros NULL: all of pm_zero_candidates are points. For tests, oracles */
    /* The pipeline can never have alpha-to-coverage on (HAZARDS 4), and the driver takes lanes that
     * fail an early test for helpers: SwiftShader does not, so that its counts would lose partly
     * hidden quads. */
    bool may_force_early_tests;
    struct pm_target target;
    struct pm_pass_times *times; /* how long the passes took is added; NULL: not wanted */
};

/* How counters of blocks lie in a slot: in groups of one for each unit, in which they have the
 * place `unit`. Points that are entered by the same lanes, equally often, are one; unit 0 is the
 * shader's entry, and the points that all who enter the shader enter once. First how often a
 * subgroup entered with exactly `lanes` of them, whole; then how often otherwise; the lanes of
 * those that were whole, and of those that were not; of the entry, which is always whole, how often
 * a single lane came, which is in no other group. With lanes_only there are the first group, and
 * one of all other lanes. */
struct pm_block_layout {
    uint32_t point_count;
    uint32_t lanes;
    uint32_t unit_count;
    uint32_t *units; /* by point: its unit; malloc'ed. NULL: each point has its own */
    bool has_entry;  /* the first point is the entry block, which is counted as the entry alone */
    bool lanes_only;
};
/* Each point has its own. */
struct pm_block_layout pm_block_layout(const struct pm_instrument_info *info);
/* Counters in a slot. */
uint32_t pm_block_units(const struct pm_block_layout *layout);
/* From the sums of pm_block_units counters over slots: totals[0] entry lanes, [1] entry subgroups,
 * then for each point PM_COUNTS in the order of profile.h's PM_BLOCK_*; with lanes_only no
 * subgroups ([1] is 0), and for each point its lanes. */
void pm_block_totals(const struct pm_block_layout *layout, const uint64_t *sums, uint64_t *totals);

/* How counters of zeros lie in a slot (zero_counts.h): first of entries, once where the first of
 * the points that are entered was not zero, and once more where it was; then two of each other
 * point: writes that were not zero, and those that were. */
struct pm_zero_layout {
    uint32_t point_count;
    uint32_t lanes;
    uint32_t entered_count; /* points that are written once whenever the shader is entered */
    uint32_t pair_count;
    uint32_t *pairs; /* by point: its number, those that are entered first; malloc'ed */
};
#define PM_ZERO_ENTERED UINT32_C(0x80000000) /* in `pairs`: it is entered */
/* As many counters as any module takes that counts the info's points. */
struct pm_zero_layout pm_zero_layout(const struct pm_instrument_info *info);
/* Counters in a slot, and the first of the two of a point's number. */
uint32_t pm_zero_units(const struct pm_zero_layout *layout);
uint32_t pm_zero_pair(const struct pm_zero_layout *layout, uint32_t number);
/* From the sums of pm_zero_units counters over slots: totals[0] entry lanes, [1] entry subgroups,
 * then for each point PM_COUNTS in the order of profile.h's PM_ZERO_*. */
void pm_zero_totals(const struct pm_zero_layout *layout, const uint64_t *sums, uint64_t *totals);

/* Counter layout, in 64-bit units: slot s starts at s * slot_stride. In it, of blocks and zeros, as
 * above; of constants as constants.h says.
 * Without 64-bit atomics each counter is two 32-bit words, low first. The total of a counter is the
 * sum over slots. */
struct pm_instrumented {
    struct pm_words words;
    uint32_t spec_id_low, spec_id_high; /* SpecIds (32-bit unsigned) of the address's halves */
    uint32_t slot_stride;               /* 64-bit units, a multiple of 8 */
    uint64_t counter_bytes;  /* slot_count * slot_stride * 8; the address must be 64-byte aligned */
    bool forced_early_tests; /* EarlyFragmentTests was added */
    bool counts_occluded;    /* fragments that later fail the depth test are counted too */
    struct pm_block_layout blocks; /* by instrument_blocks and instrument_turns; owned */
    struct pm_zero_layout zeros;   /* by instrument_zero; owned */
};

/* How many points of a canonical module of so many words may be counted at once: drivers take
 * longer than in proportion to a module's blocks, and each point adds up to some 170 words and 4
 * blocks. As many as about double the module, but 64 at least and 128 at most. */
uint32_t pm_instrument_most_points(size_t word_count);

/* Instruments a canonical module. Needs bufferDeviceAddress, subgroup basic and ballot in the
 * stage, and in fragment shaders fragmentStoresAndAtomics. The output is SPIR-V 1.3 at least, so it
 * is validated for Vulkan 1.1 where the target is older. Uniform lanes: those of subgroups that
 * entered the block with every lane that was active at shader entry; a lane that has returned, or
 * was killed or demoted since, has not entered. */
bool pm_instrument_blocks(const uint32_t *words, size_t count,
                          const struct pm_instrument_info *info, struct pm_instrumented *out,
                          struct pm_error *error);
void pm_instrumented_finish(struct pm_instrumented *instrumented);

/* ---- instrument_turns ---- */

/* As pm_instrument_blocks; info->points are indices of info->turns (points.h), and a point is
 * counted like a block that the turn enters. Each loop with points among them has a number in a
 * register that counts its turns. */
bool pm_instrument_turns(const uint32_t *words, size_t count, const struct pm_instrument_info *info,
                         struct pm_instrumented *out, struct pm_error *error);

/* ---- instrument_zero (AZP 3.2) ---- */

/* As pm_instrument_blocks; info->points are indices of info->zeros, and what is counted of a point
 * is PM_ZERO_WRITES and PM_ZERO_ZERO_WRITES (profile.h), subgroups each; the third stays 0. Needs
 * subgroup vote besides; without info->subgroup_quad a candidate with `quad` counts nothing. */
bool pm_instrument_zero(const uint32_t *words, size_t count, const struct pm_instrument_info *info,
                        struct pm_instrumented *out, struct pm_error *error);
