#include "shader_rewrite/ir/ir_opcodes.h"

#include <stddef.h>

#include "ir_opcodes_table.inc"

const struct pm_ir_opcode *pm_ir_opcode_find(uint16_t opcode)
{
    static const struct pm_ir_opcode unknown = {0, PM_IR_SECTION_NONE, 0, "Op?"};
    size_t low = 0, high = sizeof(table) / sizeof(table[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].opcode < opcode)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof(table) / sizeof(table[0]) || table[low].opcode != opcode)
        return &unknown;
    return &table[low];
}

const char *pm_ir_opcode_name(uint16_t opcode)
{
    return pm_ir_opcode_find(opcode)->name;
}
