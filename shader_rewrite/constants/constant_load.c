#include "shader_rewrite/constants/constant_load.h"

#include "shader_rewrite/constants/constant_layout.h"

struct pm_ir_def *pm_constant_load(struct pm_ir_builder *b, const struct pm_constant_word *word)
{
    struct pm_constant_path path;
    struct pm_ir_arg args[2 + PM_CONSTANT_DEEPEST];
    uint32_t count = 1, indices;
    struct pm_ir_module *module = b->module;
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false);
    const struct pm_ir_instr *pointer = pm_ir_type_of(word->variable);
    const SpvStorageClass storage = (SpvStorageClass)pm_ir_operand_word(&pointer->operands[0]);
    const struct pm_ir_instr *block = pm_constant_block_of(word->variable, &indices);
    if (!block || !pm_constant_path_find(block, word->point.offset, &path)) {
        module->failed = true;
        return NULL;
    }
    args[0] = pm_ir_id(word->variable->result);
    if (indices)
        args[count++] = pm_ir_id(pm_ir_constant_uint(module, 0));
    for (uint32_t i = 0; i < path.count; i++)
        args[count++] = pm_ir_id(pm_ir_constant_uint(module, path.indices[i]));
    struct pm_ir_def *type = path.type->result;
    struct pm_ir_def *place =
        pm_ir_build(b, SpvOpAccessChain, pm_ir_type_pointer(module, storage, type), args, count);
    struct pm_ir_def *value = pm_ir_build(b, SpvOpLoad, type, PM_IR_ARGS(pm_ir_id(place)));
    return type == uint ? value : pm_ir_build(b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(value)));
}
