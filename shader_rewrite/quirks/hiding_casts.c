#include "shader_rewrite/quirks/hiding_casts.h"

#include <spirv/unified1/spirv.h>

static bool is_float(const struct pm_ir_instr *type)
{
    type = pm_ir_component_type(type);
    return type && type->opcode == SpvOpTypeFloat;
}

/* Memory that others may see: no compiler looks through it. */
static bool is_memory(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    if (!type || type->opcode != SpvOpTypePointer)
        return false;
    const uint32_t class = pm_ir_operand_word(&type->operands[0]);
    return class != SpvStorageClassFunction && class != SpvStorageClassPrivate;
}

static bool is_only_stored(const struct pm_ir_instr *instr)
{
    const struct pm_ir_operand *use = instr->result->first_use;
    while (use && (!use->user->block || (use->user->opcode == SpvOpStore &&
                                         is_memory(pm_ir_operand_instr(use->user, 0)))))
        use = use->next_use;
    return !use;
}

bool pm_has_hiding_casts(const struct pm_ir_module *original)
{
    bool from_float = false, to_float = false;
    for (const struct pm_ir_function *f = original->first_function; f; f = f->next) {
        for (const struct pm_ir_block *b = f->first_block; b; b = b->next) {
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
                const struct pm_ir_instr *from =
                    i->opcode == SpvOpBitcast ? pm_ir_operand_instr(i, 0) : NULL;
                if (!from || !i->result)
                    continue;
                const bool read =
                    from->opcode == SpvOpLoad && is_memory(pm_ir_operand_instr(from, 0));
                from_float |= is_float(pm_ir_type_of(from)) && !is_only_stored(i);
                to_float |= is_float(pm_ir_type_of(i)) && !read;
            }
        }
    }
    return from_float && to_float;
}
