#include "shader_rewrite/ir/ir_opcodes.h"

#include <stddef.h>

#include "ir_opcodes_table.inc"

enum { ROWS = sizeof(table) / sizeof(table[0]), CORE = sizeof(core_rows) / sizeof(core_rows[0]) };

/* The row of one of an extension; ROWS: none. */
static size_t find_row(uint16_t opcode)
{
    size_t low = 0, high = ROWS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].opcode < opcode)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ROWS && table[low].opcode == opcode ? low : ROWS;
}

const struct pm_ir_opcode *pm_ir_opcode_find(uint16_t opcode)
{
    static const struct pm_ir_opcode unknown = {0, PM_IR_SECTION_NONE, 0, "Op?"};
    size_t row = opcode < CORE ? core_rows[opcode] : find_row(opcode);
    return row < ROWS ? &table[row] : &unknown;
}

const char *pm_ir_opcode_name(uint16_t opcode)
{
    return pm_ir_opcode_find(opcode)->name;
}

bool pm_ir_opcode_is(uint16_t opcode, uint32_t flags)
{
    return pm_ir_opcode_find(opcode)->flags & flags;
}

bool pm_ir_opcode_is_core(uint16_t opcode, uint32_t flags)
{
    uint32_t own = pm_ir_opcode_find(opcode)->flags;
    return (own & flags) && !(own & PM_IR_OP_EXTENSION);
}

bool pm_ir_opcode_is_terminator(uint16_t opcode)
{
    return pm_ir_opcode_is(opcode, PM_IR_OP_TERMINATOR);
}
