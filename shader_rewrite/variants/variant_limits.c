/*
 * What SPIRV-Tools' passes over loads get wrong (v2025.1).
 *
 * --code-sink takes a load from a buffer of BufferBlock structures for one that nothing writes,
 * where the variable is decorated, as all are that have a binding (HasPossibleStore); likewise one
 * from a variable that is NonWritable, also where another one is the same memory (Aliased); and it
 * does not ask whether memory is volatile. --reduce-load-size makes new loads of the parts of one,
 * which have neither its memory operands nor its decorations.
 */
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/ir/ir_walk.h"
#include "shader_rewrite/variants/variant_passes.h"

enum {
    ORDERED = SpvMemoryAccessVolatileMask | SpvMemoryAccessMakePointerVisibleMask |
              SpvMemoryAccessNonPrivatePointerMask
};

/* Loads whose operands say that they have to be where they are, and as often. */
static bool has_ordered_loads(const struct pm_ir_module *module)
{
    for (struct pm_ir_walk w = pm_ir_walk_begin(module); pm_ir_walk_next(&w);)
        if (w.instr->opcode == SpvOpLoad && w.instr->operand_count > 1 &&
            (pm_ir_operand_word(&w.instr->operands[1]) & ORDERED))
            return true;
    return false;
}

static bool is_decorated(const struct pm_ir_module *module, SpvDecoration decoration)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorate && pm_ir_operand_word(&i->operands[1]) == decoration)
            return true;
    return false;
}

bool pm_loads_may_sink(const struct pm_ir_module *module)
{
    const struct pm_memory memory = pm_memory_of(module);
    return !memory.writable_uniforms && !memory.volatiles &&
           !is_decorated(module, SpvDecorationAliased) && !has_ordered_loads(module);
}

bool pm_loads_may_be_parted(const struct pm_ir_module *module)
{
    return !pm_memory_of(module).volatiles && !is_decorated(module, SpvDecorationNonUniform) &&
           !has_ordered_loads(module);
}
