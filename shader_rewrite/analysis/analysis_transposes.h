/*
 * Whether a matrix is known to be a transposed one, which is seen in the bits of its products. Mesa
 * remembers of a value that OpTranspose made it, and multiplies the rows of what was transposed:
 * dot products, which sum in another order than columns times components do (vtn_alu.c,
 * matrix_multiply; seen: lavapipe 22.3). It does not of what a variable, a phi, a call or
 * OpCompositeConstruct gives. So what is made of a shader must know as much of each product's
 * matrix as the original does.
 *
 * The pass runner sees to it for every pass (pass.c): before one runs it is noted of each product
 * what is known, copies have the note too, and behind it each product gets a matrix of which the
 * same is known, with the same components. What does its work without a runner does the same by
 * itself. Modules without OpTranspose are left as they are.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/ir_module.h"

/* Whether a matrix is known to be a transposed one, once it was found. NULL is allowed. */
bool pm_is_transposed(const struct pm_ir_instr *value);

/* Finds it of a module's values, or of one of which the operands' is known. */
void pm_transposes_find(struct pm_ir_module *module);
void pm_transposes_find_of(struct pm_ir_instr *value);

/* Whether it is an OpTranspose, or an operation that multiplies a matrix. */
bool pm_takes_matrices(uint16_t opcode);

/* Of an instruction's first two operands, as bits: which are matrices that are not known to be
 * transposed ones. */
uint32_t pm_plain_matrices(const struct pm_ir_instr *instr);

/* Gives each of what takes matrices such as have so much known of them: those of `plain` are made
 * once more of their columns where they are known to be transposed ones, the others transposed once
 * more where they are not. */
void pm_transposes_put(struct pm_ir_module *module, struct pm_ir_instr *user, uint32_t plain);

/* These do nothing where a module has no OpTranspose, and had none. */

/* Notes what is known of the matrices of all that takes such. */
void pm_transposes_note(struct pm_ir_module *module);
/* Notes what another module noted of what has the same id there. */
void pm_transposes_note_as(struct pm_ir_module *module, const struct pm_ir_module *other);

/* Puts what was noted. PM_ERROR_UNSUPPORTED: there is something that takes matrices and is neither
 * from before nor a copy of such. */
bool pm_transposes_keep(struct pm_ir_module *module, struct pm_error *error);
