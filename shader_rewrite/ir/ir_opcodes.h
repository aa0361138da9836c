/*
 * What the SPIR-V grammar says of each opcode: its name, where in a module it may stand, whether it
 * has a type and a result. The table is generated at build time from the grammar file that the
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

enum pm_ir_op_flag {
    PM_IR_OP_HAS_TYPE = 1,
    PM_IR_OP_HAS_RESULT = 2,
    PM_IR_OP_TERMINATOR = 4,
    PM_IR_OP_TYPE = 8,
    PM_IR_OP_CONSTANT = 16,
    PM_IR_OP_ANNOTATION = 32,
};

struct pm_ir_opcode {
    uint16_t opcode;
    uint8_t section;  /* enum pm_ir_section */
    uint8_t flags;    /* enum pm_ir_op_flag */
    const char *name; /* "OpLabel" */
};

/* The row of an opcode; for one the grammar does not have, a row named "Op?" without flags. Never
 * NULL. */
const struct pm_ir_opcode *pm_ir_opcode_find(uint16_t opcode);
const char *pm_ir_opcode_name(uint16_t opcode);
bool pm_ir_opcode_is_terminator(uint16_t opcode);
