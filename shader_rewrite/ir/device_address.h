/*
 * Memory of ours that a shader reaches by a buffer device address, which is given to it as two
 * 32-bit specialization constants, so that the game's own layouts stay as they are (DESIGN,
 * Counters).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

struct pm_device_address {
    uint32_t spec_id_low, spec_id_high; /* SpecIds that the module did not use */
    struct pm_ir_def *address;          /* the two words */
    struct pm_ir_def *block_pointer;    /* type: to a structure of one array of elements */
    struct pm_ir_def *element_pointer;  /* type */
};

/* Readies the module: addressing model, capability, extension, types, constants. element: a type
 * of 32 or 64 bits, of this many bytes. PM_ERROR_UNSUPPORTED for an addressing model that cannot
 * hold a buffer's address. */
bool pm_device_address_init(struct pm_device_address *address, struct pm_ir_module *module,
                            struct pm_ir_def *element, uint32_t bytes, struct pm_error *error);

/* A specialization constant, 32-bit unsigned, of a SpecId that the module does not use. */
struct pm_ir_def *pm_spec_constant_new(struct pm_ir_module *module, uint32_t *spec_id);

/* A pointer to the block. */
struct pm_ir_def *pm_device_address_base(const struct pm_device_address *address,
                                         struct pm_ir_builder *builder);

/* A pointer to one of its elements. index: 32-bit unsigned. */
struct pm_ir_def *pm_device_address_element(const struct pm_device_address *address,
                                            struct pm_ir_builder *builder, struct pm_ir_def *base,
                                            struct pm_ir_def *index);
