/*
 * What the SPIR-V grammar says of each opcode: its name, where in a module it may stand, what kind
 * of instruction it is. The table is generated at build time from the grammar file that the
 * SPIR-V headers' package ships (ir_opcodes.py).
 *
 * Thread safety: constant data; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The logical layout of a module (SPIR-V specification, 2.4), in order. */
enum pm_ir_section {
    PM_IR_SECTION_CAPABILITY,
    PM_IR_SECTION_EXTENSION,
    PM_IR_SECTION_IMPORT,
    PM_IR_SECTION_MEMORY_MODEL,
    PM_IR_SECTION_ENTRY_POINT,
    PM_IR_SECTION_EXECUTION_MODE,
    PM_IR_SECTION_SOURCE,
    PM_IR_SECTION_NAME,
    PM_IR_SECTION_PROCESSED,
    PM_IR_SECTION_ANNOTATION,
    PM_IR_SECTION_GLOBAL, /* types, constants, global variables */
    PM_IR_SECTIONS,
    PM_IR_SECTION_NONE, /* in functions, or wherever its neighbours are */
};

/* What an instruction is, by its class and operands in the grammar. */
enum pm_ir_op_flag {
    PM_IR_OP_HAS_TYPE = 1 << 0,
    PM_IR_OP_HAS_RESULT = 1 << 1,
    PM_IR_OP_TERMINATOR = 1 << 2, /* ends a block */
    PM_IR_OP_TYPE = 1 << 3,
    PM_IR_OP_CONSTANT = 1 << 4, /* specialization constants too */
    PM_IR_OP_ANNOTATION = 1 << 5,
    PM_IR_OP_CONVERSION = 1 << 6,
    PM_IR_OP_ARITHMETIC = 1 << 7,
    PM_IR_OP_RELATIONAL = 1 << 8, /* comparisons, logic of booleans, OpSelect */
    PM_IR_OP_BIT = 1 << 9,
    PM_IR_OP_COMPOSITE = 1 << 10, /* takes vectors and structures apart, or puts them together */
    PM_IR_OP_DERIVATIVE = 1 << 11,
    PM_IR_OP_ATOMIC = 1 << 12,
    PM_IR_OP_SUBGROUP = 1 << 13,     /* between the lanes of a subgroup */
    PM_IR_OP_IMAGE_READ = 1 << 14,   /* samples, gathers, fetches or reads */
    PM_IR_OP_IMAGE_SAMPLE = 1 << 15, /* of these: samples, so filters */
    PM_IR_OP_IMAGE_QUERY = 1 << 16,  /* makes or asks about an image, of which nothing is read */
    PM_IR_OP_IMPLICIT_LOD = 1 << 17, /* of these two: takes derivatives for a level of detail */

    /* What is computed from the operands alone, or from those of the quad's lanes. */
    PM_IR_OP_COMPUTES = PM_IR_OP_CONVERSION | PM_IR_OP_ARITHMETIC | PM_IR_OP_RELATIONAL |
                        PM_IR_OP_BIT | PM_IR_OP_COMPOSITE | PM_IR_OP_DERIVATIVE,
};

struct pm_ir_opcode {
    uint16_t opcode;
    uint8_t section;  /* enum pm_ir_section */
    uint32_t flags;   /* enum pm_ir_op_flag */
    const char *name; /* "OpLabel" */
};

/* The row of an opcode; for one the grammar does not have, a row named "Op?" without flags. Never
 * NULL. */
const struct pm_ir_opcode *pm_ir_opcode_find(uint16_t opcode);
const char *pm_ir_opcode_name(uint16_t opcode);

/* The core's flags by opcode, as passes ask for them often. */
enum { PM_IR_CORE_OPCODES = 512 };
extern const uint32_t pm_ir_core_flags[PM_IR_CORE_OPCODES];

static inline uint32_t pm_ir_opcode_flags(uint16_t opcode)
{
    return opcode < PM_IR_CORE_OPCODES ? pm_ir_core_flags[opcode]
                                       : pm_ir_opcode_find(opcode)->flags;
}

/* Whether an opcode has any of these flags (enum pm_ir_op_flag). */
static inline bool pm_ir_opcode_is(uint16_t opcode, uint32_t flags)
{
    return pm_ir_opcode_flags(opcode) & flags;
}

/* And is not an extension's, so that it has been known from the first. */
static inline bool pm_ir_opcode_is_core(uint16_t opcode, uint32_t flags)
{
    return opcode < PM_IR_CORE_OPCODES && (pm_ir_core_flags[opcode] & flags);
}

static inline bool pm_ir_opcode_is_terminator(uint16_t opcode)
{
    return pm_ir_opcode_is(opcode, PM_IR_OP_TERMINATOR);
}
