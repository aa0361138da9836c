/*
 * SPIR-V in, SPIR-V out. What the layer and the tools use of this room; the IR itself is in ir_module.h.
 * Fragment and compute shaders only. Nothing here knows the Vulkan runtime.
 *
 * Units: sizes are in 32-bit words unless a name says bytes; words are in host byte order.
 * Ownership: output words are malloc'ed; the caller frees them with pm_words_finish.
 * Thread safety: no state is shared; any thread.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "profile/shader_key.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_words {
    uint32_t *data;
    size_t count;
};
void pm_words_finish(struct pm_words *words);

enum pm_stage { PM_STAGE_FRAGMENT, PM_STAGE_COMPUTE };

/* The environment a module is validated for: what the device was created with. */
struct pm_target {
    uint32_t vulkan_minor;   /* 0 to 3: Vulkan 1.0 to 1.3, the device's API version as used by the game */
    bool spirv_1_4;          /* VK_KHR_spirv_1_4 on 1.1 */
    bool scalar_block_layout, relaxed_block_layout, uniform_buffer_standard_layout;
    bool workgroup_explicit_layout;
};

/* ---- canonicalize (DESIGN, Canonical module; HAZARDS 3) ---- */

/* The recipe's and SPIRV-Tools' version, part of every shader key, as one string. */
const char *pm_canonicalize_recipe(void);

struct pm_canonicalize_info {
    const uint32_t *words;
    size_t word_count;
    enum pm_stage stage;
    const char *entry_point;
    const struct pm_spec_value *spec_values; /* what the pipeline sets; unset ones keep their default */
    size_t spec_value_count;
    struct pm_target target;
    bool keep_names; /* for people only: the module keeps OpName and OpMemberName, and its values have the names
                        of the author's variables (canonical_names.h), so it is not what the key is of, but has
                        the same blocks in the same order */
};

/* The canonical module: one entry point, specialization constants frozen (floats keep their SpecId and have the
 * value as their default: canonical_freeze.c says why), the fixed recipe run, results kept bit for bit (every float
 * result is NoContraction while the optimizer runs), names, lines, sources and non-semantic instructions stripped,
 * generator zeroed, ids compacted. It is validated, and canonicalizing it again gives the same words. Where the
 * optimizer gives up, the module is only frozen, stripped and compacted. PM_ERROR_INPUT: malformed;
 * PM_ERROR_UNSUPPORTED: SPIRV-Tools does not know an opcode or extension in it; PM_ERROR_LIMIT: absurdly large. */
bool pm_canonicalize(const struct pm_canonicalize_info *info, struct pm_words *out, struct pm_error *error);

/* spirv-val for the target; the message has its diagnostic. */
bool pm_validate(const uint32_t *words, size_t count, const struct pm_target *target,
                 struct pm_error *error);

/* ---- points_blocks ---- */

struct pm_block_point {
    uint32_t label;       /* id of the block's OpLabel in the canonical module */
    bool at_most_once;    /* not inside a loop: runs once per invocation at most */
};
struct pm_block_points {
    struct pm_block_point *points; /* in the module's block order; point 0 is the entry block */
    uint32_t count;
};
/* The basic blocks of the entry point's function, in a stable order. Canonical words in. Blocks that cannot be
 * reached are not points. */
bool pm_points_blocks(const uint32_t *words, size_t count, struct pm_block_points *out,
                      struct pm_error *error);
void pm_block_points_finish(struct pm_block_points *points);

/* ---- instrument_blocks (DESIGN, Counters; HAZARDS 1 to 5) ---- */

struct pm_instrument_info {
    const uint32_t *points; /* ascending, distinct, each below pm_points_blocks' count */
    uint32_t point_count;   /* may be 0: only the normalization counters */
    uint32_t slot_count;    /* power of two, 1 to 256: copies of the counters that updates spread over */
    bool int64_atomics;     /* the device has shaderInt64 and shaderBufferInt64Atomics; else 32-bit with carry */
    bool memory_model_device_scope; /* vulkanMemoryModelDeviceScope is enabled */
    bool subgroup_quad; /* quad operations in the stage; read by instrument_zero only (zero.h) */
    /* The pipeline can never have alpha-to-coverage on (HAZARDS 4), and the driver takes lanes that fail an early test
     * for helpers: SwiftShader does not, so that its counts would lose partly hidden quads. */
    bool may_force_early_tests;
    struct pm_target target;
};

/* Counter layout, in 64-bit units: slot s starts at s * slot_stride; in it [0] entry lanes, [1] entry subgroups,
 * then per instrumented point PM_COUNTS (3) counters in the order of profile.h's PM_BLOCK_*. Without 64-bit atomics
 * each counter is two 32-bit words, low first. The total of a counter is the sum over slots. */
struct pm_instrumented {
    struct pm_words words;
    uint32_t spec_id_low, spec_id_high; /* SpecIds (32-bit unsigned) for the low and high half of the address */
    uint32_t slot_stride;               /* 64-bit units, a multiple of 8 */
    uint64_t counter_bytes;             /* slot_count * slot_stride * 8; the address must be 64-byte aligned */
    bool forced_early_tests;            /* EarlyFragmentTests was added */
    bool counts_occluded;               /* fragments that later fail the depth test are counted too */
};

/* Instruments a canonical module. Needs bufferDeviceAddress, subgroup basic and ballot in the stage, and in fragment
 * shaders fragmentStoresAndAtomics. The output is SPIR-V 1.3 at least, so it is validated for Vulkan 1.1 where the
 * target is older. Uniform lanes: those of subgroups that entered the block with every lane that was active at shader
 * entry; a lane that has returned, or was killed or demoted since, has not entered. */
bool pm_instrument_blocks(const uint32_t *words, size_t count, const struct pm_instrument_info *info,
                          struct pm_instrumented *out, struct pm_error *error);
void pm_instrumented_finish(struct pm_instrumented *instrumented);

/* ---- facts the layer asks about an original module ---- */

struct pm_shader_facts {
    enum pm_stage stage;
    bool uses_kill;            /* OpKill, OpTerminateInvocation, demote */
    bool exports_depth_or_mask;
    bool has_side_effects;     /* writes memory beyond its outputs */
    bool early_tests;          /* declares EarlyFragmentTests */
};
bool pm_shader_facts(const uint32_t *words, size_t count, const char *entry_point, enum pm_stage stage,
                     struct pm_shader_facts *facts, struct pm_error *error);
