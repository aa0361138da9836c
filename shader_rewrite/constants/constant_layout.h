/*
 * Where in its block a value lies: byte offsets of what access chains and composite extracts with
 * constant indices name (SPIR-V specification, Offset, ArrayStride, MatrixStride, RowMajor).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* A part of a block. */
struct pm_constant_place {
    const struct pm_ir_instr *type; /* of the part */
    uint32_t offset;                /* bytes */
    uint32_t component_stride;      /* bytes, between the components of a vector */
    uint32_t matrix_stride;         /* bytes; 0: no matrix is in it */
    bool row_major;
};

/* The value of a decoration of one word; false: the definition, or the member, has none. */
bool pm_constant_decoration(const struct pm_ir_def *def, SpvDecoration decoration, uint32_t *word);
bool pm_constant_member_decoration(const struct pm_ir_def *def, uint32_t member,
                                   SpvDecoration decoration, uint32_t *word);

/* The whole of a block of this type. */
struct pm_constant_place pm_constant_place_of(const struct pm_ir_instr *type);

/* Goes into a part by a constant index; false: there is no such part, or its place is not known. */
bool pm_constant_place_step(struct pm_constant_place *place, uint32_t index);

/* The structure that a variable has: of an array of one descriptor (as translation layers declare
 * them) its only element, *indices says how many an access chain has before it (0 or 1). NULL: a
 * larger array, or none. */
const struct pm_ir_instr *pm_constant_block_of(const struct pm_ir_instr *variable,
                                               uint32_t *indices);

/* Follows an OpVariable or an access chain of constant indices to it: where in its block it points
 * to. NULL: neither. */
const struct pm_ir_instr *pm_constant_place_of_pointer(const struct pm_ir_instr *pointer,
                                                       struct pm_constant_place *place);

/* Where a scalar lies: the indices of an access chain to it, and its type. */
enum { PM_CONSTANT_DEEPEST = 32 };
struct pm_constant_path {
    uint32_t indices[PM_CONSTANT_DEEPEST];
    uint32_t count;
    const struct pm_ir_instr *type;
};

/* The 32-bit scalar at this offset of a block. false: there is none. */
bool pm_constant_path_find(const struct pm_ir_instr *block, uint32_t offset,
                           struct pm_constant_path *path);
