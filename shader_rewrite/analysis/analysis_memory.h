/*
 * In which order instructions must stay: what an instruction reads and writes besides its operands,
 * and which may neither be moved nor be in a region at all (HAZARDS 1).
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

struct pm_memory_access {
    uint32_t reads, writes; /* kinds of memory, a mask */
    bool stops;             /* barriers, calls, operations between lanes, whatever is not known */
};

/* What a module says of its memory as a whole. Canonicalization asks too (canonical_loads.c):
 * another answer is another recipe. */
struct pm_memory {
    bool writable_uniforms; /* in BufferBlock structures */
    bool volatiles;         /* some is volatile (analysis_volatile.h) */
    bool coherent;          /* some is coherent, or may be: the Vulkan memory model is followed */
};
struct pm_memory pm_memory_of(const struct pm_ir_module *module);

struct pm_memory_access pm_memory_access_of(const struct pm_memory *memory,
                                            const struct pm_ir_instr *instr);

/* Whether two instructions must keep their order. */
static inline bool pm_memory_conflict(struct pm_memory_access a, struct pm_memory_access b)
{
    return (a.writes & (b.reads | b.writes)) || (a.reads & b.writes) || (a.stops && b.stops);
}
