#include "shader_rewrite/constants/constant_load.h"

#include "shader_rewrite/constants/constant_layout.h"

struct pm_ir_def *pm_constant_load(struct pm_ir_builder *b, const struct pm_constant_word *word)
{
    struct pm_constant_path path;
    struct pm_ir_arg args[1 + PM_CONSTANT_DEEPEST];
    struct pm_ir_module *module = b->module;
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false);
    const struct pm_ir_instr *pointer = pm_ir_type_of(word->variable);
    const SpvStorageClass storage = (SpvStorageClass)pm_ir_operand_word(&pointer->operands[0]);
    if (!pm_constant_path_find(pm_ir_operand_instr(pointer, 1), word->point.offset, &path)) {
        module->failed = true;
        return NULL;
    }
    args[0] = pm_ir_id(word->variable->result);
    for (uint32_t i = 0; i < path.count; i++)
        args[i + 1] = pm_ir_id(pm_ir_constant_uint(module, path.indices[i]));
    struct pm_ir_def *type = path.type->result;
    struct pm_ir_def *place = pm_ir_build(
        b, SpvOpAccessChain, pm_ir_type_pointer(module, storage, type), args, path.count + 1);
    struct pm_ir_def *value = pm_ir_build(b, SpvOpLoad, type, PM_IR_ARGS(pm_ir_id(place)));
    return type == uint ? value : pm_ir_build(b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(value)));
}
